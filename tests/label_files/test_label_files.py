"""Label matrices from files: what is read, how tables are aligned, and what is refused in which words."""

import re
import struct
import zipfile

import numpy as np
import pytest
from scipy import sparse

from choral.label_files import LabelTable, align, check_row_weights, check_scores, check_truth, read_labels

LABELS = np.array([[0, 1, 1], [1, 0, 0]])


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file and return its path."""

    def write_file(name, content):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def write_npz(tmp_path):
    def write_file(**arrays):
        np.savez(tmp_path / "labels.npz", **arrays)
        return tmp_path / "labels.npz"

    return write_file


def assert_refused(path, message, **options):
    with pytest.raises(ValueError, match=message) as caught:
        read_labels(path, **options)
    assert path.name in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


# CSV and TSV


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "0,1,1\n1,0,0\n"),
        ("last line open.csv", "0,1,1\n1,0,0"),
        ("windows.csv", "0,1,1\r\n1,0,0\r\n"),
        ("bom.csv", "\ufeff0,1,1\n1,0,0\n"),
        ("blank lines at the end.csv", "0,1,1\n1,0,0\n\n\n"),
        ("words.csv", "false,True,TRUE\n1,0,0\n"),
        ("spaces.csv", "0, 1, 1\n1, 0, 0\n"),
        ("tabs.tsv", "0\t1\t1\n1\t0\t0\n"),
        ("UPPER.CSV", "0,1,1\n1,0,0\n"),
    ],
)
def test_matrix_without_header(write, name, content):
    table = read_labels(write(name, content))
    np.testing.assert_array_equal(table.values, LABELS)
    assert table.values.dtype == np.uint8  # hard labels take one byte each
    assert table.labels is table.ids is table.weights is None


def test_header_ids_and_weights(write):
    path = write("t.csv", '\ufeffsky,id,"sea, calm",w\r\n0,x,1,0.5\r\n1,"y, z",0,2\r\n')
    table = read_labels(path, weight_column="w")
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0]])
    assert table.labels == ("sky", "sea, calm")
    assert table.ids == ("x", "y, z")
    np.testing.assert_array_equal(table.weights, [0.5, 2])
    assert table.source == str(path)


def test_other_id_column(write):
    table = read_labels(write("t.csv", "image,a\n7,1\n8,0\n"), id_column="image")
    assert table.ids == ("7", "8")
    assert table.labels == ("a",)


def test_an_id_column_that_is_not_there(write):
    content = "image,a\n7,1\n8,0\n"
    assert_refused(
        write("t.csv", content), r"t\.csv has no column 'photo' for the ids; it has 'image', 'a'\.", id_column="photo"
    )
    assert_refused(write("u.csv", "0,1,1\n"), r"u\.csv has no names of columns, so no column 'a' for", id_column="a")
    assert read_labels(write("t.csv", "a,b\n0,1\n")).ids is None


def test_numeric_label_names_beside_an_id_column(write):
    assert read_labels(write("t.csv", "id,0,1\nx,1,0\n")).labels == ("0", "1")


@pytest.mark.parametrize("names", ["0,1,2", " 0 , 1 , 2 ", '"0","1","2"'])
def test_numbers_of_the_columns_are_a_header(write, names):
    table = read_labels(write("t.csv", f"{names}\n1,0,0\n"))  # as pandas writes a frame without names
    assert table.labels == ("0", "1", "2")
    np.testing.assert_array_equal(table.values, [[1, 0, 0]])


@pytest.mark.parametrize("first", ["0", "0,1"])
def test_a_first_line_that_may_be_names_or_labels(write, first):
    path = write("t.csv", f"{first}\n{first}\n")
    assert_refused(
        path, rf"The first line of .*t\.csv, {first}, may be a header or labels; say header=True or header=False"
    )
    assert read_labels(path, header=True).values.shape[0] == 1
    assert read_labels(path, header=True).labels == tuple(first.split(","))
    assert read_labels(path, header=False).values.shape[0] == 2
    assert read_labels(path, header=False).labels is None


@pytest.mark.parametrize("first", ["1", "1,0", "0.0,1.0", "0,1,1"])
def test_other_numbers_are_labels(write, first):
    assert read_labels(write("t.csv", f"{first}\n")).labels is None


def test_what_the_caller_says_of_the_header_holds(write):
    assert read_labels(write("t.csv", "101,102\n1,0\n"), header=True).labels == ("101", "102")
    assert_refused(write("u.csv", "a,b\n1,0\n"), r"u\.csv, line 1, column 1: expected a number; got 'a'", header=False)


def test_scores_and_nan_are_numbers(write):
    np.testing.assert_array_equal(read_labels(write("t.csv", "a,b\n0.25,nan\n")).values, [[0.25, np.nan]])


def test_more_rows_than_a_block(write, monkeypatch):
    monkeypatch.setattr("choral.label_files.delimited.BLOCK_CELLS", 3 * 100)
    expected = np.random.default_rng(0).integers(2, size=(250, 2)) * 0.5
    expected[:100] = 1  # a block of hard labels, then scores
    content = "".join(f"{i},{a},{b}\n" for i, (a, b) in enumerate(expected))
    table = read_labels(write("t.csv", "id,a,b\n" + content))
    np.testing.assert_array_equal(table.values, expected)
    assert table.ids[-1] == "249"


@pytest.mark.parametrize(("name", "delimiter"), [("t.csv", ","), ("t.tsv", "\t")])
def test_progress_counts_bytes(write, monkeypatch, name, delimiter):
    monkeypatch.setattr("choral.label_files.delimited.BLOCK_CELLS", 2 * 10_000)
    content = f"0{delimiter}1\n" * 30_000  # three blocks, each a third of the bytes
    calls = []
    read_labels(write(name, content), progress=lambda *call: calls.append(call), header=False)
    done, totals = zip(*calls, strict=True)
    assert totals == (120_000,) * 3
    assert done == pytest.approx([40_000, 80_000, 120_000], abs=8192)  # Python reads ahead that much
    assert done[-1] == 120_000


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"t\.csv is empty; expected a row for each sample\."),
        ("\n\n", r"t\.csv is empty; expected a row for each sample\."),
        ("a,b\n", r"t\.csv has a header but no rows; expected a row for each sample\."),
        ("a,b\n0,1\n0\n", r"t\.csv, line 3: expected 2 columns; got 1\."),
        ("1,1\n0,1,1\n", r"line 2: expected 2 columns; got 3\."),
        ("a,b\n0,1\n0,oui\n", r"line 3, column 'b': expected a number; got 'oui'\."),
        ("1,1\n0,oui\n", r"line 2, column 2: expected a number; got 'oui'\."),
        ("id,a\nx,0\ny,\n", r"line 3, column 'a': expected a number; the cell is empty\."),
        ("a,b\n0,1\n\n1,1\n", r"line 3: the line is empty; only the last lines may be\."),
        ("a,b,a\n0,1,1\n", r"column names must be distinct; 'a' occurs 2 times\."),
        ("id,a\nx,0\nx,1\n", r"ids must be distinct; 'x' occurs 2 times\."),
        ("a,,b\n0,0,0\n", r"column 2 of the header has no name; give it one, or delete the column\."),
        ("id\nx\n", r"must hold rows x labels, at least one of each; got shape \(1, 0\)\."),
        ('a,b\n0,"1\n', r"line 2: not readable as a table: unexpected end of data\."),
        (f"b,a\n1,{'x' * 99}\n", r"column 'a': expected a number; got 'x{40}\.\.\.'\."),
        (b"\x93NUMPY\xff\n", r"is not UTF-8 text: invalid start byte, byte 0x93\. Save it as UTF-8"),
        (b"a,b\n\0\0,1\n", r"line 2, column 'a': expected a number; got '\\x00\\x00'\."),
    ],
)
def test_bad_table(write, content, message):
    assert_refused(write("t.csv", content), message)


def test_weights_that_are_not_there(write):
    six = write("t.csv", "a,b,c,d,e,f\n0,1,1,0,0,0\n")
    assert_refused(six, r"has no column 'w' for the weights; it has 'a', .*'e' and 1 more\.", weight_column="w")
    assert_refused(write("u.csv", "1,1\n"), r"has no header, so no column 'w'", weight_column="w")


def test_weights_are_not_the_ids(write):
    path = write("t.csv", "id,a\n1,0\n")
    assert_refused(path, r"t\.csv: 'id' is the id column; the weights need a column of their own\.", weight_column="id")


def test_ignored_column(write):
    path = write("t.csv", "a,w,id,b\n0,none,x,1\n1,none,y,0\n")
    table = read_labels(path, ignored_column="w")
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0]])
    assert (table.labels, table.ids) == (("a", "b"), ("x", "y"))
    assert read_labels(write("u.csv", "a,b\n0,1\n"), ignored_column="w").labels == ("a", "b")
    write("t.csv", "a,w,id,b\n0,none,x,1\n1,none,y,?\n")
    assert_refused(path, r"line 3, column 'b': expected a number; got '\?'", ignored_column="w")


# Values


def test_values_that_are_right():
    check_truth(table(LABELS))
    check_truth(table(LABELS == 1))
    check_truth(LabelTable(sparse.csr_array(LABELS)))
    check_scores(table([[0.0, 0.5, 1.0]]))
    check_scores(table([[-7, 0.5, np.inf]]), of_any_range=True)
    check_row_weights(table(LABELS, weights=np.array([0.0, 2.5])), "w")
    check_row_weights(table(LABELS), "w")


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("id,a,b\nx,0,1\ny,1,0.5\n", r"t\.csv, line 3, column 'b'"),
        ("1,1\n1,0.5\n", r"t\.csv, line 2, column 2"),
        ('id,a\n"x\ny",0.5\n', r"t\.csv, line 3, column 'a'"),  # the only row ends there
        ('id,a\n"x\ny",1\n"z\n",0.5\n', r"t\.csv, row 2 \(counted from 1\), column 'a'"),
    ],
)
def test_place_of_a_wrong_value(write, content, place):
    with pytest.raises(ValueError, match=rf"{place}: expected 0 or 1; got 0\.5\."):
        check_truth(read_labels(write("t.csv", content)))


def test_labels_of_minus_one_have_a_remedy(write):
    signs = read_labels(write("t.csv", "a,b\n1,-1\n-1,1\n"))
    place = r"t\.csv, line 2, column 'b': expected 0 or 1; got -1\.0\. Write labels -1 and \+1 as 0 and 1"
    with pytest.raises(ValueError, match=rf"{place}\.$"):
        check_truth(signs)
    with pytest.raises(ValueError, match=rf"{place}; a missing label is an empty cell or nan\.$"):
        check_truth(signs, may_be_missing=True)


def test_the_remedy_for_scores_of_another_range_is_not_for_nan():
    message = r"column 2: expected a number in \[0, 1\]; got"
    with pytest.raises(ValueError, match=rf"{message} 7\.0\. Cut them\.$"):
        check_scores(table([[0.5, 7]]), remedy="Cut them.")
    with pytest.raises(ValueError, match=rf"{message} nan\.$"):
        check_scores(table([[0.5, np.nan]]), remedy="Cut them.")


def test_a_wrong_value_in_the_first_line_may_be_a_name(write):
    with pytest.raises(
        ValueError, match=r"line 1, column 1: .*; got 101\.0 \(if this line is a header, say header=True\)\."
    ):
        check_scores(read_labels(write("t.csv", "101,102\n1,0\n")))


def test_the_first_wrong_value_of_many(monkeypatch):
    monkeypatch.setattr("choral.label_files.table.BLOCK_CELLS", 20)
    values = np.zeros((50, 4))
    values[[30, 31, 31], [2, 0, 3]] = 2, 3, 4
    message = r"pred\.csv, row 31 \(counted from 1\), column 3: expected a number in \[0, 1\]; got 2\.0\."
    for matrix in (values, np.asfortranarray(values), sparse.csr_array(values)):
        with pytest.raises(ValueError, match=message):
            check_scores(LabelTable(matrix, source="pred.csv"))


def test_nan_is_never_a_score():
    for of_any_range, expected in ((False, r"a number in \[0, 1\]"), (True, "a number")):
        with pytest.raises(ValueError, match=rf"column 2: expected {expected}; got nan\."):
            check_scores(table([[0.5, np.nan]]), of_any_range=of_any_range)


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, 1e301])
def test_wrong_weight(weight):
    weighted = table(LABELS, weights=np.array([1.0, weight]))
    expected = "expected a weight, 0 or more and at most 1e+300"
    with pytest.raises(ValueError, match=re.escape(f"row 2 (counted from 1), column 'w': {expected}; got {weight}.")):
        check_row_weights(weighted, "w")


def test_weights_that_are_all_zero():
    with pytest.raises(ValueError, match=r"pred\.csv, column 'w': all weights are 0; expected one above 0\."):
        check_row_weights(table(LABELS, weights=np.zeros(2)), "w")
    with pytest.raises(
        ValueError, match=r"pred\.csv, column 'w', must have an entry of at least 1e-290, .* is 5e-324\. M"
    ):
        check_row_weights(table(LABELS, weights=np.full(2, 5e-324)), "w")


# Any file


def test_unknown_suffix(write):
    message = r"must end in \.csv, \.tsv, \.csv\.gz, \.tsv\.gz, \.npy, \.npz, \.parquet; got '\.txt'\."
    assert_refused(write("t.txt", "0"), message)


def test_no_file(tmp_path):
    assert_refused(tmp_path / "t.csv", r"t\.csv does not exist; expected a file\.")
    (tmp_path / "folder.csv").mkdir()
    assert_refused(tmp_path / "folder.csv", r"folder\.csv is a folder or a device; expected a file\.")


def test_links_in_a_circle(tmp_path):
    (tmp_path / "t.csv").symlink_to(tmp_path / "t.csv")
    assert_refused(tmp_path / "t.csv", r"t\.csv does not exist; expected a file\.")


def test_name_too_long(tmp_path):
    assert_refused(tmp_path / f"{'x' * 300}.csv", r"x\.csv cannot be read: File name too long\.")


def test_unreadable_file(write, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    path = write("t.csv", "0,1\n")
    monkeypatch.setattr("builtins.open", refuse)  # root may read anything
    assert_refused(path, r"t\.csv cannot be read: Permission denied\.")


def test_file_beyond_the_limit(write):
    message = r"is too large: 6 bytes to read, the limit is 5\."
    assert_refused(write("t.csv", "0,1,1\n"), message, max_bytes=5)


# NPY


@pytest.mark.parametrize("dtype", ["u1", "?", ">i4", "<f8", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path, dtype, order):
    np.save(tmp_path / "t.npy", LABELS.astype(dtype, order=order))
    values = read_labels(tmp_path / "t.npy").values
    np.testing.assert_array_equal(values, LABELS)
    assert values.dtype.isnative


def npy_header(shape, dtype="<f8", version=(1, 0)):
    """The start of an array file that announces whatever it likes."""
    text = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    text += b" " * (63 - (10 + len(text)) % 64) + b"\n"
    length = struct.pack("<H" if version == (1, 0) else "<I", len(text))
    return b"\x93NUMPY" + bytes(version) + length + text


class Attack:
    def __reduce__(self):
        return print, ("unpickled",)


def test_pickles_stay_closed(tmp_path, capsys):
    np.save(tmp_path / "t.npy", np.array([[Attack()]]), allow_pickle=True)
    assert_refused(tmp_path / "t.npy", r"holds Python objects, which choral does not unpickle; save it as numbers")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            npy_header((10**9, 10**6)) + bytes(8),
            r"damaged: its header announces 8000000000000000 bytes, .* 8\.",
        ),
        (npy_header((2, 2)) + bytes(31), r"damaged: its header announces 32 bytes, there are 31\."),
        (npy_header((2, 2)) + bytes(33), r"damaged: its header announces 32 bytes, there are 33\."),
        (npy_header((4,)) + bytes(32), r"must be 2-dimensional; got shape \(4,\)\."),
        (npy_header((-1, 4)) + bytes(32), r"is damaged: its header announces the shape \(-1, 4\)\."),
        (npy_header((2, 2), "<c16") + bytes(64), r"must hold numbers or booleans; got the type complex128\."),
        (npy_header((0, 2)), r"at least one of each; got shape \(0, 2\)\."),
        (
            npy_header((1, 1), version=(3, 0)) + bytes(8),
            r"version \(3, 0\) of the format does not hold plain",
        ),
        (b"0,1\n", r"is not a readable NumPy array: "),
        (npy_header((2, 2))[:20], r"is not a readable NumPy array: "),
        (npy_header((2, 2)).replace(b")", b"("), r"is not a readable NumPy array: "),
    ],
)
def test_bad_npy(write, content, message):
    assert_refused(write("t.npy", content), message)


def test_npy_with_a_long_header(write):
    values = read_labels(write("t.npy", npy_header((1, 1), version=(2, 0)) + bytes(8))).values
    np.testing.assert_array_equal(values, [[0.0]])


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_arrays_have_no_weights(write, name):
    assert_refused(write(name, b""), r"arrays have no names, so no column 'w'", weight_column="w")


# NPZ


@pytest.mark.parametrize(
    "arrays", [{"any": LABELS}, {"y": LABELS, "x": LABELS[0]}, {"arr_0": LABELS, "x": [1]}, {"y": LABELS, "arr_0": [1]}]
)
def test_dense_npz(write_npz, arrays):
    np.testing.assert_array_equal(read_labels(write_npz(**arrays)).values, LABELS)


@pytest.mark.parametrize("layout", ["csr", "csc", "coo"])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_npz(tmp_path, layout, container):
    sparse.save_npz(tmp_path / "t.npz", container(LABELS).asformat(layout))
    values = read_labels(tmp_path / "t.npz").values
    assert values.format == "csr"
    np.testing.assert_array_equal(values.toarray(), LABELS)


def csr(**changes):
    """The arrays of a sparse 2 x 3 matrix, some of them changed."""
    arrays = {"format": b"csr", "shape": [2, 3], "data": [1, 1], "indices": [0, 2], "indptr": [0, 1, 2]}
    return {name: array for name, array in (arrays | changes).items() if array is not None}


COO = {"indices": None, "indptr": None, "format": b"coo"}


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": LABELS, "b": LABELS}, r"one array, or one called 'y' or 'arr_0'; got 'a', 'b'\."),
        ({}, r"one array, or one called 'y' or 'arr_0'; got none\."),
        ({"y": LABELS[0]}, r"t?, array 'y' must be 2-dimensional; got shape \(3,\)\."),
        ({"y": np.array([["a"]])}, r"array 'y' must hold numbers or booleans; got the type <U1\."),
        (csr(format=b"dia"), r"the sparse format must be csr, csc or coo; got 'dia'\."),
        (csr(format=7), r"array 'format' must hold text; got the type int64\."),
        (csr(shape=[2, 3, 1]), r"must have the shape rows x labels; got \(2, 3, 1\)\."),
        (csr(shape=[2, -3]), r"must have the shape rows x labels; got \(2, -3\)\."),
        (csr(shape=[2**61, 3], format=b"csc"), r"is too large: \d+ bytes to read, the limit is"),
        (csr(shape=[2, 2**61]), r"is too large: \d+ bytes to read, the limit is"),
        (csr(indices=None), r"lacks the array 'indices' of a sparse matrix\."),
        (csr(indices=[0.0, 2.0]), r"array 'indices' must hold integers; got the type float64\."),
        (csr(indices=[0, 3]), r"holds a damaged sparse matrix: .*(indices|index values)"),
        (csr(indices=[0, -1]), r"holds a damaged sparse matrix: .*(indices|index values)"),
        (csr(indptr=[0, 1]), r"holds a damaged sparse matrix: index pointer size"),
        (csr(indptr=[0, 2, 1]), r"holds a damaged sparse matrix: "),
        (csr(indptr=[0, 1, 9]), r"holds a damaged sparse matrix: "),
        (csr(data=[1, 1, 1]), r"holds a damaged sparse matrix: "),
        (csr(indices=[2, 2], indptr=[0, 2, 2]), r"damaged sparse matrix: an entry is stored twice\."),
        (csr(row=[0, 2], col=[0, 0], **COO), r"holds a damaged sparse matrix: .*index"),
        (csr(row=[1, 1], col=[2, 2], **COO), r"damaged sparse matrix: an entry is stored twice\."),
    ],
)
def test_bad_npz(write_npz, arrays, message):
    assert_refused(write_npz(**arrays), message)


def test_pickles_in_npz_stay_closed(write_npz, capsys):
    assert_refused(write_npz(y=np.array([[Attack()]])), r"holds Python objects, which choral does not unpickle")
    assert_refused(write_npz(**csr(format=Attack())), r"holds Python objects")
    assert capsys.readouterr().out == ""


def test_zip_bomb_is_refused_by_its_announced_size(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", y=np.zeros((1000, 1000)))
    assert (tmp_path / "t.npz").stat().st_size < 50_000
    assert_refused(tmp_path / "t.npz", r"is too large: 8000\d+ bytes to read, the limit is 1000000\.", max_bytes=10**6)


def test_entry_whose_header_promises_more_than_it_holds(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w") as archive:
        archive.writestr("y.npy", npy_header((10**6, 10**6)) + bytes(100))
    assert_refused(tmp_path / "t.npz", r"array 'y' is damaged: its header announces 8000000000000 bytes, .* 100\.")


def test_damaged_archives(write_npz, write):
    content = write_npz(y=LABELS).read_bytes()
    assert_refused(write("t.npz", content[:-30]), r"is not a readable NPZ file: File is not a zip file\.")
    flipped = content.replace(LABELS.tobytes(), LABELS.tobytes()[::-1])
    assert_refused(write("t.npz", flipped), r"is not a readable NPZ file: Bad CRC-32")


# Parquet


@pytest.fixture
def write_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")

    def write_file(columns):
        parquet.write_table(pyarrow.table(columns), tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    return write_file


def test_parquet(write_parquet):
    path = write_parquet({"id": [7, 8], "a": [0, 1], "b": [True, False], "w": [1, 2]})
    table = read_labels(path, weight_column="w")
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 0]])
    assert (table.labels, table.ids) == (("a", "b"), ("7", "8"))
    np.testing.assert_array_equal(table.weights, [1.0, 2.0])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["yes", "no"]}, r"column 'a': expected numbers or booleans; got the type string\."),
        ({"a": [[1], [0]]}, r"column 'a': expected numbers or booleans; got the type list"),
        ({"a": [1, None]}, r"column 'a': expected no missing values; row 2 \(counted from 1\) is empty\."),
        ({"id": ["x", "x"], "a": [0, 1]}, r"ids must be distinct; 'x' occurs 2 times\."),
        ({"id": ["x", "y"]}, r"at least one of each; got shape \(2, 0\)\."),
    ],
)
def test_bad_parquet(write_parquet, columns, message):
    assert_refused(write_parquet(columns), message)


def test_parquet_with_an_ignored_column(write_parquet):
    path = write_parquet({"a": [0, 1], "w": ["x", None]})
    assert read_labels(path, ignored_column="w").labels == ("a",)


def test_parquet_that_unfolds(write_parquet):
    path = write_parquet({"a": np.zeros(100_000)})
    assert_refused(path, r"is too large: 800000 bytes to read, the limit is 20000", max_bytes=20_000)


def test_damaged_parquet(write):
    pytest.importorskip("pyarrow")
    assert_refused(write("t.parquet", b"PAR1, or so it says"), r"is not a readable Parquet file: ")


# Alignment


def table(values, labels=None, ids=None, source="pred.csv", weights=None):
    return LabelTable(np.asarray(values), labels, ids, weights, source)


def test_columns_by_name_and_rows_by_id():
    truth = table([[0, 0], [0, 0]], ("a", "b"), ("x", "y"), "true.csv")
    prediction = table([[1, 2], [3, 4]], ("b", "a"), ("y", "x"), weights=np.array([5, 6]))
    aligned = align(truth, prediction)
    np.testing.assert_array_equal(aligned.values, [[4, 3], [2, 1]])
    np.testing.assert_array_equal(aligned.weights, [6, 5])
    assert (aligned.labels, aligned.ids, aligned.source) == (("a", "b"), ("x", "y"), "pred.csv")


def test_sparse_tables_align_too():
    truth = table(LABELS, ("a", "b", "c"), ("x", "y"))
    values = sparse.csr_array(LABELS[::-1, ::-1])
    aligned = align(truth, LabelTable(values, ("c", "b", "a"), ("y", "x")))
    np.testing.assert_array_equal(aligned.values.toarray(), LABELS)


def test_equal_order_copies_nothing():
    truth = table(LABELS, ("a", "b", "c"), ("x", "y"))
    assert align(truth, truth).values is truth.values


@pytest.mark.parametrize(("truth_labels", "labels"), [(None, ("b", "a")), (("a", "b"), None), (None, None)])
def test_by_position_where_a_side_has_no_names(truth_labels, labels):
    aligned = align(table([[0, 0]], truth_labels), table([[1, 2]], labels))
    np.testing.assert_array_equal(aligned.values, [[1, 2]])
    assert aligned.labels == truth_labels


ROW = [[0] * 7]


@pytest.mark.parametrize(
    ("truth", "prediction", "message"),
    [
        (
            table(ROW, tuple("abcdefg"), source="true.csv"),
            table([[0]], ("z",)),
            r"pred\.csv does not have the labels of true\.csv: "
            r"7 missing \('a', 'b', 'c', 'd', 'e' and 2 more\), 1 unknown \('z'\)\.",
        ),
        (
            table([[0], [0]], None, ("x", "y"), "true.csv"),
            table([[0]], None, ("x",)),
            r"pred\.csv does not have the ids of true\.csv: 1 missing \('y'\)\.",
        ),
        (
            table([[0]]),
            table([[0]], None, ("x",), "p"),
            r"cannot be matched: p has ids, pred\.csv has none\.",
        ),
        (
            table([[0]], None, ("x",), "t"),
            table([[0]]),
            r"cannot be matched: t has ids, pred\.csv has none\.",
        ),
        (table([[0, 0]], source="t"), table([[0]]), r"pred\.csv has 1 label, t has 2\."),
        (table([[0], [1]], source="t"), table([[0]]), r"pred\.csv has 1 row, t has 2\."),
    ],
)
def test_tables_that_do_not_match(truth, prediction, message):
    with pytest.raises(ValueError, match=message):
        align(truth, prediction)
