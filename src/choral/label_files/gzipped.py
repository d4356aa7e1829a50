"""Packed text: what a small file unfolds to is counted while it is read, since nothing tells it before."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from choral._text import first_line
from choral.label_files.table import ReadOptions


class _Counted(io.RawIOBase):
    """A stream that refuses to give more than the limit."""

    def __init__(self, stream: BinaryIO, source: object, options: ReadOptions) -> None:
        self._stream, self._source, self._options = stream, source, options
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._stream.read(len(buffer))
        self._n_read += len(part)
        if self._n_read > self._options.max_bytes:
            limit = self._options.max_bytes
            raise ValueError(f"{self._source} is too large: it unfolds to more bytes than the limit of {limit}.")
        buffer[: len(part)] = part
        return len(part)


@contextmanager
def unpacked(path: Path, raw: BinaryIO, options: ReadOptions) -> Iterator[BinaryIO]:
    """What a gzip file holds, no more than the limit; a damaged file is refused in one line."""
    try:
        with gzip.GzipFile(fileobj=raw) as stream:
            yield io.BufferedReader(_Counted(stream, path, options), 2**16)  # type: ignore[arg-type]
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a readable gzip file: {first_line(error)}.") from error
