"""``choral evaluate``: files of labels in, losses out."""

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import choral
from choral._optional import require
from choral._outputs import check_output
from choral._text import printable
from choral.cli.console import progress_bar, standard_output, warnings_in_one_line
from choral.cli.evaluation_output import PLOT_SUFFIXES, print_evaluation, write_csv, write_plot
from choral.cli.parsing import parse_count, parse_family, parse_number, parse_parameters
from choral.evaluation import Evaluation, Progress
from choral.label_files import LabelTable, align, check_scores, check_truth, check_weights, read_labels

MOST_SAMPLES = 100_000
LARGEST_SEED = 2**64 - 1

EPILOG = """
The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Labels are matched by
the names in the headers, by position where a file has none; rows by the id column, by position where no file has one.
Of an NPZ file the only array is read, or the one called y or arr_0, or a matrix of scipy.sparse.save_npz. A file of 0
and 1, or of true and false, is hard labels; any other is scores.
"""


def evaluate_files(
    truth: Annotated[Path, typer.Argument(metavar="TRUE", hidden=True)],
    predictions: Annotated[list[Path], typer.Argument(metavar="PRED", hidden=True)],
    threshold: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Make scores of any range hard: 1 from this one on.")
    ] = None,
    soft: Annotated[bool, typer.Option("--soft", help="Keep scores as they are, without a note.")] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of TRUE with the weights of its rows.")
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column that names the rows; id by default, if there."),
    ] = None,
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of CSV and TSV files holds names; found out by default.",
            show_default=False,
        ),
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Losses between the ends: binomial (default) or polynomial.", show_default=False
        ),
    ] = "binomial",
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="1,2,5", help="Values of k or alpha; inf is an alpha.")
    ] = None,
    bootstrap: Annotated[
        str, typer.Option(metavar="N", help="Bootstrap samples, 1000 by default; 0: no intervals.", show_default=False)
    ] = "1000",
    seed: Annotated[
        str, typer.Option(metavar="N", help="Seed of the bootstrap, 0 by default.", show_default=False)
    ] = "0",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")] = False,
    csv_path: Annotated[
        str | None, typer.Option("--csv", metavar="OUT", help="Write curves and intervals as a CSV file.")
    ] = None,
    plot_path: Annotated[str | None, typer.Option("--plot", metavar="OUT.png|svg|pdf", help="Draw the curves.")] = None,
) -> None:
    """Compare predictions with the truth, from Hamming loss to subset 0/1 loss.

    TRUE holds the true labels, each PRED the labels or scores that one model predicts: files with a row for each
    sample and a column for each label, .csv, .tsv, .npy, .npz or .parquet.
    """
    if threshold is not None and soft:
        raise ValueError("--threshold makes scores hard and --soft keeps them; expected one of the two.")
    n_bootstrap = parse_count("--bootstrap", bootstrap, MOST_SAMPLES)
    options = {
        "family": parse_family(family),
        "parameters": parse_parameters(",".join(parameters)) if parameters else None,
        "threshold": None if threshold is None else parse_number("--threshold", threshold),
        "n_bootstrap": n_bootstrap,
        "random_state": parse_count("--seed", seed, LARGEST_SEED),
    }
    check_outputs(csv_path, plot_path, inputs=[truth, *predictions])
    with warnings_in_one_line():
        evaluation = _read_and_evaluate(truth, predictions, id_column, weights, header, options)
        if csv_path is not None:
            write_csv(evaluation, Path(csv_path))
        if plot_path is not None:
            write_plot(evaluation, Path(plot_path))
    if not soft and not any(evaluation.profiles[name].is_hard for name in evaluation.models):
        hint = "--threshold 0.5 makes them hard, --soft keeps them without this note"
        typer.echo(f"note: the predictions are scores and are judged as such; {hint}.", err=True)
    with standard_output():
        if as_json:
            typer.echo(json.dumps(evaluation.to_dict(), indent=2))
        else:
            print_evaluation(evaluation, n_bootstrap)


def check_outputs(csv_path: str | None, plot_path: str | None, inputs: list[Path]) -> None:
    """Find out before the computing what would stop the writing after it."""
    if plot_path is not None:
        if Path(plot_path).suffix.lower() not in PLOT_SUFFIXES:
            expected = ", ".join(PLOT_SUFFIXES)
            raise ValueError(f"--plot must name a file that ends in {expected}; got {plot_path!r}.")
        require("matplotlib", "plot")
    if csv_path == "":
        raise ValueError("--csv must name a file; got ''.")
    taken = {os.path.realpath(path) for path in inputs}
    for path in (csv_path, plot_path):
        if path is not None:
            target = str(check_output(path))
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
        names = [printable(naming(path)) for path in paths]
        if len(set(names)) == len(names):
            return names
    twice = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"Prediction files must differ; {twice} came twice.")


def _read_and_evaluate(
    truth_path: Path,
    paths: list[Path],
    id_column: str | None,
    weight_column: str | None,
    header: bool | None,
    options: dict[str, Any],
) -> Evaluation:
    """Read, check, align and evaluate, with progress on stderr."""
    names = name_models(paths)
    with progress_bar() as progress:
        read = partial(_read_labels, progress, id_column=id_column or "id", header=header)
        truth = read(truth_path, weight_column=weight_column)
        if id_column is not None and truth.ids is None:
            raise ValueError(f"{truth_path} has no column {id_column!r} for the ids.")
        check_truth(truth)
        check_weights(truth, weight_column or "")
        predictions = {}
        for name, path in zip(names, paths, strict=True):
            table = read(path, ignored_column=weight_column)
            check_scores(table, of_any_range=options["threshold"] is not None)
            predictions[name] = align(truth, table).values
        return choral.evaluate(truth.values, predictions, sample_weight=truth.weights, progress=progress, **options)


def _read_labels(show: Progress, path: Path, **options: Any) -> LabelTable:
    what = f"reading {path.name}"
    show(0, 1, what)
    return read_labels(path, progress=lambda done, total: show(done, total, what), **options)
