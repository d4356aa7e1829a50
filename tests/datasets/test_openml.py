"""load_openml, from a server on this machine that answers as OpenML does."""

import re
import time
from http.client import IncompleteRead
from unittest.mock import Mock
from urllib.request import urlopen

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import _openml

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
IGNORED_TEXT = DENSE.replace("id numeric", "note string").replace("\n7,", "\nseven,")
WREN_ALONE = "@relation garden\n@attribute wren {FALSE,TRUE}\n@data\nTRUE\nFALSE\n"


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


def test_a_comma_after_the_last_target(serve):
    serve(targets="wren, ")
    assert load_openml(40589).label_names == ("wren",)


def test_minus_zero_is_zero(serve):
    serve(DENSE.replace("TRUE,0,0\n", "TRUE,0,-0.0\n"))
    np.testing.assert_array_equal(load_openml(40589, labels=["owl"]).Y, [[0], [1], [0]])


def test_names_of_labels_as_an_array(serve):
    serve()
    garden = load_openml(40589, labels=np.array(["owl", "wren"]))
    assert str(garden.label_names) == "('owl', 'wren')"


@pytest.mark.parametrize(
    "arff, targets, chosen, message",
    [
        (DENSE, "wren", {"data_id": 5}, "data_id 5 not found"),
        (DENSE, "wren", {"name": "yard"}, "dataset yard found"),
        (DENSE, "sky", {}, "'sky' is 'cloudy' in row 0. Choose the labels by labels="),
        (DENSE, "loudness", {}, "TRUE or FALSE, 1 or 0; 'loudness' is 0.5 in row 0"),
        (DENSE, "wind", {}, "'wind' is missing in row 2"),
        (DENSE, None, {}, "data set 40589 has no targets on OpenML; give labels=.*'loudness', 'sky'"),
        (DENSE, ", ", {}, "data set 40589 has no targets on OpenML"),
        (DENSE, "wren", {"labels": ["Owl"]}, r"has no attribute 'Owl'; did you mean 'owl'\?$"),
        (DENSE, "wren", {"labels": ["jay"]}, r"has no attribute 'jay'; there are loudness, .*, owl\.$"),
        (DENSE, "wren", {"labels": ["owl", "owl"]}, "data set 40589: 'owl' is more than once among the labels"),
        (DENSE, "wren,wren", {}, "data set 40589: 'wren' is more than once among the labels"),
        (DENSE, "wren", {"labels": ["id"]}, "'id' is an identifier or ignored on OpenML, so it was left out"),
        (DENSE.replace(" id ", " note "), "note", {}, "'note' is an identifier or ignored on OpenML"),
        (WREN_ALONE, "wren", {}, "data set 40589: every attribute is a label, so no attribute is left as a feature"),
        (SPARSE, "wren", {"labels": ["loudness", "sky", "wren", "thrush"]}, "no attribute is left as a feature"),
        (
            DENSE.replace("id numeric", "id date"),
            "wren",
            {},
            r"40589 .* \(BadAttributeType in line 2\): it is damaged, or",
        ),
        (
            DENSE.replace("8,?", "8,loud"),
            "wren",
            {},
            r"40589 has a file that cannot be read \(BadNumericalValue\): it is",
        ),
        (DENSE.replace("8,?,clear", "8,?,50%"), "wren", {}, r"40589 .* \(BadNominalValue\): it is damaged, or"),
        (DENSE.replace("wind {no,yes}", "wind string"), "wren", {}, "data set 40589 has attributes of text"),
        (IGNORED_TEXT, "wren", {}, "data set 40589 has attributes of text"),
    ],
)
def test_what_cannot_be_loaded(serve, arff, targets, chosen, message):
    serve(arff, targets)
    chosen = chosen if "name" in chosen else {"data_id": 40589} | chosen
    with pytest.raises(ValueError, match=message):
        load_openml(**chosen)


@pytest.mark.parametrize(
    "labels, error, message",
    [
        ("wren", TypeError, "labels must be a sequence of names; got the string 'wren'"),
        (["wren", 1], TypeError, "labels must be names, as text; one of them is 1"),
        ([None], TypeError, "labels must be names, as text; one of them is None"),
        ([], ValueError, "labels is empty; name at least one attribute, or leave labels out"),
    ],
)
def test_the_labels_must_be_names(labels, error, message):
    with pytest.raises(error, match=message):
        load_openml(40589, labels=labels)


@pytest.mark.parametrize(
    "answer, reason",
    [
        (Mock(side_effect=IncompleteRead(b"{", 5)), "IncompleteRead.*5 more expected"),
        (lambda asked: urlopen("data:text/plain,busy"), "Expecting value"),
    ],
)
def test_an_answer_that_breaks_off(tmp_path, monkeypatch, answer, reason):
    monkeypatch.setattr(_openml, "urlopen", answer)
    with pytest.raises(
        ConnectionError, match=rf"data set 40589 cannot be fetched from OpenML \({reason}.*\)\. Try again"
    ):
        load_openml(40589, data_home=tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(
        OSError, match=rf"data set 40589 cannot be kept in {re.escape(str(file))} \(.*\)\. Choose another"
    ):
        load_openml(40589, data_home=file)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(file))
    with pytest.raises(OSError, match=r"cannot be kept in scikit-learn's own folder \(.*file.*\)\. Choose another"):
        load_openml(40589)


def test_no_server(tmp_path, monkeypatch):
    redirect(monkeypatch, "http://127.0.0.1:9")  # where nobody listens
    monkeypatch.setattr(time, "sleep", lambda seconds: None)  # scikit-learn tries four times
    message = (
        r"data set 40589 cannot be fetched from OpenML \(.*refused.*\). Try again later; or download the ARFF file"
    )
    with pytest.raises(ConnectionError, match=message):
        load_openml(40589, data_home=tmp_path)
