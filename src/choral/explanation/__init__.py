"""Where the loss comes from: which labels, which labels together, which rows."""

from choral.explanation.error_pairs import ErrorPair, ErrorPairs
from choral.explanation.explaining import explain
from choral.explanation.label_sets import CostlyRow, LabelSetMistake, LabelSetReport, NeverPredicted
from choral.explanation.result import Explanation, SharesAlong
from choral.explanation.several_models import Disagreement, Disagreements, Explanations
from choral.explanation.shares import loss_shares
from choral.explanation.usual_figures import UsualFigures

__all__ = [
    "CostlyRow",
    "Disagreement",
    "Disagreements",
    "ErrorPair",
    "ErrorPairs",
    "Explanation",
    "Explanations",
    "LabelSetMistake",
    "LabelSetReport",
    "NeverPredicted",
    "SharesAlong",
    "UsualFigures",
    "explain",
    "loss_shares",
]
