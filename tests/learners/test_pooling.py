"""Pools of models: candidates, what each kind of model says of them, the score, and the exponents it leads to."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from choral import BinomialMeasure, IndependentLabels, LabelDistribution
from choral.decisions import support
from choral.learners import pooling
from choral.learners.evidence import (
    FLOOR,
    MAX_OTHERS_PER_ROW,
    UNCERTAIN_LABELS,
    Candidates,
    JointEvidence,
    MarginalEvidence,
    PriorEvidence,
    cheapest,
    evidence_of,
    find_labelsets,
    top_labelsets,
    without_last_bits,
)
from choral.learners.pooling import (
    MAX_CANDIDATES_PER_ROW,
    MAX_EXPONENT,
    NEGLIGIBLE,
    PULL,
    SHARPNESSES,
    Pool,
    best_score,
    fit_pool,
    mean_worth,
)

LOG_ODDS = arrays(float, st.tuples(st.integers(1, 3), st.integers(1, 6)), elements=st.floats(-5, 5))


def all_labelsets(n_labels):
    return np.array(list(product((0, 1), repeat=n_labels)), dtype=np.uint8)


def log_product(labels, marginals):
    """The logarithm of the probability of a label set whose labels are independent."""
    return sum(np.log(m if label else 1 - m) for label, m in zip(labels, marginals, strict=True))


def random_weights(rng, n_rows, n_labelsets):
    return rng.dirichlet(np.full(n_labelsets, 0.5), size=n_rows)


# Candidates


@given(log_odds=LOG_ODDS, n_labelsets=st.integers(1, 40))
def test_top_label_sets_are_those_of_enumeration(log_odds, n_labelsets):
    everything = all_labelsets(log_odds.shape[1])
    for row, found in zip(log_odds, top_labelsets(log_odds, n_labelsets), strict=True):
        marginals = 1 / (1 + np.exp(-row))
        best = sorted((log_product(labels, marginals) for labels in everything), reverse=True)[:n_labelsets]
        np.testing.assert_allclose([log_product(labels, marginals) for labels in found], best)
        assert len(np.unique(found, axis=0)) == len(found)


def test_only_the_least_certain_labels_are_changed():
    log_odds = np.random.default_rng(0).normal(size=(3, 13)).round(2)
    for row, found in zip(log_odds, top_labelsets(log_odds, 2000), strict=True):
        mode = row > 0
        certain = np.argsort(np.abs(row))[UNCERTAIN_LABELS:]
        assert len(np.unique(found, axis=0)) == 1 << UNCERTAIN_LABELS
        assert (found[:, certain] == mode[certain]).all()
        costs = (found != mode) @ np.abs(row)
        assert costs[0] == 0
        assert (np.diff(costs) >= -1e-12).all()


@given(
    steps=arrays(int, st.tuples(st.integers(1, 3), st.integers(1, 30)), elements=st.integers(0, 4)),
    closed=st.integers(0, 4),
    n_cheapest=st.integers(1, 35),
    seed=st.integers(0, 9),
)
def test_of_equal_costs_the_first_are_taken(steps, closed, n_cheapest, seed):
    """Whatever the processor makes of the last bits."""
    costs = np.where(steps == closed, np.inf, steps / 7)
    rounded = costs * (1 + 1e-15 * np.random.default_rng(seed).integers(-3, 4, size=costs.shape))
    for row, found in zip(costs.tolist(), cheapest(without_last_bits(rounded), n_cheapest).tolist(), strict=True):
        assert found == sorted(sorted(range(len(row)), key=row.__getitem__)[:n_cheapest])  # sorted is stable


@pytest.mark.parametrize("n_labels", [12, 60])
def test_where_nothing_is_known_the_same_label_sets_are_looked_at(n_labels):
    """All of them are as probable: the one without labels comes first, and others in a fixed order."""
    found = top_labelsets(np.zeros((2, n_labels)), MAX_OTHERS_PER_ROW)
    assert not found[:, 0].any()
    expected = (np.arange(MAX_OTHERS_PER_ROW)[:, np.newaxis] >> np.arange(n_labels)) & 1
    np.testing.assert_array_equal(found, [expected] * 2)
    rounded = np.random.default_rng(0).uniform(-1e-15, 1e-15, size=(2, n_labels))
    np.testing.assert_array_equal(top_labelsets(rounded, MAX_OTHERS_PER_ROW), found)


@pytest.mark.parametrize("n_labels", [1, 3, 63, 64, 65, 128, 200])
def test_label_sets_are_found_where_they_are(n_labels):
    rng = np.random.default_rng(n_labels)
    ends = np.eye(n_labels, dtype=np.uint8)[[0, -1]]  # nothing but zeros after the first word, or before the last
    drawn = np.vstack([ends, 1 - ends, (rng.random((40, n_labels)) < 0.3), np.zeros((1, n_labels))]).astype(np.uint8)
    distinct = rng.permutation(np.unique(drawn, axis=0))
    among = distinct[: max(1, len(distinct) // 2)]
    places = {tuple(labels): place for place, labels in enumerate(among.tolist())}
    asked = rng.permutation(np.vstack([distinct, distinct]))
    expected = [places.get(tuple(labels), -1) for labels in asked.tolist()]
    assert find_labelsets(asked, among).tolist() == expected
    assert -1 in expected


def test_candidates_by_hand():
    seen = np.array([[0, 0], [1, 1]], dtype=np.uint8)
    log_odds = np.array([[-2.0, 0.5]])
    others = [[0, 1], [0, 0], [1, 1], [1, 0]]  # from the most probable down
    candidates = Candidates(seen, log_odds)
    assert candidates.others.tolist() == [others]
    assert candidates.is_open.tolist() == [[True, True, True, False, False, True]]
    assert candidates.labelsets(np.array([[1, 2, 5]])).tolist() == [[[1, 1], [0, 1], [1, 0]]]
    alone = Candidates(seen, log_odds, own=np.array([0]))  # its own label set is one of the others, not a seen one
    assert alone.is_open.tolist() == [[False, True, True, True, False, True]]
    shared = Candidates(seen, log_odds, own=np.array([-1]))
    assert shared.is_open.tolist() == candidates.is_open.tolist()


@given(data=st.data(), n_labels=st.integers(1, 8))
def test_open_candidates_are_those_seen_and_the_probable_ones_once(data, n_labels):
    everything = all_labelsets(n_labels)
    places = data.draw(st.sets(st.integers(0, len(everything) - 1), min_size=1, max_size=20))
    seen = everything[sorted(places)]
    log_odds = data.draw(arrays(float, (3, n_labels), elements=st.floats(-5, 5)))
    own = data.draw(arrays(int, 3, elements=st.integers(-1, len(seen) - 1)))
    candidates = Candidates(seen, log_odds, own)
    for row, mine in enumerate(own):
        is_open = candidates.is_open[row]
        found = candidates.labelsets(np.tile(np.arange(is_open.size), (3, 1)))[row][is_open].tolist()
        probable = {tuple(labels) for labels in top_labelsets(log_odds, MAX_OTHERS_PER_ROW)[row].tolist()}
        of_others = {tuple(labels) for place, labels in enumerate(seen.tolist()) if place != mine}
        assert sorted(map(tuple, found)) == sorted(of_others | probable)


# What models say


def scores_by_definition(one, candidates):
    """Each kind of evidence, label set by label set."""
    n_rows, n_others, _ = candidates.others.shape
    n_seen = len(candidates.seen)
    labelsets = candidates.labelsets(np.tile(np.arange(n_seen + n_others), (n_rows, 1)))
    return [
        [log_of(one, row, labels, place < n_seen) for place, labels in enumerate(of_row)]
        for row, of_row in enumerate(labelsets)
    ]


def log_of(one, row, labels, is_seen=True):
    """What a model says of a label set; the frequencies of training say nothing of label sets not seen there."""
    if isinstance(one, MarginalEvidence):
        return log_product(labels, one.marginals[row])
    if isinstance(one, JointEvidence):
        weights = dict(zip(map(tuple, one.labelsets.tolist()), np.asarray(one.weights[[row]]).ravel(), strict=True))
        marginals = sum(np.array(known) * weight for known, weight in weights.items()).clip(FLOOR, 1 - FLOOR)
        product_of_marginals = np.exp(log_product(labels, marginals))
        return np.log((1 - one.smoothing) * weights.get(tuple(labels), 0) + one.smoothing * product_of_marginals)
    counts = dict(zip(map(tuple, one.labelsets.tolist()), one.counts.tolist(), strict=True))
    if one.own[row] >= 0:  # as if there were no such row
        counts[tuple(one.labelsets[one.own[row]])] -= 1
    n_rows = sum(counts.values())
    marginals = sum(np.array(known) * count for known, count in counts.items()) / n_rows
    marginals = marginals.clip(1 / (n_rows + 1), n_rows / (n_rows + 1))
    frequency = counts.get(tuple(labels), 0) / n_rows if is_seen else 0
    return np.log(0.7 * frequency / np.exp(log_product(labels, marginals)) + 0.3)


def three_models(n_rows=6, n_labels=4, seed=0):
    """Labels, and evidence of all kinds about them: of each label, of label sets, and of how often these come."""
    rng = np.random.default_rng(seed)
    Y = (rng.random((n_rows, n_labels)) < 0.4).astype(np.uint8)
    known = rng.permutation(all_labelsets(n_labels))[:7]
    seen, which, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    marginals = MarginalEvidence(rng.random((n_rows, n_labels)))
    joint = JointEvidence(known, random_weights(rng, n_rows, len(known)), 0.1)
    return Y, [marginals, joint, PriorEvidence(seen, counts, which.ravel())]


@pytest.mark.parametrize("model", [0, 1, 2])
@pytest.mark.parametrize("n_labels", [1, 2, 4])
def test_evidence_follows_its_definition(model, n_labels):
    Y, evidence = three_models(12, n_labels)
    one = evidence[model]
    seen = np.unique(Y, axis=0)
    candidates = Candidates(seen, np.random.default_rng(1).normal(size=Y.shape))
    np.testing.assert_allclose(one.scores(candidates), scores_by_definition(one, candidates), atol=1e-14)


def test_a_new_row_counts_all_of_training():
    Y, (*_, prior) = three_models(20)
    new = PriorEvidence(prior.labelsets, prior.counts, np.full(3, -1))
    candidates = Candidates(np.unique(Y, axis=0), np.zeros((3, 4)))
    np.testing.assert_allclose(new.scores(candidates), scores_by_definition(new, candidates))
    assert new.log_odds is None


def test_a_training_row_does_not_count_for_itself():
    Y, (*_, prior) = three_models(20)
    own = find_labelsets(Y, prior.labelsets)
    for row in range(20):
        others, counts = np.unique(np.delete(Y, row, axis=0), axis=0, return_counts=True)
        candidates = Candidates(others, np.zeros((1, 4)))
        without = PriorEvidence(others, counts, np.array([-1])).scores(candidates)
        left_out = PriorEvidence(prior.labelsets, prior.counts, own[[row]]).scores(candidates)
        np.testing.assert_allclose(left_out, without, rtol=1e-12)


def test_the_only_row_there_is_knows_of_no_other():
    prior = PriorEvidence(np.array([[0, 1]], dtype=np.uint8), np.array([1]), np.array([0]))
    np.testing.assert_allclose(prior.scores(Candidates(prior.labelsets, np.zeros((1, 2)))), np.log(0.3))


def test_label_sets_of_a_model_need_not_be_those_seen():
    labelsets = np.array([[1, 0, 0], [0, 1, 1]], dtype=np.uint8)
    one = JointEvidence(labelsets, np.array([[0.75, 0.25]]), 0.2)
    candidates = Candidates(np.array([[0, 0, 0], [0, 1, 1]], dtype=np.uint8), np.array([[9.0, -8.0, -7.0]]))
    scores = np.exp(one.scores(candidates))[0]
    assert scores[0] == pytest.approx(0.2 * 0.25 * 0.75 * 0.75)
    assert scores[1] == pytest.approx(0.8 * 0.25 + 0.2 * 0.25**3)
    assert candidates.others[0, 0].tolist() == [1, 0, 0]
    assert scores[2] == pytest.approx(0.8 * 0.75 + 0.2 * 0.75**3)


def test_sparse_weights_say_the_same():
    Y, (_, joint, _) = three_models()
    sparse = JointEvidence(joint.labelsets, sp.csr_array(joint.weights), joint.smoothing)
    candidates = Candidates(np.unique(Y, axis=0), joint.log_odds)
    np.testing.assert_allclose(sparse.scores(candidates), joint.scores(candidates))
    np.testing.assert_allclose(sparse.log_odds, joint.log_odds)


def test_no_model_is_surer_of_a_label_than_the_floor():
    marginals = MarginalEvidence(np.array([[0.0, 1.0, 0.25]]))
    np.testing.assert_allclose(
        marginals.log_odds, [[np.log(FLOOR / (1 - FLOOR)), -np.log(FLOOR / (1 - FLOOR)), -np.log(3)]]
    )
    joint = JointEvidence(np.array([[0, 1, 1], [0, 1, 0]]), np.array([[0.25, 0.75]]), 0.1)
    np.testing.assert_allclose(joint.log_odds, marginals.log_odds)


@pytest.mark.parametrize("rows", [slice(1, 4), np.array([5, 0, 0])])
def test_evidence_of_some_rows(rows):
    Y, evidence = three_models()
    seen, log_odds = np.unique(Y, axis=0), np.random.default_rng(1).normal(size=Y.shape)
    for one in evidence:
        some = one[rows].scores(Candidates(seen, log_odds[rows]))
        np.testing.assert_allclose(some, one.scores(Candidates(seen, log_odds))[rows])


def test_frequencies_of_very_many_labels_do_not_underflow():
    Y = (np.random.default_rng(0).random((4, 3000)) < 0.5).astype(np.uint8)
    prior = PriorEvidence(*np.unique(Y, axis=0, return_counts=True), np.full(1, -1))
    scores = prior.scores(Candidates(np.unique(Y, axis=0), np.zeros((1, 3000))))
    assert np.isfinite(scores).all()
    assert (scores[0, :4] > 1000).all()
    np.testing.assert_allclose(scores[0, 4:], np.log(0.3))


def test_evidence_of_a_distribution_is_of_its_kind():
    joint = LabelDistribution([[0, 1], [1, 1]], [[0.25, 0.75]])
    evidence = evidence_of(joint, 0.1)
    assert isinstance(evidence, JointEvidence)
    assert evidence.smoothing == 0.1
    apart = evidence_of(IndependentLabels([[0.25, 0.5]]), 0.1)
    assert isinstance(apart, MarginalEvidence)
    assert apart.marginals.tolist() == [[0.25, 0.5]]


# The score


@pytest.mark.parametrize("n_labels", [1, 2, 3, 7, 12])
def test_mean_worth_is_that_of_all_binomial_measures(n_labels):
    exact = [
        sum(Fraction(comb(n_labels - wrong, k), comb(n_labels, k)) for k in range(1, n_labels + 1)) / n_labels
        for wrong in range(n_labels + 1)
    ]
    assert exact == [Fraction(n_labels - wrong, n_labels * (wrong + 1)) for wrong in range(n_labels + 1)]
    np.testing.assert_allclose(mean_worth(n_labels), [float(worth) for worth in exact], rtol=1e-15)
    of_measures = [1 - BinomialMeasure(k).deficits(n_labels) for k in range(1, n_labels + 1)]
    np.testing.assert_allclose(mean_worth(n_labels), np.mean(of_measures, axis=0), atol=1e-15)


def score_by_definition(labelsets, shares, truth):
    """S(p, y): what the candidates are worth to the truth, and to each other."""
    worth = mean_worth(len(truth))
    score = 0.0
    for labels, share in zip(labelsets, shares, strict=True):
        score += 2 * share * worth[np.sum(labels != truth)]
        for others, other_share in zip(labelsets, shares, strict=True):
            score -= share * other_share * worth[np.sum(labels != others)]
    return score


WEIGHTS = st.lists(st.floats(0, 1), min_size=8, max_size=8).filter(lambda weights: sum(weights) > 0.1)


@given(n_labels=st.integers(1, 3), true=WEIGHTS, other=WEIGHTS)
def test_no_distribution_has_a_better_expected_score_than_the_true_one(n_labels, true, other):
    labelsets = all_labelsets(n_labels)
    true, other = (np.add(weights[: len(labelsets)], 1e-6) for weights in (true, other))
    true, other = true / true.sum(), other / other.sum()

    def expected(shares):
        scores = [score_by_definition(labelsets, shares, truth) for truth in labelsets]
        return float(true @ scores)

    assert expected(other) <= expected(true) + 1e-12
    if np.abs(true - other).max() > 1e-3:
        assert expected(other) < expected(true)  # strictly: nothing else looks like the truth


def open_labelsets(Y, row, log_odds):
    """Candidates of a training row: label sets of the other rows, and the most probable ones."""
    of_others = {tuple(labels) for place, labels in enumerate(Y.tolist()) if place != row}
    return np.array(
        sorted(of_others | {tuple(labels) for labels in top_labelsets(log_odds, MAX_OTHERS_PER_ROW)[row].tolist()})
    )


def shares_by_definition(evidence, exponents, row, labelsets):
    """The product of all models, each to the power of its exponent."""
    pairs = list(zip(evidence, exponents, strict=True))
    logs = np.array([sum(b * log_of(one, row, labels) for one, b in pairs) for labels in labelsets])
    shares = np.exp(logs - logs.max())
    return shares / shares.sum()


@pytest.fixture
def objective(monkeypatch):
    """What is minimised, with its gradient, and the pool found."""

    def of(evidence, Y, rows, known=None):
        minimised = []

        def spy(fun, start, **options):
            minimised.append(fun)
            return minimize(fun, start, **options)

        monkeypatch.setattr(pooling, "minimize", spy)
        pool = fit_pool(evidence, Y, rows, known)
        return minimised[0], pool

    return of


EXPONENTS = [np.array([0.5, 0.5, 0.0]), np.array([1.0, 0.3, 0.7]), np.array([0.2, 2.5, 1.0])]


@pytest.mark.parametrize("n_labels", [3, 7])
@pytest.mark.parametrize("exponents", EXPONENTS, ids=str)
def test_the_score_follows_its_definition(objective, exponents, n_labels):
    Y, evidence = three_models(12, n_labels)
    rows = np.array([0, 2, 3, 7, 11])
    negative, _ = objective(evidence, Y, rows)
    log_odds = (evidence[0].log_odds + evidence[1].log_odds) / 2  # of those that know something of a row
    total = 0.0
    for row in rows:
        labelsets = open_labelsets(Y, row, log_odds)
        shares = shares_by_definition(evidence, exponents, row, labelsets)
        total += score_by_definition(labelsets, shares, Y[row])
    pull = exponents - [0.5, 0.5, 0.0]
    assert negative(exponents)[0] == pytest.approx(-total + PULL * pull @ pull, rel=1e-10)


def some_known(Y, rng):
    """Which labels are known: in every row at least one."""
    known = rng.random(Y.shape) < 0.6
    known[np.arange(len(Y)), rng.integers(Y.shape[1], size=len(Y))] = True
    return known


@pytest.mark.parametrize("n_labels", [3, 7])
@pytest.mark.parametrize("exponents", EXPONENTS, ids=str)
def test_the_score_of_rows_with_missing_labels_is_that_of_known_ones(objective, exponents, n_labels):
    Y, evidence = three_models(12, n_labels)
    rows, known = np.array([0, 2, 3, 7, 11]), some_known(Y, np.random.default_rng(1))
    assert (known[rows].sum(axis=1) < n_labels).any()
    negative, _ = objective(evidence, Y, rows, known)
    log_odds = (evidence[0].log_odds + evidence[1].log_odds) / 2
    total = 0.0
    for row in rows:
        labelsets, of_row = open_labelsets(Y, row, log_odds), known[row]
        shares = shares_by_definition(evidence, exponents, row, labelsets)
        total += score_by_definition(labelsets[:, of_row], shares, Y[row, of_row])
    pull = exponents - [0.5, 0.5, 0.0]
    assert negative(exponents)[0] == pytest.approx(-total + PULL * pull @ pull, rel=1e-10)


def test_all_labels_known_is_as_if_nothing_was_said_of_it():
    Y, evidence = three_models(40, 4)
    unsaid, said = (fit_pool(evidence, Y, np.arange(40), known) for known in (None, np.full(Y.shape, True)))
    np.testing.assert_array_equal(said.exponents, unsaid.exponents)
    np.testing.assert_array_equal(said.seen, unsaid.seen)
    assert said.score == unsaid.score


@pytest.mark.parametrize("exponents", EXPONENTS, ids=str)
def test_decisions_for_rows_with_missing_labels_are_judged_by_known_ones(exponents):
    Y, evidence = three_models(12, 5)
    known = some_known(Y, np.random.default_rng(1))
    judged = pooling.judge(evidence, Y, np.arange(12), EXPONENTS[0], known)
    ((by_k,),) = [judged.losses([exponents])]
    log_odds = (evidence[0].log_odds + evidence[1].log_odds) / 2
    for k, losses in zip(range(1, 6), by_k, strict=True):
        for row, found in enumerate(losses):
            labelsets, of_row = open_labelsets(Y, row, log_odds)[:, known[row]], known[row]
            shares = shares_by_definition(evidence, exponents, row, open_labelsets(Y, row, log_odds))
            deficits = BinomialMeasure(min(k, of_row.sum())).deficits(of_row.sum())
            risks = [shares @ deficits[(labelsets != labels).sum(axis=1)] for labels in labelsets]
            best = labelsets[np.flatnonzero(np.isclose(risks, min(risks), rtol=1e-5))]
            assert np.isclose(found, deficits[(best != Y[row, of_row]).sum(axis=1)], rtol=1e-5).any()


def test_what_missing_labels_are_filled_with_does_not_count_for_the_score():
    rng = np.random.default_rng(0)
    Y = (rng.random((400, 4)) < 0.4).astype(np.uint8)
    known = some_known(Y, rng)
    right = MarginalEvidence(np.where(Y, 0.7, 0.3))
    filled = np.where(known, Y, rng.integers(2, size=Y.shape)).astype(np.uint8)
    assert fit_pool([right], filled, np.arange(400), known).exponents[0] > 0.75 * MAX_EXPONENT
    assert fit_pool([right], filled, np.arange(400)).exponents[0] < 0.75 * MAX_EXPONENT  # noise counts as labels


@pytest.mark.parametrize("exponents", EXPONENTS, ids=str)
def test_the_gradient_is_that_of_finite_differences(objective, exponents):
    Y, evidence = three_models(40, 4)
    negative, _ = objective(evidence, Y, np.arange(40))
    step = 1e-5
    differences = [
        (negative(exponents + step * axis)[0] - negative(exponents - step * axis)[0]) / (2 * step) for axis in np.eye(3)
    ]
    np.testing.assert_allclose(negative(exponents)[1], differences, rtol=1e-6, atol=1e-7)


def test_blocks_of_rows_do_not_matter_to_the_exponents(monkeypatch):
    Y, evidence = three_models(40, 4)
    whole = fit_pool(evidence, Y, np.arange(40))
    monkeypatch.setattr(support, "BLOCK_ENTRIES", 1)
    parts = fit_pool(evidence, Y, np.arange(40))
    np.testing.assert_allclose(parts.exponents, whole.exponents, atol=1e-9)
    assert parts.score == pytest.approx(whole.score, rel=1e-10)
    np.testing.assert_array_equal(whole.seen, np.unique(Y, axis=0))


@pytest.mark.parametrize("seed", [0, 10, 11])  # single precision would end some searches early, elsewhere
def test_rounding_does_not_matter_to_the_exponents(seed):
    """Last bits differ with the processor, and with the order in which features lie in memory."""
    Y, evidence = three_models(200, 3, seed)
    marginals = evidence[0].marginals
    noise = 1e-15 * np.random.default_rng(seed).integers(-3, 4, size=marginals.shape)
    pools = [
        fit_pool([MarginalEvidence(of), *evidence[1:]], Y, np.arange(200)) for of in (marginals, marginals + noise)
    ]
    np.testing.assert_allclose(pools[1].exponents, pools[0].exponents, rtol=1e-9)
    assert pools[1].score == pytest.approx(pools[0].score, rel=1e-12)


def test_the_score_of_a_pool_is_the_best_of_its_rows(objective):
    Y, evidence = three_models(40, 4)
    negative, pool = objective(evidence, Y, np.arange(0, 40, 2))
    found = minimize(negative, [0.5, 0.5, 0], jac=True, method="L-BFGS-B", bounds=[(0, MAX_EXPONENT)] * 3)
    assert pool.score == pytest.approx(-found.fun / 20)
    assert best_score(evidence, Y, np.arange(0, 40, 2)) == pool.score


# The exponents


def test_exponents_are_large_for_a_model_that_knows_and_none_for_noise():
    rng = np.random.default_rng(0)
    Y = (rng.random((500, 3)) < 0.4).astype(np.uint8)
    knows = MarginalEvidence(np.where(Y, 0.7, 0.3))  # always right, and too modest
    noise = MarginalEvidence(rng.random((500, 3)))
    drawn = JointEvidence(all_labelsets(3), random_weights(rng, 500, 8), 0.1)
    pool = fit_pool([knows, noise, drawn], Y, np.arange(500))
    assert pool.exponents[0] > 0.75 * MAX_EXPONENT
    assert pool.exponents[1:].max() < 0.1
    assert pool.score > 0.95
    assert fit_pool([knows], Y, np.arange(500)).exponents[0] == pytest.approx(MAX_EXPONENT)


def test_a_calibrated_model_is_left_as_it_is():
    rng = np.random.default_rng(0)
    marginals = rng.beta(1, 2, size=(4000, 3))
    apart = fit_pool([MarginalEvidence(marginals)], rng.binomial(1, marginals).astype(np.uint8), np.arange(4000))
    assert apart.exponents[0] == pytest.approx(1, abs=0.06)
    labelsets, weights = all_labelsets(3), random_weights(rng, 4000, 8)
    Y = labelsets[[rng.choice(8, p=row) for row in weights]]
    together = fit_pool([JointEvidence(labelsets, weights, 1e-6)], Y, np.arange(4000))
    assert together.exponents[0] == pytest.approx(1, abs=0.06)
    boastful = fit_pool([JointEvidence(labelsets, _to_the_power(weights, 2), 1e-6)], Y, np.arange(4000))
    assert boastful.exponents[0] == pytest.approx(0.5, abs=0.05)


def _to_the_power(weights, exponent):
    return weights**exponent / (weights**exponent).sum(axis=1, keepdims=True)


def test_two_models_that_know_half_each_share_the_work():
    rng = np.random.default_rng(1)
    marginals = rng.beta(0.5, 0.5, size=(3000, 4))
    Y = rng.binomial(1, marginals).astype(np.uint8)
    halves = [np.where(np.arange(4) < 2, marginals, 0.5), np.where(np.arange(4) < 2, 0.5, marginals)]
    pool = fit_pool([MarginalEvidence(half) for half in halves], Y, np.arange(3000))
    np.testing.assert_allclose(pool.exponents, 1, atol=0.1)


def test_equal_models_have_equal_exponents():
    rng = np.random.default_rng(2)
    marginals = rng.beta(1, 2, size=(1000, 3))
    Y = rng.binomial(1, marginals).astype(np.uint8)
    pool = fit_pool([MarginalEvidence(marginals)] * 2, Y, np.arange(1000))
    assert pool.exponents[0] == pytest.approx(pool.exponents[1], abs=1e-3)
    assert pool.exponents.sum() == pytest.approx(1, abs=0.1)


# Decisions


def losses_by_definition(evidence, exponents, Y, rows, n_candidates):
    """What the candidate with the least expected loss costs in truth, for five of the losses: (5, n_rows).

    The candidates are the most probable ones by these very exponents.
    """
    n_labels = Y.shape[1]
    log_odds = np.average([one.log_odds for one in evidence], axis=0, weights=exponents)
    losses = np.zeros((5, len(rows)))
    for place, row in enumerate(rows):
        labelsets = open_labelsets(Y, row, log_odds)
        best = np.argsort(-shares_by_definition(evidence, exponents, row, labelsets))[:n_candidates]
        labelsets = labelsets[best]
        shares = shares_by_definition(evidence, exponents, row, labelsets)
        wrong = (labelsets[:, np.newaxis] != labelsets).sum(axis=2)
        for number, k in enumerate(np.linspace(1, n_labels, 5).astype(int)):
            deficits = BinomialMeasure(int(k)).deficits(n_labels)
            decided = labelsets[(deficits[wrong] @ shares).argmin()]
            losses[number, place] = deficits[np.sum(decided != Y[row])]
    return losses


def blurred_models(seed, n_rows=40):
    """Five labels, and two models of them that know something."""
    rng = np.random.default_rng(seed)
    marginals = rng.beta(0.3, 0.5, size=(n_rows, 5))
    Y = rng.binomial(1, marginals).astype(np.uint8)
    blurred = 1 / (1 + np.exp(-0.3 * MarginalEvidence(marginals).log_odds + rng.normal(size=(n_rows, 5))))
    drawn = JointEvidence(all_labelsets(5), random_weights(rng, n_rows, 32), 0.1)
    return Y, [MarginalEvidence(blurred), drawn]


@pytest.mark.parametrize("n_candidates", [5, 64])
@pytest.mark.parametrize("seed", [1, 3, 16, 25, 103])  # kept, larger, equal, one alone, and by the size of losses
def test_exponents_are_the_first_that_decide_as_well_as_the_best(objective, seed, n_candidates, monkeypatch):
    monkeypatch.setattr(pooling, "MAX_CANDIDATES_PER_ROW", n_candidates)
    Y, evidence = blurred_models(seed)
    rows = np.arange(0, 40, 2)
    negative, pool = objective(evidence, Y, rows)
    by_score = minimize(negative, [0.5, 0.5], jac=True, method="L-BFGS-B", bounds=[(0, MAX_EXPONENT)] * 2).x
    halfway = (by_score + 0.5) / 2
    sharper = [sharpness * exponents for exponents in (by_score, halfway) for sharpness in SHARPNESSES]
    choices = [*sharper, *np.array([[0.5, 0.5], [1, 0], [0, 1]])]
    of_each_k = np.array([losses_by_definition(evidence, choice, Y, rows, n_candidates) for choice in choices])
    losses = np.array([[one / of_each_k[:, number].mean() for number, one in enumerate(of_choice)]
                       for of_choice in of_each_k]).mean(axis=1)  # fmt: skip
    best = losses[losses.mean(axis=1).argmin()]
    within = [np.mean(one - best) <= np.std(one - best) / np.sqrt(len(rows)) for one in losses]
    np.testing.assert_allclose(pool.exponents, choices[within.index(True)], rtol=1e-4)


def test_where_nothing_is_ever_wrong_the_score_decides():
    Y = all_labelsets(3)[[1, 2, 4, 7] * 100]
    modest = MarginalEvidence(np.where(Y, 0.7, 0.3))
    assert fit_pool([modest], Y, np.arange(400)).exponents[0] == pytest.approx(MAX_EXPONENT)


# The distribution


def probabilities_of(distribution, row):
    weights = distribution.probabilities.toarray()[row]
    return {
        tuple(labels): share for labels, share in zip(distribution.labelsets.tolist(), weights, strict=True) if share
    }


def log_odds_by_definition(evidence, exponents):
    """The mean of those that know something of a row, by their exponents if any is above 0."""
    knowing = [(one.log_odds, b) for one, b in zip(evidence, exponents, strict=True) if one.log_odds is not None]
    if not any(b for _, b in knowing):
        return sum(log_odds for log_odds, _ in knowing) / len(knowing)
    return sum(b * log_odds for log_odds, b in knowing) / sum(b for _, b in knowing)


def distribution_by_definition(pool, evidence, row, most=MAX_CANDIDATES_PER_ROW):
    """All candidates of a row, but those that are next to impossible."""
    probable = top_labelsets(log_odds_by_definition(evidence, pool.exponents), MAX_OTHERS_PER_ROW)[row]
    labelsets = sorted({tuple(labels) for labels in [*pool.seen.tolist(), *probable.tolist()]})
    shares = shares_by_definition(evidence, pool.exponents, row, labelsets)
    best = sorted(range(len(shares)), key=lambda place: -shares[place])[:most]
    kept = {labelsets[place]: shares[place] for place in best if shares[place] > NEGLIGIBLE * shares.max()}
    return {labels: share / sum(kept.values()) for labels, share in kept.items()}


def new_rows(n_labels=4):
    """A pool, and what models say of rows that were not there in training."""
    Y, (marginals, joint, prior) = three_models(12, n_labels)
    new = PriorEvidence(prior.labelsets, prior.counts, np.full(12, -1))
    return Pool(np.unique(Y, axis=0), np.array([0.8, 0.5, 0.3]), 0.0), [marginals, joint, new]


@pytest.mark.parametrize("n_labels", [2, 4, 7])
@pytest.mark.parametrize("block_entries", [1, 4000, 1 << 21])
def test_the_distribution_follows_its_definition(n_labels, block_entries, monkeypatch):
    monkeypatch.setattr(support, "BLOCK_ENTRIES", block_entries)
    pool, evidence = new_rows(n_labels)
    distribution = pool.distribution(evidence, 12)
    assert distribution.n_instances == 12
    for row in range(12):
        assert probabilities_of(distribution, row) == pytest.approx(distribution_by_definition(pool, evidence, row))


@pytest.mark.parametrize("exponents", [[0.8, 0.0, 0.0], [0.0, 1.2, 0.4], [0.0, 0.0, 0.7]])
def test_a_model_without_weight_is_not_asked(exponents):
    pool, evidence = new_rows(7)
    without = Pool(pool.seen, np.array(exponents), 0.0)
    for row in range(12):
        expected = distribution_by_definition(without, evidence, row)
        assert probabilities_of(without.distribution(evidence, 12), row) == pytest.approx(expected)


def test_all_candidates_are_equal_where_nobody_is_asked():
    pool, evidence = new_rows()
    nothing = Pool(pool.seen, np.zeros(3), 0.0).distribution(evidence, 12)
    assert probabilities_of(nothing, 0) == pytest.approx(dict.fromkeys(map(tuple, all_labelsets(4).tolist()), 1 / 16))


def test_only_the_best_candidates_are_kept(monkeypatch):
    pool, evidence = new_rows()
    monkeypatch.setattr(pooling, "MAX_CANDIDATES_PER_ROW", 3)
    distribution = pool.distribution(evidence, 12)
    for row in range(12):
        found = probabilities_of(distribution, row)
        assert len(found) <= 3
        assert found == pytest.approx(distribution_by_definition(pool, evidence, row, most=3))


def test_more_labels_than_a_word_has_bits():
    rng = np.random.default_rng(0)
    Y = (rng.random((30, 70)) < 0.1).astype(np.uint8)
    marginals = MarginalEvidence(np.where(rng.random(Y.shape) < 0.03, 0.6, np.where(Y, 0.9, 0.05)))
    pool = fit_pool([marginals], Y, np.arange(30))
    distribution = pool.distribution([marginals], 30)
    labelsets = [tuple(labels) for labels in distribution.labelsets.tolist()]
    assert len(set(labelsets)) == len(labelsets)
    for row in (0, 29):
        assert probabilities_of(distribution, row) == pytest.approx(distribution_by_definition(pool, [marginals], row))
