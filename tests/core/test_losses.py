"""Losses against scikit-learn at the ends, the definition between. The paper's example is in paper/test_examples.py."""

import re
from fractions import Fraction
from functools import partial
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import choral
from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
)
from definitions import (
    all_sets,
    binomial_loss_by_counting,
    capacity_values,
    choquet_by_levels,
    share_of_sets_with_a_mistake,
    worth_of,
)

N_LABELS = 4
MEASURES = [
    HammingMeasure(),
    SubsetMeasure(),
    BinomialMeasure(2),
    PolynomialMeasure(2.5),
    AtLeastMeasure(2),
    CountingMeasure([0, 0.5, 0.5, 0.7, 1]),
    AdditiveMeasure([0.1, 0.2, 0.3, 0.4]),
    Capacity(capacity_values(np.random.default_rng(0), N_LABELS)),
    MoebiusMeasure({(0,): 0.5, (1, 2): 0.5}),
    CoveringMeasure([(0, 1), (1, 2, 3)]),
    RelevanceMeasure(BinomialMeasure(2), 1.5),
]
LOSSES = [
    *(partial(choral.choquet_loss, measure=measure) for measure in MEASURES),
    partial(choral.binomial_loss, k=2),
    partial(choral.polynomial_loss, alpha=2),
    choral.hamming_loss,
    choral.subset_loss,
    partial(choral.owa_loss, weights=[0.4, 0.3, 0.2, 0.1]),
    partial(choral.covering_loss, label_sets=[(0, 1), (2,)]),
    choral.f_loss,
    partial(choral.f_loss, beta=2),
    choral.jaccard_loss,
]


def loss_name(loss):
    """The same in every process: what str() says of a function is its address."""
    return f"{loss.func.__name__}-{loss.keywords}" if isinstance(loss, partial) else loss.__name__


hard = arrays(np.uint8, (5, N_LABELS), elements=st.integers(0, 1))
soft = arrays(float, (5, N_LABELS), elements=st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]))


def random_labels(seed, n_rows=50, n_labels=N_LABELS):
    return np.random.default_rng(seed).integers(2, size=(2, n_rows, n_labels), dtype=np.uint8)


def test_hard_loss_is_the_sum_of_the_first_weights():
    """The paper's text sums the last k weights: a slip, since errors are sorted from the largest down."""
    weights = [0.5, 0.3, 0.15, 0.05]
    for wrong in range(5):
        y_pred = [[0] * wrong + [1] * (4 - wrong)]
        assert choral.owa_loss(np.ones((1, 4)), y_pred, weights=weights) == pytest.approx(sum(weights[:wrong]))


# Known ends, from a library others trust.


@pytest.mark.parametrize("k, alpha, reference", [(1, 1, "hamming_loss"), (N_LABELS, np.inf, "zero_one_loss")])
@pytest.mark.parametrize("weighted", [False, True])
def test_ends_of_both_families_are_those_of_scikit_learn(k, alpha, reference, weighted):
    y_true, y_pred = random_labels(0)
    weight = np.random.default_rng(1).random(50) if weighted else None
    expected = getattr(sklearn.metrics, reference)(y_true, y_pred, sample_weight=weight)
    assert choral.binomial_loss(y_true, y_pred, k=k, sample_weight=weight) == pytest.approx(expected, rel=1e-14)
    assert choral.polynomial_loss(y_true, y_pred, alpha=alpha, sample_weight=weight) == pytest.approx(
        expected, rel=1e-14
    )
    named = choral.hamming_loss if k == 1 else choral.subset_loss
    assert named(y_true, y_pred, sample_weight=weight) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_f_loss_is_that_of_scikit_learn(weighted):
    y_true, y_pred = random_labels(2, n_rows=200, n_labels=3)  # many rows empty on both sides
    weight = np.random.default_rng(1).random(200) if weighted else None
    expected = sklearn.metrics.f1_score(y_true, y_pred, average="samples", zero_division=1, sample_weight=weight)
    both_sides = (y_true.sum(1) > 0) | (y_pred.sum(1) == 0)
    assert not both_sides.all()
    assert choral.f_loss(y_true, y_pred, sample_weight=weight) == pytest.approx(1 - expected)
    assert choral.f_loss([[0, 0]], [[0, 0]]) == 0
    assert choral.f_loss([[0, 0]], [[0, 1]]) == 1


@pytest.mark.parametrize("beta", [0.5, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_f_loss_with_a_beta_is_that_of_scikit_learn(weighted, beta):
    y_true, y_pred = random_labels(2, n_rows=200, n_labels=3)
    weight = np.random.default_rng(1).random(200) if weighted else None
    options = {"beta": beta, "average": "samples", "zero_division": 1, "sample_weight": weight}
    expected = sklearn.metrics.fbeta_score(y_true, y_pred, **options)
    assert choral.f_loss(y_true, y_pred, beta=beta, sample_weight=weight) == pytest.approx(1 - expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_jaccard_loss_is_that_of_scikit_learn(weighted):
    y_true, y_pred = random_labels(2, n_rows=200, n_labels=3)
    weight = np.random.default_rng(1).random(200) if weighted else None
    expected = sklearn.metrics.jaccard_score(y_true, y_pred, average="samples", zero_division=1, sample_weight=weight)
    assert choral.jaccard_loss(y_true, y_pred, sample_weight=weight) == pytest.approx(1 - expected)
    assert choral.jaccard_loss([[0, 0]], [[0, 0]]) == 0
    assert choral.jaccard_loss([[0, 0]], [[0, 1]]) == 1


def test_f_and_jaccard_losses_of_scores_and_of_known_labels():
    y_true, scores = [[1, 1, 0, 0]], [[0.5, 1, 0.25, 0]]
    assert choral.f_loss(y_true, scores, beta=2) == pytest.approx(1 - 5 * 1.5 / (4 * 2 + 1.75))
    assert choral.jaccard_loss(y_true, scores) == pytest.approx(1 - 1.5 / (2 + 1.75 - 1.5))
    assert choral.jaccard_loss([[1, np.nan, 0], [np.nan] * 3], [[1, 1, 1], [1, 1, 1]]) == 0.5


# Between the ends, the definition.


@pytest.mark.parametrize("measure", MEASURES[:-1], ids=repr)
@given(y_true=hard, y_pred=soft)
def test_loss_is_one_minus_the_choquet_integral(measure, y_true, y_pred):
    u = 1 - np.abs(y_true - y_pred)
    expected = [1 - choquet_by_levels(row, worth_of(measure, N_LABELS)) for row in u]
    losses = choral.choquet_loss(y_true, y_pred, measure, reduction="none")
    np.testing.assert_allclose(losses, expected, atol=1e-12)
    assert choral.choquet_loss(y_true, y_pred, measure) == pytest.approx(np.mean(expected), abs=1e-12)


@given(y_true=hard, y_pred=hard, k=st.integers(1, N_LABELS))
def test_binomial_loss_is_the_share_of_sets_with_a_mistake(y_true, y_pred, k):
    expected = [binomial_loss_by_counting(set(np.flatnonzero(row)), N_LABELS, k) for row in y_true != y_pred]
    np.testing.assert_allclose(choral.binomial_loss(y_true, y_pred, k=k, reduction="none"), expected, atol=1e-14)


@given(y_true=hard, y_pred=hard)
def test_covering_loss_is_the_share_or_the_number_of_sets_with_a_mistake(y_true, y_pred):
    sets = [(0, 1), (1, 2), (0, 1), (3,)]
    expected = np.array([share_of_sets_with_a_mistake(set(np.flatnonzero(row)), sets) for row in y_true != y_pred])
    covering = partial(choral.covering_loss, y_true, y_pred, label_sets=sets, reduction="none")
    np.testing.assert_allclose(covering(), expected, atol=1e-14)
    np.testing.assert_allclose(covering(normalize=False), 4 * expected, atol=1e-14)
    np.testing.assert_allclose(
        covering(normalize=False, weights=[1, 1, 1, 5]), 4 * expected + 4 * (y_true != y_pred)[:, 3], atol=1e-14
    )


def test_covering_all_pairs_is_binomial_two():
    y_true, y_pred = random_labels(3)
    pairs = list(combinations(range(N_LABELS), 2))
    assert choral.covering_loss(y_true, y_pred, label_sets=pairs) == pytest.approx(
        choral.binomial_loss(y_true, y_pred, k=2)
    )


def test_constant_scores_hedge_under_every_measure():
    y_true, _ = random_labels(4)
    for measure in MEASURES:
        assert choral.choquet_loss(y_true, np.full(y_true.shape, 0.5), measure) == pytest.approx(0.5)


# Laws.


def test_the_f_loss_does_not_round_beyond_one():
    scores = [[0.0, 0.6505318, 0.6505318, 0.6505318]]
    assert choral.f_loss([[1, 0, 0, 0]], scores) <= 1
    assert choral.f_loss([[0, 0, 0, 0]], np.full((1, 4), 0.6505318)) == 1


@pytest.mark.parametrize("loss", LOSSES, ids=loss_name)
@given(y_true=hard, y_pred=soft)
def test_losses_lie_in_the_unit_interval_and_vanish_on_the_truth(loss, y_true, y_pred):
    rows = loss(y_true, y_pred, reduction="none")
    assert rows.shape == (5,)
    assert ((rows >= 0) & (rows <= 1)).all()
    assert loss(y_true, y_true) == 0


@pytest.mark.parametrize("measure", [m for m in MEASURES if isinstance(m, CountingMeasure)], ids=repr)
@given(y_true=hard, y_pred=soft, order=st.permutations(range(N_LABELS)))
def test_counting_measures_do_not_see_the_order_of_labels(measure, y_true, y_pred, order):
    loss = choral.choquet_loss(y_true, y_pred, measure)
    assert choral.choquet_loss(y_true[:, order], y_pred[:, order], measure) == pytest.approx(loss, abs=1e-14)


@given(y_true=hard, y_pred=soft, k=st.integers(1, N_LABELS - 1), alpha=st.floats(1, 1e6), more=st.floats(0, 1e3))
def test_losses_grow_with_the_parameter(y_true, y_pred, k, alpha, more):
    by_k = [choral.binomial_loss(y_true, y_pred, k=k) for k in (k, k + 1)]
    by_alpha = [choral.polynomial_loss(y_true, y_pred, alpha=a) for a in (alpha, alpha + more)]
    assert by_k[0] <= by_k[1] + 1e-14
    assert by_alpha[0] <= by_alpha[1] + 1e-14


def wrap_frame(y):
    return pytest.importorskip("pandas").DataFrame(y)


def wrap_mixed_frame(y):
    frame = pytest.importorskip("pandas").DataFrame(y)
    frame[0] = frame[0].astype(bool)
    return frame


def with_duplicates(y):
    """A CSR matrix that is not canonical: labels from the last to the first, each stored twice, once as 0."""
    columns = np.tile(np.repeat(np.arange(y.shape[1])[::-1], 2), len(y))
    data = np.column_stack([y[:, ::-1].ravel(), np.zeros(y.size, dtype=y.dtype)]).ravel()
    matrix = sp.csr_matrix((data, columns, np.arange(len(y) + 1) * 2 * y.shape[1]), shape=y.shape)
    assert not matrix.has_canonical_format
    return matrix


CONTAINERS = [
    np.ndarray.tolist,
    *(
        partial(np.asarray, dtype=dtype)
        for dtype in (bool, np.int8, np.int64, np.uint32, np.float16, np.float32, float)
    ),
    np.asfortranarray,
    lambda y: np.repeat(y, 2, axis=1)[:, ::2],
    lambda y: y.astype(object),
    lambda y: y.astype(">i4"),
    lambda y: y.astype(np.longdouble),
    wrap_frame,
    wrap_mixed_frame,
    sp.csr_matrix,
    sp.csr_array,
    sp.csc_matrix,
    sp.coo_array,
    sp.lil_matrix,
    with_duplicates,
]


@pytest.mark.parametrize("loss", LOSSES, ids=loss_name)
@pytest.mark.parametrize("wrap", CONTAINERS)
def test_every_container_gives_the_same_loss_on_either_side(loss, wrap):
    y_true, y_pred = random_labels(5)
    before = y_true.copy(), y_pred.copy()
    expected = loss(y_true, y_pred)
    assert loss(wrap(y_true), wrap(y_pred)) == pytest.approx(expected, abs=1e-14)
    assert loss(wrap(y_true), y_pred) == pytest.approx(expected, abs=1e-14)
    assert loss(y_true, wrap(y_pred)) == pytest.approx(expected, abs=1e-14)
    np.testing.assert_array_equal((y_true, y_pred), before)  # the caller's data is never changed


@pytest.mark.parametrize("loss", LOSSES, ids=loss_name)
@pytest.mark.parametrize(
    "wrap", [sp.csr_matrix, sp.csc_array, np.asfortranarray, partial(np.asarray, dtype=np.float32)]
)
def test_scores_in_every_container(loss, wrap):
    rng = np.random.default_rng(6)
    y_true = random_labels(6)[0]
    y_pred = np.where(rng.random(y_true.shape) < 0.5, 0, rng.random(y_true.shape).astype(np.float32).astype(float))
    before = y_pred.copy()
    expected = loss(y_true, y_pred)
    assert loss(wrap(y_true), wrap(y_pred)) == pytest.approx(expected, abs=1e-12)
    assert loss(y_true, wrap(y_pred)) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_array_equal(y_pred, before)


@pytest.mark.parametrize("n_labels", [1, 2, 3, 8, 100, 255, 256, 257, 2040, 2048, 5001])
def test_rows_are_counted_for_any_number_of_labels(n_labels):
    y_true, y_pred = random_labels(7, n_rows=3, n_labels=n_labels)
    y_pred[2] = 1 - y_true[2]
    expected = (y_true != y_pred).mean(axis=1)
    np.testing.assert_allclose(choral.hamming_loss(y_true, y_pred, reduction="none"), expected, rtol=1e-15)


def test_duplicate_entries_are_summed_before_they_are_judged():
    twice = sp.csr_matrix((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 3))
    with pytest.raises(ValueError, match=r"y_true\[0, 1\] is 2.0"):
        choral.hamming_loss(twice, sp.csr_matrix((1, 3)))
    assert twice.nnz == 2  # the caller's matrix stays as it is


def test_right_rows_cost_nothing_and_wrong_ones_no_more_than_one():
    rng = np.random.default_rng(10)
    for n_labels in (3, 57, 64):
        sets = [tuple(rng.choice(n_labels, size=3, replace=False)) for _ in range(7)]
        weights = rng.dirichlet(np.ones(n_labels))
        measures = [
            CoveringMeasure(sets, rng.random(7)),
            MoebiusMeasure(dict(zip(sets, rng.dirichlet(np.ones(7)), strict=True)) if n_labels > 3 else {(0, 1): 1}),
            AdditiveMeasure(weights),
            CountingMeasure.from_weights(weights),
            HammingMeasure(),
            PolynomialMeasure(1.3),
        ]
        y_true = rng.integers(2, size=(3, n_labels))
        y_pred = np.array([y_true[0], 1 - y_true[1], np.full(n_labels, 0.3)])  # right, wrong, and scores
        for measure in measures:
            for rows in (slice(0, 3), slice(0, 2)):
                losses = choral.choquet_loss(y_true[rows], y_pred[rows], measure, reduction="none")
                assert losses[0] == 0
                assert 1 - 1e-12 <= losses[1] <= 1


def test_the_plain_sum_of_the_covering_loss_is_a_whole_number():
    y_true, y_pred = random_labels(11)
    sets = [(0, 1), (1, 2), (2, 3), (0, 2), (3,), (0, 1, 2), (1, 3)]
    losses = choral.covering_loss(y_true, y_pred, sets, normalize=False, reduction="none")
    assert (losses == np.round(losses)).all()


def test_sparse_labels_need_only_the_columns_of_a_sparse_measure():
    y_true = sp.csr_matrix(([1, 1], ([0, 1], [5, 400_000])), shape=(2, 500_000))
    measure = MoebiusMeasure({(5, 7): 0.25, (400_000,): 0.75})
    assert choral.choquet_loss(y_true, sp.csr_matrix(y_true.shape), measure, reduction="none").tolist() == [0.25, 0.75]


def test_parameters_may_be_given_by_position():
    y_true, y_pred = random_labels(12)
    assert choral.binomial_loss(y_true, y_pred, 2) == choral.binomial_loss(y_true, y_pred, k=2)
    assert choral.polynomial_loss(y_true, y_pred, 2) == choral.polynomial_loss(y_true, y_pred, alpha=2)
    assert choral.owa_loss(y_true, y_pred, [1, 0, 0, 0]) == choral.subset_loss(y_true, y_pred)
    assert choral.covering_loss(y_true, y_pred, [0, 1, 2, 3]) == pytest.approx(choral.hamming_loss(y_true, y_pred))


def test_many_blocks():
    y_true, y_pred = random_labels(8, n_rows=40_000, n_labels=100)
    scores = np.abs(y_pred - np.random.default_rng(8).random(y_pred.shape) / 3)
    assert choral.hamming_loss(y_true, y_pred) == pytest.approx((y_true != y_pred).mean())
    assert choral.hamming_loss(y_true, scores) == pytest.approx(np.abs(y_true - scores).mean())
    assert choral.subset_loss(y_true, scores) == pytest.approx(np.abs(y_true - scores).max(axis=1).mean())


def test_sample_weight_is_the_number_of_copies_of_a_row():
    y_true, y_pred = random_labels(9, n_rows=6)
    copies = [0, 1, 2, 3, 0, 5]
    for loss in LOSSES:
        repeated = loss(np.repeat(y_true, copies, axis=0), np.repeat(y_pred, copies, axis=0))
        assert loss(y_true, y_pred, sample_weight=copies) == pytest.approx(repeated)


# What is refused, and how.

MISSING = [[[0, np.nan]], [[0, None]], sp.csr_matrix([[0, np.nan]])]


@pytest.mark.parametrize("y_true", MISSING, ids=["nan", "None", "sparse"])
def test_a_profile_of_complete_labels_refuses_missing_ones(y_true):
    message = (
        "y_true must be binary, 0 or 1 (for nan, a missing label, see choral.evaluate and ObservedProfile); "
        "y_true[0, 1] is nan."
    )
    y_pred = sp.csr_matrix([[0, 1]]) if sp.issparse(y_true) else [[0, 1]]
    with pytest.raises(ValueError, match=re.escape(message)):
        choral.ErrorProfile.from_predictions(y_true, y_pred)


@pytest.mark.parametrize("y_true", MISSING, ids=["nan", "None", "sparse"])
def test_only_counting_measures_judge_rows_by_their_known_labels(y_true):
    y_pred = sp.csr_matrix([[1, 1]]) if sp.issparse(y_true) else [[1, 1]]
    assert choral.hamming_loss(y_true, y_pred) == 1
    capacity = choral.Capacity([0, 0.5, 0.5, 1])
    for measure in (AdditiveMeasure([0.5, 0.5]), capacity, choral.RelevanceMeasure(capacity, 1)):
        with pytest.raises(ValueError, match="labels are missing, and only counting measures can judge a row by its"):
            choral.choquet_loss(y_true, y_pred, measure)


@pytest.mark.parametrize("loss", [choral.hamming_loss, choral.subset_loss, choral.f_loss])
def test_rows_of_which_nothing_is_known_are_left_out(loss):
    y_true, y_pred = [[np.nan, np.nan], [1, np.nan], [1, 0]], [[1, 1], [0, 1], [1, 0]]
    rows = loss(y_true, y_pred, reduction="none")
    np.testing.assert_array_equal(rows, [np.nan, 1, 0])
    assert loss(y_true, y_pred) == 0.5
    assert loss(y_true, y_pred, sample_weight=[5, 1, 3]) == 0.25
    with pytest.raises(ValueError, match="a mean loss needs a row with a known label and a positive weight"):
        loss(y_true[:1], y_pred[:1])


@pytest.mark.parametrize(
    "y_true, y_pred, message",
    [
        (
            [[0, 1]],
            [[0, 1, 1]],
            "y_true and y_pred must have the same shape (n_samples, n_labels); got (1, 2) and (1, 3)",
        ),
        ([0, 1], [0, 1], "y_true must be 2-D, of shape (n_samples, n_labels); got 1-D of shape (2,)"),
        (
            [[0, 1]],
            [0, 1],
            "y_pred must be 2-D, of shape (n_samples, n_labels); got 1-D of shape (2,). A single row is",
        ),
        ([[0, 1]], [[[0.1, 0.9]]], "If it comes from predict_proba of several outputs, see choral.stack_proba"),
        (np.empty((0, 3)), np.empty((0, 3)), "y_true must have at least one row and one label; got shape (0, 3)"),
        (np.empty((3, 0)), np.empty((3, 0)), "y_true must have at least one row and one label; got shape (3, 0)"),
        ([], [], "got 1-D of shape (0,)"),
        ([[0, 1], [0, 2]], [[0, 1], [0, 1]], "y_true must be binary, 0 or 1; y_true[1, 1] is 2."),
        ([[0, 1], [-1, 0]], [[0, 1], [0, 1]], "y_true[1, 0] is -1."),
        ([[0, 0.5]], [[0, 1]], "y_true must be binary, 0 or 1; y_true[0, 1] is 0.5."),
        ([[0, 1]], [[0.2, 1.5]], "y_pred must lie in [0, 1]; y_pred[0, 1] is 1.5."),
        ([[0, 1]], [[np.nan, 0.5]], "y_pred must lie in [0, 1]; y_pred[0, 0] is nan."),
        ([[0, 1]], [[-0.1, 0.5]], "y_pred[0, 0] is -0.1."),
        ([[0, 1]], [[0, 3]], "y_pred must lie in [0, 1]; y_pred[0, 1] is 3."),
        ([["a", "b"]], [[0, 1]], "y_true must hold numbers or booleans; got dtype <U1"),
        ([[0, 1]], [[0, 1j]], "y_pred must hold numbers or booleans; got dtype complex128"),
        ([[0, 1], [0]], [[0, 1], [0, 1]], "y_true must be a matrix; its rows differ in length"),
        ([[0, object()]], [[0, 1]], "y_true must hold numbers or booleans; y_true[0, 1] is '<object object"),
        (np.array([[0, "1"]], dtype=object), [[0, 1]], "y_true must hold numbers or booleans; y_true[0, 1] is '1'"),
        (np.ma.masked_equal([[0, 1]], 0), [[0, 1]], "y_true must not be masked"),
        (sp.csr_matrix([[0, 2]]), sp.csr_matrix([[0, 1]]), "y_true must be binary, 0 or 1; y_true[0, 1] is 2."),
        (sp.csr_matrix([[0, 0], [1, 0]]), sp.csr_matrix([[0, 0], [0, 1.5]]), "y_pred[1, 1] is 1.5."),
        (sp.csr_matrix([[0, 1]]), sp.csr_matrix([[0, np.nan]]), "y_pred[0, 1] is nan."),
        (sp.csr_matrix([[0, 1]]), [[0, np.nan]], "y_pred[0, 1] is nan."),
    ],
)
@pytest.mark.parametrize(
    "loss", [choral.hamming_loss, partial(choral.choquet_loss, measure=AdditiveMeasure([0.5, 0.5]))]
)
def test_bad_labels_are_refused(loss, y_true, y_pred, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        loss(y_true, y_pred)


def test_the_place_is_named_in_later_blocks_too():
    y_true = np.zeros((30_000, 100), dtype=np.uint8)
    y_pred = y_true.astype(np.float32)
    y_pred[29_999, 7] = np.nan
    with pytest.raises(ValueError, match=r"y_pred\[29999, 7\] is nan"):
        choral.hamming_loss(y_true, y_pred)
    y_true[12_345, 99] = 3
    with pytest.raises(ValueError, match=r"y_true\[12345, 99\] is 3"):
        choral.hamming_loss(y_true, np.zeros_like(y_true))


@pytest.mark.parametrize(
    "weight, message",
    [
        ([1, -1], "sample_weight must be finite and non-negative; sample_weight[1] is -1.0"),
        ([1, np.nan], "sample_weight[1] is nan"),
        ([1, np.inf], "sample_weight[1] is inf"),
        ([0, 0], "sample_weight must not be zero everywhere"),
        (
            [5e-324, 5e-324],
            "sample_weight must have an entry of at least 1e-290, for losses to keep their digits; the l",
        ),
        ([9.9e-291, 0], "the largest is 9.9e-291. Multiply all of them by one number."),
        ([1e308, 1e308], "sample_weight must have a finite sum; its largest entry is 1e+308"),
        ([1, 1, 1], "sample_weight must have one entry for each of 2 rows; got 3"),
        ([[1, 1]], "sample_weight must be a non-empty 1-D sequence of numbers"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        choral.hamming_loss([[0, 1], [1, 1]], [[0, 1], [1, 1]], sample_weight=weight)


@pytest.mark.parametrize(
    "number", [10**400, 10**5000], ids=["long", "longer"]
)  # Python does not write down the digits of the second
def test_whole_numbers_beyond_a_double(number):
    labels = [[0, 1], [1, 1]]
    for make, name in [
        (lambda: choral.hamming_loss([[number, 1], [1, 1]], labels), "y_true[0, 0]"),
        (lambda: choral.hamming_loss(labels, labels, sample_weight=[1, number]), "sample_weight[1]"),
        (lambda: choral.polynomial_loss(labels, labels, alpha=number), "alpha"),
        (lambda: choral.RelevanceMeasure(choral.HammingMeasure(), beta=number), "beta"),
        (lambda: choral.MoebiusMeasure({(0, 1): number}), "the mass of (0, 1)"),
        (lambda: choral.evaluate(labels, {"a": labels}, threshold=number), "threshold"),
    ]:
        with pytest.raises(ValueError, match=re.escape(f"{name} must be a number below 1.8e+308; it is larger.")):
            make()


@pytest.mark.parametrize("unit", [1e-290, 2.0**-960, 3e-320 * 2.0**110, 1e298])
@pytest.mark.parametrize("score", [0, 0.25, 1 - 2.0**-30])
def test_losses_under_the_smallest_and_largest_weights(unit, score):
    """Exact fractions of the very doubles, and what a loss must be at least that far."""
    y_true, y_pred, weights = [[1, 0], [1, 1], [0, 0]], [[1, score], [1, 1], [1, 1]], [unit, 3 * unit, unit / 1024]
    errors = [Fraction(score) / 2, 0, 1]
    total = sum(map(Fraction, weights))
    expected = float(sum(Fraction(weight) * error for weight, error in zip(weights, errors, strict=True)) / total)
    profile = choral.ErrorProfile.from_predictions(y_true, y_pred, sample_weight=weights)
    observed = choral.ObservedProfile.from_predictions(y_true, y_pred, sample_weight=weights)
    for loss in (
        choral.hamming_loss(y_true, y_pred, sample_weight=weights),
        profile.loss(choral.HammingMeasure()),
        observed.loss(choral.HammingMeasure()),
    ):
        assert loss == pytest.approx(expected, rel=1e-14)


def test_other_bad_arguments():
    with pytest.raises(ValueError, match="reduction must be 'mean' or 'none'; got 'sum'"):
        choral.hamming_loss([[0]], [[0]], reduction="sum")
    with pytest.raises(TypeError, match="measure must be one of choral.measures; got 'hamming'"):
        choral.choquet_loss([[0]], [[0]], "hamming")
    with pytest.raises(ValueError, match=r"k must lie in 1\.\.2"):
        choral.binomial_loss([[0, 1]], [[0, 1]], k=3)
    with pytest.raises(ValueError, match="weights must have one entry for each of 3 labels; got 2"):
        choral.owa_loss([[0, 1, 0]], [[0, 1, 0]], weights=[0.5, 0.5])
    with pytest.raises(TypeError, match="not a measure: that goes into choquet_loss"):
        choral.covering_loss([[0, 1]], [[0, 1]], CoveringMeasure([(0, 1)]))


def test_f_loss_of_scores():
    y_true, scores = [[1, 0, 1], [0, 0, 0]], [[0.5, 0.25, 1.0], [0.0, 0.0, 0.0]]
    expected = [1 - 2 * 1.5 / (2 + 1.75), 0]
    assert choral.f_loss(y_true, scores, reduction="none") == pytest.approx(expected)
    assert choral.f_loss(sp.csr_matrix(y_true), sp.csr_matrix(scores), reduction="none") == pytest.approx(expected)
    assert choral.f_loss([[0, 0]], [[0.0, 1e-3]]) == 1


def test_frames_with_the_same_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    y_true = pandas.DataFrame({"sea": [1, 0], "sky": [1, 1]})
    with pytest.raises(ValueError, match=r"y_pred\[y_true.columns\] puts them so"):
        choral.hamming_loss(y_true, y_true[["sky", "sea"]])
    with pytest.raises(
        ValueError, match="y_pred must have the columns of y_true; column 0 is 'a', that of y_true 'sea'"
    ):
        choral.hamming_loss(y_true, y_true.rename(columns={"sea": "a", "sky": "b"}))
    assert choral.hamming_loss(y_true, y_true.to_numpy()) == 0
    assert choral.hamming_loss(y_true, pandas.DataFrame(y_true.to_numpy())) == 0  # without names


def test_worth_of_a_measure_is_one_minus_the_hard_loss():
    truth = np.ones((1, N_LABELS))
    for labels in all_sets(N_LABELS):
        y_pred = [[float(i in labels) for i in range(N_LABELS)]]
        for measure in MEASURES[:-1]:
            loss = choral.choquet_loss(truth, y_pred, measure)
            assert loss == pytest.approx(1 - worth_of(measure, N_LABELS)(labels), abs=1e-14)
