"""The corrected resampled t test: two learners on one data set, compared fold by fold."""

from typing import Any, NamedTuple

import numpy as np

from choral._validation import check_array, refuse_where
from choral.measures.base import ROUNDING


class Significance(NamedTuple):
    """What a test found: numbers, or arrays where many tests were made at once."""

    statistic: Any
    pvalue: Any


@np.errstate(under="ignore")  # squares of tiny differences are 0
def corrected_resampled_t(differences: Any, *, test_share: float) -> Significance:
    r"""Nadeau and Bengio's corrected resampled t test of the mean difference of two losses.

    .. math:: t = \frac{\bar d}{\sqrt{\left(\frac{1}{J} + \frac{n_\mathrm{test}}{n_\mathrm{train}}\right) s^2}}

    with the mean :math:`\bar d` and the variance :math:`s^2` (over J - 1) of the differences in J folds, against
    Student's distribution with J - 1 degrees of freedom. Training sets of different folds overlap, so the differences
    depend on each other and the plain t test, without the second fraction, finds far too much (C. Nadeau and Y. Bengio,
    "Inference for the generalization error", Machine Learning 52, 2003).

    Parameters
    ----------
    differences : array-like of shape (n_folds, ...)
        Loss of one learner minus loss of the other in each fold, at least two folds; repetitions of a cross-validation
        are further folds. More axes are more tests, such as the parameters of a curve: see `holm`.
    test_share : float
        Rows tested to rows trained on; 1 / 9 in a cross-validation with ten folds.

    Returns
    -------
    significance : Significance
        ``statistic`` and two-sided ``pvalue``, of shape (...). Without any difference they are 0 and 1; differences
        that are the same in all folds, but not 0, give plus or minus inf and 0. What differs by less than 1e-12 is the
        same.

    Examples
    --------
    The mean is 2, the variance 1: t is 2 / sqrt((1/3 + 1/2) * 1).

    >>> t, p = corrected_resampled_t([1.0, 2.0, 3.0], test_share=1 / 2)
    >>> round(float(t), 3), round(float(p), 3)
    (2.191, 0.16)
    """
    from scipy.stats import t as student  # more than half a second, which only tests should cost

    differences = np.asarray(check_array("differences", differences), dtype=float)
    if differences.ndim == 0 or len(differences) < 2:
        raise ValueError(f"differences must have at least two folds along their first axis; got {differences.shape}.")
    refuse_where("differences must be finite", "differences", differences, ~np.isfinite(differences))
    if not 0 < test_share < np.inf:
        raise ValueError(f"test_share must be positive and finite: rows tested to rows trained on; got {test_share}.")
    n_folds = len(differences)
    mean = differences.mean(axis=0)
    error = np.sqrt((1 / n_folds + test_share) * differences.var(axis=0, ddof=1))
    constant = np.ptp(differences, axis=0) <= ROUNDING
    without_error = np.where(np.abs(mean) <= ROUNDING, 0.0, np.copysign(np.inf, mean))
    statistic = np.divide(mean, error, out=without_error, where=~constant)
    return Significance(statistic[()], 2 * student.sf(np.abs(statistic), n_folds - 1))
