"""What displays share: their axes, and a palette for colour-blind readers and grey print."""

from typing import TYPE_CHECKING, Any

from choral._optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours without yellow, which is pale on white paper, then wine and indigo of Paul Tol's muted scheme:
# the nine that differ most in all three kinds of colour blindness. Colours, markers and dashes repeat in different
# periods, so that 24 lines differ, in grey too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#882255", "#332288")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
DASHES = ("-", (0, (5, 1.2)), (0, (1.2, 1)), (0, (5, 1, 1, 1)))
GREY = "#767676"
BASELINE = {"color": GREY, "linestyle": "--", "marker": ".", "zorder": 1.5}
BAND: dict[str, Any] = {"alpha": 0.18, "linewidth": 0}
SMALL = "small"  # relative to the user's font.size


def line_style(index: int) -> dict[str, Any]:
    """How to draw the line of this index; full and open markers take turns."""
    colour = COLOURS[index % len(COLOURS)]
    return {
        "color": colour,
        "linestyle": DASHES[index // len(COLOURS) % len(DASHES)],
        "linewidth": 1.6,
        "marker": MARKERS[index % len(MARKERS)],
        "markersize": 4.5,
        "markerfacecolor": "white" if index % 2 else colour,
        "markeredgecolor": colour,
    }


def band_look(n_bands: int) -> dict[str, Any]:
    """How to shade each of several intervals: the more there are, the lighter, since they overlap."""
    return {**BAND, "alpha": BAND["alpha"] / max(n_bands, 1) ** 0.5}


def darken(colour: Any) -> tuple[float, ...]:
    """A darker colour for text: the colour of a line would be pale in small letters."""
    return tuple(0.75 * channel for channel in require("matplotlib.colors", "plot").to_rgb(colour))


def leader_look(colour: Any) -> dict[str, Any]:
    """How to draw a thin line from a text to what it names."""
    return {"arrowstyle": "-", "color": colour, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 4}


def line_properties(line_kwargs: dict[str, Any]) -> dict[str, Any]:
    """A caller's properties of lines under their full names: ``lw`` is ``linewidth``."""
    line2d = require("matplotlib.lines", "plot").Line2D
    return require("matplotlib.cbook", "plot").normalize_kwargs(line_kwargs, line2d)


def check_axes(ax: Any) -> "Axes":
    """Refuse anything but one pair of matplotlib axes, such as the array that ``plt.subplots(1, 2)`` returns."""
    if not isinstance(ax, require("matplotlib.axes", "plot").Axes):
        raise TypeError(f"ax must be one matplotlib Axes; got {type(ax).__name__}.")
    return ax


def new_axes(width: float, height: float, **grid: Any) -> Any:
    """Axes of a new figure that makes room for whatever is written beside them."""
    return require("matplotlib.pyplot", "plot").subplots(figsize=(width, height), layout="constrained", **grid)[1]


def tidy(ax: "Axes") -> None:
    """Hide the upper and the right edge; write small tick labels close to the axes."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL, length=3, pad=2.5)


def to_pixels(ax: "Axes", size: float) -> float:
    """Convert a length in points to pixels of the figure of these axes."""
    return size * ax.figure.dpi / 72


def has_layout_engine(ax: "Axes") -> bool:
    """Whether the figure has a layout engine: it makes room for what is written outside the axes."""
    return ax.figure.figure.get_layout_engine() is not None


def apply_layout(ax: "Axes") -> None:
    """Give the axes their final size, by the figure's layout engine and their aspect: texts are measured against it."""
    figure = ax.figure.figure  # the whole figure, also of a subfigure
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
    ax.apply_aspect()
