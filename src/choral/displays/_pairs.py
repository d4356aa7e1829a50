"""Two models against each other: the pairs of curves, and the lines that displays of pairs share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from choral._optional import require
from choral._typing import Features, LabelMatrix, RowWeights
from choral.curves import LossCurve, PairwiseCurve
from choral.displays import _style as style
from choral.displays.loss_curve import LossCurveDisplay, predictions_by_name
from choral.measures.families import get_family
from choral.profiles import Predictions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

SYMBOLS = {"binomial": "k", "polynomial": "\N{GREEK SMALL LETTER ALPHA}"}
HAMMING_END: dict[str, Any] = {"marker": "o", "markerfacecolor": "white", "markersize": 6}
SUBSET_END: dict[str, Any] = {"marker": "s", "markersize": 6}
CROSSING: dict[str, Any] = {"marker": "x", "markersize": 7, "markeredgewidth": 1.6}
MAX_DOTS = 25  # a line with more parameters has no dots for them


class PairTable:
    """A pair of curves for each data set, all of one family and of the same two models."""

    def __init__(self, pairs: PairwiseCurve | Mapping[str, PairwiseCurve]):
        named = pairs if isinstance(pairs, Mapping) else {"": pairs}
        if not named:
            raise ValueError(f"a {type(self).__name__} needs at least one pair of curves; got none.")
        self.pairs = check_pairs(tuple(named.values()))
        self.data_names = tuple(named) if isinstance(pairs, Mapping) else ()
        self.names = self.pairs[0].names

    @classmethod
    def from_curves(
        cls,
        first: LossCurve | Mapping[str, LossCurve] | PairwiseCurve,
        second: LossCurve | Mapping[str, LossCurve] | None = None,
    ) -> Self:
        """A display of two models: one curve each, one mapping from data sets to curves each, or a pair of curves."""
        if isinstance(first, PairwiseCurve) and second is None:
            return cls(first)
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            if set(first) != set(second):
                only = sorted(map(repr, set(first) ^ set(second)))
                raise ValueError(f"first and second must have the same data sets; only one has {', '.join(only)}.")
            return cls({data: PairwiseCurve(first[data], second[data]) for data in first})
        if isinstance(first, LossCurve) and isinstance(second, LossCurve):
            return cls(PairwiseCurve(first, second))
        raise TypeError(
            "first and second must both be LossCurve or both be mappings from data sets to LossCurve; "
            f"got {type(first).__name__} and {type(second).__name__}."
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelMatrix,
        y_pred_first: Predictions | Mapping[str, Predictions],
        y_pred_second: Predictions | None = None,
        *,
        family: str = "binomial",
        parameters: ArrayLike | None = None,
        sample_weight: RowWeights | None = None,
        names: tuple[str, str] = ("first", "second"),
    ) -> Self:
        """A display of the predictions of two models for the same rows.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_pred_first, y_pred_second : array-like or sparse matrix of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1]; or a `BayesCurve`, whose labels were decided anew for each parameter.
            In place of both, ``y_pred_first`` may be a mapping from two names to predictions.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `loss_curve`.
        sample_weight : array-like of shape (n_samples,), optional
            How much each row counts.
        names : tuple of two str
            Of the first and the second model.
        """
        predictions: dict[str, Any] = {"first": y_pred_first, "second": y_pred_second}
        if isinstance(y_pred_first, Mapping) and y_pred_second is None:
            if len(y_pred_first) != 2:
                raise ValueError(f"a {cls.__name__} compares two models; got {len(y_pred_first)}.")
            (name_first, predictions["first"]), (name_second, predictions["second"]) = y_pred_first.items()
            names = (name_first, name_second)
        curves = LossCurveDisplay.from_predictions(
            y_true, predictions, family=family, parameters=parameters, sample_weight=sample_weight
        ).curves
        first, second = (replace(curve, name=name) for curve, name in zip(curves, names, strict=True))
        return cls.from_curves(first, second)

    @classmethod
    def from_estimator(
        cls,
        estimators: Mapping[str, Any] | Sequence[Any],
        X: Features,
        Y: LabelMatrix,
        *,
        family: str = "binomial",
        parameters: ArrayLike | None = None,
        sample_weight: RowWeights | None = None,
    ) -> Self:
        """A display of two fitted estimators on test data.

        Unlike the displays of scikit-learn, it does not draw yet: call `plot`.

        Parameters
        ----------
        estimators : mapping from two names to fitted estimators, or two fitted estimators
            By their ``predict``, or by ``predict_proba`` where there is no ``predict``. Without names, those of their
            classes are taken, or "first" and "second" where these are the same.
        X : array-like of shape (n_samples, n_features)
            The features.
        Y : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        family, parameters, sample_weight
            See `from_predictions`.
        """
        if not isinstance(estimators, Mapping | list | tuple):
            raise TypeError(
                "estimators must be a mapping from two names to fitted estimators, or two fitted estimators; "
                f"got {type(estimators).__name__}."
            )
        if len(estimators) != 2:
            raise ValueError(f"a {cls.__name__} compares two models; got {len(estimators)}.")
        if not isinstance(estimators, Mapping):
            names = [type(estimator).__name__ for estimator in estimators]
            names = names if names[0] != names[1] else ["first", "second"]
            estimators = dict(zip(names, estimators, strict=True))
        predictions = predictions_by_name(estimators, X, Y)
        return cls.from_predictions(Y, predictions, family=family, parameters=parameters, sample_weight=sample_weight)


def check_pairs(pairs: tuple[PairwiseCurve, ...]) -> tuple[PairwiseCurve, ...]:
    """Refuse pairs of curves that cannot share axes."""
    for pair in pairs:
        if not isinstance(pair, PairwiseCurve):
            raise TypeError(f"pairs must be PairwiseCurve; got {type(pair).__name__}.")
    families = sorted({pair.curve_a.family for pair in pairs})
    if len(families) > 1:
        raise ValueError(f"pairs on one pair of axes have one family; got {' and '.join(families)}.")
    models = sorted({pair.names for pair in pairs})
    if len(models) > 1:
        came = " and ".join(f"{first} against {second}" for first, second in models)
        raise ValueError(f"pairs on one pair of axes compare the same two models; got {came}.")
    return pairs


def pair_look(index: int) -> dict[str, Any]:
    """How to draw the line of this index: both colours and dashes change, since markers are for the ends."""
    dashes = style.DASHES[index % len(style.DASHES)]
    return {"color": style.COLOURS[index % len(style.COLOURS)], "linestyle": dashes, "linewidth": 1.6}


def highest_loss(pairs: Iterable[PairwiseCurve]) -> float:
    """The largest loss of all, which sets the limits of square axes."""
    return float(max(curve.losses.max() for pair in pairs for curve in (pair.curve_a, pair.curve_b)))


def draw_pair(ax: "Axes", pair: PairwiseCurve, look: dict[str, Any]) -> "Line2D":
    """Draw the line of a pair and its marks."""
    x, y = pair.curve_a.losses, pair.curve_b.losses
    (line,) = ax.plot(x, y, clip_on=False, **look)
    colour = line.get_color()
    if 2 < x.size <= MAX_DOTS:  # no empty line: the layout would count it as a point in the corner of the figure
        ax.plot(x[1:-1], y[1:-1], ".", color=colour, markersize=5, clip_on=False)
    ax.plot(x[0], y[0], color=colour, clip_on=False, zorder=3, **HAMMING_END)
    ax.plot(x[-1], y[-1], color=colour, clip_on=False, zorder=3, **SUBSET_END)
    for _, loss in crossing_points(pair):
        ax.plot(loss, loss, color="black", zorder=4, **CROSSING)
    return line


def crossing_points(pair: PairwiseCurve) -> list[tuple[float, float]]:
    """Parameter and loss, the same for both models, of each crossing."""
    x, losses = pair.curve_a.x, pair.curve_a.losses
    found = []
    for parameter in pair.crossings():
        if is_beyond_finite(pair, parameter):  # where the segment to infinity meets the diagonal
            before, after = pair.differences[-2:]
            loss = losses[-2] + before / (before - after) * (losses[-1] - losses[-2])
        else:
            family = get_family(pair.curve_a.family)
            loss = np.interp(family.position(parameter, pair.curve_a.n_labels), x, losses)
        found.append((float(parameter), float(loss)))
    return found


def is_beyond_finite(pair: PairwiseCurve, crossing: float) -> bool:
    """Whether a crossing lies between the largest finite alpha and infinity, where nothing is drawn."""
    return bool(np.isinf(pair.parameters[-1]) and crossing > pair.parameters[-2])


def end_names(pair: PairwiseCurve) -> tuple[str, str]:
    """The names of the losses at both ends, or their parameters if the curve is not whole."""
    low, high = pair.parameters[0], pair.parameters[-1]
    last = np.inf if pair.curve_a.family == "polynomial" else pair.curve_a.n_labels
    symbol = SYMBOLS[pair.curve_a.family]
    return (
        "Hamming" if low == 1 else f"{symbol} = {low:g}",
        "subset 0/1" if high == last else f"{symbol} = {high:g}",
    )


def mark_keys(pairs: Iterable[PairwiseCurve], *, crossing: str) -> dict[str, "Line2D"]:
    """What the marks of these pairs mean, and a sample of each, for a legend."""
    pairs = list(pairs)
    line2d = require("matplotlib.lines", "plot").Line2D
    symbol = SYMBOLS[pairs[0].curve_a.family]
    whole = all(end_names(pair) == ("Hamming", "subset 0/1") for pair in pairs)
    ends = ("Hamming", "subset 0/1") if whole else (f"least {symbol}", f"largest {symbol}")
    looks = dict(zip(ends, (HAMMING_END, SUBSET_END), strict=True))
    if any(pair.crossings().size for pair in pairs):
        looks[crossing] = CROSSING
    return {text: line2d([], [], color="black", linestyle="none", **look) for text, look in looks.items()}
