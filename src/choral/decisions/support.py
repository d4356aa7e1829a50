"""Label sets and weights of NumPy and SciPy, for the inner loops: see `choral.decisions.instances`.

Instances have a weight for each label set of the support (`DenseInstances`) or for a few of them (`SparseInstances`).
How many differ is counted in words of bits.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array
from choral.decisions.device_arrays import is_on_host
from choral.decisions.label_weights import distinct_rows, draw_columns, total_weights
from choral.decisions.ties import TOLERANCE, first_in_order, in_order
from choral.decisions.words import count_differences, pack_words
from choral.measures.subsets import members_table

BLOCK_ENTRIES = 1 << 21  # 16 MiB of doubles; a handful of such arrays live at a time
DEVICE_ENTRIES = 1 << 25  # 256 MiB: an accelerator does less in no time


class Support:
    """Label sets as bytes and as words of bits."""

    def __init__(self, labelsets: np.ndarray):
        self.labelsets = labelsets
        self.n_labels = labelsets.shape[1]
        self.words = pack_words(labelsets)

    def __len__(self) -> int:
        return len(self.labelsets)

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of labels in each set."""
        return self.labelsets.sum(axis=1, dtype=np.int32)

    @cached_property
    def numbers(self) -> np.ndarray:
        """The label sets as doubles, for products."""
        return self.labelsets.astype(float)

    @property
    def index(self) -> np.ndarray:
        """The index of each label set among all 2^K; label i is bit i."""
        return self.words[:, 0].view(np.int64).astype(np.intp, copy=False)  # one word a row: no copy

    def sums(self, values: np.ndarray) -> np.ndarray:
        return np.concatenate([self.labelsets[rows] @ values for rows in row_blocks(len(self), self.n_labels)])

    def part(self, places: slice) -> "Support":
        return Support(self.labelsets[places])

    def at(self, places: np.ndarray) -> np.ndarray:
        return self.labelsets[places]

    def products(self, weights: Any, labels: Sequence[int] | None = None) -> np.ndarray:
        """``weights @ labelsets``: the weight that falls on each label (of some), of a dense or sparse matrix."""
        if labels is not None:
            return np.asarray(weights @ self.labelsets[:, list(labels)].astype(float))
        if self.labelsets.size <= BLOCK_ENTRIES:
            return np.asarray(weights @ self.numbers)
        step = max(1, BLOCK_ENTRIES // len(self))
        blocks = (self.labelsets[:, first : first + step].astype(float) for first in range(0, self.n_labels, step))
        return np.concatenate([np.asarray(weights @ block) for block in blocks], axis=1)


class Pairs:
    """All pairs, of shape (n_predictions, n_labelsets); or those at some places, of shape (n_places,)."""

    def __init__(
        self, predictions: Support, labelsets: Support, places: tuple[np.ndarray, np.ndarray] | None = None
    ) -> None:
        self.predictions = predictions
        self.labelsets = labelsets
        self._places = places

    def of_predictions(self, values: np.ndarray) -> np.ndarray:
        return values[:, np.newaxis] if self._places is None else values[self._places[0]]

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        return values[np.newaxis] if self._places is None else values[self._places[1]]

    def differences(self, labels: Sequence[int] | None = None, decided: Support | None = None) -> np.ndarray:
        mask = None if decided is None else self.of_predictions(decided.words)
        if labels is not None:
            these = _words_of(labels, self.labelsets.n_labels)
            mask = these if mask is None else mask & these
        words = self.of_predictions(self.predictions.words), self.of_labelsets(self.labelsets.words)
        return count_differences(*words, mask)

    def index_differences(self) -> np.ndarray:
        return self.of_predictions(self.predictions.index) ^ self.of_labelsets(self.labelsets.index)

    def products(self, of_predictions: np.ndarray, of_labelsets: np.ndarray) -> np.ndarray:
        return of_predictions @ of_labelsets.T


def _words_of(labels: Sequence[int], n_labels: int) -> np.ndarray:
    """The words in which just these labels are set."""
    row = np.zeros((1, n_labels), dtype=np.uint8)
    row[0, list(labels)] = 1
    return pack_words(row)[0]


class _HostInstances:
    """What dense and sparse weights of NumPy and SciPy have in common."""

    def __init__(self, support: Support, weights: Any):
        self.support = support
        self.weights = weights
        self.n_instances = weights.shape[0]

    def wrap(self, labels: np.ndarray) -> Support:
        return Support(labels)

    make_pool = wrap

    def no_labels(self) -> np.ndarray:
        return np.zeros((self.n_instances, self.support.n_labels), dtype=np.uint8)

    def pool_pairs(self, pool: Support) -> Pairs:
        return Pairs(pool, self.support)

    def pool_totals(self, losses: np.ndarray) -> np.ndarray:
        return self.weights @ losses.T

    def all_sets(self) -> Support:
        sets = members_table(np.arange(1 << self.support.n_labels), self.support.n_labels)
        return Support(sets[in_order(sets)])

    def heaviest(self, count: int, candidates: np.ndarray | None) -> Support:
        pool = self.support.labelsets[np.argsort(-total_weights(self.weights), kind="stable")[:count]]
        if candidates is not None:
            pool, _ = distinct_rows(np.concatenate([pool, candidates]))
        return Support(pool[in_order(pool)])

    def draw(self, uniform: np.ndarray) -> np.ndarray:
        return self.support.labelsets[draw_columns(self.weights, uniform)]

    def modes(self) -> np.ndarray:
        labelsets = self.support.labelsets
        modes = np.empty((self.n_instances, self.support.n_labels), dtype=np.uint8)
        for instance, (columns, weights) in enumerate(self._entries()):
            tied = np.flatnonzero(weights >= weights.max() - TOLERANCE)
            which = tied[0] if tied.size == 1 else tied[first_in_order(labelsets[columns[tied]])]
            modes[instance] = labelsets[columns[which]]
        return modes

    def _entries(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The label sets and their weights, instance by instance."""
        raise NotImplementedError

    def all_weights(self) -> np.ndarray:
        dense = np.zeros((self.n_instances, 1 << self.support.n_labels))
        dense[:, self.support.index] = self.weights.toarray() if sp.issparse(self.weights) else self.weights
        return dense


class DenseInstances(_HostInstances):
    """Instances with a weight for every label set; entries have the shape (n_instances, n_labelsets).

    One instance may meet many predictions at once: then results have a row for each prediction.
    """

    def take(self, chosen: np.ndarray) -> "DenseInstances":
        return self if chosen.all() else DenseInstances(self.support, self.weights[chosen])

    def pairs(self, predictions: np.ndarray) -> Pairs:
        return Pairs(Support(predictions), self.support)

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        return values[np.newaxis]

    def total(self, values: np.ndarray) -> np.ndarray:
        if len(self.weights) == 1:
            return values @ self.weights[0]
        return np.einsum("ij,ij->i", self.weights, values)

    def by_label(self, values: np.ndarray | float, labels: Sequence[int] | None = None) -> np.ndarray:
        return self.support.products(self.weights * values, labels)

    def histogram(self, counts: np.ndarray, n_bins: int) -> np.ndarray:
        bins = counts + n_bins * np.arange(self.n_instances)[:, np.newaxis]
        return np.bincount(bins.ravel(), self.weights.ravel(), n_bins * self.n_instances).reshape(-1, n_bins)

    def ranked_total(self, values: np.ndarray) -> np.ndarray:
        return np.sort(self.weights, axis=1)[:, ::-1] @ values

    def _entries(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        everything = np.arange(len(self.support))
        for weights in self.weights:
            yield everything, weights


class SparseInstances(_HostInstances):
    """Instances with a weight for a few label sets; entries have the shape (n_entries,)."""

    @cached_property
    def _rows(self) -> np.ndarray:
        """The instance of each entry."""
        return np.repeat(np.arange(self.n_instances), np.diff(self.weights.indptr))

    def take(self, chosen: np.ndarray) -> "SparseInstances":
        return self if chosen.all() else SparseInstances(self.support, self.weights[np.flatnonzero(chosen)])

    def pairs(self, predictions: np.ndarray) -> Pairs:
        return Pairs(Support(predictions), self.support, (self._rows, self.weights.indices))

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        return values[self.weights.indices]

    def total(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._rows, self.weights.data * values, minlength=self.n_instances)

    def by_label(self, values: np.ndarray | float, labels: Sequence[int] | None = None) -> np.ndarray:
        weights = self.weights
        scaled = sp.csr_array((weights.data * values, weights.indices, weights.indptr), weights.shape)
        return self.support.products(scaled, labels)

    def histogram(self, counts: np.ndarray, n_bins: int) -> np.ndarray:
        bins = counts + n_bins * self._rows
        return np.bincount(bins, self.weights.data, n_bins * self.n_instances).reshape(-1, n_bins)

    def ranked_total(self, values: np.ndarray) -> np.ndarray:
        order = np.lexsort((-self.weights.data, self._rows))
        ranks = np.arange(order.size) - self.weights.indptr[:-1][self._rows]
        return np.bincount(self._rows, self.weights.data[order] * values[ranks], self.n_instances)

    def _entries(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for first, last in pairwise(self.weights.indptr):
            yield self.weights.indices[first:last], self.weights.data[first:last]


def make_instances(support: Support, weights: Any) -> DenseInstances | SparseInstances:
    """Instances of dense or of sparse weights."""
    return SparseInstances(support, weights) if sp.issparse(weights) else DenseInstances(support, weights)


def block_entries(like: Array) -> int:
    """How many numbers to compute at a time where an array lies."""
    return BLOCK_ENTRIES if is_on_host(like) else DEVICE_ENTRIES


def row_blocks(n_rows: int, entries_per_row: int, like: Array | None = None) -> Iterator[slice]:
    """Slices of rows with some ``BLOCK_ENTRIES`` entries each, or as many as suit the device of an array."""
    entries = BLOCK_ENTRIES if like is None else block_entries(like)
    return slices(n_rows, max(1, entries // entries_per_row))


def slices(n_rows: int, step: int) -> Iterator[slice]:
    """Slices of at most ``step`` rows, none of which goes beyond the last."""
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def instance_blocks(weights: Any, n_labels: int) -> Iterator[slice]:
    """Slices of instances with some ``BLOCK_ENTRIES`` entries each, and not more predicted labels."""
    if not sp.issparse(weights):
        yield from row_blocks(len(weights), max(n_labels, weights.shape[1]))
        return
    for rows in row_blocks(weights.shape[0], n_labels):
        start = rows.start
        while start < rows.stop:
            full = np.searchsorted(weights.indptr, weights.indptr[start] + BLOCK_ENTRIES, side="right") - 1
            stop = min(rows.stop, max(start + 1, int(full)))
            yield slice(start, stop)
            start = stop
