"""Options of ``choral decide``, the distributions that its files describe, and the files that it writes."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer

import choral
from choral._text import printable, quoted, some_of
from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.decide.decisions import Decisions
from choral.cli.decide.one_loss import OneLossDecisions, parse_decidable_loss, print_one_loss, read_scores, read_votes
from choral.cli.decide.printing import print_decisions
from choral.cli.options import (
    AsJson,
    Display,
    Family,
    Header,
    IdColumn,
    Parameters,
    PlotPath,
    Separator,
    TagSeparator,
    check_outputs,
    parse_family,
    parse_parameters,
    parse_seed,
    parse_separator,
    read_with_progress,
    refuse_options,
    write_csv,
    write_plot,
)
from choral.decisions import LabelDistribution
from choral.decisions.optimal import METHODS, Method
from choral.label_files import LabelTable, check_row_weights, check_truth, write_labels
from choral.overlap import AnyLoss

Read = Callable[[Show], tuple[LabelTable, Any]]  # a table, and the distribution of its rows or of its label sets

CSV_COLUMNS = ("family", "parameter", "risk", "lower_bound", "exact", "marginal_mode", "joint_mode")
OF_LABELSETS = ("probability", "samples", "normalize")  # options that say how a file of label sets is read
OF_FAMILIES = ("family", "parameters", "csv_path", "plot_path")  # options for all losses of a family

EPILOG = """
\b
Examples:
  choral decide labelsets.csv
  choral decide labelsets.csv --loss f1
  choral decide --scores scores.csv --loss f1 --out labels.csv
  choral decide --votes a.csv b.csv c.csv --loss k=3 --out labels.csv

The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Probabilities of rows
with the same label set are added up. The marginal mode, the labels more probable than not, is best for Hamming loss;
the joint mode, the most probable label set, is best for subset 0/1 loss.
"""


def decide_files(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(metavar="FILE", hidden=True)],
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="FILE holds probabilities of labels, a row for each instance; labels are independent."
        ),
    ] = False,
    votes: Annotated[
        bool,
        typer.Option(
            "--votes", help="FILEs hold hard predictions of several models for the same rows; each model has one vote."
        ),
    ] = False,
    loss_name: Annotated[
        str | None,
        typer.Option(
            "--loss",
            metavar="NAME",
            help="Decide for one loss: hamming, subset, k=3, alpha=2.5, f1, f0.5 or jaccard, say. "
            "With --scores and --votes, subset by default.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(metavar="LABELS", help="Write the predictions for one loss: .csv, .tsv, .npy, .npz or .parquet."),
    ] = None,
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
    sep: Separator = None,
    tag_sep: TagSeparator = None,
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
    """Find the prediction with the least expected loss, from Hamming loss to subset 0/1 loss, or for F and Jaccard.

    FILE holds a distribution of label sets: a row for each label set, a column for each label (0 or 1), and a column
    with the probability of each row; .csv, .tsv or .parquet. With --samples it may be .npy or .npz too.

    With --scores or --votes, files hold a row for each instance, and each gets a prediction of its own.
    """
    if probability is not None and samples:
        raise ValueError("--probability names a column and --samples says there is none; expected one of the two.")
    _check_files(context, paths, scores=scores, votes=votes)
    options: dict[str, Any] = {"method": _parse_method(method), "random_state": parse_seed(seed)}
    reading: dict[str, Any] = {
        "id_column": id_column,
        "header": header,
        "sep": parse_separator("--sep", sep),
        "tag_sep": parse_separator("--tag-sep", tag_sep),
    }
    if scores:
        read: Read = partial(read_scores, paths[0], **reading)
    elif votes:
        read = partial(read_votes, paths, **reading)
    else:
        column = None if samples else "probability" if probability is None else probability
        read = partial(_read_distribution, paths[0], column, normalize=normalize, **reading)
    if loss_name is None and not (scores or votes):
        refuse_options(context, ["out"], "writes predictions for one loss; say --loss NAME")
        options |= {"family": parse_family(family), "parameters": parse_parameters(parameters)}
        check_outputs(csv_path, plot_path, inputs=paths)
        _decide_family(read, options, as_json=as_json, csv_path=csv_path, plot_path=plot_path)
    else:
        refuse_options(context, OF_FAMILIES, "is for all losses of a family; here there is one, that of --loss")
        loss_name = "subset" if loss_name is None else loss_name
        loss = parse_decidable_loss(loss_name)
        check_outputs(None, None, inputs=paths, labels_path=out)
        found = _decide_one_loss(read, loss_name, loss, options)
        if out is not None:
            write_labels(out, found.to_table(), id_column=id_column or "id")
        with standard_output():
            if as_json:
                typer.echo(json.dumps(found.to_dict(), indent=2))
            else:
                print_one_loss(found, out)


def _check_files(context: typer.Context, paths: list[Path], *, scores: bool, votes: bool) -> None:
    """Refuse a number of files, and options for reading them, that do not go with their kind."""
    if scores and votes:
        raise ValueError("--scores and --votes say what the files hold; expected one of the two.")
    if scores or votes:
        kind = "--scores" if scores else "--votes"
        refuse_options(context, OF_LABELSETS, f"is for a distribution of label sets, not for {kind}")
    if len(paths) > 1 and not votes:
        hint = "--votes takes the predictions of several models"
        raise ValueError(f"expected one file; got {len(paths)}. {hint}.")


def _decide_family(
    read: Read, options: dict[str, Any], *, as_json: bool, csv_path: str | None, plot_path: str | None
) -> None:
    """Decide for all losses of a family, write what was found and print it."""
    with warnings_in_one_line():
        with progress_bar() as show:
            table, distribution = read(show)
            if csv_path is not None:
                _check_label_names(table)
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


def _decide_one_loss(read: Read, loss_name: str, loss: AnyLoss, options: dict[str, Any]) -> OneLossDecisions:
    """The best prediction of each row for one loss."""
    with warnings_in_one_line(), progress_bar() as show:
        table, distribution = read(show)
        show(0, 1, "deciding")
        decision = choral.bayes_optimal(distribution, loss, **options)
        return OneLossDecisions(distribution, loss, loss_name, decision, table)


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


def _read_distribution(
    path: Path, column: str | None, show: Show, *, normalize: bool, id_column: str | None, **reading: Any
) -> tuple[LabelTable, LabelDistribution]:
    """Read label sets, and their weights from the column of this name; without one, all rows count alike."""
    if column is not None and column == (id_column or "id"):
        raise ValueError(f"{path}: {column!r} is the id column; the probabilities need a column of their own.")
    table = read_with_progress(show, path, id_column=id_column, **reading)
    if column is not None:
        table = _take_weights(table, column)
        check_row_weights(table, column)
    check_truth(table)
    return table, _make_distribution(table, normalize=normalize)


def _take_weights(table: LabelTable, column: str) -> LabelTable:
    """Make one of the columns the weights of the rows.

    Examples
    --------
    >>> table = LabelTable(np.array([[0, 1, 0.6], [1, 1, 0.4]]), labels=("sea", "sky", "p"), source="joint.csv")
    >>> _take_weights(table, "p").weights
    array([0.6, 0.4])
    >>> _take_weights(table, "probability")
    Traceback (most recent call last):
    ValueError: joint.csv has no column 'probability'; it has 'sea', 'sky', 'p'. Say --probability COLUMN; --samples if
    all rows count alike; --scores if each row holds the probabilities of its labels.
    """
    if table.labels is None:
        hint = "give it a header that names one, or say --samples if all rows count alike"
        raise ValueError(f"{table.source} has no column names, so no column {quoted(column)}; {hint}.")
    if column not in table.labels:
        hint = (
            "Say --probability COLUMN; --samples if all rows count alike; --scores if each row holds the probabilities "
            "of its labels"
        )
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
