"""Measures: what it is worth to be right on a set of labels."""

from choral.measures.base import Measure, check_measure
from choral.measures.capacity import Capacity
from choral.measures.counting import CountingMeasure
from choral.measures.families import PUBLISHED_ALPHAS
from choral.measures.forms import ByCount, ByRelevance, Form, Table, Terms
from choral.measures.formulas import (
    AtLeastMeasure,
    BinomialMeasure,
    HammingMeasure,
    PolynomialMeasure,
    SubsetMeasure,
)
from choral.measures.moebius import AdditiveMeasure, CoveringMeasure, MoebiusMeasure
from choral.measures.relevance import RelevanceMeasure
from choral.measures.which_k import WhichK, which_k

__all__ = [
    "PUBLISHED_ALPHAS",
    "AdditiveMeasure",
    "AtLeastMeasure",
    "BinomialMeasure",
    "ByCount",
    "ByRelevance",
    "Capacity",
    "CountingMeasure",
    "CoveringMeasure",
    "Form",
    "HammingMeasure",
    "Measure",
    "MoebiusMeasure",
    "PolynomialMeasure",
    "RelevanceMeasure",
    "SubsetMeasure",
    "Table",
    "Terms",
    "WhichK",
    "check_measure",
    "which_k",
]
