"""How much memory a file may take: so many times what it holds, so that no small file fills the memory."""

import io
import os
from typing import Any

VARIABLE = "CHORAL_MAX_BYTES"
MAX_BYTES = 8 * 2**30
FREE_BYTES = 2**26  # what the smallest file may take
# gzip and NPZ pack at most 1032 bytes into one, and labels come near that: bzip2 packs a million zeros into one
MAX_RATIO = 1100

REMEDY = f"If it is no mistake, set the environment variable {VARIABLE} to a larger number."


def memory_limit(held: int, free: int = FREE_BYTES) -> int:
    """How many bytes a file may take in memory.

    It is 1100 times what the file holds on disk, at least 64 MiB and at most 8 GiB; or what the user says by the
    environment variable ``CHORAL_MAX_BYTES``, whatever the file holds.

    Parameters
    ----------
    held : int
        The size of the file on disk, packed if it is.
    free : int
        What a file of any size may take.

    Examples
    --------
    >>> [memory_limit(held) // 2**20 for held in (1000, 2**20, 2**30)]
    [64, 1100, 8192]
    """
    said = os.environ.get(VARIABLE, "")
    if not said:
        return min(max(free, MAX_RATIO * held), MAX_BYTES)
    if not (said.isascii() and said.isdigit() and len(said) <= 18):
        raise ValueError(
            f"the environment variable {VARIABLE} must be a number of bytes, such as {2**34}; got {said!r}."
        )
    return int(said)


def check_memory(source: object, size: int, held: int, free: int = FREE_BYTES) -> None:
    """Refuse what would take more memory than `memory_limit` allows.

    Examples
    --------
    >>> check_memory("tiny.npz", 10**9, held=1300)
    Traceback (most recent call last):
    ValueError: tiny.npz is too large: 1000000000 bytes to read, the limit is 67108864. If it is no mistake, set the
    environment variable CHORAL_MAX_BYTES to a larger number.
    """
    limit = memory_limit(held, free)
    if size > limit:
        raise ValueError(f"{source} is too large: {size} bytes to read, the limit is {limit}. {REMEDY}")


class LimitedStream(io.RawIOBase):
    """A stream that refuses to give more than a limit: nothing says before what a packed file unfolds to.

    Parameters
    ----------
    stream : binary file
        It unpacks while it is read.
    source : path-like
        The name of the file, for the message.
    limit : int
        How many bytes to give at most.
    remedy : str
        A sentence that follows the error, or nothing.
    """

    def __init__(self, stream: Any, source: object, limit: int, remedy: str) -> None:
        self._stream, self._source, self._limit, self._remedy = stream, source, limit, remedy
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._stream.read(len(buffer))
        self._n_read += len(part)
        if self._n_read > self._limit:
            problem = f"it unfolds to more bytes than the limit of {self._limit}"
            raise ValueError(f"{self._source} is too large: {problem}. {self._remedy}".rstrip())
        buffer[: len(part)] = part
        return len(part)
