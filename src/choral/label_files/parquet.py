"""Parquet: columns with names and types, by pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np

from choral._optional import require
from choral._text import first_line
from choral.label_files.table import NUMBERS, ColumnRoles, LabelTable, ReadOptions


def read_parquet(path: Path, options: ReadOptions) -> LabelTable:
    """Read a table whose columns are numbers or booleans, but for the ids."""
    table = _read_table(path, options)
    roles = ColumnRoles.from_names(path, table.column_names, options)
    wanted = (i for i in range(roles.width) if i != roles.ignored_index)
    arrays = {i: _read_column(path, roles, i, table.column(i)) for i in wanted}
    labels = [arrays[i] for i in roles.label_indices]
    return LabelTable(
        np.column_stack(labels) if labels else np.empty((table.num_rows, 0)),
        labels=roles.labels,
        ids=None if roles.id_index is None else tuple(map(str, arrays[roles.id_index].tolist())),
        weights=None if roles.weight_index is None else arrays[roles.weight_index].astype(float),
        source=str(path),
    )


def _read_table(path: Path, options: ReadOptions) -> Any:
    """The Arrow table, once the file has said how large it becomes."""
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    try:
        with parquet.ParquetFile(path) as file:
            cells = file.metadata.num_rows * file.metadata.num_columns
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            options.check_size(path, max(8 * cells, sum(group.total_byte_size for group in groups)))
            return file.read()
    except arrow.ArrowException as error:
        raise ValueError(f"{path} is not a readable Parquet file: {first_line(error)}.") from error


def _read_column(path: Path, roles: ColumnRoles, index: int, column: Any) -> np.ndarray:
    where = f"{path}, {roles.describe(index)}"
    if column.null_count:
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
    return column.to_numpy()
