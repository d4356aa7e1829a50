r"""A mixture of Bernoulli vectors: which labels come together, where label sets hardly repeat.

.. math:: \pi(y) = \sum_m w_m \prod_i \theta_{mi}^{y_i} (1 - \theta_{mi})^{1 - y_i}

Rows fall into a few kinds, and within a kind labels are independent. It says something of every label set, seen or not.
Labels that are missing do not count.
"""

from dataclasses import dataclass

import numpy as np

from choral._typing import FloatArray

MAX_STEPS = 200
CONVERGED = 1e-5  # log likelihood a row
PRIOR_ROWS = 1.0  # a kind begins with the frequencies of all rows, as if seen in so many rows
LEAST = 1e-4  # no kind is surer of a label than this


@dataclass(frozen=True, eq=False)
class LabelMixture:
    """Kinds of rows.

    Attributes
    ----------
    weights : ndarray of shape (n_components,)
    frequencies : ndarray of shape (n_components, n_labels)
        Of each label in each kind.
    """

    weights: FloatArray
    frequencies: FloatArray

    def log_lifts(self, labelsets: np.ndarray) -> FloatArray:
        """How much more frequent label sets are than if labels were independent, in logarithms.

        Parameters
        ----------
        labelsets : array of shape (..., n_labels)
        """
        marginals = (self.weights @ self.frequencies)[np.newaxis]
        both = np.concatenate([self.frequencies, marginals])
        log_odds, constants = np.log(both) - np.log1p(-both), np.log1p(-both).sum(axis=1)
        logs = labelsets.astype(float) @ log_odds.T + constants
        return np.logaddexp.reduce(logs[..., :-1] + np.log(self.weights), axis=-1) - logs[..., -1]


def fit_mixture(labels: np.ndarray, known: np.ndarray, n_components: int, rng: np.random.Generator) -> LabelMixture:
    """Kinds of rows by the EM algorithm, from a random start.

    Parameters
    ----------
    labels, known : bool ndarrays of shape (n_rows, n_labels)
    n_components : int
    rng : Generator
    """
    relevant, irrelevant = (labels & known).astype(float), (known & ~labels).astype(float)
    overall = (relevant.sum(axis=0) + 0.5) / (known.sum(axis=0) + 1)
    shares = rng.dirichlet(np.full(n_components, 0.3), size=len(labels))
    likelihood = -np.inf
    for _ in range(MAX_STEPS):
        positives, negatives = shares.T @ relevant, shares.T @ irrelevant
        frequencies = (positives + PRIOR_ROWS * overall) / (positives + negatives + PRIOR_ROWS)
        frequencies = frequencies.clip(LEAST, 1 - LEAST)
        weights = (shares.sum(axis=0) + 1) / (len(labels) + n_components)
        logs = relevant @ np.log(frequencies).T + irrelevant @ np.log1p(-frequencies).T + np.log(weights)
        of_rows = np.logaddexp.reduce(logs, axis=1)
        shares = np.exp(logs - of_rows[:, np.newaxis])
        before, likelihood = likelihood, of_rows.mean()
        if likelihood - before < CONVERGED:
            break
    return LabelMixture(weights, frequencies)
