"""CSV and TSV: rows of text, read in blocks so that a long file is never held as text."""

import csv
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO, TextIOWrapper
from itertools import chain, islice
from math import nan
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from choral._text import counted, quoted
from choral.label_files.table import UNNAMED, ColumnRoles, LabelTable, ReadOptions, suggest_id

BLOCK_CELLS = 2**20  # held as Python strings at a time
WORDS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0}
MISSING = ("", "na")  # the second is R's
# cells of labels as most programs write them: to look them up is faster than to try float() on a word
KNOWN = {"0": 0.0, "1": 1.0, "0.0": 0.0, "1.0": 1.0} | {
    spelling: number for word, number in WORDS.items() for spelling in (word, word.capitalize(), word.upper())
}
SEPARATORS = (",", ";", "\t", "|")
HEAD_BYTES, HEAD_ROWS = 2**18, 20  # of a file that tell its separator
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")

Record = tuple[int, list[str]]  # line number and cells


def read_delimited(path: Path, options: ReadOptions, *, sep: str | None, packed: bool = False) -> LabelTable:
    """Read a table of numbers or tags, with or without a header, and report how many bytes are read.

    Without a separator, in ``sep`` or in the options, it is found by the first rows.
    """
    sep = options.sep or sep or _find_separator(_read_head(path, options, packed=packed))
    with open(path, "rb") as raw, _open_text(path, raw, options, packed=packed) as file:
        size = os.fstat(raw.fileno()).st_size

        def tell_progress() -> None:
            if options.progress is not None:
                options.progress(raw.tell(), size)

        records = _split_lines(path, csv.reader(file, delimiter=sep, strict=True), sep)
        roles, records = _find_roles(path, records, options)
        return _read_rows(path, roles, records, options, tell_progress)


@contextmanager
def _open_text(path: Path, raw: BinaryIO, options: ReadOptions, *, packed: bool) -> Iterator[TextIOWrapper]:
    if not packed:
        with TextIOWrapper(raw, encoding="utf-8-sig", newline="") as file:
            yield file
        return
    from choral.label_files.gzipped import unpacked

    with unpacked(path, raw, options) as content, TextIOWrapper(content, encoding="utf-8-sig", newline="") as file:
        yield file


# Separators


def _read_head(path: Path, options: ReadOptions, *, packed: bool) -> str:
    """The first rows, and a part of one more where the file is longer; bytes that are not text do not matter yet."""
    with open(path, "rb") as raw:
        if not packed:
            return raw.read(HEAD_BYTES).decode("utf-8-sig", errors="replace")
        from choral.label_files.gzipped import unpacked

        with unpacked(path, raw, options) as content:
            return content.read(HEAD_BYTES).decode("utf-8-sig", errors="replace")


def _find_separator(head: str) -> str:
    r"""What splits the first rows into equally many cells, at least two; a comma where nothing does.

    Where several characters do, it is the one that leaves more cells that are numbers, else the first of `SEPARATORS`.
    What is in quotes never counts.

    Examples
    --------
    >>> _find_separator("id;sea, calm;sky\n1;0,5;0,25\n")
    ';'
    >>> _find_separator('id\t"sea|sky"\n1\t0\n'), _find_separator("tags\nsea|sky\n")
    ('\t', ',')
    """
    if not any(sep in head for sep in SEPARATORS[1:]):
        return SEPARATORS[0]
    best, separator = (0, 0.0), SEPARATORS[0]
    for sep in SEPARATORS:
        rows = _split_head(head, sep)
        width = len(rows[0]) if rows else 0
        if width > 1:
            cells = [cell.strip() for row in rows[1:] for cell in row]
            n_numbers = sum(not cell or is_number(cell) for cell in cells)
            found = sum(len(row) == width for row in rows), n_numbers / max(1, len(cells))
            if found > best:
                best, separator = found, sep
    return separator


def _split_head(head: str, sep: str) -> list[list[str]]:
    """The first rows that are whole, or a part of the first one if it is longer than the head."""
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(StringIO(head, newline=""), delimiter=sep, strict=True):
            if cells:
                rows.append(cells)
            if len(rows) > HEAD_ROWS:
                break
    except csv.Error:  # a quote that ends before another separator, say
        return rows
    is_cut = len(rows) > HEAD_ROWS or not head.endswith("\n")
    return rows[:-1] if is_cut and len(rows) > 1 else rows


# Rows


def _split_lines(path: Path, reader: Any, sep: str) -> Iterator[Record]:
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
                expected = f"expected {counted(width, 'column')}; got {len(cells)}"
                other = "say sep=';'" if sep != ";" else "say sep=','"
                remedy = f"A cell that holds the separator {sep!r} needs quotes; for another separator, {other}"
                raise ValueError(f"{path}, line {reader.line_num}: {expected}. {remedy}.")
            yield reader.line_num, cells
    except csv.Error as error:
        remedy = "" if "quote" not in str(error) and "end of data" not in str(error) else " Is a quote not closed?"
        raise ValueError(f"{path}, line {reader.line_num}: not readable as a table: {error}.{remedy}") from error


def _find_roles(path: Path, records: Iterator[Record], options: ReadOptions) -> tuple[ColumnRoles, Iterator[Record]]:
    """What the columns are, by a header if the first row is one, and the rows that hold numbers."""
    first = next(records, None)
    if first is None:
        raise ValueError(f"{path} is empty; expected a row for each sample.")
    if _is_header(path, first[1]) if options.header is None else options.header:
        return ColumnRoles.from_names(path, first[1], options), records
    if options.weight_column is not None:
        raise ValueError(f"{path} has no header, so no column {options.weight_column!r} for the weights.")
    if options.labels is not None:
        raise ValueError(f"{path} has no header, so no names of columns to choose labels from.")
    return ColumnRoles(None, len(first[1])), chain([first], records)


def _is_header(path: Path, cells: list[str]) -> bool:
    """Whether a first row holds names: some are not numbers, or they are 0, 1, 2, ... as pandas writes them."""
    cells = [cell.strip() for cell in cells]
    numbered = cells[1:] if cells[0] in UNNAMED else cells  # pandas writes the index first, without a name
    if not numbered or numbered != [str(i) for i in range(len(numbered))]:
        return any(_parse_number(cell) is None and cell.lower() not in MISSING for cell in cells)
    if len(numbered) > 2 or cells[0] == UNNAMED[1]:
        return True  # no row of labels has a 2
    line = ",".join(cells)
    raise ValueError(f"The first line of {path}, {line}, may be a header or labels; say header=True or header=False.")


def _read_rows(
    path: Path,
    roles: ColumnRoles,
    records: Iterator[Record],
    options: ReadOptions,
    tell_progress: Callable[[], None],
) -> LabelTable:
    ids: list[str] = []
    tags: list[str] | None = None  # cells, where the only column of labels holds tags; equal ones are one object
    known: dict[str, str] = {}
    values, weights = [], []
    first_line, n_rows = 0, 0
    is_label = np.array([i != roles.weight_index for i in roles.number_indices], dtype=bool)
    while block := list(islice(records, max(1, BLOCK_CELLS // roles.width))):
        if roles.id_index is not None:
            ids += [cells[roles.id_index].strip() for _, cells in block]
        if not n_rows and _are_tags(roles, block, options):
            tags = []
        if tags is not None:
            (tag_index,) = roles.label_indices
            tags += [known.setdefault(cells[tag_index], cells[tag_index]) for _, cells in block]
            for _, cells in block:
                cells[tag_index] = "0"
        numbers = _parse_block(path, roles, block, options)
        values.append(_compact(numbers[:, is_label]))
        if roles.weight_index is not None:
            weights.append(numbers[:, ~is_label].ravel())
        first_line, last_line = first_line or block[0][0], block[-1][0]
        n_rows += len(block)
        tell_progress()
    if not values:
        raise ValueError(f"{path} has a header but no rows; expected a row for each sample.")
    table = LabelTable(
        np.concatenate(values),
        labels=roles.labels,
        ids=None if roles.id_index is None else tuple(ids),
        weights=None if roles.weight_index is None else np.concatenate(weights),
        source=str(path),
        first_line=first_line if last_line - first_line == n_rows - 1 else None,  # a quoted cell may span lines
        ids_unnamed=roles.ids_unnamed,
        n_left_out=roles.n_features,
        notes=roles.make_notes(path),
    )
    if tags is None:
        return table
    from choral.label_files.tags import with_tags

    return with_tags(table, tags, options)


def _are_tags(roles: ColumnRoles, block: list[Record], options: ReadOptions) -> bool:
    """Whether the only column of labels holds tags: somebody said so, or not one of its cells is a number."""
    if roles.names is None or len(roles.label_indices) != 1:
        return False
    if options.tag_sep is not None:
        return True
    (index,) = roles.label_indices
    filled = [text for text in (cells[index].strip() for _, cells in block) if text.lower() not in MISSING]
    return bool(filled) and not any(map(is_number, filled)) and not all(map(_holds_numbers, filled))


def _parse_block(path: Path, roles: ColumnRoles, block: list[Record], options: ReadOptions) -> np.ndarray:
    """The cells of a block as numbers."""
    wanted = roles.number_indices
    rows = [cells for _, cells in block]
    if roles.width - len(wanted) > 2:
        rows = [[cells[i] for i in wanted] for cells in rows]
    else:  # ids, say: one cell less is faster than a new row
        for index in sorted(set(range(roles.width)) - set(wanted), reverse=True):
            for cells in rows:
                del cells[index]
    try:
        flat = np.fromiter(map(float, chain.from_iterable(rows)), float, count=len(rows) * len(wanted))
    except ValueError:  # words, empty cells, or a cell to complain about
        known = KNOWN | dict.fromkeys(["", "NA"], nan) if options.allow_missing else KNOWN
        flat = np.empty((len(rows), len(wanted)))
        for row, cells in enumerate(rows):
            try:
                flat[row] = [known[cell] for cell in cells]
            except KeyError:
                flat[row] = _parse_row(path, roles, rows, row, block[row][0], allow_missing=options.allow_missing)
    return flat.reshape(len(rows), len(wanted))


def _parse_row(
    path: Path, roles: ColumnRoles, rows: list[list[str]], row: int, line: int, *, allow_missing: bool
) -> list[float]:
    """One row as numbers, or the place of the first cell that is none."""
    numbers = [_parse_number(cell) for cell in rows[row]]
    if allow_missing:
        numbers = [
            nan if number is None and cell.strip().lower() in MISSING else number
            for number, cell in zip(numbers, rows[row], strict=True)
        ]
    if None in numbers:
        index = numbers.index(None)
        place = roles.number_indices[index]
        found = _explain_cell(roles, place, rows[row][index], [cells[index] for cells in rows])
        raise ValueError(f"{path}, line {line}, {roles.describe(place)}: expected a number; {found}")
    return [number for number in numbers if number is not None]


def _explain_cell(roles: ColumnRoles, place: int, cell: str, column: list[str]) -> str:
    """What a cell that is no number holds, and what may be done about it, in view of others of its column."""
    text = cell.strip()
    may_be_tags = roles.names is not None and len(roles.label_indices) == 1 and place != roles.weight_index
    tag_sep = next((sep for sep in "|;," if sep in text), None if text else "|")
    tags = f" If this column holds lists of tags, say tag_sep={tag_sep!r}." if may_be_tags and tag_sep else ""
    if text.lower() in MISSING:
        found = f"got {quoted(text)}" if text else "the cell is empty"
        return f"{found}. Only true labels that predictions are compared with may be missing.{tags}"
    found = f"got {quoted(cell)}."
    if DECIMAL_COMMA.fullmatch(text):
        return f"{found} Numbers need a decimal point, not a comma: {text.replace(',', '.')}."
    if roles.width == 1 and _holds_numbers(text):
        sep = next((sep for sep in SEPARATORS if sep in text), " ")
        return f"{found} If {sep!r} separates the cells, say sep={sep!r}.{tags}"
    if tags or roles.names is None or roles.id_index is not None:
        return f"{found}{tags}"
    names_rows = len(set(column)) == len(column) and all(_parse_number(other) is None for other in column)
    return f"{found}{suggest_id(roles.names[place])}" if names_rows else found


def _parse_number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return WORDS.get(cell.strip().lower())


def is_number(text: str) -> bool:
    """Whether a cell is a number, be it with a decimal comma, or a word for 0 or 1."""
    return _parse_number(text) is not None or DECIMAL_COMMA.fullmatch(text.strip()) is not None


def _holds_numbers(text: str) -> bool:
    """Whether a cell is several numbers: a row that was not split, or tags that are numbers."""
    parts = re.split(r"[\s,;|]+", text)
    return len(parts) > 1 and all(_parse_number(part) is not None for part in parts if part)


def _compact(values: np.ndarray) -> np.ndarray:
    """Hard labels take one byte each, not eight."""
    return values.astype(np.uint8) if ((values == 0) | (values == 1)).all() else values
