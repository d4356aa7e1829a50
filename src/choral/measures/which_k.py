r"""From what wrong labels cost to a parameter: the nearest binomial k and polynomial alpha, and how near they are.

Deficits of both families grow with their parameter, for each number of wrong labels. So where costs are above a member
of the family, a larger parameter helps, and where they are below, a smaller one: the nearest member is where both
distances are alike, and bisection finds it.
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from choral.measures.counting import CountingMeasure
from choral.measures.families import describe_parameter
from choral.measures.formulas import BinomialMeasure, PolynomialMeasure

FAR = 0.1  # of the cost of a row with all labels wrong: from there on, the text advises to take the costs themselves
LARGEST_POWER = 800.0  # (1 - 1/K) ** (800 K) < exp(-800) is 0 as a double: larger alphas are all the subset 0/1 loss


@dataclass(frozen=True)
class WhichK:
    """The answer of `which_k`: costs as a measure, and the members of the two families that are nearest to it.

    Parameters
    ----------
    measure : CountingMeasure
        The costs themselves, divided by the cost of a row with all labels wrong.
    k : int
        The nearest binomial loss is that of ``BinomialMeasure(k)``.
    k_deviation : float
        How far a row's loss under k is at most from its cost, in shares of the cost of a row with all labels wrong.
    alpha : float
        The nearest polynomial loss is that of ``PolynomialMeasure(alpha)``.
    alpha_deviation : float
        Likewise, under alpha.

    See Also
    --------
    which_k : The k or alpha that fits what errors cost.
    BinomialMeasure : Sets of k labels must be right.
    PolynomialMeasure : The share of right labels to a power.

    Examples
    --------
    >>> from choral import which_k
    >>> which_k([0, 4, 5, 5]).k
    2
    """

    measure: CountingMeasure
    k: int
    k_deviation: float
    alpha: float
    alpha_deviation: float

    def __str__(self) -> str:
        n_labels = self.measure.min_labels
        lines = [
            f"{n_labels} labels; costs and losses as shares of the cost of a row with all labels wrong.",
            f"Nearest k: {describe_parameter('binomial', self.k, n_labels)}; "
            f"no row's loss is further than {self.k_deviation:.3f} from its cost.",
            f"Nearest alpha: {_describe_alpha(self.alpha)}; "
            f"no row's loss is further than {self.alpha_deviation:.3f} from its cost.",
        ]
        if min(self.k_deviation, self.alpha_deviation) > FAR:
            lines.append("Neither is near: take the measure, which has the costs themselves.")
        return "\n".join(lines)


def which_k(costs: ArrayLike) -> WhichK:
    r"""The binomial k and the polynomial alpha whose losses are nearest to what wrong labels cost.

    With K labels, e of them wrong, ``BinomialMeasure(k)`` loses :math:`d_k(e) = 1 - \binom{K-e}{k} / \binom{K}{k}`, and
    ``PolynomialMeasure(alpha)`` loses :math:`1 - (1 - e/K)^\alpha`. The nearest one has the least deviation

    .. math:: \max_e \; \bigl| c_e / c_K - d(e) \bigr|.

    The mean loss over rows of any predictions is then at most this deviation away from their mean cost, divided by
    :math:`c_K`. Of ks that are equally near, the smallest is taken.

    Parameters
    ----------
    costs : array-like of shape (n_labels + 1,)
        What a row with 0, 1, ..., K wrong labels costs, in any unit: starts at 0, never decreases, ends above 0.

    Returns
    -------
    answer : WhichK
        ``k`` and ``alpha`` with their deviations, and ``measure``: the costs themselves, which need no k. Print it.

    See Also
    --------
    CountingMeasure.from_costs : The measure of given costs.
    loss_curve : Losses for all k at once.

    Examples
    --------
    A row with a mistake costs 3 to be sent back, and 1 more for each wrong label:

    >>> answer = which_k([0, 4, 5, 6, 7, 8])
    >>> print(answer)
    5 labels; costs and losses as shares of the cost of a row with all labels wrong.
    Nearest k: 2; no row's loss is further than 0.150 from its cost.
    Nearest alpha: 2.18; no row's loss is further than 0.115 from its cost.
    Neither is near: take the measure, which has the costs themselves.
    >>> answer.measure.deficits(5)
    array([0.   , 0.5  , 0.625, 0.75 , 0.875, 1.   ])

    Where people look at two of four labels at a time, and one wrong label spoils what they see:

    >>> which_k([0, 3, 5, 6, 6]).k
    2
    """
    measure = CountingMeasure.from_costs(costs)
    shares = measure.deficits(measure.min_labels)
    k, alpha = _nearest_k(shares), _nearest_alpha(shares)
    return WhichK(
        measure,
        k,
        float(np.abs(_gaps(shares, BinomialMeasure(k))).max()),
        alpha,
        float(np.abs(_gaps(shares, PolynomialMeasure(alpha))).max()),
    )


def _gaps(shares: np.ndarray, measure: CountingMeasure) -> np.ndarray:
    """Deficits minus costs, by the number of wrong labels: for both families they grow with the parameter."""
    return measure.deficits(shares.size - 1) - shares


def _excess(shares: np.ndarray, measure: CountingMeasure) -> float:
    """By how much deficits are too large, minus by how much they are too small: grows with the parameter, 0 is best."""
    gaps = _gaps(shares, measure)
    return float(gaps.max() + gaps.min())


def _nearest_k(shares: np.ndarray) -> int:
    n_labels = shares.size - 1
    ks = range(1, n_labels + 1)
    # At the last k nothing is too small, so there is a first k from which on deficits are rather too large.
    first = 1 + bisect_left(ks, 0.0, hi=n_labels - 1, key=lambda k: _excess(shares, BinomialMeasure(k)))
    return min((k for k in (first - 1, first) if k > 0), key=lambda k: np.abs(_gaps(shares, BinomialMeasure(k))).max())


def _nearest_alpha(shares: np.ndarray) -> float:
    def excess(log_alpha: float) -> float:
        return _excess(shares, PolynomialMeasure(np.exp(log_alpha)))

    if shares[1] == 1 and shares.size > 2:  # any mistake costs everything
        return float(np.inf)
    if excess(0.0) >= 0:  # already too large at the Hamming loss
        return 1.0
    return float(np.exp(brentq(excess, 0.0, np.log(LARGEST_POWER * shares.size), xtol=1e-12)))


def _describe_alpha(alpha: float) -> str:
    return describe_parameter("polynomial", alpha if alpha in (1, np.inf) else float(f"{alpha:.3g}"), 0)
