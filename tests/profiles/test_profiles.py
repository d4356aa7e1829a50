"""The small summary: equal to the losses it summarises, additive, exact, and small."""

import json
import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import choral
from choral import AtLeastMeasure, BinomialMeasure, CountingMeasure, ErrorProfile, PolynomialMeasure, SubsetMeasure
from choral.measures import PUBLISHED_ALPHAS

MEASURES = [BinomialMeasure(2), PolynomialMeasure(1.7), AtLeastMeasure(3), CountingMeasure([0, 0, 0.2, 0.9, 1])]
hard = arrays(np.uint8, (6, 4), elements=st.integers(0, 1))
soft = arrays(float, (6, 4), elements=st.floats(0, 1) | st.sampled_from([0.0, 1.0]))


@given(y_true=hard, y_pred=hard | soft, split=st.integers(1, 5), weighted=st.booleans())
def test_profile_of_a_concatenation_is_the_sum_of_profiles(y_true, y_pred, split, weighted):
    weight = np.arange(1.0, 7) if weighted else None
    whole = ErrorProfile.from_predictions(y_true, y_pred, weight)
    first, second = (
        ErrorProfile.from_predictions(y_true[part], y_pred[part], None if weight is None else weight[part])
        for part in (slice(split), slice(split, None))
    )
    total = first + second
    assert (total.n_rows, total.total_weight, total.is_hard) == (6, whole.total_weight, whole.is_hard)
    np.testing.assert_allclose(total.error_sums, whole.error_sums, atol=1e-12)
    streamed = ErrorProfile(n_labels=4)
    assert streamed.update(y_true[:split], y_pred[:split], weight if weight is None else weight[:split]) is streamed
    streamed.update(y_true[split:], y_pred[split:], weight if weight is None else weight[split:])
    for measure in MEASURES:
        expected = choral.choquet_loss(y_true, y_pred, measure, sample_weight=weight)
        for profile in (whole, total, streamed):
            assert profile.loss(measure) == pytest.approx(expected, abs=1e-12)


@given(y_true=hard, y_pred=hard | soft)
def test_sparse_profile_is_the_dense_one(y_true, y_pred):
    dense = ErrorProfile.from_predictions(y_true, y_pred)
    sparse = ErrorProfile.from_predictions(sp.csr_array(y_true), sp.csr_array(y_pred))
    assert sparse.is_hard == dense.is_hard
    np.testing.assert_allclose(sparse.error_sums, dense.error_sums, atol=1e-12)


@given(y_true=hard, y_pred=hard)
def test_scores_at_the_corners_are_hard_labels(y_true, y_pred):
    as_scores = ErrorProfile.from_predictions(y_true, y_pred.astype(float))
    assert as_scores.is_hard
    assert as_scores == ErrorProfile.from_predictions(y_true, y_pred)
    nearly = ErrorProfile.from_predictions(y_true, np.where(y_pred, 1 - 1e-9, 1e-9))
    assert not nearly.is_hard
    for measure in MEASURES:
        assert nearly.loss(measure) == pytest.approx(as_scores.loss(measure), abs=1e-8)


def test_histogram_by_hand():
    profile = ErrorProfile.from_predictions([[1, 0, 1], [0, 0, 1], [1, 1, 1]], [[0, 1, 0], [0, 0, 1], [1, 1, 0]])
    assert profile.rows_by_errors.tolist() == [1, 1, 0, 1]
    assert profile.rows_by_errors.dtype == np.int64
    assert profile.error_sums.tolist() == [2, 1, 1]
    weighted = ErrorProfile.from_predictions([[1, 0], [0, 0]], [[0, 0], [0, 0]], sample_weight=[0.5, 2])
    assert weighted.rows_by_errors.tolist() == [2, 0.5, 0]
    assert weighted.total_weight == 2.5


def test_profiles_from_histograms():
    profile = ErrorProfile.from_histogram(np.array([2, 1, 0, 1]))
    assert (profile.n_labels, profile.n_rows, profile.is_hard) == (3, 4, True)
    assert profile.loss(SubsetMeasure()) == 0.5
    with pytest.raises(ValueError, match="a number of rows must be at least 0; got -1"):
        ErrorProfile.from_histogram([1, -1])
    with pytest.raises(ValueError, match="n_labels must be at least 1; got 0"):
        ErrorProfile.from_histogram([1])


def test_hard_plus_soft_is_soft():
    hard_one = ErrorProfile.from_predictions([[1, 0]], [[0, 0]])
    soft_one = ErrorProfile.from_predictions([[1, 0]], [[0.5, 0.25]])
    total = hard_one + soft_one
    assert not total.is_hard
    assert total.error_sums.tolist() == [1.5, 0.25]
    assert total == soft_one + hard_one
    with pytest.raises(ValueError, match="rows_by_errors needs hard predictions"):
        _ = total.rows_by_errors


def test_a_late_score_makes_the_whole_profile_soft():
    y_true = np.zeros((40_000, 100))
    y_pred = y_true.copy()
    y_pred[-1, 3] = 0.5
    profile = ErrorProfile.from_predictions(y_true, y_pred)
    assert not profile.is_hard
    assert profile.loss(SubsetMeasure()) == 0.5 / 40_000


def test_sums_of_profiles():
    profiles = [ErrorProfile.from_predictions([[1, 0]], [[0, 0]]) for _ in range(3)]
    assert sum(profiles).rows_by_errors.tolist() == [0, 3, 0]
    sum(profiles[:1]).update([[1, 0]], [[0, 0]])
    assert profiles[0].n_rows == 1  # a sum is a profile of its own


def test_an_empty_profile_survives_its_dict():
    empty = ErrorProfile.from_dict(ErrorProfile(3).to_dict())
    assert empty == ErrorProfile(3)
    assert empty.update([[1, 0, 0]], [[0, 0, 0]]).rows_by_errors.dtype == np.int64


@pytest.mark.parametrize("n_rows", [100_000, 1_000_000])
def test_many_weights_keep_their_digits(n_rows):
    y_true = np.zeros((n_rows, 1), dtype=bool)
    profile = ErrorProfile.from_predictions(y_true, ~y_true, np.full(n_rows, 0.1))
    assert profile.loss(SubsetMeasure()) == pytest.approx(1, abs=1e-13)
    assert profile.curve().losses[0] <= 1
    y_pred = y_true.copy()
    y_pred[: n_rows // 4] = True
    weights = np.where(y_pred[:, 0], 0.3, 0.1)
    assert ErrorProfile.from_predictions(y_true, y_pred, weights).loss(SubsetMeasure()) == pytest.approx(0.5, rel=1e-13)


def test_tables_larger_than_memory_should_hold_are_made_in_parts(monkeypatch):
    profile = ErrorProfile.from_predictions([[1, 0, 1, 1]], [[0, 1, 1, 1]])
    whole = profile.losses("binomial")
    monkeypatch.setattr("choral.measures.families.TABLE_ENTRIES", 7)
    np.testing.assert_array_equal(profile.losses("binomial"), whole)


def test_curves_are_the_losses_one_by_one():
    rng = np.random.default_rng(0)
    y_true = rng.integers(2, size=(30, 5))
    for y_pred in (rng.integers(2, size=(30, 5)), rng.random((30, 5))):
        profile = ErrorProfile.from_predictions(y_true, y_pred)
        binomial, polynomial = profile.curve(), profile.curve("polynomial")
        assert binomial.parameters.tolist() == [1, 2, 3, 4, 5]
        assert polynomial.parameters.tolist() == PUBLISHED_ALPHAS.tolist()
        for k, loss in zip(binomial.parameters, binomial.losses, strict=True):
            assert loss == pytest.approx(choral.binomial_loss(y_true, y_pred, k=k), rel=1e-13)
            assert profile.loss(BinomialMeasure(k)) == pytest.approx(loss, rel=1e-13)
        for alpha, loss in zip(polynomial.parameters, polynomial.losses, strict=True):
            assert loss == pytest.approx(choral.polynomial_loss(y_true, y_pred, alpha=alpha), rel=1e-13)


def test_many_labels_need_few_numbers():
    n_labels = 1_000_000
    rows, labels = np.arange(100).repeat(5), np.random.default_rng(1).integers(n_labels, size=500)
    y_true = sp.csr_matrix((np.ones(500), (rows, labels)), shape=(100, n_labels))
    y_true.data[:] = 1
    profile = ErrorProfile.from_predictions(y_true, sp.csr_matrix(y_true.shape))
    assert profile.loss(SubsetMeasure()) == 1
    assert len(profile.to_dict()["rows_by_errors"]) <= 6
    curve = profile.curve()
    assert curve.parameters.size <= 200
    assert curve.parameters[[0, -1]].tolist() == [1, n_labels]
    assert curve.losses[0] == pytest.approx(y_true.nnz / 100 / n_labels)
    scores = sp.csr_matrix((np.full(y_true.nnz, 0.25), y_true.indices, y_true.indptr), shape=y_true.shape)
    assert ErrorProfile.from_predictions(y_true, scores).loss(SubsetMeasure()) == 0.75


def test_losses_of_dense_rows_with_many_labels():
    y_true = np.zeros((2, 3000), dtype=bool)
    profile = ErrorProfile.from_predictions(y_true, ~y_true)
    np.testing.assert_allclose(profile.curve().losses, 1)
    half = ErrorProfile.from_predictions(y_true, np.full(y_true.shape, 0.5))
    np.testing.assert_allclose(half.curve("polynomial").losses, 0.5)


@pytest.mark.parametrize("y_pred", [[[0, 1], [1, 1]], [[0.5, 0.25], [1, 0]]])
@pytest.mark.parametrize("weight", [None, [0.5, 2]])
def test_to_dict_and_back(y_pred, weight):
    profile = ErrorProfile.from_predictions([[0, 1], [1, 0]], y_pred, weight)
    restored = ErrorProfile.from_dict(json.loads(json.dumps(profile.to_dict())))
    assert restored == profile
    assert restored.loss(BinomialMeasure(2)) == profile.loss(BinomialMeasure(2))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_extra_memory_does_not_grow_with_the_rows(dtype):
    y_true = np.zeros((400_000, 50), dtype=np.uint8)
    y_pred = np.full(y_true.shape, 0.25 if dtype == np.float32 else 1, dtype=dtype)
    tracemalloc.start()
    ErrorProfile.from_predictions(y_true, y_pred)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20  # the promise is 64 MiB


@pytest.mark.parametrize("soft", [False, True])
def test_extra_memory_of_sparse_matrices_does_not_grow_with_the_rows_either(soft):
    rng = np.random.default_rng(2)
    n_rows, n_labels = 150_000, 100_000
    labels = rng.integers(n_labels, size=(n_rows, 10))
    lengths = np.arange(n_rows + 1) * 10
    data = rng.random(labels.size) if soft else np.ones(labels.size, dtype=np.int8)
    y_true = sp.csr_matrix((np.ones(labels.size, dtype=np.int8), np.sort(labels).ravel(), lengths), (n_rows, n_labels))
    y_true.sum_duplicates()
    y_true.data[:] = 1
    y_pred = sp.csr_matrix((data[: y_true.nnz], y_true.indices, y_true.indptr), y_true.shape)
    tracemalloc.start()
    ErrorProfile.from_predictions(y_true, y_pred)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 48 * 2**20


def test_a_row_with_more_entries_than_a_block_is_a_block_of_its_own():
    dense = np.ones((3, 300_000), dtype=np.int8)
    dense[1] = 0
    full = sp.csr_matrix(dense)
    profile = ErrorProfile.from_predictions(full, sp.csr_matrix(full.shape))
    assert profile.to_dict()["rows_by_errors"][0] == 1
    assert profile.rows_by_errors[-1] == 2


def test_a_refused_batch_changes_nothing():
    profile = ErrorProfile.from_predictions([[0, 1]], [[0, 1]])
    before = profile.to_dict()
    with pytest.raises(ValueError, match=r"y_pred\[1, 0\] is nan"):
        profile.update([[0, 1], [0, 1]], [[0.5, 0.5], [np.nan, 0]])
    with pytest.raises(ValueError, match="same number of labels; got 2 and 3"):
        profile.update([[0, 1, 1]], [[0, 1, 1]])
    assert profile.to_dict() == before


@pytest.mark.parametrize(
    "change, message",
    [
        ({"rows_by_errors": [1, -1, 1]}, "rows_by_errors must be finite and non-negative; rows_by_errors[1] is -1.0"),
        ({"rows_by_errors": [0, 1, 0, 0]}, "rows_by_errors must have at most 3 entries; got 4"),
        ({"rows_by_errors": [5, 1]}, "rows_by_errors must add up to total_weight, 1; got 6"),
        ({"total_weight": float("nan")}, "total_weight must be positive and finite for 1 rows; got nan"),
        ({"total_weight": -1}, "total_weight must be positive and finite for 1 rows; got -1"),
        ({"n_rows": 0}, "total_weight must be positive and finite for 0 rows; got 1"),
        ({"n_rows": 7}, "rows_by_errors must add up to n_rows, 7; got 1"),
        ({"rows_by_errors": None}, "rows_by_errors must be a non-empty 1-D sequence of numbers"),
        ({"rows_by_errors": []}, "rows_by_errors must add up to total_weight, 1; got 0"),
        ({"error_sums": [1.0]}, "one of rows_by_errors and error_sums; got n_labels, n_rows"),
        ({"n_rows": -1}, "n_rows must be at least 0; got -1"),
        ({"n_labels": 0}, "n_labels must be at least 1; got 0"),
    ],
)
def test_a_damaged_dict_is_refused(change, message):
    data = ErrorProfile.from_predictions([[0, 1]], [[0, 0]]).to_dict()
    with pytest.raises(ValueError, match=re.escape(message)):
        ErrorProfile.from_dict({**data, **change})


@pytest.mark.parametrize(
    "sums, message",
    [
        ([0.2, 0.7], "error_sums must not exceed total_weight, nor increase; error_sums[1] is 0.7"),
        ([1.5], "error_sums[0] is 1.5"),
        ([0.2, np.nan], "error_sums must be finite and non-negative; error_sums[1] is nan"),
        ([0.2, 0.1, 0.1], "error_sums must have at most 2 entries; got 3"),
    ],
)
def test_damaged_sums_are_refused(sums, message):
    data = {"n_labels": 2, "n_rows": 1, "total_weight": 1, "error_sums": sums}
    with pytest.raises(ValueError, match=re.escape(message)):
        ErrorProfile.from_dict(data)


def test_dense_and_sparse_profiles_are_equal():
    y_true, scores = np.array([[1, 0, 0, 0], [0, 0, 0, 0]]), np.array([[0.25, 0.5, 0, 0], [0, 0, 0, 0]])
    dense = ErrorProfile.from_predictions(y_true, scores)
    assert dense == ErrorProfile.from_predictions(sp.csr_array(y_true), sp.csr_array(scores))
    assert dense.to_dict()["error_sums"] == [0.75, 0.5]


def test_what_a_profile_cannot_do():
    profile = ErrorProfile.from_predictions([[0, 1]], [[0, 0]])
    with pytest.raises(TypeError, match="not which. Use choquet_loss for AdditiveMeasure"):
        profile.loss(choral.AdditiveMeasure([0.5, 0.5]))
    with pytest.raises(ValueError, match="has seen no rows yet"):
        ErrorProfile(3).loss(BinomialMeasure(1))
    with pytest.raises(ValueError, match="has seen no rows yet"):
        ErrorProfile(3).curve()
    with pytest.raises(TypeError, match="unhashable"):
        hash(profile)
    with pytest.raises(TypeError, match="unsupported operand"):
        profile + 1
    assert repr(profile) == "ErrorProfile(n_labels=2, n_rows=1, hard)"
