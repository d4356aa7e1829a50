"""The loss curve straight from predictions, and the profile behind it."""

from collections.abc import Mapping
from functools import partial

from numpy.typing import ArrayLike

from choral._typing import LabelMatrix, RowWeights
from choral.curves import LossCurve
from choral.profiles.each_loss import Predictions
from choral.profiles.error_profile import name_in_messages, open_models, warn_if_mixed
from choral.rows import open_rows


def loss_curve(
    y_true: LabelMatrix,
    y_pred: Predictions,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    *,
    observed: LabelMatrix | None = None,
    sample_weight: RowWeights | None = None,
    name: str | None = None,
) -> LossCurve:
    """The loss of predictions along a whole family of measures.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing, for the loss of the observed labels of each row: see
        `ObservedProfile`, which also counts the rows that are left out because nothing is observed.
    y_pred : likewise
        Predicted labels, or scores in [0, 1]; or a `BayesCurve`, whose labels were decided anew for each parameter:
        each is judged by the labels decided for it. A mapping from families to such curves serves both families.
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha. Unless given: k = 1..K (for K > 200 a geometric grid of at most 200), or
        the 55 alphas of the published study; of a `BayesCurve`, its parameters.
    observed : likewise, of booleans, optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    name : str, optional
        For legends and tables.

    Returns
    -------
    curve : LossCurve
        The mean loss at each parameter.

    See Also
    --------
    evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    LossCurve : The loss of one model along a family.
    independent_curve : The curve if errors were independent.
    choral.displays.LossCurveDisplay : Loss curves of models.

    Examples
    --------
    >>> curve = loss_curve([[1, 0, 1], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]])
    >>> curve.parameters, curve.losses.round(3)
    (array([1, 2, 3]), array([0.167, 0.333, 0.5  ]))
    """
    open_model = partial(open_rows, y_true, observed=observed, sample_weight=sample_weight)
    values, (model,) = open_models({"y_pred": y_pred}, family, parameters, open_model)
    return model.profile(family, values).curve(family, values, name)


def curves_by_name(
    y_true: LabelMatrix,
    predictions: Mapping[str, Predictions],
    family: str,
    parameters: ArrayLike | None = None,
    sample_weight: RowWeights | None = None,
) -> list[LossCurve]:
    """The curves of several models on the same parameters; warns where hard labels and scores come together."""
    in_messages = {name_in_messages(name): y_pred for name, y_pred in predictions.items()}
    open_model = partial(open_rows, y_true, sample_weight=sample_weight)
    values, models = open_models(in_messages, family, parameters, open_model)
    profiles = {name: model.profile(family, values) for name, model in zip(predictions, models, strict=True)}
    warn_if_mixed(profiles, stacklevel=4)
    return [profile.curve(family, values, name) for name, profile in profiles.items()]
