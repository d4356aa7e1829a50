"""The one door for data: true labels and predictions of any kind in, rows out that are checked as they are walked.

Shapes, kinds, names of columns and orders of rows are checked here, once, without a copy of the data. Values are
checked block by block by whoever walks the rows anyway, while a block is in the cache: a second pass over the data
would cost more than the losses themselves.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from choral._array_api import (
    Array,
    Namespace,
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
from choral._typing import LabelMatrix, RowWeights
from choral._validation import LARGEST_WEIGHT, SMALLEST_WEIGHT, Labels, check_form, check_matrix, check_sample_weight
from choral.rows.blocks import RowOptions, Rows, all_binary
from choral.rows.dense import DenseRows
from choral.rows.device import DeviceRows
from choral.rows.sparse import SparseRows, drop_unknown, harden_sparse

Summary = TypeVar("Summary")


def open_rows(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    observed: LabelMatrix | None = None,
    sample_weight: RowWeights | None = None,
    threshold: float | None = None,
    pred_name: str = "y_pred",
    allow_missing: bool = True,
    allow_no_weight: bool = False,
) -> Rows:
    """True labels and predictions of any kind, ready to be walked.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan (or None, or pandas' NA) where a label is missing. In a sparse matrix, what is not
        stored is 0, not missing.
    y_pred : likewise
        Predicted labels, or scores in [0, 1]. Nobody looks at those of missing labels.
    observed : likewise, of booleans, optional
        True where a label is known, unless it is nan.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    threshold : float, optional
        Predict 1 where a score, of any range, is at least the threshold; labels stay as they are.
    pred_name : str
        How errors call the predictions.
    allow_missing : bool
        Whether labels may be missing.
    allow_no_weight : bool
        Whether all weights may be 0, as they may in a part of the data.
    """
    options = RowOptions(pred_name, threshold, allow_missing)
    for name, other in ((pred_name, y_pred), ("observed", observed), ("sample_weight", sample_weight)):
        check_alignment(y_true, other, name)
    if _is_dask(y_true, y_pred, observed, sample_weight):
        from choral.rows.dask_arrays import DaskRows  # dask is not needed otherwise

        return DaskRows(y_true, y_pred, observed, sample_weight, options)
    true, pred = _read_pair(y_true, y_pred, pred_name)
    mask = None if observed is None else _read_mask(observed, true)
    weights = check_row_weights(sample_weight, (true, pred), allow_none=allow_no_weight)
    if sp.issparse(true) and sp.issparse(pred):
        return _open_sparse(true, pred, mask, weights, options)
    kind = DenseRows if first_foreign(true, pred) is None else DeviceRows
    if threshold is not None:
        unchecked = kind(true, pred, mask, weights, replace(options, threshold=None))
        if unchecked.has_hard_predictions():
            options = replace(options, threshold=None)
        else:
            if sp.issparse(pred):
                check_sparse_threshold(threshold)
            if not 0 <= threshold <= 1 and unchecked.has_unit_scores():
                warn_of_threshold(pred_name, threshold)
    return kind(true, pred, mask, weights, options)


def add_up(rows: Sequence[Rows], summarise: Callable[[Sequence[Rows]], Summary]) -> Summary:
    """What ``summarise`` makes of several models' rows of the same truth; of dask arrays, the sum over their blocks."""
    if any(some.is_lazy for some in rows):
        from choral.rows.dask_arrays import add_up_blocks

        return add_up_blocks(rows, summarise)
    return summarise(rows)


def _open_sparse(
    true: Labels, pred: Labels, mask: Labels | None, weights: np.ndarray | None, options: RowOptions
) -> SparseRows:
    missing = None
    if options.allow_missing:
        true, pred, missing = drop_unknown(true, pred, mask)
    has_scores = options.threshold is not None and not all_binary(pred.data)
    if options.threshold is not None and has_scores:
        if check_sparse_threshold(options.threshold) > 1 and pred.data.min() >= 0 and pred.data.max() <= 1:
            warn_of_threshold(options.pred_name, options.threshold)
        pred = harden_sparse(options.pred_name, pred, options.threshold)
    rows = SparseRows(true, pred, weights, missing, pred_name=options.pred_name)
    rows.had_scores = has_scores
    return rows


def check_sparse_threshold(threshold: float) -> float:
    """Refuse a threshold that absent entries would reach."""
    if not threshold > 0:
        raise ValueError(
            f"a threshold for sparse scores must be above 0, the score of absent entries; got {threshold}."
        )
    return threshold


def warn_of_threshold(name: str, threshold: float) -> None:
    """Say that a threshold outside [0, 1] predicts no label, or every one, from scores in [0, 1]."""
    if threshold > 1:
        effect, remedy = "no label is predicted", "Divide a percentage by 100"
    else:
        effect, remedy = "every label is predicted", "A threshold of 0.5 cuts scores where 0 cuts logits"
    warnings.warn(
        f"threshold should lie in [0, 1], as all values of {name} do; it is {threshold:g}, so {effect}. {remedy}.",
        UserWarning,
        stacklevel=3,
    )


def _read_pair(y_true: Any, y_pred: Any, pred_name: str) -> tuple[Labels, Labels]:
    """Both of one shape: NumPy's or SciPy's, or at least one on a device."""
    namespace_of(y_true, y_pred)  # two libraries are refused
    if is_foreign(y_true) and is_foreign(y_pred) and device_of(y_true) != device_of(y_pred):
        devices = f"{device_of(y_true)} and {device_of(y_pred)}"
        raise ValueError(f"y_true and {pred_name} must be on one device; got {devices}.")
    true, pred = read_matrix("y_true", y_true), read_matrix(pred_name, y_pred)
    check_same_shape(true, pred, pred_name)
    return true, pred


def read_matrix(name: str, matrix: Any) -> Labels:
    """A matrix where it lies: arrays in the memory of the host become NumPy's, without a copy, sparse ones CSR."""
    matrix = read_in_place(matrix) if is_foreign(matrix) else _read_rows(_read_frame(matrix))
    if not is_foreign(matrix):
        return check_matrix(name, matrix)
    refuse_sparse(name, matrix)
    check_form(name, matrix, is_numeric=_is_numeric(matrix))
    return matrix


def _read_rows(values: Any) -> Any:
    """A list of arrays of another library with NumPy's in their place: NumPy could not read bfloat16 among them."""
    if not (isinstance(values, list | tuple) and values and is_foreign(values[0])):
        return values
    return [to_host(read_in_place(row)) for row in values]


def check_same_shape(y_true: Labels, y_pred: Labels, pred_name: str, true_name: str = "y_true") -> None:
    """Refuse matrices that differ in shape."""
    if tuple(y_true.shape) != tuple(y_pred.shape):
        raise ValueError(
            f"{true_name} and {pred_name} must have the same shape (n_samples, n_labels); "
            f"got {tuple(y_true.shape)} and {tuple(y_pred.shape)}."
        )


def _read_mask(observed: Any, true: Labels) -> Labels:
    """A mask of the shape of the true labels, and where they are."""
    namespace_of(true, observed)  # two libraries are refused
    mask = read_matrix("observed", observed)
    check_same_shape(true, mask, "observed")
    is_bool = xp_of(mask).isdtype(mask.dtype, "bool") if is_foreign(mask) else mask.dtype == bool
    if not is_bool:
        raise ValueError(f"observed must hold booleans, True where a label is known; got dtype {mask.dtype}.")
    return mask if is_foreign(true) else to_host(mask)


def check_row_weights(sample_weight: Any, matrices: tuple[Labels, Labels], *, allow_none: bool = False) -> Any:
    """Weights as `check_sample_weight` has them, where the matrices are."""
    if sample_weight is None:
        return None
    weights, n_rows, like = read_in_place(sample_weight), matrices[0].shape[0], first_foreign(*matrices)
    if like is not None and is_foreign(weights):
        namespace_of(like, weights)  # refuses two libraries
        if _are_fine(weights, n_rows):
            return as_real(to_device(weights, like))
    # NumPy's check says what is wrong, if anything is.
    checked: Any = check_sample_weight(to_host(weights), n_rows, allow_none=allow_none)
    return checked if like is None else to_device_of(checked, like)


def _are_fine(weights: Array, n_rows: int) -> bool:
    xp = xp_of(weights)
    if tuple(weights.shape) != (n_rows,) or not _is_numeric(weights):
        return False
    weights = as_real(weights)
    least, total = to_host(xp.stack([xp.min(weights), xp.sum(weights)])).tolist()
    return least >= 0 and SMALLEST_WEIGHT <= total <= LARGEST_WEIGHT  # nan fails both


def _is_numeric(array: Array) -> bool:
    return _is_numeric_dtype(xp_of(array), array.dtype)


@lru_cache(maxsize=256)  # torch takes long to tell, and two matrices of a small batch ask
def _is_numeric_dtype(xp: Namespace, dtype: Any) -> bool:
    return xp.isdtype(dtype, ("bool", "integral", "real floating"))


def _is_dask(*values: Any) -> bool:
    kinds: list[Any] = [type(value) for value in values]
    return any(map(_is_dask_kind, kinds))


@lru_cache(maxsize=256)
def _is_dask_kind(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr")


# Frames of pandas and polars, known by what they can do (columns and to_numpy), so that neither is needed


def _read_frame(values: Any) -> Any:
    """A frame as an array, with nan for whatever it calls missing; anything else as it is."""
    if not _is_frame(values):
        return values
    array = values.to_numpy()
    if array.dtype != object or not hasattr(values, "isna"):
        return array
    kinds = {getattr(dtype, "kind", "O") for dtype in values.dtypes}  # pandas' nullable types come as objects
    if kinds == {"b"} and not values.isna().to_numpy().any():
        return values.to_numpy(dtype=bool)
    if kinds <= set("buif"):
        return values.to_numpy(dtype=float, na_value=np.nan)
    return np.where(values.isna(), np.nan, array)  # text, which is refused with its place


def _is_frame(values: Any) -> bool:
    """Whether this is a table in memory with named columns."""
    return hasattr(values, "columns") and hasattr(values, "to_numpy") and not _is_dask(values)


def column_names(values: Any) -> tuple[str, ...] | None:
    """The names of the columns of a frame; None for anything else, and where nobody named them."""
    columns = list(getattr(values, "columns", []))
    return None if _are_numbers(columns) else tuple(map(str, columns))


def row_names(values: Any) -> list[Any] | None:
    """The index of a pandas frame as a list; None for anything else, and where nobody named its rows."""
    index = _index_of(values)
    names = None if index is None else list(index)
    return None if names is None or _are_numbers(names) else names


def check_alignment(y_true: Any, other: Any, name: str, true_name: str = "y_true") -> None:
    """Refuse two frames whose columns or rows are named otherwise: they would be compared by position."""
    if other is None or is_foreign(y_true) or is_foreign(other):
        return  # arrays have no names
    if _is_frame(y_true) and _is_frame(other):
        _check_columns(list(y_true.columns), list(other.columns), name, true_name)
    true_index, index = _index_of(y_true), _index_of(other)
    if true_index is not None and index is not None and not true_index.equals(index):
        _check_index(np.asarray(true_index), np.asarray(index), name, true_name)


def _check_columns(true: list, columns: list, name: str, true_name: str) -> None:
    if true == columns or len(true) != len(columns) or _are_numbers(true) or _are_numbers(columns):
        return  # of one without names, columns are matched by position; another number of them is a wrong shape
    if set(true) == set(columns) and len(set(true)) == len(true):
        raise ValueError(
            f"{name} must have the columns of {true_name} in the same order; {name}[{true_name}.columns] puts them so."
        )
    place = next(place for place, pair in enumerate(zip(true, columns, strict=True)) if pair[0] != pair[1])
    raise ValueError(
        f"{name} must have the columns of {true_name}; column {place} is {columns[place]!r}, "
        f"that of {true_name} {true[place]!r}."
    )


def _check_index(true: np.ndarray, index: np.ndarray, name: str, true_name: str) -> None:
    if true.size != index.size:
        return  # a wrong shape, which is refused as such
    if _same_values(true, index):
        raise ValueError(
            f"{name} has the rows of {true_name} in another order, by its index; {name}.loc[{true_name}.index] has "
            f"them in the same. If they are in the same order already, pass {name}.to_numpy()."
        )
    if not _are_numbers(true.tolist()) and not _are_numbers(index.tolist()):
        raise ValueError(
            f"{name} must have the index of {true_name}; its index has other values. If its rows are in the same "
            f"order, pass {name}.to_numpy()."
        )


def _same_values(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two indices hold the same values, each once."""
    if first.dtype.kind in "iu" and second.dtype.kind in "iu":  # quicker than sets
        first, second = np.sort(first), np.sort(second)
        return bool(np.array_equal(first, second) and (np.diff(first) > 0).all())
    return set(first.tolist()) == set(second.tolist()) and len(set(first.tolist())) == first.size


def _index_of(values: Any) -> Any:
    """The names of the rows of a pandas frame or series."""
    index = None if _is_dask(values) else getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def _are_numbers(names: list) -> bool:
    """Whether these are 0, 1, 2, ...: what columns and rows are called where nobody named them."""
    return names == list(range(len(names)))
