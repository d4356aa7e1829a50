"""Displays: a table in, matplotlib axes out. Importing them needs no matplotlib, drawing does."""

from choral.displays.choquet import ChoquetDisplay
from choral.displays.critical_difference import CriticalDifferenceDisplay
from choral.displays.decision import DecisionDisplay
from choral.displays.dependence import DependenceDisplay
from choral.displays.error_pairs import ErrorPairsDisplay
from choral.displays.label_shares import LabelSharesDisplay
from choral.displays.loss_curve import LossCurveDisplay
from choral.displays.pair_grid import PairGridDisplay
from choral.displays.pairwise import PairwiseDisplay
from choral.displays.ratio import RatioDisplay

__all__ = [
    "ChoquetDisplay",
    "CriticalDifferenceDisplay",
    "DecisionDisplay",
    "DependenceDisplay",
    "ErrorPairsDisplay",
    "LabelSharesDisplay",
    "LossCurveDisplay",
    "PairGridDisplay",
    "PairwiseDisplay",
    "RatioDisplay",
]
