"""Which rows cost most, which whole label sets are mistaken for which, and which are never predicted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral.explanation.error_blocks import ErrorsOfRows, error_blocks
from choral.rows import Rows
from choral.rows.hashes import hash_rows, mix_bits

HARD_FROM = 0.5  # scores are read as label sets from this one on

Names = tuple[str, ...]


class CostlyRow(NamedTuple):
    """A row with a large loss.

    Attributes
    ----------
    id : Any
        Its name: an entry of ``ids`` or of the index of a frame, else its number.
    row : int
        Its number, from 0.
    loss : float
    true, predicted : tuple of str
        The labels that are true, and those with a score of at least 0.5. Labels that are not known are in neither.
    """

    id: Any
    row: int
    loss: float
    true: Names
    predicted: Names


class LabelSetMistake(NamedTuple):
    """A label set that was predicted as another one, and in how many rows."""

    true: Names
    predicted: Names
    n_rows: int


class NeverPredicted(NamedTuple):
    """A label set that is never predicted, and in how many rows it is true."""

    labels: Names
    n_rows: int


class LabelSetReport(NamedTuple):
    """What happened to whole label sets.

    Attributes
    ----------
    mistakes : tuple of LabelSetMistake
        The most frequent ones.
    never_predicted : tuple of NeverPredicted
        The most frequent ones.
    n_true, n_predicted, n_never_predicted : int
        How many different label sets are true, are predicted, and are true but never predicted.
    """

    mistakes: tuple[LabelSetMistake, ...]
    never_predicted: tuple[NeverPredicted, ...]
    n_true: int
    n_predicted: int
    n_never_predicted: int


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """What is kept of some rows, to find label sets and costly rows among them.

    Attributes
    ----------
    rows : ndarray of shape (n,)
        The numbers of the rows with a known label.
    true, predicted : ndarray of shape (n,)
        Equal numbers, equal label sets.
    errors : ndarray of shape (n,)
        The sum of the errors of each row: how many labels are wrong, for hard predictions.
    """

    rows: np.ndarray
    true: np.ndarray
    predicted: np.ndarray
    errors: np.ndarray

    @classmethod
    def from_block(cls, block: ErrorsOfRows) -> "RowNumbers":
        errors = np.asarray(block.errors.sum(axis=1)).ravel() if block.wrong is None else block.wrong
        rows = np.arange(block.rows.start, block.rows.stop)
        found = [rows, hash_rows(block.true), hash_rows(predicted_labels(block)), errors]
        if block.n_observed is not None:
            found = [part[block.n_observed > 0] for part in found]
        return cls(*found)

    @classmethod
    def stack(cls, parts: Sequence["RowNumbers"]) -> "RowNumbers":
        """Those of all rows, from those of consecutive blocks."""
        fields = ("rows", "true", "predicted", "errors")
        return cls(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))

    def report(self, rows: Rows, labels: Names, n_most: int) -> LabelSetReport:
        """The most frequent mistakes of whole label sets, and the most frequent ones that are never predicted."""
        wrong = self.true != self.predicted
        of_pairs = _Groups.of(mix_bits(self.true[wrong]) + self.predicted[wrong])
        true, predicted = _Groups.of(self.true), _Groups.of(self.predicted)
        never = true.without(predicted)
        places = [self.rows[wrong][of_pairs.most(n_most).first], self.rows[never.most(n_most).first]]
        sets = [read_labels(rows, some, labels) for some in places]
        counts = [groups.most(n_most).counts.tolist() for groups in (of_pairs, never)]
        return LabelSetReport(
            tuple(LabelSetMistake(*of_row, count) for of_row, count in zip(sets[0], counts[0], strict=True)),
            tuple(NeverPredicted(of_row[0], count) for of_row, count in zip(sets[1], counts[1], strict=True)),
            true.first.size,
            predicted.first.size,
            never.first.size,
        )

    def most_costly(self, losses: np.ndarray, n_most: int) -> np.ndarray:
        """The rows with the largest losses above 0; of equal ones, those with more errors, then the earlier."""
        losses = losses[self.rows]
        places = np.flatnonzero(losses > 0)
        if 0 < n_most < places.size:  # leave out what cannot be among them: sorting all rows takes longer
            least = _largest(losses[places], n_most)[-1]
            above, equal = places[losses[places] > least], places[losses[places] == least]
            errors = self.errors[equal]
            places = np.concatenate([above, equal[errors >= _largest(errors, n_most - above.size)[-1]]])
        order = np.lexsort((-self.errors[places], -losses[places]))
        return self.rows[places[order][:n_most]]


def _largest(numbers: np.ndarray, n_most: int) -> np.ndarray:
    """So many of the largest numbers, from the largest down."""
    return -np.sort(np.partition(-numbers, n_most - 1)[:n_most])  # losses and counts: minus them is exact


class _Groups(NamedTuple):
    """Equal numbers: which they are, upwards, where each comes first, and how often it comes."""

    numbers: np.ndarray
    first: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray) -> "_Groups":
        """Sorted, which is quicker than a table of numbers of 64 bits (`np.unique`)."""
        order = np.argsort(numbers)
        ordered = numbers[order]
        is_new = np.ones(numbers.size, dtype=bool)
        is_new[1:] = ordered[1:] != ordered[:-1]
        starts = np.flatnonzero(is_new)
        first = np.minimum.reduceat(order, starts) if starts.size else starts
        return cls(ordered[starts], first, np.diff(starts, append=numbers.size))

    def without(self, other: "_Groups") -> "_Groups":
        """Those groups whose numbers the other one does not have."""
        places = np.minimum(np.searchsorted(other.numbers, self.numbers), other.numbers.size - 1)
        return self._only(other.numbers[places] != self.numbers)

    def most(self, n_most: int) -> "_Groups":
        """The most frequent ones; of equally frequent ones, the earlier."""
        if 0 < n_most < self.counts.size:
            return self._only(self.counts >= _largest(self.counts, n_most)[-1])._in_order(n_most)
        return self._in_order(n_most)

    def _in_order(self, n_most: int) -> "_Groups":
        return self._only(np.lexsort((self.first, -self.counts))[:n_most])

    def _only(self, some: np.ndarray) -> "_Groups":
        return _Groups(*(part[some] for part in self))


def predicted_labels(block: ErrorsOfRows) -> Any:
    """The predicted label sets: those labels whose scores are at least 0.5."""
    return block.pred if block.wrong is not None else block.pred >= HARD_FROM


def read_labels(rows: Rows, places: np.ndarray, labels: Names) -> list[tuple[Names, Names]]:
    """The names of the true and of the predicted labels of a few rows."""
    found = []
    for place in places.tolist():
        (block,) = error_blocks(rows.part(slice(place, place + 1)))
        found.append((_members(block.true, labels), _members(predicted_labels(block), labels)))
    return found


def _members(row: Any, labels: Names) -> Names:
    dense = row.toarray() if sp.issparse(row) else row
    return tuple(labels[label] for label in np.flatnonzero(dense[0]).tolist())
