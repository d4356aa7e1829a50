"""How good probabilities are: proper scores and calibration errors, of labels and of label sets."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.decisions import IndependentLabels, LabelDistribution
from choral.measures import SubsetMeasure

N_BINS = 15
SURPRISE = 0.01  # share of a uniform distribution that is mixed in: the logarithm of a probability stays finite


def label_scores(Y: np.ndarray, marginals: FloatArray) -> dict[str, float]:
    """The Brier score of labels and their calibration error, both to be minimised.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        True labels, 0 or 1.
    marginals : ndarray of shape (n_samples, n_labels)
        The probability of each label.

    Examples
    --------
    Two labels that are as probable as they are frequent, by half each:

    >>> label_scores(np.array([[1, 0], [0, 1]]), np.full((2, 2), 0.5))
    {'brier': 0.25, 'calibration error': 0.0}
    """
    brier = float(np.mean((marginals - Y) ** 2))
    return {"brier": brier, "calibration error": calibration_error(Y.ravel(), marginals.ravel())}


def labelset_scores(parts: Sequence[tuple[np.ndarray, LabelDistribution | IndependentLabels]]) -> dict[str, float]:
    r"""The Brier score and log loss of label sets, and the calibration error of the most probable one.

    .. math:: 1 - 2 p(y) + \sum_c p(c)^2, \quad - \log (0.99 \, p(y) + 0.01 \cdot 2^{-K})

    All are means over rows, to be minimised. The share of a uniform distribution keeps the logarithm finite where a
    label set was thought impossible.

    Parameters
    ----------
    parts : sequence of (Y, distribution)
        True labels of some rows, of shape (n_rows, n_labels), and what was said of them; such as one for each fold.

    Examples
    --------
    >>> truth, halves = np.array([[1, 1], [0, 0]]), LabelDistribution([[0, 0], [1, 1]], [[0.5, 0.5]] * 2)
    >>> scores = labelset_scores([(truth, halves)])
    >>> {name: round(score, 3) for name, score in scores.items()}  # a log loss near to log 2
    {'brier': 0.5, 'log loss': 0.698, 'calibration error': 0.0}
    """
    rows = np.concatenate([_by_row(Y, distribution) for Y, distribution in parts])
    of_truth, squares, of_mode, is_right = rows.T
    uniform = 2.0 ** -parts[0][0].shape[1]
    return {
        "brier": float(np.mean(1 - 2 * of_truth + squares)),
        "log loss": float(-np.mean(np.log((1 - SURPRISE) * of_truth + SURPRISE * uniform))),
        "calibration error": calibration_error(is_right, of_mode),
    }


def _by_row(Y: np.ndarray, distribution: LabelDistribution | IndependentLabels) -> FloatArray:
    """For each row the probability of its label set, of two that are equal, of the mode, and whether that is right."""
    modes = distribution.mode()
    of_truth, of_mode = (1 - distribution.risk(labels, SubsetMeasure()) for labels in (Y, modes))
    columns = of_truth, _sum_of_squares(distribution), of_mode, (modes == Y).all(axis=1)
    return np.column_stack(columns).clip(0, 1)  # rounding may leave [0, 1]


def _sum_of_squares(distribution: LabelDistribution | IndependentLabels) -> FloatArray:
    """The probability that two label sets drawn from the distribution of a row are the same."""
    if isinstance(distribution, IndependentLabels):
        marginals = distribution.marginals()
        same: FloatArray = (marginals**2 + (1 - marginals) ** 2).prod(axis=1)
        return same
    weights = sp.csr_array(distribution.weights)
    squares: FloatArray = (weights * weights).sum(axis=1)
    return squares


def calibration_error(is_right: np.ndarray, probabilities: FloatArray) -> float:
    """Expected calibration error (ECE): how far probabilities are from frequencies, in 15 bins of equal width.

    Examples
    --------
    Of two events of probability 0.9 one came true, and of two of probability 0.2 none: off by 0.4 and by 0.2.

    >>> round(calibration_error(np.array([1, 0, 0, 0]), np.array([0.9, 0.9, 0.2, 0.2])), 3)
    0.3
    """
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, weights=probabilities - is_right, minlength=N_BINS)
    return float(np.abs(gaps).sum() / len(probabilities))
