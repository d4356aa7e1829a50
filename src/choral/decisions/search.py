"""Good predictions where no method can look at all: the best of many candidates, then one label at a time.

The candidates (the support, the marginal mode, those that are given) are compared by one matrix product for all
instances. Then each prediction changes the label that lowers its risk most, again by one product a round for all
instances, until no change helps. Restarts descend from a label set drawn from the distribution and, in turn, from the
best prediction so far with a few labels changed. A bound from below says how far the result can be from the optimum,
and proves it where the two meet.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._kernels.subsets import members_table
from choral.decisions.base import AnyMeasure
from choral.decisions.decision import Decision, bounded, keep_better
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.label_weights import distinct_rows, total_weights
from choral.decisions.risks import CountingRisk, Risk, make_risk
from choral.decisions.support import BLOCK_ENTRIES, Rows, Support, instance_blocks, make_rows
from choral.decisions.ties import TOLERANCE, in_order

MOST_CANDIDATES = 2000  # of a larger support, the heaviest label sets
CANDIDATE_ENTRIES = 1 << 27  # and of a very large one, so many that all pairs with the support are seen in seconds
MOST_ENUMERATED = 10  # labels up to which all predictions are candidates: no more than there are label sets, often
RESTARTS = (2, 64)  # at least, at most: as many as the work allows
RESTART_STEPS = 2.5e8  # multiply-adds of one product a restart, all together
CHANGED_LABELS = 3


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
    shape = (distribution.n_instances, distribution.n_labels)
    labels, risks, bounds = np.empty(shape, dtype=np.uint8), np.empty(shape[0]), np.empty(shape[0])
    marginal_mode = distribution.marginal_mode()
    for block in instance_blocks(distribution.weights):
        weights = distribution.weights[block]
        extra = [marginal_mode[block]] + ([] if starts is None else [starts[block]])
        results = _search_block(risk, distribution.support, weights, candidates, extra, rng)
        labels[block], risks[block], bounds[block] = results
    return bounded(labels, risks.clip(0, 1), bounds)


def _search_block(
    risk: Risk, support: Support, weights: Any, candidates: np.ndarray | None, extra: list[np.ndarray], rng: Any
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    labels, risks = _best_candidates(risk, support, weights, candidates)
    if support.n_labels <= MOST_ENUMERATED:
        return labels, risks, risks
    bounds = root_bound(risk, make_rows(support, weights))
    for starts in extra:
        _try_starts(risk, support, weights, labels, risks, starts)
    _try_starts(risk, support, weights, labels, risks, labels)
    steps = weights.shape[0] * len(support) * support.n_labels
    for restart in range(int(np.clip(RESTART_STEPS / steps, *RESTARTS))):
        open_rows = np.flatnonzero(risks - bounds > TOLERANCE)
        if not open_rows.size:
            break
        found, of_found, of_rows = labels[open_rows], risks[open_rows], weights[open_rows]
        starts = _shaken(found, rng) if restart % 2 else _drawn(support, of_rows, rng)
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
) -> tuple[np.ndarray, np.ndarray]:
    """The best candidate of each instance, and its risk: one matrix product."""
    if support.n_labels <= MOST_ENUMERATED:
        pool = members_table(np.arange(1 << support.n_labels), support.n_labels)
    else:
        most = min(MOST_CANDIDATES, 1 + CANDIDATE_ENTRIES // len(support))
        heaviest = np.argsort(-total_weights(weights), kind="stable")[:most]
        pool = support.labelsets[heaviest]
        if candidates is not None:
            pool, _ = distinct_rows(np.concatenate([pool, candidates]))
    pool = pool[in_order(pool)]
    least = np.full(weights.shape[0], np.inf)
    best = np.zeros(weights.shape[0], dtype=np.intp)
    step = max(1, BLOCK_ENTRIES // max(len(support), weights.shape[0]))
    for first in range(0, len(pool), step):
        risks = weights @ risk.pair_losses(support, Support(pool[first : first + step]))
        lowest = risks.min(axis=1)
        better = lowest < least - TOLERANCE
        # The pool is in the order in which ties are broken: the first that is good enough is taken.
        best[better] = first + (risks <= lowest[:, np.newaxis] + TOLERANCE).argmax(axis=1)[better]
        least[better] = lowest[better]
    return pool[best], risk.risks(make_rows(support, weights), Support(pool[best]))


def _try_starts(
    risk: Risk, support: Support, weights: Any, labels: np.ndarray, risks: np.ndarray, starts: np.ndarray
) -> None:
    """Descend from starts, and keep, in place, what is better."""
    found = starts.copy()
    of_found = risk.risks(make_rows(support, weights), Support(found))
    _descend(risk, support, weights, found, of_found)
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


def _shaken(labels: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A few labels of each prediction changed at random."""
    shaken = labels.copy()
    changed = rng.random(labels.shape).argsort(axis=1)[:, :CHANGED_LABELS]
    shaken[np.arange(len(labels))[:, np.newaxis], changed] ^= 1
    return shaken


def _drawn(support: Support, weights: Any, rng: np.random.Generator) -> np.ndarray:
    """A label set for each instance, drawn by its weights."""
    n_instances, n_labelsets = weights.shape
    if sp.issparse(weights):
        data, ends = weights.data, weights.indptr[1:]
        columns = weights.indices
    else:
        data, ends = weights.ravel(), n_labelsets * np.arange(1, n_instances + 1)
        columns = None
    sums = np.cumsum(data)
    upper = sums[ends - 1]
    places = np.searchsorted(sums, np.append(0, upper[:-1]) + rng.random(n_instances) * np.diff(upper, prepend=0))
    places = np.minimum(places, ends - 1)
    return support.labelsets[places % n_labelsets if columns is None else columns[places]]


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
