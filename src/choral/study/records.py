"""Records: the cells of a study read back from its folder, as errors and curves; no data, no learners needed."""

import os
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from choral._text import counted, did_you_mean, some_of
from choral.curves import LossCurve
from choral.measures.families import get_family
from choral.profiles import EachLossProfile, ErrorProfile
from choral.study.cells import Cell
from choral.study.store import DamagedFile, Store, StoredLabels

T = TypeVar("T")
EQUAL_SCORES = 1e-6  # scores nearer than this are equal: they are stored in single precision


class Failure(NamedTuple):
    """A cell without a result, and why."""

    dataset: str
    learner: str
    seed: int
    repeat: int
    fold: int
    reason: str


class Records:
    """The cells of a study, read from its folder: see `choral.study.Results`, which compares them."""

    def __init__(self, folder: str | os.PathLike[str], study: dict[str, Any] | None = None):
        self._store = Store(folder)
        self.study = self._store.read_study() if study is None else study
        self.title: str = self.study["title"]
        self.created: str = self.study["created"]
        self.predictions: str = self.study["predictions"]
        self.baseline: str | None = self.study["baseline"]
        self.families: tuple[str, ...] = tuple(self.study["families"])
        self.learners: tuple[str, ...] = tuple(self.study["learners"])
        self.each_loss: tuple[str, ...] = tuple(self.study["each_loss"])
        self._datasets = {data["name"]: data for data in self.study["datasets"]}
        self.datasets: tuple[str, ...] = tuple(self._datasets)
        self._known: dict[tuple, Any] = {}

    def __repr__(self) -> str:
        datasets = f"  {len(self.datasets)} data sets: {some_of(self.datasets)}"
        learners = f"  {len(self.learners)} learners: {some_of(self.learners)}"
        return "\n".join([f"Results({self.title!r}, {self.n_cells} cells)", datasets, learners])

    def _cached(self, key: tuple, make: Callable[[], T]) -> T:
        """The value of a key: made the first time, then kept."""
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
            stored = self._store.read_cell(cell.key, self._predictions_shape(cell))
        except DamagedFile:
            return None
        self._known["warnings", cell] = () if stored is None else stored.warnings
        return None if stored is None else [ErrorProfile.from_dict(profile) for profile in stored.profiles]

    def cells(self, dataset: str, learner: str | None = None) -> list[Cell]:
        """All cells of a data set, or those of one learner."""
        cells = (Cell(dataset, *numbers) for numbers in self._facts_of(dataset)["cells"])
        return [cell for cell in cells if learner in (None, cell.learner)]

    def _facts_of(self, dataset: str) -> dict[str, Any]:
        if dataset not in self._datasets:
            raise ValueError(f"there is no data set {dataset!r}{did_you_mean(dataset, self.datasets)}")
        return self._datasets[dataset]

    @property
    def n_cells(self) -> int:
        """The number of cells, done or not."""
        return sum(len(self._facts_of(dataset)["cells"]) for dataset in self.datasets)

    def cell_profile(self, cell: Cell) -> ErrorProfile | None:
        """The errors of a cell; None where it has no result."""
        self._check_one_profile(cell.learner)
        profiles = self._profiles[cell]
        return None if profiles is None else profiles[0]

    def cell_profiles(self, cell: Cell) -> list[ErrorProfile]:
        """The errors of a cell: one profile, or one for each parameter of each family, where `family_slice` says."""
        profiles = self._profiles[cell]
        if profiles is None:
            raise ValueError(f"there is no result of {cell}.")
        return profiles

    def cell_losses(self, cell: Cell, family: str) -> np.ndarray:
        """The losses of a cell, one for each parameter."""
        return self._losses(cell.dataset, family, self.cell_profiles(cell))

    def cell_predictions(self, cell: Cell) -> np.ndarray:
        """The predictions of a cell for its test rows, as they are stored.

        Of a learner that predicts anew for each loss, for each parameter of each family: see `family_slice`.
        """
        stored = self._store.read_cell(cell.key, self._predictions_shape(cell))
        if stored is None:
            raise ValueError(f"there is no result of {cell}.")
        return stored.predictions

    def _predictions_shape(self, cell: Cell) -> tuple[int, ...]:
        shape = int(np.count_nonzero(self.test_rows(cell))), self.n_labels(cell.dataset)
        if cell.learner not in self.each_loss:
            return shape
        return sum(len(self.parameters(cell.dataset, family)) for family in self.families), *shape

    def run_predictions(self, dataset: str, learner: str, family: str) -> np.ndarray:
        """The predictions for all rows of a data set: those of all folds put together, of the first repeat and seed.

        Of a learner that predicts anew for each loss, those for the last parameter of the family.
        """
        self._check_finished(dataset, learner)
        cells = self.cells(dataset, learner)
        found: np.ndarray | None = None
        for cell in cells:
            if (cell.seed, cell.repeat) == (cells[0].seed, cells[0].repeat):
                predicted = self.cell_predictions(cell)
                if learner in self.each_loss:
                    predicted = predicted[self.family_slice(dataset, family)][-1]
                if found is None:
                    found = np.zeros((len(self.labels(dataset)[0]), self.n_labels(dataset)), dtype=predicted.dtype)
                found[self.test_rows(cell)] = predicted
        return found  # type: ignore[return-value]  # a learner that has finished has cells

    def labels(self, dataset: str) -> tuple[np.ndarray, tuple[str, ...]]:
        """The true labels of a data set and their names."""
        stored = self._stored_labels(dataset)
        return stored.Y, stored.label_names

    def _stored_labels(self, dataset: str) -> StoredLabels:
        return self._cached(("labels", dataset), lambda: self._read_labels(dataset))

    def _read_labels(self, dataset: str) -> StoredLabels:
        """The labels and folds of a data set, if they are those that the study is about."""
        facts = self._facts_of(dataset)
        stored = self._store.read_labels(facts["labels"])
        n_repeats, n_folds = (max(numbers) + 1 for numbers in list(zip(*facts["cells"], strict=True))[2:4])
        found = len(stored.fold_numbers), int(stored.fold_numbers.max()) + 1
        if found != (n_repeats, n_folds):
            raise DamagedFile(
                f"the labels of {dataset} have {found[1]} folds in {counted(found[0], 'repeat')}, its cells "
                f"{n_folds} in {n_repeats}; run the study again."
            )
        for family, parameters in facts["parameters"].items():
            try:
                get_family(family).parameters(list(map(float, parameters)), len(stored.label_names))
            except ValueError as error:
                raise DamagedFile(f"the study cannot be read: {family} on {dataset}: {error}") from error
        return stored

    def test_rows(self, cell: Cell) -> np.ndarray:
        """Which rows of the data set a cell is tested on, as booleans."""
        return self._stored_labels(cell.dataset).fold_numbers[cell.repeat] == cell.fold

    def failures(self) -> tuple[Failure, ...]:
        """Cells without a result: those that failed, and those that have not run."""
        return tuple(
            Failure(*cell[:5], self._reason(cell)) for cell, profile in self._profiles.items() if profile is None
        )

    def _reason(self, cell: Cell) -> str:
        failure = self._store.read_failure(cell.key)
        return "not run yet, or damaged" if failure is None else failure["reason"]

    def warnings(self) -> dict[tuple[str, str, str], int]:
        """In how many cells each warning was given, by data set, learner and text; most frequent first for each pair.

        Damaged cells and cells without a result have none.
        """
        counts: Counter[tuple[str, str, str]] = Counter()
        for cell, texts in self._warnings_of_cells().items():
            counts.update((cell.dataset, cell.learner, text) for text in texts)
        places = {pair: place for place, pair in enumerate(dict.fromkeys(key[:2] for key in counts))}
        return dict(sorted(counts.items(), key=lambda item: (places[item[0][:2]], -item[1])))

    def _warnings_of_cells(self) -> dict[Cell, tuple[str, ...]]:
        done = [cell for cell, profiles in self._profiles.items() if profiles is not None]
        return {cell: self._known["warnings", cell] for cell in done}

    def finished(self, dataset: str) -> tuple[str, ...]:
        """The learners whose cells on a data set are all done."""
        self._facts_of(dataset)
        return tuple(learner for learner in self.learners if (dataset, learner) not in self._unfinished)

    @cached_property
    def _unfinished(self) -> set[tuple[str, str]]:
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
        """The loss at each parameter, by the only profile of a learner, or by the profile for that parameter."""
        parameters = self.parameters(dataset, family)
        if len(profiles) == 1:
            return profiles[0].losses(family, parameters)
        return EachLossProfile(family, parameters, profiles[self.family_slice(dataset, family)]).losses(family)

    def family_slice(self, dataset: str, family: str) -> slice:
        """Where the predictions for a family are, among all those of a learner that predicts for each loss."""
        sizes = [len(self.parameters(dataset, name)) for name in self.families]
        index = self.families.index(family)
        return slice(sum(sizes[:index]), sum(sizes[: index + 1]))

    def n_labels(self, dataset: str) -> int:
        """The number of labels of a data set."""
        return len(self.labels(dataset)[1])

    def parameters(self, dataset: str, family: str) -> np.ndarray:
        """The values of k or alpha on a data set."""
        values = [float(value) for value in self._facts_of(dataset)["parameters"][family]]
        return get_family(family).parameters(values, self.n_labels(dataset))

    def curve(self, dataset: str, learner: str, family: str) -> LossCurve:
        """The loss of a learner on a data set along a family."""
        return self._cached(("curve", dataset, learner, family), lambda: self._make_curve(dataset, learner, family))

    def _make_curve(self, dataset: str, learner: str, family: str) -> LossCurve:
        losses = self._losses(dataset, family, self._pooled(dataset, learner))
        parameters, n_labels = self.parameters(dataset, family), self.n_labels(dataset)
        return LossCurve(family, parameters, losses, n_labels=n_labels, name=learner)

    def curves(self, dataset: str, family: str) -> dict[str, LossCurve]:
        """The curves of the learners that finished on a data set."""
        return {learner: self.curve(dataset, learner, family) for learner in self.finished(dataset)}

    def competitor_curves(self, dataset: str, family: str) -> dict[str, LossCurve]:
        """The curves of the competitors that finished on a data set."""
        return {name: curve for name, curve in self.curves(dataset, family).items() if name != self.baseline}

    def same_as_baseline(self, dataset: str) -> tuple[str, ...]:
        """The competitors whose predictions equal those of the baseline in every test row of a data set.

        In all repeats and with all seeds; of a learner that predicts anew for each loss, for every loss. Scores are
        equal if they differ by rounding alone.
        """
        return self._cached(("same as baseline", dataset), lambda: self._find_same_as_baseline(dataset))

    def _find_same_as_baseline(self, dataset: str) -> tuple[str, ...]:
        if self.baseline is None or self.baseline not in self.finished(dataset):
            return ()
        competitors = (name for name in self.finished(dataset) if name != self.baseline)
        return tuple(name for name in competitors if self._predict_the_same(dataset, name, self.baseline))

    def _predict_the_same(self, dataset: str, first: str, second: str) -> bool:
        # equal predictions have equal losses: that is quick to see, and few learners are left to compare row by row
        for family in self.families:
            losses, others = (self.curve(dataset, learner, family).losses for learner in (first, second))
            if not np.allclose(losses, others, rtol=0, atol=EQUAL_SCORES):
                return False
        return all(
            np.allclose(self.cell_predictions(cell), self.cell_predictions(other), rtol=0, atol=EQUAL_SCORES)
            for cell in self.cells(dataset, first)
            for other in self.cells(dataset, second)
            if (cell.repeat, cell.fold) == (other.repeat, other.fold)
        )

    def _check_finished(self, dataset: str, learner: str) -> None:
        if learner not in self.finished(dataset):
            raise ValueError(f"{learner} has not finished on {dataset}; see failures().")

    def _check_one_profile(self, learner: str) -> None:
        if learner in self.each_loss:
            raise ValueError(
                f"{learner} predicts anew for each loss, with other errors: see curve() and cell_losses()."
            )
