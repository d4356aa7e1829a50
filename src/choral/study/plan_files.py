"""Plans in TOML files: all checked before anything runs; a mistake is told with its place and what is allowed."""

import inspect
import os
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from choral import datasets, learners
from choral._text import did_you_mean
from choral.datasets import Dataset, is_arff
from choral.measures.families import FAMILIES
from choral.study.data_files import SUFFIXES, read_dataset
from choral.study.faults import FAULTS, describe_fault
from choral.study.keys import Keys
from choral.study.own_modules import OWN_MODULES
from choral.study.plan import Plan, StudyData, StudyLearner
from choral.study.results import Results
from choral.study.sections import Section
from choral.study.splits import Split

READY: dict[str, Traversable] = {"quick": files("choral.study") / "plans" / "quick.toml"}
EMBEDDED = "digits-segments"


def read_plan(plan: str | os.PathLike[str], *, ready: Mapping[str, Traversable] = READY) -> Plan:
    """Read a plan by the name of a ready one or from a TOML file.

    Parameters
    ----------
    plan : str or path-like
        ``"quick"`` (embedded data, a minute), or the path of a TOML file: see :doc:`/study`. Paths in it are
        relative to its folder; modules there can be named too. For the plans of the paper, see
        `choral.paper.read_plan`.
    ready : mapping from name to file, optional
        Plans that have a name.

    Returns
    -------
    plan : Plan
        Ready for `run_study`.

    Raises
    ------
    ValueError
        In one line, with the key that is wrong and what is allowed.

    See Also
    --------
    Plan : All that a study does.
    choral.paper.read_plan : Read a plan, also one of the paper's.

    Examples
    --------
    >>> plan = read_plan("quick")
    >>> [data.name for data in plan.datasets], plan.baseline
    (['digits-segments', 'independent', 'dependent'], 'all irrelevant')
    """
    if str(plan) in ready:
        file = ready[str(plan)]
        return parse_plan(file.read_text(encoding="utf-8"), file.name, Path(), ready=ready)
    path = Path(plan)
    if path.suffix != ".toml":
        known = f"a plan is one of {', '.join(ready)}, or a file that ends in .toml; got {str(plan)!r}"
        raise ValueError(f"{known}{did_you_mean(str(plan), ready)}")
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors put a mark at the beginning
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}.") from error
    OWN_MODULES.add_folder(path.parent)
    return parse_plan(text, str(path), path.parent, ready=ready)


def parse_plan(text: str, name: str, folder: Path, *, ready: Mapping[str, Traversable] = READY) -> Plan:
    """Read the text of a plan; ``name`` is for messages, ``folder`` where its paths begin."""
    values = _parse_toml(text, name, ready)
    keys = Keys(values, name)
    with keys.place():
        title = keys.take("title", str, Path(name).stem)
        read = [_read_data(one, folder) for one in keys.take_tables("datasets")]
        return Plan(
            title=title,
            datasets=tuple(one for one in read if isinstance(one, StudyData)),
            left_out=tuple(one for one in read if isinstance(one, str)),
            learners=tuple(_read_learner(one) for one in keys.take_tables("learners")),
            split=_read_split(keys.take_table("split")),
            seeds=tuple(keys.take("seeds", list, [0])),
            families=_read_families(keys.take_table("families")),
            predictions=keys.take("predictions", str, "hard"),
            threshold=keys.take("threshold", float, None),
            time_limit=keys.take("time_limit", float, None),
            analyses=tuple(_read_analysis(one) for one in keys.take_tables("analyses", [])),
            text=keys.finish(text),
        )


def _parse_toml(text: str, name: str, ready: Mapping[str, Traversable]) -> dict[str, Any]:
    """The values of a plan; those that it does not say are those of the plan that it is based on."""
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not TOML: {error}.") from error
    except RecursionError:
        raise ValueError(f"{name} cannot be read: its values are nested too deeply.") from None
    if "base" not in values:
        return values
    base = values.pop("base")
    if not isinstance(base, str) or base not in ready:
        raise ValueError(f"{name}: base must be one of {', '.join(ready)}; got {base!r}.")
    return _parse_toml(ready[base].read_text(encoding="utf-8"), ready[base].name, ready) | values


def _read_data(keys: Keys, folder: Path) -> StudyData | str:
    """A data set; only its name if it is optional, and its file is not there."""
    with keys.place():
        name = keys.take("name", str)
        if "path" in keys and "call" in keys:
            raise ValueError("path and call exclude each other")
        if "path" in keys:
            if keys.take("optional", bool, False) and not (folder / keys.take("path", str)).is_file():
                return keys.finish(name, known=("labels", "folds"))
            source = _find_file(keys, folder)
        else:
            source = _find_function(keys) if "call" in keys else _find_by_name(name)
        folds = _read_folds(keys, folder)
        return StudyData(name, source, keys.finish(folds))


def _find_by_name(name: str) -> Callable[[], Dataset]:
    if name == EMBEDDED:
        return datasets.load_digits_segments
    if name not in datasets.NAMES:
        known = (EMBEDDED, *datasets.NAMES)
        raise ValueError(f"name: {name!r} is no data set of choral; it needs path or call{did_you_mean(name, known)}")
    return partial(datasets.load, name)


def _find_file(keys: Keys, folder: Path) -> Callable[[], Dataset]:
    path = folder / keys.take("path", str)
    labels = keys.take("labels", object, None)
    if not (is_arff(path.name) or path.suffix.lower() in SUFFIXES):
        raise ValueError(f"path: must end in {', '.join(SUFFIXES)}; got {path.name!r}")
    if not path.is_file():
        raise ValueError(f"path: there is no file {path}")
    if isinstance(labels, str) and is_arff(path.name):
        labels = folder / labels  # a header in XML
    return partial(read_dataset, path, labels)


def _find_function(keys: Keys) -> Callable[[], Any]:
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
    if isinstance(folds, dict):
        return _call_folds(Keys(folds), keys.take("name", str))
    if not isinstance(folds, str):
        return folds
    try:
        return np.loadtxt(folder / folds, dtype=int, ndmin=1)
    except (OSError, ValueError) as error:
        raise ValueError(f"folds: {folder / folds} must hold a whole number for each row: {error}") from error


def _call_folds(keys: Keys, dataset: str) -> Any:
    """The folds that a function has for the name of a data set."""
    path = keys.take("call", str)
    function = keys.finish(import_object(path))
    if not callable(function):
        raise ValueError(f"folds: {path} must be a function; got {function!r}")
    return function(dataset)


def _read_analysis(keys: Keys) -> Callable[[Results], Section]:
    """A function with parameters besides the results, or a class whose instances are such functions."""
    with keys.place():
        path, parameters = keys.take("call", str), keys.take("parameters", dict, {})
        found = keys.finish(import_object(path))
        if not callable(found):
            raise ValueError(f"call: {path} must be a function of the results, or a class; got {found!r}")
        if isinstance(found, type):
            check_parameters(path, found, parameters)
            return found(**parameters)
        check_parameters(path, partial(found, None), parameters)
        return partial(found, **parameters) if parameters else found


def _read_learner(keys: Keys) -> StudyLearner:
    with keys.place():
        estimator = _read_estimator({key: keys.take(key, object) for key in ("learner", "parameters") if key in keys})
        return StudyLearner(
            keys.take("name", str),
            estimator,
            threshold=keys.take("threshold", float, None),
            is_baseline=keys.take("baseline", bool, False),
            seeds=keys.take("seeds", list, None),
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
                raise ValueError(f'{name}: must be "all", "even" or a list of numbers; got {parameters!r}')
        chosen = {name: None if parameters == "all" else parameters for name, parameters in found.items()}
        return chosen or dict.fromkeys(FAMILIES)


def import_object(path: str) -> Any:
    """The object that ``package.module:name`` means, or ``package.module.name``.

    Examples
    --------
    >>> import_object("sklearn.tree:DecisionTreeClassifier").__name__
    'DecisionTreeClassifier'
    >>> import_object("math:cosh_")
    Traceback (most recent call last):
    ValueError: math has no 'cosh_'; did you mean 'cosh'?
    """
    module_name, separator, name = path.partition(":")
    if not separator:
        module_name, _, name = path.rpartition(".")
    if not module_name or not name:
        raise ValueError(f"expected an import path such as package.module:name; got {path!r}.")
    OWN_MODULES.add_name(module_name)
    try:
        module = import_module(module_name)
    except FAULTS as error:  # importing runs the module, where anything may go wrong
        raise ValueError(f"{module_name} cannot be imported: {describe_fault(error)}.") from error
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ValueError(f"{module_name} has no {part!r}{did_you_mean(part, dir(found))}")
        found = getattr(found, part)
    return found


def make_estimator(name: str, parameters: dict[str, Any]) -> BaseEstimator:
    """An unfitted learner by the name of a class of `choral.learners`, or by import path.

    Examples
    --------
    >>> make_estimator("RandomKLabelsets", {"k": 2})
    RandomKLabelsets(k=2)
    >>> make_estimator("RandomKLabelsets", {"K": 2})
    Traceback (most recent call last):
    ValueError: RandomKLabelsets has no parameter 'K'; did you mean 'k'?
    """
    kind = getattr(learners, name) if name in learners.__all__ else _import_learner(name)
    if not callable(kind):
        raise ValueError(f"{name} must be a class or function that makes a learner; got {kind!r}.")
    check_parameters(name, kind, parameters)
    estimator = kind(**parameters)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise ValueError(f"{name} must make a learner of scikit-learn's kind, with fit and get_params.")
    return estimator


def check_parameters(name: str, function: Any, parameters: dict[str, Any]) -> None:
    """Refuse parameters that a class or function does not have, and calls without those that it must have."""
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):  # some that are written in C have none
        return
    known = signature.parameters
    open_ended = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for parameter in parameters:
        if parameter not in known and not open_ended:
            raise ValueError(f"{name} has no parameter {parameter!r}{did_you_mean(parameter, known)}")
    try:
        signature.bind(**parameters)
    except TypeError as error:
        raise ValueError(f"{name}: {error}.") from error


def _import_learner(name: str) -> Any:
    if ":" not in name and "." not in name:
        own = [learner for learner in learners.__all__ if learner != "MultiLabelClassifier"]
        choices = did_you_mean(name, own)
        raise ValueError(f"{name!r} is no learner of choral, nor an import path such as package.module:Name{choices}")
    return import_object(name)
