"""Label sets and weights on a device: torch tensors, CuPy and JAX arrays, and others that follow the standard.

As `choral.decisions.support` for NumPy, by matrix products, which every library has. Instances come in groups that
share a support: all are one group, or each is one by itself. Entries have the shape (n_groups, n_rows, n_labelsets).

Label sets become numbers that can be sorted: sums of powers of two in doubles are exact up to 52 labels, and more
labels take more such words.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from choral._array_api import Array, to_device_of, xp_of
from choral.decisions.device_arrays import count_up, place_columns, sums_to_end_of_run, take_columns
from choral.decisions.support import row_blocks, slices
from choral.decisions.ties import TOLERANCE

LABELS_PER_WORD = 52


class DeviceSupport:
    """The label sets of some groups, of shape (n_groups, n_labelsets, n_labels)."""

    def __init__(self, labelsets: Array):
        self.labelsets = labelsets
        self.n_groups, self.n_labelsets, self.n_labels = labelsets.shape
        self.xp = xp_of(labelsets)

    def __len__(self) -> int:
        return self.n_labelsets

    @cached_property
    def numbers(self) -> Array:
        """The label sets as doubles, for products."""
        return self.xp.astype(self.labelsets, self.xp.float64)

    @cached_property
    def sizes(self) -> Array:
        """The number of labels in each set."""
        return self.xp.astype(self.xp.sum(self.numbers, axis=-1), self.xp.int32)

    @cached_property
    def index(self) -> Array:
        """The index of each label set among all 2^K; up to 52 labels."""
        flat = set_index(self.xp.reshape(self.labelsets, (-1, self.n_labels)))
        return self.xp.reshape(flat, (self.n_groups, self.n_labelsets))

    def sums(self, values: np.ndarray) -> Array:
        return self.xp.matmul(self.numbers, to_device_of(values, self.numbers))

    def part(self, places: slice) -> "DeviceSupport":
        return DeviceSupport(self.labelsets[:, places, :])

    def at(self, places: Array) -> Array:
        """Some label sets of each group, by their places: a row for each, groups after another."""
        first = self.n_labelsets * count_up(self.n_groups, places)
        flat = self.xp.reshape(places, (self.n_groups, -1)) + first[:, None]
        rows = self.xp.reshape(self.labelsets, (-1, self.n_labels))
        return self.xp.take(rows, self.xp.reshape(flat, (-1,)), axis=0)

    def in_order(self) -> "DeviceSupport":
        """The label sets of each group in the order in which ties are broken."""
        ranks = order_ranks(self.xp.reshape(self.labelsets, (-1, self.n_labels)))
        order = self.xp.argsort(self.xp.reshape(ranks, (self.n_groups, self.n_labelsets)), axis=-1)
        return DeviceSupport(self.xp.reshape(self.at(order), self.labelsets.shape))


class DevicePairs:
    """All pairs of predictions and label sets of each group."""

    def __init__(self, predictions: DeviceSupport, labelsets: DeviceSupport):
        self.predictions = predictions
        self.labelsets = labelsets
        self.xp = predictions.xp

    def of_predictions(self, values: Array) -> Array:
        return self.xp.reshape(values, (*self.predictions.labelsets.shape[:2], 1))

    def of_labelsets(self, values: Array) -> Array:
        return values[:, None, :]

    def differences(self, labels: Sequence[int] | None = None, decided: DeviceSupport | None = None) -> Array:
        predicted, true = self.predictions.numbers, self.labelsets.numbers
        counted = None if decided is None else decided.numbers
        if labels is not None:
            predicted, true = take_columns(predicted, labels), take_columns(true, labels)
            counted = None if counted is None else take_columns(counted, labels)
        # Where a label is predicted it is wrong if it is not true, and the other way round.
        signed = 1 - 2 * predicted
        if counted is not None:
            signed, predicted = counted * signed, counted * predicted
        wrong = self.xp.sum(predicted, axis=-1, keepdims=True) + self.products(signed, true)
        return self.xp.astype(wrong, self.xp.int32)

    def index_differences(self) -> Array:
        return self.predictions.index[:, :, None] ^ self.labelsets.index[:, None, :]

    def products(self, of_predictions: Array, of_labelsets: Array) -> Array:
        return self.xp.matmul(of_predictions, self.xp.matrix_transpose(of_labelsets))


class DeviceInstances:
    """Weights on a support; predictions and results have a row for each instance, whatever the groups are."""

    def __init__(self, support: DeviceSupport, weights: Array):
        self.xp = support.xp
        self.support = support
        self.weights = weights  # (n_groups, n_rows, n_labelsets)
        self.n_instances = weights.shape[0] * weights.shape[1]

    def wrap(self, labels: Array) -> DeviceSupport:
        return DeviceSupport(self.xp.reshape(labels, (*self.weights.shape[:2], -1)))

    def make_pool(self, labels: Array) -> DeviceSupport:
        return DeviceSupport(labels[None, ...])

    def no_labels(self) -> Array:
        nothing = self.xp.zeros_like(self.support.labelsets[:1, :1, :])
        return self.xp.broadcast_to(nothing[0, :, :], (self.n_instances, self.support.n_labels))

    def pairs(self, predictions: Array) -> DevicePairs:
        return DevicePairs(self.wrap(predictions), self.support)

    def pool_pairs(self, pool: DeviceSupport) -> DevicePairs:
        return DevicePairs(pool, self.support)

    def pool_totals(self, losses: Array) -> Array:
        totals = self.xp.matmul(self.weights, self.xp.matrix_transpose(losses))
        return self.xp.reshape(totals, (self.n_instances, -1))

    def all_sets(self) -> DeviceSupport:
        sets = members_of(count_up(1 << self.support.n_labels, self.weights), self.support.n_labels)
        return DeviceSupport(sets[None, ...]).in_order()

    def heaviest(self, count: int, candidates: Array | None) -> DeviceSupport:
        xp, support = self.xp, self.support
        heaviest = xp.argsort(-xp.sum(self.weights, axis=1), axis=-1, stable=True)
        heaviest = heaviest[:, : min(support.n_labelsets, count)]
        pool = xp.reshape(support.at(heaviest), (support.n_groups, -1, support.n_labels))
        if candidates is not None:
            pool = xp.concat([pool, xp.broadcast_to(candidates, (support.n_groups, *candidates.shape))], axis=1)
        return DeviceSupport(pool).in_order()

    def take(self, chosen: Array) -> "DeviceInstances":
        places = self.xp.nonzero(chosen)[0]
        if places.shape[0] == self.n_instances:
            return self
        if self.support.n_groups == 1:
            return DeviceInstances(self.support, self.xp.take(self.weights, places, axis=1))
        labelsets = self.xp.take(self.support.labelsets, places, axis=0)
        return DeviceInstances(DeviceSupport(labelsets), self.xp.take(self.weights, places, axis=0))

    def of_labelsets(self, values: Array) -> Array:
        return values[:, None, :]

    def total(self, values: Array) -> Array:
        return self.xp.reshape(self.xp.sum(self.weights * values, axis=-1), (self.n_instances,))

    def by_label(self, values: Array | float, labels: Sequence[int] | None = None) -> Array:
        numbers = self.support.numbers if labels is None else take_columns(self.support.numbers, labels)
        return self.xp.reshape(self.xp.matmul(self.weights * values, numbers), (self.n_instances, -1))

    def histogram(self, counts: Array, n_bins: int) -> Array:
        zero = self.xp.zeros_like(self.weights)
        bins = [self.xp.where(counts == number, self.weights, zero) for number in range(n_bins)]
        return self.xp.reshape(self.xp.stack([self.xp.sum(part, axis=-1) for part in bins], axis=-1), (-1, n_bins))

    def ranked_total(self, values: Array) -> Array:
        ranked = self.xp.sort(self.weights, axis=-1, descending=True) * values
        return self.xp.reshape(self.xp.sum(ranked, axis=-1), (self.n_instances,))

    def modes(self) -> Array:
        xp, support = self.xp, self.support
        ranks = order_ranks(xp.reshape(support.labelsets, (-1, support.n_labels)))
        ranks = xp.reshape(ranks, (support.n_groups, 1, support.n_labelsets))
        tied = self.weights >= xp.max(self.weights, axis=-1, keepdims=True) - TOLERANCE
        last = xp.full_like(ranks, support.n_groups * support.n_labelsets)
        return support.at(xp.argmin(xp.where(tied, ranks, last), axis=-1))

    def draw(self, uniform: Array) -> Array:
        """All rows are one long row, and the numbers of an instance fall into its part of it."""
        xp, n_labelsets = self.xp, self.support.n_labelsets
        weights = xp.reshape(self.weights, (self.n_instances, n_labelsets))
        sums = xp.cumulative_sum(xp.reshape(weights, (-1,)))
        upper = xp.reshape(sums, weights.shape)[:, -1:]
        lower = xp.concat([xp.zeros_like(upper[:1, :]), upper[:-1, :]])
        numbers = xp.reshape(lower + uniform * (upper - lower), (-1,))
        entries = xp.reshape(xp.searchsorted(sums, numbers, side="right"), uniform.shape)
        first = n_labelsets * count_up(self.n_instances, weights)[:, None]
        drawn = self.support.at(xp.clip(entries - first, 0, n_labelsets - 1))
        return xp.reshape(drawn, (*uniform.shape, self.support.n_labels))

    def all_weights(self) -> Array:
        size, n_groups = 1 << self.support.n_labels, self.support.n_groups
        first = size * count_up(n_groups, self.weights)
        places = self.xp.reshape(self.support.index + first[:, None], (-1,))
        # One group of many rows, or many groups of one row: either way the groups follow each other in a row.
        rows = self.xp.reshape(self.weights, (self.weights.shape[1], -1))
        return self.xp.reshape(place_columns(rows, places, size * n_groups), (self.n_instances, size))


def _words(labelsets: Array) -> list[Array]:
    """Each row of 0 and 1 as some numbers; the first label counts most in the first."""
    parts = slices(labelsets.shape[1], LABELS_PER_WORD)
    return [_sums_of_powers(labelsets[:, columns], descending=True) for columns in parts]


def set_index(labelsets: Array) -> Array:
    """The index of each row among all 2^K sets, for up to 52 labels; label i is bit i."""
    xp = xp_of(labelsets)
    return xp.astype(_sums_of_powers(labelsets, descending=False), xp.int64)


def _sums_of_powers(labelsets: Array, *, descending: bool) -> Array:
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
    return xp.argsort(_order([sizes, *(-word for word in _words(labelsets))]))


def _order(keys: Sequence[Array]) -> Array:
    """What sorts rows by their first key, then by the next; equal ones stay in their order."""
    xp = xp_of(keys[0])
    order = xp.argsort(keys[-1], stable=True)
    for key in reversed(keys[:-1]):
        order = xp.take(order, xp.argsort(xp.take(key, order), stable=True))
    return order


def _runs(keys: Sequence[Array]) -> tuple[Array, Array, Array, int]:
    """The order of rows by their keys, where in it another row begins, as a mask and as places, and the longest run."""
    xp = xp_of(keys[0])
    order = _order(keys)
    starts = xp.ones_like(order, dtype=xp.bool)[:1]
    if order.shape[0] > 1:
        of_key = [xp.take(key, order) for key in keys]
        differ = xp.stack([key[1:] != key[:-1] for key in of_key])
        starts = xp.concat([starts, xp.any(differ, axis=0)])
    places = xp.nonzero(starts)[0]
    ends = xp.concat([places[1:], xp.full_like(places[:1], order.shape[0])])
    return order, starts, places, int(xp.max(ends - places))


def merge_equal_on_device(labelsets: Array, weights: Array) -> tuple[Array, Array]:
    """Label sets without repetition, in the order of their first coming, and the weights that fall on each."""
    xp = xp_of(labelsets)
    order, starts, places, longest = _runs(_words(labelsets))
    if longest == 1:
        return labelsets, weights
    sums = sums_to_end_of_run(xp.take(weights, order, axis=1), starts, longest)
    first_rows = xp.take(order, places)
    by_coming = xp.argsort(first_rows)
    merged = xp.take(sums, xp.take(places, by_coming), axis=1)
    return xp.take(labelsets, xp.take(first_rows, by_coming), axis=0), merged


def merge_equal_of_instances(labelsets: Array, weights: Array) -> tuple[Array, Array]:
    """The same for label sets of each instance by itself.

    Label sets have the shape (n_instances, n_labelsets, n_labels). As many remain as the instance with the most
    distinct ones has; those of others are filled up with some of no weight.
    """
    xp, (n_instances, n_labelsets, n_labels) = xp_of(labelsets), labelsets.shape
    rows = xp.reshape(labelsets, (-1, n_labels))
    instances = count_up(n_instances * n_labelsets, labelsets) // n_labelsets
    order, starts, _, longest = _runs([instances, *_words(rows)])
    sums = sums_to_end_of_run(xp.take(xp.reshape(weights, (-1,)), order), starts, longest)
    back = xp.argsort(order)
    is_first = xp.reshape(xp.take(starts, back), (n_instances, n_labelsets))
    most = int(xp.max(xp.sum(xp.astype(is_first, xp.int64), axis=1)))
    kept = xp.argsort(xp.astype(~is_first, xp.int8), axis=1, stable=True)[:, :most]
    kept = kept + n_labelsets * count_up(n_instances, labelsets)[:, None]
    kept = xp.reshape(kept, (-1,))
    merged = xp.take(xp.take(xp.where(starts, sums, xp.zeros_like(sums)), back), kept)
    return xp.reshape(xp.take(rows, kept, axis=0), (n_instances, most, n_labels)), xp.reshape(merged, (-1, most))
