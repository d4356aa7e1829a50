"""Distributions of label sets: what they hold, what they refuse, and their expected losses."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import hamming_loss, zero_one_loss

from choral import (
    AdditiveMeasure,
    BinomialMeasure,
    HammingMeasure,
    IndependentLabels,
    LabelDistribution,
    SubsetMeasure,
    choquet_loss,
)
from choral.decisions import support
from definitions import losses_by_definition
from measure_zoo import KINDS, random_distribution

LABELSETS = [[0, 0, 0], [1, 1, 0], [1, 0, 1]]
ROWS = np.array([[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]])

FORMS = {
    "dense": lambda rows: LabelDistribution(LABELSETS, rows),
    "sparse": lambda rows: LabelDistribution(sp.csr_array(LABELSETS), sp.coo_array(rows)),
    "lists": lambda rows: LabelDistribution(LABELSETS, rows.tolist()),
}


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_marginals_mode_and_shapes(make):
    distribution = make(ROWS)
    assert (distribution.n_instances, distribution.n_labelsets, distribution.n_labels) == (2, 3, 3)
    np.testing.assert_allclose(distribution.marginals(), [[0.5, 0.25, 0.25], [1, 0, 1]])
    assert distribution.mode().tolist() == [[0, 0, 0], [1, 0, 1]]
    assert distribution.marginal_mode().tolist() == [[0, 0, 0], [1, 0, 1]]
    assert distribution.mode().dtype == np.uint8


def test_one_vector_is_one_instance():
    distribution = LabelDistribution(LABELSETS, [0.2, 0.3, 0.5])
    assert distribution.n_instances == 1
    assert distribution.probabilities.tolist() == [0.2, 0.3, 0.5]
    assert distribution.marginals().shape == (1, 3)
    assert repr(distribution) == "LabelDistribution(3 label sets, 3 labels; {0, 2}: 0.5, {0, 1}: 0.3, {}: 0.2)"
    sparse = LabelDistribution(LABELSETS, sp.csr_array([distribution.probabilities]))
    assert repr(sparse) == "LabelDistribution(1 instance, 3 label sets, 3 labels)"
    uniform = LabelDistribution.from_dense(np.full(8, 1 / 8))
    assert repr(uniform) == "LabelDistribution(8 label sets, 3 labels; {}: 0.125, {0}: 0.125, {1}: 0.125, ...)"
    assert repr(LabelDistribution([[1]], [1])) == "LabelDistribution(1 label sets, 1 labels; {0}: 1)"
    assert repr(LabelDistribution(LABELSETS, ROWS)) == "LabelDistribution(2 instances, 3 label sets, 3 labels)"


@pytest.mark.parametrize("sparse", [False, True])
def test_equal_label_sets_are_merged_in_the_order_of_their_coming(sparse):
    weights = np.array([[0.25, 0.25, 0.5], [0.0, 1.0, 0.0]])
    distribution = LabelDistribution([[1, 0], [0, 1], [1, 0]], sp.csr_matrix(weights) if sparse else weights)
    assert distribution.labelsets.tolist() == [[1, 0], [0, 1]]
    rows = distribution.probabilities.toarray() if sparse else distribution.probabilities
    assert rows.tolist() == [[0.75, 0.25], [0, 1]]


def test_equal_label_sets_are_merged_beyond_one_word():
    labelsets = np.zeros((3, 130), dtype=int)
    labelsets[2, 129] = 1
    distribution = LabelDistribution(labelsets, [0.25, 0.25, 0.5])
    assert distribution.n_labelsets == 2
    assert distribution.mode().sum() == 0  # both have 0.5: fewest labels


def test_from_dense_counts_label_0_as_the_lowest_bit():
    distribution = LabelDistribution.from_dense([0.5, 0.25, 0, 0.25])
    assert distribution.labelsets.tolist() == [[0, 0], [1, 0], [1, 1]]
    assert distribution.probabilities.tolist() == [0.5, 0.25, 0.25]
    many = LabelDistribution.from_dense([[0.5, 0.25, 0, 0.25], [1, 0, 0, 0]])
    assert many.n_instances == 2
    np.testing.assert_allclose(many.marginals(), [[0.5, 0.25], [0, 0]])


def test_from_samples_counts():
    distribution = LabelDistribution.from_samples([[0, 1], [1, 1], [0, 1], [0, 1]])
    assert distribution.labelsets.tolist() == [[0, 1], [1, 1]]
    assert distribution.probabilities.tolist() == [0.75, 0.25]
    weighted = LabelDistribution.from_samples(sp.csr_array([[0, 1], [1, 1], [0, 1]]), sample_weight=[1, 2, 1])
    assert weighted.probabilities.tolist() == [0.5, 0.5]


def test_from_samples_of_an_ensemble_has_a_distribution_for_each_instance():
    votes = np.array([[[0, 1], [1, 1], [0, 1], [0, 1]], [[1, 1], [1, 1], [1, 1], [0, 0]]])
    distribution = LabelDistribution.from_samples(votes)
    assert distribution.n_instances == 2
    np.testing.assert_allclose(distribution.marginals(), votes.mean(axis=1))
    assert distribution.mode().tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("make", FORMS.values(), ids=FORMS)
def test_samples_have_the_right_frequencies(make):
    samples = make(ROWS).sample(4000, rng=0)
    assert samples.shape == (2, 4000, 3)
    np.testing.assert_allclose(samples.mean(axis=1), make(ROWS).marginals(), atol=0.03)
    together = (samples[0, :, 0] == 1) & (samples[0, :, 1] == 1)
    assert together.mean() == pytest.approx(0.25, abs=0.03)  # as one label set, not label by label
    assert np.array_equal(samples, make(ROWS).sample(4000, np.random.default_rng(0)))
    assert LabelDistribution(LABELSETS, [1, 0, 0]).sample(5, rng=1).tolist() == [[0, 0, 0]] * 5


def test_a_distribution_is_a_value():
    for distribution in (
        LabelDistribution(LABELSETS, ROWS),
        LabelDistribution(LABELSETS, sp.csr_array(ROWS)),
        LabelDistribution(LABELSETS, [0.2, 0.3, 0.5]),
        IndependentLabels([0.2, 0.3]),
        IndependentLabels([[0.2, 0.3]]),
    ):
        distribution.marginals()
        for same in (pickle.loads(pickle.dumps(distribution)), copy.deepcopy(distribution)):
            assert same == distribution
            assert hash(same) == hash(distribution)
        assert distribution != "something else"
        with pytest.raises(AttributeError, match="cannot assign"):
            distribution.labelsets = 1
    assert LabelDistribution(LABELSETS, [0.2, 0.3, 0.5]) != LabelDistribution(LABELSETS, [[0.2, 0.3, 0.5]])
    assert IndependentLabels([0.2]) != IndependentLabels([0.3])


def test_a_distribution_can_be_made_from_its_parts_and_not_be_changed():
    rng = np.random.default_rng(0)
    for _ in range(50):
        distribution = LabelDistribution(rng.integers(2, size=(6, 5)), rng.dirichlet(np.ones(6), size=4))
        assert LabelDistribution(distribution.labelsets, distribution.probabilities) == distribution
    with pytest.raises(ValueError, match="read-only"):
        distribution.labelsets[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        LabelDistribution(LABELSETS, sp.csr_array(ROWS)).probabilities.data[0] = 1


def test_sparse_distributions_are_equal_however_they_came():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(30, 0.1), size=5) * (rng.random((5, 30)) < 0.6) + np.eye(5, 30)
    sparse = sp.csr_array(weights / weights.sum(axis=1, keepdims=True))
    distribution = LabelDistribution(rng.integers(2, size=(30, 3)), sparse)  # many label sets come twice
    assert distribution.probabilities.has_sorted_indices
    again = distribution.probabilities
    again.indices, again.indptr = again.indices.astype(np.int64), again.indptr.astype(np.int64)
    assert LabelDistribution(distribution.labelsets, again) == distribution
    again.data = np.ones(3)  # of a matrix of its own
    assert distribution.probabilities.data.size > 3


def test_the_callers_arrays_are_neither_kept_nor_changed():
    weights, labelsets = ROWS.copy(), np.array(LABELSETS)
    sparse = sp.csr_array(ROWS)
    distributions = LabelDistribution(labelsets, weights), LabelDistribution(labelsets, sparse)
    weights[:], labelsets[:] = 0, 0
    sparse.data[:] = 0
    for distribution in distributions:
        assert distribution.mode().tolist() == [[0, 0, 0], [1, 0, 1]]


def test_frames_that_name_label_sets_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    labelsets = pd.DataFrame(LABELSETS, index=list("xyz"), columns=list("abc"))
    probabilities = pd.DataFrame(ROWS, columns=list("xyz"))
    assert LabelDistribution(labelsets, probabilities) == LabelDistribution(LABELSETS, ROWS)
    with pytest.raises(ValueError, match=r"probabilities\[labelsets.index\] puts them so"):
        LabelDistribution(labelsets, probabilities[list("zyx")])


def test_single_precision_is_welcome():
    weights = np.random.default_rng(0).dirichlet(np.ones(50), size=20).astype(np.float32)
    distribution = LabelDistribution(np.eye(50), weights)
    np.testing.assert_allclose(distribution.probabilities.sum(axis=1), 1, rtol=1e-14)


@pytest.mark.parametrize(
    "labelsets, probabilities, message",
    [
        (LABELSETS, [0.5, 0.5], r"one entry for each of 3 label sets; got 2"),
        (LABELSETS, [0.5, 0.6, -0.1], r"must be finite and non-negative; probabilities\[2\] is -0.1"),
        (LABELSETS, [0.5, np.nan, 0.5], r"must be finite and non-negative; probabilities\[1\] is nan"),
        (LABELSETS, [0.5, np.inf, 0.5], r"must be finite and non-negative; probabilities\[1\] is inf"),
        (
            LABELSETS,
            [0.5, 0.2, 0.2],
            r"must sum to 1; their sum is 0.9",
        ),
        (LABELSETS, [[1, 0, 0], [0.5, 0.2, 0.2]], r"must sum to 1 in each row; those in row 1 sum to 0.9"),
        (LABELSETS, [[1, 0, 0], [0.5, 0.7, -0.2]], r"must be finite and non-negative; probabilities\[1, 2\] is -0.2"),
        (
            LABELSETS,
            sp.csr_array([[1, 0, 0], [0, 1, -0.5]]),
            r"must be finite and non-negative; probabilities\[1, 2\] is -0.5",
        ),
        (LABELSETS, sp.csr_array([[1, 0, 0], [0, 0.5, 0]]), r"row 1 sum to 0.5"),
        (LABELSETS, [[[1, 0, 0]]], r"shape \(n_labelsets,\) or \(n_instances, n_labelsets\); got \(1, 1, 3\)"),
        (LABELSETS, [1e308, 1e308, 0], r"must be finite and non-negative; probabilities\[0\] is 1e\+308"),
        (LABELSETS, [[1, 0, 0], [1, 0]], r"probabilities must be a matrix; its rows differ in length"),
        ([[0, 2]], [1], r"labelsets must be binary, 0 or 1; labelsets\[0, 1\] is 2"),
        ([0, 1], [1], r"labelsets must be 2-D"),
        ([[]], [1], r"at least one row and one label"),
        ([["a"]], [1], r"labelsets must hold numbers"),
    ],
)
def test_bad_distributions_are_refused_with_the_place(labelsets, probabilities, message):
    with pytest.raises(ValueError, match=message):
        LabelDistribution(labelsets, probabilities)


def test_bad_dense_distributions_and_samples_are_refused():
    for wrong in ([1.0], [0.5, 0.25, 0.25], 1.0):
        with pytest.raises(ValueError, match=r"2 \*\* n_labels entries with 1 <= n_labels <= 22; got \d"):
            LabelDistribution.from_dense(wrong)
    with pytest.raises(ValueError, match="their sum is 0.5"):
        LabelDistribution.from_dense([0.25, 0.25, 0, 0])
    with pytest.raises(ValueError, match=r"samples must be binary, 0 or 1; samples\[1, 0\] is 3"):
        LabelDistribution.from_samples([[0, 1], [3, 0]])
    with pytest.raises(ValueError, match=r"samples must be binary, 0 or 1; samples\[0, 1, 0\] is 2"):
        LabelDistribution.from_samples([[[0, 1], [2, 0]]])
    with pytest.raises(ValueError, match="samples must be 2-D"):
        LabelDistribution.from_samples(5)
    with pytest.raises(ValueError, match="marginals must be dense"):
        IndependentLabels(sp.csr_array([[0.5, 1]]))
    with pytest.raises(ValueError, match="sample_weight must have one entry for each of 2 rows"):
        LabelDistribution.from_samples([[0, 1], [1, 0]], sample_weight=[1])
    with pytest.raises(ValueError, match="n must be at least 1"):
        LabelDistribution.from_dense([0.5, 0.5]).sample(0)
    with pytest.raises(ValueError, match=r"marginals must lie in \[0, 1\]; marginals\[1\] is 1.5"):
        IndependentLabels([0.5, 1.5])
    with pytest.raises(ValueError, match=r"marginals must lie in \[0, 1\]; marginals\[1, 0\] is nan"):
        IndependentLabels([[0.5], [np.nan]])


@pytest.mark.parametrize("distribution", [LabelDistribution(LABELSETS, ROWS), IndependentLabels(np.full((2, 3), 0.5))])
def test_bad_questions_are_refused(distribution):
    with pytest.raises(ValueError, match="candidates must have a column for each of 3 labels; got 2"):
        distribution.expected_loss([[0, 1]], HammingMeasure())
    with pytest.raises(ValueError, match=r"candidates must be binary, 0 or 1; candidates\[0, 1\] is 0.5"):
        distribution.expected_loss([[0, 0.5, 1]], HammingMeasure())
    with pytest.raises(ValueError, match=r"candidates must be binary, 0 or 1; candidates\[0, 1\] is nan"):
        distribution.expected_loss([[0, np.nan, 1]], HammingMeasure())
    with pytest.raises(ValueError, match="predictions must have a row for each of 2 instances; got 3"):
        distribution.risk(np.zeros((3, 3)), HammingMeasure())
    with pytest.raises(TypeError, match=r"measure must be one of choral.measures, FLoss or JaccardLoss; got 'hamming'"):
        distribution.risk([0, 0, 0], "hamming")
    with pytest.raises(ValueError, match="AdditiveMeasure"):
        distribution.risk([0, 0, 0], AdditiveMeasure([0.5, 0.5]))
    with pytest.raises(ValueError, match="k must lie in 1..3"):
        distribution.expected_loss([0, 0, 0], BinomialMeasure(4))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sparse", [False, True])
@given(seed=st.integers(0, 2**32))
def test_expected_losses_follow_the_definition(kind, sparse, seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 7))
    measure = KINDS[kind](rng, n_labels)
    distribution = random_distribution(rng, n_labels)
    rows = distribution.probabilities
    if sparse:
        distribution = LabelDistribution(distribution.labelsets, sp.csr_array(rows))
    candidates = rng.integers(2, size=(3, n_labels))
    expected = rows @ losses_by_definition(measure, candidates, distribution.labelsets).T
    np.testing.assert_allclose(distribution.expected_loss(candidates, measure), expected, atol=1e-13)
    np.testing.assert_allclose(distribution.expected_loss(candidates[0], measure), expected[:, 0], atol=1e-13)
    np.testing.assert_allclose(distribution.risk(candidates, measure), expected.diagonal(), atol=1e-13)


def test_expected_losses_are_mean_losses_over_samples():
    rng = np.random.default_rng(0)
    samples, prediction = rng.integers(2, size=(200, 4)), [1, 0, 0, 1]
    distribution = LabelDistribution.from_samples(samples)
    tiled = np.tile(prediction, (200, 1))
    assert distribution.risk(prediction, HammingMeasure())[0] == pytest.approx(hamming_loss(samples, tiled), abs=1e-14)
    assert distribution.risk(prediction, SubsetMeasure())[0] == pytest.approx(zero_one_loss(samples, tiled), abs=1e-14)
    measure = BinomialMeasure(2)
    assert distribution.risk(prediction, measure)[0] == pytest.approx(choquet_loss(samples, tiled, measure), abs=1e-14)


def test_wrong_labels_are_a_distribution_that_serves_every_counting_measure():
    rng = np.random.default_rng(1)
    distribution, prediction = random_distribution(rng, 5), rng.integers(2, size=(3, 5))
    wrong = distribution.wrong_labels(prediction)
    np.testing.assert_allclose(wrong.sum(axis=1), 1)
    measure = BinomialMeasure(3)
    np.testing.assert_allclose(wrong @ measure.deficits(5), distribution.risk(prediction, measure), atol=1e-14)
    sparse = LabelDistribution(distribution.labelsets, sp.csr_array(distribution.probabilities))
    np.testing.assert_allclose(sparse.wrong_labels(prediction), wrong, atol=1e-15)


@pytest.mark.parametrize("n_labels", [63, 64, 65, 130, 200])
def test_many_labels_are_counted_across_words(n_labels):
    rng = np.random.default_rng(n_labels)
    labelsets, weights = rng.integers(2, size=(9, n_labels)), rng.dirichlet(np.ones(9), size=4)
    predictions = rng.integers(2, size=(4, n_labels))
    distances = (predictions[:, np.newaxis] != labelsets).sum(axis=2)
    distribution = LabelDistribution(labelsets, weights)
    expected = (weights * BinomialMeasure(3).deficits(n_labels)[distances]).sum(axis=1)
    np.testing.assert_allclose(distribution.risk(predictions, BinomialMeasure(3)), expected, rtol=1e-13)
    np.testing.assert_allclose(distribution.marginals(), weights @ labelsets, rtol=1e-13)


def test_results_do_not_depend_on_the_size_of_blocks(monkeypatch):
    rng = np.random.default_rng(2)
    distribution = LabelDistribution(rng.integers(2, size=(40, 12)), rng.dirichlet(np.ones(40), size=30))
    candidates = rng.integers(2, size=(7, 12))
    whole = distribution.expected_loss(candidates, BinomialMeasure(2)), distribution.marginals()
    monkeypatch.setattr("choral.decisions.support.BLOCK_ENTRIES", 64)
    assert len(list(support.instance_blocks(distribution.weights, 12))) == 30
    skewed = sp.csr_array(np.where(np.arange(30)[:, np.newaxis] < 2, 1, np.eye(30, 40)))
    blocks = list(support.instance_blocks(skewed, 12))
    assert [(block.start, block.stop) for block in blocks][:2] == [(0, 1), (1, 5)]
    assert max(skewed[block].nnz for block in blocks) <= 64
    assert blocks[-1].stop == 30
    fresh = LabelDistribution(distribution.labelsets, distribution.probabilities)
    np.testing.assert_allclose(fresh.expected_loss(candidates, BinomialMeasure(2)), whole[0], atol=1e-15)
    np.testing.assert_allclose(fresh.marginals(), whole[1], atol=1e-15)
