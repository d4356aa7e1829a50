"""Evil learners in studies of the command line, one in each, beside a good one: each costs its cells, and no more."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from cage import run_command
from evil_learners import all_evils
from small_studies import cells_of, count_lost, environment, study_command, write_plan
from tally import Tally

SECONDS = 90.0  # that such a study may take: two cells at the time limit, and two starts of Python on a busy machine
TIME_LIMIT = 4.0
SHORT = (  # for continuous integration: one of each kind
    *("RaisesInReduce", "RaisesInRepr", "RaisesSurrogates", "SendsRealTimeSignal", "ReadsNull", "NeverEnds"),
    *("WritesIntoEveryDescriptor", "LeavesADaemon", "ForksIntoTheTask", "ChangesItsData", "PredictsALiar", "Exits"),
)


def attack_by_evil_learners(
    folder: Path, jobs: int, *, short: bool = False, only: str | None = None
) -> Iterator[Tally]:
    """Run them all; ``short`` takes one of each kind."""
    tally = Tally("evil learners")
    names = [only] if only else [name for name in all_evils() if not short or name in SHORT]
    good, problem = run_with(folder, None)
    if problem is not None:
        tally.add(problem, f"an undisturbed study in {good}")
        names = []
    with ThreadPoolExecutor(jobs) as pool:
        for name, (out, problem) in zip(names, pool.map(partial(run_with, folder), names), strict=True):
            lost = 0
            if problem is None:
                lost = count_lost(out, good, ("good",))
                expected = len([cell for cell in cells_of(good) if cell.learner == "good"])
                problem = f"{lost} of {expected} good cells are lost" if lost else None
            tally.lost += lost
            tally.add(problem, f"python attack/main.py --only evils --evil {name}")
    yield tally


def run_with(folder: Path, evil: str | None) -> tuple[Path, str | None]:
    """A study with a good learner and an evil one; where it is, and what was not clean."""
    learners = {"good": ("evil_learners:Good", "bias = 0.1")}
    if evil is not None:
        learners = {"evil": (f"evil_learners:{evil}", ""), **learners}
    name = evil or "undisturbed"
    plan, out = write_plan(folder / f"{name}.toml", learners, time_limit=TIME_LIMIT), folder / name
    ended = run_command(study_command(plan, out, "--n-jobs", 1)[4:], seconds=SECONDS, env=environment(), cwd=folder)
    if ended.problem is None and ended.status not in (0, 1):
        return out, f"the whole study stopped: {ended.errors.strip()[:200]}"
    return out, ended.problem
