"""Which label sets a row may have: all that were seen in training, and the most probable of the others."""

import numpy as np

from choral.decisions.words import row_keys
from choral.measures.subsets import members_table

UNCERTAIN_LABELS = 10  # of each row: all combinations of these are looked at
OTHERS = 32  # label sets not seen in training, for each row


class Candidates:
    """Label sets that may be true of each of some rows.

    Parameters
    ----------
    seen : ndarray of shape (n_seen, n_labels)
        Label sets of the training data, the same for all rows.
    log_odds : ndarray of shape (n_rows, n_labels)
        Of each label, by which the most probable label sets are found as if labels were independent.
    own : ndarray of shape (n_rows,), optional
        For training rows: the place of their own label set if no other row has it, else -1. It is no candidate that was
        seen then, just as the label set of a new row may not have been; it may still be one of the others.

    Attributes
    ----------
    others : ndarray of shape (n_rows, n_others, n_labels)
    is_open : ndarray of bool, of shape (n_rows, n_seen + n_others)
        False for one of the others that was seen, and for a row's own.
    """

    def __init__(self, seen: np.ndarray, log_odds: np.ndarray, own: np.ndarray | None = None):
        self.seen = seen
        self.others = top_labelsets(log_odds, OTHERS)
        n_rows, n_others, n_labels = self.others.shape
        places = find_labelsets(self.others.reshape(-1, n_labels), seen).reshape(n_rows, n_others)
        self.is_open = np.ones((n_rows, len(seen) + n_others), dtype=bool)
        self.is_open[:, len(seen) :] = places < 0
        if own is not None:
            alone = np.flatnonzero(own >= 0)
            self.is_open[alone, own[alone]] = False
            self.is_open[alone, len(seen) :] |= places[alone] == own[alone, np.newaxis]

    def labelsets(self, picked: np.ndarray) -> np.ndarray:
        """Those at some places, of shape (n_rows, n_picked): label sets of shape (n_rows, n_picked, n_labels)."""
        n_seen = len(self.seen)
        of_rows = np.take_along_axis(self.others, (picked - n_seen).clip(0)[..., np.newaxis], axis=1)
        return np.where((picked < n_seen)[..., np.newaxis], self.seen[picked.clip(max=n_seen - 1)], of_rows)


def top_labelsets(log_odds: np.ndarray, n_labelsets: int) -> np.ndarray:
    """The most probable label sets of each row if labels were independent, up to that many.

    A label set costs the log odds of all labels in which it differs from the most probable one, so those that differ
    in the least certain labels are the best: in ten of these at most, whatever the number of labels.

    Examples
    --------
    >>> top_labelsets(np.array([[-2.0, 0.5, 3.0]]), 3)[0]
    array([[0, 1, 1],
           [0, 0, 1],
           [1, 1, 1]], dtype=uint8)
    """
    n_rows, n_labels = log_odds.shape
    n_flips = min(UNCERTAIN_LABELS, n_labels)
    costs = np.abs(log_odds)
    uncertain = np.argsort(costs, axis=1, kind="stable")[:, :n_flips]
    flips = members_table(np.arange(1 << n_flips), n_flips)
    totals = np.take_along_axis(costs, uncertain, axis=1) @ flips.T.astype(float)
    most = min(n_labelsets, totals.shape[1])
    best = np.sort(np.argpartition(totals, most - 1, axis=1)[:, :most], axis=1)
    cheapest_first = np.argsort(np.take_along_axis(totals, best, axis=1), axis=1, kind="stable")
    best = np.take_along_axis(best, cheapest_first, axis=1)
    found = np.repeat((log_odds > 0).astype(np.uint8)[:, np.newaxis], most, axis=1)
    rows, places = np.arange(n_rows)[:, np.newaxis, np.newaxis], np.arange(most)[:, np.newaxis]
    found[rows, places, uncertain[:, np.newaxis]] ^= flips[best]
    return found


def find_labelsets(labelsets: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The place of each label set among others that are distinct, -1 where it is not there."""
    keys, known = row_keys(labelsets), row_keys(among)
    order = np.argsort(known)
    places = order[np.searchsorted(known, keys, sorter=order).clip(max=len(known) - 1)]
    return np.where(known[places] == keys, places, -1)
