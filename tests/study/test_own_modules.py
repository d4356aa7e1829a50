"""Modules beside a plan are found for the plan and for one another; libraries do not see its folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import choral
from choral.study import plan_files, read_plan
from choral.study.own_modules import VARIABLE, OwnModules

# Tried by joblib, pandas and Python itself, which can do without; and what a process imports first.
TRAPS = ("lz4", "numexpr", "bottleneck", "sitecustomize", "usercustomize", "random", "multiprocessing", "joblib")
PLAN = """
[split]
folds = 2
[[datasets]]
name = "small"
call = "my_models:load"
[[learners]]
name = "mine"
learner = "my_models:Mine"
"""
MY_MODELS = """
from choral.datasets import make_dependent
from beside_it import Cautious
import any_library

any_library.wants("lz4", "numexpr")

def load():
    return make_dependent(40, 3, dependence=0.5)

class Mine(Cautious):
    def fit(self, X, Y):
        import late_sibling
        any_library.wants("bottleneck")
        self.n_labels_ = Y.shape[1]
        return self
"""
BESIDE_IT = """
import numpy as np
from sklearn.base import BaseEstimator

class Cautious(BaseEstimator):
    def predict(self, X):
        return np.zeros((len(X), self.n_labels_), dtype=int)
"""
ANY_LIBRARY = """
from importlib import import_module

def wants(*names):
    for name in names:
        try:
            import_module(name)
        except ModuleNotFoundError:
            pass
"""
SAFE = {"PYTHONSAFEPATH": "1"}  # as the script `choral` has it; with -m, Python itself puts the current folder first


@pytest.fixture
def trapped(tmp_path):
    """A folder with a plan and its modules, and with modules that note that they were run."""
    folder, libraries = tmp_path / "downloads", tmp_path / "libraries"
    folder.mkdir()
    libraries.mkdir()
    (libraries / "any_library.py").write_text(ANY_LIBRARY)
    for name, text in {"plan.toml": PLAN, "my_models.py": MY_MODELS, "beside_it.py": BESIDE_IT}.items():
        (folder / name).write_text(text)
    (folder / "late_sibling").mkdir()
    (folder / "late_sibling" / "__init__.py").write_text("from late_sibling import part\nimport beside_it\n")
    (folder / "late_sibling" / "part.py").write_text("import my_models\n")
    for name in TRAPS:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / 'sprung')!r}, 'a').write('{name} ')\n")
    return folder


def run_choral(folder, *arguments, environment):
    path = os.pathsep.join([str(Path(choral.__file__).parents[1]), str(folder.parent / "libraries")])
    command = [sys.executable, "-m", "choral", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": path, **environment}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    "options",
    [("--n-jobs", 2), ("--no-figures", "--dask", "local")],
)
def test_modules_beside_a_plan_are_its_own(trapped, options):
    pytest.importorskip("typer", reason="the command line needs choral[cli]")
    if "--dask" in options:
        pytest.importorskip("distributed", reason="a cluster needs choral[dask]")
    result = run_choral(trapped, "study", "plan.toml", "--no-report", *options, environment=SAFE)
    assert result.returncode == 0, result.stderr + result.stdout
    assert not (trapped.parent / "sprung").exists()


def test_with_m_only_what_choral_itself_imports_first_is_found_in_the_current_folder(trapped):
    pytest.importorskip("typer", reason="the command line needs choral[cli]")
    for name in ("random", "joblib", "multiprocessing"):  # before any line of choral runs
        (trapped / f"{name}.py").unlink()
    result = run_choral(trapped, "study", "plan.toml", "--no-report", "--no-figures", environment={})
    assert result.returncode == 0, result.stderr
    assert not (trapped.parent / "sprung").exists()


@pytest.fixture
def own(monkeypatch):
    """Folders of plans are forgotten, before the test and after it."""
    modules = OwnModules({})
    monkeypatch.setattr(plan_files, "OWN_MODULES", modules)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setenv(VARIABLE, "{}")
    return modules


def test_a_ready_plan_changes_nothing_of_what_is_found(own):
    path, finders = list(sys.path), list(sys.meta_path)
    read_plan("quick")
    assert (sys.path, sys.meta_path) == (path, finders)


def test_the_folder_of_the_last_plan_comes_first(own, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "same_name.py").touch()
        own.add_folder(tmp_path / name)
        own.add_name("same_name")
    assert own.find_spec("same_name").origin == str(tmp_path / "b" / "same_name.py")
    own.add_folder(tmp_path / "a")
    assert own.find_spec("same_name").origin == str(tmp_path / "a" / "same_name.py")
    assert own.find_spec("other_name") is None
    assert own.find_spec("same_name", ["folder of a package"]) is None
