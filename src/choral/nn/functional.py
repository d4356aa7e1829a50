"""Choquet losses of scores on tensors: the predictions first, as usual in torch; differentiable, on any device.

They equal `choral.choquet_loss` and its relatives. To train a network on logits, see `choral.nn.ChoquetLoss`. Kinds and
shapes are checked; of values, only true labels on the CPU: elsewhere the host would have to wait for the device.
"""

from collections.abc import Callable
from typing import Any, Literal

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from choral.measures import BinomialMeasure, CountingMeasure, Measure, PolynomialMeasure, check_measure
from choral.nn.ordering import ordered_losses
from choral.nn.row_losses import constant, row_losses, tables_made_by

__all__ = ["binomial_loss", "choquet_loss", "owa_loss", "polynomial_loss"]

Reduction = Literal["mean", "sum", "none"]


def choquet_loss(preds: Tensor, target: Tensor, measure: Measure, *, reduction: Reduction = "mean") -> Tensor:
    r"""One minus the Choquet integral of label-wise correctness, :math:`1 - |s - y|`, for any measure of choral's.

    Where labels tie, the gradient is a subgradient of the loss if it is convex: under counting measures labels that are
    equally wrong share the mean of their weights, under others the order of the labels may decide.

    Parameters
    ----------
    preds : Tensor of shape (n_rows, n_labels)
        Scores in [0, 1], floating-point; half precision is summed up in float32. Values are not checked, since the
        host would have to wait for the device: nan makes the loss of its row nan.
    target : Tensor of shape (n_rows, n_labels)
        True labels, 0 or 1, of any dtype. On the CPU, values outside [0, 1] (such as -100) are refused.
    measure : Measure
        What it is worth to be right on a set of labels. For `torch.compile`, made outside of the compiled function.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    Returns
    -------
    loss : Tensor
        A scalar, or of shape (n_rows,); in float32 at least.

    See Also
    --------
    choral.nn.ChoquetLoss : A loss to train networks with.
    choral.choquet_loss : The loss of any measure.

    Examples
    --------
    >>> import torch
    >>> from choral import MoebiusMeasure
    >>> together = MoebiusMeasure({(0, 1): 0.5, (2,): 0.5})  # labels 0 and 1 count only together
    >>> choquet_loss(torch.tensor([[1.0, 0.25, 1.0]]), torch.tensor([[1, 1, 1]]), together)
    tensor(0.3750)
    """
    check_differentiable(preds, target)
    check_measure(measure)
    check_reduction(reduction)
    return reduce_rows(row_losses(preds, target, measure, "scores"), reduction)


def binomial_loss(preds: Tensor, target: Tensor, k: int, *, reduction: Reduction = "mean") -> Tensor:
    """For hard predictions, the probability that a random set of k labels contains a mistake.

    ``k=1`` is the Hamming loss, ``k=n_labels`` the subset 0/1 loss.

    Parameters
    ----------
    preds : Tensor of shape (n_rows, n_labels)
        Scores in [0, 1], floating-point.
    target : Tensor of shape (n_rows, n_labels)
        True labels, 0 or 1, of any dtype.
    k : int
        The size of the label sets, from 1 to the number of labels.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    Returns
    -------
    loss : Tensor
        A scalar, or of shape (n_rows,); in float32 at least.

    See Also
    --------
    choquet_loss : The loss of any measure, for tensors.
    choral.binomial_loss : A random set of k labels must be right.

    Examples
    --------
    >>> import torch
    >>> binomial_loss(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), torch.tensor([[1, 0, 0, 1]]), k=2)
    tensor(0.5000)
    """
    return _counting_loss(preds, target, BinomialMeasure, constant(k), reduction)


def polynomial_loss(preds: Tensor, target: Tensor, alpha: float, *, reduction: Reduction = "mean") -> Tensor:
    """For hard predictions with e of K labels wrong, ``1 - (1 - e / K) ** alpha``.

    ``alpha=1`` is the Hamming loss, ``alpha=inf`` the subset 0/1 loss.

    Parameters
    ----------
    preds : Tensor of shape (n_rows, n_labels)
        Scores in [0, 1], floating-point.
    target : Tensor of shape (n_rows, n_labels)
        True labels, 0 or 1, of any dtype.
    alpha : float
        The exponent, at least 1; ``inf`` is allowed.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    Returns
    -------
    loss : Tensor
        A scalar, or of shape (n_rows,); in float32 at least.

    See Also
    --------
    choquet_loss : The loss of any measure, for tensors.
    choral.polynomial_loss : The share of right labels to a power.

    Examples
    --------
    >>> import torch
    >>> polynomial_loss(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), torch.tensor([[1, 0, 0, 1]]), alpha=2)
    tensor(0.4375)
    """
    return _counting_loss(preds, target, PolynomialMeasure, constant(alpha), reduction)


def owa_loss(preds: Tensor, target: Tensor, weights: ArrayLike, *, reduction: Reduction = "mean") -> Tensor:
    r"""Ordered weighted average of the label-wise errors.

    Parameters
    ----------
    preds : Tensor of shape (n_rows, n_labels)
        Scores in [0, 1], floating-point.
    target : Tensor of shape (n_rows, n_labels)
        True labels, 0 or 1, of any dtype.
    weights : array-like of shape (n_labels,)
        The weight of the largest error first; non-negative, summing to 1. For `torch.compile`, a list or tuple.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    Returns
    -------
    loss : Tensor
        A scalar, or of shape (n_rows,); in float32 at least.

    See Also
    --------
    choquet_loss : The loss of any measure, for tensors.
    choral.owa_loss : Weights by the rank of an error.

    Examples
    --------
    >>> import torch
    >>> preds, target = torch.tensor([[0.2, 0.3, 0.9, 0.1, 0.4, 0.3]]), torch.tensor([[0, 1, 1, 0, 0, 0]])
    >>> owa_loss(preds, target, weights=[5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15, 0])  # the example of the paper
    tensor(0.4333)
    """
    return _counting_loss(preds, target, _ordered_by, weights, reduction)


def _ordered_by(weights: ArrayLike) -> CountingMeasure:
    return CountingMeasure.from_weights(weights)  # torch.compile takes a function, no method, for a constant


def _counting_loss(
    preds: Tensor, target: Tensor, make: Callable[[Any], CountingMeasure], parameter: Any, reduction: Reduction
) -> Tensor:
    check_differentiable(preds, target)
    check_reduction(reduction)
    cumulative, n_weighing = tables_made_by(make, parameter, constant(preds.shape[1]), preds.device)
    return reduce_rows(ordered_losses(preds, target, cumulative, "scores", n_weighing=n_weighing), reduction)


def check_differentiable(preds: Any, target: Any) -> None:
    """Refuse all but floating-point predictions with true labels of the same shape."""
    check_matrices(preds, target)
    if not preds.is_floating_point():
        raise TypeError(f"preds must be floating-point; got {preds.dtype}.")
    if target.device.type == "cpu" and not torch.compiler.is_compiling():  # elsewhere the host would have to wait
        _check_target(target)


def _check_target(target: Tensor) -> None:
    """Refuse true labels outside [0, 1]; nan is let pass, and stays in its row."""
    outside = (target < 0) | (target > 1)
    try:
        if not outside.any():
            return
    except RuntimeError:  # torch.vmap lets nobody look at values
        return
    row, label = outside.nonzero()[0].tolist()
    value = target[row, label].item()
    raise ValueError(f"target must be 0 or 1; target[{row}, {label}] is {value}. {_target_remedy(value)}".rstrip())


def _target_remedy(value: float) -> str:
    """What to do with labels -1 and +1, and with -100, by which others mark labels that are not known."""
    if value == -1:
        return "Labels -1 and +1 become 0 and 1 by target > 0."
    if value == -100:
        return (
            "If it marks labels that are not known, let these count as right: with unknown = target == -100, pass "
            "preds.masked_fill(unknown, -1e4), or for scores preds.masked_fill(unknown, 0), and "
            "target.masked_fill(unknown, 0)."
        )
    return ""


def check_matrices(preds: Any, target: Any, n_labels: int | None = None) -> None:
    """Refuse all but two dense tensors of the same shape (n_rows, n_labels) on one device."""
    for name, tensor in (("preds", preds), ("target", target)):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} must be a tensor; got {type(tensor).__name__}.")
        if tensor.is_complex():
            raise TypeError(f"{name} must hold real numbers or booleans; got {tensor.dtype}.")
        if tensor.layout != torch.strided:
            raise TypeError(f"{name} must be dense; got a tensor of layout {tensor.layout}.")
    if preds.ndim != 2 or preds.shape != target.shape or n_labels not in (None, preds.shape[1]):
        raise ValueError(
            f"preds and target must have the same shape (n_rows, {n_labels or 'n_labels'}); "
            f"got {tuple(preds.shape)} and {tuple(target.shape)}."
        )
    if preds.device != target.device:
        raise ValueError(f"preds and target must be on one device; got {preds.device} and {target.device}.")


def check_reduction(reduction: Any) -> None:
    """Refuse what is no reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


def reduce_rows(losses: Tensor, reduction: Reduction) -> Tensor:
    """The mean of the losses of all rows, their sum, or the losses themselves."""
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
