"""load: the data sets of the paper by name, from the data folder or from where they were published."""

import hashlib
import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

from choral._memory import memory_limit
from choral._optional import require
from choral._outputs import replacing
from choral.datasets.arff.reading import parse_arff
from choral.datasets.dataset import Dataset
from choral.datasets.downloading import ANSWER_TIMEOUT, Allowance, EndlessDownloadError, LimitedBuffer
from choral.datasets.sources import NAMES, SOURCES, Source
from choral.datasets.unpacking import SUFFIXES, read_unpacked, unpack

FOLDER_VARIABLE = "CHORAL_DATA"
BASE_URL = "https://raw.githubusercontent.com"
TIME_LIMIT = 600  # seconds for one download


def load(name: str) -> Dataset:
    """Load a data set of the paper.

    It is read from the data folder: the one that the environment variable ``CHORAL_DATA`` names, else the user's own
    (``~/.local/share/choral`` on Linux). A file ``NAME.arff`` there may be packed, ``.gz``, ``.bz2`` or ``.xz``. If
    there is none, it is downloaded (by pooch: ``pip install 'choral[data]'``), compared with a checksum and kept there.
    A download may take 10 minutes and bring 64 MiB, many times what the largest of them takes.

    Parameters
    ----------
    name : str
        One of ``choral.datasets.NAMES``. ``flags`` has 12 labels, as many as in the paper's Table 1, which does not
        name them; ``flags-7`` is the same file with the seven colours alone as labels, as in the published runs. From
        ``genbase`` the identifier ``protein`` is left out.

    Returns
    -------
    dataset : Dataset
        Features, labels and their names.

    Raises
    ------
    FileNotFoundError
        If there is no file and it cannot be downloaded; the message says which file to put where.
    ValueError
        If the name is not known, or if a download has the wrong checksum: nothing of it is kept.

    Warns
    -----
    UserWarning
        If a file in the data folder is not the one of the paper; it is read nevertheless.

    See Also
    --------
    NAMES : Names of the data sets of the paper.
    load_openml : Load a data set of OpenML.
    read_arff : Read an ARFF file.

    Examples
    --------
    >>> load("birdsong")
    Traceback (most recent call last):
    ValueError: name must be one of birds, emotions, enron-f, flags, flags-7, genbase, llog-f, medical, scene, yeast;
    got 'birdsong'.
    """
    if name not in SOURCES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}; got {name!r}.")
    source, folder = SOURCES[name], data_folder()
    path = next(filter(Path.is_file, (folder / f"{source.file}{suffix}" for suffix in SUFFIXES)), None)
    content = _download(source, folder) if path is None else _read_from_folder(path, source)
    path = path or folder / source.file
    return replace(parse_arff(content, path, source.labels, source.ignore, held=len(content)), name=name)


def data_folder() -> Path:
    """The folder that ``CHORAL_DATA`` names, else a folder of the user's own, where the system keeps such data.

    It need not exist. Without ``CHORAL_DATA`` it is ``~/.local/share/choral`` (or in ``XDG_DATA_HOME``) on Linux,
    ``~/Library/Application Support/choral`` on macOS and ``%LOCALAPPDATA%\\choral`` on Windows.
    """
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        parent = Path("~/Library/Application Support")
    elif sys.platform == "win32":
        parent = Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local")
    else:
        parent = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return parent.expanduser() / "choral"


def _read_from_folder(path: Path, source: Source) -> bytes:
    """Read a file from the data folder; warn if it is another one than the paper's."""
    content = read_unpacked(path)
    if _sha256(content) != source.sha256:
        expected = f"expected SHA-256 {source.sha256} once unpacked"
        warnings.warn(f"{path} is read, but it is not the paper's {source.file}: {expected}.", stacklevel=3)
    return content


def _download(source: Source, folder: Path) -> bytes:
    """Fetch a file, unpack it, compare its checksum, keep it in the folder and return its content.

    The download is held in memory, so an interruption leaves nothing behind.
    """
    url = f"{BASE_URL}/{source.path}"
    content = unpack(_fetch(url, source, folder), url)
    _check_content(content, url, source)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise type(error)(f"{folder} cannot be made, to keep {source.file} there: {error.strerror}.") from error
    with replacing(folder / source.file) as file:
        file.write(content)
    return content


def _fetch(url: str, source: Source, folder: Path) -> bytes:
    allowance = Allowance(TIME_LIMIT, memory_limit(held=0))
    packed = LimitedBuffer(allowance)
    try:
        download = require("pooch", "data").HTTPDownloader(timeout=ANSWER_TIMEOUT)
        allowance.run(lambda: download(url, packed, pooch=None))
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{error}; or put {_describe_file(source, folder)}", name=error.name) from error
    except OSError as error:  # the errors of requests are OSErrors
        problem = f"{source.file} is not in {folder} and cannot be downloaded from {url} ({_reason(error)})"
        raise FileNotFoundError(f"{problem}; put {_describe_file(source, folder)}") from error
    return packed.getvalue()


def _reason(error: OSError) -> str:
    """What went wrong in a few words: messages of requests are long and repeat the address."""
    if isinstance(error, EndlessDownloadError):
        return str(error)
    response = getattr(error, "response", None)
    return type(error).__name__ if response is None else f"{response.status_code} {response.reason}"


def _describe_file(source: Source, folder: Path) -> str:
    """Which file the user may put where by hand."""
    files = f"{source.file} (or {source.file}{SUFFIXES[1]}, {', '.join(SUFFIXES[2:])})"
    return f"{files} into {folder}, or into a folder that the environment variable {FOLDER_VARIABLE} names."


def _check_content(content: bytes, url: str, source: Source) -> None:
    found = _sha256(content)
    if found != source.sha256:
        problem = "it was changed or cut short, and nothing of it is kept"
        raise ValueError(f"{url}: expected {source.file} with SHA-256 {source.sha256}; got {found}: {problem}.")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
