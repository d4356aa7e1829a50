"""load_openml, from a server on this machine that answers as OpenML does."""

import time

import numpy as np
import pytest
import scipy.sparse as sp

from choral.datasets import load_openml
from openml_server import openml_server, redirect

DENSE = """@relation garden
@attribute id numeric
@attribute loudness numeric
@attribute sky {clear,cloudy,rain}
@attribute wind {no,yes}
@attribute wren {FALSE,TRUE}
@attribute thrush {1,0}
@attribute owl numeric
@data
7,0.5,cloudy,yes,TRUE,0,0
8,?,clear,no,FALSE,1,1
9,2,?,?,TRUE,1,0
"""
SPARSE = """@relation garden
@attribute loudness numeric
@attribute sky {clear,cloudy,rain}
@attribute wren {FALSE,TRUE}
@attribute thrush {0,1}
@data
{0 0.5,2 TRUE}
{1 rain,3 1}
{0 ?,1 cloudy}
"""


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Serve one data set; scikit-learn keeps its files in an empty folder."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    servers = []

    def serve(arff=DENSE, targets="wren,thrush,owl", **description):
        servers.append(openml_server(monkeypatch, arff, targets, **description))
        return servers[-1].__enter__()

    yield serve
    for server in servers:
        server.__exit__(None, None, None)


def test_by_id_with_nominal_features_and_missing_values(serve):
    serve()
    garden = load_openml(40589)
    assert garden.name == "garden"
    assert garden.label_names == ("wren", "thrush", "owl")
    assert garden.feature_names == ("loudness", "sky=clear", "sky=cloudy", "sky=rain", "wind")  # not the id
    assert (garden.n_nominal, garden.n_numeric) == (2, 1)
    np.testing.assert_array_equal(
        garden.X, [[0.5, 0, 1, 0, 1], [np.nan, 1, 0, 0, 0], [2, np.nan, np.nan, np.nan, np.nan]]
    )
    np.testing.assert_array_equal(garden.Y, [[1, 0, 0], [0, 1, 1], [1, 1, 0]])  # by words, not by places
    assert garden.Y.dtype == np.uint8


@pytest.mark.parametrize("version", ["active", 1])
def test_by_name(serve, version):
    serve()
    by_name, by_id = load_openml(name="garden", version=version), load_openml(40589)
    np.testing.assert_array_equal(by_name.X, by_id.X)
    np.testing.assert_array_equal(by_name.Y, by_id.Y)


def test_sparse(serve):
    serve(SPARSE, "wren,thrush")
    garden = load_openml(40589)
    assert sp.issparse(garden.X)
    assert garden.X.format == "csr"
    assert garden.feature_names == ("loudness", "sky=clear", "sky=cloudy", "sky=rain")
    np.testing.assert_array_equal(garden.X.toarray(), [[0.5, 1, 0, 0], [0, 0, 0, 1], [np.nan, 0, 1, 0]])
    np.testing.assert_array_equal(garden.Y, [[1, 0], [0, 1], [0, 0]])


def test_it_is_fetched_once(serve, tmp_path):
    asked = serve()
    load_openml(40589, data_home=tmp_path / "kept")
    n_asked = len(asked)
    assert n_asked == 4  # what it is, its attributes, its size, and the file
    load_openml(40589, data_home=tmp_path / "kept")
    assert len(asked) == n_asked


def test_labels_by_hand(serve):
    serve()
    garden = load_openml(40589, labels=["owl", "wren"])
    assert garden.label_names == ("owl", "wren")
    assert garden.feature_names[-2:] == ("wind", "thrush")


def test_a_comma_in_the_name_of_the_only_target(serve):
    serve(DENSE.replace("owl", "'owl, barn'"), "owl, barn")
    assert load_openml(40589).label_names == ("owl, barn",)


@pytest.mark.parametrize(
    "arff, targets, chosen, message",
    [
        (DENSE, "wren", {"data_id": 5}, "data_id 5 not found"),
        (DENSE, "wren", {"name": "yard"}, "dataset yard found"),
        (DENSE, "sky", {}, "'sky' is 'cloudy' in row 0. Choose the labels by labels="),
        (DENSE, "loudness", {}, r"TRUE or FALSE, 1 or 0; 'loudness' is np.float64\(0.5\) in row 0|is 0.5 in row 0"),
        (DENSE, "wind", {}, "'wind' is missing in row 2"),
        (DENSE, None, {}, "data set 40589 has no targets on OpenML; give labels=.*'loudness', 'sky'"),
        (DENSE, "wren", {"labels": ["Owl"]}, "has no attribute 'Owl'; did you mean 'owl'?"),
        (DENSE.replace("wind {no,yes}", "wind string"), "wren", {}, "data set 40589 has attributes of text"),
    ],
)
def test_what_cannot_be_loaded(serve, arff, targets, chosen, message):
    serve(arff, targets)
    chosen = chosen if "name" in chosen else {"data_id": 40589} | chosen
    with pytest.raises(ValueError, match=message):
        load_openml(**chosen)


def test_the_labels_must_be_names():
    with pytest.raises(TypeError, match="labels must be a sequence of names; got the string 'wren'"):
        load_openml(40589, labels="wren")


def test_no_server(tmp_path, monkeypatch):
    redirect(monkeypatch, "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # scikit-learn tries four times
    message = (
        r"data set 40589 cannot be fetched from OpenML \(.*refused.*\). Try again later; or download the ARFF file"
    )
    with pytest.raises(ConnectionError, match=message):
        load_openml(40589, data_home=tmp_path)
