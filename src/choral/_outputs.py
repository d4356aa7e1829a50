"""Output files that are either whole or not there: written beside the target, then moved into place."""

import csv
import errno
import hashlib
import io
import os
import re
import secrets
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

TEMPORARY = re.compile(r"\.choral-(?P<system>[0-9a-f]{8})-(?P<process>[0-9]{1,9})-[0-9a-f]{16}\.tmp")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # of a text that a spreadsheet takes for a formula
OLD = 3600.0  # seconds; nothing of ours takes so long to write


def check_output(path: str | os.PathLike[str]) -> Path:
    """Return the file that will be written, or say why it cannot be: worth asking before a long run.

    Examples
    --------
    >>> check_output("no such folder/curves.csv")
    Traceback (most recent call last):
    FileNotFoundError: no such folder/curves.csv cannot be written: its folder does not exist.
    """
    target = Path(os.path.realpath(path))  # a link stays a link, the file it points to is replaced
    try:
        if target.is_symlink() or (is_there(target) and not target.is_file()):
            # a link that leads nowhere but to itself; replacing /dev/null or a folder helps nobody
            raise FileExistsError("it exists and is not a regular file")
        if not target.parent.exists():
            raise FileNotFoundError("its folder does not exist")
        if not target.parent.is_dir():
            raise NotADirectoryError(f"{target.parent} is not a folder")
        probe = beside(target)
        probe.touch(exist_ok=False)  # permissions do not tell all: root may write everywhere, but not to /proc
        probe.unlink()
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}.") from error
    return target


def is_there(path: Path) -> bool:
    """Whether a path leads to something; an error if it cannot be asked about, as where a name is too long.

    From Python 3.14 on, `Path.exists` answers no to that as well.

    Examples
    --------
    >>> is_there(Path("no such file"))
    False
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a null character is in no name
        return False
    except OSError as error:
        if error.errno == errno.ELOOP:  # links that lead to each other
            return False
        raise
    return True


def path_inside(folder: Path, name: str) -> Path:
    """The path of an output in a folder that somebody else may have made: no link in it is followed.

    A link in place of the file is removed, and what it leads to stays as it is. A link in place of a folder on the way
    to the file is refused.
    """
    *folders, file = Path(name).parts
    place = folder
    for part in folders:
        place /= part
        refuse_link(place)
    place /= file
    if place.is_symlink() and not place.is_dir():
        place.unlink()
    refuse_link(place)
    return place


def refuse_link(path: Path) -> None:
    """Refuse to write through a link: it may lead to files of others.

    Examples
    --------
    >>> refuse_link(Path("no such folder"))
    """
    if path.is_symlink():
        raise FileExistsError(
            f"{path} is a link, which may lead to files of others, so nothing is written there; remove it, or choose "
            "another folder."
        )


def beside(target: Path) -> Path:
    """The path of a temporary file in the folder of a file; `remove_left_over` knows whose it is."""
    return target.with_name(f".choral-{_system()}-{os.getpid()}-{secrets.token_hex(8)}.tmp")


def is_temporary(name: str) -> bool:
    """Whether a file has a name that `beside` gives."""
    return TEMPORARY.fullmatch(name) is not None


def remove_left_over(folder: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote into a folder.

    Of processes of this system, those that run no more; of others, such as containers that share the folder, files
    that are an hour old.
    """
    for path in folder.glob(".choral-*.tmp"):
        with suppress(FileNotFoundError):  # somebody else may remove it
            if _is_left_over(path):
                path.unlink()


def _is_left_over(path: Path) -> bool:
    found = TEMPORARY.fullmatch(path.name)
    if found is None or path.is_dir():
        return False
    if found["system"] == _system() and os.name != "nt":  # where os.kill would end the process, whatever the signal
        try:
            os.kill(int(found["process"]), 0)  # signal 0 only asks whether the process is there
        except ProcessLookupError:
            return True
        except PermissionError:  # it runs as another user
            pass
    return time.time() - path.lstat().st_mtime > OLD


@cache
def _system() -> str:
    """Within what a process number means one process: a machine since its start, or a container on it."""
    parts = [socket.gethostname()]
    with suppress(OSError):  # Linux has these
        parts += [Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii"), os.readlink("/proc/self/ns/pid")]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of ``path`` once it is complete.

    Whatever stops the writing, a full disk or Ctrl-C, leaves the former file as it was and nothing else.

    Parameters
    ----------
    path : path-like
        The file to write or to replace.

    Yields
    ------
    file : binary file
        Open for writing, in the folder of ``path``.
    """
    target = check_output(path)
    temporary = beside(target)
    try:
        # not tempfile: its files are private to the user, an output follows the umask like any other
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # the name must not reach the disk before the bytes do
        os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(f"{path} cannot be written: {error.strerror or error}.") from error
        raise


def csv_text(rows: Iterable[Iterable[Any]], line_end: str = "\r\n") -> str:
    """Rows of cells as the text of a CSV file, in which no spreadsheet takes a text for a formula.

    Examples
    --------
    >>> csv_text([["model", "loss"], ["=1+1", -0.5]])
    "model,loss\\r\\n'=1+1,-0.5\\r\\n"
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerows(map(_without_formula, row) for row in rows)
    return text.getvalue()


def _without_formula(cell: Any) -> Any:
    """An apostrophe before what would be a formula, as in the page's own CSV files; numbers stay as they are."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA_STARTS) else cell


def plain_numbers(array: np.ndarray) -> list:
    """Numbers for JSON, which knows no infinity: it is the text ``inf``."""
    return ["inf" if value == np.inf else value for value in array.tolist()]
