"""Rows of dask arrays, which need not fit into memory: each block of rows is summarised where it lies.

By the active Dask client or, where there is none, by threads; only summaries travel. A block of rows with all its
labels must fit into memory.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp

from choral._optional import require
from choral._validation import Labels, check_any_weight, check_vector
from choral.rows.blocks import CorrectBlock, ErrorBlock, KnownBlock, PairBlock, RowOptions, Rows
from choral.rows.dask_bundles import sum_over_rows
from choral.rows.door import open_rows, read_matrix

Summary = TypeVar("Summary")
DaskArray = Any  # dask has no types to say so
Model = tuple[tuple[str, ...], RowOptions]  # what the arrays of a model are, and how they are opened


class DaskRows(Rows):
    """Rows of dask arrays: not walked here, but summarised by `choral.rows.add_up`."""

    is_lazy = True

    def __init__(self, y_true: Any, y_pred: Any, observed: Any, sample_weight: Any, options: RowOptions):
        da = require("dask.array", "dask")
        matrices = {"y_true": y_true, options.pred_name: y_pred, **({} if observed is None else {"observed": observed})}
        for key, value in matrices.items():
            if hasattr(value, "to_dask_array"):
                raise TypeError(f"{key} must be a dask array; to_dask_array() makes one of a dask frame.")
        known = [value for value in matrices.values() if isinstance(value, da.Array)]
        if not known:
            raise ValueError("sample_weight must be in memory where the labels are in memory.")
        self.arrays = {key: _as_dask(da, key, value, known[0]) for key, value in matrices.items()}
        true = self.arrays["y_true"]
        for key, array in self.arrays.items():
            _check_same_shape(true, array, key)
        if sample_weight is not None:
            self.arrays["sample_weight"] = _check_weights(da, sample_weight, true)
        self.n_rows, self.n_labels = true.shape  # the number of rows may be nan: dask does not always know it
        if np.isnan(self.n_labels):
            raise ValueError("y_true must have a known number of labels; compute_chunk_sizes() finds it.")
        self.weights = None
        self.options = options

    @property
    def keys(self) -> tuple[str, ...]:
        """What the arrays are, in their order."""
        return tuple(self.arrays)

    def part(self, rows: slice) -> NoReturn:
        raise TypeError("rows of dask arrays are summarised block by block, not cut.")

    def predicting_nothing(self) -> NoReturn:
        self.part(slice(None))

    def pair_blocks(self) -> Iterator[PairBlock]:
        return self.part(slice(None))

    def error_blocks(self, *, count: bool = True) -> Iterator[ErrorBlock]:
        return self.part(slice(None))

    def correct_blocks(self) -> Iterator[CorrectBlock]:
        return self.part(slice(None))

    def known_blocks(self) -> Iterator[KnownBlock]:
        return self.part(slice(None))


@dataclass(frozen=True)
class _Part(Generic[Summary]):
    """What is kept of some blocks of rows."""

    summary: Summary | None = None
    n_rows: int = 0
    weight: float = 0.0
    had_scores: frozenset[tuple[str, bool]] = field(default_factory=frozenset)

    def __add__(self, other: "_Part[Summary]") -> "_Part[Summary]":
        summaries: list[Any] = [part.summary for part in (self, other) if part.summary is not None]
        summary = summaries[0] + summaries[1] if len(summaries) == 2 else next(iter(summaries), None)
        total = self.weight + other.weight
        return _Part(summary, self.n_rows + other.n_rows, total, self.had_scores | other.had_scores)


def add_up_blocks(rows: Sequence[Rows], summarise: Callable[[Sequence[Rows]], Summary]) -> Summary:
    """The sum of what ``summarise`` makes of each block of rows of several models."""
    arrays: dict[str, DaskArray] = {}
    for number, some in enumerate(rows):  # several may bear one name: labels of a model for several losses
        if not isinstance(some, DaskRows):
            raise TypeError("all predictions must be dask arrays, or none.")
        for key, array in some.arrays.items():
            arrays[f"{key} of {number}"] = array
    cut = _cut_alike(arrays)
    models = [(some.keys, some.options) for some in rows if isinstance(some, DaskRows)]  # not the arrays: this travels
    functions = [partial(_summarise, models, summarise, place) for place in _places(cut[0].chunks[0])]
    total = sum_over_rows(functions, cut)
    if not total.n_rows:
        raise ValueError(f"y_true must have at least one row and one label; got shape (0, {rows[0].n_labels}).")
    check_any_weight("sample_weight", total.weight)
    _check_threshold(rows, total.had_scores)
    return total.summary


def _summarise(models: list[Model], summarise: Callable, place: str, *blocks: list) -> _Part:
    """What is kept of one block of rows."""
    waiting = iter(blocks)
    try:
        opened = [_open_block({key: next(waiting) for key in keys}, options) for keys, options in models]
        rows = [some for some in opened if some is not None]
        if not rows:
            return _Part()
        first = rows[0]
        weight = first.n_rows if first.weights is None else float(first.weights.sum())
        had_scores = {(options.pred_name, some.had_scores) for (_, options), some in zip(models, rows, strict=True)}
        return _Part(summarise(rows), first.n_rows, weight, frozenset(had_scores))
    except ValueError as error:
        raise ValueError(f"{error} {place}") from error


def _open_block(blocks: dict[str, list], options: RowOptions) -> Rows | None:
    """The rows of one block of each array; None where there are none."""
    named = {key: some[0] if key == "sample_weight" else _side_by_side(some) for key, some in blocks.items()}
    if not any(block.shape[0] for block in named.values()):
        return None
    return open_rows(
        named["y_true"],
        named[options.pred_name],
        observed=named.get("observed"),
        sample_weight=named.get("sample_weight"),
        threshold=options.threshold,
        pred_name=options.pred_name,
        allow_missing=options.allow_missing,
        allow_no_weight=True,
    )


def _check_threshold(rows: Sequence[Any], had_scores: frozenset[tuple[str, bool]]) -> None:
    """Refuse blocks of 0 and 1 alone beside blocks of scores: such a block may hold labels or scores."""
    for some in rows:
        name, threshold = some.options.pred_name, some.options.threshold
        if threshold is not None and not 0 < threshold <= 1 and {(name, True), (name, False)} <= had_scores:
            raise ValueError(
                f"{name}: some blocks hold scores, others 0 and 1 alone, which may be labels or scores; "
                f"a threshold of {threshold:g} tells them apart only where all blocks are alike."
            )


def _as_dask(da: Any, name: str, matrix: Any, like: DaskArray) -> DaskArray:
    """A matrix in blocks of rows; one in memory is cut as another one is."""
    if not isinstance(matrix, da.Array):
        if np.isnan(like.shape[0]):
            raise ValueError(f"{name} must be a dask array too where dask does not know the number of rows.")
        array = read_matrix(name, matrix)
        rows = like.chunks[0] if array.shape[0] == like.shape[0] else -1
        matrix = da.from_array(array, chunks=(rows, -1), asarray=False, name=False)  # a name would cost a hash of all
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D, of shape (n_samples, n_labels); got {matrix.ndim}-D of shape {matrix.shape}."
        )
    return matrix


def _check_same_shape(y_true: DaskArray, array: DaskArray, name: str) -> None:
    """Refuse before any block is computed; sizes that dask does not know are nan, and left to the blocks."""
    if any(true != size and not np.isnan(true + size) for true, size in zip(y_true.shape, array.shape, strict=True)):
        raise ValueError(
            f"y_true and {name} must have the same shape (n_samples, n_labels); got {y_true.shape} and {array.shape}."
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
        names = [name.partition(" of ")[0] for name in arrays]
        counts = ", ".join(f"{len(sizes)} of {name}" for name, sizes in zip(names, chunks, strict=True))
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


def _side_by_side(blocks: list) -> Labels:
    """All labels of some rows as one matrix."""
    # pydata's sparse arrays know SciPy's
    blocks = [block.to_scipy_sparse() if hasattr(block, "to_scipy_sparse") else block for block in blocks]
    if len(blocks) == 1:
        return blocks[0]
    return sp.hstack(blocks, format="csr") if any(map(sp.issparse, blocks)) else np.concatenate(blocks, axis=1)
