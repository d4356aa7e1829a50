r"""The optimum where labels are independent: no search needed for most measures.

The expected worth of a capacity grows with the probability that a label is right, so the labels more probable than not
are optimal. Relevance weighting depends on the truth and breaks this. Where all labels are alike in the base, an
exchange argument remains: of two labels, the more probable one is the better to predict. If just one of them is true,
it is more often that one; else both do equally well. So the s most probable labels are best among all predictions of s
labels, and K + 1 predictions are left.
"""

import numpy as np

from choral.decisions.independent import (
    chances_of_error,
    error_slopes,
    independent_risk,
    independent_worth,
    product_distribution,
)
from choral.decisions.label_distribution import MAX_DENSE_LABELS, LabelDistribution
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE, first_of_size
from choral.decisions.transform import transform
from choral.measures.forms import ByCount, ByRelevance, Form, Table, Terms


def best_of_independent(form: Form, marginals: np.ndarray) -> np.ndarray:
    """The optimal labels for each row of marginals.

    Ties are told by the expected worth relative to itself: with many labels it may be below 1e-12 for all predictions.
    """
    if isinstance(form, ByCount | ByRelevance):
        return _most_probable(form, marginals)
    return _more_probable_than_not(form, marginals)


def _most_probable(form: ByCount | ByRelevance, marginals: np.ndarray) -> np.ndarray:
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


def _first_of_equals(form: ByCount | ByRelevance, marginals: np.ndarray, size: int, least: float) -> np.ndarray:
    def is_enough(chosen: np.ndarray) -> bool:
        return bool(independent_worth(form, marginals[np.newaxis], chosen[np.newaxis])[0] >= least)

    return first_of_size(marginals, size, is_enough)


def _best_sizes(form: ByCount | ByRelevance, ranked: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many of the ranked labels to predict: as few as are good enough; and the least worth that is."""
    positions = np.arange(ranked.shape[1])
    if isinstance(form, ByRelevance):
        prefixes = [np.broadcast_to(positions < size, ranked.shape) for size in range(ranked.shape[1] + 1)]
        worths = np.stack([independent_worth(form, ranked, chosen) for chosen in prefixes], axis=1)
        least = worths.max(axis=1) * (1 - TOLERANCE)
        return (worths >= least[:, np.newaxis]).argmax(axis=1), least
    sizes = (ranked > 0.5).sum(axis=1)
    least = independent_worth(form, ranked, positions < sizes[:, np.newaxis]) * (1 - TOLERANCE)
    rows = np.flatnonzero(sizes)
    while rows.size:  # a label may hardly matter, next to others that are certain
        worths = independent_worth(form, ranked[rows], positions < sizes[rows, np.newaxis] - 1)
        rows = rows[worths >= least[rows]]
        sizes[rows] -= 1
        rows = rows[sizes[rows] > 0]
    return sizes, least


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
