"""Fixtures of the tests of studies."""

import pytest

import study_zoo as zoo


@pytest.fixture
def here(monkeypatch):
    """Cells run in this process: faster, where it is not about the processes."""
    from choral.study import running

    monkeypatch.setattr(running, "run_task", zoo.run_here)


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """The file in which learners note that they run."""
    path = tmp_path / "runs.txt"
    monkeypatch.setenv(zoo.RUNS, str(path))
    return path


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """The file that lets learners go on once it is there."""
    path = tmp_path / "gate"
    monkeypatch.setenv(zoo.GATE, str(path))
    return path
