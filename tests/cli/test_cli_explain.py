"""`choral evaluate --explain`: where the loss comes from, with the names of the files."""

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral.cli import app
from commands import assert_refused

TRUE = "id,sea,sky\nr1,1,0\nr2,0,1\nr3,1,1\nr4,0,0\n"
# sky is wrong in two rows, once alone
NEAR = "id,sea,sky\nr1,1,1\nr2,0,1\nr3,0,0\nr4,0,0\n"
# sea is wrong in three rows
FAR = "id,sea,sky\nr1,0,0\nr2,1,1\nr3,0,1\nr4,0,0\n"
EVIL = '<script>alert("1")</script>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a truth and predictions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, content in {"true": TRUE, "near": NEAR, "far": FAR}.items():
        Path(f"{name}.csv").write_text(content)
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result.stdout


def lines_after(output, start):
    lines = output.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.startswith(start)) :]


def test_one_model_is_explained_after_its_table(folder):
    output = run("true.csv", "near.csv", "--explain")
    assert output.startswith(run("true.csv", "near.csv"))
    lines = lines_after(output, "near: subset 0/1 loss 0.5000; 4 rows, 2 labels")
    shares = [line.split() for line in lines if line.startswith(("  sea", "  sky"))]
    # r1: sky alone, 1; r3: both, 1/2 each; over four rows, of a loss of 1/2
    assert shares[0] == ["sky", "50.0", "%", "66.7", "%", "75.0", "%", "1.12"]
    assert shares[1][:3] == ["sea", "25.0", "%"]
    assert any(line.split() == ["r3", "1.0000", "sea,", "sky", "-sea,", "-sky"] for line in lines)
    assert "models: " not in output


def test_of_several_models_the_best_is_explained_and_all_stand_side_by_side(folder):
    output = run("true.csv", "far.csv", "near.csv", "--explain")
    assert output.count(": subset 0/1 loss ") == 1
    assert "near: subset 0/1 loss 0.5000" in output
    lines = lines_after(output, "2 models: subset 0/1 loss; 4 rows, 2 labels")
    assert [line.split() for line in lines[2:5]] == [
        ["near", "far"],
        ["loss", "0.5000", "0.7500"],
        ["sky", "0.3750", "0.0000"],
    ]
    assert "near is better in 1 row, far in 0" in output
    assert lines_after(output, "  r2")[0].split() == ["r2", "sky", "(right)", "+sea"]


def test_without_the_option_nothing_is_explained(folder):
    assert "subset 0/1 loss 0.5000" not in run("true.csv", "near.csv")
    assert "explanations" not in json.loads(run("true.csv", "near.csv", "--json"))


def test_json(folder):
    found = json.loads(run("true.csv", "far.csv", "near.csv", "--explain", "--json"))["explanations"]
    assert found["ranking"] == ["near", "far"]
    assert found["models"]["near"]["labels"] == ["sea", "sky"]
    assert found["models"]["near"]["shares"] == pytest.approx([0.125, 0.375])
    assert found["models"]["near"]["costly_rows"][0]["id"] == "r3"
    assert found["disagreements"]["models"] == ["near", "far"]


def test_the_last_loss_of_the_table_is_explained(folder):
    assert "near: loss by BinomialMeasure(k=1) 0.3750;" in run("true.csv", "near.csv", "--parameters", 1, "--explain")


def test_rows_and_labels_without_names_are_counted_from_1(folder):
    np.save("true.npy", [[1, 0], [0, 1], [1, 1]])
    np.save("pred.npy", [[1, 0], [0, 1], [0, 1]])
    lines = lines_after(run("true.npy", "pred.npy", "--explain"), "pred: subset 0/1 loss")
    assert any(line.startswith("  label 1  33.3 %") for line in lines)
    assert any(line.split() == ["3", "1.0000", "label", "1,", "label", "2", "-label", "1"] for line in lines)


def test_scores_are_explained_as_they_are_or_by_the_threshold(folder):
    np.save("true.npy", [[1, 0], [0, 1]])
    np.save("scores.npy", [[0.75, 0.0], [0.5, 1.0]])
    assert "scores: subset 0/1 loss 0.3750" in run("true.npy", "scores.npy", "--soft", "--no-tune", "--explain")
    assert "scores: subset 0/1 loss 0.5000" in run(
        "true.npy", "scores.npy", "--threshold", "0.5", "--no-tune", "--explain"
    )


def test_folders_of_parts_are_refused(folder):
    for name in ("true", "near"):
        Path(name).mkdir()
        Path(f"{name}.csv").rename(f"{name}/part1.csv")
    result = CliRunner().invoke(app, ["evaluate", "true", "near", "--explain"])
    assert_refused(result, "--explain looks at rows, and of folders only sums are kept; true is a folder.")


def test_control_characters_of_names_are_shown_not_obeyed(folder):
    Path("true.csv").write_text("id,\x1b[31msea,sky\n\x1b[2J,1,0\nb,0,1\n")
    Path("near.csv").write_text("id,\x1b[31msea,sky\n\x1b[2J,0,0\nb,0,1\n")
    output = run("true.csv", "near.csv", "--explain")
    assert "\x1b" not in output
    assert "\\x1b[31msea" in output
    assert "\\x1b[2J" in output


# The page


@pytest.fixture
def page(monkeypatch):
    """What would be on the page."""
    seen = {}
    monkeypatch.setattr("choral.evaluation.page.write_page", lambda contents, path: seen.update(contents))
    return seen


def test_the_page_has_the_names_of_files_rows_and_labels(folder, page):
    run("true.csv", "far.csv", "near.csv", "--report", "page.html")
    assert page["files"] == ["true.csv", "far.csv", "near.csv"]
    near, far = page["explanations"]
    assert (near["model"], far["model"], near["dataset"]) == ("near", "far", "true")
    assert near["labels"] == ["sea", "sky"]
    assert near["rows"][0]["id"] == "r3"
    assert page["disagreements"][0]["rows"][0]["id"] == "r2"


def test_the_page_is_that_of_python(folder, page):
    run("true.csv", "near.csv", "--report", "page.html", "--bootstrap", "0")
    of_files = dict(page)
    true, near = ([[int(cell) for cell in line.split(",")[1:]] for line in some.split()[1:]] for some in (TRUE, NEAR))
    evaluation = choral.evaluate(true, {"near": near}, n_bootstrap=0)
    evaluation.report("page.html", title="true", labels=["sea", "sky"], ids=["r1", "r2", "r3", "r4"])
    assert {**page, "files": []} == {**of_files, "files": []}


def test_the_page_of_folders_says_why_nothing_is_explained(folder, page):
    for name in ("true", "near"):
        Path(name).mkdir()
        Path(f"{name}.csv").rename(f"{name}/part1.csv")
    run("true", "near", "--report", "page.html")
    assert "explanations" not in page
    assert "Where the loss comes from is not shown" in page["notes"][-1]
    assert page["files"] == ["true", "near"]


def test_hostile_names_of_labels_rows_and_models_are_text_on_the_page(folder):
    pytest.importorskip("plotly")
    names = f'id,"{EVIL.replace(chr(34), chr(34) * 2)}",sky\n'
    row = f'"{EVIL.replace(chr(34), chr(34) * 2)}2"'
    Path("true.csv").write_text(f"{names}{row},1,0\nb,0,1\nc,1,1\n")
    Path("<img src=x onerror=alert(1)>.csv").write_text(f"{names}{row},0,1\nb,0,1\nc,1,1\n")
    Path("other.csv").write_text(f"{names}{row},1,0\nb,0,1\nc,0,0\n")
    run("true.csv", "<img src=x onerror=alert(1)>.csv", "other.csv", "--report", "page.html")
    html = Path("page.html").read_text(encoding="utf-8")
    assert EVIL not in html
    assert "<img src=x" not in html
    section = html[html.index('<section id="explanations"') :]
    section = section[: section.index("</section>")]
    assert "<script" not in section
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;2</td>" in section  # the row
    assert "&lt;img src=x onerror=alert(1)&gt;: loss 0.3333</summary>" in section


def test_the_example_of_the_docs(monkeypatch):
    docs = Path(__file__).parents[2] / "docs"
    monkeypatch.chdir(docs / "examples")
    command = "choral evaluate true.csv binary_relevance.csv label_powerset.csv --explain"
    shown = (docs / "command_line.md").read_text(encoding="utf-8").partition(f"$ {command}\n")[2].partition("```")[0]
    lines = [line for line in shown.splitlines() if line != "..."]
    assert len(lines) == 12
    printed = run(*command.split()[2:]).splitlines()
    assert [line for line in lines if line not in printed] == []
