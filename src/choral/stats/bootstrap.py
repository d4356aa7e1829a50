"""Paired bootstrap of mean losses that stays fast and small for many rows.

Rows are drawn with replacement, the same rows for every model. If n of n rows are drawn, the numbers of copies of rows
are nearly independent and nearly Poisson(1). So we draw a Poisson number of copies for each row, and take the mean over
all copies (the *Poisson bootstrap*). A group of c equal rows needs one draw: together they have Poisson(c) copies. Hard
predictions of a few models have few different combinations of error counts, so a million rows cost little more than a
thousand.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from choral._typing import FloatArray, IntArray


class WeightedLosses(NamedTuple):
    """Losses of some rows; rows with equal losses and weights are one group, kept once with their number.

    Parameters
    ----------
    losses : ndarray of shape (n_groups, n_columns)
        The losses of each group, one column for each loss.
    counts : ndarray of int, of shape (n_groups,)
        The number of rows in each group.
    weights : ndarray of shape (n_groups,)
        The weight of one row of each group.

    See Also
    --------
    bootstrap_means : Mean losses in bootstrap samples.

    Examples
    --------
    >>> rows = WeightedLosses(np.array([[0.0], [1.0]]), np.array([3, 1]), np.array([1.0, 1.0]))
    >>> bootstrap_means([rows], 2, np.random.default_rng(0)).shape
    (2, 1)
    """

    losses: FloatArray  # (n_groups, n_columns): a column for each model and parameter
    counts: IntArray  # (n_groups,): the number of rows in each group
    weights: FloatArray  # (n_groups,): the sample weight of each of these rows


class Band(NamedTuple):
    """Lower and upper ends of an interval at each point of a curve.

    Parameters
    ----------
    lower : ndarray
        The lower ends.
    upper : ndarray
        The upper ends.

    See Also
    --------
    bootstrap_band : An interval from bootstrap samples.

    Examples
    --------
    >>> band = bootstrap_band(np.array([[0.1], [0.2], [0.3]]), confidence=1.0)
    >>> band.lower, band.upper
    (array([0.1]), array([0.3]))
    """

    lower: FloatArray
    upper: FloatArray


def bootstrap_band(samples: FloatArray, confidence: float) -> Band:
    """The interval between two quantiles of bootstrap samples, of shape (n_bootstrap, ...), pointwise.

    Parameters
    ----------
    samples : ndarray of shape (n_bootstrap, ...)
        Bootstrap samples.
    confidence : float
        Between 0 and 1: the share of the samples inside of the interval.

    Returns
    -------
    band : Band
        The lower and the upper end at each point.

    See Also
    --------
    bootstrap_means : Mean losses in bootstrap samples.
    Band : An interval at each point of a curve.

    Examples
    --------
    >>> bootstrap_band(np.linspace(0, 1, 101)[:, np.newaxis], confidence=0.9)
    Band(lower=array([0.05]), upper=array([0.95]))
    """
    tail = (1 - confidence) / 2
    return Band(*np.quantile(samples, [tail, 1 - tail], axis=0))


def bootstrap_means(blocks: Iterable[WeightedLosses], n_bootstrap: int, rng: np.random.Generator) -> FloatArray:
    """Mean losses in bootstrap samples.

    Parameters
    ----------
    blocks : iterable of WeightedLosses
        All rows in blocks. A block needs memory for n_bootstrap draws for each of its groups.
    n_bootstrap : int
        The number of samples.
    rng : numpy.random.Generator
        Draws the samples.

    Returns
    -------
    means : ndarray of shape (n_bootstrap, n_columns)
        If there are very few rows, a sample may be empty; then it is replaced by the data themselves.

    See Also
    --------
    bootstrap_band : An interval from bootstrap samples.
    WeightedLosses : Losses of rows, kept once where they are equal.

    Examples
    --------
    >>> losses = np.array([[0.0, 1.0], [0.5, 1.0]])  # the second column does not vary
    >>> block = WeightedLosses(losses, counts=np.array([50, 50]), weights=np.ones(2))
    >>> means = bootstrap_means([block], 500, np.random.default_rng(0))
    >>> bool(abs(means[:, 0].mean() - 0.25) < 0.01), means[:, 1].std()
    (True, np.float64(0.0))
    """
    sums, totals = np.zeros((n_bootstrap + 1, 1)), np.zeros(n_bootstrap + 1)
    for losses, counts, weights in blocks:
        rate = counts if counts.max() > 1 else 1.0  # drawing with one rate is faster than with an array of ones
        drawn = rng.poisson(rate, size=(n_bootstrap, len(counts)))
        copies = np.vstack([drawn, counts]) * weights  # the last row is the data themselves
        sums = sums + copies @ losses
        totals += copies.sum(axis=1)
    empty = totals == 0
    sums[empty], totals[empty] = sums[-1], totals[-1]
    return sums[:-1] / totals[:-1, np.newaxis]
