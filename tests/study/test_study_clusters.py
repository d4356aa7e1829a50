"""Studies on Dask clusters in trouble: each cell costs no more than itself, and whatever happens, the study ends."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import joblib
import pytest

import choral._dask_results as waiting
import study_zoo as zoo
from choral.study import Results, StudyLearner, run_study
from choral.study.clusters import dask_cluster
from choral.study.distributing import run_on_cluster
from choral.study.preparing import make_task, prepare
from choral.study.worker import Workers
from dask_scheduler import connect, start_cluster, start_scheduler
from processes import is_alive, lines, wait_until
from study_zoo import small_plan

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of Dask, about workers that we kill
    pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes"),
]


def tasks_of(plan):
    (data,) = plan.datasets
    prepared, learners = prepare(plan, data), {learner.name: learner for learner in plan.learners}
    return [make_task(plan, learners[cell.learner], data.load(), prepared, cell) for cell in prepared.cells]


def run_dask_study(client, plan, folder):
    with client.as_current(), joblib.parallel_config(backend="dask"):
        return run_study(plan, folder)


@pytest.fixture
def only_here(monkeypatch):
    """A module that no other process can import."""
    module = ModuleType("only_here")
    monkeypatch.setitem(sys.modules, "only_here", module)
    return module


@pytest.fixture(scope="module")
def client():
    with start_cluster() as client:
        yield client


def test_a_learner_that_the_cluster_cannot_import_costs_its_cells(client, tmp_path, only_here):
    only_here.Learner = type("Learner", (zoo.Stumps,), {"__module__": "only_here"})
    plan = small_plan(StudyLearner("unknown", only_here.Learner()), StudyLearner("L", zoo.Stumps()))
    results = run_dask_study(client, plan, tmp_path)
    assert results.finished("d") == ("L",)
    reasons = [failure.reason for failure in results.failures()]
    assert reasons == ["the task cannot be read, ModuleNotFoundError: No module named 'only_here'"] * 2


def test_what_fails_at_the_level_of_dask_is_an_outcome(client, only_here):
    """As where choral is missing on the workers."""

    def run(task):
        """It is found in its module, so that it travels by its name."""

    run.__module__, run.__qualname__, only_here.run = "only_here", "run", run
    tasks = tasks_of(small_plan(StudyLearner("L", zoo.Stumps())))
    with client.as_current(), joblib.parallel_config(backend="dask"):
        backend = joblib.parallel.get_active_backend()[0]
        found = dict(run_on_cluster(backend, run, iter(tasks), "study"))
    assert set(found) == {task.cell for task in tasks}
    reasons = {outcome.reason for outcome in found.values()}
    assert reasons == {"the cluster could not run it, ModuleNotFoundError: No module named 'only_here'"}


def test_one_thread_of_a_cluster_runs_all_cells(client, tmp_path, monkeypatch):
    """No cell runs on the client."""
    parents = []
    monkeypatch.setattr(Workers, "run", lambda self, task: parents.append(os.getpid()))
    results = run_dask_study(client, small_plan(StudyLearner("L", zoo.Stumps())), tmp_path)
    assert (results.failures(), parents) == ((), [])


def test_a_cell_that_kills_its_workers_costs_itself(tmp_path):
    """Two of three workers die: all that run on the first are suspects, and then run alone."""
    learners = [StudyLearner(f"L{bias}", zoo.Stumps(bias)) for bias in (0.0, 0.1)]
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}), start_cluster(n_workers=3) as client:
        plan = small_plan(StudyLearner("killer", zoo.ParentKilling()), *learners)
        results = run_dask_study(client, plan, tmp_path)
    assert [(failure.learner, failure.fold, failure.reason) for failure in results.failures()] == [
        ("killer", 0, "workers of the cluster died, one after another, while they ran it")
    ]


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
def test_an_interrupted_study_leaves_nothing_running_on_the_cluster(tmp_path, runs, gate):
    """Its only thread is free at once for the cells of the next study."""

    def interrupt(done, total, what):
        if done == 2:
            wait_until(lambda: len(lines(runs)) == 3, "the cell that waits")
            raise KeyboardInterrupt

    learners = StudyLearner("L", zoo.Stumps()), StudyLearner("W", zoo.Waiting())
    with start_cluster() as client:
        with (
            pytest.raises(KeyboardInterrupt),
            client.as_current(),
            joblib.parallel_config(backend="dask"),
        ):
            run_study(small_plan(*learners), tmp_path / "study", progress=interrupt)
        _, *children = map(int, lines(runs)[2].split())  # the first is the worker of the cluster
        wait_until(lambda: not any(map(is_alive, children)), "the end of the cell that waits")
        assert (
            run_dask_study(client, small_plan(StudyLearner("L", zoo.Stumps(0.1))), tmp_path / "next").failures() == ()
        )


def test_a_study_that_is_itself_a_task_of_the_cluster(client, tmp_path):
    """It leaves its thread, the only one, to its cells."""
    found = client.submit(run_inside, str(tmp_path)).result(timeout=60)
    assert found == 2


def run_inside(folder):
    with joblib.parallel_config(backend="dask"):
        return len(run_study(small_plan(StudyLearner("L", zoo.Stumps())), folder).cells("d"))


def test_a_cluster_without_workers_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(waiting, "SECONDS_TO_LOOK", 0.1)
    monkeypatch.setattr(waiting, "SECONDS_WITHOUT_WORKERS", 0.5)
    with (
        start_scheduler() as (_, address),
        connect(address) as client,
        pytest.raises(OSError, match="the Dask cluster has no workers, and none came within 0.5 seconds."),
    ):
        run_dask_study(client, small_plan(StudyLearner("L", zoo.Stumps())), tmp_path)


def test_a_scheduler_that_dies_ends_the_study_and_its_finished_cells_are_kept(tmp_path):
    with start_scheduler() as (scheduler, address):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
        path = os.pathsep.join(filter(None, sys.path))
        options = {"env": {**os.environ, "PYTHONPATH": path}, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([*command, "--no-dashboard", "--local-directory", str(tmp_path)], **options) as node:

            def kill(done, total, what):
                if done == 2:
                    scheduler.kill()

            try:
                learners = StudyLearner("L", zoo.Stumps()), StudyLearner("S", zoo.Sleeping())
                with dask_cluster(address), pytest.raises(OSError, match="the Dask cluster "):
                    run_study(small_plan(*learners), tmp_path / "study", progress=kill)
            finally:
                node.kill()
    assert Results(tmp_path / "study").finished("d") == ("L",)


def test_a_scheduler_that_does_not_answer():
    def refuse(function, callback_timeout):
        raise TimeoutError

    silent = SimpleNamespace(sync=refuse, scheduler=SimpleNamespace(ncores=None))
    with pytest.raises(OSError, match="the Dask cluster is gone: its scheduler does not answer."):
        waiting.count_threads(silent)
