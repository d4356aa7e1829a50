"""Expected losses of predictions on a weighted support, one file for each kind of measure."""

from functools import singledispatch
from typing import Any

from choral.decisions.risks.base import Bound, Risk
from choral.decisions.risks.counting import CountingRisk
from choral.decisions.risks.moebius import AdditiveRisk, MoebiusRisk
from choral.decisions.risks.relevance import RelevanceRisk
from choral.decisions.risks.table import TableRisk
from choral.measures import AdditiveMeasure, CountingMeasure, MoebiusMeasure, RelevanceMeasure
from choral.measures.capacity import MAX_LABELS

__all__ = ["Bound", "CountingRisk", "Risk", "make_risk"]


@singledispatch
def make_risk(measure: Any, n_labels: int) -> Risk:
    """The expected loss under a measure that fits this number of labels."""
    if n_labels > MAX_LABELS:
        raise TypeError(f"expected losses under {measure!r} are computed from a table, for up to {MAX_LABELS} labels.")
    return TableRisk(measure, n_labels)


make_risk.register(CountingMeasure, CountingRisk.of_measure)
make_risk.register(AdditiveMeasure, AdditiveRisk)
make_risk.register(MoebiusMeasure, MoebiusRisk)
make_risk.register(RelevanceMeasure, RelevanceRisk)
