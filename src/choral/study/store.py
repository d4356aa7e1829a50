"""The folder of a study: a file for each cell, written whole or not at all, and whatever is damaged is noticed.

``study.json`` says what the study is, ``labels/`` holds the true labels and folds of each data set, ``cells/`` a file
for each finished cell under its key, ``log.txt`` a line for each cell that ran. A cell is an NPZ file: its checksums
tell a damaged file from a good one. Files are renamed into place and not forced to the disk, which would take longer
than the rest: after a power cut some of the last cells may be damaged, and are run again.
"""

import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from choral._outputs import check_output
from choral._text import printable
from choral.study.cells import FORMAT, Cell, Outcome, PreparedData

STUDY = "study.json"
REQUIRED = (  # what results need to know
    *("title", "created", "predictions", "baseline", "families", "learners", "datasets"),
    *("notes", "plan", "versions"),
)
DEFAULTS: dict[str, Any] = {"each_loss": [], "sections": []}  # of keys that earlier versions did not write
FIRST_FILES = {"cells", "labels", "log.txt"}  # those that a study makes before study.json
DAMAGES = (ValueError, KeyError, EOFError, TypeError, RuntimeError, zipfile.BadZipFile, zlib.error)


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
            for name in ("cells", "labels"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
            check_output(self.folder / STUDY)
        except OSError as error:
            reason = str(error.strerror or error).rstrip(".")
            raise type(error)(f"{self.folder} cannot be the folder of a study: {reason}.") from error
        for place in (self.folder, self.folder / "cells", self.folder / "labels"):
            for leftover in place.glob(".*.tmp"):
                if _is_left_over(leftover.name):
                    leftover.unlink(missing_ok=True)

    @property
    def _is_study(self) -> bool:
        names = {path.name for path in self.folder.iterdir()}
        return STUDY in names or all(name in FIRST_FILES or name.startswith(f".{STUDY}.") for name in names)

    def write_study(self, study: dict[str, Any]) -> None:
        """Write what the study is."""
        _write(self.folder / STUDY, json.dumps(study, indent=1).encode())

    def read_study(self) -> dict[str, Any]:
        """Read what the study is."""
        path = self.folder / STUDY
        try:
            study = json.loads(path.read_bytes())
            if study.get("format") != FORMAT:
                raise ValueError("it was written by another version of choral")
            if missing := [key for key in REQUIRED if key not in study]:
                raise ValueError(f"it lacks {', '.join(missing)}")
            return DEFAULTS | study
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.folder} holds no study: there is no {STUDY} in it.") from None
        except (ValueError, TypeError, AttributeError) as error:
            raise DamagedFile(
                f"{path} cannot be read ({error}); run the study again, its finished cells stay."
            ) from error
        except NotADirectoryError as error:
            raise NotADirectoryError(f"{self.folder} is no folder of a study.") from error

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
            arrays = _read_arrays(path)
            Y = np.unpackbits(arrays["labels"], axis=1, count=int(arrays["shape"][1]))
            return StoredLabels(Y, tuple(json.loads(arrays["label_names"].tobytes())), arrays["folds"])
        except (FileNotFoundError, *DAMAGES) as error:
            raise DamagedFile(f"{path} is damaged or missing ({error}); run the study again.") from error

    def _labels_path(self, labels_key: str) -> Path:
        return self.folder / "labels" / f"{labels_key}.npz"

    def write_cell(self, cell: Cell, outcome: Outcome) -> None:
        """Write what came of a cell: its result, or why there is none."""
        if outcome.predictions is None:
            failure = {"reason": outcome.reason, "details": outcome.details, "seconds": outcome.seconds}
            _write(self._failure_path(cell.key), json.dumps(failure).encode())
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

    def read_cell(self, key: str) -> StoredCell | None:
        """Read the result of a cell; None if there is none, `DamagedFile` if it is not as it was written."""
        path = self._cell_path(key)
        try:
            arrays = _read_arrays(path)
            about = json.loads(arrays["about"].tobytes())
            predictions = arrays["predictions"]
            if predictions.dtype == np.uint8:
                predictions = np.unpackbits(predictions, axis=-1, count=about["n_labels"])
            if about["key"] != key:
                raise ValueError("it is the result of another cell")
            profiles = about["profile"] if predictions.ndim == 3 else [about["profile"]]
            return StoredCell(tuple(profiles), predictions, about["seconds"], tuple(about["warnings"]))
        except FileNotFoundError:
            return None
        except DAMAGES as error:
            raise DamagedFile(f"{path} is damaged: {error}.") from error

    def has_cell(self, key: str) -> bool:
        """Whether there is a good result of a cell; a damaged one is removed, and noted in the log."""
        try:
            return self.read_cell(key) is not None
        except DamagedFile as error:
            self.log(f"damaged, to be run again: {error}")
            self._cell_path(key).unlink(missing_ok=True)
            return False

    def read_failure(self, key: str) -> dict[str, Any] | None:
        """Read why a cell that ran has no result; None if it did not run."""
        try:
            failure = json.loads(self._failure_path(key).read_bytes())
            return {key: failure[key] for key in ("reason", "details", "seconds")}
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, KeyError):
            return {"reason": "unknown: the note of its failure is damaged", "details": "", "seconds": 0.0}

    def log(self, line: str) -> None:
        """Add a line to the log, with the time."""
        with open(self.folder / "log.txt", "a", encoding="utf-8") as file:
            file.write(f"{datetime.now().isoformat(timespec='seconds')} {printable(line)}\n")

    def _cell_path(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.npz"

    def _failure_path(self, key: str) -> Path:
        return self.folder / "cells" / f"{key}.failed.json"


def _write_arrays(path: Path, **arrays: np.ndarray) -> None:
    temporary = _temporary_path(path)
    with open(temporary, "wb") as file:
        np.savez_compressed(file, **arrays)  # type: ignore[arg-type]
    os.replace(temporary, path)


def _write(path: Path, content: bytes) -> None:
    temporary = _temporary_path(path)
    temporary.write_bytes(content)
    os.replace(temporary, path)


def _temporary_path(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.tmp")


def _is_left_over(name: str) -> bool:
    """Whether the process that was writing a temporary file has ended; on Windows that is not known."""
    *_, pid, _ = name.split(".")
    if os.name == "nt" or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)  # signal 0 only asks whether the process is there
    except ProcessLookupError:
        return True
    except PermissionError:  # it runs as another user
        return False
    return int(pid) == os.getpid()


def _read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file, checksums compared: an NPZ file checks an array only when it is read to its end."""
    content = io.BytesIO(path.read_bytes())  # not tried: a file that cannot be opened is not damaged
    try:
        with np.load(content, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except OSError as error:  # the file ends before a place that it refers to
        raise ValueError(str(error)) from error
