"""From the values of a counting measure to its Moebius masses by size, and back.

The two are a binomial transform apart: alternating sums of binomials, useless in doubles beyond 20 labels. So either a
closed form, or exact fractions.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from choral.measures import count_tables

EXACT_LABELS = 64  # alternating sums of binomials beyond this take too long to be useful
MAX_STEPS = 10**9  # of the occupancy recursion, draws times labels: some seconds
ENOUGH_DRAWS = 30.0  # K * (log K + 30) draws leave out a label with a probability of exp(-30), 1e-13


def masses_of_values(values: Sequence[Fraction]) -> list[Fraction]:
    """The binomial transform, exactly: mass of size j is C(K, j) * sum_i (-1)^(j - i) C(j, i) v_i."""
    n_labels = len(values) - 1
    masses = []
    differences = list(values)
    for size in range(n_labels + 1):  # differences[0] is the j-th forward difference at 0
        masses.append(math.comb(n_labels, size) * differences[0])
        differences = [after - before for before, after in pairwise(differences)]
    return masses


def values_of_masses(masses: np.ndarray) -> list[float]:
    """v(0), v(1/K), ..., v(1) from masses of either sign, exactly."""
    n_labels = masses.size - 1
    if n_labels > EXACT_LABELS:
        raise ValueError(f"negative masses are summed up for at most {EXACT_LABELS} labels; got {n_labels}.")
    each = [Fraction(mass) / math.comb(n_labels, size) for size, mass in enumerate(masses.tolist())]
    total = sum(map(Fraction, masses.tolist()))
    return [
        float(sum(math.comb(right, size) * each[size] for size in range(right + 1)) / total)
        for right in range(n_labels + 1)
    ]


def tables_of_mixture(shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, deficits and weights of the mixture of binomial measures k = 1, 2, ..., K with these shares."""
    n_labels = shares.size
    values, deficits, weights = np.zeros(n_labels + 1), np.zeros(n_labels + 1), np.zeros(n_labels)
    for k in np.flatnonzero(shares) + 1:
        measure = np.array([k]), n_labels, n_labels
        values += shares[k - 1] * count_tables.binomial_worths(*measure)[0, ::-1]
        deficits += shares[k - 1] * count_tables.binomial_deficits(*measure)[0]
        weights += shares[k - 1] * count_tables.binomial_weights(*measure)[0]
    return values, deficits, weights


def all_mass_at(size: int, n_labels: int) -> np.ndarray:
    """1 at this size, 0 elsewhere."""
    return (np.arange(n_labels + 1) == size).astype(float)


def occupancy(alpha: float, n_labels: int) -> np.ndarray:
    r"""Distribution of the number of different labels in ``alpha`` draws with replacement.

    It is :math:`K (K-1) \dots (K-j+1) \, S(\alpha, j) / K^\alpha` with S a Stirling number of the second kind. Its
    recursion over the draws has positive terms only, so that nothing cancels or overflows. When nearly every label has
    been drawn, the first term of the alternating sum, :math:`\binom{K}{j} (j / K)^\alpha`, is all that counts.
    """
    if alpha > n_labels * (math.log(n_labels) + ENOUGH_DRAWS):
        return _nearly_all_drawn(alpha, n_labels)
    if alpha * min(alpha, n_labels) > MAX_STEPS:
        raise ValueError(
            f"the Moebius masses of PolynomialMeasure({alpha:g}) for {n_labels} labels would take "
            f"{alpha * min(alpha, n_labels):.1g} steps; at most {MAX_STEPS:.1g} are taken."
        )
    old = np.arange(n_labels + 1) / n_labels  # the next draw repeats one of j labels
    new = (n_labels - np.arange(n_labels + 1)) / n_labels
    masses = all_mass_at(1, n_labels)
    with np.errstate(under="ignore"):
        for draws in range(2, int(alpha) + 1):
            most = min(draws, n_labels)
            masses[1 : most + 1] = masses[1 : most + 1] * old[1 : most + 1] + masses[:most] * new[:most]
    return masses


def _nearly_all_drawn(alpha: float, n_labels: int) -> np.ndarray:
    """From each size to the next smaller one, the first term shrinks to less than 1e-13 of itself."""
    larger = np.arange(n_labels, 1, -1)  # sizes K, K - 1, ..., 2 and the labels missing from the next smaller sets
    missing = np.arange(1, n_labels)
    with np.errstate(under="ignore"):
        shrinks = larger / missing * np.exp(alpha * np.log1p(-1 / larger))
        return np.concatenate([[0.0], np.cumprod(shrinks)[::-1], [1.0]])
