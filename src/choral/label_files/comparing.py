"""The truth and the predictions of several models, read, checked and brought into one order."""

from collections.abc import Callable
from functools import partial
from typing import Any

from choral.label_files.parts import ComparedPaths
from choral.label_files.reading import read_labels
from choral.label_files.table import LabelTable, align
from choral.label_files.values import check_scores, check_truth, check_weight_values


def read_compared(
    paths: ComparedPaths,
    *,
    id_column: str | None = None,
    weight_column: str | None = None,
    header: bool | None = None,
    of_any_range: bool = False,
    read: Callable[..., LabelTable] = read_labels,
) -> tuple[LabelTable, dict[str, Any]]:
    """Read true labels and the predictions of each model, as matrices with the rows and labels of the truth.

    Parameters
    ----------
    paths : ComparedPaths
    id_column : str, optional
        The column that names the rows, which the truth must then have; ``id`` where it has one unless given.
    weight_column : str, optional
        The column of the truth with the weights of its rows; may be zero all of them.
    header : bool, optional
        As for `read_labels`.
    of_any_range : bool
        Whether scores may lie outside [0, 1].
    read : callable, optional
        `read_labels`, or one that shows how far it is.
    """
    read = partial(read, id_column=id_column or "id", header=header)
    truth = read(paths.truth, weight_column=weight_column)
    if id_column is not None and truth.ids is None:
        raise ValueError(f"{paths.truth} has no column {id_column!r} for the ids.")
    check_truth(truth)
    check_weight_values(truth, weight_column or "")
    predictions = {}
    for name, path in paths.predictions.items():
        table = read(path, ignored_column=weight_column)
        check_scores(table, of_any_range=of_any_range)
        predictions[name] = align(truth, table).values
    return truth, predictions
