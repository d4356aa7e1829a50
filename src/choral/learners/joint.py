"""Learners with a joint distribution: one model, and for each loss the decision that is best for it."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from choral._last_learner import last_learner, reach_learner
from choral._typing import Features
from choral.decisions import BayesCurve, bayes_curve, bayes_optimal
from choral.decisions.base import Distribution
from choral.learners.base import MultiLabelClassifier
from choral.measures import SubsetMeasure
from choral.overlap import AnyLoss


def predict_distribution(estimator: Any, X: Features) -> Distribution:
    """The joint distribution of labels by a fitted learner, also at the end of a Pipeline or inside a search.

    scikit-learn's `Pipeline` and `GridSearchCV` hand on ``predict`` and ``predict_proba``, but no methods that they do
    not know. This function asks the learner inside, with the features transformed by the steps before it.

    Parameters
    ----------
    estimator : fitted estimator
        A learner with ``predict_distribution``, or a Pipeline, search or FrozenEstimator around one.
    X : features of shape (n_samples, n_features)
        As the estimator takes them.

    Returns
    -------
    distribution : LabelDistribution or IndependentLabels
        The distribution of the labels of each row.

    See Also
    --------
    choral.LabelDistribution : Probabilities of label sets.
    ExpectedLossClassifier : Decide for a loss by what another learner says.

    Examples
    --------
    >>> from choral.learners import LabelPowerset, predict_distribution
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 0], [1, 0]]
    >>> model = make_pipeline(StandardScaler(), LabelPowerset()).fit(X, Y)
    >>> predict_distribution(model, [[0.2], [2.9]])
    LabelDistribution(2 instances, 2 label sets, 2 labels)
    """
    if not has_distribution(estimator):
        raise TypeError(f"estimator must have predict_distribution, or end in a learner that has; got {estimator!r}.")
    learner, X = reach_learner(estimator, X)
    return learner.predict_distribution(X)


def has_distribution(estimator: Any) -> bool:
    """Whether `predict_distribution` can ask an estimator, once it is fitted."""
    return hasattr(last_learner(estimator), "predict_distribution")


def _has_own_distribution(learner: Any) -> bool:
    return hasattr(learner, "predict_distribution")


class JointClassifier(MultiLabelClassifier):
    """Parent of learners made for these losses: fitted once, they predict what is best for whatever loss is asked.

    A learner of one's own needs ``fit``, ``predict_distribution`` and the parameter ``measure``.
    """

    measure: AnyLoss | None
    __metadata_request__predict: ClassVar = {"measure": True}  # a Pipeline hands it on with metadata routing, too

    @available_if(_has_own_distribution)
    def predict(self, X: Features, measure: AnyLoss | None = None) -> np.ndarray:
        """Hard labels with the least expected loss, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
        measure : Measure, FLoss or JaccardLoss, optional
            The loss; the ``measure`` of the learner unless given, or else subset 0/1, for which the most probable label
            set is best.
        """
        measure = self.measure if measure is None else measure
        measure = SubsetMeasure() if measure is None else measure
        return self._to_target(bayes_optimal(self.predict_distribution(X), measure, method="quick").labels)

    @available_if(_has_own_distribution)
    def predict_curve(self, X: Features, family: str = "binomial", parameters: ArrayLike | None = None) -> BayesCurve:
        """The best predictions for all losses of a family; ``labels`` of shape (n_parameters, n_samples, n_labels).

        Parameters
        ----------
        X : features of shape (n_samples, n_features)
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        """
        return bayes_curve(self.predict_distribution(X), family, parameters, method="quick")

    @available_if(_has_own_distribution)
    def predict_proba(self, X: Features) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels)."""
        return self.predict_distribution(X).marginals()
