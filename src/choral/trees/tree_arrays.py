"""A decision tree as a few arrays: grown by scikit-learn or by the gain ratio, then pruned and walked here.

C4.5's pruning may put a subtree in the place of its parent. scikit-learn's own tree does not allow that, but a copy of
its arrays does. Nodes are numbered so that children come after their parent. As in scikit-learn, features are compared
in single precision.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

LEAF = -1


class TreeArrays(NamedTuple):
    """The nodes of a tree; a row goes left where its feature is at most the threshold."""

    left: np.ndarray  # (n_nodes,) LEAF where there is no child
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether each node is a leaf."""
        return self.left == LEAF

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row of a dense or sparse matrix."""
        columns = SplitColumns(X, self)
        return self.descend(columns, np.zeros(X.shape[0], dtype=np.intp), np.arange(X.shape[0]))

    def descend(self, columns: "SplitColumns", nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The leaf that each row reaches from its node."""
        nodes = nodes.copy()
        moving = np.flatnonzero(~self.is_leaf[nodes])
        while moving.size:
            reached = self.step(columns, nodes[moving], rows[moving])
            nodes[moving] = reached
            moving = moving[self.left[reached] != LEAF]
        return nodes

    def step(self, columns: "SplitColumns", nodes: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The child to which each row goes from its node."""
        goes_left = columns.values(rows, self.feature[nodes]) <= self.threshold[nodes]
        return np.where(goes_left, self.left[nodes], self.right[nodes])

    def compact(self) -> tuple["TreeArrays", np.ndarray]:
        """The same tree without the nodes that no row reaches, and where its nodes were before."""
        kept: list[int] = []
        position = {LEAF: LEAF}
        stack = [0]
        while stack:
            node = stack.pop()
            position[node] = len(kept)
            kept.append(node)
            if self.left[node] != LEAF:
                stack += [int(self.right[node]), int(self.left[node])]
        nodes = np.array(kept)
        left, right = (np.array([position[int(child)] for child in side[nodes]]) for side in (self.left, self.right))
        return TreeArrays(left, right, self.feature[nodes], self.threshold[nodes]), nodes


class SplitColumns:
    """The columns of a matrix that a tree splits by, dense and in single precision."""

    def __init__(self, X: Any, tree: TreeArrays):
        features = np.unique(tree.feature[~tree.is_leaf])
        chosen = X[:, features]
        with np.errstate(over="ignore"):  # beyond single precision: infinite, on the same side of every threshold
            self._values = (chosen.toarray() if sp.issparse(chosen) else chosen).astype(np.float32)
        self._place = np.zeros(X.shape[1], dtype=np.intp)
        self._place[features] = np.arange(features.size)

    def values(self, rows: np.ndarray, features: Any) -> np.ndarray:
        """One value for each row: of the feature given for this row, or of one feature given for all rows."""
        return self._values[rows, self._place[features]]


def to_tree_features(X: Any) -> Any:
    """Features in the form in which trees are grown; the caller's matrix is not changed.

    scikit-learn's trees take sparse columns with sorted indices of 32 bits, and sort unsorted ones in place.
    """
    if not sp.issparse(X):
        return X
    X = X.tocsc().sorted_indices()
    if X.nnz <= np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X
