"""Optimal predictions on a device that need no search: see `choral.decisions.closed_form`."""

import numpy as np

from choral._array_api import Array, to_device_of, to_host
from choral.decisions.arrays.distribution import ArrayDistribution
from choral.decisions.arrays.gathering import put_rows
from choral.decisions.base import AnyMeasure
from choral.decisions.closed_form import closed_form, fewest_labels, is_subset, label_weights, no_closed_form
from choral.decisions.decision import Decision, proven
from choral.decisions.ties import TOLERANCE


@closed_form.register
def closed_form_on_device(distribution: ArrayDistribution, measure: AnyMeasure) -> Decision:
    """The optimum for additive measures and for subset 0/1."""
    weights = label_weights(measure, distribution.n_labels)
    if weights is not None:
        return _best_by_label(distribution, to_device_of(weights, distribution.weights))
    if is_subset(measure, distribution.n_labels):
        labels = distribution.mode()
        return proven(labels, distribution.risk(labels, measure))
    raise no_closed_form(measure)


def _best_by_label(distribution: ArrayDistribution, weights: Array) -> Decision:
    """The labels more probable than not; of those that hardly matter, as few as cost less than the tolerance."""
    xp, marginals = distribution.xp, distribution.marginals()
    gains = weights * (2 * marginals - 1)
    hardly = (gains > 0) & (gains <= TOLERANCE)
    labels = xp.astype((gains > 0) & ~hardly, xp.uint8)
    too_many = xp.sum(xp.where(hardly, gains, xp.zeros_like(gains)), axis=1) > TOLERANCE
    rows = xp.nonzero(too_many)[0]
    if rows.shape[0]:  # as good as never: these few are sorted out on the host
        fewest = np.stack([fewest_labels(row) for row in to_host(xp.take(gains, rows, axis=0))])
        labels = put_rows(labels, too_many, to_device_of(fewest.astype(np.uint8), labels))
    wrong = xp.where(labels == 1, 1 - marginals, marginals)
    return proven(labels, xp.clip(xp.sum(weights * wrong, axis=1), 0, 1))
