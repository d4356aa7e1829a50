"""Parquet: columns with names and types, by pyarrow."""

from pathlib import Path
from typing import Any

import numpy as np

from choral._optional import require
from choral.label_files.columns import Columns
from choral.label_files.options import NUMBERS, ReadOptions
from choral.label_files.table import LabelTable
from choral.label_files.wording import first_line


def read_parquet(path: Path, options: ReadOptions) -> LabelTable:
    """Read a table whose columns are numbers or booleans, but for the ids."""
    table = _read_table(path, options)
    columns = Columns.from_names(path, table.column_names, options)
    wanted = (i for i in range(columns.width) if i != columns.ignored_index)
    arrays = {i: _read_column(path, columns, i, table.column(i)) for i in wanted}
    labels = [arrays[i] for i in columns.label_indices]
    return LabelTable(
        np.column_stack(labels) if labels else np.empty((table.num_rows, 0)),
        labels=columns.labels,
        ids=None if columns.id_index is None else tuple(map(str, arrays[columns.id_index].tolist())),
        weights=None if columns.weight_index is None else arrays[columns.weight_index].astype(float),
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


def _read_column(path: Path, columns: Columns, index: int, column: Any) -> np.ndarray:
    where = f"{path}, {columns.describe(index)}"
    if column.null_count:
        row = column.is_null().to_numpy().argmax()
        raise ValueError(f"{where}: expected no missing values; row {row + 1} (counted from 1) is empty.")
    if index == columns.id_index:
        return column.to_numpy()
    try:
        kind = np.dtype(column.type.to_pandas_dtype()).kind
    except (NotImplementedError, TypeError):
        kind = "O"
    if kind not in NUMBERS:
        raise ValueError(f"{where}: expected numbers or booleans; got the type {column.type}.")
    return column.to_numpy()
