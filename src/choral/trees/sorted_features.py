"""Features sorted once, for all trees that are grown on the same rows.

A feature is kept as the rows that differ from its *common* value: 0 in a sparse matrix, the value of at least half of
the rows in a dense one, if there is such a value. Rows with the common value are never looked at: what is true of them
follows from the others and the whole. So a word that ten of a thousand documents have costs ten steps, not a
thousand, and a feature with two values costs as many steps as its rarer value has rows.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

BELOW, ABOVE, MISSING = 0, 1, 2  # the runs of a feature: rows below its common value, above it, and without a value
N_RUNS = 3
MAX_SORTED_TOGETHER = 1 << 20  # entries of a dense matrix


class SortedFeatures(NamedTuple):
    """The rows of each feature in the order of their values, from the outside in.

    The run of rows below the common value goes up, the one above it goes down: both end beside the common value.
    Without a common value all rows are in the run below it.

    Examples
    --------
    >>> features = sort_features(np.array([[3.0, 0], [1, 0], [2, 7], [np.nan, 0]]))
    >>> features.run(0, BELOW), features.run(0, MISSING), features.run(1, ABOVE)
    ([1, 2, 0], [3], [2])
    """

    rows: np.ndarray  # (n_entries,) of uint32
    values: np.ndarray  # (n_entries,) of float32
    starts: np.ndarray  # (3 * n_features + 1,) where each run starts
    common: np.ndarray  # (n_features,) of float32; nan where there is none
    has_two: np.ndarray  # (n_features,) whether there are just two values
    n_rows: int

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.common.size

    def run(self, feature: int, which: int) -> list[int]:
        """The rows of a run, as a list."""
        start, end = self.starts[N_RUNS * feature + which :][:2]
        return self.rows[start:end].tolist()


def sort_features(X: Any) -> SortedFeatures:
    """Sort all features of a dense or sparse matrix, in single precision; nan is a missing value."""
    rows, values, lengths, common, has_two = _sort_sparse(X) if sp.issparse(X) else _sort_dense(np.asarray(X))
    return SortedFeatures(rows, values, _starts_of(lengths), common, has_two, X.shape[0])


def _sort_sparse(X: Any) -> tuple[np.ndarray, ...]:
    n_features, by_column = X.shape[1], X.tocsc()
    # Another object with the same arrays: the caller's would remember what is asked of it.
    by_column = sp.csc_array((by_column.data, by_column.indices, by_column.indptr), shape=X.shape)
    if not by_column.has_canonical_format:
        by_column = by_column.copy()
        by_column.sum_duplicates()
    values, columns = _to_single(by_column.data), np.repeat(np.arange(n_features), np.diff(by_column.indptr))
    stored = values != 0
    values, rows, columns = values[stored], by_column.indices[stored], columns[stored]
    which = np.where(np.isnan(values), MISSING, np.where(values > 0, ABOVE, BELOW))
    order = np.lexsort((np.where(which == ABOVE, -values, values), which, columns))
    lengths = np.bincount(N_RUNS * columns + which, minlength=N_RUNS * n_features).reshape(n_features, N_RUNS)
    rows, values, common = rows[order].astype(np.uint32), values[order], np.zeros(n_features, dtype=np.float32)
    return rows, values, lengths, common, _has_two_values(values, lengths, X.shape[0])


def _sort_dense(X: np.ndarray) -> tuple[np.ndarray, ...]:
    n_rows, n_features = X.shape
    chunk, end = max(1, MAX_SORTED_TOGETHER // max(n_rows, 1)), 0
    rows, values = np.empty(X.size, dtype=np.uint32), np.empty(X.size, dtype=np.float32)
    lengths, common = np.empty((n_features, N_RUNS), dtype=np.int64), np.empty(n_features, dtype=np.float32)
    has_two = np.empty(n_features, dtype=bool)
    for first in range(0, n_features, chunk):
        columns = slice(first, first + chunk)
        some_rows, some_values, lengths[columns], common[columns], has_two[columns] = _sort_columns(X[:, columns])
        start, end = end, end + some_rows.size
        rows[start:end], values[start:end] = some_rows, some_values
    for part in (rows, values):
        part.resize(end, refcheck=False)  # gives back what common values take, without a copy
    return rows, values, lengths, common, has_two


def _sort_columns(X: np.ndarray) -> tuple[np.ndarray, ...]:
    by_feature = _to_single(X.T)  # (n_features, n_rows)
    n_features, n_rows = by_feature.shape
    order = np.argsort(by_feature, axis=1)  # equal values in any order: nothing depends on it; nan comes last
    values = np.take_along_axis(by_feature, order, axis=1)
    n_known = n_rows - np.isnan(values).sum(axis=1)
    middle = values[np.arange(n_features), np.maximum(n_known - 1, 0) // 2]  # a value of half of the rows is here
    n_below, n_equal = ((test(values, middle[:, np.newaxis])).sum(axis=1) for test in (np.less, np.equal))
    has_common = 2 * n_equal >= n_rows
    n_below, n_equal = np.where(has_common, n_below, n_known), np.where(has_common, n_equal, 0)
    lengths = np.stack([n_below, n_known - n_below - n_equal, n_rows - n_known], axis=1)
    parts: list[tuple[int, slice]] = []
    for feature, (below, above, missing) in enumerate(lengths.tolist()):
        known = n_rows - missing
        runs = slice(0, below), slice(known - 1, known - 1 - above if above < known else None, -1), slice(known, n_rows)
        parts += [(feature, run) for run, length in zip(runs, (below, above, missing), strict=True) if length]
    rows, kept = (
        np.concatenate([by_rank[feature, run] for feature, run in parts]) if parts else by_rank[:0, 0]
        for by_rank in (order.astype(np.uint32), values)
    )
    common = np.where(has_common, middle, np.float32(np.nan))
    return rows, kept, lengths, common, _has_two_values(kept, lengths, n_rows)


def _starts_of(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths.ravel())])


def _has_two_values(values: np.ndarray, lengths: np.ndarray, n_rows: int) -> np.ndarray:
    """Whether each feature has just two values, the missing ones apart."""
    starts, runs = _starts_of(lengths), np.flatnonzero(lengths)
    is_new = np.ones(values.size, dtype=bool)
    is_new[1:] = values[1:] != values[:-1]
    is_new[starts[runs]] = True  # a run starts with a value of its own
    n_values = np.zeros(lengths.size, dtype=np.int64)
    if runs.size:
        n_values[runs] = np.add.reduceat(is_new, starts[runs], dtype=np.int64)
    n_known = n_values.reshape(lengths.shape)[:, :MISSING].sum(axis=1)
    return n_known + (lengths.sum(axis=1) < n_rows) == 2


def _to_single(values: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        single = np.ascontiguousarray(values, dtype=np.float32)
    if np.isinf(single).any():  # beyond single precision: the largest number, on the same side of every threshold
        single = np.nan_to_num(single, nan=np.nan)
    return single
