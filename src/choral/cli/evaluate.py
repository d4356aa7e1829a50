"""``choral evaluate``: files of labels in, losses out."""

import json
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import choral
from choral._text import printable
from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.evaluation_notes import make_headline, make_notes
from choral.cli.evaluation_output import csv_rows, make_display, print_evaluation
from choral.cli.files import check_outputs, read_with_progress, write_csv, write_plot
from choral.cli.options import AsJson, Family, Header, IdColumn, Parameters, PlotPath
from choral.cli.parsing import parse_count, parse_family, parse_number, parse_parameters, parse_seed
from choral.evaluation import Evaluation
from choral.label_files import LabelTable, align, check_scores, check_truth, check_weights
from choral.measures.families import FAMILIES

MOST_SAMPLES = 100_000

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
    id_column: IdColumn = None,
    header: Header = None,
    family: Family = "binomial",
    parameters: Parameters = None,
    bootstrap: Annotated[
        str, typer.Option(metavar="N", help="Bootstrap samples, 1000 by default; 0: no intervals.", show_default=False)
    ] = "1000",
    seed: Annotated[
        str, typer.Option(metavar="N", help="Seed of the bootstrap, 0 by default.", show_default=False)
    ] = "0",
    as_json: AsJson = False,
    csv_path: Annotated[
        str | None, typer.Option("--csv", metavar="OUT", help="Write curves and intervals as a CSV file.")
    ] = None,
    plot_path: PlotPath = None,
    page_path: Annotated[
        str | None,
        typer.Option("--report", metavar="OUT.html", help="Write a page to explore the curves in a browser."),
    ] = None,
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
        "parameters": parse_parameters(parameters),
        "threshold": None if threshold is None else parse_number("--threshold", threshold),
        "n_bootstrap": n_bootstrap,
        "random_state": parse_seed(seed),
    }
    check_outputs(csv_path, plot_path, inputs=[truth, *predictions], page_path=page_path)
    with warnings_in_one_line():
        with progress_bar() as show:
            table, matrices = _read(truth, predictions, id_column, weights, header, options, show)
            evaluation = _evaluate(table, matrices, options, show)
            if page_path is not None:
                _write_page(page_path, evaluation, table, matrices, options, show)
        if csv_path is not None:
            write_csv(csv_path, csv_rows(evaluation))
        if plot_path is not None:
            write_plot(plot_path, make_display(evaluation))
    if not soft and not any(evaluation.profiles[name].is_hard for name in evaluation.models):
        hint = "--threshold 0.5 makes them hard, --soft keeps them without this note"
        typer.echo(f"note: the predictions are scores and are judged as such; {hint}.", err=True)
    with standard_output():
        if as_json:
            typer.echo(json.dumps(evaluation.to_dict(), indent=2))
        else:
            print_evaluation(evaluation, n_bootstrap)


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


def _read(
    truth_path: Path,
    paths: list[Path],
    id_column: str | None,
    weight_column: str | None,
    header: bool | None,
    options: dict[str, Any],
    show: Show,
) -> tuple[LabelTable, dict[str, Any]]:
    """Read, check and align the truth and the predictions of each model."""
    names = name_models(paths)
    read = partial(read_with_progress, show, id_column=id_column or "id", header=header)
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
    return truth, predictions


def _evaluate(truth: LabelTable, predictions: dict[str, Any], options: dict[str, Any], show: Show) -> Evaluation:
    return choral.evaluate(truth.values, predictions, sample_weight=truth.weights, progress=show, **options)


def _write_page(
    path: str,
    evaluation: Evaluation,
    truth: LabelTable,
    predictions: dict[str, Any],
    options: dict[str, Any],
    show: Show,
) -> None:
    """Write the page of an evaluation: along both families, unless parameters of one were asked for."""
    from choral.report import evaluation_contents, write_page

    evaluations = [evaluation]
    if options["parameters"] is None:
        (other,) = set(FAMILIES) - {evaluation.family}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", choral.MixedPredictionsWarning)  # it has been said
            evaluations.append(_evaluate(truth, predictions, {**options, "family": other}, show))
    show(0, 1, "writing the page")
    _, *notes = make_notes(evaluation, options["n_bootstrap"])  # the first is about the table on the screen
    sentences = [make_headline(evaluation), *notes]
    write_page(evaluation_contents(evaluations, Path(truth.source).stem, sentences, truth.labels), path)
