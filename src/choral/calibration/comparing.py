"""What ways to decide cost on rows left out, and how sure it is that one gains on cutting scores in the middle."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choral._typing import FloatArray, LabelMatrix, RandomState
from choral.averaged_losses import AveragedLoss
from choral.calibration.inputs import ScoredRows, read_scored_rows
from choral.calibration.joint import JointCalibrator, draw_folds
from choral.calibration.objectives import MeanOverRows, make_objective
from choral.calibration.rules import LeftOut, best_rule, has_decision, labels_by_rule, tuned_without_own_fold
from choral.calibration.thresholds import Loss, ThresholdTuner, check_loss
from choral.decisions import bayes_curve, bayes_optimal
from choral.loss_names import name_of_loss
from choral.measures.families import get_family
from choral.rows.blocks import row_slices
from choral.stats import WeightedLosses, bootstrap_band, bootstrap_means


@dataclass(frozen=True)
class RuleComparison:
    """What rules cost on the same rows, each decided without the row in question.

    Parameters
    ----------
    loss : str
        Its short name.
    losses : dict from the name of a rule to its mean loss
        "cut": scores from ``threshold`` on; others as in `JointCalibrator.left_out_losses`.
    rule : str
        The one that decides.
    gain, lower, upper : float
        How much lower its loss is than that of "cut", with a paired bootstrap interval over rows; the ends are None
        without bootstrap samples.
    confidence : float
        Of the interval.
    n_rows : int
        How many rows were compared.
    threshold : float
        Of "cut".

    See Also
    --------
    compare_rules : Compare the rules of a calibrator.
    compare_threshold : Compare tuned thresholds with a cut in the middle.

    Examples
    --------
    >>> from choral.calibration import ThresholdTuner, compare_threshold
    >>> scores, Y = [[0.1], [0.3], [0.4], [0.6]] * 5, [[0], [1], [1], [1]] * 5
    >>> found = compare_threshold(ThresholdTuner("hamming"), scores, Y, n_bootstrap=0)
    >>> found.losses, found.gain
    ({'threshold': 0.0, 'cut': 0.5}, 0.5)
    """

    loss: str
    losses: dict[str, float]
    rule: str
    gain: float
    lower: float | None
    upper: float | None
    confidence: float
    n_rows: int
    threshold: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        return {
            "loss": self.loss,
            "n_rows": self.n_rows,
            "threshold_of_cut": self.threshold,
            "left_out_losses": self.losses,
            "rule": self.rule,
            "gain": {"estimate": self.gain, "lower": self.lower, "upper": self.upper, "confidence": self.confidence},
        }


def compare_rules(
    calibrator: JointCalibrator,
    measure: Any = None,
    *,
    threshold: float | None = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: RandomState = 0,
) -> RuleComparison:
    """Compare the rules of a calibrator on the rows that it was fitted on, left out in turn.

    Parameters
    ----------
    calibrator : JointCalibrator
        Fitted, not read back.
    measure : Measure, FLoss, JaccardLoss, AveragedFLoss, AveragedJaccardLoss or str, optional
        The loss; that of the calibrator unless given.
    threshold : float, optional
        Where scores would be cut otherwise: 0.5 for probabilities and 0 for logits, unless given.
    n_bootstrap : int
        Samples of the paired bootstrap over rows; 0 leaves out the interval.
    confidence : float
        Of the interval, between 0 and 1.
    random_state : int
        Draws the bootstrap samples.

    Returns
    -------
    comparison : RuleComparison
        The loss of each rule, and how much the one that decides gains.

    See Also
    --------
    compare_threshold : Compare tuned thresholds with a cut in the middle.
    left_out_curves : Curves of scores that are cut, and of the rule.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(3, size=300)]
    >>> calibrator = JointCalibrator("subset").fit(rng.normal(2 * Y - 1, 1.5), Y)
    >>> found = compare_rules(calibrator)
    >>> found.rule, found.lower > 0.1
    ('joint', True)
    """
    left_out, loss = calibrator.left_out_rows(), calibrator._loss(measure)
    joint = bayes_optimal(left_out.distribution, loss, method="quick").labels if has_decision(loss) else None
    labels = _labels_of_rules(loss, left_out, joint, threshold)
    chosen = calibrator._rule(loss, joint).name
    where = left_out.middle if threshold is None else threshold
    return _compare(loss, left_out.rows, labels, chosen, where, n_bootstrap, confidence, random_state)


def compare_threshold(
    tuner: ThresholdTuner,
    scores: LabelMatrix,
    Y: LabelMatrix,
    *,
    cv: int = 5,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: int = 0,
) -> RuleComparison:
    """Compare tuned thresholds with a cut in the middle, on rows left out in turn when thresholds are tuned.

    Parameters
    ----------
    tuner : ThresholdTuner
        Its options are used; it need not be fitted.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        As for `ThresholdTuner.fit`.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, as for `ThresholdTuner.fit`.
    cv : int
        Folds in which rows are left out.
    n_bootstrap : int
        Samples of the paired bootstrap over rows; 0 leaves out the interval.
    confidence : float
        Of the interval, between 0 and 1.
    random_state : int
        Draws folds and bootstrap samples.

    Returns
    -------
    comparison : RuleComparison
        The loss of the cut and of tuned thresholds, and the gain.

    See Also
    --------
    compare_rules : Compare the rules of a calibrator.
    ThresholdTuner : Cut scores where a loss is least.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.random((200, 4)) < 0.3
    >>> found = compare_threshold(ThresholdTuner("f1"), (0.4 * Y + rng.random(Y.shape)).clip(0, 1), Y)
    >>> found.rule, sorted(found.losses)
    ('threshold', ['cut', 'threshold'])
    """
    loss, rows = check_loss(tuner.loss), read_scored_rows(scores, Y)
    middle = 0.5 if rows.are_probabilities else 0.0
    folds = draw_folds(rows, cv, random_state)
    tuned = tuned_without_own_fold(tuner, rows, folds, rows.scores)
    labels = {"threshold": tuned, "cut": rows.scores >= middle}
    return _compare(loss, rows, labels, "threshold", middle, n_bootstrap, confidence, random_state)


def left_out_curves(
    calibrator: JointCalibrator,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    *,
    threshold: float | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Losses along a family, of scores that are cut and of the rule that decides for each loss, on rows left out.

    Parameters
    ----------
    calibrator : JointCalibrator
        Fitted, not read back.
    family : {"binomial", "polynomial"}
        The measures.
    parameters : array-like
        Increasing values of k or alpha.
    threshold : float, optional
        Where scores would be cut otherwise: 0.5 for probabilities and 0 for logits, unless given.

    Returns
    -------
    cut : ndarray of shape (n_parameters,)
        The losses of scores that are cut.
    decided : ndarray of shape (n_parameters,)
        The losses of the rule that decides for each loss.

    See Also
    --------
    compare_rules : Compare the rules of a calibrator.
    choral.loss_curve : The loss along a family of measures.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> Y = np.eye(3, dtype=int)[rng.integers(3, size=300)]
    >>> calibrator = JointCalibrator("subset").fit(rng.normal(2 * Y - 1, 1.5), Y)
    >>> cut, decided = left_out_curves(calibrator, "binomial", [1, 3])
    >>> bool(decided[1] < cut[1])  # subset 0/1 loss
    True
    """
    left_out, of_family = calibrator.left_out_rows(), get_family(family)
    values = of_family.parameters(parameters, calibrator.n_labels_)
    joint = bayes_curve(left_out.distribution, family, values, method="quick").labels
    cut, decided = [], []
    for value, labels in zip(values.tolist(), joint, strict=True):
        loss = of_family.measure(value)
        objective = make_objective(loss, left_out.rows)
        of_rules = _labels_of_rules(loss, left_out, labels, threshold)
        losses = {name: objective.loss(labels) for name, labels in of_rules.items()}
        cut.append(losses["cut"])
        decided.append(losses[best_rule(losses)])
    return np.array(cut), np.array(decided)


def _labels_of_rules(
    loss: Loss, left_out: LeftOut, joint: np.ndarray | None, threshold: float | None
) -> dict[str, np.ndarray]:
    labels = {name: of_rule.astype(bool) for name, of_rule in labels_by_rule(loss, left_out, joint)}
    if threshold is not None:
        labels["cut"] = left_out.rows.scores >= threshold
    return labels


def _compare(
    loss: Loss,
    rows: ScoredRows,
    labels: dict[str, np.ndarray],
    chosen: str,
    threshold: float,
    n_bootstrap: int,
    confidence: float,
    random_state: RandomState,
) -> RuleComparison:
    objective = make_objective(loss, rows)
    losses = {name: objective.loss(of_rule) for name, of_rule in labels.items()}
    lower, upper = None, None
    if n_bootstrap:
        statistics = [_row_statistics(loss, rows, labels[name]) for name in ("cut", chosen)]
        blocks = _in_blocks(rows, statistics, n_bootstrap)
        means = bootstrap_means(blocks, n_bootstrap, np.random.default_rng(random_state))
        of_cut, of_chosen = (_loss_of_means(loss, part) for part in np.split(means, 2, axis=1))
        lower, upper = map(float, bootstrap_band(of_cut - of_chosen, confidence))
    gain, n_rows = losses["cut"] - losses[chosen], int(np.count_nonzero(rows.n_known))
    return RuleComparison(name_of_loss(loss), losses, chosen, gain, lower, upper, confidence, n_rows, threshold)


def _row_statistics(loss: Loss, rows: ScoredRows, predicted: np.ndarray) -> FloatArray:
    """Numbers of each row whose means give the loss of all rows: its loss, or counts where rows have no losses."""
    if not isinstance(loss, AveragedLoss):
        objective = make_objective(loss, rows)
        if not isinstance(objective, MeanOverRows):
            raise ValueError(f"an interval needs the losses of rows, and {loss!r} gives none (reduction='none').")
        return objective.row_losses(predicted)[:, np.newaxis]
    counts = np.stack([predicted & rows.labels, predicted & rows.known & ~rows.labels, rows.labels], axis=1)
    if loss.average == "micro":
        return counts.sum(axis=2, dtype=float)
    return counts.reshape(len(counts), -1).astype(float)


def _loss_of_means(loss: Loss, means: FloatArray) -> FloatArray:
    """The loss of all rows in each bootstrap sample."""
    if not isinstance(loss, AveragedLoss):
        return means[:, 0]
    right, extra, relevant = np.moveaxis(means.reshape(len(means), 3, -1), 1, 0)
    return loss.of_counts(right, extra, relevant).mean(axis=1)


def _in_blocks(rows: ScoredRows, statistics: list[FloatArray], n_bootstrap: int) -> Iterator[WeightedLosses]:
    columns = np.hstack(statistics)
    for block in row_slices((len(columns), max(n_bootstrap, columns.shape[1])), itemsize=8):
        is_judged = (rows.n_known[block] > 0).astype(float)
        yield WeightedLosses(columns[block], np.ones(len(is_judged), dtype=np.intp), is_judged)
