"""What the scripts of the page share with Python: names, and the looks of Matplotlib's figures in Plotly's words."""

from typing import Any

import numpy as np

from choral._outputs import plain_numbers
from choral._validation import ROUNDING
from choral.displays._curves import INFINITY_GAP, MARGIN, MAX_MARKERS, NAMES
from choral.displays._style import COLOURS, DASHES, GREY, MARKERS
from choral.displays.pair_grid import FAR, MIN_LINES, ROUND_NUMBERS
from choral.measures.families import FAMILIES, LARGEST_ALPHA
from choral.report.markup import DECIMALS, MINUS, MISSING

HAMMING, SUBSET = "Hamming", "subset 0/1"
ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
SIGNIFICANCE_LEVEL = 0.05

# Matplotlib's names, then Plotly's
PLOTLY_MARKERS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "X": "x",
    "<": "triangle-left",
}
PLOTLY_DASHES = {"-": "solid", (0, (5, 1.2)): "dash", (0, (1.2, 1)): "dot", (0, (5, 1, 1, 1)): "dashdot"}


def page_constants(word: str) -> dict[str, Any]:
    """All constants that the scripts read, made of what JSON knows.

    Parameters
    ----------
    word : str
        What is compared: ``"learner"`` or ``"model"``.
    """
    return {
        "word": word,
        "hamming": HAMMING,
        "subset": SUBSET,
        "families": {name: _family(name) for name in FAMILIES},
        "infinity": plain_numbers(np.array([np.inf]))[0],  # how infinity is written in the figures
        "infinity_gap": INFINITY_GAP,  # between the largest finite alpha and infinity, of the axis up to there
        "margin": MARGIN,  # on either side of the parameters, of the axis
        "max_markers": MAX_MARKERS,  # a longer line has fewer
        "n_colours": len(COLOURS),  # of lines: see line_colours
        "markers": [PLOTLY_MARKERS[marker] for marker in MARKERS],
        "dashes": [PLOTLY_DASHES[dash] for dash in DASHES],
        "rounding": ROUNDING,  # losses nearer than this are equal
        "round_numbers": list(ROUND_NUMBERS),  # times a power of ten: how far a small picture of differences reaches
        "far": FAR,  # a line that reaches so many times as far as all others may leave its picture ...
        "min_lines": MIN_LINES,  # ... of so many lines or more
        "significance_level": SIGNIFICANCE_LEVEL,
        "decimals": DECIMALS,
        "missing": MISSING,
        "minus": MINUS,
    }


def end_names(family: str) -> tuple[str, str]:
    """What lies at 0 and at 1 of the axis from Hamming to subset 0/1 loss.

    Examples
    --------
    >>> end_names("binomial"), end_names("polynomial")
    (('Hamming', 'subset 0/1'), ('Hamming', 'α = 1000'))
    """
    return HAMMING, SUBSET if family == "binomial" else f"{ALPHA} = {LARGEST_ALPHA:g}"


def line_colours() -> str:
    """The colours of lines on white paper, as a rule for the style sheet, which has the dark ones."""
    variables = [f"--line-{index}: {colour.lower()};" for index, colour in enumerate(COLOURS)]
    return f":root {{ {' '.join(variables)} --line-baseline: {GREY.lower()}; }}\n"


def _family(name: str) -> dict[str, Any]:
    axis, symbol = (_without_tex(text) for text in NAMES[name])
    return {
        "symbol": symbol,
        "axis": axis,
        "logarithmic": name == "polynomial",
        "ends": list(end_names(name)),
    }


def _without_tex(text: str) -> str:
    return text.replace(r"\alpha", ALPHA).replace("$", "")
