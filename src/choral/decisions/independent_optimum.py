r"""The optimum where labels are independent: no search needed for most measures.

The expected worth of a capacity grows with the probability that a label is right, so the labels more probable than not
are optimal. Relevance weighting depends on the truth and breaks this, and so do F and Jaccard losses. Where all labels
are alike, an exchange argument remains: of two labels, the more probable one is the better to predict. If just one of
them is true, it is more often that one; else both do equally well. So the s most probable labels are best among all
predictions of s labels, and K + 1 predictions are left.
"""

import numpy as np

from choral._poisson_binomial import with_event
from choral.decisions.independent import (
    chances_of_error,
    error_slopes,
    independent_risk,
    independent_worth,
    product_distribution,
    worths_by_right,
)
from choral.decisions.label_distribution import MAX_DENSE_LABELS, LabelDistribution
from choral.decisions.support import row_blocks, slices
from choral.decisions.ties import TOLERANCE, first_of_size
from choral.decisions.transform import transform
from choral.measures.forms import ByCount, ByRelevance, Table, Terms
from choral.overlap import ByOverlap, LossForm

PREFIX_ENTRIES = 1 << 24  # 128 MiB of doubles: tables for each size are made anew for each block of rows


def best_of_independent(form: LossForm, marginals: np.ndarray) -> np.ndarray:
    """The optimal labels for each row of marginals.

    Ties are told by the expected worth relative to itself: with many labels it may be below 1e-12 for all predictions.
    """
    if isinstance(form, ByCount | ByRelevance | ByOverlap):
        return _most_probable(form, marginals)
    return _more_probable_than_not(form, marginals)


def _most_probable(form: ByCount | ByRelevance | ByOverlap, marginals: np.ndarray) -> np.ndarray:
    """The s most probable labels for the best s, for measures that know no label by name."""
    n_labels = marginals.shape[1]
    order = np.argsort(-marginals, axis=1, kind="stable")
    sizes, least = _best_sizes(form, np.take_along_axis(marginals, order, axis=1))
    labels = np.zeros(marginals.shape, dtype=np.uint8)
    np.put_along_axis(labels, order, (np.arange(n_labels) < sizes[:, np.newaxis]).astype(np.uint8), axis=1)
    # Others of the same size are as good only if the weakest label in can be changed for the strongest one out.
    rows = np.flatnonzero((sizes > 0) & (sizes < n_labels))
    changed = labels[rows]
    changed[np.arange(rows.size), order[rows, sizes[rows] - 1]] = 0
    changed[np.arange(rows.size), order[rows, sizes[rows]]] = 1
    for row in rows[independent_worth(form, marginals[rows], changed) >= least[rows]]:
        labels[row] = _first_of_equals(form, marginals[row], sizes[row], least[row])
    return labels


def _first_of_equals(
    form: ByCount | ByRelevance | ByOverlap, marginals: np.ndarray, size: int, least: float
) -> np.ndarray:
    def is_enough(chosen: np.ndarray) -> bool:
        return bool(independent_worth(form, marginals[np.newaxis], chosen[np.newaxis])[0] >= least)

    return first_of_size(marginals, size, is_enough)


def _best_sizes(form: ByCount | ByRelevance | ByOverlap, ranked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many of the ranked labels to predict: as few as are good enough; and the least worth that is."""
    if not isinstance(form, ByCount):
        blocks = slices(len(ranked), max(1, PREFIX_ENTRIES // ranked.shape[1] ** 2))
        worths = np.concatenate([_prefix_worths(form, ranked[rows]) for rows in blocks])
        least = worths.max(axis=1) * (1 - TOLERANCE)
        return (worths >= least[:, np.newaxis]).argmax(axis=1), least
    positions = np.arange(ranked.shape[1])
    sizes = (ranked > 0.5).sum(axis=1)
    least = independent_worth(form, ranked, positions < sizes[:, np.newaxis]) * (1 - TOLERANCE)
    rows = np.flatnonzero(sizes)
    while rows.size:  # a label may hardly matter, next to others that are certain
        worths = independent_worth(form, ranked[rows], positions < sizes[rows, np.newaxis] - 1)
        rows = rows[worths >= least[rows]]
        sizes[rows] -= 1
        rows = rows[sizes[rows] > 0]
    return sizes, least


@np.errstate(under="ignore")
def _prefix_worths(form: ByRelevance | ByOverlap, ranked: np.ndarray) -> np.ndarray:
    """What the first 0, 1, ..., K of the ranked labels are worth as a prediction, of shape (n_rows, n_labels + 1)."""
    n_rows, n_labels = ranked.shape
    among_others = [np.ones((n_rows, 1))]  # chances of numbers of right labels among those not predicted
    for label in range(n_labels - 1, -1, -1):
        among_others.append(with_event(among_others[-1], 1 - ranked[:, label]))
    among_predicted, worths = np.ones((n_rows, 1)), np.empty((n_rows, n_labels + 1))
    for size in range(n_labels + 1):
        worths[:, size] = ((among_predicted @ worths_by_right(form, size)) * among_others.pop()).sum(axis=1)
        if size < n_labels:
            among_predicted = with_event(among_predicted, ranked[:, size])
    return worths


def _more_probable_than_not(form: Terms | Table, marginals: np.ndarray) -> np.ndarray:
    labels = (marginals > 0.5).astype(np.uint8)
    costs = _costs_of_dropping(form, marginals, labels)
    slack = TOLERANCE * (1 - independent_risk(form, marginals, labels))
    rows = np.flatnonzero((costs <= slack[:, np.newaxis]).any(axis=1))
    if not rows.size:
        return labels
    if marginals.shape[1] <= MAX_DENSE_LABELS:
        for block in row_blocks(rows.size, 1 << marginals.shape[1]):
            joint = LabelDistribution.from_dense(product_distribution(marginals[rows[block]]))
            labels[rows[block]] = transform(joint, [form])[0].labels
    else:
        for row in rows:
            _drop_labels(form, marginals[row : row + 1], labels[row : row + 1], slack[row])
    return labels


def _costs_of_dropping(form: Terms | Table, marginals: np.ndarray, labels: np.ndarray) -> np.ndarray:
    slopes = error_slopes(form, chances_of_error(marginals, labels))
    return np.where(labels, (2 * marginals - 1) * slopes, np.inf)


def _drop_labels(form: Terms | Table, marginals: np.ndarray, labels: np.ndarray, slack: float) -> None:
    """Drop, in place, the label that costs least, the last of several, as long as all cost no more than the slack."""
    while True:
        costs = _costs_of_dropping(form, marginals, labels)[0, ::-1]
        cheapest = int(costs.argmin())
        if not costs[cheapest] <= slack:
            return
        slack -= costs[cheapest]
        labels[0, labels.shape[1] - 1 - cheapest] = 0
