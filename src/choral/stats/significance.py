"""Two learners on one data set, fold by fold: a test, an interval, and Holm's correction for several tests."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import FloatArray
from choral._validation import ROUNDING, check_array, refuse_where
from choral.stats.bootstrap import Band


class Significance(NamedTuple):
    """The result of a test; arrays if there were many tests at once.

    Parameters
    ----------
    statistic : float or ndarray
        The statistic of the test.
    pvalue : float or ndarray
        Its p-value.

    See Also
    --------
    corrected_resampled_t : A test of differences over folds.
    holm : Adjust p-values for several tests.

    Examples
    --------
    >>> Significance(statistic=2.5, pvalue=0.03).pvalue
    0.03
    """

    statistic: Any  # float or ndarray
    pvalue: Any  # float or ndarray, in [0, 1]


@np.errstate(under="ignore")  # squares of tiny differences are 0
def corrected_resampled_t(differences: ArrayLike, *, test_share: float) -> Significance:
    r"""Nadeau and Bengio's corrected resampled t test of the mean difference of two losses.

    .. math:: t = \frac{\bar d}{\sqrt{\left(\frac{1}{J} + \frac{n_\mathrm{test}}{n_\mathrm{train}}\right) s^2}}

    with the mean :math:`\bar d` and the variance :math:`s^2` (over J - 1) of the differences in J folds, against
    Student's distribution with J - 1 degrees of freedom. Training sets of different folds overlap, so the differences
    depend on each other. The plain t test, without the second fraction, rejects far too often (C. Nadeau and Y. Bengio,
    "Inference for the generalization error", Machine Learning 52, 2003).

    Parameters
    ----------
    differences : array-like of shape (n_folds, ...)
        Loss of one learner minus loss of the other in each fold, at least two folds; repetitions of a cross-validation
        are further folds. More axes are more tests, such as the parameters of a curve: see `holm`.
    test_share : float
        Number of test rows divided by number of training rows; 1 / 9 in a cross-validation with ten folds.

    Returns
    -------
    significance : Significance
        ``statistic`` and two-sided ``pvalue``, of shape (...). They are 0 and 1 if all differences are 0. They are plus
        or minus inf and 0 if all differences are equal, but not 0. Numbers that differ by at most 1e-12 count as equal.

    See Also
    --------
    corrected_t_interval : The interval that belongs to it.
    holm : Adjust p-values for several tests.

    Examples
    --------
    The mean is 2, the variance 1: t is 2 / sqrt((1/3 + 1/2) * 1).

    >>> t, p = corrected_resampled_t([1.0, 2.0, 3.0], test_share=1 / 2)
    >>> round(float(t), 3), round(float(p), 3)
    (2.191, 0.16)
    """
    from scipy.stats import t as student  # its import takes more than half a second, which only tests should cost

    mean, error, n_folds = _mean_and_error(differences, test_share)
    without_error = np.where(np.abs(mean) <= ROUNDING, 0.0, np.copysign(np.inf, mean))
    statistic = np.divide(mean, error, out=without_error, where=error > 0)
    return Significance(statistic[()], 2 * student.sf(np.abs(statistic), n_folds - 1))


@np.errstate(under="ignore")  # squares of tiny differences are 0
def corrected_t_interval(differences: ArrayLike, *, test_share: float, confidence: float = 0.95) -> Band:
    r"""The interval of the mean difference of two losses that belongs to `corrected_resampled_t`.

    .. math:: \bar d \pm t_{J - 1} \sqrt{\left(\frac{1}{J} + \frac{n_\mathrm{test}}{n_\mathrm{train}}\right) s^2}

    with the quantile :math:`t_{J - 1}` of Student's distribution that leaves (1 - confidence) / 2 above it. Such an
    interval excludes 0 where the p-value of the test is less than 1 - confidence. Many intervals are pointwise:
    nothing adjusts them for their number.

    Parameters
    ----------
    differences : array-like of shape (n_folds, ...)
        Loss of one learner minus loss of the other in each fold, at least two folds. More axes are more intervals.
    test_share : float
        Number of test rows divided by number of training rows; 1 / 9 in a cross-validation with ten folds.
    confidence : float, default=0.95
        Between 0 and 1.

    Returns
    -------
    interval : Band
        ``lower`` and ``upper``, of shape (...). They are the mean if all differences are equal, but for 1e-12.

    See Also
    --------
    corrected_resampled_t : A test of differences over folds.
    bootstrap_band : An interval from bootstrap samples.

    Examples
    --------
    The mean is 2, the variance 1: the error is sqrt((1/3 + 1/2) * 1) = 0.913, and t is 4.303.

    >>> lower, upper = corrected_t_interval([1.0, 2.0, 3.0], test_share=1 / 2)
    >>> round(float(lower), 3), round(float(upper), 3)
    (-1.928, 5.928)
    """
    from scipy.stats import t as student  # as above

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    mean, error, n_folds = _mean_and_error(differences, test_share)
    margin = student.isf((1 - confidence) / 2, n_folds - 1) * error
    return Band((mean - margin)[()], (mean + margin)[()])


def _mean_and_error(differences: ArrayLike, test_share: float) -> tuple[FloatArray, FloatArray, int]:
    """The mean over folds, its corrected standard error (0 if all are equal, but for rounding), the number of folds."""
    differences = np.asarray(check_array("differences", differences), dtype=float)
    if differences.ndim == 0 or len(differences) < 2:
        raise ValueError(f"differences must have at least two folds along their first axis; got {differences.shape}.")
    refuse_where("differences must be finite", "differences", differences, ~np.isfinite(differences))
    if not 0 < test_share < np.inf:
        raise ValueError(f"test_share must be positive and finite: rows tested to rows trained on; got {test_share}.")
    n_folds = len(differences)
    error = np.sqrt((1 / n_folds + test_share) * differences.var(axis=0, ddof=1))
    constant = np.ptp(differences, axis=0) <= ROUNDING
    return differences.mean(axis=0), np.where(constant, 0.0, error), n_folds


def holm(pvalues: ArrayLike, axis: int = -1) -> FloatArray:
    r"""Adjusted p-values by Holm's step-down method.

    Of m tests, the smallest p-value is multiplied by m, the next one by m - 1, and so on. No adjusted p-value is less
    than that of a smaller p-value:

    .. math:: \tilde p_{(i)} = \max_{j \le i} \min(1, (m - j + 1) \, p_{(j)}), \quad p_{(1)} \le \dots \le p_{(m)}

    If we reject where the adjusted p-value is at most 0.05, the chance of *any* false rejection is at most 0.05,
    however the tests depend on each other (S. Holm, "A simple sequentially rejective multiple test procedure",
    Scandinavian Journal of Statistics 6, 1979). It rejects all that Bonferroni's correction rejects, and more.

    Parameters
    ----------
    pvalues : array-like
        In [0, 1]. A p-value of nan stays nan and does not count as a test.
    axis : int, default=-1
        The tests along this axis are corrected together.

    Returns
    -------
    adjusted : ndarray of the shape of the p-values
        Adjusted p-values.

    See Also
    --------
    corrected_resampled_t : A test of differences over folds.

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
    factors = n_tests - np.arange(tests.shape[-1])
    steps = np.minimum(factors * np.take_along_axis(tests, order, axis=-1), 1)
    adjusted = np.empty_like(tests)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(steps, axis=-1), axis=-1)
    return np.moveaxis(adjusted, -1, axis)
