"""What ``choral evaluate`` adds where predictions are scores: the loss that better decisions from them would have."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from choral._text import counted
from choral._validation import ROUNDING
from choral.cli.console import Show
from choral.curves import LossCurve
from choral.label_files import LabelTable
from choral.measures import SubsetMeasure
from choral.measures.families import get_family
from choral.rows.blocks import as_dense

if TYPE_CHECKING:  # scikit-learn takes a second to import
    from choral.calibration import JointCalibrator, RuleComparison

MIN_ROWS = 50  # fewer say too little of which labels come together
MAX_ROWS, MAX_CELLS = 3000, 60_000  # more take longer than such a hint is worth
RULES = {
    "joint": "Decided jointly",
    "labels": "Calibrated and cut at 0.5",
    "threshold": "Cut at a tuned threshold",
}


@dataclass(frozen=True, eq=False)
class JointDecisions:
    """What `JointCalibrator` makes of the scores of a model, on rows left out in turn.

    Attributes
    ----------
    model : str
    loss : str
        As people call it.
    comparison : RuleComparison
    calibrator : JointCalibrator
    n_rows : int
        All rows of the model, of which some may have been drawn.
    threshold : float, optional
        Given by the user.
    """

    model: str
    loss: str
    comparison: "RuleComparison"
    calibrator: "JointCalibrator"
    n_rows: int
    threshold: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        return {**self.comparison.to_dict(), "loss": self.loss}

    def describe(self, *, name_model: bool) -> str:
        """One sentence."""
        found = self.comparison
        cut = f"a cut at {found.threshold:g}"
        some = "these rows" if found.n_rows == self.n_rows else f"{found.n_rows} of these rows"
        how = f"cross-validated on {some}"
        of_model = f"{self.model}: " if name_model else ""
        if found.rule not in RULES or abs(found.gain) <= ROUNDING:
            return f"{of_model}Nothing was better than {cut} ({how}): {self.loss} {found.losses['cut']:.4f}."
        losses = f"{self.loss} {found.losses[found.rule]:.4f} instead of {found.losses['cut']:.4f} by {cut}"
        return f"{of_model}{RULES[found.rule]} ({how}): {losses}{_describe_interval(found)}; see choral tune."

    def curves(self, family: str, parameters: np.ndarray) -> dict[str, LossCurve]:
        """The curve of what is best for each loss; that of the cut beside it, if the model itself is judged by scores.

        Scores and hard labels are two yardsticks: the curve of the cut is the one to compare with.
        """
        from choral.calibration import left_out_curves

        losses = left_out_curves(self.calibrator, family, parameters, threshold=self.threshold)
        names = f"{self.model}, cut at {self.comparison.threshold:g}", f"{self.model}, decided jointly"
        n_labels = self.calibrator.n_labels_
        curves = [
            LossCurve(family, parameters, losses_of_one, n_labels, name)
            for name, losses_of_one in zip(names, losses, strict=True)
        ]
        return {str(curve.name): curve for curve in (curves if self.threshold is None else curves[1:])}


def _describe_interval(found: "RuleComparison") -> str:
    """The interval of a gain, in brackets; nothing without bootstrap samples."""
    if found.lower is None or found.upper is None:
        return ""
    lower, upper = (f"{abs(end):.4f} {'lower' if end >= 0 else 'higher'}" for end in (found.lower, found.upper))
    return f" ({100 * found.confidence:g}% bootstrap interval: {lower} to {upper})"


def decide_jointly(
    truth: LabelTable,
    predictions: dict[str, Any],
    family: str,
    parameter: float,
    *,
    threshold: float | None,
    n_bootstrap: int,
    random_state: int,
    show: Show,
) -> list[JointDecisions]:
    """What better decisions would gain for each model with scores, where rows are enough to learn from."""
    n_rows, n_labels = truth.values.shape
    n_drawn = min(n_rows, MAX_ROWS, MAX_CELLS // n_labels)
    scored = {name: scores for name, scores in predictions.items() if _are_scores(scores)}
    if n_drawn < MIN_ROWS or truth.weights is not None or not scored:
        return []
    from choral.calibration import JointCalibrator, compare_rules

    drawn = np.sort(np.random.default_rng(random_state).permutation(n_rows)[:n_drawn])
    true = as_dense(truth.values[drawn])
    name, loss = _name_loss(family, parameter, n_labels)
    found = []
    for done, (model, scores) in enumerate(scored.items()):
        show(done, len(scored), f"deciding jointly on {counted(n_drawn, 'row')}")
        calibrator = JointCalibrator(loss).fit(as_dense(scores[drawn]), true)
        comparison = compare_rules(calibrator, threshold=threshold, n_bootstrap=n_bootstrap, random_state=random_state)
        found.append(JointDecisions(model, name, comparison, calibrator, n_rows, threshold))
    return found


def _are_scores(matrix: Any) -> bool:
    """Whether a prediction is probabilities or logits: not hard labels, nor numbers of another range."""
    values = matrix.data if sp.issparse(matrix) else matrix
    is_hard = ((values == 0) | (values == 1)).all()
    return not is_hard and bool(values.min() < 0 or values.max() <= 1) and bool(np.isfinite(values).all())


def _name_loss(family: str, parameter: float, n_labels: int) -> tuple[str, Any]:
    """A loss as people call it, and the measure."""
    of_family = get_family(family)
    if parameter == (n_labels if family == "binomial" else np.inf):
        return "subset 0/1", SubsetMeasure()
    return f"{of_family.symbol}={parameter:.15g}", of_family.measure(parameter)
