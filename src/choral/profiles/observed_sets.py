"""Which sets of labels are known together, where labels are missing: a summary of bounded size that adds up."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from choral._typing import FloatArray

MAX_SETS = 4096  # that are kept; with labels missing at random, there are about as many as rows
MIN_SETS = 32
MAX_ENTRIES = 1 << 22  # of the kept sets together, as flags of labels: with many labels, fewer sets are kept


@dataclass(frozen=True, eq=False)
class ObservedSets:
    """Sets of known labels with the weights of their rows: all of them, or an even sample where there are many.

    A set has a number of 64 bits, a hash of its labels. If there are more than `max_sets` different sets, those are
    kept whose number is in the lower half; if these are too many, the lower quarter, and so on. So the sample is that
    of all rows, in whatever parts and order they were added up.

    Attributes
    ----------
    n_labels : int
    numbers : ndarray of shape (n_sets,)
        Increasing.
    packed : ndarray of shape (n_sets, n_bytes)
        The known labels, a bit each.
    weights : ndarray of shape (n_sets,)
        Weights of the rows in which just these labels are known; their number without weights.
    n_halvings : int
        How often the sets were halved; 0 where all are kept.
    """

    n_labels: int
    numbers: np.ndarray
    packed: np.ndarray
    weights: FloatArray
    n_halvings: int = 0

    @classmethod
    def none(cls, n_labels: int) -> "ObservedSets":
        """No sets yet."""
        packed = np.zeros((0, -(-n_labels // 8)), dtype=np.uint8)
        return cls(n_labels, np.zeros(0, dtype=np.uint64), packed, np.zeros(0))

    @classmethod
    def from_known(cls, known: np.ndarray, weights: np.ndarray) -> "ObservedSets":
        """The sets of some rows.

        Examples
        --------
        >>> known = np.array([[True, False], [True, True], [True, False]])
        >>> ObservedSets.from_known(known, np.array([1.0, 1.0, 2.0])).weights.tolist()
        [1.0, 3.0]
        """
        return _grouped(known.shape[1], _hash_rows(known), np.packbits(known, axis=1), weights, 0)

    def __add__(self, other: "ObservedSets") -> "ObservedSets":
        numbers = np.concatenate([self.numbers, other.numbers])
        packed = np.concatenate([self.packed, other.packed])
        weights = np.concatenate([self.weights, other.weights])
        return _grouped(self.n_labels, numbers, packed, weights, max(self.n_halvings, other.n_halvings))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def max_sets(self) -> int:
        """How many sets are kept at most."""
        return max(MIN_SETS, min(MAX_SETS, MAX_ENTRIES // self.n_labels))

    def sample(self, max_sets: int) -> "ObservedSets":
        """The first sets by their numbers: an even sample of these."""
        first = slice(0, max_sets)
        return ObservedSets(self.n_labels, self.numbers[first], self.packed[first], self.weights[first])

    def in_order(self, order: Sequence[int]) -> "ObservedSets":
        """The same sets with the labels in another order; of a sample, those that are in the sample then as well."""
        known = np.unpackbits(self.packed, axis=1, count=self.n_labels).astype(bool)[:, order]
        return _grouped(self.n_labels, _hash_rows(known), np.packbits(known, axis=1), self.weights, self.n_halvings)

    def by_size(self) -> Iterator[tuple[int, np.ndarray, FloatArray]]:
        """The number of known labels, the sets of this size as flags of labels, and their weights."""
        known = np.unpackbits(self.packed, axis=1, count=self.n_labels).astype(bool)
        sizes = known.sum(axis=1)
        for size in np.unique(sizes).tolist():
            yield size, known[sizes == size], self.weights[sizes == size]


def _grouped(
    n_labels: int, numbers: np.ndarray, packed: np.ndarray, weights: np.ndarray, n_halvings: int
) -> ObservedSets:
    """Each set once, those without weight left out, and no more than are kept."""
    some = weights > 0
    if n_halvings:
        some &= numbers < np.uint64(1) << np.uint64(64 - n_halvings)
    found, first, which = np.unique(numbers[some], return_index=True, return_inverse=True)
    totals = np.bincount(which, weights=weights[some], minlength=len(found)).astype(float)
    sets = ObservedSets(n_labels, found, packed[some][first], totals, n_halvings)
    while len(sets) > sets.max_sets:
        n_halvings += 1
        kept = int(np.searchsorted(found, np.uint64(1) << np.uint64(64 - n_halvings)))
        sets = ObservedSets(n_labels, found[:kept], sets.packed[:kept], totals[:kept], n_halvings)
    return sets


def _hash_rows(known: np.ndarray) -> np.ndarray:
    """A number of 64 bits for each row, from the sum of the numbers of its unknown labels."""
    of_labels = _mixed(np.arange(1, known.shape[1] + 1, dtype=np.uint64))
    return _mixed(~known @ of_labels)


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64: each bit of the result depends on all bits of a number."""
    numbers = numbers * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))
