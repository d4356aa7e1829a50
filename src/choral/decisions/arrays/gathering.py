"""Writing by gathering: the arrays of some libraries cannot be written to, and no standard has sums over indices."""

from choral._array_api import Array, xp_of
from choral.decisions.arrays.devices import count_up


def lookup(table: Array, index: Array) -> Array:
    """The entries of a vector at indices, in their shape."""
    xp = xp_of(table)
    return xp.reshape(xp.take(table, xp.reshape(index, (-1,)), axis=0), index.shape)


def put_rows(array: Array, chosen: Array, rows: Array) -> Array:
    """An array in which the chosen rows, a mask that holds somewhere, are replaced by others in their order."""
    xp = xp_of(array)
    places = xp.clip(xp.cumulative_sum(xp.astype(chosen, xp.int64)) - 1, 0, None)
    chosen = xp.reshape(chosen, (-1,) + (1,) * (array.ndim - 1))
    return xp.where(chosen, xp.take(rows, places, axis=0), array)


def spread(values: Array, places: Array, size: int) -> Array:
    """Rows of ``size`` numbers: values at their places, the first of several at one place, and 0 elsewhere.

    Values have the shape (n_rows, n_values), places (n_values,).
    """
    xp = xp_of(values)
    order = xp.argsort(places, stable=True)
    sorted_places = xp.take(places, order)
    everywhere = count_up(size, places, places.dtype)
    found = xp.searchsorted(sorted_places, everywhere)
    found = xp.clip(found, None, places.shape[0] - 1)
    is_there = xp.take(sorted_places, found) == everywhere
    gathered = xp.take(values, xp.take(order, found), axis=1)
    return xp.where(is_there[None, :], gathered, xp.zeros_like(gathered))


def run_sums(values: Array, starts: Array, longest: int) -> Array:
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
