"""Files as bytes, unpacked where they are packed."""

import bz2
import gzip
import lzma
import zlib
from pathlib import Path

SUFFIXES = ("", ".gz", ".bz2", ".xz")
UNPACK = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ\x00": lzma.decompress}


def unpacked(content: bytes, source: object) -> bytes:
    """Unpack what begins like a file of gzip, bzip2 or xz, and leave anything else as it is.

    Examples
    --------
    >>> unpacked(bz2.compress(b"@data"), "tiny.arff.bz2"), unpacked(b"@data", "tiny.arff")
    (b'@data', b'@data')
    >>> unpacked(gzip.compress(b"@data")[:-9], "tiny.arff.gz")
    Traceback (most recent call last):
    ValueError: tiny.arff.gz cannot be unpacked: Compressed file ended before the end-of-stream marker was reached.
    """
    unpack = next((unpack for magic, unpack in UNPACK.items() if content.startswith(magic)), bytes)
    try:
        return unpack(content)
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{source} cannot be unpacked: {error}.") from error


def read_unpacked(path: Path) -> bytes:
    """The content of a file, unpacked."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror or error}.") from error
    return unpacked(content, path)
