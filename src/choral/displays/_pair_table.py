"""Two models on one or many data sets: the table that displays of a pair share."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from choral.curves import LossCurve, PairwiseCurve
from choral.displays.loss_curve import LossCurveDisplay


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
        y_true: Any,
        y_pred_first: Any,
        y_pred_second: Any = None,
        *,
        family: str = "binomial",
        parameters: Any = None,
        sample_weight: Any = None,
        names: tuple[str, str] = ("first", "second"),
    ) -> Self:
        """A display of the predictions of two models for the same rows.

        Parameters
        ----------
        y_true : array-like or sparse matrix of shape (n_samples, n_labels)
            True labels, 0 or 1.
        y_pred_first, y_pred_second : array-like or sparse matrix of shape (n_samples, n_labels)
            Predicted labels, or scores in [0, 1]; or in place of both, a mapping from two names to them.
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Increasing values of k or alpha; see `loss_curve`.
        sample_weight : array-like of shape (n_samples,), optional
        names : tuple of two str
            Of the first and the second model.
        """
        if isinstance(y_pred_first, Mapping) and y_pred_second is None:
            if len(y_pred_first) != 2:
                raise ValueError(f"a {cls.__name__} compares two models; got {len(y_pred_first)}.")
            names, (y_pred_first, y_pred_second) = tuple(y_pred_first), y_pred_first.values()
        predictions = {"first": y_pred_first, "second": y_pred_second}
        curves = LossCurveDisplay.from_predictions(
            y_true, predictions, family=family, parameters=parameters, sample_weight=sample_weight
        ).curves
        first, second = (replace(curve, name=name) for curve, name in zip(curves, names, strict=True))
        return cls.from_curves(first, second)


def check_pairs(pairs: tuple[PairwiseCurve, ...]) -> tuple[PairwiseCurve, ...]:
    """Refuse pairs of curves that do not go on one pair of axes."""
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
