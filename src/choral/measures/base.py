"""What every measure is: a class that says its form for a number of labels."""

from abc import ABC, abstractmethod
from numbers import Real
from typing import Any

import numpy as np

from choral.measures.forms import ByRelevance, Form


class Measure(ABC):
    r"""A monotone set function: what it is worth to be right on a set of labels.

    :math:`\mu(\emptyset) = 0`, :math:`\mu` of all labels is 1, and a larger set is worth at least as much. A measure
    says its *form* for a number of labels, and that is all that the rest of choral knows of it: to write a new one,
    make a class with `form`, of the forms in `choral.measures.forms` or of another measure.

    Examples
    --------
    Labels count half each by itself, half only all together:

    >>> from dataclasses import dataclass
    >>> from choral import CountingMeasure, hamming_loss
    >>> class HalfTogether(Measure):
    ...     def form(self, n_labels):
    ...         return CountingMeasure([*np.arange(n_labels) / n_labels / 2, 1]).form(n_labels)
    >>> HalfTogether().worth(np.array([[1, 1, 0, 0], [1, 1, 1, 1]]))
    array([0.25, 1.  ])
    """

    @abstractmethod
    def form(self, n_labels: int) -> Form:
        """What sets of so many labels are worth; raises where the measure cannot live on this many."""

    @property
    def n_labels(self) -> int | None:
        """The only number of labels on which the measure lives; None for most."""
        return None

    @property
    def min_labels(self) -> int:
        """The least number of labels on which it lives."""
        return self.n_labels or 1

    def on_observed(self, n_observed: int) -> "Measure":
        """The measure by which a row is judged of which only so many labels are known: itself for most."""
        return self

    def worth(self, sets: np.ndarray, relevant: np.ndarray | None = None) -> np.ndarray:
        """What each set is worth.

        Parameters
        ----------
        sets : ndarray of shape (n_sets, n_labels)
            True or 1 for the labels in the set.
        relevant : ndarray of shape (n_sets, n_labels), optional
            The true labels, where the measure depends on them (see `RelevanceMeasure`).

        Returns
        -------
        worth : ndarray of shape (n_sets,)
        """
        form = self.form(sets.shape[1])
        if not isinstance(form, ByRelevance):
            return form.worth(sets)
        if relevant is None:
            raise TypeError(f"the worth of a set under {self!r} depends on the true labels: pass relevant.")
        return form.worth(sets, relevant)


def check_measure(measure: Any, *, name: str = "measure") -> None:
    """Refuse what is no measure."""
    if not isinstance(measure, Measure):
        raise TypeError(f"{name} must be one of choral.measures; got {measure!r}. {measure_remedy(measure)}".rstrip())


def measure_remedy(measure: Any) -> str:
    """How to make a measure of what users pass instead: a number, a name, or a class."""
    if isinstance(measure, Real) and not isinstance(measure, bool) and 1 <= float(measure) < np.inf:
        number = float(measure)
        if number.is_integer():
            return f"With k = {number:.0f} it is BinomialMeasure({number:.0f})."
        return f"With alpha = {number} it is PolynomialMeasure({number})."
    if isinstance(measure, type):
        return f"{measure.__name__} is a class; make a value of it, as in BinomialMeasure(3)."
    if isinstance(measure, str):
        return (
            "There are HammingMeasure(), SubsetMeasure(), BinomialMeasure(3), PolynomialMeasure(2) and others; "
            "choral.loss_by_name makes one from a name such as 'k=3'."
        )
    return ""


def check_fits(what: str, expected: int, n_labels: int) -> None:
    """Refuse to apply a measure that was made for another number of labels."""
    if n_labels != expected:
        raise ValueError(f"{what} is made for {expected} labels; got {n_labels}.")
