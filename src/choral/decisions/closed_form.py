r"""Optimal predictions that need no search.

* An additive measure: each label by itself, so the labels more probable than not.
* Subset 0/1: the most probable label set.
* F losses: the best label set of each size (see `choral.decisions.risks.by_size`).
* Independent labels: see `choral.decisions.independent_optimum`.
"""

import numpy as np

from choral._array_api import Array, is_foreign, to_host, to_library_of, xp_of
from choral.decisions.base import Distribution
from choral.decisions.decision import Decision, exact_decision
from choral.decisions.device_arrays import put_rows
from choral.decisions.independent import IndependentLabels, needs_joint
from choral.decisions.independent_optimum import best_of_independent
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.risks.by_size import best_by_size
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE, first_of_size
from choral.measures.forms import ByCount, ByRelevance, Table, Terms
from choral.measures.subsets import zeta_transform
from choral.overlap import ByOverlap, LossForm

LINEAR = 1e-15  # OWA weights that differ by less make a Hamming loss


def has_closed_form(distribution: Distribution, form: LossForm) -> bool:
    """Whether `closed_form` knows the optimum."""
    if label_weights(form) is not None or is_subset(form):
        return True
    if isinstance(form, ByOverlap) and form.is_linear:
        return True
    return isinstance(distribution, IndependentLabels) and not needs_joint(form)


def closed_form(distribution: Distribution, form: LossForm) -> Decision:
    """The optimum for additive measures, subset 0/1, F losses and independent labels, where `has_closed_form` holds."""
    weights = label_weights(form)
    if weights is not None:
        labels = _best_by_label(distribution.marginals(), weights)
    elif isinstance(distribution, IndependentLabels):
        blocks = row_blocks(distribution.n_instances, 4 * distribution.n_labels)
        labels = np.concatenate([best_of_independent(form, distribution.marginals()[rows]) for rows in blocks])
    elif isinstance(form, ByOverlap) and isinstance(distribution, LabelDistribution):
        best = [best_by_size(form, instances) for _, instances in distribution.blocks()]
        labels = np.concatenate([part.labels for part in best])
    else:
        labels = distribution.mode()
    return exact_decision(labels, distribution.risk_under(form, labels))


def label_weights(form: LossForm) -> np.ndarray | None:
    """What each label counts if the measure is additive, else None."""
    match form:
        case ByCount():
            weights = form.weights()
            return weights if np.ptp(weights) <= LINEAR else None
        case Terms():
            return None if form.larger else form.singles
        case Table():
            singles = 1 << np.arange(form.n_labels)
            masses = np.zeros(form.values.size)
            masses[singles] = form.values[singles]
            is_additive = np.abs(form.values - zeta_transform(masses)).max() <= LINEAR
            return masses[singles] if is_additive else None
        case ByRelevance():
            return np.ones(1) if form.n_labels == 1 else None
        case ByOverlap():
            return None


def is_subset(form: LossForm) -> bool:
    """Whether nothing short of all labels is worth anything."""
    match form:
        case ByCount():
            return bool(form.values[-2] == 0)
        case Terms():
            return not form.singles.any() and [labels for labels, _ in form.larger] == [tuple(range(form.n_labels))]
        case Table():
            return not form.values[:-1].any()
        case ByRelevance() | ByOverlap():
            return False


def _best_by_label(marginals: Array, weights: np.ndarray) -> Array:
    """The labels more probable than not; of those that hardly matter, as few as cost less than the tolerance."""
    xp = xp_of(marginals)
    gains = to_library_of(weights, marginals) * (2 * marginals - 1)
    hardly = (gains > 0) & (gains <= TOLERANCE)
    labels = xp.astype((gains > 0) & ~hardly, xp.uint8)
    too_many = xp.sum(xp.where(hardly, gains, xp.zeros_like(gains)), axis=1) > TOLERANCE
    if xp.any(too_many):  # as good as never: these few are sorted out on the host
        rows = xp.take(gains, xp.nonzero(too_many)[0], axis=0)
        fewest = np.stack([_fewest_labels(row) for row in (to_host(rows) if is_foreign(rows) else rows)])
        labels = put_rows(labels, too_many, to_library_of(fewest.astype(np.uint8), labels))
    return labels


def _fewest_labels(gains: np.ndarray) -> np.ndarray:
    """As few labels as gain all but the tolerance, the first in order of several such sets."""
    strongest = np.cumsum(np.sort(gains[gains > 0])[::-1])
    enough = strongest[-1] - TOLERANCE
    size = int(np.searchsorted(strongest, enough)) + 1
    return first_of_size(gains, size, lambda chosen: bool(gains[chosen].sum() >= enough))
