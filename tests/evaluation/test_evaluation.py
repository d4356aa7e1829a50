"""evaluate(): curves, baseline, intervals, and what it warns of."""

import json
import re
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral import MixedPredictionsWarning, evaluate
from choral.stats import WeightedLosses, bootstrap_means


def problem(n_rows=300, n_labels=5, seed=0):
    rng = np.random.default_rng(seed)
    y_true = (rng.random((n_rows, n_labels)) < 0.3).astype(np.uint8)
    good = y_true ^ (rng.random(y_true.shape) < 0.1)
    bad = y_true ^ (rng.random(y_true.shape) < 0.25)
    return y_true, {"good": good, "bad": bad}


def test_curves_are_those_of_loss_curve():
    y_true, predictions = problem()
    for family in ("binomial", "polynomial"):
        evaluation = evaluate(y_true, predictions, family=family, n_bootstrap=0)
        assert evaluation.models == ("good", "bad")
        assert evaluation.differences is None
        for name, y_pred in predictions.items():
            assert evaluation.curves[name] == choral.loss_curve(y_true, y_pred, family, name=name)
        baseline = choral.loss_curve(y_true, np.zeros_like(y_true), family)
        assert evaluation.curves["all irrelevant"].losses == pytest.approx(baseline.losses, rel=1e-14)
    assert (evaluation.n_rows, evaluation.n_labels) == (300, 5)
    assert evaluation.best == ("good",) * 55


def test_the_baseline_looks_good_under_hamming_loss_alone():
    y_true = np.zeros((100, 20), dtype=int)
    y_true[:, 0] = 1
    y_pred = y_true.copy()
    y_pred[:40, 1:4] = 1  # three mistakes in four rows of ten, the rest perfect
    evaluation = evaluate(y_true, {"model": y_pred}, n_bootstrap=0)
    model, baseline = (evaluation.curves[name].losses for name in ("model", evaluation.baseline))
    assert baseline[0] < model[0]
    assert baseline[-1] == 1 > model[-1]


def test_summary_columns():
    y_true, predictions = problem(n_labels=12)
    evaluation = evaluate(y_true, predictions, n_bootstrap=0)
    summary = evaluation.summary()
    assert summary.columns == ("Hamming", "k=2", "k=3", "k=6", "subset", "area", "together")
    assert summary.lower_is_better == (True,) * 6 + (False,)
    profile = evaluation.profiles["bad"]
    expected = [*profile.curve().losses[[0, 1, 2, 5, 11]], profile.curve().area, profile.togetherness()]
    assert summary.rows["bad"] == pytest.approx(expected)
    assert list(summary.rows) == ["good", "bad", "all irrelevant"]
    polynomial = evaluate(y_true, predictions, family="polynomial", n_bootstrap=0).summary()
    assert polynomial.columns == ("Hamming", "alpha=2", "alpha=3", "alpha=10", "subset", "area", "together")
    assert polynomial.rows["bad"][4] == profile.loss(choral.SubsetMeasure())
    chosen = evaluate(y_true, predictions, parameters=[2, 7], n_bootstrap=0).summary()
    assert chosen.columns == ("k=2", "k=7", "area", "together")
    assert chosen.rows["bad"][2:] == summary.rows["bad"][5:]


@pytest.mark.parametrize(
    "n_labels, columns",
    [
        (1, ("Hamming", "area")),
        (2, ("Hamming", "subset", "area", "together")),
        (3, ("Hamming", "k=2", "subset", "area", "together")),
        (4, ("Hamming", "k=2", "k=3", "subset", "area", "together")),
    ],
)
def test_summary_of_few_labels(n_labels, columns):
    y_true, predictions = problem(n_labels=n_labels)
    assert evaluate(y_true, predictions, n_bootstrap=0).summary().columns == columns


def test_differences_have_intervals_around_them():
    y_true, predictions = problem()
    evaluation = evaluate(y_true, predictions, n_bootstrap=500)
    good, bad = evaluation.differences["good"], evaluation.differences["bad"]
    assert not good.estimate.any()
    assert not good.lower.any()
    assert not good.upper.any()
    expected = evaluation.curves["bad"].losses - evaluation.curves["good"].losses
    assert bad.estimate == pytest.approx(expected)
    assert ((bad.lower < bad.estimate) & (bad.estimate < bad.upper)).all()
    assert (bad.lower > 0).all()
    assert set(evaluation.differences) == {"good", "bad", "all irrelevant"}


@pytest.mark.parametrize("kind", ["hard", "scores", "sparse", "weighted"])
def test_intervals_agree_with_plain_resampling(kind):
    y_true, predictions = problem(n_rows=120)
    weight = np.random.default_rng(5).random(120) if kind == "weighted" else None
    if kind == "scores":
        predictions = {name: np.abs(y_pred - 0.2) for name, y_pred in predictions.items()}
    if kind == "sparse":
        predictions = {name: sp.csr_matrix(y_pred) for name, y_pred in predictions.items()}
    evaluation = evaluate(y_true, predictions, n_bootstrap=2000, sample_weight=weight)
    rng = np.random.default_rng(1)
    rows = {name: choral.binomial_loss(y_true, y_pred, k=3, reduction="none") for name, y_pred in predictions.items()}
    differences = []
    for _ in range(2000):
        drawn = rng.integers(120, size=120)
        some = None if weight is None else weight[drawn]
        differences.append(np.average((rows["bad"] - rows["good"])[drawn], weights=some))
    lower, upper = np.quantile(differences, [0.025, 0.975])
    width = upper - lower
    assert evaluation.differences["bad"].lower[2] == pytest.approx(lower, abs=0.1 * width)
    assert evaluation.differences["bad"].upper[2] == pytest.approx(upper, abs=0.1 * width)


def test_grouped_rows_and_single_rows_give_the_same_distribution():
    losses = np.random.default_rng(0).random((3, 2))
    counts = np.array([10, 50, 5])
    grouped = bootstrap_means([WeightedLosses(losses, counts, np.ones(3))], 4000, np.random.default_rng(1))
    single = WeightedLosses(losses.repeat(counts, axis=0), np.ones(65, dtype=int), np.ones(65))
    alone = bootstrap_means([single], 4000, np.random.default_rng(2))
    assert grouped.mean(axis=0) == pytest.approx(alone.mean(axis=0), abs=3e-3)
    assert grouped.std(axis=0) == pytest.approx(alone.std(axis=0), rel=0.06)


def test_the_same_seed_gives_the_same_intervals():
    y_true, predictions = problem()
    first, again, other = (
        evaluate(y_true, predictions, n_bootstrap=50, random_state=seed).differences["bad"].upper for seed in (1, 1, 2)
    )
    assert first.tolist() == again.tolist() != other.tolist()


def test_hard_and_soft_together_are_warned_of():
    y_true, predictions = problem()
    mixed = {**predictions, "scores": np.full(y_true.shape, 0.5)}
    with pytest.warns(MixedPredictionsWarning, match=r"scores \(scores\) and hard labels do not compare: hedging"):
        evaluation = evaluate(y_true, mixed, n_bootstrap=20)
    assert evaluation.curves["scores"].losses == pytest.approx([0.5] * 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate(y_true, {"scores": mixed["scores"]}, n_bootstrap=0)
        hardened = evaluate(y_true, mixed, threshold=0.6, n_bootstrap=0)
    assert all(profile.is_hard for profile in hardened.profiles.values())
    assert hardened.curves["scores"].losses == pytest.approx(hardened.curves["all irrelevant"].losses)


def test_a_threshold_leaves_hard_labels_alone_and_takes_logits():
    y_true, predictions = problem()
    logits = np.where(predictions["good"], 3.0, -3.0)
    evaluation = evaluate(y_true, {**predictions, "logits": logits}, threshold=0, n_bootstrap=0)
    plain = evaluate(y_true, predictions, n_bootstrap=0)
    assert evaluation.curves["bad"] == plain.curves["bad"]
    assert evaluation.curves["logits"].losses.tolist() == plain.curves["good"].losses.tolist()


def test_progress_is_told():
    y_true, predictions = problem()
    calls = []
    evaluate(y_true, predictions, n_bootstrap=10, progress=lambda *call: calls.append(call))
    assert calls[1] == (2, 2, "comparing labels")
    assert calls[-1][0] == calls[-1][1]
    assert calls[-1][2] == "bootstrap"


def test_to_dict_is_ready_for_json():
    y_true, predictions = problem()
    evaluation = evaluate(y_true, predictions, family="polynomial", parameters=[1, 2, np.inf], n_bootstrap=10)
    data = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert data["parameters"] == [1, 2, "inf"]
    assert data["models"]["good"]["predictions"] == "hard"
    assert data["models"]["good"]["losses"] == evaluation.curves["good"].losses.tolist()
    assert len(data["models"]["bad"]["difference_to_best"]["lower"]) == 3
    assert choral.ErrorProfile.from_dict(data["models"]["bad"]["profile"]) == evaluation.profiles["bad"]
    without = evaluate(y_true, predictions, n_bootstrap=0).to_dict()
    assert without["models"]["bad"]["difference_to_best"] is None


@pytest.mark.parametrize(
    "predictions, options, message",
    [
        ({}, {}, "predictions must name at least one model; got none"),
        ({"all irrelevant": [[0, 1]]}, {}, "'all irrelevant' is the name of the baseline"),
        ({"a": [[0, 1, 1]]}, {}, "y_true and predictions['a'] must have the same shape"),
        ({"a": [[0, np.nan]]}, {}, "predictions['a'] must lie in [0, 1]; predictions['a'][0, 1] is nan."),
        ({"a": [[0, 1]], "b": [[0, 7]]}, {}, "predictions['b'][0, 1] is 7."),
        ({"a": [[0, 1]]}, {"confidence": 1}, "confidence must lie between 0 and 1; got 1"),
        ({"a": [[0, 1]]}, {"n_bootstrap": -1}, "n_bootstrap must be at least 0; got -1"),
        ({"a": [[0, 1]]}, {"threshold": np.nan}, "threshold must be a number; got nan"),
        ({"a": [[0, 1]]}, {"family": "cubic"}, "family must be one of"),
        ({"a": [[0, 1]]}, {"parameters": [3]}, "whole numbers in 1..2"),
        ({"a": [[0, 1]]}, {"sample_weight": [0]}, "sample_weight must not be zero everywhere"),
    ],
)
def test_bad_arguments_are_refused(predictions, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluate([[0, 1]], predictions, **options)


@pytest.mark.parametrize("n_bootstrap", [1, 30])
@pytest.mark.parametrize("seed", range(4))
def test_a_single_row_can_be_bootstrapped(n_bootstrap, seed):
    evaluation = evaluate([[0, 1]], {"a": [[0, 1]], "b": [[0, 0]]}, n_bootstrap=n_bootstrap, random_state=seed)
    assert evaluation.differences["b"].lower.tolist() == [0.5, 1]


def test_of_equal_models_the_first_is_best():
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(2, size=(50, 6)), rng.random((50, 6))
    order = rng.permutation(6)
    twins = {
        "first": scores,
        "second": np.where(y_true == 1, 1, 0) + np.where(y_true == 1, -1, 1) * (np.abs(y_true - scores)[:, order]),
    }  # the same errors at other labels: equal but for rounding
    evaluation = evaluate(y_true, twins, n_bootstrap=20)
    assert evaluation.best == ("first",) * 6
    assert np.abs(evaluation.differences["second"].estimate).max() < 1e-12


def test_integer_scores_are_made_hard_too():
    votes = np.array([[3, 0], [1, 2]])
    evaluation = evaluate([[1, 0], [0, 1]], {"votes": votes}, threshold=2, n_bootstrap=0)
    assert evaluation.curves["votes"].losses.tolist() == [0, 0]


def test_frames_with_their_columns_in_another_order_are_refused():
    pandas = pytest.importorskip("pandas")
    y_true = pandas.DataFrame({"sea": [1, 0], "sky": [1, 1]})
    with pytest.raises(ValueError, match=r"predictions\['a'\] must have the columns of y_true in the same order"):
        evaluate(y_true, {"a": y_true[["sky", "sea"]]})


def test_close_parameters_have_columns_of_their_own():
    y_true, predictions = problem()
    evaluation = evaluate(y_true, predictions, family="polynomial", parameters=[1, 1.0000001, 2], n_bootstrap=0)
    assert evaluation.summary().columns == ("alpha=1", "alpha=1.0000001", "alpha=2", "area", "together")


@pytest.mark.parametrize("predictions", [np.zeros((1, 2)), [("a", [[0, 1]])]])
def test_predictions_must_have_names(predictions):
    cure = 'The predictions of one model are {"model": predictions}.'
    message = f"predictions must be a mapping from names to predictions; got {type(predictions).__name__}. {cure}"
    with pytest.raises(TypeError, match=re.escape(message)):
        evaluate([[0, 1]], predictions)
    with pytest.raises(TypeError, match="predictions must have text for names; got 3"):
        evaluate([[0, 1]], {3: [[0, 1]]})


def test_tiny_weights_do_not_trouble_a_strict_numpy():
    rng = np.random.default_rng(0)
    y_true, scores = rng.integers(2, size=(20, 2000)), rng.random((20, 2000))
    with np.errstate(all="raise"):
        for y_pred in (scores, scores > 0.5):
            for family in ("binomial", "polynomial"):
                assert np.isfinite(choral.loss_curve(y_true, y_pred, family).losses).all()
                evaluate(y_true, {"a": y_pred}, family=family, n_bootstrap=5)
            for measure in (choral.BinomialMeasure(1000), choral.PolynomialMeasure(1e6)):
                assert 0 <= choral.choquet_loss(y_true, y_pred, measure, sample_weight=rng.random(20)) <= 1
                assert 0 <= choral.choquet_integral(scores, measure).max() <= 1
                assert 0 <= choral.choquet_loss(y_true, y_pred, choral.RelevanceMeasure(measure, 1.0)) <= 1


def test_bad_scores_are_named_under_a_threshold():
    with pytest.raises(ValueError, match=r"predictions\['a'\] must not be nan; predictions\['a'\]\[0, 1\] is nan"):
        evaluate([[0, 1]], {"a": [[0.5, np.nan]]}, threshold=0.5)
