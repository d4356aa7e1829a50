"""Expected losses of the optimal prediction and of the two modes, from Hamming to subset 0/1 loss."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choral._array_api import to_host
from choral._optional import require
from choral._typing import FloatArray
from choral._validation import listed
from choral.curves import LossCurve
from choral.decisions import BayesCurve, Distribution, bayes_curve, expected_curve
from choral.decisions.optimal import Method
from choral.displays import _style as style
from choral.displays._curves import (
    SIZE,
    ParameterAxis,
    draw_curves,
    isolated_points,
    label_axes,
    next_looks,
    write_names,
)
from choral.displays._text import Keys
from choral.displays.loss_curve import check_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

# The optimal curve is broad and light, the others are thin dashes on top: all are visible where they coincide.
OPTIMAL: dict[str, Any] = {"linewidth": 5.5, "alpha": 0.35, "zorder": 1.6, "solid_capstyle": "round"}
OPTIMAL_POINT: dict[str, Any] = {"marker": "o", "markersize": 9, "markeredgewidth": 0}
DASH = 3.5  # in line widths; every second line has its dashes in the gaps of the line before
CHANGE: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 7.5,
    "markerfacecolor": "white",
    "markeredgewidth": 1.4,
    "zorder": 1.7,
}
CHANGE_TEXTS = ("best prediction changes", "prediction changes", "changes")
BOUND_TEXTS = ("the optimum lies in here", "optimum in here", "optimum")


class DecisionDisplay:
    """The expected loss of the optimal prediction along a family of losses, and that of other predictions.

    At the Hamming end the marginal mode (each label by itself) is optimal, at the subset 0/1 end the joint mode (the
    most probable label set); between them neither may be. Computing is `from_distribution`, drawing is `plot`.

    Parameters
    ----------
    optimal : BayesCurve
        The optimal predictions, for one instance or many; losses are means over them.
    curves : sequence of LossCurve
        Expected losses of predictions to compare with, of the same family, parameters and number of labels.

    Attributes
    ----------
    optimal : BayesCurve
    curves : tuple of LossCurve
    ax_ : matplotlib Axes
        Where `plot` drew, as are the next two.
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        The optimal one, then one for each curve, in their order.

    See Also
    --------
    choral.bayes_curve : The best predictions for all losses of a family.
    choral.expected_curve : The expected loss of given predictions along a family.

    Examples
    --------
    At k = 2, neither mode is optimal:

    >>> from choral import LabelDistribution
    >>> labelsets = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]]
    >>> display = DecisionDisplay.from_distribution(LabelDistribution(labelsets, [0.2, 0.3, 0.1, 0.4]))
    >>> for curve in [display.optimal.curve(), *display.curves]:
    ...     print(curve.losses.round(3), curve.name)
    [0.325 0.55  0.6   0.6  ] optimal
    [0.325 0.567 0.725 0.8  ] marginal mode
    [0.425 0.567 0.6   0.6  ] joint mode

    ``display.plot()`` draws it.
    """

    ax_: "Axes"
    figure_: "Figure | SubFigure"
    lines_: list["Line2D"]

    def __init__(self, optimal: BayesCurve, curves: Sequence[LossCurve]):
        if not isinstance(optimal, BayesCurve):
            raise TypeError(f"optimal must be a BayesCurve; got {type(optimal).__name__}.")
        self.optimal = optimal
        self.curves = tuple(curves)
        check_curves(self._all_curves())
        _check_parameters(self.curves, optimal.parameters)

    def _all_curves(self) -> list[LossCurve]:
        name = "optimal" if self.optimal.exact.all() else "best found"
        return [self.optimal.curve(name), *self.curves]

    @classmethod
    def from_distribution(
        cls,
        distribution: Distribution,
        *,
        family: str = "binomial",
        parameters: ArrayLike | None = None,
        method: Method = "auto",
    ) -> "DecisionDisplay":
        """A display of the optimal prediction, the marginal mode and the joint mode.

        Parameters
        ----------
        distribution : LabelDistribution or IndependentLabels
            For one instance or many.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `bayes_curve`.
        method : str
            How to find the optimum; see `bayes_optimal`.
        """
        optimal = bayes_curve(distribution, family, parameters, method=method)
        modes = {"marginal mode": distribution.marginal_mode(), "joint mode": distribution.mode()}
        curves = [expected_curve(distribution, mode, family, parameters, name) for name, mode in modes.items()]
        return cls(optimal, curves)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "DecisionDisplay":
        """Draw the curves: the optimal one broad and light, the others dashed on top of it.

        For a single instance, a ring on the optimal curve marks each parameter from which on another prediction is
        optimal. Where the optimum is not proven, the curve is that of the best prediction found, and the shade below it
        goes down to the bound. Axis and names are as in `LossCurveDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given. ``plt.subplots(layout="constrained")`` keeps room for a legend.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``, such as ``linewidth``.

        Returns
        -------
        display : DecisionDisplay
            Itself.
        """
        own_figure = ax is None
        ax = style.new_axes(*SIZE) if own_figure else style.check_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        curves = self._all_curves()
        axis = ParameterAxis(curves)
        line_kwargs = style.line_properties(line_kwargs)
        looks = [{**look, **line_kwargs} for look in _looks(ax, axis, curves)]
        bands = [self._bounds(), *[None] * len(self.curves)]
        self.lines_ = draw_curves(ax, axis, curves, looks, bands)
        keys = [*self._mark_changes(), *self._key_to_bounds()]
        label_axes(ax, axis, [f"expected {axis.family} loss", "expected loss"])
        write_names(ax, axis, keys, grow=own_figure)
        return self

    def _bounds(self) -> tuple[FloatArray, FloatArray] | None:
        """The interval in which the optimum lies; None if all optima are proven."""
        if self.optimal.exact.all():
            return None
        lower = self.optimal.lower_bound
        lower = to_host(lower)
        return lower.mean(axis=1), self.optimal.curve().losses

    def _key_to_bounds(self) -> Keys:
        if self.optimal.exact.all():
            return []
        patch = require("matplotlib.patches", "plot").Patch
        return [(patch(color=self.lines_[0].get_color(), **style.BAND), BOUND_TEXTS)]

    def _mark_changes(self) -> Keys:
        """Mark where another prediction becomes optimal, for one instance: many would change nearly everywhere."""
        changes = self.optimal.changes() if self.optimal.risk.shape[1] == 1 else []
        if not changes:
            return []
        x, y = np.asarray(self.lines_[0].get_xydata()).T
        drawn = ~np.isnan(x)  # without the gap before infinity
        changed = np.isin(self.optimal.parameters, [change.parameter for change in changes])
        look = {**CHANGE, "color": self.lines_[0].get_color()}
        marks = self.ax_.plot(x[drawn][changed], y[drawn][changed], clip_on=False, **look)
        return [(marks[0], CHANGE_TEXTS)]


def _looks(ax: "Axes", axis: ParameterAxis, curves: Sequence[LossCurve]) -> list[dict[str, Any]]:
    """Broad and light for the optimal curve, thin dashes for the others."""
    looks = next_looks(ax)
    points = isolated_points(axis.points(curves[0].parameters, curves[0].losses)[0])
    marker = {**OPTIMAL_POINT, "markevery": points} if points else {"marker": ""}
    optimal = {**next(looks), **OPTIMAL, **marker}
    dashes = [(DASH * (index % 2), (DASH, DASH)) for index in range(len(curves) - 1)]
    return [optimal, *({**next(looks), "linestyle": dash, "linewidth": 1.4} for dash in dashes)]


def _check_parameters(curves: Sequence[LossCurve], parameters: np.ndarray) -> None:
    for index, curve in enumerate(curves):
        if not np.array_equal(curve.parameters, parameters):
            raise ValueError(
                f"curves must have the parameters of the optimal curve, {listed(parameters)}; "
                f"curves[{index}] has {listed(curve.parameters)}."
            )
