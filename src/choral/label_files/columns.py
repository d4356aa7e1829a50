"""How a file is to be read, and which of its columns is what: ids, weights, a label, or of no interest."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

from choral._text import quoted, some_of
from choral.label_files.table import check_distinct

MAX_BYTES = 8 * 2**30
NUMBERS = "buif"  # the kinds of NumPy types that labels, scores and weights may have


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; `choral.label_files.read_labels` says what each option means.

    Examples
    --------
    >>> ReadOptions(max_bytes=1000).check_size("huge.npy", 8000)
    Traceback (most recent call last):
    ValueError: huge.npy is too large: 8000 bytes to read, the limit is 1000.
    """

    id_column: str = "id"
    weight_column: str | None = None
    ignored_column: str | None = None
    header: bool | None = None
    max_bytes: int = MAX_BYTES
    progress: Callable[[int, int], None] | None = None

    def check_size(self, source: object, size: int) -> None:
        """Refuse a file that would take too much memory, before it takes any."""
        if size > self.max_bytes:
            raise ValueError(f"{source} is too large: {size} bytes to read, the limit is {self.max_bytes}.")


@dataclass(frozen=True)
class ColumnRoles:
    """Which column of a file is what; names are None where there is no header.

    Examples
    --------
    >>> roles = ColumnRoles.from_names("true.csv", ["sea", "id", "sky"], ReadOptions())
    >>> roles.id_index, roles.labels
    (1, ('sea', 'sky'))
    """

    names: tuple[str, ...] | None
    width: int
    id_index: int | None = None
    weight_index: int | None = None
    ignored_index: int | None = None

    @classmethod
    def from_names(cls, source: object, names: Iterable[str], options: ReadOptions) -> Self:
        """Read a header."""
        names = tuple(name.strip() for name in names)
        if "" in names:
            hint = f"a column of row ids must be called {options.id_column!r}"
            raise ValueError(f"{source}: column {names.index('') + 1} of the header has no name; {hint}.")
        check_distinct(str(source), "column names", names)
        weights = options.weight_column
        if weights is not None and weights not in names:
            raise ValueError(f"{source} has no column {weights!r} for the weights; it has {some_of(names)}.")
        if weights == options.id_column:
            raise ValueError(f"{source}: {weights!r} is the id column; the weights need a column of their own.")
        special = options.id_column, weights, options.ignored_column
        return cls(names, len(names), *(names.index(name) if name in names else None for name in special))

    @property
    def label_indices(self) -> list[int]:
        """The columns that are neither ids nor weights nor ignored."""
        return [i for i in self.number_indices if i != self.weight_index]

    @property
    def number_indices(self) -> list[int]:
        """The columns to read as numbers: labels and weights."""
        return [i for i in range(self.width) if i not in (self.id_index, self.ignored_index)]

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the labels."""
        return None if self.names is None else tuple(self.names[i] for i in self.label_indices)

    def describe(self, index: int) -> str:
        """One column in words, counted from 1 where it has no name."""
        return f"column {index + 1}" if self.names is None else f"column {quoted(self.names[index])}"
