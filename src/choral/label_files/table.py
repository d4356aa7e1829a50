"""LabelTable: a label matrix with names for its rows and columns, and how two of them are brought together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choral.label_files.wording import counted, quoted, some_of


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class LabelTable:
    """A label matrix with what a file says about its rows and columns.

    Attributes
    ----------
    values : ndarray or CSR array of shape (n_samples, n_labels)
        Labels or scores; their range is not checked here.
    labels : tuple of str, optional
        One distinct name per column.
    ids : tuple of str, optional
        One distinct name per row.
    weights : ndarray of shape (n_samples,), optional
        The weight of each row.
    source : str
        Where the table comes from, for messages.
    first_line : int, optional
        The line of the first row, where the source is text with a line for each row.

    Examples
    --------
    >>> LabelTable(np.eye(2), labels=("red", "red"), source="colours.csv")
    Traceback (most recent call last):
    ValueError: colours.csv: labels must be distinct; 'red' occurs 2 times.
    """

    values: Any
    labels: tuple[str, ...] | None = None
    ids: tuple[str, ...] | None = None
    weights: np.ndarray | None = None
    source: str = "table"
    first_line: int | None = None

    def __post_init__(self) -> None:
        shape = self.values.shape
        if len(shape) != 2 or 0 in shape:
            raise ValueError(f"{self.source} must hold rows x labels, at least one of each; got shape {shape}.")
        check_distinct(self.source, "labels", self.labels or ())
        check_distinct(self.source, "ids", self.ids or ())

    def place(self, row: int, column: str) -> str:
        """A cell in words, counted from 1.

        Examples
        --------
        >>> LabelTable(np.eye(2), source="a.csv", first_line=2).place(0, "column 'sea'")
        "a.csv, line 2, column 'sea'"
        >>> LabelTable(np.eye(2), source="a.npy").place(0, "column 2")
        'a.npy, row 1 (counted from 1), column 2'
        """
        where = f"row {row + 1} (counted from 1)" if self.first_line is None else f"line {self.first_line + row}"
        return f"{self.source}, {where}, {column}"


def check_distinct(source: str, what: str, names: Sequence[str]) -> None:
    """Refuse a name that comes twice."""
    if len(set(names)) < len(names):
        name, count = Counter(names).most_common(1)[0]
        raise ValueError(f"{source}: {what} must be distinct; {quoted(name)} occurs {count} times.")


def align(truth: LabelTable, prediction: LabelTable) -> LabelTable:
    """Bring the rows and labels of a prediction into the order of the truth.

    Labels are matched by name if both sides have names, else by position. Rows are matched by id, or by
    position if neither side has ids.

    Examples
    --------
    >>> truth = LabelTable(np.array([[0, 1]]), labels=("sea", "sky"), source="true.csv")
    >>> align(truth, LabelTable(np.array([[7, 8]]), labels=("sky", "sea"))).values
    array([[8, 7]])
    >>> align(truth, LabelTable(np.array([[7, 8]]), labels=("sky", "car"), source="pred.csv"))
    Traceback (most recent call last):
    ValueError: pred.csv does not have the labels of true.csv: 1 missing ('sea'), 1 unknown ('car').
    """
    values, weights = prediction.values, prediction.weights
    if (truth.ids is None) != (prediction.ids is None):
        with_ids, without = (truth, prediction) if truth.ids else (prediction, truth)
        raise ValueError(f"Rows cannot be matched: {with_ids.source} has ids, {without.source} has none.")
    if truth.ids is not None and prediction.ids is not None:
        rows = match_names("ids", truth.ids, prediction.ids, truth.source, prediction.source)
        values = values if rows is None else values[rows]
        weights = weights if rows is None or weights is None else weights[rows]
    if truth.labels is not None and prediction.labels is not None:
        columns = match_names("labels", truth.labels, prediction.labels, truth.source, prediction.source)
        values = values if columns is None else values[:, columns]
    for axis, what in enumerate(("row", "label")):
        expected, got = truth.values.shape[axis], values.shape[axis]
        if expected != got:
            raise ValueError(f"{prediction.source} has {counted(got, what)}, {truth.source} has {expected}.")
    return replace(prediction, values=values, labels=truth.labels, ids=truth.ids, weights=weights, first_line=None)


def match_names(
    what: str, wanted: tuple[str, ...], given: tuple[str, ...], truth: str, prediction: str
) -> list[int] | None:
    """Where each wanted name is among the given ones; None where all are in place already."""
    if wanted == given:
        return None
    place = {name: index for index, name in enumerate(given)}
    missing = [name for name in wanted if name not in place]
    unknown = sorted(place.keys() - set(wanted), key=place.__getitem__)
    if missing or unknown:
        counts = [f"{len(n)} {how} ({some_of(n)})" for n, how in ((missing, "missing"), (unknown, "unknown")) if n]
        raise ValueError(f"{prediction} does not have the {what} of {truth}: {', '.join(counts)}.")
    return [place[name] for name in wanted]
