"""Files of every kind: one of labels, the truth with the predictions of several models, folders of parts of them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from choral._text import first_line, quoted
from choral.label_files.delimited import read_delimited
from choral.label_files.npy import read_npy, read_npz
from choral.label_files.parquet import read_parquet
from choral.label_files.table import (
    MAX_BYTES,
    LabelTable,
    Matrix,
    ReadOptions,
    align,
    check_row_weights,
    check_scores,
    check_truth,
    match_names,
)

READERS: dict[str, Callable[[Path, ReadOptions], LabelTable]] = {
    ".csv": partial(read_delimited, delimiter=","),
    ".tsv": partial(read_delimited, delimiter="\t"),
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": read_parquet,
}
SUFFIXES = tuple(READERS)


def read_labels(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
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
    id_column : str, optional
        The column that names the rows; it must be there. By default it is ``id``, where there is such a column.
    weight_column : str, optional
        The column with the weights of the rows; it must be there.
    ignored_column : str, optional
        A column that is not a label; it need not be there.
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
        raise ValueError(f"{path}: the file name must end in {', '.join(SUFFIXES)}; got {path.suffix!r}.")
    options = ReadOptions(id_column or "id", weight_column, ignored_column, header, max_bytes, progress)
    try:
        if not path.is_file():
            problem = "is a folder or a device" if path.exists() else "does not exist"
            raise ValueError(f"{path} {problem}; expected a file.")
        options.check_size(path, path.stat().st_size)
        table = reader(path, options)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}, byte {byte:#04x}.") from error
    if id_column is not None and table.ids is None:
        raise ValueError(f"{path} has no column {id_column!r} for the ids.")
    return table


@dataclass(frozen=True)
class ComparedPaths:
    """Where the true labels of some rows are, and where those that each model predicts."""

    truth: Path
    predictions: dict[str, Path]

    def absolute(self) -> "ComparedPaths":
        """The same files, whatever the current folder."""
        return ComparedPaths(self.truth.absolute(), {name: path.absolute() for name, path in self.predictions.items()})

    def all_paths(self) -> list[Path]:
        """The truth first."""
        return [self.truth, *self.predictions.values()]


@dataclass(frozen=True)
class ComparedOptions:
    """How the truth and the predictions of models are read.

    Attributes
    ----------
    id_column : str, optional
        The column that names the rows, as for `read_labels`.
    weight_column : str, optional
        The column of the truth with the weights of its rows. All of them may be zero, as in one part of many.
    header : bool, optional
        As for `read_labels`.
    threshold : float, optional
        Scores will be made hard by it, as in `choral.evaluate`, so they may lie outside [0, 1].
    """

    id_column: str | None = None
    weight_column: str | None = None
    header: bool | None = None
    threshold: float | None = None


def read_compared(
    paths: ComparedPaths, options: ComparedOptions, read: Callable[..., LabelTable] = read_labels
) -> tuple[LabelTable, dict[str, Matrix]]:
    """Read true labels and the predictions of each model, as matrices with the rows and labels of the truth.

    Parameters
    ----------
    paths : ComparedPaths
    options : ComparedOptions
    read : callable, optional
        `read_labels`, or a function like it that shows the progress.

    Returns
    -------
    truth : LabelTable
    predictions : dict from name to ndarray or CSR array of shape (n_samples, n_labels)
    """
    read = partial(read, id_column=options.id_column, header=options.header)
    truth = read(paths.truth, weight_column=options.weight_column)
    check_truth(truth)
    check_row_weights(truth, options.weight_column or "", may_all_be_zero=True)
    predictions = {}
    for name, path in paths.predictions.items():
        table = read(path, ignored_column=options.weight_column)
        check_scores(table, of_any_range=options.threshold is not None)
        predictions[name] = align(truth, table).values
    return truth, predictions


def list_parts(folders: ComparedPaths) -> list[ComparedPaths]:
    """The parts of folders, in the order of their names: each has the same name in all folders, but for the suffix.

    Raises
    ------
    ValueError
        Where a part is missing on one side, or a folder holds something that is not a part. Names that begin with
        ``_`` or ``.``, such as ``_SUCCESS``, are ignored.
    """
    truth = _files_by_name(folders.truth)
    files = {model: _files_by_name(folder) for model, folder in folders.predictions.items()}
    for model, folder in folders.predictions.items():
        match_names("parts", tuple(truth), tuple(files[model]), str(folders.truth), str(folder))
    return [ComparedPaths(path, {model: files[model][name] for model in files}) for name, path in truth.items()]


def _files_by_name(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise ValueError(f"{folder} must be a folder of parts, as that of the truth; it {fault}.")
    found: dict[str, Path] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith(("_", ".")))
    except OSError as error:
        raise ValueError(f"{folder} cannot be read: {error.strerror}.") from error
    for path in paths:
        if path.suffix.lower() not in SUFFIXES or not path.is_file():
            got = f"the folder {quoted(path.name)}" if path.is_dir() else quoted(path.name)
            raise ValueError(f"{folder} must hold files that end in {', '.join(SUFFIXES)}; got {got}.")
        if path.stem in found:
            raise ValueError(f"{folder} holds a part twice: {found[path.stem].name} and {path.name}.")
        found[path.stem] = path
    if not found:
        raise ValueError(f"{folder} holds no parts: files that end in {', '.join(SUFFIXES)}.")
    return found
