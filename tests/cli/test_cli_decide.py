"""``choral decide``: its predictions and risks against slow enumeration, and that all it says fits the terminal."""

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral.cli import app
from choral.measures.families import PUBLISHED_ALPHAS
from choral.paper.examples import FIVE_LABELS
from commands import assert_refused, read_csv
from definitions import binomial_loss_by_counting

PROJECT = Path(__file__).parents[2]
NAMES = ("y1", "y2", "y3", "y4", "y5")
LABELSETS = [tuple(labels) for labels in FIVE_LABELS.labelsets.tolist()]
THOUSANDTHS = [round(1000 * probability) for probability in FIVE_LABELS.weights[0].tolist()]
MARGINAL_MODE, JOINT_MODE = (1, 0, 0, 1, 0), (1, 0, 1, 1, 0)


def as_csv(labelsets, weights, names=NAMES, column="probability"):
    lines = [",".join([*names, column])]
    lines += [",".join(map(str, [*labels, weight])) for labels, weight in zip(labelsets, weights, strict=True)]
    return "\n".join(lines) + "\n"


FIVE = as_csv(LABELSETS, [count / 1000 for count in THOUSANDTHS])
SAMPLES = np.repeat(LABELSETS, THOUSANDTHS, axis=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with the paper's distribution of five labels."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # some CI sets it: rich then takes a pipe for a terminal
    Path("five.csv").write_text(FIVE)
    return tmp_path


def run(*arguments, columns=80):
    return CliRunner().invoke(app, ["decide", *map(str, arguments)], env={"COLUMNS": str(columns)})


def output(*arguments, columns=80):
    result = run(*arguments, columns=columns)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def found(*arguments):
    return json.loads(output(*arguments, "--json"), parse_constant=pytest.fail)


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def table(text):
    """The cells of each row of the table, by the first of them; its header too."""
    lines = [line for line in text.split("\n\n")[0].splitlines() if not line.startswith("─")]
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    return {row[0]: row[1:] for row in rows}


def shown(prediction):
    return ", ".join(name for name, label in zip(NAMES, prediction, strict=True) if label) or "none"


def wrong(prediction, truth):
    return {i for i, (p, t) in enumerate(zip(prediction, truth, strict=True)) if p != t}


def binomial_risk(prediction, k):
    """The share of k-sets with a mistake, counted one by one, over the label sets."""
    losses = [binomial_loss_by_counting(wrong(prediction, truth), len(prediction), k) for truth in LABELSETS]
    return np.dot(losses, THOUSANDTHS) / 1000


def polynomial_risk(prediction, alpha):
    losses = [1 - (1 - len(wrong(prediction, truth)) / len(prediction)) ** alpha for truth in LABELSETS]
    return np.dot(losses, THOUSANDTHS) / 1000


def best(risk, parameter):
    return min(product((0, 1), repeat=5), key=lambda prediction: risk(prediction, parameter))


# The table


def test_table_has_the_best_of_all_predictions_for_every_k(folder):
    rows = table(output("five.csv"))
    assert rows.pop("k") == ["optimal prediction", "risk", "marginal mode", "joint mode"]
    assert list(rows) == ["1 (Hamming)", "2", "3", "4", "5 (subset 0/1)"]
    for k, (prediction, risk, marginal, joint) in enumerate(rows.values(), start=1):
        optimum = best(binomial_risk, k)
        assert prediction == shown(optimum)
        assert risk == f"{binomial_risk(optimum, k):.4f}"
        assert marginal == f"{'*' if k == 1 else ''}{binomial_risk(MARGINAL_MODE, k):.4f}"
        assert joint == f"{'*' if k == 5 else ''}{binomial_risk(JOINT_MODE, k):.4f}"


def test_notes_say_what_was_decided_on_and_where_it_changes(folder):
    notes = output("five.csv", columns=200).split("\n\n")[1].splitlines()
    assert notes == [
        "32 label sets, 5 labels; the risk is the expected loss, * marks a mode that is as good as the prediction.",
        "Marginal mode (the labels more probable than not): y1, y4.",
        "Joint mode (the most probable label set): y1, y3, y4.",
        "The prediction changes at k=2, k=4, k=5.",
    ]


def test_modes_that_are_optimal_throughout_have_no_columns(folder):
    Path("plain.csv").write_text(as_csv([(0, 0), (1, 1)], [0.7, 0.3], "ab"))
    text = output("plain.csv", columns=200)
    assert table(text) == {
        "k": ["optimal prediction", "risk"],
        "1 (Hamming)": ["none", "0.3000"],
        "2 (subset 0/1)": ["none", "0.3000"],
    }
    assert "and joint mode (the most probable label set): none; nothing is better for any k.\n" in text
    assert "The prediction is the same for every k.\n" in text
    assert "*" not in text


@pytest.mark.parametrize(
    "asked, any_k, same",
    [
        ("2", "k=2", "The prediction is for k=2 alone."),
        ("1,3", "any k in the table", "The prediction is the same for every k in the table."),
        ("1,2,3", "any k", "The prediction is the same for every k."),
    ],
)
def test_nothing_is_said_of_parameters_that_were_not_asked_for(folder, asked, any_k, same):
    Path("plain.csv").write_text(as_csv([(0, 0, 0), (1, 1, 1)], [0.7, 0.3], "abc"))
    text = output("plain.csv", "--parameters", asked, columns=200)
    assert f"nothing is better for {any_k}.\n" in text
    assert f"{same}\n" in text


def test_modes_that_are_the_same_share_a_column(folder):
    Path("same.csv").write_text(as_csv([(1, 1, 0), (1, 0, 1), (0, 0, 0), (0, 1, 0)], [0.25, 0.25, 0.3, 0.2], "abc"))
    text = output("same.csv", columns=200)
    # by hand, for pairs: with no label, two wrong labels half of the time and one, in two pairs of three, for the
    # last label set; with label b, three wrong labels for the second one, and one for the first and the third
    assert table(text) == {
        "k": ["optimal prediction", "risk", "both modes"],
        "1 (Hamming)": ["none", "0.4000", "*0.4000"],
        "2": ["b", f"{0.25 + 0.55 * 2 / 3:.4f}", f"{0.5 + 0.2 * 2 / 3:.4f}"],
        "3 (subset 0/1)": ["none", "0.7000", "*0.7000"],
    }
    assert "and joint mode (the most probable label set): none.\n" in text


def test_one_label(folder):
    Path("one.csv").write_text("only,probability\n0,0.3\n1,0.7\n")
    text = output("one.csv")
    assert table(text) == {"k": ["optimal prediction", "risk"], "1 (Hamming)": ["only", "0.3000"]}
    assert "2 label sets, 1 label;" in text


def test_the_example_file_holds_the_example_of_the_paper():
    assert (PROJECT / "docs" / "examples" / "paper_labels.csv").read_text() == FIVE


# Many parameters


def test_neighbours_with_the_same_prediction_share_a_row(folder):
    alphas = PUBLISHED_ALPHAS
    optima = [best(polynomial_risk, alpha) for alpha in alphas]
    expected = {"1 (Hamming)": [shown(optima[0]), f"{polynomial_risk(optima[0], 1):.4f}"]}  # ends stand alone
    for optimum, group in groupby(zip(optima[1:], alphas[1:], strict=True), key=itemgetter(0)):
        _, (first, *_, last) = zip(*group, strict=True)
        risks = dict.fromkeys(f"{polynomial_risk(optimum, alpha):.4f}" for alpha in (first, last))
        expected[f"{first:g}-{last:g}"] = [shown(optimum), "-".join(risks)]
    assert len(expected) == 6
    rows = table(output("five.csv", "--family", "polynomial", columns=120))
    assert rows.pop("alpha") == ["optimal prediction", "risk", "marginal mode", "joint mode"]
    assert {parameters: cells[:2] for parameters, cells in rows.items()} == expected
    assert (
        rows["1.01-1.1"][2] == f"*{polynomial_risk(MARGINAL_MODE, 1.01):.4f}-{polynomial_risk(MARGINAL_MODE, 1.1):.4f}"
    )
    assert rows["9-1000"][3] == f"*{polynomial_risk(JOINT_MODE, 9):.4f}-{polynomial_risk(JOINT_MODE, 1000):.4f}"


def test_every_parameter_is_in_json_and_csv(folder):
    everything = found("five.csv", "--family", "polynomial", "--csv", "out.csv")
    assert everything["parameters"] == PUBLISHED_ALPHAS.tolist()
    assert [float(row["parameter"]) for row in read_csv("out.csv")] == PUBLISHED_ALPHAS.tolist()


def test_both_ends_stand_alone(folder):
    Path("many.csv").write_text(as_csv([[0] * 25, [1] * 25], [0.7, 0.3], [f"l{i}" for i in range(25)]))
    rows = table(output("many.csv"))
    assert list(rows) == ["k", "1 (Hamming)", "2-24", "25 (subset 0/1)"]
    assert rows["2-24"] == ["none", "0.3000"]  # first and last loss are the same


def test_only_some_changes_are_told(folder, monkeypatch):
    monkeypatch.setattr("choral.cli.decide.printing.MAX_CHANGES", 1)
    assert "The prediction changes at k=2 and 2 times more.\n" in output("five.csv")


# What is not proven


@pytest.fixture
def twelve(folder):
    """Label sets of twelve labels, in which a search proves little."""
    rng = np.random.default_rng(0)
    labelsets, weights = rng.integers(2, size=(15, 12)).tolist(), rng.integers(1, 9, size=15).tolist()
    Path("twelve.csv").write_text(as_csv(labelsets, weights, [f"l{i}" for i in range(12)]))


def test_predictions_that_are_not_proven_are_marked(twelve):
    searched, proven = (found("twelve.csv", "--normalize", "--method", method) for method in ("search", "transform"))
    exact = np.array(searched["exact"])
    assert 0 < exact.sum() < 12
    assert all(proven["exact"])
    assert np.all(np.array(searched["lower_bound"]) <= np.array(proven["risk"]) + 1e-12)
    text = output("twelve.csv", "--normalize", "--method", "search", columns=200)
    rows = list(table(text).values())
    assert rows[0][0] == "best prediction found"
    assert [row[1].startswith("~") for row in rows[1:]] == (~exact).tolist()
    gaps = np.array(searched["risk"]) - np.array(searched["lower_bound"])
    sentence = f"~ marks what is not proven optimal, for {(~exact).sum()} of 12 values of k: the least risk is at most "
    assert f"{sentence}{gaps.max():.4f} lower (at k={gaps.argmax() + 1}; --json and --csv have all bounds).\n" in text
    assert "~" not in output("twelve.csv", "--normalize", columns=200)


def test_a_mode_to_which_nothing_better_was_found(folder):
    pairs = np.kron(np.eye(6, dtype=int), [1, 1]).tolist()  # labels that come in pairs, all of them rare
    Path("pairs.csv").write_text(as_csv([[0] * 12, *pairs], [3] + [1] * 6, [f"l{i}" for i in range(12)]))
    text = output("pairs.csv", "--normalize", "--method", "search", columns=200)
    assert table(text)["k"] == ["best prediction found", "risk"]
    assert "(the most probable label set): none; nothing better was found for any k.\n" in text
    assert "~ marks what is not proven optimal, for 10 of 12 values of k: " in text


# Long predictions, long names, narrow terminals


def test_of_long_predictions_the_notes_tell_what_comes_and_goes(twelve):
    text = output("twelve.csv", "--normalize", columns=300)
    predictions = np.array(found("twelve.csv", "--normalize")["predictions"])
    steps = {
        k: [[f"l{i}" for i in np.flatnonzero(step == sign)] for sign in (1, -1)]
        for k, step in enumerate(np.diff(predictions, axis=0), start=2)
    }
    assert steps[2] == [["l1"], []]
    assert steps[7] == [[], ["l11"]]
    assert steps[12] == [["l9", "l11"], ["l0", "l2", "l4", "l6", "l7", "l8"]]
    assert "changes at k=2 (now with l1), k=4" in text
    assert "k=7 (now without l11), k=12 (now with l9, l11; without l0, l2, l4, l6, l7 and 1 more)." in text


def test_a_narrow_terminal_gets_a_list(folder):
    text = output("five.csv", columns=40)
    assert max(map(len, text.splitlines())) <= 40
    items = " ".join(text.split("\n\n")[0].split())
    for k in range(1, 6):
        optimum, end = best(binomial_risk, k), {1: " (Hamming)", 5: " (subset 0/1)"}.get(k, "")
        prediction = "as before" if k == 3 else shown(optimum)
        assert f"k={k}{end}: risk {binomial_risk(optimum, k):.4f}, marginal mode " in items
        assert f"joint mode {'*' if k == 5 else ''}{binomial_risk(JOINT_MODE, k):.4f} {prediction}" in items


def test_a_list_repeats_no_prediction(folder):
    text = output("five.csv", "--family", "polynomial", "--parameters", "1,2,3", columns=40)
    predictions = [line.strip() for line in text.splitlines() if line.startswith("    ") and line[4] != " "]
    assert predictions == ["y1, y4", "y3, y4, y5", "as before"]


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_is_wider_than_the_terminal(folder, columns):
    names = [f"a rather long name, that of label {i}" for i in range(8)] + ["x" * 300]
    labelsets = np.random.default_rng(0).integers(2, size=(9, 9)).tolist()
    Path("long.csv").write_text(as_csv(labelsets, [1] * 9, [f'"{name}"' for name in names]))
    text = output("long.csv", "--normalize", columns=columns)
    assert max(map(len, text.splitlines())) <= columns
    letters = "".join(text.split())
    assert "x" * 300 in letters  # broken, but whole
    assert "'aratherlongname,thatoflabel0'" in letters


def test_predictions_are_broken_into_lines_within_the_table(folder):
    names = [f"label_number_{i}" for i in range(4)]
    Path("broken.csv").write_text(as_csv([(1, 1, 1, 1), (0, 0, 0, 0)], [0.6, 0.4], names))
    lines = output("broken.csv", columns=60).splitlines()
    assert [line.split() for line in lines[2:5]] == [
        ["1", "(Hamming)", "label_number_0,", "label_number_1,", "0.4000"],
        ["label_number_2,", "label_number_3"],
        ["2", "label_number_0,", "label_number_1,", "0.4000"],
    ]


def test_odd_names_are_shown_not_obeyed(folder):
    names = ["\x1b[31mred", "none", '"sky, clear"', "[bold]"]
    Path("odd.csv").write_text(as_csv([(1, 1, 1, 1)], [1], names))
    text = output("odd.csv", "--csv", "out.csv", columns=120)
    assert table(text)["1 (Hamming)"] == [r"\x1b[31mred, 'none', 'sky, clear', [bold]", "0.0000"]
    assert "\x1b" not in text + Path("out.csv").read_text()
    assert read_csv("out.csv")[0]["sky, clear"] == "1"
    assert found("odd.csv")["labels"] == ["\x1b[31mred", "none", "sky, clear", "[bold]"]


def test_notes_shorten_names(folder):
    Path("long.csv").write_text(as_csv([(1,)], [1], ["x" * 31]))
    assert f": {'x' * 15}...{'x' * 15}; nothing is better for any k." in output("long.csv", columns=200)


# Files


def test_samples_count_alike(folder):
    np.save("samples.npy", SAMPLES)
    text = output("samples.npy", "--samples", columns=200)
    assert "1000 rows, 32 label sets, 5 labels; " in text
    assert "Labels without names are counted from 1.\n" in text
    assert table(text)["2"][:2] == ["3, 4, 5", table(output("five.csv"))["2"][1]]
    from_samples, from_probabilities = found("samples.npy", "--samples"), found("five.csv")
    assert from_samples["labels"] is None
    assert from_samples["predictions"] == from_probabilities["predictions"]
    assert from_samples["risk"] == pytest.approx(from_probabilities["risk"])


def test_samples_with_names(folder):
    Path("samples.tsv").write_text("\n".join(["\t".join(NAMES), *("\t".join(map(str, row)) for row in SAMPLES)]))
    assert table(output("samples.tsv", "--samples")) == table(output("five.csv"))


def test_sparse_samples(folder):
    sparse = pytest.importorskip("scipy.sparse")
    sparse.save_npz("samples.npz", sparse.csr_array(SAMPLES))
    assert found("samples.npz", "--samples")["risk"] == pytest.approx(found("five.csv")["risk"])


def test_counts_become_probabilities(folder):
    Path("counts.csv").write_text(as_csv(LABELSETS, THOUSANDTHS, column="n"))
    assert table(output("counts.csv", "--probability", "n", "--normalize")) == table(output("five.csv"))
    message = "counts.csv: probabilities must sum to 1; their sum is 1000. --normalize divides them by it.\n"
    assert_fails(message, "counts.csv", "--probability", "n")


def test_label_sets_that_come_twice_count_together(folder):
    Path("twice.csv").write_text(as_csv([(0, 1), (1, 0), (1, 0)], [0.4, 0.3, 0.3], "ab"))
    text = output("twice.csv")
    assert table(text)["2 (subset 0/1)"] == ["a", "0.4000"]
    assert "3 rows, 2 label sets, 2 labels; " in text


def test_parquet(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = dict(zip(NAMES, zip(*LABELSETS, strict=True), strict=True))
    parquet.write_table(
        pyarrow.table({"probability": [count / 1000 for count in THOUSANDTHS], **columns}), "five.parquet"
    )
    assert output("five.parquet") == output("five.csv")


def test_ids_are_no_labels(folder):
    header, *rows = FIVE.splitlines()
    numbered = [f"{number},{row}" for number, row in enumerate(rows, start=1)]
    Path("ids.csv").write_text("\n".join([f"id,{header}", *numbered]))
    assert output("ids.csv") == output("five.csv")
    Path("rows.csv").write_text("\n".join([f"row,{header}", *numbered]))
    assert output("rows.csv", "--id", "row") == output("five.csv")
    assert_fails("rows.csv, line 3, column 'row': expected 0 or 1; got 2.0.", "rows.csv")
    assert_fails("five.csv has no column 'row' for the ids; it has", "five.csv", "--id", "row")
    assert_fails("ids.csv: 'id' is the id column; the probabilities need", "ids.csv", "--probability", "id")


def test_header(folder):
    Path("samples.csv").write_text("0,1\n1,0\n")
    assert_fails("may be a header or labels; say --header or --no-header.", "samples.csv", "--samples")
    assert "1 label set, 2 labels" in output("samples.csv", "--samples", "--header")
    assert "2 label sets, 2 labels" in output("samples.csv", "--samples", "--no-header")


# Options


def test_family_and_parameters(folder):
    everything = found("five.csv", "--family", "polynomial", "--parameters", "1,2.5", "--parameters", "inf")
    assert everything["parameters"] == [1, 2.5, "inf"]
    optima = [best(polynomial_risk, alpha) for alpha in (1, 2.5)]
    assert everything["predictions"] == [*map(list, optima), list(JOINT_MODE)]
    risks = [polynomial_risk(optimum, alpha) for optimum, alpha in zip(optima, (1, 2.5), strict=True)]
    assert everything["risk"] == pytest.approx([*risks, 0.938])
    text = output("five.csv", "--family", "polynomial", "--parameters", "1,2.5,inf")
    assert list(table(text)) == ["alpha", "1 (Hamming)", "2.5", "inf (subset 0/1)"]


@pytest.mark.parametrize("method", ["transform", "branch_and_bound", "search"])
def test_methods_agree(folder, method):
    assert output("five.csv", "--method", method) == output("five.csv")


def test_closed_form_is_for_the_ends(folder):
    ends = table(output("five.csv", "--method", "closed_form", "--parameters", "1,5"))
    everything = table(output("five.csv"))
    assert [ends[end][:2] for end in ("1 (Hamming)", "5 (subset 0/1)")] == [
        everything[end][:2] for end in ("1 (Hamming)", "5 (subset 0/1)")
    ]
    assert_fails(
        "method 'closed_form' needs an additive measure, subset 0/1, an F loss or",
        "five.csv",
        "--method",
        "closed_form",
    )


def test_seed_and_method_reach_the_search(folder, monkeypatch):
    options = {}
    bayes_curve = choral.bayes_curve

    def record(distribution, **given):
        options.update(given)
        return bayes_curve(distribution, **given)

    monkeypatch.setattr(choral, "bayes_curve", record)
    output("five.csv", "--seed", 7, "--method", "search")
    assert (options["random_state"], options["method"]) == (7, "search")
    output("five.csv")
    assert (options["random_state"], options["method"]) == (0, "auto")


def test_help():
    text = CliRunner().invoke(app, ["decide", "--help"], env={"COLUMNS": "80"}).stdout
    assert "Find the prediction with the least expected loss" in text
    assert all(option in text for option in ("--probability COLUMN", "--samples", "--normalize", "--method NAME"))
    assert not any(word in text for word in ("<", "list[", "Path", "bool"))  # types are for programmers
    commands = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout
    assert "decide    Find the prediction with the least expected loss.\n" in commands


# Outputs


def test_json_holds_everything(folder):
    everything = found("five.csv")
    sizes = {"n_rows": 32, "n_labelsets": 32, "n_labels": 5}
    assert everything | sizes == everything
    assert (everything["family"], everything["labels"], everything["parameters"]) == (
        "binomial",
        list(NAMES),
        [1, 2, 3, 4, 5],
    )
    optima = [best(binomial_risk, k) for k in range(1, 6)]
    assert everything["predictions"] == [list(optimum) for optimum in optima]
    assert everything["risk"] == pytest.approx([binomial_risk(c, k) for k, c in enumerate(optima, start=1)])
    assert everything["lower_bound"] == pytest.approx(everything["risk"])
    assert everything["exact"] == [True] * 5
    for name, mode in {"marginal": MARGINAL_MODE, "joint": JOINT_MODE}.items():
        losses = [binomial_risk(mode, k) for k in range(1, 6)]
        assert everything["modes"][name] == {"prediction": list(mode), "expected_loss": pytest.approx(losses)}


def test_csv_has_a_line_for_each_parameter(folder):
    output("five.csv", "--csv", "out.csv")
    rows = read_csv("out.csv")
    columns = ["family", "parameter", "risk", "lower_bound", "exact", "marginal_mode", "joint_mode", *NAMES]
    assert list(rows[0]) == columns
    for k, row in enumerate(rows, start=1):
        optimum = best(binomial_risk, k)
        assert (row["family"], row["parameter"], row["exact"]) == ("binomial", str(k), "true")
        assert tuple(int(row[name]) for name in NAMES) == optimum
        numbers = [float(row[column]) for column in ("risk", "lower_bound", "marginal_mode", "joint_mode")]
        risks = [binomial_risk(prediction, k) for prediction in (optimum, optimum, MARGINAL_MODE, JOINT_MODE)]
        assert numbers == pytest.approx(risks)


def test_a_label_called_like_a_column_of_the_csv_file(folder):
    Path("risk.csv").write_text(as_csv([(0, 1)], [1], ["risk", "b"]))
    message = "risk.csv: the label 'risk' is another column of --csv; rename the label, or say --json."
    assert_fails(message, "risk.csv", "--csv", "out.csv")
    assert not Path("out.csv").exists()
    assert found("risk.csv")["labels"] == ["risk", "b"]


@pytest.mark.parametrize(("name", "start"), [("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("out.PDF", b"%PDF")])
def test_plot(folder, name, start):
    pytest.importorskip("matplotlib")
    assert output("five.csv", "--plot", name) == output("five.csv")
    assert Path(name).read_bytes().startswith(start)


def test_plot_shows_the_modes_beside_the_optimum(folder):
    pytest.importorskip("matplotlib")
    output("five.csv", "--plot", "out.svg")
    text = Path("out.svg").read_text()
    assert all(f"<!-- {name} -->" in text for name in ("optimal", "marginal mode", "joint mode"))


def test_the_curve_is_computed_once(folder, monkeypatch):
    pytest.importorskip("matplotlib")
    calls = []
    bayes_curve = choral.bayes_curve
    monkeypatch.setattr(
        choral, "bayes_curve", lambda *args, **options: calls.append(0) or bayes_curve(*args, **options)
    )
    output("five.csv", "--plot", "out.png", "--csv", "out.csv", "--json")
    assert len(calls) == 1


def test_progress_is_told_of_reading_and_deciding(twelve, monkeypatch):
    shown = []

    @contextmanager
    def record():
        yield lambda *state: shown.append(state)

    monkeypatch.setattr("choral.cli.decide.command.progress_bar", record)
    output("twelve.csv", "--normalize", "--method", "search")
    whats = list(dict.fromkeys(what for _, _, what in shown))
    assert whats == ["reading twelve.csv", "deciding", *(f"k={k}" for k in range(1, 13)), "done"]


def test_progress_is_for_terminals_and_leaves_stdout_alone(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("five.csv", "--json")
    assert "0:00:0" in result.stderr  # the time that has passed
    json.loads(result.stdout)


# Errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.csv is empty; expected a row for each sample."),
        ("a,b,probability\n", "bad.csv has a header but no rows; expected a row for each sample."),
        ("a,b,probability\n0,1,0.5\n1,1,0.4\n", "sum to 1; their sum is 0.9. --normalize divides them by it."),
        ("a,b,probability\n0,1,0.5\n1,2,0.5\n", "bad.csv, line 3, column 'b': expected 0 or 1; got 2.0."),
        ("a,b,probability\n0,1,0.5\n1,nan,0.5\n", "bad.csv, line 3, column 'b': expected 0 or 1; got nan."),
        ("a,b,probability\n0,1,nan\n1,1,0.5\n", "bad.csv, line 2, column 'probability': expected a weight"),
        ("a,b,probability\n0,1,1.5\n1,1,-0.5\n", "bad.csv, line 3, column 'probability': expected a weight"),
        ("a,b,probability\n0,1,0\n1,1,0\n", "bad.csv, column 'probability': all weights are 0"),
        ("a,b,probability\n0,1,x\n", "bad.csv, line 2, column 'probability': expected a number; got 'x'."),
        ("probability\n1\n", "bad.csv must hold rows x labels, at least one of each; got shape (1, 0)."),
        (
            "a,b,p\n0,1,1\n",
            "bad.csv has no column 'probability'; it has 'a', 'b', 'p'. Say --probability COLUMN; --samples if all",
        ),
        ("0,1,0.5\n1,1,0.5\n", "no column 'probability'; give it a header that names one, or say --samples"),
    ],
)
def test_bad_files(folder, content, message):
    Path("bad.csv").write_text(content)
    assert_fails(message, "bad.csv")


def test_files_without_names(folder):
    np.save("samples.npy", SAMPLES)
    assert_fails("samples.npy has no column names, so no column 'probability'; give it a header", "samples.npy")
    assert_fails("nowhere.csv does not exist; expected a file.", "nowhere.csv")
    assert_fails("five.txt: the file name must end in", "five.txt")


def test_very_large_weights(folder):
    Path("huge.csv").write_text(as_csv([(0, 1), (1, 1)], [1e300, 1e300], "ab"))
    assert found("huge.csv", "--normalize")["risk"] == pytest.approx([0.25, 0.5])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--probability", "p", "--samples"], "--probability names a column and --samples says there is none"),
        (["--probability", ""], "five.csv has no column ''"),
        (["--family", "normal"], "--family must be binomial or polynomial; got 'normal'."),
        (
            ["--method", "guess"],
            "--method must be auto, quick, closed_form, transform, branch_and_bound or search; got 'guess'.",
        ),
        (["--parameters", "1;2"], "--parameters must be numbers separated by commas; got '1;2'."),
        (["--parameters", "1,9"], "must be whole numbers in 1..5, the number of labels; parameters[1] is 9.0."),
        (["--parameters", "2,1"], "parameters must increase; parameters[1] is 1.0."),
        (["--seed", "-1"], "--seed must be a whole number from 0 to 18446744073709551615; got '-1'."),
        (["--csv", ""], "--csv must name a file; got ''."),
        (["--csv", "five.csv"], "five.csv is an input or named twice"),
        (["--plot", "out.gif"], "--plot must name a file that ends in .png, .svg, .pdf; got 'out.gif'."),
        (["--csv", "out.png", "--plot", "out.png"], "out.png is an input or named twice"),
    ],
)
def test_bad_options(folder, options, message):
    assert_fails(message, "five.csv", *options)


def test_too_many_labels_for_a_transform(folder):
    Path("many.csv").write_text(as_csv([[1] * 23], [1], [f"l{i}" for i in range(23)]))
    assert_fails("method 'transform' looks at all 2 ** n_labels predictions", "many.csv", "--method", "transform")


def test_outputs_are_checked_before_the_computing(folder, monkeypatch):
    monkeypatch.setattr(choral, "bayes_curve", pytest.fail)
    assert_fails("its folder does not exist", "five.csv", "--csv", "nowhere/out.csv")
    Path("out.png").mkdir()
    pytest.importorskip("matplotlib")
    assert_fails("not a regular file", "five.csv", "--plot", "out.png")


def test_wrong_usage_is_one_line_too(folder):
    assert_fails("Missing argument 'FILE'")
    assert_fails(" decide --help)\n", "five.csv", "--threshold", "1")


def test_interruption(folder, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(choral, "bayes_curve", interrupt)
    result = run("five.csv", "--csv", "out.csv")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "choral: interrupted\n")
    assert not Path("out.csv").exists()


# The real thing, in a process of its own


def test_process(folder):
    command = [sys.executable, "-m", "choral", "decide", "five.csv"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == output("five.csv")


def test_closed_pipe_is_no_error(folder):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "choral", "decide", "five.csv"]
    result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(write)
    assert "choral: error" not in result.stderr
    assert "Traceback" not in result.stderr


def test_a_stop_while_deciding_leaves_no_file(folder):
    before = set(os.listdir())
    code = (
        "import time, choral\n"
        "def bayes_curve(*args, **options): print('ready', flush=True); [time.sleep(0.1) for _ in range(600)]\n"
        "choral.bayes_curve = bayes_curve\n"
        "from choral.__main__ import main; main()"
    )
    command = [sys.executable, "-c", code, "decide", "five.csv", "--csv", "out.csv"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "choral: interrupted\n")
    assert set(os.listdir()) == before
