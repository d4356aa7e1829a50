"""Distribution: what every distribution of label sets can do."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

from choral._array_api import Array, xp_of
from choral._typing import LabelMatrix, RandomState
from choral.decisions.checks import check_hard
from choral.decisions.ties import TOLERANCE
from choral.overlap import AnyLoss, LossForm, check_loss


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
    def marginals(self) -> Array:
        """Probability of each label.

        Returns
        -------
        marginals : ndarray of shape (n_instances, n_labels)
        """

    @abstractmethod
    def mode(self) -> Array:
        """The most probable label set of each instance: the best prediction for the subset 0/1 loss.

        Returns
        -------
        mode : ndarray of uint8, of shape (n_instances, n_labels)
        """

    def marginal_mode(self) -> Array:
        """The labels more probable than not, each by itself: the best prediction for the Hamming loss.

        Returns
        -------
        mode : ndarray of uint8, of shape (n_instances, n_labels)
        """
        marginals = self.marginals()
        xp = xp_of(marginals)
        return xp.astype(marginals > 0.5 + TOLERANCE, xp.uint8)

    @abstractmethod
    def expected_loss(self, candidates: LabelMatrix, measure: AnyLoss) -> Array:
        """Expected loss of each candidate for each instance.

        Parameters
        ----------
        candidates : array-like of shape (n_candidates, n_labels) or (n_labels,)
            Hard predictions, 0 or 1, the same for all instances.
        measure : Measure, FLoss or JaccardLoss

        Returns
        -------
        losses : ndarray of shape (n_instances, n_candidates), or (n_instances,) for one candidate without an axis
        """

    @abstractmethod
    def risk(self, predictions: LabelMatrix, measure: AnyLoss) -> Array:
        """Expected loss of a prediction for each instance.

        Parameters
        ----------
        predictions : array-like of shape (n_instances, n_labels) or (n_labels,)
            Hard predictions, 0 or 1: one for each instance, or one for all.
        measure : Measure, FLoss or JaccardLoss

        Returns
        -------
        risk : ndarray of shape (n_instances,)
        """

    @abstractmethod
    def risk_under(self, form: LossForm, labels: Array) -> Array:
        """The risk of checked predictions, one for each instance, under the form of a measure or loss."""

    @abstractmethod
    def wrong_labels(self, predictions: LabelMatrix) -> Array:
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
    def sample(self, n: int, rng: RandomState = None) -> Array:
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

    @property
    def _device(self) -> Array | None:
        """An array on the device where all arrays of this distribution are; None for NumPy's."""
        return None

    def form_of(self, measure: AnyLoss) -> LossForm:
        """The form of a measure or loss on this many labels; all else is refused."""
        check_loss(measure)
        return measure.form(self.n_labels)

    def check_candidates(self, candidates: LabelMatrix) -> tuple[Array, bool]:
        """Hard predictions as uint8, of shape (n_candidates, n_labels), and whether it was one without an axis."""
        return check_hard("candidates", candidates, self.n_labels, self._device)

    def check_predictions(self, predictions: LabelMatrix) -> Array:
        """Hard predictions as uint8, one for each instance; one for all is repeated."""
        labels, _ = check_hard("predictions", predictions, self.n_labels, self._device)
        if labels.shape[0] not in (1, self.n_instances):
            raise ValueError(
                f"predictions must have a row for each of {self.n_instances} instances; got {labels.shape[0]}."
            )
        return xp_of(labels).broadcast_to(labels, (self.n_instances, self.n_labels))
