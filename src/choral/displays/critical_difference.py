"""Demšar's critical difference diagram: mean ranks of learners, and which of them differ."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choral._optional import require
from choral._typing import FloatArray
from choral.displays import _style as style
from choral.displays._text import LINE_SPACING, shorten, text_size
from choral.stats import RankComparison, compare_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

WIDTH = 6.4  # inches, of our own figures
AXIS_TEXT = r"best $\leftarrow$ mean rank $\rightarrow$ worst"
NOTE_TEXTS = ("no difference shown: Friedman's test has p = {:.2g}", "no difference shown, p = {:.2g}")
NAME_LENGTHS = (28, 22, 18, 14, 11, 8)  # characters: the first that leaves enough room for the axis
SIZES = (style.SMALL, "x-small")
MIN_AXIS_WIDTH = 0.5  # of the width of the axes, for the axis of ranks; shorter names until it is reached
MIN_AXIS_WIDTH_WITH_OVERLAP = 0.2  # below this width, rather let names overlap
# Points: beside the axis; between the outermost rank and the end of a line; between that end and a name.
EDGE, STUB, PAD = 6, 6, 3
BAR: dict[str, Any] = {"color": style.COLOURS[0], "linewidth": 4, "solid_capstyle": "round", "zorder": 2.5}
MIN_BAR_GAP = 0.1  # of the axis: bars on one level that are nearer would look like one
LEADER: dict[str, Any] = {"color": "black", "linewidth": 0.8, "marker": "o", "markersize": 3, "markevery": [0]}
SCALE: dict[str, Any] = {"color": "black", "linewidth": 1.2, "markersize": 6}

# Heights in lines of text, from the axis of ranks down.
TOP, SCALE_TEXT, SCALE_BAR = -4.5, -3.8, -3.1  # the upper edge; the bar as long as the critical difference
FIRST_BAR, NEXT_BAR = 0.8, 0.65
FIRST_NAME, NEXT_NAME = 1.0, 1.1
BELOW, NOTE = 0.6, 1.4
MAX_STRETCH = 1.15  # of the height of lines; taller axes stay empty below


class Place(NamedTuple):
    """Where the name of a learner stands."""

    at_left: bool
    row: int  # 0 for the uppermost


class CriticalDifferenceDisplay:
    """Mean ranks of learners on one axis, the best at the left; bars join learners that do not differ significantly.

    The diagram is Demšar's, the test Nemenyi's. Computing is `from_losses`, drawing is `plot`.

    Parameters
    ----------
    comparison : RankComparison
        From `choral.stats.compare_ranks`.

    Attributes
    ----------
    comparison : RankComparison
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next three.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        From the mean rank of each learner to its name, in the order of the learners.
    bars_ : list of matplotlib Line2D
        One for each group of learners, in the order of ``comparison.groups()``.

    See Also
    --------
    choral.stats.compare_ranks : Compare learners by their ranks.
    choral.stats.RankComparison : What `compare_ranks` returns.

    Examples
    --------
    >>> losses = [[0.1, 0.2, 0.9], [0.2, 0.1, 0.9]] * 5
    >>> display = CriticalDifferenceDisplay.from_losses(losses, ["PCC", "LP", "BR"])
    >>> display.comparison.mean_ranks, display.comparison.groups()
    (array([1.5, 1.5, 3. ]), ((0, 1),))

    ``display.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: list["Line2D"]
    bars_: list["Line2D"]

    def __init__(self, comparison: RankComparison):
        if not isinstance(comparison, RankComparison):
            raise TypeError(f"comparison must be a RankComparison; got {type(comparison).__name__}.")
        self.comparison = comparison

    @classmethod
    def from_losses(
        cls, losses: ArrayLike, names: Sequence[str] | None = None, *, confidence: float = 0.95
    ) -> "CriticalDifferenceDisplay":
        """A display of the losses of learners on data sets.

        Parameters
        ----------
        losses : array-like of shape (n_datasets, n_learners)
            Lower is better; see `choral.stats.compare_ranks`, for the other parameters too.
        names : sequence of str, optional
            The names of the learners.
        confidence : float, default=0.95
            Of the intervals, between 0 and 1.
        """
        return cls(compare_ranks(losses, names, confidence=confidence))

    def plot(self, ax: "Axes | None" = None) -> "CriticalDifferenceDisplay":
        """Draw the diagram.

        Each learner has its name and mean rank at the left or at the right. The bar at the top is as long as the
        critical difference (CD). If it is longer than the axis, it ends in an arrow: no two learners could differ
        significantly. If Friedman's test finds no difference among all learners, a note says so: then pairs should
        not be compared.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        display : CriticalDifferenceDisplay
            Itself.
        """
        levels, places = _bar_levels(self.comparison), _place_names(self.comparison.mean_ranks)
        first_name = FIRST_NAME + NEXT_BAR * (max(levels, default=-1) + 1)
        last_name = first_name + NEXT_NAME * max(place.row for place in places)
        bottom = last_name + BELOW + NOTE * self._finds_nothing
        ax = _new_axes(bottom - TOP) if ax is None else style.check_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        names, fontsize = _fit_names(ax, self.comparison, places, _set_heights(ax, bottom))
        _draw_axis(ax, len(names), fontsize)
        _draw_scale(ax, self.comparison, fontsize)
        ends = _line_ends(ax, self.comparison.mean_ranks)
        self.lines_ = []
        for name, rank, place in zip(names, self.comparison.mean_ranks, places, strict=True):
            height, end = first_name + NEXT_NAME * place.row, ends[0 if place.at_left else 1]
            self.lines_ += ax.plot([rank, rank, end], [0, height, height], clip_on=False, **LEADER)
            _write_beside(ax, name, end, height, at_left=place.at_left, fontsize=fontsize)
        self.bars_ = []
        for extent, level in zip(_extents(self.comparison), levels, strict=True):
            self.bars_ += ax.plot(extent, [FIRST_BAR + NEXT_BAR * level] * 2, **BAR)
        if self._finds_nothing:
            _write_note(ax, self.comparison.friedman.pvalue, last_name + NOTE, fontsize)
        return self

    @property
    def _finds_nothing(self) -> bool:
        """Whether Friedman's test does not reject that all learners are alike; False for nan, which means no test."""
        return bool(self.comparison.friedman.pvalue > 1 - self.comparison.confidence)


def _extents(comparison: RankComparison) -> list[FloatArray]:
    """The best and the worst mean rank of each group."""
    return [comparison.mean_ranks[[group[0], group[-1]]] for group in comparison.groups()]


def _bar_levels(comparison: RankComparison) -> list[int]:
    """The level of each group's bar: the first on which it does not come near another bar."""
    gap = MIN_BAR_GAP * (comparison.mean_ranks.size - 1)
    levels: list[int] = []
    ends: list[float] = []  # of the last bar on each level
    for low, high in _extents(comparison):
        level = next((level for level, end in enumerate(ends) if end + gap < low), len(ends))
        ends[level : level + 1] = [high]
        levels.append(level)
    return levels


def _place_names(mean_ranks: FloatArray) -> list[Place]:
    """The better half at the left, the others at the right, each with the outermost at the top: lines do not cross."""
    order = np.argsort(mean_ranks, kind="stable").tolist()
    n_left = (len(order) + 1) // 2
    rows = [*range(n_left), *reversed(range(len(order) - n_left))]
    places = {learner: Place(index < n_left, rows[index]) for index, learner in enumerate(order)}
    return [places[learner] for learner in range(len(order))]


def _new_axes(n_lines: float) -> "Axes":
    """Axes of a new figure with room for so many lines of text."""
    font = require("matplotlib.font_manager", "plot").FontProperties(size=style.SMALL)
    return style.new_axes(WIDTH, 0.1 + n_lines * LINE_SPACING * font.get_size_in_points() / 72)


def _set_heights(ax: "Axes", bottom: float) -> list[str]:
    """Set the y axis to count lines of text, and return the font sizes in which these lines fit."""
    style.apply_layout(ax)
    lines = {size: 1 / text_size(ax, ["x"], size)[1] for size in SIZES}
    ax.set_ylim(max(bottom, TOP + lines[style.SMALL] / MAX_STRETCH), TOP)
    return [size for size in SIZES if lines[size] >= bottom - TOP - 0.5] or [SIZES[-1]]


def _fit_names(
    ax: "Axes", comparison: RankComparison, places: Sequence[Place], sizes: Sequence[str]
) -> tuple[list[str], str]:
    """Names with mean ranks and their font size, short enough to leave room for the axis; sets its limits, too."""
    edge, gap = (style.to_pixels(ax, size) / ax.bbox.width for size in (EDGE, STUB + PAD))
    for max_length, fontsize in product(NAME_LENGTHS, sizes):
        names = [
            _with_rank(shorten(name, max_length), rank, place)
            for name, rank, place in zip(comparison.names, comparison.mean_ranks, places, strict=True)
        ]
        at_left = [name for name, place in zip(names, places, strict=True) if place.at_left]
        at_right = [name for name, place in zip(names, places, strict=True) if not place.at_left]
        left, right = (gap + text_size(ax, side, fontsize)[0] for side in (at_left, at_right))
        ax.set_xlim(_axis_limits(comparison.mean_ranks, left, right, edge))
        low, high = ax.get_xlim()
        if (len(names) - 1) / (high - low) >= MIN_AXIS_WIDTH:
            break
    return names, fontsize


def _with_rank(name: str, rank: float, place: Place) -> str:
    """A name and its mean rank; the rank is next to the line."""
    return f"{name}  {rank:.2f}" if place.at_left else f"{rank:.2f}  {name}"


def _axis_limits(mean_ranks: FloatArray, left: float, right: float, edge: float) -> tuple[float, float]:
    """Limits that make the axis as long as the names allow.

    Names stand to the left of the best mean rank and to the right of the worst. The widths of names and of the edge
    beside the axis are shares of the whole width.

    Examples
    --------
    >>> _axis_limits(np.array([1.0, 2.0, 3.0]), left=0.25, right=0.25, edge=0.0)
    (0.0, 4.0)
    >>> _axis_limits(np.array([2.0, 2.0, 2.0]), left=0.25, right=0.25, edge=0.0)  # names have room below the axis
    (1.0, 3.0)
    """
    n_learners, best, worst = mean_ranks.size, float(mean_ranks.min()), float(mean_ranks.max())
    rooms = [
        (n_learners - 1, 1 - 2 * edge),
        (worst - 1, 1 - edge - right),
        (n_learners - best, 1 - edge - left),
        (worst - best, 1 - left - right),
    ]
    longest = min(room / ranks for ranks, room in rooms if ranks > 0)
    unit = max(longest, MIN_AXIS_WIDTH_WITH_OVERLAP / n_learners)
    start = min(max(edge, left - (best - 1) * unit), 1 - edge - (n_learners - 1) * unit)
    low = 1 - start / unit
    return low, low + 1 / unit


def _line_ends(ax: "Axes", mean_ranks: FloatArray) -> tuple[float, float]:
    """Where the lines to the names at the left and at the right end, in ranks."""
    low, high = ax.get_xlim()
    stub = style.to_pixels(ax, STUB) / ax.bbox.width * (high - low)
    return float(mean_ranks.min() - stub), float(mean_ranks.max() + stub)


def _draw_axis(ax: "Axes", n_learners: int, fontsize: str) -> None:
    """Draw the axis of ranks, with as many numbers as there is room for."""
    style.tidy(ax)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.spines["top"].set(visible=True, position=("data", 0), bounds=(1, n_learners))
    ax.set_yticks([])
    ax.tick_params(axis="x", bottom=False, labelbottom=False, top=True, labeltop=True, labelsize=fontsize)
    low, high = ax.get_xlim()
    step = int(np.ceil(1.4 * text_size(ax, [str(n_learners)], fontsize)[0] * (high - low)))
    ranks = range(1, n_learners + 1)
    ax.set_xticks(ranks, labels=[str(rank) if (rank - 1) % step == 0 else "" for rank in ranks])
    ax.xaxis.set_label_position("top")
    ax.set_xlabel(AXIS_TEXT, fontsize=fontsize, labelpad=2, x=((1 + n_learners) / 2 - low) / (high - low))


def _draw_scale(ax: "Axes", comparison: RankComparison, fontsize: str) -> None:
    """Draw a bar as long as the critical difference, from rank 1 on; with an arrow if the axis is shorter."""
    n_learners = len(comparison.names)
    end = 1 + comparison.critical_difference
    ax.plot([1, min(end, n_learners)], [SCALE_BAR, SCALE_BAR], marker="|", markevery=[0], **SCALE)
    ax.plot(min(end, n_learners), SCALE_BAR, marker="|" if end <= n_learners else ">", **SCALE)
    ax.text(1, SCALE_TEXT, f"CD = {comparison.critical_difference:.2f}", fontsize=fontsize, va="center_baseline")


def _write_beside(ax: "Axes", text: str, end: float, height: float, *, at_left: bool, fontsize: str) -> None:
    """Write a text next to the end of a line, to its left or right."""
    look: dict[str, Any] = {"fontsize": fontsize, "va": "center_baseline", "ha": "right" if at_left else "left"}
    pad = (-PAD if at_left else PAD, 0)
    written = ax.annotate(text, (end, height), pad, textcoords="offset points", annotation_clip=False, **look)
    written.set_parse_math(False)  # a name with dollar signs is not a formula


def _write_note(ax: "Axes", pvalue: float, height: float, fontsize: str) -> None:
    """Say that Friedman's test finds no difference, in the longest text that fits."""
    texts = [text.format(pvalue) for text in NOTE_TEXTS]
    text = next((text for text in texts if text_size(ax, [text], fontsize)[0] <= 1), texts[-1])
    look: dict[str, Any] = {"color": style.darken(style.COLOURS[1]), "fontsize": fontsize}
    ax.text(float(np.mean(ax.get_xlim())), height, text, ha="center", va="center_baseline", **look)
