"""Which column of a file is what: ids, weights, a label, or nothing of interest."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from choral.label_files.options import ReadOptions
from choral.label_files.table import check_distinct
from choral.label_files.wording import quoted, some_of


@dataclass(frozen=True)
class Columns:
    """Which column of a file is what; names are None where there is no header.

    Examples
    --------
    >>> columns = Columns.from_names("true.csv", ["sea", "id", "sky"], ReadOptions())
    >>> columns.id_index, columns.labels
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
        roles = options.id_column, weights, options.ignored_column
        return cls(names, len(names), *(names.index(name) if name in names else None for name in roles))

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
