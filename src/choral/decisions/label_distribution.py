"""LabelDistribution: probabilities of label sets, for one instance or for many over a shared support."""

from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import is_foreign, namespace_of
from choral._validation import Value, check_array, check_count, check_matrix, check_sample_weight, refuse_where
from choral.decisions.base import AnyMeasure, Distribution, check_hard
from choral.decisions.label_weights import check_weights, distinct_rows, draw, merge_equal, total_weights
from choral.decisions.risks import make_risk
from choral.decisions.support import BLOCK_ENTRIES, Rows, Support, instance_blocks, make_rows
from choral.decisions.ties import TOLERANCE, first_in_order
from choral.measures.subsets import members_table

MOST_DENSE_LABELS = 22  # 2^22 probabilities, 32 MiB


class LabelDistribution(Value, Distribution):
    """Probabilities of label sets.

    Parameters
    ----------
    labelsets : array-like or sparse matrix of shape (n_labelsets, n_labels)
        The support: label sets, 0 or 1. Label sets that come twice are merged.
    probabilities : array-like or sparse matrix of shape (n_labelsets,) or (n_instances, n_labelsets)
        One weight for each label set, or a row of them for each instance; non-negative, each row summing to 1 (to
        1.5e-8, or 3e-4 in single precision, and then normalised).

    Torch tensors, CuPy and JAX arrays stay on their device: whatever is computed from them is an array of the same kind
    there. What is given beside one as a list or NumPy array is put on that device.

    Attributes
    ----------
    labelsets : ndarray of uint8, of shape (n_labelsets, n_labels)
    probabilities : ndarray or CSR array, as it was given
    n_labels, n_instances, n_labelsets : int

    Examples
    --------
    No label at all is the most probable label set, though each label by itself is as probable as not:

    >>> labelsets = [[0, 0, 0], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> distribution = LabelDistribution(labelsets, [0.3, 0.2, 0.2, 0.2, 0.1])
    >>> distribution.marginals()
    array([[0.5, 0.5, 0.5]])
    >>> distribution.mode()
    array([[0, 0, 0]], dtype=uint8)
    """

    labelsets: np.ndarray
    weights: Any  # (n_instances, n_labelsets), dense or CSR
    has_instances: bool  # whether the probabilities came with an axis for instances
    most_dense_labels = MOST_DENSE_LABELS  # for which all 2^K predictions can be looked at
    speed = 1  # how many times the work of a processor is done in the same time

    def __new__(cls, labelsets: Any = None, probabilities: Any = None) -> "LabelDistribution":
        return object.__new__(_class_for(labelsets, probabilities) if cls is LabelDistribution else cls)

    def __init__(self, labelsets: Any, probabilities: Any):
        _check_same_order(labelsets, probabilities)
        labelsets, _ = check_hard("labelsets", labelsets, check_matrix("labelsets", labelsets).shape[1])
        weights, has_instances = check_weights(probabilities, len(labelsets))
        labelsets, weights = merge_equal(labelsets, weights)
        self._freeze(labelsets=labelsets, weights=weights, has_instances=has_instances)

    @classmethod
    def from_dense(cls, probabilities: Any) -> "LabelDistribution":
        """Distribution from the probabilities of all 2^K label sets; label i is bit i of the index.

        Parameters
        ----------
        probabilities : array-like of shape (2 ** n_labels,) or (n_instances, 2 ** n_labels)
            With 1 <= n_labels <= 22. Label sets without probability are left out of the support.

        Examples
        --------
        >>> LabelDistribution.from_dense([0.1, 0.2, 0.3, 0.4]).labelsets
        array([[0, 0], [1, 0], [0, 1], [1, 1]], dtype=uint8)
        """
        if is_foreign(probabilities):
            return _class_for(probabilities).from_dense(probabilities)
        probabilities = check_array("probabilities", probabilities)
        n_labels = dense_labels(probabilities.shape, MOST_DENSE_LABELS)
        weights, has_instances = check_weights(probabilities, 1 << n_labels)
        present = np.flatnonzero(total_weights(weights))
        distribution = object.__new__(cls)
        labelsets = members_table(present, n_labels)
        distribution._freeze(labelsets=labelsets, weights=weights[:, present], has_instances=has_instances)
        return distribution

    @classmethod
    def from_samples(cls, samples: Any, sample_weight: Any = None) -> "LabelDistribution":
        """The empirical distribution of label sets: of training labels, or of the predictions of an ensemble.

        Parameters
        ----------
        samples : array-like of shape (n_samples, n_labels) or (n_instances, n_samples, n_labels)
            Label sets, 0 or 1; with an axis for instances, each gets a distribution of its own. (On a device, each also
            keeps label sets of its own; elsewhere all have those of all.)
        sample_weight : array-like of shape (n_samples,), optional
            How much each sample counts.

        Examples
        --------
        >>> LabelDistribution.from_samples([[0, 1], [1, 1], [0, 1], [0, 1]])
        LabelDistribution(2 label sets, 2 labels)
        """
        if is_foreign(samples):
            return _class_for(samples).from_samples(samples, sample_weight)
        samples = check_array("samples", samples)
        has_instances = samples.ndim == 3
        if has_instances:
            refuse_where("samples must be binary, 0 or 1", "samples", samples, (samples != 0) & (samples != 1))
        rows = check_matrix("samples", samples.reshape(-1, samples.shape[2]) if has_instances else samples)
        rows, _ = check_hard("samples", rows, rows.shape[1])
        n_instances, n_samples = samples.shape[:2] if has_instances else (1, len(rows))
        share = check_sample_weight(sample_weight, n_samples)
        share = np.ones(n_samples) if share is None else share
        labelsets, which = distinct_rows(rows)
        instances = np.repeat(np.arange(n_instances), n_samples)
        data = np.tile(share / share.sum(), n_instances)
        weights = sp.coo_array((data, (instances, which)), shape=(n_instances, len(labelsets))).tocsr()
        return cls(labelsets, weights if has_instances else weights.toarray()[0])

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("labelsets", "weights", "has_instances")}

    def _freeze(self, **fields: Any) -> None:
        super()._freeze(**fields)
        if sp.issparse(self.weights):
            for part in (self.weights.data, self.weights.indices, self.weights.indptr):
                part.flags.writeable = False

    def _identity(self) -> tuple:
        parts = [self.labelsets, self.weights]
        if sp.issparse(self.weights):  # indices of 32 and of 64 bits are the same
            places = self.weights.indices, self.weights.indptr
            parts[1:] = (
                self.weights.data,
                *(part.astype(np.int64) for part in places),
            )
        return self.has_instances, self.labelsets.shape, *(part.tobytes() for part in parts)

    def __repr__(self) -> str:
        instances = f"{self.n_instances} instances, " if self.has_instances else ""
        return f"LabelDistribution({instances}{self.n_labelsets} label sets, {self.n_labels} labels)"

    @property
    def probabilities(self) -> Any:
        """The probabilities, in the shape in which they were given."""
        if sp.issparse(self.weights):  # a matrix of its own on the same read-only arrays
            return sp.csr_array((self.weights.data, self.weights.indices, self.weights.indptr), self.weights.shape)
        return self.weights if self.has_instances else self.weights[0, :]

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """The number of labels, K."""
        return self.labelsets.shape[1]

    @property
    def n_instances(self) -> int:  # type: ignore[override]
        """The number of instances; 1 for one vector of probabilities."""
        return self.weights.shape[0]

    @property
    def n_labelsets(self) -> int:
        """The number of label sets in the support, M."""
        return len(self.labelsets)

    def joint_blocks(self) -> Iterator[tuple[slice, "LabelDistribution"]]:
        yield slice(0, self.n_instances), self

    @cached_property
    def support(self) -> Support:
        """The support in the form that the inner loops take."""
        return Support(self.labelsets)

    def blocks(self) -> Iterator[tuple[slice, Rows]]:
        """Some instances and their weights after another, so that no intermediate is large."""
        for block in instance_blocks(self.weights, self.n_labels):
            yield block, make_rows(self.support, self.weights[block])

    @np.errstate(under="ignore")
    def marginals(self) -> np.ndarray:
        marginals = np.empty((self.n_instances, self.n_labels))
        for block, rows in self.blocks():
            marginals[block] = rows.by_label(1.0)
        return marginals.clip(0, 1, out=marginals)  # weights add up to 1 but for rounding

    def mode(self) -> np.ndarray:
        mode = np.empty((self.n_instances, self.n_labels), dtype=np.uint8)
        for instance, (labelsets, weights) in enumerate(self._entries()):
            tied = np.flatnonzero(weights >= weights.max() - TOLERANCE)
            which = tied[0] if tied.size == 1 else tied[first_in_order(self.labelsets[labelsets[tied]])]
            mode[instance] = self.labelsets[labelsets[which]]
        return mode

    def _entries(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The label sets and their weights, instance by instance."""
        if sp.issparse(self.weights):
            ends = self.weights.indptr
            for first, last in pairwise(ends):
                yield self.weights.indices[first:last], self.weights.data[first:last]
        else:
            everything = np.arange(self.n_labelsets)
            for weights in self.weights:
                yield everything, weights

    @np.errstate(under="ignore")
    def expected_loss(self, candidates: Any, measure: AnyMeasure) -> np.ndarray:
        self.check_measure(measure)
        labels, single = self.check_candidates(candidates)
        risk = make_risk(measure, self.n_labels)
        losses = np.empty((self.n_instances, len(labels)))
        step = max(1, BLOCK_ENTRIES // self.n_labelsets)
        for first in range(0, len(labels), step):
            block = slice(first, first + step)
            losses[:, block] = self.weights @ risk.pair_losses(self.support, Support(labels[block]))
        losses.clip(0, 1, out=losses)
        return losses[:, 0] if single else losses

    @np.errstate(under="ignore")
    def risk(self, predictions: Any, measure: AnyMeasure) -> np.ndarray:
        self.check_measure(measure)
        labels = self.check_predictions(predictions)
        risk = make_risk(measure, self.n_labels)
        risks = np.empty(self.n_instances)
        for block, rows in self.blocks():
            risks[block] = risk.risks(rows, Support(labels[block]))
        return risks.clip(0, 1, out=risks)

    def wrong_labels(self, predictions: Any) -> np.ndarray:
        labels = self.check_predictions(predictions)
        probabilities = np.empty((self.n_instances, self.n_labels + 1))
        for block, rows in self.blocks():
            wrong = rows.differences(Support(labels[block])).astype(np.intp)
            probabilities[block] = rows.histogram(wrong, self.n_labels + 1)
        return probabilities

    def sample(self, n: int, rng: Any = None) -> np.ndarray:
        n = check_count("n", n)
        drawn = draw(self.weights, np.random.default_rng(rng).random((self.n_instances, n)))
        return self.labelsets[drawn if self.has_instances else drawn[0]]


def dense_labels(shape: tuple[int, ...], most: int) -> int:
    """The number of labels of probabilities of all 2^K label sets."""
    size = shape[-1] if shape else 0
    n_labels = size.bit_length() - 1
    if size != 1 << max(n_labels, 0) or not 1 <= n_labels <= most:
        raise ValueError(f"probabilities must have 2 ** n_labels entries with 1 <= n_labels <= {most}; got {size}.")
    return n_labels


def _class_for(*arrays: Any) -> type[LabelDistribution]:
    """The class that holds such arrays: this one, or one that leaves them on their device."""
    if namespace_of(*arrays) is None:
        return LabelDistribution
    from choral.decisions.arrays.distribution import ArrayDistribution  # which knows this file

    return ArrayDistribution


def _check_same_order(labelsets: Any, probabilities: Any) -> None:
    """Refuse two frames that name the same label sets in another order: they would be matched by position."""
    if not (hasattr(labelsets, "columns") and hasattr(probabilities, "columns")):
        return
    rows, columns = list(labelsets.index), list(probabilities.columns)
    if rows != columns and len(rows) == len(columns) and set(rows) == set(columns):
        raise ValueError(
            "probabilities must have the label sets of labelsets in the same order; probabilities[labelsets.index] "
            "puts them so."
        )
