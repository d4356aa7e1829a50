"""Studies: data sets and learners in, paired cross-validation, and tables, figures and tests of significance out."""

from typing import TYPE_CHECKING, Any

from choral.study.figures import write_figures
from choral.study.plan import Plan, StudyData, StudyLearner
from choral.study.plan_files import read_plan
from choral.study.results import Results
from choral.study.sections import Finding, Section, Summary
from choral.study.splits import Split
from choral.study.tables import Table

if TYPE_CHECKING:
    from choral.study.running import run_study

__all__ = [
    "Finding",
    "Plan",
    "Results",
    "Section",
    "Split",
    "StudyData",
    "StudyLearner",
    "Summary",
    "Table",
    "read_plan",
    "run_study",
    "write_figures",
]


def __getattr__(name: str) -> Any:
    if name == "run_study":  # imported when it is asked for: whoever reads results needs no processes
        from choral.study.running import run_study

        return run_study
    raise AttributeError(f"module 'choral.study' has no attribute {name!r}")
