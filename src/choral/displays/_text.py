"""Text that fits: names at the ends of lines or in legends, and labels of axes."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._text import printable
from choral._typing import FloatArray
from choral.displays import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.lines import Line2D

OUR_LABEL = "names of curves"  # the label of artists by which we find the texts that we wrote
LINE_SPACING = 1.25
MAX_NAMES_WIDTH = 0.45  # of the width of the axes: wider names go into a legend
LEADER_LENGTH = 14  # points between the end of a line and its name
LEGEND_SPACING = 0.35  # between two lines of a legend, of the font size
LEGEND_LOOK: dict[str, Any] = {
    "fontsize": style.SMALL,
    "borderpad": 0,
    "labelspacing": LEGEND_SPACING,
    "handlelength": 2.6,
    "columnspacing": 1.6,
}
# Inside the axes, a legend starts at the lower right: rising curves are rarely there.
INSIDE: dict[str, Any] = {"loc": "lower right", "framealpha": 0.8, "edgecolor": "none"}
MAX_WIDTH_INSIDE = 0.75  # of the width of the axes

Keys = Sequence[tuple[Any, Sequence[str]]]  # marks, each with texts that say what it means, the longest first


def to_one_line(name: object) -> str:
    r"""Write a name on one line and show control characters: names may come from files.

    Examples
    --------
    >>> print(to_one_line("binary\nrelevance\x07"))
    binary relevance\x07
    """
    return printable(" ".join(str(name).split()))


def shorten(name: str, max_length: int) -> str:
    """Write a name on one line; a long one loses its middle, since names from files differ at the end.

    Examples
    --------
    >>> shorten("runs/monday/classifier chains, 10 folds", 20)
    'runs/monda…10 folds'
    """
    name = to_one_line(name)
    half = max(max_length // 2, 2)
    return name if len(name) <= max_length else f"{name[:half].rstrip()}…{name[1 - half :].lstrip()}"


def text_size(ax: "Axes", names: Sequence[str], fontsize: str) -> tuple[float, float]:
    """Width of the widest of these names and height of a line, as shares of the axes."""
    box = ax.get_window_extent()
    width = 0.0
    for name in names:
        text = ax.text(0, 0, name, fontsize=fontsize, parse_math=False)
        width = max(width, text.get_window_extent().width)
        text.remove()
    return width / box.width, style.to_pixels(ax, LINE_SPACING * float(text.get_fontsize())) / box.height


def label_axis(axis: "Axis", texts: Sequence[str]) -> float:
    """Label an axis with the first text that is no longer than the axis, else with the last; return its share."""
    axis.labelpad = 2
    side = "width" if axis is axis.axes.xaxis else "height"
    cramped = len(axis.axes.figure.axes) > 1 and not style.has_layout_engine(axis.axes)  # other axes are near
    sizes = [] if cramped else [require("matplotlib", "plot").rcParams["axes.labelsize"]]
    for text, fontsize in product(texts, [*sizes, style.SMALL]):
        axis.set_label_text(text, fontsize=fontsize)
        share = getattr(axis.label.get_window_extent(), side) / getattr(axis.axes.bbox, side)
        if share <= 1:
            break
    return share


def remove_names(ax: "Axes") -> None:
    """Remove names and legends that we wrote, before they are written again for more lines."""
    legend = ax.get_legend()
    written = [*ax.texts, *([legend] if legend else [])]
    for artist in written:
        if artist.get_label() == OUR_LABEL:
            artist.remove()


# ---------------------------------------------------------------- names at the ends of lines


def find_font_size(ax: "Axes", names: Sequence[str]) -> tuple[str, float] | None:
    """The font size at which names fit at the ends of lines, and their share of the width; None if they do not fit."""
    for fontsize in (style.SMALL, "x-small"):
        width, height = text_size(ax, names, fontsize)
        room = width + style.to_pixels(ax, LEADER_LENGTH + 2) / ax.bbox.width
        if room <= MAX_NAMES_WIDTH and height * len(names) <= 1:
            return fontsize, room
    return None


def write_at_ends(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, fontsize: str) -> None:
    """Write each name to the right of the end of its line, all of them in one column.

    Limits must be final. Names that would overlap move apart, and a thin line leads to each.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    ends = to_axes.transform([np.asarray(line.get_xydata())[-1] for line in lines])
    _, gap = text_size(ax, names, fontsize)
    heights = move_apart(ends[:, 1], gap, gap / 2, 1 - gap / 2)
    leader = style.to_pixels(ax, LEADER_LENGTH) / ax.bbox.width
    left = ends[:, 0].max() + leader
    for line, name, end, height in zip(lines, names, ends, heights, strict=True):
        far = left - end[0] > 2 * leader  # a curve that stops early: dotted, so that it does not look like more of it
        text = ax.annotate(
            name,
            xy=tuple(to_axes.inverted().transform(end)),
            xytext=tuple(to_axes.inverted().transform((left, height))),
            label=OUR_LABEL,
            color=style.darken(line.get_color()),
            fontsize=fontsize,
            va="center_baseline",
            annotation_clip=False,
            # No patchA: clipping the line at the box of the text takes long, and the line begins there anyway.
            arrowprops={
                **style.leader_look(line.get_color()),
                "linestyle": ":" if far else "-",
                "relpos": (0, 0.5),
                "patchA": None,
            },
        )
        text.set_parse_math(False)  # a name with dollar signs is not a formula


def move_apart(positions: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """Move positions as little as possible so that neighbours are a gap apart, within [low, high].

    Examples
    --------
    >>> move_apart(np.array([0.5, 0.1, 0.5]), gap=0.2, low=0.0, high=1.0)
    array([0.4, 0.1, 0.6])
    """
    from scipy.optimize import isotonic_regression  # takes a tenth of a second, which only drawing should cost

    order = np.argsort(positions.round(9), kind="stable")  # rounded: lines that end at one point keep their order
    steps = gap * np.arange(positions.size)
    nearest = isotonic_regression(positions[order] - steps).x
    moved = np.empty(positions.size)
    moved[order] = steps + nearest.clip(low, max(low, high - steps[-1]))
    return moved


# ---------------------------------------------------------------- legends


def write_legend(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, grow: bool) -> None:
    """Write a legend below the axes if the figure makes room there, else inside; ``grow`` makes the figure taller."""
    below = style.has_layout_engine(ax)
    short, n_columns = _arrange_below(ax, names) if below else (_shorten_to_width(ax, names, MAX_WIDTH_INSIDE), 1)
    place = {"ncols": n_columns, **_place_below(ax)} if below else INSIDE
    legend = new_legend(ax, lines, short, **LEGEND_LOOK, **place)
    legend.set_label(OUR_LABEL)
    if grow:
        figure = ax.figure.figure
        figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)


def new_legend(parent: "Axes | Figure", handles: Sequence["Line2D"], names: Sequence[str], **look: Any) -> "Legend":
    """A legend of axes or of a figure in which names, and its title, may start with _ or hold dollar signs."""
    legend = parent.legend(handles, ["name"] * len(names), **look)  # names that start with _ would be left out here
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    legend.get_title().set_parse_math(False)
    return legend


def legend_height(ax: "Axes", names: Sequence[str]) -> float:
    """The height of a legend below the axes, as a share of the height of the axes."""
    names, n_columns = _arrange_below(ax, names)
    _, line = text_size(ax, names, style.SMALL)
    return -(-len(names) // n_columns) * line * (1 + LEGEND_SPACING) / LINE_SPACING


def write_keys(ax: "Axes", keys: Keys) -> None:
    """Say inside the axes what marks mean, in the longest texts that fit, where no curves or names are."""
    if not keys:
        return
    marks, texts = zip(*keys, strict=True)
    for words in zip(*texts, strict=True):
        legend = ax.legend(marks, words, **{**LEGEND_LOOK, **INSIDE, "handlelength": 1.2})
        legend.set_label(OUR_LABEL)
        box = legend.get_window_extent()
        if box.width <= MAX_WIDTH_INSIDE * ax.bbox.width:
            break
    for corner in ("upper right", "upper left", "lower left", "best"):  # the last one searches everywhere and is slow
        if not _is_taken(ax, legend.get_window_extent()):
            break
        legend.set_loc(corner)


def _is_taken(ax: "Axes", box: Any) -> bool:
    """Whether there are lines or texts in a box."""
    paths = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    texts = [text.get_window_extent() for text in ax.texts]
    return any(path.intersects_bbox(box, filled=False) for path in paths) or box.count_overlaps(texts) > 0


def _arrange_below(ax: "Axes", names: Sequence[str]) -> tuple[list[str], int]:
    """Names shortened to the width that is free below the axes, and the number of columns that fit there."""
    alone = len(ax.figure.axes) == 1
    room = ax.figure.bbox.width / ax.bbox.width if alone else 1.0  # in widths of the axes
    names = _shorten_to_width(ax, names, room)
    width, _ = text_size(ax, names, style.SMALL)
    return names, max(1, min(len(names), int(room / (width + _key_width(ax)))))


def _shorten_to_width(ax: "Axes", names: Sequence[str], room: float) -> list[str]:
    """Names shortened so that each fits a width together with its key."""
    width, _ = text_size(ax, names, style.SMALL)
    left = room - _key_width(ax)
    max_length = int(max(map(len, names)) * min(left / width, 1))
    return [shorten(name, max_length) for name in names]


def _key_width(ax: "Axes") -> float:
    """The width of a sample of the line and the space around it, as a share of the axes."""
    return style.to_pixels(ax, 42) / ax.bbox.width


def _place_below(ax: "Axes") -> dict[str, Any]:
    """Below the label of the x axis; in inches, since the height of the axes may still change."""
    transforms = require("matplotlib.transforms", "plot")
    box = ax.xaxis.get_tightbbox()
    drop = (ax.bbox.y0 - (box.y0 if box else ax.bbox.y0)) / ax.figure.dpi + 6 / 72
    moved = ax.transAxes + transforms.ScaledTranslation(0, -drop, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": moved}
    return {**place, "frameon": False, "borderaxespad": 0}
