"""Which whole label sets are mistaken for which, and which are never predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral.explanation.error_blocks import ErrorsOfRows, error_blocks
from choral.rows import Rows
from choral.rows.hashes import hash_rows, mix_bits

LabelSet = tuple[int, ...]
HARD_FROM = 0.5  # scores are read as label sets from this one on


class Mistake(NamedTuple):
    """A label set that was predicted as another one."""

    true: LabelSet
    predicted: LabelSet
    n_rows: int


class Missed(NamedTuple):
    """A label set that is never predicted."""

    labels: LabelSet
    n_rows: int  # in which it is true


class RowLabels(NamedTuple):
    """The labels of a row."""

    true: LabelSet
    predicted: LabelSet


@dataclass(frozen=True, eq=False)
class LabelSets:
    """The label sets of all rows, as numbers that tell them apart.

    Attributes
    ----------
    true, predicted : ndarray of shape (n_rows,)
        Equal numbers, equal label sets.
    """

    true: np.ndarray
    predicted: np.ndarray

    @classmethod
    def from_blocks(cls, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> "LabelSets":
        """Of blocks of rows, each as `hash_block` gives it."""
        true, predicted = zip(*parts, strict=True)
        return cls(np.concatenate(true), np.concatenate(predicted))

    @property
    def n_true(self) -> int:
        """How many different label sets are true."""
        return np.unique(self.true).size

    @property
    def n_predicted(self) -> int:
        """How many different label sets are predicted."""
        return np.unique(self.predicted).size

    def mistakes(self, rows: Rows, n_most: int) -> tuple[Mistake, ...]:
        """The most frequent mistakes of whole label sets."""
        wrong = np.flatnonzero(self.true != self.predicted)
        first, counts = _most_frequent(mix_bits(self.true[wrong]) + self.predicted[wrong], n_most)
        labels = read_labels(rows, wrong[first])
        return tuple(Mistake(*of_row, count) for of_row, count in zip(labels, counts.tolist(), strict=True))

    def never_predicted(self, rows: Rows, n_most: int) -> tuple[int, tuple[Missed, ...]]:
        """How many of the true label sets are never predicted, and the most frequent of them."""
        missed = np.flatnonzero(~np.isin(self.true, self.predicted))
        first, counts = _most_frequent(self.true[missed], n_most)
        labels = read_labels(rows, missed[first])
        found = tuple(Missed(of_row.true, count) for of_row, count in zip(labels, counts.tolist(), strict=True))
        return np.unique(self.true[missed]).size, found


def hash_block(block: ErrorsOfRows) -> tuple[np.ndarray, np.ndarray]:
    """Numbers for the true and for the predicted label sets of a block."""
    return hash_rows(block.true), hash_rows(predicted_labels(block))


def predicted_labels(block: ErrorsOfRows) -> Any:
    """The predicted label sets: those labels whose scores are at least 0.5."""
    if block.wrong is not None:
        return block.pred
    return block.pred >= HARD_FROM


def _most_frequent(numbers: np.ndarray, n_most: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the most frequent numbers come first, and how often they come; of equally frequent ones, the earlier."""
    if not numbers.size:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    order = np.argsort(numbers)
    ordered = numbers[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    counts = np.diff(np.append(starts, numbers.size))
    first = np.minimum.reduceat(order, starts)
    most = np.lexsort((first, -counts))[:n_most]
    return first[most], counts[most]


def read_labels(rows: Rows, places: np.ndarray) -> Iterator[RowLabels]:
    """The true and the predicted labels of a few rows."""
    for place in places.tolist():
        (block,) = error_blocks(rows.part(slice(place, place + 1)))
        yield RowLabels(_members(block.true), _members(predicted_labels(block)))


def _members(row: Any) -> LabelSet:
    dense = row.toarray() if sp.issparse(row) else row
    return tuple(np.flatnonzero(dense[0]).tolist())
