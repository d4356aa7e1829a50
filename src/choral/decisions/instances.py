"""What the inner loops of every expected loss ask: label sets, pairs of them, and the weights of instances.

Two files answer, `choral.decisions.support` for NumPy and SciPy and `choral.decisions.device_support` for arrays on a
device, so no loss needs to know where arrays lie. A loss is computed for *pairs* of a prediction and a label set, in
arrays of whatever shape.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from choral._array_api import Array


class LabelSets(Protocol):
    """Label sets in the form that the inner loops take."""

    labelsets: Array
    n_labels: int

    def __len__(self) -> int: ...

    @property
    def numbers(self) -> Array:
        """The label sets as doubles, for products."""

    @property
    def sizes(self) -> Array:
        """The number of labels in each set."""

    @property
    def index(self) -> Array:
        """The index of each label set among all 2^K; label i is bit i."""

    def sums(self, values: np.ndarray) -> Array:
        """The sum of the values of the labels in each set."""

    def part(self, places: slice) -> "LabelSets":
        """Some label sets after another."""

    def at(self, places: Array) -> Array:
        """The labels of one set for each instance, by its place."""


class PairsOfSets(Protocol):
    """Pairs of a prediction and a label set that may be true."""

    @property
    def predictions(self) -> LabelSets: ...

    @property
    def labelsets(self) -> LabelSets: ...

    def of_predictions(self, values: Array) -> Array:
        """One value for each prediction, as one for each pair (or a shape that broadcasts to it)."""

    def of_labelsets(self, values: Array) -> Array:
        """One value for each label set, as one for each pair (or a shape that broadcasts to it)."""

    def differences(self, labels: Sequence[int] | None = None, decided: Any = None) -> Array:
        """In how many labels the two differ: of all labels, or of these, and of those that are decided."""

    def index_differences(self) -> Array:
        """The index of the set of labels in which the two differ; for few labels."""

    def products(self, of_predictions: Array, of_labelsets: Array) -> Array:
        """The sum over labels of a number of the prediction times one of the label set; for all pairs."""


class Instances(Protocol):
    """Some instances and the weights they give to the label sets of a support; *entries* are pairs with a weight."""

    n_instances: int

    @property
    def support(self) -> LabelSets: ...

    def wrap(self, labels: Array) -> LabelSets:
        """Labels, one row for each instance, in the form that the inner loops take."""

    def no_labels(self) -> Array:
        """A prediction of no label for each instance."""

    def pairs(self, predictions: Array) -> PairsOfSets:
        """The prediction of each instance with its label sets."""

    def make_pool(self, labels: Array) -> LabelSets:
        """Predictions, the same for all instances, in the form that the inner loops take."""

    def pool_pairs(self, pool: Any) -> PairsOfSets:
        """Each prediction of a pool with each label set."""

    def pool_totals(self, losses: Array) -> Array:
        """Weighted sum of the losses of a pool, of shape (n_instances, n_predictions)."""

    def all_sets(self) -> LabelSets:
        """All 2^K label sets as a pool, in the order in which ties are broken."""

    def heaviest(self, count: int, candidates: Array | None) -> LabelSets:
        """The label sets of most weight and further candidates as a pool, in the order in which ties are broken."""

    def take(self, chosen: Array) -> "Instances":
        """Some of the instances, by a mask."""

    def of_labelsets(self, values: Array) -> Array:
        """One value for each label set, as one for each entry (or a shape that broadcasts to it)."""

    def total(self, values: Array) -> Array:
        """Weighted sum over the entries of each instance."""

    def by_label(self, values: Array | float, labels: Sequence[int] | None = None) -> Array:
        """Weighted sum over the entries of each instance whose label set has label i, for every i (of ``labels``)."""

    def histogram(self, counts: Array, n_bins: int) -> Array:
        """The weight of each instance's entries by their count, 0, 1, ..., n_bins - 1."""

    def ranked_total(self, values: Array) -> Array:
        """Sum of each instance's weights from the heaviest down, each times the value of its rank."""

    def modes(self) -> Array:
        """The most probable label set of each instance."""

    def draw(self, uniform: Array) -> Array:
        """Label sets drawn by their weights, from numbers in [0, 1), some for each instance."""

    def all_weights(self) -> Array:
        """The weights of all 2^K label sets, of shape (n_instances, 2 ** n_labels)."""
