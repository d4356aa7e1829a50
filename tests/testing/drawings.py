"""What is written on axes, and whether it fits: for the tests of displays."""

from itertools import combinations


def texts(ax):
    """Everything written in the axes, ticks and legend included."""
    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    written = [*ax.texts, *ax.get_xticklabels(), *(legend.get_texts() if legend else [])]
    return [text.get_text() for text in written]


def boxes(ax):
    """Boxes of the notes in the axes and of its legend, in pixels."""
    from matplotlib.text import Text

    ax.figure.draw_without_rendering()
    legend = ax.get_legend()
    written = [*ax.texts, *(legend.get_texts() if legend else [])]
    return [Text.get_window_extent(text) for text in written]  # without the lines that lead to annotations


def inside_figure(ax):
    """Whether all that is written lies within the figure, labels of the axes included."""
    ax.figure.draw_without_rendering()
    whole, (low, high) = ax.figure.bbox, ax.get_tightbbox().get_points()
    return bool((low >= whole.min - 1).all() and (high <= whole.max + 1).all())


def overlapping(boxes):
    """Pairs of boxes that share more than a rim of one pixel."""
    return [
        (a, b)
        for a, b in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1
    ]
