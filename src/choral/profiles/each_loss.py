"""Labels decided anew for each loss, such as a `BayesCurve`: each loss judges the labels that were decided for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import LabelMatrix
from choral._validation import listed
from choral.curves import LossCurve
from choral.measures.families import get_family
from choral.profiles.error_profile import ErrorProfile
from choral.profiles.observed_profile import ObservedProfile


@runtime_checkable
class DecidedLabels(Protocol):
    """Labels decided anew for each parameter of a family: a `BayesCurve`, which ``predict_curve`` returns."""

    @property
    def family(self) -> str: ...

    @property
    def parameters(self) -> np.ndarray: ...

    @property
    def decisions(self) -> Sequence[Any]:
        """One for each parameter, with its ``labels``, of shape (n_samples, n_labels)."""


#: Predictions of a model: the same for all losses, or decided for each loss of a family, or of families by name.
Predictions: TypeAlias = LabelMatrix | DecidedLabels | Mapping[str, DecidedLabels]


@dataclass(frozen=True, eq=False)
class EachLossProfile:
    """The errors of labels that were decided anew for each loss: a profile for each parameter, judged by it alone.

    Attributes
    ----------
    family : {"binomial", "polynomial"}
    parameters : ndarray of shape (n_parameters,)
        Those that labels were decided for.
    profiles : sequence of ErrorProfile or ObservedProfile
        One for each parameter, of the labels decided for it.

    Examples
    --------
    One label is wrong in what was decided for k = 1, and both labels in what was decided for k = 2:

    >>> of_k = [ErrorProfile.from_predictions([[1, 0]], labels) for labels in ([[1, 1]], [[0, 1]])]
    >>> EachLossProfile("binomial", np.array([1, 2]), of_k).losses("binomial")
    array([0.5, 1. ])
    """

    family: str
    parameters: np.ndarray
    profiles: Sequence[ErrorProfile | ObservedProfile]

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return self.profiles[0].n_labels

    @property
    def n_rows(self) -> int:
        """Rows seen, with something observed."""
        return self.profiles[0].n_rows

    @property
    def total_weight(self) -> int | float:
        """Their weights added up; their number where none were given."""
        return self.profiles[0].total_weight

    @property
    def is_hard(self) -> bool:
        """Always: what is decided is hard labels."""
        return True

    def is_decided_for(self, family: str, parameters: ArrayLike) -> bool:
        """Whether there are labels for all these parameters."""
        return family == self.family and bool(np.isin(parameters, self.parameters).all())

    def losses(self, family: str, parameters: ArrayLike | None = None) -> np.ndarray:
        """Mean loss for each parameter, of the labels decided for it; for all that there are labels for if None."""
        check_family(self.family, family, "the profile")
        values = self.parameters if parameters is None else get_family(family).parameters(parameters, self.n_labels)
        places = find_parameters(family, self.parameters, values, "the profile")
        own = [self.profiles[place].losses(family, self.parameters[[place]]) for place in places]
        return np.concatenate(own)

    def curve(
        self, family: str = "binomial", parameters: ArrayLike | None = None, name: str | None = None
    ) -> LossCurve:
        """The loss along the family; at all parameters that labels were decided for unless given."""
        check_family(self.family, family, "the profile")
        values = self.parameters if parameters is None else get_family(family).parameters(parameters, self.n_labels)
        return LossCurve(family, values, self.losses(family, values), n_labels=self.n_labels, name=name)

    def togetherness(self, family: str = "binomial") -> float:
        """Not to be had: each loss judges other labels, so that there is no single Hamming loss to compare with."""
        raise TypeError(
            "labels that were decided anew for each loss have no togetherness: it compares losses of the same labels. "
            "That of the labels decided for one loss is profiles[i].togetherness(family)."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON, which knows no infinity: it is the text ``inf``."""
        values = ["inf" if value == np.inf else value for value in self.parameters.tolist()]
        profiles = [profile.to_dict() for profile in self.profiles]
        return {"family": self.family, "parameters": values, "by_parameter": profiles}


def check_family(decided: str, family: str, name: str) -> None:
    """Refuse labels that were decided for the other family."""
    if decided != family:
        raise ValueError(
            f"{name} holds labels decided for the {decided} losses (family={decided!r}), not for family={family!r}; "
            f"predict_curve(X, {family!r}) decides for these."
        )


def find_parameters(family: str, decided: np.ndarray, parameters: np.ndarray, name: str) -> list[int]:
    """Where the parameters are among those that labels were decided for; others are refused."""
    places = {value: place for place, value in enumerate(decided.tolist())}
    for value in parameters.tolist():
        if value not in places:
            symbol = get_family(family).symbol
            raise ValueError(
                f"{name} holds labels decided for {symbol} in {listed(decided)}, not for {symbol} = {value:g}; "
                f"predict_curve(X, {family!r}, parameters) decides for others."
            )
    return [places[value] for value in parameters.tolist()]


# From predictions to the labels of each parameter


def pick_labels(
    predictions: Mapping[str, DecidedLabels | Mapping[str, DecidedLabels]], family: str, parameters: ArrayLike | None
) -> tuple[np.ndarray, dict[str, list[LabelMatrix]]]:
    """The parameters on which models are compared, and the labels that each model was decided for them.

    If none are given, these are the parameters that all models were decided for.
    """
    curves = {name: _curve_of_family(y_pred, family, name) for name, y_pred in predictions.items()}
    n_labels = next(iter(curves.values())).decisions[0].labels.shape[1]
    given = _shared_parameters(curves) if parameters is None else parameters
    values = get_family(family).parameters(given, n_labels)
    labels = {}
    for name, curve in curves.items():
        places = find_parameters(family, curve.parameters, values, name)
        labels[name] = [curve.decisions[place].labels for place in places]
    return values, labels


def _curve_of_family(y_pred: Any, family: str, name: str) -> DecidedLabels:
    """The labels decided for the losses of a family."""
    get_family(family)  # refuses an unknown one
    curves = y_pred if isinstance(y_pred, Mapping) else {y_pred.family: y_pred}
    for key, curve in curves.items():
        if not isinstance(curve, DecidedLabels):
            raise TypeError(
                f"{name} must map families to curves such as predict_curve returns; {key!r} is {type(curve).__name__}."
            )
        if curve.family != key:
            raise ValueError(
                f"{name}[{key!r}] must be decided for the {key} losses; it is for the {curve.family} ones."
            )
    if not curves:
        raise ValueError(f"{name} must map families to curves such as predict_curve returns; it is empty.")
    if family not in curves:
        check_family(next(iter(curves)), family, name)
    return curves[family]


def _shared_parameters(curves: Mapping[str, DecidedLabels]) -> np.ndarray:
    """The parameters that all labels were decided for."""
    shared = reduce(np.intersect1d, [curve.parameters for curve in curves.values()])
    if not shared.size:
        raise ValueError(f"{' and '.join(curves)} must be decided for at least one parameter together; got none.")
    return shared
