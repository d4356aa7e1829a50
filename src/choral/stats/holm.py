"""Holm's correction: p-values of several tests, made fit to be read together."""

from typing import Any

import numpy as np

from choral._validation import check_array, refuse_where


def holm(pvalues: Any, axis: int = -1) -> np.ndarray:
    r"""Adjusted p-values by Holm's step-down method.

    Of m tests, the smallest p-value counts m times, the next one m - 1 times, and so on; none is adjusted to less than
    one before it:

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) \, p_{(j)}), \quad p_{(1)} \le \dots \le p_{(m)}

    Rejecting where the adjusted p-value is at most 0.05, the chance of *any* false rejection is at most 0.05, however
    the tests depend on each other (S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
    Journal of Statistics 6, 1979). It rejects all that Bonferroni's correction rejects, and more.

    Parameters
    ----------
    pvalues : array-like
        In [0, 1]. A p-value of nan stays nan and does not count as a test.
    axis : int, default=-1
        The tests along this axis are read together.

    Returns
    -------
    adjusted : ndarray of the shape of pvalues

    Examples
    --------
    >>> holm([0.02, 0.01, 0.5])  # 2 * 0.02, 3 * 0.01, 1 * 0.5
    array([0.04, 0.03, 0.5 ])
    """
    pvalues = np.asarray(check_array("pvalues", pvalues), dtype=float)
    tests = np.moveaxis(pvalues, axis, -1)
    refuse_where("pvalues must lie in [0, 1]", "pvalues", pvalues, (pvalues < 0) | (pvalues > 1))
    order = np.argsort(tests, axis=-1)  # nan last
    n_tests = np.count_nonzero(~np.isnan(tests), axis=-1, keepdims=True)
    times = n_tests - np.arange(tests.shape[-1])
    steps = np.minimum(times * np.take_along_axis(tests, order, axis=-1), 1)
    adjusted = np.empty_like(tests)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(steps, axis=-1), axis=-1)
    return np.moveaxis(adjusted, -1, axis)
