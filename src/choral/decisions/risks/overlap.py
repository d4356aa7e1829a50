r"""Risks under losses by overlap: with a predicted set of s and a true one of R labels of which d differ,

:math:`r = (s + R - d) / 2` labels are right, :math:`s - r` extra and :math:`R - r` missed.
"""

from functools import lru_cache, partial

from choral._array_api import Array, as_real, xp_of
from choral.decisions.instances import Instances, PairsOfSets
from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.risks.by_size import best_by_size
from choral.overlap import ByOverlap


class OverlapRisk(Risk):
    """Expected loss by the overlap of predicted and true labels."""

    def __init__(self, form: ByOverlap):
        self.form = form
        self._best_by_size = lru_cache(maxsize=1)(partial(best_by_size, form))

    def _losses_at(self, pairs: PairsOfSets, wrong: Array, n_predicted: Array) -> Array:
        """The loss by the number of wrong labels and of those predicted."""
        n_predicted, n_true = pairs.of_predictions(n_predicted), pairs.of_labelsets(as_real(pairs.labelsets.sizes))
        right = (n_predicted + n_true - wrong) / 2
        return self.form.losses(right, n_predicted - right, n_true - right)

    def losses(self, pairs: PairsOfSets) -> Array:
        return self._losses_at(pairs, as_real(pairs.differences()), as_real(pairs.predictions.sizes))

    def flips(self, instances: Instances, labels: Array) -> Array:
        pairs = instances.pairs(labels)
        wrong, n_predicted = as_real(pairs.differences()), as_real(pairs.predictions.sizes)

        def after(step: int) -> Array:
            """The risk after a label is added to the prediction (1) or removed from it (-1)."""
            losses = self._losses_at(pairs, wrong + step, n_predicted + step)  # the label is not true
            changes = self._losses_at(pairs, wrong - step, n_predicted + step) - losses
            return instances.by_label(changes) + instances.total(losses)[:, None]

        return xp_of(labels).where(labels > 0, after(-1), after(1))

    def starts(self, instances: Instances) -> list[Array]:
        return [self._best_by_size(instances).labels]

    def root_bound(self, instances: Instances) -> Array:
        return 1 - self._best_by_size(instances).worths

    def bound(self, instances: Instances, labels: Array, decided: Array) -> Bound:
        """All that is not decided matches: nothing is extra or missed there."""
        pairs, xp = instances.pairs(labels), xp_of(labels)
        wrong = as_real(pairs.differences(decided=instances.wrap(decided)))
        nothing = instances.pairs(xp.zeros_like(labels))
        missed = as_real(nothing.differences(decided=instances.wrap(decided * (1 - labels))))
        certain = self.form.losses(pairs.of_labelsets(as_real(pairs.labelsets.sizes)) - missed, wrong - missed, missed)
        return Bound(instances.total(certain), *gains(instances, decided, 1 - certain))
