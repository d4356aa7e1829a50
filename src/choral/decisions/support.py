"""Some label sets, and how the weights of instances meet them: the inner loops of every expected loss.

Instances have a weight for each label set of the support (`DenseRows`) or for a few of them (`SparseRows`). Both answer
the same questions, so no loss needs to know which it is: *entries* are the pairs of an instance and a label set that
has a weight, in an array of whatever shape.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from choral.decisions.words import count_differences, pack_words

BLOCK_ENTRIES = 1 << 21  # 16 MiB of doubles; a handful of such arrays live at a time


class Support:
    """Label sets as bytes and as words of bits."""

    def __init__(self, labelsets: np.ndarray):
        self.labelsets = labelsets
        self.words = pack_words(labelsets)

    def __len__(self) -> int:
        return len(self.labelsets)

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return self.labelsets.shape[1]

    @cached_property
    def sizes(self) -> np.ndarray:
        """The number of labels in each set."""
        return self.labelsets.sum(axis=1, dtype=np.int32)

    @cached_property
    def _floats(self) -> np.ndarray:
        return self.labelsets.astype(float)

    def products(self, weights: Any, labels: list[int] | None = None) -> np.ndarray:
        """``weights @ labelsets``: the weight that falls on each label (of some), of a dense or sparse matrix."""
        if labels is not None:
            return np.asarray(weights @ self.labelsets[:, labels].astype(float))
        if self.labelsets.size <= BLOCK_ENTRIES:
            return np.asarray(weights @ self._floats)
        step = max(1, BLOCK_ENTRIES // len(self))
        blocks = (self.labelsets[:, first : first + step].astype(float) for first in range(0, self.n_labels, step))
        return np.concatenate([np.asarray(weights @ block) for block in blocks], axis=1)

    def index(self) -> np.ndarray:
        """The index of each label set among all 2^K; label i is bit i."""
        return self.words[:, 0].view(np.int64).astype(np.intp, copy=False)  # one word a row: no copy

    def mask(self, labels: Any) -> np.ndarray:
        """The words in which just these labels are set."""
        row = np.zeros((1, self.n_labels), dtype=np.uint8)
        row[0, list(labels)] = 1
        return pack_words(row)[0]


class Rows(Protocol):
    """Some instances and the weights they give to the label sets of a support."""

    support: Support
    n_instances: int

    def differences(self, predictions: Support, mask: np.ndarray | None = None) -> np.ndarray:
        """For each entry, in how many labels the prediction of its instance differs from its label set.

        A mask, of shape (n_words,) or (n_instances, n_words), says which labels count.
        """

    def index_differences(self, predictions: Support) -> np.ndarray:
        """For each entry, the index of the set of labels in which the two differ; up to 64 labels."""

    def of_instances(self, values: np.ndarray) -> np.ndarray:
        """One value an instance, as one value an entry (or a shape that broadcasts to it)."""

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        """One value a label set, as one value an entry (or a shape that broadcasts to it)."""

    def total(self, values: np.ndarray) -> np.ndarray:
        """Weighted sum over the entries of each instance."""

    def by_label(self, values: np.ndarray | float, labels: list[int] | None = None) -> np.ndarray:
        """Weighted sum over the entries of each instance whose label set has label i, for every i (of ``labels``)."""

    def histogram(self, counts: np.ndarray, n_bins: int) -> np.ndarray:
        """The weight of each instance's entries by their count, 0, 1, ..., n_bins - 1."""

    def ranked_total(self, values: np.ndarray) -> np.ndarray:
        """Sum of each instance's weights from the heaviest down, each times the value of its rank."""


class DenseRows:
    """Instances with a weight for every label set; entries have the shape (n_instances, n_labelsets)."""

    def __init__(self, support: Support, weights: np.ndarray):
        self.support = support
        self.weights = weights  # (n_instances, n_labelsets), or (1, n_labelsets) for many predictions of one instance
        self.n_instances = len(weights)

    def differences(self, predictions: Support, mask: np.ndarray | None = None) -> np.ndarray:
        mask = mask[:, np.newaxis] if mask is not None and mask.ndim == 2 else mask
        return count_differences(predictions.words[:, np.newaxis], self.support.words, mask)

    def index_differences(self, predictions: Support) -> np.ndarray:
        return (predictions.words[:, 0, np.newaxis] ^ self.support.words[:, 0]).astype(np.intp)

    def of_instances(self, values: np.ndarray) -> np.ndarray:
        return values[:, np.newaxis]

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        return values[np.newaxis]

    def total(self, values: np.ndarray) -> np.ndarray:
        if len(self.weights) == 1:
            return values @ self.weights[0]
        return np.einsum("ij,ij->i", self.weights, values)

    def by_label(self, values: np.ndarray | float, labels: list[int] | None = None) -> np.ndarray:
        return self.support.products(self.weights * values, labels)

    def histogram(self, counts: np.ndarray, n_bins: int) -> np.ndarray:
        bins = counts + self.of_instances(n_bins * np.arange(self.n_instances))
        return np.bincount(bins.ravel(), self.weights.ravel(), n_bins * self.n_instances).reshape(-1, n_bins)

    def ranked_total(self, values: np.ndarray) -> np.ndarray:
        return np.sort(self.weights, axis=1)[:, ::-1] @ values


class SparseRows:
    """Instances with a weight for a few label sets; entries have the shape (n_entries,)."""

    def __init__(self, support: Support, weights: Any):
        self.support = support
        self.weights = weights  # CSR of shape (n_instances, n_labelsets)
        self.n_instances = weights.shape[0]
        self._instances = np.repeat(np.arange(self.n_instances), np.diff(weights.indptr))

    def differences(self, predictions: Support, mask: np.ndarray | None = None) -> np.ndarray:
        mask = mask[self._instances] if mask is not None and mask.ndim == 2 else mask
        return count_differences(predictions.words[self._instances], self.support.words[self.weights.indices], mask)

    def index_differences(self, predictions: Support) -> np.ndarray:
        words = predictions.words[self._instances, 0] ^ self.support.words[self.weights.indices, 0]
        return words.astype(np.intp)

    def of_instances(self, values: np.ndarray) -> np.ndarray:
        return values[self._instances]

    def of_labelsets(self, values: np.ndarray) -> np.ndarray:
        return values[self.weights.indices]

    def total(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._instances, self.weights.data * values, minlength=self.n_instances)

    def by_label(self, values: np.ndarray | float, labels: list[int] | None = None) -> np.ndarray:
        weights = self.weights
        scaled = sp.csr_array((weights.data * values, weights.indices, weights.indptr), weights.shape)
        return self.support.products(scaled, labels)

    def histogram(self, counts: np.ndarray, n_bins: int) -> np.ndarray:
        bins = counts + self.of_instances(n_bins * np.arange(self.n_instances))
        return np.bincount(bins, self.weights.data, n_bins * self.n_instances).reshape(-1, n_bins)

    def ranked_total(self, values: np.ndarray) -> np.ndarray:
        order = np.lexsort((-self.weights.data, self._instances))
        ranks = np.arange(order.size) - self.of_instances(self.weights.indptr[:-1])
        return np.bincount(self._instances, self.weights.data[order] * values[ranks], self.n_instances)


def make_rows(support: Support, weights: Any) -> Rows:
    """Rows of dense or of sparse weights."""
    return SparseRows(support, weights) if sp.issparse(weights) else DenseRows(support, weights)


def row_blocks(n_rows: int, entries_a_row: int) -> Iterator[slice]:
    """Slices of rows with some ``BLOCK_ENTRIES`` entries each."""
    step = max(1, BLOCK_ENTRIES // entries_a_row)
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
