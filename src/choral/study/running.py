"""run_study: run every cell that has no result yet, in parallel, and keep each result in a file of its own."""

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from threading import Lock
from typing import Any

from joblib import Parallel, delayed
from joblib.parallel import get_active_backend

import choral
from choral._outputs import plain_numbers
from choral.measures import HammingMeasure, SubsetMeasure
from choral.profiles import ErrorProfile
from choral.study.cells import FORMAT, Cell, Outcome, PreparedData, Task
from choral.study.distributing import Outcomes, run_on_cluster
from choral.study.faults import FAULTS, describe_fault, text_of
from choral.study.plan import Plan
from choral.study.plan_files import read_plan
from choral.study.preparing import describe_unsendable, load_again, make_task, predictions_shape, prepare
from choral.study.results import Results
from choral.study.sections import Section
from choral.study.store import Store
from choral.study.tables import TABLES
from choral.study.worker import Workers, run_task

Progress = Callable[[int, int, str], None]
PACKAGES = ("choral", "numpy", "scipy", "scikit-learn", "joblib")


def run_study(
    plan: Plan | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress = lambda done, total, what: None,
) -> Results:
    """Run a study, or what is missing of it.

    Each cell, one learner on one fold of one data set, runs in a process that it cannot bring down with it; its
    result is kept in a file of its own as soon as it is there. A study that was stopped, even killed, goes on where it
    was; cells that failed are tried again. Cells of other studies in the same folder serve again where data, learner,
    parameters, fold and version are the same.

    Parameters
    ----------
    plan : Plan, str or path-like
        A plan, or what `read_plan` takes: ``"quick"``, or the path of a TOML file. A plan of the paper is read by
        `choral.paper.read_plan` first.
    folder : path-like
        Where results are kept; made unless there. Nothing else may be in it.
    n_jobs : int, optional
        Cells that run at the same time; -1 for one on each core. Of any joblib backend:
        ``with joblib.parallel_config(backend="dask"): run_study(...)`` runs the cells on a Dask cluster.
    progress : callable (done, total, what), optional
        Told after each cell.

    Returns
    -------
    results : Results
        Also where cells failed: see `Results.failures`.

    See Also
    --------
    Plan : All that a study does.
    Results : What a study found.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from choral.datasets import make_dependent
    >>> from choral.learners import BinaryRelevance, LabelPowerset
    >>> from choral.study import Plan, Split, StudyData, StudyLearner, run_study
    >>> plan = Plan(
    ...     datasets=[StudyData("synthetic", make_dependent(60, 3, dependence=0.9))],
    ...     learners=[StudyLearner("BR", BinaryRelevance()), StudyLearner("LP", LabelPowerset())],
    ...     split=Split(folds=2),
    ... )
    >>> with TemporaryDirectory() as folder:
    ...     results = run_study(plan, folder)
    ...     results.finished("synthetic"), results.failures()
    (('BR', 'LP'), ())
    """
    with hold_study(plan, folder, n_jobs=n_jobs, progress=progress) as results:
        return results


@contextmanager
def hold_study(
    plan: Plan | str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Progress = lambda done, total, what: None,
) -> Iterator[Results]:
    """Run a study as `run_study` does, and let no other one into its folder as long as this context lasts.

    So tables and figures that are written meanwhile are all of one plan.

    Yields
    ------
    results : Results
    """
    plan = _check_plan(plan)
    store = Store(folder)
    store.check()
    prepared = []
    for done, data in enumerate(plan.datasets):
        progress(done, len(plan.datasets), f"reading {data.name}")
        prepared.append(prepare(plan, data))
    store.create()
    with store.locked():
        for one in prepared:
            store.write_labels(one)
        study = store.write_study(_describe_study(plan, prepared))
        Run(plan, store, prepared, progress).finish(n_jobs)
        results = Results(folder, study=study)  # of this plan, whatever is in the folder by now
        if plan.analyses:
            study["sections"] = [section.to_dict() for section in _analyse(plan, results, progress)]
            store.write_study(study)
        yield results


def _check_plan(plan: Any) -> Plan:
    """A plan, read where its name or file is given."""
    if isinstance(plan, str | os.PathLike):
        return read_plan(plan)
    if not isinstance(plan, Plan):
        raise TypeError(
            f"plan must be a choral.study.Plan, 'quick', or the path of a TOML file; got {type(plan).__name__}. "
            "choral.study.read_plan reads plans from files, choral.paper.read_plan those of the paper."
        )
    return plan


class Run:
    """A study that is running: it keeps results, and counts the cells that are done."""

    def __init__(self, plan: Plan, store: Store, prepared: list[PreparedData], progress: Progress):
        self._plan, self._store, self._prepared, self._progress = plan, store, prepared, progress
        self._total = sum(len(data.cells) for data in prepared)
        self._done = 0
        self._lock = Lock()  # two threads count: one finds cells that are done already, the other gets new results

    def finish(self, n_jobs: int | None) -> None:
        """Run the cells that have no result yet."""
        workers = Workers()
        outcomes = self._run_tasks(workers, n_jobs)
        try:
            for cell, outcome in outcomes:
                self._keep(cell, outcome)
        finally:
            workers.kill()  # first: threads wait for them
            outcomes.close()
            workers.close()

    def _run_tasks(self, workers: Workers, n_jobs: int | None) -> Outcomes:
        """The outcomes as they come; each thread has a child process of its own, on the workers of a cluster too."""
        run = partial(run_task, workers)
        backend, _ = get_active_backend()
        if hasattr(backend, "client"):  # joblib's of Dask, which waits for ever for a task that fails before it runs
            return run_on_cluster(backend, run, self._tasks(), workers.study)
        parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator_unordered", batch_size=1)
        return parallel(delayed(run)(task) for task in self._tasks())

    def _tasks(self) -> Iterator[Task]:
        """The tasks, one data set after another: only one has its features in memory."""
        learners = {learner.name: learner for learner in self._plan.learners}
        started: set[str] = set()
        for data, prepared in zip(self._plan.datasets, self._prepared, strict=True):
            missing = []
            for cell in prepared.cells:
                shape = predictions_shape(self._plan, learners[cell.learner], prepared, cell)
                if reason := prepared.faults.get(cell.learner):
                    self._keep(cell, Outcome(reason=reason))
                elif cell.key in started or self._store.has_cell(cell.key, shape):
                    self._count_done(cell)
                else:
                    started.add(cell.key)
                    missing.append(cell)
            if missing:
                dataset = load_again(data, prepared)
                for cell in missing:
                    try:
                        task = make_task(self._plan, learners[cell.learner], dataset, prepared, cell)
                    except FAULTS as error:  # it could be sent a moment ago
                        self._keep(cell, Outcome(reason=describe_unsendable(error)))
                    else:
                        yield task

    def _keep(self, cell: Cell, outcome: Outcome) -> None:
        self._store.write_cell(cell, outcome)
        self._store.log(f"{cell}: {_describe_outcome(outcome)}")
        self._count_done(cell)

    def _count_done(self, cell: Cell) -> None:
        with self._lock:
            self._done += 1
            self._progress(self._done, self._total, f"{cell.dataset}, {cell.learner}")


def _describe_outcome(outcome: Outcome) -> str:
    if outcome.predictions is None:
        return f"failed after {outcome.seconds:.2f} s: {outcome.reason}"
    if outcome.predictions.ndim == 3:
        found = f"labels for each of {len(outcome.profiles)} losses"
    else:
        profile = ErrorProfile.from_dict(outcome.profiles[0])
        found = f"Hamming {profile.loss(HammingMeasure()):.4f}, subset {profile.loss(SubsetMeasure()):.4f}"
    notes = f"; {outcome.warnings[0]}" if outcome.warnings else ""
    return f"done in {outcome.seconds:.2f} s, {found}{notes}"


def _analyse(plan: Plan, results: Results, progress: Progress) -> Iterator[Section]:
    """The sections that the analyses of a plan make of its results."""
    taken = set(TABLES)
    for done, analysis in enumerate(plan.analyses):
        progress(done, len(plan.analyses), "analysing")
        function = getattr(analysis, "func", analysis)  # of a partial
        name = getattr(function, "__name__", type(analysis).__name__)
        try:
            section = analysis(results)
        except FAULTS as error:  # a function of the user's, where anything may go wrong
            reason = describe_fault(error).rstrip(".")
            raise ValueError(f"the analysis {name} failed, {reason}; all cells are kept.") from error
        if not isinstance(section, Section):
            raise TypeError(f"the analysis {name} must return a Section; got {type(section).__name__}.")
        if twice := taken & set(section.tables):
            raise ValueError(f"the analysis {name} must not make another table {min(twice)!r}.")
        taken |= set(section.tables)
        yield section


def _describe_study(plan: Plan, prepared: list[PreparedData]) -> dict[str, Any]:
    """The study in plain values: what `Results` needs to know without data or learners."""
    return {
        "format": FORMAT,
        "title": plan.title,
        "created": datetime.now().isoformat(timespec="seconds"),
        "predictions": plan.predictions,
        "baseline": plan.baseline,
        "each_loss": list(plan.each_loss),
        "families": list(plan.families),
        "learners": {learner.name: " ".join(text_of(learner.estimator, repr).split()) for learner in plan.learners},
        "datasets": [
            {
                "name": data.name,
                "labels": data.labels_key,
                "parameters": {
                    family: plain_numbers(plan.parameters(family, data.Y.shape[1])) for family in plan.families
                },
                "cells": [list(cell[1:]) for cell in data.cells],
            }
            for data in prepared
        ],
        "notes": _notes(plan, prepared),
        "plan": plan.text,
        "sections": [],
        "versions": _versions(plan),
    }


def _notes(plan: Plan, prepared: list[PreparedData]) -> list[str]:
    """What readers should know about the numbers."""
    notes = [note for data in prepared for note in plan.notes(data.name, data.Y.shape[1])]
    if plan.left_out:
        notes.append(f"Left out, since their files are not there: {', '.join(plan.left_out)}.")
    if plan.each_loss:
        notes.append(f"Predicted anew for each loss: {', '.join(plan.each_loss)}.")
    return notes


def _versions(plan: Plan) -> dict[str, str]:
    """Versions of Python, of the packages that choral needs, and of those that a learner names as its own."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = choral.__version__ if package == "choral" else "unknown"
    for package in (package for learner in plan.learners for package in learner.packages):
        with suppress(PackageNotFoundError, ValueError):  # the latter of a name that none can have
            found[package] = str(version(package))
    return found
