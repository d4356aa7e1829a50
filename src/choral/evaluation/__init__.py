"""Any predictions in, curves, a baseline and intervals out; of predictions in parts, their summaries."""

from choral.evaluation.evaluating import evaluate
from choral.evaluation.result import BASELINE, Difference, Evaluation, Summary, first_best, plain_numbers
from choral.evaluation.rows import Progress
from choral.evaluation.summaries import evaluate_summaries

__all__ = [
    "BASELINE",
    "Difference",
    "Evaluation",
    "Progress",
    "Summary",
    "evaluate",
    "evaluate_summaries",
    "first_best",
    "plain_numbers",
]
