r"""Which labels are wrong together more often, or less often, than independent errors would be.

For the errors a and b of two labels, the *excess* is mean(a b) - mean(a) mean(b): the share of rows in which both are
wrong beyond what independent errors of these rates have. Only rows count in which both labels are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from choral._typing import FloatArray
from choral.explanation.co_errors import CoErrors
from choral.explanation.error_blocks import columns, error_blocks, known_labels
from choral.explanation.interactions import Pair, sum_interactions
from choral.explanation.pair_tests import excess_interval, fisher_exact, two_sided
from choral.measures import Measure
from choral.rows import Rows, add_up


class ErrorPair(NamedTuple):
    """How often two labels are wrong together; for scores, the mean product of their errors.

    Attributes
    ----------
    first, second : int
        The labels, the one with the lower number first.
    together : float
        The share of rows in which both are wrong, of those in which both are known.
    expected : float
        What it would be if the errors were independent: the product of both error rates.
    lower, upper : float
        Interval of ``together - expected``, for all pairs of labels at once (Bonferroni). For hard labels from exact
        limits, which hold for rare errors too: see `choral.explanation.pair_tests`. It includes 0 wherever the p-value
        is above 1 - confidence. For scores by a normal approximation, with the larger of the estimated variance and
        that of independent errors.
    p_value : float
        Of the hypothesis that the errors are independent, multiplied by the number of pairs of labels (Bonferroni), at
        most 1. Fisher's exact test for hard labels, a normal approximation for scores. Weighted rows count as that
        number of equal ones which tells as much (Kish's effective size).
    interaction : float
        What it changes in the mean loss that both may be wrong in the same row: see `choral.explanation.interactions`.
        nan for measures that depend on the true labels and more than 10 labels.
    """

    first: int
    second: int
    together: float
    expected: float
    lower: float
    upper: float
    p_value: float
    interaction: float

    @property
    def excess(self) -> float:
        """How much more often than expected both are wrong."""
        return self.together - self.expected

    @property
    def ratio(self) -> float:
        """How many times as often as expected; nan where nothing is expected."""
        return self.together / self.expected if self.expected else float("nan")


@dataclass(frozen=True, eq=False)
class ErrorPairs:
    """The strongest pairs of labels, and a matrix of all pairs of some labels.

    Attributes
    ----------
    pairs : tuple of ErrorPair
        Those with the largest excess of each sign, from the largest down to the one furthest below 0.
    labels : tuple of int
        The labels of the matrix: those with the largest shares, at most 24, the largest first.
    correlations : ndarray of shape (n, n)
        Correlations of the errors of these labels, in [-1, 1]; 0 for a label that is always or never wrong.
    is_sampled : bool
        Whether pairs were looked for, and correlations computed, in an even sample of rows: the figures of the pairs
        themselves are always those of all rows.
    """

    pairs: tuple[ErrorPair, ...]
    labels: tuple[int, ...]
    correlations: FloatArray
    is_sampled: bool

    @property
    def more(self) -> tuple[ErrorPair, ...]:
        """Pairs that are wrong together more often than expected, the strongest first."""
        return tuple(pair for pair in self.pairs if pair.excess > 0)

    @property
    def less(self) -> tuple[ErrorPair, ...]:
        """Pairs that are wrong together less often than expected, the strongest first."""
        return tuple(pair for pair in reversed(self.pairs) if pair.excess < 0)


def find_pairs(
    rows: Rows,
    measure: Measure,
    co_errors: CoErrors,
    matrix_labels: Sequence[int],
    *,
    n_pairs: int,
    confidence: float,
) -> ErrorPairs:
    """The strongest pairs of labels.

    Parameters
    ----------
    rows : Rows
    measure : Measure
        Of the interactions.
    co_errors : CoErrors
        Of these rows: where the pairs are looked for.
    matrix_labels : sequence of int
        The labels of the matrix of correlations.
    n_pairs : int
        How many pairs of each sign at most.
    confidence : float
        Of the intervals, for all pairs at once.
    """
    correlations = co_errors.correlations(np.array(matrix_labels, dtype=np.intp))
    pairs, listed = co_errors.strongest(n_pairs), []
    if pairs:
        moments = add_up([rows], partial(_sum_moments, measure=measure, pairs=pairs))
        listed = moments.judge(pairs, rows.n_labels * (rows.n_labels - 1) // 2, confidence)
    listed.sort(key=lambda pair: -pair.excess)
    return ErrorPairs(tuple(listed), tuple(matrix_labels), correlations, co_errors.is_sampled)


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Sums over the rows in which both labels of a pair are known, a column for each pair; those of two batches add up.

    Attributes
    ----------
    moments : ndarray of shape (3, 3, n_pairs)
        At [p, q], the sum of a**p b**q of the errors of both labels.
    squares : ndarray of shape (n_pairs,)
        Squares of the weights.
    interactions : ndarray of shape (n_pairs,)
    weight : float
        Of all rows with a known label.
    is_hard : bool
    """

    moments: FloatArray
    squares: FloatArray
    interactions: FloatArray
    weight: float
    is_hard: bool

    def __add__(self, other: "PairMoments") -> "PairMoments":
        return PairMoments(
            self.moments + other.moments,
            self.squares + other.squares,
            self.interactions + other.interactions,
            self.weight + other.weight,
            self.is_hard and other.is_hard,
        )

    def judge(self, pairs: Sequence[Pair], n_all: int, confidence: float) -> list[ErrorPair]:
        """Excess, interval and test of each pair, corrected for as many pairs as there are."""
        known = self.moments[0, 0]
        # Rows of different weights tell less than as many of equal ones: Kish's effective size.
        n_rows = known * (known / np.where(known > 0, self.squares, 1))
        means = self.moments / np.where(known > 0, known, 1)
        a, b = means[1, 0], means[0, 1]
        excess = means[1, 1] - a * b
        # The mean square of (a - mean)(b - mean), multiplied out.
        spread = (
            means[2, 2] - 2 * b * means[2, 1] + b**2 * means[2, 0]
            - 2 * a * means[1, 2] + 4 * a * b * means[1, 1] + a**2 * means[0, 2] - 3 * a**2 * b**2
        )  # fmt: skip
        tail = (1 - confidence) / (2 * n_all)
        if self.is_hard:
            p_values = np.minimum(1, n_all * self._fisher(n_rows, means))
            lower, upper = excess_interval(means[1, 1], a, b, n_rows, tail)
            # Where the test does not tell the errors from independent ones, the interval must not either.
            is_open = p_values > 1 - confidence
            lower, upper = (
                np.where(is_open, np.minimum(lower, 0), lower),
                np.where(is_open, np.maximum(upper, 0), upper),
            )
        else:
            independent = (means[2, 0] - a**2) * (means[0, 2] - b**2)  # the variance of (a - mean)(b - mean) then
            error = np.sqrt(np.maximum(np.maximum(spread - excess**2, independent), 0) / np.maximum(n_rows, 1))
            p_values = np.minimum(1, n_all * two_sided(excess, error))
            lower, upper = excess + ndtri(tail) * error, excess - ndtri(tail) * error
        figures = means[1, 1], a * b, lower, upper, p_values, self.interactions / self.weight
        return [ErrorPair(*pair, *of_pair) for pair, of_pair in zip(pairs, np.transpose(figures).tolist(), strict=True)]

    @staticmethod
    def _fisher(n_rows: FloatArray, means: FloatArray) -> FloatArray:
        n_rows = np.rint(n_rows)
        both, first, second = (np.rint(means[place] * n_rows) for place in ((1, 1), (1, 0), (0, 1)))
        return fisher_exact(np.maximum(both, first + second - n_rows), first, second, n_rows)  # rounded one by one


def _sum_moments(models: Sequence[Rows], measure: Measure, pairs: Sequence[Pair]) -> PairMoments:
    rows = models[0]
    form = measure.form(rows.n_labels)
    first, second = np.array(pairs).T
    moments, squares, interactions = np.zeros((3, 3, len(pairs))), np.zeros(len(pairs)), np.zeros(len(pairs))
    weight, is_hard = 0.0, True
    for block in error_blocks(rows):
        weights = block.row_weights()
        flags = None if block.n_observed is None else known_labels(rows, block.rows)
        known = None if flags is None else flags[:, first] & flags[:, second]
        weight += float(weights.sum())
        squares += weights @ weights if known is None else weights**2 @ known
        is_hard = is_hard and block.wrong is not None
        a, b = columns(block.errors, first), columns(block.errors, second)
        if block.wrong is None:
            moments += _moments(a, b, weights, known)
            interactions += sum_interactions(block, measure, form, pairs)
        else:
            together = a & b
            moments += _counts(a, b, together, weights, known)
            interactions += sum_interactions(block, measure, form, pairs, together)
    return PairMoments(moments, squares, interactions, weight, is_hard)


def _counts(
    a: np.ndarray, b: np.ndarray, together: np.ndarray, weights: FloatArray, known: np.ndarray | None
) -> FloatArray:
    """Sums of products of powers of two errors that are 0 or 1, the powers of which are themselves."""
    found = np.empty((3, 3, a.shape[1]))
    found[0, 0] = weights.sum() if known is None else weights @ known
    flags = (a, b, together) if known is None else (a & known, b & known, together)
    found[1:, 0], found[0, 1:], found[1:, 1:] = (weights @ some for some in flags)
    return found


def _moments(a: np.ndarray, b: np.ndarray, weights: FloatArray, known: np.ndarray | None) -> FloatArray:
    """Sums of products of powers of two errors."""
    found = np.empty((3, 3, a.shape[1]))
    found[0, 0] = weights.sum() if known is None else weights @ known
    powers_a, powers_b = ((1.0 if known is None else known, *(some**p for p in (1, 2))) for some in (a, b))
    for p, q in np.ndindex(3, 3):
        if p or q:
            product = powers_a[p] * powers_b[q]
            found[p, q] = weights @ (product if known is None else product * known)
    return found
