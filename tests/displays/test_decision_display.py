"""The display of decisions draws expected losses, shows them where they coincide, and says what its marks mean."""

import re
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

import choral
from choral import (
    BayesCurve,
    Decision,
    IndependentLabels,
    LabelDistribution,
    LossCurve,
    bayes_curve,
    expected_curve,
)
from choral.displays import DecisionDisplay, LossCurveDisplay
from choral.paper.examples import FIVE_LABELS, THREE_LABELS
from drawings import boxes, inside_figure, overlapping, texts

CHANGES, BOUNDS = "best prediction changes", "the optimum lies in here"


def thirty_labels():
    """Label sets around six others, so that the optimum changes now and then."""
    rng = np.random.default_rng(1)
    centres = rng.random((6, 30)) < 0.3
    labelsets = centres[rng.integers(6, size=40)] ^ (rng.random((40, 30)) < 0.12)
    return LabelDistribution(labelsets, rng.dirichlet(np.full(40, 0.5)))


def unproven(risks, bounds, array=np.array):
    """Optimal predictions of no label at all, two labels and some instances; risks by parameter and instance."""
    labels = array(np.zeros((len(risks[0]), 2)))
    pairs = zip(array(risks), array(bounds), strict=True)
    decisions = tuple(Decision(labels, risk, risk == bound, bound) for risk, bound in pairs)
    return BayesCurve("binomial", np.arange(1, len(risks) + 1), decisions)


def marks_of(display):
    """The points that are marked as changes."""
    return [line.get_xydata() for line in display.ax_.lines if line not in display.lines_]


def test_it_comes_when_it_is_asked_for():
    assert choral.DecisionDisplay is DecisionDisplay
    assert "DecisionDisplay" in dir(choral)


def test_lines_hold_the_expected_losses_and_bear_their_names(plt):
    display = DecisionDisplay.from_distribution(FIVE_LABELS)
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    expected = {
        "optimal": [0.4814, 0.7236, 0.8415, 0.9052, 0.938],
        "marginal mode": [0.4814, 0.7371, 0.8724, 0.9438, 0.982],
        "joint mode": [0.4822, 0.7288, 0.8491, 0.9082, 0.938],
    }
    for line, (name, losses) in zip(display.lines_, expected.items(), strict=True):
        assert line.get_label() == name
        assert line.get_xdata().tolist() == [1, 2, 3, 4, 5]
        assert line.get_ydata() == pytest.approx(losses)
    assert {*expected, "1", "2", "3", "4", "5"} <= set(texts(display.ax_))
    assert display.ax_.get_xlabel() == r"Hamming $\leftarrow$ size of label sets, $k$ $\rightarrow$ subset 0/1"
    assert display.ax_.get_ylabel() == "expected binomial loss"


def test_a_ring_marks_each_change_of_the_best_prediction(plt):
    display = DecisionDisplay.from_distribution(FIVE_LABELS).plot()
    (marks,) = marks_of(display)
    assert marks == pytest.approx(np.array([[2, 0.7236], [4, 0.9052], [5, 0.938]]))
    assert CHANGES in texts(display.ax_)


def test_where_nothing_changes_there_is_no_key(plt):
    display = DecisionDisplay.from_distribution(IndependentLabels([0.3, 0.2])).plot()
    assert not marks_of(display)
    assert display.ax_.get_legend() is None


def test_the_axis_of_alpha_is_that_of_loss_curves(plt):
    parameters = [1, 3, 8, np.inf]
    display = DecisionDisplay.from_distribution(FIVE_LABELS, family="polynomial", parameters=parameters).plot()
    curves = LossCurveDisplay(display.curves).plot()
    assert display.ax_.get_xscale() == "log"
    assert display.ax_.get_xlabel() == curves.ax_.get_xlabel()
    assert display.ax_.get_ylabel() == "expected polynomial loss"
    for line in display.lines_:
        assert np.array_equal(line.get_xdata(), curves.lines_[0].get_xdata(), equal_nan=True)
    infinity = display.lines_[0].get_xdata()[-1]
    (marks,) = marks_of(display)
    assert marks[:, 0].tolist() == [3, 8, infinity]
    assert marks[-1, 1] == pytest.approx(0.938)


@pytest.mark.parametrize(
    ("parameters", "points"), [([1, 3, np.inf], [3]), ([3, np.inf], [0, 2]), ([np.inf], [1]), ([3], [0])]
)
def test_points_of_the_optimal_curve_that_no_line_joins_have_a_marker(plt, parameters, points):
    display = DecisionDisplay.from_distribution(FIVE_LABELS, family="polynomial", parameters=parameters).plot()
    assert display.lines_[0].get_marker() == "o"
    assert display.lines_[0].get_markevery() == points


def test_for_many_instances_losses_are_means_and_changes_are_not_marked(plt):
    weights = np.random.default_rng(0).dirichlet(np.ones(5), size=7)
    distribution = LabelDistribution(THREE_LABELS.labelsets, weights)
    display = DecisionDisplay.from_distribution(distribution).plot()
    each = [DecisionDisplay.from_distribution(LabelDistribution(THREE_LABELS.labelsets, row)).plot() for row in weights]
    for index, line in enumerate(display.lines_):
        assert line.get_ydata() == pytest.approx(np.mean([one.lines_[index].get_ydata() for one in each], axis=0))
    assert any(marks_of(one) for one in each)
    assert not marks_of(display)
    assert CHANGES not in texts(display.ax_)


def test_a_shade_reaches_from_the_best_found_down_to_the_bound(plt):
    optimal = unproven(risks=[[0.2, 0.4], [0.5, 0.7]], bounds=[[0.2, 0.4], [0.1, 0.7]])
    display = DecisionDisplay(optimal, []).plot()
    (shade,) = display.ax_.collections
    at_the_end = shade.get_paths()[0].vertices[shade.get_paths()[0].vertices[:, 0] == 2, 1]
    assert at_the_end.min() == pytest.approx(0.4)  # of 0.1 and 0.7
    assert at_the_end.max() == pytest.approx(0.6)
    assert {"best found", BOUNDS} <= set(texts(display.ax_))


def test_the_shade_of_tensors_is_drawn_as_well(plt):
    torch = pytest.importorskip("torch")

    def with_gradients(values):  # like one on a device, this is no array that NumPy reads by itself
        return torch.tensor(values, requires_grad=True)

    optimal = unproven(risks=[[0.2, 0.4], [0.5, 0.7]], bounds=[[0.2, 0.4], [0.1, 0.7]], array=with_gradients)
    (shade,) = DecisionDisplay(optimal, []).plot().ax_.collections
    assert {0.4, 0.6} <= set(shade.get_paths()[0].vertices[:, 1].round(6))


def test_what_is_proven_has_no_shade(plt):
    display = DecisionDisplay.from_distribution(FIVE_LABELS).plot()
    assert not display.ax_.collections
    assert BOUNDS not in texts(display.ax_)


def test_a_method_without_proof_is_passed_on():
    rng = np.random.default_rng(0)
    distribution = LabelDistribution(rng.random((60, 12)) < 0.5, rng.dirichlet(np.ones(60)))
    assert not DecisionDisplay.from_distribution(distribution, method="search").optimal.exact.all()
    assert DecisionDisplay.from_distribution(distribution, method="transform").optimal.exact.all()


def test_all_lines_are_seen_where_they_coincide(plt):
    display = DecisionDisplay.from_distribution(IndependentLabels([0.2, 0.3, 0.4])).plot()
    optimal, marginal, joint = display.lines_
    assert np.array_equal(marginal.get_ydata(), joint.get_ydata())
    assert optimal.get_linewidth() > 3 * marginal.get_linewidth()
    assert optimal.get_zorder() < min(marginal.get_zorder(), joint.get_zorder())
    drawn = StringIO()
    display.figure_.savefig(drawn, format="svg")
    dashes = re.findall(r"stroke-dasharray: ([\d.]+),([\d.]+); stroke-dashoffset: ([\d.]+)", drawn.getvalue())
    length = dashes[0][0]
    assert dashes == [(length, length, "0"), (length, length, length)]  # dashes of one in the gaps of the other
    assert len({line.get_color() for line in display.lines_}) == 3


def test_names_at_one_point_have_the_order_of_the_lines(plt):
    display = DecisionDisplay.from_distribution(FIVE_LABELS)
    joint = display.curves[1]
    for noise in (-1e-15, 0, 1e-15):
        ax = DecisionDisplay(display.optimal, [replace(joint, losses=joint.losses + noise)]).plot().ax_
        heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
        assert heights["optimal"] < heights["joint mode"]


def test_draws_on_the_axes_it_is_given_and_passes_properties_on(plt):
    figure, (_, ax) = plt.subplots(1, 2)
    display = DecisionDisplay.from_distribution(FIVE_LABELS).plot(ax, lw=2, c="black")
    assert display.ax_ is ax
    assert plt.get_fignums() == [figure.number]
    assert {(line.get_linewidth(), line.get_color()) for line in display.lines_} == {(2, "black")}
    marks = next(line for line in ax.lines if line not in display.lines_)
    assert marks.get_color() == "black"


def test_colours_go_on_from_display_to_display(plt):
    first = DecisionDisplay.from_distribution(THREE_LABELS).plot()
    second = LossCurveDisplay([expected_curve(THREE_LABELS, [1, 0, 0], name="one label")]).plot(first.ax_)
    assert len({line.get_color() for line in (*first.lines_, *second.lines_)}) == 4
    assert "one label" in texts(first.ax_)


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
@pytest.mark.parametrize("size", [None, (3.3, 2.4)])
@pytest.mark.parametrize("n_labels", [3, 5, 30])
def test_all_that_is_written_has_room(plt, family, size, n_labels):
    distribution = {3: THREE_LABELS, 5: FIVE_LABELS, 30: thirty_labels()}[n_labels]
    parameters = [1, 2, 5, 10, 20, 30] if n_labels == 30 else None
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    display = DecisionDisplay.from_distribution(distribution, family=family, parameters=parameters).plot(ax)
    written = boxes(display.ax_)
    assert len(written) == 4
    assert not overlapping(written)
    assert inside_figure(display.ax_)


@pytest.mark.parametrize("size", [None, (4, 4)])
def test_in_a_legend_keys_stand_below_the_names(plt, size):
    display = DecisionDisplay.from_distribution(FIVE_LABELS)
    curves = [replace(curve, name=f"{curve.name} of a distribution learned from photos") for curve in display.curves]
    ax = plt.subplots(figsize=size, layout="constrained")[1] if size else None
    ax = DecisionDisplay(display.optimal, curves).plot(ax).ax_
    written = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(written) == 4
    assert written[-1] == CHANGES
    assert not ax.texts
    assert inside_figure(ax)


@pytest.mark.parametrize(("width", "words"), [(4, CHANGES), (2.4, "prediction changes"), (2, "changes")])
def test_a_key_has_fewer_words_where_there_is_little_room(plt, width, words):
    _, ax = plt.subplots(figsize=(width, 2))
    DecisionDisplay(bayes_curve(THREE_LABELS), []).plot(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [words]


def test_a_key_makes_way_for_curves(plt):
    optimal = bayes_curve(THREE_LABELS)
    low = [replace(decision, risk=decision.risk / 20, lower_bound=decision.risk / 20) for decision in optimal.decisions]
    high = LossCurve("binomial", [1, 2, 3], [0.8, 0.9, 1], n_labels=3, name="all wrong")
    ax = DecisionDisplay(replace(optimal, decisions=tuple(low)), [high]).plot().ax_
    assert not overlapping(boxes(ax))
    key = ax.get_legend().get_window_extent()
    for line in ax.lines:
        path = line.get_transform().transform_path(line.get_path())
        assert not path.intersects_bbox(key, filled=False)


def test_refuses_what_does_not_compare():
    optimal, (curve, _) = bayes_curve(THREE_LABELS), DecisionDisplay.from_distribution(THREE_LABELS).curves
    with pytest.raises(TypeError, match="optimal must be a BayesCurve; got LossCurve"):
        DecisionDisplay(curve, [curve])
    with pytest.raises(TypeError, match="curves must be LossCurve; got BayesCurve"):
        DecisionDisplay(optimal, [optimal])
    with pytest.raises(ValueError, match="got binomial, 3 labels and polynomial, 3 labels"):
        DecisionDisplay(optimal, [expected_curve(THREE_LABELS, [0, 0, 0], "polynomial")])
    with pytest.raises(ValueError, match="got binomial, 3 labels and binomial, 4 labels"):
        DecisionDisplay(optimal, [replace(curve, n_labels=4)])
    with pytest.raises(ValueError, match=r"the optimal curve, \[1, 2, 3\]; curves\[1\] has \[1, 3\]"):
        DecisionDisplay(optimal, [curve, expected_curve(THREE_LABELS, [0, 0, 0], parameters=[1, 3])])
    with pytest.raises(TypeError, match="distribution must be a LabelDistribution or IndependentLabels"):
        DecisionDisplay.from_distribution([0.2, 0.3])


def test_refuses_wrong_axes(plt):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got ndarray"):
        DecisionDisplay.from_distribution(THREE_LABELS).plot(axes)
