"""The critical difference diagram shows mean ranks, groups and names, and fits its figure."""

from itertools import pairwise

import numpy as np
import pytest

import choral
from choral.displays import CriticalDifferenceDisplay
from choral.stats import compare_ranks
from drawings import boxes, inside_figure, overlapping, texts


def many(n_learners, name="learner number {}", n_datasets=20):
    """Learners of which each is a little worse than the one before."""
    rng = np.random.default_rng(0)
    losses = 0.8 * rng.random((n_datasets, n_learners)) + np.linspace(0, 1, n_learners)
    return CriticalDifferenceDisplay.from_losses(losses, [name.format(i) for i in range(n_learners)])


def test_it_comes_when_it_is_asked_for():
    assert choral.CriticalDifferenceDisplay is CriticalDifferenceDisplay
    assert "CriticalDifferenceDisplay" in dir(choral)


def test_lines_and_bars_hold_the_ranks(plt):
    display = many(6)
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    comparison = display.comparison
    assert [line.get_xdata()[0] for line in display.lines_] == comparison.mean_ranks.tolist()
    extents = [bar.get_xdata().tolist() for bar in display.bars_]
    assert extents == [[comparison.mean_ranks[g[0]], comparison.mean_ranks[g[-1]]] for g in comparison.groups()]
    assert len(extents) > 1
    low, high = display.ax_.get_xlim()
    assert low < 1 < 6 < high  # the best at the left
    assert display.ax_.get_xlabel() == r"best $\leftarrow$ mean rank $\rightarrow$ worst"
    assert {"1", "2", "3", "4", "5", "6", f"CD = {comparison.critical_difference:.2f}"} <= set(texts(display.ax_))


def test_names_stand_at_the_side_of_their_rank(plt):
    losses = [[0.3, 0.1, 0.2], [0.3, 0.1, 0.2], [0.3, 0.2, 0.1]]
    display = CriticalDifferenceDisplay.from_losses(losses, ["BR", "PCC", "LP"]).plot()
    assert {"PCC  1.33", "LP  1.67", "3.00  BR"} <= set(texts(display.ax_))
    starts, ends = zip(*[line.get_xdata()[[0, -1]] for line in display.lines_], strict=True)
    assert [end < start for start, end in zip(starts, ends, strict=True)] == [False, True, True]


@pytest.mark.parametrize("width", [3.3, 7])
@pytest.mark.parametrize("n_learners", [2, 3, 4, 9, 15])
def test_texts_do_not_overlap_and_fit_the_figure(plt, width, n_learners):
    _, ax = plt.subplots(figsize=(width, 3.2), layout="constrained")
    many(n_learners).plot(ax)
    assert inside_figure(ax)
    axis = [text.get_window_extent() for text in ax.get_xticklabels() if text.get_text()]
    assert not overlapping([*boxes(ax), *axis, ax.xaxis.label.get_window_extent()])


@pytest.mark.parametrize("n_learners", [2, 4, 15])
def test_a_figure_of_its_own_is_as_high_as_it_needs(plt, n_learners):
    display = many(n_learners).plot()
    assert inside_figure(display.ax_)
    assert not overlapping([*boxes(display.ax_), display.ax_.xaxis.label.get_window_extent()])
    assert display.figure_.get_figheight() == pytest.approx({2: 1, 4: 1.2, 15: 2.5}[n_learners], abs=0.25)


def test_long_names_are_shortened_and_leave_room_for_the_axis(plt):
    _, ax = plt.subplots(figsize=(3.3, 2.5), layout="constrained")
    display = many(6, "a very long name of a learner, number {}").plot(ax)
    assert inside_figure(ax)
    low, high = ax.get_xlim()
    assert 5 / (high - low) >= 0.4
    assert any("…" in text and text.startswith("a v") for text in texts(display.ax_))


def test_even_the_smallest_axes_have_an_axis_of_ranks(plt):
    _, ax = plt.subplots(figsize=(1, 1))
    many(8).plot(ax)
    low, high = ax.get_xlim()
    assert 7 / (high - low) == pytest.approx(0.2 * 7 / 8)


def test_many_ranks_are_not_all_numbered(plt):
    _, ax = plt.subplots(figsize=(3.3, 3), layout="constrained")
    many(15).plot(ax)
    numbers = [text.get_text() for text in ax.get_xticklabels()]
    assert len(numbers) == 15
    assert 3 <= sum(map(bool, numbers)) < 15


def test_names_are_shown_not_obeyed(plt):
    losses = np.random.default_rng(0).random((5, 2))
    display = CriticalDifferenceDisplay.from_losses(losses, ["$a_1$\x07", "new\nline"]).plot()
    written = [text for text in display.ax_.texts if "." in text.get_text() and "CD" not in text.get_text()]
    assert sorted(word for text in written for word in text.get_text().split("  ") if "." not in word) == [
        "$a_1$\\x07",
        "new line",
    ]
    assert not any(text.get_parse_math() for text in written)


def test_bars_on_one_level_do_not_touch(plt):
    display = many(15).plot()
    by_height = {}
    for bar in display.bars_:
        by_height.setdefault(bar.get_ydata()[0], []).append(bar.get_xdata())
    assert len(by_height) < len(display.bars_)  # some share a level
    for bars in by_height.values():
        assert all(before[1] + 1 < after[0] for before, after in pairwise(bars))


def test_learners_that_tie(plt):
    display = CriticalDifferenceDisplay.from_losses(np.full((4, 5), 0.5)).plot()
    assert {line.get_xdata()[0] for line in display.lines_} == {3.0}
    assert [bar.get_xdata().tolist() for bar in display.bars_] == [[3, 3]]
    assert "no difference shown: Friedman's test has p = 1" in texts(display.ax_)


def test_a_note_where_friedmans_test_finds_nothing(plt):
    losses = np.random.default_rng(1).random((6, 4))
    comparison = compare_ranks(losses)
    p = f"{comparison.friedman.pvalue:.2g}"
    assert comparison.friedman.pvalue > 0.05
    display = CriticalDifferenceDisplay(comparison).plot()
    assert f"no difference shown: Friedman's test has p = {p}" in texts(display.ax_)
    _, ax = plt.subplots(figsize=(2.4, 2), layout="constrained")
    assert f"no difference shown, p = {p}" in texts(CriticalDifferenceDisplay(comparison).plot(ax).ax_)


@pytest.mark.parametrize("n_learners", [2, 8])  # no test for two; a clear result for eight
def test_no_note_where_there_is_nothing_to_note(plt, n_learners):
    assert not any("no difference" in text for text in texts(many(n_learners).plot().ax_))


def test_no_bars_where_all_differ(plt):
    display = CriticalDifferenceDisplay.from_losses([[1, 2, 3]] * 40).plot()
    assert display.bars_ == []


def test_a_critical_difference_longer_than_the_axis_ends_in_an_arrow(plt):
    for n_datasets, marker in ((2, ">"), (50, "|")):
        display = many(4, n_datasets=n_datasets).plot()
        end = next(line for line in display.ax_.lines if len(line.get_xdata()) == 1)
        assert end.get_marker() == marker
        assert end.get_xdata()[0] == pytest.approx(min(1 + display.comparison.critical_difference, 4))


def test_confidence_is_passed_on():
    losses = np.random.default_rng(0).random((9, 3))
    display = CriticalDifferenceDisplay.from_losses(losses, confidence=0.9)
    assert display.comparison.critical_difference == compare_ranks(losses, confidence=0.9).critical_difference


def test_refuses_what_it_cannot_draw(plt):
    with pytest.raises(TypeError, match="comparison must be a RankComparison; got list."):
        CriticalDifferenceDisplay([[0.1, 0.2]])
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got ndarray."):
        many(3).plot(plt.subplots(1, 2)[1])
