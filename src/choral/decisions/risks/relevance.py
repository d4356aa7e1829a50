r"""Risks under relevance weighting: prediction and truth meet in the labels that differ and in the sizes of both.

With d labels wrong, a predicted set of s and a true one of R labels, :math:`j = K - d` labels are right and
:math:`a = (s + R - d) / 2` of them relevant.
"""

import numpy as np

from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.support import Rows, Support
from choral.decisions.words import count_differences
from choral.measures import RelevanceMeasure


class RelevanceRisk(Risk):
    """Expected loss under relevance weighting of a counting measure."""

    def __init__(self, measure: RelevanceMeasure, n_labels: int):
        self.n_labels = n_labels
        self.beta = measure.beta
        self.values = measure.base.values(n_labels)
        self.scales = relevance_scales(measure, n_labels)

    def worth(self, wrong: np.ndarray, in_set: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
        """The worth by the number of wrong labels, of those right and relevant, and of relevant ones."""
        right = self.n_labels - wrong
        weighted = in_set / np.maximum(right, 1)
        weighted *= self.beta
        weighted += 1
        weighted /= self.scales[n_relevant]
        weighted[np.broadcast_to(n_relevant == self.n_labels, weighted.shape)] = 1
        weighted *= self.values[right]
        return weighted

    def _loss(self, wrong: np.ndarray, n_predicted: np.ndarray, n_relevant: np.ndarray) -> np.ndarray:
        wrong = wrong.astype(np.int32)
        return 1 - self.worth(wrong, (n_predicted + n_relevant - wrong) / 2, n_relevant)

    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        wrong = count_differences(support.words[:, np.newaxis], candidates.words)
        return self._loss(wrong, candidates.sizes, support.sizes[:, np.newaxis])

    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        sizes = rows.of_instances(predictions.sizes), rows.of_labelsets(rows.support.sizes)
        return rows.total(self._loss(rows.differences(predictions), *sizes))

    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        wrong = rows.differences(predictions).astype(np.int32)
        n_relevant = rows.of_labelsets(rows.support.sizes)
        after = {}
        for step in (1, -1):  # a label is added to the prediction, or removed from it
            size = (rows.of_instances(predictions.sizes) + step).clip(0, self.n_labels)
            farther = self._loss((wrong + 1).clip(max=self.n_labels), size, n_relevant)
            nearer = self._loss((wrong - 1).clip(0), size, n_relevant)
            towards, away = (nearer, farther) if step == 1 else (farther, nearer)
            after[step] = rows.by_label(towards - away) + rows.total(away)[:, np.newaxis]
        return np.where(predictions.labelsets, after[-1], after[1])

    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        r"""The better of two bounds: all that is not decided matches, or v is replaced by the line :math:`v(x) = x`.

        The line bounds v from above, since relevance weighting needs v(x) / x not to decrease. It is additive: a wrong
        label i costs :math:`(1 + \beta y_i) / (K + \beta R)`.
        """
        support = rows.support
        wrong = rows.differences(predictions, decided.words).astype(np.int32)
        missed = rows.differences(Support(np.zeros_like(predictions.labelsets)), decided.words & ~predictions.words)
        n_relevant = rows.of_labelsets(support.sizes)
        certain = 1 - self.worth(wrong, n_relevant - missed.astype(np.int32), n_relevant)
        ones, zeros = gains(rows, decided, 1 - certain)
        return Bound(np.maximum(rows.total(certain), self._line_bound(rows, predictions, decided)), ones, zeros)

    def _line_bound(self, rows: Rows, predictions: Support, decided: Support) -> np.ndarray:
        all_relevant = rows.support.sizes == self.n_labels  # there each label costs 1 / K, whatever beta is
        prices = 1 / (self.n_labels * self.scales[rows.support.sizes])
        missing = rows.by_label(rows.of_labelsets(np.where(all_relevant, prices, (1 + self.beta) * prices)))
        prices = rows.of_labelsets(np.where(all_relevant, 0, prices))
        adding = (rows.total(prices)[:, np.newaxis] - rows.by_label(prices)).clip(0)
        chosen = np.where(predictions.labelsets, adding, missing)
        return np.where(decided.labelsets, chosen, np.minimum(adding, missing)).sum(axis=1)


def relevance_scales(measure: RelevanceMeasure, n_labels: int) -> np.ndarray:
    """What the masses add up to by the number of relevant labels; 1 where all are, since that may be 0."""
    scales = 1 + measure.beta * np.arange(n_labels + 1) / n_labels
    scales[-1] = 1
    return scales
