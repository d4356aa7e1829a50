"""A tree of scikit-learn's in a few bytes a node, unpacked to be walked at full speed.

scikit-learn keeps 64 bytes for each node of a tree and 8 more for each number predicted there. To find the leaf of a
row takes the feature, the threshold and the children of the nodes that split, in the smallest types that hold them.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.tree._tree import NODE_DTYPE, Tree

LEAF = -1  # in scikit-learn: no child
NO_FEATURE = -2


class PackedTree(NamedTuple):
    """The nodes of a tree that split; a row goes left where its feature, in single precision, is at most the threshold.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> X = np.array([[0.0], [1.0], [2.0]], dtype=np.float32)
    >>> grown = DecisionTreeRegressor(random_state=0).fit(X, [0, 3, 4]).tree_
    >>> tree = PackedTree.pack(grown)
    >>> tree.n_leaves, tree.apply(X).tolist()
    (3, [0, 1, 2])
    """

    splits: np.ndarray  # (n_leaves - 1,) the numbers of these nodes
    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray

    @classmethod
    def pack(cls, tree: Tree) -> "PackedTree":
        """What is needed of a tree of scikit-learn's to walk it."""
        splits = np.flatnonzero(tree.children_left != LEAF)
        left, right = narrow(tree.children_left[splits]), narrow(tree.children_right[splits])
        threshold = _round_down(tree.threshold[splits])
        return cls(narrow(splits), left, right, narrow(tree.feature[splits]), threshold)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.splits) + 1

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row, numbered from 0; of shape (n_rows,).

        Parameters
        ----------
        X : ndarray or CSR matrix of float32, without nan
        """
        return self.leaf_numbers()[self._unpack(X.shape[1]).apply(X)]

    def leaf_numbers(self) -> np.ndarray:
        """For each node, the number of leaves before it; of shape (n_nodes,)."""
        is_leaf = np.ones(2 * self.n_leaves - 1, dtype=bool)
        is_leaf[self.splits] = False
        return np.cumsum(is_leaf, dtype=np.int32) - is_leaf

    def _unpack(self, n_features: int) -> Tree:
        """The tree in scikit-learn's form, with nothing in its leaves."""
        nodes = np.zeros(2 * self.n_leaves - 1, dtype=NODE_DTYPE)
        nodes["left_child"], nodes["right_child"], nodes["feature"] = LEAF, LEAF, NO_FEATURE
        for name, values in zip(("left_child", "right_child", "feature", "threshold"), self[1:], strict=True):
            nodes[name][self.splits] = values
        tree = Tree(n_features, np.ones(1, dtype=np.intp), 1)
        values = np.zeros((len(nodes), 1, 1))
        tree.__setstate__({"max_depth": 0, "node_count": len(nodes), "nodes": nodes, "values": values})
        return tree


def narrow(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers from 0 in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)))


def _round_down(thresholds: np.ndarray) -> np.ndarray:
    """The largest numbers of single precision up to these: features of single precision fall on the same sides."""
    rounded = thresholds.astype(np.float32)
    return np.where(rounded > thresholds, np.nextafter(rounded, np.float32(-np.inf)), rounded)
