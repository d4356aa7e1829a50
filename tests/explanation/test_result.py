"""What explanations look like: text, HTML, tables, frames, JSON; several models side by side."""

import dataclasses
import json
import pickle

import numpy as np
import pytest

import choral
from choral import HammingMeasure, SubsetMeasure, explain

TRUE = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]])
PRED = np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
LABELS = ["sea", "sky", "car"]
TEXT = """\
y_pred: subset 0/1 loss 0.5000; 4 rows, 3 labels
Labels by their part of the loss
  label   wrong  of Hamming loss  of this loss  weight gain
  sky    50.0 %           66.7 %        75.0 %         1.12
  car    25.0 %           33.3 %        25.0 %         0.75
  sea     0.0 %            0.0 %         0.0 %            -
Wrong together more (+) or less (-) often than independent errors
  labels     together  expected  excess, points     95 % interval      p
  sky + car    25.0 %    12.5 %          +12.50  -25.00 to +25.00  1.000
Most costly rows
  row    loss  true      mistake: - missed, + added
  1    1.0000  car       -car, +sky
  0    1.0000  sea, sky  -sky
Most frequent mistakes of label sets
  rows  true      mistake: - missed, + added
     1  sea, sky  -sky
     1  car       -car, +sky
F1: 0.6667 by row, 0.7273 micro, 0.7222 macro (0 / 0 is 0)
Jaccard: 0.6250 by row, 0.5714 micro, 0.6111 macro"""


def found():
    return explain(TRUE, PRED, labels=LABELS)


def large(n_labels=60, n_models=1):
    rng = np.random.default_rng(0)
    y_true = (rng.random((300, n_labels)) < 0.2).astype(int)
    predictions = {
        f"a model with a very long name {number}": np.where(
            rng.random(y_true.shape) < 0.1 + number / 50, 1 - y_true, y_true
        )
        for number in range(n_models)
    }
    names = [f"label with a name that is far too long for a table {label}\n" for label in range(n_labels)]
    return y_true, predictions, {"labels": names, "ids": [f"row {row} " * 10 for row in range(300)]}


def test_text_by_hand():
    assert repr(found()) == TEXT


def test_text_fits_a_screen():
    y_true, predictions, options = large(n_models=8)
    many = explain(y_true, predictions, **options)
    one = many["a model with a very long name 0"]
    for result, title in ((one, "Wrong together"), (many, "Rows judged differently")):
        lines = repr(result).split("\n")
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 100
        assert title in repr(result)
    assert "(10 of 60 labels)" in repr(one)
    assert "(5 of 8 models) (10 of 60 labels)" in repr(many)
    assert "Never predicted: " in repr(one)


def test_a_long_measure_is_cut():
    measure = choral.Capacity([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 1])
    assert max(map(len, repr(explain(TRUE, PRED, measure)).split("\n"))) <= 100


def test_html_has_the_same_and_escapes_names():
    page = explain(TRUE, PRED, labels=["<b>sea</b>", "sky", "car"])._repr_html_()
    assert "&lt;b&gt;sea&lt;/b&gt;" in page
    assert "<b>" not in page
    assert page.count("<table>") == page.count("</table>") == 4
    assert "<td>75.0 %</td>" in page
    both = explain(TRUE, {"a<i>": PRED, "b": TRUE})._repr_html_()
    assert "<th>a&lt;i&gt;</th>" in both


def test_tables_by_hand():
    result = found()
    labels = result.label_table()
    assert labels["label"] == ["sky", "car", "sea"]
    np.testing.assert_allclose(labels["error_rate"], [0.5, 0.25, 0])
    np.testing.assert_allclose(labels["hamming_share"], [0.5 / 3, 0.25 / 3, 0])
    np.testing.assert_allclose(labels["share"], [0.375, 0.125, 0])
    np.testing.assert_allclose(labels["gain"], [1.125, 0.75, np.nan])
    along = result.along_table()
    assert along["parameter"].tolist() == [1] * 3 + [2] * 3 + [3] * 3
    assert along["label"] == ["sky", "car", "sea"] * 3
    np.testing.assert_allclose(along["share"][-3:], [0.375, 0.125, 0])
    np.testing.assert_allclose(along["gain"][:3], [1, 1, np.nan])
    pairs = result.pair_table()
    assert (pairs["first"], pairs["second"]) == (["sky"], ["car"])
    np.testing.assert_allclose([pairs["together"], pairs["expected"], pairs["excess"]], [[0.25], [0.125], [0.125]])
    assert pairs["interaction"] == pytest.approx([-0.25])  # both wrong in one row of four: 1 - 1 - 1
    assert result.row_table() == {
        "id": [1, 0],
        "row": [1, 0],
        "loss": [1, 1],
        "true": [("car",), ("sea", "sky")],
        "predicted": [("sky",), ("sea",)],
    }
    assert result.mistake_table()["n_rows"] == [1, 1]
    figures = result.figure_table()
    assert figures["label"] == LABELS
    np.testing.assert_allclose(figures["recall"], [1, 0.5, 0.5])


def test_frames():
    pytest.importorskip("pandas")
    result, models = found(), explain(TRUE, {"a": PRED, "b": TRUE}, labels=LABELS)
    for what in ("labels", "pairs", "rows", "mistakes", "figures"):
        frame = result.to_pandas(what)
        assert list(frame.columns) == list(result.table(what))
        both = models.to_pandas(what)
        assert list(both.columns) == ["model", *frame.columns]
        assert len(both) >= len(frame)
    assert result.to_pandas()["label"].tolist() == ["sky", "car", "sea"]
    assert models.to_pandas()["model"].tolist() == ["a"] * 3 + ["b"] * 3
    assert models.to_pandas("disagreements")["id"].tolist() == [0, 1]
    with pytest.raises(ValueError, match="what must be one of 'labels', .*, 'mistakes', 'figures'; got 'x'"):
        result.to_pandas("x")
    with pytest.raises(ValueError, match="'figures', 'disagreements'; got 'x'"):
        models.to_pandas("x")


def test_json():
    found = explain(TRUE, PRED, family="polynomial", ids=[np.int64(4), "b", (1, 2), None]).to_dict()
    plain = json.loads(json.dumps(found, allow_nan=False))
    assert plain == found
    assert plain["loss"] == 0.5
    assert plain["along"]["parameters"] == [1, 2, 3, 10, "inf"]
    assert plain["gains"] == [None, 1.125, 0.75]
    assert [row["id"] for row in plain["costly_rows"]] == ["b", 4]
    assert plain["label_sets"]["mistakes"][0] == {"true": ["label 0", "label 1"], "predicted": ["label 0"], "n_rows": 1}
    assert plain["pairs"]["strongest"][0]["excess"] == pytest.approx(0.125)
    assert plain["pairs"]["is_sampled"] is False
    assert "zero_division" in plain["figures"]["conventions"]
    models = explain(TRUE, {"a": PRED, "b": TRUE}).to_dict()
    assert json.loads(json.dumps(models, allow_nan=False)) == models
    assert models["ranking"] == ["b", "a"]
    assert models["disagreements"]["rows"][0]["losses"] == [0, 1]


def test_several_models():
    models = explain(TRUE, {"a": PRED, "b": TRUE, "c": 1 - TRUE}, HammingMeasure())
    assert list(models) == ["a", "b", "c"]
    assert len(models) == 3
    assert models.ranking == ("b", "a", "c")
    assert {name: one.name for name, one in models.items()} == {"a": "a", "b": "b", "c": "c"}
    np.testing.assert_array_equal(models["a"].shares, explain(TRUE, PRED, HammingMeasure()).shares)
    one = explain(TRUE, {"a": PRED})
    assert one.disagreements is None
    assert "Rows that two models" not in repr(one)
    assert one.to_dict()["disagreements"] is None
    assert one.table("disagreements")["id"] == []


def test_rows_that_two_models_judge_differently():
    y_true = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 1]])
    first, second = y_true.copy(), y_true.copy()
    first[0, 0] = 0  # one label wrong in row 0
    second[1] = 1 - second[1]  # three in row 1
    second[2, :2] = 1 - second[2, :2]  # two in row 2
    first[3, 0] = second[3, 1] = 1  # one in row 3, for both
    models = explain(y_true, {"second": second, "first": first}, HammingMeasure(), ids=list("vwxyz"))
    between = models.disagreements
    assert between.models == ("first", "second")
    assert (between.n_first_better, between.n_second_better, between.n_equal) == (2, 1, 2)
    assert [(row.id, row.row) for row in between.rows] == [("w", 1), ("x", 2), ("v", 0)]
    assert between.rows[1].losses == pytest.approx((0, 2 / 3))
    assert between.rows[1].true == ("label 0",)
    assert between.rows[1].predicted == (("label 0",), ("label 1",))
    few = explain(y_true, {"second": second, "first": first}, HammingMeasure(), n_most=1).disagreements
    assert [row.row for row in few.rows] == [1, 0]


def test_rows_of_which_nothing_is_known_are_no_disagreement():
    y_true = np.array([[np.nan, np.nan], [1, 0]])
    models = explain(y_true, {"a": [[1, 1], [1, 0]], "b": [[0, 0], [0, 0]]})
    assert [row.row for row in models.disagreements.rows] == [1]
    assert models.disagreements.n_equal == 0


def test_values_are_frozen_and_travel():
    result = pickle.loads(pickle.dumps(found()))
    assert repr(result) == TEXT
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.name = "other"
    assert explain(TRUE, PRED).measure == SubsetMeasure()


def test_rows_without_a_known_label_are_said_to_be_left_out():
    rows = np.vstack([TRUE, np.full((2, 3), np.nan)]), np.vstack([PRED, PRED[:2]])
    assert "\n2 more rows have no known label and are left out.\n" in repr(explain(*rows))
    assert "left out" not in repr(found())


# Pictures


def test_explanations_are_drawn():
    pytest.importorskip("matplotlib").use("Agg")
    found = explain(TRUE, PRED, parameters=[1, 2, 3])
    bars = found.plot_labels()
    widths = [[bar.get_width() for bar in container] for container in bars.bars_]
    order = np.argsort(-found.along.shares[-1], kind="stable")
    for drawn, place in zip(widths, (0, 2), strict=True):
        np.testing.assert_allclose(drawn, 100 * found.along.shares[place][order] / found.along.losses[place])
    assert found.plot_labels(parameter=2).bars_[1][0].get_width() == pytest.approx(
        100 * found.along.shares[1].max() / found.along.losses[1]
    )
    assert len(found.plot_along().lines_) == 3
    pairs = found.plot_pairs()
    assert pairs.labels == tuple(found.labels[label] for label in found.pairs.labels)
    np.testing.assert_array_equal(pairs.matrix, found.pairs.correlations)


def test_they_are_drawn_on_given_axes():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    _, axes = pyplot.subplots(1, 3)
    found = explain(TRUE, PRED)
    drawn = (found.plot_labels(axes[0]), found.plot_along(axes[1]), found.plot_pairs(axes[2]))
    assert [display.ax_ for display in drawn] == list(axes)
    pyplot.close("all")
