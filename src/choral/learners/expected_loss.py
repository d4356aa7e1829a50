"""Any learner that says how probable labels are, made to minimise a loss of the user's choice."""

from typing import Any, Literal

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples

from choral._last_learner import last_learner, reach_learner
from choral._typing import Features, LabelMatrix, RandomState
from choral.decisions import IndependentLabels, LabelDistribution
from choral.decisions.base import Distribution
from choral.learners.base import MetaClassifier, clip_rounded, seeded_clones
from choral.learners.binary_relevance import BinaryRelevance
from choral.learners.joint import JointClassifier, has_distribution, predict_distribution
from choral.learners.joint_forest import JointForest
from choral.overlap import AnyLoss
from choral.scores import stack_proba

SOURCES = ("auto", "distribution", "marginals", "ensemble")
PROBED_ROWS = 50  # to see what a classifier returns


class ExpectedLossClassifier(JointClassifier, MetaClassifier):
    """Predict what has the least expected loss, by the distribution of labels that another learner gives.

    Fitted once, it serves every loss: ``predict(X, measure=...)`` and ``predict_curve(X, family)`` fit nothing.

    Parameters
    ----------
    estimator : learner, optional
        Any object with ``fit`` and ``predict_proba``, of choral, scikit-learn or others, also at the end of a Pipeline
        or in a search; `JointForest` unless given. It gets the features as they come, frames included, and all labels
        at once. A classifier that takes one binary target alone is fitted once for each label, in a `BinaryRelevance`.
        An object without ``get_params`` is copied by `copy.deepcopy`. A fitted learner goes in as
        ``sklearn.frozen.FrozenEstimator(model)``.
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
        A `BinaryRelevance` around classifiers of one label, where the learner takes no more than one.

    See Also
    --------
    StackedJoint : Several learners in one joint distribution.
    choral.calibration.JointCalibratedClassifier : A classifier with a calibrator of its own.
    choral.bayes_optimal : The prediction with the least expected loss.

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
        """Fit the learner.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the training rows.
        Y : array-like, sparse matrix or frame of shape (n_samples, n_labels)
            Labels of the rows, 0 and 1.
        """
        X, Y = self._check_training(X, Y)
        if self.source not in SOURCES:
            raise ValueError(f"source must be one of {', '.join(map(repr, SOURCES))}; got {self.source!r}.")
        (copy,) = seeded_clones(self._inner_estimators()[0], 1, self.random_state)
        self.estimator_ = self._fit_all_or_each(copy, X, Y.astype(np.intp))  # not uint8, in which 0 - 1 is 255
        self._source()
        return self

    def _fit_all_or_each(self, estimator: Any, X: Any, Y: np.ndarray) -> Any:
        """The learner fitted on all labels at once, or one for each label where it cannot do that.

        What it does is more reliable than what its tags say: many classifiers of several labels have the wrong ones,
        and others have none.
        """
        if not self._may_know_one_label_only(estimator):
            estimator.fit(X, Y)
            return estimator
        each = BinaryRelevance(estimator)  # it copies the estimator, which the next line may change
        (alone,) = seeded_clones(estimator, 1, None)
        if self.n_labels_ == 1:
            try:
                return each.fit(X, Y)  # as a vector: classifiers of one label warn of a matrix with one column
            except Exception:
                pass  # it wants a matrix
        try:
            alone.fit(X, Y)
            of_one_label = hasattr(alone, "predict_proba") and self._tells_of_two_classes(alone, X)
        except Exception as refusal:  # of any kind: packages have their own
            return _fit_each(each, X, Y, refusal)
        if not of_one_label:
            return alone  # answers of another shape are refused when they are needed
        try:
            return each.fit(X, Y)
        except Exception:
            if self.n_labels_ != 2:
                raise
            return alone  # it wants a matrix: two labels that exclude each other look like the classes of one

    def _may_know_one_label_only(self, estimator: Any) -> bool:
        """Whether it can be asked about labels one by one: it has probabilities, and no distribution of all labels."""
        asked = self.source in ("auto", "marginals") and hasattr(estimator, "predict_proba")
        return asked and not has_distribution(estimator) and not isinstance(estimator, FrozenEstimator)

    def _tells_of_two_classes(self, fitted: Any, X: Any) -> bool:
        """Whether ``predict_proba`` has two columns that sum to 1: the classes of one label, not some labels.

        Two labels may look the same, so tags that tell of several labels are believed there.
        """
        some = _safe_indexing(X, np.arange(min(_num_samples(X), PROBED_ROWS)))
        proba = fitted.predict_proba(some)
        if getattr(proba, "shape", ())[1:] != (2,) or not np.allclose(np.asarray(proba).sum(axis=1), 1, atol=1e-3):
            return False
        return self.n_labels_ != 2 or not _has_tag_of_several(fitted)

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
        """What the learner says of the labels of each row, as a distribution.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Features of the rows.
        """
        X = self._check_features(X)
        source, n_rows = self._source(), _num_samples(X)
        if source == "distribution":
            distribution = predict_distribution(self.estimator_, X)
            self._check_shape("predict_distribution", (distribution.n_instances, distribution.n_labels), n_rows)
            return distribution
        if source == "marginals":
            scores = stack_proba(self.estimator_.predict_proba(X), getattr(self.estimator_, "classes_", None))
            self._check_shape("predict_proba", scores.shape, n_rows)
            return IndependentLabels(clip_rounded(scores))
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


def _fit_each(each: BinaryRelevance, X: Any, Y: np.ndarray, refusal: Exception) -> BinaryRelevance:
    """A classifier for each label; if that fails too, the error tells of both."""
    try:
        return each.fit(X, Y)
    except Exception as error:
        error.add_note(f"Fitted on all labels at once, {type(each.estimator).__name__} said: {refusal}")
        raise


def _has_tag_of_several(estimator: Any) -> bool:
    """Whether scikit-learn's tags of an estimator tell of several labels."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return False
    tags = get_tags(estimator)
    return tags.target_tags.multi_output or bool(tags.classifier_tags and tags.classifier_tags.multi_label)
