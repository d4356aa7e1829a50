r"""The loss of each row on tensors, by the form of the measure.

One minus the Choquet integral of :math:`1 - e` is a Choquet integral of the errors :math:`e` themselves (by the dual
measure), :math:`\sum_i e_{[i]} \, (\mu(A_i) - \mu(A_{i+1}))`, where :math:`A_i` are all labels but those of the i - 1
largest errors. It is defined for errors beyond 1 as well, so that it serves logistic losses, too.

The numbers of a measure become tensors once: a training step waits neither for NumPy nor for a copy to the device.
`torch.compile` finds them while it traces, and takes them for constants. They come in lists: it confuses two constant
tensors of one function, but not those in lists.
"""

import operator
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from choral.measures import ByCount, ByRelevance, Form, Measure, Table, Terms
from choral.nn.ordering import Kind, count_weighing, errors_of, label_margins, ordered_losses

MAX_MEASURES = 32  # whose tensors are kept; a Capacity on 20 labels takes 8 MiB, and 168 with relevance weighting


def row_losses(values: Tensor, target: Tensor, measure: Measure, kind: Kind) -> Tensor:
    """The loss of each row of checked tensors, of shape (n_rows,)."""
    n_labels = constant(values.shape[1])  # to torch.compile a constant even where the number of rows is not
    name, tables = _loss_name(measure, n_labels, values.device), tables_of(measure, n_labels, values.device)
    return _LOSSES[name](values, target, kind, tables)


class _Recipe(NamedTuple):
    """Which function computes the loss, and what it is given."""

    name: str
    tables: list[Any]


def _recipe_of(form: Form) -> _Recipe:
    """The one place where losses on tensors ask for the form of a measure."""
    match form:
        case ByCount():
            deficits = form.deficits()
            return _Recipe("ordered", [deficits, count_weighing(deficits)])
        case Terms():
            return _Recipe("terms", _tables_of_terms(form))
        case Table():
            return _Recipe("table", [form.values])
        case ByRelevance(base=base):
            growth = _tables_of_relevance(form)
            match base:
                case ByCount():
                    return _Recipe("relevance by count", [*growth, base.values])
                case Terms():
                    return _Recipe("relevance of terms", [*growth, *_tables_of_terms(base)])
                case Table():
                    return _Recipe("relevance of a table", [*growth, base.values, base.shares.T])


def _tables_of_terms(form: Terms) -> list[np.ndarray]:
    """The masses of single labels; then for each larger size sets, of shape (n_sets, size), and their masses."""
    by_size = groupby(sorted(form.larger, key=_size), key=_size)
    return [form.singles, *(np.array(column) for _, terms in by_size for column in zip(*terms, strict=True))]


def _size(term: tuple[tuple[int, ...], float]) -> int:
    return len(term[0])


def _tables_of_relevance(form: ByRelevance) -> list[np.ndarray]:
    """Beta, the shares of labels in the base, and 1 for the labels that carry a mass."""
    return [np.array([form.beta]), form.shapley, np.bincount(form.carriers, minlength=form.n_labels).astype(float)]


def _ordered(values: Tensor, target: Tensor, kind: Kind, tables: list[Any]) -> Tensor:
    return ordered_losses(values, target, tables[0], kind, n_weighing=tables[1])


def _terms(values: Tensor, target: Tensor, kind: Kind, tables: list[Tensor]) -> Tensor:
    """Sum of m(T) * max of the errors in T; errors that tie for the largest share the gradient."""
    errors = errors_of(label_margins(values, target, kind), kind)
    losses = (errors * tables[0].to(errors.dtype)).sum(dim=1)
    for sets, masses in zip(tables[1::2], tables[2::2], strict=True):
        losses = losses + (errors[:, sets].amax(dim=2) * masses.to(errors.dtype)).sum(dim=1)
    return losses


def _relevance_of_terms(values: Tensor, target: Tensor, kind: Kind, tables: list[Tensor]) -> Tensor:
    """The same with masses that grow with the share of relevant labels of their sets."""
    errors = errors_of(label_margins(values, target, kind), kind)
    relevant, betas, scales = _relevance(target, tables)
    singles, *larger = tables[3:]
    losses = (errors * (singles * (1 + betas * relevant) * scales).to(errors.dtype)).sum(dim=1)
    for sets, masses in zip(larger[::2], larger[1::2], strict=True):
        masses = masses * (1 + betas * relevant[:, sets].mean(dim=2)) * scales
        losses = losses + (errors[:, sets].amax(dim=2) * masses.to(errors.dtype)).sum(dim=1)
    return losses


def _table(values: Tensor, target: Tensor, kind: Kind, tables: list[Tensor]) -> Tensor:
    margins = label_margins(values, target, kind)
    order = _worst_first(margins)
    return _add_steps(errors_of(margins, kind), order, tables[0][_indices_of_nested_sets(order)])


def _relevance_of_table(values: Tensor, target: Tensor, kind: Kind, tables: list[Tensor]) -> Tensor:
    margins = label_margins(values, target, kind)
    relevant, betas, scales = _relevance(target, tables)
    worths, shares = tables[3:]
    order = _worst_first(margins)
    indices = _indices_of_nested_sets(order)
    of_relevant = (shares[indices] * relevant[:, None, :]).sum(dim=2)
    return _add_steps(errors_of(margins, kind), order, (worths[indices] + betas * of_relevant) * scales)


def _relevance_by_count(values: Tensor, target: Tensor, kind: Kind, tables: list[Tensor]) -> Tensor:
    """With j labels right, a of them relevant, and R relevant: v(j / K) * (1 + beta * a / j) / (1 + beta * R / K)."""
    margins = label_margins(values, target, kind)
    relevant, betas, scales = _relevance(target, tables)
    order = _worst_first(margins)
    worths = tables[3].flip(0)[:-1]  # of n_labels, ..., 1 labels
    sizes = torch.arange(order.shape[1], 0, -1, dtype=worths.dtype, device=order.device)
    in_set = _sums_from_the_end(relevant.gather(1, order))
    return _add_steps(errors_of(margins, kind), order, worths * (1 + betas * in_set / sizes) * scales)


def _relevance(target: Tensor, tables: list[Tensor]) -> tuple[Tensor, Tensor, Tensor]:
    """Relevant labels, and how masses grow in each row: where a share s of a set is relevant, (1 + beta * s) * scale.

    Where all labels that carry a mass are relevant, the base remains.
    """
    beta, shapley, carriers = tables[:3]
    relevant = (target != 0).to(shapley.dtype)
    are_all = ((1 - relevant) * carriers).sum(dim=1, keepdim=True) == 0
    totals = 1 + beta * (relevant * shapley).sum(dim=1, keepdim=True)
    betas = torch.where(are_all, torch.zeros_like(totals), beta)
    return relevant, betas, 1 / torch.where(are_all, torch.ones_like(totals), totals)


def _worst_first(margins: Tensor) -> Tensor:
    return margins.detach().argsort(dim=1, descending=True, stable=True)


def _indices_of_nested_sets(order: Tensor) -> Tensor:
    """The place in a table of all labels, of all but the worst, and so on."""
    return _sums_from_the_end(torch.bitwise_left_shift(torch.ones_like(order), order))


def _sums_from_the_end(steps: Tensor) -> Tensor:
    return steps.flip(1).cumsum(dim=1).flip(1)


def _add_steps(errors: Tensor, order: Tensor, worths: Tensor) -> Tensor:
    """Errors from the largest down, each times what its label adds to those of smaller errors."""
    steps = worths - F.pad(worths[:, 1:], (0, 1))
    return (steps.to(errors.dtype) * errors.gather(1, order)).sum(dim=1)


_LOSSES: dict[str, Callable[[Tensor, Tensor, Kind, list[Tensor]], Tensor]] = {
    "ordered": _ordered,
    "terms": _terms,
    "table": _table,
    "relevance by count": _relevance_by_count,
    "relevance of terms": _relevance_of_terms,
    "relevance of a table": _relevance_of_table,
}


@torch.compiler.assume_constant_result
def tables_of(measure: Any, n_labels: int, device: torch.device) -> list[Any]:
    """What the loss under a measure is computed from, in doubles where the device has them: see `_recipe_of`."""
    _check_complete(measure)
    return _find(measure, n_labels, device).tables


@torch.compiler.assume_constant_result
def _loss_name(measure: Any, n_labels: int, device: torch.device) -> str:
    _check_complete(measure)
    return _find(measure, n_labels, device).name


@torch.compiler.assume_constant_result
def tables_made_by(make: Callable[[Any], Measure], parameter: Any, n_labels: int, device: Any) -> list[Any]:
    """`tables_of` a measure that is yet to be made: this works while compiling, too."""
    return _find(make(parameter), n_labels, device).tables


def constant(number: Any) -> Any:
    """The same number, which `torch.compile` must not take for one that changes from call to call."""
    if isinstance(number, float):
        return float.fromhex(number.hex())
    return operator.index(number) if isinstance(number, int) else number


def _check_complete(measure: Any) -> None:
    """Refuse a measure made in the very function that is being compiled: it is seen without its parameters."""
    if is_dataclass(measure) and not {field.name for field in fields(measure)} <= vars(measure).keys():
        raise ValueError(f"make the {type(measure).__name__} outside of the compiled function.")


def _find(measure: Any, n_labels: int, device: torch.device) -> _Recipe:
    # While torch.export traces, tensors are made without their numbers: such ones must not be kept.
    keep = type(torch.empty(0)) is Tensor and isinstance(measure, Hashable)
    return (_make_once if keep else _make_once.__wrapped__)(measure, n_labels, device)


@lru_cache(MAX_MEASURES)
def _make_once(measure: Any, n_labels: int, device: torch.device) -> _Recipe:
    name, tables = _recipe_of(measure.form(n_labels))
    with torch.inference_mode(False):  # tables first asked for in an evaluation must serve in training, too
        return _Recipe(name, [table if isinstance(table, int) else as_tensor(table, device) for table in tables])


def as_tensor(array: np.ndarray, device: torch.device) -> Tensor:
    """A copy of whole numbers, or of doubles: in single precision on Apple's devices, which have no doubles."""
    dtype = None if array.dtype.kind == "i" else torch.float32 if device.type == "mps" else torch.float64
    return torch.tensor(array.copy(), dtype=dtype, device=device)  # torch takes no reversed views
