"""Good predictions on a device: candidates, descent and restarts by the same plan as in `choral.decisions.search`.

Where each instance has label sets of its own, these are its candidates. A round of changes reads one answer back: which
instances go on.
"""

from typing import Any

import numpy as np

from choral._array_api import Array, to_device_of
from choral.decisions.arrays.devices import count_up
from choral.decisions.arrays.distribution import ArrayDistribution
from choral.decisions.arrays.drawing import draw
from choral.decisions.arrays.entries import ArraySupport, Entries
from choral.decisions.arrays.gathering import put_rows
from choral.decisions.arrays.labelsets import members_of, order_ranks
from choral.decisions.arrays.risks import ArrayRisk, make_array_risk
from choral.decisions.base import AnyMeasure
from choral.decisions.decision import Decision, bounded
from choral.decisions.search import MOST_ENUMERATED, Restart, most_candidates, plan_restarts, search
from choral.decisions.ties import TOLERANCE


@search.register
def search_on_device(
    distribution: ArrayDistribution,
    measure: AnyMeasure,
    *,
    candidates: Array | None = None,
    starts: Array | None = None,
    random_state: Any = 0,
) -> Decision:
    """Candidates, descent, restarts; ``starts`` is one prediction more for each instance."""
    risk = make_array_risk(measure, distribution.n_labels, distribution.weights)
    rng = np.random.default_rng(random_state)
    restarts = plan_restarts(distribution.n_labelsets, distribution.n_labels, rng)
    extra = [distribution.marginal_mode()] + ([] if starts is None else [starts])
    found = []
    for rows, entries in distribution.entry_blocks(_pool_size(distribution, candidates)):
        of_rows = [labels[rows, :] for labels in extra]
        found.append(_search_block(risk, entries, _pool(entries, candidates), of_rows, restarts))
    labels, risks, bounds = map(distribution.xp.concat, zip(*found, strict=True))
    return bounded(labels, distribution.xp.clip(risks, 0, 1), bounds)


def _search_block(
    risk: ArrayRisk, entries: Entries, pool: Array, extra: list[Array], restarts: list[Restart]
) -> tuple[Array, Array, Array]:
    xp = entries.xp
    labels, risks, least = _best_of_pool(risk, entries, pool)
    if entries.support.n_labels <= MOST_ENUMERATED:
        return labels, risks, least
    bounds = risk.root_bound(entries)
    for starts in (*extra, labels):
        labels, risks = _try_starts(risk, entries, labels, risks, starts)
    changes = _changed_labels(restarts, labels)
    for number, restart in enumerate(restarts):
        is_open = risks - bounds > TOLERANCE
        rows = xp.nonzero(is_open)[0]
        if not rows.shape[0]:
            break
        of_rows, found, of_found = entries.take(rows), xp.take(labels, rows, axis=0), xp.take(risks, rows)
        starts = found ^ changes[number, :] if restart.changed is not None else _drawn(of_rows, restart.uniform)
        found, of_found = _try_starts(risk, of_rows, found, of_found, starts)
        labels, risks = put_rows(labels, is_open, found), put_rows(risks, is_open, of_found)
    labels = _without_needless(risk, entries, labels, risks)
    return labels, risk.risks(entries, labels), bounds


def _changed_labels(restarts: list[Restart], like: Array) -> Array:
    """1 for the labels that each restart changes, of shape (n_restarts, n_labels)."""
    changes = np.zeros((len(restarts), like.shape[1]), dtype=np.uint8)
    for row, restart in zip(changes, restarts, strict=True):
        row[restart.changed if restart.changed is not None else []] = 1
    return to_device_of(changes, like)


def _drawn(entries: Entries, uniform: float) -> Array:
    weights = entries.xp.reshape(entries.weights, (entries.n_instances, -1))
    return entries.support.at(draw(weights, entries.xp.full_like(weights[:, :1], uniform)))


def _pool_size(distribution: ArrayDistribution, candidates: Array | None) -> int:
    if distribution.n_labels <= MOST_ENUMERATED:
        return 1 << distribution.n_labels
    n_labelsets = distribution.n_labelsets
    return min(n_labelsets, most_candidates(n_labelsets)) + (0 if candidates is None else candidates.shape[0])


def _pool(entries: Entries, candidates: Array | None) -> Array:
    """The predictions to begin with, (1 or n_groups, n_pool, n_labels): all, or the heaviest label sets and more."""
    xp, support = entries.xp, entries.support
    if support.n_labels <= MOST_ENUMERATED:
        return members_of(count_up(1 << support.n_labels, entries.weights), support.n_labels)[None, ...]
    heaviest = xp.argsort(-xp.sum(entries.weights, axis=1), axis=-1, stable=True)
    heaviest = heaviest[:, : min(support.n_labelsets, most_candidates(support.n_labelsets))]
    pool = xp.reshape(support.at(heaviest), (support.n_groups, -1, support.n_labels))
    if candidates is None:
        return pool
    return xp.concat([pool, xp.broadcast_to(candidates, (support.n_groups, *candidates.shape))], axis=1)


def _best_of_pool(risk: ArrayRisk, entries: Entries, pool: Array) -> tuple[Array, Array, Array]:
    """The best prediction of a pool for each instance, ties broken, its risk, and the least risk in the pool."""
    xp, (n_pools, n_pool, n_labels) = entries.xp, pool.shape
    ranks = xp.reshape(order_ranks(xp.reshape(pool, (-1, n_labels))), (n_pools, 1, n_pool))
    risks = xp.reshape(risk.pool_risks(entries, pool), (n_pools, -1, n_pool))
    least = xp.min(risks, axis=-1, keepdims=True)
    best = xp.argmin(xp.where(risks <= least + TOLERANCE, ranks, xp.full_like(ranks, n_pools * n_pool)), axis=-1)
    labels = ArraySupport(pool).at(best)
    return labels, risk.risks(entries, labels), xp.reshape(least, (-1,))


def _try_starts(risk: ArrayRisk, entries: Entries, labels: Array, risks: Array, starts: Array) -> tuple[Array, Array]:
    """Descend from starts, and once more led by smoother risks if there are any; what is better is taken."""
    guides = risk.guides()
    for chain in [[risk], [*guides, risk]] if guides else [[risk]]:
        found = starts
        for step in chain:
            found, of_found = _descend(step, entries, found, step.risks(entries, found))
        labels, risks = _better(entries.xp, (labels, risks), (found, of_found))
    return labels, risks


def _descend(risk: ArrayRisk, entries: Entries, labels: Array, risks: Array) -> tuple[Array, Array]:
    """Change the label that lowers the risk most, until none does."""
    xp = entries.xp
    goes_on = xp.ones_like(risks, dtype=xp.bool)
    while (rows := xp.nonzero(goes_on)[0]).shape[0]:
        found, of_found = xp.take(labels, rows, axis=0), xp.take(risks, rows)
        after = risk.flips(entries.take(rows), found)
        of_best = xp.min(after, axis=1)
        improves = of_best < of_found - TOLERANCE
        is_best = _is_column(xp.argmin(after, axis=1), found)
        found = xp.where(is_best & improves[:, None], 1 - found, found)
        labels = put_rows(labels, goes_on, found)
        risks = put_rows(risks, goes_on, xp.where(improves, of_best, of_found))
        goes_on = put_rows(goes_on, goes_on, improves)
    return labels, risks


def _is_column(columns: Array, like: Array) -> Array:
    """One column of each row of a matrix, as a mask."""
    return columns[:, None] == count_up(like.shape[1], columns, columns.dtype)


def _better(xp: Any, one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    """The predictions and risks of one, but where the other is better, or equally good and first in order."""
    (labels, risks), (others, other_risks) = one, other
    sizes, other_sizes = (xp.sum(xp.astype(part, xp.int64), axis=1) for part in (labels, others))
    differ = labels != others
    first = _is_column(xp.argmax(xp.astype(differ, xp.int8), axis=1), labels)
    has_it = xp.any(first & (others > labels), axis=1)
    comes_first = (other_sizes < sizes) | ((other_sizes == sizes) & has_it)
    better = xp.where(xp.abs(other_risks - risks) <= TOLERANCE, comes_first, other_risks < risks)
    return xp.where(better[:, None], others, labels), xp.where(better, other_risks, risks)


def _without_needless(risk: ArrayRisk, entries: Entries, labels: Array, risks: Array) -> Array:
    """Predictions without the labels that make no difference; the last of several is dropped first."""
    xp, least = entries.xp, (risks + TOLERANCE)[:, None]
    while True:
        costless = (labels == 1) & (risk.flips(entries, labels) <= least)
        backwards = xp.argmax(xp.astype(xp.flip(costless, axis=1), xp.int8), axis=1)
        dropped = costless & _is_column(labels.shape[1] - 1 - backwards, labels)
        if not xp.any(dropped):
            return labels
        labels = xp.where(dropped, xp.zeros_like(labels), labels)
