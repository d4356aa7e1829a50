r"""Risks under losses by overlap: with a predicted set of s and a true one of R labels of which d differ,

:math:`r = (s + R - d) / 2` labels are right, :math:`s - r` extra and :math:`R - r` missed.
"""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from choral._array_api import Array, as_real, xp_of
from choral.decisions.instances import Instances, PairsOfSets
from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.risks.by_size import BestBySize, best_by_size
from choral.overlap import ByOverlap

ALMOST_NOTHING = 1e-30  # a share of it is far below what risks are compared by, and one divided by it is finite


class OverlapRisk(Risk):
    """Expected loss by the overlap of predicted and true labels."""

    def __init__(self, form: ByOverlap):
        self.form = form
        self._best_by_size: Callable[[Any], BestBySize] = lru_cache(maxsize=1)(partial(best_by_size, form))

    def losses(self, pairs: PairsOfSets) -> Array:
        n_predicted, n_true, right = _overlap(pairs)
        return self.form.losses(right, n_predicted - right, n_true - right)

    def flips(self, instances: Instances, labels: Array) -> Array:
        form, pairs = self.form, instances.pairs(labels)
        n_predicted, n_true, right = _overlap(pairs)
        total = (1 - form.extra - form.missed) * right + (form.extra * n_predicted + form.missed * n_true)
        xp, positive = xp_of(total), xp_of(total).full_like(total[..., :1], ALMOST_NOTHING)
        at_least_nothing = xp.maximum(right, positive)

        def after(step: int) -> Array:
            """The worth after a label is added to the prediction (1) or removed from it (-1)."""
            # Where no label is left on either side, the worth is 1: ALMOST_NOTHING divided by itself. A right label
            # leaves something to divide by; the label sets without this label, which may not, count 0 in by_label.
            if_wrong = at_least_nothing / xp.maximum(total + step * form.extra, positive)
            if_right = (right + step) / xp.maximum(total + step * (1 - form.missed), positive)
            return instances.by_label(if_right - if_wrong) + instances.total(if_wrong)[:, None]

        return 1 - xp.where(labels > 0, after(-1), after(1))

    def starts(self, instances: Instances) -> list[Array]:
        return [self._best_by_size(instances).labels]

    def root_bound(self, instances: Instances) -> Array:
        return 1 - self._best_by_size(instances).worths

    def bound(self, instances: Instances, labels: np.ndarray, decided: np.ndarray) -> Bound:
        r"""The best completion of each size, for NumPy arrays.

        As in `choral.decisions.risks.by_size`, but with fewer labels that can be right: those that are decided to be
        extra or missed are not. Where all labels are decided it is the risk itself.
        """
        pairs = instances.pairs(labels)
        wrong = as_real(pairs.differences(decided=instances.wrap(decided)))
        nothing = instances.pairs(np.zeros_like(labels))
        missed = as_real(nothing.differences(decided=instances.wrap(decided * (1 - labels))))
        extra, n_true = wrong - missed, pairs.of_labelsets(as_real(pairs.labelsets.sizes))
        n_ones, n_free = labels.sum(axis=1, dtype=np.intp), (1 - decided).sum(axis=1, dtype=np.intp)
        right = pairs.of_predictions(as_real(n_ones)) - extra
        worths = np.where(n_ones == 0, instances.total((n_true == 0) & (wrong == 0)), 0.0)
        for size in range(1, self.form.n_labels + 1):
            per_label = self.form.worth_per_label(size, n_true, np.minimum(size - extra, n_true - missed))
            of_free = np.sort(instances.by_label(per_label) * (1 - decided), axis=1)[:, ::-1].cumsum(axis=1)
            n_added = size - n_ones
            added = np.take_along_axis(of_free, np.maximum(n_added - 1, 0)[:, np.newaxis], axis=1)[:, 0]
            of_size = instances.total(right * per_label) + np.where(n_added > 0, added, 0.0)
            worths = np.maximum(worths, np.where((n_added >= 0) & (n_added <= n_free), of_size, 0.0))
        certain = self.form.losses(n_true - missed, extra, missed)  # if all that is not decided matches
        return Bound(1 - worths, *gains(instances, decided, 1 - certain))


def _overlap(pairs: PairsOfSets) -> tuple[Array, Array, Array]:
    """How many labels are predicted, true, and both: numbers that broadcast to one for each pair, and one for each."""
    n_predicted = pairs.of_predictions(as_real(pairs.predictions.sizes))
    n_true = pairs.of_labelsets(as_real(pairs.labelsets.sizes))
    return n_predicted, n_true, (n_predicted + n_true - as_real(pairs.differences())) / 2
