"""Expected losses of predictions where label sets and weights are arrays on a device.

Under counting measures from the number of wrong labels; under any other measure on few labels from the loss of each of
the 2^K sets of wrong labels. What is small comes from NumPy's risks: tables by size, and bounds on them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from choral._array_api import Array, to_device_of
from choral.decisions.arrays.devices import block_entries, library_of, slices
from choral.decisions.arrays.entries import ArraySupport, Entries
from choral.decisions.arrays.gathering import lookup
from choral.decisions.risks.counting import CountingRisk
from choral.decisions.risks.table import loss_table
from choral.measures import CountingMeasure, RelevanceMeasure
from choral.measures.capacity import MAX_LABELS


class ArrayRisk(ABC):
    """The expected loss under one measure."""

    @abstractmethod
    def pair_losses(self, support: ArraySupport, pool: ArraySupport) -> Array:
        """Loss of each prediction of a pool where each label set is true, of shape (n_groups, n_labelsets, n_pool)."""

    @abstractmethod
    def risks(self, entries: Entries, predictions: Array) -> Array:
        """Expected loss of one prediction for each instance."""

    @abstractmethod
    def flips(self, entries: Entries, predictions: Array) -> Array:
        """Expected loss after changing each single label of each prediction, of shape (n_instances, n_labels)."""

    @abstractmethod
    def root_bound(self, entries: Entries) -> Array:
        """No prediction whatever has a smaller risk."""

    def guides(self) -> Sequence["ArrayRisk"]:
        """Smoother risks, to be descended on before this one."""
        return []

    def pool_risks(self, entries: Entries, pool: Array) -> Array:
        """Expected loss of each prediction of a pool, (1 or n_groups, n_pool, n_labels): (n_instances, n_pool)."""
        support, xp = entries.support, entries.xp
        step = max(1, block_entries(pool) // (support.n_groups * support.n_labelsets))
        blocks = [ArraySupport(pool[:, columns, :]) for columns in slices(pool.shape[1], step)]
        risks = [xp.matmul(entries.weights, self.pair_losses(support, block)) for block in blocks]
        return xp.reshape(xp.concat(risks, axis=-1), (entries.n_instances, -1))


class CountingArrayRisk(ArrayRisk):
    """Expected loss from a table by the number of wrong labels."""

    def __init__(self, tables: CountingRisk, like: Array):
        self.tables = tables
        self.like = like
        self.losses = to_device_of(tables.losses, like)  # measures have theirs read-only
        self.nearer = to_device_of(tables.nearer, like)
        self.spread = to_device_of(tables.spread, like)

    def guides(self) -> Sequence[ArrayRisk]:
        return self._guides

    @cached_property
    def _guides(self) -> list["CountingArrayRisk"]:
        return [CountingArrayRisk(tables, self.like) for tables in self.tables.guides()]

    def pair_losses(self, support: ArraySupport, pool: ArraySupport) -> Array:
        return lookup(self.losses, support.differences(pool))

    def risks(self, entries: Entries, predictions: Array) -> Array:
        return entries.total(entries.weights * lookup(self.losses, entries.differences(predictions)))

    def flips(self, entries: Entries, predictions: Array) -> Array:
        wrong = entries.differences(predictions)
        nearer = entries.total(entries.weights * lookup(self.nearer, wrong))[:, None]
        spread = entries.weights * lookup(self.spread, wrong)
        # A label set with the label comes nearer when the label is added, goes farther when it is removed.
        with_label, all_sets = entries.by_label(spread), entries.total(spread)[:, None]
        return nearer + entries.xp.where(predictions > 0, with_label, all_sets - with_label)

    def root_bound(self, entries: Entries) -> Array:
        """The chord bound with no label decided, a Hamming loss less a slack, or the packing bound: see NumPy's."""
        xp, n_labels = entries.xp, entries.support.n_labels
        ones = entries.by_label(entries.weights)
        zeros = xp.clip(entries.total(entries.weights)[:, None] - ones, 0, None)
        chord = xp.sum(xp.minimum(ones, zeros), axis=1) / n_labels - self.tables.root_slack()
        of_ranks = to_device_of(self.tables.losses_by_rank(entries.support.n_labelsets), entries.weights)
        packing = entries.total(xp.sort(entries.weights, axis=-1, descending=True) * of_ranks)
        return xp.clip(xp.maximum(chord, packing), 0, None)


class TableArrayRisk(ArrayRisk):
    """Expected loss from a table by the set of wrong labels."""

    def __init__(self, losses: np.ndarray, like: Array):
        self.losses = to_device_of(losses, like)

    def pair_losses(self, support: ArraySupport, pool: ArraySupport) -> Array:
        return lookup(self.losses, support.index[:, :, None] ^ pool.index[:, None, :])

    def risks(self, entries: Entries, predictions: Array) -> Array:
        return entries.total(entries.weights * lookup(self.losses, entries.index_differences(predictions)))

    def flips(self, entries: Entries, predictions: Array) -> Array:
        wrong = entries.index_differences(predictions)
        after = [lookup(self.losses, wrong ^ (1 << label)) for label in range(predictions.shape[1])]
        return entries.xp.stack([entries.total(entries.weights * losses) for losses in after], axis=1)

    def root_bound(self, entries: Entries) -> Array:
        return entries.xp.zeros_like(entries.total(entries.weights))


def make_array_risk(measure: Any, n_labels: int, like: Array) -> ArrayRisk:
    """The expected loss under a measure that fits this number of labels, beside an array."""
    if isinstance(measure, CountingMeasure):
        return CountingArrayRisk(CountingRisk.of_measure(measure, n_labels), like)
    return TableArrayRisk(array_loss_table(measure, n_labels, like), like)


def array_loss_table(measure: Any, n_labels: int, like: Array) -> np.ndarray:
    """The loss of each of the 2^K sets of wrong labels, for measures and numbers of labels that have one."""
    if isinstance(measure, RelevanceMeasure) or n_labels > MAX_LABELS:
        raise TypeError(
            f"arrays of {library_of(like)} are decided under counting measures, and under other measures but relevance "
            f"weighting on up to {MAX_LABELS} labels; got {measure!r} on {n_labels}. Make the LabelDistribution from "
            "NumPy arrays; of a tensor, tensor.cpu().numpy()."
        )
    return loss_table(measure, n_labels)
