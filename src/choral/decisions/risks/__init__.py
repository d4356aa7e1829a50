"""Expected losses of predictions on a weighted support, one file for each form of a measure or loss."""

from choral._array_api import Array
from choral.decisions.risks.base import Bound, Risk
from choral.decisions.risks.by_count import ByCountRisk, ByCountRisks, RelevanceByCountRisk
from choral.decisions.risks.overlap import OverlapRisk
from choral.decisions.risks.table import RelevanceTableRisk, TableRisk
from choral.decisions.risks.terms import TermsRisk
from choral.measures.forms import ByCount, ByRelevance, Table, Terms
from choral.overlap import ByOverlap, LossForm

__all__ = ["Bound", "ByCountRisks", "Risk", "make_risk"]


def make_risk(form: LossForm, like: Array) -> Risk:
    """The expected loss under a form, with its numbers where an array lies."""
    match form:
        case ByCount():
            return ByCountRisk.of_form(form, like)
        case Terms():
            return TermsRisk(form, like)
        case Table():
            return TableRisk(form, like)
        case ByOverlap():
            return OverlapRisk(form)
        case ByRelevance(base=base):
            match base:
                case ByCount():
                    return RelevanceByCountRisk(form, base, like)
                case Terms():
                    return TermsRisk(base, like, relevance=form)
                case Table():
                    return RelevanceTableRisk(form, base, like)
