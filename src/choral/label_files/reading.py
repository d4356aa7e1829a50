"""Files of every kind: one of labels, the truth with the predictions of several models, folders of parts of them."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from choral._outputs import is_there
from choral._text import first_line, quoted
from choral.label_files.delimited import read_delimited
from choral.label_files.npy import read_npy, read_npz
from choral.label_files.parquet import has_no_rows, read_parquet
from choral.label_files.table import (
    LabelTable,
    Matrix,
    ReadOptions,
    align,
    check_row_weights,
    check_scores,
    check_truth,
    match_names,
)
from choral.label_files.tags import unite_tags

READERS: dict[str, Callable[[Path, ReadOptions], LabelTable]] = {
    ".csv": partial(read_delimited, sep=None),
    ".tsv": partial(read_delimited, sep="\t"),
    ".csv.gz": partial(read_delimited, sep=None, packed=True),
    ".tsv.gz": partial(read_delimited, sep="\t", packed=True),
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": read_parquet,
}
SUFFIXES = tuple(READERS)
OTHER_RANGE = "To cut scores of another range, say threshold=NUMBER: 0 for logits and for labels -1 and +1."


def label_suffix(path: str | os.PathLike[str]) -> str:
    """The suffix that says how a file of labels is read; empty if none does.

    Examples
    --------
    >>> label_suffix("true.CSV.gz"), label_suffix("runs/true.npy"), label_suffix("true.gz")
    ('.csv.gz', '.npy', '')
    """
    name = Path(path).name.lower()
    return next((suffix for suffix in SUFFIXES if name.endswith(suffix) and name != suffix), "")


def label_stem(path: str | os.PathLike[str]) -> str:
    """The name of a file without folder and suffix.

    Examples
    --------
    >>> label_stem("runs/tree.v2.csv.gz"), label_stem("tree.txt")
    ('tree.v2', 'tree')
    """
    suffix = label_suffix(path)
    return Path(path).name[: -len(suffix)] if suffix else Path(path).stem


def is_parquet_folder(path: Path) -> bool:
    """Whether a path is a folder that its name calls one table."""
    return path.suffix.lower() == ".parquet" and path.is_dir()


def read_labels(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    weight_column: str | None = None,
    ignored_column: str | None = None,
    header: bool | None = None,
    sep: str | None = None,
    tag_sep: str | None = None,
    labels: int | Sequence[str] | None = None,
    allow_missing: bool = False,
    max_bytes: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> LabelTable:
    """Read a label matrix; the suffix says how.

    Parameters
    ----------
    path : path-like
        ``.csv`` or ``.tsv`` (UTF-8, a header with the label names is optional), also packed (``.gz``), ``.npy``,
        ``.npz`` (one array, one called ``y`` or ``arr_0``, or a matrix written by ``scipy.sparse.save_npz``) or
        ``.parquet`` (needs pyarrow), which may be a folder of parts.
    id_column : str, optional
        The column that names the rows; it must be there. By default it is ``id``, where there is such a column, else a
        first column without a name.
    weight_column : str, optional
        The column with the weights of the rows; it must be there.
    ignored_column : str, optional
        A column that is not a label; it need not be there.
    header : bool, optional
        Whether the first row of a CSV or TSV file holds the column names. By default it does if it is not all numbers,
        or is 0, 1, 2, ...; but ``0`` and ``0,1`` are refused, since they may be labels as well.
    sep : str, optional
        The character between the cells of CSV and TSV files. By default it is a tab in TSV files; in CSV files it is
        found by the first rows: a comma, a semicolon, a tab or ``|``.
    tag_sep : str, optional
        The character between the tags of a cell: a file with a single column of labels is then read as lists of tags.
        By default it is, if not one cell of the column is a number, and the separator is ``|``, else a semicolon, else
        a comma, the first that occurs.
    labels : int or sequence of str, optional
        Which columns are labels: the first so many, the last for a negative number, or names, in which ``*`` stands
        for any characters. By default all that are neither ids nor weights.
    allow_missing : bool, default=False
        Whether an empty cell is a missing label, nan; else it is refused.
    max_bytes : int, optional
        Refuse to read a file that is, or says it becomes, larger than this. By default the limit is 1100 times what the
        file holds on disk, at least 64 MiB (Parquet: 1 GiB, since it stores a value that comes a million times once)
        and at most 8 GiB; or the number in the environment variable ``CHORAL_MAX_BYTES``.
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
    reader = READERS.get(label_suffix(path))
    if reader is None:
        raise ValueError(f"{path}: the file name must end in {', '.join(SUFFIXES)}; got {path.suffix!r}.")
    options = ReadOptions(
        id_column=id_column,
        weight_column=weight_column,
        ignored_column=ignored_column,
        header=header,
        sep=check_separator("sep", sep),
        tag_sep=check_separator("tag_sep", tag_sep),
        labels=labels if labels is None or isinstance(labels, int) else tuple(labels),
        allow_missing=allow_missing,
        max_bytes=max_bytes,
        progress=progress,
    )
    try:
        if not path.is_file() and not is_parquet_folder(path):
            problem = "is a folder or a device" if is_there(path) else "does not exist"
            raise ValueError(f"{path} {problem}; expected a file.")
        if path.is_file():
            options.check_size(path, path.stat().st_size, held=path.stat().st_size)
        table = reader(path, options)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        reason = f"{error.reason}, byte {byte:#04x}"
        raise ValueError(f"{path} is not UTF-8 text: {reason}. Save it as UTF-8 (Excel: CSV UTF-8).") from error
    if id_column is not None and table.ids is None:
        raise ValueError(f"{path} has no names of columns, so no column {id_column!r} for the ids.")
    return table


def check_separator(name: str, text: str | None) -> str | None:
    """Refuse what cannot lie between cells or tags.

    Examples
    --------
    >>> check_separator("sep", "::")
    Traceback (most recent call last):
    ValueError: sep must be one character, neither a quote nor the end of a line; got '::'.
    """
    if text is not None and (len(text) != 1 or text in '"\r\n\0'):
        raise ValueError(f"{name} must be one character, neither a quote nor the end of a line; got {text!r}.")
    return text


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
    header, sep, tag_sep : optional
        As for `read_labels`.
    threshold : float, optional
        Scores will be made hard by it, as in `choral.evaluate`, so they may lie outside [0, 1].
    """

    id_column: str | None = None
    weight_column: str | None = None
    header: bool | None = None
    threshold: float | None = None
    sep: str | None = None
    tag_sep: str | None = None


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
    given = {"id_column": options.id_column, "header": options.header, "sep": options.sep, "tag_sep": options.tag_sep}
    truth = read(paths.truth, weight_column=options.weight_column, allow_missing=True, **given)
    check_truth(truth, may_be_missing=True)
    check_row_weights(truth, options.weight_column or "", may_all_be_zero=True)
    tables = []
    for path in paths.predictions.values():
        table = read(path, ignored_column=options.weight_column, **given)
        check_scores(table, of_any_range=options.threshold is not None, remedy=OTHER_RANGE)
        if truth.tag_sep is None and table.tag_sep is None:
            table = align(truth, table)  # at once: the table in its own order need not stay in memory
        tables.append(table)
    truth, aligned = align_all(truth, tables)
    return truth, {name: table.values for name, table in zip(paths.predictions, aligned, strict=True)}


def align_all(truth: LabelTable, predictions: Iterable[LabelTable]) -> tuple[LabelTable, list[LabelTable]]:
    """Bring predictions into the order of the truth; lists of tags get the labels of all tables together."""
    predictions = list(predictions)
    if any(table.tag_sep is not None for table in (truth, *predictions)):
        truth, *predictions = unite_tags([truth, *predictions])
    return truth, [align(truth, prediction) for prediction in predictions]


def are_in_parts(paths: ComparedPaths) -> bool:
    """Whether the truth is a folder of parts.

    A folder called ``.parquet`` is one table, unless all are folders whose files have the same names, and rows each:
    then a part of each is enough at a time.
    """
    if not is_parquet_folder(paths.truth):
        return paths.truth.is_dir()
    if not all(path.is_dir() for path in paths.predictions.values()):
        return False
    try:
        files = [path for part in list_parts(paths) for path in part.all_paths()]
    except ValueError:  # Spark gives each part a new name
        return False
    return not any(has_no_rows(path) for path in files if label_suffix(path) == ".parquet")


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
        if not label_suffix(path) or not path.is_file():
            got = f"the folder {quoted(path.name)}" if path.is_dir() else quoted(path.name)
            raise ValueError(f"{folder} must hold files that end in {', '.join(SUFFIXES)}; got {got}.")
        stem = label_stem(path)
        if stem in found:
            raise ValueError(f"{folder} holds a part twice: {found[stem].name} and {path.name}.")
        found[stem] = path
    if not found:
        raise ValueError(f"{folder} holds no parts: files that end in {', '.join(SUFFIXES)}.")
    return found
