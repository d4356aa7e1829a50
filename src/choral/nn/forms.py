r"""The loss of each row on tensors, by the form that suits the measure.

One minus the Choquet integral of :math:`1 - e` is a Choquet integral of the errors :math:`e` themselves (by the dual
measure), :math:`\sum_i e_{[i]} \, (\mu(A_i) - \mu(A_{i+1}))`, where :math:`A_i` are all labels but those of the i - 1
largest errors. It is defined for errors beyond 1 as well, so that it serves logistic losses, too.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from choral.measures import AdditiveMeasure, CountingMeasure, Measure, MoebiusMeasure, RelevanceMeasure
from choral.nn.ordering import Kind, errors_of, label_margins, ordered_losses
from choral.nn.tables import constant, tables_of


def row_losses(values: Tensor, target: Tensor, measure: Measure | RelevanceMeasure, kind: Kind) -> Tensor:
    """The loss of each row of checked tensors, of shape (n_rows,)."""
    n_labels = constant(values.shape[1])  # to torch.compile a constant even where the number of rows is not
    tables = tables_of(measure, n_labels, values.device)
    if isinstance(measure, CountingMeasure):
        return ordered_losses(values, target, tables[0], kind)
    margins = label_margins(values, target, kind)
    errors = errors_of(margins, kind)
    if isinstance(measure, MoebiusMeasure):
        return _sums_of_largest_errors(errors, tables)
    if isinstance(measure, AdditiveMeasure):
        return (errors * tables[0].to(errors.dtype)).sum(dim=1)
    order = margins.detach().argsort(dim=1, descending=True, stable=True)
    if isinstance(measure, RelevanceMeasure):
        return _chained(errors, order, _worths_by_relevance(order, target, tables[0], measure.beta))
    return _chained(errors, order, _worths_of_capacity(order, tables[0]))


def _sums_of_largest_errors(errors: Tensor, tables: list[Tensor]) -> Tensor:
    """Sum of m(T) * max of the errors in T; errors that tie for the largest share the gradient."""
    losses = errors.new_zeros(errors.shape[0])
    for sets, masses in zip(tables[::2], tables[1::2], strict=True):
        losses = losses + (errors[:, sets].amax(dim=2) * masses.to(errors.dtype)).sum(dim=1)
    return losses


def _chained(errors: Tensor, order: Tensor, worths: Tensor) -> Tensor:
    """Errors from the largest down, each times what its label adds to those of smaller errors."""
    steps = worths - F.pad(worths[:, 1:], (0, 1))
    return (steps.to(errors.dtype) * errors.gather(1, order)).sum(dim=1)


def _worths_of_capacity(order: Tensor, values: Tensor) -> Tensor:
    return values[_reversed_sums(torch.bitwise_left_shift(torch.ones_like(order), order))]


def _worths_by_relevance(order: Tensor, target: Tensor, values: Tensor, beta: float) -> Tensor:
    """As `RelevanceMeasure.chain`: v(j / K) * (1 + beta * a / j) / (1 + beta * R / K)."""
    n_labels = order.shape[1]
    worths = values.flip(0)[:-1]  # of n_labels, ..., 1 labels
    sizes = torch.arange(n_labels, 0, -1, dtype=values.dtype, device=order.device)
    in_set = _reversed_sums((target != 0).gather(1, order).to(values.dtype))
    n_relevant = in_set[:, :1]
    weighted = worths * (1 + beta * in_set / sizes) / (1 + beta * n_relevant / n_labels)
    # All labels relevant: both factors are 1 + beta, which may be 0.
    return torch.where(n_relevant == n_labels, worths, weighted)


def _reversed_sums(steps: Tensor) -> Tensor:
    return steps.flip(1).cumsum(dim=1).flip(1)
