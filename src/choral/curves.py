"""Loss curves along a family of measures, and two of them against each other."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from choral._validation import ROUNDING, Value, check_count, check_vector, listed, refuse_where
from choral.measures.families import Family, get_family

SMALL_ANGLE = 1e-7  # between two segments of a straight line, by rounding


@dataclass(frozen=True, eq=False)
class LossCurve(Value):
    """The loss of one model along a family of measures, from Hamming towards subset 0/1.

    A model that gets labels right *together* has a flat curve: its subset 0/1 loss is not much above its Hamming loss.

    Parameters
    ----------
    family : {"binomial", "polynomial"}
    parameters : array-like of shape (n_points,)
        Increasing values of k or alpha.
    losses : array-like of shape (n_points,)
    n_labels : int
    name : str, optional
        For legends and tables.

    Examples
    --------
    >>> curve = LossCurve("binomial", [1, 2, 3], [0.25, 0.35, 0.4], n_labels=3)
    >>> round(curve.slope, 3), round(curve.area, 4)
    (0.15, 0.3375)
    """

    family: str
    parameters: np.ndarray
    losses: np.ndarray
    n_labels: int
    name: str | None = None

    def __post_init__(self) -> None:
        n_labels = check_count("n_labels", self.n_labels)
        parameters = get_family(self.family).parameters(check_vector("parameters", self.parameters), n_labels)
        losses = check_vector("losses", self.losses)
        if losses.shape != parameters.shape:
            raise ValueError(f"losses must have one entry for each of {parameters.size} parameters; got {losses.size}.")
        refuse_where("losses must lie in [0, 1]", "losses", losses, ~((losses >= 0) & (losses <= 1 + ROUNDING)))
        self._freeze(parameters=parameters, losses=losses)

    def _identity(self) -> tuple:
        return (self.family, self.parameters.tobytes(), self.losses.tobytes(), self.n_labels, self.name)

    @property
    def x(self) -> np.ndarray:
        """Where the parameters lie on the axis: (k - 1) / (K - 1), or log(alpha) / log(1000)."""
        return self._family.position(self.parameters, self.n_labels)

    @property
    def slope(self) -> float:
        """Loss at the subset end minus loss at the Hamming end: flat means dependence-aware.

        The ends are x = 0 and the last parameter, which must reach x = 1 (k = K, or alpha of 1000 or more).
        """
        self._check_reach("slope", self.x[0] == 0 and (self.x[-1] >= 1 or self._is_point))
        return float(self.losses[-1] - self.losses[0])

    @property
    def area(self) -> float:
        """Area under the curve over x in [0, 1]: one number for the whole slide, by the trapezoidal rule."""
        inside = self.x <= 1
        x, losses = self.x[inside], self.losses[inside]
        self._check_reach("area", x.size > 0 and x[0] == 0 and (x[-1] == 1 or self._is_point))
        return float(losses[0]) if self._is_point else float(np.trapezoid(losses, x))

    @property
    def _family(self) -> Family:
        return get_family(self.family)

    @property
    def _is_point(self) -> bool:
        """With a single label, k = 1 is both ends."""
        return self.family == "binomial" and self.n_labels == 1

    def _check_reach(self, what: str, whole: bool) -> None:
        if not whole:
            first, last = self._family.parameter_at(np.array([0.0, 1.0]), self.n_labels)
            raise ValueError(
                f"the {what} of a curve needs both ends of its axis, {self._family.symbol} = {first:g} and {last:g}; "
                f"its parameters are {listed(self.parameters)}."
            )


@dataclass(frozen=True)
class PairwiseCurve:
    """The loss of one model against the loss of another, over the same parameters.

    The first model is on x, the second on y, as in the paper: above the diagonal the first is better.

    Examples
    --------
    >>> first = LossCurve("binomial", [1, 2, 3], [0.2, 0.4, 0.6], n_labels=3, name="BR")
    >>> second = LossCurve("binomial", [1, 2, 3], [0.3, 0.4, 0.5], n_labels=3, name="LP")
    >>> pair = PairwiseCurve(first, second)
    >>> pair.crossings(), pair.winners
    (array([2.]), ('BR', 'tie', 'LP'))
    """

    curve_a: LossCurve
    curve_b: LossCurve

    def __post_init__(self) -> None:
        a, b = self.curve_a, self.curve_b
        if (a.family, a.n_labels) != (b.family, b.n_labels):
            raise ValueError(
                "two curves compare on one family and number of labels; "
                f"got {a.family}, {a.n_labels} labels and {b.family}, {b.n_labels} labels."
            )
        if not np.array_equal(a.parameters, b.parameters):
            raise ValueError("two curves compare on the same parameters; these differ.")

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two models."""
        return self.curve_a.name or "first", self.curve_b.name or "second"

    @property
    def parameters(self) -> np.ndarray:
        """The parameters of both curves."""
        return self.curve_a.parameters

    @property
    def differences(self) -> np.ndarray:
        """Loss of the second minus loss of the first: positive where the first is better; noise is 0."""
        differences = self.curve_b.losses - self.curve_a.losses
        return np.where(np.abs(differences) <= ROUNDING, 0.0, differences)

    @property
    def winners(self) -> tuple[str, ...]:
        """Name of the better model at each parameter, or ``"tie"``."""
        first, second = self.names
        return tuple(first if d > 0 else second if d < 0 else "tie" for d in self.differences)

    def crossings(self) -> np.ndarray:
        """The parameters at which the better model changes, all of them finite.

        Between two parameters, differences of losses are taken as linear on the x axis of `LossCurve`. Infinity has no
        place on that axis: between the largest finite alpha and infinity they are taken as linear in 1 / alpha instead,
        so that a crossing lies beyond the former, the further the later the curves meet.

        Curves that meet and part again do not cross; where they cross along a stretch of ties, its middle counts. At
        the last parameter, infinity included, curves may meet, but do not cross.

        Examples
        --------
        Halfway between alpha = 2 and infinity, 1 / alpha is 1 / 4:

        >>> first = LossCurve("polynomial", [1, 2, np.inf], [0.1, 0.2, 0.6], n_labels=3)
        >>> second = LossCurve("polynomial", [1, 2, np.inf], [0.2, 0.3, 0.5], n_labels=3)
        >>> PairwiseCurve(first, second).crossings().round(6)
        array([4.])
        """
        differences = self.differences
        decided = np.flatnonzero(differences).tolist()
        changes = [(left, right) for left, right in pairwise(decided) if differences[left] * differences[right] < 0]
        return np.array([self._crossing_between(left, right) for left, right in changes], dtype=float)

    def _crossing_between(self, left: int, right: int) -> float:
        """Where the better model changes, given the last parameter before and the first one after; others are ties."""
        before, after = self.differences[[left, right]]
        if right == left + 1 and np.isinf(self.parameters[right]):
            return float(self.parameters[left] * (before - after) / -after)  # 1 / alpha falls to 0
        x = self.curve_a.x
        if right == left + 1:
            crossing = x[left] + before / (before - after) * (x[right] - x[left])
        else:
            crossing = (x[left + 1] + x[right - 1]) / 2
        return float(get_family(self.curve_a.family).parameter_at(crossing, self.curve_a.n_labels))

    @property
    def shape(self) -> str:
        """``"convex"``, ``"concave"``, ``"straight"`` or ``"mixed"``: how the second's loss bends over the first's."""
        dx, dy = np.diff(self.curve_a.losses), np.diff(self.curve_b.losses)
        lengths = np.hypot(dx, dy)
        dx, dy = dx[lengths > 0] / lengths[lengths > 0], dy[lengths > 0] / lengths[lengths > 0]
        turns = dx[:-1] * dy[1:] - dx[1:] * dy[:-1]  # sines of the angles from one segment to the next
        left, right = bool((turns > SMALL_ANGLE).any()), bool((turns < -SMALL_ANGLE).any())
        return {(True, True): "mixed", (True, False): "convex", (False, True): "concave"}.get((left, right), "straight")


def slope_and_area(curve: LossCurve) -> tuple[float | None, float | None]:
    """Slope and area of a curve, None where it lacks an end.

    Examples
    --------
    >>> slope_and_area(LossCurve("polynomial", [1, 2, np.inf], [0.1, 0.2, 0.5], n_labels=3))
    (0.4, None)
    """
    found: list[float | None] = []
    for name in ("slope", "area"):
        try:
            found.append(getattr(curve, name))
        except ValueError:  # it says which end is missing
            found.append(None)
    slope, area = found
    return slope, area
