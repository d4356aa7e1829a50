"""The loss curve straight from predictions, and the profile behind it."""

from collections.abc import Mapping

from numpy.typing import ArrayLike

from choral._typing import LabelMatrix, RowWeights
from choral.curves import LossCurve
from choral.profiles.error_profile import ErrorProfile, make_profile, name_in_messages, warn_if_mixed
from choral.profiles.observed_profile import ObservedProfile
from choral.profiles.totals import totals_of
from choral.rows import Rows, open_rows


def loss_curve(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
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
        Predicted labels, or scores in [0, 1].
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha. Unless given: k = 1..K (for K > 200 a geometric grid of at most 200), or
        the 55 alphas of the published study.
    observed : likewise, of booleans, optional
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
    rows = open_rows(y_true, y_pred, observed=observed, sample_weight=sample_weight)
    return profile_of(rows).curve(family, parameters, name)


def profile_of(rows: Rows) -> ErrorProfile | ObservedProfile:
    """The profile of rows: by observed labels only where some are missing."""
    return make_profile(totals_of(rows), rows.n_labels)


def profiles_by_name(
    y_true: LabelMatrix, predictions: Mapping[str, LabelMatrix], sample_weight: RowWeights | None = None
) -> dict[str, ErrorProfile | ObservedProfile]:
    """The profiles of several models; warns where hard labels and scores come together."""
    profiles = {}
    for name, y_pred in predictions.items():
        rows = open_rows(y_true, y_pred, sample_weight=sample_weight, pred_name=name_in_messages(name))
        profiles[name] = profile_of(rows)
    warn_if_mixed(profiles, stacklevel=4)
    return profiles
