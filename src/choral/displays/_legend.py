"""Legends for names that do not fit at the ends of lines, and for what marks mean."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from choral._optional import require
from choral.displays import _labels as labels
from choral.displays import _style as style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SPACING = 0.35  # between two lines, of the font size
LOOK: dict[str, Any] = {
    "fontsize": style.SMALL,
    "borderpad": 0,
    "labelspacing": SPACING,
    "handlelength": 2.6,
    "columnspacing": 1.6,
}
INSIDE: dict[str, Any] = {"loc": "lower right", "framealpha": 0.8, "edgecolor": "none"}  # where rising curves are least
MOST_INSIDE = 0.75  # of the width of the axes

Keys = Sequence[tuple[Any, Sequence[str]]]  # marks, and what each means, from many words to few


def write_legend(ax: "Axes", lines: Sequence["Line2D"], names: Sequence[str], *, grow: bool) -> None:
    """Write the names below the axes where the figure makes room, else inside; our own figure grows by their height."""
    below = style.makes_room(ax)
    short, columns = columns_below(ax, names) if below else (_cut(ax, names, MOST_INSIDE), 1)
    place = {"ncols": columns, **_below(ax)} if below else INSIDE
    # names are set later: here, one that starts with _ would be left out
    legend = ax.legend(lines, ["name"] * len(names), **LOOK, **place)
    legend.set_label(labels.OURS)
    for text, name in zip(legend.get_texts(), short, strict=True):
        text.set_parse_math(False)
        text.set_text(name)
    if grow:
        figure = ax.figure.figure
        figure.set_figheight(figure.get_figheight() + legend.get_window_extent().height / figure.dpi)


def write_keys(ax: "Axes", keys: Keys) -> None:
    """Say inside the axes what marks mean, in the first words that fit, where curves and their names leave room."""
    if not keys:
        return
    marks, texts = zip(*keys, strict=True)
    for words in zip(*texts, strict=True):
        legend = ax.legend(marks, words, **{**LOOK, **INSIDE, "handlelength": 1.2})
        legend.set_label(labels.OURS)
        box = legend.get_window_extent()
        if box.width <= MOST_INSIDE * ax.bbox.width:
            break
    for corner in ("upper right", "upper left", "lower left", "best"):  # the last looks everywhere, which takes long
        if not _is_taken(ax, legend.get_window_extent()):
            break
        legend.set_loc(corner)


def _is_taken(ax: "Axes", box: Any) -> bool:
    """Whether there are lines or texts in a box."""
    paths = [line.get_transform().transform_path(line.get_path()) for line in ax.lines]
    texts = [text.get_window_extent() for text in ax.texts]
    return any(path.intersects_bbox(box, filled=False) for path in paths) or box.count_overlaps(texts) > 0


def height_below(ax: "Axes", names: Sequence[str]) -> float:
    """The height of a legend below the axes, as a share of theirs."""
    names, columns = columns_below(ax, names)
    _, line = labels.text_size(ax, names, style.SMALL)
    return -(-len(names) // columns) * line * (1 + SPACING) / labels.LINE_SPACING


def columns_below(ax: "Axes", names: Sequence[str]) -> tuple[list[str], int]:
    """Names shortened to the width that they have below the axes, and in how many columns they fit."""
    alone = len(ax.figure.axes) == 1
    room = ax.figure.bbox.width / ax.bbox.width if alone else 1.0  # in widths of the axes
    names = _cut(ax, names, room)
    width, _ = labels.text_size(ax, names, style.SMALL)
    return names, max(1, min(len(names), int(room / (width + _key_width(ax)))))


def _cut(ax: "Axes", names: Sequence[str], room: float) -> list[str]:
    """Names shortened to a width, together with their keys."""
    width, _ = labels.text_size(ax, names, style.SMALL)
    left = room - _key_width(ax)
    most = int(max(map(len, names)) * min(left / width, 1))
    return [labels.shortened(name, most) for name in names]


def _key_width(ax: "Axes") -> float:
    """A sample of the line, and space."""
    return style.points(ax, 42) / ax.bbox.width


def _below(ax: "Axes") -> dict[str, Any]:
    """Below the label of the x axis, in inches, not in shares of the axes: their height may still change."""
    transforms = require("matplotlib.transforms", "plot")
    box = ax.xaxis.get_tightbbox()
    drop = (ax.bbox.y0 - (box.y0 if box else ax.bbox.y0)) / ax.figure.dpi + 6 / 72
    moved = ax.transAxes + transforms.ScaledTranslation(0, -drop, ax.figure.dpi_scale_trans)
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "bbox_transform": moved}
    return {**place, "frameon": False, "borderaxespad": 0}
