"""Models explained at the last loss of an evaluation, and what pages get of it."""

import json

import numpy as np
import pytest

import choral
from choral import evaluate
from choral.evaluation import evaluate_summaries
from choral.evaluation.evaluating import summarise_models
from choral.evaluation.last_loss import (
    MAX_CELLS_OF_FIGURES,
    explanation_contents,
    last_measure,
    names_to_explain,
    togetherness_contents,
)
from choral.evaluation.page import evaluation_contents
from choral.evaluation.references import Togetherness
from choral.rows import open_rows

RNG = np.random.default_rng(0)
TRUE = RNG.integers(2, size=(60, 3))
GOOD, BAD = (np.where(RNG.random(TRUE.shape) < rate, 1 - TRUE, TRUE) for rate in (0.1, 0.3))


def contents_of(evaluation, **options):
    return evaluation_contents([evaluation], "songs", ["words"], **options)


def test_it_is_explain_at_subset_loss_with_names_of_labels_and_rows():
    labels, ids = ["sea", "sky", "car"], [f"song {number}" for number in range(60)]
    weights = np.arange(1, 61)
    evaluation = evaluate(TRUE, {"bad": BAD, "good": GOOD}, sample_weight=weights, confidence=0.8, n_bootstrap=0)
    found = evaluation.explain(evaluation.models, labels=labels, ids=ids)
    expected = choral.explain(TRUE, GOOD, sample_weight=weights, confidence=0.8, labels=labels, ids=ids)
    assert list(found) == ["bad", "good"]
    assert found["good"].shares == pytest.approx(expected.shares)
    assert found["good"].costly_rows == expected.costly_rows
    assert found["good"].pairs.pairs == expected.pairs.pairs
    assert found["good"].loss == pytest.approx(evaluation.curves["good"].losses[-1])


@pytest.mark.parametrize(
    "options, measure, words",
    [
        ({}, choral.SubsetMeasure(), "subset 0/1 loss"),
        ({"parameters": [1, 2]}, choral.BinomialMeasure(2), "binomial loss at k=2"),
        ({"family": "polynomial"}, choral.SubsetMeasure(), "subset 0/1 loss"),
        (
            {"family": "polynomial", "parameters": [1, 2.5]},
            choral.PolynomialMeasure(2.5),
            "polynomial loss at alpha=2.5",
        ),
    ],
)
def test_the_last_loss_of_the_table(options, measure, words):
    evaluation = evaluate(TRUE, {"good": GOOD}, n_bootstrap=0, **options)
    assert last_measure(evaluation) == (measure, words)
    (explained,) = contents_of(evaluation)["explanations"]
    assert explained["measure"] == words
    assert explained["loss"] == pytest.approx(
        evaluation.summary().rows["good"][len(evaluation.summary().parameters) - 1]
    )
    assert sum(explained["share"]) == pytest.approx(explained["loss"])


def test_scores_are_explained_as_given_or_by_the_threshold():
    scores = np.clip(0.8 * TRUE + RNG.random(TRUE.shape) * 0.2 - 0.3 * (GOOD != TRUE), 0, 1)
    as_given = evaluate(TRUE, {"m": scores}, n_bootstrap=0).explain(["m"])["m"]
    assert as_given.shares == pytest.approx(choral.explain(TRUE, scores).shares)
    cut = evaluate(TRUE, {"m": scores}, threshold=0.6, n_bootstrap=0).explain(["m"])["m"]
    assert cut.shares == pytest.approx(choral.explain(TRUE, (scores >= 0.6).astype(int)).shares)
    assert cut.loss != pytest.approx(as_given.loss)


def test_labels_decided_anew_for_each_loss_are_those_for_the_last():
    joint = choral.LabelDistribution(np.array([[1, 0, 0], [0, 1, 1], [0, 1, 0]]), np.tile([0.4, 0.35, 0.25], (60, 1)))
    curve = choral.bayes_curve(joint)
    expected = choral.explain(TRUE, curve.decisions[-1].labels)
    assert (curve.decisions[0].labels != curve.decisions[-1].labels).any()
    for predictions in (curve, {"binomial": curve}):
        evaluation = evaluate(TRUE, {"decided": predictions}, n_bootstrap=0)
        found = evaluation.explain("decided")
        assert found.shares == pytest.approx(expected.shares)
        (explained,) = contents_of(evaluation)["explanations"]
        assert explained["togetherness"] is None  # of which labels?


def test_all_of_a_few_models_are_explained_and_the_best_two_of_many():
    worse = {f"m{flips}": np.where(np.arange(60)[:, None] < flips, 1 - TRUE, TRUE) for flips in (40, 10, 20, 30, 50, 5)}
    assert names_to_explain(evaluate(TRUE, worse, n_bootstrap=0)) == ("m5", "m10", "m20", "m30", "m40", "m50")
    many = evaluate(TRUE, {**worse, "m1": np.where(np.arange(60)[:, None] < 1, 1 - TRUE, TRUE)}, n_bootstrap=0)
    assert names_to_explain(many) == ("m1", "m5")
    page = contents_of(many)
    assert [each["model"] for each in page["explanations"]] == ["m1", "m5"]
    assert [each["models"] for each in page["disagreements"]] == [["m1", "m5"]]
    assert (page["disagreements"][0]["n_first_better"], page["disagreements"][0]["n_second_better"]) == (4, 0)


def test_summaries_of_parts_hold_no_rows():
    total = summarise_models([open_rows(TRUE, GOOD)], names=["good"], joint=True)
    evaluation = evaluate_summaries(total, n_bootstrap=0)
    with pytest.raises(ValueError, match=r"which do not hold the rows; choral\.explain\(y_true, y_pred\) takes"):
        evaluation.explain()
    page = contents_of(evaluation)
    assert "explanations" not in page
    assert page["notes"][-1].startswith("Where the loss comes from is not shown: this evaluation was made of summaries")


def test_a_page_has_plain_numbers_alone():
    some = TRUE.astype(float)
    some[:, 2] = np.nan  # never known
    page = contents_of(evaluate(some, {"good": GOOD, "same": GOOD}, n_bootstrap=20))
    json.dumps(page, allow_nan=False)
    assert page["explanations"][0]["rates"][2] is None
    assert page["disagreements"] == []  # the two models are equal
    assert page["datasets"][0]["labels"] == page["explanations"][0]["labels"] == ["label 0", "label 1", "label 2"]


def test_what_a_page_shows_of_an_explanation():
    evaluation = evaluate(TRUE, {"good": GOOD}, n_bootstrap=50)
    found = choral.explain(TRUE, {"good": GOOD})["good"]
    together = evaluation.togetherness()["good"]
    shown = explanation_contents(found, "songs", "subset 0/1 loss", together)
    assert shown["share"] == found.shares.tolist()
    assert shown["share_hamming"] == found.along.hamming.tolist()
    assert shown["along"] == {"symbol": "k", "parameters": [1, 2, 3], "shares": found.along.shares.tolist()}
    assert shown["togetherness"] == {
        "value": together.estimate,
        "lower": together.lower,
        "upper": together.upper,
        "independent": together.independent,
    }
    pair = found.pairs.pairs[0]
    assert shown["pairs"][0] == {
        "first": found.labels[pair.first],
        "second": found.labels[pair.second],
        "together": pair.together,
        "expected": pair.expected,
        "excess": pair.excess,
        "lower": pair.lower,
        "upper": pair.upper,
        "p": pair.p_value,
    }
    assert shown["matrix"]["values"] == found.pairs.correlations.tolist()
    assert [row["id"] for row in shown["rows"]] == [str(row.id) for row in found.costly_rows]
    assert [each["n"] for each in shown["mistakes"]] == [each.n_rows for each in found.mistakes]
    assert shown["figures"]["F1, micro"] == found.figures.f1_micro
    assert (shown["precision"], shown["recall"]) == (found.figures.precision.tolist(), found.figures.recall.tolist())
    assert "zero_division=0" in shown["conventions"]
    assert shown["figures"]["Jaccard, by row"] == found.figures.jaccard_samples
    assert explanation_contents(found, "songs", "loss", figures=False)["figures"] == {}


def test_figures_are_left_out_where_they_take_long(monkeypatch):
    monkeypatch.setattr("choral.evaluation.last_loss.MAX_CELLS_OF_FIGURES", 179)
    found = choral.explain(TRUE, {"good": GOOD})["good"]
    assert MAX_CELLS_OF_FIGURES > 180
    assert explanation_contents(found, "songs", "loss")["figures"] == {}


@pytest.mark.parametrize(
    "found, expected",
    [
        (None, None),
        (Togetherness(float("nan"), None, None, 0.5), None),
        (
            Togetherness(0.25, None, None, float("nan")),
            {"value": 0.25, "lower": None, "upper": None, "independent": None},
        ),
    ],
)
def test_togetherness_that_is_not_known(found, expected):
    assert togetherness_contents(found) == expected
