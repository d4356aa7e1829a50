"""The ordered weighted average of the label-wise errors of each row, and its gradient.

All errors grow with the margin of a label, so the margins of a row are sorted, in registers; the forward pass adds up
their errors times weights. The backward pass finds where each margin lies among the sorted, by bisection within the
multiprocessor, and so its weight; margins that are equal share the mean of their weights, as in `choral.nn.ordering`.
Rows are kept sorted in between, laid out as the threads that sorted them held them (see `place_of`).
"""

import torch
import triton
import triton.language as tl

from choral.rows.gpu.margins import KINDS, errors_and_slopes, load_margins
from choral.rows.gpu.sorting import (
    Tile,
    as_keys,
    as_numbers,
    count_processors,
    labels_of,
    make_tile,
    on_its_device,
    place_of,
    rank_at,
    ranks_of,
    readable,
    sort_descending,
)

KEYS_OF_NUMBERS = {torch.float32: -0x7F800001, torch.float64: -0x7FF0000000000001}  # the least: of minus infinity
HELD_BITS = 4  # fewer registers a thread, so more threads while others wait for memory
PROGRAMS_PER_PROCESSOR = 24
ENTRIES_A_PROGRAM = 512  # of the passes over sorted rows, or one row


@triton.jit
def _sort_margins(
    values, target, sorted_keys, n_rows, n_labels, n_tiles,
    KIND: tl.constexpr, DOUBLE: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    labels = labels_of(HELD_BITS, BITS)
    places = place_of(ranks_of(HELD_BITS, BITS), HELD_BITS, BITS)
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS).to(tl.int64)[:, None, None]
        inside = (rows < n_rows) & (labels < n_labels)
        margins, _ = load_margins(values, target, rows * n_labels + labels, inside, KIND, DOUBLE)
        keys = as_keys(tl.where(inside, margins, float("-inf")), DOUBLE)
        keys = sort_descending(keys, HELD_BITS, BITS, ROWS, CUBE)
        tl.store(sorted_keys + (rows << BITS) + places, keys, mask=rows < n_rows)


@triton.jit
def _add_up(
    sorted_keys, steps, losses, n_rows, n_labels,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    places = tl.arange(0, 1 << BITS)[None, :]
    inside = (rows < n_rows)[:, None] & (rank_at(places, HELD_BITS, BITS) < n_labels)
    margins = as_numbers(tl.load(sorted_keys + (rows << BITS)[:, None] + places, mask=inside, other=0), DOUBLE)
    errors, _ = errors_and_slopes(margins, KIND)
    products = tl.load(steps + places).to(errors.dtype) * errors
    tl.store(losses + rows, tl.sum(tl.where(inside, products, 0.0), axis=1), mask=rows < n_rows)


@triton.jit
def _weigh(
    values, target, sorted_keys, steps, cumulative, upstream, gradients, n_rows, n_labels,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    labels = tl.arange(0, 1 << BITS)[None, :]
    inside = (rows < n_rows)[:, None] & (labels < n_labels)
    margins, falls = load_margins(values, target, rows[:, None] * n_labels + labels, inside, KIND, DOUBLE)
    keys = as_keys(margins, DOUBLE)
    ordered = sorted_keys + (rows << BITS)[:, None]
    first = tl.zeros([ROWS, 1 << BITS], dtype=tl.int32)  # how many are larger
    for step in tl.static_range(BITS):
        probe = first + (1 << (BITS - 1 - step))
        found = tl.load(ordered + place_of(probe - 1, HELD_BITS, BITS), mask=inside, other=0)
        first = tl.where(found > keys, probe, first)
    last = first + 1
    after = tl.load(ordered + place_of(last, HELD_BITS, BITS), mask=inside & (last < n_labels), other=0)
    ties = inside & (after == keys) & (last < n_labels)
    weights = tl.load(steps + place_of(first, HELD_BITS, BITS), mask=inside, other=0.0)
    if tl.max(tl.max(ties.to(tl.int32), axis=1), axis=0) > 0:
        for step in tl.static_range(BITS):
            probe = tl.minimum(last + (1 << (BITS - 1 - step)), n_labels)
            found = tl.load(ordered + place_of(probe - 1, HELD_BITS, BITS), mask=ties, other=0)
            last = tl.where(ties & (found >= keys), probe, last)
        sums = tl.load(cumulative + last, mask=ties, other=0.0) - tl.load(cumulative + first, mask=ties, other=0.0)
        weights = tl.where(ties, (sums / (last - first)).to(weights.dtype), weights)
    _, slopes = errors_and_slopes(margins, KIND)
    slopes *= weights * tl.load(upstream + rows, mask=rows < n_rows, other=0.0)[:, None]
    tl.store(gradients + rows[:, None] * n_labels + labels, tl.where(falls, -slopes, slopes), mask=inside)


@torch.library.custom_op("choral::ordered_losses", mutates_args=())
@on_its_device
def _forward(
    values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: int
) -> tuple[torch.Tensor, torch.Tensor]:
    n_rows, n_labels = values.shape
    losses, keys = _results(values)
    tile = make_tile(n_labels, HELD_BITS)
    n_tiles = triton.cdiv(n_rows, tile.rows)
    is_double = values.dtype == torch.float64
    if n_rows:
        n_programs = min(n_tiles, PROGRAMS_PER_PROCESSOR * count_processors(values.device))
        _sort_margins[(n_programs,)](
            readable(values), readable(target), keys, n_rows, n_labels, n_tiles, kind, is_double, *tile, num_warps=1
        )
        rows = max(1, ENTRIES_A_PROGRAM >> tile.bits)
        _add_up[(triton.cdiv(n_rows, rows),)](
            keys, _steps(cumulative, tile, losses.dtype), losses, n_rows, n_labels,
            kind, is_double, tile.held_bits, tile.bits, rows,
        )  # fmt: skip
        # A nan whose sign bit is set comes after all numbers, even those that only fill a row up, and is not added.
        losses.masked_fill_(keys[:, -1] < KEYS_OF_NUMBERS[losses.dtype], torch.nan)
    return losses, keys


@torch.library.custom_op("choral::ordered_gradients", mutates_args=())
@on_its_device
def _gradients(
    values: torch.Tensor, target: torch.Tensor, keys: torch.Tensor, cumulative: torch.Tensor, upstream: torch.Tensor,
    kind: int,
) -> torch.Tensor:  # fmt: skip
    n_rows, n_labels = values.shape
    gradients = torch.empty(values.shape, dtype=values.dtype, device=values.device)
    tile = make_tile(n_labels, HELD_BITS)
    rows = max(1, ENTRIES_A_PROGRAM >> tile.bits)
    if n_rows:
        _weigh[(triton.cdiv(n_rows, rows),)](
            readable(values), readable(target), keys, _steps(cumulative, tile, upstream.dtype), cumulative,
            upstream.contiguous(), gradients, n_rows, n_labels,
            kind, keys.dtype == torch.int64, tile.held_bits, tile.bits, rows, num_warps=max(4, 1 << tile.bits >> 7),
        )  # fmt: skip
    return gradients


def _steps(cumulative: torch.Tensor, tile: Tile, dtype: torch.dtype) -> torch.Tensor:
    """The weight of the rank at each place of a sorted row, 0 where there is none."""
    weights = torch.nn.functional.pad(cumulative.diff(), (0, (1 << tile.bits) + 1 - len(cumulative)))
    return weights.to(dtype).view(-1, 1 << tile.held_bits).T.contiguous().view(-1)


def _results(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Room for losses, at least in single precision, and for sorted rows."""
    dtype = torch.promote_types(values.dtype, torch.float32)
    width = 1 << make_tile(values.shape[1], HELD_BITS).bits
    losses = torch.empty(len(values), dtype=dtype, device=values.device)
    as_integers = torch.int64 if dtype == torch.float64 else torch.int32
    return losses, torch.empty(len(values), width, dtype=as_integers, device=values.device)


@_forward.register_fake
def _(values, target, cumulative, kind):
    return _results(values)


@_gradients.register_fake
def _(values, target, keys, cumulative, upstream, kind):
    return torch.empty(values.shape, dtype=values.dtype, device=values.device)


def _keep(ctx, inputs, output):
    values, target, cumulative, ctx.kind = inputs
    ctx.save_for_backward(values, target, output[1], cumulative)
    ctx.set_materialize_grads(False)  # the sorted margins have none


def _backward(ctx, of_losses, of_keys):
    return _gradients(*ctx.saved_tensors, of_losses, ctx.kind), None, None, None


_forward.register_autograd(_backward, setup_context=_keep)


def ordered_losses(values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: str) -> torch.Tensor:
    """The loss of each row; see `choral.nn.ordering` for the meaning. ``cumulative`` is in doubles."""
    return _forward(values, target, cumulative, KINDS.index(kind))[0]
