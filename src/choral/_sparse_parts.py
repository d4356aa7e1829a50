"""The parts of sparse matrices: checked before SciPy's compiled code follows them, for it reads and writes anywhere.

SciPy's own full check is skipped where the last entry of the index pointer is 0, and its differences may overflow.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np


def check_sparse(name: str, matrix: Any) -> None:
    """Refuse a SciPy matrix whose parts contradict each other; one pass over its indices.

    The parts may be longer than the index pointer says: SciPy leaves room for entries to come. Formats that are neither
    compressed nor lists of coordinates have no such parts: check what they become.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> matrix = csr_array(np.eye(2))
    >>> matrix.indices[1] = 7
    >>> check_sparse("y_true", matrix)
    Traceback (most recent call last):
    ValueError: y_true is a damaged sparse matrix: column indices must lie in 0 to 1; index 1 is 7.
    """
    try:
        if matrix.format == "coo":
            check_coordinates(matrix.data, (matrix.row, matrix.col), matrix.shape)
        elif matrix.format in ("csr", "csc", "bsr"):
            height, width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
            shape = matrix.shape[0] // height, matrix.shape[1] // width
            check_compressed(matrix.format, matrix.data, matrix.indices, matrix.indptr, shape)
    except ValueError as error:
        raise ValueError(f"{name} is a damaged sparse matrix: {error}") from None


def check_compressed(
    layout: str, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Sequence[int]
) -> None:
    """Refuse parts of a csr, csc or bsr matrix that contradict each other; of the latter, the shape is in blocks.

    Examples
    --------
    >>> check_compressed("csr", np.ones(1), np.array([0]), np.array([0, 9, 1]), shape=(2, 3))
    Traceback (most recent call last):
    ValueError: the index pointer must not fall; it goes from 9 to 1 at row 1.
    """
    n_lines, n_places = (shape[1], shape[0]) if layout == "csc" else (shape[0], shape[1])
    line, place = ("column", "row") if layout == "csc" else ("row", "column")
    if indptr.shape != (n_lines + 1,):
        raise ValueError(f"index pointer size must be {n_lines + 1}, one more than {line}s; got shape {indptr.shape}.")
    _check_whole("the index pointer", indptr)
    falls = indptr[1:] < indptr[:-1]  # a difference could overflow
    if falls.any():
        at = int(falls.argmax())
        raise ValueError(
            f"the index pointer must not fall; it goes from {indptr[at]} to {indptr[at + 1]} at {line} {at}."
        )
    if indptr[0] != 0 or indptr[-1] > indices.size:
        ends = f"{indptr[0]} to {indptr[-1]}"
        raise ValueError(
            f"the index pointer must go from 0 to at most {indices.size}, the number of indices; got {ends}."
        )
    _check_length(data, indices)
    _check_range(f"{place} indices", indices, n_places)


def check_coordinates(data: np.ndarray, coordinates: Sequence[np.ndarray], shape: Sequence[int]) -> None:
    """Refuse parts of a coo matrix that contradict each other.

    Examples
    --------
    >>> check_coordinates(np.ones(1), (np.array([0]), np.array([-1])), shape=(2, 3))
    Traceback (most recent call last):
    ValueError: column indices must lie in 0 to 2; index 0 is -1.
    """
    for line, indices, size in zip(("row", "column"), coordinates, shape, strict=True):
        _check_length(data, indices)
        _check_range(f"{line} indices", indices, size)


def _check_whole(what: str, indices: np.ndarray) -> None:
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{what} must hold whole numbers; got dtype {indices.dtype}.")


def _check_length(data: np.ndarray, indices: np.ndarray) -> None:
    if indices.ndim != 1 or data.shape[:1] != indices.shape:
        raise ValueError(f"there must be an index for each of {len(data)} entries; got shape {indices.shape}.")


def _check_range(what: str, indices: np.ndarray, size: int) -> None:
    _check_whole(what, indices)
    if indices.size and not (indices.min() >= 0 and indices.max() < size):
        at = int(((indices < 0) | (indices >= size)).argmax())
        raise ValueError(f"{what} must lie in 0 to {size - 1}; index {at} is {indices[at]}.")
