"""Any predictions in, curves, a baseline and intervals out; of predictions in parts, their summaries."""

from choral.evaluation.comparing import Comparison, Difference
from choral.evaluation.evaluating import ModelSummary, Progress, evaluate, evaluate_summaries
from choral.evaluation.references import Togetherness
from choral.evaluation.result import BASELINE, Evaluation, Summary, first_best
from choral.evaluation.source import EvaluationSource

__all__ = [
    "BASELINE",
    "Comparison",
    "Difference",
    "Evaluation",
    "EvaluationSource",
    "ModelSummary",
    "Progress",
    "Summary",
    "Togetherness",
    "evaluate",
    "evaluate_summaries",
    "first_best",
]
