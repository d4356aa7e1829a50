"""The distribution that a file of label sets describes, or the one line that says what it lacks."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from choral.cli.console import Show
from choral.cli.files import read_with_progress
from choral.decisions import LabelDistribution
from choral.label_files import LabelTable, check_truth, check_weights
from choral.label_files.wording import quoted, some_of


def read_labelsets(
    path: Path, column: str | None, *, id_column: str | None, header: bool | None, show: Show
) -> LabelTable:
    """Read label sets, and their weights from the column of this name; without one, all rows count alike."""
    if column is not None and column == (id_column or "id"):
        raise ValueError(f"{path}: {column!r} is the id column; the probabilities need a column of their own.")
    table = read_with_progress(show, path, id_column=id_column or "id", header=header)
    if id_column is not None and table.ids is None:
        raise ValueError(f"{path} has no column {id_column!r} for the ids.")
    if column is not None:
        table = take_weights(table, column)
        check_weights(table, column)
    check_truth(table)
    return table


def take_weights(table: LabelTable, column: str) -> LabelTable:
    """Make one of the columns the weights of the rows.

    Examples
    --------
    >>> table = LabelTable(np.array([[0, 1, 0.6], [1, 1, 0.4]]), labels=("sea", "sky", "p"), source="joint.csv")
    >>> take_weights(table, "p").weights
    array([0.6, 0.4])
    >>> take_weights(table, "probability")
    Traceback (most recent call last):
    ValueError: joint.csv has no column 'probability'; it has 'sea', 'sky', 'p'. Say --probability COLUMN, or --samples
    if all rows count alike.
    """
    if table.labels is None:
        hint = "give it a header that names one, or say --samples if all rows count alike"
        raise ValueError(f"{table.source} has no column names, so no column {quoted(column)}; {hint}.")
    if column not in table.labels:
        hint = "Say --probability COLUMN, or --samples if all rows count alike"
        raise ValueError(f"{table.source} has no column {quoted(column)}; it has {some_of(table.labels)}. {hint}.")
    is_label = np.array([name != column for name in table.labels])
    return replace(
        table,
        values=table.values[:, is_label],
        labels=tuple(name for name in table.labels if name != column),
        weights=table.values[:, ~is_label].ravel().astype(float),
    )


def make_distribution(table: LabelTable, *, normalize: bool) -> LabelDistribution:
    """The distribution of checked label sets.

    Examples
    --------
    >>> table = LabelTable(np.array([[0, 1], [1, 1]]), weights=np.array([0.6, 0.3]), source="joint.csv")
    >>> make_distribution(table, normalize=True).probabilities.round(4)
    array([0.6667, 0.3333])
    >>> make_distribution(table, normalize=False)
    Traceback (most recent call last):
    ValueError: joint.csv: probabilities must sum to 1; their sum is 0.9. --normalize divides them by it.
    """
    if normalize or table.weights is None:
        return LabelDistribution.from_samples(table.values, table.weights)
    try:
        return LabelDistribution(table.values, table.weights)
    except ValueError as error:  # of what is checked already, the sum alone may be wrong
        raise ValueError(f"{table.source}: {error} --normalize divides them by it.") from error
