"""How many labels of each row are wrong, and how many rows have 0, 1, ... wrong labels.

Labels in bytes are read as words of four: the difference of two words has a 1 in each byte that is wrong, adding words
adds their bytes side by side, and a bit other than the lowest of a byte betrays a value that is no label.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl

from choral.rows.gpu.sorting import on_its_device, readable

BYTES = (torch.bool, torch.uint8, torch.int8)
VALUES_A_THREAD = 16  # of each matrix, which a program holds at once
MAX_COLUMNS = 1024  # words or values of a row at a time
MAX_BINS = 1024  # of a histogram in shared memory
N_STRANGE = 3  # numbers about values
VALUES_PER_PROGRAM = 4096


class WrongLabels(NamedTuple):
    """What was found in two matrices, in one tensor on the device, for it is sent to the host at once.

    Attributes
    ----------
    found : Tensor of shape (3 + n_labels + 1,)
        ``strange``, then ``rows_by_errors``, as whole numbers.
    """

    found: torch.Tensor

    @property
    def strange(self) -> torch.Tensor:
        """How many true labels are not binary, how many predictions are refused, and 1 if some are not 0 and 1."""
        return self.found[:N_STRANGE]

    @property
    def rows_by_errors(self) -> torch.Tensor:
        """Rows with 0, 1, ..., n_labels wrong labels."""
        return self.found[N_STRANGE:]

    def on_host(self) -> tuple[np.ndarray, np.ndarray]:
        """``strange`` and ``rows_by_errors`` as arrays of NumPy, for which the host waits."""
        found = self.found.cpu().numpy()
        return found[:N_STRANGE], found[N_STRANGE:]


@triton.jit
def _count_words(true, pred, counts, strange, n_rows, n_words, ROWS: tl.constexpr, WORDS: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    wrong = tl.zeros([ROWS], dtype=tl.int32)
    met = tl.zeros([ROWS, WORDS], dtype=tl.int32)
    for start in range(0, n_words, WORDS):
        words = start + tl.arange(0, WORDS)
        inside = (rows < n_rows)[:, None] & (words < n_words)[None, :]
        places = rows[:, None] * n_words + words[None, :]
        y = tl.load(true + places, mask=inside, other=0)
        s = tl.load(pred + places, mask=inside, other=0)
        met |= y | s
        bytes_ = y ^ s
        if WORDS <= 128:  # a byte counts to 255
            bytes_ = tl.sum(bytes_, axis=1)
            pairs = (bytes_ & 0x00FF00FF) + ((bytes_ >> 8) & 0x00FF00FF)
        else:
            pairs = tl.sum((bytes_ & 0x00FF00FF) + ((bytes_ >> 8) & 0x00FF00FF), axis=1)
        wrong += (pairs & 0xFFFF) + (pairs >> 16)
    tl.store(counts + rows, wrong, mask=rows < n_rows)
    if tl.max(tl.max(_strange_bytes(met), axis=1), axis=0) > 0:  # hardly ever: count them in a walk of its own
        of_true = tl.zeros([ROWS, WORDS], dtype=tl.int32)
        of_pred = tl.zeros([ROWS, WORDS], dtype=tl.int32)
        for start in range(0, n_words, WORDS):
            words = start + tl.arange(0, WORDS)
            inside = (rows < n_rows)[:, None] & (words < n_words)[None, :]
            places = rows[:, None] * n_words + words[None, :]
            of_true += _strange_bytes(tl.load(true + places, mask=inside, other=0))
            of_pred += _strange_bytes(tl.load(pred + places, mask=inside, other=0))
        _add(strange, of_true)
        _add(strange + 1, of_pred)
        tl.atomic_max(strange + 2, tl.max(tl.max((of_pred > 0).to(tl.int64), axis=1), axis=0))


@triton.jit
def _strange_bytes(words):
    """How many bytes of each word are neither 0 nor 1."""
    upper = words & -16843010  # in two's complement 0xFEFEFEFE: all bits of a byte but the lowest
    marked = (((upper & 0x7F7F7F7F) + 0x7F7F7F7F) | upper) >> 7  # in the lowest bit of a byte: whether one is set
    pairs = (marked & 0x00010001) + ((marked >> 8) & 0x00010001)
    return (pairs & 0xFFFF) + (pairs >> 16)


@triton.jit
def _count_values(
    true, pred, cut, counts, strange, n_rows, n_labels,
    ROWS: tl.constexpr, LABELS: tl.constexpr, CUT: tl.constexpr, LOGITS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    wrong = tl.zeros([ROWS], dtype=tl.int32)
    of_true = tl.zeros([ROWS, LABELS], dtype=tl.int32)
    of_pred = tl.zeros([ROWS, LABELS], dtype=tl.int32)
    soft = tl.zeros([ROWS, LABELS], dtype=tl.int1)
    for start in range(0, n_labels, LABELS):
        labels = start + tl.arange(0, LABELS)
        inside = (rows < n_rows)[:, None] & (labels < n_labels)[None, :]
        places = rows[:, None] * n_labels + labels[None, :]
        y = tl.load(true + places, mask=inside, other=0)
        s = tl.load(pred + places, mask=inside, other=0)
        if CUT and s.dtype.primitive_bitwidth == 16:
            s = s.to(tl.float32)
        of_true += tl.where((y == 0) | (y == 1), 0, 1)
        if LOGITS:
            of_pred += tl.where(inside & (s != s), 1, 0)
        else:
            of_pred += tl.where((s >= 0) & (s <= 1), 0, 1)  # nan is not
        if CUT:
            wrong += tl.sum((inside & ((y == 1) != (s >= tl.load(cut).to(s.dtype)))).to(tl.int32), axis=1)
        else:
            wrong += tl.sum((y != s).to(tl.int32), axis=1)
            soft |= (s != 0) & (s != 1)
    tl.store(counts + rows, wrong, mask=rows < n_rows)
    if tl.max(tl.max(of_true | of_pred, axis=1), axis=0) > 0:  # memory is not touched where all values are fine
        _add(strange, of_true)
        _add(strange + 1, of_pred)
    if tl.max(tl.max(soft.to(tl.int32), axis=1), axis=0) > 0:
        tl.atomic_max(strange + 2, 1)


@triton.jit
def _add(total, tile):
    tl.atomic_add(total, tl.sum(tl.sum(tile, axis=1), axis=0).to(tl.int64))


@triton.jit
def _histogram(counts, histogram, n_rows, n_labels, BINS: tl.constexpr, MAX_BINS: tl.constexpr, VALUES: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * VALUES + tl.arange(0, VALUES)
    inside = rows < n_rows
    # Bytes that are no labels may have been counted as anything.
    values = tl.minimum(tl.maximum(tl.load(counts + rows, mask=inside, other=0), 0), n_labels)
    if BINS <= MAX_BINS:
        found = tl.histogram(values, BINS, mask=inside)
        tl.atomic_add(histogram + tl.arange(0, BINS), found.to(tl.int64), mask=found > 0)
    else:  # rows are few and bins many
        tl.atomic_add(histogram + values, tl.full([VALUES], 1, tl.int64), mask=inside)


@on_its_device
def wrong_labels(
    y_true: torch.Tensor, y_pred: torch.Tensor, cut: torch.Tensor | None = None, logits: bool = False
) -> WrongLabels:
    """Count rows of two matrices of one shape by their wrong labels, in one pass over the matrices.

    Parameters
    ----------
    y_true, y_pred : Tensor of shape (n_rows, n_labels)
        True labels, and predictions: labels, or scores if there is a cut.
    cut : Tensor of one number, optional
        A label is predicted where its score is at least this, in the precision of the scores.
    logits : bool
        Whether scores need not lie in [0, 1]; nan is not allowed even then.
    """
    y_true, y_pred = y_true.contiguous(), y_pred.contiguous()
    n_rows, n_labels = y_true.shape
    counts = torch.empty(n_rows, dtype=torch.int32, device=y_true.device)
    found = torch.zeros(N_STRANGE + n_labels + 1, dtype=torch.int64, device=y_true.device)
    if cut is None and _are_words(y_true) and _are_words(y_pred):
        y_true, y_pred = y_true.view(torch.int32), y_pred.view(torch.int32)
        columns, rows, warps = _tile_of(n_labels // 4)
        _count_words[(_count_programs(n_rows, rows),)](
            y_true, y_pred, counts, found, n_rows, n_labels // 4, rows, columns, num_warps=warps
        )
    else:
        y_true, y_pred = readable(y_true), readable(y_pred)
        columns, rows, warps = _tile_of(n_labels)
        _count_values[(_count_programs(n_rows, rows),)](
            y_true, y_pred, counts if cut is None else cut, counts, found, n_rows, n_labels, rows, columns,
            cut is not None, logits, num_warps=warps,
        )  # fmt: skip
    bins = 1 << n_labels.bit_length()  # the power of two above n_labels
    _histogram[(_count_programs(n_rows, VALUES_PER_PROGRAM),)](
        counts, found[N_STRANGE:], n_rows, n_labels, bins, MAX_BINS, VALUES_PER_PROGRAM
    )
    return WrongLabels(found)


@lru_cache  # Triton's next_power_of_2 and cdiv take the host 2 us each
def _tile_of(width: int) -> tuple[int, int, int]:
    """How many columns and rows a program holds at once, and its warps: one where rows are short."""
    columns = min(triton.next_power_of_2(width), MAX_COLUMNS)
    warps = max(1, min(4, columns // 128))
    return columns, max(1, VALUES_A_THREAD * 32 * warps // columns), warps


def _count_programs(n_rows: int, rows: int) -> int:
    """How many programs serve all rows, of which each serves some."""
    return -(-n_rows // rows)


def _are_words(labels: torch.Tensor) -> bool:
    return labels.dtype in BYTES and labels.shape[1] % 4 == 0 and labels.data_ptr() % 4 == 0
