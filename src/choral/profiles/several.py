"""Profiles and curves straight from predictions, of one model or of several."""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from choral._array_api import first_foreign, read_in_place
from choral._validation import Labels, check_labels, check_matrix, check_sample_weight
from choral.curves import LossCurve
from choral.profiles.error_profile import ErrorProfile
from choral.profiles.observed import ObservedProfile
from choral.profiles.observing import Mask


class MixedPredictionsWarning(UserWarning):
    """Hard labels and scores were put side by side."""


def loss_curve(
    y_true: Any,
    y_pred: Any,
    family: str = "binomial",
    parameters: Any = None,
    *,
    observed: Any = None,
    sample_weight: Any = None,
    name: str | None = None,
) -> LossCurve:
    """The loss of predictions along a whole family of measures.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing, for the loss of the observed labels of each row: see
        `ObservedProfile`, which also counts the rows that are left out because nothing is observed.
    y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, or scores in [0, 1].
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha. Unless given: k = 1..K (for K > 200 a geometric grid of at most 200), or
        the 55 alphas of the published study.
    observed : array-like or sparse matrix of booleans of shape (n_samples, n_labels), optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
    name : str, optional
        For legends and tables.

    Examples
    --------
    >>> curve = loss_curve([[1, 0, 1], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    >>> curve.parameters, curve.losses.round(3)
    (array([1, 2, 3]), array([0.167, 0.333, 0.5  ]))
    """
    if observed is None and not _may_lack_labels(y_true, y_pred):
        return ErrorProfile.from_predictions(y_true, y_pred, sample_weight).curve(family, parameters, name)
    profile = ObservedProfile.from_predictions(y_true, y_pred, observed=observed, sample_weight=sample_weight)
    return profile.curve(family, parameters, name)


def _may_lack_labels(y_true: Any, y_pred: Any) -> bool:
    """Whether true labels may hold nan: integers cannot, and arrays on a device are for ErrorProfile alone."""
    y_true, y_pred = read_in_place(y_true), read_in_place(y_pred)
    if first_foreign(y_true, y_pred) is not None:
        return False
    return getattr(getattr(y_true, "dtype", None), "kind", "O") in "fO"


def profiles_by_name(
    y_true: Any,
    predictions: Mapping[str, Any],
    sample_weight: Any = None,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> dict[str, ErrorProfile | ObservedProfile]:
    """The profiles of several models; warns where hard labels and scores come together."""
    profiles: dict[str, ErrorProfile | ObservedProfile] = {}
    weights = check_sample_weight(sample_weight, check_matrix("y_true", y_true).shape[0])
    for done, (name, y_pred) in enumerate(predictions.items(), start=1):
        matrices = check_labels(y_true, y_pred, pred_name=name_in_messages(name))
        profiles[name] = ErrorProfile.from_checked(*matrices, weights, name_in_messages(name))
        progress(done, len(predictions), "comparing labels")
    warn_if_mixed(profiles)
    return profiles


def observed_profiles_by_name(
    y_true: Labels,
    predictions: Mapping[str, Labels],
    mask: Mask,
    weights: np.ndarray | None,
    progress: Callable[[int, int, str], None],
) -> dict[str, ErrorProfile | ObservedProfile]:
    """Likewise on the observed labels of matrices that have passed `check_observed`."""
    profiles: dict[str, ErrorProfile | ObservedProfile] = {}
    for done, (name, y_pred) in enumerate(predictions.items(), start=1):
        profiles[name] = ObservedProfile.from_checked(y_true, y_pred, mask, weights, name_in_messages(name))
        progress(done, len(predictions), "comparing labels")
    warn_if_mixed(profiles)
    return profiles


def warn_if_mixed(profiles: Mapping[str, ErrorProfile | ObservedProfile]) -> None:
    """Warn where hard labels and scores come together."""
    soft = [name for name, profile in profiles.items() if not profile.is_hard]
    if soft and len(soft) < len(profiles):
        warnings.warn(
            f"scores ({', '.join(soft)}) and hard labels do not compare: hedging lowers the loss of scores (0.5 "
            "everywhere has loss 0.5 under every measure). Make all predictions hard (by a threshold), or none.",
            MixedPredictionsWarning,
            stacklevel=4,  # whoever called what called this
        )


def name_in_messages(name: str) -> str:
    """How errors call the predictions of a model."""
    return f"predictions[{name!r}]"
