"""What users pass in: kinds and shapes are checked, values not, since the host would have to wait for the device."""

from typing import Any, Literal

import torch
from torch import Tensor

from choral.measures import Measure, RelevanceMeasure

Reduction = Literal["mean", "sum", "none"]


def check_differentiable(preds: Any, target: Any) -> None:
    """Refuse all but floating-point predictions with true labels of the same shape."""
    check_matrices(preds, target)
    if not preds.is_floating_point():
        raise TypeError(f"preds must be floating-point; got {preds.dtype}.")


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


def check_measure(measure: Any) -> None:
    """Refuse what is no measure."""
    if not isinstance(measure, Measure | RelevanceMeasure):
        raise TypeError(f"measure must be one of choral.measures; got {measure!r}.")


def check_reduction(reduction: Any) -> None:
    """Refuse what is no reduction."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction must be 'mean', 'sum' or 'none'; got {reduction!r}.")


def reduced(losses: Tensor, reduction: Reduction) -> Tensor:
    """The mean of the losses of all rows, their sum, or the losses themselves."""
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
