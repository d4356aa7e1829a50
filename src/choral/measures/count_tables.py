r"""Tables of counting measures by the number of *wrong* labels, exact where naive formulas are not.

Each function serves many parameters at once, one a row, and stops at ``max_wrong`` mistakes: with half a
million labels and twenty mistakes at most, twenty columns are enough. With K labels and e mistakes,

* the worth of a binomial measure is :math:`\binom{K-e}{k} / \binom{K}{k}`, a product of e factors
  (K-k-i)/(K-i), or just as well of k factors (K-e-i)/(K-i). Binomial coefficients would overflow; log-gamma
  keeps about nine digits at K = 10^6; sums of logarithms lose the last digits of tiny worths. Products of few
  factors lose nothing: we take the k factors where k is small, else the e factors;
* OWA weights are the steps between neighbouring worths; written as a worth times a fraction, not as a
  difference, they do not cancel;
* the deficit 1 - worth is the sum of the weights so far: positive terms, so that nothing cancels.
"""

from math import isqrt

import numpy as np

FEW_FACTORS = 64  # up to this k, a product of k factors beats the running product in accuracy
NEAR_ONE = 0.9  # above this worth, 1 - worth cancels
LONG = 1024  # tables shorter than this are exact enough either way


def binomial_worths(ks: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """Worth for each k (rows) and 0, 1, ..., max_wrong mistakes (columns)."""
    worths = np.ones((len(ks), max_wrong + 1))
    few = (ks <= FEW_FACTORS) if max_wrong >= LONG else np.zeros(len(ks), bool)
    mistakes = np.arange(max_wrong)
    with np.errstate(under="ignore"):
        steps = np.maximum(n_labels - ks[~few, np.newaxis] - mistakes, 0) / (n_labels - mistakes)
        worths[~few, 1:] = np.cumprod(steps, axis=1)
        right = n_labels - np.arange(max_wrong + 1)
        for row in np.flatnonzero(few):
            for drawn in range(ks[row]):
                worths[row] *= np.maximum(right - drawn, 0) / (n_labels - drawn)
    return worths


def binomial_weights(ks: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """OWA weights of the 1st, 2nd, ..., max_wrong-th largest error: worth(e) - worth(e + 1)."""
    return _binomial_steps(binomial_worths(ks, n_labels, max_wrong), ks, n_labels)


def _binomial_steps(worths: np.ndarray, ks: np.ndarray, n_labels: int) -> np.ndarray:
    mistakes = np.arange(worths.shape[1] - 1)
    with np.errstate(under="ignore"):
        return worths[:, :-1] * (ks[:, np.newaxis] / (n_labels - mistakes))


def binomial_deficits(ks: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """1 - worth for each k (rows) and 0, 1, ..., max_wrong mistakes (columns)."""
    worths = binomial_worths(ks, n_labels, max_wrong)
    deficits = np.zeros_like(worths)
    deficits[:, 1:] = running_sum(_binomial_steps(worths, ks, n_labels))
    return np.where(worths < NEAR_ONE, 1 - worths, deficits)


def polynomial_worths(alphas: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """Worth ((K - e) / K) ** alpha for each alpha (rows) and 0, 1, ..., max_wrong mistakes."""
    wrong = np.arange(max_wrong + 1)
    right = (n_labels - wrong) / n_labels
    alphas = alphas[:, np.newaxis]
    with np.errstate(under="ignore", divide="ignore", invalid="ignore"):
        # A power multiplies the rounding error of its base by alpha; a logarithm of the exact e / K does not.
        logs = np.where(right >= 0.5, np.log1p(-wrong / n_labels), np.log(right))
        worths = np.where(alphas > 16, np.exp(alphas * logs), right**alphas)
    worths[:, 0] = 1  # alpha = inf: inf * log 1
    return worths


def polynomial_weights(alphas: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """OWA weights of the 1st, 2nd, ..., max_wrong-th largest error."""
    right = n_labels - np.arange(max_wrong)
    with np.errstate(under="ignore", divide="ignore", over="ignore"):
        # worth(e) - worth(e + 1) = worth(e) * (1 - (1 - 1 / right) ** alpha)
        steps = -np.expm1(alphas[:, np.newaxis] * np.log1p(-1 / right))
        return polynomial_worths(alphas, n_labels, max_wrong)[:, :-1] * steps


def polynomial_deficits(alphas: np.ndarray, n_labels: int, max_wrong: int) -> np.ndarray:
    """1 - worth for each alpha (rows) and 0, 1, ..., max_wrong mistakes (columns)."""
    worths = polynomial_worths(alphas, n_labels, max_wrong)
    wrong = np.arange(max_wrong + 1) / n_labels
    with np.errstate(under="ignore", divide="ignore", invalid="ignore", over="ignore"):
        near_one = -np.expm1(alphas[:, np.newaxis] * np.log1p(-wrong))
    deficits = np.where(worths < NEAR_ONE, 1 - worths, near_one)
    deficits[:, 0] = 0  # alpha = inf: inf * log 1
    return deficits


def running_sum(terms: np.ndarray) -> np.ndarray:
    """Cumulative sums along the last axis, by blocks: n terms cost sqrt(n) rounding errors, not n.

    A plain ``cumsum`` of a million equal weights is off by 1e-11.
    """
    n_terms = terms.shape[-1]
    if n_terms < LONG:
        return np.cumsum(terms, axis=-1)
    width = isqrt(n_terms - 1) + 1
    padded = np.zeros((*terms.shape[:-1], width * width))
    padded[..., :n_terms] = terms
    sums = np.cumsum(padded.reshape(*terms.shape[:-1], width, width), axis=-1)
    sums[..., 1:, :] += np.cumsum(sums[..., :-1, -1], axis=-1)[..., np.newaxis]
    return sums.reshape(padded.shape)[..., :n_terms]
