"""Good predictions where no method can look at all: the best of many candidates, then one label at a time.

The candidates (the support, the marginal mode, those that are given) are compared by one matrix product for all
instances. Then each prediction changes the label that lowers its risk most, again by one product a round for all
instances, until no change helps. Restarts descend from a label set drawn from the distribution and, in turn, from the
best prediction so far with a few labels changed. A bound from below says how far the result can be from the optimum,
and proves it where the two meet.

It runs where the arrays of the distribution lie. Where each instance has label sets of its own, as samples on a device
have, these are its candidates.
"""

import math
from typing import NamedTuple

import numpy as np

from choral._array_api import Array, concatenate, to_library_of, xp_of
from choral._typing import RandomState
from choral.decisions.decision import Decision, bounded_decision, exact_decision
from choral.decisions.device_arrays import first_true, is_column, put_rows
from choral.decisions.instances import Instances, LabelSets
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.risks import Risk, make_risk
from choral.decisions.support import block_entries, slices
from choral.decisions.ties import TOLERANCE, comes_first
from choral.overlap import LossForm

MAX_CANDIDATES = 2000  # of a larger support, the heaviest label sets
CANDIDATE_ENTRIES = 1 << 27  # and of a very large one, so many that all pairs with the support are seen in seconds
MAX_ENUMERATED_LABELS = 10  # up to which all predictions are candidates: often no more than there are label sets
MAX_LISTED_LABELS = 16  # up to which all predictions are listed where that is asked for
RESTARTS = (2, 64)  # at least, at most: fewer for large supports
RESTART_STEPS = 1e5  # labels in the support, times restarts
CHANGED_LABELS = 3


class Found(NamedTuple):
    """Predictions, of shape (n_instances, n_labels), and their risks."""

    labels: Array
    risks: Array


class Restart(NamedTuple):
    """Where to begin anew; the same numbers for all instances, so that a prediction does not depend on the others."""

    changes: Array | None  # 1 for the labels to change in the best prediction so far; or
    uniform: float  # a number in [0, 1) by which to draw a label set

    def starts(self, instances: Instances, found: Found) -> Array:
        """A prediction for each instance to descend from."""
        if self.changes is not None:
            return found.labels ^ self.changes
        uniform = xp_of(found.risks).full_like(found.risks[:, None], self.uniform)
        return instances.draw(uniform)[:, 0, :]


def plan_restarts(n_labelsets: int, n_labels: int, rng: np.random.Generator, like: Array) -> list[Restart]:
    """Restarts for a support of this size."""
    n_restarts = int(np.clip(RESTART_STEPS / (n_labelsets * n_labels), *RESTARTS))
    changes = np.zeros((n_restarts, n_labels), dtype=np.uint8)
    for row in changes:
        row[rng.permutation(n_labels)[:CHANGED_LABELS]] = 1
    changes = to_library_of(changes, like)
    return [Restart(changes[i, :] if i % 2 else None, uniform) for i, uniform in enumerate(rng.random(n_restarts))]


def search(
    distribution: LabelDistribution,
    form: LossForm,
    *,
    candidates: Array | None = None,
    starts: Array | None = None,
    random_state: RandomState = 0,
) -> Decision:
    """Candidates, descent, restarts; ``starts`` is one prediction more for each instance."""
    risk = make_risk(form, distribution.weights)
    rng = np.random.default_rng(random_state)
    restarts = plan_restarts(distribution.n_labelsets, distribution.n_labels, rng, distribution.labelsets)
    extra = [distribution.marginal_mode()] + ([] if starts is None else [starts])
    results = [
        _search_block(risk, instances, candidates, [labels[rows, :] for labels in extra], restarts)
        for rows, instances in distribution.blocks()
    ]
    labels, risks, bounds = map(concatenate, zip(*results, strict=True))
    return bounded_decision(labels, xp_of(risks).clip(risks, 0, 1), bounds)


def look_at_all(distribution: LabelDistribution, form: LossForm) -> Decision:
    """The optimum, proven by looking at every prediction and every label set of the support."""
    if distribution.n_labels > MAX_LISTED_LABELS:
        raise ValueError(
            f"method 'transform' looks at all 2 ** n_labels predictions, under this loss for up to {MAX_LISTED_LABELS} "
            f"labels; got {distribution.n_labels}."
        )
    risk = make_risk(form, distribution.weights)
    found = [_best_of_pool(risk, instances, instances.all_sets()) for _, instances in distribution.blocks()]
    labels, risks, least = map(concatenate, zip(*((*best, bound) for best, bound in found), strict=True))
    return exact_decision(labels, xp_of(risks).clip(risks, 0, 1), least)


def _search_block(
    risk: Risk, instances: Instances, candidates: Array | None, extra: list[Array], restarts: list[Restart]
) -> tuple[Array, Array, Array]:
    """Predictions, their risks, and bounds on the risks of all predictions."""
    found, least = _best_candidates(risk, instances, candidates)
    if instances.support.n_labels <= MAX_ENUMERATED_LABELS:
        return *found, least
    xp, bounds = xp_of(least), risk.root_bound(instances)
    for starts in (*extra, *risk.starts(instances), found.labels):
        found = _try_starts(risk, instances, found, starts)
    for restart in restarts:
        is_open = found.risks - bounds > TOLERANCE
        if not xp.any(is_open):
            break
        of_open, before = instances.take(is_open), Found(*(_take(part, is_open) for part in found))
        after = _try_starts(risk, of_open, before, restart.starts(of_open, before))
        found = Found(*(put_rows(part, is_open, rows) for part, rows in zip(found, after, strict=True)))
    labels = _without_needless(risk, instances, found)
    return labels, risk.risks(instances, labels), bounds


def _take(array: Array, chosen: Array) -> Array:
    """The rows that a mask has chosen."""
    xp = xp_of(array)
    return xp.take(array, xp.nonzero(chosen)[0], axis=0)


def _best_candidates(risk: Risk, instances: Instances, candidates: Array | None) -> tuple[Found, Array]:
    """The best candidate of each instance, its risk, and the least risk of all candidates."""
    support = instances.support
    if support.n_labels <= MAX_ENUMERATED_LABELS:
        return _best_of_pool(risk, instances, instances.all_sets())
    return _best_of_pool(risk, instances, instances.heaviest(max_candidates(len(support)), candidates))


def _best_of_pool(risk: Risk, instances: Instances, pool: LabelSets) -> tuple[Found, Array]:
    """The best prediction of a pool for each instance, its risk, and the least risk: one matrix product."""
    support = instances.support
    n_labelsets = math.prod(support.labelsets.shape[:-1])  # of all instances, where each has its own
    step = max(1, block_entries(support.labelsets) // max(n_labelsets, instances.n_instances))
    best: Array = None
    for places in slices(len(pool), step):
        risks = risk.pool_risks(instances, pool.part(places))
        xp, lowest = xp_of(risks), xp_of(risks).min(risks, axis=1)
        # The pool is in the order in which ties are broken: the first that is good enough is taken.
        first = places.start + first_true(risks <= lowest[:, None] + TOLERANCE)
        if best is None:
            best, least = first, lowest
        else:
            better = lowest < least - TOLERANCE  # but for ties
            best, least = xp.where(better, first, best), xp.where(better, lowest, least)
    labels = pool.at(best)
    return Found(labels, risk.risks(instances, labels)), least


def max_candidates(n_labelsets: int) -> int:
    """How many label sets of a support of this size are looked at."""
    return min(MAX_CANDIDATES, 1 + CANDIDATE_ENTRIES // n_labelsets)


def _try_starts(risk: Risk, instances: Instances, found: Found, starts: Array) -> Found:
    """Descend from starts, and once more led by smoother risks if there are any; what is better is taken."""
    guides = risk.guides()
    for chain in [[risk], [*guides, risk]] if guides else [[risk]]:
        labels = starts
        for step in chain:
            labels, risks = _descend(step, instances, labels)
        found = _better(found, Found(labels, risks))
    return found


def _descend(risk: Risk, instances: Instances, labels: Array) -> Found:
    """Change the label that lowers the risk most, until none does."""
    risks = risk.risks(instances, labels)
    xp = xp_of(risks)
    goes_on = xp.ones_like(risks, dtype=xp.bool)
    current, of_current = labels, risks
    while current.shape[0]:
        after = risk.flips(instances, current)
        lowest = xp.min(after, axis=1)
        improves = lowest < of_current - TOLERANCE
        if not xp.any(improves):
            break
        goes_on = put_rows(goes_on, goes_on, improves)
        instances = instances.take(improves)
        current, of_current, after = (_take(part, improves) for part in (current, lowest, after))
        current = xp.where(is_column(xp.argmin(after, axis=1), current), 1 - current, current)
        labels, risks = put_rows(labels, goes_on, current), put_rows(risks, goes_on, of_current)
    return Found(labels, risks)


def _better(one: Found, other: Found) -> Found:
    """The predictions of one, but where the other is better, or equally good and first in order."""
    xp = xp_of(one.risks)
    tied = xp.abs(other.risks - one.risks) <= TOLERANCE
    better = xp.where(tied, comes_first(other.labels, one.labels), other.risks < one.risks)
    return Found(xp.where(better[:, None], other.labels, one.labels), xp.where(better, other.risks, one.risks))


def _without_needless(risk: Risk, instances: Instances, found: Found) -> Array:
    """Predictions without the labels that make no difference; the last of several is dropped first."""
    labels, least = found.labels, (found.risks + TOLERANCE)[:, None]
    xp = xp_of(labels)
    while True:
        costless = (labels == 1) & (risk.flips(instances, labels) <= least)
        if not xp.any(costless):
            return labels
        last = labels.shape[1] - 1 - first_true(xp.flip(costless, axis=1))
        labels = xp.where(costless & is_column(last, labels), xp.zeros_like(labels), labels)
