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
from choral.cli.compared import Compared, read_files, read_parts
from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.evaluation_notes import make_headline, make_notes
from choral.cli.evaluation_output import csv_rows, make_display, print_evaluation
from choral.cli.files import check_outputs, write_csv, write_plot
from choral.cli.options import AsJson, Family, Header, IdColumn, Parameters, PlotPath
from choral.cli.parsing import parse_count, parse_family, parse_number, parse_parameters, parse_seed
from choral.evaluation import Evaluation
from choral.evaluation.evaluating import check_names
from choral.evaluation.parts import PartOptions
from choral.label_files import ComparedPaths, list_parts
from choral.measures.families import FAMILIES

MOST_SAMPLES = 100_000

EPILOG = """
The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Labels are matched by
the names in the headers, by position where a file has none; rows by the id column, by position where no file has one.
Of an NPZ file the only array is read, or the one called y or arr_0, or a matrix of scipy.sparse.save_npz. A file of 0
and 1, or of true and false, is hard labels; any other is scores.

TRUE and each PRED may be folders of such files, a part of the rows each. Parts are matched by their names without the
suffix. A part is read and summarised at a time, with --dask by the workers of a cluster, which must see the folders.
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
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read parts of folders on the Dask cluster with this scheduler; local: one on this machine.",
        ),
    ] = None,
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
    sample and a column for each label, .csv, .tsv, .npy, .npz or .parquet; or folders of such files.
    """
    if threshold is not None and soft:
        raise ValueError("--threshold makes scores hard and --soft keeps them; expected one of the two.")
    n_bootstrap = parse_count("--bootstrap", bootstrap, MOST_SAMPLES)
    options: dict[str, Any] = {
        "family": parse_family(family),
        "parameters": parse_parameters(parameters),
        "n_bootstrap": n_bootstrap,
        "random_state": parse_seed(seed),
    }
    how = PartOptions(
        id_column=id_column,
        weight_column=weights,
        header=header,
        threshold=None if threshold is None else parse_number("--threshold", threshold),
        bootstrap=n_bootstrap > 0,
    )
    parts = _list_parts(truth, predictions, dask)
    inputs = [path for part in parts for path in part.all_paths()]
    check_outputs(csv_path, plot_path, inputs, page_path=page_path)
    with warnings_in_one_line():
        with progress_bar() as show:
            if truth.is_dir():
                check = partial(FAMILIES[options["family"]].parameters, options["parameters"])
                compared = read_parts(parts, how, show, check, dask=dask)
            else:
                compared = read_files(parts[0], how, show)
            evaluation = compared.evaluate(progress=show, **options)
            if page_path is not None:
                _write_page(page_path, evaluation, compared, truth, options, show)
        if csv_path is not None:
            write_csv(csv_path, csv_rows(evaluation))
        if plot_path is not None:
            write_plot(plot_path, make_display(evaluation))
    if not soft and not any(evaluation.profiles[name].is_hard for name in evaluation.models):
        hint = "--threshold 0.5 makes them hard, --soft keeps them without this note"
        typer.echo(f"note: the predictions are scores and are judged as such; {hint}.", err=True)
    if compared.why_no_intervals and n_bootstrap:
        typer.echo(f"note: no intervals: {compared.why_no_intervals}.", err=True)
    with standard_output():
        if as_json:
            typer.echo(json.dumps(evaluation.to_dict(), indent=2))
        else:
            print_evaluation(evaluation, 0 if compared.why_no_intervals else n_bootstrap)


def name_models(paths: list[Path]) -> list[str]:
    """Name each file by its stem, by folder and stem where stems are equal, else by its path; folders have no suffix.

    Examples
    --------
    >>> name_models([Path("tree.csv"), Path("forest.csv")])
    ['tree', 'forest']
    >>> name_models([Path("runs/monday/tree.csv"), Path("runs/friday/tree.csv")])
    ['monday/tree', 'friday/tree']
    """
    namings: list[Callable[[Path], str]] = [
        _stem,
        lambda path: f"{path.absolute().parent.name}/{_stem(path)}",
        str,
    ]
    for naming in namings:
        names = [printable(naming(path)) for path in paths]
        if len(set(names)) == len(names):
            return names
    twice = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"Prediction files must differ; {twice} came twice.")


def _stem(path: Path) -> str:
    return path.absolute().name if path.is_dir() else path.stem


def _list_parts(truth: Path, predictions: list[Path], dask: str | None) -> list[ComparedPaths]:
    """The parts of folders; files are a single part."""
    paths = ComparedPaths(truth, dict(zip(name_models(predictions), predictions, strict=True)))
    if truth.is_dir():
        check_names(paths.predictions)
        return list_parts(paths)
    if dask is not None:
        raise ValueError(f"--dask is for folders of parts; {truth} is not a folder.")
    for path in predictions:
        if path.is_dir():
            fault = "is not" if truth.exists() else "does not exist"
            raise ValueError(f"{path} is a folder, but {truth} {fault}: expected only files, or only folders.")
    return [paths]


def _write_page(
    path: str, evaluation: Evaluation, compared: Compared, truth: Path, options: dict[str, Any], show: Show
) -> None:
    """Write the page of an evaluation: along both families, unless parameters of one were asked for."""
    from choral.report import evaluation_contents, write_page

    evaluations = [evaluation]
    if options["parameters"] is None:
        (other,) = set(FAMILIES) - {evaluation.family}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", choral.MixedPredictionsWarning)  # it has been said
            evaluations.append(compared.evaluate(progress=show, **{**options, "family": other}))
    show(0, 1, "writing the page")
    n_bootstrap = 0 if compared.why_no_intervals else options["n_bootstrap"]
    _, *notes = make_notes(evaluation, n_bootstrap)  # the first is about the table on the screen
    sentences = [make_headline(evaluation), *notes]
    write_page(evaluation_contents(evaluations, _stem(truth), sentences, compared.labels), path)
