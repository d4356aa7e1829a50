"""How many of some independent events happen: the Poisson-binomial distribution, by dynamic programming."""

import numpy as np


@np.errstate(under="ignore")
def number_of_events(probabilities: np.ndarray) -> np.ndarray:
    """Probability of 0, 1, ..., K events.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_events)
        Of each event; a row of independent events.

    Returns
    -------
    counts : ndarray of shape (n_rows, n_events + 1)
    """
    n_rows, n_events = probabilities.shape
    counts = np.zeros((n_rows, n_events + 1))
    counts[:, 0] = 1
    for event in range(n_events):
        chance = probabilities[:, event, np.newaxis]
        happens = counts[:, : event + 1] * chance
        counts[:, : event + 1] *= 1 - chance
        counts[:, 1 : event + 2] += happens
    return counts
