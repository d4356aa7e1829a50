"""Packed trees lead every row to the leaf that scikit-learn's own tree leads it to."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from choral.trees import PackedTree, narrow


def walk(tree, row):
    """The leaf of one row, node by node."""
    node, splits = 0, tree.splits.tolist()
    while node in splits:
        at = splits.index(node)
        node = int(tree.left[at] if row[tree.feature[at]] <= tree.threshold[at] else tree.right[at])
    return node - sum(split < node for split in splits)


def make(n_rows, n_features, seed, kind):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) * 10.0 ** rng.integers(-3, 4, n_features)
    return {"numbers": X, "few": np.rint(X), "thirds": np.rint(X) / 3}[kind].astype(np.float32), rng.normal(size=n_rows)


@pytest.mark.parametrize("kind", ["numbers", "few", "thirds"])
@pytest.mark.parametrize("grower", [ExtraTreeRegressor, DecisionTreeRegressor])
@pytest.mark.parametrize("seed", range(3))
def test_rows_come_to_the_same_leaves(kind, grower, seed):
    X, y = make(200, 5, seed, kind)
    grown = grower(random_state=seed).fit(X, y).tree_
    tree = PackedTree.pack(grown)
    new = np.concatenate([X, make(300, 5, seed + 10, kind)[0], [[np.finfo(np.float32).max] * 5]]).astype(np.float32)
    at_thresholds = new.copy()
    splits = np.flatnonzero(grown.feature >= 0)
    for row, node in zip(at_thresholds, splits, strict=False):
        row[grown.feature[node]] = np.float32(grown.threshold[node])
    for rows in (new, at_thresholds):
        leaves = grown.apply(rows)
        found = tree.apply(rows)
        np.testing.assert_array_equal(np.flatnonzero(grown.children_left < 0)[found], leaves)
        np.testing.assert_array_equal(tree.apply(sp.csr_matrix(rows)), found)
        assert [walk(tree, row) for row in rows[:20]] == found[:20].tolist()
    assert tree.n_leaves == grown.n_leaves
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).apply(new), tree.apply(new))


def test_a_tree_of_one_leaf():
    X = np.zeros((4, 2), dtype=np.float32)
    tree = PackedTree.pack(DecisionTreeRegressor().fit(X, [0, 1, 2, 3]).tree_)
    assert tree.n_leaves == 1
    assert tree.apply(X).tolist() == [0] * 4


@pytest.mark.parametrize("largest, kind", [(0, np.uint8), (255, np.uint8), (256, np.uint16), (1 << 16, np.uint32)])
def test_numbers_are_as_narrow_as_they_may_be(largest, kind):
    found = narrow(np.array([0, largest]))
    assert found.dtype == kind
    assert found.tolist() == [0, largest]
    assert narrow(np.array([], dtype=int)).size == 0
