"""The loss of one model against that of another as a line: what displays of pairs share."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral.curves import PairwiseCurve
from choral.displays import _style as style
from choral.measures.families import get_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SYMBOLS = {"binomial": "k", "polynomial": "\N{GREEK SMALL LETTER ALPHA}"}
HAMMING_END: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "markersize": 6}
SUBSET_END: dict[str, Any] = {"marker": "s", "markersize": 6}
CROSSING: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 1.6}
MOST_DOTS = 25  # parameters of a line, each shown as a dot


def pair_look(index: int) -> dict[str, Any]:
    """Colours and dashes both change from line to line: markers are for the ends."""
    dashes = style.DASHES[index % len(style.DASHES)]
    return {"color": style.COLOURS[index % len(style.COLOURS)], "linestyle": dashes, "linewidth": 1.6}


def highest_loss(pairs: Iterable[PairwiseCurve]) -> float:
    """The largest loss of all, which sets the limits of square axes."""
    return float(max(curve.losses.max() for pair in pairs for curve in (pair.curve_a, pair.curve_b)))


def draw_pair(ax: "Axes", pair: PairwiseCurve, look: dict[str, Any], *, scale: float = 1.0) -> "Line2D":
    """Draw the line of a pair and its marks; ``scale`` is the size of marks, smaller on small axes."""
    x, y = pair.curve_a.losses, pair.curve_b.losses
    (line,) = ax.plot(x, y, clip_on=False, **look)
    colour = line.get_color()
    # small axes have no room for dots; an empty line would count as a point in the corner of the figure
    if scale >= 1 and 2 < x.size <= MOST_DOTS:
        ax.plot(x[1:-1], y[1:-1], ".", color=colour, markersize=5, clip_on=False)
    ax.plot(x[0], y[0], color=colour, clip_on=False, zorder=3, **scaled(HAMMING_END, scale))
    ax.plot(x[-1], y[-1], color=colour, clip_on=False, zorder=3, **scaled(SUBSET_END, scale))
    for _, loss in crossing_points(pair):
        ax.plot(loss, loss, color="black", zorder=4, **scaled(CROSSING, scale))
    return line


def scaled(mark: dict[str, Any], scale: float) -> dict[str, Any]:
    """A mark in another size."""
    width = mark.get("markeredgewidth", 1.0)
    return {**mark, "markersize": scale * mark["markersize"], "markeredgewidth": scale * width}


def crossing_points(pair: PairwiseCurve) -> list[tuple[float, float]]:
    """Parameter and loss, the same for both models, of each crossing."""
    x, losses = pair.curve_a.x, pair.curve_a.losses
    found = []
    for parameter in pair.crossings():
        if np.isfinite(parameter):
            family = get_family(pair.curve_a.family)
            loss = np.interp(family.position(parameter, pair.curve_a.n_labels), x, losses)
        else:  # between the last finite alpha and infinity: where the segment meets the diagonal
            before, after = pair.differences[-2:]
            loss = losses[-2] + before / (before - after) * (losses[-1] - losses[-2])
        found.append((float(parameter), float(loss)))
    return found


def end_names(pair: PairwiseCurve) -> tuple[str, str]:
    """Which losses the ends are, or their parameters where the curve is not whole."""
    low, high = pair.parameters[0], pair.parameters[-1]
    last = np.inf if pair.curve_a.family == "polynomial" else pair.curve_a.n_labels
    symbol = SYMBOLS[pair.curve_a.family]
    return (
        "Hamming" if low == 1 else f"{symbol} = {low:g}",
        "subset 0/1" if high == last else f"{symbol} = {high:g}",
    )


def mark_keys(pairs: Iterable[PairwiseCurve], *, crossing: str, scale: float = 1.0) -> dict[str, "Line2D"]:
    """What the marks of these pairs mean, and a sample of each for a legend."""
    pairs = list(pairs)
    line2d = require("matplotlib.lines", "plot").Line2D
    symbol = SYMBOLS[pairs[0].curve_a.family]
    whole = all(end_names(pair) == ("Hamming", "subset 0/1") for pair in pairs)
    ends = ("Hamming", "subset 0/1") if whole else (f"least {symbol}", f"largest {symbol}")
    looks = dict(zip(ends, (HAMMING_END, SUBSET_END), strict=True))
    if any(pair.crossings().size for pair in pairs):
        looks[crossing] = CROSSING
    return {
        text: line2d([], [], color="black", linestyle="none", **scaled(look, scale)) for text, look in looks.items()
    }
