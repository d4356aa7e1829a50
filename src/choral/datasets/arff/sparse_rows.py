"""Sparse rows, ``{3 red, 17 1}``, as entries of a matrix of numbers."""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from choral.datasets.arff.columns import Columns
from choral.datasets.arff.quoting import shown, split_cells

ENTRY = re.compile(r"\s*([0-9]{1,18})\s+(\S.*)")
WEIGHT = re.compile(r".*\}\s*,\s*(\{[^{}]*\})")


class Entries(NamedTuple):
    """What sparse rows hold.

    Attributes
    ----------
    starts : ndarray of shape (n_rows + 1,)
        Where the entries of each row begin, and where those of the last one end.
    columns : ndarray of shape (n_entries,)
        The attribute of each entry, ascending in each row.
    values : ndarray of shape (n_entries,)
        Its number.
    """

    starts: np.ndarray
    columns: np.ndarray
    values: np.ndarray


def sparse_entries(rows: Sequence[str], lines: Sequence[int], columns: Columns) -> Entries:
    """The entries of all rows; the arguments are those of ``dense_values``."""
    cells = [_cells(row, line) for row, line in zip(rows, lines, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in cells])])
    return _in_order(_entries(list(chain.from_iterable(cells)), starts, lines, columns), lines, columns.names)


def _cells(row: str, line: int) -> list[str]:
    """What stands between the commas between the braces."""
    body = row[1:-1].strip()
    if not (row[:1] == "{" and row[-1:] == "}" and len(row) > 1):
        raise ValueError(f"line {line}: expected a sparse row {{...}} like the first one; got {shown(row)}.")
    if "}" in body and (weight := WEIGHT.fullmatch(row)):
        raise ValueError(f"line {line}: expected no weight, weights of rows are not read; got {shown(weight[1])}.")
    try:
        return split_cells(body) if body else []
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None


def _entries(entries: list[str], starts: np.ndarray, lines: Sequence[int], columns: Columns) -> Entries:
    """Entries as numbers: each different one is looked at once."""
    try:
        known = {entry: _entry(entry, columns) for entry in set(entries)}
    except ValueError:
        for place, entry in enumerate(entries):  # the first one, row by row, that is wrong
            try:
                _entry(entry, columns)
            except ValueError as error:
                row = int(np.searchsorted(starts, place, side="right")) - 1
                raise ValueError(f"line {lines[row]}{error}") from None
        raise
    found = np.array([known[entry] for entry in entries]).reshape(-1, 2)
    return Entries(starts, found[:, 0].astype(np.intp), found[:, 1])


def _entry(entry: str, columns: Columns) -> tuple[int, float]:
    """Column and number; an error goes on where the line number ends."""
    match = ENTRY.fullmatch(entry)
    if match is None:
        raise ValueError(f": expected an index and a value; got {shown(entry.strip())}.")
    index, n_attributes = int(match[1]), len(columns.names)
    if index >= n_attributes:
        raise ValueError(f": expected an index below {n_attributes}, counted from 0; got {index}.")
    try:
        return index, columns.domain(index).number(match[2])
    except ValueError as error:
        raise ValueError(f", attribute {shown(columns.names[index])}: {error}") from None


def _in_order(entries: Entries, lines: Sequence[int], names: list[str]) -> Entries:
    """The same entries with ascending columns in each row."""
    rows = np.repeat(np.arange(entries.starts.size - 1), np.diff(entries.starts))
    order = np.lexsort((entries.columns, rows))
    columns = entries.columns[order]
    twice = np.flatnonzero((np.diff(columns) == 0) & (np.diff(rows) == 0))
    if twice.size:
        row, index = rows[twice[0]], columns[twice[0]]
        raise ValueError(f"line {lines[row]}: expected each index once; {index} ({shown(names[index])}) comes twice.")
    return Entries(entries.starts, columns, entries.values[order])


def split_sparse(entries: Entries, columns: Columns) -> tuple[sparse.csr_array, np.ndarray]:
    """Features, still sparse, and labels."""
    starts, attributes, values = entries
    n_rows = starts.size - 1
    places = _places(columns.features, columns).take(attributes)
    is_feature = places >= 0
    others = np.flatnonzero(~is_feature)
    row_starts = starts - np.searchsorted(others, starts)
    parts = values[is_feature], places[is_feature], row_starts.astype(np.int32)  # scikit-learn asks for int32
    X = sparse.csr_array(parts, shape=(n_rows, columns.features.size))
    X.eliminate_zeros()  # a file may write them out
    return X, _labels(others, entries, columns)


def _labels(others: np.ndarray, entries: Entries, columns: Columns) -> np.ndarray:
    """Labels from the entries that are no features."""
    starts, attributes, values = entries
    omitted = [columns.domain(index).omitted for index in columns.labels]
    Y = np.tile(np.array(omitted, dtype=np.uint8), (starts.size - 1, 1))
    places = _places(columns.labels, columns)[attributes[others]]
    here = others[places >= 0]
    Y[np.searchsorted(starts, here, side="right") - 1, places[places >= 0]] = values[here]
    return Y


def _places(chosen: np.ndarray, columns: Columns) -> np.ndarray:
    """The place of each attribute among those chosen, or -1."""
    places = np.full(columns.kind_of.size, -1, dtype=np.int32)
    places[chosen] = np.arange(chosen.size)
    return places
