"""``choral tune``: what it learns, saves and applies, against the library; and that whatever goes wrong is one line."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral import JointCalibrator, ThresholdTuner
from choral.calibration import compare_rules, compare_threshold, load_rule, save_rule
from choral.cli import app
from choral.label_files import read_labels
from commands import assert_refused

RNG = np.random.default_rng(0)
NAMES = ("red", "green", "blue")
Y = np.eye(3, dtype=int)[RNG.integers(3, size=60)]
LOGITS = RNG.normal(2 * Y - 1, 1.5).round(6)
SCORES = (1 / (1 + np.exp(-LOGITS))).round(6)
NEW = RNG.random((7, 3)).round(6)
IDS = [f"r{number}" for number in range(60)]


def write(path, matrix, names=NAMES, ids=None):
    header = [",".join((["id"] if ids else []) + list(names))] if names else []
    rows = [",".join(([ids[i]] if ids else []) + [str(cell) for cell in row]) for i, row in enumerate(matrix.tolist())]
    Path(path).write_text("\n".join([*header, *rows]) + "\n")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with true labels, scores and new scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # some CI sets it: rich then takes a pipe for a terminal
    write("true.csv", Y, ids=IDS)
    write("scores.csv", SCORES[::-1], ids=IDS[::-1])
    write("new.csv", NEW, ids=list("abcdefg"))
    return tmp_path


@pytest.fixture(scope="module")
def calibrator():
    return JointCalibrator("subset").fit(SCORES, Y)


def run(*arguments, columns=80):
    return CliRunner().invoke(app, ["tune", *map(str, arguments)], env={"COLUMNS": str(columns)})


def output(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def unwrapped(text):
    return " ".join(text.split())


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


# Learning


def test_table_of_the_ways_to_decide(folder, calibrator):
    text = output("true.csv", "scores.csv")
    found = compare_rules(calibrator)
    for title, name in (("cut at 0.5", "cut"), ("tuned threshold", "threshold"), ("decided jointly", "joint")):
        line = next(line for line in text.splitlines() if line.startswith(title))
        assert line.split()[-1].removeprefix("*") == f"{found.losses[name]:.4f}"
        assert ("*" in line) == (name == found.rule)
    assert "60 rows, 3 labels; the loss is subset, * marks the way that decides." in text
    assert f"{found.gain:.4f} lower than that of the cut at 0.5" in unwrapped(text)
    assert f"interval of the gain: {found.lower:.4f} to {found.upper:.4f}" in unwrapped(text)
    assert max(map(len, text.splitlines())) <= 80


def test_no_gain_is_no_number(folder):
    np.save("right.npy", np.abs(Y - 0.2))
    np.save("y.npy", Y)
    comparison = json.loads(output("y.npy", "right.npy", "--json"))["comparison"]
    assert (comparison["rule"], comparison["gain"]["estimate"]) == ("joint", 0)
    assert "Its loss is the same as that of the cut at 0.5." in output("y.npy", "right.npy")


def test_json(folder, calibrator):
    found = json.loads(output("true.csv", "scores.csv", "--json"))
    assert found["comparison"] == compare_rules(calibrator).to_dict()
    assert (found["loss"], found["kind"], found["n_rows"], found["labels"]) == ("subset", "joint", 60, list(NAMES))
    assert (found["n_labels"], found["thresholds"], found["n_new_rows"]) == (3, None, 0)


@pytest.mark.parametrize("option, per_label", [("--thresholds", False), ("--per-label", True)])
def test_thresholds(folder, option, per_label):
    found = json.loads(output("true.csv", "scores.csv", "--loss", "macro_f1", option, "--json"))
    tuner = ThresholdTuner("macro_f1", per_label=per_label).fit(SCORES, Y)
    assert found["thresholds"] == tuner.thresholds_.tolist()
    assert found["comparison"] == compare_threshold(tuner, SCORES, Y).to_dict()


def test_a_loss_of_all_rows_together(folder):
    text = output("true.csv", "scores.csv", "--loss", "micro_f1")
    assert "decided jointly" not in text
    assert "tuned threshold" in text


def test_thresholds_that_gain_nothing(folder):
    """A threshold for noise, tuned on other rows, may well be worse than 0.5, and this is said."""
    write("true.csv", RNG.integers(2, size=(60, 3)))
    write("scores.csv", np.random.default_rng(3).random((60, 3)))
    found = json.loads(output("true.csv", "scores.csv", "--thresholds", "--json"))["comparison"]["gain"]
    text = unwrapped(output("true.csv", "scores.csv", "--thresholds"))
    assert f"{abs(found['estimate']):.4f} {'lower' if found['estimate'] >= 0 else 'higher'}" in text
    assert ("it may be chance" in text) == (found["lower"] <= 0 <= found["upper"])


def test_nothing_better_than_the_cut(folder):
    """Scores that are right by themselves leave nothing to gain."""
    write("scores.csv", np.where(Y == 1, 0.9, 0.1), ids=IDS)
    found = json.loads(output("true.csv", "scores.csv", "--json"))["comparison"]
    assert found["left_out_losses"]["cut"] == 0
    assert found["gain"]["estimate"] == 0


def test_logits(folder):
    write("scores.csv", LOGITS, ids=IDS)
    found = json.loads(output("true.csv", "scores.csv", "--json"))
    assert found["comparison"]["threshold_of_cut"] == 0
    write("scores.csv", np.abs(LOGITS), ids=IDS)
    assert_fails("if these are logits, pass --logits; scores[", "true.csv", "scores.csv")
    assert json.loads(output("true.csv", "scores.csv", "--logits", "--json"))["comparison"]["threshold_of_cut"] == 0


def test_missing_labels(folder):
    missing = np.where(np.random.default_rng(0).random(Y.shape) < 0.2, np.nan, Y)
    write("true.csv", missing, ids=IDS)
    found = json.loads(output("true.csv", "scores.csv", "--loss", "hamming", "--json"))["comparison"]
    assert found["left_out_losses"]["cut"] == pytest.approx(choral.hamming_loss(missing, SCORES >= 0.5))


def test_seed(folder):
    first, again, other = (
        output("true.csv", "scores.csv", "--thresholds", "--json", "--seed", seed) for seed in (1, 1, 2)
    )
    assert first == again != other


# Saving and applying


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_saved_rules_decide_as_when_they_were_learned(folder, calibrator, suffix):
    text = output("true.csv", "scores.csv", "--save", f"rule.{suffix}", "--apply", "new.csv", "--out", "labels.csv")
    assert f"rule.{suffix} holds the rule" in text
    assert "labels.csv holds the labels of 7 rows." in text
    table = read_labels("labels.csv")
    np.testing.assert_array_equal(table.values, calibrator.predict(NEW))
    assert (table.labels, table.ids) == (NAMES, tuple("abcdefg"))
    text = output("--load", f"rule.{suffix}", "--apply", "new.csv", "--out", "again.csv")
    assert text == "again.csv holds the labels of 7 rows for subset.\n"
    assert Path("again.csv").read_bytes() == Path("labels.csv").read_bytes()
    assert load_rule(f"rule.{suffix}").feature_names_in_.tolist() == list(NAMES)


def test_saved_thresholds(folder):
    options = ("--loss", "f1", "--per-label", "--save", "rule.json")
    output("true.csv", "scores.csv", *options, "--apply", "new.csv", "--out", "labels.npy")
    expected = ThresholdTuner("f1", per_label=True).fit(SCORES, Y).predict(NEW)
    np.testing.assert_array_equal(np.load("labels.npy"), expected)
    found = json.loads(output("--load", "rule.json", "--apply", "new.csv", "--out", "again.npz", "--json"))
    assert (found["loss"], found["kind"], found["n_new_rows"]) == ("f1", "thresholds", 7)
    with np.load("again.npz") as again:
        np.testing.assert_array_equal(again["y"], expected)
    assert_fails(
        "rule.json holds thresholds for f1 alone; got --loss subset.",
        *("--load", "rule.json", "--loss", "subset", "--apply", "new.csv", "--out", "labels.csv"),
    )


def test_one_of_several_saved_losses(folder, calibrator):
    calibrator.chosen_rule("f1")
    save_rule("rule.json", calibrator)
    output("--load", "rule.json", "--loss", "f1", "--apply", "new.csv", "--out", "labels.csv")
    np.testing.assert_array_equal(read_labels("labels.csv").values, calibrator.predict(NEW, "f1"))
    assert_fails(
        "rule.json has no rule for k=2; choral tune TRUE SCORES --loss k=2 --save FILE learns one.",
        *("--load", "rule.json", "--loss", "k=2", "--apply", "new.csv", "--out", "labels.csv"),
    )


def test_parquet(folder):
    pytest.importorskip("pyarrow")
    output("true.csv", "scores.csv", "--thresholds", "--apply", "new.csv", "--out", "labels.parquet")
    table = read_labels("labels.parquet")
    assert (table.labels, table.ids) == (NAMES, tuple("abcdefg"))
    np.testing.assert_array_equal(table.values, ThresholdTuner("subset").fit(SCORES, Y).predict(NEW))


def test_columns_of_new_scores_are_matched_by_name(folder):
    write("turned.csv", NEW[:, ::-1], names=NAMES[::-1], ids=list("abcdefg"))
    output("true.csv", "scores.csv", "--per-label", "--apply", "new.csv", "--out", "labels.csv", "--save", "rule.json")
    output("--load", "rule.json", "--apply", "turned.csv", "--out", "turned_labels.csv")
    expected, turned = read_labels("labels.csv"), read_labels("turned_labels.csv")
    assert turned.labels == NAMES[::-1]
    np.testing.assert_array_equal(turned.values[:, ::-1], expected.values)


def test_other_labels_are_refused(folder):
    output("true.csv", "scores.csv", "--thresholds", "--save", "rule.json")
    apply = ("--load", "rule.json", "--out", "labels.csv", "--apply")
    write("rot.csv", NEW, names=("rot", "green", "blue"))
    assert_fails("rot.csv does not have the labels of rule.json: 1 missing ('red'), 1 unknown", *apply, "rot.csv")
    np.save("two.npy", NEW[:, :2])
    assert_fails("two.npy has 2 labels, rule.json has 3.", *apply, "two.npy")
    np.save("three.npy", NEW)
    output(*apply, "three.npy")
    assert Path("labels.csv").read_text().startswith("red,green,blue\n")


def test_files_without_names(folder):
    np.save("true.npy", Y)
    np.save("scores.npy", SCORES)
    np.save("new.npy", NEW)
    output("true.npy", "scores.npy", "--thresholds", "--save", "rule.json", "--apply", "new.npy", "--out", "labels.csv")
    expected = ThresholdTuner("subset").fit(SCORES, Y).predict(NEW)
    np.testing.assert_array_equal(np.loadtxt("labels.csv", delimiter=","), expected)
    output("--load", "rule.json", "--apply", "new.csv", "--out", "labels.csv")
    assert Path("labels.csv").read_text().startswith("id,red,green,blue\na,")


def test_id_column(folder):
    for name in ("true", "scores", "new"):
        text = Path(f"{name}.csv").read_text()
        Path(f"{name}.csv").write_text(text.replace("id,", "key,", 1))
    options = ("--id", "key", "--thresholds", "--apply", "new.csv", "--out", "labels.csv")
    output("true.csv", "scores.csv", *options)
    assert Path("labels.csv").read_text().startswith("key,red,green,blue\na,")


def test_many_new_rows_are_decided_in_blocks(folder, monkeypatch, calibrator):
    monkeypatch.setattr("choral.cli.tune.BLOCK_ROWS", 3)
    save_rule("rule.json", calibrator)
    output("--load", "rule.json", "--apply", "new.csv", "--out", "labels.csv")
    np.testing.assert_array_equal(read_labels("labels.csv").values, calibrator.predict(NEW))


# What is refused


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "choral tune learns from TRUE and SCORES, or applies what --load FILE holds; got neither."),
        (("true.csv",), "or applies what --load FILE holds; got TRUE alone."),
        (("true.csv", "scores.csv", "--load", "rule.json"), "TRUE and SCORES are for learning: got true.csv."),
        (("--load", "rule.json"), "say --apply NEW_SCORES and --out LABELS as well."),
        (("--load", "rule.json", "--apply", "new.csv"), "say --out LABELS, where to write their labels."),
        (("true.csv", "scores.csv", "--out", "labels.csv"), "say --apply NEW_SCORES as well."),
        (("true.csv", "scores.csv", "--thresholds", "--per-label"), "expected one of the two."),
        (("true.csv", "scores.csv", "--loss", "f"), "--loss must be hamming, subset, k=3"),
        (("true.csv", "scores.csv", "--loss", "k=4"), "k must lie in 1..3, the number of labels; got 4."),
        (("true.csv", "scores.csv", "--logits", "--thresholds"), "--logits is for calibration"),
        (("true.csv", "scores.csv", "--save", "rule.pkl"), "--save must name a file that ends in .json or .npz"),
        (("true.csv", "scores.csv", "--save", "no/rule.json"), "cannot be written: its folder does not exist."),
        (("true.csv", "scores.csv", "--apply", "new.csv", "--out", "new.xls"), "--out must name a file that ends in"),
        (("true.csv", "scores.csv", "--apply", "new.csv", "--out", "new.csv"), "new.csv is an input or named twice"),
        (("true.csv", "scores.csv", "--seed", "-1"), "--seed must be a whole number"),
        (("true.csv", "none.csv"), "none.csv does not exist; expected a file."),
        (("new.csv", "scores.csv"), "new.csv, line 2, column 'red': expected 0 or 1; got"),
        (("true.csv", "new.csv"), "new.csv does not have the ids of true.csv"),
        *[
            (("--load", "rule.json", "--apply", "new.csv", "--out", "x.csv", *option), f"{option[0]} is for learning")
            for option in (["--thresholds"], ["--per-label"], ["--logits"], ["--save", "a.json"], ["--seed", "1"])
        ],
        (("--load", "none.json", "--apply", "new.csv", "--out", "x.csv"), "none.json does not exist"),
        (("--load", "broken.json", "--apply", "new.csv", "--out", "x.csv"), "broken.json is not a readable JSON file"),
    ],
)
def test_refused(folder, arguments, message):
    Path("broken.json").write_text("{")
    assert_fails(message, *arguments)
    assert not Path("labels.csv").exists()


def test_new_scores_of_another_kind(folder, calibrator):
    save_rule("rule.json", calibrator)
    apply = ("--load", "rule.json", "--out", "labels.csv", "--apply")
    write("logits.csv", LOGITS)
    assert_fails("logits.csv: scores must be probabilities, in [0, 1], as in fit; scores[", *apply, "logits.csv")
    write("missing.csv", np.where(NEW > 0.9, np.nan, NEW))
    assert_fails("expected a number; got nan", *apply, "missing.csv")
    assert not Path("labels.csv").exists()


def test_help_names_the_files():
    text = unwrapped(run("--help").stdout)
    assert re.search(r"\[?TRUE\]? \[?SCORES\]?", text)  # with brackets or without, by the version of typer
    assert "--per-label" in text
