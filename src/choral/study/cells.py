"""Cells: one learner on one fold of one data set, and the key under which its result is kept."""

import hashlib
import json
import pickle
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import joblib
import numpy as np
from joblib.externals.loky.backend import reduction  # cloudpickle, wherever this joblib has it

import choral
from choral.datasets import Dataset
from choral.evaluation import plain_numbers
from choral.study.plan import Plan, StudyData, StudyLearner

FORMAT = 1  # of the files of cells


class Cell(NamedTuple):
    """One learner on one fold of one data set."""

    dataset: str
    learner: str
    seed: int
    repeat: int
    fold: int
    key: str  # of its result: equal keys, equal results

    def __str__(self) -> str:
        return f"{self.dataset}, {self.learner}, seed {self.seed}, repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True, eq=False)
class Task:
    """All that it takes to run a cell, wherever that is."""

    cell: Cell
    data_key: str
    X: Any  # with Y, None where the other side has them already
    Y: Any
    test: np.ndarray  # which rows are tested
    estimator: Any
    seed_parameters: tuple[str, ...]
    soft: bool
    threshold: float | None
    time_limit: float | None
    parameters: dict[str, np.ndarray] | None  # of each family, for a learner that predicts anew for each loss


@dataclass(frozen=True, eq=False)
class PreparedData:
    """A data set of a study before it runs: what its cells are, without its features."""

    name: str
    key: str
    Y: np.ndarray
    label_names: tuple[str, ...]
    fold_numbers: np.ndarray  # (repeats, n_rows)
    cells: tuple[Cell, ...]

    @property
    def labels_key(self) -> str:
        """Under which labels and folds are kept: those of other data, or another split, do not take their place."""
        return _digest([self.key, joblib.hash(self.fold_numbers, hash_name="sha1"), self.label_names])


def prepare(plan: Plan, data: StudyData) -> PreparedData:
    """Load a data set, split it and find the keys of its cells."""
    dataset = data.load()
    key = _data_key(dataset)
    try:
        fold_numbers = plan.fold_numbers(data, dataset.Y)
    except ValueError as error:
        raise ValueError(f"{data.name}: {error}") from error
    cells = _cells(plan, data.name, key, dataset.Y.shape[1], fold_numbers)
    return PreparedData(data.name, key, dataset.Y, dataset.label_names, fold_numbers, tuple(cells))


def load_again(data: StudyData, prepared: PreparedData) -> Dataset:
    """Load a data set that was prepared; it must be the same."""
    dataset = data.load()
    if _data_key(dataset) != prepared.key:
        raise ValueError(f"the source of {data.name} must return the same data each time; it does not.")
    return dataset


def _data_key(dataset: Dataset) -> str:
    return joblib.hash((dataset.X, dataset.Y), hash_name="sha1")


def make_task(plan: Plan, learner: StudyLearner, dataset: Dataset, prepared: PreparedData, cell: Cell) -> Task:
    """A cell with what it needs to run."""
    return Task(
        cell=cell,
        data_key=prepared.key,
        X=dataset.X,
        Y=dataset.Y,
        test=prepared.fold_numbers[cell.repeat] == cell.fold,
        estimator=learner.estimator,
        seed_parameters=tuple(learner.seed_parameters),
        soft=plan.predictions == "soft",
        threshold=_threshold(plan, learner),
        time_limit=plan.time_limit,
        parameters=_parameters(plan, learner, dataset.Y.shape[1]),
    )


def _cells(plan: Plan, name: str, data_key: str, n_labels: int, fold_numbers: np.ndarray) -> Iterator[Cell]:
    """All cells of a data set; folds last, so that the learners of a fold are compared soon."""
    n_folds = int(fold_numbers.max()) + 1
    tests = {
        (repeat, fold): joblib.hash(numbers == fold, hash_name="sha1")
        for repeat, numbers in enumerate(fold_numbers)
        for fold in range(n_folds)
    }
    for learner in plan.learners:
        of_learner = _learner_key(plan, learner, n_labels)
        for seed in plan.seeds_of(learner):
            for (repeat, fold), test in tests.items():
                used_seed = seed if learner.seed_parameters else None
                key = _digest([FORMAT, choral.__version__, data_key, test, used_seed, *of_learner])
                yield Cell(name, learner.name, seed, repeat, fold, key)


def _learner_key(plan: Plan, learner: StudyLearner, n_labels: int) -> list[Any]:
    estimator = learner.estimator
    parts = [estimator, *(part for part in estimator.get_params().values() if hasattr(part, "get_params"))]
    stamps = sorted({_stamp(type(part)) for part in parts})
    try:
        own = joblib.hash(estimator, hash_name="sha1")
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise ValueError(f"{learner.name} cannot be sent to other processes: {error}.") from error
    key = [own, stamps, plan.predictions, _threshold(plan, learner)]
    if parameters := _parameters(plan, learner, n_labels):
        key.append({family: plain_numbers(values) for family, values in parameters.items()})
    return key


def _parameters(plan: Plan, learner: StudyLearner, n_labels: int) -> dict[str, np.ndarray] | None:
    return {family: plan.parameters(family, n_labels) for family in plan.families} if learner.each_loss else None


def _threshold(plan: Plan, learner: StudyLearner) -> float | None:
    return plan.threshold if learner.threshold is None else learner.threshold


def _stamp(kind: type) -> str:
    """Which code a class is: the version of its package; where that has none, the text of its file or of itself."""
    package = kind.__module__.partition(".")[0]
    version = getattr(import_module(package), "__version__", None)
    if version is None:
        path = getattr(sys.modules.get(kind.__module__), "__file__", None)
        text = Path(path).read_bytes() if path and Path(path).is_file() else bytes(reduction.dumps(kind))
        version = hashlib.sha256(text).hexdigest()
    return f"{kind.__module__}:{kind.__qualname__} {version}"


def _digest(parts: list[Any]) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
