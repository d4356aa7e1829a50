"""``choral evaluate``: files of labels in, losses out."""

import json
import math
import re
import warnings
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import choral
from choral._optional import require
from choral._outputs import check_output
from choral.cli.console import printable, progress_bar
from choral.cli.evaluation_output import PLOT_SUFFIXES, print_evaluation, write_csv, write_plot
from choral.evaluation import Evaluation, Progress
from choral.label_files import LabelTable, align, read_labels


class Family(StrEnum):
    """The families of losses between Hamming and subset 0/1."""

    binomial = "binomial"
    polynomial = "polynomial"


def evaluate_files(
    truth: Annotated[Path, typer.Argument(metavar="TRUE", help="True labels: .csv, .tsv, .npy, .npz or .parquet.")],
    predictions: Annotated[
        list[Path], typer.Argument(metavar="PRED", help="Predicted labels or scores, one file per model.")
    ],
    threshold: Annotated[float | None, typer.Option(help="Make scores hard: 1 from this score on.")] = None,
    soft: Annotated[bool, typer.Option("--soft", help="Keep scores as they are.")] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of TRUE with the weights of its rows.")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column that names the rows; id by default, if there."),
    ] = None,
    family: Annotated[Family, typer.Option(help="The losses between the two ends.")] = Family.binomial,
    parameters: Annotated[
        str | None, typer.Option(metavar="1,2,5", help="Values of k or alpha; inf is an alpha.")
    ] = None,
    bootstrap: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0 for no intervals.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
    csv_path: Annotated[Path | None, typer.Option("--csv", metavar="OUT", help="Write the curves as a table.")] = None,
    plot_path: Annotated[
        Path | None, typer.Option("--plot", metavar="OUT.png|svg|pdf", help="Draw the curves.")
    ] = None,
) -> None:
    """Compare predictions with the truth, from Hamming loss to subset 0/1 loss."""
    if threshold is not None and soft:
        raise ValueError("--threshold makes scores hard and --soft keeps them; expected one of the two.")
    if threshold is not None and math.isnan(threshold):
        raise ValueError("--threshold must be a number; got nan.")
    options = {
        "family": family.value,
        "parameters": None if parameters is None else parse_parameters(parameters),
        "threshold": threshold,
        "n_bootstrap": bootstrap,
        "random_state": seed,
    }
    check_outputs(csv_path, plot_path, inputs=[truth, *predictions])
    evaluation = _read_and_evaluate(truth, predictions, id_column, weights, options)
    if csv_path is not None:
        write_csv(evaluation, csv_path)
    if plot_path is not None:
        write_plot(evaluation, plot_path)
    if not (soft or all(evaluation.profiles[name].is_hard for name in evaluation.models)):
        hint = "--threshold 0.5 makes them hard, --soft keeps them without this note"
        typer.echo(f"note: some predictions are scores and are judged as such; {hint}.", err=True)
    if as_json:
        typer.echo(json.dumps(evaluation.to_dict(), indent=2))
    else:
        print_evaluation(evaluation)


def parse_parameters(text: str) -> list[float]:
    """Read numbers separated by commas.

    Examples
    --------
    >>> parse_parameters("1, 2.5,inf")
    [1, 2.5, inf]
    """
    try:
        numbers = [float(cell) for cell in text.split(",")]
    except ValueError:
        raise ValueError(f"--parameters must be numbers separated by commas; got {text!r}.") from None
    return [int(number) if number.is_integer() else number for number in numbers]


def check_outputs(csv_path: Path | None, plot_path: Path | None, inputs: list[Path]) -> None:
    """Find out before the computing what would stop the writing after it."""
    if plot_path is not None:
        if plot_path.suffix.lower() not in PLOT_SUFFIXES:
            expected = ", ".join(PLOT_SUFFIXES)
            raise ValueError(f"--plot must name a file that ends in {expected}; got {str(plot_path)!r}.")
        require("matplotlib", "plot")
    taken = {path.resolve() for path in inputs}
    for path in (csv_path, plot_path):
        if path is not None:
            target = check_output(path)
            if target in taken:
                raise ValueError(f"{path} is an input or named twice; an output needs a file of its own.")
            taken.add(target)


def name_models(paths: list[Path]) -> list[str]:
    """Name each file by its stem, by folder and stem where stems are equal, else by its path.

    Examples
    --------
    >>> name_models([Path("tree.csv"), Path("forest.csv")])
    ['tree', 'forest']
    >>> name_models([Path("runs/monday/tree.csv"), Path("runs/friday/tree.csv")])
    ['monday/tree', 'friday/tree']
    """
    namings: list[Callable[[Path], str]] = [
        lambda path: path.stem,
        lambda path: f"{path.absolute().parent.name}/{path.stem}",
        str,
    ]
    for naming in namings:
        names = [naming(path) for path in paths]
        if len(set(names)) == len(names):
            return names
    twice = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"Prediction files must differ; {twice} came twice.")


def _read_and_evaluate(
    truth_path: Path,
    paths: list[Path],
    id_column: str | None,
    weight_column: str | None,
    options: dict[str, Any],
) -> Evaluation:
    """Read, align and evaluate, with progress and warnings on stderr."""
    files = dict(zip(name_models(paths), paths, strict=True))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        with progress_bar() as progress:
            read = partial(_read_labels, progress, id_column or "id")
            truth = read(truth_path, weight_column)
            if id_column is not None and truth.ids is None:
                raise ValueError(f"{truth_path} has no column {id_column!r} for the ids.")
            predictions = {name: align(truth, read(path)).values for name, path in files.items()}
            options = {**options, "sample_weight": truth.weights, "progress": progress}
            try:
                evaluation = choral.evaluate(truth.values, predictions, **options)
            except ValueError as error:
                raise ValueError(_with_files(str(error), truth, files)) from error
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        typer.echo(f"warning: {printable(message)}", err=True)
    return evaluation


def _read_labels(show: Progress, id_column: str, path: Path, weight_column: str | None = None) -> LabelTable:
    what = f"reading {path.name}"
    show(0, 1, what)
    return read_labels(
        path,
        id_column=id_column,
        weight_column=weight_column,
        progress=lambda done, total: show(done, total, what),
    )


def _with_files(message: str, truth: LabelTable, files: dict[str, Path]) -> str:
    """Add to a message about arrays which files, ids and labels it is about."""
    notes = [f"y_true is {truth.source}"] if "y_true" in message else []
    notes += [f"{name} is {path}" for name, path in files.items() if repr(name) in message]
    if place := re.search(r"(?<=\S)\[(\d+), (\d+)\]", message):
        row, label = map(int, place.groups())
        notes += [f"row {row} has the id {truth.ids[row]!r}"] if truth.ids else []
        notes += [f"label {label} is {truth.labels[label]!r}"] if truth.labels else []
    return f"{message} ({'; '.join(notes)})" if notes else message
