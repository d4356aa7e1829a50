"""Rules in files: what a tuner or a calibrator has learned, as JSON or NPZ, never as a pickle."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from choral._outputs import is_there, replacing
from choral._text import first_line, quoted
from choral.calibration.joint import JointCalibrator
from choral.calibration.saved import SHAPES, check_label_names
from choral.calibration.thresholds import ThresholdTuner
from choral.label_files.npy import read_arrays

Rules = ThresholdTuner | JointCalibrator

FORMAT, VERSION = "choral rule", 1
KINDS: dict[str, type[Rules]] = {"thresholds": ThresholdTuner, "joint": JointCalibrator}
SUFFIXES = (".json", ".npz")
ARRAYS = ("thresholds", *SHAPES)  # what an NPZ file holds as arrays; all else is text
MAX_BYTES = 2**30


def check_rule_suffix(name: str, path: str | os.PathLike[str]) -> None:
    """Refuse a file that `save_rule` cannot write; ``name`` is what the user knows the argument by.

    Examples
    --------
    >>> check_rule_suffix("path", "rule.pkl")
    Traceback (most recent call last):
    ValueError: path must name a file that ends in .json or .npz; got 'rule.pkl'.
    """
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"{name} must name a file that ends in {' or '.join(SUFFIXES)}; got {os.fspath(path)!r}.")


def save_rule(path: str | os.PathLike[str], rule: Rules) -> None:
    """Write what a tuner or a calibrator has learned.

    Parameters
    ----------
    path : path-like
        ``.json``, which people can read, or ``.npz``, which is smaller. Both keep every number to the last bit.
    rule : ThresholdTuner or JointCalibrator
        A fitted one. Of a calibrator, the rules for the losses that it was asked for so far are kept, and that for its
        own ``measure``; the rows given to `fit` are not.

    See Also
    --------
    load_rule : Read a rule from a file.

    Examples
    --------
    >>> import os, tempfile
    >>> from choral import ThresholdTuner
    >>> tuner = ThresholdTuner("f1").fit([[0.2, 0.7], [0.9, 0.3]], [[0, 1], [1, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_rule(os.path.join(folder, "rule.json"), tuner)
    ...     load_rule(os.path.join(folder, "rule.json")).thresholds_
    array([0.25, 0.25])
    """
    check_rule_suffix("path", path)
    kind = next((name for name, cls in KINDS.items() if isinstance(rule, cls)), None)
    if kind is None:
        raise TypeError(f"rule must be a ThresholdTuner or a JointCalibrator; got {type(rule).__name__}.")
    contents = {"format": FORMAT, "version": VERSION, "kind": kind, **rule.to_dict()}
    if Path(path).suffix.lower() == ".json":
        text = json.dumps(contents, default=_as_list, allow_nan=False)
        with replacing(path) as file:
            file.write(text.encode())
        return
    arrays = {name: np.asarray(contents.pop(name)) for name in ARRAYS if name in contents}
    text = json.dumps(contents, default=_as_list, allow_nan=False)
    with replacing(path) as file:
        np.savez_compressed(file, **{"rule": np.array(text), **arrays})  # type: ignore[arg-type]  # NumPy's types err


def _as_list(value: Any) -> Any:
    """Arrays and numbers of NumPy for JSON."""
    return value.tolist()


def load_rule(path: str | os.PathLike[str]) -> Rules:
    """Read a rule that `save_rule` wrote, ready to predict.

    The file may come from anybody: all of it is checked.

    Parameters
    ----------
    path : path-like
        ``.json`` or ``.npz``.

    Returns
    -------
    rule : ThresholdTuner or JointCalibrator
        As it was when it was saved.

    Raises
    ------
    ValueError
        In one line that names the file.

    See Also
    --------
    save_rule : Write a rule into a file.

    Examples
    --------
    >>> import tempfile
    >>> from choral.calibration import ThresholdTuner, save_rule
    >>> tuner = ThresholdTuner("hamming").fit([[0.2], [0.4], [0.6]], [[0], [1], [1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_rule(f"{folder}/rule.json", tuner)
    ...     thresholds = load_rule(f"{folder}/rule.json").thresholds_
    >>> thresholds.round(2)
    array([0.3])
    """
    check_rule_suffix("path", path)
    path = Path(path)
    reader: Callable[[Path], Any] = _read_json if path.suffix.lower() == ".json" else _read_npz
    try:
        if not path.is_file():
            problem = "is a folder or a device" if is_there(path) else "does not exist"
            raise ValueError(f"{path} {problem}; expected a file.")
        if path.stat().st_size > MAX_BYTES:
            raise ValueError(f"{path} is too large: {path.stat().st_size} bytes, the limit is {MAX_BYTES}.")
        contents = reader(path)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}.") from error
    cls = _check_kind(path, contents)
    try:
        return _from_contents(cls, contents)
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(f"{path} is not a readable rule: {first_line(error)}.") from error


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:  # a wrong encoding is a ValueError too
        raise ValueError(f"{path} is not a readable JSON file: {first_line(error)}.") from error


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is no number of JSON")


def _read_npz(path: Path) -> Any:
    arrays = read_arrays(path, MAX_BYTES)
    text = arrays.pop("rule", None)
    if text is None or text.dtype.kind != "U" or text.ndim:
        raise ValueError(f"{path} is not a rule: it has no text called 'rule'.")
    try:
        contents = json.loads(str(text), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a readable rule: {first_line(error)}.") from error
    return {**contents, **arrays} if isinstance(contents, dict) else contents


def _check_kind(path: Path, contents: Any) -> type[Rules]:
    if not isinstance(contents, dict) or contents.get("format") != FORMAT:
        raise ValueError(f"{path} is not a rule: 'format' must be {FORMAT!r}.")
    version, kind = contents.get("version"), contents.get("kind")
    if version != VERSION:
        raise ValueError(f"{path}: this choral reads version {VERSION} of rules; got {quoted(str(version))}.")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"{path}: 'kind' must be {' or '.join(KINDS)}; got {quoted(str(kind))}.")
    return KINDS[kind]


def _from_contents(cls: type[Rules], contents: dict[str, Any]) -> Rules:
    if cls is ThresholdTuner:
        if not isinstance(contents.get("loss", ""), str):
            raise ValueError("loss must be text.")
        if "labels" in contents:
            check_label_names(contents["labels"], len(contents["labels"]))
    return cls.from_dict(contents)
