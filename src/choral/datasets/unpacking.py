"""Files as bytes, unpacked where they are packed."""

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from choral._memory import REMEDY, LimitedStream, memory_limit

FREE_BYTES = 2**23  # that any file may unfold to
SUFFIXES = ("", ".gz", ".bz2", ".xz")
OPENED_BY: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}


def unpack(content: bytes, source: str | os.PathLike[str]) -> bytes:
    """Unpack a file of gzip, bzip2 or xz, known by its first bytes; return anything else as it is.

    It may unfold to as many bytes as `choral._memory.memory_limit` says, with 8 MiB for any file.

    Examples
    --------
    >>> unpack(bz2.compress(b"@data"), "tiny.arff.bz2"), unpack(b"@data", "tiny.arff")
    (b'@data', b'@data')
    >>> unpack(gzip.compress(b"@data")[:-9], "tiny.arff.gz")
    Traceback (most recent call last):
    ValueError: tiny.arff.gz cannot be unpacked: Compressed file ended before the end-of-stream marker was reached.
    """
    packed = BytesIO(content)
    opened: Any = next((function(packed) for magic, function in OPENED_BY.items() if content.startswith(magic)), None)
    if opened is None:
        return content
    with (
        opened,
        BufferedReader(LimitedStream(opened, source, memory_limit(len(content), FREE_BYTES), REMEDY), 2**20) as stream,
    ):
        try:
            return stream.read()
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise ValueError(f"{source} cannot be unpacked: {error}.") from error


def read_unpacked(path: Path) -> bytes:
    """Read a file and unpack its content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror or error}.") from error
    return unpack(content, path)
