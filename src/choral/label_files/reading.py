"""read_labels(): the one door to label files of every kind."""

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from choral.label_files.arrays import read_npy, read_npz
from choral.label_files.delimited import read_delimited
from choral.label_files.options import MAX_BYTES, ReadOptions
from choral.label_files.parquet import read_parquet
from choral.label_files.table import LabelTable
from choral.label_files.wording import first_line

READERS: dict[str, Callable[[Path, ReadOptions], LabelTable]] = {
    ".csv": partial(read_delimited, delimiter=","),
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": read_parquet,
}


def read_labels(
    path: str | os.PathLike[str],
    *,
    id_column: str = "id",
    weight_column: str | None = None,
    ignored_column: str | None = None,
    header: bool | None = None,
    max_bytes: int = MAX_BYTES,
    progress: Callable[[int, int], None] | None = None,
) -> LabelTable:
    """Read a label matrix; the suffix says how.

    Parameters
    ----------
    path : path-like
        ``.csv`` or ``.tsv`` (UTF-8, a header with the label names is optional), ``.npy``, ``.npz`` (one array, one
        called ``y`` or ``arr_0``, or a matrix written by ``scipy.sparse.save_npz``) or ``.parquet`` (needs pyarrow).
    id_column : str, default="id"
        The column that names the rows, where the file has one of this name.
    weight_column : str, optional
        The column with the weights of the rows; it must be there.
    ignored_column : str, optional
        A column that is no label; it need not be there.
    header : bool, optional
        Whether the first row of a CSV or TSV file holds the column names. By default it does if it is not all numbers,
        or is 0, 1, 2, ...; but ``0`` and ``0,1`` are refused, since they may be labels as well.
    max_bytes : int, default=8 GiB
        Refuse to read a file that is, or says it becomes, larger than this.
    progress : callable (done_bytes, total_bytes), optional
        Told after each block of rows how much of a CSV or TSV file is read; the other formats are fast.

    Returns
    -------
    table : LabelTable

    Raises
    ------
    ValueError
        In one line that names the file, and line and column where there are such.
    """
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise ValueError(f"{path}: the file name must end in {', '.join(READERS)}; got {path.suffix!r}.")
    options = ReadOptions(id_column, weight_column, ignored_column, header, max_bytes, progress)
    try:
        if not path.is_file():
            problem = "is a folder or a device" if path.exists() else "does not exist"
            raise ValueError(f"{path} {problem}; expected a file.")
        options.check_size(path, path.stat().st_size)
        return reader(path, options)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}, byte {byte:#04x}.") from error
