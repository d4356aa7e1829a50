"""``choral describe``: its numbers against `describe`, its outputs, and one line for whatever is wrong."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from typer.testing import CliRunner

from choral.cli import app
from choral.datasets import Dataset, load_digits_segments
from choral.stats import conditional_dependence, describe
from commands import assert_refused, read_csv

DOCS = Path(__file__).parents[2] / "docs"

ARFF = """@relation 'photos: -C 2'
@attribute sea {0, 1}
@attribute sky {0, 1}
@attribute light numeric
@attribute place {shore, wood, town}
@data
1, 1, 0.9, shore
0, 1, 0.8, wood
0, 0, 0.1, town
1, 1, 0.7, shore
"""
LABELS = "sea,sky,car\n1,1,0\n0,1,0\n0,0,0\n1,1,0\n"
LIGHT = "light,sea\n0.9,1\n0.8,0\n"
FEATURES = "light,sea,sky,place\n0.9,1,1,shore\n0.8,0,1,wood\n0.1,0,0,town\n0.7,1,1,shore\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a data set and with labels alone."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)  # some CI sets it: rich then takes a pipe for a terminal
    Path("photos.arff").write_text(ARFF)
    Path("labels.csv").write_text(LABELS)
    Path("features.csv").write_text(FEATURES)
    Path("light.csv").write_text(LIGHT)
    return tmp_path


def run(*arguments, columns=80):
    return CliRunner().invoke(app, ["describe", *map(str, arguments)], env={"COLUMNS": str(columns)})


def output(*arguments, columns=80):
    result = run(*arguments, columns=columns)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def found(*arguments):
    return json.loads(output(*arguments, "--json"), parse_constant=pytest.fail)["datasets"]


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def tables(text):
    """The rows of each table, headers first, and the notes."""
    *blocks, notes = text.strip().split("\n\n")
    lines = [[line for line in block.splitlines() if not line.startswith("─")] for block in blocks]
    return [[re.split(r"\s{2,}", line.strip()) for line in block] for block in lines], notes


# The tables


def test_one_data_set_has_a_table_of_its_labels(folder):
    (size, more, labels), notes = tables(output("photos.arff"))
    assert size == [
        ["data set", "instances", "features", "labels", "ratio", "label sets", "cardinality"],
        ["photos", "4", "2", "2", "0.5000", "3", "1.25"],
    ]
    v = f"{1 / np.sqrt(3):.3f}"
    assert more == [
        ["data set", "density", "unlabelled", "mean IR", "max IR", "CVIR", "mean V", "max V"],
        ["photos", "0.625", "25.0%", "1.25", "1.50", "0.28", v, v],
    ]
    assert labels == [
        ["label", "instances", "share", "IR", "most dependent on", "V"],
        ["sea", "2", "50.0%", "1.50", "sky", v],
        ["sky", "3", "75.0%", "1.00", "sea", v],
    ]
    assert "V is Cramér's V of pairs of labels" in " ".join(notes.split())
    assert "Gain" not in notes


def test_several_data_sets_are_compared(folder):
    (size, more), _ = tables(output("photos.arff", "labels.csv", "digits-segments"))
    assert [row[0] for row in size] == [row[0] for row in more] == ["data set", "photos", "labels", "digits-segments"]
    assert size[2] == ["labels", "4", "-", "3", "0.7500", "3", "1.25"]
    digits = describe(load_digits_segments())
    assert more[3][1:4] == [f"{digits.density:.3f}", "0.0%", f"{digits.mean_imbalance:.2f}"]


@pytest.mark.parametrize("labels", ["sea,sky", "s*", "sky, sea", "*ea,sky"])
def test_labels_of_a_table_by_name(folder, labels):
    (size, more, of_labels), _ = tables(output("features.csv", "--labels", labels))
    assert size[1] == ["features", "4", "2", "2", "0.5000", "3", "1.25"]  # the place is text, and no label
    assert more[1][1:] == tables(output("photos.arff"))[0][1][1][1:]
    assert [row[0] for row in of_labels] == ["label", "sea", "sky"]


@pytest.mark.parametrize(("labels", "names", "n_features"), [(2, ["sea", "sky"], 1), (-1, ["car"], 2), (3, None, 0)])
def test_labels_of_a_table_by_count(folder, labels, names, n_features):
    (one,) = found("labels.csv", "--labels", labels)
    assert [label["name"] for label in one["labels"]] == (names or ["sea", "sky", "car"])
    assert one["n_features"] == n_features


def test_labels_of_tables_and_of_arff_files_by_one_count(folder):
    names = [[label["name"] for label in one["labels"]] for one in found("photos.arff", "labels.csv", "--labels", 2)]
    assert names == [["sea", "sky"]] * 2


def test_dependence_given_the_features_of_a_table(folder):
    data = load_digits_segments()
    X, Y = data.X[:300, 20:30], data.Y[:300, :3]
    header = ",".join(["id", *(f"x{i}" for i in range(10)), *"abc"])
    rows = [",".join(map(str, [f"r{i}", *x.tolist(), *y.tolist()])) for i, (x, y) in enumerate(zip(X, Y, strict=True))]
    Path("digits.csv").write_text("\n".join([header, *rows]))
    (one,) = found("digits.csv", "--labels", "a,b,c", "--conditional")
    expected = conditional_dependence(Dataset(X.astype(float), Y, ("a", "b", "c"), "digits"))
    assert one["conditional_dependence"]["total"] == pytest.approx(expected.total)
    assert one["n_features"] == 10


def test_features_need_names(folder):
    Path("nameless.csv").write_text("1,0,1\n0,1,1\n")
    assert_fails("nameless.csv has no names of columns", "nameless.csv", "--labels", 1, "--conditional")


def test_lists_of_tags_are_described(folder):
    Path("tags.csv").write_text("id;tags\n1;sea, sky\n2;sky\n3;\n4;sky, sea\n")
    (_, _, labels), _ = tables(output("tags.csv", "--sep", ";", "--tag-sep", ","))
    assert labels[1:] == tables(output("photos.arff"))[0][2][1:]


def test_labels_that_never_occur(folder):
    (_, _, labels), _ = tables(output("labels.csv"))
    assert labels[3] == ["car", "0", "0.0%", "-", "-", "0.000"]


def test_labels_without_names_are_counted_from_1(folder):
    np.save("labels.npy", np.eye(3))
    (_, _, labels), _ = tables(output("labels.npy"))
    assert [row[0] for row in labels] == ["label", "1", "2", "3"]


def test_one_label(folder):
    np.save("one.npy", np.array([[0], [1]]))
    (_, more, labels), _ = tables(output("one.npy"))
    assert more[1][-2:] == ["0.000", "0.000"]
    assert labels[1] == ["1", "1", "50.0%", "1.00", "-", "0.000"]


def test_no_labels_at_all(folder):
    np.save("none.npy", np.zeros((4, 2)))
    (_, more, _), _ = tables(output("none.npy"))
    assert more[1] == ["none", "0.000", "100.0%", "-", "-", "0.00", "0.000", "0.000"]


def test_piped_tables_fit_80_columns(folder):
    for line in output("photos.arff", "labels.csv").splitlines():
        assert len(line) <= 80
        assert "\x1b" not in line


def test_a_narrow_terminal_loses_no_numbers(folder, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    plain = re.sub(r"\x1b\[[0-9;]*m", "", run("photos.arff", columns=30).stdout)
    lines = [line.split() for line in plain.splitlines()]
    for row in (["data", "set", "photos"], ["cardinality", "1.25"], ["CVIR", "0.28"], ["instances", "2", "3"]):
        assert row in lines


def test_odd_names_are_shown_not_obeyed(folder):
    Path("odd.csv").write_text("[red]sea,sky\x1b[31m\n1,0\n0,1\n")
    text = output("odd.csv")
    assert "[red]sea" in text
    assert "sky\\x1b[31m" in text


@pytest.mark.parametrize("command", ["emotions", "emotions scene yeast"])
def test_the_examples_of_the_docs_are_true(datasets_folder, folder, monkeypatch, command):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    lines = [line.rstrip() for line in output(*command.split()).splitlines()]
    assert "\n".join([f"$ choral describe {command}", *lines, "```"]) in page


# What is described


def test_a_packed_file(folder):
    Path("packed.arff.gz").write_bytes(gzip.compress(ARFF.encode()))
    packed, plain = found("packed.arff.gz", "photos.arff")
    assert packed == plain | {"name": "packed"}


@pytest.mark.parametrize("labels", ["2", "mulan.xml"])
def test_which_attributes_are_labels(folder, labels):
    Path("plain.arff").write_text(ARFF.replace("'photos: -C 2'", "photos"))
    Path("mulan.xml").write_text('<labels><label name="sea"></label><label name="sky"></label></labels>')
    (plain,) = found("plain.arff", "--labels", labels)
    assert plain == found("photos.arff")[0] | {"name": "plain"}


def test_a_data_set_of_the_paper(datasets_folder, folder, monkeypatch):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    (size, _, labels), _ = tables(output("emotions"))
    assert size[1] == ["emotions", "593", "72", "6", "0.0101", "27", "1.87"]
    assert labels[1][:3] == ["amazed-suprised", "173", "29.2%"]


def test_ids_are_no_labels(folder):
    Path("ids.csv").write_text("image,sea\nfirst,1\nsecond,0\n")
    (described,) = found("ids.csv", "--id", "image")
    assert [label["name"] for label in described["labels"]] == ["sea"]


def test_header(folder):
    Path("numbers.csv").write_text("101,102\n1,0\n0,1\n")
    (described,) = found("numbers.csv", "--header")
    assert [label["name"] for label in described["labels"]] == ["101", "102"]


def test_conditional_dependence(folder):
    dataset = load_digits_segments()
    expected = conditional_dependence(dataset)
    text = output("digits-segments", "--conditional", "--csv", "out.csv")
    (_, more, labels), notes = tables(text)
    assert more[0][-1] == labels[0][-1] == "gain"
    assert more[1][-1] == f"{expected.total:.3f} ± {expected.standard_error:.3f}"
    assert [row[-1] for row in labels[1:]] == [f"{gain:.3f}" for gain in expected.gains]
    assert "Gain is how much better a label is predicted if the true labels before it are known" in " ".join(
        notes.split()
    )
    (row,) = read_csv("out.csv")
    assert float(row["conditional_total"]) == expected.total
    assert float(row["conditional_standard_error"]) == expected.standard_error


# Outputs


def test_json_holds_everything(folder):
    photos, labels = found("photos.arff", "labels.csv")
    assert labels == {
        **describe(np.loadtxt("labels.csv", delimiter=",", skiprows=1), name="labels").to_dict(),
        "labels": [
            {"name": "sea", "count": 2, "imbalance_ratio": 1.5},
            {"name": "sky", "count": 3, "imbalance_ratio": 1.0},
            {"name": "car", "count": 0, "imbalance_ratio": None},
        ],
        "conditional_dependence": None,
    }
    assert photos["n_features"] == 2
    assert photos["cramers_v"][0][1] == pytest.approx(1 / np.sqrt(3))


def test_json_of_conditional_dependence(folder):
    (described,) = found("digits-segments", "--conditional")
    assert described["conditional_dependence"] == conditional_dependence(load_digits_segments()).to_dict()


def test_csv_has_a_line_for_each_data_set(folder):
    output("photos.arff", "labels.csv", "--csv", "out.csv")
    photos, labels = read_csv("out.csv")
    assert (photos["name"], photos["n_features"], photos["cardinality"]) == ("photos", "2", "1.25")
    assert (labels["name"], labels["n_features"], labels["conditional_total"]) == ("labels", "", "")


@pytest.mark.parametrize("name, start", [("out.png", b"\x89PNG"), ("out.svg", b"<?xml"), ("out.pdf", b"%PDF")])
def test_plot(folder, name, start):
    pytest.importorskip("matplotlib")
    output("photos.arff", "--plot", name)
    assert Path(name).read_bytes().startswith(start)


def test_progress_is_told_of_reading_and_of_fitting(folder, monkeypatch):
    from contextlib import contextmanager

    told = []

    @contextmanager
    def spy():
        yield lambda *what: told.append(what)

    monkeypatch.setattr("choral.cli.describe.progress_bar", spy)
    output("digits-segments", "--conditional")
    assert told[0] == (0, 1, "reading digits-segments")
    assert told[-1] == (35, 35, "fitting chains to digits-segments")


def test_process(folder):
    command = [sys.executable, "-m", "choral", "describe", "labels.csv"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert "cardinality" in done.stdout


def test_help():
    text = run("--help").stdout
    assert "describe [OPTIONS]" in text  # what follows depends on the version of typer
    assert "NAME|FILE" in text
    for option in ("--labels", "--conditional", "--json", "--csv", "--plot", "--id", "--header", "--sep", "--tag-sep"):
        assert option in text
    assert "describe" in CliRunner().invoke(app, ["--help"]).stdout


# What is wrong


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((), "Missing argument"),
        (("birdsong",), "Expected the name of a data set (digits-segments, birds, "),
        (("birdsong",), "or a file that ends in .arff, .csv, .tsv, .csv.gz, .tsv.gz, .npy, .npz, .parquet; got"),
        (("missing.csv",), "missing.csv does not exist; expected a file."),
        (("missing.arff",), "missing.arff"),
        (("photos.arff", "--labels", "9"), "photos.arff"),
        (("digits-segments", "--labels", "2"), "--labels is for an ARFF file or a table with names; got none."),
        (("labels.npy", "--labels", "2"), "--labels is for an ARFF file or a table with names; got none."),
        (("labels.csv", "--labels", "4"), "labels.csv has 3 columns besides ids and weights; labels must be a number"),
        (("labels.csv", "--labels", "0"), "or below 0 for the last ones; got 0."),
        (("labels.csv", "--labels", "see"), "labels.csv has no column 'see'; did you mean 'sea'?"),
        (("labels.csv", "--labels", "2", "--no-header"), "labels.csv has no header, so no names of columns to choose"),
        (("labels.csv", "--labels", "3", "--conditional"), "--conditional needs features; all columns of labels.csv"),
        (("features.csv",), "column 'place': expected a number; got 'shore'. If it is no label, --labels says which"),
        (
            ("light.csv",),
            "column 'light': expected 0 or 1; got 0.9. If it is no label, --labels says which columns",
        ),
        (("features.csv", "--labels", "2"), "features.csv, line 2, column 'light': expected 0 or 1; got 0.9.\n"),
        (("photos.arff", "--sep", ";"), "--sep is for a file of labels; got none."),
        (("photos.arff", "--tag-sep", ";"), "--tag-sep is for a file of labels; got none."),
        (("photos.arff", "--id", "name"), "--id is for a file of labels; got none."),
        (("photos.arff", "--no-header"), "--header/--no-header is for a file of labels; got none."),
        (("labels.csv", "--id", "name"), "labels.csv has no column 'name' for the ids; it has 'sea', 'sky', 'car'."),
        (("photos.arff", "labels.csv", "--plot", "out.png"), "--plot draws one data set; got 2."),
        (("labels.csv", "--conditional"), "--conditional needs features; labels.csv has labels alone (if other"),
        (("photos.arff", "--conditional"), "cv must be at most the number of instances, 4; got 5 folds."),
        (("photos.arff", "--csv", "photos.arff"), "photos.arff is an input or named twice"),
        (("labels.csv", "--csv", "no/out.csv"), "no/out.csv cannot be written: its folder does not exist."),
        (("labels.csv", "--plot", "out.gif"), "--plot must name a file that ends in .png, .svg, .pdf; got 'out.gif'."),
    ],
)
def test_one_line_for_whatever_is_wrong(folder, arguments, message):
    assert_fails(message, *arguments)
    assert sorted(path.name for path in folder.iterdir()) == ["features.csv", "labels.csv", "light.csv", "photos.arff"]


def test_an_arff_file_that_does_not_name_its_labels(folder):
    Path("plain.arff").write_text("@relation plain\n@attribute a {0,1}\n@data\n1\n")
    assert_fails("plain.arff: nothing says which attributes are labels; expected -C in @relation, ", "plain.arff")
    assert_fails("a file plain.xml beside it, or --labels.", "plain.arff")


def test_values_that_are_no_labels(folder):
    Path("bad.csv").write_text("sea,sky\n1,0\n0,3\n")
    assert_fails("bad.csv, line 3, column 'sky': expected 0 or 1; got 3", "bad.csv")


def test_outputs_are_checked_before_the_reading(folder, monkeypatch):
    monkeypatch.setattr("choral.cli.describe._read_input", lambda *_: pytest.fail("read too early"))
    assert_fails("no/out.csv cannot be written", "photos.arff", "--csv", "no/out.csv")


def test_a_failure_leaves_no_output(folder):
    assert_fails("missing.csv does not exist", "photos.arff", "missing.csv", "--csv", "out.csv")
    assert not Path("out.csv").exists()
