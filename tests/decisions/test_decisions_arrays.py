"""Decisions on torch tensors and other arrays: the same as on NumPy's, computed where the arrays lie."""

import copy
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    LabelDistribution,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
    bayes_curve,
    bayes_optimal,
    expected_curve,
    regret,
)
from choral._array_api import to_host
from choral.decisions import closed_form, device_arrays, search, support, transform
from choral.decisions.closed_form import has_closed_form
from choral.decisions.hadamard import hadamard_transform
from definitions import risks_by_enumeration
from measure_zoo import KINDS, random_distribution

torch = pytest.importorskip("torch")
strict = pytest.importorskip("array_api_strict")

MAKERS = {
    "torch": torch.tensor,
    "elsewhere": lambda array: strict.asarray(array, device=strict.Device("device1")),  # where NumPy cannot read it
}
CONVEX = [HammingMeasure(), SubsetMeasure(), BinomialMeasure(3), PolynomialMeasure(2.5), PolynomialMeasure(1000)]
JUMPING = [AtLeastMeasure(29), CountingMeasure.from_function(np.sqrt, 30)]
LABELSETS = [[0, 0, 0], [1, 1, 0], [1, 0, 1]]
ROWS = [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]]

any_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
same_patch = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(autouse=True)
def no_way_out(monkeypatch):
    """What is computed from arrays must not travel to the host."""
    monkeypatch.setattr(closed_form, "to_host", lambda array: pytest.fail("numbers left their device"))


@pytest.fixture(autouse=True)
def few_restarts(monkeypatch):
    """On a processor a round of a search takes a millisecond, however few the instances."""
    monkeypatch.setattr(search, "RESTARTS", (2, 6))


def on_device(make, distribution):
    """A distribution of NumPy arrays once more, of arrays of a library."""
    return LabelDistribution(make(distribution.labelsets), make(distribution.probabilities))


def assert_same(result, expected):
    """Two arrays, of which the first may be on a device, agree to 1e-12."""
    np.testing.assert_allclose(to_host(result), expected, rtol=0, atol=1e-12)


def assert_same_decision(decision, expected):
    assert np.array_equal(to_host(decision.labels), expected.labels)
    assert_same(decision.risk, expected.risk)
    assert_same(decision.lower_bound, expected.lower_bound)
    assert np.array_equal(to_host(decision.exact), expected.exact)


@any_library
@pytest.mark.parametrize("kind", KINDS)
@settings(same_patch, max_examples=6)
@given(seed=st.integers(0, 2**32))
def test_exact_methods_decide_as_for_numpy_arrays(make, kind, seed):
    """Small whole-number weights: ties everywhere."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure, distribution = KINDS[kind](rng, n_labels), random_distribution(rng, n_labels, n_instances=2)
    best = bayes_optimal(distribution, measure, method="transform")
    closed = ["closed_form"] if has_closed_form(distribution, measure.form(n_labels)) else []
    for method in ("auto", "transform", "search", *closed):  # of all predictions, search looks at each
        decision = bayes_optimal(on_device(make, distribution), measure, method=method)
        assert np.array_equal(to_host(decision.labels), best.labels)
        assert_same(decision.risk, best.risk)
        assert_same(decision.lower_bound, best.lower_bound)
        assert to_host(decision.exact).all()


@any_library
@pytest.mark.parametrize("kind", KINDS)
def test_transforms_of_many_labels(make, kind):
    rng = np.random.default_rng(12)
    measure = KINDS[kind](rng, 12)
    distribution = LabelDistribution(rng.integers(2, size=(40, 12)), rng.dirichlet(np.ones(40), size=3))
    decision = bayes_optimal(on_device(make, distribution), measure, method="transform")
    assert_same_decision(decision, bayes_optimal(distribution, measure, method="transform"))


@any_library
def test_transforms_know_tiny_risks(make):
    distribution = LabelDistribution(make(np.array([[0] * 8, [1] * 8])), [1, 1e-20])
    assert to_host(bayes_optimal(distribution, SubsetMeasure(), method="transform").risk).tolist() == [1e-20]


def test_short_keys_fit_into_32_bits():
    n_labels = transform.MAX_LABELS_OF_SHORT_KEYS  # a key: the number of labels, then a bit for each
    assert (n_labels << n_labels) + (1 << n_labels) <= 1 << 31


@any_library
@pytest.mark.parametrize("n_labels", [30, 70])
@pytest.mark.parametrize("measure", CONVEX, ids=repr)
def test_searches_go_the_same_way(make, measure, n_labels):
    rng = np.random.default_rng(n_labels)
    distribution = LabelDistribution(rng.integers(2, size=(40, n_labels)), rng.dirichlet(np.full(40, 0.2), size=4))
    decision = bayes_optimal(on_device(make, distribution), measure, method="search")
    assert_same_decision(decision, bayes_optimal(distribution, measure, method="search"))


@any_library
@pytest.mark.parametrize("measure", JUMPING, ids=repr)
def test_where_there_is_no_slope_searches_may_part_but_know_what_they_found(make, measure):
    """Rounding decides between changes that all make no difference."""
    rng = np.random.default_rng(0)
    distribution = LabelDistribution(rng.integers(2, size=(40, 30)), rng.dirichlet(np.full(40, 0.2), size=4))
    found = bayes_optimal(distribution, measure, method="search")
    decision = bayes_optimal(on_device(make, distribution), measure, method="search")
    assert_same(decision.lower_bound, found.lower_bound)
    assert_same(decision.risk, distribution.risk(to_host(decision.labels), measure))
    assert np.array_equal(to_host(decision.exact), to_host(decision.risk) <= found.lower_bound + 1e-12)
    np.testing.assert_allclose(to_host(decision.risk), found.risk, atol=0.05)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@settings(same_patch, max_examples=6)
@given(seed=st.integers(0, 2**32))
def test_bounds_of_searches_hold(monkeypatch, kind, own, seed):
    monkeypatch.setattr(search, "MAX_ENUMERATED_LABELS", 0)
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    samples = rng.integers(2, size=(2, 7, n_labels))
    measure, joint = KINDS[kind](rng, n_labels), LabelDistribution.from_samples(samples)
    weights = joint.weights.toarray()
    distribution = LabelDistribution(torch.tensor(joint.labelsets), torch.tensor(weights))
    if own:
        distribution = LabelDistribution.from_samples(torch.asarray(samples))
    decision = bayes_optimal(distribution, measure, method="search")
    for row in range(2):
        risks = risks_by_enumeration(measure, joint.labelsets, weights[row])
        least = min(risks.values())
        assert decision.lower_bound[row] <= least + 1e-12
        assert decision.risk[row] == pytest.approx(risks[tuple(decision.labels[row].tolist())], abs=1e-12)
        assert not decision.exact[row] or decision.risk[row] <= least + 2e-12


@any_library
@pytest.mark.parametrize("n_labels, method", [(6, "quick"), (6, "transform"), (6, "search"), (12, "transform")])
def test_samples_of_an_ensemble(make, n_labels, method):
    """Each instance has the label sets of its own members, some of them often."""
    rng = np.random.default_rng(n_labels)
    samples = (rng.random((5, 9, n_labels)) < rng.choice([0.05, 0.5, 0.95], size=(5, 1, n_labels))).astype(np.int64)
    distribution, expected = LabelDistribution.from_samples(make(samples)), LabelDistribution.from_samples(samples)
    for measure in (HammingMeasure(), SubsetMeasure(), BinomialMeasure(4), PolynomialMeasure(1.5), AtLeastMeasure(3)):
        decision = bayes_optimal(distribution, measure, method=method)
        assert_same_decision(decision, bayes_optimal(expected, measure, method="transform"))


def test_search_among_own_label_sets():
    """Only these are candidates, where NumPy's search looks at those of all instances: it finds no worse."""
    rng = np.random.default_rng(3)
    samples = (rng.random((20, 15, 40)) < rng.random((20, 1, 40))).astype(np.uint8)
    distribution, expected = (
        LabelDistribution.from_samples(torch.asarray(samples)),
        LabelDistribution.from_samples(samples),
    )
    for measure in (BinomialMeasure(5), BinomialMeasure(30)):
        decision, found = (bayes_optimal(joint, measure, method="search") for joint in (distribution, expected))
        assert_same(decision.risk, expected.risk(decision.labels.numpy(), measure))
        assert_same(decision.lower_bound, found.lower_bound)
        assert decision.risk.mean() <= found.risk.mean() + 1e-12


@any_library
def test_what_distributions_answer(make):
    rng = np.random.default_rng(5)
    samples = rng.integers(2, size=(4, 8, 5))
    weights = rng.integers(1, 4, size=8)
    expected = LabelDistribution.from_samples(samples, weights)
    dense = LabelDistribution(expected.labelsets, expected.weights.toarray())
    predictions, measure = rng.integers(2, size=(4, 5)), BinomialMeasure(2)
    for distribution in (on_device(make, dense), LabelDistribution.from_samples(make(samples), make(weights))):
        assert_same(distribution.marginals(), dense.marginals())
        assert np.array_equal(to_host(distribution.mode()), dense.mode())
        assert np.array_equal(to_host(distribution.marginal_mode()), dense.marginal_mode())
        assert_same(distribution.risk(make(predictions), measure), dense.risk(predictions, measure))
        assert_same(distribution.risk(predictions[0], measure), dense.risk(predictions[0], measure))
        assert_same(distribution.wrong_labels(predictions), dense.wrong_labels(predictions))
        candidates = make(predictions[:3])
        assert_same(distribution.expected_loss(candidates, measure), dense.expected_loss(predictions[:3], measure))
        assert_same(distribution.expected_loss([0, 1, 0, 1, 0], measure), dense.expected_loss([0, 1, 0, 1, 0], measure))
        assert_same(regret(distribution, predictions, measure), regret(dense, predictions, measure))
        drawn = to_host(distribution.sample(2000, rng=0))
        assert drawn.shape == (4, 2000, 5)
        np.testing.assert_allclose(drawn.mean(axis=1), dense.marginals(), atol=0.05)
    assert np.array_equal(to_host(on_device(make, dense).sample(50, rng=0)), dense.sample(50, rng=0))


@any_library
def test_one_vector_is_one_instance(make):
    distribution = LabelDistribution(make(np.array(LABELSETS)), [0.2, 0.3, 0.5])
    assert to_host(distribution.probabilities).tolist() == [0.2, 0.3, 0.5]
    assert (distribution.n_instances, distribution.n_labelsets, distribution.n_labels) == (1, 3, 3)
    assert distribution.marginals().shape == (1, 3)
    assert distribution.sample(4).shape == (4, 3)
    assert LabelDistribution.from_samples(make(np.eye(3))).marginals().shape == (1, 3)


@any_library
def test_results_are_arrays_of_the_same_kind_on_the_same_device(make):
    like = make(np.zeros(1))
    distribution = LabelDistribution(LABELSETS, make(np.array(ROWS)))
    for method in ("transform", "search", "closed_form"):
        decision = bayes_optimal(distribution, SubsetMeasure(), method=method)
        for part in (decision.labels, decision.risk, decision.exact, decision.lower_bound):
            assert type(part) is type(like)
            assert part.device == like.device
        kinds = [to_host(part).dtype for part in (decision.labels, decision.risk, decision.exact)]
        assert kinds == [np.uint8, np.float64, np.bool_]
        assert repr(decision) == "Decision(2 x 3 labels, mean risk 0.25, 2 proven optimal)"


@any_library
@pytest.mark.parametrize("family", ["binomial", "polynomial"])
@pytest.mark.parametrize("method", ["auto", "transform", "search"])
def test_curves(make, family, method):
    rng = np.random.default_rng(1)
    distribution = LabelDistribution(rng.integers(2, size=(9, 7)), rng.dirichlet(np.ones(9), size=2))
    parameters = None if family == "binomial" else [1, 1.5, 7, 1000]
    curve = bayes_curve(on_device(make, distribution), family, parameters, method=method)
    expected = bayes_curve(distribution, family, parameters, method=method)
    for decision, other in zip(curve.decisions, expected.decisions, strict=True):
        assert_same_decision(decision, other)
    assert np.array_equal(to_host(curve.labels), expected.labels)
    assert_same(curve.lower_bound, expected.lower_bound)
    assert curve.changes(1) == expected.changes(1)
    np.testing.assert_allclose(curve.curve().losses, expected.curve().losses)
    assert repr(curve) == repr(expected)
    mode = on_device(make, distribution).mode()
    expected_losses = expected_curve(distribution, distribution.mode(), family, parameters).losses
    np.testing.assert_allclose(
        expected_curve(on_device(make, distribution), mode, family, parameters).losses, expected_losses
    )


def test_curves_of_searches_start_from_the_parameter_before():
    rng = np.random.default_rng(2)
    distribution = LabelDistribution(rng.integers(2, size=(30, 25)), rng.dirichlet(np.full(30, 0.3), size=2))
    parameters = [1, 2, 5, 15, 25]
    curve = bayes_curve(on_device(torch.tensor, distribution), parameters=parameters, method="search")
    for decision, other in zip(
        curve.decisions, bayes_curve(distribution, parameters=parameters, method="search").decisions, strict=True
    ):
        assert_same_decision(decision, other)


@pytest.mark.parametrize("own", [False, True])
def test_blocks_make_no_difference(monkeypatch, own):
    rng = np.random.default_rng(4)
    samples = torch.asarray(rng.integers(2, size=(7, 6, 12)))
    distribution = LabelDistribution.from_samples(samples)
    if not own:
        distribution = LabelDistribution(samples[0], torch.asarray(rng.dirichlet(np.ones(6), size=7)))

    def answers():
        decisions = [
            bayes_optimal(distribution, BinomialMeasure(4), method=method) for method in ("transform", "search")
        ]
        return [*decisions, distribution.expected_loss(distribution.mode(), BinomialMeasure(2))]

    at_once = answers()
    monkeypatch.setattr(support, "BLOCK_ENTRIES", 100)
    *decisions, losses = answers()
    for decision, other in zip(decisions, at_once, strict=False):
        assert torch.equal(decision.labels, other.labels)
        assert torch.allclose(decision.risk, other.risk, rtol=0, atol=1e-12)
    assert torch.allclose(losses, at_once[-1], rtol=0, atol=1e-12)


@any_library
def test_all_probabilities_at_once(make):
    rng = np.random.default_rng(8)
    table = rng.dirichlet(np.ones(64), size=2)
    table[:, 5:9] = 0
    table /= table.sum(axis=1, keepdims=True)
    distribution, expected = LabelDistribution.from_dense(make(table)), LabelDistribution.from_dense(table)
    assert np.array_equal(to_host(distribution.labelsets), expected.labelsets)
    assert_same(distribution.weights, expected.weights)
    everywhere = LabelDistribution.from_dense(make(np.full(4, 0.25)))
    assert to_host(everywhere.labelsets).tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]


@any_library
def test_equal_label_sets_are_merged_in_the_order_of_their_coming(make):
    labelsets = make(np.array([[1, 0], [0, 1], [1, 0], [1, 0], [0, 1]]))
    distribution = LabelDistribution(labelsets, make(np.array([[0.1, 0.2, 0.3, 0.4, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]])))
    assert to_host(distribution.labelsets).tolist() == [[1, 0], [0, 1]]
    assert_same(distribution.probabilities, [[0.8, 0.2], [0, 1]])
    many = np.zeros((3, 130), dtype=int)
    many[2, 129] = 1
    distribution = LabelDistribution(make(many), [0.25, 0.25, 0.5])
    assert distribution.n_labelsets == 2
    assert to_host(distribution.mode()).sum() == 0  # both have 0.5: fewest labels


def test_labels_that_hardly_matter():
    """Each gains less than the tolerance, all together more: the one case in which some numbers are read back."""
    labelsets, weights = np.array([[1] * 30, [0] * 30]), [0.5 + 1e-11, 0.5 - 1e-11]
    distribution = LabelDistribution(torch.asarray(labelsets), weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closed_form, "to_host", to_host)
        decision = bayes_optimal(distribution, HammingMeasure())
    assert_same_decision(decision, bayes_optimal(LabelDistribution(labelsets, weights), HammingMeasure()))
    assert 0 < decision.labels.sum() < 30


@any_library
@pytest.mark.parametrize("own", [False, True])
def test_candidates_are_looked_at(make, own, monkeypatch):
    """Three labels of thirty, each absent from one label set: without a descent, only who is told finds all three."""
    monkeypatch.setattr(search, "_try_starts", lambda risk, instances, found, starts: found)
    labelsets = np.zeros((3, 30), dtype=int)
    labelsets[:, :3] = 1 - np.eye(3, dtype=int)
    distribution = LabelDistribution(make(labelsets), [1 / 3] * 3)
    if own:
        distribution = LabelDistribution.from_samples(make(np.stack([labelsets, labelsets[::-1]])))
    best = np.zeros((1, 30), dtype=int)
    best[0, :3] = 1
    for candidates in (best, make(best), best[0].tolist()):
        decision = bayes_optimal(distribution, BinomialMeasure(2), method="search", candidates=candidates)
        assert np.array_equal(to_host(decision.labels), np.repeat(best, distribution.n_instances, axis=0))
    assert to_host(bayes_optimal(distribution, BinomialMeasure(2), method="search").labels)[0].sum() == 2


def test_tensors_with_gradients_in_single_precision():
    logits = torch.tensor([[0.5, -1.0, 2.0]], requires_grad=True)
    distribution = LabelDistribution(LABELSETS, torch.softmax(logits, dim=1))
    decision = bayes_optimal(distribution, HammingMeasure())
    assert not decision.risk.requires_grad
    assert decision.risk.dtype == torch.float64
    for precision in (torch.float16, torch.bfloat16):
        LabelDistribution(LABELSETS, torch.full((1, 3), 1 / 3, dtype=precision))


def test_a_distribution_is_a_value_that_equals_itself_alone():
    labelsets = torch.tensor(LABELSETS, dtype=torch.uint8)
    distribution = LabelDistribution(labelsets, torch.tensor(ROWS))
    decision = bayes_optimal(distribution, SubsetMeasure())
    labelsets[0, 0] = 1
    assert distribution.labelsets[0, 0] == 0
    assert distribution == distribution
    assert len({distribution, decision}) == 2
    for other in (copy.deepcopy(distribution), pickle.loads(pickle.dumps(distribution))):
        assert other != distribution
        assert torch.equal(bayes_optimal(other, SubsetMeasure()).labels, decision.labels)
        assert bayes_optimal(other, SubsetMeasure()) != decision
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'weights'"):
        distribution.weights = None
    assert repr(distribution) == "LabelDistribution(2 instances, 3 label sets, 3 labels, torch on cpu)"
    own = LabelDistribution.from_samples(torch.tensor([[[0, 1], [0, 1]], [[0, 1], [1, 1]]]))
    assert repr(own) == "LabelDistribution(2 instances, 2 label sets each, 2 labels, torch on cpu)"


def test_accelerators_are_asked_for_more(monkeypatch):
    distribution = LabelDistribution(LABELSETS, torch.tensor(ROWS))
    assert (distribution.speed, support.block_entries(distribution.weights)) == (1, support.BLOCK_ENTRIES)
    monkeypatch.setattr(device_arrays, "is_in_host_memory", lambda array: False)
    assert (distribution.speed, support.block_entries(distribution.weights)) == (100, support.DEVICE_ENTRIES)


@any_library
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_transforms_keep_their_precision(make, dtype):
    table = np.random.default_rng(0).integers(10, size=(2, 256)).astype(dtype)
    transformed = to_host(hadamard_transform(make(table)))
    assert transformed.dtype == dtype
    assert np.array_equal(transformed, hadamard_transform(table))


@any_library
@pytest.mark.parametrize(
    "labelsets, probabilities, message",
    [
        ([[0, 2]], [1.0], r"labelsets must be binary, 0 or 1; labelsets\[0, 1\] is 2."),
        ([[0.5, 1.0]], [1.0], r"labelsets must be binary, 0 or 1; labelsets\[0, 0\] is 0.5."),
        ([0, 1], [1.0], r"labelsets must be 2-D, of shape \(n_samples, n_labels\); got 1-D of shape \(2,\)."),
        ([[]], [1.0], r"labelsets must have at least one row and one label; got shape \(1, 0\)."),
        ([[0j]], [1.0], "labelsets must hold numbers or booleans; got dtype .*complex128."),
        ([[0], [1]], [1.0], "probabilities must have one entry for each of 2 label sets; got 1."),
        ([[0], [1]], [[[0.5, 0.5]]], r"probabilities must have the shape .* or .*; got \(1, 1, 2\)."),
        ([[0], [1]], [0.5, 0.6], "probabilities must sum to 1; their sum is 1.1."),
        ([[0], [1]], [[0.5, 0.5], [0.5, 0.6]], "probabilities must sum to 1 in each row; those in row 1 sum to 1.1."),
        ([[0], [1]], [[0.5, 0.5], [1.5, -0.5]], r"probabilities must be finite and non-negative; .*\[1, 1\] is -0.5."),
        ([[0], [1]], [np.nan, 1.0], r"probabilities must be finite and non-negative; probabilities\[0\] is nan."),
    ],
)
def test_wrong_distributions(make, labelsets, probabilities, message):
    """The messages are those for NumPy arrays."""
    for kind in (make, np.asarray):
        with pytest.raises(ValueError, match=message):
            LabelDistribution(kind(np.array(labelsets)), kind(np.array(probabilities)))


@any_library
@pytest.mark.parametrize(
    "sample_weight, message",
    [
        ([1, 2, 3], r"sample_weight must have one entry for each of 2 rows; got (shape \(3,\)|3)."),
        ([1, -1], r"sample_weight must be finite and non-negative; sample_weight\[1\] is -1.0."),
        ([0, 0], "sample_weight must not be zero everywhere."),
    ],
)
def test_wrong_sample_weights(make, sample_weight, message):
    for kind in (make, np.asarray):
        with pytest.raises(ValueError, match=message):
            LabelDistribution.from_samples(kind(np.eye(2)), kind(np.array(sample_weight)))


@any_library
def test_wrong_samples_and_tables(make):
    with pytest.raises(ValueError, match=r"samples must be binary, 0 or 1; samples\[1, 0, 1\] is 3."):
        LabelDistribution.from_samples(make(np.array([[[0, 1]], [[1, 3]]])))
    with pytest.raises(ValueError, match=r"samples must have at least one row and one label; got shape \(2, 0\)."):
        LabelDistribution.from_samples(make(np.zeros((1, 2, 0))))
    with pytest.raises(ValueError, match=r"entries with 1 <= n_labels <= 28; got 3."):
        LabelDistribution.from_dense(make(np.full(3, 1 / 3)))


@any_library
def test_wrong_predictions(make):
    distribution = LabelDistribution(make(np.array(LABELSETS)), ROWS)
    with pytest.raises(ValueError, match="predictions must have a row for each of 2 instances; got 3."):
        distribution.risk(LABELSETS, HammingMeasure())
    with pytest.raises(ValueError, match="candidates must have a column for each of 3 labels; got 2."):
        bayes_optimal(distribution, HammingMeasure(), candidates=make(np.array([[0, 1]])))
    with pytest.raises(ValueError, match=r"predictions must be binary, 0 or 1; predictions\[0, 2\] is 7."):
        distribution.wrong_labels(make(np.array([0, 1, 7])))


@any_library
def test_what_is_not_for_devices(make):
    distribution = LabelDistribution(make(np.array(LABELSETS)), ROWS)
    with pytest.raises(ValueError, match="method 'branch_and_bound' works on NumPy arrays alone"):
        bayes_optimal(distribution, HammingMeasure(), method="branch_and_bound")
    with pytest.raises(
        ValueError, match="needs an additive measure, subset 0/1, an F loss or IndependentLabels; got Binomial"
    ):
        bayes_optimal(distribution, BinomialMeasure(2), method="closed_form")
    many = LabelDistribution(make(np.eye(29)), np.full(29, 1 / 29))
    with pytest.raises(ValueError, match="looks at all 2 \\*\\* n_labels predictions, for up to 28 labels; got 29."):
        bayes_optimal(many, HammingMeasure(), method="transform")


@any_library
@pytest.mark.parametrize(
    "measure",
    [
        AdditiveMeasure(np.arange(29) / 406),
        CoveringMeasure([(0, 1), (5, 28, 3), (7,)]),
        RelevanceMeasure(BinomialMeasure(3), 2.0),
        RelevanceMeasure(CoveringMeasure([(0, 1), (5, 28, 3), (7,)]), 2.0),
    ],
    ids=lambda measure: type(measure).__name__,
)
def test_measures_of_many_labels_are_searched_as_for_numpy_arrays(make, measure):
    rng = np.random.default_rng(7)
    distribution = LabelDistribution(rng.integers(2, size=(20, 29)), rng.dirichlet(np.full(20, 0.2), size=3))
    on_its_device = on_device(make, distribution)
    found = bayes_optimal(distribution, measure, method="search")
    decision = bayes_optimal(on_its_device, measure, method="search")
    assert_same(decision.risk, found.risk)
    assert_same(decision.lower_bound, found.lower_bound)
    assert_same(on_its_device.risk(found.labels, measure), found.risk)
    candidates = rng.integers(2, size=(4, 29))
    assert_same(on_its_device.expected_loss(candidates, measure), distribution.expected_loss(candidates, measure))


def test_one_library_one_device_double_precision():
    with pytest.raises(TypeError, match="arrays must come from one library; got array_api_strict and torch."):
        LabelDistribution(torch.tensor(LABELSETS), strict.asarray(ROWS))
    distribution = LabelDistribution(LABELSETS, strict.asarray(ROWS))
    with pytest.raises(TypeError, match="arrays must come from one library; got array_api_strict and torch."):
        distribution.risk(torch.tensor(LABELSETS[:2]), HammingMeasure())
    with pytest.raises(
        ValueError, match="labelsets and probabilities must be on one device; got .*CPU.* and .*device1.*"
    ):
        LabelDistribution(strict.asarray(LABELSETS), MAKERS["elsewhere"](ROWS))
    single = strict.asarray(ROWS, dtype=strict.float32, device=strict.Device("no_float64"))
    with pytest.raises(TypeError, match="need float64, which array_api_strict has not on .*no_float64"):
        LabelDistribution(LABELSETS, single)


def test_sparse_tensors_are_refused():
    labelsets, rows = torch.tensor(LABELSETS), torch.tensor(ROWS)
    with pytest.raises(ValueError, match="labelsets must be dense; got a tensor of layout torch.sparse_coo."):
        LabelDistribution(labelsets.to_sparse(), rows)
    with pytest.raises(ValueError, match="probabilities must be dense; got a tensor of layout torch.sparse_coo."):
        LabelDistribution(labelsets, rows.to_sparse())
    with pytest.raises(ValueError, match="predictions must be dense; got a tensor of layout torch.sparse_coo."):
        LabelDistribution(labelsets, rows).risk(labelsets[:2].to_sparse(), HammingMeasure())


def test_complex_weights_are_refused():
    with pytest.raises(ValueError, match="sample_weight must hold numbers or booleans; got dtype torch.complex64."):
        LabelDistribution.from_samples(torch.eye(2), torch.ones(2) * 1j)


def test_sparse_weights_beside_tensors_become_dense():
    distribution = LabelDistribution(torch.tensor(LABELSETS), sp.csr_array(np.array(ROWS)))
    assert distribution.weights.tolist() == ROWS
