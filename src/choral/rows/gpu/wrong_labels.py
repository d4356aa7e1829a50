"""How many labels of each row are wrong, and how many rows have 0, 1, ... wrong labels.

Labels in bytes are read as words of four: the difference of two words has a 1 in each byte that is wrong, adding words
adds their bytes side by side, and a bit other than the lowest of a byte betrays a value that is no label.
"""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from choral.rows.gpu.sorting import on_its_device, readable

TRUTH_NOT_BINARY, OUTSIDE_UNIT, SOFT = 1, 2, 4  # flags: what a kernel met on its way
BYTES = (torch.bool, torch.uint8, torch.int8)
TILE = 1024  # words or values a program holds at once
MAX_WORDS = 128  # at a time: a byte counts to 255
MAX_BINS = 1024  # of a histogram in shared memory
VALUES_PER_PROGRAM = 4096


class WrongLabels(NamedTuple):
    """The number of wrong labels of each row, on the device, and what values there were: flags."""

    counts: torch.Tensor
    flags: torch.Tensor


@triton.jit
def _count_words(true, pred, counts, flags, n_rows, n_words, ROWS: tl.constexpr, WORDS: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    wrong = tl.zeros([ROWS], dtype=tl.int32)
    truths = tl.zeros([ROWS, WORDS], dtype=tl.int32)
    guesses = tl.zeros([ROWS, WORDS], dtype=tl.int32)
    for start in range(0, n_words, WORDS):
        words = start + tl.arange(0, WORDS)
        inside = (rows < n_rows)[:, None] & (words < n_words)[None, :]
        places = rows[:, None] * n_words + words[None, :]
        y = tl.load(true + places, mask=inside, other=0)
        s = tl.load(pred + places, mask=inside, other=0)
        truths |= y
        guesses |= s
        bytes_ = tl.sum(y ^ s, axis=1)
        pairs = (bytes_ & 0x00FF00FF) + ((bytes_ >> 8) & 0x00FF00FF)
        wrong += (pairs & 0xFFFF) + (pairs >> 16)
    tl.store(counts + rows, wrong, mask=rows < n_rows)
    # In two's complement -16843010 is 0xFEFEFEFE: all bits of a byte but the lowest.
    strange = tl.where((truths & -16843010) != 0, 1, 0) | tl.where((guesses & -16843010) != 0, 2, 0)
    _raise_flags(flags, strange)


@triton.jit
def _count_values(true, pred, counts, flags, n_rows, n_labels, ROWS: tl.constexpr, LABELS: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    wrong = tl.zeros([ROWS], dtype=tl.int32)
    strange = tl.zeros([ROWS, LABELS], dtype=tl.int32)
    for start in range(0, n_labels, LABELS):
        labels = start + tl.arange(0, LABELS)
        inside = (rows < n_rows)[:, None] & (labels < n_labels)[None, :]
        places = rows[:, None] * n_labels + labels[None, :]
        y = tl.load(true + places, mask=inside, other=0)
        s = tl.load(pred + places, mask=inside, other=0)
        wrong += tl.sum((y != s).to(tl.int32), axis=1)
        strange |= tl.where((y == 0) | (y == 1), 0, 1)
        strange |= tl.where((s >= 0) & (s <= 1), 0, 2)  # nan is not
        strange |= tl.where((s == 0) | (s == 1), 0, 4)
    tl.store(counts + rows, wrong, mask=rows < n_rows)
    _raise_flags(flags, strange)


@triton.jit
def _raise_flags(flags, strange):
    """Set the flag of each bit that is set anywhere, without touching memory where none is."""
    if tl.max(tl.max(strange, axis=1), axis=0) > 0:
        tl.atomic_max(flags, tl.max(tl.max(strange & 1, axis=1), axis=0))
        tl.atomic_max(flags + 1, tl.max(tl.max(strange & 2, axis=1), axis=0))
        tl.atomic_max(flags + 2, tl.max(tl.max(strange & 4, axis=1), axis=0))


@triton.jit
def _histogram(counts, histogram, n_rows, BINS: tl.constexpr, VALUES: tl.constexpr):
    rows = tl.program_id(0).to(tl.int64) * VALUES + tl.arange(0, VALUES)
    values = tl.load(counts + rows, mask=rows < n_rows, other=0)
    found = tl.histogram(values, BINS, mask=rows < n_rows)
    tl.atomic_add(histogram + tl.arange(0, BINS), found.to(tl.int64), mask=found > 0)


@on_its_device
def wrong_labels(y_true: torch.Tensor, y_pred: torch.Tensor) -> WrongLabels:
    """Count the wrong labels of each row of two matrices of one shape, in one pass."""
    y_true, y_pred = y_true.contiguous(), y_pred.contiguous()
    n_rows, n_labels = y_true.shape
    counts = torch.empty(n_rows, dtype=torch.int32, device=y_true.device)
    flags = torch.zeros(3, dtype=torch.int32, device=y_true.device)
    kernel, width = _count_values, n_labels
    if _are_words(y_true) and _are_words(y_pred):
        y_true, y_pred = y_true.view(torch.int32), y_pred.view(torch.int32)
        kernel, width = _count_words, n_labels // 4
    else:
        y_true, y_pred = readable(y_true), readable(y_pred)
    columns = min(triton.next_power_of_2(width), MAX_WORDS)
    rows = max(1, TILE // columns)
    kernel[(triton.cdiv(n_rows, rows),)](y_true, y_pred, counts, flags, n_rows, width, rows, columns, num_warps=4)
    return WrongLabels(counts, flags)


@on_its_device
def rows_by_errors(counts: torch.Tensor, n_labels: int) -> torch.Tensor:
    """Rows with 0, 1, ..., n_labels wrong labels, as whole numbers."""
    bins = triton.next_power_of_2(n_labels + 1)
    if bins > MAX_BINS:
        return torch.bincount(counts, minlength=n_labels + 1)
    histogram = torch.zeros(bins, dtype=torch.int64, device=counts.device)
    grid = (triton.cdiv(len(counts), VALUES_PER_PROGRAM),)
    _histogram[grid](counts, histogram, len(counts), bins, VALUES_PER_PROGRAM)
    return histogram[: n_labels + 1]


def _are_words(labels: torch.Tensor) -> bool:
    return labels.dtype in BYTES and labels.shape[1] % 4 == 0 and labels.data_ptr() % 4 == 0
