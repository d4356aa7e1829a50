"""Label sets drawn by their weights, from numbers in [0, 1) that may come from any source."""

from choral._array_api import Array, xp_of
from choral.decisions.arrays.devices import count_up


def draw(weights: Array, uniform: Array) -> Array:
    """Label sets drawn for each instance by its weights, as their columns: one draw a number, in the same shape.

    All rows are one long row, and the numbers of an instance fall into its part of it.
    """
    xp, (n_instances, n_labelsets) = xp_of(weights), weights.shape
    sums = xp.cumulative_sum(xp.reshape(weights, (-1,)))
    upper = xp.reshape(sums, weights.shape)[:, -1:]
    lower = xp.concat([xp.zeros_like(upper[:1, :]), upper[:-1, :]])
    numbers = xp.reshape(lower + uniform * (upper - lower), (-1,))
    entries = xp.reshape(xp.searchsorted(sums, numbers, side="right"), uniform.shape)
    first = n_labelsets * count_up(n_instances, weights)[:, None]
    return xp.clip(entries - first, 0, n_labelsets - 1)
