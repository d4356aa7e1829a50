"""A decision tree as a few arrays.

Nodes are numbered so that children come after their parent. As in scikit-learn, features are compared in single
precision.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral.trees.compiling import find_kernel

LEAF = -1
NOTHING = -2  # the feature and the threshold of a leaf, as in scikit-learn


class TreeArrays(NamedTuple):
    """The nodes of a tree; a row goes left where its feature is at most the threshold."""

    left: np.ndarray  # (n_nodes,) LEAF where there is no child
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray = np.array(False)  # whether a row goes left that has no value; in old models no row does

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
        values = columns.values(rows, self.feature[nodes])
        missing_left = np.broadcast_to(self.missing_left, self.left.shape)[nodes]
        goes_left = np.where(np.isnan(values), missing_left, values <= self.threshold[nodes])
        return np.where(goes_left, self.left[nodes], self.right[nodes])

    def compact(self) -> tuple["TreeArrays", np.ndarray]:
        """The same tree, depth first and without the nodes that no row reaches, and where its nodes were before."""
        kernel = find_kernel("pruning_kernel")
        nodes = self._list_depth_first() if kernel is None else kernel.list_depth_first(self)
        position = np.full(self.left.size + 1, LEAF)  # the last one is that of LEAF
        position[nodes] = np.arange(nodes.size)
        left, right, feature, threshold, missing_left = (part[nodes] for part in self)
        feature[left == LEAF], threshold[left == LEAF], missing_left[left == LEAF] = NOTHING, NOTHING, False
        return TreeArrays(position[left], position[right], feature, threshold, missing_left), nodes

    def _list_depth_first(self) -> np.ndarray:
        nodes, stack = [], [0]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if self.left[node] != LEAF:
                stack += [int(self.right[node]), int(self.left[node])]
        return np.array(nodes)


class SplitColumns:
    """The columns of a matrix that a tree splits by, dense and in single precision."""

    def __init__(self, X: Any, tree: TreeArrays):
        self.features = features = np.unique(tree.feature[~tree.is_leaf])
        chosen = X[:, features]
        with np.errstate(over="ignore"):  # beyond single precision: infinite, on the same side of every threshold
            self.table = (chosen.toarray() if sp.issparse(chosen) else chosen).astype(np.float32, order="C")
        self.place = np.zeros(X.shape[1], dtype=np.intp)  # of each feature in the table
        self.place[features] = np.arange(features.size)

    def values(self, rows: np.ndarray, features: Any) -> np.ndarray:
        """One value for each row: of the feature given for this row, or of one feature given for all rows."""
        return self.table[rows, self.place[features]]
