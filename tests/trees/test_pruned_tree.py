"""Trees and their pruning: against slow code that follows C4.5 node by node, and known ends."""

from dataclasses import dataclass
from math import log2, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.tree import DecisionTreeClassifier

from choral.learners import PredictiveClusteringTree, PrunedTreeClassifier
from choral.trees import GrownTree, grow_tree, sort_features
from choral.trees.pruning import Pruner, extra_errors
from choral.trees.tree_arrays import LEAF, TreeArrays


def extra_errors_by_definition(n, e, confidence):
    """One leaf at a time, case by case, as in WEKA's Stats.addErrs."""
    if e < 1:
        base = n * (1 - confidence ** (1 / n))
        return base if e == 0 else base + e * (extra_errors_by_definition(n, 1, confidence) - base)
    if e + 0.5 >= n:
        return max(n - e, 0)
    z = norm.isf(confidence)
    f = (e + 0.5) / n
    r = (f + z * z / (2 * n) + z * sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return r * n - e


@given(
    n=st.floats(0.5, 1e4),
    share=st.one_of(st.floats(0, 1), st.sampled_from([0, 0.5, 1])),
    confidence=st.sampled_from([0.01, 0.1, 0.25, 0.5]),
)
def test_extra_errors_follow_the_definition(n, share, confidence):
    for e in (n * share, float(round(n * share)), min(1.0, n * share)):
        expected = extra_errors_by_definition(n, e, confidence)
        assert extra_errors(np.array([n]), np.array([e]), confidence)[0] == pytest.approx(expected, abs=1e-9)


def test_quinlans_example():
    rows = np.array([6.0, 9.0, 1.0])
    np.testing.assert_allclose(extra_errors(rows, np.zeros(3), 0.25) / rows, [0.206, 0.143, 0.750], atol=5e-4)


def single_precision(X):
    """The numbers that a tree sees, as doubles, in which it compares them."""
    return X.astype(np.float32).astype(float)


@dataclass
class Node:
    """A node with its rows; a leaf has no feature."""

    rows: list
    feature: int | None = None
    threshold: float = 0.0
    left: "Node | None" = None
    right: "Node | None" = None


class SlowPruning:
    """C4.5's pruning by recursion: every estimate is made anew from the rows, which are sent down one by one."""

    def __init__(self, grown, X, codes, weights, confidence, least_side=None, raising=True):
        self.X, self.codes, self.weights, self.confidence = single_precision(X), codes, weights, confidence
        self.raising, self.n_raised = raising, 0
        self.root = self.build(grown, 0, list(range(len(codes))))
        if least_side is not None:
            self.cut(self.root, least_side)
        self.prune(self.root)

    def build(self, grown, number, rows):
        if grown.left[number] == LEAF:
            return Node(rows)
        node = Node(rows, int(grown.feature[number]), float(grown.threshold[number]))
        left, right = self.parted(node, rows)
        node.left = self.build(grown, grown.left[number], left)
        node.right = self.build(grown, grown.right[number], right)
        return node

    def parted(self, node, rows):
        left = [row for row in rows if self.X[row, node.feature] <= node.threshold]
        return left, [row for row in rows if row not in set(left)]

    def counts(self, rows):
        table = np.zeros((self.codes.shape[1], self.codes.max() + 1))
        for row in rows:
            table[np.arange(len(table)), self.codes[row]] += self.weights[row]
        return table

    def weight(self, rows):
        return sum(self.weights[row] for row in rows)

    def bits(self, rows):
        shares = self.counts(rows)[0] / self.weight(rows)
        return -self.weight(rows) * sum(share * log2(share) for share in shares if share > 0)

    def cut(self, node, least_side):
        """A split among many candidates has to gain more than the choice of one costs."""
        if node.feature is None:
            return
        gain = self.bits(node.rows) - self.bits(node.left.rows) - self.bits(node.right.rows)
        if gain <= log2(max(1, self.candidates(node, least_side))) + 1e-6 * self.weight(node.rows):
            node.feature = None
        else:
            self.cut(node.left, least_side)
            self.cut(node.right, least_side)

    def candidates(self, node, least_side):
        n_classes = np.count_nonzero(self.counts(self.root.rows)[0])
        side = max(least_side, min(25, 0.1 * self.weight(node.rows) / n_classes))
        ordered = sorted(node.rows, key=lambda row: self.X[row, node.feature])
        n_candidates = 0
        for place in range(1, len(ordered)):
            step = self.X[ordered[place], node.feature] - self.X[ordered[place - 1], node.feature]
            sides = self.weight(ordered[:place]), self.weight(ordered[place:])
            n_candidates += step > 1e-5 and min(sides) >= side
        return n_candidates

    def errors_as_leaf(self, rows):
        n, of_each = self.weight(rows), self.counts(rows)
        errors = n - of_each.max(axis=1)
        return np.mean([e + extra_errors_by_definition(n, e, self.confidence) for e in errors]) if n else 0

    def errors_as_tree(self, node, rows):
        if node.feature is None:
            return self.errors_as_leaf(rows)
        left, right = self.parted(node, rows)
        return self.errors_as_tree(node.left, left) + self.errors_as_tree(node.right, right)

    def prune(self, node):
        if node.feature is None:
            return
        self.prune(node.left)
        self.prune(node.right)
        larger = node.left if self.weight(node.left.rows) > self.weight(node.right.rows) else node.right
        as_leaf, as_tree = self.errors_as_leaf(node.rows), self.errors_as_tree(node, node.rows)
        as_branch = self.errors_as_tree(larger, node.rows) if self.raising else np.inf
        if as_leaf <= as_tree + 0.1 + 1e-6 and as_leaf <= as_branch + 0.1 + 1e-6:
            node.feature = None
        elif as_branch <= as_tree + 0.1 + 1e-6:
            self.n_raised += 1
            node.feature, node.threshold, node.left, node.right = (
                larger.feature,
                larger.threshold,
                larger.left,
                larger.right,
            )
            self.send_down(node, node.rows)
            self.prune(node)

    def send_down(self, node, rows):
        node.rows = rows
        if node.feature is not None:
            left, right = self.parted(node, rows)
            self.send_down(node.left, left)
            self.send_down(node.right, right)

    def shares(self, x):
        node = self.root
        while node.feature is not None:
            node = node.left if single_precision(x)[node.feature] <= node.threshold else node.right
        return self.counts(node.rows) / self.weight(node.rows)

    def n_leaves(self, node=None):
        node = node or self.root
        return 1 if node.feature is None else self.n_leaves(node.left) + self.n_leaves(node.right)


def noisy(seed, n_rows=90, n_features=4, n_classes=3, n_values=12):
    """Classes that follow a few features with many errors, and features with many equal values."""
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n_rows, n_features)) * 0.1 - 0.2
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n_rows)
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


def drawn_order(X):
    """The order in which a tree with the seed 0 looks at features."""
    return np.random.RandomState(0).permutation(X.shape[1])


def slow_tree(X, y, weights=None, confidence=0.25, raising=True):
    weights = np.ones(len(y)) if weights is None else weights
    grown = grow_tree(sort_features(X), y[:, np.newaxis], columns=drawn_order(X)).tree
    return SlowPruning(grown, X, y[:, np.newaxis], weights, confidence, least_side=2, raising=raising)


@pytest.mark.parametrize("raising", [True, False])
@pytest.mark.parametrize("confidence", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_pruning_follows_c45(n_classes, confidence, raising):
    for seed in range(4):
        X, y = noisy(seed, n_classes=n_classes)
        slow = slow_tree(X, y, confidence=confidence, raising=raising)
        fast = PrunedTreeClassifier(confidence=confidence, raising=raising).fit(X, y)
        expected = [slow.shares(x)[0] for x in X]
        np.testing.assert_array_equal(fast.predict_proba(X), expected)
        np.testing.assert_array_equal(fast.predict(X), np.argmax(expected, axis=1))
        assert fast.n_leaves_ == slow.n_leaves()


def test_raising_happens_and_changes_trees():
    raised = [seed for seed in range(12) if slow_tree(*noisy(seed), confidence=0.5).n_raised]
    assert len(raised) >= 2
    differ = 0
    for seed in raised:
        X, y = noisy(seed)
        fast, plain = (PrunedTreeClassifier(confidence=0.5, raising=raising).fit(X, y) for raising in (True, False))
        slow = slow_tree(X, y, confidence=0.5)
        np.testing.assert_array_equal(fast.predict_proba(X), [slow.shares(x)[0] for x in X])
        differ += not np.array_equal(fast.predict_proba(X), plain.predict_proba(X))
    assert differ


@pytest.mark.parametrize("seed", range(3))
def test_several_labels_are_pruned_by_their_mean_error(seed):
    X, y = noisy(seed, n_classes=4)
    Y = np.stack([y > 0, y > 1, np.random.default_rng(seed).random(len(y)) < 0.2], axis=1).astype(int)
    grown = grow_tree(sort_features(X), Y, columns=drawn_order(X)).tree
    slow = SlowPruning(grown, X, Y, np.ones(len(y)), 0.25)
    fast = PredictiveClusteringTree().fit(X, Y)
    np.testing.assert_array_equal(fast.predict_proba(X), [slow.shares(x)[:, 1] for x in X])


def hand_made(feature, threshold, left, right, X):
    """A tree with its rows."""
    tree = TreeArrays(*(np.array(part) for part in (left, right, feature, threshold)), np.zeros(len(left), dtype=bool))
    leaves = tree.apply(X)
    n_nodes, ends = len(left), np.zeros(len(left), dtype=int)
    begins = np.searchsorted(np.sort(leaves), np.arange(n_nodes))  # numbered depth first, rows by their leaves
    for node in range(n_nodes - 1, -1, -1):
        ends[node] = np.sum(leaves <= node) if left[node] == LEAF else ends[right[node]]
    return GrownTree(tree, np.argsort(leaves, kind="stable"), begins, ends)


def test_a_branch_is_raised_by_hand():
    # x0 parts 4 rows from 40; x1, asked only of the 40, tells the classes of all 44.
    X = np.array([[0, 0]] * 2 + [[0, 1]] * 2 + [[1, 0]] * 20 + [[1, 1]] * 20, dtype=float)
    y = X[:, 1:].astype(int)
    tree = hand_made([0, -2, 1, -2, -2], [0.5, -2, 0.5, -2, -2], [1, -1, 3, -1, -1], [2, -1, 4, -1, -1], X)
    pruner = Pruner(tree, X, y, np.ones(44), 0.25)
    pruner.prune(raising=False)
    assert pruner.tree.compact()[0].left.size == 5
    pruner.prune()
    raised, nodes = pruner.tree.compact()
    assert (raised.left.tolist(), raised.right.tolist()) == ([1, -1, -1], [2, -1, -1])
    assert (raised.feature[0], raised.threshold[0]) == (1, 0.5)
    assert pruner.counts[nodes, 0].tolist() == [[22, 22], [22, 0], [0, 22]]
    assert sorted(pruner.rows[nodes[1]].tolist()) == [0, 1, *range(4, 24)]
    # two leaves of 22 rows without error, instead of two of 20 and one of 4 with 2 errors
    assert pruner.as_tree[0] == pytest.approx(2 * 22 * (1 - 0.25 ** (1 / 22)))


def test_of_two_branches_as_large_the_right_one_is_raised():
    # Both branches ask x1, at 0.5 on the left and at 1.5 on the right, where no training row tells the difference.
    X = np.array([[a, 3 * b] for a in (0, 1) for b in (0, 1)] * 10, dtype=float)
    y = (X[:, 1:] > 1).astype(int)
    tree = hand_made(
        [0, 1, -2, -2, 1, -2, -2],
        [0.5, 0.5, -2, -2, 1.5, -2, -2],
        [1, 2, -1, -1, 5, -1, -1],
        [4, 3, -1, -1, 6, -1, -1],
        X,
    )
    pruner = Pruner(tree, X, y, np.ones(40), 0.25)
    pruner.prune()
    assert pruner.tree.compact()[0].threshold[0] == 1.5


def grows(X, y, least=2):
    """Whether the root is split although that has a price."""
    return grow_tree(sort_features(X), y[:, np.newaxis], min_samples_leaf=least, pays=True).tree.left[0] != LEAF


def test_price_of_a_choice_among_many_splits():
    # 8 rows, 3 on one side of the best split: 8 x entropy(3/8) = 7.6 bits are gained. Five candidates leave 2 rows on
    # each side: the price is log2(5).
    X = np.arange(8.0)[:, np.newaxis]
    assert grows(X, np.array([0, 0, 0, 1, 1, 1, 1, 1]))
    assert not grows(X, np.array([0, 1, 0, 0, 1, 1, 0, 1]))  # 1.5 bits at best
    # With 4 rows on each side there is but one candidate, which costs nothing; with 3 there are three.
    y = np.array([0, 1, 0, 0, 1, 1, 0, 1])
    assert not grows(X, y, least=3)
    assert grows(X, y, least=4)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_side_grows_with_the_rows(seed):
    """With 240 rows of three classes a candidate has at least 8 rows on either side."""
    X, y = noisy(seed, n_rows=240, n_values=200)
    slow, fast = slow_tree(X, y), PrunedTreeClassifier().fit(X, y)
    np.testing.assert_array_equal(fast.predict_proba(X), [slow.shares(x)[0] for x in X])


@pytest.mark.parametrize("seed", range(6))
def test_sparse_features_give_the_same_tree(seed):
    X, y = noisy(seed)
    X[X < 0.2] = 0
    dense, sparse = PrunedTreeClassifier().fit(X, y), PrunedTreeClassifier().fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.predict_proba(X), sparse.predict_proba(sp.csc_array(X)))
    slow = slow_tree(X, y)
    np.testing.assert_array_equal(sparse.predict_proba(X), [slow.shares(x)[0] for x in X])


@pytest.mark.parametrize("seed", range(6))
def test_a_weight_is_a_repetition_and_none_an_absence(seed):
    X, y = noisy(seed, n_rows=50)
    times = np.random.default_rng(seed).integers(0, 4, size=50)
    weighted = PrunedTreeClassifier().fit(X, y, sample_weight=times)
    repeated = PrunedTreeClassifier().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    assert weighted.n_leaves_ == repeated.n_leaves_
    slow = slow_tree(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), [slow.shares(x)[0] for x in X])


def test_classes_without_weight_stay_classes():
    X, y = noisy(0)
    tree = PrunedTreeClassifier().fit(X, y, sample_weight=y < 2)
    assert tree.classes_.tolist() == [0, 1, 2]
    assert (tree.predict_proba(X)[:, 2] == 0).all()
    np.testing.assert_array_equal(
        tree.predict_proba(X)[:, :2], PrunedTreeClassifier().fit(X[y < 2], y[y < 2]).predict_proba(X)
    )


@pytest.mark.parametrize("least", [15, 40])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_unpruned_tree_is_that_of_scikit_learn(least, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    X[rng.random(X.shape) < 0.4] = 0
    y = rng.integers(3, size=400)  # leaves are large, so that no two splits gain the same
    ours = PrunedTreeClassifier(confidence=None, min_samples_leaf=least).fit(form(X), y)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least, random_state=0).fit(form(X), y)
    new = rng.normal(size=(500, 6))
    np.testing.assert_array_equal(ours.predict_proba(new), theirs.predict_proba(new))
    np.testing.assert_array_equal(ours.predict(form(new)), theirs.predict(new))
    assert ours.n_leaves_ == theirs.get_n_leaves()


def test_thresholds_are_compared_in_single_precision():
    # 0.1 + 0.2 and 0.3 differ as doubles, and are the same value in a tree
    X = np.array([[0.1], [0.1], [0.3], [0.3], [0.5], [0.5]] * 4)
    y = (X[:, 0] > 0.2).astype(int) + (X[:, 0] > 0.4)
    tree = PrunedTreeClassifier(confidence=None).fit(X, y)
    threshold = np.sort(tree.tree_.threshold[~tree.tree_.is_leaf])[-1]
    below = np.nextafter(threshold, 1)  # more than the threshold, but not in single precision
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0).fit(X, y)
    assert np.float32(below) <= threshold
    assert tree.predict([[below], [0.1 + 0.2]]).tolist() == theirs.predict([[below], [0.3]]).tolist() == [1, 1]


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio"])
def test_between_neighbours_in_single_precision_there_is_a_threshold(criterion):
    X = np.repeat([[2.0**24 + 2], [2.0**24 + 4], [2.0**24 + 80]], 6, axis=0)  # 2^24 + 3 rounds to the second
    y = np.repeat([0, 1, 0], 6)
    tree = PrunedTreeClassifier(criterion=criterion, confidence=None).fit(X, y)
    assert tree.predict(X).tolist() == y.tolist()


@given(seed=st.integers(0, 10_000), confidence=st.sampled_from([0.05, 0.25, 0.5]))
def test_pruning_never_adds_leaves(seed, confidence):
    X, y = noisy(seed, n_rows=40)
    sizes = [PrunedTreeClassifier(confidence=c).fit(X, y).n_leaves_ for c in (confidence, None)]
    assert 1 <= sizes[0] <= sizes[1]


def test_noise_is_pruned_away():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 5)), (rng.random(200) < 0.2).astype(int)
    tree = PrunedTreeClassifier().fit(X, y)
    assert tree.n_leaves_ == 1
    np.testing.assert_allclose(tree.predict_proba(X[:1]), [[1 - y.mean(), y.mean()]])


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_too_few_rows_for_two_leaves(n_rows):
    tree = PrunedTreeClassifier(confidence=None).fit(np.arange(n_rows)[:, np.newaxis], np.arange(n_rows))
    assert tree.n_leaves_ == 1


def test_classes_may_be_names_and_the_first_of_several_wins():
    tree = PrunedTreeClassifier().fit([[0], [0]], ["b", "a"])
    assert tree.predict([[0]]).tolist() == ["a"]
    assert tree.predict_proba([[0]]).tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize("confidence", [0, -0.1, 0.51, np.nan])
def test_confidence_that_is_refused(confidence):
    with pytest.raises(ValueError, match=rf"confidence must lie in \(0, 0.5\], .*; got {confidence}"):
        PrunedTreeClassifier(confidence=confidence).fit([[0], [1]], [0, 1])


def test_options_and_weights_that_are_refused():
    with pytest.raises(ValueError, match="min_samples_leaf must be a whole number, at least 1; got 0.5"):
        PrunedTreeClassifier(min_samples_leaf=0.5).fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number."):
        PrunedTreeClassifier().fit([[0], [1]], [0, 1], sample_weight=[0, 0])
    with pytest.raises(ValueError, match="[Nn]egative"):
        PrunedTreeClassifier().fit([[0], [1]], [0, 1], sample_weight=[1, -1])
