"""Packed text: what a small file unfolds to is counted while it is read, since nothing tells it before."""

import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from choral._memory import REMEDY, LimitedStream, memory_limit
from choral._text import first_line
from choral.label_files.table import ReadOptions


@contextmanager
def unpacked(path: Path, raw: BinaryIO, options: ReadOptions) -> Iterator[BinaryIO]:
    """What a gzip file holds, no more than the limit; a damaged file is refused in one line."""
    limit, remedy = options.max_bytes, ""
    if limit is None:
        limit, remedy = memory_limit(os.fstat(raw.fileno()).st_size), REMEDY
    try:
        with gzip.GzipFile(fileobj=raw) as stream:
            yield io.BufferedReader(LimitedStream(stream, path, limit, remedy), 2**16)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a readable gzip file: {first_line(error)}.") from error
