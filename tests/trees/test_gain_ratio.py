"""Trees grown by the gain ratio, against a slow search that follows C4.5."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from choral.trees.gain_ratio import GainRatioGrower
from choral.trees.tree_arrays import LEAF


def bits(codes):
    """Information in the classes of one row, in bits."""
    shares = np.bincount(codes) / len(codes)
    return -sum(share * np.log2(share) for share in shares if share)


def best_split_by_definition(X, codes, n_classes, least):
    """The best threshold of each feature by gain; of those that gain at least the average, gain and cost."""
    found = []
    n_rows = len(codes)
    for feature, column in enumerate(X.T):
        values = np.unique(column)
        is_binary = len(values) == 2
        side = least if is_binary else np.clip(0.1 * n_rows / n_classes, least, 25)
        tried = []
        for low, high in pairwise(values):
            left = column <= (low + high) / 2
            if min(left.sum(), (~left).sum()) >= side and high - low > 1e-5:
                share = left.mean()
                gain = bits(codes) - share * bits(codes[left]) - (1 - share) * bits(codes[~left])
                tried.append((gain, bits(left.astype(int)), feature, (low + high) / 2))
        if tried:
            gain, *rest = max(tried, key=lambda split: (round(split[0], 12), -split[3]))
            found.append((gain - (0 if is_binary else np.log2(len(tried)) / n_rows), *rest))
    found = [split for split in found if split[0] > 1e-12]
    average = np.mean([split[0] for split in found]) if found else 0
    return [split for split in found if split[0] >= average - 1e-3]


def random_problem(seed, n_rows=40):
    rng = np.random.default_rng(seed)
    numeric = rng.normal(size=(n_rows, 3)).round(int(rng.integers(0, 3)))
    binary = rng.integers(2, size=(n_rows, 3)) * [1, 4, -2] + [0, 3, 0]
    X = np.hstack([numeric, binary, np.ones((n_rows, 1))])[:, rng.permutation(7)]
    codes = (X[:, 0] + X[:, 3] + rng.normal(size=n_rows) > 0).astype(int) + (rng.random(n_rows) < 0.2)
    return X, np.unique(codes, return_inverse=True)[1]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_the_first_split_is_the_one_that_c45_takes(seed):
    X, codes = random_problem(seed)
    tree = GainRatioGrower(X, codes, least=2).grow()
    splits = best_split_by_definition(X, codes, codes.max() + 1, 2)
    assert (tree.left[0] == LEAF) == (not splits)
    if splits:
        ratios = {feature: gain / cost for gain, cost, feature, _ in splits}
        assert ratios[tree.feature[0]] == pytest.approx(max(ratios.values()), rel=1e-9)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_leaves_have_rows_enough(seed):
    X, codes = random_problem(seed)
    for least in (1, 3):
        leaves = GainRatioGrower(X, codes, least=least).grow().apply(X)
        assert np.unique(leaves, return_counts=True)[1].min() >= least


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_sparse_features_grow_the_same_tree(seed):
    X, codes = random_problem(seed)
    dense, sparse = (GainRatioGrower(form(X), codes, least=2).grow() for form in (np.asarray, sp.csr_array))
    for part, same in zip(dense, sparse, strict=True):
        np.testing.assert_array_equal(part, same)


def test_a_small_pure_part_is_preferred_to_a_balanced_split():
    """The first feature has the larger gain, the second the larger ratio."""
    codes = np.array([0] * 6 + [1] * 10)
    halves = np.array([0] * 6 + [0] * 2 + [1] * 8)
    small = np.array([0] * 5 + [1] * 11)
    tree = GainRatioGrower(np.stack([halves, small], axis=1), codes, least=2).grow()
    assert tree.feature[0] == 1


def test_a_numeric_feature_pays_for_the_choice():
    """Noise: the best of many thresholds gains something, but less than the choice costs."""
    rng = np.random.default_rng(0)
    tree = GainRatioGrower(rng.normal(size=(60, 1)), rng.integers(2, size=60), least=2).grow()
    assert tree.left.tolist() == [LEAF]


def test_one_class_or_few_rows_are_a_leaf():
    assert GainRatioGrower(np.eye(4), np.zeros(4, dtype=int), least=2).grow().left.tolist() == [LEAF]
    assert GainRatioGrower(np.eye(3), np.array([0, 1, 1]), least=2).grow().left.tolist() == [LEAF]
