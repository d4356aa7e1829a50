"""What an evaluation shows and does in a notebook: table and sentences, togetherness, frames, plots, pages."""

import html
import json
import re
import sys
from fractions import Fraction

import numpy as np
import pytest

import choral
from choral import ErrorProfile, HammingMeasure, SubsetMeasure, evaluate
from choral.evaluation import Comparison, Togetherness, evaluate_summaries
from choral.evaluation.evaluating import summarise_models
from choral.evaluation.result import COLUMNS
from choral.rows import open_rows

RNG = np.random.default_rng(0)
TRUE = (RNG.random((200, 4)) < 0.4).astype(int)
APART = TRUE ^ (RNG.random(TRUE.shape) < 0.1)  # each label on its own
TOGETHER = np.where(RNG.random((200, 1)) < 0.15, 1 - TRUE, TRUE)  # rows wholly wrong
MODELS = {"apart": APART, "together": TOGETHER}


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(TRUE, MODELS)


@pytest.fixture(scope="module")
def of_parts():
    """Hard labels and scores of which only summaries are there."""
    models = [open_rows(TRUE, APART), open_rows(TRUE, np.abs(TRUE - 0.2))]
    return evaluate_summaries(summarise_models(models, ["hard", "soft"], joint=False, rates=True), n_bootstrap=0)


# Printed


def test_printed_it_is_the_table_and_the_sentences(evaluation):
    table, _, text = repr(evaluation).partition("\n\n")
    assert [line.split()[0] for line in table.splitlines()] == ["model", "apart", "together", "all"]
    assert " ".join(text.split()) == " ".join(evaluation.sentences())
    assert max(map(len, text.splitlines())) <= 80
    assert evaluation.sentences()[0].startswith("200 rows, 4 labels, hard predictions; lower is better")


def test_stars_are_for_losses_alone(evaluation):
    cells = evaluation.cells()
    assert [best for _, best in cells["apart"]] == [True, False, False, False, False, False]
    assert [best for _, best in cells["together"]] == [False, True, True, True, True, False]
    assert not any(best for _, best in cells[evaluation.baseline])


def test_in_html(evaluation):
    odd = evaluate(TRUE, {"<b>&": APART}, n_bootstrap=0)._repr_html_()
    assert "&lt;b&gt;&amp;" in odd
    assert "<b>&amp;" not in odd
    page = evaluation._repr_html_()
    assert "<script" not in page
    for sentence in evaluation.sentences():
        assert f"<p>{html.escape(sentence)}</p>" in page
    assert f"<td><b>*{evaluation.curves['apart'].losses[0]:.4f}</b></td>" in page


@pytest.mark.parametrize(
    "models, options, headline",
    [
        ({"a": TRUE, "b": 1 - TRUE}, {}, "a is best, whatever the loss."),
        (MODELS, {}, "No model is surely best at k=1"),
        ({"a": TRUE, "b": TRUE}, {}, "All models have the same losses."),
        ({"a": TRUE, "b": 1 - TRUE}, {"n_bootstrap": 0}, "a leads, whatever the loss."),
        (MODELS, {"n_bootstrap": 0}, "apart leads at k=1 (Hamming), together leads at k=4 (subset 0/1)."),
        ({"a": 1 - TRUE}, {}, "a: loss 1.0000 at k=1 (Hamming), 1.0000 at k=4 (subset 0/1)."),
    ],
)
def test_headlines(models, options, headline):
    assert headline.lower() in evaluate(TRUE, models, **options).headline().lower()


def test_headlines_of_two_ends():
    one_wrong = TRUE.copy()
    one_wrong[:, 0] = 1 - one_wrong[:, 0]  # Hamming 1/4, subset 1
    half = np.where(np.arange(200)[:, None] < 100, 1 - TRUE, TRUE)  # 1/2 everywhere
    found = evaluate(TRUE, {"one": one_wrong, "half": half})
    assert found.headline() == "one is best at k=1 (Hamming), half at k=4 (subset 0/1)."
    quarter = np.where(np.arange(200)[:, None] < 50, 1 - TRUE, TRUE)
    found = evaluate(TRUE, {"quarter": quarter, "one": one_wrong})
    same = "where quarter and one have the same loss."
    expected = f"quarter is best at k=4 (subset 0/1); no model is surely best at k=1 (Hamming), {same}"
    assert found.headline() == expected
    apart = evaluate(TRUE[:40], {name: labels[:40] for name, labels in MODELS.items()})
    leads = "No model is surely best; apart leads at k=1 (Hamming), together leads at k=4 (subset 0/1)."
    assert apart.headline() in (leads, "No model is surely best; together leads.")


def test_headlines_of_equal_losses_and_of_one_label():
    one_wrong, two_wrong = TRUE.copy(), TRUE.copy()
    one_wrong[:, 0] ^= 1
    two_wrong[:, :2] ^= 1
    found = evaluate(TRUE, {"one": one_wrong, "two": two_wrong}, n_bootstrap=0)  # both are wrong in all rows
    assert found.headline() == "one leads at k=1 (Hamming), one and two have the same loss at k=4 (subset 0/1)."
    many = {f"m{i}": one_wrong for i in range(5)}
    found = evaluate(TRUE, {**many, "two": two_wrong}, n_bootstrap=0)
    assert found.headline().startswith("5 models have the same loss at k=1 (Hamming), 6 models")
    assert evaluate(TRUE[:, :1], {"one": 1 - TRUE[:, :1]}).headline() == "one: loss 1.0000 at k=1 (Hamming)."


def test_names_stay_in_their_line():
    found = evaluate(TRUE, {"two\nlines": APART}, n_bootstrap=0)
    assert repr(found).splitlines()[1].startswith(r"two\nlines ")
    assert r"<th>two\nlines</th>" in found._repr_html_()
    assert found.headline().startswith(r"two\nlines: loss")
    assert found.answer()[0].startswith(r"two\nlines has a loss")


def test_references_of_many_models_are_told_as_a_range():
    found = evaluate(TRUE, {f"m{i}": APART | (TRUE & (np.arange(4) < i)) for i in range(5)}, n_bootstrap=0)
    by_chance = {name: found.independent_togetherness()[name] for name in found.models}
    (low, lowest), *_, (high, highest) = sorted((value, name) for name, value in by_chance.items())
    expected = f"it would be between {low:.4f} ({lowest}) and {high:.4f} ({highest})."
    assert any(sentence.endswith(expected) for sentence in found.sentences())


def test_rows_without_known_labels_are_told():
    true = TRUE.astype(float)
    true[:2] = np.nan
    notes = evaluate(true, {"apart": APART}, n_bootstrap=0).notes()
    assert notes == ["2 more rows have no known label and are left out."]
    true[1] = 0
    sentences = evaluate(true, {"apart": APART}, n_bootstrap=0).sentences()
    assert sentences[0].startswith("199 rows, 4 labels")
    assert "1 more row has no known label and is left out." in sentences


def test_warnings_are_not_said_again():
    scores = np.abs(TRUE - 0.2)
    with pytest.warns(UserWarning, match=r"threshold should lie in \[0, 1\]"):
        found = evaluate(TRUE, {"scores": scores}, threshold=50, n_bootstrap=0)
    assert "all irrelevant" in repr(found)  # warnings are errors in tests
    assert found.explain().loss == pytest.approx(found.curves["scores"].losses[-1])


def test_an_explained_model_keeps_its_name(evaluation):
    assert evaluation.explain("apart").name == "apart"
    assert repr(evaluation.explain("apart")).startswith("apart: subset 0/1 loss ")


def test_the_answer_is_what_needs_no_table(evaluation):
    answer = evaluation.answer()
    assert answer == evaluation.sentences()[-len(answer) :]
    assert answer[0].startswith("No model is surely best at k=1 (Hamming): apart leads together by 0.0")
    assert answer[1].startswith("together is best at k=4 (subset 0/1), by 0.")


def test_differences_in_sentences_are_those_of_the_evaluation(evaluation):
    difference = evaluation.differences["apart"]
    expected = (
        f"by {difference.estimate[-1]:.4f} (95% interval {difference.lower[-1]:.4f} to {difference.upper[-1]:.4f})."
    )
    assert evaluation.answer()[1].endswith(expected)


# Togetherness


def test_togetherness_has_an_interval_and_a_reference(evaluation):
    found = evaluation.togetherness()
    assert list(found) == ["apart", "together", "all irrelevant"]
    assert found["together"] == Togetherness(1.0, 1.0, 1.0, found["together"].independent)
    apart = found["apart"]
    assert apart.estimate == pytest.approx(evaluation.curves["apart"].togetherness)
    assert apart.lower < apart.estimate < apart.upper
    # labels are wrong on their own: the reference lies within the interval
    assert apart.lower < apart.independent < apart.upper
    assert apart.independent == pytest.approx(choral.independent_curve(TRUE, APART).togetherness)


def test_its_interval_agrees_with_plain_resampling():
    rng = np.random.default_rng(1)
    found = evaluate(TRUE, {"apart": APART}, n_bootstrap=1000).togetherness()["apart"]
    drawn = [rng.integers(200, size=200) for _ in range(1000)]
    values = [choral.loss_curve(TRUE[rows], APART[rows]).togetherness for rows in drawn]
    low, high = np.quantile(values, [0.025, 0.975])
    assert (found.lower, found.upper) == pytest.approx((low, high), abs=0.15 * (high - low))


def test_its_interval_where_labels_are_missing():
    known = np.random.default_rng(2).random(TRUE.shape) < 0.7
    known[:, 0] = True
    found = evaluate(TRUE, {"apart": APART}, observed=known, n_bootstrap=500)
    together = found.togetherness()["apart"]
    assert together.estimate == found.profiles["apart"].togetherness()
    assert together.lower < together.estimate < together.upper


def test_polynomial_togetherness():
    found = evaluate(TRUE, {"apart": APART}, family="polynomial", n_bootstrap=200)
    together = found.togetherness()["apart"]
    assert together.estimate == pytest.approx(found.curves["apart"].togetherness)
    assert together.lower < together.estimate < together.upper
    beyond = evaluate(
        TRUE, {"apart": APART}, family="polynomial", parameters=[*found.parameters, np.inf], n_bootstrap=200
    )
    assert beyond.togetherness()["apart"] == pytest.approx(together)


def test_togetherness_without_samples_of_the_whole_curve():
    for options in ({"n_bootstrap": 0}, {"parameters": [1, 4]}):
        found = evaluate(TRUE, MODELS, **options).togetherness()["apart"]
        assert (found.lower, found.upper) == (None, None)
        assert found.estimate == pytest.approx(choral.loss_curve(TRUE, APART).togetherness)


def test_togetherness_of_no_mistakes():
    found = evaluate(TRUE, {"right": TRUE})
    together = found.togetherness()["right"]
    assert np.isnan(together.estimate)
    assert np.isnan(together.lower)
    assert found.cells()["right"][-1] == ("-", False)
    assert found.to_dict()["models"]["right"]["togetherness"]["estimate"] is None


def test_curves_of_independent_errors(evaluation):
    curves = evaluation.independent_curves()
    for name, labels in {**MODELS, "all irrelevant": np.zeros_like(TRUE)}.items():
        expected = choral.independent_curve(TRUE, labels, name=name)
        np.testing.assert_allclose(curves[name].losses, expected.losses, rtol=1e-12)
        assert curves[name].name == name


def test_summaries_of_parts_know_the_reference_of_hard_labels(of_parts):
    assert list(of_parts.independent_curves()) == ["hard", "all irrelevant"]
    found = of_parts.togetherness()
    assert found["hard"].independent == pytest.approx(choral.independent_curve(TRUE, APART).togetherness)
    assert found["soft"].independent is None
    only_scores = summarise_models([open_rows(TRUE, np.abs(TRUE - 0.2))], ["soft"], joint=False)
    assert evaluate_summaries(only_scores, n_bootstrap=0).independent_curves() is None


def test_labels_decided_for_each_loss_have_no_togetherness():
    curve = choral.bayes_curve(choral.IndependentLabels(np.full((200, 4), 0.4)))
    found = evaluate(TRUE, {"decided": curve}, n_bootstrap=0)
    assert "together" not in found.summary().columns
    assert list(found.togetherness()) == ["all irrelevant"]
    assert list(found.independent_curves()) == ["decided", "all irrelevant"]
    with pytest.raises(
        ValueError, match="the labels of 'decided' were decided anew for each loss: they have no single"
    ):
        found.plot(references="decided")


def test_printing_dask_arrays_does_not_compute_the_reference():
    dask = pytest.importorskip("dask.array")
    lazy = evaluate(dask.from_array(TRUE), {"apart": dask.from_array(APART)}, n_bootstrap=0)
    assert "If errors were independent" not in repr(lazy)
    whole = evaluate(TRUE, {"apart": APART}, n_bootstrap=0)
    assert "If errors were independent" in repr(whole)
    assert lazy.togetherness()["apart"] == pytest.approx(whole.togetherness()["apart"])


# Frames, JSON


def test_to_dict_has_intervals_and_togetherness(evaluation):
    data = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))["models"]["apart"]
    assert data["interval"]["lower"] == evaluation.bands()["apart"].lower.tolist()
    assert data["togetherness"] == evaluation.togetherness()["apart"]._asdict()
    assert data["summary"]["together"] == evaluation.togetherness()["apart"].estimate
    assert evaluate(TRUE, MODELS, n_bootstrap=0).to_dict()["models"]["apart"]["interval"] is None


def test_to_pandas(evaluation):
    pytest.importorskip("pandas")
    frame = evaluation.to_pandas()
    assert tuple(frame.columns) == COLUMNS
    assert len(frame) == 3 * 4
    last = frame[(frame.model == "apart") & (frame.parameter == 4)].iloc[0]
    assert last.loss == evaluation.curves["apart"].losses[-1]
    assert (last.lower, last.upper) == tuple(edge[-1] for edge in evaluation.bands()["apart"])
    found = (last.difference, last.difference_lower, last.difference_upper)
    assert found == tuple(part[-1] for part in evaluation.differences["apart"])
    together = last[["togetherness", "togetherness_lower", "togetherness_upper", "togetherness_independent"]]
    assert tuple(together) == evaluation.togetherness()["apart"]
    without = evaluate(TRUE, MODELS, n_bootstrap=0).to_pandas()
    assert without[["lower", "upper", "difference", "togetherness_lower"]].isna().all(axis=None)
    assert without.dtypes["lower"].kind == "f"


def test_to_pandas_without_pandas(evaluation, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pandas is not installed"):
        evaluation.to_pandas()


# Two models


def test_a_comparison_as_a_frame(evaluation):
    pytest.importorskip("pandas")
    found = evaluation.compare("apart", "together")
    frame = found.to_pandas()
    assert list(frame) == ["parameter", "first", "second", "difference", "lower", "upper"]
    assert frame["first"].tolist() == evaluation.curves["apart"].losses.tolist()
    assert frame["second"].tolist() == evaluation.curves["together"].losses.tolist()
    np.testing.assert_allclose(frame["difference"], frame["second"] - frame["first"], atol=1e-12)
    assert frame["upper"].tolist() == found.difference.upper.tolist()
    without = evaluate(TRUE, MODELS, n_bootstrap=0).compare("apart", "together").to_pandas()
    assert without[["lower", "upper"]].isna().all().all()


def test_compare(evaluation):
    found = evaluation.compare("apart", "together")
    assert isinstance(found, Comparison)
    assert found.names == ("apart", "together")
    assert found.crossings.tolist() == found.pair.crossings().tolist()
    difference = evaluation.difference("apart", "together")
    np.testing.assert_array_equal(found.difference.lower, difference.lower)
    first, _, last, changes = repr(found).splitlines()
    assert first == "apart and together, binomial losses"
    interval = f"(95% interval {-difference.upper[-1]:.4f} to {-difference.lower[-1]:.4f})"
    assert last == f"k=4 (subset 0/1): together is better by {-difference.estimate[-1]:.4f} {interval}."
    assert changes == f"The better one changes at k = {found.crossings[0]:.3g}."
    without = evaluate(TRUE, MODELS, n_bootstrap=0).compare("apart", "all irrelevant")
    assert without.difference is None
    assert "interval" not in repr(without)
    assert repr(without).endswith("They do not cross.")


def test_an_unknown_model_is_refused(evaluation):
    with pytest.raises(ValueError, match=re.escape("there is no model 'togther'; did you mean 'together'?")):
        evaluation.compare("apart", "togther")
    with pytest.raises(ValueError, match=re.escape("there is no model 'x'; there are apart, together.")):
        evaluation.explain("x")
    with pytest.raises(ValueError, match="there is no model 'x'"):
        evaluation.plot(references="x")


# Plots and pages


def test_plot(evaluation):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    display = evaluation.plot(linewidth=3)
    assert display.names == ("apart", "together", "all irrelevant")
    assert display.baseline == "all irrelevant"
    assert all(band is not None for band in display.bands)
    assert display.lines_[0].get_linewidth() == 3
    _, ax = pyplot.subplots(layout="constrained")
    assert evaluation.plot(ax, bands=False).ax_ is ax
    assert evaluation.plot(bands=False).bands == (None,) * 3
    pyplot.close("all")


def test_plot_of_references(evaluation, of_parts):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    lower, upper, independent = evaluation.plot(references="apart").references
    assert lower.losses == pytest.approx([evaluation.curves["apart"].losses[0]] * 4)
    assert upper == evaluation.curves["apart"].bounds()[1]
    assert independent.losses == pytest.approx(choral.independent_curve(TRUE, APART).losses)
    assert len(of_parts.plot(references="soft").references) == 2
    pyplot.close("all")


@pytest.fixture
def pages(monkeypatch, tmp_path):
    """What would be on a page, by its path."""
    monkeypatch.chdir(tmp_path)  # a page that is written all the same stays out of the project
    written = {}
    monkeypatch.setattr("choral.evaluation.page.write_page", lambda contents, path: written.update({path: contents}))
    return written


def test_report(evaluation, pages):
    evaluation.report("page.html")
    page = pages["page.html"]
    assert page["title"] is None
    assert page["datasets"][0]["name"] == "Evaluation"
    assert page["families"] == ["binomial", "polynomial"]
    assert page["answer"] == [evaluation.headline(), *evaluation.answer()]
    assert page["datasets"][0]["labels"] == ["label 0", "label 1", "label 2", "label 3"]
    evaluation.report("named.html", title="Two models", labels=list("abcd"))
    assert pages["named.html"]["title"] == "Two models"
    assert pages["named.html"]["datasets"][0]["labels"] == list("abcd")
    with pytest.raises(ValueError, match="labels must have one entry for each of 4 labels; got 2"):
        evaluation.report("page.html", labels=["a", "b"])


def test_report_is_a_page(evaluation, tmp_path):
    pytest.importorskip("plotly")
    evaluation.report(tmp_path / "page.html")
    assert html.escape(evaluation.headline()) in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_report_of_a_frame_has_its_names(pages):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(TRUE, columns=list("abcd"))
    evaluate(frame, {"apart": APART}, n_bootstrap=0).report("page.html")
    assert pages["page.html"]["datasets"][0]["labels"] == list("abcd")


def test_report_with_one_family(of_parts, pages):
    of_parts.report("parts.html")
    evaluate(TRUE, MODELS, parameters=[1, 2], n_bootstrap=0).report("some.html")
    curve = choral.bayes_curve(choral.IndependentLabels(np.full((200, 4), 0.4)))
    evaluate(TRUE, {"decided": curve}, n_bootstrap=0).report("decided.html")
    assert [page["families"] for page in pages.values()] == [["binomial"]] * 3


def test_the_other_family_is_judged_alike(pages):
    scores = np.abs(TRUE - 0.3)
    weight, known = np.arange(200.0), np.ones(TRUE.shape, dtype=bool)
    known[:50, 1] = False
    options = {"threshold": 0.5, "observed": known, "sample_weight": weight, "n_bootstrap": 20, "random_state": 3}
    evaluate(TRUE, {"scores": scores, "apart": APART}, **options).report("page.html")
    expected = evaluate(TRUE, {"scores": scores, "apart": APART}, family="polynomial", **options)
    found = pages["page.html"]["datasets"][0]["families"]["polynomial"]["curves"]["apart"]
    assert found["losses"] == expected.curves["apart"].losses.tolist()
    assert found["lower"] == expected.bands()["apart"].lower.round(6).tolist()


# Explanations


@pytest.fixture
def explained(monkeypatch):
    """The arguments of explain(), which has tests of its own."""
    calls = []

    def fake(*args, **options):
        calls.append((args, options))
        return {"apart": "of one"}

    monkeypatch.setattr("choral.explanation.explain", fake)
    return calls


def test_explain(explained):
    weight = np.arange(200.0)
    found = evaluate(TRUE, MODELS, threshold=0.5, sample_weight=weight, n_bootstrap=0, confidence=0.9)
    assert found.explain("apart") == "of one"
    found.explain("apart", HammingMeasure(), labels=list("abcd"), n_pairs=3)
    found.explain()
    (first, options), (second, named), (several, _) = explained
    assert first[0] is TRUE
    assert first[1]["apart"] is APART
    assert list(first[1]) == ["apart"]
    assert first[2] == SubsetMeasure()
    assert options == {
        "family": "binomial",
        "threshold": 0.5,
        "observed": None,
        "sample_weight": weight,
        "labels": None,
        "confidence": 0.9,
    }
    assert second[2] == HammingMeasure()
    assert (named["labels"], named["n_pairs"]) == (list("abcd"), 3)
    assert several[1] == MODELS
    evaluate(TRUE, {"apart": APART}, n_bootstrap=0).explain()
    assert explained[-1][0][1]["apart"] is APART


def test_explain_needs_rows_and_the_same_labels_for_all_losses(explained, of_parts):
    with pytest.raises(ValueError, match="this evaluation was made of summaries of parts, which do not hold the rows"):
        of_parts.explain()
    curve = choral.bayes_curve(choral.IndependentLabels(np.full((200, 4), 0.4)))
    with pytest.raises(
        ValueError, match="the labels of 'decided' were decided anew for each loss; explain those of one"
    ):
        evaluate(TRUE, {"decided": curve}, n_bootstrap=0).explain("decided", HammingMeasure())
    assert explained == []


def test_the_reference_by_hand():
    """Two labels, wrong in a quarter and in half of the rows: both at once in an eighth."""
    true, wrong = np.zeros((8, 2), dtype=int), np.zeros((8, 2), dtype=int)
    wrong[:2, 0] = wrong[:4, 1] = 1
    found = evaluate(true, {"m": wrong}, n_bootstrap=0).togetherness()["m"]
    hamming, subset, by_chance, most = (
        Fraction(3, 8),
        Fraction(1, 2),
        1 - Fraction(3, 4) * Fraction(1, 2),
        Fraction(3, 4),
    )
    assert found.estimate == pytest.approx(float((most - subset) / (most - hamming)))
    assert found.independent == pytest.approx(float((most - by_chance) / (most - hamming)))
    assert ErrorProfile.from_predictions(true, wrong).togetherness() == found.estimate
