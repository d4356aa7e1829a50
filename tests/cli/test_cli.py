"""The command line: what it prints and writes, and that whatever goes wrong is one line and a status."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral import __main__ as entry
from choral._text import printable
from choral.cli import app
from choral.cli.evaluate import name_models
from commands import assert_refused, read_csv

TRUE = "id,a,b,c\n1,1,0,0\n2,0,1,0\n3,0,0,1\n4,1,1,0\n"
# one wrong label in three rows: Hamming 3/12, subset 3/4
BROAD = "id,a,b,c\n1,0,0,0\n2,0,0,0\n3,0,0,0\n4,1,1,0\n"
# two rows wrong, one of them altogether: Hamming 4/12, subset 2/4; columns and rows in another order
DEEP = "c,b,a,id\n1,0,0,4\n1,0,0,3\n0,1,0,2\n0,1,1,1\n"
SCORES = "id,a,b,c\n1,0.9,0,0\n2,0,0.6,0\n3,0,0,0.2\n4,1,1,0\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a truth and predictions."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # some CI sets it: rich then takes a pipe for a terminal
    for name, content in {"true": TRUE, "broad": BROAD, "deep": DEEP, "scores": SCORES}.items():
        Path(f"{name}.csv").write_text(content)
    return tmp_path


def run(*arguments, columns=80):
    return CliRunner().invoke(app, ["evaluate", *map(str, arguments)], env={"COLUMNS": str(columns)})


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def cells(output, name):
    """The cells of the row of the table that begins with a name."""
    return next(line for line in output.splitlines() if line.startswith(name)).removeprefix(name).split()


# The table


def test_table_marks_the_best_of_each_column(folder):
    result = run("true.csv", "broad.csv", "deep.csv")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    header = cells(result.stdout, "model")
    broad, deep = cells(result.stdout, "broad"), cells(result.stdout, "deep")
    assert (broad[header.index("Hamming")], deep[header.index("Hamming")]) == ("*0.2500", "0.3333")
    assert (broad[header.index("subset")], deep[header.index("subset")]) == ("0.7500", "*0.5000")
    assert "4 rows, 3 labels, hard predictions" in result.stdout
    assert "Least loss at k=1 (Hamming): broad." in result.stdout
    assert "Least loss at k=3 (subset 0/1): deep." in result.stdout
    assert (broad[-1], deep[-1]) == ("0.0000", "0.7500")  # togetherness, without a star


def test_baseline_is_the_last_row_and_never_the_best(folder):
    Path("all.csv").write_text("id,a,b,c\n1,1,1,1\n2,1,1,1\n3,1,1,1\n4,1,1,1\n")
    result = run("true.csv", "all.csv")
    baseline = choral.evaluate(np.eye(3), {"any": np.eye(3)}, n_bootstrap=0).baseline
    assert "0.4167" in cells(result.stdout, baseline)  # five of twelve labels are relevant
    assert result.stdout.index(f"\n{baseline}") > result.stdout.index("\nall ")
    assert f"No model beats the baseline ({baseline}) in: Hamming" in result.stdout


def test_piped_table_fits_80_columns_without_colour(folder):
    result = run("true.csv", "broad.csv", "deep.csv")
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_long_names_stay_whole(folder):
    name = "a_very_long_name_of_a_model_" * 3
    Path(f"{name}.csv").write_text(BROAD)
    result = run("true.csv", f"{name}.csv")
    assert "*0.2500" in cells(result.stdout, name)


def test_names_are_not_markup(folder):
    paths = ["[red]x[/red].csv", "other/red].csv", "[bold].csv", "a\x1b[31mb.csv"]  # equal stems bring in folders
    for path in map(Path, paths):
        path.parent.mkdir(exist_ok=True)
        path.write_text(BROAD)
    result = run("true.csv", *paths, columns=120)
    assert result.exit_code == 0, result.output
    for shown in ("[red]x[/red]", f"{folder.name}/[bold]", rf"{folder.name}/a\x1b[31mb"):
        assert any(line.startswith(shown) for line in result.stdout.splitlines())


def test_labels_are_not_markup_in_errors(folder):
    Path("true.csv").write_text("[red]x[/red],b\n0,1\n")
    Path("pred.csv").write_text("\x1b[31m,b\n0,1\n")
    assert_fails(r"1 missing ('[red]x[/red]'), 1 unknown ('\x1b[31m')", "true.csv", "pred.csv")


def run_in_terminal(monkeypatch, *arguments, columns):
    """What a terminal shows, but for the styles."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    return re.sub(r"\x1b\[[0-9;]*m", "", run(*arguments, columns=columns).stdout)


@pytest.mark.parametrize("columns", [30, 43])
def test_a_narrow_terminal_loses_no_numbers(folder, monkeypatch, columns):
    wide = run("true.csv", "broad.csv", "deep.csv").stdout
    table = [cells(wide, name) for name in ("model", "broad", "deep")]
    narrow = run_in_terminal(monkeypatch, "true.csv", "broad.csv", "deep.csv", columns=columns)
    assert cells(narrow, "model")[:2] == ["broad", "deep"]
    for title, *losses in zip(*table, strict=True):
        assert cells(narrow, title)[:2] == losses


def test_a_terminal_too_narrow_for_either_table(folder, monkeypatch):
    names = [f"a_rather_long_name_of_a_model_{i}" for i in range(3)]
    for name in names:
        Path(f"{name}.csv").write_text(BROAD)
    output = run_in_terminal(monkeypatch, "true.csv", *(f"{name}.csv" for name in names), columns=30)
    assert [len(cells(output, name)) for name in names] == [5, 5, 5]  # losses at k = 1, 2, 3, the area and togetherness


# Notes: who is best, and how sure that is


@pytest.fixture
def three_models(folder):
    """A perfect model, one that is nearly so, and one that is all wrong."""
    truth = np.random.default_rng(0).integers(2, size=(500, 4))
    near = truth.copy()
    near[0, 0] = 1 - near[0, 0]
    for name, labels in {"t": truth, "good": truth, "near": near, "bad": 1 - truth}.items():
        np.save(f"{name}.npy", labels)


def notes(*arguments):
    return run(*arguments, columns=200).stdout


def test_clear_differences(three_models):
    output = notes("t.npy", "good.npy", "bad.npy")
    assert "good is best at k=1 (Hamming), by 1.0000 (95% interval 1.0000 to 1.0000).\n" in output
    assert "surely" not in output


def test_differences_that_are_not_clear(three_models):
    sentence = "No model is surely best at k=4 (subset 0/1): good leads near by 0.0020 (95% interval 0.0000 to 0.0"
    output = notes("t.npy", "good.npy", "near.npy", "bad.npy")
    assert re.search(re.escape(sentence) + r"\d+\); the others are worse\.\n", output)
    np.save("nearer.npy", np.load("near.npy"))
    output = notes("t.npy", "good.npy", "near.npy", "nearer.npy")
    assert re.search(re.escape(sentence) + r"\d+\); nearer may be as good too\.\n", output)
    assert "little power" not in output


def test_models_with_the_same_loss(three_models):
    np.save("same.npy", np.load("good.npy"))
    sentence = "No model is surely best at k=1 (Hamming): good and same have the same loss; the others are worse.\n"
    assert sentence in notes("t.npy", "good.npy", "same.npy", "bad.npy")


def test_the_next_model_is_named(three_models):
    np.save("half.npy", np.where(np.arange(500)[:, None] < 250, np.load("t.npy"), np.load("bad.npy")))
    output = notes("t.npy", "good.npy", "bad.npy", "half.npy")
    assert re.search(
        r"good is best at k=1 \(Hamming\), by 0\.5000 \(95% interval [0-9. to]+\), ahead of half\.\n", output
    )


def test_few_rows_have_little_power(folder):
    truth = np.random.default_rng(0).integers(2, size=(30, 3))
    near = truth.copy()
    near[0, 0] = 1 - near[0, 0]
    for name, labels in {"t": truth, "good": truth, "near": near}.items():
        np.save(f"{name}.npy", labels)
    assert "With 30 rows there is little power to tell models apart.\n" in notes("t.npy", "good.npy", "near.npy")
    np.save("bad.npy", 1 - truth)
    assert "little power" not in notes("t.npy", "good.npy", "bad.npy")


def test_no_bootstrap_no_word_about_it(three_models):
    output = notes("t.npy", "good.npy", "bad.npy", "--bootstrap", 0)
    assert "Least loss at k=1 (Hamming): good.\n" in output
    assert "bootstrap" not in output
    assert "interval" not in output


def test_few_bootstrap_samples_are_no_evidence(three_models):
    output = notes("t.npy", "good.npy", "bad.npy", "--bootstrap", 1)
    assert "Least loss at k=1 (Hamming): good.\n" in output
    assert "Too few to say how sure the differences are: 1 bootstrap sample, expected at least 100.\n" in output
    assert "good is best at" in notes("t.npy", "good.npy", "bad.npy", "--bootstrap", 100)


@pytest.mark.parametrize(("n_rows", "size"), [(1, "1 row"), (9, "9 rows")])
def test_few_rows_are_no_evidence(folder, n_rows, size):
    np.save("t.npy", np.ones((n_rows, 1)))
    np.save("good.npy", np.ones((n_rows, 1)))
    np.save("bad.npy", np.zeros((n_rows, 1)))
    output = notes("t.npy", "good.npy", "bad.npy")
    assert f"{size}, 1 label, hard predictions" in output
    assert "Least loss at k=1 (Hamming): good.\n" in output
    assert f"Too few to say how sure the differences are: {size}, expected at least 10.\n" in output
    alone = notes("t.npy", "bad.npy")
    assert "bad has a loss of 1.0000 at k=1 (Hamming).\n" in alone
    assert f"Too few to say how sure the losses are: {size}, expected at least 10.\n" in alone


def test_a_single_model_has_an_interval_too(three_models):
    output = notes("t.npy", "near.npy")
    assert re.search(r"near has a loss of 0\.0005 at k=1 \(Hamming\) \(95% interval 0\.0000 to 0\.00\d\d\)\.\n", output)
    assert re.search(
        r"near has a loss of 0\.0020 at k=4 \(subset 0/1\) \(95% interval 0\.0000 to 0\.00\d\d\)\.\n", output
    )
    assert "interval" not in notes("t.npy", "near.npy", "--bootstrap", 0)


def test_columns_are_explained(three_models):
    output = notes("t.npy", "near.npy", "bad.npy")
    assert "area: the mean loss along the slide from Hamming to subset 0/1 loss.\n" in output
    assert "together (no loss): 1 if all mistakes are in few rows, 0 if they are spread evenly. " in output
    assert "If errors were independent, it would be 0.0000 (near).\n" in output  # bad is wrong on all labels: nan


def test_polynomial_notes_speak_of_the_columns_shown(three_models):
    output = notes("t.npy", "good.npy", "bad.npy", "--family", "polynomial")
    assert "good is best at alpha=1 (Hamming), by 1.0000 (95% interval 1.0000 to 1.0000)." in output
    assert "Least loss at alpha=inf (subset 0/1): good; bootstrap intervals end at alpha=1000.\n" in output


def test_notes_speak_of_the_parameters_asked_for(three_models):
    output = notes("t.npy", "good.npy", "bad.npy", "--parameters", "2,3", "--bootstrap", 0)
    sentences = [line for line in output.splitlines() if "Least" in line]
    assert sentences == ["Least loss at k=2: good.", "Least loss at k=3: good."]


# Options


def test_threshold_makes_scores_hard(folder):
    result = run("true.csv", "scores.csv", "--threshold", 0.5)
    assert "*0.0833" in cells(result.stdout, "scores")  # the label with score 0.2 alone is wrong
    assert "hard predictions" in result.stdout
    assert result.stderr == ""


def test_scores_stay_soft_and_a_note_says_so(folder):
    result = run("true.csv", "scores.csv")
    assert "*0.1083" in cells(result.stdout, "scores")  # (0.1 + 0.4 + 0.8) / 12
    assert "soft predictions" in result.stdout
    assert "The baseline (all irrelevant) is hard and cannot be compared with scores." in result.stdout
    assert "No model beats" not in result.stdout
    assert result.stderr.startswith("note: the predictions are scores")
    assert "--threshold" in result.stderr
    assert "--soft" in result.stderr


def test_soft_says_nothing(folder):
    result = run("true.csv", "scores.csv", "--soft")
    assert result.stderr == ""
    assert result.stdout == run("true.csv", "scores.csv").stdout


@pytest.mark.parametrize("options", [[], ["--soft"]])
def test_mixing_hard_and_soft_is_a_clean_warning(folder, options):
    result = run("true.csv", "scores.csv", "broad.csv", *options)
    assert result.exit_code == 0
    assert result.stderr.startswith("warning: ")
    assert result.stderr.count("\n") == 1
    assert "hard and soft predictions" in result.stdout


def test_weights(folder):
    rows = [line + weight for line, weight in zip(TRUE.splitlines(), (",w", ",0", ",0", ",1", ",1"), strict=True)]
    Path("weighted.csv").write_text("\n".join(rows))
    result = run("weighted.csv", "broad.csv", "--weights", "w")
    assert "*0.1667" in cells(result.stdout, "broad")  # one label of the last two rows


def test_a_prediction_may_carry_the_weights_too(folder):
    for name in ("true", "broad"):
        path = Path(f"{name}.csv")
        first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([f"{first},w", *(f"{line},2" for line in rest)]))
    assert "*0.2500" in cells(run("true.csv", "broad.csv", "--weights", "w").stdout, "broad")


def test_bad_weights_name_file_line_and_column(folder):
    rows = [line + weight for line, weight in zip(TRUE.splitlines(), (",w", ",0", ",0", ",-1", ",1"), strict=True)]
    Path("weighted.csv").write_text("\n".join(rows))
    files = ("weighted.csv", "broad.csv")
    message = "weighted.csv, line 4, column 'w': expected a weight, 0 or more and at most 1e+300; got -1.0."
    assert_fails(message, *files, "--weights", "w")
    assert_fails("weighted.csv: 'id' is the id column", *files, "--weights", "id")


def test_header(folder):
    Path("t.csv").write_text("0,1\n1,0\n")
    assert_fails(
        "The first line of t.csv, 0,1, may be a header or labels; say --header or --no-header.", *["t.csv"] * 2
    )
    assert "1 row, 2 labels" in run("t.csv", "t.csv", "--header").stdout
    assert "2 rows, 2 labels" in run("t.csv", "t.csv", "--no-header").stdout
    Path("t.csv").write_text("101,102\n1,0\n")
    assert_fails("expected 0 or 1; got 101.0 (if this line is a header, say --header).", "t.csv", "t.csv")


def test_id_column(folder):
    for name in ("true", "deep"):
        path = Path(f"{name}.csv")
        path.write_text(path.read_text().replace("id", "image"))
    result = run("true.csv", "deep.csv", "--id", "image")
    assert "*0.3333" in cells(result.stdout, "deep")
    assert_fails("true.csv has no column 'id' for the ids", "true.csv", "deep.csv", "--id", "id")
    assert_fails("broad.csv has no column 'image' for the ids", "true.csv", "broad.csv", "--id", "image")


def test_family_and_parameters(folder):
    options = ("--family", "polynomial", "--parameters", "1,2,inf", "--bootstrap", "0", "--csv", "out.csv")
    result = run("true.csv", "broad.csv", "deep.csv", *options)
    assert "Least loss at alpha=inf (subset 0/1): deep." in result.stdout
    rows = [row for row in read_csv("out.csv") if row["model"] == "broad"]
    assert [float(row["parameter"]) for row in rows] == [1, 2, np.inf]
    # one wrong label of three: 1 - (2/3) ** 2 = 5/9 in three rows of four
    assert [float(row["loss"]) for row in rows] == pytest.approx([0.25, 5 / 12, 0.75])
    assert {(row["family"], row["difference"]) for row in rows} == {("polynomial", "")}


def test_seed_decides_the_intervals(folder):
    def intervals(seed):
        run("true.csv", "broad.csv", "deep.csv", "--seed", seed, "--csv", "out.csv", "--bootstrap", 20)
        return Path("out.csv").read_text()

    assert intervals(1) == intervals(1)
    assert intervals(1) != intervals(2)


def test_version_and_help():
    runner = CliRunner()
    assert runner.invoke(app, ["--version"]).stdout == f"choral {choral.__version__}\n"
    assert "evaluate" in runner.invoke(app, ["--help"]).stdout
    text = runner.invoke(app, ["evaluate", "--help"], env={"COLUMNS": "80"}).stdout
    assert "--threshold NUMBER" in text
    assert "header" in text
    assert not any(word in text for word in ("<", "list[", "Path", "bool"))  # types are for programmers


def test_no_command_is_a_question_for_help():
    assert CliRunner().invoke(app, []).stdout == CliRunner().invoke(app, ["--help"]).stdout


# Outputs


def test_json_is_all_there_is_on_stdout(folder):
    result = run("true.csv", "scores.csv", "--json")
    evaluation = json.loads(result.stdout, parse_constant=pytest.fail)  # no bare NaN or Infinity
    assert isinstance(evaluation, dict)
    assert result.stderr.startswith("note: ")


def test_json_with_an_infinite_parameter(folder):
    result = run("true.csv", "deep.csv", "--json", "--family", "polynomial", "--parameters", "1,inf")
    json.loads(result.stdout, parse_constant=pytest.fail)


def test_csv_holds_curves_and_intervals(folder):
    run("true.csv", "broad.csv", "deep.csv", "--csv", "out.csv")
    rows = read_csv("out.csv")
    assert len(rows) == 3 * 3
    losses = {row["model"]: float(row["loss"]) for row in rows if row["parameter"] == "2"}
    # by hand: a wrong label is in two of the three pairs, and a row all wrong has a mistake in every pair
    assert losses["broad"] == pytest.approx(3 / 4 * 2 / 3)
    assert losses["deep"] == pytest.approx((2 / 3 + 1) / 4)
    broad = next(row for row in rows if row["model"] == "broad" and row["parameter"] == "3")
    assert float(broad["difference"]) == pytest.approx(0.25)
    assert float(broad["difference_lower"]) <= float(broad["difference"]) <= float(broad["difference_upper"])
    assert float(broad["lower"]) <= float(broad["loss"]) == 0.75 <= float(broad["upper"])
    together = {row["model"]: float(row["togetherness"]) for row in rows}
    assert together == pytest.approx({"broad": 0, "deep": 3 / 4, "all irrelevant": 0})


def test_what_was_written_is_said(folder):
    pytest.importorskip("matplotlib")
    result = run("true.csv", "broad.csv", "--csv", "out.csv", "--plot", "out.svg")
    assert result.stderr == "Wrote out.csv and out.svg.\n"
    assert "Wrote" not in result.stdout
    assert run("true.csv", "broad.csv", "--csv", "out.csv", "--json").stderr == "Wrote out.csv.\n"


def test_plots_have_bands(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    from choral.displays import LossCurveDisplay

    seen = []
    plot = LossCurveDisplay.plot
    monkeypatch.setattr(LossCurveDisplay, "plot", lambda self: (seen.append(self.bands), plot(self))[1])
    run("true.csv", "broad.csv", "--plot", "out.svg")
    run("true.csv", "broad.csv", "--plot", "out.svg", "--bootstrap", 0)
    assert [len(bands) for bands in seen] == [2, 2]
    assert all(band is not None for band in seen[0])
    assert seen[1] == (None, None)


@pytest.mark.parametrize(("name", "start"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("out.PDF", b"%PDF")])
def test_plot(folder, name, start):
    pytest.importorskip("matplotlib")
    result = run("true.csv", "broad.csv", "deep.csv", "--plot", name)
    assert result.exit_code == 0, result.output
    assert Path(name).read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["模型", "$x$\x1b[31m", os.fsdecode(b"\xff")])
def test_odd_names_in_outputs(folder, name):
    pytest.importorskip("matplotlib")
    try:
        Path(f"{name}.csv").write_text(BROAD)
    except OSError:
        pytest.skip("the file system does not take such names")
    result = run("true.csv", f"{name}.csv", "deep.csv", "--csv", "out.csv", "--plot", "out.svg")
    assert result.exit_code == 0, result.output
    glyphs = "warning: the font of the plot lacks some characters of the names.\n"
    assert result.stderr == (glyphs if name == "模型" else "") + "Wrote out.csv and out.svg.\n"
    assert read_csv("out.csv")[0]["model"] == printable(name)
    assert b"\x1b" not in Path("out.svg").read_bytes() + Path("out.csv").read_bytes()


@pytest.mark.parametrize("name", ["=1+1", "+deep", "@deep"])
def test_names_of_models_are_no_formulas_in_a_csv_file(folder, name):
    Path(f"{name}.csv").write_text(BROAD)
    result = run("true.csv", f"./{name}.csv", "deep.csv", "--csv", "out.csv")
    assert result.exit_code == 0, result.output
    assert read_csv("out.csv")[0]["model"] == f"'{name}"


def test_plot_without_matplotlib(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    message = "matplotlib is not installed; try: pip install matplotlib (or choral's extra 'plot')"
    assert_fails(message, "true.csv", "broad.csv", "--plot", "out.png")


def test_progress_is_for_terminals_and_leaves_stdout_alone(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("true.csv", "broad.csv", "--json")
    assert "0:00:0" in result.stderr  # the time that has passed
    json.loads(result.stdout)


def test_progress_moves_within_a_file(folder, monkeypatch):
    shown = []

    @contextmanager
    def record():
        yield lambda *state: shown.append(state)

    monkeypatch.setattr("choral.cli.evaluate.progress_bar", record)
    monkeypatch.setattr("choral.label_files.delimited.BLOCK_CELLS", 1000)
    content = "1,1\n" * 20_000
    Path("long.csv").write_text(content)
    np.save("short.npy", np.tile([1, 1], (20_000, 1)))
    run("long.csv", "short.npy", "--bootstrap", 0)
    assert shown[0] == (0, 1, "reading long.csv")
    steps = [done for done, total, what in shown if (total, what) == (len(content), "reading long.csv")]
    assert len(set(steps)) > 3
    assert steps == sorted(steps)
    assert steps[-1] == len(content)
    assert (0, 1, "reading short.npy") in shown


# Several formats together


def test_formats_mix(folder):
    sparse = pytest.importorskip("scipy.sparse")
    truth = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    np.save("true.npy", truth)
    sparse.save_npz("right.npz", sparse.csr_array(truth))
    Path("nameless.tsv").write_text("0\t0\t0\n" * 4)
    result = run("true.npy", "right.npz", "nameless.tsv")
    assert "*0.0000" in cells(result.stdout, "right")
    assert "0.4167" in cells(result.stdout, "nameless")


def test_parquet(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(
        pyarrow.table({"id": [4, 3, 2, 1], "c": [1, 1, 0, 0], "b": [0, 0, 1, 1], "a": [0, 0, 0, 1]}),
        "p.parquet",
    )
    assert "*0.3333" in cells(run("true.csv", "p.parquet").stdout, "p")


def test_parquet_without_pyarrow(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "pyarrow.parquet", raising=False)
    Path("p.parquet").write_bytes(b"PAR1")
    assert_fails(
        "pyarrow is not installed; try: pip install pyarrow (or choral's extra 'tables')", "true.csv", "p.parquet"
    )


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["x/br.csv", "lp.npy"], ["br", "lp"]),
        (["x/br.csv", "y/br.csv", "lp.npy"], ["x/br", "y/br", f"{Path.cwd().name}/lp"]),
        (["x/br.csv", "x/br.npy"], ["x/br.csv", "x/br.npy"]),
    ],
)
def test_names_of_models(paths, names):
    assert name_models([Path(path) for path in paths]) == names


# Errors


def test_bad_arguments(folder):
    files = ("true.csv", "broad.csv")
    assert_fails("--threshold makes scores hard and --soft keeps them", *files, "--threshold", 0.5, "--soft")
    assert_fails("numbers separated by commas; got '1;2'", *files, "--parameters", "1;2")
    assert_fails("ends in .png, .svg, .pdf; got 'out.gif'", *files, "--plot", "out.gif")
    assert_fails("Prediction files must differ; broad.csv came twice", *files, "broad.csv")
    assert_fails("true.csv has no column 'w' for the weights", *files, "--weights", "w")
    assert_fails("true.csv is an input or named twice", *files, "--csv", "true.csv")
    assert_fails("out.png is an input or named twice", *files, "--csv", "out.png", "--plot", "out.png")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--threshold", "abc", "--threshold must be a number; got 'abc'."),
        ("--threshold", "nan", "--threshold must be a finite number; got 'nan'."),
        ("--threshold", "-inf", "--threshold must be a finite number; got '-inf'."),
        ("--bootstrap", "x", "--bootstrap must be a whole number from 0 to 100000; got 'x'."),
        ("--bootstrap", "-1", "--bootstrap must be a whole number from 0 to 100000; got '-1'."),
        ("--bootstrap", "100001", "--bootstrap must be a whole number from 0 to 100000; got '100001'."),
        ("--seed", "1.5", "--seed must be a whole number from 0 to "),
        ("--family", "normal", "--family must be binomial or polynomial; got 'normal'."),
        ("--csv", "", "--csv must name a file; got ''."),
        ("--plot", "", "--plot must name a file that ends in .png, .svg, .pdf; got ''."),
    ],
)
def test_values_of_options(folder, option, value, message):
    assert_fails(message, "true.csv", "scores.csv", option, value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["evaluate", "true.csv"], "Missing argument 'PRED"),
        (["evaluate", "true.csv", "broad.csv", "--csv"], "'--csv' requires an argument"),
        (["evaluate", "true.csv", "broad.csv", "--\x1b[31m\n"], r"--\x1b[31m"),
        (["judge"], "No such command 'judge'"),
        (["--loud"], "--loud"),
    ],
)
def test_wrong_usage_is_one_line_too(folder, arguments, message):
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("choral: error: ")
    assert result.stderr.count("\n") == 1
    assert message in result.stderr
    assert result.stderr.endswith(" --help)\n")


def test_outputs_are_checked_before_the_computing(folder, monkeypatch):
    monkeypatch.setattr(choral, "evaluate", pytest.fail)
    assert_fails("its folder does not exist", "true.csv", "broad.csv", "--csv", "nowhere/out.csv")
    assert_fails("not a regular file", "true.csv", "broad.csv", "--plot", make_folder("out.png"))


def make_folder(name):
    Path(name).mkdir()
    return name


def test_bad_files(folder):
    assert_fails("nowhere.csv does not exist", "true.csv", "nowhere.csv")
    Path("ragged.csv").write_text("a,b\n0\n")
    assert_fails("ragged.csv, line 2: expected 2 columns; got 1", "ragged.csv", "broad.csv")
    Path("new\nline.txt").write_text("")
    assert_fails(r"new\nline.txt: the file name must end in", "new\nline.txt", "broad.csv")


def test_bad_values_name_file_line_and_column(folder):
    Path("t.csv").write_text(TRUE.replace("3,0,0,1", "3,0,0,7"))
    assert_fails("error: t.csv, line 4, column 'c': expected 0 or 1; got 7.0.\n", "t.csv", "broad.csv")
    Path("p.csv").write_text(DEEP.replace("1,0,0,4", "1,0,-3,4"))
    remedy = "To cut scores of another range, say --threshold NUMBER: 0 for logits and for labels -1 and +1."
    place = "error: p.csv, line 2, column 'a': expected a number in [0, 1]"
    assert_fails(f"{place}; got -3.0. {remedy}\n", "true.csv", "p.csv")
    np.save("p.npy", np.array([[0, 1], [1, np.nan]]))
    np.save("t.npy", np.eye(2))
    message = "error: p.npy, row 2 (counted from 1), column 2: expected a number{}; got nan.\n"
    assert_fails(message.format(" in [0, 1]"), "t.npy", "p.npy")
    assert_fails(message.format(""), "t.npy", "p.npy", "--threshold", 0)


def test_links_in_a_circle(folder):
    Path("loop.csv").symlink_to("loop.csv")
    assert_fails("loop.csv does not exist; expected a file.", "loop.csv", "broad.csv")
    assert_fails("loop.csv cannot be written", "true.csv", "broad.csv", "--csv", "loop.csv")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs a folder in which not even root can make files")
def test_no_output_where_one_of_two_is_not_possible(folder):
    pytest.importorskip("matplotlib")
    assert_fails("/proc/x.png cannot be written", "true.csv", "broad.csv", "--csv", "out.csv", "--plot", "/proc/x.png")
    assert not Path("out.csv").exists()


def test_too_little_memory(folder, monkeypatch):
    def exhaust(*args, **kwargs):
        raise MemoryError("Unable to allocate 2 TiB.")

    monkeypatch.setattr(choral, "evaluate", exhaust)
    assert_fails("not enough memory. Unable to allocate 2 TiB.", "true.csv", "broad.csv")


def test_interruption(folder, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(choral, "evaluate", interrupt)
    result = run("true.csv", "broad.csv", "--csv", "out.csv")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "choral: interrupted\n")


# The real thing, in a process of its own


def start(code_or_module, *arguments, **options):
    command = [sys.executable, *code_or_module, "evaluate", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_process(folder):
    with start(["-m", "choral"], "true.csv", "broad.csv", "deep.csv") as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert output == run("true.csv", "broad.csv", "deep.csv").stdout


def test_process_with_an_error(folder):
    with start(["-m", "choral"], "true.csv", "nowhere.csv") as process:
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "")
    assert errors == "choral: error: nowhere.csv does not exist; expected a file.\n"


STOPS = [(signal.SIGINT, 130, "choral: interrupted\n"), (signal.SIGTERM, 143, "")]


@pytest.mark.parametrize(("stop", "status", "message"), STOPS)
def test_a_stop_while_computing_leaves_no_file(folder, stop, status, message):
    code = (
        "import time, choral\n"
        "def evaluate(*args, **kwargs): print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]\n"
        "choral.evaluate = evaluate\n"
        "from choral.__main__ import main; main()"
    )
    assert_leaves_nothing(code, stop, status, message)


@pytest.mark.parametrize(("stop", "status", "message"), STOPS)
def test_a_stop_while_writing_leaves_no_file(folder, stop, status, message):
    code = (
        "import os, time\n"
        "def sync(number): print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]\n"
        "os.fsync = sync\n"  # the temporary file is there by then
        "from choral.__main__ import main; main()"
    )
    assert_leaves_nothing(code, stop, status, message)


def assert_leaves_nothing(code, stop, status, message):
    # The code sleeps in short naps: Python 3.14 may look at a signal that comes during print only after the next call.
    before = set(os.listdir())
    with start(["-c", code], "true.csv", "broad.csv", "--csv", "out.csv") as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(stop)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (status, message)
    assert set(os.listdir()) == before


def test_closed_pipe_is_no_error(folder):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "choral", "evaluate", "true.csv", "broad.csv"]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(write)
    assert "choral: error" not in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("arguments", [["evaluate", "true.csv", "broad.csv"], ["--help"], ["--version"]])
def test_full_disk_behind_standard_output(folder, arguments):
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "choral", *arguments]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert result.stderr == "choral: error: standard output cannot be written: No space left on device.\n"
    assert result.returncode == 2


def test_another_ctrl_c_while_python_ends(folder):
    code = (
        "import atexit, time, choral\n"
        "def nap(word): print(word, flush=True); [time.sleep(0.1) for _ in range(20)]\n"
        "choral.evaluate = lambda *args, **kwargs: nap('ready')\n"
        "atexit.register(nap, 'ending')\n"
        "from choral.__main__ import main; main()"
    )
    with start(["-c", code], "true.csv", "broad.csv") as process:
        for word in ("ready", "ending"):
            assert process.stdout.readline() == f"{word}\n"
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "choral: interrupted\n")


@pytest.fixture
def interruptible():
    """The entry point ignores Ctrl-C in the end; whoever runs the tests may need it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("module", ["typer", "rich"])
def test_entry_point_without_the_extra(monkeypatch, capsys, module):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "choral.cli")  # as if it had not been imported yet
    with pytest.raises(SystemExit) as caught:
        entry.main()
    assert caught.value.code == 2
    cure = f"try: pip install {module} (or choral's extra 'cli')"
    assert capsys.readouterr().err == f"choral: error: {module} is not installed; {cure}\n"


@pytest.mark.usefixtures("interruptible")
def test_entry_point_interrupted_while_importing(monkeypatch, capsys):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("choral._optional.require", interrupt)
    monkeypatch.delitem(sys.modules, "choral.cli")
    with pytest.raises(SystemExit) as caught:
        entry.main()
    assert caught.value.code == 130
    assert capsys.readouterr().err == "choral: interrupted\n"


def test_parameters_may_be_repeated(folder):
    once = run("true.csv", "broad.csv", "--parameters", "1,2", "--bootstrap", "0")
    twice = run("true.csv", "broad.csv", "--parameters", "1", "--parameters", "2", "--bootstrap", "0")
    assert once.exit_code == 0
    assert twice.stdout == once.stdout
