r"""Risks where the number of wrong labels decides, and the number of relevant ones among them.

With g(d) the loss at distance d, the risk of a prediction is :math:`\sum_m p_m g(d_m)`. Changing label i takes every
label set one step away or one step nearer, so all K changes are one matrix product.

Under relevance weighting, prediction and truth meet in the labels that differ and in the sizes of both: with d labels
wrong, a predicted set of s and a true one of R labels, :math:`j = K - d` labels are right and
:math:`a = (s + R - d) / 2` of them relevant.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from math import comb

import numpy as np

from choral._array_api import Array, as_real, to_library_of, xp_of
from choral.decisions.device_arrays import count_up, gather
from choral.decisions.instances import Instances, PairsOfSets
from choral.decisions.risks.base import Bound, Risk, gains, keep_relevance, label_costs
from choral.measures.forms import ByCount, ByRelevance

NOISE = 1e-14  # in a bound
GUIDE_WIDTHS = (4, 2, 1)  # errors more and fewer over which guides average


class ByCountRisk(Risk):
    """Expected loss from a table by the number of wrong labels: of a form, or one that smooths such a table."""

    def __init__(self, table: np.ndarray, like: Array, form: ByCount | None = None):
        self.n_labels = table.size - 1
        self.table = table
        self.like = like
        self._form = form
        self._table = to_library_of(table, like)
        self._slacks = lru_cache(maxsize=None)(self._slacks_of_chords)

    @classmethod
    def of_form(cls, form: ByCount, like: Array) -> "ByCountRisk":
        """The risk under a counting measure."""
        return cls(form.all_deficits, like, form)

    @cached_property
    def is_convex(self) -> bool:
        """Whether v is convex, as it is in no table that has to be smoothed.

        Hardly any rise of the weights is allowed: what a chord may lie above the loss adds up over all labels.
        """
        return self._form is not None and bool((np.diff(self._form.weights()) <= NOISE / self.n_labels**2).all())

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """One label nearer, and from there to one farther. At both ends no such label is left: never used there."""
        nearer = np.append(self.table[:1], self.table[:-1])
        step = np.append(self.table[1:], self.table[-1]) - nearer
        return to_library_of(nearer, self.like), to_library_of(step, self.like)

    def guides(self) -> list["ByCountRisk"]:
        """Where v jumps, single changes see no slope: averages over more and fewer errors lead there."""
        return [] if self.is_convex else self._smoothed

    @cached_property
    def _smoothed(self) -> list["ByCountRisk"]:
        guides = []
        for width in GUIDE_WIDTHS:
            weights = np.array([comb(2 * width, i) for i in range(2 * width + 1)]) / 4**width
            table = np.convolve(np.pad(self.table, width, mode="edge"), weights, "valid")
            guides.append(ByCountRisk(table, self.like))
        return guides

    def losses(self, pairs: PairsOfSets) -> Array:
        return gather(self._table, pairs.differences())

    def flips(self, instances: Instances, labels: Array) -> Array:
        distances = instances.pairs(labels).differences()
        nearer, step = (gather(table, distances) for table in self._steps)
        nearer = instances.total(nearer)[:, None]
        # A label set with the label comes nearer when the label is added, goes farther when it is removed.
        with_label, all_sets = instances.by_label(step), instances.total(step)[:, None]
        return nearer + xp_of(labels).where(labels > 0, with_label, all_sets - with_label)

    def bound(self, instances: Instances, labels: np.ndarray, decided: np.ndarray) -> Bound:
        r"""The chord bound, for NumPy arrays.

        With e labels wrong and U not decided, the loss at t further errors is at least its chord,
        :math:`g(e) + (t / U) (g(e + U) - g(e))`, for convex v; for any other, less a slack that depends on e and U.
        The chord is additive, so each label takes its better value by itself.
        """
        pairs = instances.pairs(labels)
        wrong = pairs.differences(decided=instances.wrap(decided)).astype(np.intp)
        left = self.n_labels - decided.sum(axis=1, dtype=np.intp)
        certain = self.table[wrong]
        rises = self.table[wrong + pairs.of_predictions(left)] - certain
        ones, zeros = gains(instances, decided, rises / pairs.of_predictions(np.maximum(left, 1)))
        plain = instances.total(certain)
        risks = plain + np.minimum(ones, zeros).sum(axis=1)
        if not self.is_convex:
            slacks = np.array([self._slacks(count) for count in left.tolist()])
            of_entries = slacks[pairs.of_predictions(np.arange(left.size)), wrong]
            risks = np.maximum(plain, risks - instances.total(of_entries))
        return Bound(risks, ones, zeros)

    def _slacks_of_chords(self, left: int) -> np.ndarray:
        """How far the loss falls below its chord over the labels that are left, by the number wrong before."""
        slacks = np.zeros(self.n_labels + 1)
        for wrong in range(self.n_labels - left + 1):
            losses = self.table[wrong : wrong + left + 1]
            slacks[wrong] = (np.linspace(losses[0], losses[-1], left + 1) - losses).max()
        return slacks

    def root_bound(self, instances: Instances) -> Array:
        """The chord bound with no label decided, a Hamming loss less a slack, or the packing bound."""
        missing, adding = label_costs(instances)
        xp = xp_of(missing)
        slack = 0.0 if self.is_convex else float(self._slacks(self.n_labels)[0])
        chord = xp.sum(xp.minimum(missing, adding), axis=1) / self.n_labels - slack
        return xp.clip(xp.maximum(chord, self.packing_bound(instances)), 0, None)

    def packing_bound(self, instances: Instances) -> Array:
        """A lower bound on all risks: one label set is met at most, K at most differ in one label, and so on.

        The heaviest label set is counted as met, the next K as one label away; sharp at the subset 0/1 end.
        """
        counts, n_left = [], len(instances.support)
        for distance in range(self.n_labels + 1):
            counts.append(min(comb(self.n_labels, distance), n_left))
            n_left -= counts[-1]
        by_rank = self.table[np.repeat(np.arange(self.n_labels + 1), counts)]
        return instances.ranked_total(to_library_of(by_rank, self.like))


class ByCountRisks:
    """Expected losses under several counting measures at once: a device is asked once, not once for each."""

    def __init__(self, forms: Sequence[ByCount], like: Array):
        self._n_risks, self._size = len(forms), forms[0].n_labels + 1
        self._tables = to_library_of(np.concatenate([form.all_deficits for form in forms]), like)

    def risks(self, instances: Instances, labels: Array) -> Array:
        """As `Risk.risks`, for predictions under the first measure, then under the next, and so on."""
        wrong = instances.pairs(labels).differences()
        measures = count_up(instances.n_instances, wrong, wrong.dtype) // (instances.n_instances // self._n_risks)
        return instances.total(gather(self._tables, wrong + self._size * measures[:, None]))


class RelevanceByCountRisk(Risk):
    """Expected loss under relevance weighting of a counting measure."""

    def __init__(self, form: ByRelevance, base: ByCount, like: Array):
        self.n_labels = form.n_labels
        values = base.values
        self._values = to_library_of(values, like)  # by the number of right labels
        self._shares = to_library_of(values / np.maximum(np.arange(values.size), 1), like)
        self._relevance = keep_relevance(form)

    def _losses(self, pairs: PairsOfSets, wrong: Array, in_set: Array) -> Array:
        """The loss by the number of wrong labels, and of those that are right and relevant."""
        betas, scales = map(pairs.of_labelsets, self._relevance(pairs.labelsets))
        right = self.n_labels - wrong
        return 1 - (gather(self._values, right) + in_set * gather(self._shares, right) * betas) * scales

    def _losses_at(self, pairs: PairsOfSets, wrong: Array, sizes: Array) -> Array:
        """The loss by the number of wrong labels and of those predicted."""
        n_relevant = pairs.of_labelsets(pairs.labelsets.sizes)
        return self._losses(pairs, wrong, as_real(pairs.of_predictions(sizes) + n_relevant - wrong) / 2)

    def losses(self, pairs: PairsOfSets) -> Array:
        return self._losses_at(pairs, _counts(pairs.differences()), pairs.predictions.sizes)

    def flips(self, instances: Instances, labels: Array) -> Array:
        pairs, xp = instances.pairs(labels), xp_of(labels)
        wrong = _counts(pairs.differences())
        farther, nearer = xp.clip(wrong + 1, None, self.n_labels), xp.clip(wrong - 1, 0, None)

        def after(step: int) -> Array:
            """The risk after a label is added to the prediction (1) or removed from it (-1)."""
            sizes = xp.clip(pairs.predictions.sizes + step, 0, self.n_labels)
            with_label, without = (nearer, farther) if step == 1 else (farther, nearer)
            losses = self._losses_at(pairs, without, sizes)
            changes = self._losses_at(pairs, with_label, sizes) - losses
            return instances.by_label(changes) + instances.total(losses)[:, None]

        return xp.where(labels > 0, after(-1), after(1))

    def bound(self, instances: Instances, labels: Array, decided: Array) -> Bound:
        r"""The better of two bounds: all that is not decided matches, or v is replaced by the line :math:`v(x) = x`.

        The line bounds v from above, since relevance weighting needs v(x) / x not to decrease. It is additive: a wrong
        label i costs :math:`(1 + \beta y_i) / (K + \beta R)`.
        """
        pairs, xp = instances.pairs(labels), xp_of(labels)
        wrong = _counts(pairs.differences(decided=instances.wrap(decided)))
        nothing = instances.pairs(xp.zeros_like(labels))
        missed = _counts(nothing.differences(decided=instances.wrap(decided * (1 - labels))))
        n_relevant = pairs.of_labelsets(pairs.labelsets.sizes)
        certain = self._losses(pairs, wrong, as_real(n_relevant - missed))
        ones, zeros = gains(instances, decided, 1 - certain)
        missing, adding = label_costs(instances, self._relevance(pairs.labelsets))
        line = xp.where(decided > 0, xp.where(labels > 0, adding, missing), xp.minimum(adding, missing))
        line = xp.sum(line, axis=1) / self.n_labels
        return Bound(xp.maximum(instances.total(certain), line), ones, zeros)


def _counts(wrong: Array) -> Array:
    """Numbers of labels that can be added and subtracted: NumPy counts bits in bytes."""
    xp = xp_of(wrong)
    return xp.astype(wrong, xp.int32)
