"""Decisions: the hard prediction with the least expected loss, given a distribution of label sets."""

from choral.decisions.base import Distribution
from choral.decisions.curve import BayesCurve, Change, bayes_curve, expected_curve
from choral.decisions.decision import Decision
from choral.decisions.independent import IndependentLabels
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.optimal import bayes_optimal, regret

__all__ = [
    "BayesCurve",
    "Change",
    "Decision",
    "Distribution",
    "IndependentLabels",
    "LabelDistribution",
    "bayes_curve",
    "bayes_optimal",
    "expected_curve",
    "regret",
]
