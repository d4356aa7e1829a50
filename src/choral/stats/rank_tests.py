"""Several learners on several data sets: Friedman's test, and which learners differ.

Friedman's test is SciPy's, Nemenyi's test a single formula with SciPy's distribution. scikit-posthocs and autorank have
both, but need pandas, statsmodels and seaborn; our tests compare with the numbers of scikit-posthocs instead.

Wilcoxon's test is our own because of ties. With ties and up to 13 data sets, SciPy goes through all combinations of
signs, which takes seconds for each pair; with more data sets it approximates by a normal distribution, and versions
differ. A sum over ranks is exact and takes microseconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import FloatArray, IntArray
from choral._validation import ROUNDING, check_array, refuse_where
from choral.stats.significance import Significance, holm

NO_TEST = Significance(np.nan, np.nan)
NO_DIFFERENCE = Significance(0.0, 1.0)


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class RankComparison:
    """Mean ranks of learners over data sets, and which of the differences are significant.

    Parameters
    ----------
    names : tuple of str
        The names of the learners.
    mean_ranks : ndarray of shape (n_learners,)
        1 for a learner that is best on every data set. Learners that tie on a data set share the average of their
        ranks.
    n_datasets : int
        The number of data sets.
    confidence : float
        Of `critical_difference`.
    friedman : Significance
        Friedman's test that all learners are alike: ``statistic`` (chi-square, corrected for ties) and ``pvalue``. Both
        are nan for fewer than three learners or two data sets; they are 0 and 1 if all learners tie on every data set.
    iman_davenport : Significance
        Iman and Davenport's version, an F statistic that is less conservative; inf if all data sets rank the
        learners in the same way. nan, or 0 and 1, in the same cases.
    critical_difference : float
        Nemenyi's: mean ranks that differ by at least this much differ significantly.
    nemenyi : ndarray of shape (n_learners, n_learners)
        The p-values of Nemenyi's test of each pair, corrected for the number of pairs; 1 on the diagonal.
    wilcoxon : ndarray of shape (n_learners, n_learners)
        The p-values of Wilcoxon's signed-rank test of each pair, adjusted by Holm's method over all pairs; 1 on
        the diagonal and for learners that tie on every data set. Data sets on which two learners tie do not count for
        the pair.

    See Also
    --------
    compare_ranks : Compare learners by their ranks.
    choral.displays.CriticalDifferenceDisplay : Mean ranks on one axis.

    Examples
    --------
    >>> comparison = compare_ranks([[0.1, 0.2], [0.3, 0.4], [0.2, 0.5]], ["a", "b"])
    >>> comparison.mean_ranks
    array([1., 2.])
    """

    names: tuple[str, ...]
    mean_ranks: FloatArray
    n_datasets: int
    confidence: float
    friedman: Significance
    iman_davenport: Significance
    critical_difference: float
    nemenyi: FloatArray
    wilcoxon: FloatArray

    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Groups of learners that do not differ by Nemenyi's test: the bars of a critical difference diagram.

        Returns
        -------
        groups : tuple of tuples of int
            The largest sets of two or more neighbours in mean rank whose mean ranks all differ by less than the
            critical difference. Indices of learners are in order from the best to the worst, and so are the groups. A
            learner may be in several groups, or in none.

        Examples
        --------
        >>> losses = [[0.1, 0.2, 0.9], [0.2, 0.1, 0.9]] * 5
        >>> compare_ranks(losses).groups()
        ((0, 1),)
        """
        order = np.argsort(self.mean_ranks, kind="stable")
        ranks = self.mean_ranks[order]
        ends = np.searchsorted(ranks, ranks + self.critical_difference)  # of the group that starts with each learner
        largest = np.diff(ends, prepend=0) > 0  # else the group is part of the one before it
        groups = [tuple(order[start:end].tolist()) for start, end in enumerate(ends) if largest[start]]
        return tuple(group for group in groups if len(group) > 1)


@np.errstate(under="ignore")  # tails of distributions
def compare_ranks(losses: ArrayLike, names: Sequence[str] | None = None, *, confidence: float = 0.95) -> RankComparison:
    r"""Compare learners by their ranks on several data sets.

    As J. Demšar recommends ("Statistical comparisons of classifiers over multiple data sets", Journal of Machine
    Learning Research 7, 2006), for k learners, N data sets and mean ranks :math:`R_j`:

    .. math::
        F_F = \frac{(N - 1) \chi_F^2}{N (k - 1) - \chi_F^2}, \quad
        \mathrm{CD} = \frac{q}{\sqrt 2} \sqrt{\frac{k (k + 1)}{6 N}}

    with Friedman's statistic :math:`\chi_F^2` and q the quantile of the studentized range of k learners. SciPy corrects
    :math:`\chi_F^2` for ties, and :math:`F_F` here uses the corrected one. Demšar's formula does not, and gives a
    little less if learners tie.

    Parameters
    ----------
    losses : array-like of shape (n_datasets, n_learners)
        Lower is better; for a score, give its negative. Losses that differ by at most 1e-12 from the next one are ties,
        and so are such differences between two learners in Wilcoxon's test: rounding must not decide on ranks.
    names : sequence of str, optional
        ``"learner 0"``, ``"learner 1"``, ... unless given.
    confidence : float, default=0.95
        Of the critical difference.

    Returns
    -------
    comparison : RankComparison
        Mean ranks and tests.

    See Also
    --------
    rank_losses : Ranks of losses.
    RankComparison : What `compare_ranks` returns.
    choral.displays.CriticalDifferenceDisplay : Mean ranks on one axis.

    Examples
    --------
    >>> losses = [[0.1, 0.2, 0.3], [0.2, 0.2, 0.4], [0.1, 0.3, 0.2], [0.3, 0.4, 0.5]]
    >>> comparison = compare_ranks(losses, ["PCC", "LP", "BR"])
    >>> comparison.mean_ranks  # the first two tie on the second data set
    array([1.125, 2.125, 2.75 ])
    >>> round(comparison.critical_difference, 3), round(comparison.friedman.pvalue, 3)
    (1.657, 0.057)
    >>> comparison.groups()
    ((0, 1, 2),)
    """
    losses = _check_losses(losses)
    n_datasets, n_learners = losses.shape
    names = [f"learner {i}" for i in range(n_learners)] if names is None else names
    if len(names) != n_learners:
        raise ValueError(f"names must have one entry for each of {n_learners} learners; got {len(names)}.")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    ranks = rank_losses(losses)
    mean_ranks = ranks.mean(axis=0)
    friedman, iman_davenport = _friedman(ranks)
    critical_difference, nemenyi = _nemenyi(mean_ranks, n_datasets, confidence)
    return RankComparison(
        names=tuple(map(str, names)),
        mean_ranks=mean_ranks,
        n_datasets=n_datasets,
        confidence=confidence,
        friedman=friedman,
        iman_davenport=iman_davenport,
        critical_difference=critical_difference,
        nemenyi=nemenyi,
        wilcoxon=_wilcoxon(losses),
    )


def rank_losses(losses: FloatArray) -> FloatArray:
    """Rank losses along the last axis, 1 for the least; losses that are equal up to rounding share their average rank.

    Parameters
    ----------
    losses : ndarray of shape (n_datasets, n_learners)
        Lower is better.

    Returns
    -------
    ranks : ndarray of shape (n_datasets, n_learners)
        The ranks on each data set, 1 for the least loss.

    See Also
    --------
    compare_ranks : Compare learners by their ranks.

    Examples
    --------
    >>> rank_losses(np.array([0.3, 0.1, 0.3 + 1e-15]))
    array([2.5, 1. , 2.5])
    """
    from scipy.stats import rankdata  # its import takes more than half a second, which only ranking should cost

    return rankdata(_levels(losses), axis=-1)


def _check_losses(losses: ArrayLike) -> FloatArray:
    losses = np.asarray(check_array("losses", losses), dtype=float)
    if losses.ndim != 2 or losses.shape[0] < 1 or losses.shape[1] < 2:
        raise ValueError(
            "losses must have a row for each data set, at least one, and a column for each learner, at least two; "
            f"got shape {losses.shape}."
        )
    refuse_where("losses must be finite", "losses", losses, ~np.isfinite(losses))
    return losses


def _levels(values: FloatArray) -> IntArray:
    """Replace numbers along the last axis by 0, 1, 2, ... in their order; equal up to rounding get the same level.

    Rounding to 12 decimals would not do: 1/8192 = 0.0001220703125 lies on the border between two of them.
    """
    order = np.argsort(values, axis=-1)
    steps = np.diff(np.take_along_axis(values, order, axis=-1), axis=-1, prepend=0) > ROUNDING
    levels = np.empty(values.shape, dtype=int)
    np.put_along_axis(levels, order, np.cumsum(steps, axis=-1), axis=-1)
    return levels


def _friedman(ranks: FloatArray) -> tuple[Significance, Significance]:
    """Friedman's test and Iman and Davenport's."""
    from scipy.stats import f, friedmanchisquare

    n_datasets, n_learners = ranks.shape
    if n_learners < 3 or n_datasets < 2:
        return NO_TEST, NO_TEST
    if (ranks == ranks[:, :1]).all():
        return NO_DIFFERENCE, NO_DIFFERENCE
    chi_square, pvalue = friedmanchisquare(*ranks.T)
    largest = n_datasets * (n_learners - 1)  # of chi_square
    left = largest - chi_square
    ratio = (n_datasets - 1) * chi_square / left if left > ROUNDING * largest else np.inf
    degrees = (n_learners - 1, (n_learners - 1) * (n_datasets - 1))
    friedman = Significance(float(chi_square), float(pvalue))
    return friedman, Significance(float(ratio), float(f.sf(ratio, *degrees)))


def _nemenyi(mean_ranks: FloatArray, n_datasets: int, confidence: float) -> tuple[float, FloatArray]:
    """The critical difference, and p-values of all pairs."""
    from scipy.stats import studentized_range

    n_learners = mean_ranks.size
    # q / sqrt(2) * sqrt(k (k + 1) / (6 N)), the usual formula, with the roots taken together
    error = np.sqrt(n_learners * (n_learners + 1) / (12 * n_datasets))
    differences = np.abs(mean_ranks[:, np.newaxis] - mean_ranks)
    pvalues = studentized_range.sf(differences / error, n_learners, np.inf)
    return float(error * studentized_range.ppf(confidence, n_learners, np.inf)), pvalues


def _wilcoxon(losses: FloatArray) -> FloatArray:
    """Wilcoxon's test of all pairs, adjusted by Holm's method."""
    first, second = np.array(list(combinations(range(losses.shape[1]), 2))).T
    differences = (losses[:, first] - losses[:, second]).T
    signed = np.sign(differences) * _levels(np.abs(differences))  # all that the test needs; 0 for a tie
    matrix = np.ones((losses.shape[1], losses.shape[1]))
    matrix[first, second] = matrix[second, first] = holm([_signed_rank_pvalue(pair[pair != 0]) for pair in signed])
    return matrix


def _signed_rank_pvalue(differences: FloatArray) -> float:
    """Two-sided p-value of Wilcoxon's signed-rank test, exact even with ties; 1 if there is no difference."""
    from scipy.stats import rankdata

    doubled = (2 * rankdata(np.abs(differences))).astype(int)  # average ranks are whole or half numbers
    chances = np.ones(1)  # of each sum of the doubled ranks of positive differences
    for rank in np.sort(doubled):  # both signs are equally likely; small ranks first keep the array short
        chances = (np.pad(chances, (rank, 0)) + np.pad(chances, (0, rank))) / 2
    positive = doubled[differences > 0].sum()
    return float(min(1.0, 2 * min(chances[: positive + 1].sum(), chances[positive:].sum())))
