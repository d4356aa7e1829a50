"""The ordered weighted average of the label-wise errors of each row, and its gradient.

All errors grow with the margin of a label, so the weight of a label follows from the rank of its margin. Margins are
sorted in registers together with the places they were read from, and then sorted back to these places together with
their ranks: no label is looked up in a row. The backward pass needs nothing else, so 16 bits a label are kept: how many
margins are larger and, as equal margins share the mean of their weights (see `choral.nn.ordering`), how many are equal.
These 16 bits are the index of the weight in a table of mean weights.

A place takes up to 10 of the bits that are sorted. The other 22 of 32 bits hold a whole logit in half precision. Of
longer numbers in short rows, the upper bits are sorted first; only where some tie are rows sorted again, by the next
bits. In long rows some nearly always tie, so 64 bits are sorted there at once, which is three times the work. Doubles
always take 64 bits: their upper bits, and the next ones where some tie.
"""

import torch
import triton
import triton.language as tl

from choral.rows.gpu.margins import KINDS, errors_and_slopes, load_margins
from choral.rows.gpu.sorting import (
    WARP_BITS,
    Tile,
    as_numbers,
    as_tile,
    count_processors,
    keys_of_margins,
    labels_of,
    make_tile,
    on_its_device,
    partners_of,
    ranks_of,
    readable,
    rows_and_labels,
    sort_descending,
)

KEPT = 1 << 16  # what may be kept of a label: 16 bits
N_KEPT = tl.constexpr(KEPT)
BITS_OF_SHORT_ROWS = 7  # up to 128 labels, upper bits mostly tell all apart
HELD_BITS = 4  # fewer registers a thread, so more threads while others wait for memory
MAX_REGISTERS = 128  # of a thread in the forward pass: more threads wait for memory then
MAX_REGISTERS_WIDE = 168  # where 64 bits are sorted: with fewer, some of them would go to memory
PROGRAMS_PER_PROCESSOR = 24
ENTRIES_TO_WEIGH = 512  # of a program, or one row
ENTRIES_TO_AVERAGE = 1024


@triton.jit
def _within_thread(number, start, next_number, next_start):
    """A number of a sorted row and where the run of its equals starts, joined with the next."""
    return next_number, tl.where(number == next_number, start, next_start)


@triton.jit
def _across_threads(first, last, of_first, of_last, next_first, next_last, next_of_first, next_of_last):
    """The first and the last number of a thread and where their runs start, joined with those of the next thread."""
    of_first = tl.where(last == next_first, of_last, next_of_first)
    return next_first, next_last, of_first, tl.where(last == next_last, of_last, next_of_last)


@triton.jit
def _first_of_runs(numbers, ranks):
    """For each number of a sorted row the rank of the first that equals it: within threads first, then across."""
    _, starts = tl.associative_scan((numbers, ranks), 1, _within_thread)
    largest, least = tl.max(numbers, axis=1), tl.min(numbers, axis=1)
    own, of_least = tl.min(starts, axis=1), tl.max(starts, axis=1)
    _, _, earlier, _ = tl.associative_scan((largest, least, own, of_least), 1, _across_threads)
    return tl.where(starts == own[:, None, :], earlier[:, None, :], starts)


@triton.jit
def _last_of_runs(numbers, ranks, HELD_BITS: tl.constexpr, BITS: tl.constexpr, CUBE: tl.constexpr):
    """The rank of the last that equals it: the same from the other end.

    Triton would send all numbers to other threads to turn a row round. What a thread holds is turned round by giving
    registers other names.
    """
    back = _turn_round(numbers, HELD_BITS, BITS, CUBE)
    _, ends = tl.associative_scan((back, _turn_round(ranks, HELD_BITS, BITS, CUBE)), 1, _within_thread)
    largest, least = tl.max(numbers, axis=1), tl.min(numbers, axis=1)
    own, of_largest = tl.max(ends, axis=1), tl.min(ends, axis=1)
    _, _, later, _ = tl.associative_scan((least, largest, own, of_largest), 1, _across_threads, reverse=True)
    return _turn_round(tl.where(ends == own[:, None, :], later[:, None, :], ends), HELD_BITS, BITS, CUBE)


@triton.jit
def _turn_round(tile, HELD_BITS: tl.constexpr, BITS: tl.constexpr, CUBE: tl.constexpr):
    """Numbers that a thread holds in the opposite order: for each bit of their ranks, partners change places."""
    cube = tl.reshape(tile, CUBE)
    for bit in tl.static_range(HELD_BITS):
        cube = partners_of(cube, bit, HELD_BITS, BITS)
    return tl.reshape(cube, tile.shape)


@triton.jit
def _rank(numbers, n_labels, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr):
    """How many numbers of its row are larger than each and, in the bits above, how many others equal it.

    The second count stops at what 16 bits have room for. Returned as well: whether any labels of the tile tie. Of the
    type of the numbers, BITS bits are free for places.
    """
    places = ranks_of(HELD_BITS, BITS)
    ordered = sort_descending((numbers << BITS) | places, HELD_BITS, BITS, ROWS, CUBE)
    numbers = ordered >> BITS
    ranks = tl.broadcast_to(places, numbers.shape)
    first = _first_of_runs(numbers, ranks)
    tied = tl.max(((first < ranks) & (ranks < n_labels)).to(tl.int32))
    found = first
    if tied > 0:
        n_equal = _last_of_runs(numbers, ranks, HELD_BITS, BITS, CUBE) - first
        found |= tl.minimum(n_equal, N_KEPT // (1 << BITS) - 1) << BITS
    back = (~ordered & ((1 << BITS) - 1)).to(tl.int32) * N_KEPT + found
    return sort_descending(back, HELD_BITS, BITS, ROWS, CUBE) & (N_KEPT - 1), tied


@triton.jit
def _rank_keys(
    keys, n_labels, N_TURNS: tl.constexpr, WIDE: tl.constexpr, DOUBLE: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """`_rank` for keys of 32 or 64 bits: by their upper bits, then by the next bits of those that tie, turn by turn."""
    SORTED: tl.constexpr = 64 if WIDE else 32  # bits at once
    LEFT: tl.constexpr = (64 if DOUBLE else 32) + BITS - SORTED  # bits below the upper ones
    WIDTH: tl.constexpr = SORTED - 1 - 2 * BITS  # bits that ranks and places leave
    ranks, tied = tl.zeros(keys.shape, dtype=tl.int32), 1
    if WIDE:
        keys = keys.to(tl.int64)
    for turn in range(N_TURNS):
        if tied > 0:
            digits = keys >> tl.maximum(LEFT - turn * WIDTH, 0)
            n_smaller = (~ranks & ((1 << BITS) - 1)).to(keys.dtype)
            numbers = tl.where(turn == 0, digits, (n_smaller << WIDTH) | (digits & ((1 << WIDTH) - 1)))
            ranks, tied = _rank(numbers, n_labels, HELD_BITS, BITS, ROWS, CUBE)
    return ranks


@triton.jit
def _weights_of(ranks, averages, cumulative, BITS: tl.constexpr):
    """The weights of labels; of runs that are longer than 16 bits can tell, labels are counted here, the last first."""
    LONG: tl.constexpr = N_KEPT - (1 << BITS)
    # Put in a line, ranks stay where they are: to load from any other shape, Triton may move them between threads.
    held_first = tl.permute(ranks, [1, 0, 2])
    in_line = tl.reshape(held_first, [ranks.shape[0] * ranks.shape[1] * ranks.shape[2]])
    weights = tl.permute(tl.reshape(tl.load(averages + in_line), held_first.shape), [1, 0, 2])
    if N_KEPT < (1 << 2 * BITS):
        run = _largest_of_rows(ranks)
        while tl.max(run) >= LONG:
            size = tl.sum(tl.sum((ranks == run).to(tl.int32), axis=1, keep_dims=True), axis=2, keep_dims=True)
            first = cumulative + run - LONG
            sums = tl.load(first + size, mask=run >= LONG, other=0.0) - tl.load(first, mask=run >= LONG, other=0.0)
            weights = tl.where((ranks == run) & (run >= LONG), (sums / size).to(weights.dtype), weights)
            run = _largest_of_rows(tl.where(ranks < run, ranks, 0))
    return weights


@triton.jit
def _largest_of_rows(ranks):
    return tl.max(tl.max(ranks, axis=1, keep_dims=True), axis=2, keep_dims=True)


@triton.jit
def _rank_and_add_up(
    values, target, averages, cumulative, ranks_of_labels, losses, n_rows, n_labels, n_tiles,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, N_TURNS: tl.constexpr, WIDE: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    labels = labels_of(HELD_BITS, BITS)
    inside = tl.broadcast_to(labels < n_labels, [ROWS, 1 << HELD_BITS, 1 << (BITS - HELD_BITS)])
    own_row, own_labels = rows_and_labels(HELD_BITS, BITS, ROWS)
    is_there = tl.broadcast_to(own_labels < n_labels, [1 << HELD_BITS, ROWS << (BITS - HELD_BITS)])
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        # Where a tile is longer than what is left, the last row is done more than once: that costs no mask.
        rows = tl.minimum(tile * ROWS + tl.arange(0, ROWS), n_rows - 1).to(tl.int64)[:, None, None]
        starts = rows * n_labels
        read = tl.minimum(tile * ROWS + own_row, n_rows - 1).to(tl.int64) * n_labels
        margins, _ = load_margins(values + read, target + read, own_labels, is_there, KIND, DOUBLE)
        keys = as_tile(keys_of_margins(margins, is_there, DOUBLE), HELD_BITS, BITS, ROWS)
        ranks = _rank_keys(keys, n_labels, N_TURNS, WIDE, DOUBLE, HELD_BITS, BITS, ROWS, CUBE)
        ranks = tl.where(inside, ranks, 0)
        tl.store(ranks_of_labels + starts + labels, ranks.to(tl.int16), mask=inside)
        errors, _ = errors_and_slopes(as_numbers(keys, DOUBLE), KIND)
        products = tl.where(inside, _weights_of(ranks, averages, cumulative, BITS) * errors, 0.0)
        tl.store(losses + rows, tl.sum(tl.sum(products, axis=1, keep_dims=True), axis=2, keep_dims=True))


@triton.jit
def _weigh(
    values, target, ranks_of_labels, averages, cumulative, upstream, gradients, n_rows, n_labels,
    KIND: tl.constexpr, DOUBLE: tl.constexpr, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    labels = labels_of(HELD_BITS, BITS)
    rows = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)[:, None, None]
    inside = (rows < n_rows) & (labels < n_labels)
    places = rows * n_labels + labels
    ranks = tl.load(ranks_of_labels + places, mask=inside, other=0).to(tl.int32) & (N_KEPT - 1)
    margins, falls = load_margins(values, target, places, inside, KIND, DOUBLE)
    _, slopes = errors_and_slopes(margins, KIND)
    slopes *= _weights_of(ranks, averages, cumulative, BITS)
    slopes *= tl.load(upstream + rows, mask=rows < n_rows, other=0.0)
    tl.store(gradients + places, tl.where(falls, -slopes, slopes), mask=inside)


@triton.jit
def _average(cumulative, averages, n_labels, BITS: tl.constexpr, SIZE: tl.constexpr):
    """The mean weight of each rank alone, of each rank and the next, of each and the next two, and so on."""
    places = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    first = tl.minimum(places & ((1 << BITS) - 1), n_labels - 1)
    after = tl.minimum(first + 1 + (places >> BITS), n_labels)
    sums = tl.load(cumulative + after) - tl.load(cumulative + first)
    tl.store(averages + places, sums / (after - first))


@torch.library.custom_op("choral::ordered_losses", mutates_args=())
@on_its_device
def _forward(
    values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: int
) -> tuple[torch.Tensor, torch.Tensor]:
    n_rows, n_labels = values.shape
    losses, ranks = results = _results(values)
    tile = make_tile(n_labels, HELD_BITS)
    n_tiles = triton.cdiv(n_rows, tile.rows)
    if n_rows:
        n_programs = min(n_tiles, PROGRAMS_PER_PROCESSOR * count_processors(values.device))
        averages = _averages(cumulative, n_labels, losses.dtype)
        n_turns, wide = _turns(values.dtype, kind, tile)
        _rank_and_add_up[(n_programs,)](
            readable(values), readable(target), averages, cumulative, ranks, losses, n_rows, n_labels, n_tiles,
            kind, values.dtype == torch.float64, n_turns, wide, *tile,
            num_warps=1, maxnreg=MAX_REGISTERS_WIDE if wide else MAX_REGISTERS,
        )  # fmt: skip
    return results


@torch.library.custom_op("choral::ordered_gradients", mutates_args=())
@on_its_device
def _gradients(
    values: torch.Tensor, target: torch.Tensor, ranks: torch.Tensor, cumulative: torch.Tensor, upstream: torch.Tensor,
    kind: int,
) -> torch.Tensor:  # fmt: skip
    n_rows, n_labels = values.shape
    gradients = torch.empty(values.shape, dtype=values.dtype, device=values.device)
    bits = make_tile(n_labels).bits
    rows = max(1, ENTRIES_TO_WEIGH >> bits)
    if n_rows:
        _weigh[(triton.cdiv(n_rows, rows),)](
            readable(values), readable(target), ranks, _averages(cumulative, n_labels, upstream.dtype), cumulative,
            upstream.contiguous(), gradients, n_rows, n_labels,
            kind, values.dtype == torch.float64, max(0, bits - WARP_BITS), bits, rows,
        )  # fmt: skip
    return gradients


def _averages(cumulative: torch.Tensor, n_labels: int, dtype: torch.dtype) -> torch.Tensor:
    """The mean weights of `_average`, as many as ranks can ask for."""
    bits = make_tile(n_labels).bits
    averages = torch.empty(min(1 << 2 * bits, KEPT), dtype=dtype, device=cumulative.device)
    size = min(ENTRIES_TO_AVERAGE, len(averages))
    _average[(len(averages) // size,)](cumulative, averages, n_labels, bits, size)
    return averages


def _turns(dtype: torch.dtype, kind: int, tile: Tile) -> tuple[int, bool]:
    """How many turns it takes to see all bits of a margin, and whether 64 bits are sorted in each.

    Logits in half precision differ in the upper 19 of 32 bits at most, and a place leaves 22.
    """
    if dtype == torch.float64:
        return 2, True
    if dtype.itemsize == 2 and KINDS[kind] != "scores":
        return 1, False
    if tile.bits > BITS_OF_SHORT_ROWS:
        return 1, True
    return 2, False  # the second turn has room for all bits that the first left


def _results(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Room for losses, at least in single precision, and for what is kept of ranks."""
    dtype = torch.promote_types(values.dtype, torch.float32)
    losses = torch.empty(len(values), dtype=dtype, device=values.device)
    return losses, torch.empty(values.shape, dtype=torch.int16, device=values.device)


@_forward.register_fake
def _(values, target, cumulative, kind):
    return _results(values)


@_gradients.register_fake
def _(values, target, ranks, cumulative, upstream, kind):
    return torch.empty(values.shape, dtype=values.dtype, device=values.device)


def _keep(ctx, inputs, output):
    values, target, cumulative, ctx.kind = inputs
    ctx.save_for_backward(values, target, output[1], cumulative)
    ctx.set_materialize_grads(False)  # ranks have none


def _backward(ctx, of_losses, of_ranks):
    return _gradients(*ctx.saved_tensors, of_losses, ctx.kind), None, None, None


_forward.register_autograd(_backward, setup_context=_keep)


def ordered_losses(values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: str) -> torch.Tensor:
    """The loss of each row; see `choral.nn.ordering` for the meaning. ``cumulative`` is in doubles."""
    return _forward(values, target, cumulative, KINDS.index(kind))[0]
