"""Four common models, each decided in three ways: scores cut at 0.5, thresholds tuned for each loss, or jointly.

What the plan ``any-model`` is made of: its learners, and the analysis of what deciding jointly gains.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from choral._text import did_you_mean
from choral.calibration import JointCalibratedClassifier, JointCalibrator, ThresholdTuner
from choral.learners import BinaryRelevance
from choral.paper.yardstick import mean_of_independent
from choral.stats import Band, corrected_t_interval
from choral.study import Finding, Plan, Results, Section, Summary, Table

FAMILY = "binomial"
N_SELECTED = 30  # features of boosted trees
N_INNER_FOLDS = 3  # of calibration; a model is fitted once more, on all training rows
CUT, THRESHOLDS, JOINTLY = WAYS = ("cut at 0.5", "thresholds", "jointly")
PLACES = {"Hamming": 0.0, "a quarter": 0.25, "halfway": 0.5, "three quarters": 0.75, "subset 0/1": 1.0}
TOLERANCE = 0.002  # a loss that is higher by no more than this is as good


class FeatureScaler(TransformerMixin, BaseEstimator):
    """Dense features to mean 0 and variance 1; sparse ones, which stay sparse, to a largest value of 1."""

    scaler_: StandardScaler | MaxAbsScaler

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the scaler by the kind of features, and fit it."""
        self.scaler_ = (MaxAbsScaler() if sp.issparse(X) else StandardScaler()).fit(X)
        return self

    def transform(self, X: Any) -> Any:
        """Features, scaled."""
        return self.scaler_.transform(X)


def _logistic_regression() -> Any:
    return make_pipeline(FeatureScaler(), BinaryRelevance(LogisticRegression(max_iter=1000)))


def _random_forest() -> Any:
    return RandomForestClassifier()


def _boosted_trees() -> Any:
    """For each label, small trees of the features that tell most of it: quick, also with a thousand of them."""
    boosting = GradientBoostingClassifier(n_estimators=50, max_features=0.3)
    return BinaryRelevance(make_pipeline(SelectKBest(k=N_SELECTED), boosting))


def _network() -> Any:
    return make_pipeline(FeatureScaler(), MLPClassifier())


MODELS: dict[str, Callable[[], Any]] = {
    "logistic regression": _logistic_regression,
    "random forest": _random_forest,
    "boosted trees": _boosted_trees,
    "MLP": _network,
}


def any_model(
    model: str, decided: Literal["by thresholds", "jointly"], memory: str | None = None
) -> JointCalibratedClassifier:
    """A common model with its usual settings, and a calibrator.

    Parameters
    ----------
    model : {"logistic regression", "random forest", "boosted trees", "MLP"}
    decided : {"by thresholds", "jointly"}
        With thresholds, ``predict_proba`` is that of the model: so it can be cut at 0.5, too.
    memory : str, optional
        A folder for fits, which then serve all ways to decide.

    Returns
    -------
    classifier : JointCalibratedClassifier
        Not fitted yet.

    See Also
    --------
    choral.calibration.JointCalibratedClassifier : A classifier with a calibrator of its own.
    DecidedJointly : Joint decisions beside cut scores.

    Examples
    --------
    >>> any_model("random forest", "jointly")
    JointCalibratedClassifier(calibrator=JointCalibrator(), cv=3,
                              estimator=RandomForestClassifier())
    """
    if model not in MODELS:
        raise ValueError(f"model must be one of {', '.join(MODELS)}; got {model!r}.")
    calibrators: dict[str, JointCalibrator | ThresholdTuner] = {
        "by thresholds": ThresholdTuner("hamming"),
        "jointly": JointCalibrator(),
    }
    if decided not in calibrators:
        raise ValueError(f"decided must be one of {', '.join(calibrators)}; got {decided!r}.")
    return JointCalibratedClassifier(MODELS[model](), calibrators[decided], cv=N_INNER_FOLDS, memory=memory)


class Compared(NamedTuple):
    """A model on a data set, decided jointly and in another way, along the binomial losses."""

    dataset: str
    model: str
    other: str  # one of the other ways
    k: np.ndarray
    x: np.ndarray  # places on the axis
    joint_losses: np.ndarray
    other_losses: np.ndarray
    by_fold: np.ndarray  # what deciding jointly gains in each fold, (n_folds, n_parameters)
    test_share: float  # test rows of a fold to its training rows

    @property
    def gains(self) -> np.ndarray:
        """How much lower losses are if decided jointly."""
        return self.other_losses - self.joint_losses

    def at_places(self, values: np.ndarray) -> np.ndarray:
        """Values at the five places; where there is a single label, all losses are one."""
        return np.array([np.interp(x, self.x, values) for x in PLACES.values()])


@dataclass(frozen=True)
class DecidedJointly:
    """An analysis: models decided jointly beside the same models cut at 0.5, and with thresholds tuned for each loss.

    Parameters
    ----------
    models : sequence of str
        Each stands for three learners of the plan: ``"MODEL, cut at 0.5"``, ``"MODEL, thresholds"`` and ``"MODEL,
        jointly"``.

    See Also
    --------
    any_model : A common model and a calibrator.
    choral.calibration.JointCalibrator : Learn from scores how labels depend on each other.

    Examples
    --------
    In a TOML file::

        [[analyses]]
        call = "choral.paper:DecidedJointly"
        parameters = { models = ["random forest"] }
    """

    models: Sequence[str]

    def __post_init__(self) -> None:
        if isinstance(self.models, str) or not isinstance(self.models, Sequence) or not self.models:
            raise TypeError(f"models must be a list of names; got {self.models!r}.")
        object.__setattr__(self, "models", tuple(self.models))

    def check(self, plan: Plan) -> None:
        """Refuse a plan without the three learners of a model, or without binomial losses.

        Parameters
        ----------
        plan : Plan
            The plan of the study.
        """
        names = [learner.name for learner in plan.learners]
        for name in (_name(model, way) for model in self.models for way in WAYS):
            if name not in names:
                raise ValueError(f"models: there is no learner {name!r}{did_you_mean(name, names)}")
        if FAMILY not in plan.families:
            raise ValueError(f"models: families must hold {FAMILY}; got {', '.join(plan.families)}.")

    def __call__(self, results: Results) -> Section:
        """Mean gains at five places of the axis, and where deciding jointly is worst."""
        compared = list(_compare(results, self.models))
        return Section(
            "Decided jointly",
            prose=(
                "A model scores labels. Its scores are cut at 0.5; or cut at a threshold tuned for each loss, on "
                "scores of training rows that it was not fitted on; or decided jointly, by a JointCalibrator that "
                "learned from the same scores. A gain is by how much the loss is lower if decided jointly. Intervals "
                "are over folds, with the correction of Nadeau and Bengio; data sets count alike.",
            ),
            findings=[_find_worst(compared, other) for other in (CUT, THRESHOLDS)],
            summaries=[
                _mean_gains(compared, self.models, results.confidence),
                *(_worst_by_dataset(compared, self.models, other) for other in (CUT, THRESHOLDS)),
            ],
            tables={"decided_jointly": _full_table(compared, results.confidence)},
        )


def _name(model: str, way: str) -> str:
    return f"{model}, {way}"


def _compare(results: Results, models: Sequence[str]) -> Iterator[Compared]:
    """All models on all data sets where their three learners finished."""
    for dataset in results.datasets:
        for model in models:
            names = {way: _name(model, way) for way in WAYS}
            if not set(names.values()) <= set(results.finished(dataset)):
                continue
            joint = results.curve(dataset, names[JOINTLY], FAMILY)
            of_folds = {way: results.fold_losses(dataset, name, FAMILY) for way, name in names.items()}
            for other in (CUT, THRESHOLDS):
                yield Compared(
                    dataset,
                    model,
                    other,
                    joint.parameters,
                    joint.x,
                    joint.losses,
                    results.curve(dataset, names[other], FAMILY).losses,
                    of_folds[other] - of_folds[JOINTLY],
                    results.test_share(dataset),
                )


def _mean_gains(compared: Sequence[Compared], models: Sequence[str], confidence: float) -> Summary:
    rows: list[tuple[str | int, ...]] = []
    for other in (CUT, THRESHOLDS):
        for model in models:
            chosen = [each for each in compared if (each.model, each.other) == (model, other)]
            if chosen:
                rows.append((model, other, len(chosen), *_gains_at_places(chosen, confidence)))
    return Summary(
        caption="Mean gain over data sets, with its interval",
        columns=("model", "instead of", "data sets", *PLACES),
        rows=rows,
    )


def _gains_at_places(compared: Sequence[Compared], confidence: float) -> Iterator[str]:
    """The mean gain over data sets at each place."""
    gains = np.mean([each.at_places(each.gains) for each in compared], axis=0)
    intervals = [
        corrected_t_interval(
            np.array([each.at_places(fold) for fold in each.by_fold]), test_share=each.test_share, confidence=confidence
        )
        for each in compared
    ]
    for place, gain in enumerate(gains):
        low, high = mean_of_independent([Band(one.lower[place], one.upper[place]) for one in intervals])
        yield f"{gain:+z.4f} ({low:+z.4f} to {high:+z.4f})"


def _worst_by_dataset(compared: Sequence[Compared], models: Sequence[str], other: str) -> Summary:
    """By how much deciding jointly is worse at the worst k of each data set and model."""
    found = {(each.dataset, each.model): each for each in compared if each.other == other}
    datasets = dict.fromkeys(dataset for dataset, _ in found)
    return Summary(
        caption=f"Largest amount by which the loss is above that of {_in_words(other)}, over all k",
        columns=("data set", *models),
        rows=[(dataset, *(_worst_in_words(found.get((dataset, model))) for model in models)) for dataset in datasets],
    )


def _worst_in_words(compared: Compared | None) -> str | None:
    if compared is None:
        return None
    worst = int(compared.gains.argmin())
    excess = -compared.gains[worst]
    return f"{excess:.4f} at k = {compared.k[worst]:g}" if excess > 0 else "nowhere"


def _in_words(other: str) -> str:
    return {CUT: "scores cut at 0.5", THRESHOLDS: "tuned thresholds"}[other]


def _find_worst(compared: Sequence[Compared], other: str) -> Finding:
    """Whether deciding jointly is nowhere worse than another way, but for the tolerance."""
    statement = f"Decided jointly, no loss is more than {TOLERANCE:g} above that of {_in_words(other)}."
    chosen = [each for each in compared if each.other == other]
    if not chosen:
        return Finding(statement, "cannot be told", where="no model has finished in all three ways")
    above = [each for each in chosen if (each.gains < -TOLERANCE).any()]
    n_points, n_above = (sum(int(np.sum(each.gains < bound)) for each in chosen) for bound in (np.inf, -TOLERANCE))
    worst = min(chosen, key=lambda each: each.gains.min())
    return Finding(
        statement,
        "holds" if not above else "holds in part" if len(above) < len(chosen) else "does not hold",
        figures=f"{n_above} of {n_points} losses are; the worst: {worst.model} on {worst.dataset}, "
        f"{_worst_in_words(worst)}",
        where="; ".join(f"not for {each.model} on {each.dataset}" for each in above),
        measured="mean loss over all test rows, for each data set, model and k",
    )


def _full_table(compared: Sequence[Compared], confidence: float) -> Table:
    """A row for each data set, model, other way and k."""
    rows = []
    for each in compared:
        low, high = corrected_t_interval(each.by_fold, test_share=each.test_share, confidence=confidence)
        columns = each.k, each.joint_losses, each.other_losses, each.gains, low, high
        rows += [(each.dataset, each.model, each.other, *map(float, row)) for row in zip(*columns, strict=True)]
    return Table(
        ("dataset", "model", "other", "k", "loss_jointly", "loss_other", "gain", "gain_low", "gain_high"), rows
    )
