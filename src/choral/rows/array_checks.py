"""The door for labels, predictions and weights of any library: `choral._validation`, for arrays that stay in place.

Arrays in the memory of the host become NumPy's here, without a copy. Of others the form is checked; their values are,
block by block, by whoever walks the rows.
"""

from typing import Any

from choral._array_api import (
    Array,
    as_real,
    device_of,
    first_foreign,
    is_foreign,
    namespace_of,
    read_in_place,
    refuse_sparse,
    to_device,
    to_device_of,
    to_host,
    xp_of,
)
from choral._validation import (
    LARGEST_WEIGHT,
    Labels,
    check_form,
    check_labels,
    check_matrix,
    check_same_shape,
    check_sample_weight,
)


def check_pair(y_true: Any, y_pred: Any) -> tuple[Labels, Labels]:
    """True labels and predictions of one shape: both NumPy's or SciPy's, or at least one on a device."""
    if namespace_of(y_true, y_pred) is None:  # two libraries are refused
        return check_labels(y_true, y_pred)
    if is_foreign(y_true) and is_foreign(y_pred) and device_of(y_true) != device_of(y_pred):
        raise ValueError(f"y_true and y_pred must be on one device; got {device_of(y_true)} and {device_of(y_pred)}.")
    true, pred = read_in_place(y_true), read_in_place(y_pred)
    if first_foreign(true, pred) is None:
        return check_labels(true, pred)
    true, pred = _check_matrix("y_true", true), _check_matrix("y_pred", pred)
    check_same_shape(true, pred, "y_pred")
    return true, pred


def check_row_weights(sample_weight: Any, matrices: tuple[Labels, Labels]) -> Any:
    """Weights as `check_sample_weight` has them, where the matrices of `check_pair` are."""
    if sample_weight is None:
        return None
    weights, n_rows, like = read_in_place(sample_weight), matrices[0].shape[0], first_foreign(*matrices)
    if like is not None and is_foreign(weights):
        namespace_of(like, weights)  # refuses two libraries
        if _are_fine(weights, n_rows):
            return as_real(to_device(weights, like))
    # NumPy's check says what is wrong, if anything is.
    checked: Any = check_sample_weight(to_host(weights) if is_foreign(weights) else weights, n_rows)
    return checked if like is None else to_device_of(checked, like)


def _are_fine(weights: Array, n_rows: int) -> bool:
    xp = xp_of(weights)
    if tuple(weights.shape) != (n_rows,) or not _is_numeric(weights):
        return False
    weights = as_real(weights)
    least, total = to_host(xp.stack([xp.min(weights), xp.sum(weights)])).tolist()
    return least >= 0 and 0 < total <= LARGEST_WEIGHT  # nan fails both


def _check_matrix(name: str, matrix: Any) -> Labels:
    if not is_foreign(matrix):
        return check_matrix(name, matrix)
    refuse_sparse(name, matrix)
    check_form(name, matrix, is_numeric=_is_numeric(matrix))
    return matrix


def _is_numeric(array: Array) -> bool:
    return xp_of(array).isdtype(array.dtype, ("bool", "integral", "real floating"))
