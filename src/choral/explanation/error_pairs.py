r"""Which labels are wrong together more often, or less often, than independent errors would be.

For the errors a and b of two labels, the *excess* is mean(a b) - mean(a) mean(b): the share of rows in which both are
wrong beyond what independent errors of these rates have. Only rows count in which both labels are known.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.stats import hypergeom, norm

from choral._typing import FloatArray
from choral.explanation.co_errors import CoErrors, PairCollector, known_labels
from choral.explanation.error_blocks import error_blocks
from choral.explanation.interactions import Pair, sum_interactions
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
        Interval of ``together - expected``, for all pairs at once (Bonferroni).
    p_value : float
        Of the hypothesis that the errors are independent, multiplied by the number of pairs (Bonferroni), at most 1.
        Fisher's exact test for hard labels, a normal approximation for scores.
    interaction : float
        What it changes in the mean loss that both may be wrong in the same row: see `choral.explanation.interactions`.
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
        Those with the largest excess of either sign, the largest first.
    labels : tuple of int
        The labels of the matrix.
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
        """Pairs that are wrong together more often than expected."""
        return tuple(pair for pair in self.pairs if pair.excess > 0)

    @property
    def less(self) -> tuple[ErrorPair, ...]:
        """Pairs that are wrong together less often than expected."""
        return tuple(pair for pair in self.pairs if pair.excess < 0)


def find_pairs(
    rows: Rows,
    measure: Measure,
    matrix_labels: Sequence[int],
    *,
    n_pairs: int,
    confidence: float,
    co_errors: CoErrors | None = None,
) -> ErrorPairs:
    """The strongest pairs of labels.

    Parameters
    ----------
    rows : Rows
    measure : Measure
        Of the interactions.
    matrix_labels : sequence of int
        The labels of the matrix of correlations.
    n_pairs : int
        How many pairs at most, of both signs together.
    confidence : float
        Of the intervals, for all pairs at once.
    co_errors : CoErrors, optional
        Of these rows, if they are known already.
    """
    found = add_up([rows], _search) if co_errors is None else co_errors
    labels = np.array(matrix_labels, dtype=np.intp)
    correlations = found.correlations(labels)
    pairs = found.strongest(n_pairs)
    if not pairs:
        return ErrorPairs((), tuple(matrix_labels), correlations, found.is_sampled)
    moments = add_up([rows], partial(_moments, measure=measure, pairs=pairs))
    n_all = rows.n_labels * (rows.n_labels - 1) // 2
    listed = sorted(moments.judge(pairs, n_all, confidence), key=lambda pair: -abs(pair.excess))
    return ErrorPairs(tuple(listed), tuple(matrix_labels), correlations, found.is_sampled)


def _search(models: Sequence[Rows]) -> CoErrors:
    collector = PairCollector(models[0])
    for block in error_blocks(models[0]):
        collector.add(block)
    return collector.finish()


# The figures of a few pairs, from all rows


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Sums over rows in which both labels of a pair are known, a column for each pair; those of two batches add up.

    Attributes
    ----------
    moments : ndarray of shape (3, 3, n_pairs)
        At [p, q], the sum of a**p b**q of the errors of both labels.
    interactions : ndarray of shape (n_pairs,)
    weight, weight_squares : float
        Of all rows with a known label, and of their squares.
    is_hard : bool
    """

    moments: FloatArray
    interactions: FloatArray
    weight: float
    weight_squares: float
    is_hard: bool

    def __add__(self, other: "PairMoments") -> "PairMoments":
        return PairMoments(
            self.moments + other.moments,
            self.interactions + other.interactions,
            self.weight + other.weight,
            self.weight_squares + other.weight_squares,
            self.is_hard and other.is_hard,
        )

    def judge(self, pairs: Sequence[Pair], n_all: int, confidence: float) -> Iterator[ErrorPair]:
        """Excess, interval and test of each pair, corrected for as many pairs as there are."""
        known = self.moments[0, 0]
        means = self.moments / np.where(known > 0, known, 1)
        a, b = means[1, 0], means[0, 1]
        excess = means[1, 1] - a * b
        # Rows of different weights tell less than as many of equal ones (Kish's effective size).
        n_rows = known * (self.weight / self.weight_squares)
        # The variance of (a - mean)(b - mean), multiplied out.
        spread = (
            means[2, 2] - 2 * b * means[2, 1] + b**2 * means[2, 0] - 2 * a * means[1, 2] + 4 * a * b * means[1, 1]
            - 2 * a * b**2 * a + a**2 * means[0, 2] - 2 * a**2 * b * b + a**2 * b**2 - excess**2
        )  # fmt: skip
        error = np.sqrt(np.maximum(spread, 0) / np.maximum(n_rows, 1))
        reach = norm.isf((1 - confidence) / (2 * n_all)) * error
        p_values = self._fisher(means, n_rows) if self.is_hard else _two_sided(excess, error)
        for number, (first, second) in enumerate(pairs):
            figures = (means[1, 1], a * b, excess - reach, excess + reach, np.minimum(1, n_all * p_values))
            together, expected, lower, upper, p_value = (float(figure[number]) for figure in figures)
            interaction = float(self.interactions[number] / self.weight)
            yield ErrorPair(first, second, together, expected, lower, upper, p_value, interaction)

    @staticmethod
    def _fisher(means: FloatArray, n_rows: FloatArray) -> FloatArray:
        """Twice the smaller tail of the number of rows in which both are wrong, given how often each is."""
        n = np.rint(n_rows)
        both, first, second = (np.rint(means[place] * n) for place in ((1, 1), (1, 0), (0, 1)))
        tails = hypergeom.cdf(both, n, first, second), hypergeom.sf(both - 1, n, first, second)
        return np.minimum(1, 2 * np.minimum(*tails))


def _two_sided(excess: FloatArray, error: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(error > 0, 2 * norm.sf(np.abs(excess) / error), (excess == 0).astype(float))


def _moments(models: Sequence[Rows], measure: Measure, pairs: Sequence[Pair]) -> PairMoments:
    rows = models[0]
    form = measure.form(rows.n_labels)
    first, second = np.array(pairs).T
    moments, interactions = np.zeros((3, 3, len(pairs))), np.zeros(len(pairs))
    weight = weight_squares = 0.0
    is_hard = True
    for block in error_blocks(rows):
        weights = np.ones(block.n_rows) if block.weights is None else block.weights
        known: Any = 1.0
        if block.n_observed is not None:
            weights = np.where(block.n_observed > 0, weights, 0.0)
            flags = known_labels(rows, block.rows)
            known = 1.0 if flags is None else (flags[:, first] & flags[:, second]).astype(float)
        is_hard = is_hard and block.wrong is not None
        weight, weight_squares = weight + float(weights.sum()), weight_squares + float(weights @ weights)
        interactions += sum_interactions(block, measure, form, pairs)
        a, b = (_columns(block.errors, labels) for labels in (first, second))
        _add_moments(moments, a, b, weights, known)
    return PairMoments(moments, interactions, weight, weight_squares, is_hard)


def _add_moments(moments: FloatArray, a: np.ndarray, b: np.ndarray, weights: FloatArray, known: Any) -> None:
    """Add sums of products of powers; the powers of 0 and 1 are themselves."""
    scale = weights @ (np.broadcast_to(known, a.shape)) if np.ndim(known) else np.full(a.shape[1], weights.sum())
    moments[0, 0] += scale
    if a.dtype == bool:
        a, b = (a, b) if np.ndim(known) == 0 else (a & (known > 0), b & (known > 0))
        for powers, flags in (((1, 0), a), ((0, 1), b), ((1, 1), a & b)):
            total = weights @ flags
            for p in (1, 2) if powers[0] else (0,):
                for q in (1, 2) if powers[1] else (0,):
                    moments[p, q] += total
        return
    a, b = a * known, b * known
    for p in range(3):
        for q in range(3):
            if p or q:
                moments[p, q] += weights @ (a**p * b**q * known)


def _columns(errors: Any, labels: np.ndarray) -> np.ndarray:
    return errors[:, labels].toarray() if sp.issparse(errors) else errors[:, labels]
