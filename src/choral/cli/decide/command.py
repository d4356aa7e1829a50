"""Options of ``choral decide``, the distribution that its file describes, and the files that it writes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer

import choral
from choral._text import printable, quoted, some_of
from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.decide.decisions import Decisions
from choral.cli.decide.printing import print_decisions
from choral.cli.options import (
    AsJson,
    Display,
    Family,
    Header,
    IdColumn,
    Parameters,
    PlotPath,
    check_outputs,
    parse_family,
    parse_parameters,
    parse_seed,
    read_with_progress,
    write_csv,
    write_plot,
)
from choral.decisions import LabelDistribution
from choral.decisions.optimal import METHODS, Method
from choral.label_files import LabelTable, check_row_weights, check_truth

CSV_COLUMNS = ("family", "parameter", "risk", "lower_bound", "exact", "marginal_mode", "joint_mode")

EPILOG = """
The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Probabilities of rows
with the same label set are added up. The marginal mode, the labels more probable than not, is best for Hamming loss;
the joint mode, the most probable label set, is best for subset 0/1 loss.
"""


def decide_file(
    path: Annotated[Path, typer.Argument(metavar="FILE", hidden=True)],
    probability: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the probabilities; probability by default.")
    ] = None,
    samples: Annotated[
        bool, typer.Option("--samples", help="No column holds probabilities: all rows count alike.")
    ] = False,
    normalize: Annotated[
        bool, typer.Option("--normalize", help="Divide weights or counts by their sum, to get probabilities.")
    ] = False,
    id_column: IdColumn = None,
    header: Header = None,
    family: Family = "binomial",
    parameters: Parameters = None,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="auto (default), quick, closed_form, transform, branch_and_bound or search.",
            show_default=False,
        ),
    ] = "auto",
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of the search, 0 by default.", show_default=False)] = "0",
    as_json: AsJson = False,
    csv_path: Annotated[
        str | None, typer.Option("--csv", metavar="OUT", help="Write predictions and risks as a CSV file.")
    ] = None,
    plot_path: PlotPath = None,
) -> None:
    """Find the prediction with the least expected loss, from Hamming loss to subset 0/1 loss.

    FILE holds a distribution of label sets: a row for each label set, a column for each label (0 or 1), and a column
    with the probability of each row; .csv, .tsv or .parquet. With --samples it may be .npy or .npz too.
    """
    if probability is not None and samples:
        raise ValueError("--probability names a column and --samples says there is none; expected one of the two.")
    options: dict[str, Any] = {
        "family": parse_family(family),
        "parameters": parse_parameters(parameters),
        "method": _parse_method(method),
        "random_state": parse_seed(seed),
    }
    check_outputs(csv_path, plot_path, inputs=[path])
    column = None if samples else "probability" if probability is None else probability
    with warnings_in_one_line():
        with progress_bar() as show:
            table = _read_labelsets(path, column, id_column=id_column, header=header, show=show)
            if csv_path is not None:
                _check_label_names(table)
            distribution = _make_distribution(table, normalize=normalize)
            show(0, 1, "deciding")
            optimal = choral.bayes_curve(distribution, progress=show, **options)
        decisions = Decisions(distribution, optimal, table.labels, n_rows=table.values.shape[0])
        if csv_path is not None:
            write_csv(csv_path, _make_csv_rows(decisions))
        if plot_path is not None:
            write_plot(plot_path, _make_display(decisions))
    with standard_output():
        if as_json:
            typer.echo(json.dumps(decisions.to_dict(), indent=2))
        else:
            print_decisions(decisions)


def _parse_method(text: str) -> Method:
    """Read the name of a way to find optimal predictions.

    Examples
    --------
    >>> _parse_method("guess")
    Traceback (most recent call last):
    ValueError: --method must be auto, quick, closed_form, transform, branch_and_bound or search; got 'guess'.
    """
    if text not in METHODS:
        raise ValueError(f"--method must be {', '.join(METHODS[:-1])} or {METHODS[-1]}; got {text!r}.")
    return cast(Method, text)


def _read_labelsets(
    path: Path, column: str | None, *, id_column: str | None, header: bool | None, show: Show
) -> LabelTable:
    """Read label sets, and their weights from the column of this name; without one, all rows count alike."""
    if column is not None and column == (id_column or "id"):
        raise ValueError(f"{path}: {column!r} is the id column; the probabilities need a column of their own.")
    table = read_with_progress(show, path, id_column=id_column, header=header)
    if column is not None:
        table = _take_weights(table, column)
        check_row_weights(table, column)
    check_truth(table)
    return table


def _take_weights(table: LabelTable, column: str) -> LabelTable:
    """Make one of the columns the weights of the rows.

    Examples
    --------
    >>> table = LabelTable(np.array([[0, 1, 0.6], [1, 1, 0.4]]), labels=("sea", "sky", "p"), source="joint.csv")
    >>> _take_weights(table, "p").weights
    array([0.6, 0.4])
    >>> _take_weights(table, "probability")
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


def _make_distribution(table: LabelTable, *, normalize: bool) -> LabelDistribution:
    """The distribution of checked label sets.

    Examples
    --------
    >>> table = LabelTable(np.array([[0, 1], [1, 1]]), weights=np.array([0.6, 0.3]), source="joint.csv")
    >>> _make_distribution(table, normalize=True).probabilities.round(4)
    array([0.6667, 0.3333])
    >>> _make_distribution(table, normalize=False)
    Traceback (most recent call last):
    ValueError: joint.csv: probabilities must sum to 1; their sum is 0.9. --normalize divides them by it.
    """
    if normalize or table.weights is None:
        return LabelDistribution.from_samples(table.values, table.weights)
    try:
        return LabelDistribution(table.values, table.weights)
    except ValueError as error:  # all else is checked already: only the sum may be wrong
        raise ValueError(f"{table.source}: {error} --normalize divides them by it.") from error


def _check_label_names(table: LabelTable) -> None:
    """Refuse labels that would be taken for other columns of the CSV file."""
    for name in table.labels or ():
        if name in CSV_COLUMNS:
            hint = "rename the label, or say --json"
            raise ValueError(f"{table.source}: the label {quoted(name)} is another column of --csv; {hint}.")


def _make_csv_rows(decisions: Decisions) -> Iterator[list[Any]]:
    """One line for each parameter, with a column for each label of the prediction; the header first."""
    yield [*CSV_COLUMNS, *map(printable, decisions.names)]
    numbers = [decisions.optimal.parameters, decisions.risks, decisions.lower_bounds, decisions.exact]
    losses = [mode.curve.losses for mode in decisions.modes.values()]
    for labels, *cells in zip(decisions.predictions, *numbers, *losses, strict=True):
        yield [decisions.optimal.family, *(str(cell).lower() for cell in cells), *labels]


def _make_display(decisions: Decisions) -> Display:
    """The least risk and the modes, to be drawn on one pair of axes."""
    from choral.displays import DecisionDisplay

    return DecisionDisplay(decisions.optimal, [mode.curve for mode in decisions.modes.values()])
