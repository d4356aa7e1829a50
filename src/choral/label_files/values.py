"""Whether the values of a table are labels, scores or weights; what is refused is named by file, line and column."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from choral._validation import LARGEST_WEIGHT
from choral.label_files.table import LabelTable
from choral.label_files.wording import quoted

BLOCK_CELLS = 2**20  # compared at a time: the flags of a whole table would take as much memory as its labels


def check_truth(table: LabelTable) -> None:
    """Refuse what is neither 0 nor 1.

    Examples
    --------
    >>> check_truth(LabelTable(np.array([[0, 1], [1, 7]]), labels=("sea", "sky"), source="true.csv", first_line=2))
    Traceback (most recent call last):
    ValueError: true.csv, line 3, column 'sky': expected 0 or 1; got 7.
    """
    _refuse_where(lambda values: (values != 0) & (values != 1), table, "0 or 1")


def check_scores(table: LabelTable, *, of_any_range: bool = False) -> None:
    """Refuse what is not in [0, 1], or no number where scores of any range are welcome.

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


def check_weights(table: LabelTable, column: str) -> None:
    """Refuse weights that are negative, infinite, no numbers, or zero all of them.

    Examples
    --------
    >>> check_weights(LabelTable(np.eye(2), weights=np.array([1.0, -1.0]), source="true.csv", first_line=2), "w")
    Traceback (most recent call last):
    ValueError: true.csv, line 3, column 'w': expected a weight, 0 or more and at most 1e+300; got -1.0.
    """
    check_weight_values(table, column)
    if table.weights is not None and not table.weights.any():
        raise ValueError(f"{table.source}, column {quoted(column)}: all weights are 0; expected one above 0.")


def check_weight_values(table: LabelTable, column: str) -> None:
    """Refuse weights that are negative, infinite or no numbers; all of them may be zero, as in a part of a table."""
    weights = table.weights
    if weights is None:
        return
    wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    if wrong.any():
        row = int(wrong.argmax())
        expected = f"expected a weight, 0 or more and at most {LARGEST_WEIGHT}"
        raise ValueError(f"{table.place(row, f'column {quoted(column)}')}: {expected}; got {weights[row].item()}.")


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
                got += " (if this line is a header, say --header)"
            raise ValueError(f"{table.place(row, column)}: expected {expected}; {got}.")


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
