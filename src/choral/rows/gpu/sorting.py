"""Rows sorted in registers: a bitonic sort whose steps hardly ever leave a thread.

A tile has the shape (rows, numbers a thread holds, threads a row). A thread of a row takes up to 32 labels, so that of
the 28 steps for 128 labels only three look at another thread, and of the 55 for 1024 labels fifteen. Where an input
lies at first does not matter, so rows are read in the order that suits the memory, and the number of rank r ends in
place r % held of thread r // held.

A multiprocessor compares 64 numbers a cycle, and that is what sorting waits for. So the smaller of two numbers is often
found as their sum minus the larger, by other units. Where threads compare, the numbers of every other thread are turned
into their negatives: then the larger of one is the smaller of the other, and all threads do the same. Steps between
threads are loops: unrolled, they would be more instructions than a multiprocessor keeps at hand.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

MAX_HELD_BITS = 5
WARP_BITS = 5  # a warp is 32 threads
UNROLLED_BITS = tl.constexpr(2)  # of threads a row: so few steps between them need no loop


class Tile(NamedTuple):
    """The bits of a rank that lie within a thread, all bits of a rank, the rows, and the shape with an axis a bit."""

    held_bits: int
    bits: int
    rows: int
    cube: tuple[int, ...]


def make_tile(n_labels: int, held_bits: int = MAX_HELD_BITS) -> Tile:
    """The tile of one warp for rows of up to 1024 labels; a row never leaves its warp."""
    bits = max((n_labels - 1).bit_length(), 1)
    held_bits = min(bits, max(held_bits, bits - WARP_BITS))
    rows = 1 << (WARP_BITS - bits + held_bits)
    return Tile(held_bits, bits, rows, (rows, *(2,) * bits))


@triton.jit
def ranks_of(HELD_BITS: tl.constexpr, BITS: tl.constexpr):
    """The rank of each place of a sorted row."""
    held = tl.arange(0, 1 << HELD_BITS)[None, :, None]
    threads = tl.arange(0, 1 << (BITS - HELD_BITS))[None, None, :]
    return (threads << HELD_BITS) + held


@triton.jit
def rows_and_labels(HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr):
    """The row and the label that each number of a warp is given at first: neighbours to neighbouring threads.

    Their shapes are (1, threads) and (numbers a thread holds, threads), for `as_tile`. With these two axes, every
    version of Triton has a thread hold what it should; with three it would depend on the version.
    """
    a_row: tl.constexpr = 1 << (BITS - HELD_BITS)
    threads = tl.arange(0, ROWS * a_row)[None, :]
    held = tl.arange(0, 1 << HELD_BITS)[:, None]
    return threads // a_row, held * a_row + threads % a_row  # by shifts, Triton would not see neighbours


@triton.jit
def as_tile(numbers, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr):
    """Numbers that a warp has read as a tile; none moves."""
    return tl.permute(tl.reshape(numbers, [1 << HELD_BITS, ROWS, 1 << (BITS - HELD_BITS)]), (1, 0, 2))


@triton.jit
def labels_of(HELD_BITS: tl.constexpr, BITS: tl.constexpr):
    """The label that each place of a tile is given at first."""
    held = tl.arange(0, 1 << HELD_BITS)[None, :, None]
    threads = tl.arange(0, 1 << (BITS - HELD_BITS))[None, None, :]
    return (held << (BITS - HELD_BITS)) + threads


@triton.jit
def sort_descending(keys, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr):
    """Sort each row of a tile, the largest first: integers, or numbers in single precision.

    Of rows of numbers with nan, nothing is promised.
    """
    threads = tl.arange(0, 1 << (BITS - HELD_BITS))[None, None, :]
    for block in tl.static_range(1, HELD_BITS):
        keys = _merge_held(keys, block, block, HELD_BITS, BITS, ROWS, CUBE)
    keys = _turn(keys, threads)
    keys = _merge_held(keys, HELD_BITS, HELD_BITS, HELD_BITS, BITS, ROWS, CUBE)
    if BITS - HELD_BITS <= UNROLLED_BITS:
        for block in tl.static_range(1, BITS - HELD_BITS + 1):
            keys = _merge_threads(keys, threads, block, HELD_BITS, BITS, ROWS, CUBE)
    else:
        for block in range(1, BITS - HELD_BITS + 1):
            keys = _merge_threads(keys, threads, block, HELD_BITS, BITS, ROWS, CUBE)
    return keys


@triton.jit
def _merge_threads(
    keys, threads, block, HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr
):  # fmt: skip
    """Merge what 2^block threads hold."""
    if keys.dtype.is_floating():
        keys = _merge_numbers_of_threads(keys, threads, block)
    else:
        keys = _merge_integers_of_threads(keys, threads, block)
    return _merge_held(keys, HELD_BITS, HELD_BITS, HELD_BITS, BITS, ROWS, CUBE)


@triton.jit
def _turn(keys, flags):
    """Turn the order of keys round where the lowest bit of a flag is set."""
    if keys.dtype.is_floating():
        return keys * (1.0 - 2.0 * (flags & 1).to(keys.dtype))
    else:
        return keys ^ -(flags & 1).to(keys.dtype)


@triton.jit
def _merge_numbers_of_threads(keys, threads, block):
    """The steps of a block of 2^block threads that compare threads.

    Before, threads are turned whose bit block - 1 is set, and after those whose bit block is set. In between, of two
    threads that compare the second is turned. A step turns both: its result is min(-a, b), which is -max(a, -b).
    """
    keys = _turn(keys, threads >> block)
    for step in range(block):
        bit = block - 1 - step
        keys = tl.minimum(-1.0 * keys, _of_thread(keys, threads ^ (1 << bit)))
        keys = _turn(keys, 1 ^ ((threads ^ (threads << 1)) >> bit))
    return keys


@triton.jit
def _merge_integers_of_threads(keys, threads, block):
    """The same for integers, whose negatives cost as much as a comparison."""
    keys = _turn(keys, (threads >> block) ^ (threads >> (block - 1)))
    for step in range(block):
        bit = block - 1 - step
        others = _of_thread(keys, threads ^ (1 << bit))
        is_first = ((threads >> bit) & 1) == 0
        if keys.dtype.primitive_bitwidth == 64:
            keys = tl.where((keys > others) == is_first, keys, others)
        else:
            keys = tl.where(is_first, tl.maximum(keys, others), tl.minimum(keys, others))
    return keys


@triton.jit
def _of_thread(keys, threads):
    return tl.gather(keys, tl.broadcast_to(threads, keys.shape), axis=2)


@triton.jit
def _merge_held(
    keys, STEPS: tl.constexpr, BLOCK: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """The last steps of a block of 2^BLOCK ranks: those within a thread."""
    shape: tl.constexpr = keys.shape
    ranks = tl.reshape(tl.broadcast_to(ranks_of(HELD_BITS, BITS), shape), CUBE)
    keys = tl.reshape(keys, CUBE)
    for step in tl.static_range(STEPS):
        keys = _exchange(keys, ranks, STEPS - 1 - step, BLOCK, step % 3 > 0, HELD_BITS, BITS)
    return tl.reshape(keys, shape)


@triton.jit
def sort_leading(
    keys, LEADING_BITS: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr, ROWS: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """Put the 2^LEADING_BITS largest integers of each row first, the largest first; the others become copies of them.

    Parts of that many are sorted. Then neighbours keep the larger ones of what both hold, sort these anew, and so do
    neighbours of neighbours: about half of the steps of a whole sort, and few between threads.
    """
    shape: tl.constexpr = [ROWS, 1 << HELD_BITS, 1 << (BITS - HELD_BITS)]
    ranks = tl.reshape(tl.broadcast_to(ranks_of(HELD_BITS, BITS), shape), CUBE)
    keys = tl.reshape(keys, CUBE)
    for block in tl.static_range(1, BITS + 1):
        if block > LEADING_BITS:
            keys = tl.maximum(keys, partners_of(keys, block - 1, HELD_BITS, BITS))
        turned = -((ranks >> block) & 1) if block >= HELD_BITS else 0
        keys ^= turned
        for step in tl.static_range(LEADING_BITS):
            if step < block:
                keys = _exchange(keys, ranks, min(block, LEADING_BITS) - 1 - step, block, False, HELD_BITS, BITS)
        keys ^= turned
    return tl.reshape(keys, shape)


@triton.jit
def partners_of(keys, BIT: tl.constexpr, HELD_BITS: tl.constexpr, BITS: tl.constexpr):
    """The key at the rank that differs in a bit."""
    axis: tl.constexpr = HELD_BITS - BIT if BIT < HELD_BITS else BITS + HELD_BITS - BIT
    bits = _bits_of(keys)
    return (tl.sum(bits, axis=axis, keep_dims=True) - bits).to(keys.dtype, bitcast=True)


@triton.jit
def _bits_of(keys):
    """The bits of keys as integers, which are added without rounding."""
    return keys.to(tl.int64 if keys.dtype.primitive_bitwidth == 64 else tl.int32, bitcast=True)


@triton.jit
def _exchange(
    keys, ranks, BIT: tl.constexpr, BLOCK: tl.constexpr, BY_SUM: tl.constexpr,
    HELD_BITS: tl.constexpr, BITS: tl.constexpr,
):  # fmt: skip
    """Put the larger of two keys first whose ranks differ in a bit.

    Every other block of ranks is to be sorted upwards. Where a block lies within a thread, that is known when the
    kernel is compiled; where it does not, the caller has turned the order of the keys round.
    """
    partners = partners_of(keys, BIT, HELD_BITS, BITS)
    if BLOCK < HELD_BITS:
        is_first = (((ranks >> BIT) ^ (ranks >> BLOCK)) & 1) == 0
    else:
        is_first = ((ranks >> BIT) & 1) == 0
    if keys.dtype.primitive_bitwidth == 64:  # one comparison for both
        return tl.where(tl.where(is_first, keys > partners, partners > keys), keys, partners)
    else:
        larger = tl.maximum(keys, partners)
        if BY_SUM:
            # Products by a 1 that the compiler does not know: their sums run where numbers are multiplied.
            one = tl.num_programs(1)
            sums = _bits_of(keys) * one + _bits_of(partners)
            smaller = (sums - _bits_of(larger) * one).to(keys.dtype, bitcast=True)
        else:
            smaller = tl.minimum(keys, partners)
        return tl.where(is_first, larger, smaller)


@triton.jit
def as_keys(numbers, DOUBLE: tl.constexpr):
    """Floating-point numbers as integers of the same order; the two zeros become one."""
    numbers = tl.where(numbers == 0, 0.0, numbers)
    if DOUBLE:
        bits = numbers.to(tl.int64, bitcast=True)
        return bits ^ ((bits >> 63) & 0x7FFFFFFFFFFFFFFF)
    else:
        bits = numbers.to(tl.int32, bitcast=True)
        return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def keys_of_margins(margins, inside, DOUBLE: tl.constexpr):
    """Integers of the same order; nan is the largest, whatever its sign, and what is outside the least."""
    LARGEST: tl.constexpr = 0x7FFFFFFFFFFFFFFF if DOUBLE else 0x7FFFFFFF
    return tl.where(inside, tl.where(margins != margins, LARGEST, as_keys(margins, DOUBLE)), -LARGEST - 1)


@triton.jit
def as_numbers(keys, DOUBLE: tl.constexpr):
    """The numbers that `as_keys` made into integers."""
    if DOUBLE:
        return (keys ^ ((keys >> 63) & 0x7FFFFFFFFFFFFFFF)).to(tl.float64, bitcast=True)
    else:
        return (keys ^ ((keys >> 31) & 0x7FFFFFFF)).to(tl.float32, bitcast=True)


def readable(labels: torch.Tensor) -> torch.Tensor:
    """A matrix without gaps between its rows; booleans as bytes, which compare with numbers."""
    labels = labels.contiguous()
    return labels.view(torch.uint8) if labels.dtype == torch.bool else labels


def count_processors(device: torch.device) -> int:
    """Multiprocessors of a device."""
    return torch.cuda.get_device_properties(device).multi_processor_count if device.type == "cuda" else 1


def on_its_device(launch: Callable) -> Callable:
    """Have a function launch its kernels where its first tensor lies: Triton goes to torch's current device."""

    @wraps(launch)
    def guarded(first: torch.Tensor, *others: Any) -> Any:
        with torch.cuda.device_of(first):  # nothing to do for a tensor of the host
            return launch(first, *others)

    return guarded
