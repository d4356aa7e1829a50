"""What users pass in beside or as arrays on a device: checked there, with one answer read back.

The messages are those for NumPy arrays. Only to name the place of a mistake are more numbers read.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import Array, device_of, is_foreign, namespace_of, refuse_sparse, to_device_of, xp_of
from choral._validation import LARGEST_WEIGHT, check_array, check_form
from choral.decisions.arrays.devices import check_doubles
from choral.decisions.label_weights import EXACT, check_weights_shape, off_one


def reference_of(**arrays: Any) -> Array:
    """The array whose device is that of all; two devices are refused."""
    (name, first), *others = ((name, array) for name, array in arrays.items() if is_foreign(array))
    for other, array in others:
        devices = device_of(first), device_of(array)
        if devices[0] != devices[1]:
            raise ValueError(f"{name} and {other} must be on one device; got {devices[0]} and {devices[1]}.")
    check_doubles(first)
    return first


def placed(name: str, values: Any, like: Array) -> Array:
    """An array as it is, without a record of its gradient; anything else is put beside the array ``like``."""
    if is_foreign(values):
        namespace_of(like, values)  # refuses two libraries
        reference_of(distribution=like, **{name: values})
        refuse_sparse(name, values)
        return values.detach() if hasattr(values, "detach") else values
    values = check_array(name, values)
    return to_device_of(values.toarray() if sp.issparse(values) else values, like)


def check_matrix(name: str, matrix: Array) -> Array:
    """A numeric matrix with at least one row and one column."""
    check_form(name, matrix, is_numeric=xp_of(matrix).isdtype(matrix.dtype, ("bool", "integral", "real floating")))
    return matrix


def check_hard(name: str, labels: Array) -> Array:
    """Labels of 0 and 1, of whatever shape, as a copy in uint8."""
    xp = xp_of(labels)
    if not xp.isdtype(labels.dtype, "bool"):  # which is never wrong, and not to be compared with numbers
        refuse_where(f"{name} must be binary, 0 or 1", name, labels, (labels != 0) & (labels != 1))
    return xp.astype(labels, xp.uint8)


def check_rows(name: str, labels: Any, n_labels: int, like: Array) -> tuple[Array, bool]:
    """Hard labels beside a distribution, one row or many, as uint8; and whether it was one row."""
    labels = placed(name, labels, like)
    single = labels.ndim == 1
    labels = check_matrix(name, labels[None, :] if single else labels)
    if labels.shape[1] != n_labels:
        raise ValueError(f"{name} must have a column for each of {n_labels} labels; got {labels.shape[1]}.")
    return check_hard(name, labels), single


def check_weights(probabilities: Array, n_labelsets: int) -> tuple[Array, bool]:
    """Rows of probabilities as doubles that sum to 1, and whether they came with an axis for instances."""
    xp, name = xp_of(probabilities), "probabilities"
    check_weights_shape(tuple(probabilities.shape), n_labelsets)
    check_matrix(name, xp.reshape(probabilities, (-1, n_labelsets)))
    weights = xp.astype(probabilities, xp.float64)
    sums = xp.sum(weights, axis=-1, keepdims=True)
    wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    wrong_sums = ~(xp.abs(sums - 1) <= _tolerance(probabilities))
    if xp.any(wrong | wrong_sums):
        refuse_where(f"{name} must be finite and non-negative", name, weights, wrong)
        row = _first(wrong_sums)[0]
        raise ValueError(off_one(float(xp.reshape(sums, (-1,))[row]), row if weights.ndim == 2 else None))
    weights = weights / xp.where(xp.abs(sums - 1) <= EXACT, xp.ones_like(sums), sums)
    return xp.reshape(weights, (-1, n_labelsets)), weights.ndim == 2


def check_shares(sample_weight: Any, n_samples: int, like: Array) -> Array:
    """What share of the whole each sample has, equal ones for None; of shape (1, n_samples)."""
    if sample_weight is None:
        return to_device_of(np.full((1, n_samples), 1 / n_samples), like)
    name, weights = "sample_weight", placed("sample_weight", sample_weight, like)
    if tuple(weights.shape) != (n_samples,):
        raise ValueError(f"{name} must have one entry for each of {n_samples} rows; got shape {tuple(weights.shape)}.")
    xp = xp_of(weights)
    weights = xp.astype(check_matrix(name, weights[None, :]), xp.float64)[0, :]
    wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    refuse_where(f"{name} must be finite and non-negative", name, weights, wrong)
    total = xp.sum(weights)
    if total == 0:
        raise ValueError(f"{name} must not be zero everywhere.")
    return (weights / total)[None, :]


def _tolerance(probabilities: Array) -> float:
    """How far sums may be off: the square root of what the numbers resolve."""
    xp = xp_of(probabilities)
    dtype = probabilities.dtype if xp.isdtype(probabilities.dtype, "real floating") else xp.float64
    return float(xp.finfo(dtype).eps) ** 0.5


def refuse_where(rule: str, name: str, array: Array, wrong: Array) -> None:
    """Raise for the first place where ``wrong`` holds, if there is one."""
    xp = xp_of(array)
    if xp.any(wrong):
        place = _first(wrong)
        value = float(array[place]) if xp.isdtype(array.dtype, "real floating") else int(array[place])
        raise ValueError(f"{rule}; {name}[{', '.join(map(str, place))}] is {value}.")


def _first(wrong: Array) -> tuple[int, ...]:
    xp = xp_of(wrong)
    flat = int(xp.argmax(xp.astype(xp.reshape(wrong, (-1,)), xp.int8)))
    return tuple(int(number) for number in np.unravel_index(flat, tuple(wrong.shape)))
