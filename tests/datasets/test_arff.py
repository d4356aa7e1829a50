"""ARFF files are read as MEKA and Mulan mean them, and what is wrong with a file is told with its line."""

import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from choral.datasets import read_arff
from choral.datasets.arff import reading

# instances, labels, nominal and numeric features, label combinations, cardinality, is sparse: from the data's readme
SIZES = {
    "birds.arff.gz": (645, 19, 2, 258, 133, 1.0140, False),
    "emotions.arff": (593, 6, 0, 72, 27, 1.8685, False),
    "enron-f.arff": (1702, 53, 0, 1001, 753, 3.3784, True),
    "flags.arff": (194, 12, 4, 10, 103, 4.1237, False),
    "genbase.arff.gz": (662, 27, 1186, 0, 32, 1.2523, False),
    "llog-f.arff.gz": (1460, 75, 0, 1004, 304, 1.1801, True),
    "medical.arff": (978, 45, 1449, 0, 94, 1.2454, True),
    "scene.arff.gz": (2407, 6, 0, 294, 15, 1.0740, False),
    "yeast.arff.gz": (2417, 14, 0, 103, 198, 4.2371, False),
}

TINY = r"""% two birds
@RELATION 'two birds: -C -2 -split-number 1'

@Attribute loudness Real
@attribute	place	{wood, 'sandy shore', "the \"field\""}
@attribute quiet {no,yes}
@attribute 'Swainson\'s Thrush' {0,1}
@attribute "Wren, the" {0, 1}

@DATA
% here they come
0.5, 'sandy shore', no, 0, 1

-1e-3,wood,yes,1,1
?, "the \"field\"", ?, '0', 0
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="tiny.arff"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def header(*kinds, relation="'r: -C -1'"):
    attributes = [f"@attribute a{place} {kind}" for place, kind in enumerate(kinds)]
    return "\n".join([f"@relation {relation}", *attributes, "@attribute y {0,1}", "@data\n"])


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


# the data sets of the paper


@pytest.mark.parametrize("file", SIZES)
def test_sizes_of_the_data_sets_of_the_paper(datasets_folder, file):
    dataset = read_arff(datasets_folder / file)
    n_rows, n_labels, n_nominal, n_numeric, n_combinations, cardinality, is_sparse = SIZES[file]
    assert dataset.Y.shape == (n_rows, n_labels)
    assert dataset.Y.dtype == np.uint8
    assert len(dataset.label_names) == n_labels
    assert (dataset.n_nominal, dataset.n_numeric) == (n_nominal, n_numeric)
    assert len(np.unique(dataset.Y, axis=0)) == n_combinations
    assert dataset.Y.sum(axis=1).mean() == pytest.approx(cardinality, abs=5e-5)
    assert dataset.Y.any(axis=0).all()
    assert dataset.X.shape == (n_rows, len(dataset.feature_names))
    assert dataset.X.dtype == np.float64
    assert sparse.issparse(dataset.X) == is_sparse
    assert np.isfinite(dense(dataset.X)).all()
    assert dataset.name == file.partition(".")[0]


def test_flags_counts_each_label_as_the_readme_does(datasets_folder):
    flags = read_arff(datasets_folder / "flags.arff")
    positive = dict(zip(flags.label_names, flags.Y.sum(axis=0).tolist(), strict=True))
    assert list(positive.items()) == [
        ("crescent", 11), ("triangle", 27), ("icon", 49), ("animate", 39), ("text", 16), ("red", 153),
        ("green", 91), ("blue", 99), ("yellow", 91), ("white", 146), ("black", 52), ("orange", 26),
    ]  # fmt: skip


def encoded(data):
    """Rows as liac-arff gives them, made numbers by the definition, cell by cell."""
    columns = []
    for index, (_, values) in enumerate(data["attributes"]):
        cells = [row[index] for row in data["data"]]
        if isinstance(values, str):
            columns.append(np.array(cells, dtype=float))
        elif len(values) <= 2:
            columns.append(np.array([values.index(cell) for cell in cells], dtype=float))
        else:
            columns += [np.array([cell == value for cell in cells], dtype=float) for value in values]
    return np.column_stack(columns)


@pytest.mark.parametrize("file", SIZES)
def test_values_are_those_of_liac_arff(datasets_folder, file):
    arff = pytest.importorskip("arff")
    dataset = read_arff(datasets_folder / file)
    n_labels = dataset.Y.shape[1]
    with (gzip.open if file.endswith(".gz") else open)(datasets_folder / file, "rt", encoding="utf-8") as text:
        data = arff.load(text)  # sparse rows as well: dense is its default
    expected = encoded(data)
    names = [name.replace("\\'", "'") for name, _ in data["attributes"]]  # it leaves escapes as they are
    first = ["enron-f", "llog-f", "scene"]
    labels = np.arange(n_labels) if dataset.name in first else np.arange(-n_labels, 0)
    np.testing.assert_array_equal(dataset.Y, expected[:, labels])
    features = np.delete(expected, labels, axis=1)
    np.testing.assert_array_equal(dense(dataset.X), features)
    assert dataset.label_names == tuple(np.array(names)[labels % len(names)])


@pytest.mark.parametrize("file", ["emotions.arff", "scene.arff.gz", "yeast.arff.gz"])
def test_values_are_those_of_scipy(datasets_folder, file, tmp_path):
    from scipy.io import arff

    content = (datasets_folder / file).read_bytes()
    plain = tmp_path / "plain.arff"
    plain.write_bytes(gzip.decompress(content) if file.endswith(".gz") else content)
    table, meta = arff.loadarff(plain)
    dataset = read_arff(plain)
    for place, name in enumerate(dataset.feature_names):
        np.testing.assert_array_equal(dataset.X[:, place], table[name])
    for place, name in enumerate(dataset.label_names):
        np.testing.assert_array_equal(dataset.Y[:, place], table[name] == b"1")
    assert set(meta.names()) == {*dataset.feature_names, *dataset.label_names}


def test_names_with_apostrophes(datasets_folder):
    assert "Swainson's Thrush" in read_arff(datasets_folder / "birds.arff.gz").label_names


def test_scikit_learn_takes_what_is_read(datasets_folder):
    from sklearn.tree import DecisionTreeClassifier

    medical = read_arff(datasets_folder / "medical.arff")
    assert medical.X.indices.dtype == medical.X.indptr.dtype == np.int32
    assert DecisionTreeClassifier(max_depth=2).fit(medical.X, medical.Y).predict(medical.X).shape == medical.Y.shape


# the format


def test_a_file_with_everything(write):
    dataset = read_arff(write(TINY))
    assert dataset.label_names == ("Swainson's Thrush", "Wren, the")
    assert dataset.feature_names == ("loudness", "place=wood", "place=sandy shore", 'place=the "field"', "quiet")
    np.testing.assert_array_equal(dataset.Y, [[0, 1], [1, 1], [0, 0]])
    np.testing.assert_array_equal(dataset.X, [[0.5, 0, 1, 0, 0], [-1e-3, 1, 0, 0, 1], [np.nan, 0, 0, 1, np.nan]])
    assert (dataset.n_nominal, dataset.n_numeric, dataset.name) == (2, 1, "tiny")


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks(write, line_end, bom):
    expected = read_arff(write(TINY))
    dataset = read_arff(write(bom + TINY.replace("\n", line_end).encode(), "other.arff"))
    np.testing.assert_array_equal(dataset.X, expected.X)
    assert dataset.label_names == expected.label_names


@pytest.mark.parametrize("pack, suffix", [(gzip.compress, ".gz"), (bz2.compress, ".bz2"), (lzma.compress, ".xz")])
@pytest.mark.parametrize("with_suffix", [True, False])
def test_packed_files_whatever_their_name(write, pack, suffix, with_suffix):
    dataset = read_arff(write(pack(TINY.encode()), f"tiny.arff{suffix * with_suffix}"))
    assert dataset.Y.shape == (3, 2)
    assert dataset.name == "tiny"


def test_a_missing_nominal_value_is_nan_in_all_its_columns(write):
    dataset = read_arff(write(header("{red,green,blue}") + "?,1\ngreen,0"))
    np.testing.assert_array_equal(dataset.X, [[np.nan] * 3, [0, 1, 0]])


def test_nominal_values_are_numbered_as_listed(write):
    dataset = read_arff(
        write(header("{YES,NO}", "{only}", "integer") + "NO,only,7\n".replace("\n", ",1\n") + "YES,only,8,0")
    )
    np.testing.assert_array_equal(dataset.X, [[1, 0, 7], [0, 0, 8]])
    assert dataset.feature_names == ("a0", "a1", "a2")


def test_a_question_mark_in_quotes_is_a_value(write):
    dataset = read_arff(write(header("{'?',x}") + "'?',1\n?,0"))
    np.testing.assert_array_equal(dataset.X, [[0], [np.nan]])


def test_comments_behind_values(write):
    text = header("numeric % in metres", "{a,'50 % off',50%}") + "1,'50 % off',1 % the first\n2,50%,0\n  % and no more"
    np.testing.assert_array_equal(read_arff(write(text)).X, [[1, 0, 1, 0], [2, 0, 0, 1]])


def test_unquoted_apostrophes_and_braces_without_a_blank(write):
    text = "@relation r\n@attribute don't numeric\n@attribute y{0,1}\n@data\n1,1"
    dataset = read_arff(write(text), labels=-1)
    assert (dataset.feature_names, dataset.label_names) == (("don't",), ("y",))


def test_sparse_rows(write):
    text = header("numeric", "{red,green,blue}", "{no,yes}") + "{0 2.5, 3 1}\n{}\n{ 2 yes , 1 'blue' }\n{1 ?, 0 0}\n"
    dataset = read_arff(write(text))
    assert sparse.issparse(dataset.X)
    assert dataset.X.format == "csr"
    nan = np.nan
    expected = [[2.5, 1, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [0, nan, nan, nan, 0]]
    np.testing.assert_array_equal(dataset.X.toarray(), expected)
    np.testing.assert_array_equal(dataset.Y, [[1], [0], [0], [0]])
    assert dataset.X.nnz == np.count_nonzero(expected)  # no zeros are stored


def test_sparse_rows_of_nominal_values_alone(write):
    dataset = read_arff(write(header("{red,green,blue}", "{u,v,w}") + "{1 v}\n{0 blue,2 1}\n"))
    np.testing.assert_array_equal(dataset.X.toarray(), [[1, 0, 0, 0, 1, 0], [0, 0, 1, 1, 0, 0]])


@pytest.mark.parametrize("row", ["{1 1}", "{ 1 1 }"])  # all at once, and one by one
def test_an_omitted_label_is_the_first_value_listed(write, row):
    head = "@relation 'r: -C 2'\n@attribute y {1,0}\n@attribute z {0,1}\n@attribute a numeric\n@data\n"
    text = f"{head}{row}\n{{0 0,2 5}}"
    np.testing.assert_array_equal(read_arff(write(text)).Y, [[1, 1], [0, 0]])


@given(
    rows=st.lists(
        st.dictionaries(st.integers(0, 120), st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=8
    ),
    line_end=st.sampled_from(["\n", "\r\n"]),
)
def test_sparse_rows_all_at_once_and_one_by_one(tmp_path_factory, rows, line_end):
    folder = tmp_path_factory.mktemp("sparse")
    head = "@relation 'r: -C -1'\n" + "".join(f"@attribute a{i} numeric\n" for i in range(121))
    head += "@attribute y {0,1}\n@data\n"
    entries = [[f"{index} {value}" for index, value in sorted(row.items())] for row in rows]
    (folder / "plain.arff").write_text(head + line_end.join("{" + ",".join(row) + "}" for row in entries), newline="")
    (folder / "blanks.arff").write_text(
        head + line_end.join("{ " + " , ".join(row) + "}" for row in entries), newline=""
    )
    expected = np.zeros((len(rows), 121))
    for place, row in enumerate(rows):
        expected[place, list(row)] = list(row.values())
    for file in ("plain.arff", "blanks.arff"):
        np.testing.assert_array_equal(read_arff(folder / file).X.toarray(), expected)


def test_plain_sparse_rows_need_no_strings(write, monkeypatch):
    monkeypatch.setattr(reading, "read_sparse", None)
    assert read_arff(write(header("numeric") + "{0 7}\r\n{0 3,1 1}\r\n\r\n")).X.toarray().tolist() == [[7], [3]]


def test_long_files_are_read_in_blocks(write, monkeypatch):
    path = write(header("numeric", "{a,b,c}") + "\n".join(f"{i},{'abc'[i % 3]},{i % 2}" for i in range(50)))
    expected = read_arff(path)
    monkeypatch.setattr(reading, "BLOCK_BYTES", 20)
    dataset = read_arff(path)
    np.testing.assert_array_equal(dataset.X, expected.X)
    np.testing.assert_array_equal(dataset.X[:, 0], np.arange(50))
    np.testing.assert_array_equal(dataset.Y, expected.Y)


@pytest.mark.parametrize("block_bytes", [1, 7, 30, 2**20])
def test_blocks_of_any_size_give_the_same_sparse_matrix(write, monkeypatch, block_bytes):
    """Single digits, other numbers, no entries, comments and blank lines: in blocks of their own, or together."""
    monkeypatch.setattr(reading, "BLOCK_BYTES", block_bytes)
    rows = ["{0 7}", "{0 3,1 1}", "{}", "", "% {0 9}", "{0 2.5,1 1}", "{1 1}  % one", "{}", "{0 4}", "", ""]
    dataset = read_arff(write(header("numeric") + "\n".join(rows)))
    assert dataset.X.toarray().ravel().tolist() == [7, 3, 0, 2.5, 0, 0, 4]
    assert dataset.Y.ravel().tolist() == [0, 1, 0, 1, 1, 0, 0]
    assert dataset.X.has_sorted_indices


@pytest.mark.parametrize("row", ["0,1", "{0 1}", "{0 10}", "{}", "%"])
def test_short_lines_take_little_more_memory_than_their_numbers(write, monkeypatch, row):
    """As texts, each takes 60 bytes or more."""
    monkeypatch.setattr(reading, "BLOCK_BYTES", 2**16)
    path = write(header("numeric") + f"{row}\n" * 2**18 + ("0,1" if row == "%" else ""))
    tracemalloc.start()
    dataset = read_arff(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert dataset.Y.shape == (1 if row == "%" else 2**18, 1)
    assert peak < 2 * path.stat().st_size + 2**18 * 60 + 2**23


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_numbers_are_exact(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("numbers") / "exact.arff"
    path.write_text(header("numeric") + "".join(f"{number!r},1\n" for number in numbers))
    np.testing.assert_array_equal(read_arff(path).X[:, 0], numbers)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1), min_size=3, max_size=6, unique=True)
)
def test_any_text_can_be_a_name_or_a_value(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("names") / "names.arff"
    quoted = ["'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" for value in values]
    head = f"@relation r\n@attribute {quoted[0]} {{{','.join(quoted)}}}\n@attribute {quoted[1]} {{0,1}}\n@data\n"
    path.write_text(head + "".join(f"{value}, 1\n" for value in quoted), encoding="utf-8", newline="\n")
    dataset = read_arff(path, labels=-1)
    np.testing.assert_array_equal(dataset.X, np.eye(len(values)))
    assert dataset.label_names == (values[1],)
    assert dataset.feature_names == tuple(f"{values[0]}={value}" for value in values)


@pytest.mark.parametrize("keyword", ["@attribute", "@ATTRIBUTE", "  @attribute", "@attribute\t"])
@pytest.mark.parametrize("between", ["\n", "\n% a comment\n", " \n\n"])
def test_headers_all_at_once_and_line_by_line(write, keyword, between):
    attributes = [
        f"{keyword} a{place} {kind}" for place, kind in enumerate(["real", "{u,v}", "REAL", "{u,v,w}", "{0,1}"])
    ]
    text = f"@relation 'r: -C -1'\n{between.join(attributes)}\n\n@data\n1,v,2,w,1\n"
    dataset = read_arff(write(text))
    assert dataset.feature_names == ("a0", "a1", "a2", "a3=u", "a3=v", "a3=w")
    assert dataset.X.tolist() == [[1, 1, 2, 0, 0, 1]]
    with pytest.raises(
        ValueError, match=rf"line {text.count(chr(10)) + 1}, attribute 'a0': expected a number; got 'x'"
    ):
        read_arff(write(text + "x,v,2,w,1"))


# labels

MULAN = """@relation mulan
@attribute a numeric
@attribute sky {0,1}
@attribute b numeric
@attribute sea {0,1}
@data
1,0,2,1
"""
XML = '<?xml version="1.0"?><labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'
NESTED = XML.format('<label name="sea"><label name="sky"></label></label>')


@pytest.mark.parametrize("name", ["mulan.arff", "mulan.arff.gz"])
def test_mulan_has_its_labels_in_a_file_beside(write, name):
    write(NESTED, "mulan.xml")
    dataset = read_arff(write(gzip.compress(MULAN.encode()) if name.endswith("gz") else MULAN, name))
    assert dataset.label_names == ("sky", "sea")  # in the order of the attributes
    assert dataset.feature_names == ("a", "b")
    np.testing.assert_array_equal(dataset.Y, [[0, 1]])
    np.testing.assert_array_equal(dataset.X, [[1, 2]])


def test_labels_given_as_path_number_or_names(write):
    path, xml = write(MULAN), write(NESTED, "elsewhere.xml")
    assert read_arff(path, xml).label_names == read_arff(path, str(xml)).label_names == ("sky", "sea")
    assert read_arff(path, labels=-1).label_names == ("sea",)
    assert read_arff(path, labels=np.int64(-1)).label_names == ("sea",)
    by_name = read_arff(path, labels=["sea", "sky"])
    assert by_name.label_names == ("sea", "sky")  # in the order asked for
    np.testing.assert_array_equal(by_name.Y, [[1, 0]])


def test_what_is_asked_for_comes_before_what_the_file_says(write):
    write(NESTED, "tiny.xml")
    path = write(MULAN.replace("mulan", "'mulan: -C -1'"))
    assert read_arff(path).label_names == ("sea",)  # MEKA's before Mulan's
    assert read_arff(path, labels=["sky"]).label_names == ("sky",)


@pytest.mark.parametrize(
    "relation, expected",
    [("'r: -C 1'", 1), ("'r: -R -C 1 -t 3'", 1), ("r:-C 1", 1), ('"-C 1"', 1), ("'r: -C  +1'", 1), ("r: -C 1", 1)],
)
def test_where_meka_keeps_the_number_of_labels(write, relation, expected):
    text = f"@relation {relation}\n@attribute y {{0,1}}\n@attribute a numeric\n@data\n1,2\n"
    assert read_arff(write(text)).label_names == ("y",)


@pytest.mark.parametrize("values", ["{no,yes}", "{False,True}", "numeric", "{1,0}", "{yes,no}"])
def test_labels_in_other_words(write, values):
    word = {"{no,yes}": "yes", "{yes,no}": "yes", "{False,True}": "True"}.get(values, "1")
    text = f"@relation 'r: -C 1'\n@attribute y {values}\n@attribute a numeric\n@data\n{word},2\n"
    assert read_arff(write(text)).Y.tolist() == [[1]]


def test_a_label_with_one_value_only(write):
    assert read_arff(write("@relation 'r: -C 1'\n@attribute y {0}\n@attribute a numeric\n@data\n0,2")).Y.tolist() == [
        [0]
    ]


def test_attributes_left_out(write):
    text = header("string", "numeric", "date 'yyyy-MM-dd'") + "'a, b',1,2020-01-01,1"
    dataset = read_arff(write(text), ignore=["a0", "a2"])
    assert dataset.feature_names == ("a1",)
    assert (dataset.n_nominal, dataset.n_numeric) == (0, 1)
    sparse_text = header("string", "numeric") + "{0 'x',1 5,2 1}"
    assert read_arff(write(sparse_text), ignore=["a0"]).X.toarray().tolist() == [[5]]


@pytest.mark.parametrize(
    "labels, message",
    [
        (0, r"tiny.arff: labels must be 1 to 3 of the 4 attributes, negative for the last ones; got 0."),
        (-4, r"labels must be 1 to 3 of the 4 attributes, negative for the last ones; got -4."),
        (["sky", "lake"], r"tiny.arff: labels must name attributes of the file; it has no 'lake'."),
        (["sky", "sky"], r"labels must be distinct names, one or more, but not all 4 attributes."),
        ([], r"labels must be distinct names, one or more"),
        ("nowhere.xml", r"nowhere.xml cannot be read: No such file or directory."),
        (
            None,
            r"tiny.arff: nothing says which attributes are labels; expected -C in @relation, a file tiny.xml beside it",
        ),
    ],
)
def test_labels_that_are_not_there(write, labels, message):
    with pytest.raises(ValueError, match=message):
        read_arff(write(MULAN), labels=labels)


@pytest.mark.parametrize(
    "xml, message",
    [
        (
            XML.format('<label name="lake"/>'),
            r"labels.xml, the labels of tiny.arff, must name attributes .* no 'lake'.",
        ),
        (XML.format("<name>sky</name>"), r'labels.xml: expected elements <label name="...">; it has none.'),
        ("<labels>", r"labels.xml: expected XML; no element found: line 1, column 8."),
        ('<?xml version="1.0" encoding="klingon"?><labels/>', r"labels.xml: expected XML; unknown encoding"),
    ],
)
def test_xml_that_names_no_labels(write, xml, message):
    with pytest.raises(ValueError, match=message):
        read_arff(write(MULAN), labels=write(xml, "labels.xml"))


def test_other_arguments_of_the_wrong_kind(write):
    with pytest.raises(
        TypeError, match="labels must be an int, the path of an XML file or a sequence of names; got float"
    ):
        read_arff(write(MULAN), labels=1.5)
    with pytest.raises(TypeError, match="ignore must be a sequence of names; got the string 'a'"):
        read_arff(write(MULAN), labels=-1, ignore="a")
    for name in ("nothing", "sea"):
        with pytest.raises(
            ValueError, match=f"tiny.arff: ignore must name attributes that are no labels; got '{name}'"
        ):
            read_arff(write(MULAN), labels=-1, ignore=[name])


# what is wrong, and where


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "line 1: expected @data; the file ends here."),
        ("hello", "line 1: expected @relation; got 'hello'."),
        ("@attribute a numeric\n@data\n1", "line 1: expected @relation; got '@attribute a numeric'."),
        ("@relation r\n\n% no\nhello", "line 4: expected @attribute; got 'hello'."),
        ("@relation r\n@data\n1", "line 2: expected @attribute; got '@data'."),
        ("@relation r\n@attribute a numeric\n@relation s", "line 3: expected @attribute or @data; got '@relation s'."),
        ("@relation r\n@attribute a numeric\n@database\n1", "line 3: expected @attribute or @data; got '@database'."),
        ("@relation r\n@attribute a numeric\n@data 1", "line 3: expected @attribute or @data; got '@data 1'."),
        ("@relation r\n@attribute a numeric\n\n", "line 4: expected @data; the file ends here."),
        ("@relation r\n@attribute\n@data", "line 2: expected @attribute, a name and a type; got '@attribute'."),
        (
            "@relation r\n@attribute 'a numeric\n@data",
            "line 2: expected @attribute, a name and a type; got \"@attribute 'a",
        ),
        ("@relation r\n@attribute a\n@data", "line 2: expected numeric, real, .* as the type; got ''."),
        ("@relation r\n@attribute a number\n@data", "line 2: expected numeric, real, .* as the type; got 'number'."),
        ("@relation r\n@attribute a {x,y\n@data", "line 2: expected numeric, .* in braces as the type; got '{x,y'."),
        ("@relation r\n@attribute a {x,,y}\n@data", "line 2: expected a value between commas; got '{x,,y}'."),
        (
            "@relation r\n@attribute a {x,'y}\n@data",
            'line 2: expected a comma after .* an end to each quote; got "\'y".',
        ),
        ("@relation r\n@attribute a {x,y,x}\n@data", "line 2: expected distinct values; 'x' is listed twice."),
        (
            "@relation r\n@attribute a numeric\n@attribute 'a' numeric\n@data",
            "line 3: expected distinct names; 'a' is in line 2 too.",
        ),
        (header("numeric", relation="'r: -C 2'") + "1,1", "line 1: -C must be 1 to 1 of the 2 attributes, .*; got 2."),
        (
            header("numeric", relation="'r: -C x'") + "1,1",
            "line 1: -C must be followed by a number of labels; got 'x'.",
        ),
        (
            header("numeric", relation=f"'r: -C {'9' * 5000}'") + "1,1",
            "line 1: -C must be followed by a number of labels; got '9{40}...'.",
        ),
        (
            header("string") + "x,1",
            "line 2, attribute 'a0': expected a numeric or nominal feature; got string .ignore=",
        ),
        (header("Date 'yyyy'") + "x,1", "line 2, attribute 'a0': expected a numeric or nominal feature; got date"),
        (
            "@relation 'r: -C 1'\n@attribute y {a,b}\n@attribute x real\n@data\n1,1",
            "line 2, attribute 'y': a label must be {0, 1}, {false, true} or {no, yes}; got 'a' or 'b'.",
        ),
        (
            "@relation 'r: -C 1'\n@attribute y {0,no}\n@attribute x real\n@data\n1,1",
            "line 2, attribute 'y': a label must be .*; got '0' or 'no'.",
        ),
        (
            "@relation 'r: -C 1'\n@attribute y string\n@attribute x real\n@data\n1,1",
            "line 2, attribute 'y': a label must be .*; got string.",
        ),
        (header("numeric"), "line 4: expected rows after @data; there are none."),
        (header("numeric") + "1,1\n% and\n1,1,1", "line 7: expected 2 values; got 3."),
        (
            header("numeric") + "1,1\n'1,1",
            "line 6: expected a comma after each value and an end to each quote; got \"'1,1",
        ),
        (header("numeric") + "1,1\n'1'1,1", "line 6: expected a comma after each value"),
        (header("numeric") + "1,1\n1,0,{5}", "line 6: expected no weight, weights of rows are not read; got '.5.'."),
        (header("numeric") + "1,1\n{0 1}", "line 6: expected a dense row like the first one; got '{0 1}'."),
        (header("numeric") + "1,1\n\nx,0", "line 7, attribute 'a0': expected a number; got 'x'."),
        (header("numeric") + "1_000,0", "line 5, attribute 'a0': expected a number; got '1_000'."),
        (header("numeric") + ",0", "line 5, attribute 'a0': expected a number; got ''."),
        (header("{a,'b c'}") + "a,0\nb,0", "line 6, attribute 'a0': expected 'a' or 'b c'; got 'b'."),
        (header("numeric") + "1,?", "line 5, attribute 'y': expected '0' or '1'; got '\\?'."),
        (header("numeric") + "1,2", "line 5, attribute 'y': expected '0' or '1'; got '2'."),
        (header("numeric") + "{0 1}\n0,1", "line 6: expected a sparse row {...} like the first one; got '0,1'."),
        (header("numeric") + "{0 1}\n{0 1", "line 6: expected a sparse row {...} like the first one; got '{0 1'."),
        (header("numeric") + "{0 1}, {0.5}", "line 5: expected no weight, weights of rows are not read; got '{0.5}'."),
        (header("numeric") + "{0 1}\n{0}", "line 6: expected an index and a value; got '0'."),
        (header("numeric") + "{0 1}\n{1,0 1 1}", "line 6: expected an index and a value; got '1'."),
        (header("numeric") + "{0 1}{0 1}", "line 5, attribute 'a0': expected a number; got '1}{0 1'."),
        (header("numeric") + "{0 1}\n{0 1,}", "line 6: expected an index and a value; got ''."),
        (header("numeric") + "{0 1}\n{-1 1}", "line 6: expected an index and a value; got '-1 1'."),
        (header("numeric") + "{0 1}\n{2 1}", "line 6: expected an index below 2, counted from 0; got 2."),
        (header("numeric") + "{0 1}\n{0 'a}", "line 6: expected a comma after each value"),
        (header("numeric") + "{0 1}\n{0 1,0 1}", "line 6: expected each index once; 0 .'a0'. comes twice."),
        (header("{a,b}") + "{0 a}\n{0 c}", "line 6, attribute 'a0': expected 'a' or 'b'; got 'c'."),
        (header("{1,2}") + "{0 1}\n{0 3}", "line 6, attribute 'a0': expected '1' or '2'; got '3'."),
        (header("numeric") + "{1 ?}", "line 5, attribute 'y': expected '0' or '1'; got '\\?'."),
    ],
)
def test_what_is_wrong_and_where(write, text, message):
    with pytest.raises(ValueError, match=f"tiny.arff, {message}") as raised:
        read_arff(write(text))
    assert "\n" not in str(raised.value)


def test_the_line_is_right_in_a_later_block_and_with_every_line_end(write, monkeypatch):
    monkeypatch.setattr(reading, "BLOCK_BYTES", 4)
    for line_end in ("\n", "\r\n", "\r"):
        text = (header("numeric") + "1,1\n" * 9 + "x,1\n").replace("\n", line_end)
        with pytest.raises(ValueError, match="line 14, attribute 'a0': expected a number; got 'x'"):
            read_arff(write(text))


@pytest.mark.parametrize("place", ["header", "rows"])
def test_files_in_another_encoding(write, place):
    text = header("numeric").encode() + b"1,1\n" + b"\xe9,1"
    line = 6
    if place == "header":
        text, line = text.replace(b"a0", b"caf\xe9"), 2
    with pytest.raises(ValueError, match=f"tiny.arff, line {line}: expected UTF-8; got the byte 0xe9."):
        read_arff(write(text))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_damaged_files(write, pack):
    packed = pack(TINY.encode())
    for damaged in (packed[:-5], packed[:30] + bytes(8) + packed[38:]):
        with pytest.raises(ValueError, match="tiny.arff cannot be unpacked: "):
            read_arff(write(damaged))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing.arff cannot be read: No such file or directory."):
        read_arff(tmp_path / "nothing.arff")
    with pytest.raises(IsADirectoryError, match="cannot be read: Is a directory."):
        read_arff(tmp_path)


@pytest.mark.parametrize("row", ["'" + "\\'" * 50_000, " " * 50_000 + "'", "1 % " + "' %" * 20_000, "a '" * 50_000])
def test_no_row_makes_the_search_for_quotes_long(write, row):
    with pytest.raises(ValueError, match="tiny.arff, line 5"):
        read_arff(write(header("numeric") + row))
