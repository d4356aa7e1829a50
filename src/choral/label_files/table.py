"""LabelTable: a label matrix with names for its rows and columns; checks of its values, and how two are aligned.

Also how a file is to be read, and which of its columns is what: ids, weights, a label, or of no interest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from choral._text import counted, quoted, some_of
from choral._validation import LARGEST_WEIGHT

MAX_BYTES = 8 * 2**30
NUMBERS = "buif"  # the kinds of NumPy types that labels, scores and weights may have
BLOCK_CELLS = 2**20  # compared at a time: the flags of a whole table would take as much memory as its labels

Matrix: TypeAlias = np.ndarray | sparse.csr_array


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class LabelTable:
    """A label matrix with what a file says about its rows and columns.

    Attributes
    ----------
    values : ndarray or CSR array of shape (n_samples, n_labels)
        Labels or scores; `check_truth` and `check_scores` look at their range.
    labels : tuple of str, optional
        One distinct name per column.
    ids : tuple of str, optional
        One distinct name per row.
    weights : ndarray of shape (n_samples,), optional
        The weight of each row.
    source : str
        Where the table comes from, for messages.
    first_line : int, optional
        The line of the first row, where the source is text with a line for each row.

    Examples
    --------
    >>> LabelTable(np.eye(2), labels=("red", "red"), source="colours.csv")
    Traceback (most recent call last):
    ValueError: colours.csv: labels must be distinct; 'red' occurs 2 times.
    """

    values: Matrix
    labels: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    source: str = "table"
    first_line: int | None = None

    def __post_init__(self) -> None:
        shape = self.values.shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"{self.source} must hold rows x labels, at least one of each; got shape {shape}.")
        check_distinct(self.source, "labels", self.labels or ())
        check_distinct(self.source, "ids", self.ids or ())

    def describe_cell(self, row: int, column: str) -> str:
        """A cell in words, counted from 1.

        Examples
        --------
        >>> LabelTable(np.eye(2), source="a.csv", first_line=2).describe_cell(0, "column 'sea'")
        "a.csv, line 2, column 'sea'"
        >>> LabelTable(np.eye(2), source="a.npy").describe_cell(0, "column 2")
        'a.npy, row 1 (counted from 1), column 2'
        """
        where = f"row {row + 1} (counted from 1)" if self.first_line is None else f"line {self.first_line + row}"
        return f"{self.source}, {where}, {column}"


def check_distinct(source: str, what: str, names: Sequence[str]) -> None:
    """Refuse a name that occurs twice."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        raise ValueError(f"{source}: {what} must be distinct; {quoted(name)} occurs {count} times.")


def align(truth: LabelTable, prediction: LabelTable) -> LabelTable:
    """Bring the rows and labels of a prediction into the order of the truth.

    Labels are matched by name if both sides have names, else by position. Rows are matched by id, or by
    position if neither side has ids.

    Examples
    --------
    >>> truth = LabelTable(np.array([[0, 1]]), labels=("sea", "sky"), source="true.csv")
    >>> align(truth, LabelTable(np.array([[7, 8]]), labels=("sky", "sea"))).values
    array([[8, 7]])
    >>> align(truth, LabelTable(np.array([[7, 8]]), labels=("sky", "car"), source="pred.csv"))
    Traceback (most recent call last):
    ValueError: pred.csv does not have the labels of true.csv: 1 missing ('sea'), 1 unknown ('car').
    """
    values, weights = prediction.values, prediction.weights
    if (truth.ids is None) != (prediction.ids is None):
        with_ids, without = (truth, prediction) if truth.ids else (prediction, truth)
        raise ValueError(f"Rows cannot be matched: {with_ids.source} has ids, {without.source} has none.")
    if truth.ids is not None and prediction.ids is not None:
        rows = match_names("ids", truth.ids, prediction.ids, truth.source, prediction.source)
        values = values if rows is None else values[rows]
        weights = weights if rows is None or weights is None else weights[rows]
    if truth.labels is not None and prediction.labels is not None:
        columns = match_names("labels", truth.labels, prediction.labels, truth.source, prediction.source)
        values = values if columns is None else values[:, columns]
    for axis, what in enumerate(("row", "label")):
        expected, got = truth.values.shape[axis], values.shape[axis]
        if expected != got:
            raise ValueError(f"{prediction.source} has {counted(got, what)}, {truth.source} has {expected}.")
    return replace(prediction, values=values, labels=truth.labels, ids=truth.ids, weights=weights, first_line=None)


def match_names(
    what: str, wanted: tuple[str, ...], given: tuple[str, ...], truth: str, prediction: str
) -> list[int] | None:
    """Where each wanted name is among the given ones; None where all are in place already."""
    if wanted == given:
        return None
    place = {name: index for index, name in enumerate(given)}
    missing = [name for name in wanted if name not in place]
    unknown = sorted(place.keys() - set(wanted), key=place.__getitem__)
    if missing or unknown:
        counts = [f"{len(n)} {how} ({some_of(n)})" for n, how in ((missing, "missing"), (unknown, "unknown")) if n]
        raise ValueError(f"{prediction} does not have the {what} of {truth}: {', '.join(counts)}.")
    return [place[name] for name in wanted]


def check_truth(table: LabelTable, *, may_be_missing: bool = False) -> None:
    """Refuse what is neither 0 nor 1, nor nan where labels may be missing.

    Examples
    --------
    >>> check_truth(LabelTable(np.array([[0, 1], [1, 7]]), labels=("sea", "sky"), source="true.csv", first_line=2))
    Traceback (most recent call last):
    ValueError: true.csv, line 3, column 'sky': expected 0 or 1; got 7.
    """
    if may_be_missing:
        _refuse_where(lambda values: (values != 0) & (values != 1) & ~np.isnan(values), table, "0, 1 or nan")
    else:
        _refuse_where(lambda values: (values != 0) & (values != 1), table, "0 or 1")


def check_scores(table: LabelTable, *, of_any_range: bool = False) -> None:
    """Refuse what is not in [0, 1]; of scores of any range, only what is not a number.

    Examples
    --------
    >>> check_scores(LabelTable(np.array([[0.5, np.nan]]), source="scores.npy"))
    Traceback (most recent call last):
    ValueError: scores.npy, row 1 (counted from 1), column 2: expected a number in [0, 1]; got nan.
    """
    if of_any_range:
        _refuse_where(np.isnan, table, "a number")
    else:
        _refuse_where(lambda values: ~((values >= 0) & (values <= 1)), table, "a number in [0, 1]")


def check_row_weights(table: LabelTable, column: str, *, may_all_be_zero: bool = False) -> None:
    """Refuse weights that are negative, infinite or not numbers; also if all are zero, unless the table is a part.

    Examples
    --------
    >>> check_row_weights(LabelTable(np.eye(2), weights=np.array([1.0, -1.0]), source="true.csv", first_line=2), "w")
    Traceback (most recent call last):
    ValueError: true.csv, line 3, column 'w': expected a weight, 0 or more and at most 1e+300; got -1.0.
    """
    weights = table.weights
    if weights is None:
        return
    wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))  # written so that nan is refused
    if wrong.any():
        row = int(wrong.argmax())
        expected = f"expected a weight, 0 or more and at most {LARGEST_WEIGHT}"
        raise ValueError(
            f"{table.describe_cell(row, f'column {quoted(column)}')}: {expected}; got {weights[row].item()}."
        )
    if not may_all_be_zero and not weights.any():
        raise ValueError(f"{table.source}, column {quoted(column)}: all weights are 0; expected one above 0.")


def _refuse_where(is_wrong: Callable[[np.ndarray], np.ndarray], table: LabelTable, expected: str) -> None:
    """Refuse the first value, row by row, that is wrong."""
    for start, values in _blocks(table.values):
        wrong = is_wrong(values)
        if wrong.any():
            index = int(wrong.argmax())  # in the order of rows
            row, label = _row_and_label(table.values, start + index)
            column = f"column {label + 1}" if table.labels is None else f"column {quoted(table.labels[label])}"
            got = f"got {values.flat[index].item()}"
            if row == 0 and table.first_line is not None and table.labels is None:
                got += " (if this line is a header, say header=True)"
            raise ValueError(f"{table.describe_cell(row, column)}: expected {expected}; {got}.")


def _blocks(matrix: Any) -> Iterator[tuple[int, np.ndarray]]:
    """Some values at a time, and how many came before; an entry that a sparse matrix lacks is 0, never wrong."""
    rows = matrix.data.reshape(-1, 1) if sparse.issparse(matrix) else matrix
    step = max(1, BLOCK_CELLS // rows.shape[1])
    for start in range(0, len(rows), step):
        yield start * rows.shape[1], rows[start : start + step]


def _row_and_label(matrix: Any, index: int) -> tuple[int, int]:
    if not sparse.issparse(matrix):
        return divmod(index, matrix.shape[1])
    return int(np.searchsorted(matrix.indptr, index, side="right")) - 1, int(matrix.indices[index])


# How a file is read


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; `choral.label_files.read_labels` says what each option means.

    Examples
    --------
    >>> ReadOptions(max_bytes=1000).check_size("huge.npy", 8000)
    Traceback (most recent call last):
    ValueError: huge.npy is too large: 8000 bytes to read, the limit is 1000.
    """

    id_column: str = "id"
    weight_column: str | None = None
    ignored_column: str | None = None
    header: bool | None = None
    max_bytes: int = MAX_BYTES
    progress: Callable[[int, int], None] | None = None

    def check_size(self, source: object, size: int) -> None:
        """Refuse a file that would take too much memory, before it takes any."""
        if size > self.max_bytes:
            raise ValueError(f"{source} is too large: {size} bytes to read, the limit is {self.max_bytes}.")


@dataclass(frozen=True)
class ColumnRoles:
    """Which column of a file is what; names are None where there is no header.

    Examples
    --------
    >>> roles = ColumnRoles.from_names("true.csv", ["sea", "id", "sky"], ReadOptions())
    >>> roles.id_index, roles.labels
    (1, ('sea', 'sky'))
    """

    names: tuple[str, ...] | None
    width: int
    id_index: int | None = None
    weight_index: int | None = None
    ignored_index: int | None = None

    @classmethod
    def from_names(cls, source: object, names: Iterable[str], options: ReadOptions) -> Self:
        """Read a header."""
        names = tuple(name.strip() for name in names)
        if "" in names:
            hint = f"a column of row ids must be called {options.id_column!r}"
            raise ValueError(f"{source}: column {names.index('') + 1} of the header has no name; {hint}.")
        check_distinct(str(source), "column names", names)
        weights = options.weight_column
        if weights is not None and weights not in names:
            raise ValueError(f"{source} has no column {weights!r} for the weights; it has {some_of(names)}.")
        if weights == options.id_column:
            raise ValueError(f"{source}: {weights!r} is the id column; the weights need a column of their own.")
        special = options.id_column, weights, options.ignored_column
        return cls(names, len(names), *(names.index(name) if name in names else None for name in special))

    @property
    def label_indices(self) -> list[int]:
        """The columns that are neither ids nor weights nor ignored."""
        return [i for i in self.number_indices if i != self.weight_index]

    @property
    def number_indices(self) -> list[int]:
        """The columns to read as numbers: labels and weights."""
        return [i for i in range(self.width) if i not in (self.id_index, self.ignored_index)]

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the labels."""
        return None if self.names is None else tuple(self.names[i] for i in self.label_indices)

    def describe(self, index: int) -> str:
        """One column in words, counted from 1 where it has no name."""
        return f"column {index + 1}" if self.names is None else f"column {quoted(self.names[index])}"
