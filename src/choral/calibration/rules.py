"""Ways to decide from scores, and which of them is best for a loss on rows left out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
from sklearn.base import clone

from choral._typing import FloatArray, IntArray, LabelArray
from choral._validation import ROUNDING
from choral.averaged_losses import AveragedLoss
from choral.calibration.inputs import ScoredRows
from choral.calibration.objectives import make_objective, truth_of
from choral.calibration.thresholds import Loss, ThresholdTuner
from choral.decisions import LabelDistribution, bayes_optimal
from choral.measures import Measure
from choral.overlap import AnyLoss, OverlapLoss

RULE_NAMES = ("joint", "calibrated threshold", "labels", "threshold", "cut")


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Rows with known labels, and what calibration says of each of them without having seen it.

    Attributes
    ----------
    rows : ScoredRows
    folds : ndarray of shape (n_rows,)
        Rows of a fold were left out together.
    probabilities : ndarray of shape (n_rows, n_labels)
        Calibrated.
    distribution : LabelDistribution
    middle : float
        Where scores are cut if nothing is tuned.
    """

    rows: ScoredRows
    folds: IntArray
    probabilities: FloatArray
    distribution: LabelDistribution
    middle: float


@dataclass(frozen=True, eq=False)
class Rule:
    """How to decide for a loss.

    Attributes
    ----------
    name : str
        One of `RULE_NAMES`.
    losses : dict
        The mean loss of each of these on rows left out.
    thresholds : ndarray of shape (n_labels,), optional
        Of scores, or of calibrated probabilities; none for "joint".
    """

    name: str
    losses: dict[str, float]
    thresholds: FloatArray | None = None

    def cut(self, scores: FloatArray, probabilities: FloatArray) -> LabelArray:
        """Labels by thresholds."""
        values = scores if self.name in ("cut", "threshold") else probabilities
        cut: LabelArray = (values >= self.thresholds).astype(np.uint8)  # type: ignore[operator]  # not for "joint"
        return cut

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text, ready for JSON."""
        thresholds = None if self.thresholds is None else self.thresholds.tolist()
        return {"name": self.name, "losses": self.losses, "thresholds": thresholds}


def choose_rule(loss: Loss, left_out: LeftOut, joint: np.ndarray | None = None) -> Rule:
    """The rule with the least loss on rows left out; of equal ones, the first.

    ``joint`` are the labels that are best by the distribution, where they are known already.
    """
    if joint is None and has_decision(loss):
        joint = bayes_optimal(left_out.distribution, loss, method="quick").labels
    objective = make_objective(loss, left_out.rows)
    losses = {name: objective.loss(labels.astype(bool)) for name, labels in labels_by_rule(loss, left_out, joint)}
    name = best_rule(losses)
    return Rule(name, losses, _thresholds(name, loss, left_out))


def best_rule(losses: dict[str, float]) -> str:
    """The rule with the least loss; of equal ones, the first."""
    least = min(losses.values())
    return next(name for name, loss in losses.items() if loss <= least + ROUNDING)  # equal but for rounding


def has_decision(loss: Any) -> TypeGuard[AnyLoss]:
    """Whether a distribution of a row says what is best for it: not for micro and macro averages."""
    return isinstance(loss, Measure | OverlapLoss)


def labels_by_rule(loss: Loss, left_out: LeftOut, joint: np.ndarray | None) -> Iterator[tuple[str, np.ndarray]]:
    """What each rule predicts for rows left out; ``joint`` is None where a distribution does not say what is best."""
    scores, probabilities = left_out.rows.scores, left_out.probabilities
    if joint is not None:
        yield "joint", joint
    else:
        yield "calibrated threshold", tuned_without_own_fold(_tuner(loss), left_out.rows, left_out.folds, probabilities)
    yield "labels", probabilities >= 0.5
    yield "threshold", tuned_without_own_fold(_tuner(loss), left_out.rows, left_out.folds, scores)
    yield "cut", scores >= left_out.middle


def tuned_without_own_fold(tuner: ThresholdTuner, rows: ScoredRows, folds: IntArray, values: FloatArray) -> np.ndarray:
    """Labels by thresholds of values, the scores of the rows or others, that were tuned on the other folds."""
    truth, labels = truth_of(rows), np.zeros(values.shape, dtype=bool)
    for fold in np.unique(folds).tolist():
        test = folds == fold
        labels[test] = clone(tuner).fit(values[~test], truth[~test]).predict(values[test])
    return labels


def _thresholds(name: str, loss: Loss, left_out: LeftOut) -> FloatArray | None:
    n_labels = left_out.rows.n_labels
    if name == "joint":
        return None
    if name == "labels":
        return np.full(n_labels, 0.5)
    if name == "cut":
        return np.full(n_labels, left_out.middle)
    values = left_out.rows.scores if name == "threshold" else left_out.probabilities
    return _tuner(loss).fit(values, truth_of(left_out.rows)).thresholds_


def _tuner(loss: Loss) -> ThresholdTuner:
    """A common threshold; one for each label where the loss judges each label by itself."""
    return ThresholdTuner(loss, per_label=isinstance(loss, AveragedLoss) and loss.average == "macro")
