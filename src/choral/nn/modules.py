"""Choquet losses as modules, on logits: what a network is trained with."""

from typing import Literal

from torch import Tensor, nn

from choral.measures import Measure, check_measure
from choral.nn.functional import Reduction, check_differentiable, check_reduction, reduce_rows
from choral.nn.row_losses import row_losses


class ChoquetLoss(nn.Module):
    r"""A loss to train networks with: label-wise losses of the logits, put together by a measure.

    For a counting measure it is their ordered weighted average: the worst label of a row weighs most where v is
    convex, as it does in the loss that the network will be judged by. Two label-wise losses:

    ``"logistic"``
        :math:`\log(1 + e^{-z})` for a relevant label, :math:`\log(1 + e^z)` for another. With `HammingMeasure` this
        is binary cross-entropy. It is convex in the logits if the weights do not increase from the largest error down,
        as for every convex v: binomial and polynomial measures are, at-least-k is not.
    ``"absolute"``
        :math:`|\sigma(z) - y|`. The loss itself of the scores :math:`\sigma(z)`, bounded and so not convex: labels that
        are hopelessly wrong have next to no gradient.

    Other measures do as well: the label-wise losses are put together by their Choquet integral with respect to the
    dual measure.

    Parameters
    ----------
    measure : Measure
        What it is worth to be right on a set of labels.
    surrogate : {"logistic", "absolute"}
        The label-wise loss. Which to take when: see the page on networks in the documentation.
    reduction : {"mean", "sum", "none"}
        Over rows; ``"none"`` gives one value a row.

    See Also
    --------
    choral.nn.functional.choquet_loss : The loss of any measure, for tensors.
    DependenceCurve : A metric of torchmetrics: the whole curve.
    torch.nn.BCEWithLogitsLoss : The usual loss, in which each label counts alone.

    Examples
    --------
    >>> import torch
    >>> from choral import BinomialMeasure
    >>> loss = ChoquetLoss(BinomialMeasure(2))
    >>> loss
    ChoquetLoss(BinomialMeasure(k=2), surrogate='logistic', reduction='mean')
    >>> logits, target = torch.tensor([[2.0, -1.0, 3.0]], requires_grad=True), torch.tensor([[1, 1, 1]])
    >>> loss(logits, target).backward()
    >>> logits.grad  # the worst label weighs 2/3, the second worst 1/3
    tensor([[-0.0397, -0.4874, -0.0000]])
    """

    def __init__(
        self,
        measure: Measure,
        surrogate: Literal["logistic", "absolute"] = "logistic",
        reduction: Reduction = "mean",
    ):
        super().__init__()
        check_measure(measure)
        check_reduction(reduction)
        if surrogate not in ("logistic", "absolute"):
            raise ValueError(f"surrogate must be 'logistic' or 'absolute'; got {surrogate!r}.")
        self.measure = measure
        self.surrogate = surrogate
        self.reduction = reduction

    def extra_repr(self) -> str:
        """What `repr` shows between the brackets."""
        return f"{self.measure!r}, surrogate={self.surrogate!r}, reduction={self.reduction!r}"

    def forward(self, preds: Tensor, target: Tensor) -> Tensor:
        """The loss of logits and true labels, both of shape (n_rows, n_labels).

        Precision, values and ties as in `choral.nn.functional.choquet_loss`.

        Parameters
        ----------
        preds : tensor of shape (n_rows, n_labels)
            Logits.
        target : tensor of shape (n_rows, n_labels)
            True labels, 0 or 1.
        """
        check_differentiable(preds, target)
        return reduce_rows(row_losses(preds, target, self.measure, self.surrogate), self.reduction)
