"""Output files that are either whole or not there: written beside the target, then moved into place."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np


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
        probe = _beside(target)
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


def _beside(target: Path) -> Path:
    return target.with_name(f".choral-{secrets.token_hex(8)}.tmp")


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
    temporary = _beside(target)
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


def plain_numbers(array: np.ndarray) -> list:
    """Numbers for JSON, which knows no infinity: it is the text ``inf``."""
    return ["inf" if value == np.inf else value for value in array.tolist()]
