"""Loss curves along a family of measures, the bounds that they lie between, and two of them against each other."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from choral._typing import FloatArray
from choral._validation import ROUNDING, Value, check_count, check_vector, listed, refuse_where
from choral.measures.families import Family, get_family

SMALL_ANGLE = 1e-7  # between two segments of a straight line, by rounding
IN_FEW_ROWS, SPREAD_EVENLY = "mistakes in few rows", "mistakes spread evenly"  # names of the bounds


@dataclass(frozen=True, eq=False)
class LossCurve(Value):
    """The loss of one model along a family of measures, from Hamming towards subset 0/1.

    A model that gets labels right *together* has a flat curve: its subset 0/1 loss is not much above its Hamming loss.
    That compares models of equal Hamming loss; `togetherness` compares others as well.

    Parameters
    ----------
    family : {"binomial", "polynomial"}
        The measures: binomial ones with k, or polynomial ones with alpha.
    parameters : array-like of shape (n_points,)
        Increasing values of k or alpha.
    losses : array-like of shape (n_points,)
        The loss at each parameter.
    n_labels : int
        The number of labels, K.
    name : str, optional
        For legends and tables.

    See Also
    --------
    loss_curve : The loss along a family of measures.
    PairwiseCurve : The loss of one model against that of another.
    choral.displays.LossCurveDisplay : Loss curves of models.

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
        self._check_reach("area", self._has_both_ends)
        return float(area_of(self.x, self.losses))

    def bounds(self) -> tuple["LossCurve", "LossCurve"]:
        r"""The least and the largest losses that predictions with the same Hamming loss can have.

        Let h be the Hamming loss and m = h K the number of wrong labels of a row on average. The loss is

        * *least* if all mistakes are in as few rows as possible, which are wrong on all labels: it is h at every
          parameter;
        * *largest* if mistakes are spread as evenly as possible, so that each row has m wrong labels, rounded down or
          up: it lies on the straight line between the losses of :math:`\lfloor m \rfloor` and
          :math:`\lceil m \rceil` wrong labels.

        Both follow from the shape of the losses of the two families: each further wrong label costs less than the one
        before. They hold for scores as well, with h the mean error. They hold neither where labels are missing (see
        `ObservedProfile.bounds`) nor where labels were decided anew for each loss, which have no single Hamming loss.

        Returns
        -------
        lower, upper : LossCurve
            With the parameters of this curve, which must begin at the Hamming end.

        Examples
        --------
        Two of three labels wrong in half of the rows is one mistake a row:

        >>> curve = LossCurve("binomial", [1, 2, 3], [1 / 3, 1 / 2, 1 / 2], n_labels=3)
        >>> [bound.losses.round(3).tolist() for bound in curve.bounds()]
        [[0.333, 0.333, 0.333], [0.333, 0.667, 1.0]]
        """
        if self.x[0] != 0:
            raise ValueError(
                f"the bounds of a curve need its Hamming end, {self._family.symbol} = 1; "
                f"its parameters are {listed(self.parameters)}."
            )
        return bounding_curves(self.family, self.parameters, {self.n_labels: 1.0}, float(self.losses[0]), self.n_labels)

    @property
    def togetherness(self) -> float:
        r"""Where the curve lies between its `bounds`: 0 for mistakes spread evenly, 1 for mistakes in few rows.

        .. math:: \frac{\text{area of the upper bound} - \text{area}}
            {\text{area of the upper bound} - \text{area of the lower bound}}

        Unlike slope and area, it compares models of different Hamming losses. For instance, rows without mistakes may
        be added: while there is at most one mistake a row on average, that lowers the slope, but not the togetherness.

        Independent errors have a togetherness above 0, since some rows have several mistakes by chance. It depends on
        how often each label is wrong, so it is a reference to compare with (`choral.independent_curve`), not 0: a model
        above it is wrong on several labels at once more often than by chance, one below it less often.

        It is nan where both bounds are the same: no mistakes, nothing but mistakes, or a single label. Like `area`, it
        needs both ends of the axis. See `bounds` for curves that it does not serve.

        Examples
        --------
        >>> curve = LossCurve("binomial", [1, 2, 3], [1 / 3, 1 / 2, 1 / 2], n_labels=3)
        >>> round(curve.togetherness, 3)
        0.625
        """
        self._check_reach("togetherness", self._has_both_ends)
        lower, upper = self.bounds()
        return float(togetherness_by_areas(self.area, lower.area, upper.area))

    @property
    def _has_both_ends(self) -> bool:
        x = self.x[self.x <= 1]
        return bool(x.size and x[0] == 0 and (x[-1] == 1 or self._is_point))

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


def area_of(x: np.ndarray, losses: np.ndarray) -> np.ndarray:
    """The area under curves over x in [0, 1], by the trapezoidal rule; a single point is the whole curve.

    Losses are of shape (..., n_points); their areas of shape (...).
    """
    inside = x <= 1
    return losses[..., 0] if inside.sum() == 1 else np.trapezoid(losses[..., inside], x[inside])


# Bounds


def bounding_curves(
    family: str, parameters: np.ndarray, shares: Mapping[int, float], hamming: float, n_labels: int
) -> tuple[LossCurve, LossCurve]:
    """The curves of the least and of the largest losses; see `largest_losses`."""
    upper = largest_losses(get_family(family), parameters, shares, np.array([hamming]))[0]
    lower = np.full(len(parameters), hamming)
    return (
        LossCurve(family, parameters, lower, n_labels, name=IN_FEW_ROWS),
        LossCurve(family, parameters, np.minimum(upper, 1), n_labels, name=SPREAD_EVENLY),
    )


@np.errstate(under="ignore")
def largest_losses(
    family: Family, parameters: np.ndarray, shares: Mapping[int, float], hamming: FloatArray
) -> FloatArray:
    r"""The largest loss at each parameter that predictions with a Hamming loss can have.

    One further wrong label in a row with j known labels, e of which are wrong already, adds 1 / j to the Hamming loss
    of the row and :math:`d_j(e + 1) - d_j(e)` to its loss, where d are the losses by number of wrong labels. These
    steps fall with e. So mistakes are placed where the step times j is largest, until the Hamming loss is reached.

    Parameters
    ----------
    family : Family
    parameters : ndarray of shape (n_points,)
    shares : mapping from int to float
        The share of rows with each number of known labels; 1 in all.
    hamming : ndarray of shape (n_losses,)

    Returns
    -------
    losses : ndarray of shape (n_losses, n_points)

    Examples
    --------
    A tenth of all labels wrong, of two labels: a fifth of the rows has a mistake.

    >>> from choral.measures.families import BINOMIAL
    >>> largest_losses(BINOMIAL, np.array([1, 2]), {2: 1.0}, np.array([0.1]))
    array([[0.1, 0.2]])

    If only one label is known in half of the rows, mistakes of k = 2 are better placed in the others:

    >>> largest_losses(BINOMIAL, np.array([1, 2]), {1: 0.5, 2: 0.5}, np.array([0.1, 0.25, 0.5]))
    array([[0.1 , 0.2 ],
           [0.25, 0.5 ],
           [0.5 , 0.75]])
    """
    # no row needs more mistakes than reach the Hamming loss in rows of its kind alone
    most = {
        n_known: min(n_known, int(np.ceil(n_known * min(hamming.max() / share, 1) + ROUNDING)))
        for n_known, share in shares.items()
    }
    widths = np.concatenate([np.full(most[n_known], share / n_known) for n_known, share in shares.items()])
    steps_of_known = [
        _steps(family, parameters, n_known, n_wrong) for n_known, n_wrong in most.items()
    ]  # for each parameter
    found = []
    for steps in map(np.concatenate, zip(*steps_of_known, strict=True)):
        order = np.argsort(-steps, kind="stable")
        reached = np.append(0, np.cumsum(widths[order]))
        losses = np.append(0, np.cumsum((widths * steps)[order]))
        found.append(np.interp(hamming, reached, losses))
    return np.array(found).T


def _steps(family: Family, parameters: np.ndarray, n_known: int, n_wrong: int) -> Iterator[FloatArray]:
    """For each parameter, what the first, second, ... wrong label adds to a loss, relative to the Hamming loss."""
    for weights in family.table("weights", family.clip_parameters(parameters, n_known), n_known, n_wrong):
        yield from n_known * weights


def togetherness_by_areas(area: FloatArray | float, lower: FloatArray | float, upper: FloatArray | float) -> FloatArray:
    """Where areas lie between those of their bounds: 1 at the lower, 0 at the upper one; nan where these coincide."""
    area, lower, upper = np.asarray(area), np.asarray(lower), np.asarray(upper)
    room = upper - lower
    apart = room > ROUNDING * upper
    return np.where(apart, np.clip((upper - area) / np.where(apart, room, 1), 0, 1), np.nan)


@dataclass(frozen=True)
class PairwiseCurve:
    """The loss of one model against the loss of another, over the same parameters.

    The first model is on x, the second on y, as in the paper: above the diagonal the first is better.

    Parameters
    ----------
    curve_a : LossCurve
        The curve of the first model.
    curve_b : LossCurve
        The curve of the second model, over the same family, parameters and number of labels.

    See Also
    --------
    LossCurve : The loss of one model along a family.
    choral.displays.PairwiseDisplay : Two models against each other.

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
