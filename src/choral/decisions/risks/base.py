"""What a form of a measure or loss must tell so that its expected loss can be minimised."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from choral._array_api import Array, as_real, xp_of
from choral.decisions.device_arrays import take_columns
from choral.decisions.instances import Instances, LabelSets, PairsOfSets
from choral.measures.forms import ByCount, ByRelevance


class Bound(NamedTuple):
    """What is known of the predictions that agree with a partial one on the labels it has decided."""

    risks: Array  # (n_rows,) no such prediction has a smaller risk
    ones: Array  # (n_rows, n_labels) what may still be gained by predicting 1 for a label that is not decided
    zeros: Array  # (n_rows, n_labels) by predicting 0


class Risk(ABC):
    """The expected loss under one form. Labels are 0 or 1, of shape (n_instances, n_labels)."""

    @abstractmethod
    def losses(self, pairs: PairsOfSets) -> Array:
        """The loss of each pair of a prediction and a label set."""

    def risks(self, instances: Instances, labels: Array) -> Array:
        """Expected loss of one prediction for each instance."""
        return instances.total(self.losses(instances.pairs(labels)))

    def pool_risks(self, instances: Instances, pool: LabelSets) -> Array:
        """Expected loss of each prediction of a pool, of shape (n_instances, n_predictions)."""
        return instances.pool_totals(self.losses(instances.pool_pairs(pool)))

    @abstractmethod
    def flips(self, instances: Instances, labels: Array) -> Array:
        """Expected loss after changing each single label of each prediction, of shape (n_instances, n_labels)."""

    def guides(self) -> Sequence["Risk"]:
        """Smoother risks, to be descended on before this one."""
        return []

    def starts(self, instances: Instances) -> Sequence[Array]:
        """Predictions, one for each instance, that are likely to be good."""
        return []

    @abstractmethod
    def bound(self, instances: Instances, labels: Array, decided: Array) -> Bound:
        """A lower bound on the risk of all predictions that agree with these on the decided labels.

        Labels that are not decided are 0 in ``labels``.
        """

    def root_bound(self, instances: Instances) -> Array:
        """No prediction whatever has a smaller risk."""
        nothing = instances.no_labels()
        return self.bound(instances, nothing, nothing).risks


def gains(
    instances: Instances, decided: Array, values: Array, labels: Sequence[int] | None = None
) -> tuple[Array, Array]:
    """Weighted values by whether a label (of some) is in the true label set or not; 0 for labels that are decided."""
    left = as_real(1 - (decided if labels is None else take_columns(decided, labels)))
    ones = instances.by_label(values, labels)
    zeros = instances.total(values)[:, None] - ones
    return ones * left, xp_of(zeros).clip(zeros, 0, None) * left


class Relevance(NamedTuple):
    """How masses grow with relevant labels: where a share s of a set is relevant, by ``(1 + beta * s) * scale``.

    Both have one entry for each label set that may be true. Where all labels that carry a mass are relevant, the base
    remains: beta is 0 there, and the scale is 1.
    """

    betas: Array
    scales: Array


def keep_relevance(form: ByRelevance) -> Callable[[Any], Relevance]:
    """`relevance_of` that remembers the last support."""
    return lru_cache(maxsize=1)(partial(relevance_of, form))


def relevance_of(form: ByRelevance, support: LabelSets) -> Relevance:
    """How masses grow where each label set of a support is true."""
    n_labels = form.n_labels
    if isinstance(form.base, ByCount):  # all labels are alike, so sizes are enough
        shares, relevant = as_real(support.sizes) / n_labels, support.sizes
    else:
        shares = support.sums(form.shapley)
        relevant = support.sums(np.bincount(form.carriers, minlength=n_labels).astype(float))
    xp, are_all = xp_of(shares), relevant == form.carriers.size
    totals = xp.where(are_all, xp.ones_like(shares), 1 + form.beta * shares)
    return Relevance(xp.where(are_all, xp.zeros_like(shares), xp.full_like(shares, form.beta)), 1 / totals)


def label_costs(instances: Instances, relevance: Relevance | None = None) -> tuple[Array, Array]:
    """What it costs not to predict each label, and to predict it, if each has the mass 1; (n_instances, n_labels) each.

    A label that is true and not predicted costs 1 + beta, one that is predicted and not true 1, both times the scale.
    """
    sizes = instances.support.sizes
    xp = xp_of(sizes)
    if relevance is None:
        unit = instances.of_labelsets(xp.ones_like(sizes, dtype=xp.float64))
        with_label = missing = instances.by_label(unit)
    else:
        unit = instances.of_labelsets(relevance.scales)
        with_label = instances.by_label(unit)
        missing = instances.by_label(instances.of_labelsets((1 + relevance.betas) * relevance.scales))
    return missing, xp.clip(instances.total(unit)[:, None] - with_label, 0, None)
