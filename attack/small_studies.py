"""Studies to kill or to spoil: a plan, the command that runs it, and what it leaves, to be compared to the byte."""

import json
import os
import sys
from pathlib import Path

import numpy as np

import choral
from choral.study.cells import Cell
from choral.study.store import Store

HERE = Path(__file__).parent
PLAN = """title = "Attack"
time_limit = {time_limit}
seeds = [0]
[split]
folds = {folds}
repeats = {repeats}
[families]
binomial = "even"
[[datasets]]
name = "small"
call = "evil_learners:load"
"""
LEARNER = """[[learners]]
name = {name}
learner = "{learner}"
parameters = {{ {parameters} }}
"""


def write_plan(
    path: Path, learners: dict[str, tuple[str, str]], *, folds: int = 2, repeats: int = 1, time_limit: float = 20.0
) -> Path:
    """Write a plan with these learners: by name, the import path and the parameters as TOML."""
    text = PLAN.format(time_limit=time_limit, folds=folds, repeats=repeats)
    for name, (learner, parameters) in learners.items():
        text += LEARNER.format(name=json.dumps(name), learner=learner, parameters=parameters)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def environment(**more: str) -> dict[str, str]:
    """In which commands run that know the learners here."""
    places = [str(HERE), str(Path(choral.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places), "OMP_NUM_THREADS": "1", **more}


def choral_command(*arguments: object) -> list[str]:
    return [sys.executable, "-P", "-m", "choral", *map(str, arguments)]


def study_command(plan: Path, out: Path, *more: object) -> list[str]:
    return choral_command("study", plan, "--out", out, "--no-report", "--no-figures", *more)


def cells_of(out: Path) -> list[Cell]:
    """All cells that a study is to have."""
    described = Store(out).read_study()
    return [Cell(data["name"], *values) for data in described["datasets"] for values in data["cells"]]


def count_lost(out: Path, good: Path, learners: tuple[str, ...]) -> int:
    """How many cells of these learners are missing, damaged or not as in an undisturbed study."""
    expected = {cell[:5]: Store(good).read_cell(cell.key) for cell in cells_of(good)}
    lost = 0
    for cell in (cell for cell in cells_of(out) if cell.learner in learners):
        try:
            found, wanted = Store(out).read_cell(cell.key), expected[cell[:5]]
            same = np.array_equal(found.predictions, wanted.predictions) and found.profiles == wanted.profiles
        except (ValueError, KeyError, AttributeError, OSError):
            same = False
        lost += not same
    wanted_cells = sum(cell.learner in learners for cell in cells_of(good))
    return lost + max(0, wanted_cells - sum(cell.learner in learners for cell in cells_of(out)))


def differing_tables(out: Path, good: Path) -> list[str]:
    """Tables that are not equal to the byte; none of them holds times."""
    names = {path.name for folder in (out, good) for path in (folder / "tables").glob("*.csv")}
    pairs = {name: (out / "tables" / name, good / "tables" / name) for name in sorted(names)}
    return [
        name
        for name, (one, other) in pairs.items()
        if not (one.exists() and other.exists() and one.read_bytes() == other.read_bytes())
    ]
