"""From the values of a counting measure to its Moebius masses by size, and back.

The two are a binomial transform apart: alternating sums of binomials, useless in doubles beyond 20 labels. So either a
closed form, or exact fractions.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from choral._kernels import counting as kernel

EXACT_LABELS = 64  # alternating sums of binomials beyond this take too long to be useful
MOST_DRAWS = 10**5  # of the occupancy recursion
MOST_STEPS = 10**9  # draws times labels: some seconds


def masses_of_values(values: Sequence[Fraction]) -> np.ndarray:
    """The binomial transform, exactly: mass of size j is C(K, j) * sum_i (-1)^(j - i) C(j, i) v_i."""
    n_labels = len(values) - 1
    masses = np.empty(n_labels + 1)
    differences = list(values)
    for size in range(n_labels + 1):  # differences[0] is the j-th forward difference at 0
        masses[size] = float(math.comb(n_labels, size) * differences[0])
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
        values += shares[k - 1] * kernel.binomial_worths(*measure)[0, ::-1]
        deficits += shares[k - 1] * kernel.binomial_deficits(*measure)[0]
        weights += shares[k - 1] * kernel.binomial_weights(*measure)[0]
    return values, deficits, weights


def all_mass_at(size: int, n_labels: int) -> np.ndarray:
    """1 at this size, 0 elsewhere."""
    return (np.arange(n_labels + 1) == size).astype(float)


def occupancy(alpha: float, n_labels: int) -> np.ndarray:
    r"""Distribution of the number of different labels in ``alpha`` draws with replacement.

    It is :math:`K (K-1) \dots (K-j+1) \, S(\alpha, j) / K^\alpha` with S a Stirling number of the second kind; its
    recursion over the draws has positive terms only, so that nothing cancels or overflows.
    """
    if alpha > MOST_DRAWS or alpha * min(alpha, n_labels) > MOST_STEPS:
        raise ValueError(
            f"the Moebius masses of PolynomialMeasure({alpha:g}) would take too long for {n_labels} labels: beyond "
            f"{EXACT_LABELS} labels, alpha goes up to {MOST_DRAWS}, and alpha times labels up to {MOST_STEPS}."
        )
    old = np.arange(n_labels + 1) / n_labels  # the next draw repeats one of j labels
    new = (n_labels - np.arange(n_labels + 1)) / n_labels
    masses = all_mass_at(1, n_labels)
    with np.errstate(under="ignore"):
        for draws in range(2, int(alpha) + 1):
            most = min(draws, n_labels)
            masses[1 : most + 1] = masses[1 : most + 1] * old[1 : most + 1] + masses[:most] * new[:most]
    return masses
