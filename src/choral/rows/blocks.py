"""What all rows share: the blocks in which they are walked, and the checks of their values.

A block is small enough for the cache, so checking, comparing and counting cost one trip to memory, and the extra memory
does not grow with the number of rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array
from choral._validation import Labels, refuse_where

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class RowOptions:
    """How rows are judged: see `choral.rows.open_rows`."""

    pred_name: str = "y_pred"
    threshold: float | None = None
    allow_missing: bool = True


class PairBlock(NamedTuple):
    """True labels and predictions of some rows, checked; labels that are not known are 0 on both sides."""

    rows: slice
    true: Any  # (n_rows, n_labels), an array or CSR, valid until the next block
    pred: Any
    is_hard: bool  # whether all predictions are 0 or 1
    n_observed: Array | None  # (n_rows,) how many labels are known; None where all are


class ErrorBlock(NamedTuple):
    """The label-wise errors |y - s| of some rows: counted for hard predictions, in full for scores.

    A label that is not known has no error: the number of wrong labels is that among the known ones, and the largest,
    second largest, ... errors are theirs, with zeros after them.
    """

    rows: slice
    wrong: Any  # (n_rows,) number of wrong labels, or None for scores
    errors: Any  # (n_rows, n_labels), an array valid until the next block, or CSR; None for hard
    n_observed: Array | None  # as in PairBlock


class CorrectBlock(NamedTuple):
    """The true labels of some rows, and which labels, or to what degree 1 - |y - s|, are predicted correctly."""

    true: Any
    correct: Any  # (n_rows, n_labels), bool for hard predictions, else floats
    is_hard: bool
    n_observed: Array | None  # as in PairBlock


class KnownBlock(NamedTuple):
    """Which labels of some rows are known."""

    rows: slice
    known: Any  # (n_rows, n_labels), dense booleans; None where all are


class Rows(ABC):
    """True labels and predictions of one shape, whose values are checked while they are walked.

    Attributes
    ----------
    n_rows, n_labels : int
    weights : array of shape (n_rows,), or None
        How much each row counts, checked; where the data lies.
    had_scores : bool
        Whether a threshold makes these predictions hard.
    is_lazy : bool
        Whether rows are computed elsewhere: they are summarised by `choral.rows.add_up`, and not walked.
    """

    n_rows: int
    n_labels: int
    weights: Array | None
    had_scores: bool = False
    is_lazy: bool = False

    @abstractmethod
    def pair_blocks(self) -> Iterator[PairBlock]:
        """One block of rows after another; raises at the first value that is not allowed."""

    @abstractmethod
    def error_blocks(self, *, count: bool = True) -> Iterator[ErrorBlock]:
        """Errors of one block of rows after another; hard predictions are counted unless ``count`` is False."""

    @abstractmethod
    def correct_blocks(self) -> Iterator[CorrectBlock]:
        """Which labels are right in one dense block of rows after another."""

    @abstractmethod
    def known_blocks(self) -> Iterator[KnownBlock]:
        """Which labels are known in one block of rows after another: not the blocks of errors, whose sizes differ."""

    @abstractmethod
    def part(self, rows: slice) -> Self:
        """Some of the rows."""

    @abstractmethod
    def predicting_nothing(self) -> "Rows":
        """The same true labels, and no label predicted."""

    def weights_of(self, rows: slice) -> Array | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[rows]


def row_slices(shape: tuple[int, int], itemsize: int, block_bytes: int | None = None) -> Iterator[slice]:
    """Consecutive slices of rows, of about ``block_bytes`` (1 MiB unless given) each and at least one row."""
    n_rows, n_labels = shape
    step = max(1, (BLOCK_BYTES if block_bytes is None else block_bytes) // (itemsize * n_labels))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def as_dense(matrix: Labels) -> Any:
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
        wrong = ~((block == 0) | (block == 1))
        refuse_where(binary_rule(name, block), name, block, wrong, first_row, remedy=label_remedy(name, block))


def binary_rule(name: str, values: np.ndarray) -> str:
    """What labels must be, and where to go with true labels that are missing."""
    rule = f"{name} must be binary, 0 or 1"
    missing = name == "y_true" and np.isnan(values).any()  # learners have a message of their own
    return f"{rule} (for nan, a missing label, see choral.evaluate and ObservedProfile)" if missing else rule


def label_remedy(name: str, values: np.ndarray) -> str:
    """What makes 0 and 1 of labels in a common notation: -1 and +1, or -1 or -100 for a label that is not known."""
    odd = np.unique(values[(values != 0) & (values != 1) & (values == values)])
    if odd.size != 1 or odd[0] not in (-1, -100):
        return ""
    number = f"{odd[0]:g}"
    missing = (
        f"If {number} stands for a missing label, make it nan, which choral.evaluate takes: "
        f"np.where({name} == {number}, np.nan, {name})."
    )
    if odd[0] == -100:
        return missing
    return f"{_sign_remedy(name)} {missing}" if (values == 0).any() else _sign_remedy(name)


def _sign_remedy(name: str) -> str:
    return f"Labels -1 and +1 become 0 and 1 by {name} > 0; where some are nan, by ({name} + 1) // 2."


def score_remedy(name: str, values: np.ndarray) -> str:
    """What makes scores in [0, 1], or labels, of predictions that are something else; none for nan."""
    numbers = values[values == values]
    if not numbers.size or (numbers.min() >= 0 and numbers.max() <= 1):
        return ""
    if ((numbers == -1) | (numbers == 1)).all():
        return _sign_remedy(name)
    percentages = "" if numbers.min() < 0 else "Divide percentages by 100. "
    return (
        f"{percentages}If these are logits, choral.scores_from_logits makes scores of them; choral.evaluate and "
        "choral.harden make labels of them by threshold=0."
    )


def check_unit_interval(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse predictions outside [0, 1], nan among them."""
    is_float = block.dtype.kind == "f"
    if not (block.min() >= 0 and block.max() <= 1 if is_float else all_binary(block)):  # nan fails too
        wrong = ~((block >= 0) & (block <= 1))
        remedy = score_remedy(name, block)
        refuse_where(f"{name} must lie in [0, 1]", name, block, wrong, first_row, remedy=remedy)


def check_not_nan(name: str, block: np.ndarray, first_row: int) -> None:
    """Refuse scores of any range that are nan."""
    if block.dtype.kind == "f":
        refuse_where(f"{name} must not be nan", name, block, np.isnan(block), first_row)
