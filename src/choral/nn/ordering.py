r"""Ordered weighted averages of label-wise errors on tensors: the heart of the losses here.

.. math:: \ell = \sum_{i=1}^{K} w_i \, e_{[i]} = \sum_{i=1}^{K} \bar w_i \, e_i, \quad e_{[1]} \ge \dots \ge e_{[K]}

A weight belongs to a rank, so where the ranks are known the loss is a weighted sum of the errors as they stand, and its
gradient is that of the errors, weighted. Errors that tie share the mean of their weights: a subgradient that treats
equal labels alike and does not depend on how a device sorts.
"""

from typing import Literal

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from choral.rows.gpu import HAS_TRITON, MAX_SORTED_LABELS

Kind = Literal["scores", "logistic", "absolute"]
NEGLIGIBLE = 2**-26  # of all weight: a quarter of what single precision rounds away


def ordered_losses(
    values: Tensor, target: Tensor, cumulative: Tensor, kind: Kind, *, n_weighing: int | None = None
) -> Tensor:
    """The loss of each row under a counting measure.

    Parameters
    ----------
    values : Tensor of shape (n_rows, n_labels)
        Scores in [0, 1], or logits, as ``kind`` says.
    target : Tensor of shape (n_rows, n_labels)
        True labels, 0 or 1.
    cumulative : Tensor of shape (n_labels + 1,)
        What the 0, 1, ..., n_labels largest errors weigh together: the measure's ``deficits``.
    kind : {"scores", "logistic", "absolute"}
        What an error is: see `label_margins` and `errors_of`.
    n_weighing : int, optional
        How many of the largest errors carry the weight: see `count_weighing`. On a GPU, where they are few, others are
        left out in single and half precision.

    Returns
    -------
    losses : Tensor of shape (n_rows,)
        In float32 at least.
    """
    if HAS_TRITON and values.is_cuda and values.shape[1] <= MAX_SORTED_LABELS:
        from choral.rows.gpu import leading_losses
        from choral.rows.gpu.ordered_losses import ordered_losses as fused

        if n_weighing is not None and leading_losses.serves_losses(values, n_weighing):
            return leading_losses.leading_losses(values, target, cumulative, kind, n_weighing)
        return fused(values, target, cumulative, kind)
    return plain_ordered_losses(values, target, cumulative, kind)


def count_weighing(deficits: np.ndarray) -> int:
    """How many of the largest errors carry all the weight but what single precision rounds away.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> [count_weighing(BinomialMeasure(k).deficits(1000)) for k in (2, 500, 1000)]
    [999, 26, 1]
    """
    return int(np.count_nonzero(deficits < deficits[-1] * (1 - NEGLIGIBLE)))


def plain_ordered_losses(values: Tensor, target: Tensor, cumulative: Tensor, kind: Kind) -> Tensor:
    """`ordered_losses` in plain torch, on any device."""
    margins = label_margins(values, target, kind)
    return (weights_by_rank(margins, cumulative) * errors_of(margins, kind)).sum(dim=1)


def label_margins(values: Tensor, target: Tensor, kind: Kind) -> Tensor:
    """What the error of a label grows with: of scores the error itself, of logits the logit against the true label.

    In float32 at least: half precision has too few digits to add up. Margins rank finer than errors, which round to
    0 or 1 where logits are large.
    """
    values = values.to(torch.promote_types(values.dtype, torch.float32))
    target = target.to(values.dtype)
    return (values - target).abs() if kind == "scores" else (1 - 2 * target) * values


def errors_of(margins: Tensor, kind: Kind) -> Tensor:
    r"""How wrong each label is: :math:`\log(1 + e^m)`, or :math:`\sigma(m)`, which is :math:`|\sigma(z) - y|`."""
    if kind == "logistic":
        return -F.logsigmoid(-margins)  # softplus would be off by 2e-9 where it turns into a line
    return margins.sigmoid() if kind == "absolute" else margins


@torch.no_grad()
def weights_by_rank(margins: Tensor, cumulative: Tensor) -> Tensor:
    """What each error weighs: with lo larger ones and hi at least as large, the mean weight of ranks lo + 1 to hi."""
    ascending, order = margins.contiguous().sort(dim=1)
    n_labels = margins.shape[1]
    lo = n_labels - torch.searchsorted(ascending, ascending, right=True)
    hi = n_labels - torch.searchsorted(ascending, ascending)
    weights = (cumulative[hi] - cumulative[lo]) / (hi - lo)
    return torch.empty_like(margins).scatter_(1, order, weights.to(margins.dtype))
