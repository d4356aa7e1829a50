"""The heat map of dependent labels shows every pair, names what there is room for, and fits its figure."""

import numpy as np
import pytest

import choral
from choral.datasets import load_digits_segments
from choral.displays import DependenceDisplay
from choral.stats import describe
from drawings import inside_figure, overlapping


@pytest.fixture(scope="module")
def digits():
    return load_digits_segments()


def many(n_labels, name="a label called {}"):
    """Labels of which each goes with the next."""
    rng = np.random.default_rng(0)
    causes = rng.random((500, n_labels + 1)) < 0.3
    return DependenceDisplay.from_description(
        describe(causes[:, :-1] | causes[:, 1:], label_names=[name.format(i) for i in range(n_labels)])
    )


def names_beside(ax):
    """What is written below and to the left of the map."""
    ax.figure.draw_without_rendering()
    return [[text.get_text() for text in axis.get_ticklabels()] for axis in (ax.xaxis, ax.yaxis)]


def numbers_in(ax):
    return {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in ax.texts}


def test_it_comes_when_it_is_asked_for():
    assert choral.DependenceDisplay is DependenceDisplay
    assert "DependenceDisplay" in dir(choral)


@pytest.mark.parametrize(
    "measure, title", [("cramers_v", "Cramér's V"), ("mutual_information", "mutual information (bits)")]
)
def test_the_map_holds_all_pairs_but_the_diagonal(plt, digits, measure, title):
    display = DependenceDisplay.from_dataset(digits, measure=measure)
    assert not plt.get_fignums()  # computing does not draw
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    expected = getattr(describe(digits), measure)
    shown = display.image_.get_array()
    assert np.array_equal(shown.mask, np.eye(7))
    assert np.array_equal(shown.data, expected)
    assert display.image_.get_clim() == (0, pytest.approx(expected[~np.eye(7, dtype=bool)].max()))
    assert display.colorbar_.ax.get_ylabel() == title
    assert names_beside(display.ax_) == [list(digits.label_names)] * 2


def test_few_labels_have_numbers_in_their_cells(plt, digits):
    display = DependenceDisplay.from_dataset(digits).plot()
    v = describe(digits).cramers_v
    assert numbers_in(display.ax_) == {(i, j): f"{v[i, j]:.2f}" for i in range(7) for j in range(7) if i != j}
    assert {text.get_color() for text in display.ax_.texts} == {"white", "black"}


@pytest.mark.parametrize("n_labels", [13, 53])
def test_many_labels_have_no_numbers(plt, n_labels):
    assert not numbers_in(many(n_labels).plot().ax_)


def test_small_axes_have_no_numbers(plt, digits):
    _, ax = plt.subplots(figsize=(2, 2), layout="constrained")
    assert not numbers_in(DependenceDisplay.from_dataset(digits).plot(ax).ax_)


@pytest.mark.parametrize("n_labels", [1, 2, 6, 20, 53, 150])
def test_names_do_not_overlap_and_fit_the_figure(plt, n_labels):
    display = many(n_labels).plot()
    assert inside_figure(display.ax_)
    for axis in (display.ax_.xaxis, display.ax_.yaxis):
        texts = axis.get_ticklabels()
        assert texts[0].get_text() == "a label called 0"
        assert len(texts) == n_labels if n_labels <= 20 else n_labels / 6 < len(texts) < n_labels
        if n_labels > 12:  # upright: the box of a slanted name is larger than the name
            assert not overlapping([text.get_window_extent() for text in texts])


def test_names_are_shown_not_obeyed(plt):
    display = DependenceDisplay(np.eye(2), ["$a_1$\x07", "a very long name, much too long for the room there is"])
    x_names, _ = names_beside(display.plot().ax_)
    assert x_names == ["$a_1$\\x07", "a very long…om there is"]
    assert not any(text.get_parse_math() for text in display.ax_.get_xticklabels())


def test_nothing_depends_on_anything(plt):
    display = DependenceDisplay(np.eye(3)).plot()
    assert display.image_.get_clim() == (0, 1)
    assert display.colorbar_.ax.get_ylabel() == "dependence"
    assert names_beside(display.ax_)[0] == ["label 0", "label 1", "label 2"]


def test_a_common_scale(plt, digits):
    assert DependenceDisplay.from_dataset(digits).plot(vmax=1).image_.get_clim() == (0, 1)


def test_draws_on_the_axes_it_is_given(plt, digits):
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax in axes:
        display = DependenceDisplay.from_dataset(digits).plot(ax)
        assert display.ax_ is ax
        assert inside_figure(ax)
    assert display.figure_ is figure
    boxes = [ax.get_tightbbox() for ax in axes]
    assert not overlapping(boxes)


def test_refuses_what_is_no_matrix_of_pairs():
    with pytest.raises(ValueError, match=r"matrix must have a row and a column for each label; got shape \(2, 3\)."):
        DependenceDisplay(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"matrix must be finite and non-negative; matrix\[0, 1\] is -1.0."):
        DependenceDisplay([[0, -1], [1, 0]])
    with pytest.raises(ValueError, match="label_names must have one entry for each of 2 labels; got 1."):
        DependenceDisplay(np.eye(2), ["x"])
    with pytest.raises(ValueError, match="measure must be 'cramers_v' or 'mutual_information'; got 'phi'."):
        DependenceDisplay.from_dataset([[0, 1]], measure="phi")


def test_refuses_wrong_axes(plt, digits):
    with pytest.raises(TypeError, match="ax must be one matplotlib Axes; got ndarray."):
        DependenceDisplay.from_dataset(digits).plot(plt.subplots(1, 2)[1])
