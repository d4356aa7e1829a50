"""What the values of an attribute may be, and the number that stands for each of them."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from choral.datasets.arff.quoting import shown, unquoted

RELEVANCE = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


class Domain:
    """What the values of an attribute may be.

    Attributes
    ----------
    expected : str
        The values in words, for messages.
    omitted : float
        The number that stands for an entry that a sparse row leaves out.
    """

    expected: str
    omitted: float = 0.0

    def number(self, cell: str) -> float:
        """The number for one cell as it stands in the file; nan where the value is missing."""
        raise NotImplementedError

    def column(self, cells: list[str]) -> np.ndarray:
        """The numbers for many cells: each different one is looked at once."""
        numbers = {cell: self.number(cell) for cell in set(cells)}
        return np.fromiter(map(numbers.__getitem__, cells), float, count=len(cells))

    def refuse(self, cell: str) -> ValueError:
        return ValueError(f"expected {self.expected}; got {shown(cell.strip())}.")


@dataclass(frozen=True)
class Numeric(Domain):
    """Any number.

    Examples
    --------
    >>> Numeric().number(" 1.5"), Numeric().number("?")
    (1.5, nan)
    >>> Numeric().number("1_000")
    Traceback (most recent call last):
    ValueError: expected a number; got '1_000'.
    """

    expected = "a number"

    def number(self, cell: str) -> float:
        if cell.strip() == "?":
            return np.nan
        try:
            if "_" not in cell:  # Python would take 1_000
                return float(unquoted(cell))
        except ValueError:
            pass
        raise self.refuse(cell)

    def column(self, cells: list[str]) -> np.ndarray:
        try:
            if "_" not in "".join(cells):
                return np.fromiter(map(float, cells), float, count=len(cells))
        except ValueError:  # rare: missing or quoted values, or a cell to complain about
            pass
        return super().column(cells)


@dataclass(frozen=True)
class Nominal(Domain):
    """One of the values listed; the number is its place in the list.

    Examples
    --------
    >>> Nominal(("red", "dark red")).number("'dark red'")
    1.0
    >>> Nominal(("red", "dark red")).number("blue")
    Traceback (most recent call last):
    ValueError: expected 'red' or 'dark red'; got 'blue'.
    """

    values: tuple[str, ...]

    @cached_property
    def places(self) -> dict[str, float]:
        return {value: float(place) for place, value in enumerate(self.values)}

    @property
    def expected(self) -> str:  # type: ignore[override]
        return one_of(self.values)

    def number(self, cell: str) -> float:
        if cell.strip() == "?":
            return np.nan
        place = self.places.get(unquoted(cell))
        if place is None:
            raise self.refuse(cell)
        return place


@dataclass(frozen=True)
class Label(Domain):
    """Whether a label is relevant: 1 or 0, and never missing.

    Examples
    --------
    >>> Label.of(Nominal(("yes", "no"))).number("yes")
    1.0
    >>> Label.of(Nominal(("1", "0"))).omitted  # a sparse row leaves out the first value listed
    1.0
    >>> Label.of(Nominal(("1", "0"))).number("?")
    Traceback (most recent call last):
    ValueError: expected '1' or '0'; got '?'.
    """

    relevance: dict[str, float] = field(hash=False)
    omitted: float = 0.0

    @classmethod
    def of(cls, domain: Domain) -> "Label":
        """The label that an attribute is, if it can be one."""
        if isinstance(domain, Numeric):
            return cls({"0": 0.0, "1": 1.0})
        values = domain.values if isinstance(domain, Nominal) else ()
        relevance = [RELEVANCE.get(value.lower()) for value in values]
        if None in relevance or len(set(relevance)) < len(relevance) or not values:
            raise ValueError(f"a label must be {{0, 1}}, {{false, true}} or {{no, yes}}; got {domain.expected}.")
        known = {value: number for value, number in zip(values, relevance, strict=True) if number is not None}
        return cls(known, known[values[0]])

    @property
    def expected(self) -> str:  # type: ignore[override]
        return one_of(tuple(self.relevance))

    def number(self, cell: str) -> float:
        relevance = self.relevance.get(unquoted(cell))
        if relevance is None:
            raise self.refuse(cell)
        return relevance


@dataclass(frozen=True)
class Unread(Domain):
    """Text, a date or a table: of no use as a number, and left out."""

    expected: str

    def number(self, cell: str) -> float:
        return 0.0


def one_of(values: tuple[str, ...], limit: int = 5) -> str:
    """The values in words.

    Examples
    --------
    >>> one_of(("a", "b", "c"))
    "'a', 'b' or 'c'"
    >>> one_of(tuple("abcdefgh"))
    "one of 'a', 'b', 'c', 'd', 'e' and 3 more"
    """
    names = [shown(value) for value in values]
    if len(names) > limit:
        return f"one of {', '.join(names[:limit])} and {len(names) - limit} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
