"""Trees that are grown: both engines alike, as scikit-learn's and as those of choral before, and by the definition."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from choral.datasets import read_arff
from choral.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    PredictiveClusteringForest,
    PrunedTreeClassifier,
    RandomKLabelsets,
)
from choral.trees import compiling, grow_tree, growing, prune_tree, sort_features
from choral.trees.sorted_features import ABOVE, BELOW, MISSING, N_RUNS
from choral.trees.tree_arrays import LEAF
from earlier_gain_ratio import GainRatioGrower


@pytest.fixture
def without_numba(monkeypatch):
    """Grow and prune as where numba is not installed."""
    use_numpy(monkeypatch)


def use_numpy(monkeypatch):
    for module in ("growing", "pruning", "tree_arrays"):
        monkeypatch.setattr(f"choral.trees.{module}.find_kernel", lambda name: None)


def random_problem(rng):
    """Features with ties, zeros or nan, dense or sparse; labels or classes; weights; options."""
    n_rows, n_features = rng.integers(1, 80), rng.integers(1, 9)
    shape = n_rows, n_features
    X = [
        lambda: rng.normal(size=shape),
        lambda: rng.integers(-2, 3, size=shape).astype(float),
        lambda: (rng.random(shape) < 0.3) * rng.normal(size=shape),
        lambda: sp.csr_array((rng.random(shape) < 0.3) * rng.normal(size=shape)),
        lambda: np.where(rng.random(shape) < 0.2, np.nan, rng.integers(-2, 3, size=shape)),
    ][rng.integers(5)]()
    has_classes = rng.random() < 0.5
    codes = rng.integers(
        rng.integers(2, 7) if has_classes else 2, size=(n_rows, 1 if has_classes else rng.integers(1, 5))
    )
    weights = [None, rng.integers(4, size=n_rows).astype(float), rng.random(n_rows)][rng.integers(3)]
    if weights is not None and not weights.any():
        weights = None
    criteria = ["entropy", "gini"] + ["gain_ratio"] * (codes.shape[1] == 1)
    criterion = criteria[rng.integers(len(criteria))]
    return X, codes, {
        "criterion": criterion,
        "min_samples_leaf": int(rng.integers(1, 5)),
        "weights": weights,
        "label_weights": rng.random(codes.shape[1]) + 0.1 if rng.random() < 0.3 else None,
        "pays": bool(codes.shape[1] == 1 and criterion == "entropy" and rng.random() < 0.5),
        "columns": rng.permutation(n_features),
        "max_features": int(rng.integers(1, n_features + 1)) if rng.random() < 0.3 else None,
        "seed": int(rng.integers(1000)),
    }  # fmt: skip


def assert_same(one, other):
    for part, same in zip((*one.tree, *one[1:]), (*other.tree, *other[1:]), strict=True):
        np.testing.assert_array_equal(part, same)


@settings(max_examples=300)
@given(seed=st.integers(0, 2**32))
def test_both_engines_grow_the_same_trees(seed):
    pytest.importorskip("numba")
    X, codes, options = random_problem(np.random.default_rng(seed))
    features = sort_features(X)
    compiled = grow_tree(features, codes, **options)
    with pytest.MonkeyPatch.context() as patch:
        use_numpy(patch)
        assert_same(compiled, grow_tree(features, codes, **options))


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), confidence=st.sampled_from([0.1, 0.25, 0.5, None]), raising=st.booleans())
def test_both_engines_prune_alike(seed, confidence, raising):
    pytest.importorskip("numba")
    rng = np.random.default_rng(seed)
    X, codes, options = random_problem(rng)
    grown = grow_tree(sort_features(X), codes, **options)
    weights = np.ones(len(codes)) if options["weights"] is None else options["weights"]
    compiled = prune_tree(grown, X, codes, weights, confidence=confidence, raising=raising)
    with pytest.MonkeyPatch.context() as patch:
        use_numpy(patch)
        other = prune_tree(grown, X, codes, weights, confidence=confidence, raising=raising)
    for part, same in zip(compiled.tree, other.tree, strict=True):
        np.testing.assert_array_equal(part, same)
    np.testing.assert_allclose(compiled.shares, other.shares, rtol=1e-12)
    np.testing.assert_array_equal(compiled.leaves, other.leaves)


@pytest.mark.usefixtures("without_numba")
def test_learners_work_without_numba():
    assert growing.find_kernel("growing_kernel") is None
    X, Y = labelled(60)
    for learner in (BinaryRelevance(), PredictiveClusteringForest(3, random_state=0)):
        slow = learner.fit(X, Y).predict_proba(X)
        with pytest.MonkeyPatch.context() as patch:
            for module in ("growing", "pruning", "tree_arrays"):
                patch.setattr(f"choral.trees.{module}.find_kernel", compiling.find_kernel)
            np.testing.assert_array_equal(learner.fit(X, Y).predict_proba(X), slow)


def test_a_kernel_that_is_broken_is_not_taken_for_one_that_is_missing():
    with pytest.raises(ModuleNotFoundError, match="choral.trees.no_such_kernel"):
        compiling.find_kernel("no_such_kernel")


def test_without_a_folder_for_compiled_code_functions_are_compiled_all_the_same(monkeypatch):
    numba = pytest.importorskip("numba")
    njit = numba.njit

    def refuse_cache(function, *, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")  # as numba does
        return njit(function, **options)

    monkeypatch.setattr(numba, "njit", refuse_cache)
    assert compiling.compiled(lambda x: x + 1)(1) == 2


def labelled(n_rows, n_features=6, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, (X[:, :n_labels] + X[:, 1 : n_labels + 1] + rng.normal(size=(n_rows, n_labels)) > 0.5).astype(int)


# Beside scikit-learn's trees and the earlier grower: the same, wherever no two splits tie


def entropy(codes):
    """Bits a row, summed over outputs."""
    shares = [np.bincount(column) / len(column) for column in codes.T]
    return sum(-(share[share > 0] * np.log2(share[share > 0])).sum() for share in shares)


def gain(codes, left):
    return entropy(codes) - left.mean() * entropy(codes[left]) - (~left).mean() * entropy(codes[~left])


def count_common_nodes(ours, theirs, X, codes, tie):
    """How many nodes two trees share. Where they differ, ``tie(rows, features, left)`` has to be true."""
    children = [(tree.left, tree.right) if hasattr(tree, "left") else (tree.children_left, tree.children_right)
                for tree in (ours, theirs)]  # fmt: skip
    n_common, n_ties, waiting = 0, 0, [(0, 0, np.arange(len(codes)))]
    while waiting:
        one, other, rows = waiting.pop()
        if children[0][0][one] == children[1][0][other] == LEAF:
            n_common += 1
            continue
        splits = [
            (int(tree.feature[node]), float(tree.threshold[node])) for tree, node in ((ours, one), (theirs, other))
        ]
        left = [X[rows, feature] <= threshold if feature >= 0 else None for feature, threshold in splits]
        if left[0] is not None and left[1] is not None and np.array_equal(*left) and splits[0][0] == splits[1][0]:
            n_common += 1
            assert splits[0][1] == pytest.approx(splits[1][1], rel=1e-6, abs=1e-6)
            waiting.append((children[0][0][one], children[1][0][other], rows[left[0]]))
            waiting.append((children[0][1][one], children[1][1][other], rows[~left[0]]))
        else:
            n_ties += 1
            assert tie(rows, [feature for feature, _ in splits], left), (splits, rows.size)
    return n_common, n_ties


def same_gain(codes):
    """Whether two splits of some rows gain the same."""

    def tie(rows, features, left):
        gains = [0 if part is None else gain(codes[rows], part) for part in left]
        return gains[0] == pytest.approx(gains[1], abs=1e-9)

    return tie


@pytest.mark.parametrize("least", [1, 2, 6])
@pytest.mark.parametrize("kind", ["label", "labels", "classes"])
def test_entropy_trees_are_those_of_scikit_learn(kind, least):
    X, Y = labelled(300)
    codes = {"label": Y[:, :1], "labels": Y, "classes": (Y @ [1, 2, 4])[:, np.newaxis]}[kind]
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=least, random_state=0).fit(X, codes).tree_
    ours = grow_tree(sort_features(X), codes, min_samples_leaf=least)
    n_common, n_ties = count_common_nodes(ours.tree, theirs, X.astype(np.float32), codes, same_gain(codes))
    assert n_common > 20
    assert n_ties <= n_common / 4  # in small nodes several splits are perfect


def test_gini_trees_are_those_of_scikit_learn():
    X, Y = labelled(300)
    theirs = DecisionTreeRegressor(min_samples_leaf=5, random_state=0).fit(X, Y).tree_
    ours = grow_tree(sort_features(X), Y, criterion="gini", min_samples_leaf=5)
    n_common, n_ties = count_common_nodes(ours.tree, theirs, X.astype(np.float32), Y, lambda rows, *_: rows.size < 30)
    assert n_common > 10 * max(n_ties, 1)
    classes = (Y @ [1, 2, 4])[:, np.newaxis]
    theirs = DecisionTreeClassifier(min_samples_leaf=5, random_state=0).fit(X, classes).tree_
    ours = grow_tree(sort_features(X), classes, criterion="gini", min_samples_leaf=5)
    n_common, n_ties = count_common_nodes(
        ours.tree, theirs, X.astype(np.float32), classes, lambda rows, *_: rows.size < 30
    )
    assert n_common > 10 * max(n_ties, 1)


@pytest.mark.parametrize("share", [0.1, 0.6])
def test_rows_without_a_value_go_where_scikit_learn_sends_them(share):
    rng = np.random.default_rng(0)
    X, Y = labelled(1000)
    X[rng.random(X.shape) < share * (Y[:, :1] + 0.2)] = np.nan  # that a value is missing tells something
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=60, random_state=0).fit(X, Y[:, 0])
    ours = PrunedTreeClassifier(min_samples_leaf=60, confidence=None).fit(X, Y[:, 0])
    assert ours.n_leaves_ > 8
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-12)
    new = labelled(200, seed=1)[0]
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-12)
    new[rng.random(new.shape) < 0.3] = np.nan
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-12)


def test_where_no_value_was_missing_new_rows_go_with_the_majority():
    X, y = np.array([[0.0]] * 6 + [[1.0]] * 4), np.array([0] * 6 + [1] * 4)
    for flip in (1, -1):
        tree = PrunedTreeClassifier().fit(flip * X, y)
        assert tree.predict([[np.nan]]).tolist() == [0]


def test_weights_that_are_no_whole_numbers_are_those_of_scikit_learn():
    X, Y = labelled(200)
    weights = np.random.default_rng(1).random(200) * 3
    share = 4 / weights.sum()
    theirs = DecisionTreeClassifier(criterion="entropy", min_weight_fraction_leaf=share, random_state=0)
    ours = PrunedTreeClassifier(confidence=None, min_samples_leaf=4).fit(X, Y[:, 0], sample_weight=weights)
    theirs.fit(X, Y[:, 0], sample_weight=weights)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)


def test_rows_of_almost_no_weight_are_too_few_for_two_leaves():
    X, Y = labelled(40)
    for weight in (1e-3, 1e-300):
        assert PrunedTreeClassifier().fit(X, Y[:, 0], sample_weight=np.full(40, weight)).n_leaves_ == 1


@pytest.mark.parametrize("criterion", ["entropy", "gain_ratio"])
def test_a_weight_is_a_repetition(criterion):
    X, Y = labelled(120)
    times = np.random.default_rng(2).integers(0, 4, size=120)
    y = Y @ [1, 2, 4]
    weighted = PrunedTreeClassifier(criterion=criterion).fit(X, y, sample_weight=times)
    repeated = PrunedTreeClassifier(criterion=criterion).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))
    tenfold = PrunedTreeClassifier(criterion=criterion, min_samples_leaf=20, confidence=None)
    plain = PrunedTreeClassifier(criterion=criterion, min_samples_leaf=2, confidence=None).fit(X, Y[:, 0])
    if criterion == "entropy":  # the gain ratio counts candidates, whatever their weight
        np.testing.assert_allclose(
            tenfold.fit(X, Y[:, 0], sample_weight=np.full(120, 10.0)).predict_proba(X), plain.predict_proba(X)
        )


# The gain ratio


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


def nominal_and_numeric(seed, n_rows=40):
    rng = np.random.default_rng(seed)
    numeric = rng.normal(size=(n_rows, 3)).round(int(rng.integers(0, 3)))
    binary = rng.integers(2, size=(n_rows, 3)) * [1, 4, -2] + [0, 3, 0]
    X = np.hstack([numeric, binary, np.ones((n_rows, 1))])[:, rng.permutation(7)]
    codes = (X[:, 0] + X[:, 3] + rng.normal(size=n_rows) > 0).astype(int) + (rng.random(n_rows) < 0.2)
    return X, np.unique(codes, return_inverse=True)[1]


def grow_by_ratio(X, codes, least=2):
    return grow_tree(sort_features(X), codes[:, np.newaxis], criterion="gain_ratio", min_samples_leaf=least).tree


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_the_first_split_is_the_one_that_c45_takes(seed):
    X, codes = nominal_and_numeric(seed)
    tree = grow_by_ratio(X, codes)
    splits = best_split_by_definition(X, codes, codes.max() + 1, 2)
    assert (tree.left[0] == LEAF) == (not splits)
    if splits:
        ratios = {feature: gain / cost for gain, cost, feature, _ in splits}
        assert ratios[tree.feature[0]] == pytest.approx(max(ratios.values()), rel=1e-6)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32), least=st.sampled_from([1, 3]), by=st.sampled_from(["gain_ratio", "entropy", "gini"]))
def test_leaves_have_rows_enough(seed, least, by):
    X, codes = nominal_and_numeric(seed)
    grown = grow_tree(sort_features(X), codes[:, np.newaxis], criterion=by, min_samples_leaf=least)
    assert (grown.ends - grown.begins).min() >= least
    leaves = grown.tree.apply(X)
    for node in np.flatnonzero(grown.tree.is_leaf):
        rows = grown.rows[grown.begins[node] : grown.ends[node]]
        np.testing.assert_array_equal(leaves[rows], node)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_sparse_features_grow_the_same_tree(seed):
    X, codes = nominal_and_numeric(seed)
    for part, same in zip(grow_by_ratio(X, codes), grow_by_ratio(sp.csr_array(X), codes), strict=True):
        np.testing.assert_array_equal(part, same)


def test_a_small_pure_part_is_preferred_to_a_balanced_split():
    """The first feature has the larger gain, the second the larger ratio."""
    codes = np.array([0] * 6 + [1] * 10)
    halves = np.array([0] * 6 + [0] * 2 + [1] * 8)
    small = np.array([0] * 5 + [1] * 11)
    assert grow_by_ratio(np.stack([halves, small], axis=1), codes).feature[0] == 1


def test_a_numeric_feature_pays_for_the_choice():
    """Noise: the best of many thresholds gains something, but less than the choice costs."""
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(60, 1)), rng.integers(2, size=60)
    assert grow_by_ratio(X, codes).left.tolist() == [LEAF]
    features = sort_features(X)
    assert grow_tree(features, codes[:, np.newaxis], pays=True).tree.left.tolist() == [LEAF]
    assert grow_tree(features, codes[:, np.newaxis]).tree.left.size > 1


def test_one_class_or_few_rows_are_a_leaf():
    assert grow_by_ratio(np.eye(4), np.zeros(4, dtype=int)).left.tolist() == [LEAF]
    assert grow_by_ratio(np.eye(3), np.array([0, 1, 1])).left.tolist() == [LEAF]


# Real data


@pytest.fixture(
    scope="module",
    params=["birds", "emotions", "enron-f", "flags", "genbase", "llog-f", "medical", "scene", "yeast"],
)
def real_dataset(request, datasets_folder):
    (path,) = datasets_folder.glob(f"{request.param}.arff*")
    return read_arff(path)


def sample(dataset):
    """Some labels of a data set: the most frequent one, one of the rarer ones, and label sets of three as classes."""
    frequency = dataset.Y.mean(axis=0)
    order = np.argsort(-np.minimum(frequency, 1 - frequency), kind="stable")
    triple = dataset.Y[:, order[:3]] @ [1, 2, 4]
    return [dataset.Y[:, order[0]], dataset.Y[:, order[len(order) // 2]], np.unique(triple, return_inverse=True)[1]]


def test_entropy_trees_of_real_data_are_those_of_scikit_learn(real_dataset):
    X = real_dataset.X
    features, single = sort_features(X), dense(X)
    n_nodes = 0
    for y in sample(real_dataset):
        theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0).fit(X, y).tree_
        ours = grow_tree(features, y[:, np.newaxis].astype(int)).tree
        n_nodes += count_common_nodes(ours, theirs, single, y[:, np.newaxis], same_gain(y[:, np.newaxis]))[0]
    assert n_nodes >= 3


def test_gain_ratio_trees_of_real_data_are_those_of_before(real_dataset):
    X, n_nodes = real_dataset.X, 0
    features, single = sort_features(X), dense(X)
    for y in sample(real_dataset):
        y = y.astype(int)
        ours = grow_tree(features, y[:, np.newaxis], criterion="gain_ratio").tree
        earlier = GainRatioGrower(X, y, 2).grow()

        def tie(rows, splits, left, y=y):
            """Whether ours is as good by the definition: of thresholds of a feature that gain the same any is right."""
            of_feature = {
                feature: (gain, cost, column[rows] <= threshold)
                for gain, cost, feature, threshold in best_split_by_definition(
                    single[rows].astype(float), y[rows], y.max() + 1, 2
                )
                for column in [single[:, feature]]
            }
            if left[0] is None or splits[0] not in of_feature:
                return False
            net, _, best = of_feature[splits[0]]
            same = gain(y[rows, np.newaxis], left[0]) == pytest.approx(gain(y[rows, np.newaxis], best), abs=1e-9)
            ratio = net / bits(left[0].astype(int))
            return same and ratio >= max(gain / cost for gain, cost, _ in of_feature.values()) - 1e-6

        n_nodes += count_common_nodes(ours, earlier, single, y[:, np.newaxis], tie)[0]
    assert n_nodes >= 3


def dense(X):
    return (X.toarray() if sp.issparse(X) else np.asarray(X)).astype(np.float32)


# Sharing and drawing


@pytest.mark.parametrize("learner", [BinaryRelevance(), PredictiveClusteringForest(6, random_state=0)])
def test_threads_change_nothing(learner):
    X, Y = labelled(150)
    one, two = (learner.set_params(n_jobs=n_jobs).fit(X, Y).predict_proba(X) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_trees_that_share_features_are_those_fitted_alone():
    X, Y = labelled(150)
    for label, tree in enumerate(BinaryRelevance().fit(X, Y).estimators_):
        alone = PrunedTreeClassifier(random_state=tree.random_state).fit(X, Y[:, label])
        assert_same_trees(tree, alone)
    chain = ClassifierChain(random_state=0).fit(X, Y)
    for place, tree in enumerate(chain.estimators_):
        appended = np.hstack([X, Y[:, chain.order_[:place]]])
        alone = PrunedTreeClassifier(random_state=tree.random_state).fit(appended, Y[:, chain.order_[place]])
        assert_same_trees(tree, alone)
    sets = RandomKLabelsets(k=2, random_state=0).fit(X, Y)
    for labels, powerset in zip(sets.label_subsets_, sets.estimators_, strict=True):
        alone = LabelPowerset(clone(powerset.estimator)).fit(X, Y[:, labels])
        assert_same_trees(powerset.estimator_, alone.estimator_)


def assert_same_trees(one, other):
    assert one.n_features_in_ == other.n_features_in_
    np.testing.assert_array_equal(one.values_, other.values_)
    for part, same in zip(one.tree_, other.tree_, strict=True):
        np.testing.assert_array_equal(part, same)


def test_features_are_drawn_anew_at_each_node():
    X, Y = labelled(300)
    features = sort_features(X)
    drawn = [grow_tree(features, Y, max_features=1, seed=seed).tree for seed in range(3)]
    assert len({tuple(tree.feature[:5].tolist()) for tree in drawn}) > 1
    assert len(np.unique(drawn[0].feature[drawn[0].left != LEAF])) > 3
    same = grow_tree(features, Y, max_features=1, seed=0).tree
    np.testing.assert_array_equal(drawn[0].feature, same.feature)
    first = [int(grow_tree(features, Y, max_features=1, seed=seed).tree.feature[0]) for seed in range(300)]
    assert np.bincount(first, minlength=6).min() > 25  # 50 expected


def test_features_are_drawn_on_until_one_can_be_split():
    X, Y = labelled(60)
    X[:, 1:] = 0
    assert all(grow_tree(sort_features(X), Y, max_features=1, seed=seed).tree.left.size > 1 for seed in range(10))


# Sorted features


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32))
def test_sorted_features_hold_every_value(seed):
    rng = np.random.default_rng(seed)
    X = random_problem(rng)[0]
    features, whole = sort_features(X), dense(X)
    for feature in range(X.shape[1]):
        column = np.full(X.shape[0], features.common[feature])
        parts = []
        for run in (BELOW, ABOVE, MISSING):
            start, end = features.starts[N_RUNS * feature + run], features.starts[N_RUNS * feature + run + 1]
            column[features.rows[start:end]] = features.values[start:end]
            parts.append(features.values[start:end])
        np.testing.assert_array_equal(column, whole[:, feature])
        assert (np.diff(parts[BELOW]) >= 0).all()
        assert (np.diff(parts[ABOVE]) <= 0).all()
        known = whole[~np.isnan(whole[:, feature]), feature]
        assert features.has_two[feature] == (np.unique(known).size == 2)


def test_numbers_beyond_single_precision_stay_in_order():
    features = sort_features(np.array([[1e300], [-1e300], [0.0]]))
    assert features.run(0, BELOW) == [1, 2, 0]
    assert np.isfinite(features.values).all()
