"""evaluate() and loss_curve() of labels that were decided anew for each loss."""

import json
import re
import warnings

import numpy as np
import pytest

import choral
from choral import (
    BayesCurve,
    ErrorProfile,
    LabelDistribution,
    MixedPredictionsWarning,
    bayes_curve,
    evaluate,
    loss_curve,
)
from choral.displays import LossCurveDisplay, PairwiseDisplay
from choral.evaluation.page import evaluation_contents
from choral.profiles import EachLossProfile
from choral.report.page import render_page

LOSSES = {"binomial": (choral.binomial_loss, "k"), "polynomial": (choral.polynomial_loss, "alpha")}


@pytest.fixture(scope="module")
def problem():
    """True labels, and a distribution that is wrong about them: the best labels change along both families."""
    rng = np.random.default_rng(0)
    y_true = (rng.random((120, 4)) < 0.4).astype(np.uint8)
    labelsets = np.array(np.meshgrid(*[[0, 1]] * 4)).reshape(4, -1).T
    shares = rng.dirichlet(np.full(16, 0.3), size=120)
    return y_true, LabelDistribution(labelsets, 0.6 * shares + 0.4 * (labelsets == y_true[:, np.newaxis]).all(axis=2))


def decide(problem, family="binomial", parameters=None):
    return bayes_curve(problem[1], family, parameters)


def losses_by_hand(y_true, curve, **options):
    """The loss of each parameter, of the labels decided for it."""
    loss, symbol = LOSSES[curve.family]
    pairs = zip(curve.parameters.tolist(), curve.labels, strict=True)
    return [loss(y_true, labels, **{symbol: value}, **options) for value, labels in pairs]


@pytest.mark.parametrize("family", LOSSES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_each_parameter_is_judged_by_the_labels_decided_for_it(problem, family, weighted, missing):
    rng = np.random.default_rng(1)
    y_true, curve = problem[0].astype(float), decide(problem, family)
    assert (curve.labels[0] != curve.labels[-1]).any()
    if missing:
        y_true[rng.random(y_true.shape) < 0.3] = np.nan
        y_true[7] = np.nan  # nothing is known of this row
    weight = rng.random(120) if weighted else None
    expected = losses_by_hand(y_true, curve, sample_weight=weight)
    plain = curve.labels[-1]
    evaluation = evaluate(y_true, {"plain": plain, "auto": curve}, family=family, sample_weight=weight, n_bootstrap=20)
    assert evaluation.parameters.tolist() == curve.parameters.tolist()
    assert evaluation.curves["auto"].losses == pytest.approx(expected, abs=1e-12)
    assert loss_curve(y_true, curve, family, sample_weight=weight).losses == pytest.approx(expected, abs=1e-12)
    alone = evaluate(y_true, {"plain": plain}, family=family, sample_weight=weight, n_bootstrap=0)
    assert evaluation.curves["plain"] == alone.curves["plain"]
    assert evaluation.n_unobserved == np.isnan(y_true).all(axis=1).sum()
    # the paired samples are of the same losses: their means are near, and the last labels are those of the other model
    assert evaluation.samples[:, 1].mean(axis=0) == pytest.approx(expected, abs=0.05)
    assert evaluation.samples[:, 0, -1] == pytest.approx(evaluation.samples[:, 1, -1])


def test_intervals_agree_with_plain_resampling(problem):
    y_true, curve = problem[0], decide(problem)
    evaluation = evaluate(y_true, {"plain": curve.labels[0], "auto": curve}, n_bootstrap=2000)
    own, other = (choral.binomial_loss(y_true, labels, k=3, reduction="none") for labels in curve.labels[[2, 0]])
    drawn = np.random.default_rng(1).integers(120, size=(2000, 120))
    lower, upper = np.quantile((own - other)[drawn].mean(axis=1), [0.025, 0.975])
    found = evaluation.difference("plain", "auto")
    assert found.estimate[2] == pytest.approx((own - other).mean())
    assert [found.lower[2], found.upper[2]] == pytest.approx([lower, upper], abs=0.1 * (upper - lower))
    assert not found.estimate[0]  # the same labels
    assert found.lower[0] == found.upper[0] == 0


def test_beside_scores_rows_are_judged_one_by_one(problem):
    y_true, curve = problem[0], decide(problem)
    with pytest.warns(MixedPredictionsWarning, match=r"scores \(scores\) and hard labels do not compare"):
        mixed = evaluate(y_true, {"auto": curve, "scores": problem[1].marginals()}, n_bootstrap=400)
    assert mixed.curves["auto"].losses == pytest.approx(losses_by_hand(y_true, curve))
    assert mixed.samples[:, 0].mean(axis=0) == pytest.approx(losses_by_hand(y_true, curve), abs=0.01)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hard = evaluate(y_true, {"auto": curve, "scores": problem[1].marginals()}, threshold=0.5, n_bootstrap=0)
    assert hard.curves["auto"] == mixed.curves["auto"]


def test_parameters_are_those_that_all_were_decided_for(problem):
    y_true, curve = problem[0], decide(problem)
    some, others = decide(problem, parameters=[1, 2, 4]), decide(problem, parameters=[2, 3, 4])
    evaluation = evaluate(y_true, {"plain": curve.labels[0], "some": some, "others": others}, n_bootstrap=5)
    assert evaluation.parameters.tolist() == [2, 4]
    assert evaluation.curves["some"].losses == pytest.approx(np.array(losses_by_hand(y_true, some))[[1, 2]])
    assert evaluation.curves["plain"] == loss_curve(y_true, curve.labels[0], parameters=[2, 4], name="plain")
    chosen = evaluate(y_true, {"auto": curve}, parameters=[3], n_bootstrap=5)
    assert chosen.curves["auto"].losses == pytest.approx([losses_by_hand(y_true, curve)[2]])
    assert chosen.each_loss == ("auto",)


def test_a_mapping_serves_both_families(problem):
    y_true = problem[0]
    both = {family: decide(problem, family) for family in LOSSES}
    for family, curve in both.items():
        evaluation = evaluate(y_true, {"auto": both}, family=family, n_bootstrap=0)
        assert evaluation.curves["auto"].losses == pytest.approx(losses_by_hand(y_true, curve))
        assert loss_curve(y_true, both, family) == loss_curve(y_true, curve, family)


def test_the_table_says_so(problem):
    y_true, curve = problem[0], decide(problem)
    evaluation = evaluate(y_true, {"<auto>": curve, "plain": curve.labels[0]}, n_bootstrap=5)
    assert evaluation.each_loss == ("<auto>",)
    assert evaluation.notes() == ["Decided anew for each loss: <auto>."]
    summary = evaluation.summary()
    assert summary.columns == ("Hamming", "k=2", "k=3", "subset", "area", "together")
    assert np.isnan(summary.rows["<auto>"][5])  # each loss judges other labels
    assert summary.rows["plain"][5] == evaluation.curves["plain"].togetherness
    assert summary.rows["<auto>"][:4] == pytest.approx(losses_by_hand(y_true, curve))
    assert summary.rows["<auto>"][4] == evaluation.curves["<auto>"].area
    head, *rows = repr(evaluation).partition("\n\n")[0].splitlines()
    assert head.split() == ["model", *summary.columns]
    assert [row.split()[0] for row in rows] == ["<auto>", "plain", "all"]
    assert rows[1].split()[1] == f"*{evaluation.curves['plain'].losses[0]:.4f}"  # as good as the other
    assert rows[0].split()[-1] == "-"
    assert "\nDecided anew for each loss: <auto>.\n" in repr(evaluation)
    page = evaluation._repr_html_()
    assert "<p>Decided anew for each loss: &lt;auto&gt;.</p>" in page
    assert page.count("<tr>") == 4
    data = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert data["models"]["<auto>"]["togetherness"] is None
    assert data["models"]["<auto>"]["summary"]["together"] is None
    assert [data["models"][name]["each_loss"] for name in ("<auto>", "plain")] == [True, False]
    saved = data["models"]["<auto>"]["profile"]
    assert (saved["family"], saved["parameters"]) == ("binomial", [1, 2, 3, 4])
    of_k2 = ErrorProfile.from_dict(saved["by_parameter"][1])
    assert of_k2 == ErrorProfile.from_predictions(y_true, curve.labels[1])
    without = evaluate(y_true, {"plain": curve.labels[0]}, n_bootstrap=0)
    assert (without.each_loss, without.notes()) == ((), [])


def test_columns_that_nothing_was_decided_for_are_left_out(problem):
    y_true = problem[0]
    alphas = evaluate(y_true, {"auto": decide(problem, "polynomial")}, family="polynomial", n_bootstrap=0).summary()
    assert alphas.columns == ("Hamming", "alpha=2", "alpha=3", "alpha=10", "alpha=1000", "area")
    few = evaluate(y_true, {"auto": decide(problem, parameters=[1, 3])}, n_bootstrap=0)
    assert few.summary().columns == ("k=1", "k=3")
    assert few.summary().rows["auto"] == tuple(few.curves["auto"].losses)
    infinite = decide(problem, "polynomial", [1, np.inf])
    ends = evaluate(y_true, {"auto": infinite}, family="polynomial", n_bootstrap=0)
    assert ends.summary().columns == ("alpha=1", "alpha=inf")
    assert ends.to_dict()["models"]["auto"]["profile"]["parameters"] == [1, "inf"]
    assert ends.curves["auto"].losses[1] == choral.subset_loss(y_true, infinite.labels[1])


def test_displays_and_the_page_take_it(problem):
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    y_true, curve = problem[0], decide(problem)
    display = LossCurveDisplay.from_predictions(y_true, curve, name="auto")
    assert display.curves[0] == loss_curve(y_true, curve, name="auto")
    models = {"auto": curve, "plain": curve.labels[0]}
    evaluation = evaluate(y_true, models, n_bootstrap=5)
    assert [*LossCurveDisplay.from_predictions(y_true, models).curves] == [
        evaluation.curves[name] for name in ("auto", "plain")
    ]
    pair = PairwiseDisplay.from_predictions(y_true, curve, curve.labels[0], names=("auto", "plain")).pairs[0]
    assert pair.curve_a == evaluation.curves["auto"]
    contents = evaluation_contents([evaluation], "test", [])
    assert contents["notes"][0] == "Decided anew for each loss: auto."
    assert "Decided anew for each loss: auto." in render_page(contents)
    (family,) = contents["datasets"][0]["families"].values()
    assert family["curves"]["auto"]["losses"] == pytest.approx(losses_by_hand(y_true, curve))


def test_dask_arrays_of_true_labels(problem):
    da = pytest.importorskip("dask.array")
    y_true, curve = problem[0], decide(problem)
    lazy = evaluate(da.from_array(y_true, chunks=(50, 4)), {"auto": curve}, n_bootstrap=5)
    assert lazy.curves["auto"] == evaluate(y_true, {"auto": curve}, n_bootstrap=0).curves["auto"]
    assert lazy.differences is not None


def test_tensors(problem):
    torch = pytest.importorskip("torch")
    labelsets, probabilities = (
        torch.asarray(np.array(part)) for part in (problem[1].labelsets, problem[1].probabilities)
    )
    curve = bayes_curve(LabelDistribution(labelsets, probabilities))
    assert isinstance(curve.labels, torch.Tensor)
    found = evaluate(torch.asarray(problem[0]), {"auto": curve}, n_bootstrap=0)
    assert found.curves["auto"].losses == pytest.approx(losses_by_hand(problem[0], decide(problem)))


@pytest.mark.parametrize(
    "make, options, error, message",
    [
        (
            lambda curve: curve,
            {"family": "polynomial"},
            ValueError,
            "predictions['auto'] holds labels decided for the binomial losses (family='binomial'), not for "
            "family='polynomial'; predict_curve(X, 'polynomial') decides for these.",
        ),
        (lambda curve: curve, {"family": "cubic"}, ValueError, "family must be one of"),
        (
            lambda curve: curve,
            {"parameters": [1, 2]},
            ValueError,
            "predictions['auto'] holds labels decided for k in [1, 3, 4], not for k = 2; "
            "predict_curve(X, 'binomial', parameters) decides for others.",
        ),
        (lambda curve: {"polynomial": curve}, {}, ValueError, "must be decided for the polynomial losses; it is for"),
        (lambda curve: {"binomial": curve.labels}, {}, TypeError, "'binomial' is ndarray."),
        (lambda curve: {}, {}, ValueError, "predict_curve returns; it is empty."),
        (
            lambda curve: BayesCurve("binomial", curve.parameters[:1], curve.decisions[:1]),
            {},
            ValueError,
            "predictions['auto'] and predictions['other'] must be decided for at least one parameter together; got",
        ),
    ],
)
def test_what_was_not_decided_for_is_refused(problem, make, options, error, message):
    curve, other = decide(problem, parameters=[1, 3, 4]), decide(problem, parameters=[2])
    models = {"auto": make(curve)}
    if "at least one parameter" in message:
        models["other"] = other
    with pytest.raises(error, match=re.escape(message)):
        evaluate(problem[0], models, **options)


def test_another_number_of_rows_is_refused(problem):
    with pytest.raises(ValueError, match=re.escape("y_true and predictions['auto'] must have the same shape")):
        evaluate(problem[0][1:], {"auto": decide(problem)})


def test_a_profile_serves_what_was_decided_for(problem):
    y_true, curve = problem[0], decide(problem, parameters=[1, 4])
    profile = evaluate(y_true, {"auto": curve}, n_bootstrap=0).profiles["auto"]
    assert isinstance(profile, EachLossProfile)
    assert (profile.n_labels, profile.n_rows, profile.total_weight, profile.is_hard) == (4, 120, 120, True)
    assert profile.losses("binomial", [4]) == pytest.approx([choral.subset_loss(y_true, curve.labels[1])])
    assert profile.curve(name="auto") == loss_curve(y_true, curve, name="auto")
    with pytest.raises(ValueError, match="the profile holds labels decided for the binomial losses"):
        profile.losses("polynomial")
    with pytest.raises(ValueError, match=re.escape("decided for k in [1, 4], not for k = 2")):
        profile.curve(parameters=[1, 2])
