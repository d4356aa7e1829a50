"""Costly rows and whole label sets: against sorted lists and counters."""

from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral.explanation.label_sets import _largest
from choral.rows import blocks
from choral.rows.hashes import hash_rows

KINDS = [np.asarray, sp.csr_array, lambda array: np.asarray(array, dtype=float), lambda array: array.astype(bool)]


def few_label_sets(rng, n_rows=300, n_labels=4):
    y_true = rng.integers(2, size=(n_rows, n_labels))
    y_true[:, 3] &= y_true[:, 0]
    y_pred = np.where(rng.random(y_true.shape) < 0.2, 1 - y_true, y_true)
    y_pred[:, 2] &= y_pred[:, 1]  # so that some label sets are never predicted
    return y_true, y_pred


def label_set(row):
    return tuple(f"label {label}" for label in np.flatnonzero(row))


def most_common(counter):
    """The most frequent first; of equal ones, those that came first: what Counter does."""
    return [(*key, count) for key, count in counter.most_common()]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("n_most", [0, 1, 3, 1000])
def test_mistakes_and_label_sets_never_predicted_are_those_of_counters(make, kind, n_most, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 7 * 4)
    y_true, y_pred = few_label_sets(np.random.default_rng(0))
    pairs = [(label_set(true), label_set(pred)) for true, pred in zip(y_true, y_pred, strict=True)]
    wrong = Counter(pair for pair in pairs if pair[0] != pair[1])
    predicted = {pred for _, pred in pairs}
    never = Counter((true,) for true, _ in pairs if true not in predicted)
    given = make(y_pred) if kind == "hard" else np.where(y_pred, 0.5, 0.49)
    found = choral.explain(make(y_true), given, n_most=n_most)
    assert list(found.mistakes) == most_common(wrong)[:n_most]
    assert list(found.never_predicted) == most_common(never)[:n_most]
    sets = found.label_sets
    assert (sets.n_true, sets.n_predicted) == (len({true for true, _ in pairs}), len(predicted))
    assert sets.n_never_predicted == len(never) > 1


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("n_most", [0, 1, 7, 1000])
@pytest.mark.parametrize("measure", [choral.SubsetMeasure(), choral.BinomialMeasure(2), choral.HammingMeasure()])
def test_costly_rows_are_those_of_a_sorted_list(make, n_most, measure):
    y_true, y_pred = few_label_sets(np.random.default_rng(1), n_rows=60)
    losses = choral.choquet_loss(y_true, y_pred, measure, reduction="none")
    wrong = (y_true != y_pred).sum(axis=1)
    order = sorted(np.flatnonzero(wrong).tolist(), key=lambda row: (-losses[row], -wrong[row], row))
    found = choral.explain(make(y_true), make(y_pred), measure, n_most=n_most)
    assert [row.row for row in found.costly_rows] == order[:n_most]
    assert [row.id for row in found.costly_rows] == order[:n_most]
    for row in found.costly_rows:
        assert row.loss == pytest.approx(losses[row.row], abs=1e-12)
        assert row.true == label_set(y_true[row.row])
        assert row.predicted == label_set(y_pred[row.row])
    np.testing.assert_allclose(found.row_losses, losses, rtol=0, atol=1e-12)


def test_costly_rows_of_scores_are_told_apart_by_the_sum_of_errors():
    y_true, y_pred = [[1, 1], [1, 1], [1, 1]], [[0.0, 0.9], [0.0, 0.4], [1.0, 1.0]]
    found = choral.explain(y_true, y_pred, choral.SubsetMeasure())
    assert [(row.row, row.predicted) for row in found.costly_rows] == [(1, ()), (0, ("label 1",))]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_of_which_nothing_is_known_are_in_no_list(make):
    y_true = np.array([[np.nan, np.nan], [1, np.nan], [0, 1]])
    y_pred = np.array([[1.0, 1], [0, 1], [0, 1]])
    found = choral.explain(make(y_true), make(y_pred), choral.HammingMeasure(), labels=["a", "b"])
    assert [(row.row, row.true, row.predicted) for row in found.costly_rows] == [(1, ("a",), ())]
    assert found.mistakes == ((("a",), (), 1),)
    assert found.label_sets.n_true == found.label_sets.n_predicted == 2
    assert np.isnan(found.row_losses).tolist() == [True, False, False]
    assert (found.n_rows, found.n_unobserved) == (2, 1)


def test_ids_come_from_the_index_of_a_frame_and_names_from_its_columns():
    pandas = pytest.importorskip("pandas")
    y_true = pandas.DataFrame([[1, 0], [0, 1], [1, 1]], index=["x", "y", "z"], columns=["sea", "sky"])
    y_pred = pandas.DataFrame([[1, 0], [1, 1], [0, 0]], index=["x", "y", "z"], columns=["sea", "sky"])
    found = choral.explain(y_true, y_pred)
    assert found.labels == ("sea", "sky")
    assert [(row.id, row.row, row.true) for row in found.costly_rows] == [("z", 2, ("sea", "sky")), ("y", 1, ("sky",))]
    named = choral.explain(y_true, y_pred, labels=["a", "b"], ids=[10, 20, 30])
    assert named.labels == ("a", "b")
    assert [row.id for row in named.costly_rows] == [30, 20]
    series = choral.explain(y_true, y_pred, ids=pandas.Series([10, 20, 30], index=[2, 1, 0]))
    assert [row.id for row in series.costly_rows] == [30, 20]
    numbers = choral.explain(y_true.reset_index(drop=True), y_pred.reset_index(drop=True))
    assert [row.id for row in numbers.costly_rows] == [2, 1]


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_by_several_keys(seed):
    rng = np.random.default_rng(seed)
    keys = rng.integers(4, size=(2, 30))
    order = sorted(range(30), key=lambda place: (-keys[0, place], -keys[1, place], place))
    for n_most in (0, 1, 5, 29, 30, 40):
        assert _largest(n_most, *keys).tolist() == order[:n_most]


@pytest.mark.parametrize("n_labels", [1, 7, 8, 9, 64, 65, 200])
@pytest.mark.parametrize(
    "make", [*KINDS, lambda array: array.astype(np.uint8), lambda a: np.asfortranarray(a, np.uint8)]
)
def test_equal_rows_have_equal_numbers_and_others_do_not(make, n_labels):
    rng = np.random.default_rng(0)
    rows = (rng.random((500, n_labels)) < 0.1).astype(int)
    numbers = hash_rows(make(rows))
    by_row = {}
    for row, number in zip(map(tuple, rows), numbers.tolist(), strict=True):
        assert by_row.setdefault(row, number) == number
    assert len(set(by_row.values())) == len(by_row)


def test_a_stored_zero_of_a_sparse_row_is_no_label():
    stored = sp.csr_array((np.array([1, 0]), np.array([0, 2]), np.array([0, 2])), shape=(1, 3))
    assert hash_rows(stored) == hash_rows(sp.csr_array([[1, 0, 0]]))
