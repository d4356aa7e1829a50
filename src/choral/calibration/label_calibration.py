r"""Scores of each label made probabilities: a slope and an intercept for each label, on the log odds.

.. math:: p_i = \sigma(a_i z_i + b_i), \qquad z_i = \log \frac{s_i}{1 - s_i}

This is Platt's scaling, the sigmoid method of scikit-learn's ``CalibratedClassifierCV``. scikit-learn fits one label at
a time; here all labels are fitted together, and those with few relevant rows are drawn to what fits all labels at once.
On the data sets that we have, so strong a pull was better than none, and than one common slope and intercept.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from choral._typing import FloatArray

LEAST_PROBABILITY = 1e-4  # no score makes a label less probable: a few trees that agree are no proof
PULL = 10.0  # as strong as some 40 rows of which nothing can be told
MAX_STEPS = 50
MAX_HALVINGS = 30
CONVERGED = 1e-7


@dataclass(frozen=True, eq=False)
class LabelCalibration:
    """Slopes and intercepts.

    Attributes
    ----------
    slopes, intercepts : ndarray of shape (n_labels,)
    """

    slopes: FloatArray
    intercepts: FloatArray

    def log_odds(self, log_odds: FloatArray) -> FloatArray:
        """Calibrated log odds of uncalibrated ones."""
        return self.slopes * log_odds + self.intercepts


def log_odds_of(scores: FloatArray, *, are_logits: bool) -> FloatArray:
    """Log odds of scores, none of them extreme."""
    if are_logits:
        most = np.log1p(-LEAST_PROBABILITY) - np.log(LEAST_PROBABILITY)
        return scores.clip(-most, most)
    scores = scores.clip(LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return np.log(scores) - np.log1p(-scores)


def fit_labels(log_odds: FloatArray, labels: np.ndarray, known: np.ndarray) -> LabelCalibration:
    """Slopes and intercepts of the highest likelihood, less a penalty for distance from those of all labels together.

    Parameters
    ----------
    log_odds : ndarray of shape (n_rows, n_labels)
    labels, known : bool ndarrays of the same shape
        A label that is not known does not count.
    """
    one_column = (-1, 1)
    as_they_are = np.array([[1.0], [0.0]])
    common = _fit(
        log_odds.reshape(one_column), labels.reshape(one_column), known.reshape(one_column), as_they_are, pull=1.0
    )
    both = _fit(log_odds, labels, known, np.repeat(common, log_odds.shape[1], axis=1), PULL)
    return LabelCalibration(both[0], both[1])


def _fit(log_odds: FloatArray, labels: np.ndarray, known: np.ndarray, centre: FloatArray, pull: float) -> FloatArray:
    """Newton's method for all labels at once, of shape (2, n_labels); steps are halved where the objective grows."""
    counts, truth = known.astype(float), labels.astype(float)

    def objective(both: FloatArray) -> FloatArray:
        linear = both[0] * log_odds + both[1]
        losses = counts * (np.logaddexp(0, linear) - truth * linear)
        return losses.sum(axis=0) + pull / 2 * ((both - centre) ** 2).sum(axis=0)

    both, value = centre, objective(centre)
    for _ in range(MAX_STEPS):
        shares = expit(both[0] * log_odds + both[1])
        errors, spread = counts * (shares - truth), counts * shares * (1 - shares)
        gradient = np.stack([(errors * log_odds).sum(axis=0), errors.sum(axis=0)]) + pull * (both - centre)
        step = _solve(spread, log_odds, pull, gradient)
        for halving in range(MAX_HALVINGS):
            moved = both - step
            new_value = objective(moved)
            grows = new_value > value + CONVERGED
            if not grows.any():
                break
            step = np.where(grows, step / 2 if halving < MAX_HALVINGS - 2 else 0.0, step)
        both, before, value = moved, value, new_value
        if (before - value).max() < CONVERGED * (1 + np.abs(value).max()):
            break
    return both


def _solve(spread: FloatArray, log_odds: FloatArray, pull: float, gradient: FloatArray) -> FloatArray:
    """Newton's step of each label: two equations in two unknowns."""
    slopes = (spread * log_odds**2).sum(axis=0) + pull
    mixed = (spread * log_odds).sum(axis=0)
    intercepts = spread.sum(axis=0) + pull
    determinant = slopes * intercepts - mixed**2
    return np.stack([intercepts * gradient[0] - mixed * gradient[1], slopes * gradient[1] - mixed * gradient[0]]) / (
        determinant
    )
