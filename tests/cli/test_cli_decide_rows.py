"""``choral decide`` for one loss: scores, votes and label sets against enumeration, files it writes, and refusals."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

import choral
from choral.cli import app
from choral.label_files import read_labels
from choral.losses import mean_loss
from commands import assert_refused

PROJECT = Path(__file__).parents[2]
NAMES = ("sea", "sky", "sun")
SCORES = np.array([[0.9, 0.4, 0.2], [0.4, 0.35, 0.3], [0.1, 0.8, 0.45], [0.6, 0.45, 0.05]])
VOTES = np.array(
    [
        [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]],
        [[1, 1, 0], [0, 1, 1], [0, 1, 1], [1, 1, 0]],
        [[1, 1, 1], [1, 0, 1], [1, 1, 0], [0, 1, 1]],
    ]
)
LABELSETS = np.array(list(product((0, 1), repeat=3)))
LOSSES = ["hamming", "subset", "k=2", "alpha=2.5", "alpha=inf", "f1", "f0.5", "jaccard"]


def as_csv(rows, names=NAMES, ids="abcd"):
    lines = [
        ",".join(["id", *names]),
        *(f"{name},{','.join(map(str, row))}" for name, row in zip(ids, rows, strict=True)),
    ]
    return "\n".join(lines) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with scores, and with the predictions of three models."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    Path("scores.csv").write_text(as_csv(SCORES))
    for number, rows in enumerate(VOTES, start=1):
        Path(f"votes_{number}.csv").write_text(as_csv(rows))
    return tmp_path


VOTE_FILES = ("votes_1.csv", "votes_2.csv", "votes_3.csv")


def run(*arguments, columns=80):
    return CliRunner().invoke(app, ["decide", *map(str, arguments)], env={"COLUMNS": str(columns)})


def output(*arguments, columns=200):
    result = run(*arguments, columns=columns)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def found(*arguments):
    return json.loads(output(*arguments, "--json"), parse_constant=pytest.fail)


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def least_risk(weights, loss):
    """The least expected loss of all predictions; weights are the probabilities of LABELSETS."""
    return min(risk_of(prediction, weights, loss) for prediction in LABELSETS)


def risk_of(prediction, weights, loss):
    losses = [mean_loss([truth], [prediction], choral.loss_by_name(loss)) for truth in LABELSETS]
    return float(np.dot(losses, weights))


def weights_of_scores():
    return np.prod(np.where(LABELSETS == 1, SCORES[:, np.newaxis], 1 - SCORES[:, np.newaxis]), axis=2)


def weights_of_votes():
    return (VOTES.transpose(1, 0, 2)[:, :, np.newaxis] == LABELSETS).all(axis=3).mean(axis=1)


# What is decided


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["scores", "votes"])
def test_every_row_has_the_least_risk_of_all_predictions(folder, kind, loss):
    files, weights = {"scores": (["scores.csv"], weights_of_scores()), "votes": (VOTE_FILES, weights_of_votes())}[kind]
    data = found(f"--{kind}", *files, "--loss", loss)
    risks = [least_risk(row, loss) for row in weights]
    assert data["risk"] == pytest.approx(risks)
    assert [risk_of(*pair, loss) for pair in zip(data["predictions"], weights, strict=True)] == pytest.approx(risks)
    assert data["mean_risk"] == pytest.approx(np.mean(risks))
    assert data["lower_bound"] == pytest.approx(risks)
    assert all(data["exact"])
    assert (data["loss"], data["n_rows"], data["n_labels"], data["labels"]) == (loss, 4, 3, list(NAMES))
    modes = {"marginal": weights @ LABELSETS > 0.5 + 1e-12, "joint": LABELSETS[weights.argmax(axis=1)]}
    if kind == "scores":
        assert modes.pop("joint").tolist() == modes["marginal"].tolist()
    for name in modes:
        losses = [risk_of(*pair, loss) for pair in zip(modes[name].astype(int), weights, strict=True)]
        if name == "marginal" or loss == "subset":  # of equally probable label sets the joint mode is any
            assert data["mean_loss_of_modes"][name] == pytest.approx(np.mean(losses))


@pytest.mark.parametrize("files", [["--scores", "scores.csv"], ["--votes", *VOTE_FILES]])
def test_subset_is_the_default(folder, files):
    assert found(*files) == found(*files, "--loss", "subset")


def test_one_distribution_is_decided_for_one_loss(folder):
    lines = [",".join([*NAMES, "probability"]), *(f"{a},{b},{c},0.125" for a, b, c in LABELSETS)]
    Path("uniform.csv").write_text("\n".join(lines))
    data = found("uniform.csv", "--loss", "f1", "--out", "out.csv")
    assert data["predictions"] == [[1, 1, 1]]
    assert data["risk"] == pytest.approx([least_risk(np.full(8, 1 / 8), "f1")])
    assert Path("out.csv").read_text() == "sea,sky,sun\n1,1,1\n"
    np.save("samples.npy", LABELSETS)
    text = output("samples.npy", "--samples", "--loss", "f1")
    assert "8 label sets, 3 labels; the loss is f1.\nOptimal: 1, 2, 3.\nBoth modes: none.\n" in text
    rows = [line.split() for line in text.split("\n\n")[0].splitlines()]
    assert rows[0] == ["prediction", "expected", "loss", "labels"]
    assert rows[2:] == [["optimal", f"{data['risk'][0]:.4f}", "3"], ["both", "modes", "0.8750", "0"]]


def test_ids_of_label_sets_name_no_prediction(folder):
    Path("ids.csv").write_text("id,a,b,probability\nx,0,1,0.4\ny,1,1,0.6\n")
    output("ids.csv", "--loss", "subset", "--out", "out.csv")
    assert Path("out.csv").read_text() == "a,b\n1,1\n"


def test_method_and_seed_reach_the_search(folder, monkeypatch):
    options = {}
    bayes_optimal = choral.bayes_optimal

    def record(distribution, loss, **given):
        options.update(given)
        return bayes_optimal(distribution, loss, **given)

    monkeypatch.setattr(choral, "bayes_optimal", record)
    output("--votes", *VOTE_FILES, "--method", "search", "--seed", 3)
    assert options == {"method": "search", "random_state": 3}


# What is printed


def test_summary_of_votes(folder):
    text = output("--votes", *VOTE_FILES, "--loss", "f1")
    lines = [line.split() for line in text.split("\n\n")[0].splitlines()]
    data = found("--votes", *VOTE_FILES, "--loss", "f1")
    modes = data["mean_loss_of_modes"]
    assert lines[2:] == [
        ["optimal", f"{data['mean_risk']:.4f}", f"{np.sum(data['predictions']) / 4:.2f}"],
        ["marginal", "mode", f"{modes['marginal']:.4f}", "2.00"],
        ["joint", "mode", f"{modes['joint']:.4f}", "1.25"],
    ]
    assert text.split("\n\n")[1].splitlines() == [
        "4 rows, 6 label sets, 3 labels; the loss is f1.",
        "The marginal mode is the labels more probable than not, the joint mode the most probable label set.",
        "--out FILE writes the predictions.",
    ]


def test_summary_of_scores(folder):
    text = output("--scores", "scores.csv", "--loss", "k=2", "--out", "out.csv")
    assert (
        "4 rows, 3 labels, taken as independent of each other; the loss is k=2; * marks a mode that is as good.\n"
        in text
    )
    assert (
        "For independent labels, nothing is better than the marginal mode under this loss; choral tune learns" in text
    )
    assert text.endswith("out.csv holds the predictions.\n")
    assert "choral tune" not in output("--scores", "scores.csv", "--loss", "f1")


def test_what_is_not_proven_is_told(folder):
    rng = np.random.default_rng(0)
    for number in range(15):
        np.save(f"member_{number}.npy", rng.integers(2, size=(6, 12)))
    files = [f"member_{number}.npy" for number in range(15)]
    arguments = ["--votes", *files, "--loss", "k=4", "--method", "search"]
    data, text = found(*arguments), output(*arguments)
    unproven = 6 - sum(data["exact"])
    assert unproven > 0
    gap = data["mean_risk"] - np.mean(data["lower_bound"])
    assert (
        f"Not proven optimal: {unproven} of 6 rows; the least mean expected loss is at most {gap:.4f} lower.\n" in text
    )
    assert "best found" in text


@pytest.mark.parametrize(
    "command",
    [
        "--scores tag_scores.csv --loss f1 --out labels.csv",
        "--votes tags_1.csv tags_2.csv tags_3.csv --loss jaccard",
        "paper_labels.csv --loss f1",
    ],
)
def test_the_examples_of_the_docs_are_true(folder, command):
    for path in (PROJECT / "docs" / "examples").glob("*.csv"):
        Path(path.name).write_text(path.read_text())
    lines = [line.rstrip() for line in output(*command.split(), columns=80).splitlines()]
    text = (PROJECT / "docs" / "command_line.md").read_text(encoding="utf-8")
    assert "\n".join([f"$ choral decide {command}", *lines]) in text


# Files


def test_out_keeps_names_and_ids(folder):
    output("--scores", "scores.csv", "--loss", "f1", "--out", "out.csv")
    assert Path("out.csv").read_text() == "id,sea,sky,sun\na,1,0,0\nb,1,1,1\nc,0,1,1\nd,1,1,0\n"
    Path("rows.csv").write_text(as_csv(SCORES).replace("id,", "row,", 1))
    output("--scores", "rows.csv", "--id", "row", "--loss", "f1", "--out", "out.tsv")
    assert Path("out.tsv").read_text().splitlines()[:2] == ["row\tsea\tsky\tsun", "a\t1\t0\t0"]


@pytest.mark.parametrize("name", ["out.npy", "out.npz", "out.CSV"])
def test_out_by_suffix(folder, name):
    np.save("scores.npy", SCORES)
    data = found("--scores", "scores.npy", "--out", name)
    table = read_labels(name, header=False)
    assert table.values.tolist() == data["predictions"]
    assert (table.labels, table.ids) == (None, None)


def test_votes_are_matched_by_names_of_rows_and_labels(folder):
    expected = found("--votes", *VOTE_FILES, "--loss", "f1")
    turned = as_csv(VOTES[1][::-1][:, ::-1], names=NAMES[::-1], ids="dcba")
    Path("votes_2.csv").write_text(turned)
    assert found("--votes", *VOTE_FILES, "--loss", "f1") == expected


def test_sparse_files(folder):
    sp.save_npz("scores.npz", sp.csr_array(np.where(SCORES < 0.3, 0, SCORES)))
    np.save("scores.npy", np.where(SCORES < 0.3, 0, SCORES))
    assert found("--scores", "scores.npz", "--loss", "f1") == found("--scores", "scores.npy", "--loss", "f1")
    for number, rows in enumerate(VOTES, start=1):
        sp.save_npz(f"votes_{number}.npz", sp.csr_array(rows))
    files = [f"votes_{number}.npz" for number in (1, 2, 3)]
    assert found("--votes", *files)["risk"] == found("--votes", *VOTE_FILES)["risk"]


def test_one_row(folder):
    Path("one.csv").write_text("sea,sky\n0.3,0.8\n")
    text = output("--scores", "one.csv", "--loss", "f1")
    assert "1 row, 2 labels, taken as independent of each other; the loss is f1" in text
    assert "Optimal: sky.\n" in text


# Refusals


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ["--scores", "--votes", "scores.csv"],
            "--scores and --votes say what the files hold; expected one of the two.",
        ),
        (
            ["--scores", "scores.csv", "votes_1.csv"],
            "expected one file; got 2. --votes takes the predictions of several",
        ),
        (["votes_1.csv", "votes_2.csv"], "expected one file; got 2."),
        (["--votes", "votes_1.csv"], "--votes needs the files of two models or more; got 1 file."),
        (["--scores", "scores.csv", "--samples"], "--samples is for a distribution of label sets, not for --scores."),
        (["--votes", *VOTE_FILES, "--normalize"], "--normalize is for a distribution of label sets, not for --votes."),
        (["--scores", "scores.csv", "--probability", "p"], "--probability is for a distribution of label sets"),
        (
            ["--scores", "scores.csv", "--family", "binomial"],
            "--family is for all losses of a family; here there is one",
        ),
        (["--scores", "scores.csv", "--parameters", "1"], "--parameters is for all losses of a family"),
        (["scores.csv", "--loss", "f1", "--csv", "out.csv"], "--csv is for all losses of a family; here there is one"),
        (
            ["scores.csv", "--loss", "f1", "--plot", "out.png"],
            "--plot is for all losses of a family; here there is one",
        ),
        (["scores.csv", "--out", "out.csv"], "--out writes predictions for one loss; say --loss NAME."),
        (
            ["--scores", "scores.csv", "--loss", "f"],
            "--loss must be hamming, subset, k=3, alpha=2.5, f1, jaccard, micro_f1",
        ),
        (["--scores", "scores.csv", "--loss", ""], "--loss must be hamming, subset"),
        (["--scores", "scores.csv", "--loss", "k=0"], "k must be"),
        (["--scores", "scores.csv", "--loss", "k=4"], "k must lie in 1..3, the number of labels; got 4."),
        (
            ["--scores", "scores.csv", "--loss", "macro_f1"],
            "--loss macro_f1 is a loss of all rows together, so no row has",
        ),
        (
            ["--scores", "scores.csv", "--out", "out.xls"],
            "--out must name a file that ends in .csv, .tsv, .npy, .npz, .parquet; got",
        ),
        (["--scores", "scores.csv", "--out", ""], "--out must name a file that ends in .csv"),
        (["--scores", "scores.csv", "--out", "scores.csv"], "scores.csv is an input or named twice"),
        (["--scores", "scores.csv", "--out", "nowhere/out.csv"], "its folder does not exist"),
        (["--scores", "nowhere.csv"], "nowhere.csv does not exist; expected a file."),
        (["--scores", "scores.csv", "--method", "guess"], "--method must be auto, quick"),
    ],
)
def test_bad_usage(folder, monkeypatch, arguments, message):
    monkeypatch.setattr(choral, "bayes_curve", pytest.fail)
    assert_fails(message, *arguments)
    assert not list(folder.glob("out.*"))


@pytest.mark.parametrize(
    "content, message",
    [
        (
            "sea,sky\n0.1,2.5\n",
            "bad.csv, line 2, column 'sky': expected a number in [0, 1]; got 2.5. choral tune takes logits",
        ),
        ("sea,sky\n0.1,nan\n", "bad.csv, line 2, column 'sky': expected a number; got nan.\n"),
        ("sea,sky\n0.1,x\n", "bad.csv, line 2, column 'sky': expected a number; got 'x'."),
        ("", "bad.csv is empty; expected a row for each sample."),
    ],
)
def test_bad_scores(folder, content, message):
    Path("bad.csv").write_text(content)
    assert_fails(message, "--scores", "bad.csv")


@pytest.mark.parametrize(
    "content, message",
    [
        (as_csv(VOTES[0][:3], ids="abc"), "bad.csv does not have the ids of votes_1.csv: 1 missing ('d')."),
        (
            as_csv(VOTES[0], names=("sea", "sky", "car")),
            "bad.csv does not have the labels of votes_1.csv: 1 missing ('sun')",
        ),
        ("sea,sky,sun\n0,0,1\n", "Rows cannot be matched: votes_1.csv has ids, bad.csv has none."),
        (as_csv(SCORES), "bad.csv, line 2, column 'sea': expected 0 or 1; got 0.9."),
    ],
)
def test_bad_votes(folder, content, message):
    Path("bad.csv").write_text(content)
    assert_fails(message, "--votes", "votes_1.csv", "bad.csv")


def test_votes_of_another_shape(folder):
    np.save("a.npy", VOTES[0])
    np.save("b.npy", VOTES[1][:, :2])
    assert_fails("b.npy has 2 labels, a.npy has 3.", "--votes", "a.npy", "b.npy")


def test_nothing_is_written_if_deciding_stops(folder, monkeypatch):
    def interrupt(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(choral, "bayes_optimal", interrupt)
    result = run("--scores", "scores.csv", "--out", "out.csv")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "choral: interrupted\n")
    assert not Path("out.csv").exists()
