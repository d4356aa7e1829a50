"""Which rows cost most, which whole label sets are mistaken for which, and which are never predicted."""

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

    Parameters
    ----------
    id : Any
        Its name: an entry of ``ids`` or of the index of a frame, else its number.
    row : int
        Its number, from 0.
    loss : float
        Its loss.
    true, predicted : tuple of str
        The labels that are true, and those with a score of at least 0.5. Labels that are not known are in neither.

    See Also
    --------
    LabelSetReport : What happened to whole label sets.
    Disagreement : A row that two models judge differently.
    choral.explain : Which labels, pairs and rows the loss comes from.

    Examples
    --------
    >>> from choral import explain
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> found = explain(y_true, y_pred, labels=["sea", "sky", "sun"])
    >>> found.costly_rows[0]
    CostlyRow(id=0, row=0, loss=1.0, true=('sea', 'sky'), predicted=('sea', 'sun'))
    """

    id: Any
    row: int
    loss: float
    true: Names
    predicted: Names


class LabelSetMistake(NamedTuple):
    """A label set that was predicted as another one, and in how many rows.

    Parameters
    ----------
    true, predicted : tuple of str
        The labels that are true, and those that were predicted.
    n_rows : int
        In how many rows.

    See Also
    --------
    LabelSetReport : What happened to whole label sets.

    Examples
    --------
    >>> from choral import explain
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> found = explain(y_true, y_pred, labels=["sea", "sky", "sun"])
    >>> found.label_sets.mistakes[0]
    LabelSetMistake(true=('sea', 'sky'), predicted=('sea', 'sun'), n_rows=1)
    """

    true: Names
    predicted: Names
    n_rows: int


class NeverPredicted(NamedTuple):
    """A label set that is never predicted, and in how many rows it is true.

    Parameters
    ----------
    labels : tuple of str
        The label set.
    n_rows : int
        In how many rows it is true.

    See Also
    --------
    LabelSetReport : What happened to whole label sets.

    Examples
    --------
    >>> from choral import explain
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> found = explain(y_true, y_pred, labels=["sea", "sky", "sun"])
    >>> found.label_sets.never_predicted
    (NeverPredicted(labels=('sky', 'sun'), n_rows=1),)
    """

    labels: Names
    n_rows: int


class LabelSetReport(NamedTuple):
    """What happened to whole label sets.

    Parameters
    ----------
    mistakes : tuple of LabelSetMistake
        The most frequent ones.
    never_predicted : tuple of NeverPredicted
        The most frequent ones.
    n_true, n_predicted, n_never_predicted : int
        How many different label sets are true, are predicted, and are true but never predicted.

    See Also
    --------
    CostlyRow : A row with a large loss.
    choral.explain : Which labels, pairs and rows the loss comes from.

    Examples
    --------
    >>> from choral import explain
    >>> y_true, y_pred = [[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]]
    >>> found = explain(y_true, y_pred, labels=["sea", "sky", "sun"])
    >>> report = found.label_sets
    >>> report.n_true, report.n_predicted, report.n_never_predicted
    (3, 3, 1)
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
    def from_rows(cls, rows: Rows) -> "RowNumbers":
        """Those of rows in memory."""
        parts = [_numbers_of_block(block) for block in error_blocks(rows)]
        return cls(*(np.concatenate(some) for some in zip(*parts, strict=True)))

    def report(self, rows: Rows, labels: Names, n_most: int) -> LabelSetReport:
        """The most frequent mistakes of whole label sets, and the most frequent ones that are never predicted."""
        wrong = self.true != self.predicted
        of_pairs = _Groups.of(mix_bits(self.true[wrong]) + self.predicted[wrong]).most(n_most)
        true, predicted = _Groups.of(self.true), np.sort(self.predicted)
        never = true.without(predicted)
        frequent = never.most(n_most)
        mistaken = read_labels(rows, self.rows[wrong][of_pairs.first], labels)
        missed = read_labels(rows, self.rows[frequent.first], labels)
        mistake_counts, missed_counts = of_pairs.counts.tolist(), frequent.counts.tolist()
        return LabelSetReport(
            tuple(LabelSetMistake(*sets, count) for sets, count in zip(mistaken, mistake_counts, strict=True)),
            tuple(NeverPredicted(true, count) for (true, _), count in zip(missed, missed_counts, strict=True)),
            true.first.size,
            1 + int(np.count_nonzero(predicted[1:] != predicted[:-1])),
            never.first.size,
        )

    def most_costly(self, losses: np.ndarray, n_most: int) -> np.ndarray:
        """The rows with the largest losses above 0; of equal ones, those with more errors, then the earlier."""
        places = np.flatnonzero(losses[self.rows] > 0)
        rows = self.rows[places]
        return rows[_largest(n_most, losses[rows], self.errors[places])]


def _numbers_of_block(block: ErrorsOfRows) -> list[np.ndarray]:
    errors = np.asarray(block.errors.sum(axis=1)).ravel() if block.wrong is None else block.wrong
    rows = np.arange(block.rows.start, block.rows.stop)
    found = [rows, hash_rows(block.true), hash_rows(predicted_labels(block)), errors]
    return found if block.n_observed is None else [part[block.n_observed > 0] for part in found]


def _largest(n_most: int, *keys: np.ndarray) -> np.ndarray:
    """Places of the largest by the first key, of equal ones by the next, then the earlier ones.

    What cannot be among them is left out first: sorting all takes longer.
    """
    places, found, n_left = np.arange(keys[0].size), [], n_most
    for key in keys:
        if not 0 < n_left < places.size:
            break
        values = key[places]
        least = np.partition(values, values.size - n_left)[values.size - n_left]
        found.append(places[values > least])
        n_left -= found[-1].size
        places = places[values == least]
    places = np.concatenate([*found, places[:n_left]])
    return places[np.lexsort((places, *(-key[places] for key in reversed(keys))))]


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

    def without(self, others: np.ndarray) -> "_Groups":
        """Those groups whose numbers are not among these, which are sorted."""
        places = np.minimum(np.searchsorted(others, self.numbers), others.size - 1)
        return self._only(others[places] != self.numbers)

    def most(self, n_most: int) -> "_Groups":
        """The most frequent ones; of equally frequent ones, the earlier."""
        return self._only(_largest(n_most, self.counts, -self.first))

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
