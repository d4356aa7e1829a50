"""Pools of several models: lifts, exponents by likelihood and by score, and the summary of what became of members."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize

from choral.datasets import make_dependent
from choral.learners import BinaryRelevance, JointForest, LogisticJoint, StackedJoint, stacking
from choral.learners.evidence import Candidates, JointEvidence, JointLift, MarginalEvidence, PriorEvidence
from choral.learners.stacking import fit_stack

DATA = make_dependent(240, 4, 0.7, n_features=5)
X, Y = DATA.X, DATA.Y.astype(np.uint8)
ROWS = np.arange(len(Y))


def all_labelsets(n_labels):
    return np.array(list(product((0, 1), repeat=n_labels)), dtype=np.uint8)


def models(seed=0):
    """Marginals that know something of the labels, others that know nothing, a joint model, and frequencies."""
    rng = np.random.default_rng(seed)
    good = np.clip(0.5 + 0.2 * (2 * Y - 1.0) + 0.3 * rng.normal(size=Y.shape), 0.02, 0.98)
    poor = rng.uniform(0.2, 0.8, size=Y.shape)
    seen, which, counts = np.unique(Y, axis=0, return_inverse=True, return_counts=True)
    weights = rng.dirichlet(np.full(len(seen), 0.5), size=len(Y)) + 0.5 * np.eye(len(seen))[which.ravel()]
    lift = JointLift(seen, weights / weights.sum(axis=1, keepdims=True), 0.3)
    return [MarginalEvidence(good), MarginalEvidence(poor), lift, PriorEvidence(seen, counts, which.ravel())]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_marginals_and_lift_together_are_the_joint_model(form):
    rng = np.random.default_rng(0)
    labelsets, weights = all_labelsets(3)[:5], rng.dirichlet(np.ones(5), size=6)
    candidates = Candidates(all_labelsets(3)[2:], rng.normal(size=(6, 3)))
    joint = JointEvidence(labelsets, form(weights), 0.3)
    lift = JointLift(labelsets, form(weights), 0.3)
    expected = joint.scores(candidates)
    product_of_labels = MarginalEvidence(weights @ labelsets).scores(candidates)
    np.testing.assert_allclose(lift.scores(candidates) + product_of_labels, expected)
    some, part = np.array([4, 1]), Candidates(all_labelsets(3)[2:], rng.normal(size=(2, 3)))
    np.testing.assert_allclose(lift[some].scores(part), JointLift(labelsets, weights[some], 0.3).scores(part))
    assert lift.log_odds is None


def test_independent_labels_have_no_lift():
    marginals = np.array([[0.2, 0.7]])
    labelsets = all_labelsets(2)
    weights = np.prod(np.where(labelsets, marginals, 1 - marginals), axis=1)[np.newaxis]
    candidates = Candidates(labelsets, np.zeros((1, 2)))
    np.testing.assert_allclose(JointLift(labelsets, weights, 0.3).scores(candidates)[:, :4], 0, atol=1e-12)


def test_exponents_by_likelihood_are_those_of_a_plain_search():
    marginals = models()[:2]
    found = stacking._by_likelihood(marginals, Y, None, ROWS)
    first, second = (one.log_odds for one in marginals)

    def loss(exponents):
        pooled = exponents[0] * first + exponents[1] * second
        return np.mean((np.logaddexp(0, pooled) - Y * pooled).sum(axis=1)) + 1e-3 * ((exponents - 0.5) ** 2).sum()

    plain = minimize(loss, [0.5, 0.5], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).x.clip(0)
    np.testing.assert_allclose(found, plain, atol=1e-3)
    assert found[0] > 3 * found[1]


def test_labels_that_are_not_known_do_not_count():
    known = np.random.default_rng(1).random(Y.shape) < 0.6
    marginals = models()[:2]
    found = [stacking._by_likelihood(marginals, labels, known, ROWS) for labels in (Y, np.where(known, Y, 1 - Y))]
    np.testing.assert_array_equal(*found)


def test_a_model_that_knows_nothing_gets_little():
    pool = fit_stack(models(), Y, ROWS)
    assert pool.exponents.shape == (4,)
    assert pool.exponents[0] > 3 * pool.exponents[1]
    assert 0 < pool.score < 1


def test_lifts_that_lie_are_left_out():
    """A model whose label sets are drawn by chance, sure of itself, spoils decisions: its lift does not count."""
    rng = np.random.default_rng(0)
    seen = np.unique(Y, axis=0)
    lie = JointLift(seen, np.eye(len(seen))[rng.integers(len(seen), size=len(Y))], 0.05)
    pool = fit_stack([models()[0], lie], Y, ROWS)
    assert pool.exponents[1] < 0.1 * pool.exponents[0]


@pytest.mark.parametrize(
    "is_good, expected",
    [
        (lambda lift, frequencies: True, [1, 2, 0.4, 0.6]),
        (lambda lift, frequencies: frequencies == 0, [1, 2, 0.4, 0]),
        (lambda lift, frequencies: lift == 0.2, [1, 2, 0.2, 0.3]),
        (lambda lift, frequencies: lift == 0.6, [1.5, 3, 0.6, 0.9]),
        (lambda lift, frequencies: lift == 0.9 and not frequencies, [2.25, 4.5, 0.9, 0]),
    ],
)
def test_exponents_are_changed_where_decisions_are_better(monkeypatch, is_good, expected):
    class Judge:
        def best_exponents(self, pull):
            return np.array([1, 2, 0.4, 0.6]), 0.5

        def losses(self, choices):
            bad = [not is_good(*choice[2:].round(9)) for choice in choices]
            return np.ones((len(bad), 1, 9)) * np.array(bad)[:, np.newaxis, np.newaxis]

    monkeypatch.setattr(stacking, "judge", lambda *arguments: Judge())
    np.testing.assert_allclose(fit_stack(models(), Y, ROWS).exponents, expected)


def stacked(**options):
    members = [("forest", JointForest(20)), ("regressions", LogisticJoint([0.3])), ("trees", BinaryRelevance())]
    return StackedJoint(members, cv=3, random_state=0, **options).fit(X, Y)


def test_a_summary_tells_members_exponents_and_scores():
    model = stacked()
    summary = model.summary()
    assert [row[0] for row in summary.rows] == ["forest", "regressions", "trees", "frequencies of label sets"]
    exponents = model.pool_.exponents
    assert [row[3] for row in summary.rows] == [*exponents[:3].tolist(), None]
    assert [row[4] for row in summary.rows] == [exponents[3], None, None, exponents[4]]
    views = [model.estimators_[0][1].oob_distribution_.marginals()]
    assert summary.rows[0][2] == pytest.approx(((views[0] - Y) ** 2).mean())
    lines = str(summary).splitlines()
    assert lines[0] == f"StackedJoint: score of left-out rows {model.pool_.score:.4f} (at most 1)"
    assert lines[1].split("  ")[0] == "member"
    assert lines[2].startswith("forest ")
    assert lines[-1].startswith("frequencies of label sets")
    assert repr(summary) == str(summary)


def test_a_summary_in_a_notebook_is_a_table():
    html = stacked().set_params(forest__n_estimators=5).fit(X, Y).summary()._repr_html_()
    assert html.startswith("<table><caption>StackedJoint: score of left-out rows ")
    assert html.count("<tr>") == 5
    assert "<td>forest</td>" in html


def test_names_are_escaped_in_a_notebook():
    model = StackedJoint([("<b>", LogisticJoint([0.3]))], cv=2, random_state=0).fit(X, Y)
    assert "<td>&lt;b&gt;</td>" in model.summary()._repr_html_()
