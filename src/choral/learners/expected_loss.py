"""Any learner that says how probable labels are, made to minimise a loss of the user's choice."""

from typing import Any, Literal

import numpy as np
from sklearn.utils.validation import _num_samples

from choral._last_learner import last_learner, reach_learner
from choral._typing import Features, LabelMatrix, RandomState
from choral.decisions import IndependentLabels, LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import MetaClassifier, seeded_clones
from choral.learners.joint import JointClassifier, has_distribution, predict_distribution
from choral.learners.joint_forest import JointForest
from choral.overlap import AnyLoss
from choral.scores import stack_proba

SOURCES = ("auto", "distribution", "marginals", "ensemble")


class ExpectedLossClassifier(JointClassifier, MetaClassifier):
    """Predict what has the least expected loss, by the distribution of labels that another learner gives.

    Fitted once, it serves every loss: ``predict(X, measure=...)`` and ``predict_curve(X, family)`` fit nothing.

    Parameters
    ----------
    estimator : learner, optional
        Of choral or scikit-learn, also at the end of a Pipeline or in a search; `JointForest` unless given. It gets the
        features as they come, frames included. A fitted one goes in as ``sklearn.frozen.FrozenEstimator(model)``.
    measure : Measure, FLoss or JaccardLoss, optional
        The loss to minimise unless another is given to ``predict``; subset 0/1 by default.
    source : {"auto", "distribution", "marginals", "ensemble"}
        What is asked of the learner: its ``predict_distribution``; its ``predict_proba``, with labels taken to be
        independent; or the labels that the members of its ``estimators_`` predict, each a sample of the label set.
        Auto takes the first of these that it has.
    random_state : int, RandomState or None
        For the learner.

    Attributes
    ----------
    estimator_ : the fitted learner

    Examples
    --------
    No label at all is the most probable label set here, though each label is more probable than not:

    >>> from choral import HammingMeasure, SubsetMeasure
    >>> from choral.learners import ExpectedLossClassifier, LabelPowerset
    >>> X = [[0.0]] * 11
    >>> Y = [[0, 0, 0]] * 3 + [[1, 1, 0]] * 2 + [[1, 0, 1]] * 2 + [[0, 1, 1]] * 2 + [[1, 1, 1]] * 2
    >>> model = ExpectedLossClassifier(LabelPowerset(), HammingMeasure()).fit(X, Y)
    >>> model.predict([[0.0]]), model.predict([[0.0]], measure=SubsetMeasure())
    (array([[1, 1, 1]]), array([[0, 0, 0]]))
    """

    estimator_: Any

    def __init__(
        self,
        estimator: Any = None,
        measure: AnyLoss | None = None,
        *,
        source: Literal["auto", "distribution", "marginals", "ensemble"] = "auto",
        random_state: RandomState = None,
    ):
        self.estimator = estimator
        self.measure = measure
        self.source = source
        self.random_state = random_state

    def fit(self, X: Features, Y: LabelMatrix) -> "ExpectedLossClassifier":
        """Fit the learner."""
        X, Y = self._check_training(X, Y)
        if self.source not in SOURCES:
            raise ValueError(f"source must be one of {', '.join(map(repr, SOURCES))}; got {self.source!r}.")
        (copy,) = seeded_clones(self._inner_estimators()[0], 1, self.random_state)
        self.estimator_ = copy.fit(X, Y.astype(np.intp))  # not uint8, in which 0 - 1 is 255
        self._source()
        return self

    def _inner_estimators(self) -> list[Any]:
        return [JointForest() if self.estimator is None else self.estimator]

    def _source(self) -> str:
        """What the learner is asked; an error if it has nothing to say."""
        has = {
            "distribution": has_distribution(self.estimator_),
            "marginals": hasattr(self.estimator_, "predict_proba"),
            "ensemble": hasattr(last_learner(self.estimator_), "estimators_"),
        }
        chosen = next((kind for kind, there in has.items() if there and self.source in ("auto", kind)), None)
        if chosen is None:
            wanted = {
                "auto": "predict_distribution, predict_proba or estimators_",
                "distribution": "predict_distribution",
                "marginals": "predict_proba",
                "ensemble": "estimators_",
            }[self.source]
            raise TypeError(f"estimator must have {wanted}; {type(self.estimator_).__name__} has not.")
        return chosen

    def predict_distribution(self, X: Features) -> Distribution:
        """What the learner says of the labels of each row, as a distribution."""
        X = self._check_features(X)
        source, n_rows = self._source(), _num_samples(X)
        if source == "distribution":
            distribution = predict_distribution(self.estimator_, X)
            self._check_shape("predict_distribution", (distribution.n_instances, distribution.n_labels), n_rows)
            return distribution
        if source == "marginals":
            scores = stack_proba(self.estimator_.predict_proba(X), getattr(self.estimator_, "classes_", None))
            self._check_shape("predict_proba", scores.shape, n_rows)
            return IndependentLabels(scores)
        return LabelDistribution.from_samples(np.stack(self._votes(X, n_rows), axis=1))

    def _votes(self, X: Any, n_rows: int) -> list[np.ndarray]:
        """What each member predicts."""
        ensemble, X = reach_learner(self.estimator_, X)
        if hasattr(X, "columns") and not hasattr(ensemble.estimators_[0], "feature_names_in_"):
            X = np.asarray(X)  # scikit-learn's ensembles give their members arrays
        votes = [np.array(member.predict(X)) for member in ensemble.estimators_]
        for labels in votes:
            self._check_shape("predict of each of estimators_", labels.shape, n_rows)
        for label, classes in enumerate(getattr(ensemble, "classes_", ())):
            if np.shape(classes) == (1,):  # scikit-learn's forests number classes: a label that is always 1 becomes 0
                for labels in votes:
                    labels[:, label] = classes[0]
        return votes

    def _check_shape(self, what: str, shape: tuple[int, ...], n_rows: int) -> None:
        if shape != (n_rows, self.n_labels_):
            raise ValueError(f"{what} must return the shape {(n_rows, self.n_labels_)}; got {shape}.")
