"""Files as bytes, unpacked where they are packed."""

import bz2
import gzip
import lzma
import os
import zlib
from pathlib import Path

SUFFIXES = ("", ".gz", ".bz2", ".xz")
DECOMPRESS = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}


def unpack(content: bytes, source: str | os.PathLike[str]) -> bytes:
    """Unpack a file of gzip, bzip2 or xz, known by its first bytes; return anything else as it is.

    Examples
    --------
    >>> unpack(bz2.compress(b"@data"), "tiny.arff.bz2"), unpack(b"@data", "tiny.arff")
    (b'@data', b'@data')
    >>> unpack(gzip.compress(b"@data")[:-9], "tiny.arff.gz")
    Traceback (most recent call last):
    ValueError: tiny.arff.gz cannot be unpacked: Compressed file ended before the end-of-stream marker was reached.
    """
    decompress = next((function for magic, function in DECOMPRESS.items() if content.startswith(magic)), bytes)
    try:
        return decompress(content)
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} cannot be unpacked: {error}.") from error


def read_unpacked(path: Path) -> bytes:
    """Read a file and unpack its content."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror or error}.") from error
    return unpack(content, path)
