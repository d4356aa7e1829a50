"""Loss curves of one or many models, from Hamming to subset 0/1 loss."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._validation import check_vector
from choral.curves import LossCurve
from choral.displays import _labels as labels
from choral.displays import _style as style
from choral.displays._legend import height_below, write_legend
from choral.displays._parameter_axis import ParameterAxis
from choral.profiles import ErrorProfile, profiles_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

MOST_LEGEND_HEIGHT = 0.35  # of the height of axes that are not ours to make taller


class LossCurveDisplay:
    """Loss curves of models on one pair of axes, from Hamming to subset 0/1 loss.

    A flat curve is a model that gets labels right together. Computing is `from_curves` or `from_predictions`,
    drawing is `plot`.

    Parameters
    ----------
    curves : sequence of LossCurve
        Of one family and number of labels; their parameters may differ.
    bands : sequence of (lower, upper) or None, optional
        An interval around each curve: two vectors with an entry for each of its parameters, or None for no band.
    baseline : str, optional
        The name of a curve to draw as a dashed grey line.

    Attributes
    ----------
    curves : tuple of LossCurve
    names : tuple of str
        Names of the curves; "curve 1", ... for those that have none.
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next two.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each curve, in their order.

    Examples
    --------
    >>> display = LossCurveDisplay.from_predictions(
    ...     [[1, 0, 1], [0, 0, 1]], {"all right": [[1, 0, 1], [0, 0, 1]], "one wrong": [[1, 0, 0], [0, 0, 1]]}
    ... )
    >>> display.names, display.curves[1].losses.round(3)
    (('all right', 'one wrong'), array([0.167, 0.333, 0.5  ]))

    ``display.plot()`` draws it, ``display.figure_.savefig("curves.pdf")`` keeps it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: list["Line2D"]

    def __init__(
        self,
        curves: Sequence[LossCurve],
        *,
        bands: Sequence[tuple[Any, Any] | None] | None = None,
        baseline: str | None = None,
    ):
        self.curves = _check_curves(curves)
        self.names = tuple(curve.name or f"curve {i}" for i, curve in enumerate(self.curves, start=1))
        if baseline is not None and baseline not in self.names:
            raise ValueError(f"baseline must be one of {', '.join(map(repr, self.names))}; got {baseline!r}.")
        self.baseline = baseline
        self.bands = _check_bands(bands, self.curves)

    @classmethod
    def from_curves(
        cls,
        curves: LossCurve | Iterable[LossCurve] | Mapping[str, LossCurve],
        *,
        bands: Sequence[tuple[Any, Any] | None] | None = None,
        baseline: str | None = None,
    ) -> "LossCurveDisplay":
        """A display of one curve, of several, or of a mapping from names to curves."""
        if isinstance(curves, LossCurve):
            curves = [curves]
        elif isinstance(curves, Mapping):
            curves = [replace(curve, name=name) for name, curve in curves.items()]
        return cls(list(curves), bands=bands, baseline=baseline)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        family: str = "binomial",
        parameters: Any = None,
        sample_weight: Any = None,
        name: str | None = None,
        baseline: str | None = None,
    ) -> "LossCurveDisplay":
        """A display of the curves of predictions.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        predictions : mapping from names to predictions, or the predictions of one model
            Predictions are labels or scores in [0, 1], of the shape of ``y_true``.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `loss_curve`.
        sample_weight : array-like of shape (n_samples,), optional
        name : str, optional
            The name of the one model; a mapping has its names.
        baseline : str, optional
            The name of a model to draw as a dashed grey line.
        """
        if not isinstance(predictions, Mapping):
            profile = ErrorProfile.from_predictions(y_true, predictions, sample_weight)
            return cls([profile.curve(family, parameters, name)], baseline=baseline)
        if name is not None:
            raise ValueError(f"name is for the predictions of one model; a mapping has its names, got {name!r}.")
        profiles = profiles_by_name(y_true, predictions, sample_weight)
        curves = [profile.curve(family, parameters, model) for model, profile in profiles.items()]
        return cls(curves, baseline=baseline)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "LossCurveDisplay":
        """Draw the curves.

        The axis of k is linear, that of alpha logarithmic; an infinite alpha is a point of its own at the right end,
        not joined to the line. Names stand at the ends of the lines, or in a legend where they do not fit. Displays
        drawn one by one on the same axes look as if they were one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. ``plt.subplots(layout="constrained")`` keeps room for a legend.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``, such as ``linewidth``.

        Returns
        -------
        display : LossCurveDisplay
            Itself.
        """
        own_figure = ax is None
        ax = style.new_axes(4.8, 3.2) if own_figure else style.check_axes(ax)
        family = self.curves[0].family
        ax.set_xscale("log" if family == "polynomial" else "linear")
        self.ax_, self.figure_ = ax, ax.figure
        axis = ParameterAxis(self.curves)
        self.lines_ = self._draw_lines(ax, axis, style.line_properties(line_kwargs))
        style.tidy(ax)
        labels.label_axis(ax.yaxis, [f"{family} loss"])
        self._place_names(ax, axis, grow=own_figure)
        return self

    def _draw_lines(self, ax: "Axes", axis: ParameterAxis, line_kwargs: dict[str, Any]) -> list["Line2D"]:
        lines: list[Line2D] = []
        before = _curves_on(ax)
        styles = map(style.line_style, count(sum(line.get_color() != style.GREY for line in before)))
        for index, (curve, name, band) in enumerate(zip(self.curves, self.names, self.bands, strict=True)):
            look = style.BASELINE if name == self.baseline else next(styles)
            x, y = axis.with_gap(curve.parameters, curve.losses)
            marks = axis.marks(x, index / len(self.curves))
            label = labels.plain(curve.name or f"curve {len(before) + index + 1}")
            look = {"markevery": marks, "clip_on": False, "label": label, **look, **line_kwargs}
            lines += ax.plot(x, y, **look)
            if band is not None:
                lower, upper = (axis.with_gap(curve.parameters, edge)[1] for edge in band)
                ax.fill_between(x, lower, upper, color=lines[-1].get_color(), alpha=0.18, linewidth=0)
        return lines

    def _place_names(self, ax: "Axes", axis: ParameterAxis, *, grow: bool) -> None:
        """Set the limits, then write the names of all curves on these axes where they fit."""
        ax.set_ylim(0, 1.04 * ax.dataLim.y1 if ax.dataLim.y1 > 0 else 1)
        labels.remove_names(ax)
        axis.set_limits(ax, 0.0)
        style.settle(ax)
        axis.set_limits(ax, 0.0)  # its label fits the size that the axes have now
        lines = sorted(_curves_on(ax), key=lambda line: -np.asarray(line.get_ydata())[-1])
        names = [str(line.get_label()) for line in lines]
        if len(lines) == 1 and self.curves[0].name is None:
            return
        short = [labels.shortened(name, 16) for name in names]
        fit = labels.fitting_size(ax, names)
        if fit is None and not (grow or _has_room_below(ax, names)):
            fit = labels.fitting_size(ax, short)
            names = short if fit else names
        if fit is None:
            write_legend(ax, lines, names, grow=grow)
            return
        fontsize, room = fit
        axis.set_limits(ax, room)
        labels.label_ends(ax, lines, names, fontsize=fontsize)


def _curves_on(ax: "Axes") -> list["Line2D"]:
    """The lines of this and of earlier displays, known by their chosen markers."""
    return [line for line in ax.lines if line.get_markevery() is not None]


def _has_room_below(ax: "Axes", names: Sequence[str]) -> bool:
    """Whether a legend below axes that are not ours to make taller leaves enough of them."""
    return style.makes_room(ax) and height_below(ax, names) <= MOST_LEGEND_HEIGHT


def _check_curves(curves: Sequence[LossCurve]) -> tuple[LossCurve, ...]:
    if not len(curves):
        raise ValueError("a LossCurveDisplay needs at least one curve; got none.")
    for curve in curves:
        if not isinstance(curve, LossCurve):
            raise TypeError(f"curves must be LossCurve; got {type(curve).__name__}.")
    kinds = sorted({(curve.family, curve.n_labels) for curve in curves})
    if len(kinds) > 1:
        came = " and ".join(f"{family}, {n_labels} labels" for family, n_labels in kinds)
        raise ValueError(f"curves on one pair of axes have one family and number of labels; got {came}.")
    return tuple(curves)


def _check_bands(bands: Any, curves: tuple[LossCurve, ...]) -> tuple[Any, ...]:
    if bands is None:
        return (None,) * len(curves)
    if len(bands) != len(curves):
        raise ValueError(f"bands must have one entry for each of {len(curves)} curves; got {len(bands)}.")
    checked: list[tuple[np.ndarray, np.ndarray] | None] = []
    for index, (band, curve) in enumerate(zip(bands, curves, strict=True)):
        edges = None if band is None else tuple(check_vector(f"bands[{index}]", edge) for edge in band)
        if edges is not None and [edge.shape for edge in edges] != [curve.losses.shape] * 2:
            raise ValueError(
                f"bands[{index}] must be a lower and an upper vector of {curve.losses.size} entries, one for each "
                f"parameter; got {[edge.size for edge in edges]}."
            )
        checked.append(edges)  # type: ignore[arg-type]  # two, as just checked
    return tuple(checked)
