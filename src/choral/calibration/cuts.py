"""The search for thresholds: over all cuts between scores, for all labels together or for one after another."""

from typing import NamedTuple

import numpy as np

from choral._typing import FloatArray
from choral._validation import ROUNDING
from choral.calibration.inputs import ScoredRows
from choral.calibration.objectives import Entries, MicroObjective, Objective, ObjectiveByLabel

MAX_SWEEPS = 100


class Cuts(NamedTuple):
    """All places where scores can be cut: entries from the highest score down, and a threshold for each cut."""

    entries: Entries
    thresholds: FloatArray  # falling


def best_common(objective: Objective) -> float:
    """The best threshold for all labels; of equally good ones that nearest to 0.5, or to 0 for logits."""
    rows = objective.rows
    cuts = _list_cuts(rows, rows.scores.ravel(), np.flatnonzero(rows.known), objective.max_cuts)
    losses = objective.losses_for_all(cuts.entries)
    return float(cuts.thresholds[_choose(losses, cuts.thresholds, 0.5 if rows.are_probabilities else 0.0)])


def best_by_label(objective: ObjectiveByLabel | MicroObjective, common: float) -> FloatArray:
    """A threshold for each label; labels of which nothing is known keep the common one.

    The best thresholds of all are found where a loss adds up over labels, and for micro averages. For other losses
    labels take turns, each with the others fixed, until none can improve the loss.
    """
    rows = objective.rows
    cuts = {
        label: _list_cuts(rows, rows.scores[:, label], np.flatnonzero(rows.known[:, label]), objective.max_cuts)
        for label in np.flatnonzero(rows.known.any(axis=0)).tolist()
    }
    thresholds = np.full(rows.n_labels, common)
    if isinstance(objective, MicroObjective):
        return _lower_ratio(objective, cuts, thresholds)
    return _take_turns(objective, cuts, thresholds)


def _take_turns(objective: ObjectiveByLabel, cuts: dict[int, Cuts], thresholds: FloatArray) -> FloatArray:
    """Coordinate descent, with a search over all cuts of a label at each step."""
    scores = objective.rows.scores
    predicted = scores >= thresholds
    loss = objective.loss(predicted)
    for _ in range(MAX_SWEEPS):
        before = loss
        for label, (entries, levels) in cuts.items():
            losses = objective.losses_for_label(label, entries, predicted)
            best = _choose(losses, levels, thresholds[label])
            if losses[best] < loss - ROUNDING:
                loss, thresholds[label] = losses[best], levels[best]
                predicted[:, label] = scores[:, label] >= levels[best]
        if loss == before:
            break
    return thresholds


def _lower_ratio(objective: MicroObjective, cuts: dict[int, Cuts], thresholds: FloatArray) -> FloatArray:
    """Dinkelbach's method: errors less the loss so far times the denominator add up over labels, so each has its best.

    The loss falls in each round, and one that no choice of thresholds can lower is the least.
    """
    scores = objective.rows.scores
    loss = objective.loss(scores >= thresholds)
    while True:
        lower = thresholds.copy()
        for label, (entries, levels) in cuts.items():
            excess = objective.excess_for_label(label, entries, loss)
            lower[label] = levels[_choose(excess, levels, thresholds[label])]
        lower_loss = objective.loss(scores >= lower)
        if not lower_loss < loss - ROUNDING:
            return thresholds
        loss, thresholds = lower_loss, lower


def _list_cuts(rows: ScoredRows, scores: FloatArray, places: np.ndarray, max_cuts: int | None) -> Cuts:
    """The cuts between different scores, above all and below all; the entries at these places are cut."""
    order = places[np.argsort(scores[places])[::-1]]
    falling = scores[order]
    last_of_equals = np.flatnonzero(falling[1:] < falling[:-1])
    above, below = falling[last_of_equals], falling[last_of_equals + 1]
    highest, lowest = _outer_thresholds(rows, falling[0], falling[-1], last_of_equals.size)
    middle = above / 2 + below / 2  # the sum may be too large for a double
    # Between neighbouring doubles there is no middle, but predicting 1 from the upper one on is the same cut.
    thresholds = np.concatenate([[highest], np.where(middle > below, middle, above), [lowest]])
    ends = np.concatenate([[0], last_of_equals + 1, [order.size]])
    if rows.is_sparse:  # labels without a score are not predicted
        ends, thresholds = ends[thresholds > 0], thresholds[thresholds > 0]
    if max_cuts is not None and ends.size > max_cuts:
        some = np.linspace(0, ends.size - 1, max_cuts).round().astype(np.intp)
        ends, thresholds = ends[some], thresholds[some]
    return Cuts(Entries(order, ends), thresholds)


def _outer_thresholds(rows: ScoredRows, highest: float, lowest: float, n_gaps: int) -> tuple[float, float]:
    """A threshold above all scores and one that all reach: halfway to 1 and to 0 for probabilities.

    Beyond other scores it is half as far as neighbouring scores are from each other, on average.
    """
    highest = max(highest, 0.0) if rows.is_sparse else highest
    if rows.are_probabilities:
        return max(highest / 2 + 0.5, np.nextafter(highest, np.inf)), lowest / 2
    half_gap = (highest / 2 - lowest / 2) / n_gaps if n_gaps else 1.0
    with np.errstate(over="ignore"):  # beyond the largest double is infinity, which no file of plain numbers holds
        above, below = highest + half_gap, lowest - half_gap
    largest = np.finfo(float).max
    return (
        min(max(above, np.nextafter(highest, np.inf)), largest),
        max(min(below, np.nextafter(lowest, -np.inf)), -largest),
    )


def _choose(losses: FloatArray, thresholds: FloatArray, preferred: float) -> int:
    """The place of the least loss; of equal ones, that of the threshold nearest to the preferred one."""
    equal = np.flatnonzero(losses <= losses.min() + ROUNDING)
    return int(equal[np.argmin(np.abs(thresholds[equal] - preferred))])
