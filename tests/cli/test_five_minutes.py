"""The first page that newcomers follow: its steps run in order, in an empty folder."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("matplotlib")
pytest.importorskip("plotly")

import pandas as pd
from typer.testing import CliRunner

import choral
from choral.cli import app

TEXT = (Path(__file__).parents[2] / "docs" / "five_minutes.md").read_text(encoding="utf-8")


def blocks(language):
    """The code on the page in this language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_steps_lead_to_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files, write_frames, in_python = blocks("python")
    names = {}
    exec(compile(write_files, "files.py", "exec"), names)
    (command,) = (line for line in "".join(blocks("console")).splitlines() if line.startswith("choral evaluate"))
    result = CliRunner().invoke(app, shlex.split(command)[1:], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    assert "forest" in result.output
    page = Path("page.html").read_text(encoding="utf-8")
    assert "middle" in page  # the name of a label

    by_numpy = pd.read_csv("forest.csv")
    Path("forest.csv").unlink()
    names["Y_test"] = pd.DataFrame(names["Y_test"], columns=list("abcdefg"))
    exec(compile(write_frames, "frames.py", "exec"), names)
    np.testing.assert_array_equal(pd.read_csv("forest.csv"), by_numpy)
    np.testing.assert_array_equal(pd.read_csv("true.csv"), names["Y_test"])

    Path("page.html").unlink()
    exec(compile(in_python, "evaluate.py", "exec"), {})
    assert "logistic" in Path("page.html").read_text(encoding="utf-8")


def test_the_wheel_has_the_name_on_the_page():
    assert f'"./choral-{choral.__version__}-py3-none-any.whl[cli,plot,report]"' in TEXT
