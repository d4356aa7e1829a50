"""Files as people have them, through the commands: what is read, what is noted, and the remedy in each error."""

import gzip
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

TRUE = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
PRED = np.array([[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]])  # three labels wrong: Hamming 3/12, subset 3/4


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with a truth and a prediction, plain."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    write("true.csv", TRUE)
    write("pred.csv", PRED)
    return tmp_path


def write(name, matrix, *, sep=",", header="a,b,c", index=None, cell=str):
    rows = [[cell(value) for value in row] for row in matrix.tolist()]
    if index is not None:
        rows = [[str(number), *row] for number, row in zip(index, rows, strict=True)]
    Path(name).write_text("".join(sep.join(row) + "\n" for row in [header.split(","), *rows]))


def run(*arguments, columns=200):
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": str(columns)})


def losses(*arguments):
    """The losses of the first model at Hamming and subset 0/1 loss, and what stands on standard error."""
    result = run("evaluate", *arguments, "--json", "--bootstrap", 0)
    assert result.exit_code == 0, result.output
    first, *_ = json.loads(result.stdout)["models"].values()
    return [round(first["losses"][i], 6) for i in (0, -1)], result.stderr


def assert_fails(message, *arguments):
    assert_refused(run(*arguments), message)


def assert_fails_after_notes(message, *arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    *notes, error = result.stderr.splitlines()
    assert all(note.startswith("note: ") for note in notes)
    assert error.startswith("choral: error: ")
    assert message in error


def test_the_index_of_pandas_is_ids_with_a_note(folder):
    write("true.csv", TRUE, header=",a,b,c", index=[7, 8, 9, 5])
    write("pred.csv", PRED[::-1], header="Unnamed: 0,a,b,c", index=[5, 9, 8, 7])
    found, notes = losses("true.csv", "pred.csv")
    assert found == [0.25, 0.75]
    assert notes == (
        "note: the unnamed first column of true.csv is taken for row ids.\n"
        "note: the unnamed first column of pred.csv is taken for row ids.\n"
    )


def test_the_index_of_pandas_beside_files_without(folder):
    write("true.csv", TRUE, header=",a,b,c", index=range(4))
    np.save("pred.npy", PRED)
    assert losses("true.csv", "pred.npy")[0] == [0.25, 0.75]
    write("true.csv", TRUE, header=",a,b,c", index=range(7, 11))
    hint = "Give ids to both files, or to none if their rows are in the same order."
    assert_fails_after_notes(f"true.csv has ids, pred.npy has none. {hint}", "evaluate", "true.csv", "pred.npy")
    write("pred.csv", PRED, header=",a,b,c", index=range(4))
    hint = "If the rows are in the same order, leave out the unnamed ids of both."
    assert_fails_after_notes(hint, "evaluate", "true.csv", "pred.csv")


@pytest.mark.parametrize("sep", [";", "\t", "|"])
def test_separators(folder, sep):
    write("pred.csv", PRED, sep=sep)
    assert losses("true.csv", "pred.csv") == ([0.25, 0.75], "")
    said = {"\t": "tab"}.get(sep, sep)
    write("true.csv", TRUE, sep=sep)
    for word in (said, r"\t") if said == "tab" else (said,):
        assert losses("true.csv", "pred.csv", "--sep", word) == ([0.25, 0.75], "")
    hint = f"separates the cells, say --sep {sep!r}."
    assert_fails(hint, "evaluate", "true.csv", "pred.csv", "--sep", ":")


@pytest.mark.parametrize("option", ["--sep", "--tag-sep"])
@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "true.csv", "pred.csv"),
        ("tune", "true.csv", "pred.csv"),
        ("decide", "true.csv"),
        ("describe", "true.csv"),
    ],
)
def test_what_is_no_separator(folder, option, command):
    assert_fails(
        f"{option} must be one character, neither a quote nor the end of a line; got '::'.", *command, option, "::"
    )


def test_decimal_commas(folder):
    write("pred.csv", PRED * 0.5, sep=";", cell=lambda value: str(value).replace(".", ","))
    message = (
        "pred.csv, line 2, column 'a': expected a number; got '0,0'. Numbers need a decimal point, not a comma: 0.0."
    )
    assert_fails(message, "evaluate", "true.csv", "pred.csv")


@pytest.mark.parametrize("words", [("no", "yes"), ("False", "True"), ("NO", "YES")])
def test_words(folder, words):
    write("true.csv", TRUE, cell=lambda value: words[value])
    write("pred.csv", PRED, cell=lambda value: words[value])
    assert losses("true.csv", "pred.csv") == ([0.25, 0.75], "")


def test_empty_cells_are_missing_labels_of_the_truth_alone(folder):
    holes = TRUE.astype(float)
    holes[0, 0] = holes[3, 2] = np.nan
    write("holes.csv", holes, cell=lambda value: "" if np.isnan(value) else str(int(value)))
    expected = choral.evaluate(holes, {"pred": PRED}, n_bootstrap=0).curves["pred"].losses
    assert losses("holes.csv", "pred.csv")[0] == pytest.approx([expected[0], expected[-1]], abs=1e-6)
    message = (
        "holes.csv, line 2, column 'a': expected a number; the cell is empty. Only true labels that predictions are"
    )
    assert_fails(message, "evaluate", "true.csv", "holes.csv")
    assert_fails(message, "decide", "--scores", "holes.csv")
    assert_fails(message, "describe", "holes.csv")


def test_empty_cells_of_a_truth_to_learn_from(folder):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=(80, 3))
    write("scores.csv", np.clip(true * 0.4 + rng.random((80, 3)) * 0.6, 0, 1))
    texts = true.astype(str)
    texts[0, 0] = ""
    write("true.csv", texts)
    result = run("tune", "true.csv", "scores.csv", "--thresholds", "--loss", "hamming")
    assert result.exit_code == 0, result.output
    assert "80 rows, 3 labels" in result.stdout


def test_packed_files(folder):
    for name in ("true", "pred"):
        Path(f"{name}.csv.gz").write_bytes(gzip.compress(Path(f"{name}.csv").read_bytes()))
    result = run("evaluate", "true.csv.gz", "pred.csv.gz", "--bootstrap", 0)
    assert "pred " in result.stdout  # named without both suffixes
    assert "*0.2500" in result.stdout
    Path("pred.csv.gz").write_bytes(Path("pred.csv.gz").read_bytes()[:-9])
    assert_fails("pred.csv.gz is not a readable gzip file: ", "evaluate", "true.csv.gz", "pred.csv.gz")


def test_packed_parts(folder):
    for name, matrix in (("true", TRUE), ("pred", PRED)):
        Path(name).mkdir()
        write(f"{name}/1.csv", matrix[:2])
        write("rest.csv", matrix[2:])
        Path(f"{name}/2.csv.gz").write_bytes(gzip.compress(Path("rest.csv").read_bytes()))
    Path("pred/2.csv").write_bytes(gzip.decompress(Path("pred/2.csv.gz").read_bytes()))
    Path("pred/2.csv.gz").unlink()
    assert losses("true", "pred") == ([0.25, 0.75], "")
    write("pred/2.tsv", PRED[2:], sep="\t")
    assert_fails("pred holds a part twice: 2.csv and 2.tsv.", "evaluate", "true", "pred")


def test_parquet_folders(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for name, matrix, tail in (("true", TRUE, "x"), ("pred", PRED, "y")):
        Path(f"{name}.parquet").mkdir()
        for part in range(2):
            columns = dict(zip("abc", matrix[2 * part : 2 * part + 2].T, strict=True))
            parquet.write_table(pyarrow.table(columns), f"{name}.parquet/part-0000{part}-{tail}.snappy.parquet")
        Path(f"{name}.parquet/_SUCCESS").touch()
    assert losses("true.parquet", "pred.parquet") == ([0.25, 0.75], "")
    assert losses("true.csv", "pred.parquet") == ([0.25, 0.75], "")
    assert losses("true.parquet", "pred.csv") == ([0.25, 0.75], "")
    assert run("evaluate", "true.csv", "pred.parquet", "--bootstrap", 0).stdout.splitlines()[2].startswith("pred ")
    message = "--dask is for folders of parts; true.parquet has parts of other names than PRED, or empty ones."
    assert_fails(message, "evaluate", "true.parquet", "pred.parquet", "--dask", "local")


def test_lists_of_tags(folder):
    Path("true.csv").write_text("song,tags\n1,rock|pop\n2,\n3,pop\n")
    Path("pred.csv").write_text("song,tags\n3,pop\n2,jazz\n1,rock|pop\n")
    found, notes = losses("true.csv", "pred.csv", "--id", "song")
    assert found == [round(1 / 9, 6), round(1 / 3, 6)]  # jazz, which the truth never has, is one label of three
    assert notes == (
        "note: column 'tags' of true.csv is read as lists of tags, separated by '|'.\n"
        "note: column 'tags' of pred.csv is read as lists of tags, separated by '|'.\n"
    )
    assert losses("true.csv", "pred.csv", "--id", "song", "--tag-sep", "|") == (found, "")
    Path("true.csv").write_text("song,tags\n1,rock pop\n2,pop\n")
    _, notes = losses("true.csv", "true.csv", "--id", "song")
    assert "one in a cell; if blanks separate them, say --tag-sep ' '." in notes


def test_tags_and_scores_of_their_labels(folder):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=(60, 3))
    tags = ["|".join(np.array(["a", "b", "c"])[row == 1]) for row in true]
    Path("tags.csv").write_text("id,tags\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(tags)))
    write("labels.csv", true, header="id,a,b,c", index=range(60))
    write("scores.csv", rng.random((60, 3)).round(3), header="id,a,b,c", index=range(60))
    for command in (("evaluate", "--soft", "--bootstrap", 0, "--no-tune"), ("tune", "--thresholds", "--loss", "f1")):
        name, *options = command
        of_tags = run(name, "tags.csv", "scores.csv", *options, "--tag-sep", "|")
        assert of_tags.exit_code == 0, of_tags.output
        assert of_tags.stdout == run(name, "labels.csv", "scores.csv", *options).stdout


def test_votes_of_tags(folder):
    Path("p.csv").write_text("id,tags\n1,a|b\n2,b\n")
    Path("q.csv").write_text("id,tags\n1,a\n2,b|c\n")
    result = run("decide", "--votes", "p.csv", "q.csv", "--loss", "hamming", "--json", "--tag-sep", "|")
    found = json.loads(result.stdout)
    assert found["labels"] == ["a", "b", "c"]
    assert found["mean_risk"] == pytest.approx(1 / 6)  # one of three labels is uncertain in each row


def test_numbers_as_tags_are_announced(folder):
    Path("codes.csv").write_text("id,codes\nx,12|7\ny,7\n")
    assert_fails("If this column holds lists of tags, say --tag-sep '|'.", "evaluate", "codes.csv", "codes.csv")
    assert losses("codes.csv", "codes.csv", "--tag-sep", "|")[0] == [0, 0]


def test_a_column_that_looks_like_ids(folder):
    write("true.csv", TRUE, header="song,a,b,c", index=["w", "x", "y", "z"])
    message = (
        "true.csv, line 2, column 'song': expected a number; got 'w'. If this column names the rows, say --id 'song'."
    )
    assert_fails(message, "evaluate", "true.csv", "true.csv")
    write("true.csv", TRUE, header="song,a,b,c", index=[11, 12, 13, 14])
    message = "line 2, column 'song': expected 0 or 1; got 11.0. If this column names the rows, say --id 'song'."
    assert_fails(message, "evaluate", "true.csv", "true.csv")
    assert losses("true.csv", "true.csv", "--id", "song")[0] == [0, 0]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "p.csv is empty; expected a row for each sample."),
        (b"a,b,c\n", "p.csv has a header but no rows; expected a row for each sample."),
        (
            "a,b,é\n0,1,1\n".encode("latin-1"),
            "p.csv is not UTF-8 text: invalid continuation byte, byte 0xe9. Save it as",
        ),
        ("a,b,c\n0,1,1\n".encode("utf-16"), "p.csv is not UTF-8 text: invalid start byte, byte 0xff. Save it as UTF-8"),
        (b"a,b,c\n0,1\n", "line 2: expected 3 columns; got 2. A cell that holds the separator ',' needs quotes; for"),
        (b"a,b,c\n0,1,nan\n", "p.csv, line 2, column 'c': expected a number in [0, 1]; got nan."),
        (b"a,b,c\n0,1,1\n", "p.csv has 1 row, true.csv has 4."),
        (b"id,a,b,c\n1,0,1,1\n1,0,0,0\n", "ids must be distinct; '1' occurs 2 times. Each row needs an id of its own."),
        (
            b",a,b\n1,0,1\n1,0,1\n",
            "the first column has no name and holds nothing but 0 and 1: it may be labels or row",
        ),
        (b'a,b,c\n0,"1,1\n', "line 2: not readable as a table: unexpected end of data. Is a quote not closed?"),
        (b"tags\n\"['a', 'b']\"\n", "a printed list. Write the tags with a separator between them; in pandas, frame"),
    ],
)
def test_one_line_with_the_remedy(folder, content, message):
    Path("p.csv").write_bytes(content)
    assert_fails(message, "evaluate", "true.csv", "p.csv")


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_marks_and_line_ends_of_other_systems(folder, start, end):
    text = 'id;"a;x";b' + end + "2;0;1" + end + "1;1;0" + end
    Path("t.csv").write_bytes(start + text.encode())
    assert losses("t.csv", "t.csv") == ([0, 0], "")
