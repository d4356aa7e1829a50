"""Any predictions in, curves, a baseline and intervals out; of predictions in parts, their summaries."""

from choral.evaluation.evaluating import ModelSummary, Progress, evaluate, evaluate_summaries
from choral.evaluation.result import BASELINE, Difference, Evaluation, Summary, first_best
from choral.evaluation.source import EvaluationSource

__all__ = [
    "BASELINE",
    "Difference",
    "Evaluation",
    "EvaluationSource",
    "ModelSummary",
    "Progress",
    "Summary",
    "evaluate",
    "evaluate_summaries",
    "first_best",
]
