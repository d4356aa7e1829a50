"""LabelDistribution: probabilities of label sets, for one instance or for many over a shared support."""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array, concatenate, device_of, is_foreign, to_host, to_library_of, xp_of
from choral._typing import LabelMatrix, RandomState, RowWeights
from choral._validation import Value, check_count
from choral.decisions.base import Distribution
from choral.decisions.checks import (
    as_labels,
    check_hard,
    check_numeric_matrix,
    check_probabilities,
    check_shares,
    library_of,
    read_array,
    reference_of,
)
from choral.decisions.device_arrays import speed_of
from choral.decisions.device_support import (
    DeviceInstances,
    DeviceSupport,
    members_of,
    merge_equal_of_instances,
    merge_equal_on_device,
)
from choral.decisions.instances import Instances
from choral.decisions.label_weights import distinct_rows, merge_equal, total_weights
from choral.decisions.risks import ByCountRisks, Risk, make_risk
from choral.decisions.support import Support, block_entries, instance_blocks, make_instances, row_blocks, slices
from choral.measures.forms import ByCount
from choral.measures.subsets import members_table
from choral.overlap import AnyLoss, LossForm

MAX_SHOWN = 3  # label sets in ``repr``
MAX_SHOWN_LABELS = 6  # of each of them
MAX_DENSE_LABELS = 22  # 2^22 probabilities, 32 MiB
MAX_DEVICE_LABELS = 28  # 2^28 risks, 2 GiB, and some eight such arrays at a time


class LabelDistribution(Value, Distribution):
    """Probabilities of label sets.

    Torch tensors, CuPy and JAX arrays stay on their device: whatever is computed from them is an array of the same kind
    there. What is given beside one as a list or NumPy array is put on that device.

    Parameters
    ----------
    labelsets : array-like or sparse matrix of shape (n_labelsets, n_labels)
        The support: label sets, 0 or 1. Label sets that come twice are merged.
    probabilities : array-like or sparse matrix of shape (n_labelsets,) or (n_instances, n_labelsets)
        One weight for each label set, or a row of them for each instance; non-negative, each row summing to 1 (to
        1.5e-8, or 3e-4 in single precision, and then normalised).

    Attributes
    ----------
    labelsets : ndarray of uint8, of shape (n_labelsets, n_labels)
        Of samples of several instances on a device (n_instances, n_labelsets, n_labels): the label sets of each by
        itself. Some may have no weight.
    probabilities : ndarray or CSR array, as it was given
    n_labels, n_instances, n_labelsets : int

    See Also
    --------
    IndependentLabels : Labels that are independent of each other.
    bayes_optimal : The prediction with the least expected loss.
    choral.learners.predict_distribution : The joint distribution that a fitted learner gives.

    Examples
    --------
    The paper's example: no label at all is the most probable label set, though each label by itself is more probable
    than not.

    >>> labelsets = [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> distribution = LabelDistribution(labelsets, [4 / 16, 3 / 16, 3 / 16, 3 / 16, 3 / 16])
    >>> distribution.marginals()
    array([[0.5625, 0.5625, 0.5625]])
    >>> distribution.mode()
    array([[0, 0, 0]], dtype=uint8)
    """

    labelsets: Array
    weights: Any  # (n_instances, n_labelsets), dense or CSR
    has_instances: bool  # whether the probabilities came with an axis for instances

    def __init__(self, labelsets: LabelMatrix, probabilities: LabelMatrix):
        _check_same_order(labelsets, probabilities)
        like = reference_of(labelsets=labelsets, probabilities=probabilities)
        labels, _ = check_hard("labelsets", labelsets, like=like)
        weights, has_instances = check_probabilities(read_array("probabilities", probabilities, like), labels.shape[0])
        merge = merge_equal if like is None else merge_equal_on_device
        labels, weights = merge(labels, weights)
        self._freeze(labelsets=labels, weights=weights, has_instances=has_instances)

    @classmethod
    def _of_parts(cls, labelsets: Array, weights: Any, has_instances: bool) -> "LabelDistribution":
        """A distribution of checked arrays without equal label sets."""
        distribution = object.__new__(cls)
        distribution._freeze(labelsets=labelsets, weights=weights, has_instances=has_instances)
        return distribution

    @classmethod
    def from_dense(cls, probabilities: LabelMatrix) -> "LabelDistribution":
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
        like = reference_of(probabilities=probabilities)
        checked = read_array("probabilities", probabilities, like)
        n_labels = _dense_labels(tuple(checked.shape), MAX_DENSE_LABELS if like is None else MAX_DEVICE_LABELS)
        weights, has_instances = check_probabilities(checked, 1 << n_labels)
        if like is None:
            present = np.flatnonzero(total_weights(weights))
            return cls._of_parts(members_table(present, n_labels), weights[:, present], has_instances)
        xp = xp_of(weights)
        present = xp.nonzero(xp.sum(weights, axis=0))[0]
        if present.shape[0] < weights.shape[1]:
            weights = xp.take(weights, present, axis=1)
        return cls._of_parts(members_of(present, n_labels), weights, has_instances)

    @classmethod
    def from_samples(cls, samples: LabelMatrix, sample_weight: RowWeights | None = None) -> "LabelDistribution":
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
        LabelDistribution(2 label sets, 2 labels; {1}: 0.75, {0, 1}: 0.25)
        """
        like = reference_of(samples=samples)
        read = read_array("samples", samples, like)
        if read.ndim != 3:
            rows, _ = check_hard("samples", read, like=like)
            return cls(rows, check_shares(sample_weight, rows.shape[0], like))
        n_instances, n_samples, n_labels = read.shape
        check_numeric_matrix("samples", xp_of(read).reshape(read, (n_instances * n_samples, n_labels)))
        votes, shares = as_labels("samples", read), check_shares(sample_weight, n_samples, like)
        if like is not None:
            weights = xp_of(shares).broadcast_to(shares, (n_instances, n_samples))
            return cls._of_parts(*merge_equal_of_instances(votes, weights), has_instances=True)
        labelsets, which = distinct_rows(votes.reshape(-1, n_labels))
        entries = np.tile(shares, n_instances), (np.repeat(np.arange(n_instances), n_samples), which)
        return cls(labelsets, sp.coo_array(entries, shape=(n_instances, len(labelsets))).tocsr())

    def __getstate__(self) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in ("labelsets", "weights", "has_instances")}

    def _freeze(self, **fields: Any) -> None:
        super()._freeze(**fields)
        if sp.issparse(self.weights):
            for part in (self.weights.data, self.weights.indices, self.weights.indptr):
                part.flags.writeable = False

    def _identity(self) -> tuple:
        if self._device is not None:  # arrays on a device are not read back to be compared
            return (id(self),)
        parts = [self.labelsets, self.weights]
        if sp.issparse(self.weights):  # indices of 32 and of 64 bits are the same
            places = self.weights.indices, self.weights.indptr
            parts[1:] = (
                self.weights.data,
                *(part.astype(np.int64) for part in places),
            )
        return self.has_instances, self.labelsets.shape, *(part.tobytes() for part in parts)

    def __repr__(self) -> str:
        instances = f"{self.n_instances} instance{'s' * (self.n_instances > 1)}, " if self.has_instances else ""
        each = " each" if self.has_own_labelsets else ""
        where = "" if self._device is None else f", {library_of(self.weights)} on {device_of(self.weights)}"
        size = f"{instances}{self.n_labelsets} label sets{each}, {self.n_labels} labels{where}"
        return f"LabelDistribution({size}{'' if self.has_instances or where else self._most_probable()})"

    def _most_probable(self) -> str:
        """The most probable label sets of the only instance, each by its labels."""
        weights = self.weights[0]
        n_shown = min(MAX_SHOWN, weights.size)
        likely = np.flatnonzero(weights >= np.partition(weights, -n_shown)[-n_shown])  # sorting all may take a second
        first = likely[np.argsort(-weights[likely], kind="stable")][:n_shown]
        shown = [f"{_set_text(self.labelsets[index])}: {weights[index]:.3g}" for index in first]
        return f"; {', '.join(shown)}{', ...' if weights.size > MAX_SHOWN else ''}"

    @property
    def _device(self) -> Array | None:
        return self.weights if is_foreign(self.weights) else None

    @property
    def probabilities(self) -> Any:
        """The probabilities, in the shape in which they were given."""
        if sp.issparse(self.weights):  # a matrix of its own on the same read-only arrays
            return sp.csr_array((self.weights.data, self.weights.indices, self.weights.indptr), self.weights.shape)
        return self.weights if self.has_instances else self.weights[0, :]

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """The number of labels, K."""
        return self.labelsets.shape[-1]

    @property
    def n_instances(self) -> int:  # type: ignore[override]
        """The number of instances; 1 for one vector of probabilities."""
        return self.weights.shape[0]

    @property
    def n_labelsets(self) -> int:
        """The number of label sets in the support, M."""
        return self.labelsets.shape[-2]

    @property
    def has_own_labelsets(self) -> bool:
        """Whether each instance has label sets of its own, as samples on a device have."""
        return self.labelsets.ndim == 3

    @property
    def max_dense_labels(self) -> int:
        """The number of labels up to which all 2^K predictions can be looked at."""
        return MAX_DENSE_LABELS if self._device is None else MAX_DEVICE_LABELS

    @property
    def speed(self) -> int:
        """How many times the work of a processor is done in the same time, roughly."""
        return speed_of(self.weights)

    def on_host(self) -> "LabelDistribution":
        """The same distribution as NumPy's arrays; where each instance has label sets of its own, all share theirs."""
        labelsets, weights = to_host(self.labelsets), to_host(self.weights)
        if self.has_own_labelsets:
            labelsets, which = distinct_rows(labelsets.reshape(-1, self.n_labels))
            places = np.repeat(np.arange(self.n_instances), self.n_labelsets), which
            weights = sp.coo_array((weights.ravel(), places), shape=(self.n_instances, len(labelsets))).tocsr()
        return self._of_parts(labelsets, weights, self.has_instances)

    def joint_blocks(self) -> Iterator[tuple[slice, "LabelDistribution"]]:
        yield slice(0, self.n_instances), self

    @cached_property
    def _support(self) -> Support | DeviceSupport:
        """The support that all instances share, in the form that the inner loops take."""
        return Support(self.labelsets) if self._device is None else DeviceSupport(self.labelsets[None, ...])

    def instances(self, rows: slice) -> Instances:
        """Some instances and their weights, in the form that the inner loops take.

        Parameters
        ----------
        rows : slice
            Which instances.
        """
        if self._device is None:
            return make_instances(self._support, self.weights[rows])  # type: ignore[arg-type]
        if self.has_own_labelsets:
            return DeviceInstances(DeviceSupport(self.labelsets[rows, ...]), self.weights[rows, :][:, None, :])
        return DeviceInstances(self._support, self.weights[rows, :][None, :, :])  # type: ignore[arg-type]

    def blocks(self) -> Iterator[tuple[slice, Instances]]:
        """Some instances and their weights after another, so that no intermediate is large."""
        if self._device is None:
            blocks = instance_blocks(self.weights, self.n_labels)
        else:
            own = self.n_labelsets * self.n_labels if self.has_own_labelsets else self.n_labelsets
            blocks = row_blocks(self.n_instances, max(own, self.n_labels), self.weights)
        for rows in blocks:
            yield rows, self.instances(rows)

    @np.errstate(under="ignore")
    def marginals(self) -> Array:
        marginals = concatenate(instances.by_label(1.0) for _, instances in self.blocks())
        return xp_of(marginals).clip(marginals, 0, 1)  # weights add up to 1 but for rounding

    def mode(self) -> Array:
        return concatenate(instances.modes() for _, instances in self.blocks())

    @np.errstate(under="ignore")
    def expected_loss(self, candidates: LabelMatrix, measure: AnyLoss) -> Array:
        form = self.form_of(measure)
        labels, single = self.check_candidates(candidates)
        risk = make_risk(form, self.weights)
        instances = self.instances(slice(0, self.n_instances))
        pool = instances.make_pool(labels)
        parts = slices(len(pool), max(1, block_entries(self.weights) // math.prod(self.labelsets.shape[:-1])))
        losses = [risk.pool_risks(instances, pool.part(part)) for part in parts]
        losses = xp_of(losses[0]).concat(losses, axis=1)
        losses = xp_of(losses).clip(losses, 0, 1)
        return losses[:, 0] if single else losses

    @np.errstate(under="ignore")
    def risk(self, predictions: LabelMatrix, measure: AnyLoss) -> Array:
        form = self.form_of(measure)
        return self.risk_under(form, self.check_predictions(predictions))

    def risk_under(self, form: LossForm, labels: Array) -> Array:
        """The risk of checked predictions, one for each instance.

        Parameters
        ----------
        form : form
            That of the measure for this number of labels.
        labels : array of shape (n_instances, n_labels)
            The predictions, 0 and 1.
        """
        return self.add_up_risk(make_risk(form, self.weights), labels)

    def add_up_risk(self, risk: Risk, labels: Array) -> Array:
        """The same for a risk that is made already.

        Parameters
        ----------
        risk : Risk
            The expected loss under a form.
        labels : array of shape (n_instances, n_labels)
            The predictions, 0 and 1.
        """
        risks = concatenate(risk.risks(instances, labels[rows, :]) for rows, instances in self.blocks())
        return xp_of(risks).clip(risks, 0, 1)

    def make_sums(self, forms: Sequence[LossForm]) -> Callable[[Array], Array]:
        """What adds up risks under several forms, each of predictions of its own.

        It takes labels of shape (n_forms, n_instances, n_labels) and gives risks of shape (n_forms, n_instances). All
        that it needs of the forms is on the device before it is called.

        Parameters
        ----------
        forms : sequence of forms
            Those of the measures for this number of labels.
        """
        counting = [form for form in forms if isinstance(form, ByCount)]
        if self._device is not None and not self.has_own_labelsets and len(counting) == len(forms):
            return partial(self._add_up_together, ByCountRisks(counting, self.weights))
        return partial(self._add_up_each, [make_risk(form, self.weights) for form in forms])

    def _add_up_each(self, risks: Sequence[Risk], labels: Array) -> Array:
        return xp_of(labels).stack([self.add_up_risk(risk, labels[number, ...]) for number, risk in enumerate(risks)])

    def _add_up_together(self, risks: ByCountRisks, labels: Array) -> Array:
        """The same on a device, which is asked once for all measures."""
        xp, n_forms, found = xp_of(labels), labels.shape[0], []
        for rows in row_blocks(self.n_instances, n_forms * self.n_labelsets, self.weights):
            weights = self.weights[None, rows, :]
            weights = xp.broadcast_to(weights, (n_forms, *weights.shape[1:]))
            instances = DeviceInstances(self._support, xp.reshape(weights, (1, -1, self.n_labelsets)))  # type: ignore[arg-type]
            part = risks.risks(instances, xp.reshape(labels[:, rows, :], (-1, self.n_labels)))
            found.append(xp.clip(xp.reshape(part, (n_forms, -1)), 0, 1))
        return xp.concat(found, axis=1)

    def wrong_labels(self, predictions: LabelMatrix) -> Array:
        labels = self.check_predictions(predictions)
        return concatenate(
            instances.histogram(instances.pairs(labels[rows, :]).differences(), self.n_labels + 1)
            for rows, instances in self.blocks()
        )

    def sample(self, n: int, rng: RandomState = None) -> Array:
        n = check_count("n", n)
        uniform = np.random.default_rng(rng).random((self.n_instances, n))
        samples = self.instances(slice(0, self.n_instances)).draw(to_library_of(uniform, self.weights))
        return samples if self.has_instances else samples[0, ...]


def _set_text(labels: np.ndarray) -> str:
    """A label set by the numbers of its first labels.

    Examples
    --------
    >>> _set_text(np.array([1, 0, 1])), _set_text(np.array([0, 0])), _set_text(np.ones(9))
    ('{0, 2}', '{}', '{0, 1, 2, 3, 4, 5, ...}')
    """
    relevant = np.flatnonzero(labels)
    shown = [*map(str, relevant[:MAX_SHOWN_LABELS]), *(["..."] if relevant.size > MAX_SHOWN_LABELS else [])]
    return f"{{{', '.join(shown)}}}"


def _dense_labels(shape: tuple[int, ...], most: int) -> int:
    """The number of labels of probabilities of all 2^K label sets."""
    size = shape[-1] if shape else 0
    n_labels = size.bit_length() - 1
    if size != 1 << max(n_labels, 0) or not 1 <= n_labels <= most:
        raise ValueError(f"probabilities must have 2 ** n_labels entries with 1 <= n_labels <= {most}; got {size}.")
    return n_labels


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
