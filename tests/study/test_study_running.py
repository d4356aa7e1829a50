"""Studies that run: killed, interrupted, damaged, with learners in trouble, on several processes and on a cluster."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import study_zoo as zoo
from choral import BinomialMeasure, JointCalibratedClassifier, ThresholdTuner, _outputs
from choral._outputs import beside
from choral.learners import BinaryRelevance, LabelPowerset, PredictiveClusteringForest
from choral.paper import Boomer
from choral.study import Plan, Results, Split, StudyData, StudyLearner, run_study, running, worker
from choral.study.preparing import make_task, prepare
from choral.study.store import DamagedFile, Store
from processes import PATIENCE, is_alive, lines, wait_until
from study_zoo import small_plan

ROUNDS = (1, 2, 3)  # the write of a cell at which the study is killed, in one round after another


def logged_plan():
    """Six cells, each of which notes that it runs."""
    return small_plan(*(StudyLearner(f"L{bias}", zoo.Stumps(bias)) for bias in (0.0, 0.3)), split=Split(folds=3))


def waiting_plan():
    """Four cells that wait for a gate to open."""
    return small_plan(*(StudyLearner(f"W{bias}", zoo.Waiting(bias)) for bias in (0.0, 0.3)))


def contents(results):
    """All predictions of a study, and the losses, by cell."""
    return {
        cell: (results.cell_predictions(cell).tolist(), results.cell_losses(cell, "binomial").tolist())
        for dataset in results.datasets
        for cell in results.cells(dataset)
    }


def list_children(monkeypatch):
    """The child processes that are started from now on."""
    started, start = [], worker._start
    monkeypatch.setattr(worker, "_start", lambda: started.append(start()) or started[-1])
    return started


def start(code, *arguments):
    """Run some lines of Python in a process of its own that knows this module."""
    path = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    command = [sys.executable, "-c", f"import sys\nimport test_study_running as tests\n{code}", *map(str, arguments)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": path}, stderr=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A finished study that nothing disturbed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(logged_plan(), tmp_path_factory.mktemp("stored") / "study")


def anew_plan():
    """A learner that predicts anew for each loss, beside one that notes its runs and the same that predicts once."""
    return small_plan(
        StudyLearner("LP", LabelPowerset(GaussianNB()), each_loss=True),
        StudyLearner("L", zoo.Stumps()),
        StudyLearner("LP once", LabelPowerset(GaussianNB())),
        families={"binomial": None, "polynomial": "even"},
    )


@pytest.fixture(scope="module")
def anew(tmp_path_factory):
    """A finished study with a learner that predicts anew for each loss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(anew_plan(), tmp_path_factory.mktemp("anew") / "study")


# --- killed while it writes


def run_and_die(folder, number):
    """Run the study of `logged_plan` and be killed while the cell of this number, from 1 on, is half written."""
    whole, counter = np.savez_compressed, itertools.count(1)

    def write_half(file, **arrays):
        whole(file, **arrays)
        if "predictions" in arrays and next(counter) == number:
            file.flush()
            file.truncate(file.tell() // 2)
            os.kill(os.getpid(), signal.SIGKILL)

    np.savez_compressed, running.run_task = write_half, zoo.run_here
    run_study(logged_plan(), folder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_study_killed_while_it_writes_loses_and_repeats_nothing(stored, tmp_path, runs, here):
    folder = tmp_path / "study"
    code = (
        "import os\n"
        "for number in tests.ROUNDS:\n"
        "    if (pid := os.fork()) == 0:\n"
        "        tests.run_and_die(sys.argv[1], number)\n"
        "    assert os.waitpid(pid, 0)[1] == tests.signal.SIGKILL\n"
    )
    assert start(code, folder).wait(PATIENCE) == 0
    finished = {path: path.stat().st_mtime_ns for path in folder.glob("cells/*.npz")}
    assert len(finished) == 0 + 1 + 2  # all that came before the one that was killed, in each round
    assert len(list(folder.glob("cells/.*.tmp"))) == 1  # the next round removes what the last one left
    temporary_of(999999999, folder).write_text("half")  # of a process that is no more
    results = run_study(logged_plan(), folder)
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert sorted(Counter(lines(runs)).values()) == [1, 1, 1, 2, 2, 2]  # killed ones twice, others once
    assert results.failures() == ()
    assert [path.name for path in folder.rglob(".*")] == []
    assert contents(results) == contents(stored)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("how, n_jobs", [(signal.SIGKILL, 1), (signal.SIGINT, 2)])
def test_a_study_that_is_ended_leaves_no_process_and_goes_on(tmp_path, runs, gate, here, how, n_jobs):
    study = start(f"tests.run_study(tests.waiting_plan(), sys.argv[1], n_jobs={n_jobs})", tmp_path / "study")
    try:
        wait_until(lambda: len(lines(runs)) == n_jobs, "the first cells")
        study.send_signal(how)
        assert study.wait(PATIENCE) != 0
    finally:
        study.kill()
        study.wait()
    pids = [int(pid) for line in lines(runs) for pid in line.split()[1:]]
    wait_until(lambda: not any(map(is_alive, pids)), "the end of the children, and of theirs")
    gate.touch()
    results = run_study(waiting_plan(), tmp_path / "study")
    assert results.failures() == ()
    assert len(contents(results)) == 4


# --- damaged files


def cell_files(results):
    return [results._store._cell_path(cell.key) for cell in results.cells("d")]


def as_values(stored_cell):
    return stored_cell.profiles, stored_cell.predictions.tolist(), stored_cell.seconds, stored_cell.warnings


@pytest.mark.parametrize("learner", ["L0.0", "LP"])
def test_no_changed_byte_of_a_cell_goes_unnoticed(stored, anew, tmp_path, learner):
    results = anew if learner == "LP" else stored
    cell = results.cells("d", learner)[0]
    store = Store(tmp_path)
    store.create()
    whole, expected = results._store._cell_path(cell.key).read_bytes(), as_values(results._store.read_cell(cell.key))
    path, n_noticed = store._cell_path(cell.key), 0
    for place, change in itertools.product(range(len(whole)), (1, 255)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        try:
            assert as_values(store.read_cell(cell.key)) == expected
        except DamagedFile:
            n_noticed += 1
    assert n_noticed > len(whole)  # the rest are dates and the like
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedFile, match="is damaged: "):
            store.read_cell(cell.key)


def test_a_damaged_cell_is_noticed_and_run_again(stored, tmp_path, runs, here):
    folder = shutil.copytree(stored._store.folder, tmp_path / "study")
    first, second, third, fourth, *rest = cell_files(Results(folder))
    first.write_bytes(first.read_bytes()[:-20])
    second.write_bytes(b"")
    third.write_bytes(fourth.read_bytes())
    untouched = [path.stat().st_mtime_ns for path in (fourth, *rest)]
    damaged = Results(folder)
    assert [failure.reason for failure in damaged.failures()] == ["not run yet, or damaged"] * 3
    with pytest.raises(DamagedFile, match="is damaged: it is the result of another cell."):
        damaged.cell_predictions(damaged.cells("d")[2])
    again = run_study(logged_plan(), folder)
    assert contents(again) == contents(stored)
    assert len(lines(runs)) == 3
    assert [path.stat().st_mtime_ns for path in (fourth, *rest)] == untouched
    assert (folder / "log.txt").read_text().count("damaged, to be run again: ") == 3


def test_a_damaged_cell_with_predictions_for_each_loss_is_noticed_and_run_again(anew, tmp_path, runs, here):
    folder = shutil.copytree(anew._store.folder, tmp_path / "study")
    cells = Results(folder).cells("d")
    first, second, *rest = (anew._store._cell_path(cell.key).name for cell in cells)
    path = folder / "cells" / first
    path.write_bytes(path.read_bytes()[:-20])
    (folder / "cells" / second).unlink()
    untouched = [(folder / "cells" / name).stat().st_mtime_ns for name in rest]
    damaged = Results(folder)
    assert damaged.finished("d") == ("L", "LP once")
    assert [failure.reason for failure in damaged.failures()] == ["not run yet, or damaged"] * 2
    again = run_study(anew_plan(), folder)
    assert contents(again) == contents(anew)
    assert lines(runs) == []
    assert [(folder / "cells" / name).stat().st_mtime_ns for name in rest] == untouched


def test_one_more_loss_is_predicted_for_without_running_other_cells_again(anew, tmp_path, runs, here):
    folder = shutil.copytree(anew._store.folder, tmp_path / "study")
    plan = replace(anew_plan(), families={"binomial": [1, 2], "polynomial": "even"})
    results = run_study(plan, folder)
    assert lines(runs) == []  # its losses come from what it predicts once
    keys = {learner: {cell.key for cell in results.cells("d", learner)} for learner in results.learners}
    before = {cell.key for cell in anew.cells("d")}
    assert keys["L"] | keys["LP once"] < before
    assert not keys["LP"] & before
    assert results.cell_predictions(results.cells("d", "LP")[0]).shape == (2 + 12, 12, 3)


def test_what_is_kept_of_a_cell(anew):
    """The files of ordinary cells are what they were: those of former studies serve again."""
    (cell, _), (own, _) = anew.cells("d", "L"), anew.cells("d", "LP")
    for one, shape in ((cell, (12, 1)), (own, (3 + 12, 12, 1))):
        with np.load(anew._store._cell_path(one.key)) as arrays:
            assert sorted(arrays.files) == ["about", "predictions"]
            assert (arrays["predictions"].dtype, arrays["predictions"].shape) == (np.uint8, shape)  # packed
            about = json.loads(arrays["about"].tobytes())
        assert list(about) == ["key", "n_labels", "profile", "seconds", "warnings"]
        assert (about["key"], about["n_labels"], about["warnings"]) == (one.key, 3, [])
        if one is cell:
            assert about["profile"] == anew.cell_profile(cell).to_dict()
        else:
            assert [profile["n_rows"] for profile in about["profile"]] == [12] * 15


def test_the_log_tells_for_how_many_losses_labels_were_predicted(anew):
    log = (anew._store.folder / "log.txt").read_text()
    assert log.count(" s, labels for each of 15 losses") == 2
    assert log.count(" s, Hamming 0.") == 4


def test_a_study_of_before_there_were_learners_that_predict_anew(stored, tmp_path):
    folder = shutil.copytree(stored._store.folder, tmp_path / "study")
    study = json.loads((folder / "study.json").read_text())
    for key in ("sections", "each_loss"):
        assert study.pop(key) == []
    (folder / "study.json").write_text(json.dumps(study))
    former = Results(folder)
    assert (former.sections, former.each_loss) == ((), ())
    assert contents(former) == contents(stored)


@pytest.mark.parametrize(
    "content, message",
    [
        (b"", "Expecting value"),
        (b'{"title": "x"', "Expecting"),
        (b"\xff\xfe\x00", "codec can't decode"),
        (b"3", "it is not a table of names and values"),
        (b"[" * 10**5, "maximum recursion depth exceeded"),
        (b'{"title": "x"}', "it was written by another version of choral"),
        (b'{"format": 1, "title": "x"}', "it lacks created, predictions, baseline, families, learners, datasets"),
    ],
)
def test_a_damaged_description_of_a_study_is_told(tmp_path, content, message):
    (tmp_path / "study.json").write_bytes(content)
    with pytest.raises(
        DamagedFile, match=f"study.json cannot be read .*{message}.*; run the study again, its finished"
    ):
        Results(tmp_path)


def test_a_plan_by_name_or_file_is_read(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(running, "read_plan", lambda plan: read.append(plan) or logged_plan())
    (tmp_path / "thesis.txt").write_text("years of work")
    for plan in ("quick", tmp_path / "plan.toml"):
        with pytest.raises(FileExistsError):  # so that nothing runs
            run_study(plan, tmp_path)
    assert read == ["quick", tmp_path / "plan.toml"]
    monkeypatch.undo()
    message = "a plan is one of quick, or a file that ends in .toml; got 'quik'; did you mean 'quick'?"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        run_study("quik", tmp_path / "study")


def test_what_is_no_plan_is_refused_with_a_remedy(tmp_path):
    remedy = "choral.study.read_plan reads plans from files, choral.paper.read_plan those of the paper."
    message = f"plan must be a choral.study.Plan, 'quick', or the path of a TOML file; got dict. {remedy}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        run_study({"title": "mine"}, tmp_path / "study")


def test_a_folder_without_a_study(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no study: there is no study.json in it."):
        Results(tmp_path)
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(FileExistsError, match="cannot be the folder of a study: it holds files, but no study."):
        run_study(logged_plan(), tmp_path)
    with pytest.raises(OSError, match="thesis.txt cannot be the folder of a study: "):
        run_study(logged_plan(), tmp_path / "thesis.txt")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_labels_that_are_damaged_or_missing(stored, tmp_path):
    store = Store(tmp_path)
    store.create()
    with pytest.raises(DamagedFile, match="is damaged or missing .*; run the study again."):
        store.read_labels("d")
    (path,) = (stored._store.folder / "labels").iterdir()
    whole = path.read_bytes()
    store._labels_path("d").write_bytes(whole[:-9])
    with pytest.raises(DamagedFile, match="is damaged or missing .*; run the study again."):
        store.read_labels("d")


def test_a_damaged_note_of_a_failure(tmp_path):
    store = Store(tmp_path)
    store.create()
    assert store.read_failure("key") is None
    store._failure_path("key").write_text("{")
    assert store.read_failure("key")["reason"] == "unknown: the note of its failure is damaged"


# --- learners in trouble

TIME_LIMIT = 5.0
TROUBLES = {
    "raising": (zoo.Raising(), r"KeyError: 'no\n such thing'"),
    "silent": (zoo.Silent(), "RuntimeError: no message"),
    "sleeping": (zoo.Sleeping(), "ran past the time limit of 5 seconds"),
    "killed": (zoo.Killed(), "the process that ran it died: SIGKILL, perhaps for lack of memory"),
    "signalled": (zoo.Signalled(), "the process that ran it died: signal "),
    "writing": (zoo.Writing(), "the process that ran it wrote into the pipe for its result"),
    "closing": (zoo.Closing(), "the process that ran it closed the pipe for its result"),
    "escaping": (zoo.Escaping(), "ran past the time limit of 5 seconds"),
    "surrogate": (zoo.Surrogate(), r"ValueError: half of a pair: \udfff"),
    "talking": (zoo.Talking(), "ValueError: aaaaaaa"),
    "leaving": (zoo.Leaving(), "SystemExit: enough"),
    "mute": (zoo.Mute(), "Speechless: Speechless, whose str raises RuntimeError"),
    "forking": (zoo.Forking(), "the process that ran it died: exit status 3"),
    "asking": (zoo.Asking(), "EOFError: EOF when reading a line"),
    "narrow": (zoo.Returning("narrow"), "ValueError: predictions must have the shape (12, 3); got (12, 2)."),
    "short": (zoo.Returning("short"), "ValueError: predictions must have the shape (12, 3); got (11, 3)."),
    "flat": (zoo.Returning("flat"), "ValueError: predictions must have the shape (12, 3); got (36,)."),
    "nothing": (zoo.Returning("nothing"), "ValueError: predictions must have the shape (12, 3); got ()."),
    "nan": (zoo.Returning("nan"), "ValueError: predict must return labels 0 and 1; for scores, say"),
    "text": (zoo.Returning("text"), "ValueError: predict must return labels 0 and 1; for scores, say"),
    "two": (zoo.Returning("two"), "ValueError: predict must return labels 0 and 1; for scores, say"),
}
DISTRIBUTIONS = {
    "narrow": "ValueError: predictions must have the shape (12, 3); got (12, 2).",
    "short": "ValueError: predictions must have the shape (12, 3); got (11, 3).",
    "marginals": "TypeError: predict_distribution must return a LabelDistribution or IndependentLabels; got ndarray.",
}
HARMLESS = {
    "printing": zoo.Printing(),
    "warning": zoo.Warning(),
    "threads": zoo.Threads(),
    "sparse": zoo.Returning("sparse"),
    "lists": zoo.Returning("lists"),
    "booleans": zoo.Returning("booleans"),
}


def troubled_plan():
    learners = {name: learner for name, (learner, _) in TROUBLES.items()} | HARMLESS
    return small_plan(*(StudyLearner(*item) for item in learners.items()), time_limit=TIME_LIMIT)


@pytest.fixture(scope="module")
def troubled(tmp_path_factory):
    """A study in which half of the cells of most learners fail."""
    folder, told = tmp_path_factory.mktemp("troubled") / "study", []
    results = run_study(troubled_plan(), folder, n_jobs=2, progress=lambda *what: told.append(what))
    return folder, results, told


def stored_cell(results, learner, fold=0):
    (cell,) = [cell for cell in results.cells("d") if cell.learner == learner and cell.fold == fold]
    return results._store.read_cell(cell.key)


def test_a_learner_in_trouble_costs_its_cell_and_says_why(troubled):
    _, results, _ = troubled
    reasons = {failure.learner: failure.reason for failure in results.failures()}
    assert reasons.keys() == TROUBLES.keys()
    for name, (_, reason) in TROUBLES.items():
        assert reasons[name].startswith(reason), name
    assert {failure.fold for failure in results.failures()} == {0}
    assert results.finished("d") == tuple(HARMLESS)


def test_the_cell_after_a_failure_is_as_if_there_was_none(troubled):
    _, results, _ = troubled
    expected = stored_cell(results, "sparse", fold=1).predictions
    for name in (*TROUBLES, *HARMLESS):
        assert np.array_equal(stored_cell(results, name, fold=1).predictions, expected), name


def test_long_texts_of_learners_are_shortened(tmp_path, here):
    results = run_study(small_plan(StudyLearner("L", zoo.Talking()), StudyLearner("S", zoo.Stumps())), tmp_path)
    (cell, _) = results.cells("d", "L")
    failure = results._store.read_failure(cell.key)
    assert failure["reason"] == f"ValueError: {'a' * 10_000}..."
    assert failure["details"] == f"{'a' * 9_999}\n"


def test_warnings_are_counted_by_learner_and_text(troubled):
    _, results, _ = troubled
    found = {key[2]: count for key, count in results.warnings().items() if key[1] == "warning"}
    n_cells = sum("FutureWarning: again" in stored_cell(results, "warning", fold=fold).warnings for fold in range(2))
    assert found["FutureWarning: again"] == n_cells > 0
    assert set(found.values()) == {n_cells}
    assert set(found) == set(stored_cell(results, "warning").warnings)


def test_what_learners_return_print_or_warn_of_is_no_trouble(troubled):
    _, results, _ = troubled
    expected = stored_cell(results, "lists").predictions
    for name in HARMLESS:
        assert np.array_equal(stored_cell(results, name).predictions, expected), name
    assert stored_cell(results, "warning").warnings == (
        "UserWarning: number 0",
        "FutureWarning: again",
        "UserWarning: number 1",
        "UserWarning: number 2",
        "UserWarning: number 3",
    )


def test_a_child_has_one_thread_for_each_library(troubled):
    _, results, _ = troubled
    (warning,) = stored_cell(results, "threads").warnings
    assert warning in ("UserWarning: threads: [1]", "UserWarning: threads: []")


def test_a_learner_that_hangs_is_ended_soon_after_the_limit(troubled):
    _, results, _ = troubled
    for learner in ("sleeping", "escaping"):
        (cell,) = [cell for cell in results.cells("d", learner) if cell.fold == 0]
        assert TIME_LIMIT <= results._store.read_failure(cell.key)["seconds"] < TIME_LIMIT + 10


def test_every_cell_is_told_and_logged(troubled):
    folder, results, told = troubled
    n_cells = len(results.cells("d"))
    assert told[0] == (0, 1, "reading d")
    assert [what[:2] for what in told[1:]] == [(done, n_cells) for done in range(1, n_cells + 1)]
    log = (folder / "log.txt").read_text()
    assert log.count(": done in ") == n_cells - len(TROUBLES)
    assert log.count(": failed after ") == len(TROUBLES)
    assert "d, silent, seed 0, repeat 0, fold 0: failed after " in log


def test_cells_that_failed_are_tried_again_and_no_others(troubled, runs, here, monkeypatch):
    folder, _, _ = troubled
    monkeypatch.setenv(zoo.CURED, "yes")
    cured = run_study(troubled_plan(), folder)
    assert cured.failures() == ()
    assert len(lines(runs)) == len(TROUBLES)
    assert list(folder.glob("cells/*.failed.json")) == []


def test_a_distribution_that_does_not_fit_costs_its_cell(tmp_path, here):
    plan = small_plan(*(StudyLearner(what, zoo.Joint(what), each_loss=True) for what in zoo.DISTRIBUTIONS))
    results = run_study(plan, tmp_path)
    assert results.finished("d") == ("good",)
    assert {failure.learner: failure.reason for failure in results.failures()} == DISTRIBUTIONS


def test_a_learner_decides_for_each_loss_in_its_own_way(tmp_path, here):
    learners = (
        StudyLearner("curved", zoo.Curved(), each_loss=True),
        StudyLearner("asked", zoo.Asked(), each_loss=True),
    )
    results = run_study(small_plan(*learners, families={"binomial": None, "polynomial": [1, 2, np.inf]}), tmp_path)
    assert results.failures() == ()
    for cell in results.cells("d", "curved"):
        np.testing.assert_array_equal(results.cell_predictions(cell), np.tile([1, 0, 0], (6, 12, 1)))
    for cell in results.cells("d", "asked"):
        assert results.cell_predictions(cell)[:, 0, 0].tolist() == [1, 1, 0, 1, 1, 0]


def test_a_curve_of_another_shape_costs_its_cell(tmp_path, here):
    results = run_study(small_plan(StudyLearner("narrow", zoo.Curved("narrow"), each_loss=True)), tmp_path)
    reasons = {failure.reason for failure in results.failures()}
    assert reasons == {"ValueError: predict_curve must return labels of the shape (3, 12, 3); got (2, 12, 3)."}


def test_thresholds_are_tuned_for_each_loss(tmp_path, here):
    X, Y = zoo.make_data(60)
    model = JointCalibratedClassifier(zoo.Stumps(), ThresholdTuner("f1"), cv=3)
    learner = StudyLearner("T", model, each_loss=True)
    plan = Plan([StudyData("d", (X, Y))], [learner], split=Split(2), families={"binomial": None})
    results = run_study(plan, tmp_path)
    for cell in results.cells("d"):
        test = results.test_rows(cell)
        fitted = clone(model).set_params(random_state=cell.seed).fit(X[~test], Y[~test])
        scores = fitted.estimator_.predict_proba(X[test])
        for k, found in zip((1, 2, 3), results.cell_predictions(cell), strict=True):
            tuner = ThresholdTuner(BinomialMeasure(k)).fit(fitted.scores_, Y[~test])
            np.testing.assert_array_equal(found, tuner.predict(scores))


def test_a_package_that_is_missing_costs_the_cells_that_need_it_and_says_how_to_get_it(tmp_path, here, monkeypatch):
    class Missing:
        @staticmethod
        def find_spec(name, *_):
            if name == "mlrl":
                raise ModuleNotFoundError("No module named 'mlrl'", name="mlrl")

    for name in [name for name in sys.modules if name.partition(".")[0] == "mlrl"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Missing, *sys.meta_path])
    results = run_study(small_plan(StudyLearner("B", Boomer()), StudyLearner("L", zoo.Stumps())), tmp_path)
    assert results.finished("d") == ("L",)
    reasons = {failure.reason for failure in results.failures()}
    assert reasons == {
        "ModuleNotFoundError: mlrl is not installed; try: pip install mlrl-boomer (or choral's extra 'boomer')"
    }


def test_a_study_whose_children_cannot_start_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "COMMAND", "raise SystemExit(7)")
    started = list_children(monkeypatch)
    with pytest.raises(ChildProcessError, match="a child process of the study did not start: exit status 7."):
        run_study(logged_plan(), tmp_path / "study")
    assert [process.returncode for process in started] == [7]


@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell that a process was killed")
@pytest.mark.parametrize("n_killed", [2, 3])
def test_children_that_are_killed_while_they_start_have_successors_but_not_for_ever(tmp_path, monkeypatch, n_killed):
    started, start = [], worker._start

    def start_and_kill():
        started.append(start())
        if len(started) <= n_killed:
            started[-1].kill()
        return started[-1]

    monkeypatch.setattr(worker, "_start", start_and_kill)
    if n_killed < worker.MAX_STARTS:
        results = run_study(small_plan(StudyLearner("S", zoo.Stumps())), tmp_path, n_jobs=1)
        assert results.finished("d") == ("S",)
        assert len(started) == n_killed + 1
    else:
        with pytest.raises(ChildProcessError, match="a child process of the study did not start: SIGKILL, perhaps"):
            run_study(small_plan(StudyLearner("S", zoo.Stumps())), tmp_path, n_jobs=1)


def test_a_learner_that_the_child_cannot_import_says_so(monkeypatch):
    module = ModuleType("only_here")
    module.Learner = type("Learner", (zoo.Stumps,), {"__module__": "only_here"})
    monkeypatch.setitem(sys.modules, "only_here", module)
    plan = small_plan(StudyLearner("L", module.Learner()))
    prepared = prepare(plan, plan.datasets[0])
    task = make_task(plan, plan.learners[0], plan.datasets[0].load(), prepared, prepared.cells[0])
    started, own = list_children(monkeypatch), worker.Worker()
    outcome = own.run(task)
    own.close()
    assert outcome.reason == "the task cannot be read, ModuleNotFoundError: No module named 'only_here'"
    assert all(process.returncode is not None for process in started)


def test_a_module_that_ends_the_process_which_imports_it_costs_the_cells_of_its_learner(tmp_path, monkeypatch):
    module = ModuleType("leaving")
    module.Learner = type("Learner", (zoo.Stumps,), {"__module__": "leaving"})
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "leaving", module)
    results = run_study(
        small_plan(StudyLearner("gone", module.Learner()), StudyLearner("L", zoo.Stumps())), tmp_path / "study"
    )
    assert results.finished("d") == ("L",)
    assert {failure.reason for failure in results.failures()} == {"the task cannot be read, SystemExit: 3"}


def test_a_study_that_ends_leaves_the_processes_of_another_alone(tmp_path, runs, gate):
    found = []
    study = threading.Thread(target=lambda: found.append(run_study(waiting_plan(), tmp_path / "long")))
    study.start()
    wait_until(lambda: len(lines(runs)) == 1, "the first cell")
    assert run_study(small_plan(StudyLearner("L", zoo.Stumps())), tmp_path / "short").failures() == ()
    gate.touch()
    study.join(PATIENCE)
    assert found[0].failures() == ()


def test_workers_that_are_killed_run_no_more_cells():
    plan = small_plan(StudyLearner("L", zoo.Sleeping()))
    prepared = prepare(plan, plan.datasets[0])
    task = make_task(plan, plan.learners[0], plan.datasets[0].load(), prepared, prepared.cells[0])
    workers, outcomes = worker.Workers(), []
    waiting = threading.Thread(target=lambda: outcomes.append(workers.run(task)))
    waiting.start()
    wait_until(lambda: workers._all and workers._all[0]._data_key, "the task")
    workers.close()
    waiting.join(PATIENCE)
    assert outcomes[0].reason == "the study ended before it did"
    with pytest.raises(RuntimeError, match="the study has ended: its child processes run no more cells."):
        workers.run(task)


def test_a_cell_that_dies_of_what_another_left_behind_is_run_once_more_in_a_new_process(tmp_path, gate, monkeypatch):
    started = list_children(monkeypatch)
    plan = small_plan(StudyLearner("haunting", zoo.Haunting()), StudyLearner("L", zoo.Opening()))
    assert run_study(plan, tmp_path / "study", n_jobs=1).failures() == ()
    assert len(started) == 2


def test_a_cell_that_ends_each_process_is_tried_in_two(tmp_path, monkeypatch):
    """First in one where others have run, then in a new one; the cells after it are none the worse."""
    started = list_children(monkeypatch)
    plan = small_plan(StudyLearner("L", zoo.Stumps()), StudyLearner("killed", zoo.Killed()))
    results = run_study(plan, tmp_path / "study", n_jobs=1)
    assert [failure.reason for failure in results.failures()] == [
        "the process that ran it died: SIGKILL, perhaps for lack of memory"
    ]
    assert len(started) == 3


def test_a_time_limit_of_centuries(tmp_path):
    assert run_study(small_plan(StudyLearner("L", zoo.Stumps()), time_limit=1e10), tmp_path).failures() == ()


def test_modules_of_the_working_folder_do_not_stand_in_for_others(tmp_path, monkeypatch):
    (tmp_path / "pickle.py").write_text("raise RuntimeError('not the one you want')")
    monkeypatch.chdir(tmp_path)
    plan = small_plan(StudyLearner("L", zoo.Stumps()))
    assert run_study(plan, "study").failures() == ()


def test_data_that_cannot_be_loaded_again_end_the_study_with_their_error(tmp_path):
    calls = itertools.count()

    def load():
        if next(calls):
            raise OSError("the disk is gone")
        return zoo.make_data()

    with pytest.raises(OSError, match="the disk is gone"):
        run_study(Plan([StudyData("d", load)], [StudyLearner("L", zoo.Stumps())]), tmp_path / "study", n_jobs=2)


# --- the same numbers anywhere


def seeded_plan(**options):
    learners = [
        StudyLearner("BR", BinaryRelevance(LogisticRegression())),
        StudyLearner("noisy", zoo.Noisy()),
        StudyLearner("unseeded", zoo.Unseeded()),
        StudyLearner("twin", BinaryRelevance(LogisticRegression())),
        StudyLearner("forest", PredictiveClusteringForest(n_estimators=5), each_loss=True),
    ]
    return small_plan(*learners, seeds=(0, 1), **options)


def test_one_and_two_processes_give_the_same_numbers(tmp_path):
    one, two = (run_study(seeded_plan(), tmp_path / str(n_jobs), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert contents(one) == contents(two)
    assert two.failures() == ()
    keys = {learner: {cell.key for cell in one.cells("d") if cell.learner == learner} for learner in one.learners}
    assert keys["BR"] == keys["twin"]
    log = (tmp_path / "1" / "log.txt").read_text()
    assert (log.count("d, BR, "), log.count("d, twin, ")) == (len(keys["BR"]), 0)  # equal keys run once


@pytest.mark.filterwarnings("ignore")  # of Dask, about the worker that we kill
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_cluster_that_loses_a_worker_loses_no_cell(tmp_path, runs, gate, monkeypatch):
    distributed = pytest.importorskip("distributed")

    def kill_a_worker():
        wait_until(lambda: len(lines(runs)) >= 2, "the first two cells")
        killed.append(int(lines(runs)[0].split()[0]))
        os.kill(killed[0], signal.SIGKILL)
        gate.touch()

    killed, killer = [], threading.Thread(target=kill_a_worker)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        pids = set(client.run(os.getpid).values())
        killer.start()
        with joblib.parallel_config(backend="dask"):
            results = run_study(waiting_plan(), tmp_path / "cluster")
        killer.join()
    assert killed[0] in pids
    assert results.failures() == ()
    log = (tmp_path / "cluster" / "log.txt").read_text()
    assert log.count(": done in ") == 4
    monkeypatch.setattr(running, "run_task", zoo.run_here)
    assert contents(results) == contents(run_study(waiting_plan(), tmp_path / "local"))


def test_what_is_kept_is_compact_and_plain(stored):
    for path in cell_files(stored):
        assert path.stat().st_size < 2000
    study = json.loads((stored._store.folder / "study.json").read_text())
    assert study["versions"].keys() >= {"python", "numpy", "scikit-learn", "choral"}
    assert list(study["learners"]) == ["L0.0", "L0.3"]


@pytest.mark.parametrize("options", [{}, {"predictions": "soft"}, {"threshold": 0.5}])
def test_a_single_label_may_be_predicted_as_scikit_learn_does(tmp_path, monkeypatch, options):
    X, Y = zoo.make_data(n_labels=1)
    learner = StudyLearner("logistic", LogisticRegression())
    plan = Plan([StudyData("one label", lambda: (X, Y))], [learner], split=Split(folds=2), **options)
    monkeypatch.setattr(running, "run_task", zoo.run_here)
    results = run_study(plan, tmp_path)
    assert results.failures() == ()
    assert results.curve("one label", "logistic", "binomial").losses < 0.5


def test_data_that_change_from_call_to_call_are_refused(tmp_path, here):
    seeds = itertools.count()

    def make():
        X, Y = zoo.make_data()
        return X + next(seeds), Y

    plan = Plan([StudyData("unsteady", make)], [StudyLearner("L", zoo.Stumps())], split=Split(folds=2))
    with pytest.raises(ValueError, match="the source of unsteady must return the same data each time; it does not."):
        run_study(plan, tmp_path)


def test_another_split_does_not_take_the_place_of_labels(tmp_path, here):
    """A study of the same name that is stopped before it says what it is leaves the former one as it was."""
    former = run_study(small_plan(StudyLearner("L", zoo.Stumps()), split=Split(folds=2)), tmp_path)
    before = contents(former)
    other = small_plan(StudyLearner("L", zoo.Stumps()), split=Split(folds=3))
    Store(tmp_path).write_labels(prepare(other, other.datasets[0]))
    assert contents(Results(tmp_path)) == before
    (cell, *_) = former.cells("d")
    assert Results(tmp_path).test_rows(cell).sum() == 12


@pytest.mark.parametrize(
    "learner, reason",
    [
        (zoo.Stumps(threading.Lock()), "TypeError: cannot pickle '_thread.lock' object"),
        (zoo.Unsendable(), "RuntimeError: no way out"),
        (zoo.Secretive(), "RuntimeError: no parameters for you"),
    ],
)
def test_a_learner_that_cannot_be_sent_costs_its_cells(tmp_path, here, learner, reason):
    plan = small_plan(StudyLearner("locked", learner), StudyLearner("L", zoo.Stumps()))
    for _ in range(2):  # they are tried again
        results = run_study(plan, tmp_path)
        assert results.finished("d") == ("L",)
        expected = ("locked", f"the learner cannot be sent to other processes, {reason}")
        assert [(failure.learner, failure.reason) for failure in results.failures()] == [expected] * 2


@pytest.mark.parametrize("patience, n_failed", [(2, 2), (3, 1)])  # it is sent for its key twice, then for each cell
def test_a_learner_that_can_be_sent_at_times_alone_costs_its_cells(tmp_path, here, monkeypatch, patience, n_failed):
    monkeypatch.setattr(zoo.Tiring, "patience", patience)
    results = run_study(small_plan(StudyLearner("T", zoo.Tiring()), StudyLearner("L", zoo.Stumps())), tmp_path)
    assert results.finished("d") == ("L",)
    expected = ("T", "the learner cannot be sent to other processes, RuntimeError: too tired")
    assert [(failure.learner, failure.reason) for failure in results.failures()] == [expected] * n_failed


@pytest.mark.parametrize(
    "learner, shown",
    [
        (zoo.Unprintable(), "Unprintable, whose repr raises SystemExit"),
        (zoo.Unversioned(), "Unversioned()"),
    ],
)
def test_a_learner_that_does_not_tell_what_it_is_is_run(tmp_path, here, learner, shown):
    results = run_study(small_plan(StudyLearner("L", learner)), tmp_path)
    assert results.failures() == ()
    assert results.study["learners"] == {"L": shown}


@pytest.mark.parametrize("packages", [("no such package", "", 3), "numpy", 3])
def test_packages_without_a_version_are_left_out(tmp_path, here, monkeypatch, packages):
    monkeypatch.setattr(zoo.Stumps, "packages", packages, raising=False)
    results = run_study(small_plan(StudyLearner("L", zoo.Stumps())), tmp_path)
    assert set(results.study["versions"]) == {"python", *running.PACKAGES}


def test_a_file_that_cannot_be_read_is_not_taken_for_damaged(stored, tmp_path, monkeypatch):
    folder = shutil.copytree(stored._store.folder, tmp_path / "study")
    key = stored.cells("d")[0].key

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", refuse)
        with pytest.raises(PermissionError):
            Store(folder).has_cell(key)
    assert Store(folder).has_cell(key)


def temporary_of(process, folder):
    """A temporary file that some process writes in a folder."""
    path = beside(folder / "any")
    return path.with_name(path.name.replace(f"-{os.getpid()}-", f"-{process}-"))


def test_only_what_is_ours_and_left_over_is_removed(tmp_path):
    store = Store(tmp_path / "study")
    store.create()
    for name in ("notes", "tables", "figures/curves"):
        (store.folder / name).mkdir(parents=True)
    running = temporary_of(os.getppid(), store.folder / "cells")  # of a study that still writes
    draft, theirs = temporary_of(999999999, store.folder / "notes"), store.folder / "cells" / ".draft.999999999.tmp"
    kept = [running, draft, theirs, store.folder / "study.json"]
    gone = [
        temporary_of(999999999, store.folder / name) for name in (".", "cells", "labels", "tables", "figures/curves")
    ]
    for path in (*kept, *gone):
        path.write_text("{}")
    (tmp_path / "elsewhere" / "curves").mkdir(parents=True)
    elsewhere = temporary_of(999999999, tmp_path / "elsewhere" / "curves")
    elsewhere.write_text("half")
    store.create()
    assert [path.exists() for path in (*kept, *gone)] == [True] * len(kept) + [False] * len(gone)
    shutil.rmtree(store.folder / "figures")
    (store.folder / "figures").symlink_to(tmp_path / "elsewhere")
    store.create()
    assert elsewhere.exists()


def test_temporary_files_of_other_systems_are_removed_when_they_are_old(tmp_path, monkeypatch):
    """The number of a process tells nothing there: a container that shares the folder has numbers of its own."""
    store = Store(tmp_path / "study")
    store.create()
    monkeypatch.setattr(_outputs, "_system", lambda: "0123abcd")
    new, old = (temporary_of(999999999, store.folder / "cells") for _ in range(2))
    monkeypatch.undo()
    for path in (new, old):
        path.write_text("{}")
    os.utime(old, (time.time() - 2 * _outputs.OLD,) * 2)
    store.create()
    assert (new.exists(), old.exists()) == (True, False)


def test_a_folder_of_others_is_refused_even_if_it_has_cells(tmp_path):
    (tmp_path / "cells").mkdir()
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(FileExistsError, match="it holds files, but no study"):
        Store(tmp_path).create()


def test_a_class_that_a_notebook_defines_anew_has_another_key(monkeypatch):
    """Without a file there is only the class itself."""
    keys = set()
    for shift in (0, 1):
        module = ModuleType("__main__")
        code = f"import study_zoo as zoo\nclass Own(zoo.Stumps):\n    def predict(self, X):\n        return {shift}\n"
        exec(code, module.__dict__)
        monkeypatch.setitem(sys.modules, "__main__", module)
        plan = small_plan(StudyLearner("L", module.Own()))
        keys.add(prepare(plan, plan.datasets[0]).cells[0].key)
    assert len(keys) == 2
