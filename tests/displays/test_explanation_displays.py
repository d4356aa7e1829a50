"""Displays of explanations: shares of labels as bars and lines, and labels that are wrong together as a map."""

import numpy as np
import pytest

from choral.displays import ErrorPairsDisplay, LabelSharesDisplay
from drawings import inside_figure, overlapping, texts

LABELS = ["sea", "sky", "sun"]
SHARES = [[0.1, 0.2, 0.1], [0.3, 0.2, 0.2], [0.6, 0.2, 0.2]]  # at k = 1, 2, 3
MATRIX = [[1, 0.5, -0.25], [0.5, 1, 0], [-0.25, 0, 1]]
LONG = [f"a label with a long name that never ends, number {number} of $x$" for number in range(40)]


def widths(bars):
    return [bar.get_width() for bar in bars]


# LabelSharesDisplay


def test_bars_at_both_ends_the_largest_on_top(plt):
    display = LabelSharesDisplay(LABELS, [1, 2, 3], SHARES)
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    hamming, subset = display.bars_
    assert widths(hamming) == pytest.approx([25, 50, 25])
    assert widths(subset) == pytest.approx([60, 20, 20])
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["sea", "sky", "sun"]
    tops = [bar.get_y() for bar in subset]
    assert tops == sorted(tops)
    low, high = display.ax_.get_ylim()
    assert low > high  # downwards
    assert {"Hamming", "subset 0/1"} <= {text.get_text() for text in display.ax_.get_legend().get_texts()}
    assert display.ax_.get_xlabel() == "share of the loss, %"


def test_bars_at_a_chosen_parameter_in_the_unit_of_the_loss(plt):
    _, ax = plt.subplots()
    display = LabelSharesDisplay(LABELS, [1, 2, 3], SHARES, relative=False).plot(ax, parameter=2)
    assert display.ax_ is ax
    assert widths(display.bars_[1]) == pytest.approx([0.3, 0.2, 0.2])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["Hamming", "k = 2"]
    assert ax.get_xlabel() == "share in the binomial loss"


def test_one_label_at_one_parameter_has_one_bar(plt):
    display = LabelSharesDisplay(["sea"], [1], [[0.2]]).plot()
    assert [widths(bars) for bars in display.bars_] == [[100]]
    assert display.ax_.get_legend() is None
    assert display.ax_.get_xlabel() == "share of the loss, % at Hamming"


def test_no_loss_has_no_shares():
    assert LabelSharesDisplay(LABELS, [1, 3], [[0, 0, 0], [0.1, 0.1, 0.2]]).percentages.tolist() == [
        [0, 0, 0],
        [25, 25, 50],
    ]


def test_labels_with_small_shares_are_left_out_and_counted(plt):
    display = LabelSharesDisplay(LABELS, [1, 2, 3], SHARES, max_labels=1).plot()
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["sea"]
    assert "2 labels left out, each at most 20 %" in {text.strip() for text in texts(display.ax_)}
    display.plot_along()
    assert len(display.lines_) == 1
    assert "2 labels left out" in display.ax_.get_ylabel()


def test_lines_along_the_parameter(plt):
    display = LabelSharesDisplay(LABELS, [1, 2, 3], SHARES).plot_along(linewidth=3)
    assert [line.get_label() for line in display.lines_] == ["sea", "sky", "sun"]
    assert display.lines_[0].get_ydata() == pytest.approx([0.25, 3 / 7, 0.6])
    assert display.lines_[0].get_linewidth() == 3
    assert display.ax_.get_ylabel() == "share of the loss"
    _, ax = plt.subplots()
    display = LabelSharesDisplay(LABELS, [1, 2, 3], SHARES, relative=False).plot_along(ax)
    assert display.lines_[0].get_ydata() == pytest.approx([0.1, 0.3, 0.6])
    assert ax.get_ylabel() == "share in the binomial loss"


def test_shares_along_alpha_of_some_of_the_labels(plt):
    display = LabelSharesDisplay(LABELS, [1, 10, np.inf], SHARES, family="polynomial", n_labels=9).plot()
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["Hamming", "subset 0/1"]
    display = LabelSharesDisplay(LABELS, [2, 3, 9], SHARES, n_labels=9)
    assert [text.get_text() for text in display.plot().ax_.get_legend().get_texts()] == ["k = 2", "subset 0/1"]
    assert display.plot_along().ax_.get_xlim()[1] > 9


@pytest.mark.parametrize("n_labels", [1, 2, 12, 40])
def test_names_of_labels_fit(plt, n_labels):
    shares = np.random.default_rng(0).random((3, n_labels)) / n_labels
    parameters = [1] if n_labels == 1 else [1, 2] if n_labels == 2 else [1, 2, n_labels]
    display = LabelSharesDisplay(LONG[:n_labels], parameters, shares[: len(parameters)]).plot()
    display.figure_.canvas.draw()
    assert inside_figure(display.ax_)
    names = display.ax_.get_yticklabels()
    assert not overlapping([name.get_window_extent() for name in names])
    assert all("$x$" in name.get_text() for name in names)  # no formula


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((LABELS, [1, 2], SHARES), r"a row for each parameter and a column for each label, \(2, 3\); got \(3, 3\)"),
        (([], [1], [[]]), r"at least one parameter and one label; got \(1, 0\)"),
        ((["sea"], [1], [[-0.1]]), r"must not be negative; shares\[0, 0\] is -0.1"),
        ((["sea"], [1], [[np.nan]]), r"must not be negative; shares\[0, 0\] is nan"),
    ],
)
def test_refuses_shares_that_do_not_fit(arguments, message):
    with pytest.raises(ValueError, match=message):
        LabelSharesDisplay(*arguments)


def test_refuses_unknown_options():
    with pytest.raises(ValueError, match="family must be one of 'binomial', 'polynomial'; got 'linear'"):
        LabelSharesDisplay(["sea"], [1], [[0.1]], family="linear")
    with pytest.raises(ValueError, match="max_labels must be at least 1; got 0"):
        LabelSharesDisplay(["sea"], [1], [[0.1]], max_labels=0)
    with pytest.raises(ValueError, match="parameter must be one of 1, 2, 3; got 5"):
        LabelSharesDisplay(LABELS, [1, 2, 3], SHARES).plot(parameter=5)


# ErrorPairsDisplay


def test_a_cell_for_each_pair_below_the_diagonal(plt):
    display = ErrorPairsDisplay(LABELS, MATRIX)
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    shown = display.image_.get_array()
    assert [shown[1, 0], shown[2, 0], shown[2, 1]] == [0.5, -0.25, 0]
    assert shown.mask.sum() == 6
    assert display.image_.get_clim() == (-0.5, 0.5)  # 0 is in the middle
    assert {"0.50", "\N{MINUS SIGN}0.25", "0.00"} <= set(texts(display.ax_))
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["sky", "sun"]
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["sea", "sky"]
    assert display.image_.colorbar.ax.get_ylabel() == "correlation of errors"


def test_colours_differ_by_sign_and_white_is_zero(plt):
    image = ErrorPairsDisplay(LABELS, MATRIX).plot().image_
    together, apart, neither = (image.to_rgba(value)[:3] for value in (0.5, -0.5, 0.0))
    assert together[0] > together[2]  # orange
    assert apart[2] > apart[0]  # violet
    assert min(neither) > 0.95


def test_pairs_on_given_axes_with_a_title(plt):
    figure, ax = plt.subplots()
    display = ErrorPairsDisplay(LABELS, MATRIX, title="interaction").plot(ax)
    assert (display.ax_, display.figure_) == (ax, figure)
    assert display.image_.colorbar.ax.get_ylabel() == "interaction"


def test_what_is_not_known_has_a_dash(plt):
    matrix = np.array(MATRIX)
    matrix[0, 1] = matrix[1, 0] = np.nan
    display = ErrorPairsDisplay(LABELS, matrix).plot()
    assert "\N{EN DASH}" in texts(display.ax_)
    assert display.image_.get_clim() == (-0.25, 0.25)


def test_only_labels_of_the_strongest_pairs_are_drawn(plt):
    display = ErrorPairsDisplay(LABELS, MATRIX, max_labels=2).plot()
    assert display.drawn.tolist() == [0, 1]
    assert "1 label in weaker pairs left out" in {display.ax_.get_title(loc="left")}
    assert display.image_.get_array().shape == (2, 2)


def test_one_label_has_no_pairs(plt):
    display = ErrorPairsDisplay(["sea"], [[1]]).plot()
    assert "one label:\nno pairs" in texts(display.ax_)
    assert display.image_.colorbar is None


def test_labels_that_are_never_wrong_together_have_a_scale_too(plt):
    assert ErrorPairsDisplay(LABELS, np.zeros((3, 3))).plot().image_.get_clim() == (-1, 1)


@pytest.mark.parametrize("n_labels", [2, 13, 40])
def test_names_of_pairs_fit(plt, n_labels):
    matrix = np.corrcoef(np.random.default_rng(0).random((n_labels, 50)))
    display = ErrorPairsDisplay(LONG[:n_labels], matrix).plot()
    display.figure_.canvas.draw()
    assert inside_figure(display.ax_)
    assert not overlapping([name.get_window_extent() for name in display.ax_.get_yticklabels()])
    has_numbers = any(text.replace("\N{MINUS SIGN}", "").startswith("0.") for text in texts(display.ax_))
    assert has_numbers == (n_labels == 2)


@pytest.mark.parametrize(
    "matrix, message",
    [
        (np.zeros((2, 3)), r"a row and a column for each of 2 labels; got \(2, 3\)"),
        ([[1, 1.5], [1.5, 1]], r"must lie in \[-1, 1\]; matrix\[0, 1\] is 1.5"),
        ([[1, 0.5], [0.2, 1]], "matrix must be symmetric"),
        ([[1, np.nan], [0.2, 1]], "matrix must be symmetric"),
    ],
)
def test_refuses_what_is_no_matrix_of_pairs(matrix, message):
    with pytest.raises(ValueError, match=message):
        ErrorPairsDisplay(["sea", "sky"], matrix)


def test_refuses_no_labels():
    with pytest.raises(ValueError, match=r"for each of 0 labels; got \(0,\)"):
        ErrorPairsDisplay([], [])
    with pytest.raises(ValueError, match="max_labels must be a whole number"):
        ErrorPairsDisplay(LABELS, MATRIX, max_labels=1.5)


@pytest.mark.parametrize("display", [LabelSharesDisplay(LABELS, [1, 2, 3], SHARES), ErrorPairsDisplay(LABELS, MATRIX)])
def test_refuses_wrong_axes(plt, display):
    _, axes = plt.subplots(1, 2)
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got ndarray"):
        display.plot(axes)
