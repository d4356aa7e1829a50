"""Profiles of dask arrays: each block of rows is summarised where it lies, and only the summaries travel."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._optional import require
from choral._validation import Labels, check_vector
from choral.profiles.dask_bundles import sum_over_rows
from choral.profiles.error_profile import ErrorProfile
from choral.rows.array_checks import check_pair, check_row_weights

DaskArray = Any  # dask has no types to say so


def total_profile(y_true: DaskArray, y_pred: DaskArray, sample_weight: Any = None) -> ErrorProfile:
    """The profile of all blocks, by the active Dask client or, where there is none, by threads."""
    da = require("dask.array", "dask")
    _check_shapes(da, y_true, y_pred)
    arrays = {"y_true": y_true, "y_pred": y_pred}
    if sample_weight is not None:
        arrays["sample_weight"] = _check_weights(da, sample_weight, y_true)
    y_true, y_pred, *weights = _cut_alike(arrays)
    functions = [partial(_summarise, place) for place in _places(y_true.chunks[0])]
    total = sum_over_rows(functions, [y_true, y_pred, *weights])
    if not total.n_rows:
        raise ValueError(f"y_true must have at least one row and one label; got shape (0, {total.n_labels}).")
    if not total.total_weight:
        raise ValueError("sample_weight must not be zero everywhere.")
    return total


def _check_shapes(da: Any, y_true: DaskArray, y_pred: DaskArray) -> None:
    """Refuse before any block is computed; sizes that dask does not know are nan, and left to the blocks."""
    for name, array in (("y_true", y_true), ("y_pred", y_pred)):
        if not isinstance(array, da.Array):
            raise TypeError(
                f"{name} must be a dask array; got {type(array).__name__}. ErrorProfile.from_predictions takes arrays "
                "in memory, to_dask_array() makes one of a dask frame."
            )
        if array.ndim != 2:
            raise ValueError(
                f"{name} must be 2-D, of shape (n_samples, n_labels); got {array.ndim}-D of shape {array.shape}."
            )
    if any(true != pred and not np.isnan(true + pred) for true, pred in zip(y_true.shape, y_pred.shape, strict=True)):
        raise ValueError(
            f"y_true and y_pred must have the same shape (n_samples, n_labels); got {y_true.shape} and {y_pred.shape}."
        )


def _check_weights(da: Any, weights: Any, y_true: DaskArray) -> DaskArray:
    """Weights as a dask array of as many rows as there are; their values are left to the blocks."""
    n_rows = y_true.shape[0]
    if not isinstance(weights, da.Array):
        if np.isnan(n_rows):
            raise ValueError("sample_weight must be a dask array too where dask does not know the number of rows.")
        vector = check_vector("sample_weight", weights)
        # cut here, so that each block travels with its own weights alone
        weights = da.from_array(vector, chunks=y_true.chunks[:1] if vector.size == n_rows else -1)
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must be 1-D; got {weights.ndim}-D of shape {weights.shape}.")
    if weights.shape[0] != n_rows and not np.isnan(weights.shape[0] + n_rows):
        raise ValueError(f"sample_weight must have one entry for each of {n_rows} rows; got {weights.shape[0]}.")
    return weights


def _cut_alike(arrays: dict[str, DaskArray]) -> list[DaskArray]:
    """The same blocks of rows for all: where one is cut, all are, so that no blocks are put together."""
    chunks = [array.chunks[0] for array in arrays.values()]
    if not np.isnan(sum(map(sum, chunks))):
        cuts = np.unique(np.concatenate([np.cumsum([0, *sizes]) for sizes in chunks]))
        rows = tuple(np.diff(cuts).tolist()) or (0,)
        return [array if array.chunks[0] == rows else array.rechunk({0: rows}) for array in arrays.values()]
    if len(set(map(len, chunks))) > 1:
        counts = ", ".join(f"{len(sizes)} of {name}" for name, sizes in zip(arrays, chunks, strict=True))
        raise ValueError(
            f"blocks whose numbers of rows are unknown must be equally many; got {counts}. "
            "compute_chunk_sizes() finds the numbers of rows."
        )
    return list(arrays.values())


def _places(sizes: tuple[float, ...]) -> list[str]:
    """From where the rows of each block are counted, to be added to what is said of them."""
    starts = np.cumsum([0, *sizes[:-1]])
    if np.isnan(starts[-1]):
        return [f"Rows are counted within block {index}." for index in range(len(sizes))]
    return [f"Rows are counted from row {start:.0f} of the whole." for start in starts]


def _summarise(place: str, true_blocks: list, pred_blocks: list, weights: list | None = None) -> ErrorProfile:
    """The profile of some rows."""
    true, pred = _side_by_side(true_blocks), _side_by_side(pred_blocks)
    if not any(block.shape[0] for block in (true, pred, *(weights or []))):
        return ErrorProfile(true.shape[1])
    try:
        matrices = check_pair(true, pred)
        return ErrorProfile.from_checked(*matrices, None if weights is None else _weights_of(weights[0], matrices))
    except ValueError as error:
        raise ValueError(f"{error} {place}") from error


def _weights_of(weights: Any, matrices: tuple[Labels, Labels]) -> Any:
    """Checked weights of a block, which may be all zero: the other blocks may have others."""
    if len(weights) == matrices[0].shape[0] and not weights.any():
        return weights
    return check_row_weights(weights, matrices)


def _side_by_side(blocks: list) -> Labels:
    """All labels of some rows as one matrix."""
    # pydata's sparse arrays know SciPy's
    blocks = [block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block for block in blocks]
    if len(blocks) == 1:
        return blocks[0]
    return sp.hstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.concatenate(blocks, axis=1)
