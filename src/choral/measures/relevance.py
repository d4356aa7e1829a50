"""Relevance weighting: being right on relevant labels counts more (or less) than on irrelevant ones."""

from dataclasses import dataclass

import numpy as np

from choral._kernels.arrays import Array, as_real, beside, look_up, xp_of
from choral._validation import LARGEST_WEIGHT
from choral.measures.base import ROUNDING, reversed_sums
from choral.measures.counting import AtLeastMeasure
from choral.measures.tabulated import CountingMeasure


@dataclass(frozen=True)
class RelevanceMeasure:
    r"""A counting measure whose Moebius masses grow with the share of relevant labels.

    The mass of a set A is multiplied by 1 + beta * (share of relevant labels in A) and renormalised. With j correct
    labels, a of them relevant, and R relevant labels in truth,

    .. math:: \mu = v(j/K) \, (1 + \beta a / j) \, / \, (1 + \beta R / K).

    It depends on the true labels of each row, so it is a family of measures, and no summary over rows
    serves it. Where every label is relevant it is the base measure itself, for every beta.

    Parameters
    ----------
    base : CountingMeasure
        Must stay monotone under the weighting: every convex v does, at-least-k does not.
    beta : float
        At least -1; 0 leaves the base as it is.

    Examples
    --------
    One relevant label of three, and one mistake: on an irrelevant label, then on the relevant one.

    >>> from choral.measures import HammingMeasure
    >>> measure = RelevanceMeasure(HammingMeasure(), beta=1.0)
    >>> measure.worth(np.array([[1, 1, 0], [0, 1, 1]]), relevant=np.array([[1, 0, 0], [1, 0, 0]]))
    array([0.75, 0.5 ])
    """

    base: CountingMeasure
    beta: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.base, CountingMeasure):
            raise TypeError(f"base must be a counting measure; got {self.base!r}.")
        object.__setattr__(self, "beta", float(self.beta))
        if not -1 <= self.beta <= LARGEST_WEIGHT:
            raise ValueError(f"beta must be finite and at least -1 (at most {LARGEST_WEIGHT:g}); got {self.beta}.")
        if type(self.base) is CountingMeasure:
            self.check_n_labels(self.base._values.size - 1)
        elif isinstance(self.base, AtLeastMeasure):
            self.check_n_labels(self.base.k + 1)

    def check_n_labels(self, n_labels: int) -> None:
        """Raise where the weighted base is not monotone on this many labels."""
        worths = self.base.values(n_labels)[1:]
        sizes = np.arange(1, n_labels + 1)
        for relevant in (0, 1):  # the label that is added to a set of all, or of no relevant labels
            for share in (0, 1):
                before = worths[:-1] * (1 + self.beta * share)
                after = worths[1:] * (1 + self.beta * (share * sizes[:-1] + relevant) / sizes[1:])
                falls = np.flatnonzero(after < before - ROUNDING)
                if falls.size:
                    raise ValueError(
                        f"{self.base!r} is not monotone under relevance weighting with beta = {self.beta} and "
                        f"{n_labels} labels: a set of {falls[0] + 2} correct labels can be worth less than one of "
                        f"{falls[0] + 1} of them (v(x) / x must not decrease)."
                    )

    def worth(self, sets: Array, relevant: Array) -> Array:
        """What each set of correct labels is worth where these labels are relevant.

        Parameters
        ----------
        sets, relevant : ndarray of shape (n_sets, n_labels)
            0 or 1; one set and its true labels a row.
        """
        xp = xp_of(sets)
        correct, relevant = xp.astype(sets, xp.bool), xp.astype(relevant, xp.bool)
        in_set = xp.count_nonzero(correct & relevant, axis=1)
        return self._weighted(xp.count_nonzero(correct, axis=1), in_set, relevant)

    def chain(self, order: Array, relevant: Array) -> Array:
        """What the nested sets ``{order[r, i], order[r, i + 1], ...}`` are worth in row r."""
        xp = xp_of(order)
        relevant = xp.astype(relevant, order.dtype)
        in_set = reversed_sums(xp.take_along_axis(relevant, order, axis=1))
        sizes = beside(np.arange(order.shape[1], 0, -1), order)[None, :]
        return self._weighted(sizes, in_set, relevant)

    @np.errstate(under="ignore")
    def _weighted(self, sizes: Array, in_set: Array, relevant: Array) -> Array:
        xp, n_labels = xp_of(relevant), relevant.shape[1]
        n_relevant = xp.count_nonzero(relevant, axis=1)
        if in_set.ndim == 2:
            n_relevant = n_relevant[:, None]
        worths = look_up(self.base.values(n_labels), sizes)
        numbers = np.arange(n_labels + 1)
        weighted = worths * (1 + self.beta * as_real(in_set) / look_up(np.maximum(numbers, 1.0), sizes))
        scales = 1 + self.beta * numbers / n_labels
        scales[-1] = 1  # all labels relevant: numerator and denominator are both 1 + beta, which may be 0
        return xp.where(n_relevant == n_labels, worths, weighted / look_up(scales, n_relevant))
