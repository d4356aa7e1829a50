"""Rows of arrays of other libraries, walked on their device: torch, CuPy, JAX and the array API standard.

Blocks are as large as a device likes them, and the extra memory still does not grow with the number of rows. The host
waits once a block, for three flags that say whether all values are allowed and whether the predictions are labels. A
matrix of NumPy or SciPy beside a foreign one is moved to the device, a block at a time.
"""

from collections.abc import Iterator
from dataclasses import replace

from choral._array_api import (
    Array,
    as_real,
    device_of,
    first_foreign,
    is_foreign,
    to_device_of,
    to_host,
    widest,
    xp_of,
)
from choral._validation import Labels
from choral.rows.blocks import (
    CorrectBlock,
    ErrorBlock,
    KnownBlock,
    PairBlock,
    RowOptions,
    Rows,
    as_dense,
    check_binary,
    check_not_nan,
    check_unit_interval,
    row_slices,
)

BLOCK_BYTES = 1 << 26  # of errors as doubles; sorting them takes about three times as much besides


class DeviceRows(Rows):
    """Rows of two matrices, at least one of them on a device; see `choral.rows.open_rows` for the arguments."""

    def __init__(
        self,
        y_true: Labels,
        y_pred: Labels,
        observed: Labels | None,
        weights: Array | None,
        options: RowOptions,
    ):
        self.n_rows, self.n_labels = y_true.shape
        self.weights = weights
        self.had_scores = options.threshold is not None
        self.matrices = y_true, y_pred
        self._observed, self._options = observed, options

    @property
    def like(self) -> Array:
        """An array on the device."""
        return first_foreign(*self.matrices)

    @property
    def is_plain(self) -> bool:
        """Whether predictions are judged as they are, against labels that are all known or nan."""
        return self._observed is None and self._options.threshold is None

    def part(self, rows: slice) -> "DeviceRows":
        true, pred = (matrix[rows, :] for matrix in self.matrices)
        observed = None if self._observed is None else self._observed[rows, :]
        return DeviceRows(true, pred, observed, self.weights_of(rows), self._options)

    def predicting_nothing(self) -> "DeviceRows":
        xp = xp_of(self.like)
        nothing = xp.zeros((self.n_rows, self.n_labels), dtype=xp.bool, device=device_of(self.like))
        options = replace(self._options, threshold=None)
        return DeviceRows(self.matrices[0], nothing, self._observed, self.weights, options)

    def has_hard_predictions(self) -> bool:
        """Whether the predictions of known labels are 0 or 1 already; of other values nothing is checked."""
        for rows in self._slices():
            true, pred = self._pair(rows)
            if not _all_binary(_zero_unknown(pred, self._known(rows, true))):
                return False
        return True

    def has_unit_scores(self) -> bool:
        """Whether the predictions of known labels all lie in [0, 1]."""
        for rows in self._slices():
            true, pred = self._pair(rows)
            pred = _zero_unknown(pred, self._known(rows, true))
            if not bool(xp_of(pred).all((pred >= 0) & (pred <= 1))):
                return False
        return True

    def pair_blocks(self) -> Iterator[PairBlock]:
        for rows in self._slices():
            true, pred = self._pair(rows)
            known = self._in_mask(rows, true)
            true, pred = _zero_unknown(true, known), _zero_unknown(pred, known)
            true_fine, pred_fine, hard = _flags(true, pred)
            if not true_fine and self._options.allow_missing:  # there may be nan among them
                known = self._known(rows, true)
                true, pred = _zero_unknown(true, known), _zero_unknown(pred, known)
                true_fine, pred_fine, hard = _flags(true, pred)
            # One row of what is wrong goes to the host, where NumPy's checks name the place.
            if not true_fine:
                row = _first_row(~_is_binary(true))
                check_binary("y_true", to_host(true[row : row + 1, :]), rows.start + row)
            if self._options.threshold is not None:
                self._check_not_nan(pred, rows.start)
                pred, hard = pred >= self._options.threshold, True
                pred = pred if known is None else pred & known
            elif not pred_fine:
                row = _first_row(~((pred >= 0) & (pred <= 1)))
                check_unit_interval(self._options.pred_name, to_host(pred[row : row + 1, :]), rows.start + row)
            yield PairBlock(rows, true, pred, hard, None if known is None else _count_rows(known))

    def error_blocks(self, *, count: bool = True) -> Iterator[ErrorBlock]:
        for rows, true, pred, hard, n_observed in self.pair_blocks():
            if hard and count:
                yield ErrorBlock(rows, _count_rows(differ(true, pred)), None, n_observed)
            else:
                yield ErrorBlock(rows, None, absolute_errors(true, pred), n_observed)

    def correct_blocks(self) -> Iterator[CorrectBlock]:
        for _, true, pred, hard, n_observed in self.pair_blocks():
            yield CorrectBlock(true, ~differ(true, pred) if hard else 1 - absolute_errors(true, pred), hard, n_observed)

    def known_blocks(self) -> Iterator[KnownBlock]:
        for rows in self._slices():
            known = self._known(rows, self._on_device(self.matrices[0], rows))
            all_known = known is None or bool(xp_of(known).all(known))
            yield KnownBlock(rows, None if all_known else known)

    def _slices(self) -> Iterator[slice]:
        return row_slices((self.n_rows, self.n_labels), 8, BLOCK_BYTES)

    def _pair(self, rows: slice) -> tuple[Array, Array]:
        true, pred = self.matrices
        return self._on_device(true, rows), self._on_device(pred, rows)

    def _in_mask(self, rows: slice, true: Array) -> Array | None:
        """True where the mask of the user says that a label is known; None without one."""
        if self._observed is None:
            return None
        return xp_of(true).astype(self._on_device(self._observed, rows), xp_of(true).bool)

    def _known(self, rows: slice, true: Array) -> Array | None:
        """True where a label is known; None where all are."""
        xp, mask = xp_of(true), self._in_mask(rows, true)
        if not xp.isdtype(true.dtype, "real floating"):
            return mask
        known = ~xp.isnan(true)
        return known if mask is None else known & mask

    def _on_device(self, matrix: Labels, rows: slice) -> Array:
        if is_foreign(matrix):
            return matrix[rows, :]
        return to_device_of(as_dense(matrix[rows]), self.like)

    def _check_not_nan(self, pred: Array, first_row: int) -> None:
        xp = xp_of(pred)
        if xp.isdtype(pred.dtype, "real floating") and bool(xp.any(xp.isnan(pred))):
            row = _first_row(xp.isnan(pred))
            check_not_nan(self._options.pred_name, to_host(pred[row : row + 1, :]), first_row + row)


def _zero_unknown(block: Array, known: Array | None) -> Array:
    return block if known is None else xp_of(block).where(known, block, xp_of(block).zeros_like(block))


def _flags(true: Array, pred: Array) -> tuple[bool, bool, bool]:
    """Whether true labels are binary, predictions lie in [0, 1], and these are binary: one answer from the device."""
    xp = xp_of(true)
    is_float = xp.isdtype(pred.dtype, "real floating")
    hard = _all_binary(pred)
    fine = (xp.min(pred) >= 0) & (xp.max(pred) <= 1) if is_float else hard  # nan fails
    return tuple(to_host(xp.stack([_all_binary(true), fine, hard])).tolist())


def _all_binary(block: Array) -> Array:
    xp = xp_of(block)
    if xp.isdtype(block.dtype, "bool"):
        return xp.ones((), dtype=xp.bool, device=device_of(block))
    if xp.isdtype(block.dtype, "integral"):  # two passes without a temporary
        return (xp.min(block) >= 0) & (xp.max(block) <= 1)
    return xp.all(_is_binary(block))


def _is_binary(block: Array) -> Array:
    return (block == 0) | (block == 1)


def _first_row(flags: Array) -> int:
    """The first row with a flag."""
    xp = xp_of(flags)
    return int(xp.argmax(xp.astype(xp.any(flags, axis=1), xp.uint8)))


def differ(true: Array, pred: Array) -> Array:
    """Which labels of hard predictions are wrong; the standard compares one type of numbers with itself alone."""
    xp = xp_of(true)
    if true.dtype == pred.dtype:
        return true != pred
    return xp.astype(true, xp.bool) != xp.astype(pred, xp.bool)


def _count_rows(flags: Array) -> Array:
    xp = xp_of(flags)
    return xp.sum(xp.astype(flags, xp.uint8), axis=1, dtype=widest(flags).integer)


def absolute_errors(true: Array, pred: Array) -> Array:
    """The errors of scores, |y - s|."""
    return xp_of(true).abs(as_real(true) - as_real(pred))
