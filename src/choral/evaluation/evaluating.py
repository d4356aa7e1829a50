"""evaluate(): any predictions in, curves, a baseline and intervals out."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._validation import Labels, check_columns, check_count, check_labels, check_sample_weight
from choral.evaluation.result import BASELINE, Evaluation
from choral.evaluation.rows import Progress, rows_of_groups, rows_one_by_one, tell_nobody
from choral.evaluation.summaries import make_evaluation
from choral.measures.families import get_family
from choral.profiles import ErrorProfile, ObservedProfile, name_in_messages, profiles_by_name
from choral.profiles.joint_errors import JointErrors
from choral.profiles.observing import KnownLabels, check_truth, some_missing, with_nan
from choral.profiles.several import observed_profiles_by_name
from choral.rows.pairs import is_hard
from choral.scores import check_scores, check_threshold, harden_checked


@np.errstate(under="ignore")
def evaluate(
    y_true: Any,
    predictions: Mapping[str, Any],
    *,
    family: str = "binomial",
    parameters: Any = None,
    threshold: float | None = None,
    observed: Any = None,
    sample_weight: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: int | np.random.Generator | None = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge the predictions of some models along the slide from Hamming to subset 0/1 loss.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing: rows are judged by their observed labels, those with none
        are left out and counted (see `ObservedProfile`).
    predictions : mapping from name to array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, or scores in [0, 1]. Hard and soft predictions are different yardsticks (hedging pays for
        scores): a `MixedPredictionsWarning` says so where both come together.
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha; see `loss_curve` for the default.
    threshold : float, optional
        Makes scores hard: 1 where a score is at least the threshold. Hard predictions stay as they are.
    observed : array-like or sparse matrix of booleans of shape (n_samples, n_labels), optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
    n_bootstrap : int
        Paired bootstrap samples for the intervals of the differences to the best; 0 leaves them out.
    confidence : float
        Of the intervals, pointwise.
    random_state : int, Generator or None
        Seeds the bootstrap.
    progress : callable (done, total, what), optional
        Told how far the work has come.

    Returns
    -------
    evaluation : Evaluation

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]]
    >>> apart = [[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]  # one label wrong, twice
    >>> together = [[0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]]  # all labels wrong, once
    >>> evaluation = evaluate(y_true, {"apart": apart, "together": together})
    >>> evaluation.best
    ('apart', 'together', 'together')
    """
    if not isinstance(predictions, Mapping):
        raise TypeError(f"predictions must be a mapping from names to predictions; got {type(predictions).__name__}.")
    for name in predictions:
        if not isinstance(name, str):
            raise TypeError(f"predictions must have text for names; got {name!r}.")
    if not predictions:
        raise ValueError("predictions must name at least one model; got none.")
    check_names(predictions)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    threshold = None if threshold is None else check_threshold(threshold)
    n_bootstrap = check_count("n_bootstrap", n_bootstrap, least=0)
    true, mask = check_truth(y_true, observed)
    known = some_missing(true, mask)
    weights = check_sample_weight(sample_weight, true.shape[0])
    grid = get_family(family).parameters(parameters, true.shape[1])
    progress = progress or tell_nobody

    matrices = {}
    for name, y_pred in predictions.items():
        check_columns(y_true, y_pred, name_in_messages(name))  # frames: true is an array by now
        matrices[name] = prepare(true, with_nan(y_pred), threshold, name_in_messages(name), known)
    n_observed = None
    if known is None:
        profiles = profiles_by_name(true, matrices, weights, progress)
        matrices[BASELINE] = no_labels(true)
        profiles[BASELINE] = ErrorProfile.from_predictions(true, matrices[BASELINE], weights)
    else:
        profiles = observed_profiles_by_name(true, matrices, mask, weights, progress)
        profiles[BASELINE] = ObservedProfile.from_checked(true, no_labels(true), mask, weights)
        true, matrices[BASELINE], n_observed = known.part(true), known.part(no_labels(true)), known.counts
        weights = np.where(n_observed > 0, 1.0 if weights is None else weights, 0.0)  # leaves these rows out
    rows = None
    if n_bootstrap and all(profile.is_hard for profile in profiles.values()):
        joint = JointErrors.from_checked(true, matrices.values(), weights, n_observed)
        rows = rows_of_groups(joint, true.shape[1], get_family(family), grid, n_bootstrap, progress)
    elif n_bootstrap:
        rows = rows_one_by_one(true, matrices, weights, n_observed, get_family(family), grid, n_bootstrap, progress)
    return make_evaluation(profiles, family, grid, rows, n_bootstrap, confidence, random_state)


def check_names(names: Iterable[str]) -> None:
    """Refuse a model that is called like the baseline."""
    if BASELINE in names:
        raise ValueError(f"{BASELINE!r} is the name of the baseline; please name the model otherwise.")


def no_labels(true: Labels) -> Labels:
    """What the baseline predicts."""
    return sp.csr_array(true.shape, dtype=np.uint8)


def prepare(true: Labels, y_pred: Any, threshold: float | None, name: str, known: KnownLabels | None = None) -> Labels:
    """Predictions of a checked shape, of known labels alone where others are missing, made hard where asked for."""
    _, matrix = check_labels(true, y_pred, pred_name=name)
    part = matrix if known is None else known.part(matrix)
    if threshold is None or is_hard(part):
        return part
    hard = harden_checked(check_scores(name, part[:]), threshold)
    return hard if known is None else known.part(hard)
