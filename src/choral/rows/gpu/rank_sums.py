"""Sums over rows of the largest error, the second largest, and so on: rows are sorted in registers, never in memory."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl

from choral.rows.gpu.margins import load_pair, sigmoid
from choral.rows.gpu.sorting import (
    as_tile,
    count_processors,
    make_tile,
    on_its_device,
    ranks_of,
    readable,
    rows_and_labels,
    sort_descending,
)

PROGRAMS_PER_PROCESSOR = 48
MAX_REGISTERS = 168  # of a thread, in single precision: twelve warps share a multiprocessor then
COUNTED = 2  # numbers of strange values; behind them, whether there are any
N_COUNTED = tl.constexpr(COUNTED)
MEMORY_SHARE = 20  # sums of programs take at most one part in so many of what the matrices take


class RankSums(NamedTuple):
    """Sums by rank in doubles; how many true labels are not binary, and how many scores are not allowed."""

    sums: torch.Tensor
    strange: torch.Tensor


@triton.jit
def _rank_sums(
    true, pred, weights, partial, strange, n_rows, n_labels, n_tiles,
    WEIGHTED: tl.constexpr, LOGITS: tl.constexpr, DOUBLE: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    own_row, labels = rows_and_labels(HELD_BITS, BITS, ROWS)
    totals = tl.zeros([ROWS, 1 << HELD_BITS, 1 << (BITS - HELD_BITS)], dtype=tl.float64)
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        rows = tile * ROWS + own_row.to(tl.int64)
        inside = (rows < n_rows) & (labels < n_labels)
        y, s, errors = _load(true, pred, rows * n_labels + labels, inside, LOGITS, DOUBLE)
        # Written down at once: kept until all are sorted, what is checked would take the registers that sorting needs.
        is_strange = _are_strange(y, s, DOUBLE)
        tl.store(strange + N_COUNTED + tl.zeros_like(is_strange.to(tl.int32)), 1, mask=is_strange)
        # Labels that are not there have no error, and so come last of all: they need no further care.
        errors = as_tile(errors, HELD_BITS, BITS, ROWS)
        if DOUBLE:  # as integers, which order as they do
            ordered = sort_descending(errors.to(tl.int64, bitcast=True), HELD_BITS, BITS, ROWS, CUBE)
            ordered = ordered.to(tl.float64, bitcast=True)
        else:
            ordered = sort_descending(errors, HELD_BITS, BITS, ROWS, CUBE).to(tl.float64)
        if WEIGHTED:
            rows = tile * ROWS + tl.arange(0, ROWS).to(tl.int64)[:, None, None]
            ordered *= tl.load(weights + rows, mask=rows < n_rows, other=0.0)
        totals += ordered
    ranks = ranks_of(HELD_BITS, BITS)
    tl.store(partial + (tl.program_id(0) << BITS) + ranks, tl.sum(totals, axis=0, keep_dims=True))
    tl.debug_barrier()
    if tl.load(strange + N_COUNTED) > 0:  # hardly ever: count them in a walk of its own
        for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
            rows = tile * ROWS + own_row.to(tl.int64)
            inside = (rows < n_rows) & (labels < n_labels)
            y, s, _ = _load(true, pred, rows * n_labels + labels, inside, LOGITS, DOUBLE)
            _add(strange, (y != 0) & (y != 1))
            _add(strange + 1, (s < 0) | (s > 1) | (s != s))


@triton.jit
def _load(true, pred, places, inside, LOGITS: tl.constexpr, DOUBLE: tl.constexpr):
    """True labels, scores and errors; all 0 where a label is not there."""
    y, s = load_pair(true, pred, places, inside, DOUBLE)
    if LOGITS:
        s = tl.where(inside, sigmoid(tl.where(y > 0.5, -s, s)), 0.0)
        return y, s, s  # of a relevant label sigmoid(-s), which 1 - sigmoid(s) would round
    else:
        return y, s, tl.abs(y - s)


@triton.jit
def _are_strange(y, s, DOUBLE: tl.constexpr):
    """Whether a thread holds a true label that is not binary, or a score outside [0, 1]."""
    if DOUBLE:
        largest, one = tl.max(s.to(tl.uint64, bitcast=True), axis=0), 0x3FF0000000000000
        unequal = tl.max((y * y - y).to(tl.uint64, bitcast=True), axis=0)
    else:
        largest, one = tl.max(s.to(tl.uint32, bitcast=True), axis=0), 0x3F800000
        unequal = tl.max((y * y - y).to(tl.uint32, bitcast=True), axis=0)
    return (largest > one) | (unequal != 0)  # as bits, negative numbers and nan are larger than 1


@triton.jit
def _add(total, tile):
    tl.atomic_add(total, tl.sum(tl.sum(tile.to(tl.int64), axis=1), axis=0))


@on_its_device
def rank_sums(
    y_true: torch.Tensor, y_pred: torch.Tensor, weights: torch.Tensor | None, logits: bool = False
) -> RankSums:
    """Sum the ordered errors of all rows of two matrices of one shape.

    Parameters
    ----------
    y_true, y_pred : Tensor of shape (n_rows, n_labels)
        True labels and scores.
    weights : Tensor of shape (n_rows,), optional
        How much each row counts, in doubles.
    logits : bool
        Whether the predictions are logits, whose sigmoids are the scores.
    """
    n_rows, n_labels = y_true.shape
    tile = make_tile(n_labels)
    n_tiles = triton.cdiv(n_rows, tile.rows)
    affordable = (y_true.nbytes + y_pred.nbytes) // (MEMORY_SHARE * 8 << tile.bits)
    n_programs = min(n_tiles, PROGRAMS_PER_PROCESSOR * count_processors(y_true.device), max(1, affordable))
    partial = torch.empty(n_programs, 1 << tile.bits, dtype=torch.float64, device=y_true.device)
    is_double = y_pred.dtype == torch.float64
    strange = torch.zeros(COUNTED + 1, dtype=torch.int64, device=y_true.device)
    _rank_sums[(n_programs,)](
        readable(y_true), readable(y_pred), partial if weights is None else weights.contiguous(), partial, strange,
        n_rows, n_labels, n_tiles, weights is not None, logits, is_double, *tile,
        num_warps=1, maxnreg=None if is_double else MAX_REGISTERS,
    )  # fmt: skip
    return RankSums(partial.sum(dim=0)[:n_labels], strange[:COUNTED])
