"""Measures: what it is worth to be right on a set of labels."""

from choral.measures.additive import AdditiveMeasure
from choral.measures.base import Measure
from choral.measures.capacity import Capacity
from choral.measures.counting import (
    AtLeastMeasure,
    BinomialMeasure,
    HammingMeasure,
    PolynomialMeasure,
    SubsetMeasure,
)
from choral.measures.covering import CoveringMeasure
from choral.measures.families import PUBLISHED_ALPHAS
from choral.measures.moebius import MoebiusMeasure
from choral.measures.relevance import RelevanceMeasure
from choral.measures.tabulated import CountingMeasure

__all__ = [
    "PUBLISHED_ALPHAS",
    "AdditiveMeasure",
    "AtLeastMeasure",
    "BinomialMeasure",
    "Capacity",
    "CountingMeasure",
    "CoveringMeasure",
    "HammingMeasure",
    "Measure",
    "MoebiusMeasure",
    "PolynomialMeasure",
    "RelevanceMeasure",
    "SubsetMeasure",
]
