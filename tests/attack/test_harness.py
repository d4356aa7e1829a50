"""The attack notices planted faults, blames the right input, and goes on with the rest."""

import os
import signal
import sys
import time

import numpy as np
import pytest

pytest.importorskip("typer", reason="the command line needs choral[cli]")
if not hasattr(os, "fork") or sys.platform != "linux":
    pytest.skip("the attack needs Linux: it forks, limits memory and reads /proc", allow_module_level=True)

from cage import Ended, run_caged
from tally import Tally, print_problems, print_table

SECONDS, EXTRA = 0.5, 2**27
BAD = 3


def planted(fault):
    """Runs ten inputs, of which one has the fault; the problems by number."""

    def work(number):
        if number == BAD:
            fault()

    verdicts = list(run_caged(work, range(10), seconds=SECONDS, extra_bytes=EXTRA))
    assert sorted(verdict.number for verdict in verdicts) == list(range(10))
    return {verdict.number: verdict.problem for verdict in verdicts if verdict.problem is not None}


def raise_key_error():
    raise KeyError("planted")


def loop():
    while True:
        pass


@pytest.mark.parametrize(
    "fault, problem",
    [
        (raise_key_error, "KeyError in test_harness.py"),
        (lambda: sys.exit(3), "SystemExit in test_harness.py"),
        (lambda: os.kill(os.getpid(), signal.SIGSEGV), "ended by signal 11"),
        (lambda: os._exit(0), "ended the process with status 0"),
        (loop, "ran beyond 0.5 seconds"),
        (lambda: time.sleep(60), "ran beyond 0.5 seconds"),
        (lambda: bytearray(2 * EXTRA), "over the limit of memory"),
        (lambda: np.ones(EXTRA), "over the limit of memory"),
    ],
)
def test_a_planted_fault_is_found_and_is_that_of_its_input(fault, problem):
    found = planted(fault)
    assert list(found) == [BAD]
    assert found[BAD].startswith(problem)


@pytest.mark.parametrize("error", [ValueError, FileNotFoundError, ModuleNotFoundError])
def test_what_the_command_line_shows_as_one_line_is_clean(error):
    def refuse():
        raise error("expected this; got that.")

    assert planted(refuse) == {}


def test_the_last_input_may_be_the_bad_one():
    verdicts = list(run_caged(lambda number: os.abort(), [5, 6]))
    assert [(verdict.number, verdict.problem) for verdict in verdicts] == [
        (5, "ended by signal 6"),
        (6, "ended by signal 6"),
    ]


def test_details_hold_the_traceback():
    (verdict,) = run_caged(lambda number: raise_key_error(), [0])
    assert "in raise_key_error" in verdict.details


@pytest.mark.parametrize(
    "status, errors, problem",
    [
        (0, "", None),
        (1, "", None),
        (2, "choral: error: no\n", None),
        (130, "choral: interrupted", None),
        (1, "Traceback (most recent call last):\n  File\nKeyError: 3\n", "a traceback: KeyError: 3"),
        (0, "Exception ignored in: <function>\nTraceback (most recent call last):\nKeyError: 3\n", None),
        (-11, "", "exit status -11"),
        (None, "", "did not end within 7 seconds"),
    ],
)
def test_how_a_command_may_end(status, errors, problem):
    assert Ended(status, "", errors, 7.0).problem == problem


def test_a_table_with_bugs_or_lost_cells_is_a_failure(capsys):
    clean, dirty, lossy = Tally("readers"), Tally("evils"), Tally("kills", tried=1200, lost=1)
    clean.add(None)
    dirty.add(None)
    dirty.add("KeyError", "input a")
    assert print_table([clean]) == 0
    assert print_table([clean, lossy]) == 1
    capsys.readouterr()
    print_problems(dirty)
    assert capsys.readouterr().out == "  evils: 1 x KeyError\n      input a\n"
    assert print_table([clean, dirty, lossy]) == 1
    assert capsys.readouterr().out == (
        "\npart       tried    clean   bugs   lost\n"
        "readers        1        1      0      0\n"
        "evils          2        1      1      0\n"
        "kills      1,200    1,200      0      1\n"
        "in all     1,203               1      1\n"
    )


class TestReaders:
    """The formats, with faults planted into one of them."""

    @pytest.fixture(autouse=True)
    def needs_tables(self):
        for module in ("pyarrow", "plotly"):
            pytest.importorskip(module, reason="all formats need choral[tables,report]")

    def test_an_input_is_the_same_each_time(self, tmp_path):
        from readers import find_formats, make_input

        for name in find_formats():
            if name not in ("study.json", "cells", "labels"):  # they hold times
                for folder in ("one", "other"):
                    make_input(name, 7, 5, tmp_path / folder / name)
        one, other = (
            {path.relative_to(tmp_path / folder): path.read_bytes() for path in (tmp_path / folder).rglob("*.*")}
            for folder in ("one", "other")
        )
        assert len(one) > len(find_formats()) - 3
        assert one == other

    @pytest.mark.parametrize("number", range(3))
    def test_good_files_are_read(self, number, tmp_path, monkeypatch):
        import formats

        monkeypatch.setattr(formats, "_damage_text", lambda rng, text, words: text.encode())
        monkeypatch.setattr(formats, "change_npy", lambda rng, array: formats.npy_bytes(array))
        packed = lambda rng, arrays: formats.pack_npz({k: formats.npy_bytes(v) for k, v in arrays.items()})  # noqa: E731
        monkeypatch.setattr(formats, "change_npz", packed)
        monkeypatch.setattr(formats, "some", lambda rng, change, value, most=4: value)
        for name, one in formats.FORMATS.items():
            folder = tmp_path / name
            folder.mkdir()
            for file, content in one.damage(np.random.default_rng(number)).items():
                (folder / file).write_bytes(content)
            one.read(folder)

    def test_a_planted_fault_in_a_reader_is_kept_and_found_again(self, tmp_path, monkeypatch):
        import readers
        from formats import FORMATS, Format

        def read(folder):
            if len((folder / "data.arff").read_bytes()) % 2:
                raise KeyError("planted")

        def damage(rng):
            return {"data.arff": b"a" * int(rng.integers(10))}

        monkeypatch.setitem(FORMATS, "arff", Format(damage, read, 1.0))
        verdicts = readers.attack_format("arff", 3, range(20), tmp_path)
        bad = [verdict.number for verdict in verdicts if verdict.problem]
        assert 0 < len(bad) < 20
        for number in range(20):
            kept = tmp_path / f"arff-3-{number}"
            assert kept.exists() == (number in bad)
            if kept.exists():
                assert readers.rerun(kept).problem.startswith("KeyError in test_harness.py")


def test_markup_of_a_stranger_is_found():
    pytest.importorskip("pyarrow", reason="all formats need choral[tables]")
    from folders import check_page

    check_page(
        "<p title='attack'>&lt;img src=x onerror=attack()&gt;</p><script>let a = '<img onerror=attack()>'</script>"
    )
    with pytest.raises(AssertionError, match="markup of a stranger is on the page: <img src=x"):
        check_page("<p><img src=x onerror=attack()></p>")


def test_live_formulas_are_found(tmp_path):
    pytest.importorskip("pyarrow", reason="all formats need choral[tables]")
    from hostile_names import _live_formula

    (tmp_path / "good.csv").write_text("name,loss\n'=1+1,-0.5\n")
    (tmp_path / "bad.csv").write_text('name,loss\n"=1+1",-0.5\n')
    assert _live_formula(tmp_path / "good.csv") is None
    assert _live_formula(tmp_path / "bad.csv") == "bad.csv has a live formula"


def test_lost_and_wrong_cells_are_counted(tmp_path):
    pytest.importorskip("typer", reason="the command line needs choral[cli]")
    from choral.study import Results, read_plan, run_study
    from small_studies import cells_of, count_lost, differing_tables, write_plan

    plan = read_plan(write_plan(tmp_path / "plan.toml", {"good": ("evil_learners:Good", "bias = 0.1")}))
    for name in ("good", "spoilt"):
        results = run_study(plan, tmp_path / name, n_jobs=1)
        (tmp_path / name / "tables").mkdir()
        for table in results.tables():
            (tmp_path / name / "tables" / f"{table}.csv").write_text(table)
    good, spoilt = tmp_path / "good", tmp_path / "spoilt"
    assert (count_lost(spoilt, good, ("good",)), differing_tables(spoilt, good)) == (0, [])
    first, second = cells_of(spoilt)
    (spoilt / "cells" / f"{first.key}.npz").unlink()
    (spoilt / "tables" / "losses.csv").write_text("wrong")
    assert (count_lost(spoilt, good, ("good",)), differing_tables(spoilt, good)) == (1, ["losses.csv"])
    (spoilt / "cells" / f"{second.key}.npz").write_bytes(b"damaged")
    assert count_lost(spoilt, good, ("good",)) == 2
    assert Results(good).finished("small") == ("good",)
