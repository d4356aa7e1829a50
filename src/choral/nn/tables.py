"""The numbers of a measure as tensors, made once: a training step waits neither for NumPy nor for a copy to the device.

`torch.compile` finds them while it traces, and takes them for constants. They come in lists: it confuses two constant
tensors of one function, but not those in lists.
"""

import operator
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor

from choral.measures import AdditiveMeasure, Capacity, CountingMeasure, MoebiusMeasure, RelevanceMeasure

MOST_MEASURES = 32  # a Capacity on 20 labels takes 8 MiB


@torch.compiler.assume_constant_result
def tables_of(measure: Any, n_labels: int, device: torch.device) -> list[Tensor]:
    """What a measure is made of, in doubles where the device has them.

    The ``deficits`` of a counting measure, the weights of an additive one, the values of a capacity and those of the
    base of a relevance measure. Of a Moebius measure, for each size: sets, of shape (n_sets, size), and their masses.
    """
    # Of a measure made in the very function that is being compiled, one is shown without its parameters.
    if is_dataclass(measure) and not {field.name for field in fields(measure)} <= vars(measure).keys():
        raise ValueError(f"make the {type(measure).__name__} outside of the compiled function.")
    return _tables(measure, n_labels, device)


@torch.compiler.assume_constant_result
def tables_made_by(make: Callable[[Any], CountingMeasure], parameter: Any, n_labels: int, device: Any) -> list[Tensor]:
    """`tables_of` a measure that is yet to be made: this works while compiling, too."""
    return _tables(make(parameter), n_labels, device)


def constant(number: Any) -> Any:
    """The same number, which `torch.compile` must not take for one that changes from call to call."""
    if isinstance(number, float):
        return float.fromhex(number.hex())
    return operator.index(number) if isinstance(number, int) else number


def _tables(measure: Any, n_labels: int, device: torch.device) -> list[Tensor]:
    # While torch.export traces, tensors are made without their numbers: such ones must not be kept.
    make = _made_once if type(torch.empty(0)) is Tensor else _made_once.__wrapped__
    return make(measure, n_labels, device)


@lru_cache(MOST_MEASURES)
def _made_once(measure: Any, n_labels: int, device: torch.device) -> list[Tensor]:
    measure.form(n_labels)
    with torch.inference_mode(False):  # tables first asked for in an evaluation must serve in training, too
        return [as_tensor(array, device) for array in _arrays(measure, n_labels)]


def _arrays(measure: Any, n_labels: int) -> list[np.ndarray]:
    if isinstance(measure, CountingMeasure):
        return [measure.deficits(n_labels)]
    if isinstance(measure, AdditiveMeasure):
        return [measure.weights]
    if isinstance(measure, Capacity):
        return [measure.values]
    if isinstance(measure, RelevanceMeasure):
        return [measure.base.values(n_labels)]
    if isinstance(measure, MoebiusMeasure):
        by_size = groupby(measure.terms, key=lambda term: len(term[0]))  # small sets come first
        return [np.array(column) for _, terms in by_size for column in zip(*terms, strict=True)]
    raise TypeError(f"no loss on tensors is known for {measure!r}; choral.choquet_loss serves it on arrays.")


def as_tensor(array: np.ndarray, device: torch.device) -> Tensor:
    """A copy of whole numbers, or of doubles: in single precision on Apple's devices, which have no doubles."""
    dtype = None if array.dtype.kind == "i" else torch.float32 if device.type == "mps" else torch.float64
    return torch.tensor(array.copy(), dtype=dtype, device=device)  # torch takes no reversed views
