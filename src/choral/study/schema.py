"""What ``study.json`` must look like: checked when it is read, since anyone may have written it.

Each check raises a ``ValueError`` that says where the mistake is, what is expected there, and what came.
"""

import re
from collections.abc import Iterable
from typing import Any

from choral._text import quoted
from choral.measures.families import FAMILIES

PREDICTIONS = ("hard", "soft")
REQUIRED = (  # what results need to know
    *("title", "created", "predictions", "baseline", "families", "learners", "datasets"),
    *("notes", "plan", "versions"),
)
CELL = ("learner", "seed", "repeat", "fold", "key")
LARGEST_PARAMETER = 1e300  # of a family; a JSON number may be too large for a float


def check_study(study: dict[str, Any]) -> None:
    """Refuse a description of a study in which results would not find what they need; `Section` checks sections."""
    if missing := [key for key in REQUIRED if key not in study]:
        raise ValueError(f"it lacks {', '.join(missing)}")
    for key in ("title", "created"):
        check_text(key, study[key])
    _check_choice("predictions", study["predictions"], PREDICTIONS)
    if study["plan"] is not None:
        check_text("plan", study["plan"])
    check_texts("notes", study["notes"])
    check_texts_by_name("versions", study["versions"])
    check_texts_by_name("learners", study["learners"])
    _check_not_empty("learners", study["learners"])
    _check_choices("families", study["families"], FAMILIES)
    _check_not_empty("families", study["families"])
    _check_choices("each_loss", study["each_loss"], study["learners"])
    if study["baseline"] is not None:
        _check_choice("baseline", study["baseline"], study["learners"])
    _check_list("datasets", study["datasets"])
    _check_not_empty("datasets", study["datasets"])
    for number, dataset in enumerate(study["datasets"]):
        _check_dataset(f"datasets[{number}]", dataset, study)
    _check_distinct("the names of datasets", [dataset["name"] for dataset in study["datasets"]])


def _check_dataset(place: str, dataset: Any, study: dict[str, Any]) -> None:
    _check_table(place, dataset)
    if missing := [key for key in ("name", "labels", "parameters", "cells") if key not in dataset]:
        raise ValueError(f"{place} lacks {', '.join(missing)}")
    check_text(f"{place}.name", dataset["name"])
    _check_key(f"{place}.labels", dataset["labels"])
    _check_table(f"{place}.parameters", dataset["parameters"])
    if set(dataset["parameters"]) != set(study["families"]):
        raise ValueError(f"{place}.parameters must be those of {', '.join(study['families'])}")
    for family, parameters in dataset["parameters"].items():
        _check_parameters(f"{place}.parameters.{family}", parameters)
    _check_cells(f"{place}.cells", dataset["cells"], study["learners"])


def _check_parameters(place: str, parameters: Any) -> None:
    """Whether they suit the family and the labels is seen when the labels are read."""
    _check_list(place, parameters)
    _check_not_empty(place, parameters)
    for number, value in enumerate(parameters):
        if not (value == "inf" or _is_number(value)):
            raise ValueError(f"{place}[{number}] must be a number, or the text inf; got {_shown(value)}")


def _check_cells(place: str, cells: Any, learners: dict[str, str]) -> None:
    """Each learner must have the same folds in the same repeats, all of them with each seed, once."""
    _check_list(place, cells)
    folds_by_run: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for number, cell in enumerate(cells):
        if not (isinstance(cell, list) and len(cell) == len(CELL)):
            raise ValueError(f"{place}[{number}] must be a list of {', '.join(CELL)}; got {_shown(cell)}")
        learner, seed, repeat, fold, key = cell
        _check_choice(f"{place}[{number}], learner", learner, learners)
        for name, value in (("seed", seed), ("repeat", repeat), ("fold", fold)):
            if not (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
                raise ValueError(f"{place}[{number}], {name} must be a whole number from 0 on; got {_shown(value)}")
        _check_key(f"{place}[{number}], key", key)
        folds_by_run.setdefault((learner, seed), []).append((repeat, fold))
    if missing := learners.keys() - {learner for learner, _ in folds_by_run}:
        raise ValueError(f"{place} must have cells of each learner; there are none of {quoted(min(missing))}")
    expected = set(next(iter(folds_by_run.values())))
    n_repeats, n_folds = (max(numbers) + 1 for numbers in zip(*expected, strict=True))
    for (learner, seed), folds in folds_by_run.items():
        if set(folds) != expected or not len(folds) == len(expected) == n_repeats * n_folds:
            raise ValueError(
                f"{place} must have each fold of each repeat once; not so of {quoted(learner)}, seed {seed}"
            )


def check_text(place: str, value: Any) -> None:
    """Refuse what is no text."""
    if not isinstance(value, str):
        raise ValueError(f"{place} must be text; got {_shown(value)}")


def check_texts(place: str, values: Any) -> None:
    """Refuse what is no list of texts."""
    _check_list(place, values)
    for number, value in enumerate(values):
        check_text(f"{place}[{number}]", value)


def check_texts_by_name(place: str, values: Any) -> None:
    """Refuse what is no table of texts."""
    _check_table(place, values)
    for name, value in values.items():
        check_text(f"{place}.{name}", value)


def _check_key(place: str, value: Any) -> None:
    """A key becomes the name of a file: with a slash in it, that could be any file."""
    if not (isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value)):
        raise ValueError(f"{place} must be a key, 32 of the digits 0-9 and a-f; got {_shown(value)}")


def _check_choice(place: str, value: Any, choices: Iterable[str]) -> None:
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{place} must be one of {', '.join(map(quoted, choices))}; got {_shown(value)}")


def _check_choices(place: str, values: Any, choices: Iterable[str]) -> None:
    _check_list(place, values)
    for number, value in enumerate(values):
        _check_choice(f"{place}[{number}]", value, choices)
    _check_distinct(place, values)


def _check_list(place: str, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise ValueError(f"{place} must be a list; got {_shown(value)}")


def _check_table(place: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise ValueError(f"{place} must be a table of names and values; got {_shown(value)}")


def _check_not_empty(place: str, values: Any) -> None:
    if not values:
        raise ValueError(f"{place} must not be empty")


def _check_distinct(place: str, values: list[str]) -> None:
    if len(set(values)) < len(values):
        raise ValueError(f"{place} must be distinct")


def _is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool) and abs(value) <= LARGEST_PARAMETER


def _shown(value: Any) -> str:
    """What came instead: a short value as it is, of a list or table only the kind."""
    if isinstance(value, str):
        return quoted(value)
    return f"a {type(value).__name__}" if isinstance(value, list | dict) else quoted(str(value)).strip("'")
