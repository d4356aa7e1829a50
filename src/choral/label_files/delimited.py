"""CSV and TSV: rows of text, read in blocks so that a long file is never held as text."""

import csv
import os
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from choral.label_files.columns import Columns
from choral.label_files.options import ReadOptions
from choral.label_files.table import LabelTable
from choral.label_files.wording import quoted

BLOCK_CELLS = 2**20  # held as Python strings at a time
WORDS = {"true": 1.0, "false": 0.0}

Record = tuple[int, list[str]]  # line number and cells


def read_delimited(path: Path, options: ReadOptions, *, delimiter: str) -> LabelTable:
    """Read a table of numbers, with or without a header, and report how many bytes are behind."""
    with open(path, "rb") as raw, TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        size = os.fstat(raw.fileno()).st_size

        def tell_progress() -> None:
            if options.progress is not None:
                options.progress(raw.tell(), size)

        records = _records(path, csv.reader(file, delimiter=delimiter, strict=True))
        columns, records = _columns(path, records, options)
        return _table(path, columns, records, tell_progress)


def _records(path: Path, reader: Any) -> Iterator[Record]:
    """Line number and cells of each row, all rows as wide as the first one."""
    width = blank = 0
    try:
        for cells in reader:
            if blank and cells:
                raise ValueError(f"{path}, line {blank}: the line is empty; only the last lines may be.")
            if not cells:
                blank = blank or reader.line_num
                continue
            width = width or len(cells)
            if len(cells) != width:
                raise ValueError(f"{path}, line {reader.line_num}: expected {width} columns; got {len(cells)}.")
            yield reader.line_num, cells
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not readable as a table: {error}.") from error


def _columns(path: Path, records: Iterator[Record], options: ReadOptions) -> tuple[Columns, Iterator[Record]]:
    """What the columns are, by a header if the first row is one, and the rows that hold numbers."""
    first = next(records, None)
    if first is None:
        raise ValueError(f"{path} is empty.")
    if _is_header(path, first[1]) if options.header is None else options.header:
        return Columns.from_names(path, first[1], options), records
    if options.weight_column is not None:
        raise ValueError(f"{path} has no header, so no column {options.weight_column!r} for the weights.")
    return Columns(None, len(first[1])), chain([first], records)


def _is_header(path: Path, cells: list[str]) -> bool:
    """Whether a first row holds names: not all of it are numbers, or they count the columns as pandas does."""
    if [cell.strip() for cell in cells] != [str(i) for i in range(len(cells))]:
        return any(_number(cell) is None for cell in cells)
    if len(cells) > 2:
        return True  # no row of labels has a 2
    line = ",".join(cells)
    raise ValueError(f"The first line of {path}, {line}, may be a header or labels; say --header or --no-header.")


def _table(path: Path, columns: Columns, records: Iterator[Record], tell_progress: Callable[[], None]) -> LabelTable:
    ids, values, weights = [], [], []
    first_line, n_rows = 0, 0
    is_label = np.array([i != columns.weight_index for i in columns.number_indices], dtype=bool)
    while block := list(islice(records, max(1, BLOCK_CELLS // columns.width))):
        if columns.id_index is not None:
            ids += [cells[columns.id_index].strip() for _, cells in block]
        numbers = _numbers(path, columns, block)
        values.append(_compact(numbers[:, is_label]))
        if columns.weight_index is not None:
            weights.append(numbers[:, ~is_label].ravel())
        first_line, last_line = first_line or block[0][0], block[-1][0]
        n_rows += len(block)
        tell_progress()
    if not values:
        raise ValueError(f"{path} has a header but no rows.")
    return LabelTable(
        np.concatenate(values),
        labels=columns.labels,
        ids=None if columns.id_index is None else tuple(ids),
        weights=None if columns.weight_index is None else np.concatenate(weights),
        source=str(path),
        first_line=first_line if last_line - first_line == n_rows - 1 else None,  # a quoted cell may span lines
    )


def _numbers(path: Path, columns: Columns, block: list[Record]) -> np.ndarray:
    """The cells of a block as numbers; ids and what is ignored are dropped from the block."""
    n_numbers = len(columns.number_indices)
    rows = [cells for _, cells in block]
    for index in sorted(set(range(columns.width)) - set(columns.number_indices), reverse=True):
        for cells in rows:
            del cells[index]
    try:
        flat = np.fromiter(map(float, chain.from_iterable(rows)), float, count=len(rows) * n_numbers)
    except ValueError:  # rare: words, or a cell to complain about
        lines = [line for line, _ in block]
        flat = np.array([_row(path, columns, *where) for where in zip(lines, rows, strict=True)])
    return flat.reshape(len(rows), n_numbers)


def _row(path: Path, columns: Columns, line: int, cells: list[str]) -> list[float]:
    """One row as numbers, or the place of the first cell that is none."""
    numbers = [_number(cell) for cell in cells]
    if None in numbers:
        index = numbers.index(None)
        found = f"got {quoted(cells[index])}" if cells[index].strip() else "the cell is empty"
        where = f"{path}, line {line}, {columns.describe(columns.number_indices[index])}"
        raise ValueError(f"{where}: expected a number; {found}.")
    return [number for number in numbers if number is not None]


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return WORDS.get(cell.strip().lower())


def _compact(values: np.ndarray) -> np.ndarray:
    """Hard labels take one byte each, not eight."""
    return values.astype(np.uint8) if ((values == 0) | (values == 1)).all() else values
