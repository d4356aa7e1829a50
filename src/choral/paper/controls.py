"""Controls: does deciding for each loss help, or only the better distribution?

A learner that decides anew for each loss has one fitted distribution. Here it is decided in three ways:

* by the **marginal mode**, the labels that are more probable than not: what is best for Hamming loss, k = 1;
* by the **joint mode**, the most probable label set: what is best for subset 0/1 loss, k = K;
* **for each loss**, by what is best for it.

The first two need no further fit and no further prediction: they are the labels that the learner predicted for k = 1
and k = K, judged by every other loss as well. All three have the same distribution, so that whatever the third gains is
due to the decision alone.

The gain is by how much lower the mean loss along the curve is if decided for each loss, compared with the *better of
both modes*. That is chosen with hindsight, in two ways: *one mode for the whole curve*, that with the lower mean loss,
or *one for each loss*, which no user without test labels could do, and which is hard to beat.

Intervals are over folds with the correction of Nadeau and Bengio, as in `choral.paper.yardstick`: gains of the families
of a data set are averaged fold by fold, data sets are independent. Modes count as if they had been named
beforehand.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choral._text import did_you_mean
from choral.paper.yardstick import mean_along, mean_of_independent
from choral.profiles import ErrorProfile
from choral.stats import Band, corrected_t_interval
from choral.study import Plan, Results, Section, Summary, Table
from choral.study.plan import check_distinct

FAMILY = "binomial"  # whose ends are the losses that the modes are best for
MODES = ("marginal mode", "joint mode")
COLUMNS = (*MODES, "for each loss", "gain beside the better mode", "gain beside the better at each loss")


class Gain(NamedTuple):
    """How much lower the mean loss is if decided for each loss."""

    estimate: float
    low: float  # interval over folds
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:+z.4f} ({self.low:+z.4f} to {self.high:+z.4f})"


@dataclass(frozen=True, eq=False)
class Control:
    """A learner on a data set along the losses of a family, decided in three ways."""

    dataset: str
    family: str
    learner: str
    mean_losses: np.ndarray  # along the curve, (3,): by the marginal mode, by the joint mode, for each loss
    better_mode: str  # of the whole curve
    curve_gain: float  # beside the better mode of the whole curve
    point_gain: float  # beside the better mode at each loss
    fold_curve_gains: np.ndarray  # the same in each fold, (n_folds,)
    fold_point_gains: np.ndarray
    test_share: float


@dataclass(frozen=True, eq=False)
class ControlTotal:
    """Several controls of a learner together: means of their families, and of data sets."""

    mean_losses: np.ndarray  # (3,)
    curve_gain: Gain
    point_gain: Gain

    @property
    def cells(self) -> tuple[str, ...]:
        """What `COLUMNS` name, for people."""
        return (*(f"{loss:.4f}" for loss in self.mean_losses), str(self.curve_gain), str(self.point_gain))


@dataclass(frozen=True)
class Controls:
    """An analysis: learners that decide for each loss, beside the same distributions decided by their modes.

    Parameters
    ----------
    learners : sequence of str
        Their names; each has ``each_loss``. The binomial losses of the plan must be "all" or "even".

    See Also
    --------
    Yardstick : Learners of ours beside the best of all others.
    DecidedJointly : Joint decisions beside cut scores.

    Examples
    --------
    In a TOML file::

        [[analyses]]
        call = "choral.paper:Controls"
        parameters = { learners = ["AutoJoint"] }
    """

    learners: Sequence[str]

    def __post_init__(self) -> None:
        if isinstance(self.learners, str) or not isinstance(self.learners, Sequence):
            raise TypeError(f"learners must be a list of names; got {self.learners!r}.")
        object.__setattr__(self, "learners", tuple(self.learners))

    def check(self, plan: Plan) -> None:
        """Refuse a plan without these learners, or without the losses that the modes are best for.

        Parameters
        ----------
        plan : Plan
            The plan of the study.
        """
        check_distinct("learners", self.learners)
        for name in self.learners:
            if name not in plan.each_loss:
                known = did_you_mean(str(name), plan.each_loss)
                raise ValueError(f"learners: there is no learner {name!r} with each_loss{known}")
        if plan.families.get(FAMILY, ()) not in (None, "even"):
            raise ValueError('controls need the labels for k = 1 and k = K: binomial must be "all" or "even".')

    def __call__(self, results: Results) -> Section:
        """A table for each learner: a row for each data set, all families together, and one for all."""
        controls = find_controls(results, self.learners)
        return Section(
            "Due to the decision, or to the distribution?",
            prose=(
                "One fitted distribution, decided in three ways: by its marginal mode (labels more probable than not, "
                "best for Hamming loss), by its joint mode (the most probable label set, best for subset 0/1 loss), "
                "and for each loss by what is best for it. Losses are means along the curve. The gain of deciding for "
                "each loss is due to the decision alone. The better mode is chosen on the test rows: one for the whole "
                "curve, or one at each loss. Intervals are over folds, with the correction of Nadeau and Bengio.",
            ),
            summaries=[_summary(learner, controls, results.confidence) for learner in _names(controls, "learner")],
            tables={"controls": _full_table(controls, results.confidence)},
        )


def find_controls(results: Results, learners: Sequence[str]) -> tuple[Control, ...]:
    """Each learner along each family, on the data sets where it finished."""
    return tuple(
        control
        for learner in learners
        for dataset in results.datasets
        if learner in results.finished(dataset)
        for control in _control(results, dataset, learner)
    )


def control_totals(controls: Sequence[Control], confidence: float) -> dict[str, ControlTotal]:
    """The controls of one learner by data set."""
    return {
        name: add_up_controls([each for each in controls if each.dataset == name], confidence)
        for name in _names(controls, "dataset")
    }


def add_up_controls(controls: Sequence[Control], confidence: float) -> ControlTotal:
    """Controls of one learner as one: families of a data set are averaged fold by fold, data sets are independent."""
    by_dataset = [[each for each in controls if each.dataset == name] for name in _names(controls, "dataset")]

    def gain(kind: str) -> Gain:
        intervals = [
            corrected_t_interval(
                np.mean([getattr(each, f"fold_{kind}_gains") for each in families], axis=0),
                test_share=families[0].test_share,
                confidence=confidence,
            )
            for families in by_dataset
        ]
        low, high = mean_of_independent([Band(*interval) for interval in intervals])
        return Gain(float(np.mean([getattr(each, f"{kind}_gain") for each in controls])), float(low), float(high))

    return ControlTotal(np.mean([each.mean_losses for each in controls], axis=0), gain("curve"), gain("point"))


def _control(results: Results, dataset: str, learner: str) -> Iterator[Control]:
    """One learner on one data set along all families."""
    n_labels = results.n_labels(dataset)
    first = results.family_slice(dataset, FAMILY).start
    last = first + len(results.parameters(dataset, FAMILY)) - 1
    profiles: dict[tuple[int, int], list[tuple[ErrorProfile, ErrorProfile]]] = {}
    for cell in results.cells(dataset, learner):
        of_cell = results.cell_profiles(cell)
        profiles.setdefault((cell.repeat, cell.fold), []).append((of_cell[first], of_cell[last]))
    by_fold = [pairs for _, pairs in sorted(profiles.items())]
    pooled = [sum((pair[mode] for pairs in by_fold for pair in pairs), ErrorProfile(n_labels)) for mode in (0, 1)]
    for family in results.families:
        parameters = results.parameters(dataset, family)
        own = results.curve(dataset, learner, family)
        modes = np.array([profile.losses(family, parameters) for profile in pooled])
        in_folds = np.array(
            [
                [np.mean([pair[mode].losses(family, parameters) for pair in pairs], axis=0) for mode in (0, 1)]
                for pairs in by_fold
            ]
        )
        fold_gains = in_folds - results.fold_losses(dataset, learner, family)[:, np.newaxis]
        means = mean_along(own.x, np.vstack([modes, own.losses]))
        curve_mode, point_mode = int(means[:2].argmin()), modes.argmin(axis=0)
        of_points = np.take_along_axis(fold_gains, point_mode[np.newaxis, np.newaxis], axis=1)[:, 0]
        yield Control(
            dataset,
            family,
            learner,
            means,
            MODES[curve_mode],
            curve_gain=float(means[curve_mode] - means[2]),
            point_gain=float(mean_along(own.x, modes.min(axis=0) - own.losses)),
            fold_curve_gains=mean_along(own.x, fold_gains[:, curve_mode]),
            fold_point_gains=mean_along(own.x, of_points),
            test_share=results.test_share(dataset),
        )


def _names(controls: Sequence[Control], what: str) -> list[str]:
    return list(dict.fromkeys(getattr(each, what) for each in controls))


def _summary(learner: str, controls: Sequence[Control], confidence: float) -> Summary:
    own = [each for each in controls if each.learner == learner]
    return Summary(
        caption=f"{learner}: one distribution, decided in three ways",
        columns=("data set", *COLUMNS),
        rows=[(name, *total.cells) for name, total in control_totals(own, confidence).items()],
        footer=("all", *add_up_controls(own, confidence).cells),
    )


def _full_table(controls: Sequence[Control], confidence: float) -> Table:
    """A row for each data set, family and learner."""
    rows = []
    for each in controls:
        total = add_up_controls([each], confidence)
        losses = map(float, each.mean_losses)
        rows.append(
            (each.dataset, each.family, each.learner, *losses, each.better_mode, *total.curve_gain, *total.point_gain)
        )
    return Table(
        (
            *("dataset", "family", "learner", "loss_marginal_mode", "loss_joint_mode", "loss_for_each", "better_mode"),
            *("curve_gain", "curve_low", "curve_high", "point_gain", "point_low", "point_high"),
        ),
        rows,
    )
