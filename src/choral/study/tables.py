"""Tidy tables of a study: a row for each fact, ready for a CSV file, pandas or a page."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from choral._optional import require
from choral._outputs import csv_text, replacing
from choral._validation import ROUNDING
from choral.curves import slope_and_area
from choral.stats import rank_losses
from choral.study.comparisons import Comparisons

Row = tuple[Any, ...]
TOGETHERNESS = ("togetherness", "togetherness_lower", "togetherness_upper", "togetherness_independent")


@dataclass(frozen=True)
class Table:
    """Rows with named columns.

    Parameters
    ----------
    columns : sequence of str
        The names of the columns.
    rows : sequence of rows
        Each with a value for each column.

    See Also
    --------
    Summary : A small table for people.
    Section : What an analysis found.

    Examples
    --------
    >>> table = Table(("learner", "loss"), (("BR", 0.25), ("LP", 0.5)))
    >>> table.column("loss"), len(table)
    ((0.25, 0.5), 2)
    >>> print(table.to_csv(), end="")
    learner,loss
    BR,0.25
    LP,0.5
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "rows", tuple(map(tuple, self.rows)))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> tuple[Any, ...]:
        """All values of a column.

        Parameters
        ----------
        name : str
            The name of the column.
        """
        index = self.columns.index(name)
        return tuple(row[index] for row in self.rows)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as the text of a CSV file, numbers in full; written to a file if one is named.

        A text that starts with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return gets an apostrophe in front, so
        that no spreadsheet takes it for a formula; numbers stay as they are.

        Parameters
        ----------
        path : path-like, optional
            The file to write.
        """
        text = csv_text([self.columns, *self.rows], line_end="\n")
        if path is not None:
            with replacing(path) as file:
                file.write(text.encode(errors="backslashreplace"))  # half a character has no bytes
        return text

    def to_pandas(self) -> Any:
        """The table as a frame of pandas."""
        return require("pandas", "tables").DataFrame(list(self.rows), columns=list(self.columns))


def make_tables(results: Comparisons) -> dict[str, Table]:
    """All tables of a study by name: what a row of each one is, the functions below say."""
    return {name: Table(columns, list(rows(results))) for name, (columns, rows) in TABLES.items()}


def _loss_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each data set, family, learner and parameter: the loss, its interval, its rank among the learners.

    ``same_as`` names the baseline where the learner predicts the same as the baseline.
    """
    for dataset, family in _curve_sets(results):
        curves, bands = results.curves(dataset, family), results.bands(dataset, family)
        ranks = _ranks(results, dataset, family)
        for learner, curve in curves.items():
            own_ranks = ranks.get(learner, [None] * curve.losses.size)
            columns = curve.parameters, curve.losses, *bands[learner]
            for numbers, rank in zip(
                zip(*(column.tolist() for column in columns), strict=True), own_ranks, strict=True
            ):
                yield dataset, family, learner, *numbers, rank, _same_as(results, dataset, learner)


def _win_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each data set, family and stretch of parameters with one winner; of equal learners, all are named."""
    for dataset, family in _curve_sets(results):
        winners = winners_along(results, dataset, family)
        parameters = results.parameters(dataset, family).tolist()
        start = 0
        for index in range(1, len(winners) + 1):
            if index == len(winners) or winners[index] != winners[start]:
                yield dataset, family, parameters[start], parameters[index - 1], ", ".join(winners[start])
                start = index


def winners_along(results: Comparisons, dataset: str, family: str) -> list[tuple[str, ...]]:
    """The learners with the least loss at each parameter; all of those that are equal, but for rounding."""
    curves = results.competitor_curves(dataset, family)
    if not curves:
        return []
    matrix = np.array([curve.losses for curve in curves.values()])
    best = matrix <= matrix.min(axis=0) + ROUNDING
    return [tuple(name for name, is_best in zip(curves, column, strict=True) if is_best) for column in best.T]


def _slope_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each data set, family and learner: slope and area of its curve; empty where it lacks an end.

    Then its togetherness with an interval, and that of independent errors; empty for learners that predict anew for
    each loss. ``same_as`` is that of the losses.
    """
    for dataset, family in _curve_sets(results):
        together = results.togetherness(dataset, family)
        for learner, curve in results.curves(dataset, family).items():
            own = [_known(value) for value in together.get(learner, (None,) * 4)]
            yield dataset, family, learner, *slope_and_area(curve), *own, _same_as(results, dataset, learner)


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value


def _same_as(results: Comparisons, dataset: str, learner: str) -> str | None:
    return results.baseline if learner in results.same_as_baseline(dataset) else None


def _crossing_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each data set, family, pair of learners and place where the better one changes."""
    for family in results.families:
        for first, second in combinations(results.competitors, 2):
            for dataset, pair in results.pairs(first, second, family).items():
                before = next((winner for winner in pair.winners if winner != "tie"), first)
                for number, parameter in enumerate(pair.crossings().tolist()):
                    order = (first, second) if (before == first) == (number % 2 == 0) else (second, first)
                    yield dataset, family, first, second, parameter, *order


def _rank_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each family, place on the axis and learner: the mean rank over data sets, and whether ranks differ."""
    for family in results.families:
        for place, x in results.places(family).items():
            comparison = results.ranks_or_none(family, x)
            if comparison is None:
                return
            shared = comparison.n_datasets, comparison.friedman.pvalue, comparison.critical_difference
            for learner, rank in zip(comparison.names, comparison.mean_ranks.tolist(), strict=True):
                yield family, place, learner, rank, *shared


def _difference_rows(results: Comparisons) -> Iterator[Row]:
    """A row for each data set, family, pair of learners and parameter: how far apart they are, and how surely."""
    for dataset, family in _curve_sets(results):
        parameters = results.parameters(dataset, family)
        for (first, second), difference in results.differences(dataset, family).items():
            for numbers in zip(*(column.tolist() for column in (parameters, *difference)), strict=True):
                yield dataset, family, first, second, *numbers


def _curve_sets(results: Comparisons) -> Iterator[tuple[str, str]]:
    for dataset in results.datasets:
        for family in results.families:
            yield dataset, family


def _ranks(results: Comparisons, dataset: str, family: str) -> dict[str, list[float]]:
    """The rank of each competitor at each parameter; equal losses, but for rounding, share theirs."""
    curves = results.competitor_curves(dataset, family)
    if not curves:
        return {}
    ranks = rank_losses(np.array([curve.losses for curve in curves.values()]).T)
    return dict(zip(curves, ranks.T.tolist(), strict=True))


TABLES: dict[str, tuple[tuple[str, ...], Callable[[Comparisons], Iterator[Row]]]] = {
    "losses": (("dataset", "family", "learner", "parameter", "loss", "lower", "upper", "rank", "same_as"), _loss_rows),
    "wins": (("dataset", "family", "first_parameter", "last_parameter", "winner"), _win_rows),
    "slopes": (("dataset", "family", "learner", "slope", "area", *TOGETHERNESS, "same_as"), _slope_rows),
    "crossings": (
        ("dataset", "family", "first", "second", "parameter", "better_before", "better_after"),
        _crossing_rows,
    ),
    "differences": (
        ("dataset", "family", "first", "second", "parameter", "difference", "lower", "upper", "pvalue"),
        _difference_rows,
    ),
    "ranks": (
        ("family", "place", "learner", "mean_rank", "n_datasets", "friedman_pvalue", "critical_difference"),
        _rank_rows,
    ),
}
