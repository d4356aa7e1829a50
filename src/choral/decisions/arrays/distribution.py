"""ArrayDistribution: a LabelDistribution whose arrays stay on their device."""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from choral._array_api import Array, Namespace, device_of, to_device_of, xp_of
from choral._validation import check_count
from choral.decisions.arrays.checks import (
    check_hard,
    check_matrix,
    check_rows,
    check_shares,
    check_weights,
    placed,
    reference_of,
)
from choral.decisions.arrays.devices import library_of, row_blocks, speed_of
from choral.decisions.arrays.drawing import draw
from choral.decisions.arrays.entries import ArraySupport, Entries
from choral.decisions.arrays.labelsets import members_of, merge_equal, merge_within, order_ranks
from choral.decisions.arrays.risks import make_array_risk
from choral.decisions.base import AnyMeasure
from choral.decisions.label_distribution import LabelDistribution, dense_labels
from choral.decisions.ties import TOLERANCE

MOST_ARRAY_LABELS = 28  # 2^28 risks, 2 GiB, and some eight such arrays at a time


class ArrayDistribution(LabelDistribution):
    """Probabilities of label sets on a device; `LabelDistribution` makes one where it is given such arrays.

    What its methods return are arrays of the same library on the same device. It equals itself alone: arrays are not
    read back to be compared.

    Attributes
    ----------
    labelsets : array of uint8, of shape (n_labelsets, n_labels)
        Of samples of several instances (n_instances, n_labelsets, n_labels): the label sets of each by itself. Some may
        have no weight.
    weights : array of float64, of shape (n_instances, n_labelsets)
    """

    most_dense_labels = MOST_ARRAY_LABELS

    def __init__(self, labelsets: Any, probabilities: Any):
        like = reference_of(labelsets=labelsets, probabilities=probabilities)
        labelsets = check_hard("labelsets", check_matrix("labelsets", placed("labelsets", labelsets, like)))
        weights, has_instances = check_weights(placed("probabilities", probabilities, like), labelsets.shape[0])
        labelsets, weights = merge_equal(labelsets, weights)
        self._freeze(labelsets=labelsets, weights=weights, has_instances=has_instances)

    @classmethod
    def from_dense(cls, probabilities: Any) -> "ArrayDistribution":
        probabilities = placed("probabilities", probabilities, reference_of(probabilities=probabilities))
        n_labels = dense_labels(tuple(probabilities.shape), MOST_ARRAY_LABELS)
        weights, has_instances = check_weights(probabilities, 1 << n_labels)
        xp = xp_of(weights)
        present = xp.nonzero(xp.sum(weights, axis=0))[0]
        if present.shape[0] < weights.shape[1]:
            weights = xp.take(weights, present, axis=1)
        return cls._of_parts(members_of(present, n_labels), weights, has_instances)

    @classmethod
    def from_samples(cls, samples: Any, sample_weight: Any = None) -> "ArrayDistribution":
        like = reference_of(samples=samples, sample_weight=sample_weight)
        samples = placed("samples", samples, like)
        has_instances, shape = samples.ndim == 3, tuple(samples.shape)
        rows = xp_of(samples).reshape(samples, (shape[0] * shape[1], shape[2])) if has_instances else samples
        check_matrix("samples", rows)
        labelsets = check_hard("samples", samples)
        weights = check_shares(sample_weight, shape[-2], like)
        if not has_instances:
            return cls._of_parts(*merge_equal(labelsets, weights), has_instances)
        weights = xp_of(weights).broadcast_to(weights, shape[:2])
        return cls._of_parts(*merge_within(labelsets, weights), has_instances)

    @classmethod
    def _of_parts(cls, labelsets: Array, weights: Array, has_instances: bool) -> "ArrayDistribution":
        distribution = object.__new__(cls)
        distribution._freeze(labelsets=labelsets, weights=weights, has_instances=has_instances)
        return distribution

    def _identity(self) -> int:  # type: ignore[override]
        return id(self)

    def __repr__(self) -> str:
        each = " each" if self.has_own_labelsets else ""
        instances = f"{self.n_instances} instances, " if self.has_instances else ""
        size = f"{instances}{self.n_labelsets} label sets{each}, {self.n_labels} labels"
        return f"LabelDistribution({size}, {library_of(self.weights)} on {device_of(self.weights)})"

    @property
    def has_own_labelsets(self) -> bool:
        """Whether each instance has label sets of its own."""
        return self.labelsets.ndim == 3

    @property
    def xp(self) -> Namespace:
        """The namespace of the arrays."""
        return xp_of(self.weights)

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        return self.labelsets.shape[-1]

    @property
    def n_labelsets(self) -> int:
        return self.labelsets.shape[-2]

    @property
    def speed(self) -> int:  # type: ignore[override]
        return speed_of(self.weights)

    @cached_property
    def support(self) -> ArraySupport:  # type: ignore[override]
        """The support that all instances share."""
        return ArraySupport(self.labelsets[None, ...])

    def entries(self, rows: slice) -> Entries:
        """Some instances and their weights."""
        if self.has_own_labelsets:
            return Entries(ArraySupport(self.labelsets[rows, ...]), self.weights[rows, :][:, None, :])
        return Entries(self.support, self.weights[rows, :][None, :, :])

    def entry_blocks(self, pool_size: int = 1) -> Iterator[tuple[slice, Entries]]:
        """Some instances and their weights after another, so that they and a pool of predictions fit into memory."""
        own = self.n_labelsets * self.n_labels if self.has_own_labelsets else self.n_labelsets
        for rows in row_blocks(self.n_instances, max(own, self.n_labels, pool_size), self.weights):
            yield rows, self.entries(rows)

    def marginals(self) -> Array:
        marginals = [entries.by_label(entries.weights) for _, entries in self.entry_blocks()]
        return self.xp.clip(self.xp.concat(marginals), 0, 1)

    def marginal_mode(self) -> Array:
        return self.xp.astype(self.marginals() > 0.5 + TOLERANCE, self.xp.uint8)

    def mode(self) -> Array:
        return self.xp.concat([_modes(entries) for _, entries in self.entry_blocks()])

    def expected_loss(self, candidates: Any, measure: AnyMeasure) -> Array:
        self.check_measure(measure)
        labels, single = self.check_candidates(candidates)
        risk = make_array_risk(measure, self.n_labels, self.weights)
        losses = [risk.pool_risks(entries, labels[None, :, :]) for _, entries in self.entry_blocks(labels.shape[0])]
        together = self.xp.clip(self.xp.concat(losses), 0, 1)
        return together[:, 0] if single else together

    def risk(self, predictions: Any, measure: AnyMeasure) -> Array:
        self.check_measure(measure)
        labels = self.check_predictions(predictions)
        risk = make_array_risk(measure, self.n_labels, self.weights)
        risks = [risk.risks(entries, labels[rows, :]) for rows, entries in self.entry_blocks()]
        return self.xp.clip(self.xp.concat(risks), 0, 1)

    def wrong_labels(self, predictions: Any) -> Array:
        labels = self.check_predictions(predictions)
        blocks = [_wrong_labels(entries, labels[rows, :]) for rows, entries in self.entry_blocks()]
        return self.xp.concat(blocks)

    def sample(self, n: int, rng: Any = None) -> Array:
        n = check_count("n", n)
        uniform = np.random.default_rng(rng).random((self.n_instances, n))
        columns = draw(self.weights, to_device_of(uniform, self.weights))
        samples = self.entries(slice(0, self.n_instances)).support.at(columns)
        shape = (self.n_instances, n) if self.has_instances else (n,)
        return self.xp.reshape(samples, (*shape, self.n_labels))

    def check_candidates(self, candidates: Any) -> tuple[Array, bool]:
        return check_rows("candidates", candidates, self.n_labels, self.weights)

    def check_predictions(self, predictions: Any, name: str = "predictions") -> Array:
        labels, _ = check_rows(name, predictions, self.n_labels, self.weights)
        self.check_n_rows(name, labels.shape[0])
        return self.xp.broadcast_to(labels, (self.n_instances, self.n_labels))


def _modes(entries: Entries) -> Array:
    xp, support, weights = entries.xp, entries.support, entries.weights
    ranks = order_ranks(xp.reshape(support.labelsets, (-1, support.n_labels)))
    ranks = xp.reshape(ranks, (support.n_groups, 1, support.n_labelsets))
    tied = weights >= xp.max(weights, axis=-1, keepdims=True) - TOLERANCE
    last = xp.full_like(ranks, support.n_groups * support.n_labelsets)
    return support.at(xp.argmin(xp.where(tied, ranks, last), axis=-1))


def _wrong_labels(entries: Entries, labels: Array) -> Array:
    xp, wrong = entries.xp, entries.differences(labels)
    n_wrong = range(entries.support.n_labels + 1)
    zero = xp.zeros_like(entries.weights)
    return xp.stack([entries.total(xp.where(wrong == count, entries.weights, zero)) for count in n_wrong], axis=1)
