"""Hostile names of labels, models, data sets, learners and files: they are shown as text, and name nothing else."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from cage import Ended, run_caged, run_command
from folders import check_page
from formats import run_here
from small_studies import PLAN, environment
from tally import Tally

SECONDS = 120.0
NAMES = (
    *("<img src=x onerror=attack()>", "</script><script>attack()</script>", "<!--", "]]>", "&lt;b&gt;"),
    *("'\"><svg onload=attack()>",),
    *("javascript:attack()", "${attack()}", "{{attack()}}", "`attack()`"),
    *("</title><meta http-equiv=refresh content='0;attack'>",),
    *("=1+1", "+1", "-1", "@SUM(A1)", "=cmd|' /C calc'!A0", "\t=1", '=HYPERLINK("http://attack")', ",", ";"),
    *('"', "'", "''"),
    *("../../escaped", "/escaped", "..", ".", "CON", "NUL.txt", "aux", "~", "$HOME", "%s%n", "%(a)s", "\\"),
    *("a/b", "-rf", "--help"),
    *("\u202eevil", "\u200b", "\u2028", "\ufeff", "\x1b[31mred", "\x07", "\x00", "a\nb", "a\r\nb", "\ud800"),
    *("e\u0301" * 50, "\U0001d56c"),
    *("a" * 300, "a" * 10_000, " ", " a ", "nan", "None", "True", "0", "[bold]x[/bold]", "[/]"),
    *("[link=attack]", "$x_1$", "$\\frac$", "_"),
)
FORMULAS = ("=", "+", "-", "@", "\t", "\r")
STUDY_NAMES = 24  # in one study: a learner each


def attack_by_names(folder: Path, *, short: bool = False) -> Iterator[Tally]:
    """As names of labels and files, then as those of data sets and learners; ``short`` takes every sixth."""
    tally = Tally("hostile names")
    names = NAMES[::6] if short else NAMES
    for number, name in enumerate(names):
        _as_label(tally, folder / f"label-{number}", name)
    _as_files(tally, folder / "files", names)
    for start in range(0, len(names), STUDY_NAMES):
        _as_learners(tally, folder / f"learners-{start}", names[start : start + STUDY_NAMES])
    yield tally


def _as_label(tally: Tally, folder: Path, name: str) -> None:
    """In the header of a table, read and used in this process: in a cage, as the damaged files are."""
    folder.mkdir(parents=True)
    table, page = folder / "true.csv", folder / "page.html"
    quoted = '"' + name.replace('"', '""') + '"'
    table.write_bytes(f"id,{quoted},sky\na,1,0\nb,0,1\nc,1,1\n".encode("utf-8", "surrogatepass"))

    def work(number: int) -> None:
        run_here("evaluate", table, table, "--bootstrap", 9, "--report", page, "--explain", "--csv", folder / "out.csv")
        run_here("describe", table, "--csv", folder / "labels.csv")
        if page.exists():
            check_page(page.read_text(encoding="utf-8"))

    (verdict,) = run_caged(work, [0], extra_bytes=None, seconds=60)
    problem = verdict.problem or _formulas(folder, table) or _escaped(folder)
    tally.add(problem, f"a label called {name[:60]!a}")


def _as_files(tally: Tally, folder: Path, names: tuple[str, ...]) -> None:
    """Of predictions: the stem of a file is the name of a model. All in one command, as far as the system has them."""
    folder.mkdir(parents=True)
    (folder / "true.csv").write_text("sea,sky\n1,0\n0,1\n1,1\n")
    files = []
    for name in names:
        try:
            path = folder / f"{name}.csv"
            if path.parent == folder and not path.exists():
                path.write_text("sea,sky\n1,0\n0,1\n0,1\n")
                files.append(path.name)
        except (OSError, ValueError):
            continue
    for batch in (files[start : start + 8] for start in range(0, len(files), 8)):
        arguments = ["evaluate", "true.csv", *(f"./{name}" for name in batch), "--bootstrap", "9"]
        out = ["--report", "page.html", "--csv", "curves-out.csv"]
        ended = run_command([*arguments, *out], seconds=SECONDS, env=environment(), cwd=folder)
        problem = ended.problem
        if problem is None and ended.status == 0:
            problem = _check_page(folder / "page.html") or _live_formula(folder / "curves-out.csv")
        tally.add(problem, f"predictions in files called {batch!a}"[:500])


def _as_learners(tally: Tally, folder: Path, names: tuple[str, ...]) -> None:
    """Names that a plan may hold, as those of learners, the data set and the title; others must be refused."""
    folder.mkdir(parents=True)
    allowed = [name for name in names if name.isprintable() and name.strip()]
    text = PLAN.format(time_limit=20, folds=2, repeats=1).replace('title = "Attack"', f"title = {_toml(allowed[0])}")
    text = text.replace('name = "small"', f"name = {_toml(allowed[-1])}")
    for name in allowed:
        text += f'[[learners]]\nname = {_toml(name)}\nlearner = "evil_learners:Good"\n'
    ended = _run_plan(folder / "allowed", text)
    problem = ended.problem or (None if ended.status == 0 else f"refused: {ended.errors.strip()[:200]}")
    out = folder / "allowed" / "out"
    if problem is None:
        tables = filter(None, map(_live_formula, (out / "tables").glob("*.csv")))
        problem = _check_page(out / "report.html") or next(tables, None) or _escaped(folder)
    tally.add(problem, f"learners called {[name[:30] for name in allowed]!a}"[:500])
    for number, name in enumerate(set(names) - set(allowed)):
        text = (
            PLAN.format(time_limit=20, folds=2, repeats=1)
            + f'[[learners]]\nname = {_toml(name)}\nlearner = "ConstantLabels"\n'
        )
        ended = _run_plan(folder / f"refused-{number}", text)
        tally.add(ended.problem or (None if ended.status == 2 else "not refused"), f"a learner called {name!a}")


def _run_plan(folder: Path, text: str) -> Ended:
    folder.mkdir()
    (folder / "plan.toml").write_bytes(text.encode("utf-8", "surrogatepass"))
    command = ["study", "plan.toml", "--out", "out", "--no-figures", "--n-jobs", "2"]
    return run_command(command, seconds=SECONDS, env=environment(), cwd=folder)


def _toml(name: str) -> str:
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _check_page(path: Path) -> str | None:
    try:
        check_page(path.read_text(encoding="utf-8"))
    except AssertionError as error:
        return str(error)
    return None


def _formulas(folder: Path, given: Path) -> str | None:
    found = (_live_formula(path) for path in folder.glob("*.csv") if path != given)
    return next(filter(None, found), None)


def _live_formula(path: Path) -> str | None:
    """A cell of a table that a spreadsheet would compute, and that is no number."""
    if not path.exists():
        return None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.reader(file):
            for cell in row:
                if cell.startswith(FORMULAS) and not _is_number(cell):
                    return f"{path.name} has a live formula"
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escaped(folder: Path) -> str | None:
    """A file beside the folder that a name with ../ would have made."""
    found = [path for place in (folder, *folder.parents[:3]) for path in place.glob("escaped*")]
    return f"a name made the file {found[0]}" if found or Path("/escaped").exists() else None
