"""Dense rows, ``5.1, red, 0, 1``, as one matrix of numbers."""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from choral.datasets.arff.columns import Columns
from choral.datasets.arff.domains import Domain
from choral.datasets.arff.quoting import has_quotes, shown, split_cells

BLOCK_CELLS = 2**20  # held as Python strings at a time


def dense_values(rows: Sequence[str], lines: Sequence[int], columns: Columns) -> np.ndarray:
    """The numbers of all rows.

    Parameters
    ----------
    rows : sequence of str
        The rows as they stand in the file, without line ends.
    lines : sequence of int
        Where each row stands.
    columns : Columns
        What the attributes are.

    Returns
    -------
    values : ndarray of shape (n_rows, n_attributes)
    """
    width = len(columns.names)
    values = np.empty((len(rows), width))
    # Neighbours with the same domain are looked at together.
    ends = (np.flatnonzero(np.diff(columns.kind_of)) + 1).tolist()
    runs = [slice(start, end) for start, end in pairwise([0, *ends, width])]
    step = max(1, BLOCK_CELLS // width)
    for start in range(0, len(rows), step):
        block = slice(start, start + step)
        cells = _cells(rows[block], lines[block], width)
        try:
            for run in runs:
                values[block, run] = _numbers(cells, run, width, columns.domain(run.start))
        except ValueError:
            _refuse_the_first(cells, lines[block], columns)
            raise
    return values


def _numbers(cells: list[str], run: slice, width: int, domain: Domain) -> np.ndarray:
    """The numbers of some columns, from the cells of all of them."""
    starts = range(run.start, len(cells), width)
    wanted = chain.from_iterable([cells[start : start + run.stop - run.start] for start in starts])
    return domain.column(list(wanted)).reshape(len(starts), -1)


def _cells(rows: Sequence[str], lines: Sequence[int], width: int) -> list[str]:
    """The cells of all rows, one row after the other."""
    text = ",".join(rows)
    if not has_quotes(text) and "{" not in text and all(row.count(",") == width - 1 for row in rows):
        return text.split(",")
    return list(chain.from_iterable([_cells_of_row(row, line, width) for row, line in zip(rows, lines, strict=True)]))


def _cells_of_row(row: str, line: int, width: int) -> list[str]:
    if row.startswith("{"):
        raise ValueError(f"line {line}: expected a dense row like the first one; got {shown(row)}.")
    try:
        cells = split_cells(row)
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None
    if len(cells) == width + 1 and cells[-1].strip().startswith("{"):
        weight = shown(cells[-1].strip())
        raise ValueError(f"line {line}: expected no weight, weights of rows are not read; got {weight}.")
    if len(cells) != width:
        raise ValueError(f"line {line}: expected {width} values; got {len(cells)}.")
    return cells


def _refuse_the_first(cells: list[str], lines: Sequence[int], columns: Columns) -> None:
    """Tell the place of the first cell, row by row, that is wrong."""
    for place, cell in enumerate(cells):
        row, index = divmod(place, len(columns.names))
        try:
            columns.domain(index).number(cell)
        except ValueError as error:
            raise ValueError(f"line {lines[row]}, attribute {shown(columns.names[index])}: {error}") from None
