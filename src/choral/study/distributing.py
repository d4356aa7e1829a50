"""Cells on a Dask cluster: each costs no more than itself, whatever becomes of it there."""

from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any

from choral._dask_results import call_everywhere, count_threads, next_results, submit_call
from choral._optional import require
from choral.study.cells import Cell, Outcome, Task
from choral.study.faults import describe_fault
from choral.study.worker import end_workers_here

RunTask = Callable[[Task], tuple[Cell, Outcome]]
Outcomes = Generator[tuple[Cell, Outcome], None, None]
SPARE = 2  # cells that wait on the cluster, so that no thread waits for its next one


def run_on_cluster(backend: Any, run_task: RunTask, tasks: Iterator[Task], study: str) -> Outcomes:
    """The outcomes of tasks as they come, each run by a worker; what fails at Dask's own level is an outcome too.

    Parameters
    ----------
    backend : joblib backend
        That of Dask, with a client.
    run_task : callable (task) -> (cell, outcome)
    tasks : iterator of Task
        The next one is made when there is a thread for it: so few data sets are in memory.
    study : str
        That of the child processes which the workers start; all of them end with this generator.

    Raises
    ------
    OSError
        Where the cluster is gone, or has no workers for long.
    """
    client, killed_worker = backend.client, require("distributed", "dask").KilledWorker
    running: dict[Any, Task] = {}
    suspects: list[Task] = []  # a worker died with each of them, but others may have been on it
    tested = None  # a suspect that runs alone: if workers die again, it is the one
    with backend.retrieval_context():  # a study that runs on a worker itself leaves its thread to its cells
        try:
            while True:
                if not suspects and tested is None:
                    room = count_threads(client) + SPARE - len(running)
                    running |= {submit_call(client, run_task, task): task for task in islice(tasks, max(0, room))}
                elif not running:
                    tested = suspects.pop()
                    running[submit_call(client, run_task, tested)] = tested
                if not running:
                    return
                for future, result in next_results(client, running).items():
                    task = running.pop(future)
                    if isinstance(result, killed_worker) and task is not tested:
                        suspects.append(task)
                        continue
                    tested = None
                    yield task.cell, _describe(result, killed_worker)
        finally:
            with suppress(Exception):  # of any kind, where the cluster is gone
                client.cancel(list(running))  # ends those that wait; the thread of one that runs waits for its child
                call_everywhere(client, end_workers_here, study)


def _describe(result: Any, killed_worker: type) -> Outcome:
    if isinstance(result, killed_worker):
        return Outcome(reason="workers of the cluster died, one after another, while they ran it")
    if isinstance(result, BaseException):
        return Outcome(reason=f"the cluster could not run it, {describe_fault(result)}")
    return result[1]
