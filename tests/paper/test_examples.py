"""The paper's worked examples and its Table 1: the printed numbers, and exact fractions by plain enumeration."""

import re
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import comb

import numpy as np
import pytest

from choral import (
    BinomialMeasure,
    HammingMeasure,
    LabelDistribution,
    SubsetMeasure,
    bayes_curve,
    bayes_optimal,
    binomial_loss,
    hamming_loss,
    owa_loss,
    subset_loss,
)
from choral.datasets import load
from choral.decisions import search as search_module
from choral.paper.examples import FIVE_LABELS, OWA_SCORES, OWA_TRUE, OWA_WEIGHTS, THREE_LABELS
from choral.stats import describe

METHODS = ("auto", "quick", "transform", "branch_and_bound", "search")

# The optimum for each k, printed, and its risk, which the paper does not print
THREE_OPTIMA = {1: ("111", Fraction(7, 16)), 2: ("111", Fraction(5, 8)), 3: ("000", Fraction(3, 4))}
FIVE_OPTIMA = {
    1: ("10010", Fraction("0.4814")),
    2: ("00111", Fraction("0.7236")),
    3: ("00111", Fraction("0.8415")),
    4: ("11000", Fraction("0.9052")),
    5: ("10110", Fraction("0.938")),
}
OPTIMA = [(THREE_LABELS, THREE_OPTIMA), (FIVE_LABELS, FIVE_OPTIMA)]
OF_BOTH = pytest.mark.parametrize("distribution, optima", OPTIMA, ids=["three labels", "five labels"])

TABLE_1 = {  # instances, labels, labels / instances, unique label sets, cardinality: as printed
    "birds": ("645", "19", "0.0295", "133", "1.01"),
    "emotions": ("593", "6", "0.0101", "27", "1.87"),
    "enron-f": ("1702", "53", "0.0311", "753", "3.38"),
    "flags": ("194", "12", "0.0619", "103", "4.12"),
    "genbase": ("662", "27", "0.0408", "32", "1.25"),
    "llog-f": ("1460", "75", "0.0514", "304", "1.18"),
    "medical": ("978", "45", "0.0460", "94", "1.25"),
    "scene": ("2407", "6", "0.0025", "15", "1.07"),
    "yeast": ("2417", "14", "0.0058", "198", "4.24"),
}


def digits(labels):
    return "".join(str(int(label)) for label in labels)


def in_fractions(distribution):
    """Exact probabilities of label sets: thousandths for five labels, sixteenths for three."""
    weights = np.asarray(distribution.weights[0])
    denominator = 1000 if distribution is FIVE_LABELS else 16
    counts = (weights * denominator).round().astype(int)
    assert (counts / denominator).tolist() == weights.tolist()
    return {
        digits(labels): Fraction(count, denominator)
        for labels, count in zip(distribution.labelsets, counts.tolist(), strict=True)
    }


def risks_in_fractions(distribution, k):
    """For every prediction: the expected share of sets of k labels that contain a mistake, counted one by one."""
    n_labels = distribution.n_labels
    probabilities = in_fractions(distribution)
    risks = {}
    for prediction in map(digits, product((0, 1), repeat=n_labels)):
        risks[prediction] = Fraction(0)
        for truth, probability in probabilities.items():
            bad = sum(any(prediction[i] != truth[i] for i in labels) for labels in combinations(range(n_labels), k))
            risks[prediction] += probability * Fraction(bad, comb(n_labels, k))
    return risks


# The OWA example


@pytest.mark.parametrize("name, printed", [("Hamming", "0.30"), ("subset 0/1", "0.70"), ("between", "0.43")])
def test_owa_losses_are_the_printed_ones(name, printed):
    assert f"{owa_loss([OWA_TRUE], [OWA_SCORES], OWA_WEIGHTS[name]):.2f}" == printed


def test_owa_losses_in_fractions():
    errors = sorted((abs(y - Fraction(str(s))) for y, s in zip(OWA_TRUE, OWA_SCORES, strict=True)), reverse=True)
    assert errors == [Fraction(tenths, 10) for tenths in (7, 4, 3, 2, 1, 1)]
    expected = {"Hamming": Fraction(3, 10), "subset 0/1": Fraction(7, 10), "between": Fraction(13, 30)}
    for name, loss in expected.items():
        weights = [Fraction(weight).limit_denominator(15) for weight in OWA_WEIGHTS[name]]
        assert sum(weights) == 1
        assert sum(weight * error for weight, error in zip(weights, errors, strict=True)) == loss
        assert owa_loss([OWA_TRUE], [OWA_SCORES], OWA_WEIGHTS[name]) == pytest.approx(float(loss), rel=1e-14)


@pytest.mark.parametrize(
    "name, measure, loss",
    [
        ("Hamming", HammingMeasure(), hamming_loss),
        ("subset 0/1", SubsetMeasure(), subset_loss),
        ("between", BinomialMeasure(2), lambda y_true, y_pred: binomial_loss(y_true, y_pred, k=2)),
    ],
)
def test_owa_weights_are_those_of_a_measure(name, measure, loss):
    np.testing.assert_allclose(measure.weights(6), OWA_WEIGHTS[name], rtol=1e-15)
    expected = owa_loss([OWA_TRUE], [OWA_SCORES], OWA_WEIGHTS[name])
    assert loss([OWA_TRUE], [OWA_SCORES]) == pytest.approx(expected, rel=1e-14)


# The two distributions


def test_probabilities_are_those_of_the_paper(reference_folder):
    text = (reference_folder / "paper.md").read_text(encoding="utf-8")
    table = {labels: Fraction(p) for labels, p in re.findall(r"^\| ([01]{5}) \| (\d\.\d{3}) \|$", text, re.MULTILINE)}
    assert in_fractions(FIVE_LABELS) == table


@OF_BOTH
def test_probabilities_sum_to_exactly_one(distribution, optima):
    assert sum(in_fractions(distribution).values()) == 1


def test_modes_of_three_labels():
    assert THREE_LABELS.marginals().tolist() == [[9 / 16] * 3]
    assert digits(THREE_LABELS.marginal_mode()[0]) == "111"
    assert digits(THREE_LABELS.mode()[0]) == "000"


def test_modes_of_five_labels():
    probabilities = in_fractions(FIVE_LABELS)
    assert len(probabilities) == 32
    assert max(probabilities, key=probabilities.get) == digits(FIVE_LABELS.mode()[0]) == "10110"
    assert probabilities["10110"] == Fraction("0.062")
    marginals = [sum(p for labels, p in probabilities.items() if labels[i] == "1") for i in range(5)]
    assert FIVE_LABELS.marginals()[0] == pytest.approx([float(p) for p in marginals], rel=1e-14)
    assert digits(p > Fraction(1, 2) for p in marginals) == digits(FIVE_LABELS.marginal_mode()[0]) == "10010"


@OF_BOTH
def test_optima_by_enumeration_in_fractions_are_the_printed_ones_and_unique(distribution, optima):
    for k, (printed, least) in optima.items():
        risks = risks_in_fractions(distribution, k)
        assert [prediction for prediction, risk in risks.items() if risk == min(risks.values())] == [printed]
        assert risks[printed] == least


@OF_BOTH
@pytest.mark.parametrize("method", METHODS)
def test_every_method_finds_the_printed_optima(distribution, optima, method):
    for k, (printed, least) in optima.items():
        decision = bayes_optimal(distribution, BinomialMeasure(k), method=method)
        assert digits(decision.labels[0]) == printed
        assert decision.risk[0] == pytest.approx(float(least), abs=1e-14)
        assert decision.exact[0]


@OF_BOTH
@pytest.mark.parametrize("method", ["branch_and_bound", "search"])
def test_they_find_them_without_enumeration(monkeypatch, distribution, optima, method):
    monkeypatch.setattr(search_module, "MAX_ENUMERATED_LABELS", 0)
    for k, (printed, _) in optima.items():
        assert digits(bayes_optimal(distribution, BinomialMeasure(k), method=method).labels[0]) == printed


@OF_BOTH
def test_closed_forms_find_both_ends(distribution, optima):
    for k, measure in ((1, HammingMeasure()), (distribution.n_labels, SubsetMeasure())):
        printed, least = optima[k]
        decision = bayes_optimal(distribution, measure, method="closed_form")
        assert digits(decision.labels[0]) == printed
        assert decision.risk[0] == pytest.approx(float(least), abs=1e-14)


@OF_BOTH
@pytest.mark.parametrize("method", METHODS)
def test_the_curve_has_all_optima(distribution, optima, method):
    curve = bayes_curve(distribution, method=method)
    assert [digits(labels) for labels in curve.labels[:, 0]] == [printed for printed, _ in optima.values()]
    assert curve.risk[:, 0] == pytest.approx([float(least) for _, least in optima.values()], abs=1e-14)


def test_labels_that_change_from_one_k_to_the_next():
    printed = [labels for labels, _ in FIVE_OPTIMA.values()]
    expected = [sum(a != b for a, b in zip(*labels, strict=True)) for labels in pairwise(printed)]
    assert expected == [3, 0, 5, 3]
    changes = bayes_curve(FIVE_LABELS).changes()
    assert {change.parameter: len(change.added) + len(change.removed) for change in changes} == {2: 3, 4: 5, 5: 3}


def test_other_joint_distributions_with_the_same_marginals_have_other_optima():
    """Marginals suffice for Hamming loss alone: with independent labels, 10010 is best for every k."""
    marginals = FIVE_LABELS.marginals()[0]
    labelsets = np.array(list(product((0, 1), repeat=5)))
    independent = LabelDistribution(labelsets, np.where(labelsets, marginals, 1 - marginals).prod(axis=1))
    assert independent.marginals()[0] == pytest.approx(marginals, rel=1e-14)
    assert {digits(labels) for labels in bayes_curve(independent).labels[:, 0]} == {"10010"}


# Table 1


@pytest.mark.parametrize("name", TABLE_1)
def test_table_1(datasets_folder, monkeypatch, name):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    found = describe(load(name))
    row = found.n_instances, found.n_labels, f"{found.ratio:.4f}", found.n_labelsets, f"{found.cardinality:.2f}"
    assert tuple(map(str, row)) == TABLE_1[name]
