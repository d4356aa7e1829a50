"""Runs an input in a child process with limits, so that what it does there is known, and is its own alone.

Inputs run one after another in the same forked child, which notes the one it is at; a child that dies is replaced, and
the next input is the one after that.
"""

import faulthandler
import mmap
import os
import pickle
import resource
import signal
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import typer

from choral.cli.console import errors_in_one_line

SECONDS = 5.0  # of computing
PATIENCE = 6  # times as many on the clock, for what waits instead; other processes take their share too
EXTRA_BYTES = 2**30
SLOW = signal.SIGPROF, signal.SIGALRM


@dataclass(frozen=True)
class Verdict:
    """What came of an input."""

    number: int
    problem: str | None = None  # None: clean
    details: str = ""


class OverLimit(Exception):
    """More memory than the limit: the command line would report it in one line, but on a smaller machine only."""


@contextmanager
def clean_errors() -> Iterator[None]:
    """Let pass what the command line shows as one line; that list is the command line's own."""
    try:
        with errors_in_one_line():
            yield
    except typer.Exit as end:
        if isinstance(end.__cause__, MemoryError):
            raise OverLimit(str(end.__cause__)) from end.__cause__


def run_caged(
    work: Callable[[int], None],
    numbers: Sequence[int],
    *,
    seconds: float = SECONDS,
    extra_bytes: int | None = EXTRA_BYTES,
) -> Iterator[Verdict]:
    """Call ``work`` with each number, in children; yields a verdict for each, in any order.

    Parameters
    ----------
    work : callable (number)
        Returns, or raises what the command line shows as one line, if all is well.
    numbers : sequence of int
        Of the inputs.
    seconds : float
        Of computing that each may take; ``PATIENCE`` times as many on the clock.
    extra_bytes : int, optional
        Memory that each may take beyond what the process has before.
    """
    position = 0
    while position < len(numbers):
        with mmap.mmap(-1, 8) as place:
            place[:] = struct.pack("q", position)
            reader, writer = os.pipe()
            child = os.fork()
            if child == 0:
                os.close(reader)
                _run_in_child(work, numbers, position, place, writer, seconds, extra_bytes)
            os.close(writer)
            with os.fdopen(reader, "rb") as file:
                problems = file.read()  # until the child has ended, and whatever it started with it
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            reached = struct.unpack("q", place[:])[0]
        dirty = dict(_unpack(problems))
        yield from (Verdict(n, *dirty.get(n, ())) for n in numbers[position:reached])
        if reached < len(numbers):
            yield Verdict(numbers[reached], _describe_end(status, seconds))
        position = reached + 1


def _unpack(content: bytes) -> Iterator[tuple[int, tuple[str, str]]]:
    while content:
        size = struct.unpack("q", content[:8])[0]
        yield pickle.loads(content[8 : 8 + size])
        content = content[8 + size :]


def _run_in_child(
    work: Callable[[int], None],
    numbers: Sequence[int],
    position: int,
    place: mmap.mmap,
    writer: int,
    seconds: float,
    extra_bytes: int | None,
) -> None:
    """Run inputs until one ends this process; never returns."""
    faulthandler.disable()  # pytest has it on
    for number in SLOW:
        signal.signal(number, signal.SIG_DFL)  # ends the process, whatever it is doing
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if extra_bytes is not None:
        limit = _address_space() + extra_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    nowhere = open(os.devnull, "w")  # noqa: SIM115  # until the process ends
    for standard in (1, 2):
        os.dup2(nowhere.fileno(), standard)
    with redirect_stdout(nowhere), redirect_stderr(nowhere):
        for index in range(position, len(numbers)):
            place[:] = struct.pack("q", index)
            signal.setitimer(signal.ITIMER_PROF, seconds)
            signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)
            if (problem := _try(work, numbers[index])) is not None:
                content = pickle.dumps((numbers[index], problem))
                os.write(writer, struct.pack("q", len(content)) + content)
    place[:] = struct.pack("q", len(numbers))
    os._exit(0)


def _try(work: Callable[[int], None], number: int) -> tuple[str, str] | None:
    """The problem in a few words and in many; None if there is none."""
    try:
        with clean_errors():
            work(number)
    except OverLimit as error:
        return "over the limit of memory", ascii(error)
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(where.filename)}:{where.lineno}"
        details = traceback.format_exc()[-20_000:].encode("ascii", "backslashreplace")  # it may be no text at all
        return f"{type(error).__name__} in {place}", details.decode()
    return None


def _describe_end(status: int, seconds: float) -> str:
    if -status in SLOW:
        return f"ran beyond {seconds:g} seconds"
    return f"ended by signal {-status}" if status < 0 else f"ended the process with status {status}"


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def run_command(arguments: Sequence[str], *, seconds: float, **options: Any) -> "Ended":
    """Run the command line in a process of its own: how it ended, and whether in a clean way."""
    command = [sys.executable, "-P", "-m", "choral", *map(str, arguments)]
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    try:
        output, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, errors = process.communicate()
        return Ended(None, output, errors, time.monotonic() - start)
    return Ended(process.returncode, output, errors, time.monotonic() - start)


@dataclass(frozen=True)
class Ended:
    """How a command ended; without a status it had to be killed."""

    status: int | None
    output: str
    errors: str
    seconds: float

    @property
    def problem(self) -> str | None:
        """None where it ended in a clean way: done, cells failed, refused in one line, or interrupted."""
        if self.status is None:
            return f"did not end within {self.seconds:.0f} seconds"
        if has_traceback(self.errors):
            return f"a traceback: {self.errors.strip().splitlines()[-1][:200]}"
        if self.status not in (0, 1, 2, 130, 143):
            return f"exit status {self.status}"
        return None


def has_traceback(errors: str) -> bool:
    """Whether an error ended the command in other than one line; what Python says of a destructor does not count."""
    lines = errors.splitlines()
    return any(
        line.startswith("Traceback (most recent call last)") and not before.startswith("Exception ignored in")
        for before, line in zip(["", *lines], lines, strict=False)
    )
