"""Expected losses where labels are independent: no support to sum over, but a recursion for each kind of measure."""

from functools import singledispatch
from typing import Any

import numpy as np

from choral.decisions.poisson_binomial import number_of_events
from choral.decisions.risks.relevance import RelevanceRisk
from choral.decisions.risks.table import loss_table
from choral.measures import AdditiveMeasure, CountingMeasure, MoebiusMeasure, RelevanceMeasure


def chances_of_error(marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """The probability that each predicted label is wrong."""
    return np.where(predictions, 1 - marginals, marginals)


@np.errstate(under="ignore")
def product_distribution(marginals: np.ndarray) -> np.ndarray:
    """Probabilities of all 2^K sets of independent events; event i is bit i of the index."""
    dense = np.ones((len(marginals), 1))
    for marginal in marginals.T[:, :, np.newaxis]:
        dense = np.concatenate([dense * (1 - marginal), dense * marginal], axis=1)
    return dense


@singledispatch
@np.errstate(under="ignore")
def independent_risk(measure: Any, marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Expected loss of checked predictions, one for each row of marginals: for any measure, from its table."""
    losses = loss_table(measure, marginals.shape[1])
    errors = chances_of_error(marginals, predictions)
    return np.array([product_distribution(of_row[np.newaxis])[0] @ losses for of_row in errors])


@independent_risk.register
@np.errstate(under="ignore")
def _(measure: CountingMeasure, marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return number_of_events(chances_of_error(marginals, predictions)) @ measure.deficits(marginals.shape[1])


@independent_risk.register
def _(measure: AdditiveMeasure, marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return chances_of_error(marginals, predictions) @ measure.weights


@independent_risk.register
@np.errstate(under="ignore")
def _(measure: MoebiusMeasure, marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    right = 1 - chances_of_error(marginals, predictions)
    return sum(mass * (1 - right[:, labels].prod(axis=1)) for labels, mass in measure.terms)


@independent_risk.register
def _(measure: RelevanceMeasure, marginals: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return 1 - independent_worth(measure, marginals, predictions)


@np.errstate(under="ignore")
def independent_worth(
    measure: CountingMeasure | RelevanceMeasure, marginals: np.ndarray, predictions: np.ndarray
) -> np.ndarray:
    """One minus the risk, with all its digits where it is far below 1."""
    if isinstance(measure, CountingMeasure):
        return number_of_events(chances_of_error(marginals, predictions)) @ measure.values(marginals.shape[1])[::-1]
    risk = RelevanceRisk(measure, marginals.shape[1])
    sizes = np.count_nonzero(predictions, axis=1)
    worths = np.empty(len(marginals))
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        chosen = predictions[rows].astype(bool)
        # Right labels among those predicted and among the others are two independent numbers.
        relevant = number_of_events(marginals[rows][chosen].reshape(rows.size, size))
        irrelevant = number_of_events(1 - marginals[rows][~chosen].reshape(rows.size, -1))
        worths[rows] = ((relevant @ _relevance_worths(risk, size)) * irrelevant).sum(axis=1)
    return worths


def _relevance_worths(risk: RelevanceRisk, n_predicted: int) -> np.ndarray:
    """Worth by the number of right labels among those predicted (rows) and among the others (columns)."""
    others = risk.n_labels - n_predicted
    relevant, irrelevant = np.arange(n_predicted + 1)[:, np.newaxis], np.arange(others + 1)
    return risk.worth(risk.n_labels - relevant - irrelevant, relevant, relevant + others - irrelevant)


@singledispatch
@np.errstate(under="ignore")
def error_slopes(measure: Any, errors: np.ndarray) -> np.ndarray:
    """By how much the risk grows with the probability of error of each label: it is linear in each of them."""
    losses = loss_table(measure, errors.shape[1])
    return np.array([_slopes(losses, of_row) for of_row in errors])


@error_slopes.register
@np.errstate(under="ignore")
def _(measure: MoebiusMeasure, errors: np.ndarray) -> np.ndarray:
    right = 1 - errors
    slopes = np.zeros(errors.shape)
    for labels, mass in measure.terms:
        for label in labels:
            slopes[:, label] += mass * right[:, [other for other in labels if other != label]].prod(axis=1)
    return slopes


def _slopes(losses: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """Average a table of all sets of wrong labels, one label after another from the highest bit down."""
    slopes = np.empty(errors.size)
    for label in range(errors.size - 1, -1, -1):
        right, wrong = np.split(losses, 2)
        slopes[label] = product_distribution(errors[np.newaxis, :label])[0] @ (wrong - right)
        losses = (1 - errors[label]) * right + errors[label] * wrong
    return slopes
