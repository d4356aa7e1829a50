"""Plans in TOML files: all checked before anything runs; a mistake is told with its place and what is allowed."""

import os
import sys
import tomllib
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from choral import datasets
from choral._text import did_you_mean
from choral.datasets import is_arff
from choral.measures.families import FAMILIES
from choral.study.data_files import SUFFIXES, read_dataset
from choral.study.importing import check_parameters, import_object, make_estimator
from choral.study.keys import Keys
from choral.study.plan import Plan, StudyData, StudyLearner
from choral.study.published import published_folds
from choral.study.splits import Split

READY = ("quick", "paper", "published", "tailored")
EMBEDDED = "digits-segments"


def read_plan(plan: str | os.PathLike[str]) -> Plan:
    """Read a plan by the name of a ready one or from a TOML file.

    Parameters
    ----------
    plan : str or path-like
        ``"quick"`` (embedded data, a minute), ``"paper"`` (the nine data sets and learners of the paper),
        ``"published"`` (the same with the quirks of the published protocol), ``"tailored"`` (learners made for these
        losses beside those of the paper), or the path of a TOML file: see ``docs/study.md``. Paths in it are relative
        to its folder, from which modules can be imported too.

    Raises
    ------
    ValueError
        In one line, with the key that is wrong and what is allowed.

    Examples
    --------
    >>> plan = read_plan("quick")
    >>> [data.name for data in plan.datasets], plan.baseline
    (['digits-segments', 'independent', 'dependent'], 'all irrelevant')
    """
    if str(plan) in READY:
        path = Path(f"{plan}.toml")
        text = (files("choral.study") / "plans" / path.name).read_text(encoding="utf-8")
        return parse_plan(text, path.name, Path())
    path = Path(plan)
    if path.suffix != ".toml":
        known = f"a plan is one of {', '.join(READY)}, or a file that ends in .toml; got {str(plan)!r}"
        raise ValueError(f"{known}{did_you_mean(str(plan), READY)}")
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark at the beginning
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}.") from error
    return parse_plan(text, str(path), path.parent)


def parse_plan(text: str, name: str, folder: Path) -> Plan:
    """Read the text of a plan; ``name`` is for messages, ``folder`` where its paths begin."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {error}.") from error
    if (place := str(folder.absolute())) not in sys.path:
        sys.path.append(place)
    keys = Keys(values, name)
    with keys.place():
        return Plan(
            title=keys.take("title", str, Path(name).stem),
            datasets=tuple(_read_data(one, folder) for one in keys.take_tables("datasets")),
            learners=tuple(_read_learner(one) for one in keys.take_tables("learners")),
            split=_read_split(keys.take_table("split")),
            seeds=tuple(keys.take("seeds", list, [0])),
            families=_read_families(keys.take_table("families")),
            predictions=keys.take("predictions", str, "hard"),
            threshold=keys.take("threshold", float, None),
            time_limit=keys.take("time_limit", float, None),
            claims=keys.take("claims", bool, False),
            published=keys.take("published", bool, False),
            ours=tuple(keys.take("ours", list, [])),
            text=keys.finish(text),
        )


def _read_data(keys: Keys, folder: Path) -> StudyData:
    with keys.place():
        name = keys.take("name", str)
        given = [key for key in ("path", "call") if key in keys]
        if len(given) > 1:
            raise ValueError("path and call exclude each other")
        source = {"path": _from_file, "call": _from_call}.get(given[0] if given else "", _by_name)(keys, name, folder)
        folds = _read_folds(keys, folder)
        return StudyData(name, source, keys.finish(folds))


def _by_name(keys: Keys, name: str, folder: Path) -> Any:
    if name == EMBEDDED:
        return datasets.load_digits_segments
    if name not in datasets.NAMES:
        known = (EMBEDDED, *datasets.NAMES)
        raise ValueError(f"name: {name!r} is no data set of choral; it needs path or call{did_you_mean(name, known)}")
    return partial(datasets.load, name)


def _from_file(keys: Keys, name: str, folder: Path) -> Any:
    path = folder / keys.take("path", str)
    labels = keys.take("labels", object, None)
    if not (is_arff(path.name) or path.suffix.lower() in SUFFIXES):
        raise ValueError(f"path: must end in {', '.join(SUFFIXES)}; got {path.name!r}")
    if not path.is_file():
        raise ValueError(f"path: there is no file {path}")
    if isinstance(labels, str) and is_arff(path.name):
        labels = folder / labels  # a header in XML
    return partial(read_dataset, path, labels)


def _from_call(keys: Keys, name: str, folder: Path) -> Any:
    path = keys.take("call", str)
    if ":" not in path and "." not in path and path not in datasets.__all__:
        raise ValueError(f"call: choral.datasets has no {path!r}{did_you_mean(path, datasets.__all__)}")
    function = getattr(datasets, path) if path in datasets.__all__ else import_object(path)
    if not callable(function):
        raise ValueError(f"call: {path} must be a function; got {function!r}")
    parameters = keys.take("parameters", dict, {})
    check_parameters(path, function, parameters)
    return partial(function, **parameters)


def _read_folds(keys: Keys, folder: Path) -> Any:
    folds = keys.take("folds", object, None)
    if not isinstance(folds, str):
        return folds
    if folds == "published":
        return published_folds(keys.take("name", str))
    try:
        return np.loadtxt(folder / folds, dtype=int, ndmin=1)
    except (OSError, ValueError) as error:
        raise ValueError(f"folds: {folder / folds} must hold a whole number for each row: {error}") from error


def _read_learner(keys: Keys) -> StudyLearner:
    with keys.place():
        estimator = _read_estimator({key: keys.take(key, object) for key in ("learner", "parameters") if key in keys})
        return StudyLearner(
            keys.take("name", str),
            estimator,
            threshold=keys.take("threshold", float, None),
            is_baseline=keys.take("baseline", bool, False),
            each_loss=keys.finish(keys.take("each_loss", bool, False)),
        )


def _read_estimator(values: dict[str, Any]) -> Any:
    """A learner from its name and parameters, of which some may be learners themselves."""
    keys = Keys(values)
    name, parameters = keys.take("learner", str), keys.take("parameters", dict, {})
    keys.finish(None)
    return make_estimator(name, {key: _read_parameter(key, value) for key, value in parameters.items()})


def _read_parameter(key: str, value: Any) -> Any:
    if isinstance(value, dict) and "learner" in value:
        try:
            return _read_estimator(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"parameters.{key}: {error}") from error
    if isinstance(value, list):
        return [_read_parameter(key, one) for one in value]
    return value


def _read_split(keys: Keys) -> Split:
    with keys.place():
        split = Split(
            folds=keys.take("folds", int, 10),
            repeats=keys.take("repeats", int, 1),
            stratify=keys.take("stratify", bool, False),
            seed=keys.take("seed", int, 0),
        )
        return keys.finish(split)


def _read_families(keys: Keys) -> dict[str, Any]:
    with keys.place():
        found = {name: keys.take(name, (str, list)) for name in FAMILIES if name in keys}
        keys.finish(None, known=FAMILIES)
        for name, parameters in found.items():
            if isinstance(parameters, str) and parameters not in ("all", "even"):
                texts = '"all"' if name == "binomial" else '"all", "even"'
                raise ValueError(f"{name}: must be {texts} or a list of numbers; got {parameters!r}")
        chosen = {name: None if parameters == "all" else parameters for name, parameters in found.items()}
        return chosen or dict.fromkeys(FAMILIES)
