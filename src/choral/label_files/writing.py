"""Label matrices into files, with the names that came with them where the format has room for names."""

import csv
import os
from io import TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy import sparse

from choral._optional import require
from choral._outputs import replacing
from choral.label_files.table import LabelTable

DELIMITERS = {".csv": ",", ".tsv": "\t"}
WRITTEN_SUFFIXES = (*DELIMITERS, ".npy", ".npz", ".parquet")


def check_written_suffix(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file that `write_labels` cannot write; ``name`` is what the user knows the argument by.

    Examples
    --------
    >>> check_written_suffix("path", "labels.xls")
    Traceback (most recent call last):
    ValueError: path must name a file that ends in .csv, .tsv, .npy, .npz, .parquet; got 'labels.xls'.
    """
    if Path(path).suffix.lower() not in WRITTEN_SUFFIXES:
        raise ValueError(
            f"{name} must name a file that ends in {', '.join(WRITTEN_SUFFIXES)}; got {os.fspath(path)!r}."
        )
    if Path(path).suffix.lower() == ".parquet":
        require("pyarrow", "tables")


def write_labels(path: str | os.PathLike[str], table: LabelTable, *, id_column: str = "id") -> None:
    """Write hard labels so that `read_labels` reads the same; the suffix says how.

    Parameters
    ----------
    path : path-like
        ``.csv`` or ``.tsv``, with a header if the labels have names and a column of ids if the rows have some; ``.npy``
        or ``.npz`` (one array, ``y``) without names; ``.parquet`` (needs pyarrow), where labels without names are
        called 1, 2 and so on.
    table : LabelTable
        Labels, 0 or 1.
    id_column : str
        What the column of ids is called.
    """
    check_written_suffix("path", path)
    values: Any = table.values
    labels = np.asarray(values.toarray() if sparse.issparse(values) else values, dtype=np.uint8)
    suffix = Path(path).suffix.lower()
    with replacing(path) as file:
        if suffix in DELIMITERS:
            _write_delimited(file, labels, table, id_column, DELIMITERS[suffix])
        elif suffix == ".npy":
            np.save(file, labels)
        elif suffix == ".npz":
            np.savez_compressed(file, y=labels)
        else:
            _write_parquet(file, labels, table, id_column)


def _write_delimited(file: BinaryIO, labels: np.ndarray, table: LabelTable, id_column: str, delimiter: str) -> None:
    text = TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if table.ids is None:
        writer.writerows([table.labels] if table.labels else [])
        writer.writerows(labels.tolist())
    else:
        writer.writerow([id_column, *(table.labels or ())])
        writer.writerows([name, *row] for name, row in zip(table.ids, labels.tolist(), strict=True))
    text.detach()  # flushed; the file is closed by whoever opened it


def _write_parquet(file: BinaryIO, labels: np.ndarray, table: LabelTable, id_column: str) -> None:
    arrow, parquet = require("pyarrow", "tables"), require("pyarrow.parquet", "tables")
    names = table.labels or tuple(str(number) for number in range(1, labels.shape[1] + 1))
    columns = {} if table.ids is None else {id_column: arrow.array(table.ids)}
    columns |= {name: arrow.array(column) for name, column in zip(names, labels.T, strict=True)}
    parquet.write_table(arrow.table(columns), file)
