"""Learners with a joint distribution: one model, and for each loss the decision that is best for it."""

from typing import Any

import numpy as np

from choral.decisions import BayesCurve, bayes_curve, bayes_optimal
from choral.decisions.base import Distribution
from choral.learners.base import MultiLabelClassifier
from choral.measures import Measure, SubsetMeasure


class JointClassifier(MultiLabelClassifier):
    """Parent of learners made for these losses: fitted once, they predict what is best for whatever loss is asked."""

    def predict_distribution(self, X: Any) -> Distribution:
        """The joint distribution of the labels of each row."""
        raise NotImplementedError

    def predict(self, X: Any, measure: Measure | None = None) -> np.ndarray:
        """Hard labels with the least expected loss, of shape (n_samples, n_labels).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        measure : Measure or RelevanceMeasure, optional
            The loss; subset 0/1 unless given, for which the most probable label set is best.
        """
        measure = self._default_measure() if measure is None else measure
        return bayes_optimal(self.predict_distribution(X), measure, method="quick").labels

    def _default_measure(self) -> Measure:
        return SubsetMeasure()

    def predict_curve(self, X: Any, family: str = "binomial", parameters: Any = None) -> BayesCurve:
        """The best predictions for all losses of a family; ``labels`` of shape (n_parameters, n_samples, n_labels).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        family : {"binomial", "polynomial"}
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        """
        return bayes_curve(self.predict_distribution(X), family, parameters, method="quick")

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, of shape (n_samples, n_labels)."""
        return self.predict_distribution(X).marginals()
