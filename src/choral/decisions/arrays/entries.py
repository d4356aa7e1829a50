"""Some instances and the weights of their label sets: the inner loops of every expected loss, as matrix products.

Instances come in groups that share a support: all are one group, or each is one by itself. *Entries* are the pairs of
an instance and a label set of its group, in arrays of shape (n_groups, n_rows, n_labelsets).
"""

from functools import cached_property

from choral._array_api import Array, xp_of
from choral.decisions.arrays.devices import count_up
from choral.decisions.arrays.gathering import spread
from choral.decisions.arrays.labelsets import set_index


class ArraySupport:
    """The label sets of some groups, of shape (n_groups, n_labelsets, n_labels)."""

    def __init__(self, labelsets: Array):
        self.labelsets = labelsets
        self.n_groups, self.n_labelsets, self.n_labels = labelsets.shape
        self.xp = xp_of(labelsets)

    @cached_property
    def numbers(self) -> Array:
        """The label sets as doubles, for products."""
        return self.xp.astype(self.labelsets, self.xp.float64)

    @cached_property
    def sizes(self) -> Array:
        """The number of labels in each set, in doubles."""
        return self.xp.sum(self.numbers, axis=-1)

    @cached_property
    def index(self) -> Array:
        """The index of each label set among all 2^K, of shape (n_groups, n_labelsets); up to 52 labels."""
        flat = set_index(self.xp.reshape(self.labelsets, (-1, self.n_labels)))
        return self.xp.reshape(flat, (self.n_groups, self.n_labelsets))

    def at(self, columns: Array) -> Array:
        """Some label sets of each group, by their columns: a row for each, groups after another."""
        first = self.n_labelsets * count_up(self.n_groups, columns)
        flat = self.xp.reshape(columns, (self.n_groups, -1)) + first[:, None]
        rows = self.xp.reshape(self.labelsets, (-1, self.n_labels))
        return self.xp.take(rows, self.xp.reshape(flat, (-1,)), axis=0)

    def differences(self, other: "ArraySupport") -> Array:
        """In how many labels label sets differ, of shape (n_groups, n_labelsets, n_labelsets of the other)."""
        shared = self.xp.matmul(self.numbers, self.xp.matrix_transpose(other.numbers))
        return self.xp.astype(self.sizes[:, :, None] + other.sizes[:, None, :] - 2 * shared, self.xp.int32)


class Entries:
    """Weights on a support; predictions and results have a row for each instance, whatever the groups are."""

    def __init__(self, support: ArraySupport, weights: Array):
        self.xp = support.xp
        self.support = support
        self.weights = weights  # (n_groups, n_rows, n_labelsets)
        self.n_instances = weights.shape[0] * weights.shape[1]

    def take(self, instances: Array) -> "Entries":
        """Some instances, by their numbers."""
        if instances.shape[0] == self.n_instances:
            return self
        if self.support.n_groups == 1:
            return Entries(self.support, self.xp.take(self.weights, instances, axis=1))
        labelsets = self.xp.take(self.support.labelsets, instances, axis=0)
        return Entries(ArraySupport(labelsets), self.xp.take(self.weights, instances, axis=0))

    def grouped(self, predictions: Array) -> ArraySupport:
        """Predictions, one for each instance, as label sets of its group."""
        return ArraySupport(self.xp.reshape(predictions, (*self.weights.shape[:2], -1)))

    def differences(self, predictions: Array) -> Array:
        """For each entry, in how many labels the prediction of its instance differs from its label set."""
        return self.grouped(predictions).differences(self.support)

    def index_differences(self, predictions: Array) -> Array:
        """For each entry, the index of the set of labels in which the two differ; up to 52 labels."""
        return self.grouped(predictions).index[:, :, None] ^ self.support.index[:, None, :]

    def total(self, weighted: Array) -> Array:
        """Sum over the entries of each instance."""
        return self.xp.reshape(self.xp.sum(weighted, axis=-1), (self.n_instances,))

    def by_label(self, weighted: Array) -> Array:
        """Sum over the entries of each instance whose label set has label i, for every i."""
        products = self.xp.matmul(weighted, self.support.numbers)
        return self.xp.reshape(products, (self.n_instances, self.support.n_labels))

    def dense(self) -> Array:
        """The weights of all 2^K label sets, of shape (n_instances, 2 ** n_labels)."""
        size, n_groups = 1 << self.support.n_labels, self.support.n_groups
        first = size * count_up(n_groups, self.weights)
        places = self.xp.reshape(self.support.index + first[:, None], (-1,))
        # One group of many rows, or many groups of one row: either way the groups follow each other in a row.
        rows = self.xp.reshape(self.weights, (self.weights.shape[1], -1))
        return self.xp.reshape(spread(rows, places, size * n_groups), (self.n_instances, size))
