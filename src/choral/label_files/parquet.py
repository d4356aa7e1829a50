"""Parquet: columns with names and types, by pyarrow; a folder of parts, as Spark and Dask write it, is one table."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from choral._optional import require
from choral._text import first_line, quoted
from choral.label_files.delimited import is_number
from choral.label_files.table import NUMBERS, ColumnRoles, LabelTable, ReadOptions

FREE_BYTES = 2**30  # a value that comes a million times is stored once, so a small file may hold much
BYTES_PER_TEXT, BYTES_PER_LIST = 150, 300  # as Python has them, besides the letters


class Part(NamedTuple):
    """A file, and the Arrow table in it."""

    path: Path
    table: Any


def read_parquet(path: Path, options: ReadOptions) -> LabelTable:
    """Read columns of numbers or booleans, beside ids and weights, or a single column of tags."""
    parts = _read_parts(path, options)
    roles = ColumnRoles.from_names(path, parts[0].table.column_names, options)
    tags = _read_tags(roles, parts, options)
    wanted = [i for i in range(roles.width) if i not in roles.left_out]
    if tags is not None:
        wanted = [i for i in wanted if i not in roles.label_indices]
    arrays = {i: np.concatenate([_read_column(part, roles, i, options) for part in parts]) for i in wanted}
    n_rows = sum(part.table.num_rows for part in parts)
    labels = [np.zeros(n_rows)] if tags is not None else [arrays[i] for i in roles.label_indices]
    table = LabelTable(
        np.column_stack(labels) if labels else np.empty((n_rows, 0)),
        labels=roles.labels,
        ids=None if roles.id_index is None else tuple(map(str, arrays[roles.id_index].tolist())),
        weights=None if roles.weight_index is None else arrays[roles.weight_index].astype(float),
        source=str(path),
        ids_unnamed=roles.ids_unnamed,
        n_left_out=roles.n_features,
        notes=roles.make_notes(path),
    )
    if tags is None:
        return table
    from choral.label_files.tags import with_tags

    return with_tags(table, tags, options)


def list_parquet_parts(folder: Path) -> list[Path]:
    """The files of a folder in the order of their rows: by name, but part.10 after part.9.

    Names that begin with ``_`` or ``.``, such as ``_SUCCESS``, are ignored.
    """
    paths = [path for path in folder.iterdir() if not path.name.startswith(("_", "."))]
    for path in paths:
        if path.suffix.lower() != ".parquet" or not path.is_file():
            got = f"the folder {quoted(path.name)}" if path.is_dir() else quoted(path.name)
            raise ValueError(f"{folder} must hold files that end in .parquet, the parts of one table; got {got}.")
    if not paths:
        raise ValueError(f"{folder} is an empty folder; expected files that end in .parquet.")
    return sorted(paths, key=lambda path: [(int(t), "") if t.isdecimal() else (-1, t) for t in _runs(path.name)])


def has_no_rows(path: Path) -> bool:
    """Whether a file says that it is a table without rows; a damaged file says nothing."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    try:
        return parquet.read_metadata(path).num_rows == 0
    except (arrow.ArrowException, OSError):
        return False


def _runs(name: str) -> list[str]:
    """Digits and what is between them."""
    return re.findall(r"[0-9]+|[^0-9]+", name)


def _read_parts(path: Path, options: ReadOptions) -> list[Part]:
    """The Arrow tables of all files, once these have said how large they become; without empty ones."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    parts: list[Part] = []
    size = held = 0
    for file_path in list_parquet_parts(path) if path.is_dir() else [path]:
        try:
            with parquet.ParquetFile(file_path) as file:
                cells = file.metadata.num_rows * file.metadata.num_columns
                groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
                size += max(8 * cells, sum(group.total_byte_size for group in groups))
                held += file_path.stat().st_size
                options.check_size(path, size, held, FREE_BYTES)
                leaves = [file.schema.column(i) for i in range(len(file.schema))]
                schema, texts = file.schema_arrow, [leaf.path for leaf in leaves if leaf.physical_type == "BYTE_ARRAY"]
            with parquet.ParquetFile(file_path, read_dictionary=texts) as file:
                table = _read_table(file)
                table.validate(full=True)  # places in dictionaries are not checked while they are read
                size += sum(map(_measure_text, table.columns))
                options.check_size(path, size, held, FREE_BYTES)
                parts.append(Part(file_path, _spell_out(table, schema)))
        except arrow.ArrowException as error:
            raise ValueError(f"{file_path} is not a readable Parquet file: {first_line(error)}.") from error
        first, last = parts[0], parts[-1]
        if set(first.table.column_names) != set(last.table.column_names):
            raise ValueError(f"{last.path} must have the columns of {first.path.name}; it has others.")
    return [part for part in parts if part.table.num_rows] or parts[:1]  # Spark writes parts without rows


def _read_table(file: Any) -> Any:
    """All rows; lists of texts in dictionaries can be read from one group of rows at a time alone."""
    groups = [file.read_row_group(index) for index in range(file.num_row_groups)]
    return require("pyarrow", "tables").concat_tables(groups) if groups else file.read()


def _measure_text(column: Any) -> int:
    """How many bytes the texts of a column take once each is spelled out, and the lists that hold them.

    A text that comes a million times is stored once, so the size of the file says nothing about it.
    """
    types, compute = require("pyarrow.types", "tables"), require("pyarrow.compute", "tables")
    size = 0
    for chunk in column.chunks:
        while types.is_list(chunk.type) or types.is_large_list(chunk.type):
            size += BYTES_PER_LIST * len(chunk)
            chunk = chunk.flatten()
        if types.is_dictionary(chunk.type) and _is_text(chunk.type.value_type):
            size += BYTES_PER_TEXT * len(chunk)
            lengths = compute.binary_length(chunk.dictionary).fill_null(0).to_numpy(zero_copy_only=False)
            size += int(lengths[chunk.indices.drop_null().to_numpy()].sum(dtype=np.int64))
    return size


def _spell_out(table: Any, schema: Any) -> Any:
    """The same table with each text in its place, as the schema of the file has it."""
    for index, field in enumerate(schema):
        if _is_text(field.type) or _is_list_of_text(field.type):
            table = table.set_column(index, field.name, table.column(index).cast(field.type))
    return table


def _is_text(kind: Any) -> bool:
    types = require("pyarrow.types", "tables")
    return types.is_string(kind) or types.is_large_string(kind)


def _is_list_of_text(kind: Any) -> bool:
    types = require("pyarrow.types", "tables")
    return (types.is_list(kind) or types.is_large_list(kind)) and _is_text(kind.value_type)


def _read_tags(roles: ColumnRoles, parts: list[Part], options: ReadOptions) -> list[Any] | None:
    """The cells of the only column of labels if it holds tags, as text or as lists of text."""
    if len(roles.label_indices) != 1 or roles.names is None:
        return None
    columns = [part.table.column(roles.names[roles.label_indices[0]]) for part in parts]
    if all(_is_list_of_text(column.type) for column in columns):
        return [[tag for tag in cell or () if tag] for column in columns for cell in column.to_pylist()]
    if not all(_is_text(column.type) for column in columns):
        return None
    cells = [cell or "" for column in columns for cell in column.to_pylist()]
    holds_labels = any(is_number(cell) for cell in cells)
    return None if holds_labels and options.tag_sep is None else cells


def _read_column(part: Part, roles: ColumnRoles, index: int, options: ReadOptions) -> np.ndarray:
    column = part.table.column((roles.names or ())[index])
    where = f"{part.path}, {roles.describe(index)}"
    may_be_missing = options.allow_missing and index != roles.id_index
    if column.null_count and not may_be_missing:
        row = column.is_null().to_numpy().argmax()
        raise ValueError(f"{where}: expected no missing values; row {row + 1} (counted from 1) is empty.")
    if index == roles.id_index:
        return column.to_numpy()
    try:
        kind = np.dtype(column.type.to_pandas_dtype()).kind
    except (NotImplementedError, TypeError):
        kind = "O"
    if kind not in NUMBERS:
        raise ValueError(f"{where}: expected numbers or booleans; got the type {column.type}.")
    return (column.cast("float64") if column.null_count else column).to_numpy()  # a missing value becomes nan
