r"""The best prediction of each size under a loss by overlap, from :math:`P_{is} = p(y_i = 1, |y| = s)` alone.

With m labels predicted and s true ones, one minus the loss is at most w(m, s) for each right label, and exactly that
under an F loss (`ByOverlap.worth_per_label`). So a predicted set h of m labels is worth at most

.. math:: \sum_{i \in h} \Delta_{im}, \quad \Delta_{im} = \sum_s P_{is} \, w(m, s),

and of all sets of this size the m labels with the largest :math:`\Delta_{im}` are best (Dembczynski et al., An Exact
Algorithm for F-Measure Maximization, 2011). The empty prediction is worth the probability of the empty label set. Under
an F loss this gives the optimum, for any number of labels; under others a bound, and a prediction to start from.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral.decisions.instances import Instances
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE
from choral.overlap import ByOverlap


class BestBySize(NamedTuple):
    """Predictions, of shape (n_instances, n_labels), and what the best ones of their size are worth at most."""

    labels: np.ndarray
    worths: np.ndarray


@np.errstate(under="ignore")
def best_by_size(form: ByOverlap, instances: Instances) -> BestBySize:
    """The best prediction of each instance, ties broken, and its worth; of NumPy's and SciPy's weights."""
    blocks = [_best_of_block(gains, of_nothing) for gains, of_nothing in _gains(form, instances)]
    return BestBySize(*map(np.concatenate, zip(*blocks, strict=True)))


def _gains(form: ByOverlap, instances: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""For some instances after another, :math:`\Delta_{im}` at [instance, m - 1, i] and what no label is worth."""
    support, weights, n_labels = instances.support, instances.weights, form.n_labels
    sizes, which = np.unique(support.sizes, return_inverse=True)
    members, labels = np.nonzero(support.labelsets)
    places = which[members] * n_labels + labels
    by_size = sp.csr_array((np.ones(members.size), (members, places)), shape=(len(support), sizes.size * n_labels))
    of_nothing = np.asarray(weights @ (support.sizes == 0).astype(float))
    n_predicted = np.arange(1, n_labels + 1)[:, np.newaxis]
    per_label = form.worth_per_label(n_predicted, sizes, np.minimum(n_predicted, sizes))
    for rows in row_blocks(instances.n_instances, n_labels * max(n_labels, sizes.size)):
        joint = weights[rows] @ by_size
        joint = joint.toarray() if sp.issparse(joint) else np.asarray(joint)
        yield per_label @ joint.reshape(-1, sizes.size, n_labels), of_nothing[rows]


def _best_of_block(gains: np.ndarray, of_nothing: np.ndarray) -> BestBySize:
    n_rows, n_labels, _ = gains.shape
    largest = np.tri(n_labels)[:, ::-1]  # the m largest of n_labels numbers in rising order
    worths = np.einsum("rmi,mi->rm", np.sort(gains, axis=2), largest)
    worths = np.concatenate([of_nothing[:, np.newaxis], worths], axis=1)
    best = worths.max(axis=1)
    sizes = (worths >= best[:, np.newaxis] - TOLERANCE).argmax(axis=1)  # the fewest labels that are good enough
    gains = gains[np.arange(n_rows), np.maximum(sizes - 1, 0)]
    return BestBySize(_first_of_size(gains, sizes, best - TOLERANCE), best.clip(0, 1))


def _first_of_size(gains: np.ndarray, sizes: np.ndarray, enough: np.ndarray) -> np.ndarray:
    """Of the sets of a size that gain enough, the first in order; one of each row."""
    n_labels = gains.shape[1]
    order = np.argsort(-gains, axis=1, kind="stable")
    ranks = np.argsort(order, axis=1)
    labels = (ranks < sizes[:, np.newaxis]).astype(np.uint8)
    # Another set can be as good only if the weakest label in can be changed for the strongest one out.
    rows = np.flatnonzero((sizes > 0) & (sizes < n_labels))
    strongest = np.take_along_axis(gains[rows], order[rows], axis=1)
    places, of_size = np.arange(rows.size), sizes[rows]
    sums = strongest.cumsum(axis=1)[places, of_size - 1]
    tied = sums - strongest[places, of_size - 1] + strongest[places, of_size] >= enough[rows]
    labels[rows[tied]] = _first_of_equals(gains[rows[tied]], of_size[tied], enough[rows[tied]])
    return labels


def _first_of_equals(gains: np.ndarray, sizes: np.ndarray, enough: np.ndarray) -> np.ndarray:
    """As `choral.decisions.ties.first_of_size`, for all rows at once: votes of an ensemble often tie."""
    n_rows, n_labels = gains.shape
    labels = np.zeros(gains.shape, dtype=np.uint8)
    gained, left = np.zeros(n_rows), sizes.copy()
    for label in range(n_labels):
        later = np.sort(gains[:, label + 1 :], axis=1)[:, ::-1].cumsum(axis=1)
        later = np.concatenate([np.zeros((n_rows, 1)), later], axis=1)
        with_label = gained + gains[:, label]
        filled = with_label + np.take_along_axis(later, (left - 1).clip(0)[:, np.newaxis], axis=1)[:, 0]
        needed = left == n_labels - label  # nothing can be left out any more
        taken = (left > 0) & (needed | (filled >= enough))
        labels[taken, label] = 1
        gained, left = np.where(taken, with_label, gained), left - taken
    return labels
