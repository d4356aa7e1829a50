"""Decisions for F and Jaccard losses: every method against enumeration in fractions, ties, bounds, learners."""

import copy
import pickle
import time
from dataclasses import FrozenInstanceError
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import choral
from choral import FLoss, IndependentLabels, JaccardLoss, LabelDistribution, SubsetMeasure, bayes_optimal, regret
from choral.decisions import independent_optimum, support
from choral.decisions import search as search_module
from choral.decisions.risks import by_size
from choral.decisions.ties import first_of_size
from choral.learners import ExpectedLossClassifier, JointForest, LabelPowerset
from definitions import tie_key
from measure_zoo import random_distribution

LOSSES = [FLoss(), FLoss(2), FLoss(0.5), JaccardLoss()]
METHODS = ("auto", "quick", "closed_form", "transform", "branch_and_bound", "search")

every_loss = pytest.mark.parametrize("loss", LOSSES, ids=str)


def loss_in_fractions(loss, true, predicted):
    """By the definition of each loss, for two tuples of 0 and 1."""
    both, n_true, n_predicted = sum(map(min, true, predicted)), sum(true), sum(predicted)
    if n_true == n_predicted == 0:
        return Fraction(0)
    if isinstance(loss, JaccardLoss):
        return 1 - Fraction(both, n_true + n_predicted - both)
    square = Fraction(loss.beta) ** 2
    return 1 - (1 + square) * both / (square * n_true + n_predicted)


def risks_in_fractions(loss, labelsets, weights):
    """The expected loss of every prediction under whole-number weights, as a dict."""
    labelsets, total = [tuple(map(int, row)) for row in labelsets], sum(weights)
    return {
        h: sum(w * loss_in_fractions(loss, y, h) for y, w in zip(labelsets, weights, strict=True)) / total
        for h in product((0, 1), repeat=len(labelsets[0]))
    }


def best_in_fractions(loss, labelsets, weights):
    risks = risks_in_fractions(loss, labelsets, weights)
    enough = min(risks.values()) + Fraction(1, 10**12)
    return min((h for h, risk in risks.items() if risk <= enough), key=tie_key), min(risks.values())


def random_weights(rng, n_labels, n_instances):
    """Label sets, and small whole-number weights of each instance: ties everywhere."""
    n_labelsets = int(rng.integers(1, 1 + min(10, 2**n_labels)))
    index = rng.choice(2**n_labels, n_labelsets, replace=False)
    weights = rng.integers(0, 4, (n_instances, n_labelsets))
    weights[:, rng.integers(n_labelsets)] += 1
    return index[:, np.newaxis] >> np.arange(n_labels) & 1, weights


def decide_if_possible(distribution, loss, method):
    """None where there is no closed form, which must be said."""
    if method == "closed_form" and loss == JaccardLoss() and isinstance(distribution, LabelDistribution):
        with pytest.raises(ValueError, match=r"subset 0/1, an F loss or IndependentLabels; got JaccardLoss\(\)"):
            bayes_optimal(distribution, loss, method=method)
        return None
    return bayes_optimal(distribution, loss, method=method)


@pytest.fixture
def no_enumeration(monkeypatch):
    """Search and branch and bound do their own work, however few the labels."""
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_LABELS", 0)


@every_loss
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32), sparse=st.booleans())
def test_every_method_agrees_with_enumeration(loss, seed, sparse):
    rng = np.random.default_rng(seed)
    labelsets, weights = random_weights(rng, int(rng.integers(1, 7)), n_instances=2)
    shares = weights / weights.sum(axis=1, keepdims=True)
    distribution = LabelDistribution(labelsets, sp.csr_array(shares) if sparse else shares)
    decisions = [decide_if_possible(distribution, loss, method) for method in METHODS]
    for row in range(2):
        labels, least = best_in_fractions(loss, labelsets, weights[row].tolist())
        for decision in filter(None, decisions):
            assert tuple(decision.labels[row].tolist()) == labels
            assert decision.risk[row] == pytest.approx(float(least), abs=1e-13)
            assert decision.lower_bound[row] <= float(least) + 1e-12
            assert decision.exact[row]


@every_loss
@pytest.mark.parametrize("n_labels", [8, 12])
def test_the_optimum_for_more_labels_is_that_of_enumeration(loss, n_labels):
    labelsets, weights = random_weights(np.random.default_rng(n_labels), n_labels, n_instances=1)
    labels, least = best_in_fractions(loss, labelsets, weights[0].tolist())
    decision = bayes_optimal(LabelDistribution(labelsets, weights[0] / weights.sum()), loss)
    assert tuple(decision.labels[0].tolist()) == labels
    assert decision.risk[0] == pytest.approx(float(least), abs=1e-13)
    assert decision.exact[0]


@every_loss
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_independent_labels_agree_with_enumeration(loss, seed):
    """Marginals in quarters: equal ones, impossible and certain labels."""
    rng = np.random.default_rng(seed)
    quarters = rng.integers(0, 5, size=(2, int(rng.integers(1, 7))))
    distribution = IndependentLabels(quarters / 4)
    decision = bayes_optimal(distribution, loss)
    for row, chances in enumerate(quarters.tolist()):
        sets = list(product((0, 1), repeat=len(chances)))
        weights = [int(np.prod([c if y else 4 - c for c, y in zip(chances, labels, strict=True)])) for labels in sets]
        labels, least = best_in_fractions(loss, sets, weights)
        assert tuple(decision.labels[row].tolist()) == labels
        assert decision.risk[row] == pytest.approx(float(least), abs=1e-13)
    assert decision.exact.all()
    joint = bayes_optimal(distribution, loss, method="transform")  # of all 2^K label sets
    np.testing.assert_allclose(decision.risk, joint.risk, atol=1e-12)


@every_loss
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_risks_are_those_of_the_definition(loss, seed):
    rng = np.random.default_rng(seed)
    labelsets, weights = random_weights(rng, 3, n_instances=2)
    distribution = LabelDistribution(labelsets, weights / weights.sum(axis=1, keepdims=True))
    candidates = list(product((0, 1), repeat=3))
    expected = np.array([list(risks_in_fractions(loss, labelsets, row.tolist()).values()) for row in weights], float)
    np.testing.assert_allclose(distribution.expected_loss(candidates, loss), expected, atol=1e-15)
    for place, candidate in enumerate(candidates):
        np.testing.assert_allclose(distribution.risk(candidate, loss), expected[:, place], atol=1e-15)
        np.testing.assert_allclose(
            regret(distribution, candidate, loss), expected[:, place] - expected.min(axis=1), atol=1e-12
        )


@every_loss
def test_risks_of_independent_labels_are_those_of_their_joint_distribution(loss):
    rng = np.random.default_rng(0)
    distribution = IndependentLabels(rng.random((4, 6)))
    joint, predictions = distribution.to_label_distribution(), rng.integers(2, size=(4, 6))
    np.testing.assert_allclose(distribution.risk(predictions, loss), joint.risk(predictions, loss), atol=1e-13)
    np.testing.assert_allclose(
        distribution.expected_loss(predictions, loss), joint.expected_loss(predictions, loss), atol=1e-13
    )


@every_loss
def test_changes_of_single_labels_are_those_of_the_definition(loss):
    rng = np.random.default_rng(3)
    distribution = random_distribution(rng, 5)
    risk = search_module.make_risk(loss.form(5), distribution.weights)
    labels = rng.integers(2, size=(3, 5)).astype(np.uint8)
    found = risk.flips(distribution.instances(slice(0, 3)), labels)
    for label in range(5):
        changed = labels.copy()
        changed[:, label] ^= 1
        np.testing.assert_allclose(found[:, label], distribution.risk(changed, loss), atol=1e-14)


def test_an_empty_truth_and_an_empty_prediction():
    half = LabelDistribution([[0, 0], [1, 1]], [[0.5, 0.5], [1, 0], [0, 1]])
    for loss in LOSSES:
        assert half.risk([0, 0], loss).tolist() == [0.5, 0, 1]
        assert half.risk([1, 1], loss).tolist() == [0.5, 1, 0]
        assert bayes_optimal(half, loss).labels.tolist() == [[0, 0], [0, 0], [1, 1]]  # of equals, the fewest labels


def test_f_prefers_more_labels_than_jaccard_and_more_with_a_larger_beta():
    singles = LabelDistribution(np.eye(4), [0.4, 0.3, 0.2, 0.1])
    sizes = [int(bayes_optimal(singles, loss).labels.sum()) for loss in (JaccardLoss(), FLoss(0.5), FLoss(), FLoss(3))]
    assert sizes == [1, 1, 2, 4]  # F1 of the first m labels: .4, .467, .45, .4


def test_ties_take_the_fewest_and_the_first_labels():
    singles = LabelDistribution(np.eye(4), [0.25, 0.25 - 1e-14, 0.25 + 1e-14, 0.25])
    assert bayes_optimal(singles, JaccardLoss()).labels.tolist() == [[1, 0, 0, 0]]  # any labels are worth 1/4
    assert bayes_optimal(singles, FLoss()).labels.tolist() == [[1, 1, 1, 1]]
    flat = LabelDistribution(np.eye(4), [0.2, 0.4, 0.2, 0.2])
    assert bayes_optimal(flat, FLoss()).labels.tolist() == [[0, 1, 0, 0]]  # so are 2, 3 and 4 labels: 0.4


@given(seed=st.integers(0, 2**32))
def test_the_first_of_equals_is_found_for_all_rows_at_once(seed):
    rng = np.random.default_rng(seed)
    gains = rng.integers(4, size=(5, 6)) / 8 + rng.uniform(-1e-15, 1e-15, (5, 6))
    sizes = rng.integers(0, 7, size=5)
    enough = np.array([np.sort(row)[6 - size :].sum() for row, size in zip(gains, sizes, strict=True)]) - 1e-12
    found = by_size._first_of_size(gains, sizes, enough)
    for row, size in enumerate(sizes):
        expected = first_of_size(gains[row], size, lambda chosen, row=row: gains[row][chosen].sum() >= enough[row])
        assert found[row].tolist() == expected.tolist()


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_bound_for_jaccard_holds_and_is_at_least_that_of_f(seed):
    rng = np.random.default_rng(seed)
    joint = random_distribution(rng, 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_module, "MAX_ENUMERATED_LABELS", 0)
        found = bayes_optimal(joint, JaccardLoss(), method="search")
    best = bayes_optimal(joint, JaccardLoss(), method="transform")
    assert (found.lower_bound <= best.risk + 1e-12).all()
    assert (found.risk >= best.risk - 1e-12).all()
    np.testing.assert_allclose(found.risk[found.exact], best.risk[found.exact], atol=1e-12)
    assert (found.lower_bound >= np.minimum(bayes_optimal(joint, FLoss()).risk, found.risk) - 1e-12).all()


@pytest.mark.usefixtures("no_enumeration")
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_branch_and_bound_proves_jaccard_by_itself(seed):
    joint = random_distribution(np.random.default_rng(seed), 5, n_instances=2)
    found = bayes_optimal(joint, JaccardLoss(), method="branch_and_bound")
    best = bayes_optimal(joint, JaccardLoss(), method="transform")
    assert found.exact.all()
    assert np.array_equal(found.labels, best.labels)


def peaked_distribution(n_instances, n_labelsets, n_labels):
    rng = np.random.default_rng(1)
    labelsets = rng.random((n_labelsets, n_labels)) < 0.1
    return LabelDistribution(labelsets, rng.dirichlet(np.full(n_labelsets, 0.02), size=n_instances))


def test_jaccard_for_many_labels_is_searched_for():
    distribution = peaked_distribution(200, 100, 30)
    decision = bayes_optimal(distribution, JaccardLoss(), method="quick")
    modes = [distribution.mode(), distribution.marginal_mode(), bayes_optimal(distribution, FLoss()).labels]
    for labels in modes:
        assert (decision.risk <= distribution.risk(labels, JaccardLoss()) + 1e-12).all()
    assert 0.1 < decision.exact.mean() < 0.9
    assert (decision.lower_bound <= decision.risk).all()


def test_jaccard_for_many_labels_is_proven_by_branch_and_bound():
    distribution = peaked_distribution(5, 60, 25)
    found, proven = (bayes_optimal(distribution, JaccardLoss(), method=method) for method in ("search", "auto"))
    assert not found.exact.all()
    assert proven.exact.all()
    assert (proven.lower_bound >= found.lower_bound - 1e-12).all()
    np.testing.assert_allclose(found.risk, proven.risk, atol=1e-12)


def test_candidates_are_looked_at():
    distribution = peaked_distribution(3, 20, 18)
    best = bayes_optimal(distribution, JaccardLoss())
    found = bayes_optimal(distribution, JaccardLoss(), method="search", candidates=best.labels)
    assert (found.risk <= best.risk + 1e-12).all()


@every_loss
def test_small_blocks_change_nothing(loss, monkeypatch):
    distribution = peaked_distribution(12, 30, 12)
    sparse = LabelDistribution(distribution.labelsets, sp.csr_array(distribution.weights))
    independent = IndependentLabels(distribution.marginals())
    expected = [bayes_optimal(each, loss) for each in (distribution, independent)]
    monkeypatch.setattr(support, "BLOCK_ENTRIES", 100)
    monkeypatch.setattr(independent_optimum, "PREFIX_ENTRIES", 200)
    for each, decision in zip((distribution, sparse, independent), (expected[0], *expected), strict=True):
        found = bayes_optimal(each, loss)
        assert np.array_equal(found.labels, decision.labels)
        np.testing.assert_allclose(found.risk, decision.risk, atol=1e-13)


def test_the_f_optimum_of_many_instances_and_of_many_labels_is_a_matter_of_seconds():
    start = time.process_time()
    many = bayes_optimal(peaked_distribution(3000, 200, 50), FLoss())
    wide = bayes_optimal(peaked_distribution(20, 300, 300), FLoss())
    independent = bayes_optimal(IndependentLabels(np.random.default_rng(0).random((50, 200)) ** 3), FLoss(2))
    assert time.process_time() - start < 20
    assert all(decision.exact.all() for decision in (many, wide, independent))


def test_rare_label_sets_do_no_harm():
    tiny = LabelDistribution([[1, 0], [0, 1], [0, 0]], [1 - 1e-300, 1e-300, 0.0])
    for loss in LOSSES:
        assert bayes_optimal(tiny, loss).labels.tolist() == [[1, 0]]


@every_loss
def test_losses_are_values(loss):
    assert loss == copy.deepcopy(loss) == pickle.loads(pickle.dumps(loss))
    assert len({loss, copy.copy(loss)}) == 1
    with pytest.raises(FrozenInstanceError):
        loss.beta = 3.0


def test_losses_are_printed_and_compared():
    assert [str(loss) for loss in LOSSES] == ["FLoss(beta=1.0)", "FLoss(beta=2.0)", "FLoss(beta=0.5)", "JaccardLoss()"]
    assert FLoss(1) == FLoss(1.0) != FLoss(2)
    assert FLoss() != JaccardLoss()


@pytest.mark.parametrize(
    "question, error, message",
    [
        (lambda: FLoss(0), ValueError, "beta must lie between 0.001 and 1000; got 0"),
        (lambda: FLoss(np.nan), ValueError, "beta must lie between 0.001 and 1000; got nan"),
        (lambda: FLoss(np.inf), ValueError, "beta must lie between 0.001 and 1000; got inf"),
        (lambda: FLoss("1"), TypeError, "beta must be a number; got '1'"),
        (lambda: FLoss(True), TypeError, "beta must be a number; got True"),
        (lambda: choral.f_loss([[1]], [[1]], beta=-1), ValueError, "beta must lie between 0.001 and 1000; got -1"),
        (
            lambda: bayes_optimal(peaked_distribution(2, 5, 17), JaccardLoss(), method="transform"),
            ValueError,
            r"looks at all 2 \*\* n_labels predictions, under this loss for up to 16 labels; got 17",
        ),
        (
            lambda: bayes_optimal(IndependentLabels(np.full(23, 0.5)), JaccardLoss(), method="search"),
            ValueError,
            "listed for up to 22 labels; got 23",
        ),
        (
            lambda: bayes_optimal(peaked_distribution(2, 5, 3), choral.f_loss),
            TypeError,
            "measure must be one of choral.measures, FLoss or JaccardLoss; got <function f_loss",
        ),
        (
            lambda: choral.choquet_loss([[1]], [[1]], FLoss()),
            TypeError,
            r"measure must be one of choral.measures; got FLoss\(beta=1.0\)",
        ),
        (lambda: choral.bayes_curve(peaked_distribution(2, 5, 3), FLoss()), (TypeError, ValueError), "family must be"),
    ],
)
def test_bad_questions_are_refused(question, error, message):
    with pytest.raises(error, match=message):
        question()


@every_loss
@pytest.mark.parametrize("own_labelsets", [False, True])
def test_arrays_on_a_device_are_decided_on_the_host(loss, own_labelsets):
    torch, rng = pytest.importorskip("torch"), np.random.default_rng(5)
    votes = rng.integers(2, size=(4, 6, 12))
    if own_labelsets:
        there, here = (LabelDistribution.from_samples(array) for array in (torch.tensor(votes), votes))
    else:
        shares = rng.dirichlet(np.ones(6), size=4)
        there, here = (LabelDistribution(make(votes[0]), make(shares)) for make in (torch.tensor, np.asarray))
    decision, expected = bayes_optimal(there, loss), bayes_optimal(here, loss)
    assert all(isinstance(part, torch.Tensor) for part in (decision.labels, decision.risk, decision.exact))
    assert np.array_equal(decision.labels.numpy(), expected.labels)
    np.testing.assert_allclose(decision.risk.numpy(), expected.risk, atol=1e-12)
    predictions = rng.integers(2, size=(4, 12))
    found = there.risk(torch.tensor(predictions), loss), there.expected_loss(predictions, loss)
    np.testing.assert_allclose(found[0].numpy(), here.risk(predictions, loss), atol=1e-12)
    np.testing.assert_allclose(found[1].numpy(), here.expected_loss(predictions, loss), atol=1e-12)
    np.testing.assert_allclose(
        regret(there, torch.tensor(predictions), loss).numpy(), regret(here, predictions, loss), atol=1e-12
    )
    searched = bayes_optimal(there, loss, method="search", candidates=torch.tensor(predictions))
    assert (searched.risk.numpy() >= expected.risk - 1e-12).all()
    with pytest.raises(ValueError, match="method 'branch_and_bound' works on NumPy arrays alone"):
        bayes_optimal(there, loss, method="branch_and_bound")


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X @ RNG.normal(size=(3, 4)) + RNG.normal(size=(60, 4)) > 0.3).astype(int)


@every_loss
@pytest.mark.parametrize(
    "learner",
    [
        JointForest(n_estimators=10, random_state=0),
        ExpectedLossClassifier(LabelPowerset()),
        ExpectedLossClassifier(MultiOutputClassifier(LogisticRegression())),
    ],
    ids=["forest", "powerset", "marginals"],
)
def test_learners_and_scorers_take_these_losses(learner, loss):
    learner.fit(X, Y)
    distribution, labels = learner.predict_distribution(X), learner.predict(X, measure=loss)
    assert np.array_equal(labels, bayes_optimal(distribution, loss, method="quick").labels)
    judged = choral.jaccard_loss(Y, labels) if loss == JaccardLoss() else choral.f_loss(Y, labels, beta=loss.beta)
    assert choral.make_scorer(loss)(learner, X, Y) == -judged
    assert learner.set_params(measure=loss).predict(X).tolist() == labels.tolist()
    learner.set_params(measure=SubsetMeasure())


def test_a_scorer_of_scores():
    scorer, model = choral.make_scorer(FLoss(2), "predict_proba"), MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    scores = choral.stack_proba(model.predict_proba(X))
    assert scorer(model, X, Y) == -choral.f_loss(Y, scores, beta=2)
