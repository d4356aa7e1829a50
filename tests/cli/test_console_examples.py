"""Every command that README and docs show with its output is run, and the output compared."""

import os
import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")
pytest.importorskip("plotly")

from typer.testing import CliRunner

from choral.cli import app

PROJECT = Path(__file__).parents[2]
PAGES = ["README.md", *sorted(str(page.relative_to(PROJECT)) for page in (PROJECT / "docs").glob("*.md"))]
NOT_RUN = {  # a cluster that is not there; hours of work
    "choral evaluate true/ tree/ forest/ --dask tcp://10.0.0.5:8786",
    "choral study                      # the quick plan: embedded data, a minute",
}
COLOURS = "red,green\n" + "1,0\n0,1\n1,1\n0,0\n"

# The files of examples that are not in docs/examples: for the first command of a block, or for any block of its folder.
FILES = {
    "choral evaluate two.csv two.csv": {"two.csv": "0,1\n1,0\n"},
    "choral evaluate true.csv rot.csv": {"true.csv": COLOURS, "rot.csv": COLOURS.replace("red", "rot")},
    "choral evaluate true.csv bad.csv": {"true.csv": COLOURS, "bad.csv": "red,green\n1,0\n0,1\n1,1\n2,0\n"},
    "choral evaluate true.csv scores.csv": {
        "true.csv": "sea;sky\n1;0\n0;1\n",
        "scores.csv": "sea;sky\n0,25;0,5\n0,5;0,75\n",
    },
    "head -3 true.csv": {"true.csv": "id,tags\n1,rock|pop\n2,\n", "forest.csv": "id,tags\n1,rock\n2,rock|pop\n"},
    "choral evaluate true/ forest/": {
        **{f"true/part-{part}.csv": COLOURS for part in (1, 2, 3)},
        **{f"forest/part-{part}.csv": COLOURS for part in (1, 2)},
    },
    "choral evaluate true pred --explain": {"true/part-1.csv": COLOURS, "pred/part-1.csv": COLOURS},
    "choral decide rounded.csv": {"rounded.csv": "a,b,probability\n0,1,0.33\n1,0,0.66\n"},
}
# Two blocks that begin with the same command: told apart by what they print.
SAME_COMMAND = {
    "note: the unnamed first column": dict.fromkeys(("true.csv", "forest.csv"), ",red,green\n0,1,0\n1,0,1\n"),
    "column 'song'": dict.fromkeys(("true.csv", "forest.csv"), "song,red\nWaterloo,1\nFernando,0\n"),
}
WITH_SEGMENTS = ("choral evaluate true.csv scores.csv --threshold", "choral tune true.csv scores.csv")
OTHER_LABELS = "choral tune --load rule.json --apply other.csv --out labels.csv"


def console_blocks():
    """Pairs of a page and a block of commands after a prompt, without indentation."""
    for page in PAGES:
        text = (PROJECT / page).read_text(encoding="utf-8")
        for indent, block in re.findall(r"^( *)```console\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
            lines = [line.removeprefix(indent).rstrip() for line in block.splitlines()]
            if lines[0].startswith("$ ") and not lines[0].startswith("$ pip ") and lines[0][2:] not in NOT_RUN:
                yield pytest.param(lines, id=f"{page}: {lines[0].removeprefix('$ ')}")


def steps_of(lines):
    """Pairs of a command and the lines that are shown below it."""
    starts = [i for i, line in enumerate(lines) if line.startswith("$ ")] + [len(lines)]
    return [(lines[i].removeprefix("$ "), lines[i + 1 : j]) for i, j in pairwise(starts)]


def files_of(lines):
    """The files that a block needs beside those of docs/examples."""
    for words, files in SAME_COMMAND.items():
        if any(words in line for line in lines):
            return files
    return FILES.get(lines[0].removeprefix("$ "), {})


def put_files(lines, folder):
    """Lay out what the block reads, and return the folder that it runs in."""
    examples = folder / "docs" / "examples"
    shutil.copytree(PROJECT / "docs" / "examples", examples)
    first = lines[0].removeprefix("$ ")
    if "docs/examples" in "".join(lines):
        return folder
    place = examples / "segments" if first.startswith(WITH_SEGMENTS) or first == OTHER_LABELS else examples
    for name, text in files_of(lines).items():
        path = folder / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        place = folder / "files"
    if first == OTHER_LABELS:
        assert run("choral tune true.csv scores.csv --save rule.json", place)
        text = (place / "new_scores.csv").read_text(encoding="utf-8")
        (place / "other.csv").write_text(text.replace("middle", "mitte"), encoding="utf-8")
    return place


def run(command, folder):
    """The lines that a command prints, those on standard error included, in a terminal of 80 columns."""
    program, *arguments = shlex.split(command, comments=True)
    if program == "head":
        return (folder / arguments[1]).read_text(encoding="utf-8").splitlines()[: -int(arguments[0])]
    if program == "cat":
        return (folder / arguments[0]).read_text(encoding="utf-8").splitlines()
    assert program == "choral"
    before = Path.cwd()
    os.chdir(folder)
    try:
        result = CliRunner().invoke(app, arguments, env={"COLUMNS": "80"})
    finally:
        os.chdir(before)
    return [line.rstrip() for line in result.output.splitlines()]


def matches(expected, found):
    """The same lines; `...` alone on a line stands for any lines, none included."""
    pattern = "".join("(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in found))


@pytest.mark.parametrize("lines", list(console_blocks()))
def test_what_pages_show_is_what_commands_print(lines, tmp_path, monkeypatch, request):
    if "choral describe" in lines[0]:
        monkeypatch.setenv("CHORAL_DATA", str(request.getfixturevalue("datasets_folder")))
    folder = put_files(lines, tmp_path)
    for command, expected in steps_of(lines):
        if command.startswith("cd "):
            folder = folder / command.removeprefix("cd ")
            continue
        found = run(command, folder)
        assert matches(expected, found), "\n".join(found)


def test_every_example_is_found():
    """Else a change of the pages' format would leave nothing to compare."""
    assert len(list(console_blocks())) >= 24
