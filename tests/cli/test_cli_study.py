"""``choral study``, ``choral report`` and ``choral evaluate --report``: what they write and say."""

import csv
import json
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import hamming_loss, zero_one_loss

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from choral.cli import app
from choral.cli.study import command
from choral.cli.study.printing import print_study
from choral.paper.yardstick import COLUMNS, add_up, compare_with_best
from choral.study import Results, run_study
from choral.study.page import study_contents
from handmade_results import HandMade

EVIL = "<script>alert(1)</script>"
PLAN = f"""
title = "Trial"

[split]
folds = 2

[families]
binomial = "all"
polynomial = [1, 2, inf]

[[datasets]]
name = "together"
call = "make_dependent"
parameters = {{ n_samples = 60, n_labels = 3, dependence = 1.0 }}

[[datasets]]
name = "{EVIL}"
path = "photos.csv"
labels = ["sea", "{EVIL}"]

[[learners]]
name = "BR"
learner = "BinaryRelevance"

[[learners]]
name = "LP"
learner = "LabelPowerset"

[[learners]]
name = "CC"
learner = "ClassifierChain"

[[learners]]
name = "nothing"
learner = "ConstantLabels"
baseline = true

[[analyses]]
call = "choral.paper:claims_section"
"""
FAILING = '\n[[learners]]\nname = "broken"\nlearner = "broken:Broken"\n'
BROKEN = """
from sklearn.base import BaseEstimator

class Broken(BaseEstimator):
    def fit(self, X, Y):
        raise RuntimeError("no, thanks")
"""


def run(*arguments, columns=80):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": str(columns)})


def assert_fails(message, *arguments):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    assert result.stderr.count("\n") == 1
    assert re.search(message, result.stderr), result.stderr


def write_plan(folder, text=PLAN):
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(40, 2)).round(3), rng.integers(2, size=(40, 2))])
    with open(folder / "photos.csv", "w", newline="") as file:
        csv.writer(file).writerows([["light", "blue", "sea", EVIL], *rows.tolist()])
    (folder / "broken.py").write_text(BROKEN)
    (folder / "plan.toml").write_text(text)
    return folder / "plan.toml"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A study that was run with figures and page: its folder, and what was printed."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    folder = tmp_path_factory.mktemp("study")
    result = run("study", write_plan(folder), "--out", folder / "out", "--n-jobs", "1")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return folder / "out", result.stdout


def print_by_hand(losses, capsys):
    results = HandMade(losses, baseline="none")
    results.sections, results.study, results.failures = (), {"notes": []}, lambda: ()
    print_study(results, [])
    return capsys.readouterr().out


def test_who_predicts_the_same_as_the_baseline_is_said_once_for_ranks(capsys):
    nothing, better = [0.2, 0.5, 0.9], [0.1, 0.2, 0.3]
    losses = {"PCT": nothing, "LP": better, "CC": better, "none": nothing}
    printed = print_by_hand({"birds": losses, "scene": losses | {"PCT": better}}, capsys)
    assert printed.count("PCT predicts the same as the baseline (none) on birds.") == 1


def test_who_predicts_the_same_as_the_baseline_is_said_below_the_losses_of_a_data_set(capsys):
    nothing, better = [0.2, 0.5, 0.9], [0.1, 0.2, 0.3]
    printed = print_by_hand({"birds": {"PCT": nothing, "LP": better, "CC": better, "none": nothing}}, capsys)
    table, _, words = printed.partition("PCT predicts the same as none.")
    assert "PCT" in table
    assert words.startswith("\n\n")


def test_study_prints_ranks_the_answer_claims_and_places(study):
    folder, printed = study
    assert re.search(r"mean rank +Hamming +middle +subset 0/1", printed)
    assert "By Hamming loss" in printed
    assert "The claims of the paper, by this study:" in printed
    assert "R6a. As the parameter grows, BR loses ground to LP." in printed
    assert f"Open {folder / 'report.html'} in a browser." in printed.replace("\n", "") or "in a browser." in printed
    assert "failed" not in printed


def test_tables_hold_the_losses_that_scikit_learn_finds_in_the_stored_predictions(study):
    folder, _ = study
    results = Results(folder)
    with open(folder / "tables" / "losses.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    found = {
        (row["dataset"], row["learner"], row["parameter"]): float(row["loss"])
        for row in rows
        if row["family"] == "binomial"
    }
    for dataset in results.datasets:
        Y, names = results.labels(dataset)
        for learner in results.learners:
            predicted = np.zeros_like(Y)
            for cell in results.cells(dataset):
                if cell.learner == learner:
                    predicted[results.test_rows(cell)] = results.cell_predictions(cell)
            assert found[dataset, learner, "1"] == pytest.approx(hamming_loss(Y, predicted))
            assert found[dataset, learner, str(len(names))] == pytest.approx(zero_one_loss(Y, predicted))


def test_study_writes_tables_figures_and_a_log(study):
    folder, _ = study
    tables = {path.stem for path in (folder / "tables").iterdir()}
    assert tables == {"losses", "wins", "slopes", "crossings", "differences", "ranks", "claims"}
    suffixes = {path.suffix for path in (folder / "figures").rglob("*") if path.is_file()}
    assert suffixes == {".png", ".svg"}
    log = (folder / "log.txt").read_text().splitlines()
    assert len(log) == 2 * 4 * 2
    assert all("done in" in line for line in log)


def test_the_page_holds_the_results_in_full(study):
    folder, _ = study
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert len(page) < 6_000_000
    assert EVIL not in page.replace("<script>", "<script>", 1)[page.index("<body") :]
    contents = study_contents(Results(folder))
    first = contents["datasets"][0]["families"]["binomial"]["curves"]["LP"]["losses"]
    assert json.dumps(first)[1:-1].replace(" ", "") in page.replace(" ", "")


def test_contents_are_plain_json_and_equal_the_results(study):
    results = Results(study[0])
    contents = json.loads(json.dumps(study_contents(results), allow_nan=False))
    assert contents["datasets"][1]["labels"] == ["sea", EVIL]
    assert contents["baseline"] == "nothing"
    polynomial = contents["datasets"][0]["families"]["polynomial"]
    assert polynomial["parameters"] == [1.0, 2.0, "inf"]
    assert polynomial["curves"]["BR"]["losses"] == results.curve("together", "BR", "polynomial").losses.tolist()
    pairs = {(pair["first"], pair["second"]): pair for pair in polynomial["pairs"]}
    assert set(pairs) == {("BR", "LP"), ("BR", "CC"), ("LP", "CC")}
    difference = results.differences("together", "polynomial")["BR", "LP"]
    np.testing.assert_allclose(pairs["BR", "LP"]["p"], difference.pvalue, atol=1e-6)
    ranks = contents["across"]["binomial"][0]
    assert ranks["mean_ranks"] == dict(
        zip(("BR", "LP", "CC"), results.rank_comparison("binomial", 0.0).mean_ranks, strict=True)
    )
    findings = {found["statement"]: found["verdict"] for found in contents["sections"][0]["findings"]}
    assert findings["T4. The loss grows with k and with alpha."] == "holds"
    assert findings["R1b. On llog-f LP catches up with PCT and overtakes it."] == "cannot be told"


def test_report_writes_the_page_once_more(study, tmp_path):
    folder, _ = study
    result = run("report", folder, "--out", tmp_path / "page.html")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (tmp_path / "page.html").read_bytes() == (folder / "report.html").read_bytes()
    assert_fails("holds no study", "report", tmp_path)
    assert_fails("is no folder of a study", "report", folder / "log.txt")
    assert_fails("--out must name a file that ends in .html", "report", folder, "--out", folder / "study.json")
    assert_fails("its folder does not exist", "report", folder, "--out", tmp_path / "no" / "page.html")


def test_outputs_do_not_follow_links_in_the_folder(study, tmp_path):
    """A folder from somebody else may lead to files of the user's."""
    folder = shutil.copytree(study[0], tmp_path / "study")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for name in ("report.html", "tables/losses.csv"):
        (folder / name).unlink()
        (folder / name).symlink_to(mine / "thesis.txt")
    assert run("report", folder).exit_code == 0
    again = "study", folder.parent / "plan.toml", "--out", folder
    write_plan(tmp_path)
    assert run(*again, "--no-figures").exit_code == 0
    for name in ("report.html", "tables/losses.csv"):
        assert (folder / name).read_bytes() == (study[0] / name).read_bytes()
        assert not (folder / name).is_symlink()
    for name in ("tables", "figures"):
        shutil.rmtree(folder / name)
        (folder / name).symlink_to(mine)
        assert_fails(f"{name} is a link, which may lead to files of others, so nothing is written there", *again)
        (folder / name).unlink()
    assert [(path.name, path.read_text()) for path in mine.iterdir()] == [("thesis.txt", "years of work")]
    page = tmp_path / "page.html"
    page.symlink_to(tmp_path / "named.html")
    assert run("report", folder, "--out", page).exit_code == 0  # named by the user, who knows where it leads
    assert (tmp_path / "named.html").exists()


def test_a_second_run_repeats_no_cell(study):
    folder, printed = study
    before = (folder / "log.txt").read_text()
    result = run("study", folder.parent / "plan.toml", "--out", folder, "--no-figures", "--no-report")
    assert result.exit_code == 0
    assert (folder / "log.txt").read_text() == before
    assert result.stdout.split("Written to")[0] == printed.split("Written to")[0]


def test_a_learner_that_fails_costs_its_cells_and_the_exit_status(study, tmp_path):
    plan = write_plan(tmp_path, PLAN + FAILING)
    result = run("study", plan, "--out", tmp_path / "out", "--no-figures", "--no-report", columns=200)
    assert result.exit_code == 1
    assert "4 cells failed" in result.stdout
    assert "together, broken, 2 cells: RuntimeError: no, thanks" in result.stdout
    assert re.search(r"^BR ", result.stdout, re.MULTILINE)  # the others are compared all the same
    result = run("report", tmp_path / "out")
    assert result.stdout.startswith("4 cells of 20 failed or have not run yet.")
    contents = study_contents(Results(tmp_path / "out"))
    assert contents["failures"][0] == {
        "dataset": "together",
        "learner": "broken",
        "fold": "fold 0, repeat 0, seed 0",
        "reason": "RuntimeError: no, thanks",
    }


def test_learners_of_ours_are_shown_beside_the_best_of_the_others(study, tmp_path):
    assert "beside the best" not in study[1]
    plan = write_plan(tmp_path, PLAN.replace('claims_section"', 'Yardstick"\nparameters = { ours = ["LP", "CC"] }'))
    result = run("study", plan, "--out", tmp_path / "out", "--no-figures", "--no-report", columns=200)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    *_, first, second = result.stdout.split(" beside the best of all others at each loss:\n")
    assert result.stdout.index("LP beside") < result.stdout.index("CC beside")
    results = Results(tmp_path / "out")
    for learner, printed in {"LP": first, "CC": second}.items():
        lines = [re.split(r"  +", line.strip()) for line in printed.splitlines()]
        rows = {line[0]: tuple(line[1:]) for line in lines if len(line) == 6}
        of_learner = [found for found in compare_with_best(results, ("LP", "CC")) if found.learner == learner]
        totals_by_hand = {
            dataset: add_up([found for found in of_learner if found.dataset == dataset], 0.95)
            for dataset in results.datasets
        }
        expected = {name: total.cells for name, total in totals_by_hand.items()} | {
            "all": add_up(of_learner, 0.95).cells
        }
        assert rows == {"data set": COLUMNS, **expected}


@pytest.mark.parametrize(
    "text, message",
    [
        ("folds = 2", "unknown key 'fold'; did you mean 'folds'"),
        ("BinaryRelevance", "'BinaryRelevanz' is no learner of choral.*did you mean 'BinaryRelevance'"),
    ],
)
def test_a_mistake_in_a_plan_is_one_line(tmp_path, text, message):
    plan = write_plan(tmp_path, PLAN.replace(text, text.replace("folds", "fold").replace("evance", "evanz")))
    assert_fails(message, "study", plan, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_wrong_with_the_options_is_one_line(tmp_path):
    plan = write_plan(tmp_path)
    assert_fails("--n-jobs must be a whole number, not 0", "study", plan, "--n-jobs", "0")
    assert_fails("--time-limit must be a number", "study", plan, "--time-limit", "soon")
    assert_fails("time_limit must be a positive number", "study", plan, "--time-limit", "-1")
    assert_fails("a plan is one of quick, paper, published", "study", "slow")
    assert_fails("cannot be read: No such file", "study", tmp_path / "no.toml")
    assert_fails("it holds files, but no study", "study", plan, "--out", tmp_path)
    (tmp_path / "file").write_text("")
    assert_fails("cannot be the folder of a study", "study", plan, "--out", tmp_path / "file" / "out")


def test_a_cluster_that_does_not_answer_is_one_line(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("choral.study.clusters.SECONDS_TO_ANSWER", 0.5)
    plan = write_plan(tmp_path)
    assert_fails(
        "no Dask scheduler answers at tcp://127.0.0.1:9",
        "study",
        plan,
        "--out",
        tmp_path / "o",
        "--dask",
        "tcp://127.0.0.1:9",
    )


def test_a_cluster_that_does_not_start_here_is_one_line(tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def fail(**options):
        raise AssertionError  # as where its event loop takes too long

    monkeypatch.setattr(distributed, "LocalCluster", fail)
    message = "no Dask cluster starts on this machine, AssertionError: no message"
    assert_fails(message, "study", "quick", "--out", tmp_path / "x", "--dask", "local")


def test_children_that_do_not_start_are_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr("choral.study.worker.COMMAND", "print('hello, reader of results')")
    message = "a child process of the study did not start: expected the message ready; got b'hello'"
    assert_fails(message, "study", "quick", "--out", tmp_path / "x", "--n-jobs", "1")


def test_no_other_study_runs_in_the_folder_until_all_is_written(study, tmp_path, monkeypatch):
    finished, _ = study
    folder, refused = shutil.copytree(finished, tmp_path / "out"), []

    def write(results, path):
        with pytest.raises(BlockingIOError, match="a study is running in "):
            run_study(finished.parent / "plan.toml", folder)
        refused.append(path.name)

    monkeypatch.setattr(command, "write_report", write)
    result = run("study", finished.parent / "plan.toml", "--out", folder, "--no-figures")
    assert (result.exit_code, refused) == (0, ["report.html"]), result.stderr
    assert not (folder / "study.lock").exists()


def test_extras_that_are_missing_are_named_after_the_work(study, tmp_path, monkeypatch):
    folder, _ = study
    for module in ("matplotlib", "plotly"):
        monkeypatch.setitem(sys.modules, module, None)
    result = run("study", folder.parent / "plan.toml", "--out", folder)
    assert result.exit_code == 0
    assert "note: without figures" in result.stderr
    assert "note: without the page" in result.stderr


def test_help_names_the_ready_plans():
    result = subprocess.run(
        [sys.executable, "-m", "choral", "study", "--help"], capture_output=True, text=True, check=True
    )
    assert all(
        word in result.stdout
        for word in ("quick", "paper", "published", "tailored", "any-model", "--dask", "--n-jobs", "--time-limit")
    )


def test_evaluate_writes_the_same_kind_of_page(tmp_path):
    pytest.importorskip("plotly")
    truth, first = tmp_path / "true.csv", tmp_path / "first.csv"
    truth.write_text(f"sea,{EVIL}\n" + "1,0\n0,1\n" * 10)
    first.write_text(f"sea,{EVIL}\n" + "1,1\n0,1\n" * 10)
    page = tmp_path / "page.html"
    result = run("evaluate", truth, first, "--report", page)
    assert (result.exit_code, result.stderr) == (0, f"Wrote {page}.\n")
    text = page.read_text(encoding="utf-8")
    assert "first: loss 0.2500 at k=1 (Hamming), 0.5000 at k=2 (subset 0/1)." in text
    assert "marks the best model" not in text
    assert "polynomial" in text  # both families, whichever was printed
    assert f"<td>{EVIL}" not in text
    result = run("evaluate", truth, first, "--report", page, "--family", "polynomial", "--parameters", "1,2,inf")
    assert result.exit_code == 0
    assert_fails(r"must name a file that ends in .html", "evaluate", truth, first, "--report", tmp_path / "page.pdf")
    assert_fails("is an input or named twice", "evaluate", truth, first, "--report", page, "--csv", page)


@pytest.mark.parametrize(
    "n_repeats, headline",
    [
        (10, "together is best at k=3 (subset 0/1); no model is surely best at k=1 (Hamming), where apart leads."),
        (100, "apart is best at k=1 (Hamming), together at k=3 (subset 0/1)."),
    ],
)
def test_the_headline_of_an_evaluation_names_the_best_at_both_ends(tmp_path, n_repeats, headline):
    pytest.importorskip("plotly")
    for name, rows in {"true": "1,1,0\n0,0,1\n", "apart": "1,0,0\n0,0,0\n", "together": "0,0,1\n0,0,1\n"}.items():
        (tmp_path / f"{name}.csv").write_text("a,b,c\n" + rows * n_repeats)
    page = tmp_path / "page.html"
    paths = [tmp_path / f"{name}.csv" for name in ("true", "apart", "together")]
    assert run("evaluate", *paths, "--report", page).exit_code == 0
    assert headline in page.read_text(encoding="utf-8")
    assert run("evaluate", paths[0], paths[0], paths[1], "--report", page).exit_code == 0
    assert "true is best, whatever the loss." in page.read_text(encoding="utf-8")
