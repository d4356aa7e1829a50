r"""The Choquet integral, twice: by sorting, and from Moebius masses.

.. math:: C_\mu(u) = \sum_i (u_{(i)} - u_{(i-1)}) \, \mu(A_{(i)}) = \sum_T m(T) \min_{i \in T} u_i

with :math:`u_{(1)} \le \dots \le u_{(K)}` and :math:`A_{(i)} = \{(i), \dots, (K)\}`. The two forms share no code
but the sorting, so that each checks the other. For a counting measure the integral is an ordered weighted average.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from choral._array_api import Array, xp_of
from choral._typing import FloatArray
from choral._validation import check_rows, refuse_where
from choral.measures import ByCount, ByRelevance, Form, Measure, Table, Terms, check_measure
from choral.measures.forms import PlainForm
from choral.rows.blocks import row_slices

MAX_CANCELLATION = 1e6  # larger masses of both signs could leave fewer than ten digits of a result in [0, 1]

Integrate = Callable[[np.ndarray], Any]  # from rows of values to their integrals


def choquet_integral(u: ArrayLike, measure: Measure) -> float | FloatArray:
    r"""Choquet integral of one row of values or of many, in the sorted form.

    .. math:: \int u \, d\mu = \sum_{i=1}^{K} (u_{(i)} - u_{(i-1)}) \, \mu(A_{(i)})

    with the values in increasing order, and the set :math:`A_{(i)}` of the labels whose value is at least
    :math:`u_{(i)}`.

    Parameters
    ----------
    u : array-like of shape (n_labels,) or (n_rows, n_labels)
        Non-negative values, one for each label.
    measure : Measure
        What each set of labels is worth. `RelevanceMeasure` depends on true labels: see `choquet_loss`.

    Returns
    -------
    integral : float, or ndarray of shape (n_rows,)
        One number for one row of values, one for each of many rows.

    See Also
    --------
    choquet_integral_moebius : The Choquet integral from Moebius masses.
    choquet_loss : The loss of any measure.
    choral.displays.ChoquetDisplay : The Choquet integral of one row.

    Examples
    --------
    >>> from choral import BinomialMeasure, HammingMeasure, SubsetMeasure
    >>> u = [0.8, 0.3, 0.9]
    >>> round(choquet_integral(u, HammingMeasure()), 3), round(choquet_integral(u, SubsetMeasure()), 3)
    (0.667, 0.3)
    >>> round(choquet_integral(u, BinomialMeasure(2)), 3)  # mean of the minima 0.3, 0.3, 0.8 of the pairs
    0.467
    """
    return _by_blocks(lambda form: partial(sorted_form, form=form), u, measure)


def choquet_integral_moebius(u: ArrayLike, measure: Measure) -> float | FloatArray:
    r"""Choquet integral from Moebius masses: the sum of m(T) * min of u over T.

    .. math:: \int u \, d\mu = \sum_T m(T) \min_{i \in T} u_i

    For a counting measure the masses are gathered by size, and the mean of the minima over all sets of one size is
    an ordered weighted average. This form is the better choice only for measures with few masses. It is refused where
    large masses of both signs would cancel the result away.

    Parameters
    ----------
    u : array-like of shape (n_labels,) or (n_rows, n_labels)
        Non-negative values, one for each label.
    measure : Measure
        What each set of labels is worth.

    Returns
    -------
    integral : float, or ndarray of shape (n_rows,)
        One number for one row of values, one for each of many rows.

    See Also
    --------
    choquet_integral : The Choquet integral, in the sorted form.
    MoebiusMeasure : Masses of some label sets.

    Examples
    --------
    >>> from choral import MoebiusMeasure
    >>> choquet_integral_moebius([0.8, 0.3, 0.9], MoebiusMeasure({(0, 2): 0.5, (1,): 0.5}))
    0.55
    """
    return _by_blocks(_from_masses, u, measure)


def sorted_form(u: np.ndarray, form: PlainForm) -> np.ndarray:
    """The sorted form for checked rows."""
    if isinstance(form, ByCount):
        return np.sort(u, axis=1) @ form.weights()  # the least u weighs as the largest error does
    if isinstance(form, Terms) and not form.larger:
        return u @ form.singles
    order = np.argsort(u, axis=1)
    return add_steps(u, order, form.nested_worths(order))


def add_steps(u: Array, order: Array, worths: Array) -> Array:
    """Add up the steps of the sorted values, each times the worth of its nested set."""
    xp = xp_of(u)
    values = xp.take_along_axis(u, order, axis=1)
    steps = xp.concat([values[:, :1], values[:, 1:] - values[:, :-1]], axis=1)
    if xp is np:
        return np.einsum("ij,ij->i", steps, np.broadcast_to(worths, steps.shape))  # without a temporary
    return xp.sum(steps * worths, axis=1)


@np.errstate(under="ignore")
def _by_blocks(integrate: Callable[[PlainForm], Integrate], u: ArrayLike, measure: Measure) -> float | FloatArray:
    """Check, then integrate some rows at a time; what depends on the measure alone is computed once."""
    check_measure(measure)
    if sp.issparse(u):
        raise ValueError("u must be dense; u.toarray() makes it so.")
    rows, single = check_rows("u", u)
    refuse_where("u must be finite and non-negative", "u", rows, ~((rows >= 0) & (rows < np.inf)))
    integrate_rows = integrate(_plain_form(measure, rows.shape[1]))
    integral = np.empty(len(rows))
    for block in row_slices(rows.shape, rows.itemsize):
        integral[block] = integrate_rows(rows[block])
    return float(integral[0]) if single else integral


def _plain_form(measure: Measure, n_labels: int) -> PlainForm:
    form: Form = measure.form(n_labels)
    if isinstance(form, ByRelevance):
        raise TypeError(f"measure must be one of choral.measures that needs no true labels; got {measure!r}.")
    return form


def _from_masses(form: PlainForm) -> Integrate:
    if isinstance(form, ByCount):
        weights = _weights_of_minima(form)
        return lambda u: np.sort(u, axis=1) @ weights
    if isinstance(form, Table):
        _refuse_cancellation(form.masses)
        return partial(_masses_times_minima, form.masses)
    return lambda u: u @ form.singles + sum(mass * u[:, labels].min(axis=1) for labels, mass in form.larger)


def _weights_of_minima(form: ByCount) -> np.ndarray:
    """What the least, the second least, ... value of a row weighs."""
    n_labels = form.n_labels
    masses: Sequence[Any] = form.masses().tolist()
    if min(masses) < 0:  # doubles would cancel
        masses = form.exact_masses()
    weights = [0] * n_labels
    for size, mass in enumerate(masses):
        if mass:
            shares = _shares_of_minima(n_labels, size)
            weights = [weight + mass * share for weight, share in zip(weights, shares, strict=True)]
    return np.array(weights, dtype=float)


def _shares_of_minima(n_labels: int, size: int) -> list[Fraction]:
    """In which share of all sets of this size the least, the second least, ... value is the minimum.

    The i-th least is, with any size - 1 of the K - i larger ones: C(K - i, size - 1) / C(K, size), in whole numbers.
    """
    total = math.comb(n_labels, size)
    count = math.comb(n_labels - 1, size - 1)
    shares = []
    for larger in range(n_labels - 1, -1, -1):
        shares.append(Fraction(count, total))
        count = count * (larger - size + 1) // max(larger, 1)
    return shares


def _masses_times_minima(masses: np.ndarray, u: np.ndarray) -> np.ndarray:
    integral = np.empty(len(u))
    minima = np.empty(masses.size)
    for row, values in enumerate(u):
        minima[0] = values.max()  # the empty set has no mass; as a start, it must not lower a minimum
        for label, value in enumerate(values):
            np.minimum(minima[: 1 << label], value, out=minima[1 << label : 2 << label])
        integral[row] = masses @ minima
    return integral


def _refuse_cancellation(masses: np.ndarray) -> None:
    size = np.abs(masses).sum()
    if size > MAX_CANCELLATION:
        raise ValueError(
            f"the Moebius masses of this measure add up to {size:.1e} in absolute value: the result, at most 1, would "
            "be rounding error. choquet_integral does not have this problem."
        )
