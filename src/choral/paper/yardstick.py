"""Learners of ours, each beside the best of all others at each loss: a yardstick chosen with hindsight.

At each parameter the *rival* is the learner with the least loss on the data among those that finished, are not ours and
not the baseline; of several that are equal, but for rounding, the first of the plan. Chosen by the very rows it is
judged on, it looks better than it is: a hard yardstick for ours, and meant so.

**Estimates** are of the curves, that is of all test rows: who has the lower loss, and by how much.

**Tests and intervals** are over folds, since learners are fitted anew in each: the difference between ours and the
rival in each fold (mean over seeds), with Nadeau and Bengio's correction for training sets that overlap. Folds count
alike, so where they differ in size the middle of an interval is not quite the estimate.

* *Significantly* better or worse are the points at which the p-value of `corrected_resampled_t` is less than
  1 - confidence after Holm's adjustment over *all* points of the learner, of all data sets and families together.
* The gain in area is a number for each fold, and so has an interval of `corrected_t_interval`. Families of a data set
  are paired: their gains are averaged fold by fold. Data sets are independent of each other: the interval of their mean
  gain is as wide as the root of the sum of their squared widths, divided by their number. That is the combined
  standard error times the quantile of Student's distribution with the degrees of freedom of one data set, folds - 1:
  the mean has more, so it is somewhat too wide.
* Intervals are not adjusted for their number; neither is the interval at the point where ours is worst, which is chosen
  with hindsight as well.

**Points** are different losses: alpha = 1 is k = 1 (Hamming loss), alpha = inf is k = K (subset 0/1 loss). A loss that
an earlier family of the study has too, to 12 digits, is not counted, nor tested, a second time. It still belongs to
the curve of its family: to its area, and to where ours is worst.

**What this does not cover.** The correction for overlap is a rule of thumb, and ten folds of one cross-validation are
few. A data set is one draw: intervals are about learners fitted to other data from the same source, and the one over
data sets is about the mean of these data sets, not about others. Rivals are those of the data in all folds, as if they
had been named beforehand; how the choice would vary is not in the intervals. Nor is what was tried on these data sets
while ours were designed. Holm's method does not know that neighbouring losses are nearly the same: what it finds is
well founded, what it does not find may be there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from choral._text import did_you_mean
from choral._validation import ROUNDING
from choral.curves import LossCurve
from choral.measures.families import get_family
from choral.stats import Band, Significance, corrected_resampled_t, corrected_t_interval, holm
from choral.study import Plan, Results, Section, Summary, Table
from choral.study.plan import check_distinct

COLUMNS = ("points", "at or below", "ties", "worse by at most", "gain in area")


@dataclass(frozen=True, eq=False, kw_only=True)
class Tally:
    """At how many losses ours is better than the best of the others, and what that comes to along the curve."""

    n_points: int  # losses; those of an earlier family are not counted again
    n_better: int  # where ours has the lower loss
    n_tied: int  # where both are equal, but for rounding
    n_significantly_better: int  # by the corrected t test over folds, adjusted over all points of the learner
    n_significantly_worse: int
    area_gain: float  # by how much ours is lower, as `mean_along` has it: positive where ours is better
    area_low: float  # interval over folds
    area_high: float

    @property
    def share_at_or_below(self) -> float:
        """The share of losses at which ours is at least as good; nan where none is counted."""
        return (self.n_better + self.n_tied) / self.n_points if self.n_points else float("nan")


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstBest(Tally):
    """A learner of ours on a data set, beside the best of the others at each parameter of a family."""

    dataset: str
    family: str
    learner: str
    worst: float  # the largest amount by which ours is worse; 0 if it is worse nowhere
    where: float  # the parameter of it; if ours is worse nowhere, that of its least lead
    rival: str  # the best of the others there
    worst_low: float  # interval over folds of ours minus the rival there
    worst_high: float
    best_others: tuple[str, ...]  # who is the best of the others at some parameter, alone or not
    pvalues: np.ndarray = field(repr=False)  # adjusted, (n_parameters,): nan where an earlier family has the loss
    fold_gains: np.ndarray = field(repr=False)  # the gain in area in each fold, (n_folds,)
    test_share: float  # test rows of a fold to its training rows


@dataclass(frozen=True, eq=False, kw_only=True)
class Total(Tally):
    """Several comparisons of a learner together; the gain is the mean of theirs."""

    worst: AgainstBest  # the one where ours is worst; the first if it is worse nowhere

    @property
    def cells(self) -> tuple[str, ...]:
        """What `COLUMNS` name, for people."""
        symbol = get_family(self.worst.family).symbol
        return (
            str(self.n_points),
            f"{self.share_at_or_below:.1%}",
            str(self.n_tied),
            f"{self.worst.worst:.4f} at {symbol} = {self.worst.where:.4g}" if self.worst.worst else "nowhere",
            f"{self.area_gain:+z.4f} ({self.area_low:+z.4f} to {self.area_high:+z.4f})",
        )


@dataclass(frozen=True)
class Yardstick:
    """An analysis: learners of ours, one by one, beside the best of all the others at each parameter.

    Parameters
    ----------
    ours : sequence of str
        The names of the learners to judge.

    See Also
    --------
    compare_with_best : Each learner beside the best of its rivals.
    Controls : Decisions for each loss beside modes.

    Examples
    --------
    ``Plan(..., analyses=[Yardstick(["AutoJoint"])])``, or in a TOML file::

        [[analyses]]
        call = "choral.paper:Yardstick"
        parameters = { ours = ["AutoJoint"] }
    """

    ours: Sequence[str]

    def __post_init__(self) -> None:
        if isinstance(self.ours, str) or not isinstance(self.ours, Sequence):
            raise TypeError(f"ours must be a list of learners; got {self.ours!r}.")
        object.__setattr__(self, "ours", tuple(self.ours))

    def check(self, plan: Plan) -> None:
        """Refuse a plan without these learners, or without others to compare them with.

        Parameters
        ----------
        plan : Plan
            The plan of the study.
        """
        check_distinct("ours", self.ours)
        names = [learner.name for learner in plan.learners]
        for name in self.ours:
            if name not in names:
                raise ValueError(f"ours: there is no learner {name!r}{did_you_mean(str(name), names)}")
        if plan.baseline in self.ours:
            raise ValueError(f"ours must not hold the baseline; got {plan.baseline}.")
        if not {*names} - {*self.ours, plan.baseline}:
            raise ValueError("ours must leave at least one other learner, besides the baseline, to compare with.")

    def __call__(self, results: Results) -> Section:
        """A table for each learner of ours: a row for each data set, all families together, and one for all."""
        comparisons = compare_with_best(results, self.ours)
        by_learner = totals(comparisons, "learner", results.confidence)
        return Section(
            "Beside the best of all others",
            summaries=tuple(
                _summary([found for found in comparisons if found.learner == learner], total, results.confidence)
                for learner, total in by_learner.items()
            ),
            tables={"yardstick": _full_table(comparisons)},
        )


def _summary(comparisons: Sequence[AgainstBest], total: Total, confidence: float) -> Summary:
    """All comparisons of one learner, added up by data set."""
    return Summary(
        caption=f"{comparisons[0].learner} beside the best of all others at each loss",
        columns=("data set", *COLUMNS),
        rows=tuple((name, *each.cells) for name, each in totals(comparisons, "dataset", confidence).items()),
        footer=("all", *total.cells),
    )


def _full_table(comparisons: Sequence[AgainstBest]) -> Table:
    """A row for each data set, family and learner of ours."""
    fields = (
        *("dataset", "family", "learner", "n_points", "n_better", "n_tied", "share_at_or_below"),
        *("n_significantly_better", "n_significantly_worse", "worst", "where", "rival", "worst_low", "worst_high"),
        *("area_gain", "area_low", "area_high"),
    )
    rows = ((*(getattr(found, name) for name in fields), ", ".join(found.best_others)) for found in comparisons)
    return Table((*fields, "best_others"), tuple(rows))


def compare_with_best(
    results: Results, ours: Sequence[str], rivals: Sequence[str] | None = None
) -> tuple[AgainstBest, ...]:
    """Each learner of ours along each family, where it and some rival finished; by default all others are rivals.

    Parameters
    ----------
    results : Results
        Of a study.
    ours : sequence of str
        The names of the learners to judge.
    rivals : sequence of str, optional
        The learners to compare them with; all others unless given.

    Returns
    -------
    comparisons : tuple of AgainstBest
        One for each learner and family.

    See Also
    --------
    Yardstick : Learners of ours beside the best of all others.
    compare_with_published : Our losses beside the published ones.
    """
    of_learners = (list(_compare(results, ours, rivals, name)) for name in ours)
    return tuple(found for compared in of_learners for found in _judge(compared, results.confidence))


def add_up(comparisons: Sequence[AgainstBest], confidence: float) -> Total:
    """Comparisons of one learner as one, such as those of a data set, or all.

    Gains of the families of a data set are averaged fold by fold; data sets are independent.
    """
    counts = ("n_points", "n_better", "n_tied", "n_significantly_better", "n_significantly_worse")
    of_datasets: dict[str, list[AgainstBest]] = {}
    for each in comparisons:
        of_datasets.setdefault(each.dataset, []).append(each)
    interval = mean_of_independent([_area_interval(families, confidence) for families in of_datasets.values()])
    return Total(
        **{name: sum(getattr(each, name) for each in comparisons) for name in counts},
        area_gain=float(np.mean([each.area_gain for each in comparisons])),
        area_low=float(interval.lower),
        area_high=float(interval.upper),
        worst=max(comparisons, key=lambda each: each.worst),
    )


def _area_interval(families: Sequence[AgainstBest], confidence: float) -> Band:
    """The interval of the gain on a data set, as a mean over its families."""
    gains = np.mean([each.fold_gains for each in families], axis=0)
    return corrected_t_interval(gains, test_share=families[0].test_share, confidence=confidence)


def mean_of_independent(intervals: Sequence[Band]) -> Band:
    """The interval of the mean of independent numbers, from an interval around each: the widths add up as squares.

    Exact for normal numbers with known errors, somewhat too wide for intervals of Student's t.

    Examples
    --------
    >>> mean_of_independent([Band(-2.0, 4.0), Band(1.0, 9.0)])  # 1 plus or minus 3, 5 plus or minus 4
    Band(lower=np.float64(0.5), upper=np.float64(5.5))
    """
    lower, upper = np.transpose(intervals)
    middle, margin = (lower + upper).mean() / 2, np.linalg.norm(upper - lower) / (2 * len(intervals))
    return Band(middle - margin, middle + margin)


def totals(
    comparisons: Sequence[AgainstBest], by: Literal["learner", "dataset"], confidence: float
) -> dict[str, Total]:
    """Comparisons added up by learner, or those of one learner by data set."""
    groups: dict[str, list[AgainstBest]] = {}
    for each in comparisons:
        groups.setdefault(getattr(each, by), []).append(each)
    return {name: add_up(group, confidence) for name, group in groups.items()}


def mean_along(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Area under values over the axis of a curve, divided by the length of the axis; values of shape (..., n_points).

    alpha = inf lies beyond the axis and does not count; where fewer than two points are left, there is no axis, and all
    points count alike.

    Examples
    --------
    >>> mean_along(np.array([0, 0.25, 0.5]), np.array([0.0, 0.0, 1.0]))
    np.float64(0.25)
    >>> mean_along(np.array([0, 1, np.inf]), np.array([[0.0, 1.0, 9.0], [2.0, 2.0, 2.0]]))
    array([0.5, 2. ])
    >>> mean_along(np.array([0.0, np.inf]), np.array([1.0, 2.0]))
    np.float64(1.5)
    """
    finite = np.isfinite(x)
    if finite.sum() < 2:
        return values.mean(axis=-1)
    return np.trapezoid(values[..., finite], x[finite], axis=-1) / np.ptp(x[finite])


class Best(NamedTuple):
    """The best of the others at each parameter."""

    losses: np.ndarray
    rivals: list[str]  # who it is; the first of those that are equal
    names: tuple[str, ...]  # all that are the best somewhere


class Compared(NamedTuple):
    """A learner of ours and its rivals along a curve."""

    dataset: str
    ours: LossCurve
    best: Best
    by_fold: np.ndarray  # ours minus the rival in each fold, (n_folds, n_parameters)
    test_share: float
    counts: np.ndarray  # whether the loss is a point, (n_parameters,)


def _compare(results: Results, ours: Sequence[str], rivals: Sequence[str] | None, name: str) -> Iterator[Compared]:
    """One learner of ours on all data sets along all families."""
    for dataset in results.datasets:
        for family in results.families:
            curves = results.competitor_curves(dataset, family)
            names = [other for other in curves if (other not in ours if rivals is None else other in rivals)]
            others = {other: curves[other] for other in names}
            if name in curves and others:
                best = _best_of(others)
                losses = {each: results.fold_losses(dataset, each, family) for each in (name, *best.names)}
                of_rivals = np.stack([losses[rival][:, index] for index, rival in enumerate(best.rivals)], axis=1)
                counts = _is_new(results, dataset, family)
                share = results.test_share(dataset)
                yield Compared(dataset, curves[name], best, losses[name] - of_rivals, share, counts)


def _is_new(results: Results, dataset: str, family: str) -> np.ndarray:
    """At which parameters of a family the loss is none of an earlier family of the study, but for rounding."""
    n_labels = results.n_labels(dataset)

    def deficits(name: str) -> np.ndarray:  # the loss of 0, 1, ..., n_labels wrong labels: all that there is to a loss
        return get_family(name).deficits(results.parameters(dataset, name), n_labels, n_labels)

    earlier = results.families[: results.families.index(family)]
    known = np.concatenate([np.empty((0, n_labels + 1)), *map(deficits, earlier)])
    return np.array([(np.abs(known - loss).max(axis=1) > ROUNDING).all() for loss in deficits(family)])


def _best_of(others: dict[str, LossCurve]) -> Best:
    losses = np.array([curve.losses for curve in others.values()])
    is_best = losses <= losses.min(axis=0) + ROUNDING
    names = list(others)
    rivals = [names[index] for index in is_best.argmax(axis=0)]
    return Best(losses.min(axis=0), rivals, tuple(np.array(names)[is_best.any(axis=1)].tolist()))


def _judge(compared: Sequence[Compared], confidence: float) -> Iterator[AgainstBest]:
    """All comparisons of one learner of ours: their p-values are adjusted together."""
    if not compared:
        return
    tests = [corrected_resampled_t(each.by_fold, test_share=each.test_share) for each in compared]
    pvalues = [np.where(each.counts, test.pvalue, np.nan) for each, test in zip(compared, tests, strict=True)]
    ends = np.cumsum([each.counts.size for each in compared])
    adjusted = np.split(holm(np.concatenate(pvalues)), ends[:-1])
    for each, test, pvalue in zip(compared, tests, adjusted, strict=True):
        yield _judge_curve(each, Significance(test.statistic, pvalue), confidence)


def _judge_curve(compared: Compared, tests: Significance, confidence: float) -> AgainstBest:
    """One learner of ours along a curve, with tests that are adjusted already."""
    dataset, ours, best, by_fold, test_share, counts = compared
    differences = ours.losses - best.losses
    is_significant = tests.pvalue < 1 - confidence
    gains = -mean_along(ours.x, by_fold)
    area = corrected_t_interval(gains, test_share=test_share, confidence=confidence)
    place = int((differences >= differences.max() - ROUNDING).argmax())  # the first of those that are equal
    at_worst = corrected_t_interval(by_fold[:, place], test_share=test_share, confidence=confidence)
    return AgainstBest(
        n_points=int(counts.sum()),
        n_better=int((counts & (differences < -ROUNDING)).sum()),
        n_tied=int((counts & (np.abs(differences) <= ROUNDING)).sum()),
        n_significantly_better=int((is_significant & (tests.statistic < 0)).sum()),
        n_significantly_worse=int((is_significant & (tests.statistic > 0)).sum()),
        area_gain=-float(mean_along(ours.x, differences)),
        area_low=float(area.lower),
        area_high=float(area.upper),
        dataset=dataset,
        family=ours.family,
        learner=str(ours.name),
        worst=float(differences[place]) if differences[place] > ROUNDING else 0.0,
        where=ours.parameters[place].item(),
        rival=best.rivals[place],
        worst_low=float(at_worst.lower),
        worst_high=float(at_worst.upper),
        best_others=best.names,
        pvalues=tests.pvalue,
        fold_gains=gains,
        test_share=test_share,
    )
