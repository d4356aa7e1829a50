"""What a study costs beside its learners: `make bench`, or `python benchmarks/study.py`.

10,000 cells of a learner that predicts a constant: time a cell for the first run, for a run that finds all cells done,
and for reading them back. Then the memory that a study needs, which must not grow with the number of its cells.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

from measuring import conclude, peak_memory, within

from choral.datasets import make_dependent
from choral.learners import ConstantLabels
from choral.study import Plan, Results, Split, StudyData, StudyLearner, run_study

AIM = 0.005  # seconds a cell


def make_plan(n_cells: int, n_rows: int = 200, n_labels: int = 6) -> Plan:
    """Two constants on a small data set, ten folds, as many repeats as it takes."""
    return Plan(
        datasets=[StudyData("synthetic", partial(make_dependent, n_rows, n_labels, dependence=0.5))],
        learners=[
            StudyLearner("nothing", ConstantLabels()),
            StudyLearner("most frequent", ConstantLabels("most_frequent")),
        ],
        split=Split(folds=10, repeats=n_cells // 20),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=10_000)
    parser.add_argument("--n-jobs", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    plan = make_plan(options.cells)
    for n_jobs in options.n_jobs:
        with tempfile.TemporaryDirectory() as folder:
            study = partial(run_study, plan, folder, n_jobs=n_jobs)
            first, again = _time_a_cell(study, plan), _time_a_cell(study, plan)
            reading = _time_a_cell(lambda: Results(folder).failures(), plan)  # called at once
        within(f"a cell of {plan.n_cells()}, n_jobs={n_jobs}", first, AIM)
        print(f"    all done already: {1e3 * again:.2f} ms a cell; read back: {1e3 * reading:.2f} ms", flush=True)
    large = make_plan(1000, n_rows=20_000, n_labels=50)
    held = 1000 * 20_000 * 50 / 10 / 2**20
    with tempfile.TemporaryDirectory() as folder:
        what = f"1000 cells whose predictions take {held:.0f} MiB"
        peak_memory(what, lambda: run_study(large, folder, n_jobs=2), limit=64)
    return conclude()


def _time_a_cell(work: Callable, plan: Plan) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) / plan.n_cells()


if __name__ == "__main__":
    sys.exit(main())
