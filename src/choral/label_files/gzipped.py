"""Packed text: what a small file unfolds to is counted while it is read, since nothing tells it before."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from choral._memory import LimitedStream
from choral._text import first_line
from choral.label_files.table import ReadOptions


@contextmanager
def unpacked(path: Path, raw: BinaryIO, options: ReadOptions) -> Iterator[BinaryIO]:
    """What a gzip file holds, no more than the limit; a damaged file is refused in one line."""
    held = os.fstat(raw.fileno()).st_size
    try:
        with gzip.GzipFile(fileobj=raw) as stream:
            yield io.BufferedReader(LimitedStream(stream, path, held, options.max_bytes), 2**16)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a readable gzip file: {first_line(error)}.") from error
