"""Mutation fuzzing: damaged files of every format, each read in a cage."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from cage import Verdict, run_caged
from tally import Tally

BATCH = 200  # inputs that a process works on before another takes over
REPORTED = 50  # batches after which a line says how far it is


def find_formats() -> dict:
    """All formats: those of files, and folders of studies."""
    from folders import STUDY_FORMATS
    from formats import FORMATS

    return FORMATS | STUDY_FORMATS


def make_input(name: str, seed: int, number: int, folder: Path) -> None:
    """Write the files of an input; the same each time."""
    rng = np.random.default_rng([seed, number, *name.encode()])
    for file, content in find_formats()[name].damage(rng).items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def attack_format(name: str, seed: int, numbers: range, kept: Path) -> list[Verdict]:
    """Make and read some inputs of a format; those that were not clean are kept."""
    format_ = find_formats()[name]
    format_.damage(np.random.default_rng(0))  # what is made once a process counts for no input
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:

        def work(number: int) -> None:
            folder = Path(place, "input")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                make_input(name, seed, number, folder)
            except Exception as error:
                raise AssertionError("the attack itself failed to make an input") from error
            format_.read(folder)

        verdicts = list(run_caged(work, numbers))
    for verdict in verdicts:
        if verdict.problem is not None:
            folder = kept / f"{name}-{seed}-{verdict.number}"
            make_input(name, seed, verdict.number, folder)
            if verdict.details:
                (kept / f"{folder.name}.txt").write_text(verdict.details)
    return verdicts


def attack_readers(total: int, seed: int, kept: Path, jobs: int, only: str | None = None) -> Iterator[Tally]:
    """Attack every format with its share of inputs."""
    formats = {name: one for name, one in find_formats().items() if only in (None, name)}
    shares = sum(one.share for one in formats.values())
    batches = [
        (name, range(start, min(count, start + BATCH)))
        for name, one in formats.items()
        for count in [max(1, round(total * one.share / shares))]
        for start in range(0, count, BATCH)
    ]
    tallies = {name: Tally(f"inputs, {name}") for name in formats}
    with get_context("forkserver").Pool(jobs) as pool:
        waiting = [(name, pool.apply_async(attack_format, (name, seed, numbers, kept))) for name, numbers in batches]
        for done, (name, answer) in enumerate(waiting, start=1):
            verdicts = answer.get()
            if done % REPORTED == 0:
                print(f"  {done * BATCH:,} inputs or so of {total:,}", flush=True)
            for verdict in verdicts:
                where = kept / f"{name}-{seed}-{verdict.number}"
                tallies[name].add(verdict.problem, f"python attack/main.py --rerun {where}  (seed {seed})")
    yield from tallies.values()


def rerun(folder: Path) -> Verdict:
    """Read a kept input once more, in a cage."""
    name = folder.name.rsplit("-", 2)[0]
    (verdict,) = run_caged(lambda number: find_formats()[name].read(folder), [0])
    return verdict
