"""A consistent loss for networks whose outputs are scores of whole label sets."""

from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from choral._validation import check_count
from choral.measures import ByCount, Measure, check_measure
from choral.nn.functional import Reduction, check_reduction, reduce_rows
from choral.nn.row_losses import constant, row_losses, tables_of

MAX_BLOCK = 1 << 22  # labels of pairs that are compared at once under a measure that does not count


class LabelSetLoss(nn.Module):
    r"""A loss to train networks with that score label sets: in the limit, the best-scored one is the best decision.

    .. math:: \ell(z, y) = -\sum_{c} \big(1 - L(c, y)\big) \log \frac{e^{z_c}}{\sum_{c'} e^{z_{c'}}}

    The network has an output for each candidate label set c, such as the most frequent ones of the training rows. Each
    is rewarded by what predicting it would have been worth, one minus the loss L of the measure. With subset 0/1 loss
    this is cross-entropy over label sets.

    Parameters
    ----------
    labelsets : array-like or tensor of shape (n_labelsets, n_labels)
        The candidates, 0 or 1, all different. `from_targets` takes those of the training rows.
    measure : Measure
        What it is worth to be right on a set of labels.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    Attributes
    ----------
    labelsets : uint8 tensor of shape (n_labelsets, n_labels)
        A buffer: it moves with ``to`` and is part of ``state_dict``.
    measure : Measure
        As given. It is no part of ``state_dict``.

    See Also
    --------
    ChoquetLoss : For networks that score labels.
    choral.bayes_optimal : The best decision under a joint distribution.

    Notes
    -----
    The loss is consistent among the candidates. Let :math:`G_c = E[1 - L(c, y)]` be the expected gain for some
    features. By Gibbs' inequality :math:`-\sum_c G_c \log q_c` is least for :math:`q = G / \sum_c G_c`, so the label
    set with the largest score has the largest expected gain, the least expected loss.

    Weighing all label sets in this way is the multi-label logistic loss of A. Mao, M. Mohri and Y. Zhong, "Multi-label
    learning with stronger consistency guarantees", NeurIPS 2024 (arXiv 2407.13746). Here the sum is over candidates
    alone, and their scores are free; the documentation on PyTorch tells what scores that are sums over labels lead to.

    A row whose label set is worth nothing beside every candidate, as under subset 0/1 loss where it is no candidate
    itself, has the loss 0 and no gradient. Under measures of which many candidates gain nearly the same, such as the
    Hamming loss, the best scores lie close together, and take many rows to tell apart.

    Counting measures take memory for one number a row and candidate, and one matrix product. Others compare all pairs
    label by label, a few rows at a time.

    Examples
    --------
    >>> import torch
    >>> from choral import BinomialMeasure
    >>> target = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    >>> loss = LabelSetLoss.from_targets(target, BinomialMeasure(2))
    >>> loss
    LabelSetLoss(n_labelsets=2, BinomialMeasure(k=2), reduction='mean')
    >>> network = torch.nn.Linear(5, loss.n_labelsets)
    >>> loss.gains(torch.tensor([[1, 1, 1]]))  # beside 110 two labels are right, beside 001 a single one
    tensor([[0.3333, 0.0000]])
    >>> logits = torch.zeros(1, 2, requires_grad=True)
    >>> loss(logits, torch.tensor([[1, 1, 1]])).backward()
    >>> logits.grad
    tensor([[-0.1667,  0.1667]])
    >>> loss.predict(torch.tensor([[0.3, -0.2]]))
    tensor([[1, 1, 0]], dtype=torch.uint8)
    """

    labelsets: Tensor

    def __init__(self, labelsets: ArrayLike | Tensor, measure: Measure, reduction: Reduction = "mean"):
        super().__init__()
        check_measure(measure)
        check_reduction(reduction)
        candidates = _check_labels("labelsets", _to_tensor(labelsets))
        if not len(candidates) or len(torch.unique(candidates, dim=0)) < len(candidates):
            must = "labelsets must be different from each other, and at least one"
            raise ValueError(f"{must}; got {len(candidates)} rows.")
        self.measure = measure
        self.reduction = reduction
        self.register_buffer("labelsets", candidates.to(torch.uint8, copy=True))
        self._counts = isinstance(measure.form(candidates.shape[1]), ByCount)

    @classmethod
    def from_targets(
        cls,
        target: ArrayLike | Tensor,
        measure: Measure,
        *,
        max_labelsets: int = 1000,
        reduction: Reduction = "mean",
    ) -> Self:
        """A loss whose candidates are the label sets of training rows, the most frequent ones first.

        Parameters
        ----------
        target : array-like or tensor of shape (n_rows, n_labels)
            True labels of the training rows, 0 or 1.
        measure : Measure
            What it is worth to be right on a set of labels.
        max_labelsets : int
            At most this many candidates. Of equally frequent label sets, those first in lexicographic order are taken.
        reduction : {"mean", "sum", "none"}
            Over rows.
        """
        max_labelsets = check_count("max_labelsets", max_labelsets)
        labels = _check_labels("target", _to_tensor(target))
        if not len(labels):
            raise ValueError("target must have at least one row; got none.")
        labelsets, counts = torch.unique(labels, dim=0, return_counts=True)
        order = counts.argsort(descending=True, stable=True)
        return cls(labelsets[order[:max_labelsets]], measure, reduction)

    @property
    def n_labelsets(self) -> int:
        """How many candidates there are: the outputs that the network needs."""
        return len(self.labelsets)

    def extra_repr(self) -> str:
        """What `repr` shows between the brackets."""
        return f"n_labelsets={self.n_labelsets}, {self.measure!r}, reduction={self.reduction!r}"

    def forward(self, preds: Tensor, target: Tensor) -> Tensor:
        """The loss of the scores of all candidates, beside true labels.

        Half precision is taken to float32 before anything is added up.

        Parameters
        ----------
        preds : tensor of shape (n_rows, n_labelsets)
            Logits, floating-point.
        target : tensor of shape (n_rows, n_labels)
            True labels, 0 or 1, of any dtype. Values are checked on the CPU alone.
        """
        self._check_preds(preds)
        if not preds.is_floating_point():
            raise TypeError(f"preds must be floating-point; got {preds.dtype}.")
        gains = self.gains(target)
        if len(gains) != len(preds):
            raise ValueError(f"preds and target must have as many rows; got {len(preds)} and {len(gains)}.")
        return reduce_rows(label_set_losses(preds, gains), self.reduction)

    @torch.no_grad()
    def gains(self, target: Tensor) -> Tensor:
        """What predicting each candidate would be worth in each row, one minus its loss.

        Parameters
        ----------
        target : tensor of shape (n_rows, n_labels)
            True labels, 0 or 1, of any dtype.

        Returns
        -------
        gains : float32 tensor of shape (n_rows, n_labelsets)
        """
        labels = _check_labels("target", target, self.labelsets)
        return (self._gains_by_count(labels) if self._counts else self._gains_by_pair(labels)).float()

    def _gains_by_count(self, target: Tensor) -> Tensor:
        n_labels = constant(target.shape[1])
        deficits, _ = tables_of(self.measure, n_labels, target.device)
        with torch.autocast(target.device.type, enabled=False):  # half precision cannot count beyond 256
            labels, candidates = target.float(), self.labelsets.float()
            wrong = labels.sum(dim=1, keepdim=True) + candidates.sum(dim=1) - 2 * labels @ candidates.T
        # values are not checked on a device, where an index out of range would end the process
        return 1 - deficits[wrong.nan_to_num(n_labels).clamp(0, n_labels).long()]

    def _gains_by_pair(self, target: Tensor) -> Tensor:
        n_labelsets, n_labels = self.labelsets.shape
        losses = [  # no rows are one part, too
            row_losses(
                self.labelsets.double().repeat(len(rows), 1),
                rows.repeat_interleave(n_labelsets, dim=0),
                self.measure,
                "scores",
            ).view(len(rows), n_labelsets)
            for rows in target.split(max(1, MAX_BLOCK // (n_labelsets * n_labels)))
        ]
        return 1 - torch.cat(losses)

    def predict(self, preds: Tensor) -> Tensor:
        """The candidate with the largest score in each row.

        Parameters
        ----------
        preds : tensor of shape (n_rows, n_labelsets)
            Logits, or means over several networks of their softmax.

        Returns
        -------
        labels : uint8 tensor of shape (n_rows, n_labels)
        """
        self._check_preds(preds)
        return self.labelsets[preds.argmax(dim=1)]

    def _check_preds(self, preds: Any) -> None:
        if not isinstance(preds, Tensor):
            raise TypeError(f"preds must be a tensor; got {type(preds).__name__}.")
        if preds.ndim != 2 or preds.shape[1] != self.n_labelsets:
            raise ValueError(
                f"preds must have a column for each of {self.n_labelsets} label sets; got shape {tuple(preds.shape)}."
            )
        _check_device("preds", preds, self.labelsets)


def label_set_losses(logits: Tensor, gains: Tensor) -> Tensor:
    """The loss of each row from the logits and the gains of its candidates, both of shape (n_rows, n_labelsets)."""
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    return -(gains.to(logits.dtype) * logits.log_softmax(dim=1)).sum(dim=1)


def _to_tensor(labels: ArrayLike | Tensor) -> Tensor:
    """A tensor as it is; of all else a copy, since torch warns of arrays that are read-only and takes no frames."""
    return labels if isinstance(labels, Tensor) else torch.from_numpy(np.array(labels))


def _check_labels(name: str, labels: Any, beside: Tensor | None = None) -> Tensor:
    """Refuse all but a matrix of labels 0 and 1; those beside candidates are only looked at on the CPU."""
    if not isinstance(labels, Tensor):
        raise TypeError(f"{name} must be a tensor; got {type(labels).__name__}.")
    if labels.ndim != 2 or not labels.shape[1] or (beside is not None and labels.shape[1] != beside.shape[1]):
        n_labels = "n_labels" if beside is None else beside.shape[1]
        raise ValueError(f"{name} must be of shape (n_rows, {n_labels}); got {tuple(labels.shape)}.")
    if beside is not None:
        _check_device(name, labels, beside)
    # at each step of a training, the host would have to wait for a device
    if beside is None or (labels.device.type == "cpu" and not torch.compiler.is_compiling()):
        outside = (labels != 0) & (labels != 1)
        if outside.any():
            row, label = outside.nonzero()[0].tolist()
            raise ValueError(f"{name} must be 0 or 1; {name}[{row}, {label}] is {labels[row, label].item()}.")
    return labels


def _check_device(name: str, tensor: Tensor, labelsets: Tensor) -> None:
    if tensor.device != labelsets.device:
        must = f"{name} and the label sets must be on one device"
        raise ValueError(f"{must}; got {tensor.device} and {labelsets.device}.")
