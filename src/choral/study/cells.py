"""Cells as values: one learner on one fold of one data set, what it takes to run it, and what came of it."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import joblib
import numpy as np

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
    estimator: bytes  # pickled: of all processes on the way, only the child needs the modules of a learner
    seed_parameters: tuple[str, ...]
    soft: bool
    threshold: float | None
    time_limit: float | None
    parameters: dict[str, np.ndarray] | None  # of each family, for a learner that predicts anew for each loss


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a cell: predictions of its test rows with what is known about them, or the reason why not.

    Predictions are of shape (n_rows, n_labels), or (n_parameters, n_rows, n_labels) where each loss has its own: first
    for the parameters of one family, then for those of the next.
    """

    predictions: np.ndarray | None = None  # uint8, or float32 for scores
    profiles: tuple[dict[str, Any], ...] = ()  # one, or one for each parameter
    seconds: float = 0.0
    warnings: tuple[str, ...] = ()
    reason: str | None = None
    details: str = ""


@dataclass(frozen=True, eq=False)
class PreparedData:
    """A data set of a study before it runs: what its cells are, without its features."""

    name: str
    key: str
    Y: np.ndarray
    label_names: tuple[str, ...]
    fold_numbers: np.ndarray  # (repeats, n_rows)
    cells: tuple[Cell, ...]
    faults: dict[str, str] = field(default_factory=dict)  # by learner: why its cells cannot run

    @property
    def labels_key(self) -> str:
        """Under which labels and folds are kept: those of other data, or another split, do not take their place."""
        return digest([self.key, joblib.hash(self.fold_numbers, hash_name="sha1"), self.label_names])


def digest(parts: list[Any]) -> str:
    """A key made of plain values."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
