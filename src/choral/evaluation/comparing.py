"""Two models of an evaluation against each other."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from choral._optional import require
from choral.curves import PairwiseCurve
from choral.evaluation.wording import describe_interval
from choral.measures.families import describe_parameter, get_family


class Difference(NamedTuple):
    """How much worse than the best, or than another, a model is at each parameter, with a bootstrap interval.

    Parameters
    ----------
    estimate : ndarray of shape (n_parameters,)
        The difference of the losses.
    lower, upper : ndarray of shape (n_parameters,)
        The ends of its interval, pointwise.

    See Also
    --------
    Comparison : Two models against each other.
    choral.Evaluation : What `choral.evaluate` returns.

    Examples
    --------
    >>> from choral import evaluate
    >>> evaluation = evaluate([[0, 0]] * 20, {"good": [[0, 0]] * 20, "bad": [[1, 0]] * 20}, random_state=0)
    >>> evaluation.differences["bad"].estimate  # from the best, at k = 1, 2
    array([0.5, 1. ])
    """

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two models against each other; printed, it says which is better at the ends, and where that changes.

    Parameters
    ----------
    pair : PairwiseCurve
        The losses of both.
    difference : Difference, or None
        Loss of the second minus that of the first: positive where the first is better; with paired bootstrap intervals.
        None without bootstrap samples.
    confidence : float
        Of these intervals, pointwise.

    See Also
    --------
    choral.Evaluation : What `choral.evaluate` returns; its ``compare`` makes this.
    choral.PairwiseCurve : The losses of two models, paired.

    Examples
    --------
    >>> from choral import evaluate
    >>> apart = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]  # three mistakes in three rows
    >>> together = [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]  # and in one
    >>> evaluation = evaluate([[0, 0, 0]] * 4, {"apart": apart, "together": together}, n_bootstrap=0)
    >>> evaluation.compare("apart", "together")
    apart and together, binomial losses
    k=1 (Hamming): both have the same loss.
    k=3 (subset 0/1): together is better by 0.5000.
    They do not cross.
    """

    pair: PairwiseCurve
    difference: Difference | None
    confidence: float

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two models."""
        return self.pair.names

    @property
    def crossings(self) -> np.ndarray:
        """The parameters at which the better model changes; see `PairwiseCurve.crossings`."""
        return self.pair.crossings()

    def to_pandas(self) -> Any:
        """A frame with a row for each parameter.

        Returns
        -------
        frame : pandas.DataFrame
            ``parameter``; ``first`` and ``second``, the losses of both; ``difference``, second minus first, with its
            interval ``lower`` and ``upper``, nan without bootstrap samples.
        """
        pair, unknown = self.pair, np.full(len(self.pair.parameters), np.nan)
        _, lower, upper = self.difference or (None, unknown, unknown)
        columns = {
            "parameter": pair.parameters,
            "first": pair.curve_a.losses,
            "second": pair.curve_b.losses,
            "difference": pair.differences,
            "lower": lower,
            "upper": upper,
        }
        return require("pandas", "tables").DataFrame(columns)

    def __repr__(self) -> str:
        family = self.pair.curve_a.family
        ends = [self._describe_end(index) for index in dict.fromkeys([0, len(self.pair.parameters) - 1])]
        symbol = get_family(family).symbol
        where = " and ".join(f"{symbol} = {crossing:.3g}" for crossing in self.crossings.tolist())
        changes = f"The better one changes at {where}." if where else "They do not cross."
        return "\n".join([f"{' and '.join(self.names)}, {family} losses", *ends, changes])

    def _describe_end(self, index: int) -> str:
        curve = self.pair.curve_a
        parameter = float(self.pair.parameters[index])
        at = f"{get_family(curve.family).symbol}={describe_parameter(curve.family, parameter, curve.n_labels)}"
        difference, winner = float(self.pair.differences[index]), self.pair.winners[index]
        if winner == "tie":
            return f"{at}: both have the same loss."
        return f"{at}: {winner} is better by {abs(difference):.4f}{self._describe_interval(index)}."

    def _describe_interval(self, index: int) -> str:
        if self.difference is None:
            return ""
        sign = np.sign(self.difference.estimate[index])
        ends = sorted((sign * self.difference.lower[index], sign * self.difference.upper[index]))
        return describe_interval(ends[0], ends[1], self.confidence)
