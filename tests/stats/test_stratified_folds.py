"""Stratified folds: the algorithm by its definition, and the splitter in scikit-learn's model selection."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier

import choral
from choral.stats import MultilabelStratifiedKFold
from choral.stats.stratified_folds import stratified_folds

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = (X + RNG.normal(size=(90, 3)) > [0, 1, 2]).astype(int)


@given(arrays(bool, st.tuples(st.integers(6, 60), st.integers(1, 6))), st.integers(2, 5), st.integers(0, 9))
def test_stratified_folds_are_folds(Y, n_folds, seed):
    numbers = stratified_folds(Y, n_folds, seed)
    assert set(numbers.tolist()) <= set(range(n_folds))
    assert np.array_equal(numbers, stratified_folds(Y, n_folds, seed))
    rarest = np.where(Y.any(axis=0), Y.sum(axis=0), len(Y) + 1).argmin()
    of_rarest = np.bincount(numbers[Y[:, rarest]], minlength=n_folds)
    assert np.ptp(of_rarest) <= 1  # the label that is dealt out first


def distances_to_shares(make, Y, seed, n_folds=10):
    """How far the number of each label in each fold is from its share; folds must be of about equal size."""
    numbers = make(Y, n_folds, seed)
    assert np.ptp(np.bincount(numbers, minlength=n_folds)) <= 10
    counts = np.array([Y[numbers == fold].sum(axis=0) for fold in range(n_folds)])
    return np.abs(counts - Y.sum(axis=0) / n_folds)


def folds_by_chance(Y, n_folds, seed):
    numbers = np.empty(len(Y), dtype=int)
    for fold, (_, test) in enumerate(KFold(n_folds, shuffle=True, random_state=seed).split(Y)):
        numbers[test] = fold
    return numbers


def stratified_by_definition(Y, n_folds, seed):
    """Algorithm 1 of Sechidis et al., one row after another; chance is asked in the same order."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(Y)).tolist()
    lacking = {fold: [len(Y) / n_folds, *(column.sum() / n_folds for column in Y.T)] for fold in range(n_folds)}
    folds = {}
    while left := [row for row in rows if row not in folds]:
        counts = {label: sum(Y[row, label] for row in left) for label in range(Y.shape[1])}
        rarest = min((label for label in counts if counts[label]), key=counts.get, default=-1)  # -1: no labels left
        for row in left:
            if rarest < 0 or Y[row, rarest]:
                need = {fold: (lacking[fold][rarest + 1], lacking[fold][0]) for fold in lacking}
                neediest = [fold for fold in need if need[fold] == max(need.values())]
                folds[row] = neediest[0] if len(neediest) == 1 else int(rng.choice(neediest))
                for index in (0, *(np.flatnonzero(Y[row]) + 1)):
                    lacking[folds[row]][index] -= 1
    return [folds[row] for row in range(len(Y))]


@given(arrays(bool, st.tuples(st.integers(4, 25), st.integers(1, 5))), st.integers(2, 4), st.integers(0, 9))
def test_stratified_folds_follow_the_definition(Y, n_folds, seed):
    assert stratified_folds(Y, n_folds, seed).tolist() == stratified_by_definition(Y, n_folds, seed)


def test_stratified_folds_are_far_nearer_to_their_shares_than_chance():
    # nearer on average: frequent labels are dealt out last, from what is left, and the method promises them nothing
    rng = np.random.default_rng(0)
    labels = [rng.random((300, 8)) < np.linspace(0.02, 0.5, 8) for _ in range(12)]
    stratified = [distances_to_shares(stratified_folds, Y, seed) for seed, Y in enumerate(labels)]
    by_chance = [distances_to_shares(folds_by_chance, Y, seed) for seed, Y in enumerate(labels)]
    assert np.mean(stratified) < np.mean(by_chance) / 3


def test_stratified_folds_of_nested_labels_get_their_shares_to_one():
    rng = np.random.default_rng(0)
    for seed in range(5):
        Y = 0.7 * rng.random((300, 1)) + 0.3 * rng.random((300, 8)) < np.linspace(0.02, 0.5, 8)
        assert distances_to_shares(stratified_folds, Y, seed).max() <= 1


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("n_splits", [2, 3, 5, 90])
def test_splits_are_partitions(n_splits, repeats, shuffle):
    if repeats > 1 and not shuffle:
        return
    folds = MultilabelStratifiedKFold(n_splits, repeats=repeats, shuffle=shuffle)
    splits = list(folds.split(X, Y))
    assert len(splits) == folds.get_n_splits() == folds.get_n_splits(X, Y) == n_splits * repeats
    for train, test in splits:
        assert test.size
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(90))
    for repeat in range(repeats):
        tests = [test for _, test in splits[repeat * n_splits : (repeat + 1) * n_splits]]
        assert np.array_equal(np.sort(np.concatenate(tests)), np.arange(90))
        assert np.ptp([len(test) for test in tests]) <= 3


def draw_test_rows(folds, labels=Y):
    return [test.tolist() for _, test in folds.split(X, labels)]


def test_seeds_decide_and_repeats_are_those_of_the_next_seeds():
    folds = MultilabelStratifiedKFold(3, random_state=7)
    assert (
        draw_test_rows(folds)
        == draw_test_rows(folds)
        == draw_test_rows(MultilabelStratifiedKFold(3, random_state=np.int64(7)))
    )
    second = draw_test_rows(MultilabelStratifiedKFold(3, random_state=8))
    assert draw_test_rows(folds) != second
    assert draw_test_rows(MultilabelStratifiedKFold(3, repeats=2, random_state=7)) == draw_test_rows(folds) + second
    for source in (np.random.RandomState, np.random.default_rng):
        first, again = (MultilabelStratifiedKFold(3, random_state=source(1)) for _ in range(2))
        assert draw_test_rows(first) == draw_test_rows(again)
        assert draw_test_rows(first) != draw_test_rows(again)[::-1]
    by_chance = MultilabelStratifiedKFold(3)
    assert draw_test_rows(by_chance) != draw_test_rows(by_chance)
    in_order = MultilabelStratifiedKFold(3, shuffle=False)
    assert draw_test_rows(in_order) == draw_test_rows(in_order)


def test_without_shuffling_rows_are_taken_as_they_come():
    labels = np.array([[0], [1], [1], [0], [1], [0]])
    folds = MultilabelStratifiedKFold(3, shuffle=False)
    assert [test.tolist() for _, test in folds.split(labels, labels)] == [[0, 1], [2, 3], [4, 5]]


def test_rare_labels_are_in_every_fold():
    labels = np.zeros((300, 4), dtype=int)
    labels[:3, 0] = labels[3:9, 1] = labels[9:150, 2] = labels[::2, 3] = 1
    features = np.zeros((300, 1))
    for seed in range(5):
        for _, test in MultilabelStratifiedKFold(3, random_state=seed).split(features, labels):
            assert labels[test].sum(axis=0)[:3].tolist() == [1, 2, 47]
    missing = [labels[test, 0].sum() == 0 for _, test in KFold(3, shuffle=True, random_state=0).split(features)]
    assert any(missing)


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, np.ndarray.tolist, lambda Y: Y.astype(bool)])
def test_forms_of_labels_do_not_matter(form):
    folds = MultilabelStratifiedKFold(3, random_state=0)
    assert draw_test_rows(folds, form(Y)) == draw_test_rows(folds)


def test_labels_in_a_frame():
    pandas = pytest.importorskip("pandas")
    folds = MultilabelStratifiedKFold(3, random_state=0)
    assert draw_test_rows(folds, pandas.DataFrame(Y, index=np.arange(90)[::-1])) == draw_test_rows(folds)


def test_it_is_a_splitter_of_scikit_learn():
    folds, model = MultilabelStratifiedKFold(3, random_state=0), KNeighborsClassifier()
    scores = cross_val_score(model, X, Y, cv=folds)
    expected = [clone(model).fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds.split(X, Y)]
    assert scores.tolist() == expected
    assert cross_val_predict(model, X, Y, cv=folds).shape == Y.shape
    search = GridSearchCV(model, {"n_neighbors": [1, 5]}, cv=MultilabelStratifiedKFold(3, repeats=2, random_state=0))
    assert clone(search).fit(X, Y).n_splits_ == 6
    assert len(cross_validate(search, X, Y, cv=folds)["test_score"]) == 3
    with sklearn.config_context(enable_metadata_routing=True):
        assert cross_val_score(model, X, Y, cv=folds).tolist() == expected


def test_it_is_a_value():
    folds = MultilabelStratifiedKFold(3, random_state=0)
    assert repr(folds) == "MultilabelStratifiedKFold(n_splits=3, repeats=1, shuffle=True, random_state=0)"
    assert folds == pickle.loads(pickle.dumps(folds)) != MultilabelStratifiedKFold(4, random_state=0)
    assert choral.MultilabelStratifiedKFold is MultilabelStratifiedKFold


@pytest.mark.parametrize(
    "options, message",
    [
        ({"n_splits": 1}, "n_splits must be at least 2; got 1"),
        ({"n_splits": 2.5}, "n_splits must be a whole number, at least 2; got 2.5"),
        ({"repeats": 0}, "repeats must be at least 1; got 0"),
        ({"repeats": 2, "shuffle": False}, "repeats and random_state need shuffle=True"),
        ({"random_state": 0, "shuffle": False}, "repeats and random_state need shuffle=True"),
    ],
)
def test_options_that_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        MultilabelStratifiedKFold(**options)


@pytest.mark.parametrize(
    "labels, message",
    [
        (Y[:4], "n_splits must be at most the number of rows, 4; got 5"),
        (Y[:, 0], "y must be 2-D"),
        (Y * 2, r"y must be binary, 0 or 1; y\[\d+, \d\] is 2"),
        (None, "y must"),
    ],
)
def test_labels_that_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        next(MultilabelStratifiedKFold().split(X, labels))


def test_groups_are_refused():
    with pytest.raises(ValueError, match="does not keep groups together; use GroupKFold"):
        next(MultilabelStratifiedKFold().split(X, Y, groups=np.arange(90)))
