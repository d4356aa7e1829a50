"""evaluate(): any predictions in, curves, a baseline and intervals out."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import Estimator, Features, LabelMatrix, RandomState, RowWeights
from choral._validation import check_count
from choral.curves import LossCurve
from choral.evaluation.comparing import Difference
from choral.evaluation.result import BASELINE, Evaluation, first_best
from choral.evaluation.source import EvaluationSource
from choral.measures.families import Family, get_family
from choral.profiles import (
    EachLossProfile,
    ErrorProfile,
    JointErrors,
    LabelErrorRates,
    ModelRows,
    ObservedProfile,
    Predictions,
    TotalsByObserved,
    make_profile,
    name_in_messages,
    open_models,
    row_losses,
    total_errors,
    warn_if_mixed,
)
from choral.rows import Rows, add_up, open_rows
from choral.rows.blocks import row_slices
from choral.scores import check_threshold, predictions_of
from choral.stats import WeightedLosses, bootstrap_band, bootstrap_means

MAX_GROUPS = 1 << 17  # of rows alike: more would take a bootstrap minutes, and travel as megabytes

AnyProfile = ErrorProfile | ObservedProfile | EachLossProfile
Progress = Callable[[int, int, str], None]


def ignore_progress(done: int, total: int, what: str) -> None:
    """No progress is shown."""


@np.errstate(under="ignore")
def evaluate(
    y_true: LabelMatrix,
    predictions: Mapping[str, Predictions | Estimator],
    *,
    X: Features | None = None,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    threshold: float | None = None,
    observed: LabelMatrix | None = None,
    sample_weight: RowWeights | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge the predictions of some models along the slide from Hamming to subset 0/1 loss.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing: rows are judged by their observed labels, those with none
        are left out and counted (see `ObservedProfile`).
    predictions : mapping from name to the same kinds of matrix
        Predicted labels, or scores in [0, 1]. Hard and soft predictions are different yardsticks (hedging pays for
        scores): a `MixedPredictionsWarning` says so where both come together. Or a `BayesCurve`, which
        ``predict_curve`` of learners returns: its labels were decided anew for each parameter, and each parameter is
        judged by the labels decided for it. A mapping from families to such curves serves both families. Or a fitted
        estimator, which is applied to ``X``: its ``predict`` is judged, hard labels as a rule, even where it has scores
        too (of an estimator without ``predict``, the scores of its ``predict_proba``).
    X : array-like of shape (n_samples, n_features), optional
        The features of the same rows, for estimators alone.
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha; see `loss_curve` for the default. If there are labels decided for each loss,
        the parameters that all of these were decided for.
    threshold : float, optional
        Predict 1 where a score, of any range, is at least the threshold. Hard predictions stay as they are.
    observed : matrix of booleans of shape (n_samples, n_labels), optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    n_bootstrap : int
        Paired bootstrap samples for the intervals of losses and of their differences; 0 leaves them out. There are none
        for scores in dask arrays, of which only sums are kept.
    confidence : float
        Of the intervals, pointwise.
    random_state : int, Generator or None
        Seeds the bootstrap.
    progress : callable (done, total, what), optional
        Told how far the work has come.

    Returns
    -------
    evaluation : Evaluation
        It keeps references to the labels and predictions, which its `report` and its like look at again.

    See Also
    --------
    Evaluation : What `evaluate` returns.
    explain : Which labels, pairs and rows the loss comes from.
    loss_curve : The loss along a family of measures.
    choral.calibration.JointCalibrator : Learn from scores how labels depend on each other.

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]]
    >>> apart = [[1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1]]  # one label wrong, twice
    >>> together = [[0, 0, 1], [0, 0, 1], [1, 1, 0], [0, 0, 1]]  # all labels wrong, once
    >>> evaluation = evaluate(y_true, {"apart": apart, "together": together})
    >>> evaluation.best
    ('apart', 'together', 'together')

    Fitted estimators are applied to the features:

    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X = [[0.0], [1.0], [0.1], [0.9]]
    >>> model = KNeighborsClassifier(n_neighbors=1).fit([[0.0], [1.0]], [[1, 1, 0], [0, 0, 1]])
    >>> evaluate(y_true, {"neighbour": model, "apart": apart}, X=X).curves["neighbour"].losses
    array([0., 0., 0.])
    """
    check_predictions(predictions)
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    threshold = None if threshold is None else check_threshold(threshold)
    n_bootstrap = check_count("n_bootstrap", n_bootstrap, least=0)
    progress = progress or ignore_progress
    predictions = _apply_estimators(predictions, X, y_true)
    in_messages = {name_in_messages(name): y_pred for name, y_pred in predictions.items()}
    open_model = partial(open_rows, y_true, observed=observed, sample_weight=sample_weight, threshold=threshold)
    grid, opened = open_models(in_messages, family, parameters, open_model)
    models = dict(zip(predictions, opened, strict=True))
    names = [name for name, model in models.items() for _ in model.rows]
    all_rows = [rows for model in opened for rows in model.rows]
    tell = ignore_progress if all_rows[0].is_lazy else progress  # what workers do cannot be shown from here
    summary = add_up(all_rows, partial(summarise_models, names=names, joint=n_bootstrap > 0, progress=tell))
    each_loss = {name for name, model in models.items() if model.is_each_loss}
    profiles = summary.profiles_along(family, grid, each_loss)
    warn_if_mixed({name: profile for name, profile in profiles.items() if name != BASELINE}, stacklevel=4)
    losses = None
    if n_bootstrap and summary.joint is not None:
        losses = _losses_of_groups(summary.joint, summary, get_family(family), grid, n_bootstrap, progress)
    elif n_bootstrap and not all_rows[0].is_lazy:
        losses = _losses_of_rows(opened, get_family(family), grid, n_bootstrap, progress)
    source = EvaluationSource(
        y_true, predictions, parameters, threshold, observed, sample_weight, n_bootstrap, confidence, random_state
    )
    return _make_evaluation(profiles, family, grid, losses, n_bootstrap, confidence, random_state, source)


def _apply_estimators(
    predictions: Mapping[str, Any], X: Features | None, y_true: LabelMatrix
) -> dict[str, Predictions]:
    """What fitted estimators predict in place of them; all else as it is."""
    found = {}
    for name, y_pred in predictions.items():
        if hasattr(y_pred, "predict") or hasattr(y_pred, "predict_proba"):
            called = name_in_messages(name)
            if X is None:
                kind = y_pred.__name__ if isinstance(y_pred, type) else type(y_pred).__name__
                raise ValueError(
                    f"{called} is an estimator ({kind}), which predicts from features; "
                    "give those of the same rows: evaluate(y_true, predictions, X=X)."
                )
            shape: tuple[int, ...] = np.shape(y_true)  # type: ignore[arg-type]  # of anything that has a shape
            y_pred = predictions_of(y_pred, X, shape[-1], called)
        found[name] = y_pred
    return found


def check_predictions(predictions: Mapping[str, Any]) -> None:
    """Refuse what does not name models."""
    if not isinstance(predictions, Mapping):
        raise TypeError(
            f"predictions must be a mapping from names to predictions; got {type(predictions).__name__}. "
            'The predictions of one model are {"model": predictions}.'
        )
    for name in predictions:
        if not isinstance(name, str):
            raise TypeError(f"predictions must have text for names; got {name!r}.")
    if not predictions:
        raise ValueError("predictions must name at least one model; got none.")
    check_names(predictions)


def check_names(names: Iterable[str]) -> None:
    """Refuse a model that is called like the baseline."""
    if BASELINE in names:
        raise ValueError(f"{BASELINE!r} is the name of the baseline; please name the model otherwise.")


# Summaries of rows, which add up over blocks and files


@dataclass(frozen=True, eq=False)
class ModelSummary:
    """All that is kept of the rows of some models.

    Attributes
    ----------
    n_labels : int
    totals : dict from name to list of TotalsByObserved
        Models in the order given, then the baseline. One for each model; of labels decided anew for each loss, one for
        each parameter.
    joint : JointErrors or None
        Of all profiles together; None unless all are hard and their combinations few, and where nobody needs them.
    rates : dict from name to LabelErrorRates
        How often each label is wrong, of models with hard predictions; empty where nobody needs them.
    """

    n_labels: int
    totals: dict[str, list[TotalsByObserved]]
    joint: JointErrors | None
    rates: dict[str, LabelErrorRates] = field(default_factory=dict)

    def __add__(self, other: "ModelSummary") -> "ModelSummary":
        both = {name: list(map(add, totals, other.totals[name])) for name, totals in self.totals.items()}
        rates = {name: some + other.rates[name] for name, some in self.rates.items() if name in other.rates}
        return ModelSummary(self.n_labels, both, _add_few(self.joint, other.joint), rates)

    def in_order(self, order: Sequence[int]) -> "ModelSummary":
        """The same with the labels in another order, which counts for rates alone."""
        rates = {name: some.in_order(order) for name, some in self.rates.items()}
        return ModelSummary(self.n_labels, self.totals, self.joint, rates)

    @cached_property
    def profiles(self) -> dict[str, ErrorProfile | ObservedProfile]:
        """The profiles of the models and of the baseline, where none was decided anew for each loss."""
        return {name: make_profile(totals, self.n_labels) for name, (totals,) in self.totals.items()}

    def profiles_along(self, family: str, parameters: np.ndarray, each_loss: Collection[str]) -> dict[str, AnyProfile]:
        """Likewise, where the labels of some models were decided anew for each of these parameters."""
        found: dict[str, AnyProfile] = {}
        for name, totals in self.totals.items():
            profiles = [make_profile(one, self.n_labels) for one in totals]
            found[name] = EachLossProfile(family, parameters, profiles) if name in each_loss else profiles[0]
        return found

    @property
    def why_no_joint(self) -> str:
        """Why joint errors are missing; empty where they are there."""
        if self.joint is not None:
            return ""
        if not all(profile.is_hard for profile in self.profiles.values()):
            return "of scores in parts only sums are kept, not the losses of rows that intervals are drawn from"
        return f"the rows have more than {MAX_GROUPS} combinations of errors and weights"


def summarise_models(
    models: Sequence[Rows],
    names: Sequence[str],
    *,
    joint: bool,
    rates: bool = False,
    progress: Progress = ignore_progress,
) -> ModelSummary:
    """The totals of models and of the baseline on the same rows, and their joint errors if all are hard.

    The name of a model comes again for each parameter where its labels were decided anew for each loss. The rates of
    errors take another walk over the rows; of scores they would be large, and are left out.
    """
    totals: dict[str, list[TotalsByObserved]] = {}
    for done, (name, rows) in enumerate(zip(names, models, strict=True), start=1):
        totals.setdefault(name, []).append(total_errors(rows))
        progress(done, len(models), "comparing labels")
    baseline = models[0].predicting_nothing()
    totals[BASELINE] = [total_errors(baseline)]
    all_hard = all(group.is_hard for of_model in totals.values() for groups in of_model for group in groups.values())
    errors = JointErrors.from_rows([*models, baseline]) if joint and all_hard else None
    of_labels = {}
    if rates:
        for name, rows in [*zip(names, models, strict=True), (BASELINE, baseline)]:
            if all(group.is_hard for group in totals[name][0].values()):
                of_labels[name] = LabelErrorRates.from_rows(rows)
    return ModelSummary(baseline.n_labels, totals, errors, of_labels)


def _add_few(first: JointErrors | None, second: JointErrors | None) -> JointErrors | None:
    if first is None or second is None:
        return None
    total = first + second
    return total if len(total) <= MAX_GROUPS else None


def evaluate_summaries(
    summary: ModelSummary,
    *,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge models by summaries of their predictions; without joint errors, without intervals.

    The other parameters are those of `evaluate`, which finds the same in predictions that fit into memory.
    """
    grid = get_family(family).parameters(parameters, summary.n_labels)
    losses = None
    if n_bootstrap and summary.joint is not None:
        tell = progress or ignore_progress
        losses = _losses_of_groups(summary.joint, summary, get_family(family), grid, n_bootstrap, tell)
    evaluation = _make_evaluation(summary.profiles, family, grid, losses, n_bootstrap, confidence, random_state)
    return replace(evaluation, rates=summary.rates)


# What a paired bootstrap draws from: the losses of rows under all models, some rows at a time


def _losses_of_groups(
    joint: JointErrors, summary: ModelSummary, family: Family, grid: np.ndarray, n_bootstrap: int, progress: Progress
) -> Iterator[WeightedLosses]:
    """Losses of every group of rows alike under every model and parameter, some groups at a time."""
    base = summary.n_labels + 1
    codes = joint.n_observed[:, np.newaxis] * base + joint.wrong
    seen, wrong = np.unique(codes, return_inverse=True)
    by_errors = _losses_by_errors(*np.divmod(seen, base), family, grid)
    wrong = wrong.reshape(joint.wrong.shape)
    ends = np.cumsum([len(of_model) for of_model in summary.totals.values()])[:-1]
    points = np.arange(len(grid))
    for block in row_slices((len(joint), max(n_bootstrap, len(summary.totals) * len(grid))), itemsize=1):
        # the same errors at every parameter, or those of the labels that were decided for it
        losses = [
            by_errors[errors[:, 0]] if errors.shape[1] == 1 else by_errors[errors, points]
            for errors in np.split(wrong[block], ends, axis=1)
        ]
        yield WeightedLosses(np.hstack(losses), joint.counts[block], joint.weights[block])
        progress(block.stop, len(joint), "bootstrap")


def _losses_by_errors(n_observed: np.ndarray, wrong: np.ndarray, family: Family, grid: np.ndarray) -> np.ndarray:
    """The losses of rows with some numbers of known and of wrong labels; 0 where none is known."""
    losses = np.zeros((len(wrong), len(grid)))
    for number in np.unique(n_observed[n_observed > 0]).tolist():
        some = n_observed == number
        tables = family.table("deficits", family.clip_parameters(grid, number), number, int(wrong[some].max()))
        losses[some] = np.vstack([table[:, wrong[some]] for table in tables]).T
    return losses


def _losses_of_rows(
    models: Sequence[ModelRows], family: Family, grid: np.ndarray, n_bootstrap: int, progress: Progress
) -> Iterator[WeightedLosses]:
    """Losses of every row under every model and parameter, some rows at a time."""
    nothing = models[0].rows[0].predicting_nothing()
    of_models = [*(model.rows for model in models), (nothing,)]
    n_rows = nothing.n_rows
    for block in row_slices((n_rows, max(n_bootstrap, len(of_models) * len(grid))), itemsize=1):
        baseline = JointErrors.of_each_row(nothing.part(block))  # the weights of rows, 0 where nothing is known
        losses = [
            row_losses(rows.part(block), family, points)
            for of_model in of_models
            for rows, points in zip(of_model, np.split(grid, len(of_model)), strict=True)  # all points, or one each
        ]
        yield WeightedLosses(np.hstack(losses), baseline.counts, baseline.weights)
        progress(block.stop, n_rows, "bootstrap")


# From profiles and losses to an evaluation


@np.errstate(under="ignore")
def _make_evaluation(
    profiles: Mapping[str, AnyProfile],
    family: str,
    grid: np.ndarray,
    losses: Iterator[WeightedLosses] | None,
    n_bootstrap: int,
    confidence: float,
    random_state: RandomState,
    source: EvaluationSource | None = None,
) -> Evaluation:
    """Curves from profiles, and intervals from the losses of rows."""
    curves = {name: profile.curve(family, grid, name) for name, profile in profiles.items()}
    differences = samples = None
    if losses is not None:
        means = bootstrap_means(losses, n_bootstrap, np.random.default_rng(random_state))
        samples = means.reshape(-1, len(curves), len(grid))
        differences = _differences(curves, samples, confidence)
    return Evaluation(family, grid, profiles, curves, differences, confidence, samples, source=source)


def _differences(curves: dict[str, LossCurve], samples: np.ndarray, confidence: float) -> dict[str, Difference]:
    """Intervals of loss minus loss of the best model; ``samples`` is (n_samples, n_curves, n_parameters)."""
    losses = np.array([curve.losses for curve in curves.values()])
    best = first_best(losses[:-1])  # the baseline, last, does not compete
    points = np.arange(losses.shape[1])
    estimates = losses - losses[best, points]
    resampled = samples - samples[:, best, points][:, np.newaxis]
    lower, upper = bootstrap_band(resampled, confidence)
    return {name: Difference(*rows) for name, *rows in zip(curves, estimates, lower, upper, strict=True)}
