"""ARFF files made to take time or memory: parsing is linear, and what a small file may become is limited."""

import bz2
import gzip
import lzma
import re
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral.datasets import read_arff
from choral.datasets.arff.quoting import QUOTED, strip_comment

MEBIBYTE = 2**20
MANY = 20_000
VALUES = ",".join(f"v{i}" for i in range(MANY))
REMEDY = "If it is no mistake, set the environment variable CHORAL_MAX_BYTES to a larger number."


@pytest.fixture
def write(tmp_path):
    def write_file(rows, *attributes, label_count=1):
        header = [f"@relation 'a: -C {label_count}'", "@attribute y {0,1}", *attributes, "@data", ""]
        (tmp_path / "t.arff").write_text("\n".join(header) + rows)
        return tmp_path / "t.arff"

    return write_file


def refused(path, *, peak=64):
    """The message of a file that is refused within a second and so many MiB."""
    tracemalloc.start()
    with pytest.raises(ValueError, match=re.escape(path.name)) as caught:
        read_arff(path)
    assert tracemalloc.get_traced_memory()[1] < peak * MEBIBYTE
    tracemalloc.stop()
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


# Time


@pytest.mark.parametrize(
    ("rows", "attribute", "message"),
    [
        (
            "0,'" + "\\'" * 40_000 + "a % b\n",
            "@attribute x {a}",
            "line 5: expected a comma after each value and an end",
        ),
        (
            "{1 '" + "\\'" * 40_000 + "a % b}\n",
            "@attribute x {a}",
            "line 5: expected a sparse row {...} like the first",
        ),
        ("0,a\n", "@attribute '" + "\\'" * 40_000 + " %", "line 3: expected @attribute, a name and a type; got"),
        ("0,a\n", "@attribute x {" + VALUES * 2 + ",v7}", "line 3: expected distinct values; 'v1' is listed twice."),
    ],
)
def test_parsing_is_linear(write, rows, attribute, message):
    path = write(rows, attribute)
    start = time.process_time()
    with pytest.raises(ValueError, match=re.escape(message)):
        read_arff(path)
    assert time.process_time() - start < 3  # 17 to 34 s, once


@given(st.text(alphabet="'\"\\% a", max_size=12))
def test_comments_by_definition(line):
    """Piece by piece: what is in quotes that end, or a percent sign after a blank, or any character."""
    comment = re.compile(rf"{QUOTED}|(\s%)")
    begin = next((match.start() for match in comment.finditer(line) if match[1]), len(line))
    expected = "" if line.startswith("%") else line[:begin].rstrip()
    assert strip_comment(line) == (expected if "%" in line else line)


# Memory


def test_sparse_nominal_features_take_as_much_as_they_have_entries(write):
    path = write("{0 1}\n{1 v7}\n" * 500, f"@attribute x {{{VALUES}}}")
    tracemalloc.start()
    dataset = read_arff(path)
    assert tracemalloc.get_traced_memory()[1] < 32 * MEBIBYTE  # dense columns would take 160 MB
    tracemalloc.stop()
    assert dataset.X.shape == (1000, MANY)
    assert dataset.X.nnz == 1000
    assert dataset.X[[0, 1], [0, 7]].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("rows", "size"),
    [
        ("{1 ?}\n" * 8000, 16 * 8000 * (MANY + 1) + MANY),  # a missing value is missing in each of the columns
        ("0,v1\n" * 8000, 8 * 8000 * MANY + MANY),
    ],
)
def test_nominal_features_beyond_what_the_file_holds(write, rows, size):
    path = write(rows, f"@attribute x {{{VALUES}}}")
    problem = f"the matrix of features is too large: {size} bytes to read, the limit is {1100 * path.stat().st_size}."
    assert refused(path).endswith(f"{problem} {REMEDY}")


def test_long_names_times_many_values(write):
    path = write("0,v1\n", f"@attribute {'x' * 500_000} {{{VALUES}}}")
    assert "the matrix of features is too large: 100001" in refused(path)


@pytest.mark.parametrize("rows", ["{}\n" * 30_000, "{} \n{ }\n" * 15_000])
def test_labels_beyond_what_the_file_holds(write, rows):
    labels = [f"@attribute y{i} {{0,1}}" for i in range(9_999)]
    path = write(rows, *labels, "@attribute x numeric", label_count=10_000)
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert "the matrix of labels is too large: 300000000 bytes to read, the limit is 67108864. If" in refused(path)


def test_rows_too_short_for_the_memory_they_would_take(write):
    path = write("1\n" * 100_000, *(f"@attribute x{i} numeric" for i in range(5000)))
    assert refused(path, peak=100).endswith("line 5004: expected 5001 values; got 1.")


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_a_small_packed_file_that_unfolds(write, tmp_path, compress):
    content = write("\n" * 2**26, "@attribute x numeric").read_bytes()
    path = tmp_path / "t.arff.packed"
    path.write_bytes(compress(content))
    assert path.stat().st_size < 30_000
    limit = max(8 * MEBIBYTE, 1100 * path.stat().st_size)
    problem = f"t.arff.packed is too large: it unfolds to more bytes than the limit of {limit}."
    assert refused(path, peak=100).endswith(f"{problem} {REMEDY}")


def test_the_user_raises_the_limit(write, monkeypatch):
    path = write("0,v1\n" * 8000, f"@attribute x {{{','.join(f'v{i}' for i in range(2000))}}}")
    monkeypatch.setenv("CHORAL_MAX_BYTES", "100000000")
    assert "the limit is 100000000" in refused(path)
    monkeypatch.setenv("CHORAL_MAX_BYTES", "200000000")
    assert read_arff(path).X.shape == (8000, 2000)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_data_that_pack_well_are_read(write, compress):
    """Labels and words that are nearly all zero, as text: 1 : 200 and more."""
    rng = np.random.default_rng(0)
    cells = (rng.random((400, 5000)) < 0.0005).astype(int)
    rows = "".join(",".join(map(str, row)) + "\n" for row in cells.tolist())
    path = write(rows, *(f"@attribute x{i} numeric" for i in range(4999)))
    content = path.read_bytes()
    path.write_bytes(compress(content))
    assert read_arff(path).X.shape == (400, 4999)
