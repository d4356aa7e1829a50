"""NPY and NPZ: arrays and sparse matrices without names. What their headers say is checked, not trusted."""

import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from math import prod
from pathlib import Path
from tokenize import TokenError
from typing import IO

import numpy as np
from scipy import sparse

from choral._text import first_line, quoted, some_of
from choral.label_files.table import NUMBERS, LabelTable, ReadOptions

INTEGERS, TEXT = "i", "SU"  # by the kinds of NumPy's types
MEANING = {NUMBERS: "numbers or booleans", INTEGERS: "integers", TEXT: "text", NUMBERS + TEXT: "numbers or text"}
# RuntimeError: encrypted; NotImplementedError, a kind of it: a compression that Python lacks
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)


def read_npy(path: Path, options: ReadOptions) -> LabelTable:
    """Read one array."""
    _check_nameless(path, options)
    with open(path, "rb") as file:
        return LabelTable(_read_array(file, path.stat().st_size, str(path)), source=str(path))


def read_npz(path: Path, options: ReadOptions) -> LabelTable:
    """Read one array of several, or a matrix written by ``scipy.sparse.save_npz``."""
    _check_nameless(path, options)
    try:
        with zipfile.ZipFile(path) as archive:
            options.check_size(path, sum(entry.file_size for entry in archive.infolist()))
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            read = partial(_read_entry, archive, path)
            if {"format", "shape", "data"} <= set(names):
                return LabelTable(_read_sparse(path, read, options), source=str(path))
            return LabelTable(read(_choose_array(path, names)), source=str(path))
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a readable NPZ file: {first_line(error)}.") from error


def read_arrays(path: Path, max_bytes: int) -> dict[str, np.ndarray]:
    """Read all arrays of numbers and of text of an NPZ file."""
    try:
        with zipfile.ZipFile(path) as archive:
            ReadOptions(max_bytes=max_bytes).check_size(path, sum(entry.file_size for entry in archive.infolist()))
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            return {name: _read_entry(archive, path, name, NUMBERS + TEXT, None) for name in names}
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a readable NPZ file: {first_line(error)}.") from error


def _check_nameless(path: Path, options: ReadOptions) -> None:
    if options.weight_column is not None:
        raise ValueError(f"{path}: arrays have no names, so no column {options.weight_column!r} for the weights.")
    if options.labels is not None:
        raise ValueError(f"{path}: arrays have no names, so no columns to choose labels from.")


def _choose_array(path: Path, names: list[str]) -> str:
    choice = [name for name in ("y", "arr_0") if name in names]
    if not choice and len(names) != 1:
        raise ValueError(f"{path} must hold one array, or one called 'y' or 'arr_0'; got {some_of(names) or 'none'}.")
    return (choice or names)[0]


def _read_entry(
    archive: zipfile.ZipFile, path: Path, name: str, kinds: str = NUMBERS, ndim: int | None = 2
) -> np.ndarray:
    entry = f"{name}.npy"
    if entry not in archive.namelist():
        raise ValueError(f"{path} lacks the array {name!r} of a sparse matrix.")
    # zipfile never gives more than the announced size, so that is what the header has to match
    with archive.open(entry) as file:
        return _read_array(file, archive.getinfo(entry).file_size, f"{path}, array {name!r}", kinds, ndim)


def _read_array(file: IO[bytes], size: int, source: str, kinds: str = NUMBERS, ndim: int | None = 2) -> np.ndarray:
    """Read an array in NumPy's format after its header has been compared with the bytes there are."""
    shape, dtype = _read_header(file, source)
    if dtype.hasobject:
        raise ValueError(f"{source} holds Python objects, which choral does not unpickle; save it as numbers.")
    if dtype.kind not in kinds:
        raise ValueError(f"{source} must hold {MEANING[kinds]}; got the type {dtype}.")
    if min(shape, default=0) < 0:
        raise ValueError(f"{source} is damaged: its header announces the shape {shape}.")
    if ndim is not None and len(shape) != ndim:
        raise ValueError(f"{source} must be {ndim}-dimensional; got shape {shape}.")
    promised, held = prod(shape) * dtype.itemsize, size - file.tell()
    if promised != held:
        raise ValueError(f"{source} is damaged: its header announces {promised} bytes, there are {held}.")
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    return array.astype(dtype.newbyteorder("="), copy=False)


def _read_header(file: IO[bytes], source: str) -> tuple[tuple[int, ...], np.dtype]:
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:  # later versions are for structured types
            raise ValueError(f"version {version} of the format does not hold plain numbers")
    except (ValueError, SyntaxError, TokenError) as error:  # the header is a Python literal
        raise ValueError(f"{source} is not a readable NumPy array: {first_line(error)}.") from error
    return shape, dtype


def _read_sparse(path: Path, read: Callable[..., np.ndarray], options: ReadOptions) -> sparse.csr_array:
    """A matrix in the layout of ``scipy.sparse.save_npz``, every index checked."""
    layout = str(read("format", TEXT, 0).astype(str))
    if layout not in ("csr", "csc", "coo"):
        raise ValueError(f"{path}: the sparse format must be csr, csc or coo; got {quoted(layout)}.")
    shape = tuple(read("shape", INTEGERS, 1).tolist())
    if len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"{path}: a sparse matrix must have the shape rows x labels; got {shape}.")
    options.check_size(path, 8 * sum(shape))  # what the index of the rows or a profile of the labels takes
    data = read("data", NUMBERS, 1)
    names = ("row", "col") if layout == "coo" else ("indices", "indptr")
    indices = [read(name, INTEGERS, 1) for name in names]
    try:
        if layout == "coo":
            matrix = sparse.coo_array((data, tuple(indices)), shape=shape)  # checks every index by itself
        else:
            cls = sparse.csr_array if layout == "csr" else sparse.csc_array
            matrix = cls((data, *indices), shape=shape)
            matrix.check_format(full_check=True)
        stored = matrix.nnz
        result = matrix.tocsr()
        result.sum_duplicates()
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} holds a damaged sparse matrix: {first_line(error)}.") from error
    if result.nnz != stored:  # SciPy would add them up to a label that nobody wrote
        raise ValueError(f"{path} holds a damaged sparse matrix: an entry is stored twice.")
    return result
