"""A measure is one class: four measures that choral does not know, one of each form, get all that it has to offer.

Each says its form and nothing else. What comes out is compared with its worth, set by set.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral import ChoquetDisplay, ErrorProfile, IndependentLabels, LabelDistribution, bayes_optimal
from choral.measures import ByCount, ByRelevance, CountingMeasure, Measure, Table, Terms
from definitions import best_by_enumeration, choquet_by_levels, losses_by_definition, risks_by_enumeration, worth_of

N_LABELS = 4


@dataclass(frozen=True)
class HalfTogether(Measure):
    """By count: a share of the worth is had only if all labels are right."""

    share: float = 0.5

    def form(self, n_labels):
        values = (1 - self.share) * np.arange(n_labels + 1) / n_labels
        values[-1] = 1
        return ByCount(n_labels, CountingMeasure(values))


@dataclass(frozen=True)
class Neighbours(Measure):
    """By terms: labels count by themselves, and with the next one."""

    alone: float = 0.25

    def form(self, n_labels):
        together = (1 - self.alone) / (n_labels - 1)
        pairs = tuple(((label, label + 1), together) for label in range(n_labels - 1))
        return Terms(np.full(n_labels, self.alone / n_labels), pairs)


@dataclass(frozen=True)
class SquareOfWeights(Measure):
    """By table: the squared sum of weights 1, 2, 3, ..."""

    power: float = 2.0

    def form(self, n_labels):
        weights = np.arange(1, n_labels + 1) / np.arange(1, n_labels + 1).sum()
        sums = (np.arange(1 << n_labels)[:, np.newaxis] >> np.arange(n_labels) & 1) @ weights
        return Table(np.append(sums[:-1] ** self.power, 1.0))


@dataclass(frozen=True)
class RelevantNeighbours(Measure):
    """By relevance: neighbours that are relevant count more."""

    beta: float = 2.0

    def form(self, n_labels):
        return ByRelevance(Neighbours().form(n_labels), self.beta)


@dataclass(frozen=True)
class RelevantSquares(RelevantNeighbours):
    """By relevance, of a table."""

    def form(self, n_labels):
        return ByRelevance(SquareOfWeights().form(n_labels), self.beta)


PLAIN = [HalfTogether(), Neighbours(), SquareOfWeights()]
MEASURES = [*PLAIN, RelevantNeighbours(), RelevantSquares()]
CLOSED_FOR_INDEPENDENT = PLAIN

any_measure = pytest.mark.parametrize("measure", MEASURES, ids=repr)
any_plain = pytest.mark.parametrize("measure", PLAIN, ids=repr)


def worth_given(measure, truth):
    """The worth of sets where some labels are relevant, as a function of a frozenset of labels."""

    def worth(labels):
        row = np.array([[label in labels for label in range(N_LABELS)]])
        return float(measure.worth(row, np.array([truth]))[0])

    return worth


def expected_losses(measure, y_true, y_pred):
    """One minus the Choquet integral of what is right, level by level."""
    return [
        1 - choquet_by_levels(1 - np.abs(truth - scores), worth_given(measure, truth))
        for truth, scores in zip(y_true, y_pred, strict=True)
    ]


def labels_and_scores(hard, n_rows=9):
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(2, size=(n_rows, N_LABELS)), rng.random((n_rows, N_LABELS))
    y_true[0], y_true[1] = 1, 0
    return y_true, (scores > 0.5).astype(int) if hard else scores


def make_distribution():
    rng = np.random.default_rng(1)
    labelsets = np.array(list(product((0, 1), repeat=N_LABELS)))[rng.permutation(16)[:9]]
    return LabelDistribution(labelsets, rng.dirichlet(np.full(9, 0.5), size=3))


def assert_optimal(measure, distribution, decision):
    for row in range(distribution.n_instances):
        labels, risk = best_by_enumeration(measure, distribution.labelsets, distribution.weights[row])
        assert tuple(decision.labels[row].tolist()) == labels
        assert decision.risk[row] == pytest.approx(risk, abs=1e-12)
        assert decision.exact[row]


@any_measure
@pytest.mark.parametrize("hard", [True, False])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_losses(measure, hard, make):
    y_true, y_pred = labels_and_scores(hard)
    losses = choral.choquet_loss(make(y_true), make(y_pred), measure, reduction="none")
    np.testing.assert_allclose(losses, expected_losses(measure, y_true, y_pred), atol=1e-12)


@any_measure
@pytest.mark.parametrize("hard", [True, False])
def test_losses_of_tensors(measure, hard):
    torch = pytest.importorskip("torch")
    y_true, y_pred = labels_and_scores(hard)
    losses = choral.choquet_loss(torch.tensor(y_true), torch.tensor(y_pred), measure, reduction="none")
    np.testing.assert_allclose(losses.numpy(), expected_losses(measure, y_true, y_pred), atol=1e-12)


@any_plain
def test_integrals(measure):
    _, u = labels_and_scores(hard=False)
    expected = [choquet_by_levels(row, worth_of(measure, N_LABELS)) for row in u]
    np.testing.assert_allclose(choral.choquet_integral(u, measure), expected, atol=1e-12)
    np.testing.assert_allclose(choral.choquet_integral_moebius(u, measure), expected, atol=1e-12)


@any_measure
def test_expected_losses(measure):
    distribution = make_distribution()
    candidates = np.array(list(product((0, 1), repeat=N_LABELS)))
    expected = distribution.weights @ losses_by_definition(measure, candidates, distribution.labelsets).T
    np.testing.assert_allclose(distribution.expected_loss(candidates, measure), expected, atol=1e-13)
    for number, candidate in enumerate(candidates):
        np.testing.assert_allclose(distribution.risk(candidate, measure), expected[:, number], atol=1e-13)


@any_measure
@pytest.mark.parametrize("method", ["auto", "quick", "transform", "branch_and_bound", "search"])
def test_decisions(measure, method):
    distribution = make_distribution()
    assert_optimal(measure, distribution, bayes_optimal(distribution, measure, method=method))


@any_measure
def test_decisions_of_methods_that_look_at_no_list_of_all_predictions(measure, monkeypatch):
    monkeypatch.setattr("choral.decisions.search.MAX_ENUMERATED_LABELS", 0)
    distribution = make_distribution()
    assert_optimal(measure, distribution, bayes_optimal(distribution, measure, method="branch_and_bound"))
    found = bayes_optimal(distribution, measure, method="search")
    best = bayes_optimal(distribution, measure, method="transform")
    assert (found.lower_bound <= best.risk + 1e-12).all()
    assert (found.risk >= best.risk - 1e-12).all()


@any_measure
@pytest.mark.parametrize("method", ["auto", "transform", "search"])
def test_decisions_on_a_device(measure, method):
    torch = pytest.importorskip("torch")
    distribution = make_distribution()
    tensors = LabelDistribution(torch.tensor(distribution.labelsets), torch.tensor(distribution.weights))
    decision = bayes_optimal(tensors, measure, method=method)
    assert isinstance(decision.labels, torch.Tensor)
    assert_optimal(measure, distribution, decision)


@any_measure
@pytest.mark.parametrize("method", ["auto", "transform", "closed_form"])
def test_decisions_for_independent_labels(measure, method):
    marginals = np.array([[0.9, 0.2, 0.55, 0.4], [0.1, 0.7, 0.5, 0.45]])
    distribution = IndependentLabels(marginals)
    if method == "closed_form" and measure not in CLOSED_FOR_INDEPENDENT:
        with pytest.raises(ValueError, match="method 'closed_form' needs an additive measure"):
            bayes_optimal(distribution, measure, method=method)
        return
    decision = bayes_optimal(distribution, measure, method=method)
    for row, of_row in enumerate(marginals):
        joint = IndependentLabels(of_row).to_label_distribution()
        labels, risk = best_by_enumeration(measure, joint.labelsets, joint.weights[0])
        assert tuple(decision.labels[row].tolist()) == labels
        assert decision.risk[row] == pytest.approx(risk, abs=1e-12)
        risks = risks_by_enumeration(measure, joint.labelsets, joint.weights[0])
        candidates = list(risks)
        np.testing.assert_allclose(
            IndependentLabels(of_row).expected_loss(candidates, measure)[0], list(risks.values()), atol=1e-12
        )


@pytest.mark.parametrize("hard", [True, False])
def test_a_profile_serves_what_counts(hard):
    y_true, y_pred = labels_and_scores(hard)
    profile = ErrorProfile.from_predictions(y_true, y_pred)
    expected = np.mean(expected_losses(HalfTogether(), y_true, y_pred))
    assert profile.loss(HalfTogether()) == pytest.approx(expected, abs=1e-12)


@any_measure
def test_networks_are_trained_with_it(measure):
    torch = pytest.importorskip("torch")
    nn = pytest.importorskip("choral.nn")
    y_true, scores = labels_and_scores(hard=False, n_rows=5)
    target, preds = torch.tensor(y_true), torch.tensor(scores)
    losses = nn.functional.choquet_loss(preds, target, measure, reduction="none")
    np.testing.assert_allclose(losses.numpy(), expected_losses(measure, y_true, scores), atol=1e-12)
    logits = torch.logit(preds).requires_grad_()
    for surrogate in ("logistic", "absolute"):
        loss = nn.ChoquetLoss(measure, surrogate, reduction="none")
        assert torch.autograd.gradcheck(loss, (logits, target), eps=1e-6)


@any_measure
def test_it_is_drawn(plt, measure):
    u, truth = np.array([0.8, 0.3, 0.9, 0.45]), [1, 0, 1, 1]
    needs_truth = measure not in PLAIN
    display = ChoquetDisplay(u, measure, y_true=truth if needs_truth else None).plot()
    assert display.integral == pytest.approx(choquet_by_levels(u, worth_given(measure, truth)), abs=1e-12)
    assert len(display.axes_) == 2
