"""LabelTable: a label matrix with names for its rows and columns; checks of its values, and how two are aligned.

Also how a file is to be read, and which of its columns is what: ids, weights, a label, or of no interest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse

from choral._memory import FREE_BYTES, check_memory
from choral._text import counted, did_you_mean, quoted, some_of
from choral._validation import LARGEST_WEIGHT, check_any_weight

NUMBERS = "buif"  # the kinds of NumPy types that labels, scores and weights may have
BLOCK_CELLS = 2**20  # compared at a time: the flags of a whole table would take as much memory as its labels
# what pandas calls the column of its index if that has no name: in a CSV file, in one that was read and written again
UNNAMED = ("", "Unnamed: 0")
PARQUET_INDEX = "__index_level_0__"  # and in a Parquet file, as the last column
LABEL_CELLS = {"0", "1", "0.0", "1.0", "true", "false", "yes", "no", ""}

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
    ids_unnamed : bool
        Whether the ids come from a column without a name, pandas' index.
    tag_sep : str, optional
        What lies between the tags of a cell, if the source holds lists of tags; empty if no cell has two tags.
    n_left_out : int
        How many columns are not labels, where the reader was told which ones are.
    notes : tuple of str
        What was guessed, a sentence each.

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
    ids_unnamed: bool = False
    tag_sep: str | None = None
    n_left_out: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = self.values.shape
        if len(shape) != 2 or not shape[0] or not (shape[1] or self.tag_sep is not None):  # no row may have a tag
            raise ValueError(f"{self.source} must hold rows x labels, at least one of each; got shape {shape}.")
        check_distinct(self.source, "labels", self.labels or ())
        if self.ids_unnamed and self.ids is not None:
            self._check_unnamed_ids(self.ids)
        check_distinct(self.source, "ids", self.ids or (), " Each row needs an id of its own.")

    def _check_unnamed_ids(self, ids: tuple[str, ...]) -> None:
        """Refuse a first column without a name that may well hold labels, or that names no rows."""
        if self.counts_rows:
            return
        if {cell.lower() for cell in ids} <= LABEL_CELLS:
            reason = "has no name and holds nothing but 0 and 1: it may be labels or row ids"
            raise ValueError(f"{self.source}: the first column {reason}. Name it in the header ('id' for row ids).")
        if len(set(ids)) < len(ids):
            name, count = Counter(ids).most_common(1)[0]
            reason = f"has no name, so it is taken for row ids; but {quoted(name)} occurs {count} times"
            raise ValueError(f"{self.source}: the first column {reason}. Name it in the header, or leave it out.")

    @property
    def counts_rows(self) -> bool:
        """Whether the ids are 0, 1, 2 and so on, as pandas numbers rows."""
        return self.ids is not None and all(cell == str(row) for row, cell in enumerate(self.ids))

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


def check_distinct(source: str, what: str, names: Sequence[str], hint: str = "") -> None:
    """Refuse a name that occurs twice; the hint is a sentence that follows the error, or nothing."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        raise ValueError(f"{source}: {what} must be distinct; {quoted(name)} occurs {count} times.{hint}")


def align(truth: LabelTable, prediction: LabelTable) -> LabelTable:
    """Bring the rows and labels of a prediction into the order of the truth.

    Labels are matched by name if both sides have names, else by position. Rows are matched by id, or by
    position if neither side has ids. A first column without a name that counts the rows 0, 1, 2 and so on may be
    missing on one side.

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
        if not (with_ids.ids_unnamed and with_ids.counts_rows):
            hint = "Give ids to both files, or to none if their rows are in the same order"
            raise ValueError(f"Rows cannot be matched: {with_ids.source} has ids, {without.source} has none. {hint}.")
    if truth.ids is not None and prediction.ids is not None:
        unnamed = truth.ids_unnamed or prediction.ids_unnamed
        hint = " If the rows are in the same order, leave out the unnamed ids of both." if unnamed else ""
        rows = match_names("ids", truth.ids, prediction.ids, truth.source, prediction.source, hint)
        values = values if rows is None else values[rows]
        weights = weights if rows is None or weights is None else weights[rows]
    if truth.labels is not None and prediction.labels is not None:
        columns = match_names("labels", truth.labels, prediction.labels, truth.source, prediction.source)
        values = values if columns is None else values[:, columns]
    for axis, what in enumerate(("row", "label")):
        expected, got = truth.values.shape[axis], values.shape[axis]
        if expected != got:
            raise ValueError(f"{prediction.source} has {counted(got, what)}, {truth.source} has {expected}.")
    return replace(
        prediction,
        values=values,
        labels=truth.labels,
        ids=truth.ids,
        ids_unnamed=truth.ids_unnamed,
        weights=weights,
        first_line=None,
    )


def match_names(
    what: str, wanted: tuple[str, ...], given: tuple[str, ...], truth: str, prediction: str, hint: str = ""
) -> list[int] | None:
    """Where each wanted name is among the given ones; None where all are in place already.

    The hint is a sentence about what to do, or nothing; it follows the error.
    """
    if wanted == given:
        return None
    place = {name: index for index, name in enumerate(given)}
    missing = [name for name in wanted if name not in place]
    unknown = sorted(place.keys() - set(wanted), key=place.__getitem__)
    if missing or unknown:
        counts = [f"{len(n)} {how} ({some_of(n)})" for n, how in ((missing, "missing"), (unknown, "unknown")) if n]
        raise ValueError(f"{prediction} does not have the {what} of {truth}: {', '.join(counts)}.{hint}")
    return [place[name] for name in wanted]


def check_truth(table: LabelTable, *, may_be_missing: bool = False) -> None:
    """Refuse what is neither 0 nor 1, nor nan where labels may be missing.

    Examples
    --------
    >>> check_truth(LabelTable(np.array([[0, 1], [1, 7]]), labels=("sea", "sky"), source="true.csv", first_line=2))
    Traceback (most recent call last):
    ValueError: true.csv, line 3, column 'sky': expected 0 or 1; got 7.
    """
    missing = "; a missing label is an empty cell or nan" if may_be_missing else ""
    remedies = {-1: f"Write labels -1 and +1 as 0 and 1{missing}."}
    if may_be_missing:
        # nan alone differs from itself: faster than isnan, for labels that are integers
        _refuse_where(lambda values: (values != 0) & (values != 1) & (values == values), table, "0 or 1", remedies.get)
    else:
        _refuse_where(lambda values: (values != 0) & (values != 1), table, "0 or 1", remedies.get)


def check_scores(table: LabelTable, *, of_any_range: bool = False, remedy: str | None = None) -> None:
    """Refuse what is not in [0, 1]; of scores of any range, only what is not a number.

    The remedy is a sentence about numbers outside [0, 1]; it follows the error.

    Examples
    --------
    >>> check_scores(LabelTable(np.array([[0.5, np.nan]]), source="scores.npy"))
    Traceback (most recent call last):
    ValueError: scores.npy, row 1 (counted from 1), column 2: expected a number in [0, 1]; got nan.
    """
    if of_any_range:
        _refuse_where(np.isnan, table, "a number")
    else:
        outside = "a number in [0, 1]"
        _refuse_where(
            lambda values: ~((values >= 0) & (values <= 1)), table, outside, lambda got: None if got != got else remedy
        )


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
    if not may_all_be_zero:
        check_any_weight(f"{table.source}, column {quoted(column)},", weights.max())


def _refuse_where(
    is_wrong: Callable[[np.ndarray], np.ndarray],
    table: LabelTable,
    expected: str,
    find_remedy: Callable[[Any], str | None] = lambda _: None,
) -> None:
    """Refuse the first value, row by row, that is wrong; a remedy for that value follows the error, if there is one."""
    for start, values in _blocks(table.values):
        wrong = is_wrong(values)
        if wrong.any():
            index = int(wrong.argmax())  # in the order of rows
            row, label = _row_and_label(table.values, start + index)
            column = f"column {label + 1}" if table.labels is None else f"column {quoted(table.labels[label])}"
            value = values.flat[index].item()
            got = f"got {value}"
            if row == 0 and table.first_line is not None and table.labels is None:
                got += " (if this line is a header, say header=True)"
            remedy = find_remedy(value)
            hint = _suggest_id(table, label) or ("" if remedy is None else f" {remedy}")
            raise ValueError(f"{table.describe_cell(row, column)}: expected {expected}; {got}.{hint}")


def _suggest_id(table: LabelTable, label: int) -> str:
    """A sentence about a column of whole numbers, all different, which may be the ids; nothing for other columns."""
    if table.labels is None or table.ids is not None or sparse.issparse(table.values):
        return ""
    column = np.asarray(table.values[:, label], dtype=float)
    if not (np.isfinite(column).all() and (column == np.floor(column)).all() and len(set(column.tolist())) > 2):
        return ""
    return suggest_id(table.labels[label]) if len(set(column.tolist())) == len(column) else ""


def suggest_id(column: str) -> str:
    """A sentence about a column that looks like one of ids."""
    return f" If this column names the rows, say id_column={quoted(column)}."


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
    >>> ReadOptions(max_bytes=1000).check_size("huge.npy", 8000, held=8000)
    Traceback (most recent call last):
    ValueError: huge.npy is too large: 8000 bytes to read, the limit is 1000.
    """

    id_column: str | None = None
    weight_column: str | None = None
    ignored_column: str | None = None
    header: bool | None = None
    sep: str | None = None
    tag_sep: str | None = None
    labels: int | tuple[str, ...] | None = None
    allow_missing: bool = False
    max_bytes: int | None = None
    progress: Callable[[int, int], None] | None = None

    def check_size(self, source: object, size: int, held: int, free: int = FREE_BYTES) -> None:
        """Refuse a file that would take too much memory, before it takes any; see `choral._memory.check_memory`."""
        if self.max_bytes is None:
            check_memory(source, size, held, free)
        elif size > self.max_bytes:
            raise ValueError(f"{source} is too large: {size} bytes to read, the limit is {self.max_bytes}.")


@dataclass(frozen=True)
class ColumnRoles:
    """Which column of a file is what; names are None where there is no header.

    Examples
    --------
    >>> roles = ColumnRoles.from_names("true.csv", ["sea", "id", "sky"], ReadOptions())
    >>> roles.id_index, roles.labels
    (1, ('sea', 'sky'))
    >>> roles = ColumnRoles.from_names("true.csv", ["", "sea", "sky"], ReadOptions())
    >>> roles.id_index, roles.labels, roles.make_notes("true.csv")
    (0, ('sea', 'sky'), ('the unnamed first column of true.csv is taken for row ids.',))
    """

    names: tuple[str, ...] | None
    width: int
    id_index: int | None = None
    weight_index: int | None = None
    left_out: frozenset[int] = frozenset()
    unnamed_index: int | None = None
    n_features: int = 0

    @classmethod
    def from_names(cls, source: object, names: Iterable[str], options: ReadOptions) -> Self:
        """Read a header."""
        names = tuple(name.strip() for name in names)
        id_column = "id" if options.id_column is None else options.id_column
        index = 0 if names[0] in UNNAMED else names.index(PARQUET_INDEX) if PARQUET_INDEX in names else None
        index = None if index is None or names[index] == id_column else index
        if "" in names[1:]:
            number = names.index("", 1) + 1
            raise ValueError(f"{source}: column {number} of the header has no name; give it one, or delete the column.")
        check_distinct(str(source), "column names", names)
        if options.id_column is not None and id_column not in names:
            raise ValueError(f"{source} has no column {id_column!r} for the ids; it has {some_of(names)}.")
        weights = options.weight_column
        if weights is not None and weights not in names:
            raise ValueError(f"{source} has no column {weights!r} for the weights; it has {some_of(names)}.")
        if weights is not None and weights == id_column:
            raise ValueError(f"{source}: {weights!r} is the id column; the weights need a column of their own.")
        special = id_column, weights, options.ignored_column
        id_index, weight_index, ignored = (names.index(name) if name in names else None for name in special)
        left_out = set() if ignored is None else {ignored}
        if index is not None and id_index is None:
            id_index = index
        elif index is not None:
            left_out.add(index)
        features: set[int] = set()
        if options.labels is not None:
            others = [i for i in range(len(names)) if i not in left_out and i not in (id_index, weight_index)]
            chosen = choose_columns(source, [names[i] for i in others], options.labels)
            features = set(others) - {others[i] for i in chosen}
        return cls(
            names,
            len(names),
            id_index,
            weight_index,
            frozenset(left_out | features),
            index,
            len(features),
        )

    @property
    def label_indices(self) -> list[int]:
        """The columns that are neither ids nor weights nor left out."""
        return [i for i in self.number_indices if i != self.weight_index]

    @property
    def number_indices(self) -> list[int]:
        """The columns to read as numbers: labels and weights."""
        return [i for i in range(self.width) if i != self.id_index and i not in self.left_out]

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the labels."""
        return None if self.names is None else tuple(self.names[i] for i in self.label_indices)

    @property
    def ids_unnamed(self) -> bool:
        """Whether the ids are a column without a name."""
        return self.unnamed_index is not None and self.id_index == self.unnamed_index

    def make_notes(self, source: object) -> tuple[str, ...]:
        """What was guessed of the columns."""
        if self.unnamed_index is None:
            return ()
        what = "first column" if self.unnamed_index == 0 else "index"
        fate = "is taken for row ids" if self.ids_unnamed else "is left out, since another column names the rows"
        return (f"the unnamed {what} of {source} {fate}.",)

    def describe(self, index: int) -> str:
        """One column in words, counted from 1 where it has no name."""
        return f"column {index + 1}" if self.names is None else f"column {quoted(self.names[index])}"


def choose_columns(source: object, names: Sequence[str], wanted: int | Sequence[str]) -> list[int]:
    """The columns that are labels: the first so many, the last for a negative number, or by names and patterns.

    Examples
    --------
    >>> names = ["light", "is_sea", "is_sky"]
    >>> choose_columns("a.csv", names, -2), choose_columns("a.csv", names, ["is_*"])
    ([1, 2], [1, 2])
    >>> choose_columns("a.csv", names, ["is_see"])
    Traceback (most recent call last):
    ValueError: a.csv has no column 'is_see'; did you mean 'is_sea'?
    """
    if isinstance(wanted, int):
        if not 0 < abs(wanted) <= len(names):
            raise ValueError(
                f"{source} has {counted(len(names), 'column')} besides ids and weights; "
                f"labels must be a number up to that, or below 0 for the last ones; got {wanted}."
            )
        return list(range(len(names)))[:wanted] if wanted > 0 else list(range(len(names)))[wanted:]
    chosen: set[int] = set()
    for pattern in wanted:
        found = [i for i, name in enumerate(names) if name == pattern] or [
            i for i, name in enumerate(names) if fnmatchcase(name, pattern)
        ]
        if not found:
            raise ValueError(f"{source} has no column {quoted(pattern)}{did_you_mean(pattern, names)}")
        chosen.update(found)
    return sorted(chosen)
