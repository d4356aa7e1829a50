"""Losses as functions of where scores are cut: what each kind of loss knows about moving a threshold.

A search hands over entries from the highest score down; an objective says what the mean loss is when the first of them,
the first two, ... are predicted. All but the last kind do so for all cuts at once.
"""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from choral._typing import FloatArray, IntArray
from choral.averaged_losses import AveragedLoss
from choral.calibration.inputs import ScoredRows
from choral.losses import choquet_loss
from choral.measures import ByCount, Measure
from choral.overlap import OverlapLoss
from choral.rows.blocks import row_slices

MAX_CUTS_OF_CALLABLES = 100


class Entries(NamedTuple):
    """Entries of a matrix of scores, the highest score first, and how many are predicted at each possible cut."""

    order: IntArray  # (n_entries,) places in the flat matrix, or rows of one label
    ends: IntArray  # (n_cuts,) from 0, nothing predicted, up


class Objective(ABC):
    """The mean loss of rows as a function of thresholds."""

    max_cuts: int | None = None  # how many cuts it can afford to look at; None for all

    def __init__(self, rows: ScoredRows):
        self.rows = rows

    @abstractmethod
    def loss(self, predicted: np.ndarray) -> float:
        """The mean loss of predicted labels, of shape (n_samples, n_labels)."""

    @abstractmethod
    def losses_for_all(self, entries: Entries) -> FloatArray:
        """The mean loss at each cut of all entries: one threshold for all labels."""


class ObjectiveByLabel(Objective):
    """One that also follows the threshold of a single label."""

    @abstractmethod
    def losses_for_label(self, label: int, entries: Entries, predicted: np.ndarray) -> FloatArray:
        """The mean loss at each cut of one label, where all others stay as predicted."""


def make_objective(loss: Any, rows: ScoredRows) -> "ObjectiveByLabel | MicroObjective":
    """The objective of a loss that `check_loss` has let pass."""
    if isinstance(loss, Measure):
        form = loss.form(rows.n_labels)
        if isinstance(form, ByCount):
            return RowObjective(rows, _counting_losses(loss, rows))
        return CallableRowObjective(rows, lambda Y, predicted: choquet_loss(Y, predicted, loss, reduction="none"))
    if isinstance(loss, OverlapLoss):
        overlap = loss.form(rows.n_labels)
        return RowObjective(rows, lambda hits, false, relevant, n_known: overlap.losses(hits, false, relevant - hits))
    if isinstance(loss, AveragedLoss):
        return MicroObjective(rows, loss) if loss.average == "micro" else MacroObjective(rows, loss)
    if "reduction" in _parameters(loss):
        return CallableRowObjective(rows, lambda Y, predicted: loss(Y, predicted, reduction="none"))
    return CallableObjective(rows, loss)


def _parameters(function: Callable) -> Any:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions in C have none to show
        return {}


# Losses of rows: a mean over rows, each of which changes when one of its labels is predicted


class MeanOverRows(ObjectiveByLabel):
    """A mean of losses of rows."""

    def __init__(self, rows: ScoredRows):
        super().__init__(rows)
        weights = np.where(rows.n_known > 0, rows.weights, 0.0)  # a row of which nothing is known has no loss
        self._shares = weights / weights.sum()

    @abstractmethod
    def row_losses(self, predicted: np.ndarray) -> FloatArray:
        """The loss of each row."""

    @abstractmethod
    def _nested_losses(self, rows: slice, order: IntArray) -> FloatArray:
        """Losses of some rows when the first 0, 1, ..., n_labels labels in an order are predicted."""

    @abstractmethod
    def _losses_with(self, label: int, predicted: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """Losses of all rows without and with one label, where all others stay as predicted."""

    def loss(self, predicted: np.ndarray) -> float:
        return float(self._shares @ self.row_losses(predicted))

    def losses_for_all(self, entries: Entries) -> FloatArray:
        scores = self.rows.scores
        steps = np.empty(scores.shape)
        at_first = 0.0
        for rows in row_slices(scores.shape, 64, block_bytes=1 << 24):
            order = np.argsort(scores[rows], axis=1)[:, ::-1]
            losses = self._nested_losses(rows, order)
            shares = self._shares[rows]
            at_first += shares @ losses[:, 0]
            np.put_along_axis(steps[rows], order, np.diff(losses, axis=1) * shares[:, np.newaxis], axis=1)
        # Equal scores of a row come in any order; at a cut all or none of them are predicted, and steps add up.
        return at_first + _sums_at(steps.ravel()[entries.order], entries.ends)

    def losses_for_label(self, label: int, entries: Entries, predicted: np.ndarray) -> FloatArray:
        without, with_label = self._losses_with(label, predicted)
        steps = (self._shares * (with_label - without))[entries.order]
        return self._shares @ without + _sums_at(steps, entries.ends)


class RowObjective(MeanOverRows):
    """Losses of rows that depend on numbers of labels: those of counting measures, F and Jaccard by row."""

    def __init__(self, rows: ScoredRows, of_counts: Callable[..., FloatArray]):
        super().__init__(rows)
        self._of_counts = of_counts
        self._relevant = np.count_nonzero(rows.labels, axis=1)
        self._irrelevant = rows.known & ~rows.labels

    def row_losses(self, predicted: np.ndarray) -> FloatArray:
        return self._losses(*self._counts(predicted))

    def _nested_losses(self, rows: slice, order: IntArray) -> FloatArray:
        return self._losses(
            _nested_counts(self.rows.labels[rows], order), _nested_counts(self._irrelevant[rows], order), rows
        )

    def _losses_with(self, label: int, predicted: np.ndarray) -> tuple[FloatArray, FloatArray]:
        is_true, is_false = self.rows.labels[:, label], self._irrelevant[:, label]
        hits, false_positives = self._counts(predicted)
        hits = hits - (is_true & predicted[:, label])
        false_positives = false_positives - (is_false & predicted[:, label])
        return self._losses(hits, false_positives), self._losses(hits + is_true, false_positives + is_false)

    def _counts(self, predicted: np.ndarray) -> tuple[IntArray, IntArray]:
        flags = (predicted & self.rows.labels, predicted & self._irrelevant)
        hits, false_positives = (np.count_nonzero(some, axis=1) for some in flags)
        return hits, false_positives

    def _losses(self, hits: IntArray, false_positives: IntArray, rows: slice = slice(None)) -> FloatArray:
        relevant, n_known = self._relevant[rows], self.rows.n_known[rows]
        if hits.ndim == 2:
            relevant, n_known = relevant[:, np.newaxis], n_known[:, np.newaxis]
        return self._of_counts(hits, false_positives, relevant, n_known)


def _counting_losses(measure: Measure, rows: ScoredRows) -> Callable[..., FloatArray]:
    """Losses of a counting measure by the number of wrong labels; rows are judged by their known labels."""
    numbers = np.unique(rows.n_known)
    table = np.zeros((numbers.size, rows.n_labels + 1))
    for row, number in zip(table, numbers.tolist(), strict=True):
        if number:
            row[: number + 1] = measure.on_observed(number).form(number).deficits()  # type: ignore[union-attr]
    place_of = np.zeros(rows.n_labels + 1, dtype=np.intp)
    place_of[numbers] = np.arange(numbers.size)
    flat, width = table.ravel(), rows.n_labels + 1

    def losses(hits: IntArray, false_positives: IntArray, relevant: IntArray, n_known: IntArray) -> FloatArray:
        return flat[place_of[n_known] * width + false_positives + (relevant - hits)]

    return losses


def _nested_counts(flags: np.ndarray, order: IntArray) -> IntArray:
    """How many flags are among the first 0, 1, ... labels of each row in an order."""
    counts = np.zeros((len(flags), flags.shape[1] + 1), dtype=np.int32)
    np.cumsum(np.take_along_axis(flags, order, axis=1), axis=1, out=counts[:, 1:])
    return counts


class CallableRowObjective(MeanOverRows):
    """Losses of rows by a function of labels and predictions: all other measures, and losses with ``reduction``."""

    def __init__(self, rows: ScoredRows, row_losses: Callable[[np.ndarray, np.ndarray], Any]):
        super().__init__(rows)
        self._function = row_losses
        self._truth = truth_of(rows)

    def row_losses(self, predicted: np.ndarray) -> FloatArray:
        return self._of(slice(None), predicted)

    def _nested_losses(self, rows: slice, order: IntArray) -> FloatArray:
        predicted = np.zeros(order.shape, dtype=bool)
        losses = [self._of(rows, predicted)]
        for labels in order.T:
            predicted[np.arange(len(order)), labels] = True
            losses.append(self._of(rows, predicted))
        return np.column_stack(losses)

    def _losses_with(self, label: int, predicted: np.ndarray) -> tuple[FloatArray, FloatArray]:
        both = []
        for value in (False, True):
            changed = predicted.copy()
            changed[:, label] = value
            both.append(self.row_losses(changed))
        return both[0], both[1]

    def _of(self, rows: slice, predicted: np.ndarray) -> FloatArray:
        losses = np.asarray(self._function(self._truth[rows], predicted.astype(np.uint8)), dtype=float)
        if losses.shape != (len(predicted),):
            raise ValueError(f"loss must give one number a row with reduction='none'; got shape {losses.shape}.")
        return np.nan_to_num(losses, nan=0.0)  # of these rows nothing is known, and they do not count


# Losses of all rows together


class MacroObjective(ObjectiveByLabel):
    """The mean over labels of a loss of each label's numbers of right and wrong rows."""

    def __init__(self, rows: ScoredRows, loss: AveragedLoss):
        super().__init__(rows)
        self._loss = loss
        self._hits, self._false = _weighted_flags(rows)
        self._relevant = self._hits.sum(axis=0)

    def loss(self, predicted: np.ndarray) -> float:
        return float(self._losses(predicted).mean())

    def losses_for_all(self, entries: Entries) -> FloatArray:
        n_labels = self.rows.n_labels
        steps = np.empty(self.rows.scores.shape)
        for label in range(n_labels):
            order = np.argsort(self.rows.scores[:, label])[::-1]
            steps[order, label] = np.diff(self._nested_losses(label, order)) / n_labels
        nothing = np.zeros(self.rows.scores.shape, dtype=bool)
        return self.loss(nothing) + _sums_at(steps.ravel()[entries.order], entries.ends)

    def losses_for_label(self, label: int, entries: Entries, predicted: np.ndarray) -> FloatArray:
        others = self._losses(predicted).sum() - self._losses(predicted)[label]
        return (others + self._nested_losses(label, entries.order)[entries.ends]) / self.rows.n_labels

    def _losses(self, predicted: np.ndarray) -> FloatArray:
        hits, false_positives = ((flags * predicted).sum(axis=0) for flags in (self._hits, self._false))
        return self._loss.of_counts(hits, false_positives, self._relevant)

    def _nested_losses(self, label: int, order: IntArray) -> FloatArray:
        hits, false_positives = (_sums(flags[order, label]) for flags in (self._hits, self._false))
        return self._loss.of_counts(hits, false_positives, self._relevant[label])


class MicroObjective(Objective):
    """A ratio of sums over all labels of all rows."""

    def __init__(self, rows: ScoredRows, loss: AveragedLoss):
        super().__init__(rows)
        self._loss = loss
        self._hits, self._false = _weighted_flags(rows)
        self._relevant = self._hits.sum()

    def loss(self, predicted: np.ndarray) -> float:
        hits, false_positives = ((flags * predicted).sum() for flags in (self._hits, self._false))
        return float(self._loss.of_counts(hits, false_positives, self._relevant))

    def losses_for_all(self, entries: Entries) -> FloatArray:
        both = (self._hits, self._false)
        hits, false_positives = (_sums_at(flags.ravel()[entries.order], entries.ends) for flags in both)
        return self._loss.of_counts(hits, false_positives, self._relevant)

    def excess_for_label(self, label: int, entries: Entries, rate: float) -> FloatArray:
        """At each cut of a label, its errors less ``rate`` times its part of the denominator, but for a constant.

        A loss below ``rate`` exists if and only if these can add up to less than they do at that loss.
        """
        form = self._loss.form
        hits, false_positives = (flags[entries.order, label] for flags in (self._hits, self._false))
        # A hit saves a miss: the errors fall by its price, the denominator grows by 1 less this price.
        steps = -hits * (form.missed + rate * (1 - form.missed)) + false_positives * form.extra * (1 - rate)
        return _sums_at(steps, entries.ends)


class CallableObjective(ObjectiveByLabel):
    """Any function of labels and predictions; it is called for each cut."""

    max_cuts = MAX_CUTS_OF_CALLABLES

    def __init__(self, rows: ScoredRows, function: Callable[..., float]):
        super().__init__(rows)
        self._function = function
        self._truth = truth_of(rows)
        self._options = {} if (rows.weights == 1).all() else {"sample_weight": rows.weights}

    def loss(self, predicted: np.ndarray) -> float:
        return float(self._function(self._truth, predicted.astype(np.uint8), **self._options))

    def losses_for_all(self, entries: Entries) -> FloatArray:
        predicted = np.zeros(self.rows.scores.size, dtype=bool)
        return self._losses_along(entries, predicted, predicted.reshape(self.rows.scores.shape))

    def losses_for_label(self, label: int, entries: Entries, predicted: np.ndarray) -> FloatArray:
        changed = predicted.copy()
        changed[:, label] = False
        return self._losses_along(entries, changed[:, label], changed)

    def _losses_along(self, entries: Entries, part: np.ndarray, whole: np.ndarray) -> FloatArray:
        """Losses while entries are added to a part of the predictions, a view of the whole."""
        losses, start = [], 0
        for end in entries.ends.tolist():
            part[entries.order[start:end]] = True
            losses.append(self.loss(whole))
            start = end
        return np.array(losses)


def truth_of(rows: ScoredRows) -> np.ndarray:
    """True labels as losses take them: nan where they are missing."""
    labels = rows.labels.astype(np.uint8)
    return labels if rows.known.all() else np.where(rows.known, labels, np.nan)


def _weighted_flags(rows: ScoredRows) -> tuple[FloatArray, FloatArray]:
    """The weights of relevant and of irrelevant known labels, zero elsewhere."""
    weights = rows.weights[:, np.newaxis]
    return weights * rows.labels, weights * (rows.known & ~rows.labels)


def _sums(steps: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, 2, ... steps."""
    return np.concatenate([[0.0], np.cumsum(steps)])


def _sums_at(steps: FloatArray, ends: IntArray) -> FloatArray:
    return _sums(steps)[ends]
