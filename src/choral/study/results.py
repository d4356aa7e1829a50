"""Results: what a study found, read from its folder; no data, no learners needed."""

import os
from collections.abc import Callable
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np

from choral._text import did_you_mean
from choral.curves import LossCurve, PairwiseCurve
from choral.measures.families import get_family
from choral.profiles import ErrorProfile
from choral.stats import (
    Band,
    RankComparison,
    bootstrap_band,
    compare_ranks,
    corrected_resampled_t,
    holm,
)
from choral.study.cells import Cell
from choral.study.resampling import bootstrap_losses, fold_losses
from choral.study.store import DamagedFile, Store, StoredLabels
from choral.study.tables import PLACES, Table, crossings, differences, losses, ranks, slopes, wins, yardstick

T = TypeVar("T")
TABLES = (losses, wins, slopes, crossings, differences, ranks)


class Failure(NamedTuple):
    """A cell without a result, and why."""

    dataset: str
    learner: str
    seed: int
    repeat: int
    fold: int
    reason: str


class PairDifference(NamedTuple):
    """Loss of the second learner minus that of the first at each parameter: positive where the first is better."""

    estimate: np.ndarray
    lower: np.ndarray  # paired bootstrap over rows
    upper: np.ndarray
    pvalue: np.ndarray  # corrected resampled t test over folds, Holm-adjusted over the parameters


class Results:
    """What a study found.

    A learner counts on a data set when all its cells there are done: losses of other folds would not compare. Losses
    are means over all test rows, as in the published study, not means of the means of folds; over several repeats or
    seeds, of all of them.

    Parameters
    ----------
    folder : path-like
        Of the study: see `run_study`.
    n_bootstrap : int
        Samples of the paired bootstrap over the rows of a data set.
    confidence : float
        Of its intervals, pointwise.

    Attributes
    ----------
    title, created, predictions : str
    datasets, learners, families : tuple of str
    baseline : str or None
        The learner that is there for comparison only.
    study : dict
        All that ``study.json`` says: plan, versions, parameters of the learners.
    each_loss : tuple of str
        The learners that predict anew for each loss: their loss at a parameter is that of the labels predicted for it.
    ours : tuple of str
        The learners that are judged against the best of the others.
    """

    def __init__(self, folder: str | os.PathLike[str], *, n_bootstrap: int = 1000, confidence: float = 0.95):
        self._store = Store(folder)
        self.study = self._store.read_study()
        self.n_bootstrap, self.confidence = n_bootstrap, confidence
        self.title: str = self.study["title"]
        self.created: str = self.study["created"]
        self.predictions: str = self.study["predictions"]
        self.baseline: str | None = self.study["baseline"]
        self.families: tuple[str, ...] = tuple(self.study["families"])
        self.learners: tuple[str, ...] = tuple(self.study["learners"])
        self.each_loss: tuple[str, ...] = tuple(self.study["each_loss"])
        self.ours: tuple[str, ...] = tuple(self.study["ours"])
        self._datasets = {data["name"]: data for data in self.study["datasets"]}
        self.datasets: tuple[str, ...] = tuple(self._datasets)
        self._known: dict[tuple, Any] = {}

    def __repr__(self) -> str:
        return f"Results({self.title!r}, {len(self.datasets)} data sets, {len(self.learners)} learners)"

    def _once(self, key: tuple, make: Callable[[], T]) -> T:
        """What is made under a key, made the first time and kept."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    @property
    def competitors(self) -> tuple[str, ...]:
        """The learners without the baseline."""
        return tuple(learner for learner in self.learners if learner != self.baseline)

    @cached_property
    def _profiles(self) -> dict[Cell, list[ErrorProfile] | None]:
        """The profile of each cell, or those for each parameter; None for one without a result, or a damaged one."""
        return {cell: self._read_profiles(cell) for dataset in self.datasets for cell in self.cells(dataset)}

    def _read_profiles(self, cell: Cell) -> list[ErrorProfile] | None:
        try:
            stored = self._store.read(cell.key)
        except DamagedFile:
            return None
        return None if stored is None else [ErrorProfile.from_dict(profile) for profile in stored.profiles]

    def cells(self, dataset: str, learner: str | None = None) -> list[Cell]:
        """All cells of a data set, or those of one learner."""
        cells = (Cell(dataset, *numbers) for numbers in self._about(dataset)["cells"])
        return [cell for cell in cells if learner in (None, cell.learner)]

    def _about(self, dataset: str) -> dict[str, Any]:
        if dataset not in self._datasets:
            raise ValueError(f"there is no data set {dataset!r}{did_you_mean(dataset, self.datasets)}")
        return self._datasets[dataset]

    @property
    def n_cells(self) -> int:
        """The number of cells, done or not."""
        return sum(len(self._about(dataset)["cells"]) for dataset in self.datasets)

    def cell_profile(self, cell: Cell) -> ErrorProfile | None:
        """The errors of a cell; None where it has no result."""
        self._check_one_profile(cell.learner)
        profiles = self._profiles[cell]
        return None if profiles is None else profiles[0]

    def cell_losses(self, cell: Cell, family: str) -> np.ndarray:
        """The losses of a cell, one for each parameter."""
        profiles = self._profiles[cell]
        if profiles is None:
            raise ValueError(f"there is no result of {cell}.")
        return self._losses(cell.dataset, family, profiles)

    def cell_predictions(self, cell: Cell) -> np.ndarray:
        """The predictions of a cell for its test rows, as they are stored.

        Of a learner that predicts anew for each loss, for each parameter of each family: see `part`.
        """
        stored = self._store.read(cell.key)
        if stored is None:
            raise ValueError(f"there is no result of {cell}.")
        return stored.predictions

    def labels(self, dataset: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The true labels of a data set and their names."""
        stored = self._stored_labels(dataset)
        return stored.Y, stored.label_names

    def _stored_labels(self, dataset: str) -> StoredLabels:
        return self._once(("labels", dataset), lambda: self._store.read_labels(self._about(dataset)["labels"]))

    def test_rows(self, cell: Cell) -> np.ndarray:
        """Which rows of the data set a cell is tested on, as booleans."""
        return self._stored_labels(cell.dataset).fold_numbers[cell.repeat] == cell.fold

    def failures(self) -> tuple[Failure, ...]:
        """Cells without a result: those that failed, and those that have not run."""
        return tuple(
            Failure(*cell[:5], self._reason(cell)) for cell, profile in self._profiles.items() if profile is None
        )

    def _reason(self, cell: Cell) -> str:
        failure = self._store.failure(cell.key)
        return "not run yet, or damaged" if failure is None else failure["reason"]

    def finished(self, dataset: str) -> tuple[str, ...]:
        """The learners whose cells on a data set are all done."""
        self._about(dataset)
        return tuple(learner for learner in self.learners if (dataset, learner) not in self._lacking)

    @cached_property
    def _lacking(self) -> set[tuple[str, str]]:
        """Data sets and learners of cells that have no result."""
        return {(cell.dataset, cell.learner) for cell, profile in self._profiles.items() if profile is None}

    def profile(self, dataset: str, learner: str) -> ErrorProfile:
        """The errors of a learner in all test rows of a data set."""
        self._check_one_profile(learner)
        return self._pooled(dataset, learner)[0]

    def _pooled(self, dataset: str, learner: str) -> list[ErrorProfile]:
        """The errors of a learner in all test rows: one profile, or one for each parameter of each family."""
        self._check_finished(dataset, learner)
        of_cells = [self._profiles[cell] for cell in self.cells(dataset, learner)]
        empty = ErrorProfile(self.n_labels(dataset))
        return [sum(profiles, start=empty) for profiles in zip(*filter(None, of_cells), strict=True)]

    def _losses(self, dataset: str, family: str, profiles: list[ErrorProfile]) -> np.ndarray:
        """The loss at each parameter: of the one profile there is, or of the one for it."""
        parameters = self.parameters(dataset, family)
        if len(profiles) == 1:
            return profiles[0].losses(family, parameters)
        own = zip(profiles[self.part(dataset, family)], parameters, strict=True)
        return np.concatenate([profile.losses(family, [parameter]) for profile, parameter in own])

    def part(self, dataset: str, family: str) -> slice:
        """Where predictions for the parameters of a family are, among all of a learner that predicts for each loss."""
        sizes = [len(self.parameters(dataset, name)) for name in self.families]
        index = self.families.index(family)
        return slice(sum(sizes[:index]), sum(sizes[: index + 1]))

    def n_labels(self, dataset: str) -> int:
        """The number of labels of a data set."""
        return len(self.labels(dataset)[1])

    def parameters(self, dataset: str, family: str) -> np.ndarray:
        """The values of k or alpha on a data set."""
        values = [float(value) for value in self._about(dataset)["parameters"][family]]
        return get_family(family).parameters(values, self.n_labels(dataset))

    def curve(self, dataset: str, learner: str, family: str) -> LossCurve:
        """The loss of a learner on a data set along a family."""
        return self._once(("curve", dataset, learner, family), lambda: self._make_curve(dataset, learner, family))

    def _make_curve(self, dataset: str, learner: str, family: str) -> LossCurve:
        losses = self._losses(dataset, family, self._pooled(dataset, learner))
        parameters, n_labels = self.parameters(dataset, family), self.n_labels(dataset)
        return LossCurve(family, parameters, losses, n_labels=n_labels, name=learner)

    def curves(self, dataset: str, family: str) -> dict[str, LossCurve]:
        """The curves of the learners that finished on a data set."""
        return {learner: self.curve(dataset, learner, family) for learner in self.finished(dataset)}

    def rivals(self, dataset: str, family: str) -> dict[str, LossCurve]:
        """The curves of the competitors that finished on a data set."""
        return {name: curve for name, curve in self.curves(dataset, family).items() if name != self.baseline}

    def bands(self, dataset: str, family: str) -> dict[str, Band]:
        """Bootstrap intervals of the curves on a data set."""
        samples = self.bootstrap_losses(dataset, family)
        return {
            learner: bootstrap_band(samples[:, index], self.confidence)
            for index, learner in enumerate(self.finished(dataset))
        }

    def pairs(self, first: str, second: str, family: str) -> dict[str, PairwiseCurve]:
        """Two learners against each other, on all data sets where both finished."""
        return {
            dataset: PairwiseCurve(self.curve(dataset, first, family), self.curve(dataset, second, family))
            for dataset in self.datasets
            if {first, second} <= set(self.finished(dataset))
        }

    def differences(self, dataset: str, family: str) -> dict[tuple[str, str], PairDifference]:
        """All pairs of competitors on a data set, with paired intervals and tests along the curve."""
        return self._once(("differences", dataset, family), lambda: self._compare_pairs(dataset, family))

    def _compare_pairs(self, dataset: str, family: str) -> dict[tuple[str, str], PairDifference]:
        samples, curves = self.bootstrap_losses(dataset, family), self.curves(dataset, family)
        folds = {learner: fold_losses(self, dataset, learner, family) for learner in curves}
        found = {}
        for (i, first), (j, second) in combinations(enumerate(curves), 2):
            if self.baseline not in (first, second):
                band = bootstrap_band(samples[:, j] - samples[:, i], self.confidence)
                test = corrected_resampled_t(folds[second] - folds[first], test_share=self._test_share(dataset))
                estimate = curves[second].losses - curves[first].losses
                found[first, second] = PairDifference(estimate, *band, holm(test.pvalue))
        return found

    def bootstrap_losses(self, dataset: str, family: str) -> np.ndarray:
        """Losses in bootstrap samples, of shape (n_bootstrap, n_finished, n_parameters), made once."""
        return self._once(("bootstrap", dataset, family), lambda: bootstrap_losses(self, dataset, family))

    def _test_share(self, dataset: str) -> float:
        """The number of test rows as a share of the training rows."""
        return 1 / int(self._stored_labels(dataset).fold_numbers.max())

    def places(self, family: str) -> dict[str, float]:
        """Where learners are compared over data sets: ends and middle of the axis, as far as all curves reach."""
        curves = [curve for dataset in self.datasets for curve in self.curves(dataset, family).values()]
        return {place: x for place, x in PLACES.items() if all(_reaches(curve, x) for curve in curves)}

    def loss_at(self, dataset: str, learner: str, family: str, x: float) -> float:
        """The loss at a place on the axis, 0 for Hamming and 1 for subset 0/1, interpolated between parameters."""
        curve = self.curve(dataset, learner, family)
        if not _reaches(curve, x):
            reach = f"{float(curve.x[0]):g} to {float(curve.x[-1]):g}"
            raise ValueError(f"the parameters of {family} on {dataset} reach from x = {reach}; got {x:g}.")
        return float(np.interp(x, curve.x, curve.losses))

    @cached_property
    def complete_datasets(self) -> list[str]:
        """The data sets on which all competitors finished."""
        return [dataset for dataset in self.datasets if set(self.competitors) <= set(self.finished(dataset))]

    def rank_comparison(self, family: str, x: float) -> RankComparison:
        """Learners compared over data sets by their loss at a place on the axis, 0 for Hamming, 1 for subset 0/1.

        Of the data sets, those where all competitors finished.
        """
        if not self._has_ranks:
            raise ValueError(
                "ranks compare at least two learners on at least two data sets where all of them finished; "
                f"got {len(self.competitors)} and {len(self.complete_datasets)}."
            )
        return self._once(("ranks", family, x), lambda: self._compare_ranks(family, x))

    def _compare_ranks(self, family: str, x: float) -> RankComparison:
        losses = [
            [self.loss_at(dataset, learner, family, x) for learner in self.competitors]
            for dataset in self.complete_datasets
        ]
        return compare_ranks(losses, self.competitors, confidence=self.confidence)

    def ranks_or_none(self, family: str, x: float) -> RankComparison | None:
        """`rank_comparison`, or None where there are too few learners or data sets for it."""
        return self.rank_comparison(family, x) if self._has_ranks else None

    @property
    def _has_ranks(self) -> bool:
        return len(self.complete_datasets) > 1 and len(self.competitors) > 1

    def tables(self) -> dict[str, Table]:
        """All tables by name: losses, wins, slopes, crossings, differences and ranks; yardstick where some are ours.

        See `choral.study.tables`.
        """
        return {make.__name__: make(self) for make in (*TABLES, *([yardstick] if self.ours else []))}

    def _check_finished(self, dataset: str, learner: str) -> None:
        if learner not in self.finished(dataset):
            raise ValueError(f"{learner} has not finished on {dataset}; see failures().")

    def _check_one_profile(self, learner: str) -> None:
        if learner in self.each_loss:
            raise ValueError(
                f"{learner} predicts anew for each loss, with other errors: see curve() and cell_losses()."
            )


def _reaches(curve: LossCurve, x: float) -> bool:
    """Whether a place on the axis lies on a curve; with a single label, the only point is all places."""
    return bool(curve.x[0] <= x <= curve.x[-1]) or curve.n_labels == 1
