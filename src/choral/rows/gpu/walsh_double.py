"""The Walsh-Hadamard transform of 2^K numbers in double precision, in the registers of warps; and the least of them.

A warp holds 2^10 numbers at once, for up to ten labels: neighbours in the first pass, later numbers that lie further
apart, of which some neighbours are taken along so that memory is read in whole lines. 24 labels take three passes.
"""

import torch
import triton
import triton.language as tl

from choral.rows.gpu.sorting import on_its_device

TILE_BITS = 10
LABELS_A_PASS = 7  # at most, after the first: eight neighbours are taken along
VALUES_PER_PROGRAM = 4096  # of a search for the least


@triton.jit
def _transform(
    table, factors, result, stride, n_labels,
    WEIGHTED: tl.constexpr, COLUMN_BITS: tl.constexpr, BITS: tl.constexpr, SHAPE: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """Transform the labels from that whose sets lie ``stride`` apart."""
    blocks = stride >> COLUMN_BITS
    outer = (tl.program_id(0) // blocks).to(tl.int64) * (stride << BITS)
    columns = (tl.program_id(0) % blocks << COLUMN_BITS) + tl.arange(0, 1 << COLUMN_BITS)
    sides = tl.arange(0, 1 << BITS)[:, None]
    places = outer + sides.to(tl.int64) * stride + columns[None, :]
    numbers = tl.load(table + places)
    if WEIGHTED:
        numbers *= tl.load(factors + _count_bits((places & ((1 << n_labels) - 1)).to(tl.int32)))
    numbers = tl.reshape(numbers, CUBE)
    sides = tl.reshape(tl.broadcast_to(sides, SHAPE), CUBE)
    for bit in tl.static_range(BITS):
        # Partners are found by adding and taking away whole numbers, which do not round.
        bits = numbers.to(tl.int64, bitcast=True)
        partners = (tl.sum(bits, axis=BITS - 1 - bit, keep_dims=True) - bits).to(tl.float64, bitcast=True)
        numbers = tl.where((sides >> bit) & 1 == 0, numbers, -numbers) + partners
    tl.store(result + places, tl.reshape(numbers, SHAPE))


@triton.jit
def _count_bits(numbers):
    """How many bits are set in each number of 31 bits."""
    numbers -= (numbers >> 1) & 0x55555555
    numbers = (numbers & 0x33333333) + ((numbers >> 2) & 0x33333333)
    numbers = (numbers + (numbers >> 4)) & 0x0F0F0F0F
    numbers += numbers >> 8
    return (numbers + (numbers >> 16)) & 0x3F


@triton.jit
def _least_keys(table, least, keys, found, n_values, n_parts, tolerance, LARGEST: tl.constexpr, VALUES: tl.constexpr):
    row = (tl.program_id(0) // n_parts).to(tl.int64)
    places = (tl.program_id(0) % n_parts) * VALUES + tl.arange(0, VALUES)
    near = tl.load(table + row * n_values + places) <= tl.load(least + row) + tolerance
    tl.store(found + tl.program_id(0), tl.min(tl.load(keys + places, mask=near, other=LARGEST), axis=0))


@on_its_device
def transform_doubles(table: torch.Tensor, factors: torch.Tensor | None = None) -> torch.Tensor:
    """Transform each row of 2^K doubles, K at least 10, in a new tensor.

    Parameters
    ----------
    table : Tensor of shape (..., 2 ** n_labels)
        A number for each set of labels.
    factors : Tensor of shape (n_labels + 1,), optional
        What numbers are multiplied with before, by the size of their sets.
    """
    table = table.contiguous()
    result = torch.empty_like(table)
    n_labels = table.shape[-1].bit_length() - 1
    _launch(table, factors, result, 0, TILE_BITS, n_labels)
    n_passes = -(-(n_labels - TILE_BITS) // LABELS_A_PASS)
    for number in range(n_passes):
        first, last = (TILE_BITS + (n_labels - TILE_BITS) * n // n_passes for n in (number, number + 1))
        _launch(result, None, result, first, last - first, n_labels)
    return result


def _launch(
    table: torch.Tensor, factors: torch.Tensor | None, result: torch.Tensor, first: int, n_here: int, n_labels: int
) -> None:
    """Transform so many labels from a first one on."""
    column_bits = TILE_BITS - n_here
    _transform[(table.numel() >> TILE_BITS,)](
        table, table if factors is None else factors, result, 1 << first, n_labels, factors is not None,
        column_bits, n_here, (1 << n_here, 1 << column_bits), (2,) * n_here + (1 << column_bits,), num_warps=1,
    )  # fmt: skip


def serves_doubles(table: torch.Tensor) -> bool:
    """Whether a table on a CUDA device is large and of the precision that this is for."""
    return table.dtype == torch.float64 and table.shape[-1] >= 1 << TILE_BITS


@on_its_device
def least_keys(table: torch.Tensor, keys: torch.Tensor, tolerance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The least key of all numbers of a row that are within a tolerance of its least, and that least number.

    Keys that are not looked at are not read: hardly any are.
    """
    n_rows, n_values = table.shape
    least = torch.amin(table, dim=1)
    n_here = min(VALUES_PER_PROGRAM, n_values)
    n_parts = n_values // n_here
    found = torch.empty(n_rows, n_parts, dtype=keys.dtype, device=keys.device)
    _least_keys[(found.numel(),)](
        table, least, keys, found, n_values, n_parts, tolerance, torch.iinfo(keys.dtype).max, n_here
    )
    return torch.amin(found, dim=1), least
