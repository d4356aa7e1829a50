"""Thresholds against brute force over all cuts, laws, kinds of input, and every refusal."""

import json
import time
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import fbeta_score, jaccard_score

import choral
from choral import (
    AveragedFLoss,
    AveragedJaccardLoss,
    BinomialMeasure,
    Capacity,
    FLoss,
    JaccardLoss,
    RelevanceMeasure,
    SubsetMeasure,
    ThresholdTuner,
    choquet_loss,
    loss_by_name,
)
from choral.loss_names import LOSS_NAMES
from choral.losses import mean_loss
from measure_zoo import KINDS

AVERAGES = ["micro", "macro"]
SHORT_NAMES = [name for name in LOSS_NAMES if name != "k=3"] + ["f0.5", "macro_f2", "alpha=inf"]  # some rows know fewer
SEPARABLE = ["hamming", "macro_f1", "macro_jaccard", "micro_f1", "micro_jaccard"]
SCORES = np.array([[0.1, 0.6, 0.3], [0.4, 0.2, 0.1], [0.2, 0.3, 0.9], [0.1, 0.2, 0.2]])
Y = np.array([[0, 1, 1], [1, 0, 0], [0, 1, 1], [0, 0, 0]])


def name_of(loss):
    return getattr(loss, "__name__", str(loss))


def make_rows(seed, n_rows=7, n_labels=3, n_levels=6, missing=0.0):
    """Scores with ties that say something about the labels."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, n_levels + 1, (n_rows, n_labels)) / n_levels
    labels = (rng.random(scores.shape) < 0.2 + 0.6 * scores).astype(float)
    labels[rng.random(labels.shape) < missing] = np.nan
    labels[0, 0] = 1.0
    return scores, labels


def cuts_of(scores):
    """A threshold for each way to cut some scores."""
    levels = np.unique(scores)
    return [levels[0], *(levels[:-1] + levels[1:]) / 2, levels[-1] + 1]


def loss_of(loss, y_true, y_pred, weights=None):
    loss = loss_by_name(loss) if isinstance(loss, str) else loss
    if not callable(loss):
        return mean_loss(y_true, y_pred, loss, sample_weight=weights)
    return loss(y_true, y_pred, sample_weight=weights)


def least_common(loss, scores, labels, weights=None):
    cuts = cuts_of(scores[~np.isnan(labels)])
    return min(loss_of(loss, labels, (scores >= cut).astype(int), weights) for cut in cuts)


def least_by_label(loss, scores, labels):
    cuts = product(*(cuts_of(column) for column in scores.T))
    return min(loss_of(loss, labels, (scores >= np.array(cut)).astype(int)) for cut in cuts)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 999))
def test_the_common_threshold_is_the_best_of_all_for_every_measure(kind, seed):
    scores, labels = make_rows(seed)
    measure = KINDS[kind](np.random.default_rng(seed), 3)
    tuner = ThresholdTuner(measure).fit(scores, labels)
    assert tuner.loss_ == pytest.approx(least_common(measure, scores, labels), abs=1e-12)
    assert choquet_loss(labels, tuner.predict(scores), measure) == pytest.approx(tuner.loss_, abs=1e-12)


@pytest.mark.parametrize(
    "loss", [*SHORT_NAMES, choral.f_loss, BinomialMeasure(2), FLoss(2), JaccardLoss()], ids=name_of
)
@given(seed=st.integers(0, 999))
def test_the_common_threshold_with_weights_and_missing_labels(loss, seed):
    scores, labels = make_rows(seed, missing=0.2)
    weights = np.random.default_rng(seed).integers(1, 4, len(labels)) / 2
    tuner = ThresholdTuner(loss).fit(scores, labels, sample_weight=weights)
    assert tuner.loss_ == pytest.approx(least_common(loss, scores, labels, weights), abs=1e-12)
    assert loss_of(loss, labels, tuner.predict(scores), weights) == pytest.approx(tuner.loss_, abs=1e-12)


@pytest.mark.parametrize("loss", SEPARABLE)
@given(seed=st.integers(0, 999))
def test_thresholds_by_label_are_the_best_of_all_where_losses_separate(loss, seed):
    scores, labels = make_rows(seed, n_levels=3)
    tuner = ThresholdTuner(loss, per_label=True, shrinkage=0).fit(scores, labels)
    assert tuner.loss_ == pytest.approx(least_by_label(loss, scores, labels), abs=1e-12)
    assert loss_of(loss, labels, tuner.predict(scores)) == pytest.approx(tuner.loss_, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 99))
def test_no_label_alone_can_improve_its_threshold(kind, seed):
    scores, labels = make_rows(seed, n_levels=4)
    measure = KINDS[kind](np.random.default_rng(seed), 3)
    tuner = ThresholdTuner(measure, per_label=True, shrinkage=0).fit(scores, labels)
    assert tuner.loss_ <= ThresholdTuner(measure).fit(scores, labels).loss_ + 1e-12
    for label in range(3):
        for cut in cuts_of(scores[:, label]):
            thresholds = tuner.thresholds_.copy()
            thresholds[label] = cut
            assert tuner.loss_ <= choquet_loss(labels, (scores >= thresholds).astype(int), measure) + 1e-12


def test_thresholds_by_hand():
    tuner = ThresholdTuner(BinomialMeasure(2)).fit(SCORES, Y)
    assert tuner.thresholds_.tolist() == [0.25] * 3
    assert tuner.loss_ == 0
    scores, labels = [[0.1, 0.6], [0.4, 0.8], [0.2, 0.7]], [[0, 0], [1, 1], [0, 0]]
    common, own = (ThresholdTuner("hamming", per_label=some, shrinkage=0).fit(scores, labels) for some in (False, True))
    np.testing.assert_allclose(common.thresholds_, [0.75, 0.75])
    np.testing.assert_allclose(own.thresholds_, [0.3, 0.75])
    assert (common.loss_, own.loss_) == (pytest.approx(1 / 6), 0)


def test_a_threshold_is_drawn_to_the_common_one_by_the_number_of_its_rarer_rows():
    scores = np.column_stack([np.linspace(0, 1, 40), np.linspace(0, 1, 40)])
    labels = np.column_stack([scores[:, 0] > 0.5, scores[:, 0] > 0.8]).astype(int)
    common = ThresholdTuner("hamming").fit(scores, labels).thresholds_
    own = ThresholdTuner("hamming", per_label=True, shrinkage=0).fit(scores, labels).thresholds_
    drawn = ThresholdTuner("hamming", per_label=True, shrinkage=10).fit(scores, labels).thresholds_
    np.testing.assert_allclose(drawn, common + (own - common) * np.array([20 / 30, 8 / 18]))


@given(seed=st.integers(0, 999), scale=st.floats(0.01, 100), shift=st.floats(-50, 50))
def test_scores_of_another_scale_give_the_same_labels(seed, scale, shift):
    scores, labels = make_rows(seed)
    logits = scale * np.round(scores, 3) + shift
    expected, found = (ThresholdTuner("f1").fit(some, labels) for some in (scores, logits))
    assert found.loss_ == pytest.approx(expected.loss_)


@given(seed=st.integers(0, 999), per_label=st.booleans())
def test_thresholds_of_probabilities_are_probabilities(seed, per_label):
    scores, labels = make_rows(seed)
    tuner = ThresholdTuner("subset", per_label=per_label, shrinkage=0).fit(np.minimum(scores, 0.99), labels)
    assert ((tuner.thresholds_ >= 0) & (tuner.thresholds_ <= 1)).all()


@pytest.mark.parametrize(
    "scores", [[[1.0], [1.0]], [[0.0], [0.0]], [[7.0], [7.0]], [[1e308], [-1e308]], [[1e300], [1e300]]]
)
@pytest.mark.parametrize("label", [0, 1])
def test_all_or_nothing(scores, label):
    tuner = ThresholdTuner("hamming").fit(scores, [[label], [label]])
    assert tuner.loss_ == 0
    assert tuner.predict(scores).tolist() == [[label], [label]]
    assert np.isfinite(tuner.thresholds_).all()


def test_neighbouring_doubles_are_cut_between():
    low = 0.3
    scores = [[low], [np.nextafter(low, 1)]]
    assert ThresholdTuner("hamming").fit(scores, [[0], [1]]).predict(scores).tolist() == [[0], [1]]


def test_of_equally_good_cuts_the_one_nearest_to_one_half_is_taken():
    scores = [[0.1], [0.2], [0.45], [0.48], [0.9]]
    assert ThresholdTuner(lambda y_true, y_pred: 0.0).fit(scores, np.ones((5, 1))).thresholds_[0] == pytest.approx(
        0.465
    )
    logits = [[-5.0], [-1.0], [2.0], [9.0]]
    assert ThresholdTuner(lambda y_true, y_pred: 0.0).fit(logits, np.ones((4, 1))).thresholds_[0] == 0.5


# Losses


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("beta", [0.5, 1, 2])
def test_f_loss_is_that_of_scikit_learn(average, beta):
    rng = np.random.default_rng(0)
    y_true, y_pred = (rng.random((2, 40, 5)) < [0.5, 0.1, 0.02, 0.3, 0.2]).astype(int)
    weights = rng.random(40)
    expected = fbeta_score(y_true, y_pred, beta=beta, average=average, zero_division=1, sample_weight=weights)
    assert AveragedFLoss(average, beta)(y_true, y_pred, sample_weight=weights) == pytest.approx(1 - expected)


@pytest.mark.parametrize("average", AVERAGES)
def test_jaccard_loss_is_that_of_scikit_learn(average):
    rng = np.random.default_rng(1)
    y_true, y_pred = (rng.random((2, 40, 5)) < 0.3).astype(int)
    expected = jaccard_score(y_true, y_pred, average=average, zero_division=1)
    assert AveragedJaccardLoss(average)(y_true, y_pred) == pytest.approx(1 - expected)
    assert AveragedJaccardLoss(average)(sp.csr_array(y_true), y_pred) == pytest.approx(1 - expected)


def test_missing_labels_count_nowhere_in_overlap_losses():
    y_true = np.array([[1, np.nan, 0], [np.nan, np.nan, np.nan], [1, 1, 0]])
    y_pred = np.array([[1, 1, 0], [1, 1, 1], [1, 0, 0]])
    assert AveragedFLoss("micro")(y_true, y_pred) == pytest.approx(1 - 4 / 5)
    assert AveragedFLoss("macro")(y_true, y_pred) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    "short, value, function",
    [
        ("f1", FLoss(), choral.f_loss),
        ("jaccard", JaccardLoss(), choral.jaccard_loss),
        ("subset", SubsetMeasure(), choral.subset_loss),
        (
            "k=2",
            BinomialMeasure(2),
            lambda Y, y_pred, reduction: choral.binomial_loss(Y, y_pred, 2, reduction=reduction),
        ),
    ],
)
def test_short_names_values_and_functions_give_the_same(short, value, function):
    scores, labels = make_rows(3, n_rows=30, missing=0.1)
    labels[:, 0] = labels[:, 1] = 1.0  # so that k=2 labels are known everywhere
    for options in ({}, {"per_label": True, "shrinkage": 0}):
        expected, *others = (ThresholdTuner(loss, **options).fit(scores, labels) for loss in (short, value, function))
        for found in others:
            np.testing.assert_allclose(found.thresholds_, expected.thresholds_)
            assert found.loss_ == pytest.approx(expected.loss_)


def test_a_function_without_reduction_is_called_for_each_cut():
    scores, labels = make_rows(4, n_rows=20)
    calls = []

    def cost(y_true, y_pred, sample_weight=None):
        calls.append(sample_weight)
        return choral.hamming_loss(y_true, y_pred, sample_weight=sample_weight)

    expected = ThresholdTuner("hamming", per_label=True, shrinkage=0).fit(scores, labels)
    found = ThresholdTuner(cost, per_label=True, shrinkage=0).fit(scores, labels)
    np.testing.assert_allclose(found.thresholds_, expected.thresholds_)
    assert calls[0] is None
    weights = np.arange(20.0)
    found, expected = (ThresholdTuner(loss).fit(scores, labels, weights) for loss in (cost, "hamming"))
    assert found.loss_ == pytest.approx(expected.loss_)
    assert calls[-1] is not None


def test_a_function_without_reduction_is_called_for_at_most_100_cuts():
    rng = np.random.default_rng(0)
    calls = []
    ThresholdTuner(lambda y_true, y_pred: calls.append(1) or y_pred.mean()).fit(rng.random((200, 2)), np.ones((200, 2)))
    assert len(calls) == 101  # and once for loss_


def test_functions_without_a_signature_are_called():
    assert ThresholdTuner(max_error).fit(SCORES, Y).loss_ == 0


class _Unsigned:
    """A function that does not show its parameters, as some written in C."""

    __signature__ = "none"

    def __call__(self, y_true, y_pred):
        return float(abs(y_true - y_pred.astype(float)).max())


max_error = _Unsigned()


# Input


def kinds_of(array):
    pandas, torch = pytest.importorskip("pandas"), pytest.importorskip("torch")
    return [
        array.tolist(),
        sp.csr_matrix(array),
        pandas.DataFrame(array),
        torch.as_tensor(array),
        array.astype(np.float32),
    ]


def test_all_kinds_of_input_give_the_same():
    rng = np.random.default_rng(0)
    scores = rng.integers(1, 64, (40, 4)) / 64
    labels = (rng.random(scores.shape) < scores).astype(float)
    expected = ThresholdTuner(BinomialMeasure(2), per_label=True).fit(scores, labels)
    for some_scores, some_labels in zip(kinds_of(scores), kinds_of(labels), strict=True):
        tuner = ThresholdTuner(BinomialMeasure(2), per_label=True).fit(some_scores, some_labels)
        np.testing.assert_array_equal(tuner.thresholds_, expected.thresholds_)
        predicted = tuner.predict(some_scores)
        assert sp.issparse(predicted) == sp.issparse(some_scores)
        predicted = predicted.toarray() if sp.issparse(predicted) else predicted
        assert predicted.dtype == np.uint8
        np.testing.assert_array_equal(predicted, expected.predict(scores))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("per_label", [False, True])
def test_labels_without_a_sparse_score_are_never_predicted(sign, per_label):
    scores = sp.csr_array([[0.0, sign * 2.0], [0.0, sign * 3.0], [0.0, 0.0]])
    tuner = ThresholdTuner("hamming", per_label=per_label).fit(scores, np.ones((3, 2)))
    assert (tuner.thresholds_ > 0).all()
    assert tuner.predict(scores).toarray().tolist() == [[0, int(sign > 0)], [0, int(sign > 0)], [0, 0]]


def test_missing_labels_do_not_cut():
    labels = np.array([[0, np.nan], [1, np.nan], [np.nan, np.nan], [1, np.nan]])
    scores = np.array([[0.2, 0.1], [0.6, 0.2], [0.4, 0.3], [0.9, 0.4]])
    for shrinkage in (0, 5):
        tuner = ThresholdTuner("hamming", per_label=True, shrinkage=shrinkage).fit(scores, labels)
        np.testing.assert_allclose(tuner.thresholds_, [0.4, 0.4])  # nothing is known of the second: the common one


def test_a_label_without_relevant_rows_takes_the_common_threshold_unless_there_is_no_shrinkage():
    scores = np.column_stack([SCORES, [0.5, 0.6, 0.7, 0.8]])
    labels = np.column_stack([Y, np.zeros(4)])
    common = ThresholdTuner("macro_f1").fit(scores, labels).thresholds_[0]
    drawn = ThresholdTuner("macro_f1", per_label=True).fit(scores, labels)
    assert drawn.thresholds_[3] == common
    own = ThresholdTuner("macro_f1", per_label=True, shrinkage=0).fit(scores, labels)
    assert own.thresholds_[3] == pytest.approx(0.9)
    assert own.loss_ == 0


@pytest.mark.parametrize("loss", SHORT_NAMES)
@pytest.mark.parametrize("per_label", [False, True])
def test_one_row_is_enough(loss, per_label):
    tuner = ThresholdTuner(loss, per_label=per_label, shrinkage=0).fit([[0.2, 0.7, 0.6]], [[0, 1, 1]])
    assert tuner.loss_ == 0
    assert tuner.predict([[0.2, 0.7, 0.6]]).tolist() == [[0, 1, 1]]


@pytest.mark.parametrize("loss", ["micro_f1", "macro_jaccard", "f1"])
def test_nothing_is_predicted_where_nothing_is_relevant(loss):
    tuner = ThresholdTuner(loss, per_label=True).fit(SCORES, np.zeros_like(Y))
    assert tuner.loss_ == 0
    assert not tuner.predict(SCORES).any()


def test_rows_without_weight_do_not_count():
    scores, labels = make_rows(5, n_rows=12)
    weights = np.repeat([1.0, 0.0], 6)
    for loss in ("subset", "micro_f1", "macro_f1"):
        assert ThresholdTuner(loss).fit(scores, labels, weights).loss_ == pytest.approx(
            ThresholdTuner(loss).fit(scores[:6], labels[:6]).loss_
        )


def test_data_given_stays_as_it_is():
    scores, labels = make_rows(6, missing=0.2)
    copies = scores.copy(), labels.copy()
    ThresholdTuner("subset", per_label=True).fit(scores, labels).predict(scores)
    np.testing.assert_array_equal(scores, copies[0])
    np.testing.assert_array_equal(labels, copies[1])


# The estimator


def test_it_can_be_cloned():
    tuner = ThresholdTuner(RelevanceMeasure(BinomialMeasure(2), 1.0), per_label=True, shrinkage=7)
    assert clone(tuner).get_params() == tuner.get_params()
    assert clone(tuner).set_params(loss="f1").loss == "f1"
    with pytest.raises(NotFittedError):
        clone(tuner.fit(SCORES, Y)).predict(SCORES)


@pytest.mark.parametrize("loss", ["micro_f1", BinomialMeasure(2), choral.f_loss])
def test_it_goes_through_json(loss):
    tuner = ThresholdTuner(loss, per_label=True).fit(SCORES, Y)
    again = ThresholdTuner.from_dict(json.loads(json.dumps(tuner.to_dict())))
    np.testing.assert_array_equal(again.thresholds_, tuner.thresholds_)
    np.testing.assert_array_equal(again.predict(SCORES), tuner.predict(SCORES))
    assert (again.loss_, again.per_label) == (tuner.loss_, True)
    assert again.to_dict() == tuner.to_dict()


def test_names_of_labels_are_kept_and_checked():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(SCORES, columns=["a", "b", "c"])
    tuner = ThresholdTuner("hamming").fit(frame, Y)
    again = ThresholdTuner.from_dict(json.loads(json.dumps(tuner.to_dict())))
    assert again.feature_names_in_.tolist() == ["a", "b", "c"]
    for some in (tuner, again):
        with pytest.raises(ValueError, match="names should match"):
            some.predict(frame[["b", "a", "c"]])
    with pytest.raises(ValueError, match=r"scores must have the columns of Y in the same order; scores\[Y.columns\]"):
        ThresholdTuner("hamming").fit(frame[["b", "a", "c"]], pandas.DataFrame(Y, columns=["a", "b", "c"]))


# Refusals


@pytest.mark.parametrize(
    "scores, labels, message",
    [
        (SCORES[:3], Y, r"Y and scores must have the same shape .* got \(4, 3\) and \(3, 3\)"),
        (SCORES[0], Y[0], r"scores must be 2-D.*A single row is scores.reshape\(1, -1\)"),
        (np.where(SCORES == 0.9, np.nan, SCORES), Y, r"scores must not be nan; scores\[2, 2\] is nan"),
        (np.where(SCORES == 0.9, np.inf, SCORES), Y, r"scores must be finite; scores\[2, 2\] is inf"),
        (sp.csr_array(np.where(SCORES == 0.9, np.inf, SCORES)), Y, r"scores must be finite; scores\[2, 2\] is inf"),
        (SCORES, 2 * Y, r"Y must be binary, 0 or 1; Y\[0, 1\] is 2"),
        (SCORES, np.full(Y.shape, np.nan), "Y must have a row with a known label and a positive weight; there is none"),
        ([["a"]], [[1]], "scores must hold numbers"),
        (np.zeros((0, 3)), np.zeros((0, 3)), "scores must have at least one row"),
    ],
)
def test_bad_rows_are_refused(scores, labels, message):
    with pytest.raises(ValueError, match=message):
        ThresholdTuner("hamming").fit(scores, labels)


def test_weights_on_unknown_rows_alone_are_refused():
    labels = np.where([[True], [False], [False], [False]], np.nan, Y)
    with pytest.raises(ValueError, match="Y must have a row with a known label and a positive weight"):
        ThresholdTuner("hamming").fit(SCORES, labels, sample_weight=[1, 0, 0, 0])


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"loss": "f"}, ValueError, "loss must be hamming, subset, k=3, .*; got 'f'"),
        ({"loss": 3}, TypeError, "loss must be a measure, FLoss, JaccardLoss, a function, hamming, .*; got 3"),
        ({"loss": SubsetMeasure}, TypeError, "loss must be a measure, FLoss, JaccardLoss, a function, hamming"),
        ({"loss": jaccard_score}, ValueError, "loss is minimised, and jaccard_score looks like a score"),
        ({"loss": "f1", "per_label": "yes"}, ValueError, "per_label must be True or False; got 'yes'"),
        ({"loss": "f1", "shrinkage": -1}, ValueError, "shrinkage must be a finite number, at least 0; got -1"),
        ({"loss": "f1", "shrinkage": True}, ValueError, "shrinkage must be a finite number, at least 0; got True"),
        ({"loss": BinomialMeasure(4)}, ValueError, "4"),
        ({"loss": lambda y_true, y_pred, reduction: 0.0}, ValueError, r"loss must give one number a row .* shape \(\)"),
    ],
)
def test_bad_options_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        ThresholdTuner(**options).fit(SCORES, Y)


def test_missing_labels_need_a_loss_that_counts():
    labels = np.where(Y == 1, np.nan, Y)
    with pytest.raises(ValueError, match="only counting measures can judge a row by its known labels"):
        ThresholdTuner(Capacity([0, 0, 0, 0, 0, 0, 0, 1])).fit(SCORES, labels)


def test_bad_scores_are_refused_in_predict():
    tuner = ThresholdTuner("hamming").fit(SCORES, Y)
    with pytest.raises(ValueError, match=r"scores must have one column for each of 3 labels; got shape \(4, 2\)"):
        tuner.predict(SCORES[:, :2])
    with pytest.raises(ValueError, match=r"scores must be finite; scores\[0, 0\] is inf"):
        tuner.predict([[np.inf, 0, 0]])
    with pytest.raises(ValueError, match="a threshold for sparse scores must be above 0"):
        ThresholdTuner("hamming").fit(SCORES - 0.5, Y).predict(sp.csr_array(SCORES))
    with pytest.raises(NotFittedError):
        ThresholdTuner("hamming").to_dict()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"thresholds": [0.1, np.inf, 0.2]}, r"thresholds must be finite; thresholds\[1\] is inf"),
        ({"loss_value": np.nan}, r"loss_value must be finite"),
        ({"labels": ["a"]}, "labels must name each of 3 labels; got"),
        ({"per_label": 3}, "per_label must be True or False"),
    ],
)
def test_what_no_tuner_could_have_written_is_refused(change, message):
    data = ThresholdTuner("hamming").fit(SCORES, Y).to_dict()
    with pytest.raises(ValueError, match=message):
        ThresholdTuner.from_dict({**data, **change})
    with pytest.raises(ValueError, match="a tuner needs loss, per_label, thresholds and loss_value; got nothing"):
        ThresholdTuner.from_dict({})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: AveragedFLoss("instance"), "average must be 'micro' or 'macro'; got 'instance'"),
        (
            lambda: AveragedJaccardLoss("samples"),
            r"'macro'; FLoss\(\) and JaccardLoss\(\) are the means over rows; got",
        ),
        (lambda: AveragedFLoss("micro", beta=0), "beta must lie between 0.001 and 1000; got 0"),
        (lambda: AveragedFLoss("micro")(Y, SCORES), "y_pred must be hard labels, 0 or 1, for this loss; got scores"),
    ],
)
def test_bad_overlap_losses_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


# Time: a guard against one evaluation a cut, which would take hours; a quiet machine needs a fifth of this


@pytest.mark.parametrize(
    "n_rows, n_labels, loss, per_label",
    [(100_000, 100, BinomialMeasure(3), False), (10_000, 50, SubsetMeasure(), True)],
)
def test_many_rows_take_seconds(n_rows, n_labels, loss, per_label):
    rng = np.random.default_rng(0)
    scores = rng.random((n_rows, n_labels))
    labels = (rng.random(scores.shape) < scores).astype(np.uint8)
    start = time.process_time()
    ThresholdTuner(loss, per_label=per_label).fit(scores, labels)
    assert time.process_time() - start < 30


def test_every_loss_of_a_name_is_tuned_for_what_it_says():
    scores, labels = make_rows(8, n_rows=60, n_levels=40)
    tuned = {loss: ThresholdTuner(loss).fit(scores, labels).predict(scores) for loss in SHORT_NAMES}
    for loss in SHORT_NAMES:
        losses = {other: loss_of(loss, labels, predicted) for other, predicted in tuned.items()}
        assert losses[loss] == pytest.approx(min(losses.values()), abs=1e-12)
