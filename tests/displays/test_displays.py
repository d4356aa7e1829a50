"""Displays draw the numbers they hold, name what they draw, and leave no figure behind."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    HammingMeasure,
    LossCurve,
    MixedPredictionsWarning,
    PairwiseCurve,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
    choquet_integral,
    choquet_loss,
    loss_curve,
)
from choral.displays import ChoquetDisplay, LossCurveDisplay, PairGridDisplay, PairwiseDisplay, RatioDisplay
from choral.measures import Measure, Terms
from drawings import boxes, inside_figure, overlapping, texts

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
Y_TRUE = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0]])
Y_FIRST = np.array([[1, 0, 0], [0, 1, 1], [1, 1, 0]])
Y_SECOND = np.array([[1, 0, 1], [0, 0, 1], [0, 0, 1]])


def curve(losses, name=None, family="binomial", parameters=None, n_labels=None):
    parameters = range(1, len(losses) + 1) if parameters is None else parameters
    return LossCurve(family, list(parameters), losses, n_labels=n_labels or len(losses), name=name)


def test_importing_displays_needs_no_matplotlib():
    code = "import sys, choral.displays; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# LossCurveDisplay


def test_lines_hold_the_losses_and_the_ends_are_named(plt):
    display = LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_SECOND})
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    for line, y_pred in zip(display.lines_, (Y_FIRST, Y_SECOND), strict=True):
        expected = loss_curve(Y_TRUE, y_pred)
        assert np.array_equal(line.get_xdata(), expected.parameters)
        assert np.array_equal(line.get_ydata(), expected.losses)
    assert {"BR", "LP", "1", "2", "3"} <= set(texts(display.ax_))
    assert display.ax_.get_xlabel() == r"Hamming $\leftarrow$ size of label sets, $k$ $\rightarrow$ subset 0/1"
    assert display.ax_.get_ylim()[0] == 0
    assert display.ax_.get_xscale() == "linear"


def test_draws_on_the_axes_it_is_given_and_passes_properties_on(plt):
    figure, (_, ax) = plt.subplots(1, 2)
    display = LossCurveDisplay.from_curves(curve([0.1, 0.2])).plot(ax, lw=5, c="black")
    assert display.ax_ is ax
    assert plt.get_fignums() == [figure.number]
    assert display.lines_[0].get_linewidth() == 5
    assert display.lines_[0].get_color() == "black"
    assert not ax.texts  # one curve without a name needs none


def test_a_single_prediction_and_its_name():
    display = LossCurveDisplay.from_predictions(Y_TRUE, Y_FIRST, name="BR", sample_weight=[1, 0, 0])
    assert display.curves == (loss_curve(Y_TRUE, Y_FIRST, sample_weight=[1, 0, 0], name="BR"),)
    with pytest.raises(ValueError, match="name is for the predictions of one model"):
        LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST}, name="BR")


def test_a_mapping_names_its_curves():
    display = LossCurveDisplay.from_curves({"a": curve([0.1, 0.2], name="z"), "b": curve([0.2, 0.3])})
    assert display.names == ("a", "b")
    assert LossCurveDisplay([curve([0.1, 0.2])] * 2).names == ("curve 1", "curve 2")


def test_logarithmic_axis_of_alpha(plt):
    display = LossCurveDisplay.from_predictions(Y_TRUE, Y_FIRST, family="polynomial").plot()
    assert display.ax_.get_xscale() == "log"
    assert texts(display.ax_) == ["1", "10", "100", "1000"]
    assert display.ax_.get_xlabel() == r"Hamming $\leftarrow$ exponent, $\alpha$ $\rightarrow$ subset 0/1"


def test_infinite_alpha_is_a_point_of_its_own_at_the_right_end(plt):
    display = LossCurveDisplay.from_predictions(Y_TRUE, Y_FIRST, family="polynomial", parameters=[1, 10, np.inf]).plot()
    x, y = display.lines_[0].get_data()
    assert np.isnan(x[2])
    assert np.isnan(y[2])
    assert x[3] > 10
    assert y[3] == pytest.approx(2 / 3)
    assert texts(display.ax_)[-1] == "∞"
    assert np.isfinite(display.ax_.get_xlim()).all()


@pytest.mark.parametrize(
    ("family", "parameters", "ticks"),
    [
        ("polynomial", [np.inf], ["1", "∞"]),
        ("polynomial", [3], ["3"]),
        ("polynomial", [3, np.inf], ["3", "∞"]),
        ("binomial", [2], ["2"]),
    ],
)
def test_a_single_parameter_still_has_an_axis(plt, family, parameters, ticks):
    display = LossCurveDisplay.from_predictions(Y_TRUE, Y_FIRST, family=family, parameters=parameters).plot()
    low, high = display.ax_.get_xlim()
    assert low < np.nanmin(display.lines_[0].get_xdata()) < high
    assert texts(display.ax_) == ticks


def test_the_name_of_a_single_point_stands_beside_it(plt):
    display = LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_SECOND}, parameters=[2]).plot()
    display.figure_.draw_without_rendering()
    for text in display.ax_.texts:
        start, end = display.ax_.transData.transform([text.xy, text.get_position()])
        assert end[0] - start[0] == pytest.approx(14 * display.figure_.dpi / 72)  # else it would look like a curve


def test_a_dotted_line_leads_to_the_name_of_a_curve_that_stops_early(plt):
    curves = [curve([0.1, 0.2, 0.3], "whole"), curve([0.1], "short", n_labels=3)]
    whole, short = LossCurveDisplay(curves).plot().ax_.texts
    assert (whole.get_text(), whole.arrow_patch.get_linestyle()) == ("whole", "-")
    assert (short.get_text(), short.arrow_patch.get_linestyle()) == ("short", ":")


def test_one_label_is_hamming_and_subset_at_once(plt):
    display = LossCurveDisplay.from_curves(curve([0.3])).plot()
    assert texts(display.ax_) == ["1"]
    assert display.ax_.get_xlabel() == "size of label sets, $k$ (Hamming = subset 0/1)"


def test_the_axis_says_where_ends_lead_that_are_not_reached(plt):
    display = LossCurveDisplay.from_curves(curve([0.1, 0.2, 0.3], parameters=[2, 3, 4], n_labels=9)).plot()
    assert texts(display.ax_) == ["2", "3", "4"]
    assert display.ax_.get_xlabel().startswith(r"Hamming $\leftarrow$")


def test_perfect_predictions_have_an_axis_too(plt):
    display = LossCurveDisplay.from_curves(curve([0.0, 0.0])).plot()
    assert display.ax_.get_ylim() == (0, 1)


def test_baseline_is_dashed_and_grey(plt):
    curves = [curve([0.1, 0.2], "nothing"), curve([0.1, 0.3], "BR")]
    baseline, other = LossCurveDisplay.from_curves(curves, baseline="nothing").plot().lines_
    assert baseline.get_linestyle() == "--"
    assert len(set(plt.matplotlib.colors.to_rgb(baseline.get_color()))) == 1
    assert other.get_color() == LossCurveDisplay.from_curves(curves[1:]).plot().lines_[0].get_color()
    with pytest.raises(ValueError, match="baseline must be one of 'nothing', 'BR'; got 'none'"):
        LossCurveDisplay(curves, baseline="none")


def far_off(losses=(0.7, 0.9, 1.0)):
    return [curve([0.1, 0.2, 0.3], "BR"), curve([0.1, 0.15, 0.2], "LP"), curve(list(losses), "all irrelevant")]


def test_a_baseline_far_above_leaves_the_axes_and_is_named_there(plt):
    display = LossCurveDisplay(far_off(), baseline="all irrelevant").plot()
    assert 0.3 < display.ax_.get_ylim()[1] < 0.4
    assert display.lines_[2].get_clip_on()
    assert "\N{UPWARDS ARROW} all irrelevant: 0.70 to 1.00" in texts(display.ax_)
    assert "all irrelevant" not in texts(display.ax_)
    assert inside_figure(display.ax_)


def test_a_baseline_that_leaves_the_axes_on_the_way_is_named_where_it_leaves(plt):
    display = LossCurveDisplay(far_off((0.2, 0.6, 1.0)), baseline="all irrelevant").plot()
    (note,) = [text for text in display.ax_.texts if "\N{UPWARDS ARROW}" in text.get_text()]
    assert note.get_text() == "\N{UPWARDS ARROW} all irrelevant: up to 1.00"
    assert note.get_window_extent().x0 > display.ax_.transData.transform((2, 0.3))[0]


def test_a_baseline_that_is_near_stays(plt):
    display = LossCurveDisplay(far_off((0.2, 0.4, 0.6)), baseline="all irrelevant").plot()
    assert display.ax_.get_ylim()[1] > 0.6
    assert not display.lines_[2].get_clip_on()
    assert "all irrelevant" in texts(display.ax_)


def test_bands_count_as_models_where_a_baseline_is_far(plt):
    bands = {"BR": ([0.0, 0.1, 0.2], [0.2, 0.4, 0.6])}
    display = LossCurveDisplay(far_off(), baseline="all irrelevant", bands=bands).plot()
    assert display.ax_.get_ylim()[1] > 1
    bands = {"all irrelevant": ([0.6, 0.8, 0.9], [0.8, 1.0, 1.0])}
    display = LossCurveDisplay(far_off(), baseline="all irrelevant", bands=bands).plot()
    assert display.ax_.get_ylim()[1] < 0.4


def test_a_far_baseline_drawn_first_returns_when_models_come_near_it(plt):
    ax = LossCurveDisplay(far_off()[::2], baseline="all irrelevant").plot().ax_
    assert ax.get_ylim()[1] < 0.4
    LossCurveDisplay([curve([0.4, 0.6, 0.8], "bad")]).plot(ax)
    assert ax.get_ylim()[1] > 1
    assert "all irrelevant" in texts(ax)
    assert not any("\N{UPWARDS ARROW}" in text for text in texts(ax))


def test_a_far_baseline_with_a_legend_and_a_long_name(plt):
    long = "a baseline with a long name that does not fit anywhere " * 2
    curves = [*far_off()[:2], curve([0.1, 0.2, 0.25], "model " * 20), curve([0.7, 0.9, 1.0], long)]
    display = LossCurveDisplay(curves, baseline=long).plot()
    assert any(text.endswith(": 0.70 to 1.00") for text in texts(display.ax_))
    assert inside_figure(display.ax_)


class Constant:
    """An estimator that is fitted already."""

    def __init__(self, labels):
        self.labels = np.asarray(labels)

    def predict(self, X):
        return self.labels[np.asarray(X)[:, 0]]


class Other(Constant):
    pass


def test_a_fitted_estimator_is_applied_and_named_by_its_class():
    X = [[0], [1], [2]]
    display = LossCurveDisplay.from_estimator(Constant(Y_FIRST), X, Y_TRUE)
    assert display.names == ("Constant",)
    assert np.array_equal(display.curves[0].losses, loss_curve(Y_TRUE, Y_FIRST).losses)
    assert LossCurveDisplay.from_estimator(Constant(Y_FIRST), X, Y_TRUE.tolist(), name="BR").names == ("BR",)


def test_estimators_by_name_with_all_options():
    X, models = [[2], [1], [0]], {"BR": Constant(Y_FIRST[::-1]), "LP": Constant(Y_SECOND[::-1])}
    options = {"family": "polynomial", "parameters": [1, 5], "sample_weight": [1, 2, 3]}
    display = LossCurveDisplay.from_estimator(models, X, Y_TRUE, baseline="LP", **options)
    expected = LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_SECOND}, baseline="LP", **options)
    assert (display.names, display.baseline) == (expected.names, "LP")
    for ours, theirs in zip(display.curves, expected.curves, strict=True):
        assert np.array_equal(ours.losses, theirs.losses)
    with pytest.raises(ValueError, match="a mapping has its names, got 'x'"):
        LossCurveDisplay.from_estimator(models, X, Y_TRUE, name="x")


def test_one_label_of_an_estimator_that_predicts_a_vector():
    display = LossCurveDisplay.from_estimator(Constant([1, 0]), [[0], [1]], [[1], [1]])
    assert display.curves[0].losses.tolist() == [0.5]


def test_an_estimator_in_a_mapping_is_named_in_messages():
    with pytest.raises(TypeError, match=r"estimator\['BR'\] must be a fitted estimator; got the class Constant itself"):
        LossCurveDisplay.from_estimator({"BR": Constant}, [[0]], [[1, 0]])


@pytest.mark.parametrize("display", [PairwiseDisplay, RatioDisplay])
def test_two_estimators_against_each_other(display):
    X, options = [[0], [1], [2]], {"family": "polynomial", "parameters": [1, 5], "sample_weight": [1, 2, 3]}
    first, second = Constant(Y_FIRST), Other(Y_SECOND)
    expected = display.from_predictions(Y_TRUE, Y_FIRST, Y_SECOND, **options)
    for estimators, names in [
        ({"BR": first, "LP": second}, ("BR", "LP")),
        ([first, second], ("Constant", "Other")),
        ((first, Constant(Y_SECOND)), ("first", "second")),
    ]:
        made = display.from_estimator(estimators, X, Y_TRUE, **options)
        assert made.names == names
        assert np.array_equal(made.pairs[0].differences, expected.pairs[0].differences)
    with pytest.raises(ValueError, match="compares two models; got 1"):
        display.from_estimator({"BR": first}, X, Y_TRUE)
    with pytest.raises(TypeError, match="or two fitted estimators; got Constant"):
        display.from_estimator(first, X, Y_TRUE)


def test_bands_lie_around_their_curves(plt):
    display = LossCurveDisplay.from_curves(
        [curve([0.1, 0.2], "a"), curve([0.3, 0.4], "b")], bands=[None, ([0.25, 0.3], [0.35, 0.6])]
    ).plot()
    (band,) = display.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.25, 0.6)
    assert display.ax_.get_ylim()[1] > 0.6


@pytest.mark.parametrize(
    ("bands", "message"),
    [
        ([], "one entry for each of 1 curves; got 0"),
        ([([0.1], [0.2])], r"bands\[0\] must be a lower and an upper vector of 2 entries.*got \[1, 1\]"),
        ([([0.1, 0.2],)], r"got \[2\]"),
    ],
)
def test_bands_that_do_not_fit_are_refused(bands, message):
    with pytest.raises(ValueError, match=message):
        LossCurveDisplay([curve([0.1, 0.2])], bands=bands)


@pytest.mark.parametrize(
    ("n_models", "size"), [(2, (3.5, 2.6)), (6, (3.5, 2.6)), (12, (3.5, 2.6)), (2, None), (12, None), (30, None)]
)
@pytest.mark.parametrize("name", ["model {}", "classifier chains with logistic regression, {}"])
def test_names_do_not_overlap(plt, n_models, size, name):
    rng = np.random.default_rng(n_models)
    curves = [curve(np.sort(rng.random(7)) * rng.random(), name.format(i)) for i in range(n_models)]
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    display = LossCurveDisplay.from_curves(curves).plot(ax)
    written = boxes(display.ax_)
    assert len(written) == n_models
    assert not overlapping(written)
    whole = display.figure_.bbox
    assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 and box.y0 >= whole.y0 - 1 for box in written)


def test_no_two_of_24_lines_look_alike():
    from choral.displays._style import line_style

    looks = {(style["color"], str(style["linestyle"]), style["marker"]) for style in map(line_style, range(24))}
    assert len(looks) == 24


PLAIN = [((1, 1), None), ((1, 1), (3, 2.2)), ((1, 2), (10, 4)), ((2, 2), None), ((2, 3), (9, 6))]


@pytest.mark.parametrize(("grid", "size"), PLAIN)
@pytest.mark.parametrize("family", ["binomial", "polynomial"])
def test_plain_figures_have_room_for_all_that_is_written(plt, grid, size, family):
    figure, axes = plt.subplots(*grid, figsize=size, squeeze=False)
    names = ["binary relevance", "ensemble of classifier chains"]
    for ax in axes.flat:
        LossCurveDisplay([curve([0.1, 0.3, 0.5], name, family) for name in names]).plot(ax)
        assert not overlapping(boxes(ax))
        assert ax.get_xlabel().startswith("Hamming")
        assert ax.xaxis.label.get_window_extent().width <= ax.bbox.width
    for ax in axes[-1]:
        assert size == (3, 2.2) or inside_figure(ax)  # matplotlib keeps no room below axes as low as these
    for upper, lower in zip(axes[:-1].flat, axes[1:].flat, strict=True):
        assert upper.get_tightbbox().y0 > lower.bbox.y1 - 0.02 * figure.bbox.height


def test_models_plotted_one_by_one_look_like_models_plotted_together(plt):
    curves = [curve(np.array([0.3, 0.4]) / (i + 1), f"model {i}") for i in range(4)]
    curves.insert(2, curve([0.7, 0.9], "nothing"))
    ax = LossCurveDisplay([curves[0]]).plot().ax_
    for one in curves[1:]:
        LossCurveDisplay([one], baseline="nothing" if one.name == "nothing" else None).plot(ax)
    together = LossCurveDisplay(curves, baseline="nothing").plot().ax_
    assert [line.get_color() for line in ax.lines] == [line.get_color() for line in together.lines]
    assert [line.get_marker() for line in ax.lines] == [line.get_marker() for line in together.lines]
    assert sorted(texts(ax)) == sorted(texts(together))
    assert ax.get_ylim() == together.get_ylim()
    assert not overlapping(boxes(ax))


def test_curves_without_names_one_by_one(plt):
    ax = LossCurveDisplay([curve([0.1, 0.2])]).plot().ax_
    LossCurveDisplay([curve([0.2, 0.3])]).plot(ax)
    assert {"curve 1", "curve 2"} <= set(texts(ax))


def test_one_by_one_until_only_a_legend_has_room(plt):
    _, ax = plt.subplots(figsize=(3, 2.2), layout="constrained")
    for i in range(3):
        LossCurveDisplay([curve([0.1, 0.2], f"a name that takes half of the width, {i}")]).plot(ax)
    assert not ax.texts
    assert len(ax.get_legend().get_texts()) == 3


def test_nine_models_have_nine_colours():
    from choral.displays._style import line_style

    assert len({line_style(index)["color"] for index in range(9)}) == 9


def test_names_from_files_stand_on_one_line(plt):
    name = "runs\nof\tmonday\x07\x00"
    assert r"runs of monday\x07\x00" in texts(LossCurveDisplay([curve([0.1, 0.2], name)]).plot().ax_)
    pair = PairwiseCurve(curve([0.1, 0.2], name), curve([0.2, 0.3], name))
    ax = PairwiseDisplay({name: pair}).plot().ax_
    assert r"runs of monday\x07\x00" in texts(ax)
    assert ax.get_xlabel() == r"binomial loss of runs of monday\x07\x00"
    left, _ = ChoquetDisplay([0.5], SubsetMeasure(), label_names=["sun\nset"]).plot().axes_
    assert texts(left)[0] == "sun set"


def test_names_are_not_formulas(plt):
    names = ["_hidden", r"a $\frac{", "x" * 80]
    display = LossCurveDisplay.from_curves([curve([0.1, 0.2], name) for name in names]).plot()
    assert {"_hidden", r"a $\frac{"} <= set(texts(display.ax_))


def test_refuses_no_curves_and_curves_that_do_not_compare():
    with pytest.raises(ValueError, match="at least one curve; got none"):
        LossCurveDisplay.from_curves([])
    with pytest.raises(ValueError, match="at least one curve; got none"):
        LossCurveDisplay.from_predictions(Y_TRUE, {})
    with pytest.raises(TypeError, match="curves must be LossCurve; got int"):
        LossCurveDisplay([3])
    with pytest.raises(ValueError, match="got binomial, 2 labels and binomial, 3 labels"):
        LossCurveDisplay([curve([0.1, 0.2]), curve([0.1, 0.2, 0.3])])
    with pytest.raises(ValueError, match="got binomial, 2 labels and polynomial, 2 labels"):
        LossCurveDisplay([curve([0.1, 0.2]), curve([0.1, 0.2], family="polynomial")])


def test_bad_predictions_are_named():
    with pytest.raises(ValueError, match=r"y_true and predictions\['LP'\] must have the same shape"):
        LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_FIRST[:2]})


def test_warns_where_scores_meet_hard_labels():
    with pytest.warns(MixedPredictionsWarning, match=r"scores \(BR\) and hard labels do not compare"):
        LossCurveDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST * 0.7, "LP": Y_SECOND})


@pytest.mark.parametrize(
    "display", [LossCurveDisplay([curve([0.1])]), PairwiseDisplay(PairwiseCurve(*[curve([0.1])] * 2))]
)
def test_refuses_wrong_axes(plt, display):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got ndarray"):
        display.plot(axes)


# PairwiseDisplay


def test_first_on_x_second_on_y_with_a_crossing(plt):
    first, second = curve([0.2, 0.4, 0.6], "BR"), curve([0.3, 0.4, 0.5], "LP")
    display = PairwiseDisplay.from_curves(first, second)
    assert display.plot() is display
    (line,) = display.lines_
    assert np.array_equal(line.get_xdata(), first.losses)
    assert np.array_equal(line.get_ydata(), second.losses)
    ax = display.ax_
    assert {"above:\nBR better", "below:\nLP better", "Hamming", "subset 0/1", "k = 2"} <= set(texts(ax))
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_aspect() == 1
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("binomial loss of BR", "binomial loss of LP")
    (cross,) = [line for line in ax.lines if line.get_marker() == "x"]
    assert cross.get_xydata().tolist() == [[0.4, 0.4]]


def test_pairwise_from_predictions_on_given_axes(plt):
    _, ax = plt.subplots()
    display = PairwiseDisplay.from_predictions(
        Y_TRUE, Y_FIRST, Y_SECOND, family="polynomial", parameters=[1, 2], names=("same", "same")
    )
    assert display.plot(ax, linewidth=3).ax_ is ax
    assert display.lines_[0].get_linewidth() == 3
    assert display.names == ("same", "same")
    assert f"{ALPHA} = 2" in texts(ax)


def test_notes_in_the_pairwise_plot_do_not_overlap(plt):
    losses = np.linspace(0.1, 0.7, 7)
    first, second = curve(losses, "A"), curve(losses + 0.02 * (-1.0) ** np.arange(7), "B")
    for pair in (first, second), (curve(np.zeros(7)), first), (first, curve(np.zeros(7))):
        _, ax = plt.subplots(figsize=(3.5, 3.5), layout="constrained")
        written = boxes(PairwiseDisplay.from_curves(*pair).plot(ax).ax_)
        assert not overlapping(written)


def test_notes_do_not_hide_the_point_they_name(plt):
    first, second = curve([0.05, 0.1, 0.24], "A"), curve([0.18, 0.3, 0.5], "B")
    _, ax = plt.subplots(figsize=(2.4, 2.4), layout="constrained")
    PairwiseDisplay.from_curves(first, second).plot(ax)
    ends = dict(zip(texts(ax), zip(ax.texts, boxes(ax), strict=True), strict=False))
    for name in ("Hamming", "subset 0/1"):
        note, box = ends[name]
        assert not box.contains(*ax.transData.transform(note.xy))


@pytest.mark.parametrize(("grid", "size", "least"), [((1, 1), None, 1), ((2, 3), (9, 6), 6), ((3, 3), None, 0)])
def test_notes_of_who_is_better_stay_on_their_side_or_away(plt, grid, size, least):
    figure, axes = plt.subplots(*grid, figsize=size, squeeze=False)
    rng = np.random.default_rng(0)
    written = 0
    for ax in axes.flat:
        first = curve(np.sort(rng.random(7)), "binary relevance")
        second = curve(np.sort(rng.random(7)), "ensemble of classifier chains")
        PairwiseDisplay.from_curves(first, second).plot(ax)
        figure.draw_without_rendering()
        notes = [text for text in ax.texts if text.get_text().endswith("better")]
        for note in notes:
            (x0, y0), (x1, y1) = ax.transAxes.inverted().transform(note.get_window_extent())
            above = note.get_ha() == "left"
            assert x1 < y0 if above else x0 > y1
        written += len(notes)
        assert ax.yaxis.label.get_window_extent().height <= ax.bbox.height
        assert ax.xaxis.label.get_window_extent().width <= ax.bbox.width
    assert written >= least


def test_notes_keep_clear_of_a_legend_inside_the_axes(plt):
    _, ax = plt.subplots()
    pair = PairwiseCurve(curve([0.1, 0.2], "A"), curve([0.2, 0.3], "B"))
    PairwiseDisplay({"emotions": pair, "scene": pair}).plot(ax)
    assert inside_figure(ax)
    legend = ax.get_legend().get_window_extent()
    assert not overlapping([legend, *(text.get_window_extent() for text in ax.texts)])


def test_a_line_for_each_data_set(plt):
    first = {"emotions": curve([0.2, 0.4, 0.6], "BR"), "scene": curve([0.1, 0.2], "BR")}
    second = {"scene": curve([0.1, 0.1], "LP"), "emotions": curve([0.3, 0.4, 0.5], "LP")}
    display = PairwiseDisplay.from_curves(first, second).plot()
    assert display.data_names == ("emotions", "scene")
    assert len(display.lines_) == 2
    assert {"emotions (k = 2)", "scene", "Hamming", "subset 0/1", "crossing at k"} <= set(texts(display.ax_))


def test_several_crossings_are_listed_after_the_name(plt):
    first, second = curve([0.1, 0.3, 0.4], "BR"), curve([0.2, 0.2, 0.5], "LP")
    display = PairwiseDisplay.from_curves({"emotions": first}, {"emotions": second}).plot()
    assert "emotions (k = 1.5, 2.5)" in texts(display.ax_)


def test_data_sets_without_crossings_and_whole_axis(plt):
    pair = PairwiseCurve(*[curve([0.1, 0.2], family="polynomial", n_labels=3)] * 2)
    written = texts(PairwiseDisplay({"emotions": pair}).plot().ax_)
    assert {"emotions", f"least {ALPHA}", f"largest {ALPHA}"} <= set(written)
    assert not any("crossing" in text for text in written)


def test_crossing_between_the_largest_alpha_and_infinity(plt):
    alphas = [1, 100, np.inf]
    first = curve([0.1, 0.2, 0.6], family="polynomial", parameters=alphas)
    second = curve([0.2, 0.4, 0.4], family="polynomial", parameters=alphas)
    display = PairwiseDisplay.from_curves(first, second).plot()
    (cross,) = [line for line in display.ax_.lines if line.get_marker() == "x"]
    assert cross.get_xydata() == pytest.approx(np.array([[0.4, 0.4]]))
    assert {f"{ALPHA} > 100", "subset 0/1"} <= set(texts(display.ax_))


def test_refuses_pairs_that_do_not_belong_together():
    pair = PairwiseCurve(curve([0.1, 0.2], "A"), curve([0.1, 0.2], "B"))
    other = PairwiseCurve(curve([0.1, 0.2], "A"), curve([0.1, 0.2], "C"))
    third = PairwiseCurve(*[curve([0.1, 0.2], family="polynomial")] * 2)
    with pytest.raises(ValueError, match="at least one pair"):
        PairwiseDisplay({})
    with pytest.raises(TypeError, match="pairs must be PairwiseCurve; got LossCurve"):
        PairwiseDisplay(curve([0.1]))
    with pytest.raises(ValueError, match="one family; got binomial and polynomial"):
        PairwiseDisplay({"x": pair, "y": third})
    with pytest.raises(ValueError, match="A against B and A against C"):
        PairwiseDisplay({"x": pair, "y": other})
    with pytest.raises(ValueError, match="only one has 'x', 'y'"):
        PairwiseDisplay.from_curves({"x": curve([0.1])}, {"y": curve([0.1])})
    with pytest.raises(TypeError, match="got LossCurve and dict"):
        PairwiseDisplay.from_curves(curve([0.1]), {"y": curve([0.1])})


# ChoquetDisplay

MEASURES = [
    HammingMeasure(),
    SubsetMeasure(),
    BinomialMeasure(2),
    PolynomialMeasure(1.5),
    AtLeastMeasure(2),
    AdditiveMeasure([0.5, 0.3, 0.1, 0.1]),
    Capacity.from_function(lambda labels: len(labels) ** 2 / 16, 4),
]


def area(patches):
    return sum(patch.get_width() * patch.get_height() for patch in patches)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@pytest.mark.parametrize("u", [[0.8, 0.3, 0.9, 0.6], [1, 0, 1, 1], [0.5, 0.5, 0.5, 2.5], [0, 0, 0, 0]])
def test_areas_are_the_integrals(plt, measure, u):
    display = ChoquetDisplay(u, measure)
    assert display.plot() is display
    bars, slices = display.axes_
    additive = AdditiveMeasure(display.weights)
    assert area(slices.patches[:4]) == pytest.approx(choquet_integral(u, measure))
    assert area(bars.patches) == pytest.approx(choquet_integral(u, additive))
    assert display.integral == pytest.approx(choquet_integral(u, measure))
    assert display.mean == pytest.approx(choquet_integral(u, additive))


def test_weights_of_the_mean():
    assert ChoquetDisplay([0.1, 0.2], AdditiveMeasure([0.3, 0.7])).weights.tolist() == [0.3, 0.7]
    assert ChoquetDisplay([0.1, 0.2], SubsetMeasure()).weights.tolist() == [0.5, 0.5]
    assert ChoquetDisplay([0.1, 0.2], SubsetMeasure(), weights=[0.9, 0.1]).mean == pytest.approx(0.11)


def test_from_prediction_is_one_minus_the_loss():
    y_true, y_pred = [1, 0, 1], [0.8, 0.7, 0.9]
    for measure in (BinomialMeasure(2), RelevanceMeasure(BinomialMeasure(2), beta=1.0)):
        display = ChoquetDisplay.from_prediction(y_true, y_pred, measure)
        assert 1 - display.integral == pytest.approx(choquet_loss([y_true], [y_pred], measure))


def test_bars_fall_and_bear_their_names_on_given_axes(plt):
    figure, axes = plt.subplots(1, 2)
    names = ["beach", "a $ and a rather long name", "sunset"]
    display = ChoquetDisplay([0.2, 0.9, 0.5], SubsetMeasure(), label_names=names).plot(axes)
    assert display.axes_ == tuple(axes)
    assert display.figure_ is figure
    assert [bar.get_height() for bar in axes[0].patches] == [0.9, 0.5, 0.2]
    assert texts(axes[0])[:3] == ["a $ and…ng name", "sunset", "beach"]
    assert axes[0].get_xticklabels()[0].get_rotation() == 45


@pytest.mark.parametrize("names", [np.array(["beach", "sunset"]), (3, 7)])
def test_label_names_may_be_columns_of_a_table(names):
    assert ChoquetDisplay([0.2, 0.9], SubsetMeasure(), label_names=names).label_names == tuple(map(str, names))


def test_label_names_may_be_an_index():
    pandas = pytest.importorskip("pandas")
    names = pandas.DataFrame(columns=["beach", "sunset"]).columns
    assert ChoquetDisplay([0.2, 0.9], SubsetMeasure(), label_names=names).label_names == ("beach", "sunset")


def test_axes_and_areas_of_the_integral_are_named(plt):
    left, right = ChoquetDisplay([0.2, 0.9, 0.5], AtLeastMeasure(2)).plot().axes_
    assert texts(left) == ["label 1", "label 2", "label 0", "weighted mean: 0.533"]
    assert left.get_xlabel() == "label, as wide as its weight"
    assert texts(right)[-2:] == ["Choquet integral: 0.5", "weighted mean"]
    assert right.get_xlabel() == "worth of the set"


@pytest.mark.parametrize("u", [[1, 1, 1, 1], [0.3, 0.2, 0.9, 0.5]])
@pytest.mark.parametrize("size", [None, (10, 8)])
def test_rows_of_integrals_do_not_overlap(plt, u, size):
    figure, axes = plt.subplots(2, 2, figsize=size)
    for row in axes:
        ChoquetDisplay(u, PolynomialMeasure(2)).plot(row)
    for upper, lower in axes.T:
        assert inside_figure(lower)
        assert not overlapping([upper.xaxis.label.get_window_extent(), *boxes(lower)])
        assert upper.xaxis.label.get_window_extent().y0 > lower.bbox.y1 - 0.01 * figure.bbox.height
        legend = lower.get_legend().get_window_extent()
        highest = lower.transData.transform((0, max(u)))[1]
        assert legend.y0 >= highest - 1


class HalfForTheFirst(Measure):
    """A measure that the package does not know: the first label is worth half, the others share the rest."""

    def form(self, n_labels):
        return Terms(np.append(0.5, np.full(n_labels - 1, 0.5 / (n_labels - 1))))


def test_a_new_measure_is_drawn_by_its_form(plt):
    display = ChoquetDisplay([0.2, 0.9, 0.5], HalfForTheFirst()).plot()
    assert display.weights.tolist() == [0.5, 0.25, 0.25]  # an additive form has weights
    assert display.worths.tolist() == [1, 0.5, 0.25]  # of all labels, then labels 2 and 1, then label 1
    assert display.integral == pytest.approx(0.45)
    assert display.mean == pytest.approx(0.45)


def test_many_labels_have_no_names(plt):
    display = ChoquetDisplay(np.linspace(0, 1, 53), BinomialMeasure(3)).plot()
    assert not any(text.startswith("label") for text in texts(display.axes_[0]))
    assert display.axes_[0].get_xlabel() == "weight of the labels"


def test_refuses_what_is_no_row():
    measure = SubsetMeasure()
    with pytest.raises(ValueError, match=r"finite and non-negative; u\[1\] is -0.5"):
        ChoquetDisplay([0.1, -0.5], measure)
    with pytest.raises(ValueError, match="label_names must have one entry for each of 2 values; got 1"):
        ChoquetDisplay([0.1, 0.5], measure, label_names=["a"])
    with pytest.raises(ValueError, match="weights must have one entry for each of 2 values; got 1"):
        ChoquetDisplay([0.1, 0.5], measure, weights=[1])
    with pytest.raises(TypeError, match=r"measure must be one of choral.measures; got 'subset'"):
        ChoquetDisplay([0.1, 0.5], "subset")
    with pytest.raises(ValueError, match="depends on the true labels: give y_true, or use"):
        ChoquetDisplay([0.1, 0.5], RelevanceMeasure(HammingMeasure()))
    with pytest.raises(ValueError, match="the same length; got 2 and 3"):
        ChoquetDisplay.from_prediction([0, 1], [0, 1, 1], measure)
    with pytest.raises(ValueError, match=r"must be 0 or 1; y_true_row\[1\] is 2"):
        ChoquetDisplay.from_prediction([0, 2], [0, 1], measure)
    with pytest.raises(ValueError, match=r"lie in \[0, 1\]; y_pred_row\[0\] is 1.5"):
        ChoquetDisplay.from_prediction([0, 1], [1.5, 1], measure)


@pytest.mark.parametrize("axes", [3, [1]])
def test_refuses_other_than_two_axes(plt, axes):
    with pytest.raises(TypeError, match="axes must be two matplotlib Axes"):
        ChoquetDisplay([0.1], SubsetMeasure()).plot(axes)


def test_pairs_from_a_pair_or_a_mapping():
    pair = PairwiseCurve(curve([0.1, 0.2], "BR"), curve([0.2, 0.1], "LP"))
    assert PairwiseDisplay.from_curves(pair).names == ("BR", "LP")
    by_name = PairwiseDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_SECOND})
    by_place = PairwiseDisplay.from_predictions(Y_TRUE, Y_FIRST, Y_SECOND, names=("BR", "LP"))
    assert by_name.pairs == by_place.pairs
    with pytest.raises(ValueError, match="compares two models; got 1"):
        PairwiseDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST})


# Bands of LossCurveDisplay


def test_bands_by_name_lie_in_the_unit_interval(plt):
    curves = [curve([0.1, 0.9], "a"), curve([0.3, 0.4], "b")]
    by_name = LossCurveDisplay(curves, bands={"a": ([-0.1, 0.7], [0.2, 1.1])})
    in_order = LossCurveDisplay(curves, bands=[([-0.1, 0.7], [0.2, 1.1]), None])
    assert np.array_equal(by_name.bands[0], in_order.bands[0])
    assert by_name.bands[1] is None
    (band,) = by_name.plot().ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0, 1)
    with pytest.raises(ValueError, match="bands are for 'a', 'b'; got 'c' too"):
        LossCurveDisplay(curves, bands={"c": ([0, 0], [1, 1])})


def test_many_bands_are_lighter_and_behind_the_lines(plt):
    curves = [curve([0.1 * i, 0.1 * i], f"model {i}") for i in range(9)]
    bands = {one.name: (one.losses - 0.05, one.losses + 0.05) for one in curves}
    many = LossCurveDisplay(curves, bands=bands).plot().ax_.collections
    (one,) = LossCurveDisplay(curves[:1], bands={"model 0": bands["model 0"]}).plot().ax_.collections
    assert many[0].get_alpha() == pytest.approx(one.get_alpha() / 3)
    assert max(band.get_zorder() for band in many) < 1.5  # of a baseline, the lowest of lines


@pytest.mark.parametrize("parameters", [[np.inf], [1, 10, np.inf]])
def test_a_band_around_a_lone_point_is_a_bar(plt, parameters):
    losses = np.linspace(0.2, 0.4, len(parameters))
    whole = curve(losses, family="polynomial", parameters=parameters)
    ax = LossCurveDisplay([whole], bands=[(losses - 0.1, losses + 0.1)]).plot().ax_
    (segment,) = ax.collections[-1].get_segments()
    assert segment[:, 1] == pytest.approx([losses[-1] - 0.1, losses[-1] + 0.1])


# RatioDisplay


def pair(first, second, **options):
    return PairwiseCurve(curve(first, "A", **options), curve(second, "B", **options))


def crosses(ax):
    return [line.get_xydata() for line in ax.lines if line.get_marker() == "x"]


def test_ratios_along_the_axis_and_the_crossing_on_the_line(plt):
    display = RatioDisplay({"toy": pair([0.1, 0.4, 0.5], [0.2, 0.5, 0.3])})
    assert display.plot() is display
    assert display.ratios[0] == pytest.approx([2, 1.25, 0.6])
    (line,) = display.lines_
    (crossing,) = crosses(display.ax_)
    assert crossing == pytest.approx(np.array([[0.5 + 0.5 / 3, 1]]))  # differences 0.1 and -0.2
    assert line.get_xydata() == pytest.approx(np.array([[0, 2], [0.5, 1.25], *crossing, [1, 0.6]]))
    assert line.get_markevery() == [0, 1, 3]
    assert {"toy", "1", "2", "3", "the better model changes"} <= set(texts(display.ax_))
    assert display.ax_.get_ylabel() == "B better ← binomial loss, B / A → A better"
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["0.7", "0.8", "1", "1.25", "1.5", "2"]
    assert display.ax_.get_yscale() == "log"


def test_data_sets_with_different_numbers_of_labels_share_the_axis(plt):
    display = RatioDisplay({"one": pair([0.2], [0.3]), "many": pair([0.1, 0.2, 0.3], [0.2, 0.2, 0.3])}).plot()
    assert [line.get_xdata().tolist() for line in display.lines_] == [[0], [0, 0.5, 1]]
    assert texts(display.ax_)[-3:] == ["0", "0.5", "1"]
    assert "(K - 1)" in display.ax_.get_xlabel()


def test_one_label_has_a_ratio_too(plt):
    ax = RatioDisplay(pair([0.2], [0.3])).plot().ax_
    assert texts(ax) == ["1"]
    assert ax.get_xlabel() == "size of label sets, $k$ (Hamming = subset 0/1)"


def test_alphas_of_ratios_and_infinity_apart(plt):
    alphas = [1, 10, 100, np.inf]
    display = RatioDisplay(pair([0.1, 0.2, 0.3, 0.6], [0.2, 0.3, 0.4, 0.5], family="polynomial", parameters=alphas))
    x, y = display.plot().lines_[0].get_data()
    assert x[:3] == pytest.approx([0, 1 / 3, 2 / 3])
    assert np.isnan(x[3])
    assert y[[0, 1, 2, 4]] == pytest.approx([2, 1.5, 4 / 3, 5 / 6])
    (crossing,) = crosses(display.ax_)
    assert crossing == pytest.approx(np.array([[(x[2] + x[4]) / 2, 1]]))
    assert {"1", "10", "100", "∞"} <= set(texts(display.ax_))


def test_infinity_alone_has_a_ratio(plt):
    only = pair([0.2], [0.3], family="polynomial", parameters=[np.inf])
    assert RatioDisplay(only).plot().lines_[0].get_ydata()[-1] == pytest.approx(1.5)


def test_equal_losses_have_ratio_1_and_a_loss_of_0_leaves_a_gap(plt):
    pairs = {
        "all right": pair([0, 0], [0, 0]),
        "first right": pair([0, 0], [0.1, 0.2]),
        "start": pair([0, 0.1, 0.2], [0.1, 0.2, 0.2]),
        "end": pair([0.1, 0.2, 0.4], [0.1, 0.3, 0]),
    }
    display = RatioDisplay(pairs)
    assert [ratios.tolist() for ratios in display.ratios[:3]] == [[1, 1], [np.inf, np.inf], [np.inf, 2, 1]]
    ax = display.plot().ax_
    low, high = ax.get_ylim()
    above = [line for line in ax.lines if line.get_marker() == "^" and line.get_linestyle() == "None"]
    below = [line for line in ax.lines if line.get_marker() == "v" and line.get_linestyle() == "None"]
    assert [line.get_xydata().tolist() for line in above] == [[[0, high], [1, high]], [[0, high]]]
    assert [line.get_xydata().tolist() for line in below] == [[[1, low]]]
    assert display.lines_[1] is above[0]  # stands for a line that has nothing else
    assert np.isnan(display.lines_[2].get_ydata()[0])
    assert {*pairs, "left out: one loss is 0"} <= set(texts(ax))
    assert not overlapping(boxes(ax))


def test_ratios_from_predictions_on_given_axes(plt):
    _, ax = plt.subplots()
    display = RatioDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST, "LP": Y_SECOND}).plot(ax, lw=3)
    assert display.ax_ is ax
    assert display.lines_[0].get_linewidth() == 3
    assert display.names == ("BR", "LP")
    with pytest.raises(ValueError, match="a RatioDisplay compares two models; got 1"):
        RatioDisplay.from_predictions(Y_TRUE, {"BR": Y_FIRST})
    with pytest.raises(ValueError, match="a RatioDisplay needs at least one pair of curves; got none"):
        RatioDisplay({})


@pytest.mark.parametrize("size", [(3.3, 2.4), (7, 4)])
@pytest.mark.parametrize("name", ["LP", "classifier chains with logistic regression", "<b>$x^2$</b>\n"])
def test_labels_of_ratios_fit(plt, size, name):
    pairs = {
        f"{name} {i}": PairwiseCurve(curve([0.1, 0.2, 0.3], name), curve(np.array([0.1, 0.2, 0.3]) * (1 + i / 9), "BR"))
        for i in range(9)
    }
    _, ax = plt.subplots(figsize=size, layout="constrained")
    RatioDisplay(pairs).plot(ax)
    assert not overlapping(boxes(ax))
    assert inside_figure(ax)
    assert "better" in ax.get_ylabel()
    assert ax.yaxis.label.get_window_extent().height <= ax.bbox.height


@pytest.mark.parametrize("high", [1.01, 1.3, 3, 40, 1e5])
def test_ticks_of_ratios_are_readable(high):
    from choral.displays.ratio import ratio_limits, ratio_ticks

    low, high = ratio_limits([np.array([1 / high, high, 0, np.inf])])
    ticks = ratio_ticks(low, high)
    assert 1 in ticks
    assert 3 <= len(ticks) <= 11
    assert all(len(f"{tick:g}") <= 6 for tick in ticks)


# PairGridDisplay


def all_pairs(names, datasets=("toy",), n_labels=3):
    rng = np.random.default_rng(0)
    curves = {data: [curve(np.sort(rng.random(n_labels)), name) for name in names] for data in datasets}
    indices = list(combinations(range(len(names)), 2))
    return {(names[i], names[j]): {d: PairwiseCurve(c[i], c[j]) for d, c in curves.items()} for i, j in indices}


def test_a_square_for_each_pair(plt):
    pairs = all_pairs(["BR", "CC", "PCC", "LP"], ["emotions", "scene"])
    display = PairGridDisplay(pairs)
    assert not plt.get_fignums()
    assert display.plot() is display
    assert list(display.axes_) == list(pairs)
    display.figure_.draw_without_rendering()
    squares = [ax.bbox for ax in display.axes_.values()]
    assert not overlapping(squares)
    for (names, by_data), ax in zip(pairs.items(), display.axes_.values(), strict=True):
        assert ax.bbox.width == pytest.approx(ax.bbox.height, rel=0.01)
        assert ax.get_xlim() == display.axes_["BR", "CC"].get_xlim()
        zero, *lines = ax.lines
        assert list(zero.get_ydata()) == [0, 0]
        for line, pair_of_curves in zip(lines, by_data.values(), strict=True):
            assert line.get_xdata().tolist() == [0, 0.5, 1]
            assert np.array_equal(line.get_ydata(), pair_of_curves.curve_b.losses - pair_of_curves.curve_a.losses)
        assert ax.get_xlabel() == (names[0] if names[1] == "LP" else "")
        assert ax.get_ylabel() == (names[1] if names[0] == "BR" else "")
    written = [text.get_text() for text in display.legend_.get_texts()]
    assert written == ["emotions", "scene"]
    title = display.legend_.get_title().get_text()
    assert title.startswith(
        "binomial loss of the row\nminus that of the column,\nfrom Hamming (left) to subset 0/1 (right)"
    )


def test_each_square_of_a_page_says_its_scale(plt):
    near, far = pair([0.2, 0.5], [0.21, 0.47]), pair([0.2, 0.5], [0.2, 0.9])
    display = PairGridDisplay({("A", "B"): {"x": near}, ("A", "C"): {"x": far}}).plot()
    for models, limit in {("A", "B"): 0.03, ("A", "C"): 0.5}.items():
        ax = display.axes_[models]
        assert ax.get_title("left") == f"\N{PLUS-MINUS SIGN}{limit}"
        assert ax.get_yticks().tolist() == [-limit, 0, limit]
        assert ax.get_ylim()[0] < -limit < limit < ax.get_ylim()[1]


def test_a_line_far_beyond_the_others_leaves_its_square(plt):
    sets = {f"set {number}": pair([0.2, 0.5], [0.2, 0.5 + number / 100]) for number in range(1, 4)}
    far = {"far": pair([0.2, 0.5], [0.2, 0.9])}
    display = PairGridDisplay({("A", "B"): {**sets, **far}, ("A", "C"): far}).plot()
    written = [ax.get_title("left") for ax in display.axes_.values()]
    assert written == ["\N{PLUS-MINUS SIGN}0.03, 1 beyond", "\N{PLUS-MINUS SIGN}0.5"]
    assert "1 beyond: one line leaves the square." in display.legend_.get_title().get_text()


def test_infinity_stands_apart_on_a_page(plt):
    losses = [0.2, 0.3, 0.5], [0.1, 0.3, 0.6]
    pairs = {("A", "B"): {"x": pair(*losses, family="polynomial", parameters=[1, 1000, np.inf])}}
    _, line = PairGridDisplay(pairs).plot().axes_["A", "B"].lines
    assert line.get_xdata()[:3] == pytest.approx([0, 1, np.nan], nan_ok=True)
    assert line.get_ydata() == pytest.approx([-0.1, 0, np.nan, 0.1], nan_ok=True)
    assert line.get_markevery() == [3]  # no line leads there: a dot


def test_a_page_has_a_note(plt):
    note = "PCT predicts the same as the baseline (all irrelevant) on birds."
    title = PairGridDisplay(all_pairs(["A", "B", "C"]), note=note).plot().legend_.get_title().get_text()
    assert title.replace("\n", " ").endswith(f"the scale of a square. {note}")


@pytest.mark.parametrize(
    ("n_models", "name"), [(2, "CC"), (3, "<b>$x^2$</b>\n"), (6, "classifier chains with logistic regression")]
)
def test_a_page_has_room_for_its_legend(plt, n_models, name):
    names = [f"{name} {i}" for i in range(n_models)]
    display = PairGridDisplay(all_pairs(names, [f"{name} {i}" for i in range(9)])).plot()
    display.figure_.draw_without_rendering()
    legend = display.legend_.get_window_extent()
    assert display.figure_.get_size_inches()[0] <= 8.27
    assert not legend.count_overlaps([ax.get_tightbbox() for ax in display.axes_.values()])
    assert legend.x0 >= -1
    assert legend.x1 <= display.figure_.bbox.x1 + 1
    for ax in display.axes_.values():
        assert ax.xaxis.label.get_window_extent().width <= ax.bbox.width
        assert ax.yaxis.label.get_window_extent().height <= ax.bbox.height


def test_pairs_that_are_missing_leave_their_place_empty(plt):
    pairs = all_pairs(["BR", "CC", "LP"])
    pairs["BR", "LP"] = {}
    display = PairGridDisplay(pairs).plot(plt.figure())
    assert list(display.axes_) == [("BR", "CC"), ("CC", "LP")]
    assert display.axes_["BR", "CC"].get_xlabel() == "BR"
    assert display.axes_["CC", "LP"].get_ylabel() == "LP"


def test_perfect_models_have_a_page_too(plt):
    perfect = {("A", "B"): {"toy": pair([0, 0], [0, 0])}}
    assert PairGridDisplay(perfect).plot().axes_["A", "B"].get_yticks().tolist() == [-1, 0, 1]


def test_a_page_refuses_what_does_not_belong_on_it(plt):
    with pytest.raises(ValueError, match="a PairGridDisplay needs at least one pair of curves; got none"):
        PairGridDisplay({("A", "B"): {}})
    polynomial = pair([0.1], [0.2], family="polynomial")
    with pytest.raises(ValueError, match="pairs on one page have one family; got binomial and polynomial"):
        PairGridDisplay({("A", "B"): {"x": pair([0.1], [0.2])}, ("A", "C"): {"x": polynomial}})
    with pytest.raises(TypeError, match="pairs must be PairwiseCurve; got LossCurve"):
        PairGridDisplay({("A", "B"): {"x": curve([0.1])}})
    with pytest.raises(TypeError, match="figure must be a matplotlib Figure; got Axes"):
        PairGridDisplay(all_pairs(["A", "B"])).plot(plt.subplots()[1])


def test_a_model_looks_alike_where_others_are_missing(plt):
    curves = {name: LossCurve("binomial", [1, 2], [0.1, 0.2], n_labels=2) for name in ("BR", "CC", "LP", "nothing")}
    order = ("BR", "CC", "LP")
    whole = LossCurveDisplay.from_curves(curves, baseline="nothing", order=order).plot()
    some = {name: curves[name] for name in ("LP", "nothing")}
    part = LossCurveDisplay.from_curves(some, baseline="nothing", order=order).plot()
    assert part.lines_[0].get_color() == whole.lines_[2].get_color() != whole.lines_[0].get_color()
    assert part.lines_[0].get_marker() == whole.lines_[2].get_marker()
    assert part.lines_[1].get_color() == whole.lines_[3].get_color()  # the baseline is grey
    with pytest.raises(ValueError, match="order must hold the names of all curves; it lacks 'LP'."):
        LossCurveDisplay.from_curves(curves, baseline="nothing", order=("BR", "CC"))
