"""The folder of a study: a file for each cell, written whole or not at all, and whatever is damaged is noticed.

``study.json`` says what the study is, ``labels/`` holds the true labels and folds of each data set, ``cells/`` a file
for each finished cell under its key, ``log.txt`` a line for each cell that ran. A cell is an NPZ file: its checksums
tell a damaged file from a good one. Files are renamed into place and not forced to the disk, which would take longer
than the rest: after a power cut some of the last cells may be damaged, and are run again.

A folder may come from anyone: all that is read is checked, and nothing is written through a link in it.
"""

import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from choral._outputs import beside, check_output, is_temporary, refuse_link, remove_left_over
from choral._text import first_line, printable
from choral.profiles import ErrorProfile
from choral.study.cells import FORMAT, Cell, Outcome, PreparedData
from choral.study.lock import locked
from choral.study.schema import check_study, check_text, check_texts
from choral.study.splits import check_folds

T = TypeVar("T")
STUDY, LOG, LOCK = "study.json", "log.txt", "study.lock"
DEFAULTS: dict[str, Any] = {"each_loss": [], "sections": []}  # of keys that earlier versions did not write
FIRST_FILES = {"cells", "labels", LOG, LOCK}  # those that a study makes before study.json
OUTPUTS = ("tables", "figures", "figures/*")  # folders that are written when a study has run
MAX_UNPACKED = 2**26  # bytes of an array of which the shape is not known: larger ones must not be more than ...
MAX_FACTOR = 100  # ... so many times what is stored of them


class DamagedFile(ValueError):
    """A file that is not as it was written."""


@dataclass(frozen=True, eq=False)
class StoredCell:
    """The result of a cell as it was kept."""

    profiles: tuple[dict[str, Any], ...]
    predictions: np.ndarray  # of its test rows; uint8, or float32 for scores. See `Outcome`
    seconds: float
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class StoredLabels:
    """The true labels of a data set, and how it was split."""

    Y: np.ndarray
    label_names: tuple[str, ...]
    fold_numbers: np.ndarray


class Store:
    """The folder of a study.

    Parameters
    ----------
    folder : path-like
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)

    def check(self) -> None:
        """Refuse a folder that holds files, but no study, before anything is made or read."""
        if self.folder.is_dir() and not self._is_study:
            raise FileExistsError(f"{self.folder} cannot be the folder of a study: it holds files, but no study.")

    def create(self) -> None:
        """Make the folder, or take up the study in it; unfinished files of a killed study are removed."""
        self.check()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for name in ("cells", "labels", LOG, LOCK):
                refuse_link(self.folder / name)
            for name in ("cells", "labels"):
                (self.folder / name).mkdir(exist_ok=True)
            check_output(self.folder / LOG)
        except OSError as error:
            reason = str(error.strerror or error).rstrip(".")
            raise type(error)(f"{self.folder} cannot be the folder of a study: {reason}.") from error
        self._remove_left_over()

    def _remove_left_over(self) -> None:
        outputs = [path for pattern in OUTPUTS for path in self.folder.glob(pattern)]
        for place in (self.folder, self.folder / "cells", self.folder / "labels", *outputs):
            leads_elsewhere = place.resolve() != self.folder.resolve() / place.relative_to(self.folder)
            if place.is_dir() and not leads_elsewhere:
                remove_left_over(place)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other study run in the folder meanwhile, which would leave its own ``study.json`` there."""
        with locked(self.folder / LOCK):
            yield

    @property
    def _is_study(self) -> bool:
        names = {path.name for path in self.folder.iterdir()}
        return STUDY in names or all(name in FIRST_FILES or is_temporary(name) for name in names)

    def write_study(self, study: dict[str, Any]) -> dict[str, Any]:
        """Write what the study is; returns what will be read."""
        content = json.dumps(study, indent=1).encode()
        _write(self.folder / STUDY, lambda file: file.write(content))
        return _parse_study(content)

    def read_study(self) -> dict[str, Any]:
        """Read what the study is."""
        path = self.folder / STUDY
        try:
            return _parse_study(_read(path))
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.folder} holds no study: there is no {STUDY} in it.") from None
        except NotADirectoryError as error:
            raise NotADirectoryError(f"{self.folder} is no folder of a study.") from error
        except (ValueError, RecursionError) as error:
            raise DamagedFile(
                f"{path} cannot be read ({first_line(error)}); run the study again, its finished cells stay."
            ) from error

    def write_labels(self, prepared: PreparedData) -> None:
        """Write the true labels of a data set and its split."""
        names = json.dumps(prepared.label_names).encode()
        _write_arrays(
            self._labels_path(prepared.labels_key),
            shape=np.array(prepared.Y.shape),
            labels=np.packbits(prepared.Y, axis=1),
            folds=prepared.fold_numbers.astype(np.int32),
            label_names=np.frombuffer(names, dtype=np.uint8),
        )

    def read_labels(self, labels_key: str) -> StoredLabels:
        """Read the true labels of a data set and its split."""
        path = self._labels_path(labels_key)
        try:
            content = _read(path)
        except FileNotFoundError as error:
            raise DamagedFile(f"{path} is damaged or missing (there is no such file); run the study again.") from error
        return _parse(lambda: _parse_labels(content), f"{path} is damaged or missing ({{}}); run the study again.")

    def _labels_path(self, labels_key: str) -> Path:
        return self.folder / "labels" / f"{labels_key}.npz"

    def write_cell(self, cell: Cell, outcome: Outcome) -> None:
        """Write what came of a cell: its result, or why there is none."""
        if outcome.predictions is None:
            failure = {"reason": outcome.reason, "details": outcome.details, "seconds": outcome.seconds}
            content = json.dumps(failure).encode()
            _write(self._failure_path(cell.key), lambda file: file.write(content))
            return
        hard = outcome.predictions.dtype == np.uint8
        about = {
            "key": cell.key,
            "n_labels": outcome.predictions.shape[-1],
            "profile": outcome.profiles if outcome.predictions.ndim == 3 else outcome.profiles[0],
            "seconds": outcome.seconds,
            "warnings": outcome.warnings,
        }
        _write_arrays(
            self._cell_path(cell.key),
            about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
            predictions=np.packbits(outcome.predictions, axis=-1) if hard else outcome.predictions,
        )
        self._failure_path(cell.key).unlink(missing_ok=True)

    def read_cell(self, key: str, shape: tuple[int, ...] | None = None) -> StoredCell | None:
        """Read the result of a cell, of predictions of this shape; None if there is none.

        Raises
        ------
        DamagedFile
            If it is not as it was written.
        """
        path = self._cell_path(key)
        try:
            content = _read(path)
        except FileNotFoundError:
            return None
        return _parse(lambda: _parse_cell(content, key, shape), f"{path} is damaged: {{}}.")

    def has_cell(self, key: str, shape: tuple[int, ...] | None = None) -> bool:
        """Whether there is a good result of a cell; a damaged one is removed, and noted in the log."""
        try:
            return self.read_cell(key, shape) is not None
        except DamagedFile as error:
            self.log(f"damaged, to be run again: {error}")
            self._cell_path(key).unlink(missing_ok=True)
            return False

    def read_failure(self, key: str) -> dict[str, Any] | None:
        """Read why a cell that ran has no result; None if it did not run."""
        try:
            failure = json.loads(_read(self._failure_path(key)))
            for name in ("reason", "details"):
                check_text(name, failure[name])
            return {name: failure[name] for name in ("reason", "details", "seconds")}
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError, RecursionError):
            return {"reason": "unknown: the note of its failure is damaged", "details": "", "seconds": 0.0}

    def log(self, line: str) -> None:
        """Add a line to the log, with the time."""
        with open(self.folder / LOG, "a", encoding="utf-8") as file:
            file.write(f"{datetime.now().isoformat(timespec='seconds')} {printable(line)}\n")

    def _cell_path(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.npz"

    def _failure_path(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.failed.json"


def _write_arrays(path: Path, **arrays: np.ndarray) -> None:
    _write(path, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]


def _write(path: Path, write: Callable[[BinaryIO], object]) -> None:
    temporary = beside(path)
    try:
        with open(temporary, "xb") as file:
            write(file)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _read(path: Path) -> bytes:
    """What a file holds; a pipe or a device, which may never end, is refused."""
    if path.exists() and not path.is_file():
        raise OSError(f"{path} cannot be read: it is not a regular file.")
    return path.read_bytes()


def _parse(parse: Callable[[], T], message: str) -> T:
    """What a file holds; whatever is wrong with it is told by a message with a place for the reason."""
    try:
        return parse()
    except MemoryError:
        raise  # it tells nothing about the file
    except Exception as error:  # readers of ZIP files, arrays and JSON raise errors of a dozen kinds
        raise DamagedFile(message.format(first_line(error))) from error


def _parse_study(content: bytes) -> dict[str, Any]:
    study = json.loads(content)
    if not isinstance(study, dict):
        raise ValueError("it is not a table of names and values")
    if study.get("format") != FORMAT:
        raise ValueError("it was written by another version of choral")
    study = DEFAULTS | study
    check_study(study)
    return study


def _parse_labels(content: bytes) -> StoredLabels:
    shape, labels, folds, names = _read_arrays(content, "shape", "labels", "folds", "label_names")
    n_rows, n_labels = shape.tolist()
    label_names = json.loads(names.tobytes())
    check_texts("label_names", label_names)
    if len(label_names) != n_labels:
        raise ValueError(f"it has {n_labels} labels, but {len(label_names)} names")
    folds = check_folds(folds)
    if folds.shape[1] != n_rows:
        raise ValueError(f"it has {n_rows} rows, but folds of {folds.shape[1]}")
    return StoredLabels(_unpack(labels, (n_rows, n_labels)), tuple(label_names), folds)


def _parse_cell(content: bytes, key: str, shape: tuple[int, ...] | None) -> StoredCell:
    # scores take four bytes each, labels less
    packed_about, predictions = _read_arrays(content, "about", "predictions", known=4 * math.prod(shape or (0,)))
    about = json.loads(packed_about.tobytes())
    if about["key"] != key:
        raise ValueError("it is the result of another cell")
    if predictions.dtype == np.uint8:
        predictions = _unpack(predictions, (*predictions.shape[:-1], about["n_labels"]))
    elif predictions.dtype != np.float32 or predictions.ndim != 2 or not _are_scores(predictions):
        raise ValueError("its predictions are neither labels nor scores")
    if predictions.ndim not in (2, 3) or shape not in (None, predictions.shape):
        raise ValueError(f"its predictions have the shape {predictions.shape}, not {shape}")
    profiles = about["profile"] if predictions.ndim == 3 else [about["profile"]]
    if predictions.ndim == 3 and len(profiles) != len(predictions):
        raise ValueError(f"it has {len(profiles)} profiles of {len(predictions)} predictions")
    for profile in map(ErrorProfile.from_dict, profiles):
        if (profile.n_rows, profile.n_labels) != predictions.shape[-2:]:
            raise ValueError("a profile is not that of its predictions")
    check_texts("warnings", about["warnings"])
    return StoredCell(tuple(profiles), predictions, float(about["seconds"]), tuple(about["warnings"]))


def _unpack(packed: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Labels of this shape, of which eight are in each byte."""
    if packed.dtype != np.uint8 or 0 in shape or packed.shape != (*shape[:-1], (shape[-1] + 7) // 8):
        raise ValueError(f"its labels are not of the shape {shape}")
    return np.unpackbits(packed, axis=-1, count=shape[-1])


def _are_scores(predictions: np.ndarray) -> bool:
    return bool(((predictions >= 0) & (predictions <= 1)).all())


def _read_arrays(content: bytes, *names: str, known: int = 0) -> list[np.ndarray]:
    """Arrays of an NPZ file, checksums compared; of one that is known to be large, its size in bytes."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [_read_array(archive, f"{name}.npy", known) for name in names]


def _read_array(archive: zipfile.ZipFile, name: str, known: int) -> np.ndarray:
    member = archive.getinfo(name)
    if member.file_size > max(MAX_UNPACKED, MAX_FACTOR * member.compress_size, known):
        raise ValueError(f"{name} would take {member.file_size} bytes")
    with archive.open(member) as file:
        stream = io.BytesIO(file.read(member.file_size))  # not to its end: that might be far beyond this size
    np.lib.format.read_magic(stream)
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if math.prod(shape) * dtype.itemsize != member.file_size - stream.tell():
        raise ValueError(f"{name} is not of the size that it says")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)
