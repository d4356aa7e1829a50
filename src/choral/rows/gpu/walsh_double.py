"""The Walsh-Hadamard transform of 2^K numbers in double precision, in the registers of warps; and the least of them.

A warp holds 2^10 numbers at once, a tile, for up to ten labels: neighbours in the first pass, later numbers that lie
further apart, of which some neighbours are taken along so that memory is read in whole lines. 24 labels take three
passes.

Of the risks of all predictions, only the least and the keys of those near it count. So the last pass writes no risks,
but the least of each tile. The few tiles that hold one near the least of all are then transformed once more, for keys.
"""

from itertools import pairwise
from typing import NamedTuple

import torch
import triton
import triton.language as tl

from choral.rows.gpu.sorting import on_its_device

TILE_BITS = 10
LABELS_A_PASS = 7  # at most, after the first: eight neighbours are taken along
NUMBERS_AT_ONCE = 1 << 26  # of several transforms, 512 MiB
TILES_PER_PROGRAM = 32  # of a search for keys, which passes over nearly all
NO_KEY = torch.iinfo(torch.int64).max  # larger than all


@triton.jit
def _transform(
    table, factors, result, n_products, stride, n_labels,
    WEIGHTED: tl.constexpr, COLUMN_BITS: tl.constexpr, BITS: tl.constexpr, SHAPE: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """Transform the labels from that whose sets lie ``stride`` apart; WEIGHTED, of several products of one table.

    The products of a tile follow each other, so that it comes from memory once.
    """
    places = _places_of(tl.program_id(0) // n_products, stride, COLUMN_BITS, BITS)
    numbers = tl.load(table + places)
    if WEIGHTED:
        product = tl.program_id(0) % n_products
        numbers *= tl.load(factors + product * (n_labels + 1) + _count_bits(_sets_at(places, n_labels)))
        n_numbers = (tl.num_programs(0) // n_products).to(tl.int64) << (COLUMN_BITS + BITS)
        places += product * n_numbers
    tl.store(result + places, _transform_tile(numbers, BITS, SHAPE, CUBE))


@triton.jit
def _least_of_tiles(
    table, least, stride,
    COLUMN_BITS: tl.constexpr, BITS: tl.constexpr, SHAPE: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """The least number of each tile after the same pass."""
    places = _places_of(tl.program_id(0), stride, COLUMN_BITS, BITS)
    numbers = _transform_tile(tl.load(table + places), BITS, SHAPE, CUBE)
    tl.store(least + tl.program_id(0), tl.min(numbers))


@triton.jit
def _least_keys(
    table, least, limits, keys, stride, n_labels, NO_KEY: tl.constexpr, TILES: tl.constexpr,
    COLUMN_BITS: tl.constexpr, BITS: tl.constexpr, SHAPE: tl.constexpr, CUBE: tl.constexpr,
):  # fmt: skip
    """The least key of the numbers of some tiles that do not exceed the limit of their row."""
    first = tl.program_id(0) * TILES
    limit = tl.load(limits + (first >> (n_labels - COLUMN_BITS - BITS)))
    key = tl.full((), NO_KEY, tl.int64)
    for number in range(TILES):
        if tl.load(least + first + number) <= limit:
            places = _places_of(first + number, stride, COLUMN_BITS, BITS)
            numbers = _transform_tile(tl.load(table + places), BITS, SHAPE, CUBE)
            of_sets = _keys_of(_sets_at(places, n_labels), n_labels)
            key = tl.minimum(key, tl.min(tl.where(numbers <= limit, of_sets, NO_KEY)))
    tl.store(keys + tl.program_id(0), key)


@triton.jit
def _places_of(tile, stride, COLUMN_BITS: tl.constexpr, BITS: tl.constexpr):
    """Where the numbers of a tile lie: a row for each set of the labels that are transformed."""
    blocks = stride >> COLUMN_BITS
    outer = (tile // blocks).to(tl.int64) * (stride << BITS)
    columns = (tile % blocks << COLUMN_BITS) + tl.arange(0, 1 << COLUMN_BITS)
    return outer + tl.arange(0, 1 << BITS)[:, None].to(tl.int64) * stride + columns[None, :]


@triton.jit
def _transform_tile(numbers, BITS: tl.constexpr, SHAPE: tl.constexpr, CUBE: tl.constexpr):
    """Transform the rows of a tile; CUBE is its shape with an axis for each label."""
    sides = tl.reshape(tl.broadcast_to(tl.arange(0, 1 << BITS)[:, None], SHAPE), CUBE)
    numbers = tl.reshape(numbers, CUBE)
    for bit in tl.static_range(BITS):
        # Partners are found by adding and taking away whole numbers, which do not round.
        bits = numbers.to(tl.int64, bitcast=True)
        partners = (tl.sum(bits, axis=BITS - 1 - bit, keep_dims=True) - bits).to(tl.float64, bitcast=True)
        numbers = tl.where((sides >> bit) & 1 == 0, numbers, -numbers) + partners
    return tl.reshape(numbers, SHAPE)


@triton.jit
def _sets_at(places, n_labels):
    """The index of the set whose number lies at a place."""
    return (places & ((1 << n_labels) - 1)).to(tl.int32)


@triton.jit
def _keys_of(sets, n_labels):
    """The keys of sets: their sizes, and then a bit for each label, 0 where the set has it."""
    keys = _count_bits(sets).to(tl.int64)
    for label in range(n_labels):
        keys = 2 * keys + 1 - ((sets >> label) & 1)
    return keys


@triton.jit
def _count_bits(numbers):
    """How many bits are set in each number of 31 bits."""
    numbers -= (numbers >> 1) & 0x55555555
    numbers = (numbers & 0x33333333) + ((numbers >> 2) & 0x33333333)
    numbers = (numbers + (numbers >> 4)) & 0x0F0F0F0F
    numbers += numbers >> 8
    return (numbers + (numbers >> 16)) & 0x3F


class Pass(NamedTuple):
    """The labels that are transformed at once: from a first one on, so many."""

    first: int
    n_labels: int

    @property
    def stride(self) -> int:
        """How far apart sets lie that differ in the first label."""
        return 1 << self.first

    @property
    def tile(self) -> tuple[int, int, tuple[int, ...], tuple[int, ...]]:
        """The bits of a column and of a row, the shape, and the shape with an axis for each label."""
        column_bits, columns = TILE_BITS - self.n_labels, 1 << (TILE_BITS - self.n_labels)
        return column_bits, self.n_labels, (1 << self.n_labels, columns), (*(2,) * self.n_labels, columns)


FIRST_PASS = Pass(0, TILE_BITS)
NO_LABELS = Pass(TILE_BITS, 0)  # nothing is left to transform


def later_passes(n_labels: int) -> list[Pass]:
    """What follows the first pass: the labels that are left, in even parts; none are left of ten."""
    n_left = n_labels - TILE_BITS
    n_passes = -(-n_left // LABELS_A_PASS)
    edges = [TILE_BITS + n_left * number // max(n_passes, 1) for number in range(n_passes + 1)]
    return [Pass(first, last - first) for first, last in pairwise(edges)]


def serves_doubles(table: torch.Tensor) -> bool:
    """Whether a table on a CUDA device is large and of the precision that this is for."""
    return table.dtype == torch.float64 and table.shape[-1] >= 1 << TILE_BITS


@on_its_device
def transform_doubles(table: torch.Tensor) -> torch.Tensor:
    """Transform each row of 2^K doubles, K at least 10, in a new tensor."""
    table = table.contiguous()
    result = torch.empty_like(table)
    _transform_part(table, result, FIRST_PASS)
    for part in later_passes(_n_labels(table)):
        _transform_part(result, result, part)
    return result


@on_its_device
def least_keys(table: torch.Tensor, tolerance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The least key of all numbers of a row that are within a tolerance of its least, and that least number.

    Parameters
    ----------
    table : Tensor of shape (n_rows, 2 ** n_labels)
        A number for each set of labels.
    tolerance : float
        By how much numbers may exceed the least.
    """
    return _search(table.contiguous(), NO_LABELS, tolerance)


@on_its_device
def least_keys_of_products(
    table: torch.Tensor, factors: torch.Tensor, tolerance: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same for the transforms of products of a table, of shape (n_products, n_rows); some products at a time.

    Parameters
    ----------
    table : Tensor of shape (n_rows, 2 ** n_labels)
        A number for each set of labels.
    factors : Tensor of shape (n_products, n_labels + 1)
        What numbers are multiplied with for each product, by the size of their sets.
    tolerance : float
        By how much numbers may exceed the least.
    """
    table = table.contiguous()
    n_at_once = min(len(factors), max(1, NUMBERS_AT_ONCE // table.numel()))
    memory = table.new_empty(n_at_once, *table.shape)
    *others, last = later_passes(_n_labels(table)) or [NO_LABELS]
    found = []
    for some in factors.split(n_at_once):
        products = memory[: len(some)]
        _transform_part(table, products, FIRST_PASS, some)
        for part in others:
            _transform_part(products, products, part)
        found.append(_search(products, last, tolerance))
    keys, least = (torch.cat(parts) for parts in zip(*found, strict=True))
    return keys, least


def _transform_part(table: torch.Tensor, result: torch.Tensor, part: Pass, factors: torch.Tensor | None = None) -> None:
    """One pass; with factors, of a product for each row of these."""
    n_products = 1 if factors is None else len(factors)
    _transform[(result.numel() >> TILE_BITS,)](
        table, table if factors is None else factors, result, n_products, part.stride, _n_labels(table),
        factors is not None, *part.tile, num_warps=1,
    )  # fmt: skip


def _search(table: torch.Tensor, last: Pass, tolerance: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The least keys, and the least numbers, of all but the last axis after a last pass."""
    n_labels, shape = _n_labels(table), table.shape[:-1]
    of_tiles = table.new_empty(*shape, 1 << (n_labels - TILE_BITS))
    _least_of_tiles[(of_tiles.numel(),)](table, of_tiles, last.stride, *last.tile, num_warps=1)
    least = torch.amin(of_tiles, dim=-1)
    n_tiles = min(TILES_PER_PROGRAM, of_tiles.shape[-1])
    keys = torch.empty(*shape, of_tiles.shape[-1] // n_tiles, dtype=torch.int64, device=table.device)
    _least_keys[(keys.numel(),)](
        table, of_tiles, least + tolerance, keys, last.stride, n_labels, NO_KEY, n_tiles, *last.tile, num_warps=1
    )
    return torch.amin(keys, dim=-1), least


def _n_labels(table: torch.Tensor) -> int:
    return table.shape[-1].bit_length() - 1
