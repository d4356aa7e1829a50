"""Risks under sums of masses: weights of single labels, and subset 0/1 losses on larger sets of labels.

Under relevance weighting the mass of a set depends on the label set that is true: it is multiplied by a factor for
each label set of the support.
"""

from collections.abc import Iterator
from typing import Any

from choral._array_api import Array, as_real, to_library_of, xp_of
from choral.decisions.device_arrays import add_to_columns, take_columns
from choral.decisions.instances import Instances, PairsOfSets
from choral.decisions.risks.base import Bound, Risk, gains, keep_relevance, label_costs
from choral.measures.forms import ByRelevance, LabelSet, Terms


class TermsRisk(Risk):
    """Expected loss under terms: the masses of the sets that contain a mistake."""

    def __init__(self, form: Terms, like: Array, relevance: ByRelevance | None = None):
        self.form = form
        self._weights = to_library_of(form.singles, like)
        self._relevance = keep_relevance(relevance) if relevance is not None else lambda support: None

    def _larger(self, pairs: PairsOfSets) -> Iterator[tuple[LabelSet, Any]]:
        """Larger sets and what each costs where it contains a mistake: its mass, or one mass for each pair."""
        relevance = self._relevance(pairs.labelsets)
        for labels, mass in self.form.larger:
            if relevance is None:
                yield labels, mass
            else:
                numbers = as_real(take_columns(pairs.labelsets.labelsets, labels))
                share = xp_of(numbers).mean(numbers, axis=-1)
                yield labels, pairs.of_labelsets(mass * (1 + relevance.betas * share) * relevance.scales)

    def _costs(self, instances: Instances) -> tuple[Array, Array]:
        """What it costs not to predict a label, and to predict it, by the masses of single labels."""
        missing, adding = label_costs(instances, self._relevance(instances.support))
        return self._weights * missing, self._weights * adding

    def losses(self, pairs: PairsOfSets) -> Array:
        predicted, true = pairs.predictions.numbers, pairs.labelsets.numbers
        missing = pairs.products((1 - predicted) * self._weights, true)
        adding = pairs.products(predicted * self._weights, 1 - true)
        relevance = self._relevance(pairs.labelsets)
        if relevance is not None:
            missing = missing * pairs.of_labelsets((1 + relevance.betas) * relevance.scales)
            adding = adding * pairs.of_labelsets(relevance.scales)
        losses = missing + adding
        for labels, mass in self._larger(pairs):
            losses = losses + mass * as_real(pairs.differences(labels) > 0)
        return losses

    def risks(self, instances: Instances, labels: Array) -> Array:
        xp, pairs = xp_of(labels), instances.pairs(labels)
        missing, adding = self._costs(instances)
        risks = xp.sum(xp.where(labels > 0, adding, missing), axis=1)
        for term, mass in self._larger(pairs):
            risks = risks + instances.total(mass * as_real(pairs.differences(term) > 0))
        return risks

    def flips(self, instances: Instances, labels: Array) -> Array:
        xp, pairs = xp_of(labels), instances.pairs(labels)
        missing, adding = self._costs(instances)
        risks = xp.sum(xp.where(labels > 0, adding, missing), axis=1)
        changes = xp.where(labels > 0, missing - adding, adding - missing)
        for term, mass in self._larger(pairs):
            wrong = pairs.differences(term)
            risks = risks + instances.total(mass * as_real(wrong > 0))
            broken = instances.total(mass * as_real(wrong == 0))[:, None]  # by any change
            single = mass * as_real(wrong == 1)  # mended by changing the label that is wrong
            in_truth = instances.by_label(single, term)
            in_vain = instances.total(single)[:, None] - in_truth
            mended = xp.where(take_columns(labels, term) > 0, in_vain, in_truth)
            changes = add_to_columns(changes, term, broken - mended)
        return risks[:, None] + changes

    def bound(self, instances: Instances, labels: Array, decided: Array) -> Bound:
        """The chord bound of each set by itself where no mass is negative; else, all that is not decided matches."""
        xp, pairs = xp_of(labels), instances.pairs(labels)
        missing, adding = self._costs(instances)
        zero = xp.zeros_like(missing)
        risks = xp.sum(xp.where(decided > 0, xp.where(labels > 0, adding, missing), zero), axis=1)
        left = as_real(1 - decided)
        ones, zeros = missing * left, adding * left
        for term, mass in self._larger(pairs):
            wrong = pairs.differences(term, instances.wrap(decided)) > 0
            risks = risks + instances.total(mass * as_real(wrong))
            n_left = xp.sum(take_columns(left, term), axis=1)
            chords = mass * as_real(~wrong) / pairs.of_predictions(xp.clip(n_left, 1, None))
            gain = gains(instances, decided, chords, term)
            ones, zeros = add_to_columns(ones, term, gain[0]), add_to_columns(zeros, term, gain[1])
        if self.form.is_mixture:
            risks = risks + xp.sum(xp.minimum(ones, zeros), axis=1)
        return Bound(risks, ones, zeros)
