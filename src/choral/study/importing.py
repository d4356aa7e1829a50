"""Objects by their names in a plan: learners of choral, or anything that can be imported."""

import inspect
from importlib import import_module
from typing import Any

from sklearn.base import BaseEstimator

from choral import learners
from choral._text import did_you_mean


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
    try:
        module = import_module(module_name)
    except Exception as error:  # importing runs the module, where anything may go wrong
        raise ValueError(f"{module_name} cannot be imported: {type(error).__name__}: {error}.") from error
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
