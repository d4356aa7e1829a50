"""Data sets from files with features and labels: ARFF, CSV, TSV, Parquet or NPZ."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from choral._text import did_you_mean, first_line
from choral.datasets import Dataset, is_arff, read_arff
from choral.label_files import LabelTable, check_truth, read_labels
from choral.label_files.npy import make_sparse, read_arrays
from choral.label_files.table import ReadOptions

Labels = int | str | os.PathLike[str] | Sequence[str] | None  # which columns are labels
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
ARRAYS = ("X", "Y", "label_names", *(f"X_{part}" for part in SPARSE_PARTS))  # of an NPZ file
SUFFIXES = (".arff", ".csv", ".tsv", ".parquet", ".npz")


def read_dataset(path: Path, labels: Labels = None) -> Dataset:
    """Read a data set; the suffix says how.

    Parameters
    ----------
    path : Path
        ``.arff`` (also packed), a table ``.csv``, ``.tsv`` or ``.parquet`` with a header and a number in each cell, or
        ``.npz`` with the arrays ``X`` and ``Y`` (and ``label_names``); a sparse ``X`` as ``X_data``, ``X_indices``,
        ``X_indptr`` and ``X_shape``.
    labels : int, path-like or sequence of str, optional
        Which columns of a table are labels: the first so many, the last for a negative number, or by name. For an ARFF
        file as `choral.datasets.read_arff` has it; not for an NPZ file.
    """
    if is_arff(path.name):
        return read_arff(path, labels)
    if path.suffix.lower() == ".npz":
        return _read_arrays(path)
    return _split_columns(read_labels(path), labels, path)


def _split_columns(table: LabelTable, labels: Labels, path: Path) -> Dataset:
    names = table.labels
    if names is None:
        raise ValueError(f"{path} must have a header: names of the features and labels.")
    chosen_names = _label_names(names, labels, path)
    is_label = np.array([name in chosen_names for name in names])
    if is_label.all():
        raise ValueError(f"{path} must have features besides its {is_label.sum()} labels.")
    values = table.values
    label_names = tuple(np.array(names)[is_label].tolist())
    chosen = LabelTable(values[:, is_label], label_names, source=str(path), first_line=table.first_line)
    check_truth(chosen)
    features = tuple(np.array(names)[~is_label].tolist())
    X = values[:, ~is_label].astype(float)
    return Dataset(X, chosen.values.astype(np.uint8), label_names, path.stem, features)


def _label_names(names: tuple[str, ...], labels: Labels, path: Path) -> set[str]:
    if labels is None:
        raise ValueError(f"{path} needs to be told its labels: names of columns, the first N, or -N for the last.")
    if isinstance(labels, int):
        if not 0 < abs(labels) < len(names):
            raise ValueError(
                f"{path} has {len(names)} columns; labels must be a number below that, not 0; got {labels}."
            )
        return set(names[:labels] if labels > 0 else names[labels:])
    if isinstance(labels, str) or not isinstance(labels, Sequence) or not labels:
        raise ValueError(f"labels of {path} must be a number or a list of columns; got {labels!r}.")
    for name in labels:
        if list(labels).count(name) > 1:
            raise ValueError(f"labels of {path} must be distinct; {name!r} comes twice.")
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}{did_you_mean(str(name), names)}")
    return set(labels)


def _read_arrays(path: Path) -> Dataset:
    try:
        arrays = read_arrays(path, wanted=ARRAYS)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    if "Y" not in arrays or not ("X" in arrays or "X_data" in arrays):
        raise ValueError(f"{path} must hold the arrays X and Y; it has {', '.join(arrays) or 'neither'}.")
    Y = arrays["Y"]
    if Y.ndim != 2 or 0 in Y.shape or not np.isin(Y, (0, 1)).all():
        raise ValueError(f"Y in {path} must hold rows x labels, 0 or 1; got shape {Y.shape}, dtype {Y.dtype}.")
    X = arrays["X"] if "X" in arrays else _sparse_features(arrays, path)
    if X.ndim != 2 or X.dtype.kind not in "buif":
        raise ValueError(f"X in {path} must hold rows x features, numbers; got shape {X.shape}, dtype {X.dtype}.")
    names = arrays.get("label_names", np.arange(1, Y.shape[1] + 1))
    if names.shape != (Y.shape[1],):
        raise ValueError(f"label_names in {path} must hold {Y.shape[1]} names; got shape {names.shape}.")
    return Dataset(X, Y.astype(np.uint8), tuple(str(name) for name in names), path.stem)


def _sparse_features(arrays: dict[str, np.ndarray], path: Path) -> Any:
    parts = {name: arrays[f"X_{name}"] for name in SPARSE_PARTS if f"X_{name}" in arrays}
    for name in SPARSE_PARTS:
        part = parts.get(name)
        if part is None or part.ndim != 1 or part.dtype.kind not in ("buif" if name == "data" else "i"):
            got = "there is none" if part is None else f"got shape {part.shape}, dtype {part.dtype}"
            raise ValueError(
                f"X in {path} must be X_data, X_indices, X_indptr and X_shape of a CSR matrix; "
                f"X_{name} must be a vector of numbers, whole but in X_data; {got}."
            )
    return make_sparse(path, "csr", parts, ReadOptions())
