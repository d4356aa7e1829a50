"""``choral evaluate`` on scores: the line and the curves that say what better decisions would gain."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral import JointCalibrator
from choral.calibration import compare_rules, left_out_curves
from choral.cli import app, decided_jointly

RNG = np.random.default_rng(0)
Y = np.eye(3, dtype=int)[RNG.integers(3, size=60)]
LOGITS = RNG.normal(2 * Y - 1, 1.5)
SCORES = 1 / (1 + np.exp(-LOGITS))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with true labels, scores, logits and hard labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    for name, matrix in {"true": Y, "scores": SCORES, "logits": LOGITS, "hard": SCORES > 0.5}.items():
        np.save(f"{name}.npy", matrix)
    return tmp_path


@pytest.fixture(scope="module")
def calibrator():
    return JointCalibrator().fit(SCORES, Y)


def run(*arguments):
    result = CliRunner().invoke(app, ["evaluate", *map(str, arguments)], env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.output
    return result


def unwrapped(text):
    return " ".join(text.split())


def test_one_line_says_what_is_lost(folder, calibrator):
    found = compare_rules(calibrator)
    assert found.rule == "joint"
    text = unwrapped(run("true.npy", "scores.npy").stdout)
    expected = (
        "Decided jointly (cross-validated on these rows): subset 0/1 "
        f"{found.losses['joint']:.4f} instead of {found.losses['cut']:.4f} by a cut at 0.5 "
        f"(95% bootstrap interval: {found.lower:.4f} lower to {found.upper:.4f} lower); see choral tune."
    )
    assert text.endswith(expected)
    assert f"{choral.subset_loss(Y, SCORES >= 0.5):.4f} by a cut" in text


def test_no_gain_is_no_number(folder):
    np.save("right.npy", np.abs(Y - 0.2))
    text = unwrapped(run("true.npy", "right.npy").stdout)
    assert text.endswith("Nothing was better than a cut at 0.5 (cross-validated on these rows): subset 0/1 0.0000.")


def test_json(folder, calibrator):
    found = json.loads(run("true.npy", "scores.npy", "hard.npy", "--json").stdout)["decided_jointly"]
    assert found == {"scores": {**compare_rules(calibrator).to_dict(), "loss": "subset 0/1"}}


def test_a_line_for_each_model(folder):
    np.save("others.npy", SCORES**2)
    text = unwrapped(run("true.npy", "scores.npy", "hard.npy", "others.npy").stdout)
    assert re.findall(r"(\w+): [A-Z][\w .]+ \(cross-validated", text) == ["scores", "others"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("true.npy", "hard.npy"),
        ("true.npy", "hard.npy", "--threshold", "0.5"),
        ("true.npy", "scores.npy", "--no-tune"),
        ("few_true.npy", "few.npy"),
        ("true.npy", "counts.npy", "--threshold", "3"),
        ("true.csv", "scores.csv", "--weights", "w"),
    ],
    ids=["hard", "hard with a threshold", "not wanted", "few rows", "neither probabilities nor logits", "weights"],
)
def test_where_nothing_is_said(folder, arguments):
    np.save("few_true.npy", Y[:49])
    np.save("few.npy", SCORES[:49])
    np.save("counts.npy", np.floor(10 * SCORES))
    for name, matrix in (("true", np.hstack([Y, np.ones((60, 1), dtype=int)])), ("scores", SCORES)):
        names = "a,b,c,w" if matrix.shape[1] == 4 else "a,b,c"
        np.savetxt(f"{name}.csv", matrix, delimiter=",", header=names, comments="", fmt="%g")
    assert "cross-validated" not in run(*arguments).stdout
    assert json.loads(run(*arguments, "--json").stdout)["decided_jointly"] == {}


def test_folders_of_parts_have_no_line(folder):
    for name, matrix in (("parts_true", Y), ("parts", SCORES)):
        Path(name).mkdir()
        np.save(f"{name}/1.npy", matrix)
    assert "cross-validated" not in run("parts_true", "parts").stdout


def test_a_threshold_is_what_is_compared_with(folder):
    text = unwrapped(run("true.npy", "logits.npy", "--threshold", "1").stdout)
    assert f"instead of {choral.subset_loss(Y, LOGITS >= 1):.4f} by a cut at 1 (" in text


def test_the_last_parameter_is_judged(folder):
    for options, name in (
        (["--parameters", "1,2"], "k=2"),
        (["--family", "polynomial"], "subset 0/1"),
        (["--family", "polynomial", "--parameters", "1,2"], "alpha=2"),
    ):
        found = json.loads(run("true.npy", "scores.npy", "--json", *options).stdout)["decided_jointly"]["scores"]
        assert found["loss"] == name


def test_no_interval_without_bootstrap(folder):
    text = run("true.npy", "scores.npy", "--bootstrap", "0").stdout
    assert "by a cut at 0.5; see choral tune." in unwrapped(text)


def test_a_sample_of_many_rows(folder, monkeypatch):
    monkeypatch.setattr(decided_jointly, "MAX_ROWS", 55)
    assert "(cross-validated on 55 of these rows)" in unwrapped(run("true.npy", "scores.npy").stdout)
    monkeypatch.setattr(decided_jointly, "MAX_CELLS", 150)
    assert "(cross-validated on 50 of these rows)" in unwrapped(run("true.npy", "scores.npy").stdout)
    monkeypatch.setattr(decided_jointly, "MAX_CELLS", 149)
    assert "cross-validated" not in run("true.npy", "scores.npy").stdout


def test_sparse_scores(folder):
    import scipy.sparse as sp

    sp.save_npz("sparse.npz", sp.csr_array(np.where(SCORES > 0.3, SCORES, 0)))
    assert "cross-validated on these rows" in unwrapped(run("true.npy", "sparse.npz").stdout)


@pytest.mark.parametrize("rule", ["cut", "labels", "threshold"])
def test_other_rules_are_not_called_joint(calibrator, rule):
    from dataclasses import replace

    comparison = replace(compare_rules(calibrator), rule=rule, lower=-0.01, upper=0.02)
    found = decided_jointly.JointDecisions("m", "subset 0/1", comparison, calibrator, 60, None)
    text = found.describe(name_model=True)
    assert "ointly" not in text
    if rule == "cut":
        cut = comparison.losses["cut"]
        expected = f"m: Nothing was better than a cut at 0.5 (cross-validated on these rows): subset 0/1 {cut:.4f}."
        assert text == expected
    else:
        assert text.startswith(f"m: {decided_jointly.RULES[rule]} (cross-validated")
        assert "interval: 0.0100 higher to 0.0200 lower" in text


# Curves


def drawn(monkeypatch, *arguments):
    """The curves that are drawn, by their names."""
    from choral.displays import LossCurveDisplay

    seen = {}
    plot = LossCurveDisplay.plot
    monkeypatch.setattr(
        LossCurveDisplay, "plot", lambda self: (seen.update(zip(self.names, self.curves, strict=True)), plot(self))[1]
    )
    run(*arguments, "--plot", "curves.png")
    return seen


def test_plot_of_a_single_model(folder, monkeypatch, calibrator):
    pytest.importorskip("matplotlib")
    curves = drawn(monkeypatch, "true.npy", "scores.npy")
    assert list(curves) == ["scores", "all irrelevant", "scores, cut at 0.5", "scores, decided jointly"]
    cut, decided = left_out_curves(calibrator)
    np.testing.assert_allclose(curves["scores, cut at 0.5"].losses, cut)
    np.testing.assert_allclose(curves["scores, decided jointly"].losses, decided)


def test_plot_with_a_threshold_needs_no_other_cut(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    curves = drawn(monkeypatch, "true.npy", "scores.npy", "--threshold", "0.5")
    assert list(curves) == ["scores", "all irrelevant", "scores, decided jointly"]


def test_plot_of_several_models_has_their_curves_alone(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    curves = drawn(monkeypatch, "true.npy", "scores.npy", "hard.npy")
    assert list(curves) == ["scores", "hard", "all irrelevant"]


def test_page_has_the_line_and_the_curves(folder, monkeypatch):
    pytest.importorskip("plotly")
    seen = {}
    monkeypatch.setattr("choral.evaluation.page.write_page", lambda contents, path: seen.update(contents))
    run("true.npy", "scores.npy", "--report", "page.html")
    extra = ["scores, cut at 0.5", "scores, decided jointly"]
    assert seen["learners"] == ["scores", "all irrelevant", *extra]
    assert seen["answer"][-1].startswith("Decided jointly (cross-validated on these rows): subset 0/1")
    for family in ("binomial", "polynomial"):
        curves = seen["datasets"][0]["families"][family]["curves"]
        assert list(curves) == seen["learners"]
        assert curves[extra[1]]["lower"] is None
        assert curves["scores"]["lower"] is not None


def test_page_of_several_models(folder, monkeypatch):
    pytest.importorskip("plotly")
    seen = {}
    monkeypatch.setattr("choral.evaluation.page.write_page", lambda contents, path: seen.update(contents))
    run("true.npy", "scores.npy", "hard.npy", "--report", "page.html")
    assert seen["learners"] == ["scores", "hard", "all irrelevant"]
