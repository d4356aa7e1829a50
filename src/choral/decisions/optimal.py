"""bayes_optimal(): the hard prediction with the least expected loss, by the method that fits."""

from typing import Any, Literal

import numpy as np

from choral._array_api import Array, is_foreign, to_host, xp_of
from choral._typing import LabelMatrix, RandomState
from choral._validation import check_count
from choral.decisions.base import Distribution
from choral.decisions.branch_and_bound import branch_and_bound
from choral.decisions.closed_form import closed_form, has_closed_form
from choral.decisions.decision import Decision, join_decisions, on_device_of
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.search import MAX_LISTED_LABELS, look_at_all, search
from choral.decisions.transform import transform
from choral.overlap import AnyLoss, ByOverlap, LossForm

Method = Literal["auto", "quick", "closed_form", "transform", "branch_and_bound", "search"]

METHODS = ("auto", "quick", "closed_form", "transform", "branch_and_bound", "search")
CHOOSING = ("auto", "quick")  # which choose one of the others
MAX_NODES = 20_000
MAX_STEPS = 2e9  # of a transform, a few seconds
MAX_NODE_STEPS = 1e10  # of branch and bound, likewise: they are multiply-adds of matrix products
STEPS_PER_LABEL = 1000  # what a node takes besides
SIZES_PER_STEP = 4  # likewise, under a loss by overlap: measured
STEPS_PER_PAIR = 20  # the loss of a prediction and a label set, in multiply-adds
PATIENCE = 5  # instances in a row that it does not prove, before it gives up
MIN_NODES = 200  # fewer prove next to nothing


@np.errstate(under="ignore")  # probabilities below 1e-308 times losses
def bayes_optimal(
    distribution: Distribution,
    measure: AnyLoss,
    *,
    method: Method = "auto",
    candidates: LabelMatrix | None = None,
    node_limit: int | None = None,
    random_state: RandomState = 0,
) -> Decision:
    r"""The hard prediction with the least expected loss, for each instance.

    .. math:: \hat{y} = \operatorname{argmin}_{c \in \{0, 1\}^K} \; \sum_y p(y) \, \ell_\mu(y, c)

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What is known of the true labels. Of tensors and other arrays on a device, the decision is made there.
    measure : Measure, FLoss or JaccardLoss
        What it is worth to be right on a set of labels; or an F or Jaccard loss, of which distributions on a device are
        decided on the host.
    method : {"auto", "quick", "closed_form", "transform", "branch_and_bound", "search"}
        * ``"closed_form"``: Hamming and additive measures, subset 0/1, F losses, and for `IndependentLabels` every
          loss but relevance weighting of a measure that tells labels apart.
        * ``"transform"``: looks at all 2^K predictions, for up to 22 labels (28 on a device; 16 for F and Jaccard).
        * ``"branch_and_bound"``: for any number of labels; proves its result where the distribution is peaked, else
          stops at ``node_limit`` with the bound it has.
        * ``"search"``: the best of the support, the marginal mode and the candidates, then one label at a time.
        * ``"auto"``: the cheapest exact method within a few seconds of work; else search, then (for NumPy arrays)
          branch and bound within such a limit for all instances together, as long as it proves some.
        * ``"quick"``: as auto, but no time goes into proofs: no branch and bound.
    candidates : array-like of shape (n_candidates, n_labels), optional
        Predictions to look at besides those that search and branch and bound find by themselves.
    node_limit : int, optional
        Nodes of branch and bound for each instance; 20,000 unless given.
    random_state : int, numpy Generator or None
        For the restarts of the search.

    Returns
    -------
    decision : Decision
        With ``labels``, ``risk``, ``exact`` and ``lower_bound`` for each instance. Of predictions whose risks differ by
        at most 1e-12, the one with the fewest labels is taken; of those, the one that has the first label in which
        they differ. For `IndependentLabels` the closed form takes 1e-12 of one minus the risk, which with many labels
        is small for every prediction.

    See Also
    --------
    bayes_curve : The best predictions for all losses of a family.
    Decision : What `bayes_optimal` returns.
    LabelDistribution : Probabilities of label sets.
    regret : How much more than necessary predictions cost.

    Examples
    --------
    The best prediction depends on the loss, as in the paper's example of three labels:

    >>> from choral import HammingMeasure, LabelDistribution, SubsetMeasure, bayes_optimal
    >>> labelsets = [[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> distribution = LabelDistribution(labelsets, [4 / 16, 3 / 16, 3 / 16, 3 / 16, 3 / 16])
    >>> bayes_optimal(distribution, HammingMeasure()).labels
    array([[1, 1, 1]], dtype=uint8)
    >>> decision = bayes_optimal(distribution, SubsetMeasure())
    >>> decision.labels, decision.risk, decision.exact
    (array([[0, 0, 0]], dtype=uint8), array([0.75]), array([ True]))
    """
    form = check_decidable(distribution, measure, method)
    checked = None if candidates is None else distribution.check_candidates(candidates)[0]
    node_limit = None if node_limit is None else check_count("node_limit", node_limit)
    check_random_state(random_state)
    return decide(distribution, form, method, checked, node_limit=node_limit, random_state=random_state)


def decide(
    distribution: Distribution,
    form: LossForm,
    method: str,
    candidates: Array | None = None,
    *,
    starts: Array | None = None,
    node_limit: int | None = None,
    node_steps: float | None = None,
    transform_steps: float | None = None,
    random_state: RandomState = 0,
) -> Decision:
    """`bayes_optimal` for checked arguments.

    ``starts`` has one more prediction for each instance to search from, ``node_steps`` and ``transform_steps`` are the
    work that branch and bound and a transform may do where nobody has asked for them.
    """
    if isinstance(form, ByOverlap) and isinstance(distribution, LabelDistribution) and is_foreign(distribution.weights):
        candidates = None if candidates is None else to_host(candidates)
        here = distribution.on_host()
        found = decide(here, form, method, candidates, node_limit=node_limit, random_state=random_state)
        return on_device_of(found, distribution.weights)
    if method == "closed_form" or (method in CHOOSING and has_closed_form(distribution, form)):
        return closed_form(distribution, form)
    decisions = []
    for rows, joint in distribution.joint_blocks():
        if method == "transform" or (method in CHOOSING and _can_see_all(joint, form, transform_steps or MAX_STEPS)):
            # No transform knows a loss by overlap.
            decisions.append(look_at_all(joint, form) if isinstance(form, ByOverlap) else transform(joint, [form])[0])
            continue
        of_rows = None if starts is None else starts[rows, :]
        found = search(joint, form, candidates=candidates, starts=of_rows, random_state=random_state)
        if not is_foreign(joint.weights):  # there is no branch and bound on a device
            found = _prove(joint, form, found, method, node_limit, node_steps or MAX_NODE_STEPS)
        decisions.append(found)
    return join_decisions(decisions)


def _prove(
    joint: LabelDistribution, form: LossForm, found: Decision, method: str, node_limit: int | None, steps: float
) -> Decision:
    """Go on from a search with branch and bound, if that is asked for or affordable."""
    if method == "branch_and_bound":
        everywhere = np.arange(joint.n_instances)
        return branch_and_bound(joint, form, found, everywhere, node_limit=node_limit or MAX_NODES)
    not_proven = np.flatnonzero(~found.exact)
    steps_per_node = joint.n_labels * (STEPS_PER_LABEL + 4 * joint.weights.size / joint.n_instances)
    if isinstance(form, ByOverlap):  # bounded for each size by itself
        steps_per_node *= max(1, joint.n_labels / SIZES_PER_STEP)
    nodes = min(int(steps / (steps_per_node * max(not_proven.size, 1))), node_limit or MAX_NODES)
    if method in ("search", "quick") or nodes < MIN_NODES:
        return found
    return branch_and_bound(joint, form, found, not_proven, node_limit=nodes, patience=PATIENCE)


def _can_see_all(distribution: LabelDistribution, form: LossForm, max_steps: float) -> bool:
    """Whether looking at all predictions is a matter of seconds."""
    if not isinstance(form, ByOverlap):
        return can_transform(distribution, 1, max_steps)
    n_labels, n_products = distribution.n_labels, distribution.weights.size + STEPS_PER_PAIR * distribution.n_labelsets
    return n_labels <= MAX_LISTED_LABELS and n_products << n_labels <= MAX_NODE_STEPS


def can_transform(distribution: LabelDistribution, n_measures: int, max_steps: float) -> bool:
    """Whether transforms for all predictions are a matter of seconds."""
    n_labels = distribution.n_labels
    if n_labels > distribution.max_dense_labels:
        return False
    return (n_measures + 1) * distribution.n_instances * n_labels * 2**n_labels <= max_steps * distribution.speed


def check_decidable(distribution: Any, measure: Any, method: str) -> LossForm:
    """The form of a measure; what cannot be decided is refused, with the reason."""
    if not isinstance(distribution, Distribution):
        came = type(distribution).__name__
        raise TypeError(f"distribution must be a LabelDistribution or IndependentLabels; got {came}.")
    form = distribution.form_of(measure)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}.")
    if method == "branch_and_bound" and _is_on_device(distribution):
        raise ValueError(
            "method 'branch_and_bound' works on NumPy arrays alone (tensor.cpu().numpy() makes one of a tensor); "
            "on a device, 'search' finds good predictions and 'transform' proves the best."
        )
    if method == "closed_form" and not has_closed_form(distribution, form):
        needed = "an additive measure, subset 0/1, an F loss or IndependentLabels"
        raise ValueError(f"method 'closed_form' needs {needed}; got {measure!r}.")
    return form


def _is_on_device(distribution: Distribution) -> bool:
    return isinstance(distribution, LabelDistribution) and is_foreign(distribution.weights)


def check_random_state(random_state: Any) -> None:
    """Refuse what is no source of randomness, also where none is needed."""
    try:
        np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        came = f"{random_state!r} ({error})"
        raise ValueError(f"random_state must be a whole number, a NumPy Generator or None; got {came}.") from error


@np.errstate(under="ignore")
def regret(distribution: Distribution, predictions: LabelMatrix, measure: AnyLoss, *, method: Method = "auto") -> Array:
    """How much more than necessary predictions are expected to cost.

    Parameters
    ----------
    distribution : LabelDistribution or IndependentLabels
        What is known of the true labels.
    predictions : array-like of shape (n_instances, n_labels) or (n_labels,)
        Hard predictions, 0 or 1: one for each instance, or one for all.
    measure : Measure, FLoss or JaccardLoss
        Defines the loss.
    method : str
        See `bayes_optimal`. Where that proves no optimum, this is the regret against the best prediction found.

    Returns
    -------
    regret : ndarray of shape (n_instances,)
        The expected loss of the prediction minus that of the best one, for each instance.

    See Also
    --------
    bayes_optimal : The prediction with the least expected loss.
    expected_curve : The expected loss of given predictions along a family.

    Examples
    --------
    >>> from choral import LabelDistribution, SubsetMeasure, regret
    >>> distribution = LabelDistribution([[0, 0], [0, 1], [1, 0]], [0.4, 0.3, 0.3])
    >>> regret(distribution, [[0, 1]], SubsetMeasure()).round(3)
    array([0.1])
    """
    form = check_decidable(distribution, measure, method)
    labels = distribution.check_predictions(predictions)
    best = decide(distribution, form, method)
    return xp_of(best.risk).clip(distribution.risk_under(form, labels) - best.risk, 0, None)
