"""Disks that are full, read-only or gone: a study ends in one line, and goes on when there is room again."""

import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cage import Ended, run_command
from small_studies import count_lost, environment, study_command, write_plan
from tally import Tally

SECONDS = 120.0
LEARNERS = {"steady": ("evil_learners:Good", "seconds = 0.1"), "other": ("evil_learners:Good", "bias = 0.2")}
SIZES = (16, 64, 128, 160)  # KiB; the study needs some more
TABLE = "sea,sky\n1,0\n0,1\n"


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    """A disk of this size; `OSError` where this user or system may not mount one."""
    folder.mkdir(parents=True)
    _mount("-t", "tmpfs", "-o", f"size={kib}k", "none", folder)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=False)


def _mount(*arguments: object) -> None:
    try:
        done = subprocess.run(["mount", *map(str, arguments)], capture_output=True, text=True)
    except FileNotFoundError as error:
        raise OSError("there is no mount") from error
    if done.returncode:
        raise OSError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "mount is refused")


def attack_disks(folder: Path, *, short: bool = False) -> Iterator[Tally]:
    """Full, read-only and vanished folders; where mounting is refused, the last alone."""
    plan, good = write_plan(folder / "plan.toml", LEARNERS, folds=3, repeats=2), folder / "good"
    _study(plan, good)
    yield _vanishing(plan, folder)
    tally = Tally("full and read-only disks")
    try:
        for kib in SIZES[1:2] if short else SIZES:
            with small_disk(folder / f"disk-{kib}", kib) as disk:
                _fill(plan, disk, good, tally, kib)
    except OSError as error:
        tally.skipped = str(error)
    yield tally


def _fill(plan: Path, disk: Path, good: Path, tally: Tally, kib: int) -> None:
    """A study on a disk that fills up, then is read-only, then has room again."""
    out = disk / "study"
    tally.add(_study(plan, out).problem, f"a study on {kib} KiB")
    (disk / "true.csv").touch()
    table = disk.parent / "true.csv"
    table.write_text(TABLE)
    for option, name in (("--csv", "curves.csv"), ("--report", "page.html")):
        ended = _evaluate(table, option, disk / name)
        tally.add(ended.problem, f"evaluate {option} on {kib} KiB that a study has filled")
    _mount("-o", "remount,ro", disk)
    tally.add(_study(plan, out).problem, f"a study on a read-only disk of {kib} KiB")
    tally.add(_evaluate(table, "--csv", disk / "more.csv").problem, "evaluate --csv on a read-only disk")
    _mount("-o", "remount,rw,size=64m", disk)
    ended = _study(plan, out)
    lost = count_lost(out, good, tuple(LEARNERS)) if ended.status == 0 else 0
    tally.lost += lost
    problem = ended.problem or (None if ended.status == 0 else f"does not go on: {ended.errors.strip()[:200]}")
    tally.add(
        problem or (f"{lost} cells are lost" if lost else None), f"the same study with room again after {kib} KiB"
    )


def _vanishing(plan: Path, folder: Path) -> Tally:
    """The folder is removed while the study runs; and an output that is always full."""
    tally = Tally("vanished folders")
    for seconds in (2.5, 4.0):
        out = folder / f"vanishing-{seconds}"
        remover = threading.Thread(
            target=lambda out=out, seconds=seconds: (time.sleep(seconds), shutil.rmtree(out, True))
        )
        remover.start()
        tally.add(_study(plan, out).problem, f"a study whose folder is removed after {seconds} s")
        remover.join()
    (folder / "true.csv").write_text(TABLE)
    tally.add(_evaluate(folder / "true.csv", "--csv", Path("/dev/full")).problem, "evaluate --csv /dev/full")
    return tally


def _study(plan: Path, out: Path) -> Ended:
    return run_command(study_command(plan, out, "--n-jobs", 2)[4:], seconds=SECONDS, env=environment())


def _evaluate(table: Path, option: str, out: Path) -> Ended:
    return run_command(["evaluate", table, table, "--bootstrap", "9", option, out], seconds=SECONDS, env=environment())
