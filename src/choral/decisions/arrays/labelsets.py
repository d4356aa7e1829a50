"""Label sets as numbers that can be sorted: equal ones are found, and the order in which ties are broken.

Sums of powers of two in doubles are exact up to 52 labels, and a matrix product on every device; more labels take more
such words.
"""

from collections.abc import Sequence

import numpy as np

from choral._array_api import Array, to_device_of, xp_of
from choral.decisions.arrays.devices import count_up, row_blocks, slices
from choral.decisions.arrays.gathering import run_sums

WORD_LABELS = 52


def words(labelsets: Array) -> list[Array]:
    """Each row of 0 and 1 as some numbers; the first label counts most in the first."""
    return [_weighted(labelsets[:, columns], descending=True) for columns in slices(labelsets.shape[1], WORD_LABELS)]


def set_index(labelsets: Array) -> Array:
    """The index of each row among all 2^K sets, for up to 52 labels; label i is bit i."""
    xp = xp_of(labelsets)
    return xp.astype(_weighted(labelsets, descending=False), xp.int64)


def _weighted(labelsets: Array, *, descending: bool) -> Array:
    xp = xp_of(labelsets)
    powers = 2.0 ** np.arange(labelsets.shape[1])
    column = to_device_of(powers[::-1] if descending else powers, labelsets)
    blocks = row_blocks(labelsets.shape[0], labelsets.shape[1], labelsets)
    return xp.concat([xp.astype(labelsets[rows, :], xp.float64) @ column for rows in blocks])


def members_of(index: Array, n_labels: int) -> Array:
    """The sets with these indices as rows of 0 and 1."""
    xp = xp_of(index)
    return xp.stack([xp.astype((index >> label) & 1, xp.uint8) for label in range(n_labels)], axis=-1)


def order_ranks(labelsets: Array) -> Array:
    """The place of each row in the order in which ties are broken: fewest labels, then the first label that differs."""
    xp = xp_of(labelsets)
    sizes = xp.sum(xp.astype(labelsets, xp.float64), axis=1)
    return xp.argsort(_order([sizes, *(-word for word in words(labelsets))]))


def _order(keys: Sequence[Array]) -> Array:
    """What sorts rows by their first key, then by the next; equal ones stay in their order."""
    xp = xp_of(keys[0])
    order = xp.argsort(keys[-1], stable=True)
    for key in reversed(keys[:-1]):
        order = xp.take(order, xp.argsort(xp.take(key, order), stable=True))
    return order


def _runs(keys: Sequence[Array]) -> tuple[Array, Array, Array]:
    """The order of rows by their keys, a mask of where in it another row begins, and these places."""
    xp = xp_of(keys[0])
    order = _order(keys)
    starts = xp.ones_like(order, dtype=xp.bool)[:1]
    if order.shape[0] > 1:
        of_key = [xp.take(key, order) for key in keys]
        differ = xp.stack([key[1:] != key[:-1] for key in of_key])
        starts = xp.concat([starts, xp.any(differ, axis=0)])
    return order, starts, xp.nonzero(starts)[0]


def _longest(places: Array, n_rows: int) -> int:
    xp = xp_of(places)
    ends = xp.concat([places[1:], xp.full_like(places[:1], n_rows)])
    return int(xp.max(ends - places))


def merge_equal(labelsets: Array, weights: Array) -> tuple[Array, Array]:
    """Label sets without repetition, in the order of their first coming, and the weights that fall on each."""
    xp, n_rows = xp_of(labelsets), labelsets.shape[0]
    order, starts, places = _runs(words(labelsets))
    if places.shape[0] == n_rows:
        return labelsets, weights
    sums = run_sums(xp.take(weights, order, axis=1), starts, _longest(places, n_rows))
    first_rows = xp.take(order, places)
    by_coming = xp.argsort(first_rows)
    merged = xp.take(sums, xp.take(places, by_coming), axis=1)
    return xp.take(labelsets, xp.take(first_rows, by_coming), axis=0), merged


def merge_within(labelsets: Array, weights: Array) -> tuple[Array, Array]:
    """The same for label sets of each instance by itself.

    Label sets have the shape (n_instances, n_labelsets, n_labels). As many remain as the instance with the most
    distinct ones has; those of others are filled up with some of no weight.
    """
    xp, (n_instances, n_labelsets, n_labels) = xp_of(labelsets), labelsets.shape
    rows = xp.reshape(labelsets, (-1, n_labels))
    instances = count_up(n_instances * n_labelsets, labelsets) // n_labelsets
    order, starts, places = _runs([instances, *words(rows)])
    sums = run_sums(xp.take(xp.reshape(weights, (-1,)), order), starts, _longest(places, rows.shape[0]))
    back = xp.argsort(order)
    is_first = xp.reshape(xp.take(starts, back), (n_instances, n_labelsets))
    most = int(xp.max(xp.sum(xp.astype(is_first, xp.int64), axis=1)))
    kept = xp.argsort(xp.astype(~is_first, xp.int8), axis=1, stable=True)[:, :most]
    kept = kept + n_labelsets * count_up(n_instances, labelsets)[:, None]
    kept = xp.reshape(kept, (-1,))
    merged = xp.take(xp.take(xp.where(starts, sums, xp.zeros_like(sums)), back), kept)
    return xp.reshape(xp.take(rows, kept, axis=0), (n_instances, most, n_labels)), xp.reshape(merged, (-1, most))
