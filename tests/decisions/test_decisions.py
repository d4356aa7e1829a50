"""bayes_optimal: every method against plain enumeration, ties, bounds and the laws of independent labels."""

import copy
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    IndependentLabels,
    LabelDistribution,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
    bayes_curve,
    bayes_optimal,
    expected_curve,
    regret,
)
from choral.decisions import Change
from choral.decisions import search as search_module
from choral.decisions.closed_form import has_closed_form
from choral.measures import Measure, Terms
from choral.paper.examples import THREE_LABELS
from definitions import (
    best_by_enumeration,
    binomial_risk_in_fractions,
    risks_by_enumeration,
    tie_key,
)
from measure_zoo import KINDS, NEED_TRUTH, random_distribution

METHODS = ("auto", "quick", "closed_form", "transform", "branch_and_bound", "search")


@pytest.fixture
def no_enumeration(monkeypatch):
    """Search and branch and bound do their own work, however few the labels."""
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_LABELS", 0)


def decide_if_possible(distribution, measure, method):
    """None where there is no closed form, which must be said."""
    if method == "closed_form" and not has_closed_form(distribution, measure.form(distribution.n_labels)):
        with pytest.raises(ValueError, match="needs an additive measure, subset 0/1, an F loss or IndependentLabels"):
            bayes_optimal(distribution, measure, method=method)
        return None
    return bayes_optimal(distribution, measure, method=method)


def assert_optimal(decision, row, measure, joint):
    labels, risk = best_by_enumeration(measure, joint.labelsets, joint.weights[row])
    assert tuple(decision.labels[row].tolist()) == labels
    assert decision.risk[row] == pytest.approx(risk, abs=1e-12)
    assert decision.lower_bound[row] <= risk + 1e-12
    assert decision.exact[row]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_every_method_agrees_with_enumeration(kind, method, seed):
    """Small whole-number weights: ties everywhere."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure, distribution = KINDS[kind](rng, n_labels), random_distribution(rng, n_labels, n_instances=2)
    decision = decide_if_possible(distribution, measure, method)
    if decision is not None:
        for row in range(2):
            assert_optimal(decision, row, measure, distribution)


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_agrees_with_enumeration_on_ten_labels(kind):
    rng = np.random.default_rng(10)
    measure = KINDS[kind](rng, 10)
    distribution = LabelDistribution(rng.integers(2, size=(15, 10)), rng.dirichlet(np.ones(15), size=3))
    decisions = [decide_if_possible(distribution, measure, method) for method in METHODS]
    assert_optimal(decisions[0], 0, measure, distribution)
    for decision in decisions[1:]:
        if decision is not None:
            np.testing.assert_allclose(decision.risk, decisions[0].risk, atol=1e-12)
            assert np.array_equal(decision.labels, decisions[0].labels)


@pytest.mark.usefixtures("no_enumeration")
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_branch_and_bound_proves_the_optimum_by_itself(kind, seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure, distribution = KINDS[kind](rng, n_labels), random_distribution(rng, n_labels, n_instances=1)
    assert_optimal(bayes_optimal(distribution, measure, method="branch_and_bound"), 0, measure, distribution)


@pytest.mark.usefixtures("no_enumeration")
@pytest.mark.parametrize("method", ["search", "branch_and_bound"])
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), node_limit=st.integers(1, 12), sparse=st.booleans())
def test_bounds_hold_where_the_work_ends_early(kind, method, seed, node_limit, sparse):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure, joint = KINDS[kind](rng, n_labels), random_distribution(rng, n_labels, n_instances=2)
    distribution = LabelDistribution(joint.labelsets, sp.csr_array(joint.weights)) if sparse else joint
    decision = bayes_optimal(distribution, measure, method=method, node_limit=node_limit)
    for row in range(2):
        risks = risks_by_enumeration(measure, joint.labelsets, joint.weights[row])
        least = min(risks.values())
        assert decision.lower_bound[row] <= least + 1e-12
        assert decision.risk[row] == pytest.approx(risks[tuple(decision.labels[row].tolist())], abs=1e-12)
        assert not decision.exact[row] or decision.risk[row] <= least + 2e-12


@given(seed=st.integers(0, 2**32))
def test_binomial_decisions_against_exact_fractions(seed):
    """Ties that are ties, not nearly so."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    samples = rng.integers(2, size=(int(rng.integers(1, 8)), n_labels))
    k = int(rng.integers(1, n_labels + 1))
    labelsets, counts = np.unique(samples, axis=0, return_counts=True)
    labelsets, counts = labelsets.tolist(), counts.tolist()
    risks = {c: binomial_risk_in_fractions(c, labelsets, counts, k) for c in product((0, 1), repeat=n_labels)}
    best = min((c for c, risk in risks.items() if risk == min(risks.values())), key=tie_key)
    for method in ("transform", "branch_and_bound", "search", "auto"):
        decision = bayes_optimal(LabelDistribution.from_samples(samples), BinomialMeasure(k), method=method)
        assert tuple(decision.labels[0].tolist()) == best
        assert abs(Fraction(float(decision.risk[0])) - risks[best]) < Fraction(1, 10**14)


def test_ties_take_fewest_labels_then_the_first_label():
    uniform = LabelDistribution.from_dense(np.full(8, 1 / 8))
    for method in METHODS:
        assert bayes_optimal(uniform, HammingMeasure(), method=method).labels.tolist() == [[0, 0, 0]]
        assert bayes_optimal(uniform, SubsetMeasure(), method=method).labels.tolist() == [[0, 0, 0]]
    pair = LabelDistribution([[0, 1, 1], [1, 0, 1], [1, 1, 1]], [0.4, 0.4, 0.2])
    for method in METHODS:
        assert bayes_optimal(pair, SubsetMeasure(), method=method).labels.tolist() == [[1, 0, 1]]


def test_nearly_tied_gains_are_dropped_up_to_the_tolerance():
    """Each label is worth 4e-13 more than nothing: two of three may go, the last two in order."""
    marginal = 0.5 + 3 * 4e-13 / 2
    labels = bayes_optimal(IndependentLabels([0.9, marginal, marginal, marginal]), HammingMeasure()).labels
    assert labels.tolist() == [[1, 0, 0, 0]]
    distribution = IndependentLabels([0.9, *[0.5 + 4 * 4e-13 / 2] * 3])
    assert bayes_optimal(distribution, HammingMeasure()).labels.tolist() == [[1, 1, 0, 0]]
    assert bayes_optimal(distribution, HammingMeasure(), method="transform").labels.tolist() == [[1, 1, 0, 0]]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in NEED_TRUTH])
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_thresholding_is_optimal_for_independent_labels_and_every_capacity(kind, seed):
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure, marginals = KINDS[kind](rng, n_labels), rng.random(n_labels)
    distribution = IndependentLabels(marginals)
    joint = distribution.to_label_distribution()
    least = min(risks_by_enumeration(measure, joint.labelsets, joint.weights[0]).values())
    assert distribution.risk(marginals > 0.5, measure)[0] == pytest.approx(least, abs=1e-12)
    assert bayes_optimal(distribution, measure).risk[0] == pytest.approx(least, abs=1e-12)


def test_thresholding_is_not_optimal_for_relevance_weighting():
    """A label that is more often irrelevant is worth predicting where relevant labels weigh much."""
    measure, distribution = RelevanceMeasure(HammingMeasure(), beta=8.0), IndependentLabels([0.45, 0.1])
    threshold, decision = distribution.risk([0, 0], measure)[0], bayes_optimal(distribution, measure)
    assert decision.labels.tolist() == [[1, 0]]
    assert decision.risk[0] < threshold - 0.02
    joint = distribution.to_label_distribution()
    assert best_by_enumeration(measure, joint.labelsets, joint.weights[0])[0] == (1, 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_independent_labels_by_every_method(kind, method, seed):
    """Marginals of 0, 1/2 and 1 make ties of many kinds."""
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(1, 6))
    measure = KINDS[kind](rng, n_labels)
    marginals = rng.choice([0, 0.25, 0.5, 0.75, 1, rng.random()], size=(2, n_labels))
    decision = decide_if_possible(IndependentLabels(marginals), measure, method)
    for row in range(2 if decision is not None else 0):
        joint = IndependentLabels(marginals[row]).to_label_distribution()
        labels, risk = best_by_enumeration(measure, joint.labelsets, joint.weights[0])
        assert tuple(decision.labels[row].tolist()) == labels
        assert decision.risk[row] == pytest.approx(risk, abs=1e-12)


def test_independent_labels_follow_the_binomial_distribution():
    """All marginals alike: the number of wrong labels is binomial, by an outside reference."""
    from scipy.stats import binom

    distribution = IndependentLabels(np.full((1, 40), 0.3))
    np.testing.assert_allclose(
        distribution.wrong_labels(np.zeros(40))[0], binom.pmf(np.arange(41), 40, 0.3), rtol=1e-12
    )
    assert distribution.risk(np.zeros(40), SubsetMeasure())[0] == pytest.approx(1 - 0.7**40, rel=1e-14)


def test_many_independent_labels_are_thresholded_though_all_risks_are_nearly_one():
    """The probability to be all right is 0.6 ** 200, far below 1e-12; the labels are still told from each other."""
    marginals = np.where(np.arange(200) % 2, 0.4, 0.6)
    for measure in (SubsetMeasure(), BinomialMeasure(150), MoebiusMeasure({tuple(range(200)): 1.0})):
        decision = bayes_optimal(IndependentLabels(marginals), measure)
        assert decision.labels.tolist() == [(marginals > 0.5).astype(int).tolist()]
        assert decision.exact.all()


def test_labels_that_count_for_nothing_are_not_predicted():
    marginals = np.full(30, 0.9)
    decision = bayes_optimal(IndependentLabels(marginals), CoveringMeasure([(0, 1), (1, 5)]))
    assert np.flatnonzero(decision.labels[0]).tolist() == [0, 1, 5]


def test_relevance_weighting_of_many_independent_labels_is_exact():
    rng = np.random.default_rng(0)
    marginals = rng.random((3, 12))
    measure = RelevanceMeasure(BinomialMeasure(3), beta=2.0)
    closed, transformed = (
        bayes_optimal(IndependentLabels(marginals), measure, method=m) for m in ("auto", "transform")
    )
    assert np.array_equal(closed.labels, transformed.labels)
    np.testing.assert_allclose(closed.risk, transformed.risk, atol=1e-13)


def test_samples_of_independent_labels():
    distribution = IndependentLabels([[0.2, 0.9], [1.0, 0.0]])
    samples = distribution.sample(3000, rng=0)
    assert samples.shape == (2, 3000, 2)
    np.testing.assert_allclose(samples.mean(axis=1), distribution.marginals(), atol=0.03)
    assert IndependentLabels([0.5, 0.5]).sample(7, rng=0).shape == (7, 2)
    assert repr(distribution) == "IndependentLabels(2 instances, 2 labels)"
    assert repr(IndependentLabels([0.5, 1])) == "IndependentLabels([0.5, 1])"


@pytest.mark.parametrize(
    "measure", [BinomialMeasure(3), PolynomialMeasure(2.5), CoveringMeasure([(0, 1), (2, 25), (7,)])]
)
def test_search_and_branch_and_bound_on_many_labels(measure):
    """Both find the same; the bound of branch and bound is the better one."""
    rng = np.random.default_rng(0)
    labelsets = (rng.random((30, 28)) < 0.3).astype(int)
    distribution = LabelDistribution(labelsets, rng.dirichlet(np.full(30, 0.1), size=10))
    found = bayes_optimal(distribution, measure, method="search")
    proven = bayes_optimal(distribution, measure, method="branch_and_bound")
    automatic = bayes_optimal(distribution, measure)
    assert proven.exact.all()
    assert automatic.exact.all()
    np.testing.assert_allclose(found.risk, proven.risk, atol=1e-12)
    assert (found.lower_bound <= proven.lower_bound + 1e-12).all()
    assert (proven.lower_bound <= proven.risk).all()
    np.testing.assert_allclose(distribution.risk(found.labels, measure), found.risk, atol=1e-14)
    sparse = LabelDistribution(labelsets, sp.csr_array(distribution.probabilities))
    np.testing.assert_allclose(bayes_optimal(sparse, measure, method="search").risk, found.risk, atol=1e-12)


def test_a_search_takes_the_candidates_it_is_given():
    """A needle: right on all but two labels is worth all, anything less nothing."""
    rng = np.random.default_rng(3)
    labelsets = rng.integers(2, size=(3, 24))
    labelsets[1] = labelsets[0] ^ (np.arange(24) < 4)
    distribution = LabelDistribution(labelsets, [0.3, 0.3, 0.4])
    needle = labelsets[0] ^ (np.arange(24) < 2)
    decision = bayes_optimal(distribution, AtLeastMeasure(22), method="search", candidates=[needle])
    assert decision.risk[0] == pytest.approx(0.4)


def test_search_can_be_repeated():
    rng = np.random.default_rng(4)
    distribution = LabelDistribution(rng.integers(2, size=(60, 40)), rng.dirichlet(np.full(60, 0.1), size=20))
    first, again = (bayes_optimal(distribution, PolynomialMeasure(1.5), method="search") for _ in range(2))
    assert first == again
    assert hash(first) == hash(again)
    other = bayes_optimal(distribution, PolynomialMeasure(1.5), method="search", random_state=1)
    assert (other.risk <= first.risk + 0.01).all()
    for same in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert same == first
        assert same.exact.dtype == bool
    assert (
        repr(first)
        == f"Decision(20 x 40 labels, mean risk {first.risk.mean():.4g}, {first.exact.sum()} proven optimal)"
    )
    with pytest.raises(ValueError, match="read-only"):
        first.exact[0] = True


@pytest.mark.parametrize("measure", [PolynomialMeasure(1.5), AtLeastMeasure(12)])
def test_what_a_search_finds_for_an_instance_does_not_depend_on_the_others(measure, monkeypatch):
    rng = np.random.default_rng(5)
    labelsets, weights = rng.integers(2, size=(60, 15)), rng.dirichlet(np.full(60, 0.1), size=40)
    whole = bayes_optimal(LabelDistribution(labelsets, weights), measure, method="search")
    backwards = bayes_optimal(LabelDistribution(labelsets, weights[::-1]), measure, method="search")
    assert np.array_equal(whole.labels, backwards.labels[::-1])
    alone = bayes_optimal(LabelDistribution(labelsets, weights[7]), measure, method="search")
    assert np.array_equal(whole.labels[7], alone.labels[0])
    monkeypatch.setattr("choral.decisions.support.BLOCK_ENTRIES", 500)
    in_blocks = bayes_optimal(LabelDistribution(labelsets, weights), measure, method="search")
    assert np.array_equal(whole.labels, in_blocks.labels)


def test_smoother_risks_lead_a_search_where_v_jumps(monkeypatch):
    """There, single changes see no slope."""
    rng = np.random.default_rng(5)
    distribution = LabelDistribution(rng.integers(2, size=(60, 15)), rng.dirichlet(np.full(60, 0.1), size=40))
    led, best = (bayes_optimal(distribution, AtLeastMeasure(12), method=m).risk for m in ("search", "transform"))
    monkeypatch.setattr("choral.decisions.risks.ByCountRisk.guides", lambda self: [])
    alone = bayes_optimal(distribution, AtLeastMeasure(12), method="search").risk
    assert (led <= best + 1e-12).mean() >= 0.8
    assert (led - best).mean() < (alone - best).mean()


def test_a_measure_that_is_nearly_convex_gets_no_bound_that_is_too_high():
    """The chord lies above the loss by little, but at each of 200 labels."""
    n_labels = 200
    measure = CountingMeasure.from_function(lambda x: x ** (1 - 1e-10), n_labels)
    distribution = LabelDistribution([[0] * n_labels, [1] * n_labels], [0.5, 0.5])
    least = distribution.expected_loss(np.tril(np.ones((n_labels + 1, n_labels)), -1), measure).min()
    for method in ("search", "branch_and_bound", "auto"):
        decision = bayes_optimal(distribution, measure, method=method, node_limit=300)
        assert decision.lower_bound[0] <= least + 1e-13


@pytest.mark.parametrize("beta", [1e5, 1e15, 1e300, -1 + 1e-12])
def test_relevance_weighting_keeps_its_digits_however_large_beta(beta):
    labelsets = np.array(list(product((0, 1), repeat=3)))
    distribution = LabelDistribution(labelsets, np.array([1, 1, 2, 1, 1, 0, 1, 2]) / 9)
    measure = RelevanceMeasure(BinomialMeasure(2), beta)
    best, risk = best_by_enumeration(measure, labelsets, distribution.weights[0])
    for method in ("transform", "search", "branch_and_bound"):
        decision = bayes_optimal(distribution, measure, method=method)
        assert tuple(decision.labels[0].tolist()) == best
        assert decision.risk[0] == pytest.approx(risk, abs=1e-12)
        assert 0 <= decision.lower_bound[0] <= risk + 1e-12


def test_independent_labels_are_listed_in_blocks(monkeypatch):
    rng = np.random.default_rng(9)
    distribution = IndependentLabels(rng.random((7, 6)))
    measures = BinomialMeasure(3), CoveringMeasure([(0, 1), (2, 4)])
    whole = [bayes_optimal(distribution, measure, method="transform") for measure in measures]
    curve = bayes_curve(distribution, method="transform")
    monkeypatch.setattr("choral.decisions.support.BLOCK_ENTRIES", 128)
    assert len(list(distribution.joint_blocks())) == 4
    for measure, expected in zip(measures, whole, strict=True):
        for method in ("transform", "closed_form"):
            decision = bayes_optimal(distribution, measure, method=method)
            assert np.array_equal(decision.labels, expected.labels)
            np.testing.assert_allclose(decision.risk, expected.risk, atol=1e-14)
    np.testing.assert_allclose(bayes_curve(distribution, method="transform").risk, curve.risk, atol=1e-14)
    np.testing.assert_allclose(distribution.wrong_labels(np.zeros(6)).sum(axis=1), 1)


def test_measures_whose_tables_do_not_fit_beside_those_of_others_make_their_own(monkeypatch):
    expected = bayes_curve(THREE_LABELS, method="transform")
    monkeypatch.setattr("choral.measures.families.TABLE_ENTRIES", 8)  # of two measures of three
    assert bayes_curve(THREE_LABELS, method="transform") == expected


def test_more_nodes_make_better_bounds():
    rng = np.random.default_rng(5)
    distribution = LabelDistribution(rng.integers(2, size=(60, 40)), rng.dirichlet(np.full(60, 0.3), size=3))
    bounds = [
        bayes_optimal(distribution, BinomialMeasure(4), method="branch_and_bound", node_limit=limit).lower_bound
        for limit in (1, 100, 1000)
    ]
    assert (bounds[0] < bounds[1]).all()
    assert (bounds[1] < bounds[2]).all()


def test_auto_goes_on_where_the_transform_would_take_too_long(monkeypatch):
    monkeypatch.setattr("choral.decisions.optimal.MAX_STEPS", 0)
    decision = bayes_optimal(THREE_LABELS, BinomialMeasure(2))
    assert decision.exact.all()
    monkeypatch.setattr("choral.decisions.optimal.MAX_NODE_STEPS", 0)
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_LABELS", 0)
    assert bayes_optimal(THREE_LABELS, BinomialMeasure(2)) == bayes_optimal(
        THREE_LABELS, BinomialMeasure(2), method="search"
    )


def test_decisions_do_not_depend_on_the_size_of_blocks(monkeypatch):
    rng = np.random.default_rng(6)
    distribution = LabelDistribution(rng.integers(2, size=(20, 12)), rng.dirichlet(np.full(20, 0.2), size=9))
    methods = ("transform", "branch_and_bound")
    whole = [bayes_optimal(distribution, BinomialMeasure(3), method=method) for method in methods]
    monkeypatch.setattr("choral.decisions.support.BLOCK_ENTRIES", 50)
    for method, expected in zip(methods, whole, strict=True):
        decision = bayes_optimal(distribution, BinomialMeasure(3), method=method)
        assert np.array_equal(decision.labels, expected.labels)
        np.testing.assert_allclose(decision.risk, expected.risk, atol=1e-14)


class OnlyLabel(Measure):
    """A measure that choral does not know: label 2 decides."""

    def form(self, n_labels):
        return Terms(np.arange(n_labels) == 2)


def test_any_measure_will_do():
    for method in ("auto", "transform", "search", "branch_and_bound"):
        assert bayes_optimal(THREE_LABELS, OnlyLabel(), method=method).labels.tolist() == [[0, 0, 1]]
    assert bayes_optimal(IndependentLabels([0.9, 0.9, 0.7]), OnlyLabel()).labels.tolist() == [[0, 0, 1]]
    many = LabelDistribution(np.eye(30), np.where(np.arange(30) == 2, 0.6, 0.4 / 29))
    assert np.flatnonzero(bayes_optimal(many, OnlyLabel()).labels[0]).tolist() == [2]


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            (THREE_LABELS, HammingMeasure(), {"method": "magic"}),
            ValueError,
            "method must be one of 'auto', .*; got 'magic'",
        ),
        ((THREE_LABELS, "hamming", {}), TypeError, "measure must be one of choral.measures"),
        (([[0, 1]], HammingMeasure(), {}), TypeError, "must be a LabelDistribution or IndependentLabels"),
        ((THREE_LABELS, CountingMeasure([0, 1]), {}), ValueError, "made for 1 labels; got 3"),
        (
            (THREE_LABELS, HammingMeasure(), {"candidates": [[0, 1]]}),
            ValueError,
            "candidates must have a column for each of 3",
        ),
        ((THREE_LABELS, HammingMeasure(), {"random_state": -1}), ValueError, "random_state must be a whole number"),
        (
            (THREE_LABELS, HammingMeasure(), {"candidates": [[0, 1, 0], [1]]}),
            ValueError,
            "candidates must be a matrix; its rows",
        ),
        ((THREE_LABELS, HammingMeasure(), {"node_limit": 0}), ValueError, "node_limit must be at least 1"),
        (
            (LabelDistribution(np.eye(23), np.full(23, 1 / 23)), BinomialMeasure(2), {"method": "transform"}),
            ValueError,
            "for up to 22 labels; got 23",
        ),
        (
            (IndependentLabels(np.full(23, 0.5)), BinomialMeasure(2), {"method": "search"}),
            ValueError,
            "listed for up to 22 labels; got 23",
        ),
        (
            (IndependentLabels(np.full(23, 0.5)), RelevanceMeasure(CoveringMeasure([(0, 22)]), 1.0), {}),
            ValueError,
            "got 23. Method 'closed_form' needs no such list; only relevance weighting of a measure that tells labels",
        ),
    ],
)
def test_bad_questions_are_refused(arguments, error, message):
    distribution, measure, options = arguments
    with pytest.raises(error, match=message):
        bayes_optimal(distribution, measure, **options)


def test_regret_is_what_a_prediction_costs_too_much():
    np.testing.assert_allclose(regret(THREE_LABELS, [1, 1, 1], SubsetMeasure()), [1 / 16])
    np.testing.assert_allclose(regret(THREE_LABELS, [[1, 1, 1]], HammingMeasure()), [0], atol=1e-15)
    rng = np.random.default_rng(7)
    distribution = random_distribution(rng, 4)
    predictions = rng.integers(2, size=(3, 4))
    least = [
        min(risks_by_enumeration(BinomialMeasure(2), distribution.labelsets, row).values())
        for row in distribution.weights
    ]
    expected = distribution.risk(predictions, BinomialMeasure(2)) - least
    np.testing.assert_allclose(regret(distribution, predictions, BinomialMeasure(2)), expected, atol=1e-13)


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
@pytest.mark.parametrize("method", ["auto", "transform", "branch_and_bound", "search"])
@pytest.mark.parametrize(
    "distribution", [THREE_LABELS, IndependentLabels([[0.9, 0.4, 0.6], [0.2, 0.5, 0.5]])], ids=repr
)
def test_a_curve_is_a_decision_for_every_parameter(family, method, distribution):
    parameters = None if family == "binomial" else [1, 1.5, 10, np.inf]
    curve = bayes_curve(distribution, family, parameters, method=method)
    make = BinomialMeasure if family == "binomial" else PolynomialMeasure
    assert curve.risk.shape == (len(curve.parameters), distribution.n_instances)
    for parameter, labels, risk, exact in zip(
        curve.parameters.tolist(), curve.labels, curve.risk, curve.exact, strict=True
    ):
        decision = bayes_optimal(distribution, make(parameter))
        assert np.array_equal(labels, decision.labels)
        np.testing.assert_allclose(risk, decision.risk, atol=1e-13)
        assert exact.all()
    assert (curve.lower_bound <= curve.risk).all()
    np.testing.assert_allclose(curve.curve().losses, curve.risk.mean(axis=1))
    assert curve.curve("best").name == "best"


def test_a_curve_says_where_the_prediction_changes():
    curve = bayes_curve(THREE_LABELS)
    assert curve.changes() == [Change(parameter=3, added=(), removed=(0, 1, 2))]
    assert bayes_curve(IndependentLabels([0.9, 0.1])).changes() == []
    assert curve == bayes_curve(THREE_LABELS)
    assert hash(curve) == hash(bayes_curve(THREE_LABELS))
    assert pickle.loads(pickle.dumps(curve)) == curve
    risk = "mean risk 0.4375 at k=1 to 0.75 at k=3"
    assert repr(curve) == f"BayesCurve(binomial, 3 parameters, 1 x 3 labels, {risk}, 3 of 3 proven optimal)"
    with pytest.raises(IndexError):
        curve.changes(instance=1)
    many = bayes_curve(LabelDistribution(THREE_LABELS.labelsets, np.tile(THREE_LABELS.probabilities, (2, 1))))
    assert many.changes(instance=1) == curve.changes()
    with pytest.raises(ValueError, match=r"changes\(\) describes one instance; say which of 0..1"):
        many.changes()


def test_thousands_of_labels():
    distribution = LabelDistribution(np.eye(5, 1500, dtype=int), np.full(5, 0.2))
    assert bayes_optimal(distribution, BinomialMeasure(2), node_limit=50).labels.sum() == 0
    assert bayes_curve(distribution, parameters=[1, 1500], node_limit=50).exact.all()


def test_quick_looks_at_all_predictions_or_searches_but_proves_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    labelsets = rng.integers(2, size=(30, 18), dtype=np.uint8)
    distribution = LabelDistribution(labelsets, rng.dirichlet(np.ones(30), size=60))
    measure = BinomialMeasure(5)
    best = bayes_optimal(distribution, measure)  # all 2^18 predictions
    assert best.exact.all()
    found = bayes_optimal(distribution, measure, method="quick")  # the same, since it is one measure
    np.testing.assert_array_equal(found.labels, best.labels)
    calls = []
    for name in ("branch_and_bound", "transform"):
        monkeypatch.setattr(f"choral.decisions.optimal.{name}", lambda *args, name=name, **options: calls.append(name))
    curve = bayes_curve(distribution, "binomial", method="quick")  # 18 measures: a search for all but the two ends
    assert calls == []
    assert curve.exact[[0, -1]].all()
    np.testing.assert_allclose(curve.risk[4], best.risk, atol=1e-3)


def test_auto_gives_up_where_branch_and_bound_proves_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    distribution = LabelDistribution(rng.integers(2, size=(40, 40)), rng.dirichlet(np.ones(40), size=12))
    found = bayes_optimal(distribution, BinomialMeasure(4), method="search")
    monkeypatch.setattr("choral.decisions.optimal.PATIENCE", 2)
    decision = bayes_optimal(distribution, BinomialMeasure(4), node_limit=250)
    assert np.flatnonzero(decision.lower_bound > found.lower_bound).tolist() == [0, 1]


def test_bounds_rise_along_a_curve():
    rng = np.random.default_rng(3)
    distribution = LabelDistribution(rng.integers(2, size=(50, 30)), rng.dirichlet(np.full(50, 0.2), size=4))
    curve = bayes_curve(distribution, method="search")
    assert (np.diff(curve.lower_bound, axis=0) >= 0).all()
    assert (curve.lower_bound <= curve.risk).all()


def test_a_curve_of_independent_labels_is_thresholded_but_for_ties():
    marginals = np.random.default_rng(4).random((20, 9))
    marginals[3, 2] = 0.5 + 1e-14  # hardly matters
    distribution = IndependentLabels(marginals)
    curve = bayes_curve(distribution)
    for k, labels, risk in zip(range(1, 10), curve.labels, curve.risk, strict=True):
        expected = bayes_optimal(distribution, BinomialMeasure(k))
        assert np.array_equal(labels, expected.labels)
        np.testing.assert_allclose(risk, expected.risk, atol=1e-15)


def test_a_curve_reports_progress_and_refuses_nonsense():
    told = []
    bayes_curve(THREE_LABELS, method="search", progress=lambda *report: told.append(report))
    assert told == [(0, 3, "k=1"), (1, 3, "k=2"), (2, 3, "k=3"), (3, 3, "done")]
    with pytest.raises(ValueError, match=r"whole numbers in 1..3, the number of labels; parameters\[1\] is 4"):
        bayes_curve(THREE_LABELS, parameters=[1, 4])
    with pytest.raises(ValueError, match="family must be one of"):
        bayes_curve(THREE_LABELS, "normal")
    for function in (bayes_curve, lambda wrong: expected_curve(wrong, [0, 1])):
        with pytest.raises(TypeError, match="must be a LabelDistribution or IndependentLabels; got list"):
            function([[0, 1]])
    with pytest.raises(ValueError, match="random_state must be a whole number, a NumPy Generator or None; got 'a'"):
        bayes_curve(THREE_LABELS, random_state="a")
    told.clear()
    bayes_curve(THREE_LABELS, progress=lambda *report: told.append(report))
    assert told == [(0, 3, "all predictions at once"), (3, 3, "done")]


def test_expected_curves_are_risks_along_a_family():
    curve = expected_curve(THREE_LABELS, [1, 1, 1], name="all")
    risks = [THREE_LABELS.risk([1, 1, 1], BinomialMeasure(k))[0] for k in (1, 2, 3)]
    np.testing.assert_allclose(curve.losses, risks, atol=1e-14)
    assert (curve.name, curve.n_labels) == ("all", 3)
    many = IndependentLabels([[0.5, 0.2], [0.1, 0.9]])
    losses = expected_curve(many, many.mode(), "polynomial", [1, np.inf]).losses
    np.testing.assert_allclose(losses, [many.risk(many.mode(), m).mean() for m in (HammingMeasure(), SubsetMeasure())])


def test_no_warnings_where_numbers_are_extreme():
    rng = np.random.default_rng(8)
    weights = np.full((2, 50), 1e-300)
    weights[:, 0] = 1
    distribution = LabelDistribution(rng.integers(2, size=(50, 60)), weights)
    with np.errstate(all="raise"):
        for measure in (PolynomialMeasure(1000), BinomialMeasure(30), SubsetMeasure()):
            assert bayes_optimal(distribution, measure).exact.all()
            assert bayes_optimal(IndependentLabels(np.full(400, 1e-200)), measure).risk[0] < 1e-12
