"""Learners of ours, each beside the best of all others at each loss: a yardstick chosen with hindsight.

At each parameter the *rival* is the learner with the least loss on the data among those that finished, are not ours and
not the baseline; of several that are equal, but for rounding, the first of the plan. Chosen by the very rows it is
judged on, it looks better than it is: a hard yardstick for ours, and meant so.

Intervals are of the difference between ours and the rivals, pointwise, by the paired bootstrap over rows. The rivals
are those of the data, in all samples. If they were chosen anew in each sample, intervals would be biased: the least of
several losses is on average lower in samples than in the data, and an interval might not contain the difference itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from choral._text import did_you_mean
from choral._validation import ROUNDING
from choral.curves import LossCurve
from choral.measures.families import get_family
from choral.stats import bootstrap_band
from choral.study import Plan, Results, Section, Summary, Table
from choral.study.plan import check_distinct

COLUMNS = ("points", "at or below", "ties", "worse by at most", "gain in area")


@dataclass(frozen=True, eq=False, kw_only=True)
class Tally:
    """At how many parameters ours is better than the best of the others, and what that comes to along the curve."""

    n_points: int  # parameters
    n_better: int  # where ours has the lower loss
    n_tied: int  # where both are equal, but for rounding
    n_surely_better: int  # where the interval of the difference lies below 0
    n_surely_worse: int  # where it lies above 0
    area_gain: float  # by how much ours is lower, as `mean_along` has it: positive where ours is better
    area_low: float
    area_high: float
    area_samples: np.ndarray = field(repr=False)  # the gain in each bootstrap sample, of shape (n_bootstrap,)

    @property
    def share_at_or_below(self) -> float:
        """The share of parameters at which ours is at least as good."""
        return (self.n_better + self.n_tied) / self.n_points


@dataclass(frozen=True, eq=False, kw_only=True)
class AgainstBest(Tally):
    """A learner of ours on a data set, beside the best of the others at each parameter of a family."""

    dataset: str
    family: str
    learner: str
    worst: float  # the largest amount by which ours is worse; 0 if it is worse nowhere
    where: float  # the parameter of it; if ours is worse nowhere, that of its least lead
    rival: str  # the best of the others there
    worst_low: float  # interval of ours minus the rival there
    worst_high: float
    best_others: tuple[str, ...]  # who is the best of the others at some parameter, alone or not


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
        """Refuse a plan without these learners, or without others to compare them with."""
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
        *("n_surely_better", "n_surely_worse", "worst", "where", "rival", "worst_low", "worst_high"),
        *("area_gain", "area_low", "area_high"),
    )
    rows = ((*(getattr(found, name) for name in fields), ", ".join(found.best_others)) for found in comparisons)
    return Table((*fields, "best_others"), tuple(rows))


def compare_with_best(results: Results, ours: Sequence[str]) -> tuple[AgainstBest, ...]:
    """Each learner of ours along each family, on the data sets where it and some other finished."""
    return tuple(
        found
        for dataset in results.datasets
        for family in results.families
        for found in _compare(results, ours, dataset, family)
    )


def add_up(comparisons: Sequence[AgainstBest], confidence: float) -> Total:
    """Comparisons of one learner as one, such as those of a data set, or all.

    Gains are averaged sample by sample: the families of a data set are paired, data sets are independent.
    """
    counts = ("n_points", "n_better", "n_tied", "n_surely_better", "n_surely_worse")
    samples = np.mean([each.area_samples for each in comparisons], axis=0)
    low, high = bootstrap_band(samples, confidence)
    return Total(
        **{name: sum(getattr(each, name) for each in comparisons) for name in counts},
        area_gain=float(np.mean([each.area_gain for each in comparisons])),
        area_low=float(low),
        area_high=float(high),
        area_samples=samples,
        worst=max(comparisons, key=lambda each: each.worst),
    )


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


def _compare(results: Results, names: Sequence[str], dataset: str, family: str) -> Iterator[AgainstBest]:
    """All learners of ours on a data set along a family."""
    curves = results.competitor_curves(dataset, family)
    others = {name: curve for name, curve in curves.items() if name not in names}
    ours = {name: curve for name, curve in curves.items() if name in names}
    if not (ours and others):
        return
    best = _best_of(others)
    by_learner = results.bootstrap_losses(dataset, family).swapaxes(0, 1)
    samples = dict(zip(results.finished(dataset), by_learner, strict=True))
    of_rivals = np.stack([samples[name][:, index] for index, name in enumerate(best.rivals)], axis=1)
    for name, curve in ours.items():
        yield _judge(dataset, curve, best, samples[name] - of_rivals, results.confidence)


class Best(NamedTuple):
    """The best of the others at each parameter."""

    losses: np.ndarray
    rivals: list[str]  # who it is; the first of those that are equal
    names: tuple[str, ...]  # all that are the best somewhere


def _best_of(others: dict[str, LossCurve]) -> Best:
    losses = np.array([curve.losses for curve in others.values()])
    is_best = losses <= losses.min(axis=0) + ROUNDING
    names = list(others)
    rivals = [names[index] for index in is_best.argmax(axis=0)]
    return Best(losses.min(axis=0), rivals, tuple(np.array(names)[is_best.any(axis=1)].tolist()))


def _judge(dataset: str, ours: LossCurve, best: Best, samples: np.ndarray, confidence: float) -> AgainstBest:
    """One learner of ours; samples of its difference from the rivals are of shape (n_bootstrap, n_points)."""
    differences = ours.losses - best.losses
    lower, upper = bootstrap_band(samples, confidence)
    gains = -mean_along(ours.x, samples)
    area_low, area_high = bootstrap_band(gains, confidence)
    place = int((differences >= differences.max() - ROUNDING).argmax())  # the first of those that are equal
    return AgainstBest(
        n_points=differences.size,
        n_better=int((differences < -ROUNDING).sum()),
        n_tied=int((np.abs(differences) <= ROUNDING).sum()),
        n_surely_better=int((upper < -ROUNDING).sum()),
        n_surely_worse=int((lower > ROUNDING).sum()),
        area_gain=-float(mean_along(ours.x, differences)),
        area_low=float(area_low),
        area_high=float(area_high),
        area_samples=gains,
        dataset=dataset,
        family=ours.family,
        learner=str(ours.name),
        worst=float(differences[place]) if differences[place] > ROUNDING else 0.0,
        where=ours.parameters[place].item(),
        rival=best.rivals[place],
        worst_low=float(lower[place]),
        worst_high=float(upper[place]),
        best_others=best.names,
    )
