"""Labels that are written are read back as they were."""

from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp

from choral.label_files import LabelTable, read_labels, write_labels
from choral.label_files.writing import WRITTEN_SUFFIXES

LABELS = np.array([[0, 1, 1], [1, 0, 0]])


PARQUET = pytest.param(
    ".parquet", marks=pytest.mark.skipif(find_spec("pyarrow") is None, reason="pyarrow is not installed")
)


@pytest.mark.parametrize("suffix", [*WRITTEN_SUFFIXES[:-1], PARQUET])
@pytest.mark.parametrize(
    "values", [LABELS, LABELS.astype(float), sp.csr_array(LABELS)], ids=["ints", "floats", "sparse"]
)
def test_labels_without_names(tmp_path, suffix, values):
    path = tmp_path / f"labels{suffix}"
    write_labels(path, LabelTable(values))
    table = read_labels(path)
    np.testing.assert_array_equal(table.values, LABELS)
    assert (table.labels, table.ids) == (("1", "2", "3") if suffix == ".parquet" else None, None)


@pytest.mark.parametrize("suffix", [".csv", ".tsv", PARQUET])
@pytest.mark.parametrize("ids", [None, ("first, or so", "zweite\tZeile")])
def test_names_are_kept(tmp_path, suffix, ids):
    path = tmp_path / f"labels{suffix}"
    names = ("sky, clear", 'a "quoted" one', "straße")
    write_labels(path, LabelTable(LABELS, labels=names, ids=ids), id_column="row")
    table = read_labels(path, id_column=None if ids is None else "row")
    np.testing.assert_array_equal(table.values, LABELS)
    assert (table.labels, table.ids) == (names, ids)


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"path must name a file that ends in .csv, .tsv, .npy, .npz, .parquet; got '.*labels.txt'"
    ):
        write_labels(tmp_path / "labels.txt", LabelTable(LABELS))
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(FileNotFoundError, match="its folder does not exist"):
        write_labels(tmp_path / "nowhere" / "labels.csv", LabelTable(LABELS))
