"""Data sets by name: from the data folder, else by a download that is either right or leaves nothing behind."""

import bz2
import gzip
import hashlib
import lzma
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

from choral.datasets import NAMES, load, loading
from choral.datasets.loading import BASE_URL, data_folder
from choral.datasets.sources import SOURCES, Source

TINY = b"@relation 'tiny: -C -1'\n@attribute a numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n"
SHA256 = hashlib.sha256(TINY).hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A data folder that is not there yet; the network is out of reach."""
    monkeypatch.setenv("CHORAL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(loading, "BASE_URL", "http://localhost:9")  # where nobody listens
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return tmp_path / "data"


@pytest.fixture
def tiny(monkeypatch):
    """A data set of two rows, packed where it comes from."""
    source = Source("tiny.arff", "someone/something/Tiny.arff.bz2", SHA256)
    monkeypatch.setitem(SOURCES, "tiny", source)
    return source


@pytest.fixture
def serve(monkeypatch):
    """Serve one answer to every question, and note what was asked for."""
    pytest.importorskip("pooch")
    servers = []

    def serve(body, status=200, length=None):
        asked = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("localhost", 0), Handler)
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        monkeypatch.setattr(loading, "BASE_URL", f"http://localhost:{server.server_port}")
        return asked

    yield serve
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def left_behind(folder):
    return sorted(path.name for path in folder.parent.rglob("*"))


# by name


def test_names():
    expected = ("birds", "emotions", "enron-f", "flags", "flags-7", "genbase", "llog-f", "medical", "scene", "yeast")
    assert expected == NAMES
    with pytest.raises(ValueError, match="name must be one of birds, emotions, .*, yeast; got 'Birds'."):
        load("Birds")


@pytest.mark.parametrize(
    "name, shape, n_labels",
    [
        ("birds", (645, 271), 19),
        ("emotions", (593, 72), 6),
        ("enron-f", (1702, 1001), 53),
        ("flags", (194, 38), 12),
        ("flags-7", (194, 43), 7),
        ("genbase", (662, 1185), 27),
        ("llog-f", (1460, 1004), 75),
        ("medical", (978, 1449), 45),
        ("scene", (2407, 294), 6),
        ("yeast", (2417, 103), 14),
    ],
)
def test_the_data_sets_of_the_paper(datasets_folder, monkeypatch, name, shape, n_labels):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    dataset = load(name)  # a checksum that differs would be a warning, and that an error here
    assert dataset.name == name
    assert dataset.X.shape == shape
    assert dataset.Y.shape == (shape[0], n_labels)


def test_flags_with_seven_labels_has_the_symbols_among_its_features(datasets_folder, monkeypatch):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    flags, colours = load("flags"), load("flags-7")
    assert (
        colours.label_names == ("red", "green", "blue", "yellow", "white", "black", "orange") == flags.label_names[5:]
    )
    assert colours.feature_names == flags.feature_names + flags.label_names[:5]
    np.testing.assert_array_equal(colours.X, np.hstack([flags.X, flags.Y[:, :5]]))
    assert len(np.unique(colours.Y, axis=0)) == 54
    assert colours.Y.sum(axis=1).mean() == pytest.approx(3.39, abs=0.005)


def test_genbase_without_its_identifier(datasets_folder, monkeypatch):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    genbase = load("genbase")
    assert not any(name.startswith("protein") for name in genbase.feature_names)
    assert (genbase.n_nominal, genbase.n_numeric) == (1185, 0)


# the data folder


@pytest.mark.parametrize(
    "suffix, pack", [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_files_in_the_data_folder(folder, tiny, suffix, pack):
    folder.mkdir()
    (folder / f"tiny.arff{suffix}").write_bytes(pack(TINY))
    dataset = load("tiny")
    assert (dataset.Y.tolist(), dataset.name) == ([[0], [1]], "tiny")


def test_a_file_of_ones_own_is_read_with_a_warning(folder, tiny):
    folder.mkdir()
    (folder / "tiny.arff").write_bytes(TINY + b"3,1\n")
    message = rf"tiny.arff is read, but it is not the paper's tiny.arff: expected SHA-256 {SHA256} once unpacked."
    with pytest.warns(UserWarning, match=message) as caught:
        assert len(load("tiny").Y) == 3
    assert caught[0].filename == __file__


def test_a_wrong_file_is_told_by_name_and_line(folder, tiny):
    folder.mkdir()
    (folder / "tiny.arff").write_bytes(TINY + b"3\n")
    with (
        pytest.warns(UserWarning, match="not the paper's"),
        pytest.raises(ValueError, match="data/tiny.arff, line 7: expected 2 values; got 1."),
    ):
        load("tiny")


@pytest.mark.parametrize(
    "platform, variable, expected",
    [
        ("linux", None, "home/.local/share/choral"),
        ("linux", "XDG_DATA_HOME", "elsewhere/choral"),
        ("darwin", None, "home/Library/Application Support/choral"),
        ("win32", None, "home/AppData/Local/choral"),
        ("win32", "LOCALAPPDATA", "elsewhere/choral"),
    ],
)
def test_where_the_data_folder_is(monkeypatch, tmp_path, platform, variable, expected):
    for name in ("CHORAL_DATA", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    monkeypatch.setattr(sys, "platform", platform)
    assert data_folder() == tmp_path / expected
    monkeypatch.setenv("CHORAL_DATA", "~/mine")
    assert data_folder() == tmp_path / "home" / "mine"


# downloads


def test_a_download_is_unpacked_checked_and_kept(folder, tiny, serve):
    asked = serve(bz2.compress(TINY))
    assert load("tiny").Y.tolist() == [[0], [1]]
    assert asked == ["/someone/something/Tiny.arff.bz2"]
    assert (folder / "tiny.arff").read_bytes() == TINY
    assert left_behind(folder) == ["data", "tiny.arff"]
    assert load("tiny").Y.tolist() == [[0], [1]]
    assert len(asked) == 1  # the second time it is there


def test_sources_are_those_of_the_readme(datasets_folder):
    readme = (datasets_folder / "README.md").read_text(encoding="utf-8")
    for source in SOURCES.values():
        owner, repository, commit, *path = source.path.split("/")
        stem = source.file.removesuffix(".arff")
        assert f"github.com/{owner}/{repository} | `{'/'.join(path)}` | {commit} |" in readme
        assert f"{source.sha256}  {stem}\n" in readme
    assert BASE_URL == "https://raw.githubusercontent.com"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(TINY.replace(b"2,1", b"2,0"), id="changed"),
        pytest.param(bz2.compress(TINY + b"3,1\n"), id="changed and packed"),
        pytest.param(TINY[:-4], id="cut at the end of a line"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"<html>Sign in to the network</html>", id="another page"),
    ],
)
def test_a_tampered_download_is_refused(folder, tiny, serve, body):
    serve(body)
    with pytest.raises(
        ValueError, match=f"Tiny.arff.bz2: expected tiny.arff with SHA-256 {SHA256}; got .* nothing of it"
    ):
        load("tiny")
    assert left_behind(folder) == []


def test_a_damaged_download_is_refused(folder, tiny, serve):
    serve(bz2.compress(TINY)[:-8])
    with pytest.raises(ValueError, match="Tiny.arff.bz2 cannot be unpacked"):
        load("tiny")
    assert left_behind(folder) == []


def test_a_connection_that_breaks_off(folder, tiny, serve):
    serve(TINY[:40], length=len(TINY))
    with pytest.raises(
        (FileNotFoundError, ValueError), match="tiny.arff"
    ):  # by length or, with an old urllib3, checksum
        load("tiny")
    assert left_behind(folder) == []


def test_no_such_file_on_the_server(folder, tiny, serve):
    serve(b"gone", status=404)
    with pytest.raises(FileNotFoundError, match=r"cannot be downloaded from .*Tiny.arff.bz2 \(404 Not Found\)"):
        load("tiny")
    assert left_behind(folder) == []


def test_offline_the_message_says_which_file_to_put_where(folder, tiny):
    pytest.importorskip("pooch")
    with pytest.raises(FileNotFoundError) as raised:
        load("tiny")
    assert str(raised.value) == (
        f"tiny.arff is not in {folder} and cannot be downloaded from "
        "http://localhost:9/someone/something/Tiny.arff.bz2 "
        f"(ConnectionError); put tiny.arff (or tiny.arff.gz, .bz2, .xz) into {folder}, or into a folder that the "
        "environment variable CHORAL_DATA names."
    )
    assert left_behind(folder) == []


def test_without_pooch_the_message_names_both_cures(folder, tiny, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    by_pip = r"pooch is not installed; try: pip install pooch \(or choral's extra 'data'\)"
    cures = rf"{by_pip}; or put tiny.arff .* into {folder}"
    with pytest.raises(ModuleNotFoundError, match=cures):
        load("tiny")


@pytest.mark.parametrize("moment", ["fetching", "writing"])
def test_an_interruption_leaves_nothing_behind(folder, tiny, serve, monkeypatch, moment):
    serve(TINY)

    def interrupt(*args):
        raise KeyboardInterrupt

    if moment == "fetching":
        monkeypatch.setattr(loading, "unpack", interrupt)
    else:
        monkeypatch.setattr("os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        load("tiny")
    assert left_behind(folder) == ([] if moment == "fetching" else ["data"])


def test_a_data_folder_that_cannot_be_made(folder, tiny, serve):
    serve(TINY)
    folder.write_text("a file, not a folder")
    with pytest.raises(FileExistsError, match="data cannot be made, to keep tiny.arff there: File exists."):
        load("tiny")
    assert left_behind(folder) == ["data"]
