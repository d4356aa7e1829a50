"""Folders of studies that somebody else made or changed: what is in them is checked, and shown as text or refused."""

import copy
import io
import json
import os
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import study_zoo as zoo
from choral import ErrorProfile
from choral.learners import ConstantLabels, LabelPowerset
from choral.report import markup, page, render_page
from choral.study import (
    Finding,
    Plan,
    Results,
    Section,
    StudyData,
    StudyLearner,
    Summary,
    Table,
    run_study,
    running,
    store,
    write_figures,
)
from choral.study.cells import Cell, Outcome
from choral.study.page import study_contents
from choral.study.store import DamagedFile

pytestmark = pytest.mark.usefixtures("here")  # cells run in this process

MARK = "<x-foreign onclick='1'>"
KINDS = [None, True, -2.5, MARK, [MARK], {MARK: MARK}]  # all that JSON has


def size_section(results):
    return Section(
        "Size",
        prose=["It is small."],
        findings=[Finding("A leads.", "holds", "of 3", "on d", "counted", "curves/d--binomial")],
        summaries=[Summary(("data", "cells"), [("d", 4), ("e", 0.5)], caption="Cells", footer=("sum", None))],
        tables={"size": Table(("data", "cells"), [("d", 4)])},
    )


LEARNERS = [
    StudyLearner("A", zoo.Stumps()),
    StudyLearner("none", ConstantLabels(), is_baseline=True),
    StudyLearner("raising", zoo.Raising()),
    StudyLearner("warning", zoo.Warning()),
    StudyLearner("LP", LabelPowerset(GaussianNB()), each_loss=True),
]
FOLDS = np.arange(24) // 12
PLAN = Plan(
    [StudyData("d", zoo.make_data, folds=FOLDS), StudyData("e", lambda: zoo.make_data(24, 2), folds=FOLDS)],
    LEARNERS,
    families={"binomial": None, "polynomial": [1, 3, np.inf]},
    analyses=[size_section],
    text="title = 'Foreign'\n",
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(PLAN, tmp_path_factory.mktemp("finished") / "study")


@pytest.fixture
def folder(finished, tmp_path):
    """A copy of a finished study, to be changed."""
    return shutil.copytree(finished._store.folder, tmp_path / "study")


# --- what is shown


class Elements(HTMLParser):
    """The names of all elements and attributes of a page."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found |= {tag, *(f"{tag} {name}" for name, _ in attributes)}


def page_of(folder):
    """The page of a study, which has all that its tables have, too."""
    results = Results(folder, n_bootstrap=2)
    for table in results.tables().values():
        table.to_csv()
    return render_page(study_contents(results))


def page_or_message(folder):
    try:
        return page_of(folder)
    except DamagedFile as error:
        return str(error)


def places(tree, place=()):
    """The places of all values in a tree of JSON; of the values of a list, the first."""
    yield place
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from places(value, (*place, key))
    elif isinstance(tree, list) and tree:
        yield from places(tree[0], (*place, 0))


def replaced(tree, place, value):
    """The tree with another value at a place."""
    if not place:
        return value
    tree = copy.deepcopy(tree)
    inner = tree
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return tree


def renamed(tree, place):
    """The tree with another name for a value of a table."""
    *rest, key = place
    table = tree
    for each in rest:
        table = table[each]
    return replaced(tree, rest, {MARK if name == key else name: value for name, value in table.items()})


@pytest.fixture
def check_page(finished, monkeypatch):
    """Refuse pages with elements or attributes that are not ours."""
    pytest.importorskip("plotly")
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "")  # they are not ours to check, and long
    monkeypatch.setattr(page, "bundle_page_scripts", lambda: "")
    ours = Elements(page_of(finished._store.folder)).found
    shown = []

    def check(folder):
        text = page_or_message(folder)
        assert Elements(text).found <= ours or not text.startswith("<!"), text
        shown.append("&lt;x-foreign" in text)
        return text

    yield check
    assert any(shown)  # else nothing was tried


def test_json_of_every_kind_in_study_json_is_refused_or_shown_as_text(folder, check_page):
    study = json.loads((folder / "study.json").read_text())
    for place in places(study):
        changed = [replaced(study, place, value) for value in KINDS]
        if place and isinstance(place[-1], str):
            changed.append(renamed(study, place))
        for tree in changed:
            (folder / "study.json").write_text(json.dumps(tree))
            check_page(folder)


@pytest.mark.parametrize("key", ["reason", "details", "seconds"])
def test_json_of_every_kind_in_the_note_of_a_failure_is_shown_as_text(folder, check_page, key):
    path = min(folder.glob("cells/*.failed.json"))
    failure = json.loads(path.read_text())
    for value in [*KINDS, *[{**failure, key: value} for value in KINDS], {}]:
        path.write_text(json.dumps(value))
        text = check_page(folder)
        told = isinstance(value, dict) and isinstance(value.get(key), str)
        if key == "reason":
            assert ("&lt;x-foreign" in text) == told
        assert ("unknown: the note of its failure is damaged" in text) == (not told and not is_harmless(value))
    path.write_text(json.dumps(failure | {"reason": MARK}))
    check_page(folder)


def is_harmless(value):
    return isinstance(value, dict) and all(isinstance(value.get(key), str) for key in ("reason", "details"))


def change_about(path, **changes):
    """Change what a cell says about itself; its checksums are right all the same."""
    with np.load(path) as archive:
        arrays = dict(archive)
    about = json.loads(arrays["about"].tobytes()) | changes
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez_compressed(path, **arrays)


def change_arrays(path, **changes):
    """Change arrays of a cell or of labels; the checksums are right all the same. None removes one."""
    with np.load(path) as archive:
        arrays = {name: array for name, array in (dict(archive) | changes).items() if array is not None}
    np.savez_compressed(path, **arrays)


def text_array(value):
    return np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)


def path_of(results, learner, folder):
    (cell, *_) = results.cells("d", learner)
    return folder / "cells" / f"{cell.key}.npz"


def test_json_of_every_kind_in_a_cell_is_damage_or_shown_as_text(finished, folder, check_page):
    path = path_of(finished, "warning", folder)
    with np.load(path) as archive:
        about = json.loads(archive["about"].tobytes())
    for key in about:
        for value in [*KINDS, *([kind] for kind in KINDS)]:
            change_about(path, **{**about, key: value})
            assert check_page(folder).startswith("<!")  # a damaged cell does not keep others from being shown
    change_about(path, **{**about, "warnings": [MARK]})
    assert "&lt;x-foreign" in check_page(folder)


def test_names_of_labels_of_every_kind_are_refused_or_shown_as_text(folder, check_page):
    for path in folder.glob("labels/*.npz"):
        for value in KINDS:
            change_arrays(path, label_names=text_array([value, "b", "c"]))
            check_page(folder)
            change_arrays(path, label_names=text_array(value))
            check_page(folder)


@pytest.mark.parametrize("value", [[MARK], {MARK: 1}, (MARK,), (1, [MARK]), object()])
def test_a_cell_of_a_table_is_text_whatever_its_kind(value):
    assert "<x-foreign" not in markup.table("t", "T", ["a"], [[value], [1]], footer=[value])
    assert 'class="number"' not in markup.table("t", "T", ["a"], [[value], [1]])
    assert "<x-foreign" not in markup.prose(value)


# --- what is refused

KEY = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    "place, value, message",
    [
        ((), 3, "it is not a table of names and values"),
        (("format",), 2, "it was written by another version of choral"),
        (("title",), ["x"], "title must be text; got a list"),
        (("plan",), 1.5, "plan must be text; got 1.5"),
        (("notes",), "x", "notes must be a list; got 'x'"),
        (("notes",), [3], "notes[0] must be text; got 3"),
        (("versions",), [], "versions must be a table of names and values; got a list"),
        (("versions", "numpy"), None, "versions.numpy must be text; got None"),
        (("predictions",), "firm", "predictions must be one of 'hard', 'soft'; got 'firm'"),
        (("baseline",), "B", "baseline must be one of 'A', 'none', 'raising', 'warning', 'LP'; got 'B'"),
        (("each_loss",), ["A", "A"], "each_loss must be distinct"),
        (("families",), [], "families must not be empty"),
        (("families",), ["binomial", "x"], "families[1] must be one of 'binomial', 'polynomial'; got 'x'"),
        (("learners",), {}, "learners must not be empty"),
        (("datasets",), [], "datasets must not be empty"),
        (("datasets", 0), {"name": "d"}, "datasets[0] lacks labels, parameters, cells"),
        (("datasets", 1, "name"), "d", "the names of datasets must be distinct"),
        (("datasets", 0, "labels"), f"../../{KEY}", "datasets[0].labels must be a key, 32 of the digits 0-9 and a-f;"),
        (("datasets", 0, "labels"), f"{KEY}\n", "datasets[0].labels must be a key, "),
        (("datasets", 0, "parameters"), {}, "datasets[0].parameters must be those of binomial, polynomial"),
        (("datasets", 0, "parameters", "binomial"), [], "datasets[0].parameters.binomial must not be empty"),
        pytest.param(
            *(("datasets", 0, "parameters", "binomial", 1), 10**400, "must be a number, or the text inf; got 1000"),
            id="a number of 400 digits",
        ),
        (("datasets", 0, "parameters", "binomial", 1), float("nan"), "must be a number, or the text inf; got nan"),
        (("datasets", 0, "cells", 3), ["A", 0, 0, 1], "cells[3] must be a list of learner, seed, repeat, fold, key; "),
        (("datasets", 0, "cells", 3, 0), "B", "cells[3], learner must be one of 'A', 'none', 'raising', "),
        (("datasets", 0, "cells", 3, 1), -1, "cells[3], seed must be a whole number from 0 on; got -1"),
        (("datasets", 0, "cells", 3, 2), True, "cells[3], repeat must be a whole number from 0 on; got True"),
        (("datasets", 0, "cells", 3, 3), 1.0, "cells[3], fold must be a whole number from 0 on; got 1.0"),
        (("datasets", 0, "cells", 3, 4), "../x", "cells[3], key must be a key, 32 of the digits 0-9 and a-f; got"),
        (("datasets", 0, "cells", 1, 3), 0, "must have each fold of each repeat once; not so of 'A', seed 0"),
        (("datasets", 0, "cells", 1, 3), 2, "must have each fold of each repeat once; not so of 'A', seed 0"),
        (("datasets", 0, "cells"), [["A", 0, 0, 0, KEY]], "cells must have cells of each learner; there are none of"),
    ],
)
def test_what_study_json_must_not_be_is_told_with_its_place(finished, folder, place, value, message):
    study = json.loads((folder / "study.json").read_text())
    (folder / "study.json").write_text(json.dumps(replaced(study, place, value)))
    pattern = rf"study.json cannot be read \(.*{re.escape(message)}.*\); run the study again, its finished cells stay."
    with pytest.raises(DamagedFile, match=pattern):
        Results(folder)
    assert run_study(PLAN, folder).finished("d") == finished.finished("d")


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"shape": np.array([24, 2])}, "it has 2 labels, but 3 names"),
        ({"shape": np.array([25, 3])}, "it has 25 rows, but folds of 24"),
        ({"labels": np.zeros((24, 2), dtype=np.uint8)}, "its labels are not of the shape (24, 3)"),
        ({"labels": np.zeros((24, 1))}, "its labels are not of the shape (24, 3)"),
        ({"folds": np.zeros((1, 24), dtype=int)}, "folds must be numbered 0, 1, ..., at least two of them; got 0"),
        ({"folds": np.full((1, 24), "a")}, "folds must be one whole number for each row"),
        ({"label_names": text_array(["a", "b", 3])}, "label_names[2] must be text; got 3"),
        ({"label_names": text_array("abc")}, "label_names must be a list; got 'abc'"),
        ({"label_names": None}, "There is no item named 'label_names.npy' in the archive"),
        ({"shape": np.array([24, 3], dtype=object)}, "shape.npy is not of the size that it says"),
    ],
)
def test_labels_with_right_checksums_that_cannot_be_are_damaged(finished, folder, changes, message):
    path = folder / "labels" / f"{finished.study['datasets'][0]['labels']}.npz"
    change_arrays(path, **changes)
    with pytest.raises(DamagedFile, match=rf"is damaged or missing \(.*{re.escape(message)}.*; run the study again."):
        page_of(folder)
    assert run_study(PLAN, folder).labels("d")[1] == finished.labels("d")[1]


def test_labels_of_another_split_or_of_fewer_labels_are_told(finished, folder):
    path = folder / "labels" / f"{finished.study['datasets'][0]['labels']}.npz"
    change_arrays(path, folds=np.tile(np.arange(24) % 3, (2, 1)))
    with pytest.raises(DamagedFile, match="the labels of d have 3 folds in 2 repeats, its cells 2 in 1; run the study"):
        page_of(folder)
    shutil.copy(folder / "labels" / f"{finished.study['datasets'][1]['labels']}.npz", path)
    with pytest.raises(
        DamagedFile, match=r"the study cannot be read: binomial on d: parameters of .* in 1..2, the num"
    ):
        page_of(folder)


PROFILE = {"n_labels": 3, "n_rows": 11, "total_weight": 11, "rows_by_errors": [11, 0, 0, 0]}


@pytest.mark.parametrize(
    "learner, changes, message",
    [
        ("A", {"about": text_array([])}, "list indices must be integers"),
        ("A", {"about": text_array({"key": "other"})}, "it is the result of another cell"),
        ("A", {"about": np.frombuffer(b"[" * 10**5, dtype=np.uint8)}, "maximum recursion depth exceeded"),
        ("A", {"predictions": np.zeros((12, 3))}, "its predictions are neither labels nor scores"),
        ("A", {"predictions": np.full((12, 3), np.nan, dtype=np.float32)}, "its predictions are neither labels nor"),
        ("A", {"predictions": np.zeros((12, 3, 1), dtype=np.float32)}, "its predictions are neither labels nor scores"),
        ("A", {"predictions": np.zeros((12, 2), dtype=np.uint8)}, "its labels are not of the shape (12, 3)"),
        ("A", {"predictions": np.zeros((0, 1), dtype=np.uint8)}, "its labels are not of the shape (0, 3)"),
        ("A", {"predictions": np.zeros((11, 1), dtype=np.uint8)}, "have the shape (11, 3), not (12, 3)"),
        ("LP", {"predictions": np.zeros((5, 12, 1), dtype=np.uint8)}, "have the shape (5, 12, 3), not (6, 12, 3)"),
        ("A", {"profile": PROFILE}, "a profile is not that of its predictions"),
        ("A", {"profile": []}, "'list' object has no attribute"),
        ("LP", {"profile": [PROFILE]}, "it has 1 profiles of 6 predictions"),
        ("A", {"warnings": [3]}, "warnings[0] must be text; got 3"),
        ("A", {"seconds": "long"}, "could not convert string to float"),
    ],
)
def test_a_cell_with_right_checksums_that_cannot_be_is_damaged_and_run_again(
    finished, folder, learner, changes, message
):
    path = path_of(finished, learner, folder)
    whole = path.read_bytes()
    if {"about", "predictions"} & changes.keys():
        change_arrays(path, **changes)
    else:
        change_about(path, **changes)
    damaged = Results(folder)
    cell = damaged.cells("d", learner)[0]
    assert [failure for failure in damaged.failures() if failure.learner == learner] == [
        (*cell[:5], "not run yet, or damaged")
    ]
    with pytest.raises(DamagedFile, match=rf"{path.name} is damaged: .*{re.escape(message)}"):
        damaged.cell_predictions(cell)
    assert np.array_equal(run_study(PLAN, folder).cell_predictions(cell), finished.cell_predictions(cell))
    assert len(path.read_bytes()) == pytest.approx(len(whole), abs=30)


def test_zeros_anywhere_in_a_cell_or_in_labels_never_go_unnoticed_nor_stop_the_report(finished, folder):
    cell = finished.cells("d", "A")[0]
    path, kept = path_of(finished, "A", folder), store.Store(folder)
    whole, expected, n_damaged = path.read_bytes(), finished.cell_predictions(cell), 0
    for start in range(len(whole)):
        path.write_bytes(whole[:start] + bytes(len(whole[start : start + 12])) + whole[start + 12 :])
        try:
            assert np.array_equal(kept.read_cell(cell.key).predictions, expected)
        except DamagedFile:
            n_damaged += 1
    assert n_damaged > len(whole) / 2
    labels = finished.study["datasets"][0]["labels"]
    path = folder / "labels" / f"{labels}.npz"
    whole, (expected, names) = path.read_bytes(), finished.labels("d")
    for start in range(len(whole)):
        path.write_bytes(whole[:start] + bytes(len(whole[start : start + 12])) + whole[start + 12 :])
        try:
            found = kept.read_labels(labels)
            assert (found.Y.tolist(), found.label_names) == (expected.tolist(), names)
        except DamagedFile:
            n_damaged += 1


def test_an_array_that_claims_to_be_large_is_refused_before_it_is_made(finished, folder, monkeypatch):
    path = path_of(finished, "A", folder)
    change_arrays(path, predictions=np.zeros((4, 10**6), dtype=np.uint8))
    monkeypatch.setattr(store, "MAX_UNPACKED", 10**6)
    with pytest.raises(DamagedFile, match="predictions.npy would take 4000128 bytes"):
        Results(folder).cell_predictions(finished.cells("d", "A")[0])
    monkeypatch.undo()
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (10**15,)})
    with np.load(path) as archive:
        about = archive["about"]
    with store.zipfile.ZipFile(path, "w") as archive:
        archive.writestr("about.npy", array_bytes(about))
        archive.writestr("predictions.npy", header.getvalue())
    with pytest.raises(DamagedFile, match="predictions.npy is not of the size that it says"):
        Results(folder).cell_predictions(finished.cells("d", "A")[0])


def test_predictions_of_a_known_shape_may_be_as_large_as_that(tmp_path, monkeypatch):
    """All zeros take a thousandth of their size in the file."""
    kept, zeros = store.Store(tmp_path), np.zeros((200_000, 8), dtype=np.uint8)
    kept.create()
    profile = ErrorProfile.from_predictions(zeros, zeros).to_dict()
    kept.write_cell(Cell("d", "A", 0, 0, 0, KEY), Outcome(zeros, (profile,)))
    monkeypatch.setattr(store, "MAX_UNPACKED", 10**5)
    assert np.array_equal(kept.read_cell(KEY, zeros.shape).predictions, zeros)
    with pytest.raises(DamagedFile, match="predictions.npy would take 200128 bytes"):
        kept.read_cell(KEY)


def array_bytes(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def test_too_little_memory_is_not_taken_for_damage(finished, folder, monkeypatch):
    def refuse(*arguments):
        raise MemoryError("no more")

    monkeypatch.setattr(store, "_read_arrays", refuse)
    with pytest.raises(MemoryError, match="no more"):
        Results(folder).failures()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes in folders")
@pytest.mark.parametrize("name", ["study.json", "cell", "labels"])
def test_a_pipe_in_place_of_a_file_is_refused(finished, folder, name):
    """Reading it would wait for ever."""
    labels = folder / "labels" / f"{finished.study['datasets'][0]['labels']}.npz"
    path = {"study.json": folder / "study.json", "cell": path_of(finished, "A", folder), "labels": labels}[name]
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(OSError, match=f"{path.name} cannot be read: it is not a regular file."):
        page_of(folder)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Section(3), "the title of a section must be text; got 3"),
        (lambda: Section("x", prose=[[MARK]]), r"the prose of a section\[0\] must be text; got a list"),
        (lambda: Section("x", tables={"t": Table([3], [])}), r"the columns of the table 't'\[0\] must be text; got 3"),
        (lambda: Finding(["x"], "holds"), "the statement of a finding must be text; got a list"),
        (lambda: Summary([None], []), r"the columns of a summary\[0\] must be text; got None"),
        (lambda: Summary(["a"], [], caption=3), "the caption of a summary must be text; got 3"),
        (lambda: Summary(["a"], [[[1]]]), "a cell of a summary must be a text, a number or None; got a list."),
    ],
)
def test_what_a_section_must_not_hold(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_texts_are_no_formulas_in_csv_files_and_numbers_stay():
    rows = [[start + "1", text] for start, text in zip("=+-@\t\r", ("a=", "b", "c", "d", "e", "-"), strict=True)]
    table = Table(("=a", "b"), [*rows, (-1, -2.5), (None, "half a character \ud800")])
    lines = table.to_csv().replace('"', "").split("\n")
    assert lines[:5] == ["'=a,b", "'=1,a=", "'+1,b", "'-1,c", "'@1,d"]
    assert lines[5:8] == ["'\t1,e", "'\r1,'-", "-1,-2.5"]


def test_half_a_character_in_a_name_does_not_stop_the_writing(tmp_path):
    Table(("a",), [("\ud800",)]).to_csv(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "a\n\\ud800\n"


# --- links


@pytest.fixture
def elsewhere(tmp_path):
    """A folder of the user's, with a file."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    return tmp_path / "mine"


@pytest.mark.parametrize("name", ["cells", "labels", "log.txt", "study.lock"])
def test_a_study_does_not_run_in_a_folder_with_links(folder, elsewhere, name):
    path = folder / name
    target = elsewhere if path.is_dir() else elsewhere / "thesis.txt"
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(target)
    message = (
        f"study cannot be the folder of a study: .*{name} is a link, which may lead to files of others, so nothing"
    )
    with pytest.raises(FileExistsError, match=message):
        run_study(PLAN, folder)
    assert [(path.name, path.read_text()) for path in elsewhere.iterdir()] == [("thesis.txt", "years of work")]


def test_links_in_place_of_files_of_a_study_are_replaced(finished, folder, elsewhere):
    cell = path_of(finished, "A", folder)
    for path in (folder / "study.json", cell):
        path.unlink()
        path.symlink_to(elsewhere / "thesis.txt")
    results = run_study(PLAN, folder)
    assert results.finished("d") == finished.finished("d")
    assert not cell.is_symlink()
    assert not (folder / "study.json").is_symlink()
    assert (elsewhere / "thesis.txt").read_text() == "years of work"


SMALL = zoo.small_plan(LEARNERS[0], families={"binomial": None})


def test_figures_are_not_written_through_links(tmp_path, elsewhere):
    pytest.importorskip("matplotlib")
    (elsewhere / "photo.svg").write_text("mine")
    out, small = tmp_path / "out", run_study(SMALL, tmp_path / "small")
    (first, *_) = write_figures(small, out, formats=["svg"])
    first.unlink()
    first.symlink_to(elsewhere / "photo.svg")
    write_figures(small, out, formats=["svg"])
    assert not first.is_symlink()
    shutil.rmtree(first.parent)
    first.parent.symlink_to(elsewhere)
    with pytest.raises(FileExistsError, match="curves is a link, which may lead to files of others, so nothing is"):
        write_figures(small, out, formats=["svg"])
    assert sorted(path.name for path in elsewhere.iterdir()) == ["photo.svg", "thesis.txt"]
    assert (elsewhere / "photo.svg").read_text() == "mine"


def test_a_folder_in_which_nothing_but_a_probe_was_left_is_taken(tmp_path):
    """A study that is killed while it tries whether it can write."""
    store.beside(tmp_path / "log.txt").touch()
    assert run_study(SMALL, tmp_path).finished("d") == ("A",)
