"""The risks of all 2^K predictions at once on a device: see `choral.decisions.transform`.

Nothing is read back: of all predictions whose risk is within the tolerance of the least, that one is taken whose key is
least. A key has the number of labels in its highest bits; below them label i has bit K - 1 - i, which is 0 where the
label is predicted. So keys are in the order in which ties are broken, and they say what they stand for.
"""

from collections.abc import Sequence
from functools import lru_cache, reduce

import numpy as np

from choral._array_api import Array, device_of, to_device_of, xp_of
from choral.decisions.arrays.devices import count_up, row_blocks
from choral.decisions.arrays.distribution import ArrayDistribution
from choral.decisions.arrays.entries import Entries
from choral.decisions.arrays.gathering import lookup
from choral.decisions.arrays.risks import array_loss_table
from choral.decisions.base import AnyMeasure
from choral.decisions.decision import Decision, proven
from choral.decisions.hadamard import hadamard_transform, transform_by_size
from choral.decisions.ties import TOLERANCE
from choral.decisions.transform import check_dense, transform
from choral.measures import CountingMeasure

SHORT_KEYS = 26  # labels up to which a key has 32 bits


class AllSets:
    """All 2^K sets of labels beside an array: their keys and their sizes."""

    def __init__(self, n_labels: int, like: Array):
        xp = self.xp = xp_of(like)
        self.n_labels, self.like = n_labels, like
        dtype = xp.int32 if n_labels <= SHORT_KEYS else xp.int64
        nothing = xp.full((1,), (1 << n_labels) - 1, dtype=dtype, device=device_of(like))
        steps = [(1 << n_labels) - (1 << (n_labels - 1 - label)) for label in range(n_labels)]
        self.keys = reduce(lambda keys, step: xp.concat([keys, keys + step]), steps, nothing)
        self.sizes = xp.astype(self.keys >> n_labels, xp.int32)
        self.losses = lru_cache(maxsize=1)(self._losses)  # one measure for many blocks, or many for one: no more fit

    def _losses(self, measure: AnyMeasure) -> tuple[Array, Array]:
        """The loss of each set of wrong labels, and what the transform of a distribution is multiplied by."""
        scale = 1 << self.n_labels  # of a transform there and back
        if isinstance(measure, CountingMeasure):
            by_size = measure.deficits(self.n_labels)
            factors = transform_by_size(by_size) / scale
            return self._of_sizes(by_size), self._of_sizes(factors)
        losses = to_device_of(array_loss_table(measure, self.n_labels, self.like), self.like)
        return losses, hadamard_transform(losses) / scale

    def _of_sizes(self, values: np.ndarray) -> Array:
        return lookup(to_device_of(values, self.like), self.sizes)

    def best(self, risks: Array) -> tuple[Array, Array]:
        """The prediction of least risk in each row, ties broken, and that risk."""
        xp = self.xp
        least = xp.min(risks, axis=1)
        no_key = xp.full_like(self.keys[:1], xp.iinfo(self.keys.dtype).max)
        keys = xp.min(xp.where(risks <= least[:, None] + TOLERANCE, self.keys, no_key), axis=1)
        bits = self.n_labels - 1 - count_up(self.n_labels, keys, keys.dtype)
        return xp.astype(1 - ((keys[:, None] >> bits) & 1), xp.uint8), least


@transform.register
def transform_on_device(distribution: ArrayDistribution, measures: Sequence[AnyMeasure]) -> list[Decision]:
    """The optimum for each measure, proven by looking at every prediction."""
    check_dense(distribution)
    sets = AllSets(distribution.n_labels, distribution.weights)
    blocks = row_blocks(distribution.n_instances, 1 << distribution.n_labels, distribution.weights)
    decided = [_transform_block(distribution.entries(rows), sets, measures) for rows in blocks]
    return [proven(*map(sets.xp.concat, zip(*parts, strict=True))) for parts in zip(*decided, strict=True)]


def _transform_block(
    entries: Entries, sets: AllSets, measures: Sequence[AnyMeasure]
) -> list[tuple[Array, Array, Array]]:
    """Predictions, their risks and the least risk of all predictions, for each measure."""
    spectrum = hadamard_transform(entries.dense())
    decided = []
    for measure in measures:
        losses, factors = sets.losses(measure)
        labels, least = sets.best(hadamard_transform(spectrum * factors))
        # The risks are added up anew: a transform keeps the digits of the largest risk, a sum those of each.
        risks = entries.total(entries.weights * lookup(losses, entries.index_differences(labels)))
        decided.append((labels, sets.xp.clip(risks, 0, 1), least))
    return decided
