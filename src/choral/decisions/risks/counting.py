r"""Risks under counting measures: all that matters is in how many labels prediction and truth differ.

With g(d) the loss at distance d, the risk of a prediction is :math:`\sum_m p_m g(d_m)`. Changing label i takes every
label set one step away or one step nearer, so all K changes are one matrix product.
"""

from functools import lru_cache
from math import comb

import numpy as np

from choral.decisions.risks.base import Bound, Risk, gains
from choral.decisions.support import Rows, Support
from choral.decisions.words import count_differences
from choral.measures import CountingMeasure

NOISE = 1e-14  # in a bound


class CountingRisk(Risk):
    """Expected loss from a table by the number of wrong labels, which belongs to a convex v or not."""

    def __init__(self, losses: np.ndarray, *, is_convex: bool):
        self.n_labels = losses.size - 1
        self.losses = losses
        self.is_convex = is_convex
        # One label nearer, and from there to one farther. At both ends no such label is left: never used there.
        self.nearer = np.append(self.losses[:1], self.losses[:-1])
        self.spread = np.append(self.losses[1:], self.losses[-1]) - self.nearer
        self._slacks = lru_cache(maxsize=None)(self._slacks_of_chords)

    @classmethod
    def of_measure(cls, measure: CountingMeasure, n_labels: int) -> "CountingRisk":
        """The risk under a counting measure."""
        rises = np.diff(measure.weights(n_labels))
        # Hardly any rise is allowed: what a chord may lie above the loss adds up over all labels.
        return cls(measure.deficits(n_labels), is_convex=bool((rises <= NOISE / n_labels**2).all()))

    def guides(self) -> list["CountingRisk"]:
        """Where v jumps, single changes see no slope: averages over more and fewer errors lead there."""
        return [] if self.is_convex else [self._smoothed(width) for width in (4, 2, 1)]

    def _smoothed(self, width: int) -> "CountingRisk":
        weights = np.array([comb(2 * width, i) for i in range(2 * width + 1)]) / 4**width
        return CountingRisk(np.convolve(np.pad(self.losses, width, mode="edge"), weights, "valid"), is_convex=False)

    def pair_losses(self, support: Support, candidates: Support) -> np.ndarray:
        return self.losses[count_differences(support.words[:, np.newaxis], candidates.words)]

    def risks(self, rows: Rows, predictions: Support) -> np.ndarray:
        return rows.total(self.losses[rows.differences(predictions)])

    def flips(self, rows: Rows, predictions: Support) -> np.ndarray:
        distances = rows.differences(predictions)
        nearer = rows.total(self.nearer[distances])[:, np.newaxis]
        spread = self.spread[distances]
        # A label set with the label comes nearer when the label is added, goes farther when it is removed.
        with_label, all_sets = rows.by_label(spread), rows.total(spread)[:, np.newaxis]
        return nearer + np.where(predictions.labelsets, with_label, all_sets - with_label)

    def bound(self, rows: Rows, predictions: Support, decided: Support) -> Bound:
        r"""The chord bound.

        With e labels wrong and U not decided, the loss at t further errors is at least its chord,
        :math:`g(e) + (t / U) (g(e + U) - g(e))`, for convex v; for any other, less a slack that depends on e and U.
        The chord is additive, so each label takes its better value by itself.
        """
        wrong = rows.differences(predictions, decided.words).astype(np.intp)
        left = self.n_labels - decided.sizes
        certain = self.losses[wrong]
        rises = self.losses[wrong + rows.of_instances(left)] - certain
        ones, zeros = gains(rows, decided, rises / rows.of_instances(np.maximum(left, 1)))
        plain = rows.total(certain)
        risks = plain + np.minimum(ones, zeros).sum(axis=1)
        if not self.is_convex:
            slacks = np.array([self._slacks(count) for count in left.tolist()])
            of_entries = slacks[rows.of_instances(np.arange(left.size)), wrong]
            risks = np.maximum(plain, risks - rows.total(of_entries))
        return Bound(risks, ones, zeros)

    def _slacks_of_chords(self, left: int) -> np.ndarray:
        """How far the loss falls below its chord over the labels that are left, by the number wrong before."""
        slacks = np.zeros(self.n_labels + 1)
        for wrong in range(self.n_labels - left + 1):
            losses = self.losses[wrong : wrong + left + 1]
            slacks[wrong] = (np.linspace(losses[0], losses[-1], left + 1) - losses).max()
        return slacks

    def root_slack(self) -> float:
        """How far the loss falls below its chord over all labels."""
        return 0.0 if self.is_convex else float(self._slacks(self.n_labels)[0])

    def packing_bound(self, rows: Rows) -> np.ndarray:
        """A lower bound on all risks: one label set is met at most, K at most differ in one label, and so on.

        The heaviest label set is counted as met, the next K as one label away; sharp at the subset 0/1 end.
        """
        return rows.ranked_total(self.losses_by_rank(len(rows.support)))

    def losses_by_rank(self, n_labelsets: int) -> np.ndarray:
        """What the label sets cost at least, from the heaviest down."""
        distances, placed = [], 0
        for distance in range(self.n_labels + 1):
            ring = min(comb(self.n_labels, distance), n_labelsets - placed)
            distances.append(ring)
            placed += ring
        return self.losses[np.repeat(np.arange(self.n_labels + 1), distances)]
