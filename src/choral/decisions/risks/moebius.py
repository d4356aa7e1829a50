"""Risks under sums of subset 0/1 losses on chosen label sets, and under weighted Hamming losses."""

import numpy as np

from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.support import Rows, Support
from choral.decisions.words import count_differences
from choral.measures import AdditiveMeasure, MoebiusMeasure


class MoebiusRisk(Risk):
    """Expected loss under a Moebius measure: the masses of the sets that contain a mistake."""

    def __init__(self, measure: MoebiusMeasure, n_labels: int):
        self.terms = [(list(labels), mass) for labels, mass in measure.terms]
        self.is_mixture = all(mass >= 0 for _, mass in self.terms)

    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        losses = np.zeros((len(support), len(candidates)))
        for labels, mass in self.terms:
            mask = support.mask(labels)
            losses += mass * (count_differences(support.words[:, np.newaxis], candidates.words, mask) > 0)
        return losses

    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        risks = np.zeros(len(predictions))
        for labels, mass in self.terms:
            risks += mass * rows.total((rows.differences(predictions, rows.support.mask(labels)) > 0).astype(float))
        return risks

    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        risks = np.zeros((len(predictions), 1))
        changes = np.zeros(predictions.labelsets.shape)
        for labels, mass in self.terms:
            wrong = rows.differences(predictions, rows.support.mask(labels))
            risks += mass * rows.total((wrong > 0).astype(float))[:, np.newaxis]
            broken = rows.total((wrong == 0).astype(float))[:, np.newaxis]  # by any change
            single = (wrong == 1).astype(float)  # mended by changing the label that is wrong
            in_truth = rows.by_label(single, labels)
            in_vain = rows.total(single)[:, np.newaxis] - in_truth
            mended = np.where(predictions.labelsets[:, labels], in_vain, in_truth)
            changes[:, labels] += mass * (broken - mended)
        return risks + changes

    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        """The chord bound of each set by itself where no mass is negative; else, all that is not decided matches."""
        shape = predictions.labelsets.shape
        risks, ones, zeros = np.zeros(len(predictions)), np.zeros(shape), np.zeros(shape)
        for labels, mass in self.terms:
            mask = decided.words & rows.support.mask(labels)
            wrong = rows.differences(predictions, mask) > 0
            risks += mass * rows.total(wrong.astype(float))
            left = np.maximum(len(labels) - decided.labelsets[:, labels].sum(axis=1, dtype=np.intp), 1)
            gain = gains(rows, decided, ~wrong / rows.of_instances(left), labels)
            ones[:, labels] += mass * gain[0]
            zeros[:, labels] += mass * gain[1]
        if self.is_mixture:
            risks += np.minimum(ones, zeros).sum(axis=1)
        return Bound(risks, ones, zeros)


class AdditiveRisk(Risk):
    """Expected loss under an additive measure: the weights of the wrong labels."""

    def __init__(self, measure: AdditiveMeasure, n_labels: int):
        self.weights = measure.weights

    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        losses = np.zeros((len(support), len(candidates)))
        for label, weight in enumerate(self.weights):
            losses += weight * (support.labelsets[:, label, np.newaxis] != candidates.labelsets[:, label])
        return losses

    def _parts(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """What it costs not to predict a label, and to predict it."""
        ones = rows.by_label(1.0)
        return self.weights * ones, self.weights * (1 - ones)

    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        missing, adding = self._parts(rows)
        return np.where(predictions.labelsets, adding, missing).sum(axis=1)

    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        missing, adding = self._parts(rows)
        change = np.where(predictions.labelsets, missing - adding, adding - missing)
        return self.risks(rows, predictions)[:, np.newaxis] + change

    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        missing, adding = self._parts(rows)
        chosen = np.where(predictions.labelsets, adding, missing)
        risks = np.where(decided.labelsets, chosen, np.minimum(missing, adding)).sum(axis=1)
        left = 1 - decided.labelsets
        return Bound(risks, missing * left, adding * left)
