"""What other systems lack or do differently, forced here.

Windows has no process groups, fork, SIGKILL or signal masks.
"""

import ast
import errno
import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import choral
import study_zoo as zoo
from choral import _outputs
from choral.study import StudyLearner, child, clusters, lock, run_study, worker
from choral.study.figures import file_stems

TEXT_CALLS = ("open", "read_text", "write_text", "TextIOWrapper")


def run_one(learner, folder, **options):
    return run_study(zoo.small_plan(StudyLearner("L", learner), **options), folder)


def test_a_study_needs_neither_process_groups_nor_fork(tmp_path, monkeypatch):
    before = "import os, choral.study.child; del os.register_at_fork, os.killpg, os.fork; "
    monkeypatch.setattr(worker, "COMMAND", before + worker.COMMAND)
    monkeypatch.delattr(os, "killpg")
    results = run_one(zoo.Stumps(0.0), tmp_path / "study")
    assert results.failures() == ()
    assert len(list(results.cells("d"))) == 2


def test_the_time_limit_holds_without_process_groups(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "killpg")
    results = run_one(zoo.Sleeping(), tmp_path / "study", time_limit=1.0)
    assert {failure.reason for failure in results.failures()} == {"ran past the time limit of 1 seconds"}


def test_a_child_without_process_groups_ends_itself_when_its_parent_is_gone(monkeypatch):
    def leave(status):
        raise SystemExit(status)

    monkeypatch.delattr(os, "killpg")
    monkeypatch.setattr(os, "_exit", leave)
    with pytest.raises(SystemExit) as caught:
        child._end_with_parent(os.getppid() + 1, child._IdleClock())
    assert caught.value.code == 1


def test_ctrl_c_is_kept_from_children_on_windows_by_a_group_of_their_own(monkeypatch):
    started = {}
    monkeypatch.setattr(worker, "NEW_GROUP", 512)
    monkeypatch.setattr(subprocess, "Popen", lambda command, **options: started.update(options))
    worker._start()
    assert started["creationflags"] == 512


def test_exit_statuses_are_told_where_there_is_no_sigkill(monkeypatch):
    monkeypatch.delattr(signal, "SIGKILL")
    assert worker._describe_status(-9) == "SIGKILL, perhaps for lack of memory"
    assert worker._describe_status(3221225477) == "exit status 3221225477"  # how Windows tells a crash


def test_on_windows_no_process_is_asked_whether_it_runs(tmp_path, monkeypatch):
    # os.kill would end it there, whatever the signal
    path = _outputs.beside(tmp_path / "key.npz")
    path = path.with_name(path.name.replace(f"-{os.getpid()}-", "-999999999-"))
    path.write_text("half")
    assert _outputs._is_left_over(path)
    monkeypatch.setattr(_outputs, "os", SimpleNamespace(name="nt"))
    assert not _outputs._is_left_over(path)


class Msvcrt:
    """Locks of bytes as Windows has them: held by a descriptor, let go where they were taken, in the way of readers."""

    LK_NBLCK, LK_UNLCK = 2, 0

    def __init__(self, knows_locks=True):
        self.knows_locks, self.held = knows_locks, {}

    def locking(self, descriptor, mode, n_bytes):
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if not self.knows_locks:
            raise OSError(errno.ENOLCK, "no locks")
        if mode == self.LK_NBLCK and place in self.held:
            raise PermissionError(errno.EACCES, "Permission denied")
        if mode == self.LK_UNLCK and self.held.pop(place) != descriptor:
            raise PermissionError(errno.EACCES, "Permission denied")
        if mode == self.LK_NBLCK:
            self.held[place] = descriptor


def lock_of_windows(monkeypatch, msvcrt):
    """The module, imported where there is msvcrt and no fcntl."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "msvcrt", msvcrt)
    monkeypatch.setitem(sys.modules, "fcntl", None)
    spec = importlib.util.spec_from_file_location("lock_of_windows", lock.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lock_of_a_folder_on_windows(tmp_path, monkeypatch):
    msvcrt, path = Msvcrt(), tmp_path / "study.lock"
    windows = lock_of_windows(monkeypatch, msvcrt)
    for _ in range(2):
        with windows.locked(path):
            assert json.loads(path.read_text())["process"] == os.getpid()
            ((_, place),) = msvcrt.held
            assert place > path.stat().st_size  # nobody could read what is locked
            with pytest.raises(BlockingIOError, match=f"process {os.getpid()} on .* has been running it since "):
                windows.locked(path).__enter__()
        assert (msvcrt.held, path.exists()) == ({}, False)


def test_a_lock_on_windows_that_another_process_takes_at_once_stays(tmp_path, monkeypatch):
    """Windows removes no file that is open."""
    path = tmp_path / "study.lock"
    windows = lock_of_windows(monkeypatch, Msvcrt())

    def refuse(path):
        raise PermissionError(errno.EACCES, "another process has it open")

    with windows.locked(path):
        monkeypatch.setattr(Path, "unlink", refuse)
    assert path.exists()


def test_a_file_system_without_locks_does_without_on_windows(tmp_path, monkeypatch):
    windows, path = lock_of_windows(monkeypatch, Msvcrt(knows_locks=False)), tmp_path / "study.lock"
    with windows.locked(path):
        assert path.exists()
    assert not path.exists()


def test_a_cluster_starts_without_signal_masks(monkeypatch):
    started = []
    monkeypatch.delattr(signal, "pthread_sigmask")
    monkeypatch.setattr(clusters.resource_tracker, "ensure_running", lambda: started.append("tracker"))
    with clusters._interrupts_blocked_in_children():
        started.append("cluster")
    assert started == ["cluster"]


def test_figures_have_no_name_of_a_device():
    stems = file_stems([("aux",), ("COM1",), ("auxiliary",)])
    assert [stem.partition("--")[0] for stem in stems.values()] == ["aux", "COM1", "auxiliary"]
    assert [("--" in stem) for stem in stems.values()] == [True, True, False]


def text_calls_without_encoding(path):
    """Calls that open a text with the system's encoding, which is not UTF-8 on Windows."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and not any(keyword.arg == "encoding" for keyword in node.keywords):
            name = getattr(node.func, "id", getattr(node.func, "attr", None))
            modes = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            binary = any(isinstance(mode, str) and "b" in mode for mode in modes)
            module = getattr(getattr(node.func, "value", None), "id", None)
            if name in TEXT_CALLS and not binary and module not in ("os", "archive", "images", "opener"):
                yield f"{path.name}:{node.lineno}"


def test_every_text_file_is_opened_with_its_encoding(tmp_path):
    package = Path(choral.__file__).parent
    assert [call for path in package.rglob("*.py") for call in text_calls_without_encoding(path)] == []
    (tmp_path / "wrong.py").write_text("open('a')\nopen('a', 'rb')\nx.read_text(encoding='utf-8')\n", encoding="utf-8")
    assert list(text_calls_without_encoding(tmp_path / "wrong.py")) == ["wrong.py:1"]
