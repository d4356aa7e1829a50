"""Tidy tables of a study: a row for each fact, ready for a CSV file, pandas or a page."""

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from choral._optional import require
from choral._outputs import replacing
from choral.curves import LossCurve
from choral.measures.base import ROUNDING
from choral.measures.families import get_family
from choral.stats import rank_losses
from choral.study.yardstick import compare_with_best

if TYPE_CHECKING:
    from choral.study.results import Results

PLACES = {"Hamming": 0.0, "middle": 0.5, "subset 0/1": 1.0}  # on the axis of a family


@dataclass(frozen=True)
class Table:
    """Rows with named columns.

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

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> tuple[Any, ...]:
        """All values of a column."""
        index = self.columns.index(name)
        return tuple(row[index] for row in self.rows)

    def to_csv(self, path: str | os.PathLike[str] | None = None) -> str:
        """The table as the text of a CSV file, numbers in full; written to a file if one is named."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        if path is not None:
            with replacing(path) as file:
                file.write(buffer.getvalue().encode())
        return buffer.getvalue()

    def to_pandas(self) -> Any:
        """The table as a frame of pandas."""
        return require("pandas", "tables").DataFrame(list(self.rows), columns=list(self.columns))


def losses(results: "Results") -> Table:
    """A row for each data set, family, learner and parameter: the loss, its interval, its rank among the learners."""
    columns = "dataset", "family", "learner", "parameter", "loss", "lower", "upper", "rank"
    return Table(columns, tuple(_loss_rows(results)))


def _loss_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for dataset, family in _places(results):
        curves, bands = results.curves(dataset, family), results.bands(dataset, family)
        ranks = _ranks(results, dataset, family)
        for learner, curve in curves.items():
            own_ranks = ranks.get(learner, [None] * curve.losses.size)
            columns = curve.parameters, curve.losses, *bands[learner]
            for numbers, rank in zip(
                zip(*(column.tolist() for column in columns), strict=True), own_ranks, strict=True
            ):
                yield dataset, family, learner, *numbers, rank


def wins(results: "Results") -> Table:
    """A row for each data set, family and stretch of parameters with one winner; of equal learners, all are named."""
    columns = "dataset", "family", "first_parameter", "last_parameter", "winner"
    return Table(columns, tuple(_win_rows(results)))


def _win_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for dataset, family in _places(results):
        winners = winners_along(results, dataset, family)
        parameters = results.parameters(dataset, family).tolist()
        start = 0
        for index in range(1, len(winners) + 1):
            if index == len(winners) or winners[index] != winners[start]:
                yield dataset, family, parameters[start], parameters[index - 1], ", ".join(winners[start])
                start = index


def winners_along(results: "Results", dataset: str, family: str) -> list[tuple[str, ...]]:
    """The learners with the least loss at each parameter; all of those that are equal, but for rounding."""
    curves = results.rivals(dataset, family)
    if not curves:
        return []
    matrix = np.array([curve.losses for curve in curves.values()])
    best = matrix <= matrix.min(axis=0) + ROUNDING
    return [tuple(name for name, is_best in zip(curves, column, strict=True) if is_best) for column in best.T]


def slopes(results: "Results") -> Table:
    """A row for each data set, family and learner: slope and area of its curve; empty where it lacks an end."""
    return Table(("dataset", "family", "learner", "slope", "area"), tuple(_slope_rows(results)))


def _slope_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for dataset, family in _places(results):
        for learner, curve in results.curves(dataset, family).items():
            yield dataset, family, learner, *slope_and_area(curve)


def slope_and_area(curve: LossCurve) -> tuple[float | None, float | None]:
    """Slope and area of a curve, None where it lacks an end.

    Examples
    --------
    >>> slope_and_area(LossCurve("polynomial", [1, 2, np.inf], [0.1, 0.2, 0.5], n_labels=3))
    (0.4, None)
    """
    found: list[float | None] = []
    for name in ("slope", "area"):
        try:
            found.append(getattr(curve, name))
        except ValueError:  # it says which end is missing
            found.append(None)
    slope, area = found
    return slope, area


def crossings(results: "Results") -> Table:
    """A row for each data set, family, pair of learners and place where the better one changes."""
    columns = "dataset", "family", "first", "second", "parameter", "better_before", "better_after"
    return Table(columns, tuple(_crossing_rows(results)))


def _crossing_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for family in results.families:
        for first, second in combinations(results.competitors, 2):
            for dataset, pair in results.pairs(first, second, family).items():
                before = next((winner for winner in pair.winners if winner != "tie"), first)
                for number, parameter in enumerate(pair.crossings().tolist()):
                    order = (first, second) if (before == first) == (number % 2 == 0) else (second, first)
                    yield dataset, family, first, second, parameter, *order


def ranks(results: "Results") -> Table:
    """A row for each family, place on the axis and learner: the mean rank over data sets, and whether ranks differ."""
    columns = "family", "place", "learner", "mean_rank", "n_datasets", "friedman_pvalue", "critical_difference"
    return Table(columns, tuple(_rank_rows(results)))


def _rank_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for family in results.families:
        for place, x in results.places(family).items():
            comparison = results.ranks_or_none(family, x)
            if comparison is None:
                return
            shared = comparison.n_datasets, comparison.friedman.pvalue, comparison.critical_difference
            for learner, rank in zip(comparison.names, comparison.mean_ranks.tolist(), strict=True):
                yield family, place, learner, rank, *shared


def differences(results: "Results") -> Table:
    """A row for each data set, family, pair of learners and parameter: how far apart they are, and how surely."""
    columns = "dataset", "family", "first", "second", "parameter", "difference", "lower", "upper", "pvalue"
    return Table(columns, tuple(_difference_rows(results)))


def _difference_rows(results: "Results") -> Iterator[tuple[Any, ...]]:
    for dataset, family in _places(results):
        parameters = results.parameters(dataset, family)
        for (first, second), difference in results.differences(dataset, family).items():
            for numbers in zip(*(column.tolist() for column in (parameters, *difference)), strict=True):
                yield dataset, family, first, second, *numbers


def yardstick(results: "Results") -> Table:
    """A row for each data set, family and learner of ours: how it does beside the best of the others at each parameter.

    See `choral.study.yardstick`; no rows where no learner is ours.
    """
    fields = (
        *("dataset", "family", "learner", "n_points", "n_better", "n_tied", "share_at_or_below"),
        *("n_surely_better", "n_surely_worse", "worst", "where", "rival", "worst_low", "worst_high"),
        *("area_gain", "area_low", "area_high"),
    )
    rows = (
        (*(getattr(found, name) for name in fields), ", ".join(found.best_others))
        for found in compare_with_best(results)
    )
    return Table((*fields, "best_others"), tuple(rows))


def _places(results: "Results") -> Iterator[tuple[str, str]]:
    for dataset in results.datasets:
        for family in results.families:
            yield dataset, family


def _ranks(results: "Results", dataset: str, family: str) -> dict[str, list[float]]:
    """The rank of each competitor at each parameter; equal losses, but for rounding, share theirs."""
    curves = results.rivals(dataset, family)
    if not curves:
        return {}
    ranks = rank_losses(np.array([curve.losses for curve in curves.values()]).T)
    return dict(zip(curves, ranks.T.tolist(), strict=True))


def place_in_words(family: str, place: str) -> str:
    """A place on the axis as a loss.

    Examples
    --------
    >>> place_in_words("binomial", "middle"), place_in_words("polynomial", "subset 0/1")
    ('the binomial loss halfway between the ends', 'the polynomial loss at alpha = 1000')
    """
    if place == "Hamming":
        return "Hamming loss"
    if place == "middle":
        return f"the {family} loss halfway between the ends"
    return "subset 0/1 loss" if family == "binomial" else f"the polynomial loss at {get_family(family).symbol} = 1000"
