"""Domains: which values an attribute may have, and the number that stands for each of them."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from choral.datasets.arff.quoting import short_repr, unquote

RELEVANCE = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0, "no": 0.0, "yes": 1.0}


class Domain:
    """The values that an attribute may have.

    Attributes
    ----------
    expected : str
        The values in words, for messages.
    omitted : float
        The number of an entry that a sparse row leaves out.
    """

    expected: str
    omitted: float = 0.0

    def number(self, cell: str) -> float:
        """The number for one cell of the file; nan if the value is missing."""
        raise NotImplementedError

    def numbers(self, cells: list[str]) -> np.ndarray:
        """The numbers for many cells; equal cells are read once."""
        known = {cell: self.number(cell) for cell in set(cells)}
        return np.fromiter(map(known.__getitem__, cells), float, count=len(cells))

    def error_for(self, cell: str) -> ValueError:
        return ValueError(f"expected {self.expected}; got {short_repr(cell.strip())}.")


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
                return float(unquote(cell))
        except ValueError:
            pass
        raise self.error_for(cell)

    def numbers(self, cells: list[str]) -> np.ndarray:
        try:
            if "_" not in "".join(cells):
                return np.fromiter(map(float, cells), float, count=len(cells))
        except ValueError:  # rare: missing, quoted or wrong values
            pass
        return super().numbers(cells)


@dataclass(frozen=True)
class Nominal(Domain):
    """One of the values listed; its number is its index in the list.

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
    def indices(self) -> dict[str, float]:
        return {value: float(index) for index, value in enumerate(self.values)}

    @property
    def expected(self) -> str:  # type: ignore[override]
        return one_of(self.values)

    def number(self, cell: str) -> float:
        if cell.strip() == "?":
            return np.nan
        index = self.indices.get(unquote(cell))
        if index is None:
            raise self.error_for(cell)
        return index


@dataclass(frozen=True)
class Label(Domain):
    """Whether a label is relevant: 1 or 0, and never missing.

    Examples
    --------
    >>> Label.from_domain(Nominal(("yes", "no"))).number("yes")
    1.0
    >>> Label.from_domain(Nominal(("1", "0"))).omitted  # a sparse row leaves out the first value listed
    1.0
    >>> Label.from_domain(Nominal(("1", "0"))).number("?")
    Traceback (most recent call last):
    ValueError: expected '1' or '0'; got '?'.
    """

    relevance: dict[str, float] = field(hash=False)
    omitted: float = 0.0

    @classmethod
    def from_domain(cls, domain: Domain) -> "Label":
        """Read a domain as that of a label, or refuse it."""
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
        relevance = self.relevance.get(unquote(cell))
        if relevance is None:
            raise self.error_for(cell)
        return relevance


@dataclass(frozen=True)
class Unread(Domain):
    """A text, a date or a table: not read, since no number stands for it."""

    expected: str

    def number(self, cell: str) -> float:
        return 0.0


def one_of(values: tuple[str, ...], limit: int = 5) -> str:
    """Name the values in words.

    Examples
    --------
    >>> one_of(("a", "b", "c"))
    "'a', 'b' or 'c'"
    >>> one_of(tuple("abcdefgh"))
    "one of 'a', 'b', 'c', 'd', 'e' and 3 more"
    """
    names = [short_repr(value) for value in values]
    if len(names) > limit:
        return f"one of {', '.join(names[:limit])} and {len(names) - limit} more"
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
