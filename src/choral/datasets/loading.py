"""load: the data sets of the paper by name, from the data folder or from where they were published."""

import warnings
from dataclasses import replace
from pathlib import Path

from choral.datasets.arff.reading import parse_arff
from choral.datasets.data_folder import data_folder
from choral.datasets.dataset import Dataset
from choral.datasets.downloads import download, sha256
from choral.datasets.sources import NAMES, SOURCES, Source
from choral.datasets.unpacking import SUFFIXES, read_unpacked


def load(name: str) -> Dataset:
    """Load a data set of the paper.

    It is read from the data folder: the one that the environment variable ``CHORAL_DATA`` names, else the user's own
    (``~/.local/share/choral`` on Linux). A file ``NAME.arff`` there may be packed, ``.gz``, ``.bz2`` or ``.xz``. If
    there is none it is downloaded (by pooch: ``pip install 'choral[data]'``), compared with a checksum and kept there.

    Parameters
    ----------
    name : str
        One of ``choral.datasets.NAMES``. ``flags`` has 12 labels, as in the paper's Table 1; ``flags-7`` is the same
        file with the seven colours alone as labels, as in the published runs. From ``genbase`` the identifier
        ``protein`` is left out.

    Returns
    -------
    dataset : Dataset

    Raises
    ------
    FileNotFoundError
        Where there is neither file nor connection; the message says which file to put where.
    ValueError
        Where the name is not known, or a download is not what it should be: nothing of it is kept.

    Warns
    -----
    UserWarning
        Where a file in the data folder is not the one of the paper; it is read nevertheless.

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
    content = download(source, folder) if path is None else _own(path, source)
    return replace(parse_arff(content, path or folder / source.file, source.labels, source.ignore), name=name)


def _own(path: Path, source: Source) -> bytes:
    """A file from the data folder, whoever put it there."""
    content = read_unpacked(path)
    if sha256(content) != source.sha256:
        expected = f"expected SHA-256 {source.sha256} once unpacked"
        warnings.warn(f"{path} is read, but it is not the paper's {source.file}: {expected}.", stacklevel=3)
    return content
