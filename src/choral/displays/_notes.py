"""Notes beside points and in corners, where they hide the least."""

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from choral.displays import _style as style
from choral.displays._labels import text_size

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# From a point, where a note may stand: to its right first, then around it.
DIRECTIONS = ((1, 0), (1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, 1), (-1, -1))
DISTANCES = (6, 16, 30)  # points
# From a corner, how far a note may move in: shares of the axes.
STEPS = np.array([(0, 0), (0, 0.2), (0.2, 0), (0, 0.35), (0.35, 0)])


class Notes:
    """Writes notes on axes one by one, each where it hides the least of the lines and of the notes before it.

    Limits must be final.
    """

    def __init__(self, ax: "Axes"):
        self.ax = ax
        paths = [ax.transData.transform(np.asarray(line.get_xydata())) for line in ax.lines]
        # what a note should not cover, in pixels
        self.taken = np.concatenate([_walk(path) for path in paths if path.size])
        legend = ax.get_legend()
        if legend is not None:
            box = legend.get_window_extent()
            self._take(box.get_points().mean(axis=0), np.array(box.size))

    def beside(self, point: tuple[float, float], text: str, colour: Any) -> None:
        """Write a note beside a point; a thin line leads to one that stands apart."""
        place = self.ax.transData.transform(point)
        self._take(place, np.full(2, style.points(self.ax, 6)))  # its marker
        size = self._size(text, style.SMALL)
        low, high = self._room(size)
        spots = []
        for distance, direction in product(DISTANCES, DIRECTIONS):
            centre = place + np.array(direction) * (style.points(self.ax, distance) + size / 2)
            spots.append((centre.clip(low, high), distance))
        costs = [distance + self._cost(centre, size) for centre, distance in spots]
        centre, distance = spots[int(np.argmin(costs))]  # the first of the best
        self.ax.annotate(
            text,
            point,
            tuple((centre - place) / style.points(self.ax, 1)),
            textcoords="offset points",
            ha="center",
            va="center",
            color=colour,
            fontsize=style.SMALL,
            arrowprops=style.lead(colour) if distance > DISTANCES[0] else None,
        )
        self._take(centre, size)

    def in_corner(self, texts: Sequence[str], colour: Any, *, upper_left: bool) -> None:
        """Write the first text that hides nothing near the upper left or the lower right corner, if there is one."""
        sign = np.array((1, -1) if upper_left else (-1, 1))
        corners = np.array((0.03, 0.97) if upper_left else (0.97, 0.03)) + sign * STEPS
        for text, fontsize in product(texts, (style.SMALL, "x-small")):
            size = self._size(text, fontsize)
            for corner, place in zip(corners, self.ax.transAxes.transform(corners), strict=True):
                if self._cost(place + sign * size / 2, size) > 0:
                    continue
                align = {"ha": "left", "va": "top"} if upper_left else {"ha": "right", "va": "bottom"}
                look = {"color": colour, "fontsize": fontsize, "parse_math": False, **align}
                self.ax.text(corner[0], corner[1], text, transform=self.ax.transAxes, **look)
                self._take(place + sign * size / 2, size)
                return

    def _size(self, text: str, fontsize: str) -> np.ndarray:
        width, height = text_size(self.ax, text.split("\n"), fontsize)
        return np.array([width * self.ax.bbox.width, height * self.ax.bbox.height * len(text.split("\n"))])

    def _cost(self, centre: np.ndarray, size: np.ndarray) -> float:
        """How much a note would hide, and far more for leaving the axes."""
        inside = (np.abs(self.taken - centre) <= size / 2 + style.points(self.ax, 2)).all(axis=1)
        low, high = self._room(size)
        return float(3 * inside.sum() + 100 * np.abs(centre - centre.clip(low, high)).sum())

    def _room(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Between which corners the centre of a note may lie."""
        slack = style.points(self.ax, 1) * np.array([-3, 3])  # the height has room above and below the letters
        return self.ax.bbox.min + size / 2 - slack, self.ax.bbox.max - size / 2 + slack

    def _take(self, centre: np.ndarray, size: np.ndarray) -> None:
        across, up = (np.arange(-length / 2, length / 2) for length in size)
        self.taken = np.concatenate([self.taken, centre + np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)])


def _walk(vertices: np.ndarray) -> np.ndarray:
    """Points along a path at steps of one."""
    lengths = np.append(0, np.cumsum(np.hypot(*np.diff(vertices, axis=0).T)))
    steps = np.arange(0, lengths[-1] + 1)
    return np.column_stack([np.interp(steps, lengths, coordinate) for coordinate in vertices.T])
