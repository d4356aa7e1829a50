"""Files as people have them: pandas' index, other separators, words, missing labels, packed files, tags, parts."""

import csv
import gzip
import time
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from choral.label_files import (
    ComparedOptions,
    ComparedPaths,
    LabelTable,
    align,
    align_all,
    are_in_parts,
    check_scores,
    check_truth,
    label_stem,
    list_parts,
    read_compared,
    read_labels,
)
from choral.label_files.delimited import _find_separator
from choral.label_files.tags import make_matrix, split_tags

LABELS = np.array([[0, 1, 1], [1, 0, 0]])


@pytest.fixture(scope="module", autouse=True)
def usual_cell_size():
    """Cells may be as long as when Python starts: SciPy's reader of ARFF files lifts the limit for the process."""
    before = csv.field_size_limit(131072)
    yield
    csv.field_size_limit(before)


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def assert_refused(path, message, **options):
    with pytest.raises(ValueError, match=message) as caught:
        read_labels(path, **options)
    assert len(str(caught.value).splitlines()) == 1


# A first column without a name


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_unnamed_first_column_is_ids(write, name):
    path = write("t.csv", f"{name},a,b\n17,0,1\n5,1,0\n")
    table = read_labels(path)
    assert (table.ids, table.labels) == (("17", "5"), ("a", "b"))
    assert table.notes == (f"the unnamed first column of {path} is taken for row ids.",)
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0]])


@pytest.mark.parametrize("options", [{}, {"id_column": "id"}])
def test_unnamed_first_column_beside_ids_is_left_out(write, options):
    path = write("t.csv", ",id,a\n0,x,1\n1,y,0\n")
    table = read_labels(path, **options)
    assert (table.ids, table.labels) == (("x", "y"), ("a",))
    assert table.notes == (f"the unnamed first column of {path} is left out, since another column names the rows.",)
    assert not table.ids_unnamed


def test_unnamed_first_column_that_is_named_by_the_caller(write):
    table = read_labels(write("t.csv", "Unnamed: 0,a\n7,1\n"), id_column="Unnamed: 0")
    assert (table.ids, table.notes) == (("7",), ())


def test_numbers_as_names_beside_an_index(write):
    assert read_labels(write("t.csv", ",0,1,2\n0,1,0,1\n")).labels == ("0", "1", "2")
    assert read_labels(write("t.csv", "Unnamed: 0,0,1\n0,1,0\n")).labels == ("0", "1")
    assert_refused(write("t.csv", ",0,1\n0,1,0\n"), r"may be a header or labels; say header=True or header=False")


@pytest.mark.parametrize(
    "cells", ["1", "1\n0", "0\n1\n1", "yes\nNo\nyes", "0.0\n1.0\n1.0"], ids=lambda cells: cells.replace("\n", "-")
)
def test_unnamed_first_column_of_labels(write, cells):
    content = ",a\n" + "".join(f"{cell},1\n" for cell in cells.split("\n"))
    message = (
        r"t\.csv: the first column has no name and holds nothing but 0 and 1: it may be labels or row ids\. Name it"
    )
    assert_refused(write("t.csv", content), message)


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_rows_that_are_counted_are_ids(write, n_rows):
    content = ",a\n" + "".join(f"{row},1\n" for row in range(n_rows))
    assert read_labels(write("t.csv", content)).ids == tuple("012"[:n_rows])


def test_unnamed_ids_that_occur_twice(write):
    message = r"the first column has no name, so it is taken for row ids; but '7' occurs 2 times\. Name it in the"
    assert_refused(write("t.csv", ",a\n7,1\n7,0\n"), message)


def test_counted_rows_need_no_partner(write):
    truth = read_labels(write("t.csv", ",a\n0,1\n1,0\n"))
    bare = LabelTable(np.array([[3], [4]]), source="p.npy")
    np.testing.assert_array_equal(align(truth, bare).values, [[3], [4]])
    np.testing.assert_array_equal(align(bare, truth).values, [[1], [0]])
    other = read_labels(write("u.csv", ",a\n5,1\n6,0\n"))
    with pytest.raises(ValueError, match=r"u\.csv has ids, p\.npy has none\. Give ids to both files, or to none if"):
        align(other, bare)
    with pytest.raises(ValueError, match=r"If the rows are in the same order, leave out the unnamed ids of both\."):
        align(other, truth)


def test_counted_rows_in_another_order_are_matched_by_number(write):
    truth = read_labels(write("t.csv", ",a\n0,1\n1,0\n2,0\n"))
    shuffled = read_labels(write("p.csv", ",a\n2,0\n0,1\n1,0\n"))
    np.testing.assert_array_equal(align(truth, shuffled).values, truth.values)


# Separators


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", ["id{0}a{0}b\n", '"id"{0}"a, b; c|d\t"{0}b\n'])
def test_separators_are_found(write, sep, header):
    content = header.format(sep) + sep.join(["x", "0", "1"]) + "\n" + sep.join(["y", "1", ""]) + "\n"
    table = read_labels(write("t.csv", content), allow_missing=True)
    assert table.ids == ("x", "y")
    np.testing.assert_array_equal(table.values, [[0, 1], [1, np.nan]])


@pytest.mark.parametrize("sep", [",", ";", "\t", "|"])
def test_separators_are_found_without_a_header(write, sep):
    content = "\r\n".join(sep.join(map(str, row)) for row in LABELS)
    np.testing.assert_array_equal(read_labels(write("t.csv", content)).values, LABELS)


@pytest.mark.parametrize(
    ("head", "sep"),
    [
        ("0,5;0,25\n1,0;0,75\n", ";"),  # decimal commas
        ("name, first;a;b\nDoe, Jane;1;0\nRoe, John;0;1\n", ";"),
        ("id,tags\n1,a|b\n2,c|d\n", ","),
        ("id;tags\n1;a, b\n2;c, d\n", ";"),
        ("tags\na|b\nb|c\n", ","),  # one column
        ("a|x,b|x,c\n0,1,0\n", ","),
        ("a;b;c\n0;1\n0;1;1\n", ";"),  # a row too short is told later
        ("a\n0\n", ","),
        ("", ","),
        ('"a;b', ","),
        ("a;b;c", ";"),
        ("x" * 200_000 + ";y", ","),  # longer than a cell may be
    ],
)
def test_find_separator(head, sep):
    assert _find_separator(head) == sep


@given(
    st.lists(st.lists(st.text('a1,;|\t"\n é', max_size=6), min_size=3, max_size=3), min_size=1, max_size=5),
    st.sampled_from(",;\t|"),
)
def test_separators_in_quotes_never_count(rows, sep):
    quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
    assert _find_separator("".join(sep.join(row) + "\n" for row in quoted)) == sep


def test_separator_that_the_caller_names(write):
    path = write("t.csv", "a b\n0 1\n1 1\n")
    assert read_labels(path, sep=" ").labels == ("a", "b")
    assert read_labels(write("t.tsv", "a;b\n0;1\n"), sep=";").labels == ("a", "b")
    assert_refused(write("u.csv", "a;b\n0;1\n"), r"'a;b': expected a number; got '0;1'\. If ';' sep.*sep=';'", sep=",")


@pytest.mark.parametrize("name", ["sep", "tag_sep"])
@pytest.mark.parametrize("text", ["", "::", '"', "\n", "\0"])
def test_what_is_no_separator(write, name, text):
    message = rf"^{name} must be one character, neither a quote nor the end of a line; got"
    assert_refused(write("t.csv", "a,b\n0,1\n"), message, **{name: text})


def test_decimal_commas_are_named(write):
    message = r"line 2, column 'b': expected a number; got '0,25'\. Numbers need a decimal point, not a comma: 0\.25\."
    assert_refused(write("t.csv", "a;b\n1;0,25\n"), message)
    assert_refused(write("t.csv", "id;b\n1;0,25\n2;0,5\n"), message)  # no tags
    assert_refused(write("t.csv", "id;b\n1;0,25\n2;x\n"), message)


def test_blanks_between_numbers(write):
    message = r"expected a number; got '0\.0 1\.0'\. If ' ' separates the cells, say sep=' '\."
    assert_refused(write("t.csv", "1.0 0.0\n0.0 1.0\n"), message)


def test_rows_of_other_widths(write):
    message = r"line 2: expected 2 columns; got 3\. A cell that holds the separator ',' needs quotes; for another"
    assert_refused(write("t.csv", "a,b\n0,1,1\n"), message)
    assert_refused(write("t.csv", "a;b;c\n0;1;1\n1;1\n"), r"';' needs quotes; for another separator, say sep=','\.")
    assert_refused(write("t.csv", "score\n0,5\n"), r"line 2: expected 1 column; got 2\.")
    assert_refused(write("t.csv", 'a,b\n0,"1\n'), r"unexpected end of data\. Is a quote not closed\?")


# Words, and missing labels


@pytest.mark.parametrize("words", [("yes", "no"), ("Yes", "No"), ("YES", "NO"), ("True", "False"), (" yEs ", "nO")])
def test_words_are_labels(write, words):
    yes, no = words
    table = read_labels(write("t.csv", f"a,b\n{yes},{no}\n1,{yes}\n"))
    np.testing.assert_array_equal(table.values, [[1, 0], [1, 1]])
    assert table.values.dtype == np.uint8


@pytest.mark.parametrize("empty", ["", "  ", "nan", "NA", "na"])
def test_empty_cells_are_missing_labels(write, empty):
    table = read_labels(write("t.csv", f"a,b\n0,{empty}\nyes,1\n"), allow_missing=True)
    np.testing.assert_array_equal(table.values, [[0, np.nan], [1, 1]])
    check_truth(table, may_be_missing=True)
    with pytest.raises(ValueError, match=r"line 2, column 'b': expected 0 or 1; got nan\."):
        check_truth(table)


def test_missing_labels_without_a_header(write):
    path = write("t.csv", "1,,0\n,1,0\n")
    np.testing.assert_array_equal(read_labels(path, allow_missing=True).values, [[1, np.nan, 0], [np.nan, 1, 0]])


def test_empty_cells_of_predictions_have_a_place(write):
    truth, pred = write("t.csv", "a,b\n1,\n0,1\n"), write("p.csv", "a,b\n1,0\n1,\n")
    message = r"p\.csv, line 3, column 'b': expected a number; the cell is empty\. Only true labels that predictions"
    with pytest.raises(ValueError, match=message):
        read_compared(ComparedPaths(truth, {"p": pred}), ComparedOptions())
    assert_refused(write("p.csv", "a,b\n1,NA\n"), r"expected a number; got 'NA'\. Only true labels")
    both = read_compared(ComparedPaths(truth, {"t": write("p.csv", "a,b\n1,0\n1,1\n")}), ComparedOptions())
    np.testing.assert_array_equal(both[0].values, [[1, np.nan], [0, 1]])
    np.testing.assert_array_equal(both[1]["t"], [[1, 0], [1, 1]])


# Columns that look like ids


@pytest.mark.parametrize(
    ("content", "has_hint"),
    [
        ("song,a,b\nx,1,0\ny,0,1\n", True),
        ("song,a,b\nx,1,0\nx,0,1\n", False),  # not all different
        ("song,a,b\nx,1,0\n7,0,1\n", False),
        ("id,song,a\n1,x,0\n2,y,0\n", False),  # there are ids
    ],
)
def test_a_column_of_text_may_name_the_rows(write, content, has_hint):
    hint = r" If this column names the rows, say id_column='song'\." if has_hint else ""
    assert_refused(write("t.csv", content), rf"column 'song': expected a number; got 'x'\.{hint}$")


@pytest.mark.parametrize(
    ("values", "has_hint"), [([[7, 1], [8, 0], [9, 1]], True), ([[7, 1], [7, 0], [9, 1]], False), ([[7.5, 1]], False)]
)
def test_a_column_of_whole_numbers_may_name_the_rows(values, has_hint):
    hint = r" If this column names the rows, say id_column='song'\." if has_hint else ""
    table = LabelTable(np.array(values), labels=("song", "a"), source="t.csv")
    for check in (check_truth, check_scores):
        with pytest.raises(ValueError, match=rf"column 'song': expected .*; got 7[.5]*\.{hint}$"):
            check(table)


# Chosen columns


@pytest.mark.parametrize(
    ("labels", "chosen"), [(["b", "a"], "ab"), (2, "ab"), (-1, "c"), (["[ac]"], "ac"), (["*"], "abc")]
)
def test_chosen_labels(write, labels, chosen):
    table = read_labels(write("t.csv", "id,a,b,w,c\nx,0,1,2,1\n"), labels=labels, weight_column="w")
    assert "".join(table.labels) == chosen
    assert table.n_left_out == 3 - len(chosen)
    assert (table.ids, table.weights.tolist()) == (("x",), [2])


def test_columns_that_are_not_chosen_may_hold_anything(write):
    content = "a," + ",".join(f"x{i}" for i in range(9)) + "\n1" + ",text" * 9 + "\n"
    np.testing.assert_array_equal(read_labels(write("t.csv", content), labels=["a"]).values, [[1]])


def test_chosen_labels_need_names(tmp_path, write):
    np.save(tmp_path / "t.npy", LABELS)
    assert_refused(tmp_path / "t.npy", r"arrays have no names, so no columns to choose labels from\.", labels=2)
    assert_refused(write("t.csv", "1,1\n"), r"has no header, so no names of columns to choose labels from\.", labels=2)


# Packed files


@pytest.mark.parametrize(("name", "sep"), [("t.csv.gz", ","), ("T.CSV.GZ", ";"), ("t.tsv.gz", "\t")])
def test_packed_tables(write, name, sep):
    calls = []
    path = write(name, gzip.compress(f"id{sep}a\nx{sep}1\n".encode()))
    table = read_labels(path, progress=lambda *call: calls.append(call))
    assert (table.ids, table.labels, table.values.tolist()) == (("x",), ("a",), [[1]])
    assert calls == [(path.stat().st_size,) * 2]
    assert label_stem(path).lower() == "t"


def test_packed_tables_that_are_damaged(write):
    packed = gzip.compress(b"a,b\n" + b"0,1\n" * 1000)
    assert_refused(write("t.csv.gz", packed[:-9]), r"t\.csv\.gz is not a readable gzip file: Compressed file ended")
    assert_refused(write("t.csv.gz", b"a,b\n0,1\n"), r"t\.csv\.gz is not a readable gzip file: Not a gzipped file")
    broken = packed[:20] + bytes(10) + packed[30:]
    assert_refused(write("t.csv.gz", broken), r"t\.csv\.gz is not a readable gzip file: ")
    assert_refused(write("t.csv.gz", gzip.compress(b"\xff\xff")), r"t\.csv\.gz is not UTF-8 text")


@pytest.mark.parametrize("row", [b"1,1\n", b"0"], ids=["rows", "one cell"])
def test_packed_tables_that_unfold(write, row):
    path = write("t.csv.gz", gzip.compress(row * 2**20))
    message = r"t\.csv\.gz is too large: it unfolds to more bytes than the limit of 500000\."
    assert_refused(path, message, max_bytes=500_000)


# Tags


@pytest.mark.parametrize(
    ("content", "sep"),
    [
        ("id,tags\n1,sea|sky\n2,\n3,sky\n", "|"),
        ("id;tags\n1;sea, sky\n2;\n3;sky\n", ","),
        ("id,tags\n1, sky ;sea; sky;\n2,\n3,sky\n", ";"),
        ('tags,id\n"sky,sea",1\n"",2\n"sky",3\n', ","),
    ],
)
def test_lists_of_tags(write, content, sep):
    path = write("t.csv", content)
    table = read_labels(path)
    assert (table.labels, table.ids, table.tag_sep) == (("sea", "sky"), ("1", "2", "3"), sep)
    np.testing.assert_array_equal(table.values.toarray(), [[1, 1], [0, 0], [0, 1]])
    assert table.notes == (f"column 'tags' of {path} is read as lists of tags, separated by {sep!r}.",)
    assert read_labels(path, tag_sep=sep).notes == ()


def test_one_tag_in_each_cell(write):
    path = write("t.csv", "id,genre\n1,rock\n2,pop\n")
    table = read_labels(path)
    assert (table.labels, table.tag_sep) == (("pop", "rock"), "")
    assert table.notes == (f"column 'genre' of {path} is read as lists of tags, one in a cell.",)
    path = write("t.csv", "id,genre\n1,rock pop\n2,pop\n")
    assert read_labels(path).notes[0].endswith("tags, one in a cell; if blanks separate them, say tag_sep=' '.")
    assert read_labels(path, tag_sep=" ").labels == ("pop", "rock")


def test_tags_without_ids_and_with_weights(write):
    table = read_labels(write("t.csv", "tags,w\na|b,2\nb,3\n"), weight_column="w")
    np.testing.assert_array_equal(table.values.toarray(), [[1, 1], [0, 1]])
    np.testing.assert_array_equal(table.weights, [2, 3])
    assert read_labels(write("t.csv", "tags\na|b\nb\n")).labels == ("a", "b")


def test_tags_that_are_numbers_must_be_announced(write):
    path = write("t.csv", "id,codes\nx,12|7\ny,7\n")
    hint = r"column 'codes': expected a number; got '12\|7'\. If this column holds lists of tags, say tag_sep='\|'\."
    assert_refused(path, hint)
    assert read_labels(path, tag_sep="|").labels == ("12", "7")
    assert_refused(write("t.csv", "id,a\nx,1\ny,yess\n"), r"column 'a': expected a number; got 'yess'\.$")
    assert_refused(write("t.csv", "id,codes\nx,12|7\ny,7|8\n"), hint)


def test_a_column_without_any_tag(write):
    path = write("t.csv", "id,tags\nx,\n")
    assert_refused(path, r"the cell is empty\..* If this column holds lists of tags, say tag_sep='\|'\.")
    nothing = read_labels(path, tag_sep="|")
    truth = read_labels(write("u.csv", "id,tags\nx,a\n"))
    truth, (prediction,) = align_all(truth, [nothing])
    np.testing.assert_array_equal(prediction.values.toarray(), [[0]])
    with pytest.raises(ValueError, match=r"t\.csv and the files compared with it hold no tags; expected at least"):
        align_all(nothing, [nothing])


@pytest.mark.parametrize("cell", ["['a', 'b']", "{a}", "(a;b)", ' ["a"] '])
def test_printed_lists_are_no_tags(write, cell):
    path = write("t.csv", 'id\ttags\n1\t"{}"\n'.format(cell.replace('"', '""')))
    assert_refused(path, r"column 'tags': expected tags such as sea\|sky; got .*, a printed list\. Write the tags with")


def test_labels_are_the_tags_of_all_files(write):
    truth = write("t.csv", "id,tags\n1,a|b\n2,b\n")
    paths = {
        "p": write("p.csv", "id,tags\n2,zoo|b\n1,a\n"),
        "q": write("q.csv", "b,a,id,zoo,car\n1,1,1,0,0\n1,0,2,0,1\n"),  # columns beside lists
    }
    table, predictions = read_compared(ComparedPaths(truth, paths), ComparedOptions())
    assert table.labels == ("a", "b", "car", "zoo")
    np.testing.assert_array_equal(table.values.toarray(), [[1, 1, 0, 0], [0, 1, 0, 0]])
    np.testing.assert_array_equal(predictions["p"].toarray(), [[1, 0, 0, 0], [0, 1, 0, 1]])
    np.testing.assert_array_equal(predictions["q"], [[1, 1, 0, 0], [0, 1, 1, 0]])


def test_columns_that_lack_a_tag(write):
    paths = ComparedPaths(write("t.csv", "id,tags\n1,a|b\n"), {"p": write("p.csv", "id,a,c\n1,1,0\n")})
    with pytest.raises(ValueError, match=r"p\.csv does not have the labels of .*t\.csv: 1 missing \('b'\)\."):
        read_compared(paths, ComparedOptions())


def test_tags_and_columns_without_names(tmp_path, write):
    np.save(tmp_path / "p.npy", LABELS[:1])
    paths = ComparedPaths(write("t.csv", "tags\na|b|c\n"), {"p": tmp_path / "p.npy"})
    message = r"p\.npy has no names of labels, so the tags of .*t\.csv cannot be matched with them; give it a header\."
    with pytest.raises(ValueError, match=message):
        read_compared(paths, ComparedOptions())


def test_tags_that_were_split_in_two_ways(write):
    paths = ComparedPaths(
        write("t.csv", 'id,tags\n1,"sea, calm|sky"\n'), {"p": write("p.csv", 'id,tags\n1,"sea, calm"\n')}
    )
    message = r"The tags of .*t\.csv look separated by '\|', those of .*p\.csv by ','; .* say tag_sep='\|'\."
    with pytest.raises(ValueError, match=message):
        read_compared(paths, ComparedOptions())
    table, _ = read_compared(paths, ComparedOptions(tag_sep="|"))
    assert table.labels == ("sea, calm", "sky")


def test_many_equal_cells_of_tags_take_little_memory(tmp_path, monkeypatch):
    """A tiny packed file may hold millions of them."""
    monkeypatch.setattr("choral.label_files.delimited.BLOCK_CELLS", 2000)
    n_rows = 100_000
    with gzip.open(tmp_path / "true.csv.gz", "wt") as file:
        file.write("tags\n" + 'sea|sky\n""\nsky\n' * (n_rows // 3))
    tracemalloc.start()
    table = read_labels(tmp_path / "true.csv.gz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.values[:4].toarray().tolist() == [[1, 1], [0, 0], [0, 1], [1, 1]]
    assert table.values.shape == (3 * (n_rows // 3), 2)
    assert peak < 80 * n_rows + 2**21


@given(st.lists(st.lists(st.text("abc é", max_size=3), max_size=4), min_size=1, max_size=6), st.sampled_from("|;,"))
def test_tags_are_the_sets_that_were_written(rows, sep):
    matrix, labels = make_matrix(split_tags([sep.join(row) for row in rows], sep))
    found = [{labels[i] for i in np.flatnonzero(row)} for row in matrix.toarray()]
    assert found == [{tag.strip() for tag in row} - {""} for row in rows]
    assert list(labels) == sorted(set().union(*found))
    matrix.check_format(full_check=True)


def test_many_tags_take_little_memory(write):
    path = write("t.csv", "id,tags\n" + "".join(f"{i},tag{i}|other{i}\n" for i in range(20_000)))
    values = read_labels(path).values
    assert sparse.issparse(values)
    assert (values.shape, values.nnz) == ((20_000, 40_000), 40_000)


@pytest.mark.parametrize(
    "content",
    [
        "tags\n" + "|" * 1_000_000,  # one cell of separators, longer than a cell may be
        "tags\n" + "a|" * 60_000 + "\n",
        "id,tags\n" + '"1""' * 30_000,
        ",".join(["a;b|c"] * 50_000) + "\n",
        "a\n" + "," * 100_000 + "\n",
        "a,b\n0," + "0," * 50_000,
        '"' * 262_143,
    ],
    ids=["separators", "tags", "quotes", "wide", "commas", "decimal", "all quotes"],
)
def test_hostile_text_takes_no_time(write, content):
    start = time.process_time()
    with suppress(ValueError):
        read_labels(write("t.csv", content), allow_missing=True)
    assert time.process_time() - start < 2


# Folders called .parquet


@pytest.fixture
def write_parts(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def write_folder(folder, parts):
        (tmp_path / folder).mkdir()
        for name, columns in parts.items():
            parquet.write_table(pyarrow.table(columns), tmp_path / folder / name)
        (tmp_path / folder / "_SUCCESS").touch()
        return tmp_path / folder

    return write_folder


def test_a_parquet_folder_is_one_table(write_parts):
    parts = {f"part.{i}.parquet": {"a": [i % 2], "b": [i % 3 == 0]} for i in range(12)}
    parts["part.12.parquet"] = {"b": np.array([], dtype=bool), "a": np.array([], dtype=int)}
    table = read_labels(write_parts("t.parquet", parts))
    np.testing.assert_array_equal(table.values, [[i % 2, i % 3 == 0] for i in range(12)])  # 10 comes after 9
    assert table.labels == ("a", "b")


def test_bad_parquet_folders(tmp_path, write_parts):
    path = write_parts("t.parquet", {"1.parquet": {"a": [1]}, "2.parquet": {"b": [1]}})
    assert_refused(path, r"2\.parquet must have the columns of 1\.parquet; it has others\.")
    path = write_parts("u.parquet", {"1.parquet": {"a": np.zeros(100)}, "2.parquet": {"a": np.zeros(100)}})
    assert_refused(path, r"u\.parquet is too large: 16\d\d bytes to read, the limit is 1500", max_bytes=1500)
    (path / "label=1").mkdir()
    assert_refused(path, r"u\.parquet must hold files that end in \.parquet, .*; got the folder 'label=1'\.")
    (path / "label=1").rmdir()
    (path / "notes.txt").touch()
    assert_refused(path, r"u\.parquet must hold files that end in \.parquet, .*; got 'notes\.txt'\.")
    (tmp_path / "v.parquet").mkdir()
    assert_refused(tmp_path / "v.parquet", r"v\.parquet is an empty folder; expected files that end in \.parquet\.")


def test_parquet_folders_come_in_parts_only_where_names_match(tmp_path, write_parts, write):
    part = {"a": [1, 0]}
    truth = write_parts("t.parquet", {"0.parquet": part, "1.parquet": part})
    same = write_parts("p.parquet", {"0.parquet": part, "1.parquet": part})
    spark = write_parts("q.parquet", {"part-0-x.parquet": part, "part-1-x.parquet": part})
    file = write("r.csv", "a\n1\n0\n1\n0\n")
    damaged = write_parts("d.parquet", {"0.parquet": part})
    (damaged / "1.parquet").write_bytes(b"PAR1, or so it says")
    assert are_in_parts(ComparedPaths(truth, {"p": same}))
    assert are_in_parts(ComparedPaths(truth, {"d": damaged}))  # told when it is read
    assert len(list_parts(ComparedPaths(truth, {"p": same}))) == 2
    empty = write_parts("e.parquet", {"0.parquet": {"a": [1, 0, 1, 0]}, "1.parquet": {"a": np.array([], dtype=int)}})
    for predictions in ({"q": spark}, {"p": same, "r": file}, {"e": empty}):
        assert not are_in_parts(ComparedPaths(truth, predictions))
    assert not are_in_parts(ComparedPaths(file, {"p": same}))
    table, predictions = read_compared(ComparedPaths(truth, {"q": spark, "r": file, "e": empty}), ComparedOptions())
    np.testing.assert_array_equal(predictions["q"], predictions["e"])
    np.testing.assert_array_equal(table.values, [[1], [0], [1], [0]])
    np.testing.assert_array_equal(predictions["q"], predictions["r"])


def test_the_index_of_pandas_in_parquet(write_parts):
    path = write_parts("t.parquet", {"0.parquet": {"a": [1, 0], "__index_level_0__": [7, 8]}})
    table = read_labels(path)
    assert (table.ids, table.labels) == (("7", "8"), ("a",))
    assert table.notes == (f"the unnamed index of {path} is taken for row ids.",)


def test_missing_labels_in_parquet(write_parts):
    path = write_parts("t.parquet", {"0.parquet": {"a": [1, None], "b": [None, True], "c": [0.5, None]}})
    np.testing.assert_array_equal(read_labels(path, allow_missing=True).values, [[1, np.nan, 0.5], [np.nan, 1, np.nan]])
    assert_refused(path, r"0\.parquet, column 'a': expected no missing values; row 2 \(counted from 1\) is empty\.")


@pytest.mark.parametrize(
    ("tags", "has_note"), [([["b", "a"], [], None, ["b", ""]], False), (["b|a", "", None, "b"], True)]
)
def test_tags_in_parquet(write_parts, tags, has_note):
    table = read_labels(write_parts("t.parquet", {"0.parquet": {"id": [1, 2, 3, 4], "tags": tags}}))
    assert table.labels == ("a", "b")
    np.testing.assert_array_equal(table.values.toarray(), [[1, 1], [0, 0], [0, 0], [0, 1]])
    assert bool(table.notes) == has_note


def test_tags_in_parquet_that_are_numbers_must_be_announced(write_parts):
    path = write_parts("t.parquet", {"0.parquet": {"id": [1, 2], "tags": ["3|4", "3"]}})
    assert_refused(path, r"column 'tags': expected numbers or booleans; got the type string\.")
    assert read_labels(path, tag_sep="|").labels == ("3", "4")


@pytest.mark.parametrize(
    ("name", "cell"),
    [("id", "x" * 10_000), ("tags", "x" * 10_000), ("tags", ["x" * 10_000])],
    ids=["id", "text", "list"],
)
def test_text_in_parquet_that_unfolds(write_parts, name, cell):
    columns = {"id": [str(i) for i in range(2000)], "tags": ["a"] * 2000, name: [cell] * 2000}  # stored once
    path = write_parts("t.parquet", {"0.parquet": columns})
    assert (path / "0.parquet").stat().st_size < 100_000
    assert_refused(path, r"t\.parquet is too large: 2[01]\d{6} bytes to read, the limit is 1000000", max_bytes=10**6)


@pytest.mark.parametrize(("cell", "size"), [("sea", 153), (["sea"], 453)], ids=["text", "list"])
def test_many_equal_cells_of_tags_in_parquet_count_as_what_they_become(tmp_path, cell, size):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"tags": [cell] * 50_000}), tmp_path / "t.parquet", row_group_size=10_000)
    assert read_labels(tmp_path / "t.parquet").values.shape == (50_000, 1)
    message = rf"t\.parquet is too large: {size * 50_000 + 8 * 50_000} bytes to read, the limit is 1000000"
    assert_refused(tmp_path / "t.parquet", message, max_bytes=10**6)
