"""explain(): sums that must agree, laws of permutations, duplicates and weights, kinds of input, refusals, memory."""

import json
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import choral
from choral import BinomialMeasure, HammingMeasure, PolynomialMeasure, SubsetMeasure, explain, loss_shares
from measure_zoo import KINDS

TRUE = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]])
PRED = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])


def random_rows(rng, n_rows=40, n_labels=5, kind="hard"):
    y_true = rng.integers(2, size=(n_rows, n_labels))
    if kind == "hard":
        return y_true, np.where(rng.random(y_true.shape) < 0.3, 1 - y_true, y_true)
    return y_true, rng.integers(0, 5, size=y_true.shape) / 4


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("measure_kind", KINDS)
def test_shares_add_up_to_the_loss_of_every_measure(measure_kind, kind):
    rng = np.random.default_rng(0)
    measure = KINDS[measure_kind](rng, 5)
    y_true, y_pred = random_rows(rng, kind=kind)
    weights = rng.random(40)
    found = explain(y_true, y_pred, measure, sample_weight=weights)
    loss = choral.choquet_loss(y_true, y_pred, measure, sample_weight=weights)
    assert found.loss == pytest.approx(loss, abs=1e-12)
    assert found.shares.sum() == pytest.approx(loss, abs=1e-12)
    expected = loss_shares(y_true, y_pred, measure, sample_weight=weights)
    np.testing.assert_allclose(found.shares, expected, rtol=0, atol=1e-12)
    losses = choral.choquet_loss(y_true, y_pred, measure, reduction="none")
    np.testing.assert_allclose(found.row_losses, losses, rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("family, parameters", [("binomial", [1, 2, 3, 5]), ("polynomial", [1, 2, 3, 10, np.inf])])
def test_shares_along_a_family_are_those_of_its_measures(family, parameters, kind):
    y_true, y_pred = random_rows(np.random.default_rng(1), kind=kind)
    along = explain(y_true, y_pred, family=family).along
    assert along.family == family
    assert along.parameters.tolist() == parameters
    measures = [(BinomialMeasure if family == "binomial" else PolynomialMeasure)(value) for value in parameters]
    expected = np.array([loss_shares(y_true, y_pred, measure) for measure in measures])
    np.testing.assert_allclose(along.shares, expected, rtol=0, atol=1e-12)
    curve = choral.loss_curve(y_true, y_pred, family=family, parameters=parameters)
    np.testing.assert_allclose(along.losses, curve.losses, rtol=0, atol=1e-12)
    np.testing.assert_allclose(along.hamming, np.abs(y_true - y_pred).mean(axis=0) / 5, rtol=0, atol=1e-12)
    weight = expected / expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(along.gains, weight / weight[0], rtol=1e-12)


def test_parameters_that_were_asked_for_and_their_gain_over_hamming():
    found = explain(TRUE, PRED, BinomialMeasure(2), parameters=[2, 3])
    assert found.along.parameters.tolist() == [2, 3]
    # Hamming: label 1 wrong twice, label 2 once. Subset: label 1 has 1 + 1/2, label 2 has 1/2.
    np.testing.assert_allclose(found.along.gains[1], [np.nan, 0.75 / (2 / 3), 0.25 / (1 / 3)])
    np.testing.assert_allclose(found.gains, found.along.gains[0])


@pytest.mark.parametrize("n_labels, points", [(1, [1]), (2, [1, 2]), (4, [1, 2, 3, 4]), (9, [1, 2, 3, 5, 9])])
def test_points_between_the_ends(n_labels, points):
    y_true = np.ones((2, n_labels))
    assert explain(y_true, 1 - y_true).along.parameters.tolist() == points


def test_error_rates_are_those_of_known_labels():
    y_true = np.array([[1, 0, np.nan], [1, np.nan, np.nan], [0, 0, np.nan]])
    found = explain(y_true, np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0]]), sample_weight=[1, 2, 3])
    np.testing.assert_allclose(found.error_rates, [1 / 6, 3 / 4, np.nan])
    scores = explain([[1, 0]], [[0.75, 0.5]])
    np.testing.assert_allclose(scores.error_rates, [0.25, 0.5])


def listed(pairs, order):
    """The figures of pairs by the names of their labels."""
    return {frozenset((order[pair.first], order[pair.second])): pair[2:] for pair in pairs.pairs}


def check_alike(found, other, order=None):
    """Two explanations agree; label i of the second is label order[i] of the first."""
    n_labels = len(found.labels)
    order = np.arange(n_labels) if order is None else order
    for mine, theirs in (
        (found.shares, other.shares),
        (found.error_rates, other.error_rates),
        (found.gains, other.gains),
        (found.along.shares.T, other.along.shares.T),
        (found.along.hamming, other.along.hamming),
    ):
        np.testing.assert_allclose(mine[order], theirs, rtol=1e-9, atol=1e-12)
    mine, theirs = listed(found.pairs, np.arange(n_labels)), listed(other.pairs, order)
    for pair in mine.keys() & theirs.keys():
        assert mine[pair] == pytest.approx(theirs[pair], rel=1e-6, abs=1e-9)
    for pair in mine.keys() ^ theirs.keys():  # pairs whose excess is 0 are not listed, and rounding may decide
        together, expected, *_ = {**mine, **theirs}[pair]
        assert together == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", ["hard", "scores"])
@given(seed=st.integers(0, 2**32 - 1))
def test_permuted_labels_permute_everything_and_permuted_rows_change_nothing(kind, seed):
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_rows(rng, n_rows=12, n_labels=4, kind=kind)
    weights = rng.random(12)
    options = {"n_pairs": 6, "n_most": 20}
    found = explain(y_true, y_pred, BinomialMeasure(3), sample_weight=weights, **options)
    order, rows = rng.permutation(4), rng.permutation(12)
    columns = explain(y_true[:, order], y_pred[:, order], BinomialMeasure(3), sample_weight=weights, **options)
    check_alike(found, columns, order)
    again = explain(y_true[rows], y_pred[rows], BinomialMeasure(3), sample_weight=weights[rows], ids=rows, **options)
    check_alike(found, again)
    assert {(row.id, round(row.loss, 12)) for row in again.costly_rows} == {
        (row.id, round(row.loss, 12)) for row in found.costly_rows
    }
    assert set(again.mistakes) == set(found.mistakes)
    assert set(again.never_predicted) == set(found.never_predicted)
    assert again.figures[:6] == pytest.approx(found.figures[:6])


@pytest.mark.parametrize("kind", ["hard", "scores"])
@given(seed=st.integers(0, 2**32 - 1))
def test_duplicates_of_rows_and_whole_weights_agree(kind, seed):
    """In all but intervals and tests: weights say how much a row counts, not that it was seen so many times."""
    rng = np.random.default_rng(seed)
    y_true, y_pred = random_rows(rng, n_rows=10, n_labels=4, kind=kind)
    weights = rng.integers(0, 4, size=10)
    weights[0] += 1
    rows = np.repeat(np.arange(10), weights)
    weighted = explain(y_true, y_pred, BinomialMeasure(3), sample_weight=weights, n_pairs=6)
    repeated = explain(y_true[rows], y_pred[rows], BinomialMeasure(3), n_pairs=6)
    for mine, theirs in (
        (weighted.shares, repeated.shares),
        (weighted.error_rates, repeated.error_rates),
        (weighted.along.shares, repeated.along.shares),
        (weighted.figures[:6], repeated.figures[:6]),
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12)
    mine, theirs = (listed(found.pairs, np.arange(4)) for found in (weighted, repeated))
    for pair in mine.keys() & theirs.keys():
        for place in (0, 1, 5):  # together, expected, interaction
            assert mine[pair][place] == pytest.approx(theirs[pair][place], rel=1e-9, abs=1e-12)


def test_equal_weights_change_nothing():
    y_true, y_pred = random_rows(np.random.default_rng(2))
    check_alike(explain(y_true, y_pred), explain(y_true, y_pred, sample_weight=np.full(40, 3.0)))


@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_interactions_of_pairs_are_means_over_rows(kind):
    y_true, y_pred = random_rows(np.random.default_rng(3), n_labels=2, kind=kind)
    (pair,) = explain(y_true, y_pred, SubsetMeasure()).pairs.pairs
    # for two labels: what both cost together minus what each costs alone
    errors = np.abs(y_true - y_pred)
    assert pair.interaction == pytest.approx((errors.max(axis=1) - errors.sum(axis=1)).mean())
    assert explain(y_true, y_pred, HammingMeasure()).pairs.pairs[0].interaction == pytest.approx(0, abs=1e-15)


@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_observed_and_nan_agree(kind):
    rng = np.random.default_rng(4)
    y_true, y_pred = random_rows(rng, kind=kind)
    known = rng.random(y_true.shape) < 0.7
    masked = explain(y_true, y_pred, BinomialMeasure(2), observed=known)
    with_nan = explain(np.where(known, y_true, np.nan), y_pred, BinomialMeasure(2))
    check_alike(masked, with_nan)
    assert masked.costly_rows == with_nan.costly_rows
    assert masked.mistakes == with_nan.mistakes
    assert masked.loss == pytest.approx(choral.binomial_loss(np.where(known, y_true, np.nan), y_pred, k=2), abs=1e-12)


def test_a_threshold_makes_scores_hard():
    rng = np.random.default_rng(5)
    y_true = rng.integers(2, size=(30, 4))
    logits = rng.standard_normal(y_true.shape)
    found, hard = explain(y_true, logits, threshold=0.3), explain(y_true, (logits >= 0.3).astype(int))
    check_alike(found, hard)
    assert found.costly_rows == hard.costly_rows


def test_dask_arrays_have_sums_alone():
    da = pytest.importorskip("dask.array")
    y_true, y_pred = random_rows(np.random.default_rng(6))
    whole = explain(y_true, y_pred, BinomialMeasure(2), n_pairs=20)
    parts = [da.from_array(array, chunks=(7, -1)) for array in (y_true, y_pred)]
    lazy = explain(*parts, BinomialMeasure(2), n_pairs=20)
    check_alike(whole, lazy)
    np.testing.assert_allclose(lazy.pairs.correlations, whole.pairs.correlations, atol=1e-12)
    assert (lazy.n_rows, lazy.n_unobserved) == (40, 0)
    assert lazy.row_losses is lazy.costly_rows is lazy.label_sets is lazy.figures is None
    assert lazy.mistakes is lazy.never_predicted is None
    assert "Most costly rows" not in repr(lazy)
    assert "Labels by their part" in repr(lazy)
    assert lazy.table("figures")["label"] == lazy.table("rows")["id"] == lazy.table("mistakes")["true"] == []
    assert json.loads(json.dumps(lazy.to_dict()))["costly_rows"] is None
    both = explain(da.from_array(y_true), {"a": da.from_array(y_pred), "b": da.from_array(y_true)})
    assert both.disagreements is None


@pytest.mark.parametrize("wrong", ["nothing", "everything"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (5, 4)])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_nothing_wrong_and_everything_wrong(wrong, shape, make):
    y_true = np.ones(shape, dtype=int)
    found = explain(make(y_true), make(y_true if wrong == "nothing" else 1 - y_true))
    assert found.loss == pytest.approx(float(wrong == "everything"))
    assert found.pairs.pairs == ()
    assert len(found.costly_rows) == len(found.mistakes) * shape[0] == (0 if wrong == "nothing" else shape[0])
    assert ("Nothing is wrong." in repr(found)) == (wrong == "nothing")
    assert np.isnan(found.gains).all() == (wrong == "nothing")
    json.dumps(found.to_dict(), allow_nan=False)
    assert found._repr_html_().count("<table>") == (1 if wrong == "nothing" else 3)


def test_no_pairs_and_no_rows_where_nobody_asks_for_them():
    found = explain(TRUE, PRED, n_pairs=0, n_most=0)
    assert found.pairs.pairs == found.costly_rows == found.mistakes == found.never_predicted == ()
    assert found.loss == 0.5


@pytest.mark.parametrize(
    "y_pred, options, error, message",
    [
        ({}, {}, ValueError, "y_pred must name at least one model; got an empty mapping"),
        ({1: PRED}, {}, TypeError, "y_pred must have text for the names of models; got 1"),
        (PRED[:2], {}, ValueError, r"must have the same shape .*got \(4, 3\) and \(2, 3\)"),
        ({"tree": PRED[:, :2]}, {}, ValueError, r"y_true and predictions\['tree'\] must have the same shape"),
        (np.where(PRED, np.nan, 0), {}, ValueError, r"y_pred must lie in \[0, 1\]; y_pred\[0, 0\] is nan"),
        (PRED, {"measure": "binomial"}, TypeError, "measure must be one of choral.measures"),
        (PRED, {"measure": choral.FLoss()}, TypeError, "no shares of labels. Explain a measure such as SubsetMeasure"),
        (PRED, {"measure": BinomialMeasure(4)}, ValueError, r"k must lie in 1..3"),
        (PRED, {"family": "cubic"}, ValueError, "family must be one of"),
        (PRED, {"parameters": [2, 1]}, ValueError, "parameters must increase"),
        (PRED, {"labels": ["a"]}, ValueError, "labels must have one entry for each of 3 labels; got 1"),
        (PRED, {"ids": [1, 2]}, ValueError, "ids must have one entry for each of 4 rows; got 2"),
        (PRED, {"n_pairs": -1}, ValueError, "n_pairs must be at least 0; got -1"),
        (PRED, {"n_most": 1.5}, ValueError, "n_most must be a whole number, at least 0; got 1.5"),
        (PRED, {"labels": "abc"}, TypeError, "labels must be a sequence with an entry for each; got 'abc'"),
        (PRED, {"ids": 4}, TypeError, "ids must be a sequence with an entry for each; got 4"),
        (PRED, {"confidence": 1}, ValueError, "confidence must lie between 0 and 1; got 1"),
        (PRED, {"confidence": "0.9"}, ValueError, "confidence must lie between 0 and 1; got '0.9'"),
        (PRED, {"threshold": "high"}, ValueError, "threshold must be a number; got 'high'"),
        (PRED, {"sample_weight": [0] * 4}, ValueError, "sample_weight must not be zero everywhere"),
        (PRED, {"observed": np.zeros((4, 3), dtype=bool)}, ValueError, "need a row with a known label"),
    ],
)
def test_refusals(y_pred, options, error, message):
    with pytest.raises(error, match=message):
        explain(TRUE, y_pred, **options)


def test_labels_decided_for_each_loss_are_refused_with_a_remedy():
    joint = choral.LabelDistribution(np.eye(3, dtype=int), np.full((4, 3), 1 / 3))
    curve = choral.bayes_curve(joint)
    with pytest.raises(TypeError, match=r"y_pred holds labels decided anew for each loss; .*decisions\[-1\].labels"):
        explain(TRUE, curve)
    for models in ({"joint": curve}, {"joint": {"binomial": curve}}):
        with pytest.raises(TypeError, match=r"predictions\['joint'\] holds labels decided anew for each loss"):
            explain(TRUE, models)
    assert explain(TRUE, curve.decisions[-1].labels).n_rows == 4


def test_missing_labels_need_a_counting_measure():
    with pytest.raises(ValueError, match="labels are missing, and only counting"):
        explain(np.where(TRUE == 1, np.nan, 0), PRED, choral.AdditiveMeasure([0.5, 0.3, 0.2]))


def test_nothing_of_30_000_labels_is_dense():
    """A dense matrix of all pairs would take 7.2 GB, and one of all labels of all rows 150 MB if it is of booleans."""
    rng = np.random.default_rng(0)
    n_rows, n_labels, n_entries = 5000, 30_000, 20_000
    y_true, y_pred = (
        sp.csr_array(
            (np.ones(n_entries), (rng.integers(n_rows, size=n_entries), rng.integers(n_labels, size=n_entries) // 3)),
            shape=(n_rows, n_labels),
        )
        for _ in range(2)
    )
    y_true.data[:], y_pred.data[:] = 1, 1
    tracemalloc.start()
    found = explain(y_true, y_pred, BinomialMeasure(3))
    repr(found)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    assert peak < 100
    assert found.loss == pytest.approx(choral.binomial_loss(y_true, y_pred, k=3), abs=1e-12)
    assert found.pairs.correlations.shape == (24, 24)
    assert len(found.pairs.more) == 10


def test_names_may_come_from_anything_that_can_be_walked_once():
    found = explain(TRUE, {"a": PRED, "b": TRUE}, labels=(name for name in "xyz"), ids=iter("pqrs"))
    assert found["a"].labels == found["b"].labels == ("x", "y", "z")
    assert {row.id for row in found["a"].costly_rows} <= set("pqrs")


@pytest.mark.parametrize("kind", [np.float32, np.float16, ">f8", np.longdouble])
def test_scores_of_any_precision_and_layout(kind):
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(2, size=(20, 5)), (rng.integers(0, 65, size=(20, 5)) / 64).astype(kind)
    wanted = explain(y_true, scores.astype(float))
    frozen = scores.copy()
    frozen.flags.writeable = False
    for same in (scores, np.asfortranarray(scores), np.repeat(scores, 2, axis=1)[:, ::2], frozen):
        found = explain(y_true, same)
        np.testing.assert_allclose(found.shares, wanted.shares, rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.pairs.pairs, wanted.pairs.pairs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weight", [1e-200, 1e100])
def test_weights_of_any_scale_give_the_same_shares(weight):
    found = explain(TRUE, PRED, sample_weight=[weight] * 4)
    np.testing.assert_allclose(found.shares, explain(TRUE, PRED).shares, rtol=1e-12)
    for pair in found.pairs.pairs:
        assert -0.25 <= pair.lower <= pair.excess <= pair.upper <= 0.25
