"""What users pass into decisions: checked once, where it lies.

NumPy arrays, lists, frames and SciPy matrices stay on the host; arrays of other libraries stay on their device, and one
answer is read back. Only to name the place of a mistake are more numbers read.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import (
    Array,
    device_of,
    is_foreign,
    namespace_of,
    refuse_sparse,
    to_device_of,
    to_host,
    to_library_of,
    xp_of,
)
from choral._validation import (
    LARGEST_WEIGHT,
    check_array,
    check_form,
    check_matrix,
    check_sample_weight,
    refuse_entry_where,
)
from choral._validation import refuse_where as refuse_where_on_host
from choral.rows.blocks import check_binary, row_slices

EXACT = 1e-14  # a sum this near to 1 is left alone: dividing by it once more would change the last bits


def reference_of(**arrays: Any) -> Array | None:
    """The array on whose device all will be, or None where all are NumPy's; two devices are refused."""
    namespace_of(*arrays.values())  # refuses two libraries
    foreign = [(name, array) for name, array in arrays.items() if is_foreign(array)]
    if not foreign:
        return None
    (name, first), *others = foreign
    for other, array in others:
        devices = device_of(first), device_of(array)
        if devices[0] != devices[1]:
            raise ValueError(f"{name} and {other} must be on one device; got {devices[0]} and {devices[1]}.")
    _check_doubles(first)
    return first


def _check_doubles(array: Array) -> None:
    """Refuse a device without double precision, on which ties could not be told from differences."""
    xp, device = xp_of(array), device_of(array)
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    if floats.get("float64") != xp.float64:  # JAX calls its float32 so unless told otherwise
        raise TypeError(
            f"decisions compare risks to 1e-12 and need float64, which {library_of(array)} has not on {device}; "
            "move the arrays to the CPU, or set jax_enable_x64 in JAX."
        )


def library_of(array: Array) -> str:
    """The name of an array's library, for messages."""
    return type(array).__module__.partition(".")[0]


def read_array(name: str, values: Any, like: Array | None) -> Any:
    """Values as an array where the reference is: NumPy's or a SciPy matrix for None, else one on its device.

    Foreign arrays lose the record of their gradient.
    """
    if like is None:
        return check_array(name, values)
    if is_foreign(values):
        reference_of(distribution=like, **{name: values})  # refuses two libraries, two devices
        refuse_sparse(name, values)
        return values.detach() if hasattr(values, "detach") else values
    values = check_array(name, values)
    return to_device_of(values.toarray() if sp.issparse(values) else values, like)


def check_numeric_matrix(name: str, matrix: Any) -> Any:
    """A matrix of numbers with at least one row and one column, of any library."""
    if not is_foreign(matrix):
        return check_matrix(name, matrix)
    check_form(name, matrix, is_numeric=xp_of(matrix).isdtype(matrix.dtype, ("bool", "integral", "real floating")))
    return matrix


def check_hard(name: str, labels: Any, n_labels: int | None = None, like: Array | None = None) -> tuple[Array, bool]:
    """Hard labels as uint8, of shape (n_rows, n_labels), where the reference is; and whether it was one row.

    Without a number of labels, there must be an axis for rows.
    """
    labels = read_array(name, labels, like)
    single = n_labels is not None and labels.ndim == 1 and not sp.issparse(labels)
    labels = check_numeric_matrix(name, labels[None, :] if single else labels)
    if n_labels is not None and labels.shape[1] != n_labels:
        raise ValueError(f"{name} must have a column for each of {n_labels} labels; got {labels.shape[1]}.")
    return as_labels(name, labels.toarray() if sp.issparse(labels) else labels), single


def as_labels(name: str, labels: Array) -> Array:
    """Labels of 0 and 1 as uint8; all else is refused."""
    if not is_foreign(labels):
        if labels.ndim == 2:
            for rows in row_slices(labels.shape, labels.itemsize):
                check_binary(name, labels[rows], rows.start)
        else:
            refuse_where(f"{name} must be binary, 0 or 1", name, labels, (labels != 0) & (labels != 1))
        return np.ascontiguousarray(labels, dtype=np.uint8)
    xp = xp_of(labels)
    if not xp.isdtype(labels.dtype, "bool"):  # which is never wrong, and not to be compared with numbers
        refuse_where(f"{name} must be binary, 0 or 1", name, labels, (labels != 0) & (labels != 1))
    return xp.astype(labels, xp.uint8)


def check_probabilities(probabilities: Any, n_labelsets: int) -> tuple[Any, bool]:
    """Rows of probabilities as doubles that sum to 1, dense or CSR, and whether there was an axis for instances."""
    name, shape = "probabilities", tuple(probabilities.shape)
    if len(shape) not in (1, 2):
        raise ValueError(f"{name} must have the shape (n_labelsets,) or (n_instances, n_labelsets); got {shape}.")
    if shape[-1] != n_labelsets:
        raise ValueError(f"{name} must have one entry for each of {n_labelsets} label sets; got {shape[-1]}.")
    tolerance, has_instances = _tolerance(probabilities), len(shape) == 2
    if sp.issparse(probabilities):
        return _check_sparse_probabilities(name, probabilities, tolerance), True
    rows = check_numeric_matrix(name, probabilities if has_instances else probabilities[None, :])
    xp = xp_of(rows)
    weights = xp.astype(rows, xp.float64)
    wrong = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    parts = (weights, wrong) if has_instances else (weights[0, :], wrong[0, :])
    refuse_where(f"{name} must be finite and non-negative", name, *parts)
    sums = xp.sum(weights, axis=1)
    _check_sums(sums, tolerance, has_instances)
    return weights / _divisors(sums)[:, None], has_instances


def _check_sparse_probabilities(name: str, probabilities: Any, tolerance: float) -> sp.csr_array:
    weights = sp.csr_array(check_matrix(name, probabilities), dtype=float, copy=True)
    wrong = ~((weights.data >= 0) & (weights.data <= LARGEST_WEIGHT))
    refuse_entry_where(f"{name} must be finite and non-negative", name, weights, wrong)
    weights.eliminate_zeros()
    sums = np.asarray(weights.sum(axis=1)).ravel()
    _check_sums(sums, tolerance, has_instances=True)
    weights.data /= np.repeat(_divisors(sums), np.diff(weights.indptr))
    return weights


def _tolerance(probabilities: Any) -> float:
    """How far sums may be off: as in scikit-learn, the square root of what the numbers resolve."""
    xp = xp_of(probabilities) if is_foreign(probabilities) else np
    dtype = probabilities.dtype if xp.isdtype(probabilities.dtype, "real floating") else xp.float64
    return float(xp.finfo(dtype).eps) ** 0.5


def _check_sums(sums: Array, tolerance: float, has_instances: bool) -> None:
    xp = xp_of(sums)
    wrong = ~(xp.abs(sums - 1) <= tolerance)
    if xp.any(wrong):
        (row,) = _first(wrong)
        total = float(sums[row])
        where = f"those in row {row} sum to {total:.10g}" if has_instances else f"their sum is {total:.10g}"
        raise ValueError(f"probabilities must sum to 1{' in each row' if has_instances else ''}; {where}.")


def _divisors(sums: Array) -> Array:
    xp = xp_of(sums)
    return xp.where(xp.abs(sums - 1) <= EXACT, xp.ones_like(sums), sums)


def check_shares(sample_weight: Any, n_samples: int, like: Array | None) -> Array:
    """What share of the whole each sample has, equal ones for None; of shape (n_samples,)."""
    if sample_weight is None:
        return to_library_of(np.full(n_samples, 1 / n_samples), like)
    name, weights = "sample_weight", read_array("sample_weight", sample_weight, like)
    if is_foreign(weights):
        weights = to_host(check_numeric_matrix(name, weights[None, ...])[0, ...])
    checked: Any = check_sample_weight(weights, n_samples)
    return to_library_of(checked / checked.sum(), like)


def refuse_where(rule: str, name: str, array: Array, wrong: Array) -> None:
    """Raise for the first place where ``wrong`` holds, if there is one; of arrays of any library."""
    if not is_foreign(array):
        refuse_where_on_host(rule, name, array, wrong)
        return
    xp = xp_of(array)
    if xp.any(wrong):
        place = _first(wrong)
        value = float(array[place]) if xp.isdtype(array.dtype, "real floating") else int(array[place])
        raise ValueError(f"{rule}; {name}[{', '.join(map(str, place))}] is {value}.")


def _first(wrong: Array) -> tuple[int, ...]:
    xp = xp_of(wrong)
    flat = int(xp.argmax(xp.astype(xp.reshape(wrong, (-1,)), xp.int8)))
    return tuple(int(number) for number in np.unravel_index(flat, tuple(wrong.shape)))
