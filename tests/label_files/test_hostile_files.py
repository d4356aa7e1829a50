"""Files made to end the process or to fill the memory: small ones that announce much, and sparse parts that lie."""

import subprocess
import sys
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse

from choral._memory import MAX_BYTES, memory_limit
from choral.label_files import read_labels

MEBIBYTE = 2**20
FAR = 10**7  # entries beyond the end: what lies there belongs to nobody
EMPTY = {"shape": [4, 3], "data": np.ones(0), "indices": np.arange(0)}
COO = {"format": b"coo", "shape": [3, 3], "data": [1, 1]}


def sparse_npz(path, **arrays):
    np.savez_compressed(path, **arrays)
    return path


def measure(function):
    """What a function returns or raises, and the most memory that it took meanwhile, in bytes."""
    tracemalloc.start()
    try:
        outcome = function()
    except ValueError as error:
        outcome = error
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return outcome, peak


def refused(path, **options):
    """The message of a file that is refused before it takes memory."""
    outcome, peak = measure(lambda: read_labels(path, **options))
    assert isinstance(outcome, ValueError)
    assert peak < 8 * MEBIBYTE
    assert len(str(outcome).splitlines()) == 1
    return str(outcome)


# Parts of sparse matrices that SciPy's compiled code would follow out of the memory


LIES = [
    ({"format": b"csr", "indptr": [0, FAR, 0, 0, 0], **EMPTY}, "it goes from 10000000 to 0 at row 1."),
    ({"format": b"csc", "indptr": [0, FAR, 0, 0], **EMPTY}, "it goes from 10000000 to 0 at column 1."),
    ({"format": b"csr", "indptr": [0, -FAR, 0, 0, 0], **EMPTY}, "it goes from 0 to -10000000 at row 0."),
    ({"format": b"csr", "indptr": [0, -(2**63), 2**63 - 1, 0, 0], **EMPTY}, "to -9223372036854775808 at row 0."),
    (
        {"format": b"csr", "indptr": [1, 1, 1, 1, 1], **EMPTY},
        "must go from 0 to at most 0, the number of indices; got 1 to 1.",
    ),
    (
        {"format": b"csr", "indptr": [0, 0, 0], **EMPTY},
        "index pointer size must be 5, one more than rows; got shape (3,).",
    ),
    (
        {"format": b"csr", "shape": [1, 3], "data": [1, 1], "indices": [0, FAR], "indptr": [0, 2]},
        "column indices must lie in 0 to 2; index 1 is 10000000.",
    ),
    (
        {"format": b"csc", "shape": [3, 1], "data": [1, 1], "indices": [0, -1], "indptr": [0, 2]},
        "row indices must lie in 0 to 2; index 1 is -1.",
    ),
    (
        {"format": b"csr", "shape": [1, 3], "data": [1], "indices": [0, 1], "indptr": [0, 2]},
        "there must be an index for each of 1 entries; got shape (2,).",
    ),
    (
        {"format": b"csr", "shape": [1, 3], "data": [1, 1], "indices": [0, 1], "indptr": [0, 1]},
        "the index pointer ends at 1; there are 2 indices.",
    ),
    ({"row": [0, FAR], "col": [0, 0], **COO}, "row indices must lie in 0 to 2; index 1 is 10000000."),
    ({"row": [0, 0], "col": [-1, 0], **COO}, "column indices must lie in 0 to 2; index 0 is -1."),
    ({"row": [0], "col": [0, 1], **COO}, "there must be an index for each of 2 entries; got shape (1,)."),
]


@pytest.mark.parametrize(("arrays", "message"), LIES)
def test_sparse_parts_that_contradict_each_other(tmp_path, arrays, message):
    path = sparse_npz(tmp_path / "t.npz", **arrays)
    assert "holds a damaged sparse matrix: " in refused(path)
    assert refused(path).endswith(message)


@pytest.mark.parametrize("command", ["evaluate", "describe"])
@pytest.mark.parametrize("lie", [0, 1])
def test_the_command_line_outlives_them(tmp_path, command, lie):
    pytest.importorskip("typer")
    path = sparse_npz(tmp_path / "t.npz", **LIES[lie][0])
    paths = [str(path)] * (2 if command == "evaluate" else 1)
    ended = subprocess.run(
        [sys.executable, "-m", "choral", command, *paths], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2  # a signal would be negative
    assert "holds a damaged sparse matrix" in " ".join(ended.stderr.split())


def test_unused_room_at_the_end_is_no_fault_of_a_matrix_without_entries(tmp_path):
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array((4, 3)))
    assert read_labels(tmp_path / "t.npz").values.nnz == 0


# Announced sizes


@pytest.mark.parametrize(
    "arrays",
    [
        {"format": b"csc", "shape": [2 * 10**8, 3], "data": [1], "indices": [0], "indptr": [0, 1, 1, 1]},
        {"format": b"coo", "shape": [3, 10**9], "data": [1], "row": [0], "col": [0]},
        {"format": b"csr", "shape": [3, 10**12], "data": [1], "indices": [0], "indptr": [0, 1, 1, 1]},
    ],
)
def test_a_shape_beyond_what_the_file_holds(tmp_path, arrays):
    message = refused(sparse_npz(tmp_path / "t.npz", **arrays))
    assert "t.npz is too large: " in message
    assert message.endswith("If it is no mistake, set the environment variable CHORAL_MAX_BYTES to a larger number.")


def test_more_pairs_of_labels_than_a_small_file_may_have(tmp_path):
    pytest.importorskip("typer")
    path = sparse_npz(tmp_path / "t.npz", format=b"coo", shape=[3, 10_000], data=[1], row=[0], col=[0])
    ended = subprocess.run(
        [sys.executable, "-m", "choral", "describe", str(path)], capture_output=True, text=True, timeout=60
    )
    assert ended.returncode == 2
    message = (
        "the matrix of all pairs of 10000 labels, is too large: 3200000000 bytes to read, the limit is 1073741824."
    )
    assert message in " ".join(ended.stderr.split())


def test_many_labels_and_many_rows_are_no_fault(tmp_path):
    wide = sparse.random(50, 3_000_000, density=1e-6, random_state=0, format="csr")  # as the largest public data sets
    long = sparse.random(1_000_000, 3, density=1e-2, random_state=0, format="csc")
    for matrix in (wide, long):
        sparse.save_npz(tmp_path / "t.npz", matrix.astype(bool))
        assert read_labels(tmp_path / "t.npz").values.shape == matrix.shape


def test_labels_that_are_all_zero_may_be_packed_as_tight_as_they_can(tmp_path):
    np.savez_compressed(tmp_path / "t.npz", y=np.zeros((10_000, 8_000), dtype=bool))  # a model that predicts nothing
    assert memory_limit((tmp_path / "t.npz").stat().st_size) > 8 * 10**7
    assert read_labels(tmp_path / "t.npz").values.shape == (10_000, 8_000)


def test_the_user_raises_the_limit(tmp_path, monkeypatch):
    path = sparse_npz(tmp_path / "t.npz", format=b"coo", shape=[3, 5 * 10**6], data=[1], row=[0], col=[0])
    assert "80000192 bytes to read, the limit is 67108864. If" in refused(path)
    monkeypatch.setenv("CHORAL_MAX_BYTES", "80000192")
    assert read_labels(path).values.shape == (3, 5 * 10**6)
    monkeypatch.setenv("CHORAL_MAX_BYTES", "1000")
    assert "bytes to read, the limit is 1000." in refused(path)
    monkeypatch.delenv("CHORAL_MAX_BYTES")
    assert read_labels(path, max_bytes=10**8).values.shape == (3, 5 * 10**6)


@pytest.mark.parametrize("said", ["8GB", "-1", "1e9", "9" * 19])
def test_a_limit_that_is_no_number_of_bytes(tmp_path, monkeypatch, said):
    monkeypatch.setenv("CHORAL_MAX_BYTES", said)
    (tmp_path / "t.csv").write_text("0,1,1\n")
    assert refused(tmp_path / "t.csv").endswith(
        f"CHORAL_MAX_BYTES must be a number of bytes, such as 17179869184; got {said!r}."
    )


def test_the_limit_of_all_files():
    assert memory_limit(held=MAX_BYTES) == memory_limit(held=100 * MAX_BYTES) == MAX_BYTES


def test_parquet_may_hold_more(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"a": np.zeros(10**7, dtype=np.int8)}), tmp_path / "t.parquet")
    assert memory_limit((tmp_path / "t.parquet").stat().st_size) < 8 * 10**7
    assert len(read_labels(tmp_path / "t.parquet").values) == 10**7


# Archives and arrays


@pytest.mark.parametrize("how", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_as_numpy_never_does(tmp_path, how):
    """A block of bzip2 or lzma is unpacked at once; a damaged one raises its own error."""
    with zipfile.ZipFile(tmp_path / "t.npz", "w", how) as archive:
        archive.writestr("y.npy", bytes(100 * MEBIBYTE))
    content = bytearray((tmp_path / "t.npz").read_bytes())
    content[60:90] = bytes(30)
    (tmp_path / "t.npz").write_bytes(content)
    message = (
        r"t.npz is not a readable NPZ file: 'y.npy' is packed by (bzip2|lzma); expected deflate, or no compression."
    )
    outcome, peak = measure(lambda: read_labels(tmp_path / "t.npz", max_bytes=2**40))
    with pytest.raises(ValueError, match=message):
        raise outcome
    assert peak < MEBIBYTE


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            "{'descr': (), 'fortran_order': False, 'shape': (1, 1)}",
            "is not a readable NumPy array: tuple index out of range.",
        ),
        ("{'descr': '<i4', 'fortran_order': False, 'shape': (%s1,)}" % ("-" * 5000), "is not a readable NumPy array: "),
        ("{'descr': '<i4', 'fortran_order': False, 'shape': (True, 1)}", "its header announces the shape (True, 1)."),
        ("{'descr': '|b1', 'fortran_order': False, 'shape': (4, 1)}", "it holds booleans that are neither 0 nor 1."),
    ],
)
def test_odd_headers(tmp_path, header, message):
    line = header.encode().ljust(118 if len(header) < 118 else 6134) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + b"\x02\x00\x00\x00"
    (tmp_path / "t.npy").write_bytes(content)
    assert message in refused(tmp_path / "t.npy")


# Parquet


def test_places_in_a_dictionary_beyond_its_end(tmp_path):
    """They are read unchecked, and spelled out by compiled code: change one byte after another where they are."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"tags": ["a|b", "", "c"]}), path, compression="none")
    content = path.read_bytes()
    messages = []
    for place in range(60, 80):
        path.write_bytes(content[:place] + b"\x03" + content[place + 1 :])
        try:
            read_labels(path)
        except ValueError as error:
            messages.append(str(error))
    assert any("is not a readable Parquet file: Column 0: " in text and "indices invalid" in text for text in messages)
