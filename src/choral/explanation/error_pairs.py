r"""Which labels are wrong together more often, or less often, than independent errors would be.

For the errors a and b of two labels, the *excess* is mean(a b) - mean(a) mean(b): the share of rows in which both are
wrong beyond what independent errors of these rates have. Only rows count in which both labels are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from choral._typing import FloatArray
from choral.explanation.error_blocks import ErrorsOfRows, columns, known_labels
from choral.explanation.interactions import Pair, sum_interactions
from choral.explanation.pair_tests import excess_interval, fisher_exact, two_sided
from choral.measures import Measure
from choral.rows import Rows


class ErrorPair(NamedTuple):
    """How often two labels are wrong together; for scores, the mean product of their errors.

    Parameters
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

    See Also
    --------
    ErrorPairs : The strongest pairs of labels.
    choral.explain : Which labels, pairs and rows the loss comes from.

    Examples
    --------
    >>> from choral import explain
    >>> found = explain([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    >>> pair = found.pairs.pairs[0]
    >>> pair.first, pair.second, pair.together, pair.expected  # wrong in one row of four, and in one and two
    (1, 2, 0.25, 0.125)
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

    Parameters
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

    See Also
    --------
    ErrorPair : How often two labels are wrong together.
    choral.explain : Which labels, pairs and rows the loss comes from.
    choral.displays.ErrorPairsDisplay : Which labels are wrong together.

    Examples
    --------
    >>> from choral import explain
    >>> found = explain([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 0]], [[1, 0, 1], [1, 0, 1], [0, 1, 0], [1, 1, 0]])
    >>> found.pairs.labels  # those with the largest shares in the loss come first
    (2, 1, 0)
    >>> found.pairs.correlations[0].round(2)  # of the errors of label 2
    array([1.  , 0.58, 0.  ])
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
        """Excess, interval and test of each pair, corrected for ``n_all`` pairs; from the largest excess down."""
        if not pairs:
            return []
        known = self.moments[0, 0]
        # Rows of different weights tell less than as many of equal ones: Kish's effective size.
        n_rows = known * (known / np.where(self.squares > 0, self.squares, np.inf))
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
        judged = [
            ErrorPair(*pair, *of_pair) for pair, of_pair in zip(pairs, np.transpose(figures).tolist(), strict=True)
        ]
        return sorted(judged, key=lambda pair: -pair.excess)

    @staticmethod
    def _fisher(n_rows: FloatArray, means: FloatArray) -> FloatArray:
        n_rows = np.rint(n_rows)
        both, first, second = (np.rint(means[place] * n_rows) for place in ((1, 1), (1, 0), (0, 1)))
        return fisher_exact(np.maximum(both, first + second - n_rows), first, second, n_rows)  # rounded one by one


class MomentCollector:
    """Adds up the moments of blocks of rows, for those who walk the rows for more than one reason."""

    def __init__(self, rows: Rows, measure: Measure, pairs: Sequence[Pair]):
        self._rows, self._measure, self._pairs = rows, measure, pairs
        self._form = measure.form(rows.n_labels)
        self._first, self._second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        self._moments = np.zeros((3, 3, len(pairs)))
        self._squares, self._interactions = np.zeros(len(pairs)), np.zeros(len(pairs))
        self._weight, self._is_hard = 0.0, True

    def add(self, block: ErrorsOfRows) -> None:
        """Add the rows of a block."""
        if not self._pairs:
            return
        weights = block.row_weights()
        flags = None if block.n_observed is None else known_labels(self._rows, block.rows)
        known = None if flags is None else flags[:, self._first] & flags[:, self._second]
        self._weight += float(weights.sum())
        self._squares += weights @ weights if known is None else weights**2 @ known
        self._is_hard = self._is_hard and block.wrong is not None
        a, b = columns(block.errors, self._first), columns(block.errors, self._second)
        together = None if block.wrong is None else a & b
        self._moments += _moments(a, b, weights, known) if together is None else _counts(a, b, together, weights, known)
        self._interactions += sum_interactions(block, self._measure, self._form, self._pairs, together)

    def finish(self) -> PairMoments:
        """The sums of all rows."""
        return PairMoments(self._moments, self._squares, self._interactions, self._weight, self._is_hard)


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
    """Sums of products of powers of two errors, which are 0 where a label is not known."""
    found = np.empty((3, 3, a.shape[1]))
    if known is None:
        found[0, 0] = weights.sum()
    else:
        found[0, 0] = weights @ known
        a, b = a * known, b * known
    product = a * b
    found[1, 0], found[0, 1], found[1, 1] = (weights @ some for some in (a, b, product))
    found[2, 1], found[1, 2], found[2, 2] = (weights @ (product * some) for some in (a, b, product))
    found[2, 0], found[0, 2] = (weights @ some**2 for some in (a, b))
    return found
