"""Keys: a table of a plan that knows its place in the file, and which keys were read: all others are mistakes."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any, TypeVar

from choral._text import did_you_mean
from choral.study.faults import FAULTS, describe_fault, text_of

T = TypeVar("T")
REQUIRED: Any = object()
KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false", list: "a list", dict: "a table"}


class Keys:
    """A table of a TOML file.

    Parameters
    ----------
    values : dict
    place : str
        Where it is, for messages; empty for a table inside another one, which tells its own place.

    Examples
    --------
    >>> keys = Keys({"fold": 3}, "plan.toml, [split]")
    >>> with keys.place():
    ...     keys.finish(keys.take("folds", int, 10))
    Traceback (most recent call last):
    choral.study.keys.PlanError: plan.toml, [split]: unknown key 'fold'; did you mean 'folds'?
    """

    def __init__(self, values: dict[str, Any], place: str = ""):
        self._values, self._place = values, place
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    @contextmanager
    def place(self) -> Iterator[None]:
        """Put the place of this table before the message of an error; only the innermost table does so."""
        try:
            yield
        except (PlanError, OSError, ImportError, MemoryError):
            raise  # they say what is missing
        except (ValueError, TypeError) as error:
            raise PlanError(f"{self._place}: {_with_full_stop(text_of(error))}") from error
        except FAULTS as error:  # of code that the plan names, where anything may go wrong
            raise PlanError(f"{self._place}: {_with_full_stop(describe_fault(error))}") from error

    def take(self, key: str, kind: Any, default: Any = REQUIRED) -> Any:
        """The value of a key, of the right kind; whole numbers serve as numbers."""
        self._asked.append(key)
        if key not in self._values:
            if default is REQUIRED:
                near = get_close_matches(key, self._values, n=1)
                raise ValueError(f"the key {key!r} is missing{f'; is it {near[0]!r}?' if near else ''}")
            return default
        value = self._values[key]
        kinds = kind if isinstance(kind, tuple) else (kind,)
        fits = isinstance(value, (*kinds, int) if float in kinds else kinds)
        if not fits or (isinstance(value, bool) and bool not in kinds and object not in kinds):
            expected = " or ".join(KINDS[one] for one in kinds)
            raise ValueError(f"{key} must be {expected}; got {value!r}")
        return value

    def take_table(self, key: str) -> "Keys":
        """A table inside this one; empty unless it is there."""
        return Keys(self.take(key, dict, {}), f"{self._place}, [{key}]")

    def take_tables(self, key: str, default: Any = REQUIRED) -> list["Keys"]:
        """A list of tables inside this one."""
        if isinstance(self._values.get(key), dict):
            raise ValueError(f"{key} must be a list of tables: write [[{key}]]")
        values = self.take(key, list, default)
        for value in values:
            if not isinstance(value, dict):
                raise ValueError(f"{key} must be a list of tables, [[{key}]]; got {value!r}")
        return [
            Keys(value, f"{self._place}, [[{key}]] {_table_name(number, value)}")
            for number, value in enumerate(values, 1)
        ]

    def finish(self, result: T, known: Iterable[str] = ()) -> T:
        """Return the result made of this table, or refuse a key of it that was never taken."""
        for key in self._values:
            if key not in (known := [*known, *self._asked]):
                raise ValueError(f"unknown key {key!r}{did_you_mean(key, dict.fromkeys(known))}")
        return result


class PlanError(ValueError):
    """A mistake in a plan."""


def _with_full_stop(text: str) -> str:
    """A sentence with one full stop, unless it is a question."""
    return text if text.endswith("?") else f"{text.rstrip('.')}."


def _table_name(number: int, values: dict[str, Any]) -> str:
    name = values.get("name")
    return f"{number} ({name!r})" if isinstance(name, str) else str(number)
