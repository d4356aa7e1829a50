"""Loss curves of one or many models, from Hamming to subset 0/1 loss."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import Features, FloatArray, LabelMatrix, RowWeights
from choral._validation import check_vector
from choral.curves import LossCurve
from choral.displays import _style as style
from choral.displays._curves import (
    SIZE,
    ParameterAxis,
    draw_curves,
    find_curves,
    label_axes,
    limit_height,
    next_looks,
    write_names,
)
from choral.displays._text import Keys
from choral.profiles import Predictions, curves_by_name, loss_curve
from choral.scores import predictions_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

Bands = Mapping[str, tuple[ArrayLike, ArrayLike]] | Sequence[tuple[ArrayLike, ArrayLike] | None]

INDEPENDENT = {"color": style.GREY, "linestyle": (0, (4, 2)), "linewidth": 1.2, "marker": "", "zorder": 1.6}
POSSIBLE: dict[str, Any] = {"color": style.GREY, "alpha": 0.13, "linewidth": 0, "zorder": 0.5}


class LossCurveDisplay:
    """Loss curves of models on one pair of axes, from Hamming to subset 0/1 loss.

    A flat curve is a model that gets labels right together. Computing is `from_curves`, `from_predictions`
    or `from_estimator`, drawing is `plot`.

    Parameters
    ----------
    curves : sequence of LossCurve
        Of one family and number of labels; their parameters may differ.
    bands : mapping from names to (lower, upper), or sequence of (lower, upper) or None, optional
        Intervals around curves: two vectors with an entry for each parameter of the curve. A mapping may leave curves
        out, a sequence has None for them.
    baseline : str, optional
        The name of a curve to draw as a dashed grey line.
    order : sequence of str, optional
        Names in the order of colours and markers: so a model looks the same in several figures, even if other models
        are missing in some. Without it, each curve has the next style.
    references : sequence of LossCurve, optional
        What to compare one model with at equal Hamming loss: a lower and an upper bound (`LossCurve.bounds`), with grey
        between them, and perhaps the curve of independent errors (`choral.independent_curve`), a dashed line. Of the
        same parameters each.

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

    See Also
    --------
    choral.loss_curve : The loss along a family of measures.
    choral.evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    PairwiseDisplay : Two models against each other.

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
        bands: Bands | None = None,
        baseline: str | None = None,
        order: Sequence[str] | None = None,
        references: Sequence[LossCurve] | None = None,
    ):
        self.curves = check_curves(curves)
        self.names = tuple(curve.name or f"curve {i}" for i, curve in enumerate(self.curves, start=1))
        if baseline is not None and baseline not in self.names:
            raise ValueError(f"baseline must be one of {', '.join(map(repr, self.names))}; got {baseline!r}.")
        self.baseline = baseline
        self.order = _check_order(order, self.names, baseline)
        self.bands = _check_bands(_list_bands(bands, self.names), self.curves)
        self.references = _check_references(references, self.curves[0])

    @classmethod
    def from_curves(
        cls,
        curves: LossCurve | Iterable[LossCurve] | Mapping[str, LossCurve],
        *,
        bands: Bands | None = None,
        baseline: str | None = None,
        order: Sequence[str] | None = None,
        references: Sequence[LossCurve] | None = None,
    ) -> "LossCurveDisplay":
        """A display of one curve, of several, or of a mapping from names to curves.

        Parameters
        ----------
        curves : LossCurve, or several in a list or by name
            What to draw.
        bands : mapping, optional
            A pair of lower and upper ends by the name of a curve.
        baseline : LossCurve, optional
            A curve to compare with, drawn in grey.
        order : sequence of str, optional
            Names in the order of their colours, where a page has several figures.
        references : mapping, optional
            Further curves by name, drawn dotted.
        """
        if isinstance(curves, LossCurve):
            curves = [curves]
        elif isinstance(curves, Mapping):
            curves = [replace(curve, name=name) for name, curve in curves.items()]
        return cls(list(curves), bands=bands, baseline=baseline, order=order, references=references)

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelMatrix,
        predictions: Predictions | Mapping[str, Predictions],
        *,
        family: str = "binomial",
        parameters: ArrayLike | None = None,
        sample_weight: RowWeights | None = None,
        name: str | None = None,
        baseline: str | None = None,
    ) -> "LossCurveDisplay":
        """A display of the curves of predictions.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        predictions : mapping from names to predictions, or the predictions of one model
            Predictions are labels or scores in [0, 1], of the shape of ``y_true``; or a `BayesCurve`, whose labels were
            decided anew for each parameter.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `loss_curve`.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        name : str, optional
            The name of the one model; a mapping has its names.
        baseline : str, optional
            The name of a model to draw as a dashed grey line.
        """
        if not isinstance(predictions, Mapping):
            curve = loss_curve(y_true, predictions, family, parameters, sample_weight=sample_weight, name=name)
            return cls([curve], baseline=baseline)
        if name is not None:
            raise ValueError(f"name is for the predictions of one model; a mapping has its names, got {name!r}.")
        curves = curves_by_name(y_true, predictions, family, parameters, sample_weight) if predictions else []
        return cls(curves, baseline=baseline)  # which refuses none

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Features,
        Y: LabelMatrix,
        *,
        family: str = "binomial",
        parameters: ArrayLike | None = None,
        sample_weight: RowWeights | None = None,
        name: str | None = None,
        baseline: str | None = None,
    ) -> "LossCurveDisplay":
        """A display of the curves of fitted estimators on test data.

        Unlike the displays of scikit-learn, it does not draw yet: call `plot`.

        Parameters
        ----------
        estimator : fitted estimator, or mapping from names to fitted estimators
            By their ``predict``, or by ``predict_proba`` where there is no ``predict``.
        X : array-like of shape (n_samples, n_features)
            The features.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        family : {"binomial", "polynomial"}
            The family of losses.
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; all 1 unless given.
        name : str, optional
            The name of the one estimator, that of its class unless given; a mapping has its names.
        baseline : see `from_predictions`
            Whether and what to compare with.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> X, Y = [[0], [1], [2]], [[1, 0], [1, 1], [0, 1]]
        >>> display = LossCurveDisplay.from_estimator(DecisionTreeClassifier().fit(X, Y), X, Y)
        >>> display.names, display.curves[0].losses
        (('DecisionTreeClassifier',), array([0., 0.]))
        """
        if not isinstance(estimator, Mapping):
            name = name or type(estimator).__name__
        predictions = predictions_by_name(estimator, X, Y)
        options: dict[str, Any] = {"family": family, "parameters": parameters, "sample_weight": sample_weight}
        return cls.from_predictions(Y, predictions, **options, name=name, baseline=baseline)

    def plot(self, ax: "Axes | None" = None, **line_kwargs: Any) -> "LossCurveDisplay":
        """Draw the curves.

        The axis of k is linear, that of alpha logarithmic; an infinite alpha is a point of its own at the right end,
        not joined to the line. Names stand at the ends of the lines, or in a legend if they do not fit there. Displays
        that are drawn one by one on the same axes look like one display. A baseline that rises above twice the largest
        loss of all models leaves the axes at the top, where a note says its losses.

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
        ax = style.new_axes(*SIZE) if own_figure else style.check_axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        by_chance = self.references[2:]
        axis = ParameterAxis([*self.curves, *self.references])
        keys = self._shade_possible(ax, axis)
        looks = [*self._looks(ax, line_kwargs), *(INDEPENDENT for _ in by_chance)]
        bands = [*self.bands, *(None for _ in by_chance)]
        self.lines_ = draw_curves(ax, axis, [*self.curves, *by_chance], looks, bands)[: len(self.curves)]
        limit_height(ax)
        label_axes(ax, axis, [f"{axis.family} loss"])
        if len(find_curves(ax)) > 1 or self.curves[0].name is not None:
            write_names(ax, axis, keys, grow=own_figure)
        return self

    def _shade_possible(self, ax: "Axes", axis: ParameterAxis) -> Keys:
        """Shade what lies between the bounds; what the shade means."""
        if not self.references:
            return []
        (x, lower), (_, upper) = (axis.points(bound.parameters, bound.losses) for bound in self.references[:2])
        shade = ax.fill_between(x, lower, upper, **POSSIBLE)
        return [(shade, ("possible with this Hamming loss", "possible"))]

    def _looks(self, ax: "Axes", line_kwargs: dict[str, Any]) -> list[dict[str, Any]]:
        looks, line_kwargs = next_looks(ax), style.line_properties(line_kwargs)
        found = []
        for name in self.names:
            if name == self.baseline:
                look = style.BASELINE
            else:
                look = next(looks) if self.order is None else style.line_style(self.order.index(name))
            found.append({**look, **line_kwargs})
        return found


def predictions_by_name(estimator: Any, X: Features, Y: LabelMatrix) -> Any:
    """What a fitted estimator predicts, or a mapping from names to what each of several predicts."""
    shape: tuple[int, ...] = getattr(Y, "shape", None) or np.shape(Y)  # type: ignore[arg-type]
    n_labels = shape[1] if len(shape) > 1 else 1
    if not isinstance(estimator, Mapping):
        return predictions_of(estimator, X, n_labels)
    return {name: predictions_of(each, X, n_labels, f"estimator[{name!r}]") for name, each in estimator.items()}


def _check_order(order: Sequence[str] | None, names: tuple[str, ...], baseline: str | None) -> list[str] | None:
    if order is None:
        return None
    for name in names:
        if name not in order and name != baseline:
            raise ValueError(f"order must hold the names of all curves; it lacks {name!r}.")
    return list(order)


def _check_references(references: Sequence[LossCurve] | None, curve: LossCurve) -> tuple[LossCurve, ...]:
    if references is None:
        return ()
    if len(references) not in (2, 3):
        raise ValueError(
            "references must be a lower and an upper bound, and perhaps independent errors; "
            f"got {len(references)} curves."
        )
    check_curves([curve, *references])
    if any(not np.array_equal(one.parameters, references[0].parameters) for one in references):
        raise ValueError("references must have the same parameters; these differ.")
    return tuple(references)


def check_curves(curves: Sequence[LossCurve]) -> tuple[LossCurve, ...]:
    """Refuse an empty sequence, and curves that cannot share axes."""
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


def _list_bands(bands: Bands | None, names: tuple[str, ...]) -> Sequence[tuple[ArrayLike, ArrayLike] | None]:
    """The bands as a sequence with an entry for each curve."""
    if bands is None:
        return (None,) * len(names)
    if not isinstance(bands, Mapping):
        return bands
    unknown = [repr(name) for name in bands if name not in names]
    if unknown:
        raise ValueError(f"bands are for {', '.join(map(repr, names))}; got {', '.join(unknown)} too.")
    return [bands.get(name) for name in names]


def _check_bands(bands: Any, curves: tuple[LossCurve, ...]) -> tuple[Any, ...]:
    if len(bands) != len(curves):
        raise ValueError(f"bands must have one entry for each of {len(curves)} curves; got {len(bands)}.")
    checked: list[tuple[FloatArray, FloatArray] | None] = []
    for index, (band, curve) in enumerate(zip(bands, curves, strict=True)):
        edges = None if band is None else tuple(check_vector(f"bands[{index}]", edge) for edge in band)
        if edges is not None and [edge.shape for edge in edges] != [curve.losses.shape] * 2:
            raise ValueError(
                f"bands[{index}] must be a lower and an upper vector of {curve.losses.size} entries, one for each "
                f"parameter; got {[edge.size for edge in edges]}."
            )
        checked.append(edges)  # type: ignore[arg-type]  # two, as just checked
    return tuple(checked)
