"""The grower of gain-ratio trees that choral had before `choral.trees.growing`: NumPy, one output, rows all alike.

It is kept as a reference: it shares no code with the engines of today.
"""

from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

LEAF = -1
SAME_VALUE, MAX_ROWS_PER_SIDE, AVERAGE_TOLERANCE = 1e-5, 25.0, 1e-3


class Node(NamedTuple):
    """Rows that come to a node, and the same sorted by each numeric feature, of shape (n_numeric, n_rows)."""

    rows: np.ndarray
    order: np.ndarray


class BestSplits(NamedTuple):
    """The best split of each of some features: its gain and the information in it, in bits per row; its threshold."""

    gains: np.ndarray
    costs: np.ndarray
    thresholds: np.ndarray


class GainRatioGrower:
    """Grows a tree.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        The class of each row, as a number from 0.
    least : int
        At least so many rows come to each leaf.
    """

    def __init__(self, X: Any, codes: np.ndarray, least: int):
        self.codes, self.least, self.n_classes = codes, least, int(codes.max()) + 1
        counts = np.arange(codes.size + 1)
        self.bits = counts * np.log2(np.maximum(counts, 1))  # c log c
        self.X = sp.csc_array(X).astype(np.float32)
        self.lows, self.highs = (_extremes(self.X, which) for which in ("min", "max"))
        has_two = _has_two_values(self.X, self.lows, self.highs)
        self.binary = np.flatnonzero(has_two)
        self.numeric = np.flatnonzero((self.lows < self.highs) & ~has_two)
        self.values = self.X[:, self.numeric].toarray().T  # (n_numeric, n_rows)
        self.is_high = _flags(self.X, self.binary, self.highs)  # CSR of 0 and 1

    def grow(self) -> SimpleNamespace:
        """The arrays of the tree, children after their parents."""
        nodes: list[list[Any]] = []
        root = Node(np.arange(self.codes.size), np.argsort(self.values, axis=1, kind="stable"))
        stack: list[tuple[Node, int, int]] = [(root, -1, 0)]
        while stack:
            node, parent, side = stack.pop()
            number = len(nodes)
            nodes.append([LEAF, LEAF, -2, -2.0])
            if parent >= 0:
                nodes[parent][side] = number
            split = self._best_split(node)
            if split is not None:
                nodes[number][2:] = split
                left, right = self._part(node, *split)
                stack += [(right, number, 1), (left, number, 0)]
        left_of, right_of, features, thresholds = map(np.array, zip(*nodes, strict=True))
        return SimpleNamespace(left=left_of, right=right_of, feature=features, threshold=thresholds.astype(float))

    def _best_split(self, node: Node) -> tuple[int, float] | None:
        totals = np.bincount(self.codes[node.rows], minlength=self.n_classes)
        if node.rows.size < 2 * self.least or np.count_nonzero(totals) == 1:
            return None
        parts = [self._split_numeric(node, totals), self._split_binary(node, totals)]
        gains, costs, thresholds = (np.concatenate(part) for part in zip(*parts, strict=True))
        if not (gains > 0).any():
            return None
        enough = gains >= max(gains[gains > 0].mean() - AVERAGE_TOLERANCE, np.finfo(float).tiny)
        best = int(np.where(enough, gains / costs, -np.inf).argmax())
        return int(np.concatenate([self.numeric, self.binary])[best]), float(thresholds[best])

    def _split_numeric(self, node: Node, totals: np.ndarray) -> BestSplits:
        n_rows, classes = node.rows.size, self.codes[node.order]
        before = _earlier_rows_of_class(classes, totals)
        after = totals[classes] - before
        left = np.cumsum(self.bits[before + 1] - self.bits[before], axis=1)[:, :-1]
        right = self.bits[totals].sum() + np.cumsum(self.bits[after - 1] - self.bits[after], axis=1)[:, :-1]
        sizes = np.arange(1, n_rows)
        gains = self._whole(totals) - (self.bits[sizes] - left) - (self.bits[n_rows - sizes] - right)
        values = np.take_along_axis(self.values, node.order, axis=1)
        side = np.clip(0.1 * n_rows / self.n_classes, self.least, MAX_ROWS_PER_SIDE)
        allowed = (np.diff(values, axis=1) > SAME_VALUE) & (sizes >= side) & (n_rows - sizes >= side)
        best = np.where(allowed, gains, -np.inf).argmax(axis=1, keepdims=True)
        candidates = np.maximum(allowed.sum(axis=1), 1)
        gain = np.take_along_axis(gains, best, axis=1)[:, 0] - np.log2(candidates)
        ends = [np.take_along_axis(values, best + step, axis=1)[:, 0].astype(float) for step in (0, 1)]
        gain = np.where(allowed.any(axis=1), gain / n_rows, -1)
        return BestSplits(gain, self._cost(sizes[best[:, 0]], n_rows), np.mean(ends, axis=0))

    def _split_binary(self, node: Node, totals: np.ndarray) -> BestSplits:
        n_rows = node.rows.size
        one_hot = sp.csr_array(
            (np.ones(n_rows), self.codes[node.rows], np.arange(n_rows + 1)), shape=(n_rows, self.n_classes)
        )
        high = np.asarray((self.is_high[node.rows].T @ one_hot).todense()).astype(np.intp)  # (n_binary, n_classes)
        sizes = high.sum(axis=1)
        gain = self._whole(totals) - self._whole(high) - self._whole(totals - high)
        allowed = (sizes >= self.least) & (n_rows - sizes >= self.least)
        ends = self.lows[self.binary].astype(float), self.highs[self.binary].astype(float)
        return BestSplits(np.where(allowed, gain / n_rows, -1), self._cost(sizes, n_rows), np.mean(ends, axis=0))

    def _whole(self, counts: np.ndarray) -> np.ndarray:
        """Information in the classes of rows, in bits, from the number of rows of each class."""
        return self.bits[counts.sum(axis=-1)] - self.bits[counts].sum(axis=-1)

    def _cost(self, sizes: np.ndarray, n_rows: int) -> np.ndarray:
        """Information in a split into ``sizes`` rows and the rest, in bits per row."""
        cost = (self.bits[n_rows] - self.bits[sizes] - self.bits[n_rows - sizes]) / n_rows
        return np.maximum(cost, np.finfo(float).tiny)

    def _part(self, node: Node, feature: int, threshold: float) -> tuple[Node, Node]:
        column = self.X[:, [feature]].toarray()[:, 0].astype(float)  # else the threshold is rounded to single precision
        goes_left = column <= threshold
        parts = []
        for belongs in (goes_left, ~goes_left):
            rows = node.rows[belongs[node.rows]]
            parts.append(Node(rows, node.order[belongs[node.order]].reshape(len(node.order), rows.size)))
        return parts[0], parts[1]


def _earlier_rows_of_class(classes: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """How many rows of the same class come before each, in every line of a matrix of classes."""
    grouped = np.argsort(classes, axis=1, kind="stable")
    first = np.concatenate([[0], np.cumsum(totals)[:-1]])
    ranks = np.arange(classes.shape[1]) - np.repeat(first, totals)
    before = np.empty_like(grouped)
    np.put_along_axis(before, grouped, np.broadcast_to(ranks, grouped.shape), axis=1)
    return before


def _extremes(X: Any, which: str) -> np.ndarray:
    return np.asarray(getattr(X, which)(axis=0).todense()).ravel()


def _has_two_values(X: Any, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """Whether a column of a CSC matrix has just its least and its largest value."""
    column = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    between = (X.data != lows[column]) & (X.data != highs[column])
    is_between = np.bincount(column, between, minlength=X.shape[1]) > 0
    has_zeros = np.diff(X.indptr) < X.shape[0]
    return (lows < highs) & ~is_between & ~(has_zeros & (lows != 0) & (highs != 0))


def _flags(X: Any, columns: np.ndarray, highs: np.ndarray) -> Any:
    """1 where a column has its largest value, as a CSR matrix."""
    chosen = X[:, columns]
    column = np.repeat(np.arange(columns.size), np.diff(chosen.indptr))
    is_high = (chosen.data == highs[columns][column]).astype(float)
    flags = sp.csc_array((is_high, chosen.indices, chosen.indptr), shape=chosen.shape)
    # Where zero is the largest value, absent entries have it: all ones, less the flags of the others.
    zero_is_high = np.flatnonzero(highs[columns] == 0)
    if zero_is_high.size:
        dense = np.zeros(chosen.shape)
        dense[:, zero_is_high] = chosen[:, zero_is_high].toarray() == 0
        flags = flags + sp.csc_array(dense)
    return flags.tocsr()
