"""Steps that NumPy writes by indexing and other libraries by gathering: one function each, for arrays of any library.

Arrays of some libraries cannot be written to, and the array API standard has no sums over indices.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from choral._array_api import Array, device_of, is_foreign, is_in_host_memory, to_device_of, xp_of
from choral.rows.gpu import serves

DEVICE_SPEED = 100  # what an accelerator does in the time in which a processor does 1


def is_on_host(array: Array) -> bool:
    """Whether an array lies in the memory of the processor."""
    return not is_foreign(array) or is_in_host_memory(array)


def speed_of(array: Array) -> int:
    """How many times as fast as a processor an array's device is, roughly."""
    return 1 if is_on_host(array) else DEVICE_SPEED


def count_up(n: int, like: Array, dtype: Any = None) -> Array:
    """0, 1, ..., n - 1 where another array is."""
    return xp_of(like).arange(n, dtype=dtype, device=device_of(like)) if is_foreign(like) else np.arange(n, dtype=dtype)


def gather(table: Array, index: Array) -> Array:
    """The entries of a vector at indices, in their shape; both are in one place."""
    if not is_foreign(table):
        return table[index]
    xp = xp_of(table)
    return xp.reshape(xp.take(table, xp.reshape(index, (-1,)), axis=0), index.shape)


def take_columns(array: Array, columns: Sequence[int]) -> Array:
    """Some columns of a matrix, or of a stack of matrices."""
    if not is_foreign(array):
        return array[..., list(columns)]
    return xp_of(array).take(array, to_device_of(np.array(columns), array), axis=-1)


def add_to_columns(array: Array, columns: Sequence[int], values: Array) -> Array:
    """A matrix with values added to some of its columns; NumPy's is changed in place."""
    if not is_foreign(array):
        array[:, list(columns)] += values
        return array
    return array + values @ to_device_of(np.eye(array.shape[1])[list(columns)], array)


def put_rows(array: Array, chosen: Array, rows: Array) -> Array:
    """An array in which the chosen rows, a mask that holds somewhere, are replaced by others in their order."""
    if not is_foreign(array):
        array = array.copy()
        array[chosen] = rows
        return array
    xp = xp_of(array)
    places = xp.clip(xp.cumulative_sum(xp.astype(chosen, xp.int64)) - 1, 0, None)
    chosen = xp.reshape(chosen, (-1,) + (1,) * (array.ndim - 1))
    return xp.where(chosen, xp.take(rows, places, axis=0), array)


def first_true(flags: Array) -> Array:
    """The first column in which a flag is set, of each row; 0 where none is."""
    if not is_foreign(flags):
        return flags.argmax(axis=-1)
    xp = xp_of(flags)
    return xp.argmax(xp.astype(flags, xp.int8), axis=-1)


def is_column(columns: Array, like: Array) -> Array:
    """One column of each row of a matrix, as a mask."""
    return columns[:, None] == count_up(like.shape[1], columns, columns.dtype)


def place_columns(values: Array, places: Array, size: int) -> Array:
    """Rows of ``size`` numbers: values at their places, and 0 elsewhere.

    Values have the shape (n_rows, n_values), places (n_values,). Of several at one place, all but the first are 0.
    """
    if serves(values, places):
        from choral.rows.gpu.places import add_at_places

        return add_at_places(values, places, size)
    xp = xp_of(values)
    order = xp.argsort(places, stable=True)
    sorted_places = xp.take(places, order)
    everywhere = count_up(size, places, places.dtype)
    found = xp.searchsorted(sorted_places, everywhere)
    found = xp.clip(found, None, places.shape[0] - 1)
    is_there = xp.take(sorted_places, found) == everywhere
    gathered = xp.take(values, xp.take(order, found), axis=1)
    return xp.where(is_there[None, :], gathered, xp.zeros_like(gathered))


def sums_to_end_of_run(values: Array, starts: Array, longest: int) -> Array:
    """For each value of a row, the sum from there to the end of its run; runs begin at ``starts``, a mask.

    By doubling: differences of running sums over the whole row would lose the digits of small values.
    """
    xp = xp_of(values)
    runs = xp.cumulative_sum(xp.astype(starts, xp.int64))
    step = 1
    while step < longest:
        ahead = values[..., step:]
        within = xp.where(runs[step:] == runs[:-step], ahead, xp.zeros_like(ahead))
        values = xp.concat([values[..., :-step] + within, values[..., -step:]], axis=-1)
        step *= 2
    return values
