"""NPY and NPZ: arrays and sparse matrices without names. What their headers say is checked, not trusted."""

import sys
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from functools import partial
from math import prod
from pathlib import Path
from typing import IO

import numpy as np
from scipy import sparse

from choral._sparse_parts import check_compressed, check_coordinates
from choral._text import first_line, quoted, some_of
from choral.label_files.table import NUMBERS, LabelTable, ReadOptions

INTEGERS, TEXT = "i", "SU"  # by the kinds of NumPy's types
INDEX_NAMES = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
BYTES_PER_ROW, BYTES_PER_COLUMN = 64, 16  # at least, in an evaluation: sparse matrices may announce more than they hold
MEANING = {NUMBERS: "numbers or booleans", INTEGERS: "integers", TEXT: "text", NUMBERS + TEXT: "numbers or text"}
# RuntimeError: encrypted; NotImplementedError, a kind of it: a compression that Python lacks
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError)
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what NumPy writes
OTHER_PACKINGS = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "lzma"}


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
            _check_entries(archive, path, options)
            names = [name.removesuffix(".npy") for name in archive.namelist()]
            read = partial(_read_entry, archive, path)
            if {"format", "shape", "data"} <= set(names):
                return LabelTable(_read_sparse(path, read, options), source=str(path))
            return LabelTable(read(_choose_array(path, names)), source=str(path))
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a readable NPZ file: {first_line(error)}.") from error


def read_arrays(
    path: Path, max_bytes: int | None = None, wanted: Collection[str] | None = None
) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file, or those wanted that it has; they hold numbers or text."""
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive, path, ReadOptions(max_bytes=max_bytes))
            names = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
            chosen = [name for name in names if wanted is None or name in wanted]
            return {name: _read_entry(archive, path, name, NUMBERS + TEXT, None) for name in chosen}
    except UNREADABLE as error:
        raise ValueError(f"{path} is not a readable NPZ file: {first_line(error)}.") from error


def _check_nameless(path: Path, options: ReadOptions) -> None:
    if options.weight_column is not None:
        raise ValueError(f"{path}: arrays have no names, so no column {options.weight_column!r} for the weights.")
    if options.labels is not None:
        raise ValueError(f"{path}: arrays have no names, so no columns to choose labels from.")


def _check_entries(archive: zipfile.ZipFile, path: Path, options: ReadOptions) -> None:
    """Refuse an archive by what it announces, before any of it is unpacked."""
    options.check_size(path, sum(entry.file_size for entry in archive.infolist()), held=path.stat().st_size)
    for entry in archive.infolist():
        if entry.compress_type not in COMPRESSIONS:  # zipfile would unpack a block of these at once, however large
            how = OTHER_PACKINGS.get(entry.compress_type, f"method {entry.compress_type}")
            what = f"{quoted(entry.filename)} is packed by {how}; expected deflate, or no compression"
            raise ValueError(f"{path} is not a readable NPZ file: {what}.")


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
    if any(type(size) is not int or size < 0 for size in shape):  # True is an int as well
        raise ValueError(f"{source} is damaged: its header announces the shape {shape}.")
    if ndim is not None and len(shape) != ndim:
        raise ValueError(f"{source} must be {ndim}-dimensional; got shape {shape}.")
    promised, held = prod(shape) * dtype.itemsize, size - file.tell()
    if promised != held:
        raise ValueError(f"{source} is damaged: its header announces {promised} bytes, there are {held}.")
    file.seek(0)
    array = np.lib.format.read_array(file, allow_pickle=False)
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        raise ValueError(f"{source} is damaged: it holds booleans that are neither 0 nor 1.")
    array = array.astype(dtype.newbyteorder("="), copy=False)
    if dtype.kind == "U" and np.frombuffer(array.tobytes(), np.uint32).max(initial=0) > sys.maxunicode:
        raise ValueError(f"{source} is damaged: it holds text beyond Unicode.")
    return array


def _read_header(file: IO[bytes], source: str) -> tuple[tuple[int, ...], np.dtype]:
    try:
        version = np.lib.format.read_magic(file)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        elif version == (2, 0):
            shape, _, dtype = np.lib.format.read_array_header_2_0(file)
        else:  # later versions are for structured types
            raise ValueError(f"version {version} of the format does not hold plain numbers")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise  # it is the archive or the disk
    except Exception as error:  # the header is a Python literal, and NumPy expects a tame one
        raise ValueError(f"{source} is not a readable NumPy array: {first_line(error)}.") from error
    return shape, dtype


def _read_sparse(path: Path, read: Callable[..., np.ndarray], options: ReadOptions) -> sparse.csr_array:
    """A matrix in the layout of ``scipy.sparse.save_npz``."""
    layout = str(read("format", TEXT, 0).astype(str))
    if layout not in INDEX_NAMES:
        raise ValueError(f"{path}: the sparse format must be csr, csc or coo; got {quoted(layout)}.")
    names = {"shape": INTEGERS, "data": NUMBERS, **dict.fromkeys(INDEX_NAMES[layout], INTEGERS)}
    arrays = {name: read(name, kinds, 1) for name, kinds in names.items()}
    matrix = make_sparse(path, layout, arrays, options)
    if matrix.nnz != arrays["data"].size:  # SciPy adds them up to a label that nobody wrote
        raise ValueError(f"{path} holds a damaged sparse matrix: an entry is stored twice.")
    return matrix


def make_sparse(path: Path, layout: str, arrays: Mapping[str, np.ndarray], options: ReadOptions) -> sparse.csr_array:
    """A sparse matrix in canonical form, of parts from a file, every index checked before SciPy sees it.

    Parameters
    ----------
    path : Path
    layout : {"csr", "csc", "coo"}
    arrays : mapping
        ``shape``, ``data``, and ``indices`` and ``indptr``, or ``row`` and ``col``.
    options : ReadOptions
    """
    shape = tuple(arrays["shape"].tolist())
    if arrays["shape"].dtype.kind not in INTEGERS or len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"{path}: a sparse matrix must have the shape rows x labels; got {shape}.")
    size = BYTES_PER_ROW * shape[0] + BYTES_PER_COLUMN * shape[1]
    options.check_size(path, size, held=path.stat().st_size)
    data, first, second = (arrays[name] for name in ("data", *INDEX_NAMES[layout]))
    try:
        if layout == "coo":
            check_coordinates(data, (first, second), shape)
            matrix = sparse.coo_array((data, (first, second)), shape=shape)
        else:
            check_compressed(layout, data, first, second, shape)
            if second[-1] != first.size:
                raise ValueError(f"the index pointer ends at {second[-1]}; there are {first.size} indices")
            matrix = (sparse.csr_array if layout == "csr" else sparse.csc_array)((data, first, second), shape=shape)
    except ValueError as error:
        raise ValueError(f"{path} holds a damaged sparse matrix: {first_line(error)}.") from error
    result = matrix.tocsr()
    result.sum_duplicates()
    return result
