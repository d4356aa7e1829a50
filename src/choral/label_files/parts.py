"""Folders of parts: which files of several folders belong together."""

from dataclasses import dataclass
from pathlib import Path

from choral.label_files.reading import READERS
from choral.label_files.table import match_names
from choral.label_files.wording import quoted


@dataclass(frozen=True)
class ComparedPaths:
    """Where the true labels of some rows are, and where those that each model predicts."""

    truth: Path
    predictions: dict[str, Path]

    def absolute(self) -> "ComparedPaths":
        """The same files, whatever the current folder."""
        return ComparedPaths(self.truth.absolute(), {name: path.absolute() for name, path in self.predictions.items()})

    def all_paths(self) -> list[Path]:
        """The truth first."""
        return [self.truth, *self.predictions.values()]


def list_parts(folders: ComparedPaths) -> list[ComparedPaths]:
    """The parts of folders, in the order of their names: each has the same name in all folders, but for the suffix.

    Raises
    ------
    ValueError
        Where a part is missing on one side, or a folder holds something that is no part. What begins with ``_`` or
        ``.``, such as ``_SUCCESS``, is neither.
    """
    truth = _files_by_name(folders.truth)
    files = {model: _files_by_name(folder) for model, folder in folders.predictions.items()}
    for model, folder in folders.predictions.items():
        match_names("parts", tuple(truth), tuple(files[model]), str(folders.truth), str(folder))
    return [ComparedPaths(path, {model: files[model][name] for model in files}) for name, path in truth.items()]


def _files_by_name(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "does not exist"
        raise ValueError(f"{folder} must be a folder of parts, as that of the truth; it {fault}.")
    found: dict[str, Path] = {}
    try:
        paths = sorted(path for path in folder.iterdir() if not path.name.startswith(("_", ".")))
    except OSError as error:
        raise ValueError(f"{folder} cannot be read: {error.strerror}.") from error
    for path in paths:
        if path.suffix.lower() not in READERS or not path.is_file():
            got = f"the folder {quoted(path.name)}" if path.is_dir() else quoted(path.name)
            raise ValueError(f"{folder} must hold files that end in {', '.join(READERS)}; got {got}.")
        if path.stem in found:
            raise ValueError(f"{folder} holds a part twice: {found[path.stem].name} and {path.name}.")
        found[path.stem] = path
    if not found:
        raise ValueError(f"{folder} holds no parts: files that end in {', '.join(READERS)}.")
    return found
