r"""Exponents of a pool of several models: marginals and dependence apart.

.. math:: p(y \mid x) \propto \prod_m \Big[ \prod_i p_{mi}(y_i \mid x) \Big]^{a_m}
    \prod_j \Big[ \frac{q_j(y \mid x)}{\prod_i q_{ji}(y_i \mid x)} \Big]^{c_j}

The first factors are the marginals of all models, the second ones the lifts of those that know label sets: how much
more probable they find a label set than if labels were independent. The frequencies of label sets in training are a
lift, too, the same for all rows. A model may know much of labels one by one and little of how they depend on each
other, or the other way round, so each has an exponent for both.

Exponents of marginals are first those with the best likelihood of labels, one by one: every row has K labels to learn
them from. Then all exponents together are those with the best score S of `choral.learners.pooling`, not far from there.
In the end decisions for left-out rows are compared: with these exponents, without the frequencies, with half of all
lifts, and with the marginals alone, all as they are or sharper; others are taken only where they are better by more
than a standard error. For where label sets hardly repeat, the true one is rarely among those seen, and the best score
may come from lifts that spoil decisions, above all from frequencies, which are the same for all rows.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from choral.learners.evidence import Evidence
from choral.learners.pooling import MAX_EXPONENT, SHARPNESSES, Pool, first_of_the_best, judge

PULL_OF_MARGINALS = 10.0  # weight of the squared distance from the exponents by likelihood, beside the sum over rows
PULL_OF_LIFTS = 1.0
FIRST_LIFT = 0.5  # sum of the exponents of lifts to begin with
RIDGE = 1e-3  # weight of the squared distance from equal exponents, beside the mean over rows


def fit_stack(evidence: Sequence[Evidence], Y: np.ndarray, rows: np.ndarray, known: np.ndarray | None = None) -> Pool:
    """Learn the exponents from what models say of some training rows, not having been fitted on them.

    Parameters
    ----------
    evidence : sequence of Evidence
        Marginals have log odds; the others are lifts, the last one that of the frequencies.
    Y : ndarray of shape (n_rows, n_labels)
    rows : ndarray of int
        The rows to learn from.
    known : bool ndarray of shape (n_rows, n_labels), optional
        The labels by which rows are judged, all unless given.
    """
    is_lift = np.array([one.log_odds is None for one in evidence])
    start = np.where(is_lift, FIRST_LIFT / max(1, is_lift.sum()), 0.0)
    start[~is_lift] = _by_likelihood([one[rows] for one in evidence if one.log_odds is not None], Y[rows], known, rows)
    pull = np.where(is_lift, PULL_OF_LIFTS, PULL_OF_MARGINALS)
    by_score, score = judge(evidence, Y, rows, start, known).best_exponents(pull)
    halved, alone = np.where(is_lift, by_score / 2, by_score), np.where(is_lift, 0.0, start)
    choices = [_sharper(exponents) for exponents in (by_score, np.append(by_score[:-1], 0.0), halved, alone)]
    losses = [judge(evidence, Y, rows, of_kind[0], known).losses(of_kind) for of_kind in choices]
    best = first_of_the_best(np.concatenate(losses))
    return Pool(np.unique(Y, axis=0), np.concatenate(choices)[best], score)


def _sharper(exponents: np.ndarray) -> np.ndarray:
    return np.array(SHARPNESSES)[:, np.newaxis] * exponents


def _by_likelihood(
    marginals: Sequence[Evidence], Y: np.ndarray, known: np.ndarray | None, rows: np.ndarray
) -> np.ndarray:
    """Exponents with the best likelihood of labels one by one, drawn a little towards equal ones that sum to 1."""
    equal = np.full(len(marginals), 1 / len(marginals))
    if len(marginals) == 1:
        return equal
    log_odds = np.stack([one.log_odds for one in marginals if one.log_odds is not None], axis=-1)
    counted = np.ones(Y.shape) if known is None else known[rows].astype(float)

    def loss(exponents: np.ndarray) -> tuple[float, np.ndarray]:
        pooled, away = log_odds @ exponents, exponents - equal
        errors = counted * (1 / (1 + np.exp(-pooled)) - Y)
        total = (counted * (np.logaddexp(0, pooled) - Y * pooled)).sum() / len(Y)
        return total + RIDGE * away @ away, np.einsum("nk,nkm->m", errors, log_odds) / len(Y) + 2 * RIDGE * away

    bounds, precise = [(0, MAX_EXPONENT)] * len(equal), {"ftol": 1e-14, "gtol": 1e-9}
    return minimize(loss, equal, jac=True, method="L-BFGS-B", bounds=bounds, options=precise).x
