"""What explain() found: which labels, pairs of labels, rows and label sets the loss comes from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from choral._array_api import to_host
from choral._optional import require
from choral._outputs import plain_numbers
from choral._text import counted
from choral._typing import FloatArray
from choral._validation import ROUNDING
from choral.explanation.error_pairs import ErrorPairs
from choral.explanation.label_sets import (
    CostlyRow,
    LabelSetMistake,
    LabelSetReport,
    Names,
    NeverPredicted,
    RowNumbers,
    read_labels,
)
from choral.explanation.sections import Section, as_html, as_text, clip, names_of, percent, shown_of, signed
from choral.explanation.usual_figures import UsualFigures, usual_figures
from choral.losses import choquet_rows
from choral.measures import Measure
from choral.rows import Rows

SHOWN_LABELS, SHOWN_PAIRS, SHOWN_ROWS, SHOWN_MODELS = 10, 3, 4, 5
TABLES = ("labels", "pairs", "rows", "mistakes", "figures")

Columns = dict[str, Any]  # columns of a table by name: arrays or lists of one length


class SharesAlong(NamedTuple):
    """The shares of labels along the slide from Hamming to subset 0/1 loss.

    Attributes
    ----------
    family : {"binomial", "polynomial"}
    parameters : ndarray of shape (n_points,)
        Values of k or alpha.
    shares : ndarray of shape (n_points, n_labels)
        Each row adds up to the loss at that parameter.
    hamming : ndarray of shape (n_labels,)
        The shares in the Hamming loss.
    """

    family: str
    parameters: np.ndarray
    shares: FloatArray
    hamming: FloatArray

    @property
    def losses(self) -> FloatArray:
        """The loss at each parameter, of shape (n_points,)."""
        return self.shares.sum(axis=1)

    @property
    def gains(self) -> FloatArray:
        """How many times its part of the Hamming loss a label's part of the loss is, of shape (n_points, n_labels).

        Above 1 where it gains in weight; nan for labels that are never wrong.
        """
        return np.array([_gains(shares, self.hamming) for shares in self.shares])


def _gains(shares: FloatArray, hamming: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return (shares / shares.sum()) / (hamming / hamming.sum())


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Where the loss of a model comes from; printed, it is a summary of a screen.

    Attributes
    ----------
    name : str
        Of the model.
    measure : Measure
        Its loss is explained.
    labels : tuple of str
        Names of the labels.
    n_rows, n_unobserved : int
        Rows with a known label, and rows that were left out since none of their labels is known.
    shares : ndarray of shape (n_labels,)
        The part of each label in the loss, which they add up to: see `choral.loss_shares`.
    error_rates : ndarray of shape (n_labels,)
        How often each label is wrong where it is known (the mean error, for scores); nan for labels never known.
    along : SharesAlong
        The shares along a family of losses.
    pairs : ErrorPairs
        Labels that are wrong together more often, or less often, than independent errors would be.
    confidence : float
        Of the intervals of pairs, for all pairs at once.
    n_most : int
        How many of the most costly rows, and of the most frequent mistakes, are listed.
    """

    name: str
    measure: Measure
    labels: Names
    n_rows: int
    n_unobserved: int
    shares: FloatArray
    error_rates: FloatArray
    along: SharesAlong
    pairs: ErrorPairs
    confidence: float
    n_most: int
    _rows: Rows
    _ids: Sequence[Any] | None  # None for dask arrays

    @property
    def loss(self) -> float:
        """The mean loss: what all shares add up to."""
        return float(self.shares.sum())

    @property
    def gains(self) -> FloatArray:
        """How many times its part of the Hamming loss a label's part of this loss is, of shape (n_labels,).

        Above 1 for labels that are wrong alone more often than others; nan for labels that are never wrong.
        """
        return _gains(self.shares, self.along.hamming)

    @property
    def order(self) -> np.ndarray:
        """The labels, by number, from the largest share down."""
        return np.argsort(-self.shares, kind="stable")

    # What looks at single rows is computed when it is first asked for

    @cached_property
    def row_losses(self) -> FloatArray | None:
        """The loss of each row, of shape (n_samples,): nan where no label is known. None for dask arrays."""
        if self._ids is None:
            return None
        return np.concatenate([to_host(some) for some in choquet_rows(self._rows, self.measure)])

    @cached_property
    def _numbers(self) -> RowNumbers:
        return RowNumbers.from_rows(self._rows)

    @cached_property
    def costly_rows(self) -> tuple[CostlyRow, ...] | None:
        """The rows with the largest losses; of equal ones, those with more wrong labels, then the earlier.

        None for dask arrays, of which only sums are kept.
        """
        if self._ids is None or self.row_losses is None:
            return None
        places = self._numbers.most_costly(self.row_losses, self.n_most)
        sets = read_labels(self._rows, places, self.labels)
        losses = self.row_losses[places].tolist()
        return tuple(
            CostlyRow(self._ids[place], place, loss, *of_row)
            for place, loss, of_row in zip(places.tolist(), losses, sets, strict=True)
        )

    @cached_property
    def label_sets(self) -> LabelSetReport | None:
        """The mistakes of whole label sets, and those that are never predicted; None for dask arrays."""
        return None if self._ids is None else self._numbers.report(self._rows, self.labels, self.n_most)

    @property
    def mistakes(self) -> tuple[LabelSetMistake, ...] | None:
        """The most frequent mistakes of whole label sets, true -> predicted; None for dask arrays."""
        return None if self.label_sets is None else self.label_sets.mistakes

    @property
    def never_predicted(self) -> tuple[NeverPredicted, ...] | None:
        """The most frequent of the true label sets that are never predicted; None for dask arrays."""
        return None if self.label_sets is None else self.label_sets.never_predicted

    @cached_property
    def figures(self) -> UsualFigures | None:
        """F1, Jaccard, precision and recall by scikit-learn; None for dask arrays.

        With many rows, these take longer than all the rest.
        """
        return None if self._rows.is_lazy else usual_figures(self._rows)

    # Tables: dicts of columns

    def label_table(self) -> Columns:
        """A row for each label, from the largest share down.

        Columns ``label``, ``error_rate``, ``hamming_share``, ``share`` and ``gain``.
        """
        order = self.order
        return {
            "label": [self.labels[label] for label in order],
            "error_rate": self.error_rates[order],
            "hamming_share": self.along.hamming[order],
            "share": self.shares[order],
            "gain": self.gains[order],
        }

    def along_table(self) -> Columns:
        """A row for each parameter and label, labels from the largest share down.

        Columns ``parameter``, ``label``, ``share`` and ``gain``.
        """
        order, n_points = self.order, len(self.along.parameters)
        return {
            "parameter": np.repeat(self.along.parameters, len(order)),
            "label": [self.labels[label] for label in order] * n_points,
            "share": self.along.shares[:, order].ravel(),
            "gain": self.along.gains[:, order].ravel(),
        }

    def pair_table(self) -> Columns:
        """A row for each of the strongest pairs, from the largest excess down to the one furthest below 0.

        Columns ``first``, ``second`` (names), ``together``, ``expected``, ``excess``, ``lower``, ``upper``,
        ``p_value`` and ``interaction``.
        """
        names = ("together", "expected", "excess", "lower", "upper", "p_value", "interaction")
        pairs = self.pairs.pairs
        return {
            "first": [self.labels[pair.first] for pair in pairs],
            "second": [self.labels[pair.second] for pair in pairs],
            **{name: np.array([getattr(pair, name) for pair in pairs], dtype=float) for name in names},
        }

    def row_table(self) -> Columns:
        """A row for each of the most costly rows: columns ``id``, ``row``, ``loss``, ``true`` and ``predicted``."""
        return _columns_of(CostlyRow, self.costly_rows or ())

    def mistake_table(self) -> Columns:
        """A row for each of the most frequent mistakes: columns ``true``, ``predicted`` and ``n_rows``."""
        return _columns_of(LabelSetMistake, self.mistakes or ())

    def figure_table(self) -> Columns:
        """A row for each label, in the order of columns: ``label``, ``precision``, ``recall``, ``f1``, ``support``."""
        if self.figures is None:
            return {name: [] for name in ("label", "precision", "recall", "f1", "support")}
        figures = self.figures
        return {
            "label": list(self.labels),
            "precision": figures.precision,
            "recall": figures.recall,
            "f1": figures.f1,
            "support": figures.support,
        }

    def table(self, what: str = "labels") -> Columns:
        """One of the tables by its name: ``labels``, ``pairs``, ``rows``, ``mistakes`` or ``figures``."""
        tables: dict[str, Callable[[], Columns]] = dict(
            zip(
                TABLES,
                (self.label_table, self.pair_table, self.row_table, self.mistake_table, self.figure_table),
                strict=True,
            )
        )
        return tables[_check_table(what, TABLES)]()

    def to_pandas(self, what: str = "labels") -> Any:
        """One of the tables as a frame of pandas; see `table`."""
        return require("pandas", "tables").DataFrame(self.table(what))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists, ready for JSON: nan is None, infinity the text ``inf``."""
        pairs, figures = self.pairs, self.figures
        return {
            "name": self.name,
            "measure": repr(self.measure),
            "n_rows": self.n_rows,
            "n_unobserved": self.n_unobserved,
            "loss": self.loss,
            "labels": list(self.labels),
            "shares": _plain(self.shares),
            "error_rates": _plain(self.error_rates),
            "gains": _plain(self.gains),
            "along": {
                "family": self.along.family,
                "parameters": plain_numbers(self.along.parameters),
                "shares": _plain(self.along.shares),
                "losses": _plain(self.along.losses),
                "gains": _plain(self.along.gains),
                "hamming": _plain(self.along.hamming),
            },
            "pairs": {
                "confidence": self.confidence,
                "is_sampled": pairs.is_sampled,
                "strongest": [{**_plain(pair._asdict()), "excess": pair.excess} for pair in pairs.pairs],
                "matrix_labels": list(pairs.labels),
                "correlations": _plain(pairs.correlations),
            },
            "costly_rows": _plain(self.costly_rows),
            "label_sets": None if self.label_sets is None else _plain(self.label_sets._asdict()),
            "figures": None if figures is None else {**_plain(figures._asdict()), "conventions": figures.conventions},
        }

    # Text

    def __repr__(self) -> str:
        return as_text(self._title(), list(self._sections()), self._notes())

    def _repr_html_(self) -> str:
        return as_html(self._title(), list(self._sections()), self._notes())

    def _title(self) -> str:
        size = f"{counted(self.n_rows, 'row')}, {counted(len(self.labels), 'label')}"
        return f"{self.name}: loss {self.loss:.4f} by {clip(repr(self.measure), 40)}; {size}"

    def _sections(self) -> Iterator[Section]:
        yield self._label_section()
        if self.pairs.pairs:
            yield self._pair_section()
        if self.costly_rows:
            yield self._row_section()
        if self.mistakes:
            yield self._mistake_section()

    def _label_section(self) -> Section:
        table, loss, hamming = self.label_table(), self.loss, float(self.along.hamming.sum())
        shown = min(SHOWN_LABELS, len(self.labels))
        rows = [
            [
                clip(table["label"][place], 30),
                percent(table["error_rate"][place]),
                percent(table["hamming_share"][place] / hamming if hamming else np.nan),
                percent(table["share"][place] / loss if loss else np.nan),
                _number(table["gain"][place]),
            ]
            for place in range(shown)
        ]
        columns = ["label", "wrong", "of Hamming loss", "of this loss", "weight gain"]
        return Section(f"Labels by their part of the loss{shown_of(shown, len(self.labels), 'label')}", columns, rows)

    def _pair_section(self) -> Section:
        pairs = [*self.pairs.more[:SHOWN_PAIRS], *reversed(self.pairs.less[:SHOWN_PAIRS])]
        rows = [
            [
                f"{clip(self.labels[pair.first], 20)} + {clip(self.labels[pair.second], 20)}",
                percent(pair.together),
                percent(pair.expected),
                signed(pair.excess),
                f"{signed(pair.lower)} to {signed(pair.upper)}",
                "< 0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}",
            ]
            for pair in pairs
        ]
        columns = ["labels", "together", "expected", "excess", f"{100 * self.confidence:g} % interval", "p"]
        sampled = "; found in a sample of rows" if self.pairs.is_sampled else ""
        return Section(f"Wrong together more (+) or less (-) often than independent errors{sampled}", columns, rows)

    def _row_section(self) -> Section:
        costly = self.costly_rows or ()
        rows = [
            [clip(str(row.id), 16), f"{row.loss:.4f}", names_of(row.true, 32), names_of(row.predicted, 32)]
            for row in costly[:SHOWN_ROWS]
        ]
        return Section("Most costly rows", ["row", "loss", "true", "predicted"], rows, left=(0, 2, 3))

    def _mistake_section(self) -> Section:
        rows = [
            [str(mistake.n_rows), names_of(mistake.true, 40), names_of(mistake.predicted, 40)]
            for mistake in (self.mistakes or ())[:SHOWN_ROWS]
        ]
        return Section("Most frequent mistakes of label sets", ["rows", "true", "predicted"], rows, left=(1, 2))

    def _notes(self) -> list[str]:
        notes = []
        if not self.loss:
            notes.append("Nothing is wrong.")
        sets = self.label_sets
        if sets is not None and sets.never_predicted:
            shown = "; ".join(names_of(some.labels, 24) for some in sets.never_predicted[:3])
            notes.append(f"Never predicted: {sets.n_never_predicted} of {sets.n_true} true label sets, such as {shown}")
        if self.figures is not None:
            f = self.figures
            notes.append(f"F1: {f.f1_samples:.4f} by row, {f.f1_micro:.4f} micro, {f.f1_macro:.4f} macro (0 / 0 is 0)")
            notes.append(
                f"Jaccard: {f.jaccard_samples:.4f} by row, {f.jaccard_micro:.4f} micro, {f.jaccard_macro:.4f} macro"
            )
        return notes


class Disagreement(NamedTuple):
    """A row that two models judge differently.

    Attributes
    ----------
    id, row
        As in `CostlyRow`.
    losses : tuple of two floats
        Of the best and of the second model.
    true : tuple of str
    predicted : tuple of two tuples of str
        By the best and by the second model.
    """

    id: Any
    row: int
    losses: tuple[float, float]
    true: Names
    predicted: tuple[Names, Names]


class Disagreements(NamedTuple):
    """Rows that the best and the second model judge differently.

    Attributes
    ----------
    models : tuple of two str
        The model with the least loss, and the next.
    n_first_better, n_second_better, n_equal : int
        Rows in which the best model, the second, or neither has the smaller loss.
    rows : tuple of Disagreement
        Those with the largest differences, in favour of the best model first, then in favour of the second.
    """

    models: tuple[str, str]
    n_first_better: int
    n_second_better: int
    n_equal: int
    rows: tuple[Disagreement, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Mapping[str, Explanation]):
    """Where the losses of several models come from: a mapping from names to `Explanation`, in the order given.

    Attributes
    ----------
    explanations : dict from name to Explanation
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
        """One of the tables of `Explanation` for all models, with a column ``model``; or ``disagreements``."""
        if _check_table(what, (*TABLES, "disagreements")) == "disagreements":
            return _columns_of(Disagreement, () if self.disagreements is None else self.disagreements.rows)
        tables = {name: one.table(what) for name, one in self.items()}
        columns = next(iter(tables.values()))
        lengths = {name: len(next(iter(table.values()))) for name, table in tables.items()}
        joined: Columns = {"model": [name for name, length in lengths.items() for _ in range(length)]}
        for column in columns:
            joined[column] = [value for table in tables.values() for value in table[column]]
        return joined

    def to_pandas(self, what: str = "labels") -> Any:
        """One of the tables as a frame of pandas; see `table`."""
        return require("pandas", "tables").DataFrame(self.table(what))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, text and lists, ready for JSON."""
        between = self.disagreements
        return {
            "models": {name: one.to_dict() for name, one in self.items()},
            "ranking": list(self.ranking),
            "disagreements": None if between is None else _plain(between._asdict()),
        }

    def __repr__(self) -> str:
        return as_text(self._title(), list(self._sections()), [])

    def _repr_html_(self) -> str:
        return as_html(self._title(), list(self._sections()), [])

    def _title(self) -> str:
        first = next(iter(self.values()))
        size = f"{counted(first.n_rows, 'row')}, {counted(len(first.labels), 'label')}"
        return f"{counted(len(self), 'model')}: losses by {clip(repr(first.measure), 40)}; {size}"

    def _sections(self) -> Iterator[Section]:
        names = self.ranking[:SHOWN_MODELS]
        best = self[names[0]]
        shown = best.order[:SHOWN_LABELS]
        rows = [["loss", *(f"{self[name].loss:.4f}" for name in names)]]
        rows += [
            [clip(best.labels[label], 24), *(f"{self[name].shares[label]:.4f}" for name in names)] for label in shown
        ]
        which = shown_of(len(names), len(self), "model") + shown_of(len(shown), len(best.labels), "label")
        columns = ["", *(clip(name, 12) for name in names)]
        yield Section(f"Loss, and the part of each label in it, the best model first{which}", columns, rows)
        between = self.disagreements
        if between is None or not between.rows:
            return
        first, second = (clip(name, 16) for name in between.models)
        counts = f"{first} is better in {counted(between.n_first_better, 'row')}, {second} in {between.n_second_better}"
        rows = [
            [
                clip(str(row.id), 12), *(f"{loss:.4f}" for loss in row.losses),
                names_of(row.true, 18), *(names_of(labels, 18) for labels in row.predicted),
            ]
            for row in _some_of_both(between.rows)
        ]  # fmt: skip
        columns = ["row", "loss", "loss", "true", first, second]
        yield Section(f"Rows that two models judge differently: {counts}", columns, rows, left=(0, 3, 4, 5))


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


def _check_table(what: str, known: tuple[str, ...]) -> str:
    if what not in known:
        raise ValueError(f"what must be one of {', '.join(map(repr, known))}; got {what!r}.")
    return what


def _columns_of(kind: Any, rows: tuple[Any, ...]) -> Columns:
    return {name: [getattr(row, name) for row in rows] for name in kind._fields}


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _plain(value: Any) -> Any:
    """Arrays, tuples and numbers of NumPy as lists and numbers, nan as None."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or np.isfinite(value).all():
            return value.tolist()
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _plain(some) for key, some in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(some) for some in value]
    if isinstance(value, float):
        return None if np.isnan(value) else "inf" if value == np.inf else value
    return value if value is None or isinstance(value, bool | int | str) else str(value)
