"""Decisions along a family of measures: what the best prediction is, where it changes, and what it costs."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choral._array_api import to_host, xp_of
from choral._typing import LabelMatrix, RandomState
from choral._validation import Value, check_count
from choral.curves import LossCurve
from choral.decisions.base import Distribution
from choral.decisions.closed_form import closed_form
from choral.decisions.decision import Decision, exact_decision, join_decisions
from choral.decisions.independent import IndependentLabels
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.optimal import (
    CHOOSING,
    MAX_NODE_STEPS,
    MAX_STEPS,
    Method,
    can_transform,
    check_decidable,
    check_random_state,
    decide,
)
from choral.decisions.ties import TOLERANCE
from choral.decisions.transform import transform
from choral.measures import ByCount, HammingMeasure
from choral.measures.families import Family, get_family

CURVE_STEPS = 5 * MAX_NODE_STEPS  # of branch and bound, for all parameters together

Progress = Callable[[int, int, str], None]  # done, of how many, with what


class Change(NamedTuple):
    """From this parameter on, another prediction is optimal: these labels are new in it, those are gone."""

    parameter: float
    added: tuple[int, ...]
    removed: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class BayesCurve(Value):
    """The best predictions along a family, from Hamming towards subset 0/1.

    Parameters
    ----------
    family : {"binomial", "polynomial"}
        The measures.
    parameters : ndarray of shape (n_parameters,)
        Increasing values of k or alpha.
    decisions : tuple of Decision
        One for each parameter; on the device of the distribution.

    Attributes
    ----------
    family : {"binomial", "polynomial"}
    parameters : ndarray of shape (n_parameters,)
    decisions : tuple of Decision
        One for each parameter; on the device of the distribution.

    See Also
    --------
    bayes_curve : The best predictions for all losses of a family.
    Decision : What `bayes_optimal` returns.
    choral.displays.DecisionDisplay : Expected losses of predictions along a family.

    Examples
    --------
    >>> from choral import LabelDistribution, bayes_curve
    >>> distribution = LabelDistribution([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 0, 0]], [0.2, 0.2, 0.2, 0.4])
    >>> curve = bayes_curve(distribution)
    >>> [decision.labels[0].tolist() for decision in curve.decisions]  # k = 1, 2, 3
    [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
    """

    family: str
    parameters: np.ndarray
    decisions: tuple[Decision, ...]

    def __post_init__(self) -> None:
        self._freeze(parameters=self.parameters)

    def _identity(self) -> tuple:
        return self.family, self.parameters.tobytes(), self.decisions

    @property
    def labels(self) -> np.ndarray:
        """Predictions, of shape (n_parameters, n_instances, n_labels)."""
        return _stack([decision.labels for decision in self.decisions])

    @property
    def risk(self) -> np.ndarray:
        """Expected losses, of shape (n_parameters, n_instances)."""
        return _stack([decision.risk for decision in self.decisions])

    @property
    def exact(self) -> np.ndarray:
        """Whether each prediction is proven optimal, of shape (n_parameters, n_instances)."""
        return _stack([decision.exact for decision in self.decisions])

    @property
    def lower_bound(self) -> np.ndarray:
        """Bounds on all expected losses, of shape (n_parameters, n_instances)."""
        return _stack([decision.lower_bound for decision in self.decisions])

    def __repr__(self) -> str:
        n_instances, n_labels = self.decisions[0].labels.shape
        size = f"{self.parameters.size} parameters, {n_instances} x {n_labels} labels"
        symbol, exact, means = get_family(self.family).symbol, to_host(self.exact), _mean(self.risk, axis=1)
        ends = [f"{means[end]:.4g} at {symbol}={self.parameters[end]:g}" for end in (0, -1)]
        risk = f"mean risk {' to '.join(ends[: self.parameters.size])}"
        return f"BayesCurve({self.family}, {size}, {risk}, {np.count_nonzero(exact)} of {exact.size} proven optimal)"

    def changes(self, instance: int | None = None) -> list[Change]:
        """Where the best prediction for an instance changes, and how; which one must be said if there are several.

        Parameters
        ----------
        instance : int, optional
            Which instance; needed if there are several.
        """
        n_instances = self.labels.shape[1]
        if instance is None and n_instances > 1:
            raise ValueError(f"changes() describes one instance; say which of 0..{n_instances - 1}.")
        instance = 0 if instance is None else instance
        labels = to_host(self.labels[:, instance, :]).astype(int)
        return [
            Change(self.parameters[i].item(), _indices(step > 0), _indices(step < 0))
            for i, step in enumerate(np.diff(labels, axis=0), start=1)
            if step.any()
        ]

    def curve(self, name: str = "optimal") -> LossCurve:
        """The mean risk over all instances, as a curve.

        Parameters
        ----------
        name : str, optional
            The name of the curve.
        """
        n_labels = self.decisions[0].labels.shape[1]
        return LossCurve(self.family, self.parameters, _mean(self.risk, axis=1), n_labels=n_labels, name=name)


def _stack(arrays: list[np.ndarray]) -> np.ndarray:
    return xp_of(arrays[0]).stack(arrays)


def _mean(array: np.ndarray, axis: int) -> np.ndarray:
    """The mean over instances, which is small, for a curve."""
    return to_host(xp_of(array).mean(array, axis=axis))


def _indices(flags: np.ndarray) -> tuple[int, ...]:
    return tuple(np.flatnonzero(flags).tolist())


@np.errstate(under="ignore")  # probabilities below 1e-308 times losses
def bayes_curve(
    distribution: Distribution,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    *,
    method: Method = "auto",
    node_limit: int | None = None,
    random_state: RandomState = 0,
    progress: Progress | None = None,
) -> BayesCurve:
    """The best prediction and its risk for every parameter of a family.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What is known of the true labels.
    family : {"binomial", "polynomial"}
        The measures.
    parameters : array-like, optional
        Increasing values of k or alpha; k = 1..K or the published alphas unless given.
    method : str
        See `bayes_optimal`. ``"transform"`` transforms the distribution once for all parameters; search starts from the
        best prediction for the parameter before. ``"auto"`` shares its work among all parameters.
    node_limit : int, optional
        Nodes of branch and bound for each parameter and instance; 20,000 unless given.
    random_state : int, numpy Generator or None
        For the restarts of the search.
    progress : callable (done, total, what), optional
        Told how far the work is: before each parameter (or once, where all are computed at once), and at the end.

    Returns
    -------
    curve : BayesCurve
        A `Decision` for each parameter.

    See Also
    --------
    bayes_optimal : The prediction with the least expected loss.
    expected_curve : The expected loss of given predictions along a family.
    BayesCurve : What `bayes_curve` returns.
    choral.displays.DecisionDisplay : Expected losses of predictions along a family.

    Examples
    --------
    >>> from choral import LabelDistribution, bayes_curve
    >>> labelsets = [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> distribution = LabelDistribution(labelsets, [4 / 16, 3 / 16, 3 / 16, 3 / 16, 3 / 16])
    >>> curve = bayes_curve(distribution)
    >>> curve.risk[:, 0]
    array([0.4375, 0.625 , 0.75  ])
    >>> curve.changes()  # the subset 0/1 loss is another matter
    [Change(parameter=3, added=(), removed=(0, 1, 2))]
    """
    of_family = get_family(family)
    check_decidable(distribution, HammingMeasure(), method)
    values = of_family.parameters(parameters, distribution.n_labels)
    measures = [of_family.measure(value) for value in values.tolist()]
    for measure in measures:
        check_decidable(distribution, measure, method)
    forms = [measure.form(distribution.n_labels) for measure in measures]
    check_random_state(random_state)
    node_limit = None if node_limit is None else check_count("node_limit", node_limit)
    show = progress or (lambda done, total, what: None)
    chooses, by_transform = method in CHOOSING, False
    if chooses and isinstance(distribution, LabelDistribution):
        by_transform = can_transform(distribution, len(forms), MAX_STEPS)
    decisions: list[Decision] = []
    if isinstance(distribution, IndependentLabels) and (chooses or method == "closed_form"):
        show(0, len(forms), "independent labels")
        decisions = _decide_for_independent(distribution, forms)
    elif method == "transform" or by_transform:
        show(0, len(forms), "all predictions at once")
        forms = _with_deficits(forms, of_family, values)
        blocks = [transform(joint, forms) for _, joint in distribution.joint_blocks()]
        decisions = [join_decisions(of_form) for of_form in zip(*blocks, strict=True)]
    else:
        work: dict[str, Any] = {
            "node_steps": CURVE_STEPS / len(forms),
            "node_limit": node_limit,
            "random_state": random_state,
        }
        if method == "quick":
            work["transform_steps"] = MAX_STEPS / len(forms)
        for number, form in enumerate(forms):
            show(number, len(forms), f"{of_family.symbol}={values[number]:g}")
            starts = decisions[-1].labels if decisions else None
            decisions.append(decide(distribution, form, method, starts=starts, **work))
    show(len(forms), len(forms), "done")
    return BayesCurve(family, values, tuple(_with_rising_bounds(decisions)))


def _with_deficits(forms: list[ByCount], family: Family, parameters: np.ndarray) -> list[ByCount]:
    """Forms that know their deficits: together they take hardly longer than those of one."""
    n_labels = forms[0].n_labels
    # Of as many as fit into memory; others form their own.
    rows = next(family.table("deficits", parameters, n_labels, n_labels))
    known = [replace(form, known_deficits=row) for form, row in zip(forms, rows, strict=False)]
    return known + forms[len(known) :]


def _with_rising_bounds(decisions: list[Decision]) -> list[Decision]:
    """The loss of a prediction rises along a family, so a bound holds for all parameters after its own."""
    xp, bounds = xp_of(decisions[0].risk), [decisions[0].lower_bound]
    for decision in decisions[1:]:
        bounds.append(xp.minimum(xp.maximum(decision.lower_bound, bounds[-1]), decision.risk))
    exact = _stack([decision.risk for decision in decisions]) - _stack(bounds) <= TOLERANCE
    return [
        Decision(decision.labels, decision.risk, exact[number, ...], bounds[number])
        for number, decision in enumerate(decisions)
    ]


def _decide_for_independent(distribution: IndependentLabels, forms: list[ByCount]) -> list[Decision]:
    """The labels more probable than not, for every measure alike, but where dropping one makes no difference."""
    marginals = distribution.marginals()
    labels = (marginals > 0.5).astype(np.uint8)
    weakest = np.where(labels, marginals, np.inf).argmin(axis=1)
    fewer = labels.copy()
    fewer[np.arange(len(labels)), weakest] = 0
    wrong, wrong_of_fewer = distribution.wrong_labels(labels), distribution.wrong_labels(fewer)
    is_fewer = labels.any(axis=1)
    decisions = []
    for form in forms:
        worths = form.values[::-1]
        ties = is_fewer & (wrong_of_fewer @ worths >= wrong @ worths * (1 - TOLERANCE))
        if ties.any():
            decisions.append(closed_form(distribution, form))
        else:
            risk = (wrong @ form.deficits()).clip(0, 1)
            decisions.append(exact_decision(labels, risk))
    return decisions


@np.errstate(under="ignore")
def expected_curve(
    distribution: Distribution,
    predictions: LabelMatrix,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    name: str | None = None,
) -> LossCurve:
    """The expected loss of given predictions along a family, mean over instances.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What is known of the true labels.
    predictions : array-like of shape (n_instances, n_labels) or (n_labels,)
        Hard predictions, 0 or 1: one for each instance, or one for all.
    family : {"binomial", "polynomial"}
        The measures.
    parameters : array-like, optional
        Increasing values of k or alpha; k = 1..K or the published alphas unless given.
    name : str, optional
        For legends and tables.

    Returns
    -------
    curve : LossCurve
        The mean expected loss at each parameter.

    See Also
    --------
    bayes_curve : The best predictions for all losses of a family.
    regret : How much more than necessary predictions cost.

    Examples
    --------
    >>> from choral import IndependentLabels
    >>> expected_curve(IndependentLabels([0.5, 0.5]), [0, 0]).losses
    array([0.5 , 0.75])
    """
    of_family = get_family(family)
    check_decidable(distribution, HammingMeasure(), "auto")
    values = of_family.parameters(parameters, distribution.n_labels)
    wrong = _mean(distribution.wrong_labels(predictions), axis=0)
    tables = of_family.table("deficits", values, distribution.n_labels, distribution.n_labels)
    losses = np.concatenate([table @ wrong for table in tables])
    return LossCurve(family, values, losses.clip(0, 1), n_labels=distribution.n_labels, name=name)
