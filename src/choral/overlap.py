r"""Losses by the overlap of predicted and true labels, as values: F and Jaccard.

With r labels right (predicted and true), e extra ones (predicted alone) and m missed ones (true alone), the loss is

.. math:: \ell = \frac{a e + b m}{r + a e + b m}

and 0 where no label is predicted or true: labels that are neither count nothing. So these losses are no Choquet
integrals of correctness, and their values are no measures; but decisions and scorers take them as well.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from choral._array_api import Array, xp_of
from choral.measures import Form, Measure
from choral.measures.base import measure_remedy

LARGEST_BETA = 1000.0  # beyond it, and below its inverse, the F loss is that of recall or of precision alone
LINEAR = 1e-15


@dataclass(frozen=True)
class ByOverlap:
    """The form of these losses on a number of labels: what extra and missed labels count beside right ones.

    Together they count 1 or more, as for all F losses (exactly 1) and Jaccard (2).
    """

    n_labels: int
    extra: float
    missed: float

    @property
    def is_linear(self) -> bool:
        """Whether the loss is linear in the number of right labels, for given numbers of predicted and true ones."""
        return abs(self.extra + self.missed - 1) <= LINEAR

    def losses(self, right: Array, extra: Array, missed: Array) -> Array:
        """The loss by the numbers of right, extra and missed labels: real numbers, in arrays of any library."""
        wrong = self.extra * extra + self.missed * missed
        total = right + wrong
        return wrong / xp_of(total).where(total > 0, total, xp_of(total).ones_like(total))

    def worth_per_label(self, n_predicted: Any, n_true: Any, most: Any) -> np.ndarray:
        """One minus the loss, for each right label, where as many as possible are right.

        One minus the loss is convex in the number of right labels, and 0 for none: where fewer are right, it is no
        more for each of them.
        """
        per_label = (1 - self.extra - self.missed) * most + self.extra * n_predicted + self.missed * n_true
        return 1 / np.where(per_label > 0, per_label, 1.0)


LossForm: TypeAlias = Form | ByOverlap


class OverlapLoss(ABC):
    """A loss that depends on how many labels are predicted, true, and both."""

    @abstractmethod
    def form(self, n_labels: int) -> ByOverlap:
        """What extra and missed labels count."""


@dataclass(frozen=True)
class FLoss(OverlapLoss):
    r"""One minus the F measure of an instance with the true labels y and the predicted ones h.

    .. math:: 1 - \frac{(1 + \beta^2) |y \cap h|}{\beta^2 |y| + |h|}

    0 where both are empty. `choral.f_loss` is its mean over rows.

    Parameters
    ----------
    beta : float
        How much recall counts beside precision, between 0.001 and 1000; 1 is the harmonic mean of both.

    See Also
    --------
    f_loss : One minus the F measure of each row.
    JaccardLoss : The Jaccard index as a loss to decide for.
    bayes_optimal : The prediction with the least expected loss.

    Examples
    --------
    The label that is most probable by itself is not enough here: with both labels, the F measure is 2/3 at least.

    >>> from choral import FLoss, LabelDistribution, bayes_optimal
    >>> distribution = LabelDistribution([[1, 0], [0, 1]], [0.6, 0.4])
    >>> decision = bayes_optimal(distribution, FLoss())
    >>> decision.labels, decision.risk.round(3)
    (array([[1, 1]], dtype=uint8), array([0.333]))
    """

    beta: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.beta, Real) or isinstance(self.beta, bool | np.bool_):
            raise TypeError(f"beta must be a number; got {self.beta!r}.")
        if not 1 / LARGEST_BETA <= self.beta <= LARGEST_BETA:  # nan fails too
            raise ValueError(f"beta must lie between {1 / LARGEST_BETA:g} and {LARGEST_BETA:g}; got {self.beta}.")
        object.__setattr__(self, "beta", float(self.beta))

    def form(self, n_labels: int) -> ByOverlap:
        square = self.beta**2
        return ByOverlap(n_labels, extra=1 / (1 + square), missed=square / (1 + square))


@dataclass(frozen=True)
class JaccardLoss(OverlapLoss):
    r"""One minus the Jaccard index of an instance, :math:`1 - |y \cap h| / |y \cup h|`; 0 where both are empty.

    `choral.jaccard_loss` is its mean over rows.

    See Also
    --------
    jaccard_loss : One minus the Jaccard index of each row.
    FLoss : The F measure as a loss to decide for.
    bayes_optimal : The prediction with the least expected loss.

    Examples
    --------
    >>> from choral import JaccardLoss, LabelDistribution, bayes_optimal
    >>> distribution = LabelDistribution([[1, 0], [0, 1]], [0.6, 0.4])
    >>> decision = bayes_optimal(distribution, JaccardLoss())
    >>> decision.labels, decision.risk.round(3)
    (array([[1, 0]], dtype=uint8), array([0.4]))
    """

    def form(self, n_labels: int) -> ByOverlap:
        return ByOverlap(n_labels, extra=1.0, missed=1.0)


AnyLoss: TypeAlias = Measure | OverlapLoss


def check_loss(measure: Any) -> None:
    """Refuse what is neither a measure nor a loss by overlap."""
    if not isinstance(measure, Measure | OverlapLoss):
        must = f"measure must be one of choral.measures, FLoss or JaccardLoss; got {measure!r}."
        raise TypeError(f"{must} {measure_remedy(measure)}".rstrip())
