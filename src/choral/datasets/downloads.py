"""Downloads that are checked before anything is written."""

import hashlib
from io import BytesIO
from pathlib import Path

from choral._optional import require
from choral._outputs import replacing
from choral.datasets.data_folder import VARIABLE
from choral.datasets.sources import Source
from choral.datasets.unpacking import SUFFIXES, unpacked

BASE_URL = "https://raw.githubusercontent.com"
SECONDS = 30  # without an answer


def download(source: Source, folder: Path) -> bytes:
    """Fetch a file, unpack it, compare its checksum, keep it in the folder and return what it holds.

    The download is held in memory, so whatever stops it leaves nothing behind.
    """
    url = f"{BASE_URL}/{source.path}"
    content = _checked(unpacked(_fetch(url, source, folder), url), url, source)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(f"{folder} cannot be made, to keep {source.file} there: {error.strerror}.") from error
    with replacing(folder / source.file) as file:
        file.write(content)
    return content


def _fetch(url: str, source: Source, folder: Path) -> bytes:
    packed = BytesIO()
    try:
        require("pooch", "data").HTTPDownloader(timeout=SECONDS)(url, packed, pooch=None)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; or put {_by_hand(source, folder)}", name=error.name) from error
    except OSError as error:  # what requests raises is one
        problem = f"{source.file} is not in {folder} and cannot be downloaded from {url} ({_reason(error)})"
        raise FileNotFoundError(f"{problem}; put {_by_hand(source, folder)}") from error
    return packed.getvalue()


def _reason(error: OSError) -> str:
    """What is wrong in a few words; requests tells the whole story of its layers, address and all."""
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"{response.status_code} {response.reason}"


def _by_hand(source: Source, folder: Path) -> str:
    files = f"{source.file} (or {source.file}{SUFFIXES[1]}, {', '.join(SUFFIXES[2:])})"
    return f"{files} into {folder}, or into a folder that the environment variable {VARIABLE} names."


def _checked(content: bytes, url: str, source: Source) -> bytes:
    found = sha256(content)
    if found != source.sha256:
        kept = "it was changed or cut short, and nothing of it is kept"
        raise ValueError(f"{url}: expected {source.file} with SHA-256 {source.sha256}; got {found}: {kept}.")
    return content


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
