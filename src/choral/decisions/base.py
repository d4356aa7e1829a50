"""What every distribution of label sets can do, and the checks that all share."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._validation import check_array, check_matrix
from choral.decisions.ties import TOLERANCE
from choral.measures import Measure, RelevanceMeasure
from choral.rows.blocks import check_binary, row_slices

AnyMeasure = Measure | RelevanceMeasure


class Distribution(ABC):
    """A distribution of label sets for each of some instances.

    Attributes
    ----------
    n_labels : int
        The number of labels, K.
    n_instances : int
        The number of instances; 1 where the probabilities came without an axis for them.
    """

    n_labels: int
    n_instances: int

    @abstractmethod
    def marginals(self) -> np.ndarray:
        """Probability of each label.

        Returns
        -------
        marginals : ndarray of shape (n_instances, n_labels)
        """

    @abstractmethod
    def mode(self) -> np.ndarray:
        """The most probable label set of each instance: the best prediction for the subset 0/1 loss.

        Returns
        -------
        mode : ndarray of uint8, of shape (n_instances, n_labels)
        """

    def marginal_mode(self) -> np.ndarray:
        """The labels more probable than not, each by itself: the best prediction for the Hamming loss.

        Returns
        -------
        mode : ndarray of uint8, of shape (n_instances, n_labels)
        """
        return (self.marginals() > 0.5 + TOLERANCE).astype(np.uint8)

    @abstractmethod
    def expected_loss(self, candidates: Any, measure: AnyMeasure) -> np.ndarray:
        """Expected loss of each candidate for each instance.

        Parameters
        ----------
        candidates : array-like of shape (n_candidates, n_labels) or (n_labels,)
            Hard predictions, 0 or 1, the same for all instances.
        measure : Measure or RelevanceMeasure

        Returns
        -------
        losses : ndarray of shape (n_instances, n_candidates), or (n_instances,) for one candidate without an axis
        """

    @abstractmethod
    def risk(self, predictions: Any, measure: AnyMeasure) -> np.ndarray:
        """Expected loss of a prediction for each instance.

        Parameters
        ----------
        predictions : array-like of shape (n_instances, n_labels) or (n_labels,)
            Hard predictions, 0 or 1: one for each instance, or one for all.
        measure : Measure or RelevanceMeasure

        Returns
        -------
        risk : ndarray of shape (n_instances,)
        """

    @abstractmethod
    def wrong_labels(self, predictions: Any) -> np.ndarray:
        """Probability that 0, 1, ..., K labels of a prediction are wrong: all that a counting measure needs.

        Parameters
        ----------
        predictions : array-like of shape (n_instances, n_labels) or (n_labels,)

        Returns
        -------
        probabilities : ndarray of shape (n_instances, n_labels + 1)
        """

    @abstractmethod
    def joint_blocks(self) -> Iterator[tuple[slice, Any]]:
        """Some instances and their `LabelDistribution` after another, so that none is too large for memory."""

    @abstractmethod
    def sample(self, n: int, rng: Any = None) -> np.ndarray:
        """Draw label sets.

        Parameters
        ----------
        n : int
            How many for each instance.
        rng : numpy Generator, int or None
            A source of randomness, or its seed.

        Returns
        -------
        samples : ndarray of uint8, of shape (n, n_labels), or (n_instances, n, n_labels) where the distribution was
            given with an axis for instances
        """

    def check_measure(self, measure: Any) -> None:
        """Refuse what is no measure, or not one for this many labels."""
        if not isinstance(measure, Measure | RelevanceMeasure):
            raise TypeError(f"measure must be one of choral.measures; got {measure!r}.")
        measure.form(self.n_labels)

    def check_candidates(self, candidates: Any) -> tuple[np.ndarray, bool]:
        """Hard predictions as uint8, of shape (n_candidates, n_labels), and whether it was one without an axis."""
        return check_hard("candidates", candidates, self.n_labels)

    def check_predictions(self, predictions: Any, name: str = "predictions") -> np.ndarray:
        """Hard predictions as uint8, one for each instance."""
        labels, _ = check_hard(name, predictions, self.n_labels)
        self.check_n_rows(name, len(labels))
        return np.broadcast_to(labels, (self.n_instances, self.n_labels))

    def check_n_rows(self, name: str, n_rows: int) -> None:
        """Refuse predictions that are neither one for each instance nor one for all."""
        if n_rows not in (1, self.n_instances):
            raise ValueError(f"{name} must have a row for each of {self.n_instances} instances; got {n_rows}.")


def check_hard(name: str, labels: Any, n_labels: int) -> tuple[np.ndarray, bool]:
    """Hard labels, one row or many, as a C-contiguous array of uint8; and whether it was one row."""
    labels = check_array(name, labels)
    if labels.ndim == 1 and not sp.issparse(labels):
        return check_hard(name, labels[np.newaxis], n_labels)[0], True
    labels = check_matrix(name, labels)
    if sp.issparse(labels):
        labels = labels.toarray()
    if labels.shape[1] != n_labels:
        raise ValueError(f"{name} must have a column for each of {n_labels} labels; got {labels.shape[1]}.")
    for rows in row_slices(labels.shape, labels.itemsize):
        check_binary(name, labels[rows], rows.start)
    return np.ascontiguousarray(labels, dtype=np.uint8), False
