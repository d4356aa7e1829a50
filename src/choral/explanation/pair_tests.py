r"""How sure it is that two labels are wrong together more or less often than independent errors: interval and test.

For hard labels the normal approximation fails where errors are rare: two labels that are never wrong together have an
estimated variance near 0. `excess_interval` starts from exact (Clopper-Pearson) limits instead. The excess is written
with one cell of the table of both labels and its margins, :math:`p - r s`, and the distances of p, r and s to their
limits take the place of standard errors in the usual formula (MOVER, Zou and Donner, 2008):

.. math:: \text{reach}^2 = x^T R x, \quad x = (p - l_p, \; -s (u_r - r), \; -r (u_s - s)),

with the estimated correlations R of the three; likewise upwards, with the other limits. Each of the four cells gives an
interval, which agree in the long run: the widest limits count. By simulation (rates of 0.005 to 0.9, 20 to 2000 rows),
these cover at least as often as they say.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv, ndtr

from choral._typing import FloatArray
from choral._validation import ROUNDING


class Limits(NamedTuple):
    """The lower and the upper ends of intervals, of shape (n_pairs,) each."""

    lower: FloatArray
    upper: FloatArray


def excess_interval(both: FloatArray, first: FloatArray, second: FloatArray, n_rows: FloatArray, tail: float) -> Limits:
    """Limits of P(both wrong) - P(first wrong) P(second wrong), each of which is exceeded in a share ``tail`` at most.

    Parameters
    ----------
    both, first, second : ndarray of shape (n_pairs,)
        The shares of rows in which both labels, the first, and the second are wrong.
    n_rows : ndarray of shape (n_pairs,)
        How many rows that are shares of, not always whole.
    tail : float
        In (0, 0.5).

    Examples
    --------
    Rates of 7.3 % and 2.6 %, never both in 1197 rows, where 0.19 % were expected:

    >>> found = excess_interval(*np.array([[0], [0.073], [0.026], [1197]]), tail=0.025)
    >>> [(100 * limit).round(2).tolist() for limit in found]
    [[-0.49], [0.13]]
    """
    cells = [
        _limits_by_cell(both, first, second, n_rows, tail),
        _limits_by_cell(1 - first - second + both, 1 - first, 1 - second, n_rows, tail),
        # Of the two others, the excess is that of both with the other sign.
        *(
            Limits(-found.upper, -found.lower)
            for found in (
                _limits_by_cell(first - both, first, 1 - second, n_rows, tail),
                _limits_by_cell(second - both, 1 - first, second, n_rows, tail),
            )
        ),
    ]
    lower, upper = zip(*cells, strict=True)
    # No probabilities have an excess beyond 1/4 on either side.
    return Limits(np.minimum.reduce(lower).clip(min=-0.25), np.maximum.reduce(upper).clip(max=0.25))


def _limits_by_cell(p: FloatArray, r: FloatArray, s: FloatArray, n_rows: FloatArray, tail: float) -> Limits:
    """Limits of p - r s, where p is the share of one cell, and r and s are those of its row and its column."""
    p, r, s = (np.where(some < ROUNDING, 0.0, np.where(some > 1 - ROUNDING, 1.0, some)) for some in (p, r, s))
    excess = p - r * s
    of_p, of_r, of_s = (share_interval(some, n_rows, tail) for some in (p, r, s))
    deviation_p, deviation_r, deviation_s = (np.sqrt(some * (1 - some)) for some in (p, r, s))
    with_r = _ratio(p * (1 - r), deviation_p * deviation_r)  # correlations of whether a row is in the cell, and in r
    with_s = _ratio(p * (1 - s), deviation_p * deviation_s)
    margins = _ratio(excess, deviation_r * deviation_s)

    def reach(x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
        square = x**2 + y**2 + z**2 - 2 * with_r * x * y - 2 * with_s * x * z + 2 * margins * y * z
        return np.sqrt(np.maximum(square, 0))

    return Limits(
        excess - reach(p - of_p.lower, s * (of_r.upper - r), r * (of_s.upper - s)),
        excess + reach(of_p.upper - p, s * (r - of_r.lower), r * (s - of_s.lower)),
    )


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def share_interval(share: FloatArray, n_rows: FloatArray, tail: float) -> Limits:
    """Exact limits of a probability (Clopper and Pearson, 1934), from the share of rows in which something happened.

    Examples
    --------
    >>> [limit.round(4).tolist() for limit in share_interval(np.array([0.0, 0.3]), np.array([10, 10]), 0.025)]
    [[0.0, 0.0667], [0.3085, 0.6525]]
    """
    count = share * n_rows
    rest = n_rows - count
    # betaincinv asks for counts above 0: 1 stands in where the limit is known without it.
    lower = np.where(count > 0, betaincinv(np.where(count > 0, count, 1), rest + 1, tail), 0.0)
    upper = np.where(rest > 0, betaincinv(count + 1, np.where(rest > 0, rest, 1), 1 - tail), 1.0)
    return Limits(lower, upper)


def fisher_exact(both: np.ndarray, first: np.ndarray, second: np.ndarray, n_rows: np.ndarray) -> FloatArray:
    """Fisher's exact test of many tables at once: how often both, the first, and the second label are wrong.

    All numbers of rows with both wrong that are at most as likely as the one seen count, on both sides of the most
    likely one, as in `scipy.stats.fisher_exact`, which takes one table at a time.

    Examples
    --------
    >>> fisher_exact(np.array([8]), np.array([10]), np.array([9]), np.array([16])).round(4)
    array([0.035])
    """
    from scipy.stats import hypergeom  # its import takes more than half a second, which only explanations should cost

    likelihood = partial(hypergeom.pmf, M=n_rows, n=first, N=second)
    least, most = np.maximum(0, first + second - n_rows), np.minimum(first, second)
    peak = np.clip(np.floor((first + 1) * (second + 1) / (n_rows + 2)), least, most)
    seen = likelihood(both) * (1 + 1e-14)
    below, above = least - 1, peak  # the last one up to the peak that is not likelier than the one seen
    while (below < above).any():
        middle = np.ceil((below + above) / 2)
        fits = likelihood(middle) <= seen
        below, above = np.where(fits, middle, below), np.where(fits, above, middle - 1)
    low = below
    below, above = peak, most + 1  # the first one from the peak on
    while (below < above).any():
        middle = np.floor((below + above) / 2)
        fits = likelihood(middle) <= seen
        below, above = np.where(fits, below, middle + 1), np.where(fits, middle, above)
    tails = hypergeom.cdf(low, n_rows, first, second) + hypergeom.sf(above - 1, n_rows, first, second)
    return np.minimum(1, tails)


def two_sided(excess: FloatArray, error: FloatArray) -> FloatArray:
    """The p-value of a difference with a normal distribution; where its standard error is 0, 1 or 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(error > 0, 2 * ndtr(-np.abs(excess) / error), (excess == 0).astype(float))
