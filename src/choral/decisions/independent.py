"""IndependentLabels: the product distribution, where labels know nothing of each other.

There is no support to sum over, but a recursion for most forms of measures. The number of wrong labels has a
Poisson-binomial distribution.
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from choral._array_api import Array
from choral._poisson_binomial import number_of_events
from choral._typing import LabelMatrix, RandomState
from choral._validation import Value, check_count, check_rows, listed, refuse_where
from choral.decisions.base import Distribution
from choral.decisions.label_distribution import MAX_DENSE_LABELS, LabelDistribution
from choral.decisions.risks.table import loss_table
from choral.decisions.support import row_blocks
from choral.measures.forms import ByCount, ByRelevance, Table, Terms
from choral.overlap import AnyLoss, ByOverlap, LossForm


def _remedy(rows: np.ndarray) -> str:
    """How to make probabilities of numbers outside [0, 1]; nan has no remedy."""
    if rows.min() < 0:  # nan compares as False
        return "If these are logits, pass choral.scores_from_logits of them."
    return "Divide percentages by 100." if rows.max() > 1 else ""


class IndependentLabels(Value, Distribution):
    """Labels that are independent of each other, given their probabilities.

    What `predict_proba` of one binary model a label means, if nothing is said about dependence.

    Parameters
    ----------
    marginals : array-like of shape (n_labels,) or (n_instances, n_labels)
        The probability of each label, for one instance or for many.

    See Also
    --------
    LabelDistribution : Probabilities of label sets.
    bayes_optimal : The prediction with the least expected loss.
    choral.calibration.JointCalibrator : Learn from scores how labels depend on each other.

    Examples
    --------
    >>> from choral import SubsetMeasure
    >>> distribution = IndependentLabels([0.9, 0.5, 0.2])
    >>> distribution.risk([1, 0, 0], SubsetMeasure()).round(3)  # right with probability 0.9 * 0.5 * 0.8
    array([0.64])
    """

    _marginals: np.ndarray
    has_instances: bool

    def __init__(self, marginals: ArrayLike):
        if sp.issparse(marginals):
            raise ValueError("marginals must be dense; marginals.toarray() makes them so.")
        rows, single = check_rows("marginals", marginals)
        wrong = ~((rows >= 0) & (rows <= 1))
        places = (rows[0], wrong[0]) if single else (rows, wrong)
        refuse_where("marginals must lie in [0, 1]", "marginals", *places, remedy=_remedy(rows))
        self._freeze(_marginals=rows, has_instances=not single)

    def _identity(self) -> tuple:
        return self.has_instances, self._marginals.shape, self._marginals.tobytes()

    def __repr__(self) -> str:
        if self.has_instances:
            return f"IndependentLabels({self.n_instances} instances, {self.n_labels} labels)"
        return f"IndependentLabels({listed(self._marginals[0])})"

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """The number of labels, K."""
        return self._marginals.shape[1]

    @property
    def n_instances(self) -> int:  # type: ignore[override]
        """The number of instances; 1 for one vector of marginals."""
        return self._marginals.shape[0]

    def marginals(self) -> np.ndarray:
        return self._marginals

    def mode(self) -> np.ndarray:
        return self.marginal_mode()

    def expected_loss(self, candidates: LabelMatrix, measure: AnyLoss) -> np.ndarray:
        form = self.form_of(measure)
        labels, single = self.check_candidates(candidates)
        everyone = (self.n_instances, self.n_labels)
        losses = [self.risk_under(form, np.broadcast_to(candidate, everyone)) for candidate in labels]
        return losses[0] if single else np.stack(losses, axis=1)

    def risk(self, predictions: LabelMatrix, measure: AnyLoss) -> np.ndarray:
        form = self.form_of(measure)
        return self.risk_under(form, self.check_predictions(predictions))

    @np.errstate(under="ignore")
    def risk_under(self, form: LossForm, labels: Array) -> np.ndarray:
        if needs_joint(form):
            risks = [joint.risk_under(form, labels[rows]) for rows, joint in self.joint_blocks()]
        else:
            risks = [independent_risk(form, self._marginals[rows], labels[rows]) for rows in self._blocks()]
        return np.concatenate(risks).clip(0, 1)

    def wrong_labels(self, predictions: LabelMatrix) -> np.ndarray:
        labels = self.check_predictions(predictions)
        return np.concatenate(
            [number_of_events(chances_of_error(self._marginals[rows], labels[rows])) for rows in self._blocks()]
        )

    def _blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_instances, 4 * self.n_labels)  # a recursion has a few arrays of this size

    def sample(self, n: int, rng: RandomState = None) -> np.ndarray:
        n = check_count("n", n)
        marginals = self._marginals[:, np.newaxis] if self.has_instances else self._marginals
        uniform = np.random.default_rng(rng).random((self.n_instances, n, self.n_labels)[not self.has_instances :])
        return (uniform < marginals).astype(np.uint8)

    def to_label_distribution(self) -> LabelDistribution:
        """The same distribution as probabilities of all 2^K label sets, for up to 22 labels.

        Examples
        --------
        >>> IndependentLabels([0.5, 0.2]).to_label_distribution().probabilities
        array([0.4, 0.4, 0.1, 0.1])
        """
        self._check_few_labels()
        dense = product_distribution(self._marginals)
        return LabelDistribution.from_dense(dense if self.has_instances else dense[0])

    def joint_blocks(self) -> Iterator[tuple[slice, LabelDistribution]]:
        self._check_few_labels()
        for rows in row_blocks(self.n_instances, 1 << self.n_labels):
            yield rows, LabelDistribution.from_dense(product_distribution(self._marginals[rows]))

    def _check_few_labels(self) -> None:
        if self.n_labels > MAX_DENSE_LABELS:
            raise ValueError(
                f"independent labels have 2 ** n_labels label sets, listed for up to {MAX_DENSE_LABELS} labels; "
                f"got {self.n_labels}. Method 'closed_form' needs no such list; only relevance weighting of a measure "
                "that tells labels apart does, for the risk as well."
            )


def needs_joint(form: LossForm) -> bool:
    """Whether risks of independent labels are summed over all label sets.

    Relevance weighting divides by a sum over the relevant labels. Only where all labels are alike is their number
    enough.
    """
    return isinstance(form, ByRelevance) and not isinstance(form.base, ByCount)


def chances_of_error(marginals: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The probability that each predicted label is wrong."""
    return np.where(labels, 1 - marginals, marginals)


@np.errstate(under="ignore")
def product_distribution(marginals: np.ndarray) -> np.ndarray:
    """Probabilities of all 2^K sets of independent events; event i is bit i of the index."""
    dense = np.ones((len(marginals), 1))
    for marginal in marginals.T[:, :, np.newaxis]:
        dense = np.concatenate([dense * (1 - marginal), dense * marginal], axis=1)
    return dense


@np.errstate(under="ignore")
def independent_risk(form: LossForm, marginals: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Expected loss of checked predictions, one for each row of marginals."""
    errors = chances_of_error(marginals, labels)
    match form:
        case ByCount():
            return number_of_events(errors) @ form.deficits()
        case Terms():
            right = 1 - errors
            together = (mass * (1 - right[:, labels].prod(axis=1)) for labels, mass in form.larger)
            return errors @ form.singles + sum(together)
        case Table():
            losses = loss_table(form)
            return np.array([product_distribution(of_row[np.newaxis])[0] @ losses for of_row in errors])
        case ByRelevance() | ByOverlap():
            return 1 - independent_worth(form, marginals, labels)


@np.errstate(under="ignore")
def independent_worth(form: ByCount | ByRelevance | ByOverlap, marginals: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """One minus the risk, with all its digits where it is far below 1; for forms that know no label by name."""
    if isinstance(form, ByCount):
        return number_of_events(chances_of_error(marginals, labels)) @ form.values[::-1]
    sizes = np.count_nonzero(labels, axis=1)
    worths = np.empty(len(marginals))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        chosen = labels[rows].astype(bool)
        # Right labels among those predicted and among the others are two independent numbers.
        relevant = number_of_events(marginals[rows][chosen].reshape(rows.size, size))
        irrelevant = number_of_events(1 - marginals[rows][~chosen].reshape(rows.size, -1))
        worths[rows] = ((relevant @ worths_by_right(form, size)) * irrelevant).sum(axis=1)
    return worths


def worths_by_right(form: ByRelevance | ByOverlap, n_predicted: int) -> np.ndarray:
    """Worth by the number of right labels among those predicted (rows) and among the others (columns)."""
    n_labels, others = form.n_labels, form.n_labels - n_predicted
    relevant, irrelevant = np.arange(n_predicted + 1)[:, np.newaxis], np.arange(others + 1)
    if isinstance(form, ByOverlap):
        return 1 - form.losses(*np.broadcast_arrays(relevant, n_predicted - relevant, others - irrelevant))
    n_relevant = relevant + others - irrelevant
    right = relevant + irrelevant
    are_all = n_relevant == n_labels  # there the base remains
    grown = np.where(are_all, 1, 1 + form.beta * relevant / np.maximum(right, 1))
    values = form.base.values  # type: ignore[union-attr]  # of counts: others need the joint distribution
    return values[right] * grown / np.where(are_all, 1, 1 + form.beta * n_relevant / n_labels)


@np.errstate(under="ignore")
def error_slopes(form: Terms | Table, errors: np.ndarray) -> np.ndarray:
    """By how much the risk grows with the probability of error of each label: it is linear in each of them."""
    if isinstance(form, Table):
        losses = loss_table(form)
        return np.array([_slopes_of_table(losses, of_row) for of_row in errors])
    right = 1 - errors
    slopes = np.tile(form.singles, (len(errors), 1))
    for labels, mass in form.larger:
        for label in labels:
            slopes[:, label] += mass * right[:, [other for other in labels if other != label]].prod(axis=1)
    return slopes


def _slopes_of_table(losses: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Average a table of all sets of wrong labels, one label after another from the highest bit down."""
    slopes = np.empty(errors.size)
    for label in range(errors.size - 1, -1, -1):
        right, wrong = np.split(losses, 2)
        slopes[label] = product_distribution(errors[np.newaxis, :label])[0] @ (wrong - right)
        losses = (1 - errors[label]) * right + errors[label] * wrong
    return slopes
