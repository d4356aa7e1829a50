"""Decision: predictions, what they are expected to cost, and whether nothing is better."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choral._array_api import Array, concatenate, is_foreign, to_library_of, xp_of
from choral._validation import Value
from choral.decisions.ties import TOLERANCE


@dataclass(frozen=True, eq=False)
class Decision(Value):
    """Predictions that minimise the expected loss, one for each instance.

    Parameters
    ----------
    labels : ndarray of uint8, of shape (n_instances, n_labels)
        The predictions.
    risk : ndarray of shape (n_instances,)
        Their expected loss.
    exact : ndarray of bool, of shape (n_instances,)
        Whether a prediction is proven optimal, to 1e-12.
    lower_bound : ndarray of shape (n_instances,)
        No hard prediction has a smaller expected loss.

    Attributes
    ----------
    labels : ndarray of uint8, of shape (n_instances, n_labels)
        The predictions.
    risk : ndarray of shape (n_instances,)
        Their expected loss.
    exact : ndarray of bool, of shape (n_instances,)
        Whether a prediction is proven optimal, to 1e-12.
    lower_bound : ndarray of shape (n_instances,)
        No hard prediction has a smaller expected loss.

    For a distribution on a device all four are arrays there, and a decision equals itself alone.

    See Also
    --------
    bayes_optimal : The prediction with the least expected loss.
    BayesCurve : What `bayes_curve` returns.

    Notes
    -----
    For a distribution on a device all four are arrays there, and a decision equals itself alone.

    Examples
    --------
    >>> from choral import IndependentLabels, SubsetMeasure, bayes_optimal
    >>> decision = bayes_optimal(IndependentLabels([0.8, 0.5, 0.1]), SubsetMeasure())
    >>> decision.labels, decision.risk.round(2)  # the label set is right with probability 0.8 * 0.5 * 0.9
    (array([[1, 0, 0]], dtype=uint8), array([0.64]))
    """

    labels: np.ndarray
    risk: np.ndarray
    exact: np.ndarray
    lower_bound: np.ndarray

    def __post_init__(self) -> None:
        self._freeze(labels=self.labels, risk=self.risk, exact=self.exact, lower_bound=self.lower_bound)

    def _identity(self) -> tuple:
        if is_foreign(self.labels):
            return (id(self),)
        return self.labels.shape, *(part.tobytes() for part in (self.labels, self.risk, self.exact, self.lower_bound))

    def __repr__(self) -> str:
        n_instances, n_labels = self.labels.shape
        n_exact = int(xp_of(self.exact).count_nonzero(self.exact))
        risk = float(xp_of(self.risk).mean(self.risk))
        return f"Decision({n_instances} x {n_labels} labels, mean risk {risk:.4g}, {n_exact} proven optimal)"


def exact_decision(labels: Array, risk: Array, lower_bound: Array | None = None) -> Decision:
    """A decision of an exact method."""
    xp = xp_of(risk)
    lower_bound = risk if lower_bound is None else _at_most(risk, lower_bound)
    return Decision(labels, risk, xp.ones_like(risk, dtype=xp.bool), lower_bound)


def exact_decisions(labels: Array, risks: Array, lower_bounds: Array) -> list[Decision]:
    """Decisions of an exact method for several measures, which have the first axis: a device is asked once for all."""
    exact = xp_of(risks).ones_like(risks, dtype=xp_of(risks).bool)
    parts = labels, risks, exact, _at_most(risks, lower_bounds)
    return [Decision(*(part[number, ...] for part in parts)) for number in range(labels.shape[0])]


def bounded_decision(labels: Array, risk: Array, lower_bound: Array) -> Decision:
    """A decision that is optimal where its risk meets the bound."""
    lower_bound = _at_most(risk, lower_bound)
    return Decision(labels, risk, risk - lower_bound <= TOLERANCE, lower_bound)


def _at_most(risk: Array, lower_bound: Array) -> Array:
    """A bound where rounding has taken it neither below 0 nor above the risk."""
    xp = xp_of(risk)
    return xp.minimum(xp.clip(lower_bound, 0, None), risk)


def on_device_of(decision: Decision, like: Array) -> Decision:
    """A decision of NumPy's arrays beside another array."""
    parts = decision.labels, decision.risk, decision.exact, decision.lower_bound
    return Decision(*(to_library_of(part, like) for part in parts))


def join_decisions(decisions: Sequence[Decision]) -> Decision:
    """The decisions for some instances after another as one."""
    if len(decisions) == 1:
        return decisions[0]
    parts = [(part.labels, part.risk, part.exact, part.lower_bound) for part in decisions]
    return Decision(*map(concatenate, zip(*parts, strict=True)))
