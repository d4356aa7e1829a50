"""Displays: a table in, matplotlib axes out. Importing them needs no matplotlib, drawing does."""

from choral.displays.choquet import ChoquetDisplay
from choral.displays.decision import DecisionDisplay
from choral.displays.dependence import DependenceDisplay
from choral.displays.loss_curve import LossCurveDisplay
from choral.displays.pairwise import PairwiseDisplay

__all__ = ["ChoquetDisplay", "DecisionDisplay", "DependenceDisplay", "LossCurveDisplay", "PairwiseDisplay"]
