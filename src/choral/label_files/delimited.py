"""CSV and TSV: rows of text, read in blocks so that a long file is never held as text."""

import csv
import os
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from choral._text import quoted
from choral.label_files.table import ColumnRoles, LabelTable, ReadOptions

BLOCK_CELLS = 2**20  # held as Python strings at a time
WORDS = {"true": 1.0, "false": 0.0}

Record = tuple[int, list[str]]  # line number and cells


def read_delimited(path: Path, options: ReadOptions, *, delimiter: str) -> LabelTable:
    """Read a table of numbers, with or without a header, and report how many bytes are read."""
    with open(path, "rb") as raw, TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
        size = os.fstat(raw.fileno()).st_size

        def tell_progress() -> None:
            if options.progress is not None:
                options.progress(raw.tell(), size)

        records = _split_lines(path, csv.reader(file, delimiter=delimiter, strict=True))
        roles, records = _find_roles(path, records, options)
        return _read_rows(path, roles, records, tell_progress)


def _split_lines(path: Path, reader: Any) -> Iterator[Record]:
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


def _find_roles(path: Path, records: Iterator[Record], options: ReadOptions) -> tuple[ColumnRoles, Iterator[Record]]:
    """What the columns are, by a header if the first row is one, and the rows that hold numbers."""
    first = next(records, None)
    if first is None:
        raise ValueError(f"{path} is empty.")
    if _is_header(path, first[1]) if options.header is None else options.header:
        return ColumnRoles.from_names(path, first[1], options), records
    if options.weight_column is not None:
        raise ValueError(f"{path} has no header, so no column {options.weight_column!r} for the weights.")
    return ColumnRoles(None, len(first[1])), chain([first], records)


def _is_header(path: Path, cells: list[str]) -> bool:
    """Whether a first row holds names: some are not numbers, or they are 0, 1, 2, ... as pandas writes them."""
    if [cell.strip() for cell in cells] != [str(i) for i in range(len(cells))]:
        return any(_parse_number(cell) is None for cell in cells)
    if len(cells) > 2:
        return True  # no row of labels has a 2
    line = ",".join(cells)
    raise ValueError(f"The first line of {path}, {line}, may be a header or labels; say header=True or header=False.")


def _read_rows(
    path: Path, roles: ColumnRoles, records: Iterator[Record], tell_progress: Callable[[], None]
) -> LabelTable:
    ids, values, weights = [], [], []
    first_line, n_rows = 0, 0
    is_label = np.array([i != roles.weight_index for i in roles.number_indices], dtype=bool)
    while block := list(islice(records, max(1, BLOCK_CELLS // roles.width))):
        if roles.id_index is not None:
            ids += [cells[roles.id_index].strip() for _, cells in block]
        numbers = _parse_block(path, roles, block)
        values.append(_compact(numbers[:, is_label]))
        if roles.weight_index is not None:
            weights.append(numbers[:, ~is_label].ravel())
        first_line, last_line = first_line or block[0][0], block[-1][0]
        n_rows += len(block)
        tell_progress()
    if not values:
        raise ValueError(f"{path} has a header but no rows.")
    return LabelTable(
        np.concatenate(values),
        labels=roles.labels,
        ids=None if roles.id_index is None else tuple(ids),
        weights=None if roles.weight_index is None else np.concatenate(weights),
        source=str(path),
        first_line=first_line if last_line - first_line == n_rows - 1 else None,  # a quoted cell may span lines
    )


def _parse_block(path: Path, roles: ColumnRoles, block: list[Record]) -> np.ndarray:
    """The cells of a block as numbers; ids and what is ignored are dropped from the block."""
    n_numbers = len(roles.number_indices)
    rows = [cells for _, cells in block]
    for index in sorted(set(range(roles.width)) - set(roles.number_indices), reverse=True):
        for cells in rows:
            del cells[index]
    try:
        flat = np.fromiter(map(float, chain.from_iterable(rows)), float, count=len(rows) * n_numbers)
    except ValueError:  # rare: words, or a cell to complain about
        lines = [line for line, _ in block]
        flat = np.array([_parse_row(path, roles, *where) for where in zip(lines, rows, strict=True)])
    return flat.reshape(len(rows), n_numbers)


def _parse_row(path: Path, roles: ColumnRoles, line: int, cells: list[str]) -> list[float]:
    """One row as numbers, or the place of the first cell that is none."""
    numbers = [_parse_number(cell) for cell in cells]
    if None in numbers:
        index = numbers.index(None)
        found = f"got {quoted(cells[index])}" if cells[index].strip() else "the cell is empty"
        where = f"{path}, line {line}, {roles.describe(roles.number_indices[index])}"
        raise ValueError(f"{where}: expected a number; {found}.")
    return [number for number in numbers if number is not None]


def _parse_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return WORDS.get(cell.strip().lower())


def _compact(values: np.ndarray) -> np.ndarray:
    """Hard labels take one byte each, not eight."""
    return values.astype(np.uint8) if ((values == 0) | (values == 1)).all() else values
