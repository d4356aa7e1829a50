"""Studies: data sets and learners in, paired cross-validation, and tables, figures and tests of significance out."""

from choral.study.figures import write_figures
from choral.study.plan import Plan, StudyData, StudyLearner
from choral.study.plan_files import read_plan
from choral.study.results import Results
from choral.study.running import run_study
from choral.study.splits import Split
from choral.study.tables import Table

__all__ = ["Plan", "Results", "Split", "StudyData", "StudyLearner", "Table", "read_plan", "run_study", "write_figures"]
