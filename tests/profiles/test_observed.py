"""Missing labels: the loss of the observed labels of each row, whatever stands at the others."""

import json
import re
import tracemalloc
from contextlib import nullcontext
from fractions import Fraction
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import choral
from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    CountingMeasure,
    ErrorProfile,
    HammingMeasure,
    ObservedProfile,
    PolynomialMeasure,
    SubsetMeasure,
    loss_curve,
)
from choral.measures.families import BINOMIAL
from choral.profiles import row_losses
from choral.rows import open_rows
from definitions import choquet_by_levels, worth_of

NAN = float("nan")
K = 4
flags = arrays(bool, (7, K))
hard = arrays(np.uint8, (7, K), elements=st.integers(0, 1))
scores = arrays(float, (7, K), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))  # their sums are exact
weights = st.none() | arrays(float, 7, elements=st.integers(0, 3)).filter(np.any)

MEASURES = {  # as they are given, and on m observed labels
    "Hamming": (HammingMeasure(), lambda m: HammingMeasure()),
    "subset": (SubsetMeasure(), lambda m: SubsetMeasure()),
    "k=2": (BinomialMeasure(2), lambda m: BinomialMeasure(min(2, m))),
    "k=4": (BinomialMeasure(4), lambda m: BinomialMeasure(min(4, m))),
    "alpha=1.7": (PolynomialMeasure(1.7), lambda m: PolynomialMeasure(1.7)),
    "at least 3": (lambda m: AtLeastMeasure(min(3, m)), lambda m: AtLeastMeasure(min(3, m))),
    "v(x)": (lambda m: CountingMeasure.from_function(lambda x: x**3, m), lambda m: PolynomialMeasure(3)),
}


def loss_by_definition(y_true, y_pred, observed, measure_on, weight):
    """Row by row: take the observed labels, integrate over them, and average over the rows that have some."""
    losses, counts = [], []
    for true, pred, known, count in zip(y_true, y_pred, observed, weight, strict=True):
        some = np.flatnonzero(known)
        if some.size:
            right = 1 - np.abs(true[some].astype(float) - pred[some])
            losses.append(1 - choquet_by_levels(right, worth_of(measure_on(some.size), some.size)))
            counts.append(count)
    return np.average(losses, weights=counts)


@given(y_true=hard, y_pred=hard | scores, observed=flags, weight=weights)
def test_losses_are_those_of_the_observed_labels_row_by_row(y_true, y_pred, observed, weight):
    profile = ObservedProfile.from_predictions(y_true, y_pred, observed=observed, sample_weight=weight)
    count = np.ones(7) if weight is None else weight
    some = observed.any(axis=1)
    assert (profile.n_rows, profile.n_unobserved) == (some.sum(), 7 - some.sum())
    assert profile.total_weight == count[some].sum()
    assert profile.is_hard == bool(np.isin(y_pred[observed], (0, 1)).all())
    if not profile.total_weight:
        with pytest.raises(ValueError, match="a mean loss needs rows with observed labels and a positive weight"):
            profile.curve()
        return
    for measure, measure_on in MEASURES.values():
        expected = loss_by_definition(y_true, y_pred, observed, measure_on, count)
        assert profile.loss(measure) == pytest.approx(expected, abs=1e-14)
    for k, loss in enumerate(profile.losses("binomial"), start=1):
        assert loss == pytest.approx(profile.loss(BinomialMeasure(k)), abs=1e-15)
    for alpha, loss in zip([1, 2.5, np.inf], profile.losses("polynomial", [1, 2.5, np.inf]), strict=True):
        assert loss == pytest.approx(profile.loss(PolynomialMeasure(alpha)), abs=1e-15)


@given(y_true=hard, y_pred=hard, observed=flags.filter(np.any))
def test_hard_losses_in_fractions(y_true, y_pred, observed):
    profile = ObservedProfile.from_predictions(y_true, y_pred, observed=observed)
    table = profile.rows_by_observed_and_errors
    assert (table.shape, table.dtype, table.sum()) == ((K + 1, K + 1), np.int64, profile.n_rows)
    for k, loss in enumerate(profile.losses("binomial"), start=1):
        exact = Fraction(0)
        for (m, e), count in np.ndenumerate(table[1:]):
            m, drawn = m + 1, min(k, m + 1)
            exact += int(count) * (1 - Fraction(comb(max(m - e, 0), drawn), comb(m, drawn)))
        assert loss == pytest.approx(float(exact / profile.n_rows), rel=1e-15)


def test_the_table_by_hand():
    y_true = [[1, 0, 1], [1, 0, NAN], [0, NAN, 1], [NAN, NAN, 0], [NAN, NAN, NAN]]
    profile = ObservedProfile.from_predictions(y_true, np.ones((5, 3)))
    assert profile.rows_by_observed_and_errors.tolist() == [[0, 0, 0, 0], [0, 1, 0, 0], [0, 2, 0, 0], [0, 1, 0, 0]]
    assert profile.losses("binomial").tolist() == pytest.approx([(1 / 3 + 2 / 2 + 1) / 4, (2 / 3 + 3) / 4, 1])
    weighted = ObservedProfile.from_predictions(y_true, np.ones((5, 3)), sample_weight=[0.5, 1, 2, 4, 8])
    assert weighted.rows_by_observed_and_errors.max(axis=1).tolist() == [0, 4, 3, 0.5]
    assert weighted.total_weight == 7.5
    assert repr(weighted) == "ObservedProfile(n_labels=3, n_rows=4, n_unobserved=1, hard)"


@given(y_true=hard, y_pred=hard | scores, observed=flags, weight=weights, split=st.integers(1, 6))
def test_batches_add_up_exactly(y_true, y_pred, observed, weight, split):
    whole = ObservedProfile.from_predictions(y_true, y_pred, observed=observed, sample_weight=weight)
    count = np.ones(7, dtype=int) if weight is None else weight
    streamed, added = ObservedProfile(K), ObservedProfile(K)
    for rows in (slice(split), slice(split, None)):
        if not count[rows].any():
            return  # weights that are 0 everywhere are refused
        batch = {"observed": observed[rows], "sample_weight": None if weight is None else weight[rows]}
        added = added + ObservedProfile.from_predictions(y_true[rows], y_pred[rows], **batch)
        assert streamed.update(y_true[rows], y_pred[rows], **batch) is streamed
    assert added == streamed == whole == sum([whole])
    assert ObservedProfile.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole


@given(y_true=hard, y_pred=hard | scores, observed=flags, seed=st.integers(0, 99))
def test_names_and_order_of_labels_and_rows_make_no_difference(y_true, y_pred, observed, seed):
    rng = np.random.default_rng(seed)
    places = rng.permutation(7)[:, np.newaxis], rng.permuted(np.tile(np.arange(K), (7, 1)), axis=1)
    profile = ObservedProfile.from_predictions(y_true, y_pred, observed=observed)
    assert profile == ObservedProfile.from_predictions(y_true[places], y_pred[places], observed=observed[places])
    flipped = ObservedProfile.from_predictions(1 - y_true, 1 - y_pred, observed=observed)
    assert profile == flipped


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["hard", "scores", "scores late"])
def test_nothing_missing_is_an_error_profile_to_the_last_bit(kind, weighted):
    rng = np.random.default_rng(0)
    y_true = (rng.random((5000, 50)) < 0.3).astype(float)  # two blocks
    y_pred = rng.random(y_true.shape) if kind == "scores" else (rng.random(y_true.shape) < 0.3).astype(float)
    if kind == "scores late":
        y_pred[-1] = 1 / 3
    weight = rng.random(5000) if weighted else None
    plain = ErrorProfile.from_predictions(y_true, y_pred, weight)
    profile = ObservedProfile.from_predictions(y_true, y_pred, sample_weight=weight)
    assert profile.to_dict() == {"n_labels": 50, "n_unobserved": 0, "by_observed": [plain.to_dict()]}
    assert (profile.n_rows, profile.total_weight, profile.is_hard) == (5000, plain.total_weight, plain.is_hard)
    for family in ("binomial", "polynomial"):
        assert (
            profile.curve(family, name="a")
            == plain.curve(family, name="a")
            == loss_curve(y_true, y_pred, family, sample_weight=weight, name="a")
        )
    table = CountingMeasure.from_function(lambda x: x**2, 50)
    for measure in (SubsetMeasure(), BinomialMeasure(3), AtLeastMeasure(48), table):
        assert profile.loss(measure) == plain.loss(measure)


@pytest.mark.parametrize("nonsense", [NAN, 7, -np.inf, 0.5])
def test_nobody_looks_at_predictions_of_missing_labels(nonsense):
    rng = np.random.default_rng(1)
    y_true, y_pred, observed = rng.integers(2, size=(30, K)), rng.integers(2, size=(30, K)), rng.random((30, K)) < 0.7
    expected = ObservedProfile.from_predictions(y_true, y_pred, observed=observed)
    assert expected.is_hard
    odd = np.where(observed, y_pred, nonsense)
    assert ObservedProfile.from_predictions(y_true, odd, observed=observed) == expected
    assert ObservedProfile.from_predictions(np.where(observed, y_true, NAN), odd) == expected
    if nonsense == 7:
        integers = np.where(observed, y_true, -3), odd.astype(int)
        assert ObservedProfile.from_predictions(*integers, observed=observed) == expected
    everything = (odd.ravel(), np.tile(np.arange(K), 30), K * np.arange(31))
    stored = sp.csr_array(everything, shape=odd.shape)
    assert ObservedProfile.from_predictions(sp.csr_array(y_true), stored, observed=observed) == expected


def test_the_two_ways_to_say_missing_go_together():
    y_true, y_pred = np.array([[1, 0, NAN], [NAN, 1, 1]]), np.array([[1, 1, 1], [0, 0, 1]])
    observed = np.array([[True, True, True], [True, False, True]])
    both = ObservedProfile.from_predictions(y_true, y_pred, observed=observed)
    assert both.rows_by_observed_and_errors.tolist() == [[0] * 4, [1, 0, 0, 0], [0, 1, 0, 0], [0] * 4]
    curve = loss_curve(y_true, y_pred, observed=observed, name="both")
    assert curve == both.curve(name="both")
    assert curve.losses.tolist() == [0.25, 0.5, 0.5]
    assert loss_curve([[1, 0, None]], [[1, 1, 1]], "polynomial", [1, np.inf]).losses.tolist() == [0.5, 1]
    assert loss_curve([[1, 0]], [[1, 1]], observed=[[True, False]]).losses.tolist() == [0, 0]


FORMS = {
    "lists": lambda y: y.tolist(),
    "float16": lambda y: y.astype(np.float16),
    "float32": lambda y: y.astype(np.float32),
    "long double": lambda y: y.astype(np.longdouble),
    "big-endian": lambda y: y.astype(">f8"),
    "by columns": np.asfortranarray,
    "every second": lambda y: np.repeat(y, 2, axis=1)[:, ::2],
    "objects": lambda y: np.where(np.isnan(y), None, y),
    "sparse": sp.csr_matrix,
    "sparse by columns": sp.csc_array,
}


def _of_ml_dtypes(y):
    return y.astype(pytest.importorskip("ml_dtypes").bfloat16)


def _of_torch(y):
    return pytest.importorskip("torch").tensor(y).bfloat16()


BRAIN_FLOATS = {
    "of ml_dtypes": _of_ml_dtypes,  # those of JAX and TensorFlow, too
    "of torch": _of_torch,
    "rows of torch": lambda y: list(_of_torch(y)),
    "rows with a gradient": lambda y: list(_of_torch(y).requires_grad_()),
}


@pytest.mark.parametrize("form", BRAIN_FLOATS.values(), ids=BRAIN_FLOATS)
def test_bfloat16_which_numpy_does_not_know(form):
    y_true = np.array([[0, 1, 1], [NAN, 0, 1], [1, 1, 0], [NAN, NAN, NAN]])
    y_pred = np.array([[0.25, 0.5, 0.75], [1, 0.5, 0.25], [1, 1, 0], [0, 0.125, 1]])
    expected = ObservedProfile.from_predictions(y_true, y_pred, sample_weight=[1, 2, 3, 4])
    assert ObservedProfile.from_predictions(form(y_true), form(y_pred), sample_weight=[1, 2, 3, 4]) == expected
    assert loss_curve(form(y_true), form(y_pred), sample_weight=[1, 2, 3, 4]) == expected.curve()


@pytest.mark.parametrize("true_form", FORMS)
@pytest.mark.parametrize("pred_form", ["float32", "long double", "by columns", "sparse"])
def test_every_form_of_labels(true_form, pred_form):
    rng = np.random.default_rng(2)
    y_true = np.where(rng.random((40, 9)) < 0.3, NAN, rng.random((40, 9)) < 0.4)
    y_true[3] = NAN
    y_pred = (rng.random((40, 9)) < 0.4).astype(float)
    expected = ObservedProfile.from_predictions(y_true, y_pred)
    assert expected.n_unobserved == 1
    given_true = FORMS[true_form](y_true)
    assert ObservedProfile.from_predictions(given_true, FORMS[pred_form](y_pred)) == expected
    assert loss_curve(given_true, FORMS[pred_form](y_pred)) == expected.curve()
    soft = np.where(y_pred == 1, 0.25, y_pred)
    softer = ObservedProfile.from_predictions(given_true, FORMS[pred_form](soft))
    assert softer == ObservedProfile.from_predictions(y_true, soft)
    assert not softer.is_hard


@pytest.mark.parametrize("mask_form", [np.asarray, np.asfortranarray, sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("pred_form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("true_form", [np.asarray, sp.csr_matrix])
def test_every_form_of_masks(true_form, pred_form, mask_form):
    rng = np.random.default_rng(3)
    observed = rng.random((40, 9)) < 0.6
    y_true, y_pred = (rng.random((2, 40, 9)) < 0.4).astype(np.int8)
    expected = ObservedProfile.from_predictions(np.where(observed, y_true, NAN), y_pred)
    mask = mask_form(observed)
    assert ObservedProfile.from_predictions(true_form(y_true), pred_form(y_pred), observed=mask) == expected
    with_nan = np.where(rng.random((40, 9)) < 0.2, NAN, y_true)
    expected = ObservedProfile.from_predictions(np.where(observed, with_nan, NAN), y_pred)
    assert ObservedProfile.from_predictions(true_form(with_nan), pred_form(y_pred), observed=mask) == expected


def test_frames():
    pd = pytest.importorskip("pandas")
    ints = pd.DataFrame(
        {"a": pd.array([1, None, 0], dtype="Int64"), "b": pd.array([None, None, True], dtype="boolean")}
    )
    y_pred = pd.DataFrame({"a": [1, 0, 1], "b": [1, 1, 1]})
    profile = ObservedProfile.from_predictions(ints, y_pred)
    assert profile.rows_by_observed_and_errors.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    assert profile.n_unobserved == 1
    floats = pd.DataFrame({"a": [1, None, 0], "b": [None, None, 1]}, dtype=float)
    objects = ints.astype(object)
    for frame in (floats, objects):
        assert ObservedProfile.from_predictions(frame, y_pred) == profile
    assert objects.isna().sum().sum() == 3  # the caller's frame stays as it is
    some = pd.DataFrame({"a": [1, pd.NA, 1], "b": [pd.NA, pd.NA, 1]})
    assert ObservedProfile.from_predictions(ints, some) == profile
    filled = pd.DataFrame({"a": [1, 1, 0], "b": [0, 0, 1]})
    assert ObservedProfile.from_predictions(filled, y_pred, observed=ints.notna()) == profile
    with pytest.raises(ValueError, match="y_pred must have the columns of y_true in the same order"):
        ObservedProfile.from_predictions(ints, y_pred[["b", "a"]])
    with pytest.raises(ValueError, match="observed must have the columns of y_true in the same order"):
        ObservedProfile.from_predictions(filled, y_pred, observed=ints.notna()[["b", "a"]])


def test_tensors():
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    y_true, y_pred = np.array([[1, 0, NAN], [0, NAN, 1]]), np.array([[1.0, 1, 0], [0.25, 0, 1]])
    expected = ObservedProfile.from_predictions(y_true, y_pred)
    scores = torch.tensor(y_pred, requires_grad=True)
    observed = torch.tensor(~np.isnan(y_true))
    assert ObservedProfile.from_predictions(torch.tensor(y_true), scores) == expected
    labels = observed & (torch.tensor(y_true) == 1)
    assert ObservedProfile.from_predictions(labels, scores, observed=observed) == expected
    assert loss_curve(torch.tensor(y_true), scores) == expected.curve()


def test_arrays_on_a_device_are_left_there():
    xp = pytest.importorskip("array_api_strict")
    pytest.importorskip("array_api_compat")
    y_true, y_pred = np.array([[1.0, 0, 1], [0, 0, 1]]), np.array([[1.0, 0, 0], [0, 0.5, 0]])
    there = [xp.asarray(array, device=xp.Device("device1")) for array in (y_true, y_pred)]
    np.testing.assert_allclose(loss_curve(*there).losses, loss_curve(y_true, y_pred).losses, rtol=1e-15)


def test_many_labels_in_sparse_matrices_stay_small():
    rng = np.random.default_rng(4)
    n_rows, n_labels = 2000, 1_000_000
    places = np.repeat(np.arange(n_rows), 5), rng.integers(n_labels, size=5 * n_rows)
    y_true = sp.csr_array((rng.choice([1.0, NAN], size=5 * n_rows), places), (n_rows, n_labels))
    y_pred = sp.csr_array((np.full(5 * n_rows, 0.5), places), (n_rows, n_labels))
    y_pred.data[:] = 0.5
    profile = ObservedProfile.from_predictions(y_true, y_pred)
    assert profile.n_rows == n_rows
    assert profile.loss(SubsetMeasure()) == np.mean(np.diff(sp.csr_array(y_true == 1).indptr) > 0) / 2
    observed = sp.csr_array((np.ones(5 * n_rows, dtype=bool), places), (n_rows, n_labels))  # five in a million
    few = ObservedProfile.from_predictions(sp.csr_array((n_rows, n_labels)), y_pred, observed=observed)
    assert few.losses("binomial", [1, n_labels]).tolist() == pytest.approx([0.5, 0.5])
    assert len(json.dumps(few.to_dict())) < 1000


def test_extra_memory_does_not_grow_with_the_rows():
    y_true = np.full((200_000, 50), NAN, dtype=np.float32)
    y_true[:, ::2] = 1
    for y_pred in (np.ones(y_true.shape, dtype=np.uint8), np.full(y_true.shape, 0.25, dtype=np.float32)):
        tracemalloc.start()
        profile = ObservedProfile.from_predictions(y_true, y_pred)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 16 * 2**20
        assert profile.loss(SubsetMeasure()) == (0 if profile.is_hard else 0.75)


def test_hard_plus_soft_is_soft():
    labels, some = [[1, 0, NAN]], [[1, NAN, NAN]]
    hard_one = ObservedProfile.from_predictions(some, [[0, 0, 0]])
    soft_one = ObservedProfile.from_predictions(labels, [[0.5, 0, 0]])
    total = hard_one + soft_one
    assert not total.is_hard
    assert total == soft_one + hard_one == ObservedProfile.from_predictions(labels + some, [[0.5, 0, 0], [0, 0, 0]])
    assert total.loss(SubsetMeasure()) == 0.75
    with pytest.raises(ValueError, match="rows_by_observed_and_errors needs hard predictions"):
        _ = total.rows_by_observed_and_errors


def test_a_sum_is_a_profile_of_its_own():
    profile = ObservedProfile.from_predictions([[1, NAN]], [[0, 0]])
    sum([profile]).update([[1, 0]], [[0, 0]])
    assert profile.n_rows == 1
    assert sum([profile, profile]).n_rows == 2


def test_rows_of_weight_0_are_rows():
    y_true, y_pred = [[1, NAN], [1, 0]], [[0, 0], [1, 0]]
    profile = ObservedProfile.from_predictions(y_true, y_pred, sample_weight=[0, 2])
    assert (profile.n_rows, profile.total_weight, profile.loss(SubsetMeasure())) == (2, 2, 0)
    assert ObservedProfile.from_dict(profile.to_dict()) == profile
    profile.update([[1, NAN]], [[0, 0]], sample_weight=[2])
    assert (profile.n_rows, profile.loss(SubsetMeasure())) == (3, 0.5)


@pytest.mark.parametrize(
    "y_true, y_pred, observed, message",
    [
        ([[1, 2]], [[1, 1]], None, "y_true must be binary, 0 or 1; y_true[0, 1] is 2."),
        ([[1, NAN]], [[1.5, 1]], None, "y_pred must lie in [0, 1]; y_pred[0, 0] is 1.5."),
        ([[1, NAN]], [[NAN, 1]], None, "y_pred must lie in [0, 1]; y_pred[0, 0] is nan."),
        ([[1, NAN]], [[1, 1, 1]], None, "y_true and y_pred must have the same shape (n_samples, n_labels); got (1, 2)"),
        (
            [[1, 0]],
            [[1, 1]],
            [[True]],
            "y_true and observed must have the same shape (n_samples, n_labels); got (1, 2)",
        ),
        ([[1, 0]], [[1, 1]], [[1, 0]], "observed must hold booleans, True where a label is known; got dtype int64."),
        ([[1, 0]], [[1, 1]], [True, False], "observed must be 2-D, of shape (n_samples, n_labels); got 1-D"),
        ([[1, "?"]], [[1, 1]], None, "y_true must hold numbers or booleans; got dtype"),
    ],
)
def test_what_is_refused(y_true, y_pred, observed, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ObservedProfile.from_predictions(y_true, y_pred, observed=observed)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_an_error_names_the_row_of_the_whole_matrix(form):
    y_true, y_pred = np.zeros((30_000, 50)), np.zeros((30_000, 50))
    y_true[:, 1], y_true[20_000, 3], y_pred[25_000, 4] = NAN, 3, 2
    with pytest.raises(ValueError, match=re.escape("y_true[20000, 3] is 3.0")):
        ObservedProfile.from_predictions(form(y_true), form(y_pred))
    y_true[20_000, 3] = NAN
    with pytest.raises(ValueError, match=re.escape("y_pred[25000, 4] is 2.0")):
        ObservedProfile.from_predictions(form(y_true), form(y_pred))


def test_a_refused_batch_changes_nothing():
    profile = ObservedProfile.from_predictions([[0, NAN]], [[0, 1]])
    before = profile.to_dict()
    with pytest.raises(ValueError, match=r"y_pred\[0, 0\] is 3"):
        profile.update([[0, NAN]], [[3, 1]])
    with pytest.raises(ValueError, match="same number of labels; got 2 and 3"):
        profile.update([[0, 1, 1]], [[0, 1, 1]])
    assert profile.to_dict() == before


def test_measures_that_do_not_fit_all_rows():
    profile = ObservedProfile.from_predictions([[0, 1, 1], [0, NAN, NAN]], [[0, 1, 0], [0, 1, 1]])
    with pytest.raises(ValueError, match=re.escape("k must lie in 1..3, the number of labels; got 4")):
        profile.loss(BinomialMeasure(4))
    message = (
        "AtLeastMeasure(k=2) cannot judge rows with 1 of 3 labels observed (k must lie in 1..1, the number of labels; "
        "got 2.) Give a function from the number of observed labels to a measure instead."
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        profile.loss(AtLeastMeasure(2))
    assert profile.loss(AtLeastMeasure(1)) == 0
    table = CountingMeasure([0, 0.2, 0.5, 1])
    with pytest.raises(ValueError, match=re.escape("(CountingMeasure with 4 values is made for 3 labels; got 1.)")):
        profile.loss(table)
    assert profile.loss({3: table, 1: HammingMeasure()}.get) == 0.25
    for measure in (choral.AdditiveMeasure([0.5, 0.3, 0.2]), choral.RelevanceMeasure(HammingMeasure(), 1)):
        with pytest.raises(TypeError, match="serves counting measures only: .* not which; got (Addit|Relev)"):
            profile.loss(measure)


def test_what_a_profile_cannot_do():
    profile = ObservedProfile.from_predictions([[NAN, NAN]], [[0, 0]])
    message = "this ObservedProfile has seen 0 with observed labels, 1 without."
    with pytest.raises(ValueError, match=message):
        profile.loss(HammingMeasure())
    with pytest.raises(ValueError, match=message):
        loss_curve([[NAN, NAN], [NAN, NAN]][:1], [[0, 0]])
    with pytest.raises(TypeError, match="unhashable"):
        hash(profile)
    with pytest.raises(TypeError, match="unsupported operand"):
        profile + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        profile + ErrorProfile(2)
    assert profile != ErrorProfile(2)


PART = {"n_labels": 1, "n_rows": 1, "total_weight": 1, "rows_by_errors": [0, 1]}
SOFT = {"n_labels": 2, "n_rows": 1, "total_weight": 1, "error_sums": [0.5]}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"n_labels": 0}, "n_labels must be at least 1; got 0"),
        ({"n_unobserved": -1}, "n_unobserved must be at least 0; got -1"),
        ({"by_observed": [PART, PART]}, "by_observed must have increasing numbers of labels, at most 2; got [1, 1]."),
        ({"by_observed": [{**PART, "n_labels": 3}]}, "numbers of labels, at most 2; got [3]."),
        ({"by_observed": [PART, SOFT]}, "must have rows_by_errors everywhere, or error_sums everywhere; got both."),
        ({"by_observed": [{**PART, "n_rows": 2}]}, "rows_by_errors must add up to n_rows, 2; got 1"),
        ({"by_observed": [{**PART, "n_rows": 0}]}, "total_weight must be positive and finite for 0 rows; got 1"),
        ({"by_observed": [{"n_labels": 1}]}, "a profile needs n_labels, n_rows, total_weight and one of"),
        ({"by_observed": [{**PART, "total_weight": 0}]}, "rows_by_errors must add up to total_weight, 0; got 1"),
        (
            {"by_observed": [{**PART, "n_rows": 0, "total_weight": 0, "rows_by_errors": []}]},
            "n_rows must be at least 1",
        ),
    ],
)
def test_a_damaged_dict_is_refused(change, message):
    data = ObservedProfile.from_predictions([[0, 1], [0, NAN]], [[0, 0], [1, 1]]).to_dict()
    with pytest.raises(ValueError, match=re.escape(message)):
        ObservedProfile.from_dict({**data, **change})


def test_a_dict_with_too_little_is_refused():
    with pytest.raises(ValueError, match="needs n_labels, n_unobserved and by_observed; got n_labels."):
        ObservedProfile.from_dict({"n_labels": 2})
    with pytest.raises(ValueError, match="got nothing."):
        ObservedProfile.from_dict({})


def random_labels(rng, form):
    y_true = np.where(rng.random((60, 5)) < 0.3, NAN, rng.random((60, 5)) < 0.4)
    y_true[:3], y_true[3:, 0] = NAN, 1
    y_pred = rng.random((2, 60, 5))
    y_pred = y_pred if form == "scores" else (y_pred < 0.4).astype(float)
    return y_true, {"a": y_pred[0], "b": np.where(np.isnan(y_true), 7, y_pred[1])}


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("form", ["hard", "scores"])
def test_an_evaluation_is_of_observed_labels(form, matrix, family):
    y_true, predictions = random_labels(np.random.default_rng(5), form)
    weight = np.random.default_rng(6).random(60)
    given_true, given_pred = matrix(y_true), {name: matrix(y_pred) for name, y_pred in predictions.items()}
    evaluation = choral.evaluate(given_true, given_pred, family=family, sample_weight=weight, n_bootstrap=2000)
    assert (evaluation.n_rows, evaluation.n_unobserved) == (57, 3)
    assert evaluation.to_dict()["n_unobserved"] == 3
    for name, y_pred in {**predictions, evaluation.baseline: np.zeros((60, 5))}.items():
        profile = ObservedProfile.from_predictions(given_true, matrix(y_pred), sample_weight=weight)
        assert evaluation.profiles[name] == profile
        assert evaluation.curves[name] == profile.curve(family, name=name)
    losses = np.array([curve.losses for curve in evaluation.curves.values()])
    np.testing.assert_allclose(evaluation.samples.mean(axis=0), losses, atol=0.006)


@pytest.mark.parametrize("form", ["hard", "scores"])
def test_labels_that_nobody_observed_change_nothing(form):
    y_true, predictions = random_labels(np.random.default_rng(7), form)
    y_true, predictions["b"] = np.nan_to_num(y_true, nan=1), predictions["b"].clip(0, 1)
    before = choral.evaluate(y_true, predictions)
    observed = np.repeat([[True, False]], [5, 2], axis=1) & np.ones((60, 1), dtype=bool)
    wider = {name: np.hstack([y_pred, np.full((60, 2), NAN)]) for name, y_pred in predictions.items()}
    after = choral.evaluate(np.hstack([y_true, y_true[:, :2]]), wider, observed=observed, parameters=[1, 2, 3, 4, 5])
    np.testing.assert_allclose(after.samples, before.samples, rtol=1e-14)
    for name, curve in before.curves.items():
        np.testing.assert_allclose(after.curves[name].losses, curve.losses, rtol=1e-14)


@pytest.mark.parametrize("threshold", [0.5, -1])
def test_a_threshold_does_not_look_at_missing_labels_either(threshold):
    y_true, predictions = random_labels(np.random.default_rng(8), "scores")
    predictions["b"] = np.where(np.isnan(y_true), NAN, predictions["b"])
    expected = pytest.warns(UserWarning, match="every label is predicted") if threshold < 0 else nullcontext()
    with expected:
        evaluation = choral.evaluate(y_true, predictions, threshold=threshold, n_bootstrap=0)
    hard = np.where(predictions["a"] >= threshold, 1, 0)
    assert evaluation.profiles["a"] == ObservedProfile.from_predictions(y_true, hard)
    assert evaluation.profiles["b"].is_hard


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("form", ["hard", "scores"])
def test_row_losses_are_those_of_single_rows(form, matrix):
    y_true, predictions = random_labels(np.random.default_rng(9), form)
    rows = row_losses(open_rows(matrix(y_true), matrix(predictions["b"])), BINOMIAL, np.arange(1, 6))
    for true, pred, losses in zip(y_true[3:], predictions["b"][3:], rows[3:], strict=True):
        profile = ObservedProfile.from_predictions([true], [pred])
        np.testing.assert_allclose(losses, profile.losses("binomial"), atol=1e-15)
