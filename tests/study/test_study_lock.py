"""The lock of a study's folder: one study at a time, and nothing to clean up after a kill."""

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import study_zoo as zoo
from choral.study import Results, StudyLearner, lock, run_study
from choral.study.store import LOCK
from processes import PATIENCE
from study_zoo import small_plan


def plan_of(name):
    return small_plan(StudyLearner(name, zoo.Stumps()), families={"binomial": None}, title=name)


HOLD = """
import os, sys, time
from pathlib import Path
from choral.study.lock import locked
with locked(Path(sys.argv[1])):
    if sys.argv[2] == "forked" and (child := os.fork()):
        print(child, flush=True)  # the lock is held by the parent alone, which ends when it is killed
    elif sys.argv[2] == "alone":
        print(os.getpid(), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Start a process that holds the lock of a folder; returns it and the number of it, or of its forked child."""
    started, children = [], []

    def start(kind):
        command = [sys.executable, "-c", HOLD, str(tmp_path / LOCK), kind]
        process = subprocess.Popen(command, stdout=subprocess.PIPE)
        started.append(process)
        children.append(int(process.stdout.readline()))
        return process, children[-1]

    yield start
    for process in started:
        process.kill()
        process.wait(PATIENCE)
        process.stdout.close()
    for child in set(children) - {process.pid for process in started}:
        os.kill(child, signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("kind", ["alone", "forked"])
def test_a_folder_is_free_as_soon_as_its_study_was_killed(holder, here, tmp_path, kind):
    """Also where processes that it had forked are still there."""
    process, _ = holder(kind)
    host = re.escape(socket.gethostname())
    message = (
        rf"a study is running in {re.escape(str(tmp_path))}: process {process.pid} on {host} "
        r"has been running it since 2.*\. Wait until it has ended, or choose another folder\.$"
    )
    with pytest.raises(BlockingIOError, match=message):
        run_study(plan_of("B"), tmp_path)
    assert not (tmp_path / "study.json").exists()
    process.kill()
    process.wait(PATIENCE)
    assert (tmp_path / LOCK).exists()
    assert run_study(plan_of("B"), tmp_path).finished("d") == ("B",)
    assert not (tmp_path / LOCK).exists()


def test_the_threads_of_a_process_wait_for_each_other_too(here, tmp_path):
    started, stop, first = threading.Event(), threading.Event(), []

    def hold(done, total, what):
        if what.startswith("d, "):
            started.set()
            stop.wait(PATIENCE)

    thread = threading.Thread(target=lambda: first.append(run_study(plan_of("A"), tmp_path, progress=hold)))
    thread.start()
    try:
        assert started.wait(PATIENCE)
        with pytest.raises(BlockingIOError, match=f"process {os.getpid()} on "):
            run_study(plan_of("B"), tmp_path)
    finally:
        stop.set()
        thread.join(PATIENCE)
    assert first[0].learners == Results(tmp_path).learners == ("A",)
    assert run_study(plan_of("B"), tmp_path).learners == ("B",)


def test_a_study_answers_from_its_own_plan_whatever_is_in_the_folder(here, tmp_path):
    """As where another study runs there at the same time, on a file system without locks."""
    other = run_study(plan_of("B"), tmp_path / "other")

    def replace(done, total, what):
        if (done, total) == (2, 2):
            (tmp_path / "study" / "study.json").write_bytes((tmp_path / "other" / "study.json").read_bytes())

    results = run_study(plan_of("A"), tmp_path / "study", progress=replace)
    assert (results.title, results.learners, results.finished("d")) == ("A", ("A",), ("A",))
    assert Results(tmp_path / "study").learners == other.learners == ("B",)


@pytest.mark.parametrize(
    "owner, message",
    [
        (
            {"process": 7, "host": "far\x1baway", "since": "2026"},
            r"process 7 on far\\x1baway has been running it since 2026. Wait until it has ended, or choose another "
            rf"folder; if that host is no longer there, remove .*{LOCK}\.$",
        ),
        ({"process": 7}, r"another process runs it. Wait until it has ended, or choose another folder\.$"),
        ([], r"another process runs it. Wait until it has ended, or choose another folder\.$"),
    ],
)
def test_what_is_said_of_the_owner_of_a_lock(tmp_path, owner, message):
    path = tmp_path / LOCK
    with lock.locked(path):
        path.write_text(json.dumps(owner))
        with pytest.raises(BlockingIOError, match=message), lock.locked(path):
            pass


@pytest.mark.skipif(sys.platform == "win32", reason="needs flock")
def test_a_file_system_without_locks_does_without(here, tmp_path, monkeypatch):
    def fail(number):
        def flock(descriptor, how):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(lock.fcntl, "flock", flock)

    fail(errno.ENOLCK)
    assert run_study(plan_of("A"), tmp_path).finished("d") == ("A",)
    fail(errno.EIO)
    with pytest.raises(OSError, match=f"{LOCK} cannot be locked: Input/output error."):
        run_study(plan_of("A"), tmp_path)


def test_a_lock_that_its_owner_removes_meanwhile_is_taken_once_more(tmp_path, monkeypatch):
    path, former, calls = tmp_path / LOCK, lock._lock, []

    def remove_first(descriptor):
        former(descriptor)
        calls.append(descriptor)
        if len(calls) == 1:
            path.unlink()

    monkeypatch.setattr(lock, "_lock", remove_first)
    with lock.locked(path):
        assert json.loads(path.read_text())["process"] == os.getpid()
        with pytest.raises(BlockingIOError, match="a study is running in "), lock.locked(path):
            pass
    assert len(calls) == 2
    assert not Path(path).exists()
