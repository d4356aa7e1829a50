"""What a curve is compared with at equal Hamming loss: its bounds, and independent errors of the same rates."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from choral._typing import FloatArray
from choral.curves import area_of, largest_losses, togetherness_by_areas
from choral.evaluation.source import EvaluationSource, without_known_warnings
from choral.measures.families import get_family
from choral.profiles import EachLossProfile, ErrorProfile, LabelErrorRates, ObservedProfile, open_models
from choral.profiles.error_profile import name_in_messages
from choral.rows import Rows, add_up, open_rows

IndependentProfiles = Mapping[str, ErrorProfile | ObservedProfile | EachLossProfile]


class Togetherness(NamedTuple):
    """Whether mistakes are in few rows (1) or spread evenly (0), with a bootstrap interval; see `LossCurve`.

    Lower is not better here: it is no loss.

    Parameters
    ----------
    estimate : float
        The togetherness; nan where there are no mistakes, or nothing but mistakes.
    lower, upper : float or None
        The ends of its interval; None where there are no bootstrap samples of the whole curve.
    independent : float or None
        That of independent errors of the same rates; None for scores in parts.

    See Also
    --------
    choral.LossCurve : Losses along a family; its togetherness is defined there.
    choral.independent_curve : The curve of independent errors.

    Examples
    --------
    >>> from choral import evaluate
    >>> apart, together = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    >>> evaluation = evaluate([[0, 0, 0]] * 4, {"apart": apart, "together": together}, n_bootstrap=0)
    >>> {name: found.estimate for name, found in evaluation.togetherness().items()}
    {'apart': 0.0, 'together': 1.0, 'all irrelevant': nan}
    """

    estimate: float
    lower: float | None
    upper: float | None
    independent: float | None


def togetherness_interval(
    profile: ErrorProfile | ObservedProfile,
    family: str,
    parameters: np.ndarray,
    samples: FloatArray | None,
    confidence: float,
) -> tuple[float, float] | None:
    """The bootstrap interval of the togetherness of a curve; None where samples do not hold the whole of it.

    The shares of rows with each number of known labels are taken as fixed.

    Parameters
    ----------
    profile : ErrorProfile or ObservedProfile
    family : {"binomial", "polynomial"}
    parameters : ndarray of shape (n_points,)
    samples : ndarray of shape (n_bootstrap, n_points), or None
        Losses of the model in bootstrap samples.
    confidence : float
    """
    of_family = get_family(family)
    whole = of_family.default_parameters(profile.n_labels)
    if samples is None or not np.isin(whole, parameters).all():
        return None
    losses = samples[:, np.searchsorted(parameters, whole)]
    x, hamming = of_family.position(whole, profile.n_labels), losses[:, 0]
    upper = largest_losses(of_family, whole, profile.known_shares(), hamming)
    found = togetherness_by_areas(area_of(x, losses), hamming, area_of(x, upper))
    found = found[~np.isnan(found)]  # samples without mistakes
    if not found.size:
        return float("nan"), float("nan")
    tail = (1 - confidence) / 2
    low, high = np.quantile(found, [tail, 1 - tail]).tolist()
    return low, high


def independent_profiles(
    source: EvaluationSource, family: str, parameters: np.ndarray, baseline: str
) -> IndependentProfiles:
    """The profiles that independent errors of the same rates would have, for each model and for the baseline."""
    open_model = partial(
        open_rows,
        source.y_true,
        observed=source.observed,
        sample_weight=source.sample_weight,
        threshold=source.threshold,
    )
    in_messages = {name_in_messages(name): y_pred for name, y_pred in source.predictions.items()}
    with without_known_warnings():
        values, models = open_models(in_messages, family, parameters, open_model)
    found: dict[str, ErrorProfile | ObservedProfile | EachLossProfile] = {}
    for name, model in zip(source.predictions, models, strict=True):
        profiles = [LabelErrorRates.from_rows(rows).independent_profile() for rows in model.rows]
        found[name] = EachLossProfile(family, values, profiles) if model.is_each_loss else profiles[0]
    nothing = add_up([models[0].rows[0]], _rates_of_nothing)
    return {**found, baseline: nothing.independent_profile()}


def _rates_of_nothing(models: Sequence[Rows]) -> LabelErrorRates:
    """How often each label is wrong where no label is predicted, of rows in memory."""
    return LabelErrorRates.from_rows(models[0].predicting_nothing())
