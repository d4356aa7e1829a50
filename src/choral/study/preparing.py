"""The cells of a plan: which there are, the key under which the result of each is kept, and the task to run it."""

import hashlib
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from joblib.externals.loky.backend import reduction  # cloudpickle, wherever this joblib has it

import choral
from choral._outputs import plain_numbers
from choral.datasets import Dataset
from choral.study.cells import FORMAT, Cell, PreparedData, Task, digest
from choral.study.faults import FAULTS, describe_fault
from choral.study.plan import Plan, StudyData, StudyLearner


def prepare(plan: Plan, data: StudyData) -> PreparedData:
    """Load a data set, split it and find the keys of its cells."""
    dataset = data.load()
    key = _data_key(dataset)
    try:
        fold_numbers = plan.fold_numbers(data, dataset.Y)
    except ValueError as error:
        raise ValueError(f"{data.name}: {error}") from error
    faults: dict[str, str] = {}
    cells = tuple(_list_cells(plan, data.name, key, dataset.Y.shape[1], fold_numbers, faults))
    return PreparedData(data.name, key, dataset.Y, dataset.label_names, fold_numbers, cells, faults)


def load_again(data: StudyData, prepared: PreparedData) -> Dataset:
    """Load a data set that was prepared; it must be the same."""
    dataset = data.load()
    if _data_key(dataset) != prepared.key:
        raise ValueError(f"the source of {data.name} must return the same data each time; it does not.")
    return dataset


def _data_key(dataset: Dataset) -> str:
    return joblib.hash((dataset.X, dataset.Y), hash_name="sha1")


def make_task(plan: Plan, learner: StudyLearner, dataset: Dataset, prepared: PreparedData, cell: Cell) -> Task:
    """A cell with what it needs to run; whatever the learner's own code raises, where it cannot be sent."""
    return Task(
        cell=cell,
        data_key=prepared.key,
        X=dataset.X,
        Y=dataset.Y,
        test=prepared.fold_numbers[cell.repeat] == cell.fold,
        estimator=bytes(reduction.dumps(learner.estimator)),
        seed_parameters=tuple(learner.seed_parameters),
        soft=plan.predictions == "soft",
        threshold=_threshold(plan, learner),
        time_limit=plan.time_limit,
        parameters=_parameters(plan, learner, dataset.Y.shape[1]),
    )


def predictions_shape(plan: Plan, learner: StudyLearner, prepared: PreparedData, cell: Cell) -> tuple[int, ...]:
    """The shape of the predictions of a cell: see `Outcome`."""
    n_rows, n_labels = int(np.count_nonzero(prepared.fold_numbers[cell.repeat] == cell.fold)), prepared.Y.shape[1]
    parameters = _parameters(plan, learner, n_labels)
    if parameters is None:
        return n_rows, n_labels
    return sum(map(len, parameters.values())), n_rows, n_labels


def _list_cells(
    plan: Plan, name: str, data_key: str, n_labels: int, fold_numbers: np.ndarray, faults: dict[str, str]
) -> Iterator[Cell]:
    """All cells of a data set; folds last, so that the learners of a fold are compared soon."""
    n_folds = int(fold_numbers.max()) + 1
    tests = {
        (repeat, fold): joblib.hash(numbers == fold, hash_name="sha1")
        for repeat, numbers in enumerate(fold_numbers)
        for fold in range(n_folds)
    }
    for learner in plan.learners:
        seeds = plan.seeds_of(learner)
        try:
            takes_seed, of_learner = bool(learner.seed_parameters), _learner_key(plan, learner, n_labels)
        except FAULTS as error:
            takes_seed, of_learner = False, ["no key", learner.name]
            faults[learner.name] = describe_unsendable(error)
        for seed in seeds:
            for (repeat, fold), test in tests.items():
                used_seed = seed if takes_seed else None
                key = digest([FORMAT, choral.__version__, data_key, test, used_seed, *of_learner])
                yield Cell(name, learner.name, seed, repeat, fold, key)


def describe_unsendable(error: BaseException) -> str:
    """Why a learner's cells cannot run: it raises this where it is read or sent."""
    return f"the learner cannot be sent to other processes, {describe_fault(error)}"


def _learner_key(plan: Plan, learner: StudyLearner, n_labels: int) -> list[Any]:
    """What the results of a learner depend on; whatever its own code raises, where it cannot be read or sent."""
    estimator = learner.estimator
    parts = [estimator, *(part for part in estimator.get_params().values() if hasattr(part, "get_params"))]
    versions = sorted({_code_version(type(part)) for part in parts})
    reduction.dumps(estimator)
    key = [joblib.hash(estimator, hash_name="sha1"), versions, plan.predictions, _threshold(plan, learner)]
    if parameters := _parameters(plan, learner, n_labels):
        key.append({family: plain_numbers(values) for family, values in parameters.items()})
    return key


def _parameters(plan: Plan, learner: StudyLearner, n_labels: int) -> dict[str, np.ndarray] | None:
    return {family: plan.parameters(family, n_labels) for family in plan.families} if learner.each_loss else None


def _threshold(plan: Plan, learner: StudyLearner) -> float | None:
    return plan.threshold if learner.threshold is None else learner.threshold


def _code_version(kind: type) -> str:
    """The version of the code of a class: that of its package, else a hash of the text of its file, or of itself."""
    package = kind.__module__.partition(".")[0]
    version = getattr(import_module(package), "__version__", None)
    if version is None:
        path = getattr(sys.modules.get(kind.__module__), "__file__", None)
        text = Path(path).read_bytes() if path and Path(path).is_file() else bytes(reduction.dumps(kind))
        version = hashlib.sha256(text).hexdigest()
    return f"{kind.__module__}:{kind.__qualname__} {version}"
