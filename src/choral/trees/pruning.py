r"""Error-based pruning as in C4.5 (Quinlan 1993), for one class or for several labels at once.

The training errors of a leaf underestimate its errors. The estimate here is the upper end of a confidence interval of
its error rate. From the leaves up, a subtree becomes a leaf if that does not raise the estimate. Or its larger branch
takes its place (*subtree raising*), and the rows of the other branch then go through it, too. With several labels the
estimates are averaged over them, as in CLUS.
"""

from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import norm

from choral.trees.compiling import find_kernel
from choral.trees.growing import GrownTree
from choral.trees.tree_arrays import LEAF, SplitColumns, TreeArrays

TOLERANCE = 0.1 + 1e-6  # C4.5 prefers the smaller tree if it makes at most 0.1 errors more; 1e-6 allows for rounding


def check_confidence(confidence: float | None) -> None:
    """Refuse a confidence outside (0, 0.5]."""
    if confidence is not None and not 0 < confidence <= 0.5:
        raise ValueError(f"confidence must lie in (0, 0.5], or be None for no pruning; got {confidence}.")


class PrunedTree(NamedTuple):
    """A tree whose nodes are numbered depth first, from left to right."""

    tree: TreeArrays
    shares: np.ndarray  # (n_nodes, n_outputs, n_classes) of each class in each node
    leaves: np.ndarray  # (n_rows,) of the training rows; 0 for those without weight


def prune_tree(
    grown: GrownTree, X: Any, codes: np.ndarray, weights: np.ndarray, *, confidence: float | None, raising: bool = True
) -> PrunedTree:
    """A pruned copy of a tree.

    Parameters
    ----------
    grown : GrownTree
    X, codes, weights, confidence
        As in `Pruner`; a confidence of None leaves the tree as it is grown.
    raising : bool
        Whether a large branch may take the place of its parent.
    """
    grown = GrownTree(TreeArrays(*(part.copy() for part in grown.tree)), *(part.copy() for part in grown[1:]))
    kernel = find_kernel("pruning_kernel")
    if kernel is None:
        pruner = Pruner(grown, X, codes, weights, confidence or 0.5)
        if confidence is not None:
            pruner.prune(raising=raising)
        counts, rows = pruner.counts, pruner.rows
    else:
        counts = _prune_compiled(kernel, grown, X, codes, weights, confidence, raising)
        rows = [grown.rows[begin:end] for begin, end in zip(grown.begins, grown.ends, strict=True)]
    tree, nodes = grown.tree.compact()
    leaves = np.zeros(len(codes), dtype=np.intp)
    for number in np.flatnonzero(tree.is_leaf):
        leaves[rows[nodes[number]]] = number
    return PrunedTree(tree, counts[nodes] / counts[nodes].sum(axis=-1, keepdims=True), leaves)


def _prune_compiled(
    kernel: ModuleType,
    grown: GrownTree,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    confidence: float | None,
    raising: bool,
) -> np.ndarray:
    """Prune a tree in place; the weight of each class in each node."""
    tree = grown.tree
    needs_rows = confidence is not None and raising
    columns = SplitColumns(X, tree) if needs_rows else None
    if columns is not None:
        tree.feature[:] = columns.place[np.maximum(tree.feature, 0)]  # of leaves it is any number
    counts = kernel.prune(
        tree,
        *grown[1:],
        np.empty((0, 0), dtype=np.float32) if columns is None else columns.table,
        np.ascontiguousarray(codes.T, dtype=np.uint16 if codes.max(initial=0) < 1 << 16 else np.uint32),
        np.asarray(weights, dtype=float),
        int(codes.max(initial=0)) + 1,
        confidence or 0.5,
        _quantile(confidence or 0.5),
        TOLERANCE,
        confidence is not None,
        raising,
    )
    if columns is not None:
        tree.feature[:] = np.append(columns.features, 0)[tree.feature]
    return counts


def extra_errors(n_rows: np.ndarray, errors: np.ndarray, confidence: float) -> np.ndarray:
    """How many more errors than seen a leaf is expected to make: the upper end of a binomial interval.

    Exact for no errors, by the normal approximation with continuity correction from one error on, linear between.

    Examples
    --------
    >>> extra_errors(np.array([6.0, 9.0, 1.0]), np.array([0.0, 0.0, 0.0]), 0.25).round(3)  # Quinlan's example
    array([1.238, 1.285, 0.75 ])
    """
    n_rows = np.maximum(n_rows, 1e-9)
    of_none = n_rows * (1 - confidence ** (1 / n_rows))
    of_one_or_more = _by_normal_approximation(n_rows, np.maximum(errors, 1.0), confidence)
    return np.where(errors < 1, of_none + errors * (of_one_or_more - of_none), of_one_or_more)


def _by_normal_approximation(n_rows: np.ndarray, errors: np.ndarray, confidence: float) -> np.ndarray:
    z = _quantile(confidence)
    rate = (errors + 0.5) / n_rows
    spread = np.sqrt(np.maximum(rate / n_rows - rate**2 / n_rows + (z / n_rows) ** 2 / 4, 0))
    upper = (rate + z**2 / (2 * n_rows) + z * spread) / (1 + z**2 / n_rows)
    return np.where(errors + 0.5 >= n_rows, np.maximum(n_rows - errors, 0), upper * n_rows - errors)


@lru_cache
def _quantile(confidence: float) -> float:
    return float(norm.isf(confidence))


class Pruner:
    """A grown tree with its training rows; pruning changes it in place.

    Parameters
    ----------
    grown : GrownTree
    X : matrix of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows, n_outputs)
        The class of each row, as a number from 0, for each output.
    weights : ndarray of shape (n_rows,)
        Positive.
    confidence : float
        In (0, 0.5]: the smaller, the more is pruned.

    Attributes
    ----------
    counts : ndarray of shape (n_nodes, n_outputs, n_classes)
        The weight of each class in each node.
    rows : list of ndarray
        The training rows of each node.
    """

    def __init__(self, grown: GrownTree, X: Any, codes: np.ndarray, weights: np.ndarray, confidence: float):
        self.tree, self.codes, self.weights, self.confidence = grown.tree, codes, weights, confidence
        self.n_classes = int(codes.max(initial=0)) + 1
        self.columns = SplitColumns(X, self.tree)
        self.rows = [grown.rows[begin:end] for begin, end in zip(grown.begins, grown.ends, strict=True)]
        places = np.repeat(np.arange(len(self.rows)), [rows.size for rows in self.rows])
        self.counts = self._count(places, np.concatenate(self.rows), len(self.rows))
        self.as_leaf = self._estimate(self.counts)  # expected errors if a node is a leaf
        self.as_tree = self.as_leaf.copy()  # and of the tree below it, once that is pruned

    def prune(self, *, raising: bool = True) -> None:
        """From the leaves up, make leaves of subtrees and lift large branches."""
        self._prune_below(0, raising)

    def _prune_below(self, top: int, raising: bool) -> None:
        for node in sorted(self._below(top), reverse=True):
            self._prune_node(node, raising)

    def _prune_node(self, node: int, raising: bool) -> None:
        left, right = int(self.tree.left[node]), int(self.tree.right[node])
        if left == LEAF:
            self.as_tree[node] = self.as_leaf[node]
            return
        larger, smaller = (left, right) if self._weights_of(left) > self._weights_of(right) else (right, left)
        self.as_tree[node] = self.as_tree[left] + self.as_tree[right]
        as_branch = self._errors_if_raised(node, larger, smaller) if raising else np.inf
        if self.as_leaf[node] <= min(self.as_tree[node], as_branch) + TOLERANCE:
            self._make_leaf(node)
        elif as_branch <= self.as_tree[node] + TOLERANCE:
            self._raise(node, larger, smaller)
            self._prune_below(node, raising)

    def _weights_of(self, nodes: Any) -> Any:
        return self.counts[nodes, 0].sum(axis=-1)

    def _make_leaf(self, node: int) -> None:
        self.tree.left[node] = self.tree.right[node] = LEAF
        self.as_tree[node] = self.as_leaf[node]

    def _errors_if_raised(self, node: int, larger: int, smaller: int) -> float:
        """Expected errors of the larger branch if the rows of the smaller one come to it too."""
        if self.tree.left[larger] == LEAF:
            return self.as_leaf[node]
        rows = self.rows[smaller]
        leaves = self.tree.descend(self.columns, np.full(rows.size, larger), rows)
        reached, place = np.unique(leaves, return_inverse=True)
        counts = self.counts[reached] + self._count(place, rows, reached.size)
        return self.as_tree[larger] + (self._estimate(counts) - self.as_leaf[reached]).sum()

    def _raise(self, node: int, larger: int, smaller: int) -> None:
        """Put the larger branch in the place of its parent, and send the rows of the smaller one through it."""
        rows = self.rows[smaller]
        for part in self.tree:
            part[node] = part[larger]
        nodes = np.full(rows.size, node)
        while rows.size:
            inner = self.tree.left[nodes] != LEAF
            rows, nodes = rows[inner], nodes[inner]
            nodes = self.tree.step(self.columns, nodes, rows)
            touched, place = np.unique(nodes, return_inverse=True)
            self.counts[touched] += self._count(place, rows, touched.size)
            self.as_leaf[touched] = self._estimate(self.counts[touched])
            for which, below in enumerate(touched):
                self.rows[below] = np.concatenate([self.rows[below], rows[place == which]])

    def _below(self, node: int) -> list[int]:
        """A node and all nodes below it."""
        below, stack = [], [node]
        while stack:
            here = stack.pop()
            below.append(here)
            if self.tree.left[here] != LEAF:
                stack += [int(self.tree.left[here]), int(self.tree.right[here])]
        return below

    def _count(self, places: np.ndarray, rows: np.ndarray, n_places: int) -> np.ndarray:
        """The weight of each class among the rows at each place."""
        n_outputs = self.codes.shape[1]
        first = (places[:, np.newaxis] * n_outputs + np.arange(n_outputs)) * self.n_classes
        weights = np.repeat(self.weights[rows], n_outputs)
        shape = n_places, n_outputs, self.n_classes
        return np.bincount((first + self.codes[rows]).ravel(), weights, minlength=np.prod(shape)).reshape(shape)

    def _estimate(self, counts: np.ndarray) -> np.ndarray:
        """Expected errors of leaves with these counts, mean over outputs."""
        totals = counts.sum(axis=-1)
        errors = totals - counts.max(axis=-1)
        return (errors + extra_errors(totals, errors, self.confidence)).mean(axis=-1)
