"""Good predictions where no method can look at all: the best of many candidates, then one label at a time.

The candidates (the support, the marginal mode, those that are given) are compared by one matrix product for all
instances. Then each prediction changes the label that lowers its risk most, again by one product a round for all
instances, until no change helps. Restarts descend from a label set drawn from the distribution and, in turn, from the
best prediction so far with a few labels changed. A bound from below says how far the result can be from the optimum,
and proves it where the two meet.
"""

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from choral.decisions.base import AnyMeasure
from choral.decisions.decision import Decision, bounded, keep_better
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.label_weights import distinct_rows, draw, total_weights
from choral.decisions.risks import CountingRisk, Risk, make_risk
from choral.decisions.support import BLOCK_ENTRIES, Rows, Support, instance_blocks, make_rows
from choral.decisions.ties import TOLERANCE, in_order
from choral.measures.subsets import members_table

MOST_CANDIDATES = 2000  # of a larger support, the heaviest label sets
CANDIDATE_ENTRIES = 1 << 27  # and of a very large one, so many that all pairs with the support are seen in seconds
MOST_ENUMERATED = 10  # labels up to which all predictions are candidates: no more than there are label sets, often
RESTARTS = (2, 64)  # at least, at most: fewer for large supports
RESTART_STEPS = 1e5  # labels in the support, times restarts
CHANGED_LABELS = 3


class Restart(NamedTuple):
    """Where to begin anew; the same numbers for all instances, so that a prediction does not depend on the others."""

    changed: np.ndarray | None  # labels to change in the best prediction so far, or
    uniform: float  # a number in [0, 1) by which to draw a label set

    def starts(self, support: Support, weights: Any, found: np.ndarray) -> np.ndarray:
        """A prediction for each instance to descend from."""
        if self.changed is None:
            return support.labelsets[draw(weights, np.full((len(found), 1), self.uniform))[:, 0]]
        starts = found.copy()
        starts[:, self.changed] ^= 1
        return starts


def plan_restarts(n_labelsets: int, n_labels: int, rng: np.random.Generator) -> list[Restart]:
    """Restarts for a support of this size."""
    n_restarts = int(np.clip(RESTART_STEPS / (n_labelsets * n_labels), *RESTARTS))
    changed = [rng.permutation(n_labels)[:CHANGED_LABELS] for _ in range(n_restarts)]
    return [Restart(changed[i] if i % 2 else None, uniform) for i, uniform in enumerate(rng.random(n_restarts))]


@singledispatch
def search(
    distribution: LabelDistribution,
    measure: AnyMeasure,
    *,
    candidates: np.ndarray | None = None,
    starts: np.ndarray | None = None,
    random_state: Any = 0,
) -> Decision:
    """Candidates, descent, restarts; ``starts`` is one prediction more for each instance."""
    risk = make_risk(measure, distribution.n_labels)
    rng = np.random.default_rng(random_state)
    restarts = plan_restarts(distribution.n_labelsets, distribution.n_labels, rng)
    shape = (distribution.n_instances, distribution.n_labels)
    labels, risks, bounds = np.empty(shape, dtype=np.uint8), np.empty(shape[0]), np.empty(shape[0])
    marginal_mode = distribution.marginal_mode()
    for block in instance_blocks(distribution.weights, distribution.n_labels):
        weights = distribution.weights[block]
        extra = [marginal_mode[block]] + ([] if starts is None else [starts[block]])
        results = _search_block(risk, distribution.support, weights, candidates, extra, restarts)
        labels[block], risks[block], bounds[block] = results
    return bounded(labels, risks.clip(0, 1), bounds)


def _search_block(
    risk: Risk,
    support: Support,
    weights: Any,
    candidates: np.ndarray | None,
    extra: list[np.ndarray],
    restarts: list[Restart],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels, risks, least = _best_candidates(risk, support, weights, candidates)
    if support.n_labels <= MOST_ENUMERATED:
        return labels, risks, least
    bounds = root_bound(risk, make_rows(support, weights))
    for starts in extra:
        _try_starts(risk, support, weights, labels, risks, starts)
    _try_starts(risk, support, weights, labels, risks, labels)
    for restart in restarts:
        open_rows = np.flatnonzero(risks - bounds > TOLERANCE)
        if not open_rows.size:
            break
        found, of_found, of_rows = labels[open_rows], risks[open_rows], weights[open_rows]
        starts = restart.starts(support, of_rows, found)
        _try_starts(risk, support, of_rows, found, of_found, starts)
        labels[open_rows], risks[open_rows] = found, of_found
    _drop_labels(risk, make_rows(support, weights), labels, risks)
    return labels, risks, bounds


def root_bound(risk: Risk, rows: Rows) -> np.ndarray:
    """No prediction whatever has a smaller risk."""
    nothing = Support(np.zeros((rows.n_instances, rows.support.n_labels), dtype=np.uint8))
    bound = risk.bound(rows, nothing, nothing).risks
    return np.maximum(bound, risk.packing_bound(rows)) if isinstance(risk, CountingRisk) else bound


def _best_candidates(
    risk: Risk, support: Support, weights: Any, candidates: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best candidate of each instance, its risk, and the least risk of all candidates: one matrix product."""
    if support.n_labels <= MOST_ENUMERATED:
        pool = members_table(np.arange(1 << support.n_labels), support.n_labels)
    else:
        heaviest = np.argsort(-total_weights(weights), kind="stable")[: most_candidates(len(support))]
        pool = support.labelsets[heaviest]
        if candidates is not None:
            pool, _ = distinct_rows(np.concatenate([pool, candidates]))
    pool = pool[in_order(pool)]
    least = np.full(weights.shape[0], np.inf)  # but for ties
    best = np.zeros(weights.shape[0], dtype=np.intp)
    step = max(1, BLOCK_ENTRIES // max(len(support), weights.shape[0]))
    for first in range(0, len(pool), step):
        risks = weights @ risk.pair_losses(support, Support(pool[first : first + step]))
        lowest = risks.min(axis=1)
        better = lowest < least - TOLERANCE
        # The pool is in the order in which ties are broken: the first that is good enough is taken.
        best[better] = first + (risks <= lowest[:, np.newaxis] + TOLERANCE).argmax(axis=1)[better]
        least[better] = lowest[better]
    return pool[best], risk.risks(make_rows(support, weights), Support(pool[best])), least


def most_candidates(n_labelsets: int) -> int:
    """How many label sets of a support of this size are looked at."""
    return min(MOST_CANDIDATES, 1 + CANDIDATE_ENTRIES // n_labelsets)


def _try_starts(
    risk: Risk, support: Support, weights: Any, labels: np.ndarray, risks: np.ndarray, starts: np.ndarray
) -> None:
    """Descend from starts, and once more led by smoother risks if there are any; keep, in place, what is better."""
    guides = risk.guides()
    for chain in [[risk], [*guides, risk]] if guides else [[risk]]:
        found = starts.copy()
        for step in chain:
            of_found = step.risks(make_rows(support, weights), Support(found))
            _descend(step, support, weights, found, of_found)
        keep_better(labels, risks, found, of_found)


def _descend(risk: Risk, support: Support, weights: Any, labels: np.ndarray, risks: np.ndarray) -> None:
    """Change, in place, the label that lowers the risk most, until none does."""
    active = np.arange(len(labels))
    while active.size:
        after = risk.flips(make_rows(support, weights[active]), Support(labels[active]))
        best = after.argmin(axis=1)
        of_best = after[np.arange(active.size), best]
        improves = of_best < risks[active] - TOLERANCE
        active, best, of_best = active[improves], best[improves], of_best[improves]
        labels[active, best] ^= 1
        risks[active] = of_best


def _drop_labels(risk: Risk, rows: Rows, labels: np.ndarray, risks: np.ndarray) -> None:
    """Drop, in place, labels that make no difference, the last of several first; the risks are added up anew."""
    least = risks + TOLERANCE
    while True:
        after = np.where(labels, risk.flips(rows, Support(labels)), np.inf)
        costless = after <= least[:, np.newaxis]
        droppable = np.flatnonzero(costless.any(axis=1))
        if not droppable.size:
            break
        last = labels.shape[1] - 1 - costless[droppable, ::-1].argmax(axis=1)
        labels[droppable, last] = 0
    risks[:] = risk.risks(rows, Support(labels))
