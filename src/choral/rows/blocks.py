"""What walks over dense, sparse and foreign matrices share: the form of a block, and whether values are labels."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._validation import Labels, refuse_where


class ErrorBlock(NamedTuple):
    """The label-wise errors |y - s| of some rows: counted for hard predictions, in full for scores."""

    rows: slice
    wrong: Any  # (n_rows,) number of wrong labels, or None for scores
    errors: Any  # (n_rows, n_labels), an array valid until the next block, or CSR; None for hard


class CorrectBlock(NamedTuple):
    """The true labels of some rows, and which labels, or to what degree 1 - |y - s|, are predicted correctly."""

    true: Any
    correct: Any  # (n_rows, n_labels), bool for hard predictions, else floats
    is_hard: bool


def slices_of(n_rows: int, step: int) -> Iterator[slice]:
    """Consecutive slices of rows, of at least one row each."""
    step = max(1, step)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def dense(matrix: Labels) -> Any:
    """A matrix as an array: itself, but where it is sparse."""
    return matrix.toarray() if sp.issparse(matrix) else matrix


def all_binary(block: np.ndarray) -> bool:
    """Whether every value is 0 or 1."""
    if not block.size:
        return True
    kind = block.dtype.kind
    if kind == "b":
        return True
    if kind == "u":
        return bool(block.max() <= 1)
    if kind == "i":
        if block.flags.c_contiguous:  # read as unsigned, a negative number is a huge one: one pass, not two
            return bool(block.view(block.dtype.str.replace("i", "u")).max() <= 1)
        return bool(block.min() >= 0 and block.max() <= 1)
    return bool(((block == 0) | (block == 1)).all())


def check_binary(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse true labels other than 0 and 1."""
    if not all_binary(block):
        refuse_where(binary_rule(name, block), name, block, ~((block == 0) | (block == 1)), first_row)


def binary_rule(name: str, values: np.ndarray) -> str:
    """What labels must be, and where to go with true labels that are missing."""
    rule = f"{name} must be binary, 0 or 1"
    missing = name == "y_true" and np.isnan(values).any()  # learners and decisions have no use for missing labels
    return f"{rule} (for nan, a missing label, see choral.evaluate and ObservedProfile)" if missing else rule


def check_unit_interval(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse predictions outside [0, 1], nan among them."""
    is_float = block.dtype.kind == "f"
    if not (block.min() >= 0 and block.max() <= 1 if is_float else all_binary(block)):  # nan fails too
        refuse_where(f"{name} must lie in [0, 1]", name, block, ~((block >= 0) & (block <= 1)), first_row)
