"""Paired bootstrap of mean losses, in memory and time that do not explode with the number of rows.

Rows are drawn with replacement, the same rows for every model. Drawing n rows of n means a Poisson(1) number of
copies of each row, all but independently; so each row gets a Poisson number of copies, and the mean is taken over as
many rows as came out (the *Poisson bootstrap*). Rows that are alike need one draw together: c of them have
Poisson(c) copies. Hard predictions of a few models have few different combinations of error counts, so a million
rows cost little more than a thousand.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Some rows of a table of losses; equal ones are kept once, with their number."""

    losses: np.ndarray  # (n_groups, n_columns): a column for each model and parameter
    counts: np.ndarray  # (n_groups,): the number of rows alike
    weights: np.ndarray  # (n_groups,): the sample weight of each such row


class Band(NamedTuple):
    """An interval at each point of a curve."""

    lower: np.ndarray
    upper: np.ndarray


def bootstrap_band(samples: np.ndarray, confidence: float) -> Band:
    """The interval between two quantiles of bootstrap samples, of shape (n_bootstrap, ...), pointwise.

    Examples
    --------
    >>> bootstrap_band(np.linspace(0, 1, 101)[:, np.newaxis], confidence=0.9)
    Band(lower=array([0.05]), upper=array([0.95]))
    """
    tail = (1 - confidence) / 2
    return Band(*np.quantile(samples, [tail, 1 - tail], axis=0))


def bootstrap_means(blocks: Iterable[Rows], n_bootstrap: int, rng: np.random.Generator) -> np.ndarray:
    """Mean losses in bootstrap samples.

    Parameters
    ----------
    blocks : iterable of Rows
        All rows, in as many blocks as memory wants: a block takes n_bootstrap draws for each of its groups.
    n_bootstrap : int
        The number of samples.
    rng : numpy.random.Generator

    Returns
    -------
    means : ndarray of shape (n_bootstrap, n_columns)
        Of a handful of rows a sample may come out empty; it is taken to be the data themselves.

    Examples
    --------
    >>> losses = np.array([[0.0, 1.0], [0.5, 1.0]])  # the second column does not vary
    >>> rows = Rows(losses, counts=np.array([50, 50]), weights=np.ones(2))
    >>> means = bootstrap_means([rows], 500, np.random.default_rng(0))
    >>> bool(abs(means[:, 0].mean() - 0.25) < 0.01), means[:, 1].std()
    (True, np.float64(0.0))
    """
    sums, totals = np.zeros((n_bootstrap + 1, 1)), np.zeros(n_bootstrap + 1)
    for losses, counts, weights in blocks:
        rate = counts if counts.max() > 1 else 1.0  # a single rate is drawn faster than an array of ones
        drawn = rng.poisson(rate, size=(n_bootstrap, len(counts)))
        copies = np.vstack([drawn, counts]) * weights  # the data themselves last
        sums = sums + copies @ losses
        totals += copies.sum(axis=1)
    empty = totals == 0
    sums[empty], totals[empty] = sums[-1], totals[-1]
    return sums[:-1] / totals[:-1, np.newaxis]
