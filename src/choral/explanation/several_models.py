"""What explain() found about several models: their losses side by side, and the rows that two judge differently."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from choral._optional import require
from choral._text import counted
from choral._typing import FloatArray
from choral._validation import ROUNDING
from choral.explanation.label_sets import Names, read_labels
from choral.explanation.result import Explanation
from choral.explanation.sections import WIDTH, Section, as_html, as_text, clip, mistakes_of, names_of, shown_of
from choral.explanation.summary import SHOWN_LABELS, SHOWN_ROWS, loss_in_words
from choral.explanation.tables import TABLES, Columns, check_table, columns_of, plain

SHOWN_MODELS = 5


class Disagreement(NamedTuple):
    """A row that two models judge differently.

    Parameters
    ----------
    id : Any
        Its name: an entry of ``ids`` or of the index of a frame, else its number.
    row : int
        Its number, from 0.
    losses : tuple of two floats
        Of the best and of the second model.
    true : tuple of str
        The labels that are true.
    predicted : tuple of two tuples of str
        By the best and by the second model.

    See Also
    --------
    Disagreements : All rows that two models judge differently, counted.
    CostlyRow : A row with a large loss.

    Examples
    --------
    >>> from choral import explain
    >>> models = {"a": [[1, 0], [0, 1], [1, 1]], "b": [[1, 1], [0, 1], [0, 1]]}
    >>> found = explain([[1, 0], [0, 1], [1, 1]], models, labels=["sea", "sky"])
    >>> found.disagreements.rows[0]
    Disagreement(id=0, row=0, losses=(0.0, 1.0), true=('sea',), predicted=(('sea',), ('sea', 'sky')))
    """

    id: Any
    row: int
    losses: tuple[float, float]
    true: Names
    predicted: tuple[Names, Names]


class Disagreements(NamedTuple):
    """Rows that the best and the second model judge differently.

    Parameters
    ----------
    models : tuple of two str
        The model with the least loss, and the next.
    n_first_better, n_second_better, n_equal : int
        Rows in which the best model, the second, or neither has the smaller loss.
    rows : tuple of Disagreement
        Those with the largest differences, in favour of the best model first, then in favour of the second.

    See Also
    --------
    Disagreement : One such row.
    choral.explain : Which labels, pairs and rows the loss comes from.

    Examples
    --------
    >>> from choral import explain
    >>> models = {"a": [[1, 0], [0, 1], [1, 1]], "b": [[1, 1], [0, 1], [0, 1]]}
    >>> found = explain([[1, 0], [0, 1], [1, 1]], models).disagreements
    >>> found.models, found.n_first_better, found.n_second_better, found.n_equal
    (('a', 'b'), 2, 0, 1)
    """

    models: tuple[str, str]
    n_first_better: int
    n_second_better: int
    n_equal: int
    rows: tuple[Disagreement, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Mapping[str, Explanation]):
    """Where the losses of several models come from: a mapping from names to `Explanation`, in the order given.

    Parameters
    ----------
    explanations : dict from name to Explanation
        One for each model.

    Attributes
    ----------
    explanations : dict from name to Explanation

    See Also
    --------
    explain : Which labels, pairs and rows the loss comes from.
    Explanation : Where the loss of a model comes from.

    Examples
    --------
    >>> from choral import explain
    >>> found = explain([[1, 1], [0, 1]], {"a": [[1, 0], [0, 1]], "b": [[1, 1], [0, 1]]})
    >>> {name: float(one.shares.sum()) for name, one in found.items()}
    {'a': 0.5, 'b': 0.0}
    """

    explanations: dict[str, Explanation]

    def __getitem__(self, name: str) -> Explanation:
        return self.explanations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def ranking(self) -> tuple[str, ...]:
        """The names of the models from the least loss up; of equal ones, the first given."""
        return tuple(sorted(self.explanations, key=lambda name: self.explanations[name].loss))

    @cached_property
    def disagreements(self) -> Disagreements | None:
        """Rows that the best and the second model judge differently; None for one model, and for dask arrays."""
        if len(self) < 2:
            return None
        best, second = (self[name] for name in self.ranking[:2])
        if best.row_losses is None or second.row_losses is None:
            return None
        return _compare(best, second, best.row_losses, second.row_losses)

    def table(self, what: str = "labels") -> Columns:
        """One of the tables of `Explanation` for all models, with a column ``model``; or ``disagreements``.

        Parameters
        ----------
        what : str
            The name of the table.
        """
        if check_table(what, (*TABLES, "disagreements")) == "disagreements":
            return columns_of(Disagreement, () if self.disagreements is None else self.disagreements.rows)
        tables = {name: one.table(what) for name, one in self.items()}
        columns = next(iter(tables.values()))
        lengths = {name: len(next(iter(table.values()))) for name, table in tables.items()}
        joined: Columns = {"model": [name for name, length in lengths.items() for _ in range(length)]}
        for column in columns:
            joined[column] = [value for table in tables.values() for value in table[column]]
        return joined

    def to_pandas(self, what: str = "labels") -> Any:
        """One of the tables as a frame of pandas; see `table`.

        Parameters
        ----------
        what : str
            The name of the table.
        """
        return require("pandas", "tables").DataFrame(self.table(what))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists, ready for JSON."""
        between = self.disagreements
        return {
            "models": {name: one.to_dict() for name, one in self.items()},
            "ranking": list(self.ranking),
            "disagreements": None if between is None else plain(between._asdict()),
        }

    def __repr__(self) -> str:
        return as_text(self._title(), list(self._sections()), self._notes())

    def _repr_html_(self) -> str:
        return as_html(self._title(), list(self._sections()), self._notes())

    def _title(self) -> str:
        first = next(iter(self.values()))
        size = f"{counted(first.n_rows, 'row')}, {counted(len(first.labels), 'label')}"
        return f"{counted(len(self), 'model')}: {loss_in_words(first.measure)}; {size}"

    def _notes(self) -> list[str]:
        between = self.disagreements
        return ["A - stands for a label that is missed, a + for one that is added."] if between and between.rows else []

    def _sections(self) -> Iterator[Section]:
        names = self.ranking[:SHOWN_MODELS]
        best = self[names[0]]
        shown = best.order[:SHOWN_LABELS]
        rows = [["loss", *(f"{self[name].loss:.4f}" for name in names)]]
        rows += [
            [clip(best.labels[label], 24), *(f"{self[name].shares[label]:.4f}" for name in names)] for label in shown
        ]
        which = shown_of(len(names), len(self), "model") + shown_of(len(shown), len(best.labels), "label")
        width = min(24, (WIDTH - 30) // len(names) - 2)
        columns = ["", *(clip(name, width) for name in names)]
        yield Section(f"Loss, and the part of each label in it, the best model first{which}", columns, rows)
        between = self.disagreements
        if between is None or not between.rows:
            return
        first, second = (clip(name, 16) for name in between.models)
        counts = f"{first} is better in {counted(between.n_first_better, 'row')}, {second} in {between.n_second_better}"
        rows = [
            [
                clip(str(row.id), 12),
                names_of(row.true, 30),
                *(mistakes_of(row.true, labels, 24) for labels in row.predicted),
            ]
            for row in _some_of_both(between.rows)
        ]
        columns = ["row", "true", first, second]
        yield Section(f"Rows judged differently: {counts}", columns, rows, left=(0, 1, 2, 3))


def _compare(best: Explanation, second: Explanation, losses: FloatArray, others: FloatArray) -> Disagreements:
    known = np.flatnonzero(~np.isnan(losses))  # the same rows for both: what is known depends on the truth
    gaps = (others - losses)[known]
    gaps[np.abs(gaps) <= ROUNDING] = 0
    n_better, n_worse, n_most = int((gaps > 0).sum()), int((gaps < 0).sum()), best.n_most
    in_favour = np.argsort(-gaps, kind="stable")[: min(n_most, n_better)]
    against = np.argsort(gaps, kind="stable")[: min(n_most, n_worse)]
    places = known[np.concatenate([in_favour, against])]
    sets = [read_labels(model._rows, places, model.labels) for model in (best, second)]
    ids: Any = best._ids
    rows = tuple(
        Disagreement(ids[place], place, (float(losses[place]), float(others[place])), true, (first, then))
        for place, (true, first), (_, then) in zip(places.tolist(), *sets, strict=True)
    )
    return Disagreements((best.name, second.name), n_better, n_worse, known.size - n_better - n_worse, rows)


def _some_of_both(rows: tuple[Disagreement, ...]) -> list[Disagreement]:
    """The first few rows in favour of each model."""
    sides = [[row for row in rows if (row.losses[0] < row.losses[1]) == is_first] for is_first in (True, False)]
    return [row for side in sides for row in side[:SHOWN_ROWS]]
