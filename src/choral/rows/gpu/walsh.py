"""The Walsh-Hadamard transform of 2^K numbers in single precision, seven labels at a time on the tensor cores.

A program transforms 2^14 neighbours at once, as a matrix with a Hadamard matrix on either side; the labels above them
come seven at a time, a Hadamard matrix from the left. Tensor cores are fast on numbers of 8 bits (bfloat16): the 24 of
single precision are split into three such parts, whose products with 1 and -1 are exact. Only sums round, as always.
"""

import torch
import triton
import triton.language as tl

from choral.rows.gpu.sorting import on_its_device

SIDE = 128  # of the Hadamard matrices
LABELS_A_SIDE = 7
LEAST_LABELS = 2 * LABELS_A_SIDE
COLUMNS = 64  # neighbours in memory beside each other in a pass over labels above
PART = tl.bfloat16  # what a part of a number is multiplied as


@triton.jit
def _signs(SIDE: tl.constexpr, PART: tl.constexpr):
    """The Hadamard matrix: minus one to the number of labels that row and column share."""
    shared = tl.arange(0, SIDE)[:, None] & tl.arange(0, SIDE)[None, :]
    shared ^= shared >> 4
    shared ^= shared >> 2
    shared ^= shared >> 1
    return tl.where((shared & 1) == 0, 1.0, -1.0).to(PART)


@triton.jit
def _parts(numbers, PART: tl.constexpr):
    """Three numbers of 8 bits that add up to each number."""
    high = (numbers.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)
    rest = numbers - high
    middle = (rest.to(tl.int32, bitcast=True) & -65536).to(tl.float32, bitcast=True)
    return high.to(PART), middle.to(PART), (rest - middle).to(PART)


@triton.jit
def _from_left(signs, numbers):
    high, middle, low = _parts(numbers, signs.dtype)
    return tl.dot(signs, high, tl.dot(signs, middle, tl.dot(signs, low)))


@triton.jit
def _from_right(numbers, signs):
    high, middle, low = _parts(numbers, signs.dtype)
    return tl.dot(high, signs, tl.dot(middle, signs, tl.dot(low, signs)))


@triton.jit
def _lowest_labels(table, result, SIDE: tl.constexpr, PART: tl.constexpr):
    start = tl.program_id(0).to(tl.int64) * SIDE * SIDE
    places = start + tl.arange(0, SIDE)[:, None] * SIDE + tl.arange(0, SIDE)[None, :]
    signs = _signs(SIDE, PART)
    numbers = _from_right(tl.load(table + places), signs)
    tl.store(result + places, _from_left(signs, numbers))


@triton.jit
def _next_labels(table, stride, n_sides, SIDE: tl.constexpr, COLUMNS: tl.constexpr, PART: tl.constexpr):
    """Transform, in place, the labels from that whose sets lie ``stride`` apart; fewer than seven leave rows empty."""
    blocks = stride // COLUMNS
    outer = (tl.program_id(0) // blocks).to(tl.int64) * n_sides * stride
    inner = (tl.program_id(0) % blocks) * COLUMNS + tl.arange(0, COLUMNS)
    sides = tl.arange(0, SIDE)
    places = outer + sides[:, None].to(tl.int64) * stride + inner[None, :]
    inside = (sides < n_sides)[:, None]
    numbers = tl.load(table + places, mask=inside, other=0.0)
    tl.store(table + places, _from_left(_signs(SIDE, PART), numbers), mask=inside)


@on_its_device
def hadamard_transform(table: torch.Tensor) -> torch.Tensor:
    """Transform each row of 2^K numbers, K at least 14, in a new tensor."""
    table = table.contiguous()
    n_labels = table.shape[-1].bit_length() - 1
    result = torch.empty_like(table)
    _lowest_labels[(table.numel() // SIDE**2,)](table, result, SIDE, PART, num_warps=8)
    for first in range(LEAST_LABELS, n_labels, LABELS_A_SIDE):
        n_sides = 1 << min(LABELS_A_SIDE, n_labels - first)
        _next_labels[(table.numel() // (n_sides * COLUMNS),)](
            result, 1 << first, n_sides, max(n_sides, 16), COLUMNS, PART, num_warps=8
        )
    return result


def serves_table(table: torch.Tensor) -> bool:
    """Whether a table on a CUDA device is large and of the precision that this is for."""
    return table.dtype == torch.float32 and table.shape[-1] >= 1 << LEAST_LABELS
