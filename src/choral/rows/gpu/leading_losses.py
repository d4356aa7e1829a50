"""Ordered weighted averages whose weight lies in the few largest errors of a row, in single precision.

Under `BinomialMeasure` with k = K / 2 the largest error weighs 1/2, the next about 1/4, and so on: what comes after the
first 26 weighs less than rounding takes. So the forward pass sorts the largest margins of each row alone, and marks
whose they are, a bit a label. The backward pass looks at no other labels: their gradients are 0. Equal margins share
the mean of their weights, as in `choral.nn.ordering`.

Of a row the 32 largest margins are sorted. Labels above the least of these lead. Those that equal it do, too, unless
they are more than there is room for; then they weigh nothing, or they are looked up in the row once more.
"""

import torch
import triton
import triton.language as tl

from choral.rows.gpu.margins import KINDS, errors_and_slopes, load_margins
from choral.rows.gpu.sorting import (
    as_numbers,
    as_tile,
    count_processors,
    keys_of_margins,
    labels_of,
    make_tile,
    on_its_device,
    readable,
    rows_and_labels,
    sort_leading,
)

LEADING_BITS = 5
ROOM = 1 << LEADING_BITS  # labels of a row that are marked
MOST_WEIGHING = ROOM - 1  # ranks that may carry weight: the label of rank 32 is marked only if it ties
N_ROOM = tl.constexpr(ROOM)
MAX_REGISTERS = 64  # of a thread in the forward pass: more threads wait for memory then
HELD_BITS = 4  # fewer registers a thread, so more threads while others wait for memory
PROGRAMS_PER_PROCESSOR = 64
THREADS_TO_WEIGH = 32  # a warp
ENTRIES_TO_FILL = 1024  # at most, of a block of gradients
ROWS_TO_LOOK_AT = 256  # for ties


@triton.jit
def _is_any(flags, SIZE: tl.constexpr):
    return tl.max(tl.reshape(flags.to(tl.int32), [SIZE]), axis=0) > 0


@triton.jit
def _find_leading(
    values, target, weights, leading, marks, n_marked, losses, n_rows, n_labels, n_tiles,
    KIND: tl.constexpr, LEADING_BITS: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    COPIES: tl.constexpr = 1 << (BITS - LEADING_BITS)  # threads that hold the same in the end
    threads = tl.arange(0, 1 << (BITS - HELD_BITS))
    labels = labels_of(HELD_BITS, BITS)
    own_row, own_labels = rows_and_labels(HELD_BITS, BITS, ROWS)
    copies = (threads >> (LEADING_BITS - HELD_BITS))[None, None, :]
    parts = tl.arange(0, (1 << HELD_BITS) // COPIES)[None, :, None] * COPIES
    ranks = ((threads[None, None, :] << HELD_BITS) & (N_ROOM - 1)) + parts + copies
    is_own = tl.arange(0, COPIES)[None, None, :, None] == copies[:, :, None, :]
    held = tl.arange(0, 1 << HELD_BITS)[None, :, None]
    for tile in range(tl.program_id(0), n_tiles, tl.num_programs(0)):
        rows = tile * ROWS + tl.arange(0, ROWS).to(tl.int64)[:, None, None]
        inside = (rows < n_rows) & (labels < n_labels)
        read = tile * ROWS + own_row.to(tl.int64)
        is_there = (read < n_rows) & (own_labels < n_labels)
        margins, _ = load_margins(values, target, read * n_labels + own_labels, is_there, KIND, False)
        keys = as_tile(keys_of_margins(margins, is_there, False), HELD_BITS, BITS, ROWS)
        ordered = sort_leading(keys, LEADING_BITS, HELD_BITS, BITS, ROWS, CUBE)
        least = tl.min(tl.min(ordered, axis=1, keep_dims=True), axis=2, keep_dims=True)
        # Each thread takes care of other ranks.
        ordered = tl.reshape(ordered, [ROWS, (1 << HELD_BITS) // COPIES, COPIES, 1 << (BITS - HELD_BITS)])
        ordered = tl.sum(tl.where(is_own, ordered, 0), axis=2)
        tl.store(leading + (rows << LEADING_BITS) + ranks, ordered, mask=rows < n_rows)
        errors, _ = errors_and_slopes(as_numbers(ordered, False), KIND)
        total = tl.sum(tl.sum(errors * tl.load(weights + ranks), axis=1, keep_dims=True), axis=2, keep_dims=True)
        tl.store(losses + rows, total, mask=rows < n_rows)
        # Labels that equal the least are all marked or none, and a single one never.
        n_at_least = tl.sum(tl.sum((keys >= least).to(tl.int32), axis=1, keep_dims=True), axis=2, keep_dims=True)
        n_larger = tl.sum(tl.sum((ordered > least).to(tl.int32), axis=1, keep_dims=True), axis=2, keep_dims=True)
        takes_equal = (n_at_least == N_ROOM) & (n_larger < N_ROOM - 1)
        # Where the least is nan, the largest key, what follows it is the smallest: all are marked, and weigh nothing.
        marked = (keys >= tl.where(takes_equal, least, least + 1)) & inside
        of_threads = tl.sum(tl.where(marked, 1 << held, 0), axis=1, keep_dims=True)
        tl.store(marks + (rows << (BITS - HELD_BITS)) + threads[None, None, :], of_threads, mask=rows < n_rows)
        tl.store(n_marked + rows, tl.where(takes_equal, N_ROOM, n_larger), mask=rows < n_rows)


@triton.jit
def _weigh_leading(
    values, target, leading, marks, cumulative, upstream, gradients, n_rows, n_labels,
    KIND: tl.constexpr, LEADING_BITS: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, FILL: tl.constexpr,
):  # fmt: skip
    THREAD_BITS: tl.constexpr = BITS - HELD_BITS
    start = tl.program_id(0).to(tl.int64) * ROWS
    for first in range(0, ROWS, FILL):
        filled = start + first + tl.arange(0, FILL)[:, None]
        labels = tl.arange(0, 1 << BITS)[None, :]
        nothing = tl.zeros([FILL, 1 << BITS], dtype=gradients.dtype.element_ty)
        tl.store(gradients + filled * n_labels + labels, nothing, mask=(filled < n_rows) & (labels < n_labels))
    tl.debug_barrier()  # other threads fill these places than write what they will hold
    rows = start + tl.arange(0, ROWS)[:, None]
    threads = tl.arange(0, 1 << THREAD_BITS)[None, :]
    left = tl.load(marks + (rows << THREAD_BITS) + threads, mask=rows < n_rows, other=0)
    scales = tl.load(upstream + rows, mask=rows < n_rows, other=0.0)
    ordered = leading + rows * N_ROOM
    lower = tl.load(ordered + N_ROOM // 4 - 1, mask=rows < n_rows, other=0)
    middle = tl.load(ordered + N_ROOM // 2 - 1, mask=rows < n_rows, other=0)
    upper = tl.load(ordered + 3 * N_ROOM // 4 - 1, mask=rows < n_rows, other=0)
    while _is_any(left != 0, ROWS << THREAD_BITS):
        some = left != 0
        lowest = left & -left
        left ^= lowest
        held = ((lowest.to(tl.float32).to(tl.int32, bitcast=True) >> 23) & 0xFF) - 127  # the exponent of 2 ** held
        places = rows * n_labels + (held << THREAD_BITS) + threads
        margins, falls = load_margins(values, target, places, some, KIND, False)
        keys = keys_of_margins(margins, some, False)
        n_larger = tl.where(middle > keys, N_ROOM // 2, 0)
        n_larger += tl.where(tl.where(middle > keys, upper, lower) > keys, N_ROOM // 4, 0)
        for step in tl.static_range(2, LEADING_BITS):
            probe = n_larger + (N_ROOM >> (1 + step))
            n_larger = tl.where(tl.load(ordered + probe - 1, mask=some, other=0) > keys, probe, n_larger)
        last, equal = n_larger, some
        while _is_any(equal, ROWS << THREAD_BITS):
            equal &= last < N_ROOM - 1
            equal &= tl.load(ordered + last + 1, mask=equal, other=0) == keys
            last += equal.to(tl.int32)
        sums = tl.load(cumulative + last + 1, mask=some, other=0.0)
        sums -= tl.load(cumulative + n_larger, mask=some, other=0.0)
        _, slopes = errors_and_slopes(margins, KIND)
        slopes *= sums.to(tl.float32) / (last + 1 - n_larger).to(tl.float32) * scales
        tl.store(gradients + places, tl.where(falls, -slopes, slopes), mask=some)


@triton.jit
def _weigh_ties(
    values, target, leading, n_marked, cumulative, upstream, gradients, n_rows, n_labels, n_weighing,
    KIND: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    """Rows of which more labels tie for the last places that carry weight than there is room for."""
    start = tl.program_id(0).to(tl.int64) * ROWS
    rows = start + tl.arange(0, ROWS)
    if tl.min(tl.load(n_marked + rows, mask=rows < n_rows, other=n_weighing), axis=0) < n_weighing:
        labels = tl.arange(0, 1 << BITS)
        for row in range(start, tl.minimum(start + ROWS, n_rows)):
            n_larger = tl.load(n_marked + row)
            if n_larger < n_weighing:
                inside = labels < n_labels
                margins, falls = load_margins(values, target, row * n_labels + labels, inside, KIND, False)
                keys = keys_of_margins(margins, inside, False)
                equal = inside & (keys == tl.load(leading + row * N_ROOM + N_ROOM - 1))
                n_equal = tl.sum(equal.to(tl.int32), axis=0)
                sums = tl.load(cumulative + n_larger + n_equal) - tl.load(cumulative + n_larger)
                _, slopes = errors_and_slopes(margins, KIND)
                slopes *= (sums / n_equal).to(tl.float32) * tl.load(upstream + row)
                places = gradients + row * n_labels + labels
                tl.store(places, tl.where(falls, -slopes, slopes), mask=equal)


@torch.library.custom_op("choral::leading_losses", mutates_args=())
@on_its_device
def _forward(
    values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: int, n_weighing: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    n_rows, n_labels = values.shape
    losses, leading, marks, n_marked = results = _results(values)
    tile = make_tile(n_labels, HELD_BITS)
    n_tiles = triton.cdiv(n_rows, tile.rows)
    if n_rows:
        n_programs = min(n_tiles, PROGRAMS_PER_PROCESSOR * count_processors(values.device))
        weights = cumulative[: ROOM + 1].diff().float()
        _find_leading[(n_programs,)](
            readable(values), readable(target), weights, leading, marks, n_marked, losses, n_rows, n_labels, n_tiles,
            kind, LEADING_BITS, *tile, num_warps=1, maxnreg=MAX_REGISTERS,
        )  # fmt: skip
    return results


@torch.library.custom_op("choral::leading_gradients", mutates_args=())
@on_its_device
def _gradients(
    values: torch.Tensor, target: torch.Tensor, leading: torch.Tensor, marks: torch.Tensor, n_marked: torch.Tensor,
    cumulative: torch.Tensor, upstream: torch.Tensor, kind: int, n_weighing: int,
) -> torch.Tensor:  # fmt: skip
    n_rows, n_labels = values.shape
    gradients = torch.empty(values.shape, dtype=values.dtype, device=values.device)
    tile = make_tile(n_labels, HELD_BITS)
    rows = THREADS_TO_WEIGH >> (tile.bits - tile.held_bits)
    if n_rows:
        values, target, upstream = readable(values), readable(target), upstream.contiguous()
        _weigh_leading[(triton.cdiv(n_rows, rows),)](
            values, target, leading, marks, cumulative, upstream, gradients, n_rows, n_labels,
            kind, LEADING_BITS, tile.held_bits, tile.bits, rows, max(1, min(rows, ENTRIES_TO_FILL >> tile.bits)),
            num_warps=1,
        )  # fmt: skip
        _weigh_ties[(triton.cdiv(n_rows, ROWS_TO_LOOK_AT),)](
            values, target, leading, n_marked, cumulative, upstream, gradients, n_rows, n_labels, n_weighing,
            kind, tile.bits, ROWS_TO_LOOK_AT, num_warps=4,
        )  # fmt: skip
    return gradients


def _results(values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Room for losses, for the largest margins, for a bit for each label, and for how many are set."""
    n_rows, device = len(values), values.device
    tile = make_tile(values.shape[1], HELD_BITS)
    return (
        torch.empty(n_rows, dtype=torch.float32, device=device),
        torch.empty(n_rows, ROOM, dtype=torch.int32, device=device),
        torch.empty(n_rows, 1 << (tile.bits - tile.held_bits), dtype=torch.int32, device=device),
        torch.empty(n_rows, dtype=torch.int32, device=device),
    )


@_forward.register_fake
def _(values, target, cumulative, kind, n_weighing):
    return _results(values)


@_gradients.register_fake
def _(values, target, leading, marks, n_marked, cumulative, upstream, kind, n_weighing):
    return torch.empty(values.shape, dtype=values.dtype, device=values.device)


def _keep(ctx, inputs, output):
    values, target, cumulative, *ctx.numbers = inputs
    ctx.save_for_backward(values, target, *output[1:], cumulative)
    ctx.set_materialize_grads(False)  # what is kept has none


def _backward(ctx, of_losses, *of_others):
    return _gradients(*ctx.saved_tensors, of_losses, *ctx.numbers), None, None, None, None


_forward.register_autograd(_backward, setup_context=_keep)


def leading_losses(
    values: torch.Tensor, target: torch.Tensor, cumulative: torch.Tensor, kind: str, n_weighing: int
) -> torch.Tensor:
    """The loss of each row of more than 32 labels; the first ``n_weighing`` ranks, at most 31, carry the weight."""
    return _forward(values, target, cumulative, KINDS.index(kind), n_weighing)[0]


def serves_losses(values: torch.Tensor, n_weighing: int) -> bool:
    """Whether weight and labels are such that this is for them; sums in double precision are kept to the last digit."""
    return n_weighing <= MOST_WEIGHING and values.shape[1] > ROOM and values.dtype != torch.float64
