"""Rows of arrays in the memory of the host, of which one side may be sparse."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from choral._validation import Labels
from choral.rows.blocks import (
    CorrectBlock,
    ErrorBlock,
    KnownBlock,
    PairBlock,
    RowOptions,
    Rows,
    all_binary,
    as_dense,
    check_binary,
    check_not_nan,
    check_unit_interval,
    row_slices,
)

MAX_BYTE_SUM = 255  # a byte counts this far without a carry into its neighbour
EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)


class DenseRows(Rows):
    """Rows of two matrices of the host; see `choral.rows.open_rows` for the arguments."""

    def __init__(
        self,
        y_true: Labels,
        y_pred: Labels,
        observed: Labels | None,
        weights: np.ndarray | None,
        options: RowOptions,
    ):
        self.n_rows, self.n_labels = y_true.shape
        self.weights = weights
        self.had_scores = options.threshold is not None
        self._true, self._pred, self._observed, self._options = y_true, y_pred, observed, options
        self._zeroed = (_ZeroedBlock(), _ZeroedBlock())

    def part(self, rows: slice) -> "DenseRows":
        observed = None if self._observed is None else self._observed[rows]
        return DenseRows(self._true[rows], self._pred[rows], observed, self.weights_of(rows), self._options)

    def predicting_nothing(self) -> "DenseRows":
        nothing = sp.csr_array((self.n_rows, self.n_labels), dtype=np.uint8)
        return DenseRows(self._true, nothing, self._observed, self.weights, replace(self._options, threshold=None))

    def has_hard_predictions(self) -> bool:
        """Whether the predictions of known labels are 0 or 1 already; of other values nothing is checked."""
        first_row = self.part(slice(0, 1))._unchecked_blocks()  # which tells most scores
        return all(all_binary(pred) for blocks in (first_row, self._unchecked_blocks()) for _, _, pred, _ in blocks)

    def has_unit_scores(self) -> bool:
        """Whether the predictions of known labels all lie in [0, 1]."""
        return all(pred.min() >= 0 and pred.max() <= 1 for _, _, pred, _ in self._unchecked_blocks())

    def _unchecked_blocks(self) -> Iterator[tuple[slice, np.ndarray, np.ndarray, np.ndarray | None]]:
        """Rows, true labels and predictions with 0 for labels that are not known, and which are known."""
        itemsize = max(self._true.dtype.itemsize, self._pred.dtype.itemsize)
        for rows in row_slices((self.n_rows, self.n_labels), itemsize):
            true, pred = as_dense(self._true[rows]), as_dense(self._pred[rows])
            known = self._known(rows, true)
            if known is not None:
                true, pred = self._zeroed[0].zero_unknown(true, known), self._zeroed[1].zero_unknown(pred, known)
            yield rows, true, pred, known

    def pair_blocks(self) -> Iterator[PairBlock]:
        for rows, true, pred, known in self._unchecked_blocks():
            check_binary("y_true", true, rows.start)
            if self._options.threshold is not None:
                check_not_nan(self._options.pred_name, pred, rows.start)
                pred = pred >= self._options.threshold
                pred = pred if known is None else pred & known
            else:
                check_unit_interval(self._options.pred_name, pred, rows.start)
            hard = pred.dtype.kind != "f" or all_binary(pred)  # checked integers are 0 or 1
            yield PairBlock(rows, true, pred, hard, None if known is None else count_rows(known))

    def error_blocks(self, *, count: bool = True) -> Iterator[ErrorBlock]:
        buffer = np.empty(0)
        for rows, true, pred, hard, n_observed in self.pair_blocks():
            if count and hard:
                yield ErrorBlock(rows, count_rows(np.not_equal(true, pred, order="C")), None, n_observed)
                continue
            if buffer.shape[:1] < true.shape[:1]:
                buffer = np.empty(true.shape)
            errors = buffer[: len(true)]
            np.subtract(true, pred, out=errors, dtype=float)  # in doubles: 0 - 1 in uint8 would be 255
            yield ErrorBlock(rows, None, np.abs(errors, out=errors), n_observed)

    def correct_blocks(self) -> Iterator[CorrectBlock]:
        for _, true, pred, hard, n_observed in self.pair_blocks():
            yield CorrectBlock(true, true == pred if hard else 1 - np.abs(true.astype(float) - pred), hard, n_observed)

    def known_blocks(self) -> Iterator[KnownBlock]:
        for rows in row_slices((self.n_rows, self.n_labels), self._true.dtype.itemsize):
            yield KnownBlock(rows, self._known(rows, as_dense(self._true[rows])))

    def _known(self, rows: slice, true: np.ndarray) -> np.ndarray | None:
        """True where a label of a block is known; None where all are, or where none may be missing."""
        if not self._options.allow_missing:
            return None
        known = None
        if true.dtype.kind == "f" and not all_binary(true):  # else there is no nan among them
            known = np.equal(true, true, order="C")
        if self._observed is not None:
            mask = as_dense(self._observed[rows])
            known = np.ascontiguousarray(mask) if known is None else np.logical_and(known, mask, out=known)
        return None if known is None or known.all() else known


class _ZeroedBlock:
    """A block with 0 for labels that are not known, valid until the next one.

    Fresh memory for each block would take as long as the rest.
    """

    def __init__(self) -> None:
        self._bits = np.empty((0, 0), dtype=np.int8)

    def zero_unknown(self, block: np.ndarray, known: np.ndarray) -> np.ndarray:
        if block.itemsize > 8:  # long doubles: no integer is as long
            return np.where(known, block, 0)
        if len(self._bits) < len(block):
            self._bits = np.empty(block.shape, dtype=f"i{block.itemsize}")
        # A zero has no bit set, and nan loses its own; np.where takes 3 times as long, for bytes 20 times.
        bits = self._bits[: len(block)]
        np.bitwise_and(block.view(bits.dtype), -known.view(np.int8), out=bits)
        return bits.view(block.dtype)


def count_rows(flags: np.ndarray) -> np.ndarray:
    """Number of True in each row of a C-contiguous boolean array: the inner loop of every hard loss.

    Eight (or four, or two) flags are read as one word. Adding words adds their bytes side by side, without
    a carry as long as a byte counts at most 255; einsum has the least overhead per row of all NumPy's sums.
    """
    n_rows, n_labels = flags.shape
    size = next(size for size in (8, 4, 2, 1) if n_labels % size == 0)
    words = flags.view(f"u{size}")
    counts = np.zeros(n_rows, dtype=np.intp)
    for start in range(0, words.shape[1], MAX_BYTE_SUM):
        sums = np.einsum("ij->i", words[:, start : start + MAX_BYTE_SUM])
        counts += _add_bytes(sums.astype(np.uint64))
    return counts


def _add_bytes(words: np.ndarray) -> np.ndarray:
    """The sum of the eight bytes of each word: pairs of bytes first, then four pairs by one product."""
    pairs = (words & EVEN_BYTES) + ((words >> np.uint64(8)) & EVEN_BYTES)
    return ((pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)).astype(np.intp)
