"""``choral evaluate``: files of labels in, losses out."""

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.table import Table
from rich.text import Text

import choral
from choral._text import join_names, printable
from choral.cli.console import (
    Show,
    new_table,
    print_sentences,
    print_upright_or_sideways,
    progress_bar,
    standard_output,
    warnings_in_one_line,
)
from choral.cli.decided_jointly import JointDecisions, decide_jointly
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
    parse_count,
    parse_family,
    parse_number,
    parse_parameters,
    parse_seed,
    parse_separator,
    read_with_progress,
    write_csv,
    write_plot,
)
from choral.curves import LossCurve
from choral.evaluation import Evaluation, evaluate_summaries
from choral.evaluation.evaluating import check_names
from choral.evaluation.parts import summarise_parts
from choral.evaluation.result import COLUMNS
from choral.label_files import (
    ComparedOptions,
    ComparedPaths,
    LabelTable,
    are_in_parts,
    check_row_weights,
    label_stem,
    label_suffix,
    list_parts,
    read_compared,
)
from choral.label_files.table import Matrix
from choral.measures.families import FAMILIES

if TYPE_CHECKING:
    from choral.explanation import Explanations

MAX_BOOTSTRAP_SAMPLES = 100_000

EPILOG = """
The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Labels are matched by
the names in the headers, by position where a file has none; rows by the id column, by position where no file has one.
Of an NPZ file the only array is read, or the one called y or arr_0, or a matrix of scipy.sparse.save_npz. A file of 0
and 1, or of true and false, is hard labels; any other is scores.

TRUE and each PRED may be folders of such files, a part of the rows each. Parts are matched by their names without the
suffix. One part is read and summarised at a time; with --dask, workers of a cluster do it, which must see the folders.
"""


def evaluate_files(
    truth: Annotated[Path, typer.Argument(metavar="TRUE", hidden=True)],
    predictions: Annotated[list[Path], typer.Argument(metavar="PRED", hidden=True)],
    threshold: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Predict 1 where the score, of any range, is at least NUMBER.")
    ] = None,
    soft: Annotated[bool, typer.Option("--soft", help="Keep scores as they are, without a note.")] = False,
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of TRUE with the weights of its rows.")
    ] = None,
    id_column: IdColumn = None,
    header: Header = None,
    sep: Separator = None,
    tag_sep: TagSeparator = None,
    no_tune: Annotated[
        bool, typer.Option("--no-tune", help="Do not say what better decisions from scores would gain.")
    ] = False,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler, whose workers read the parts of folders; local starts a cluster on this machine.",
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
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Say where the last loss comes from: which labels, labels together, and rows."),
    ] = False,
) -> None:
    """Compare predictions with the truth, from Hamming loss to subset 0/1 loss.

    TRUE holds the true labels, each PRED the labels or scores that one model predicts: files with a row for each
    sample and a column for each label, .csv, .tsv, also packed (.gz), .npy, .npz or .parquet; or folders of such files.
    """
    if threshold is not None and soft:
        raise ValueError("--threshold makes scores hard and --soft keeps them; expected one of the two.")
    n_bootstrap = parse_count("--bootstrap", bootstrap, MAX_BOOTSTRAP_SAMPLES)
    options: dict[str, Any] = {
        "family": parse_family(family),
        "parameters": parse_parameters(parameters),
        "n_bootstrap": n_bootstrap,
        "random_state": parse_seed(seed),
    }
    read_options = ComparedOptions(
        id_column=id_column,
        weight_column=weights,
        header=header,
        sep=parse_separator("--sep", sep),
        tag_sep=parse_separator("--tag-sep", tag_sep),
        threshold=None if threshold is None else parse_number("--threshold", threshold),
    )
    parts = _list_parts(truth, predictions, dask)
    inputs = [path for part in parts for path in part.all_paths()]
    check_outputs(csv_path, plot_path, inputs, page_path=page_path)
    if explain and parts[0].truth != truth:
        raise ValueError(f"--explain looks at rows, and of folders only sums are kept; {truth} is a folder.")
    with warnings_in_one_line():
        with progress_bar() as show:
            if parts[0].truth != truth:
                check = partial(FAMILIES[options["family"]].parameters, options["parameters"])
                compared = _read_parts(parts, read_options, show, check, joint=n_bootstrap > 0, dask=dask)
            else:
                compared = _read_files(parts[0], read_options, show)
            evaluation = compared.evaluate(progress=show, **options)
            joint = [] if no_tune else _decide_jointly(evaluation, compared, read_options, options, show)
            if page_path is not None:
                _write_page(page_path, evaluation, compared, [truth, *predictions], options, show, joint)
            explained = _explain(evaluation, compared, show) if explain else None
            if plot_path is not None:
                is_single = _is_single(evaluation, joint)
                more = joint[0].curves(evaluation.family, evaluation.parameters) if is_single else {}
        if csv_path is not None:
            write_csv(csv_path, _make_csv_rows(evaluation))
        if plot_path is not None:
            write_plot(plot_path, _make_display(evaluation, more))
    if not soft and not any(evaluation.profiles[name].is_hard for name in evaluation.models):
        hint = "--threshold 0.5 makes them hard, --soft keeps them without this note"
        typer.echo(f"note: the predictions are scores and are judged as such; {hint}.", err=True)
    if compared.why_no_intervals and n_bootstrap:
        typer.echo(f"note: no intervals: {compared.why_no_intervals}.", err=True)
    with standard_output():
        if as_json:
            decided = {found.model: found.to_dict() for found in joint}
            found = {**evaluation.to_dict(), "decided_jointly": decided}
            if explained is not None:
                found["explanations"] = explained.to_dict()
            typer.echo(json.dumps(found, indent=2))
        else:
            _print_evaluation(evaluation, joint)
            if explained is not None:
                _print_explanations(explained)
    written = [path for path in (csv_path, plot_path, page_path) if path is not None]
    if written:
        typer.echo(f"Wrote {join_names([printable(path) for path in written])}.", err=True)


# Files and folders


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
        _name_file,
        lambda path: f"{path.absolute().parent.name}/{_name_file(path)}",
        str,
    ]
    for naming in namings:
        names = [printable(naming(path)) for path in paths]
        if len(set(names)) == len(names):
            return names
    twice = next(name for name in names if names.count(name) > 1)
    raise ValueError(f"Prediction files must differ; {twice} came twice.")


def _name_file(path: Path) -> str:
    return label_stem(path.absolute()) if label_suffix(path) or not path.is_dir() else path.absolute().name


def _list_parts(truth: Path, predictions: list[Path], dask: str | None) -> list[ComparedPaths]:
    """The parts of folders; files are a single part."""
    paths = ComparedPaths(truth, dict(zip(name_models(predictions), predictions, strict=True)))
    if are_in_parts(paths):
        check_names(paths.predictions)
        return list_parts(paths)
    if dask is not None:
        fault = "has parts of other names than PRED, or empty ones" if truth.is_dir() else "is not a folder"
        raise ValueError(f"--dask is for folders of parts; {truth} {fault}.")
    for path in predictions:
        if path.is_dir() and not label_suffix(path):
            fault = "is not" if truth.exists() else "does not exist"
            raise ValueError(f"{path} is a folder, but {truth} {fault}: expected only files, or only folders.")
    return [paths]


class Compared(NamedTuple):
    """Labels that are ready to be judged, once for each family of losses."""

    evaluate: Callable[..., Evaluation]  # of the keywords family, parameters, n_bootstrap, random_state and progress
    labels: tuple[str, ...] | None
    why_no_intervals: str = ""  # empty where there are intervals
    tables: tuple[LabelTable, dict[str, Matrix]] | None = None  # the truth and predictions; None if they come in parts

    def label_names(self, n_labels: int) -> Sequence[str]:
        """The names of the labels, or else their numbers, counted from 1 as everywhere on the command line."""
        return self.labels or [f"label {number}" for number in range(1, n_labels + 1)]

    def row_names(self) -> Sequence[Any] | None:
        """The ids of the rows, or else their numbers, counted from 1; None if they come in parts."""
        if self.tables is None:
            return None
        truth, _ = self.tables
        return truth.ids or range(1, truth.values.shape[0] + 1)


def _read_files(paths: ComparedPaths, options: ComparedOptions, show: Show) -> Compared:
    """Read whole files."""
    truth, predictions = read_compared(paths, options, partial(read_with_progress, show))
    check_row_weights(truth, options.weight_column or "")

    def evaluate(**keywords: Any) -> Evaluation:
        keywords |= {"threshold": options.threshold, "sample_weight": truth.weights}
        return choral.evaluate(truth.values, predictions, **keywords)

    return Compared(evaluate, truth.labels, tables=(truth, predictions))


def _read_parts(
    parts: list[ComparedPaths],
    options: ComparedOptions,
    show: Show,
    check: Callable[[int], object],
    *,
    joint: bool,
    dask: str | None,
) -> Compared:
    """Read parts, on a Dask cluster where one is named, else one after another; see `summarise_parts`."""
    connection: AbstractContextManager[Any] = nullcontext()
    if dask is not None:
        from choral.study.clusters import dask_client  # here, else every command would wait a second for scikit-learn

        parts = [part.absolute() for part in parts]  # workers may have another current folder
        show(0, 1, "connecting to the cluster")
        connection = dask_client(dask)
    with connection as client:
        total = summarise_parts(parts, options, joint=joint, client=client, check=check, progress=show)
    return Compared(partial(evaluate_summaries, total.models), total.labels, total.models.why_no_joint)


def _decide_jointly(
    evaluation: Evaluation, compared: Compared, read_options: ComparedOptions, options: dict[str, Any], show: Show
) -> list[JointDecisions]:
    """What better decisions from scores would gain at the last column of losses in the table; nothing for folders."""
    all_hard = all(evaluation.profiles[name].is_hard for name in evaluation.models)
    if compared.tables is None or (all_hard and read_options.threshold is None):
        return []
    return decide_jointly(
        *compared.tables,
        evaluation.family,
        evaluation.summary().parameters[-1],
        threshold=read_options.threshold,
        n_bootstrap=options["n_bootstrap"],
        random_state=options["random_state"],
        show=show,
    )


# Outputs


def _write_page(
    path: str,
    evaluation: Evaluation,
    compared: Compared,
    paths: list[Path],
    options: dict[str, Any],
    show: Show,
    joint: list[JointDecisions],
) -> None:
    """Write the page of an evaluation: along both families, unless parameters of one were asked for."""
    from choral.evaluation.page import write_evaluation_page

    evaluations = [evaluation]
    if options["parameters"] is None:
        (other,) = set(FAMILIES) - {evaluation.family}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", choral.MixedPredictionsWarning)  # it has been said
            evaluations.append(compared.evaluate(progress=show, **{**options, "family": other}))
    show(0, 1, "writing the page")
    more = [joint[0].curves(one.family, one.parameters) if _is_single(evaluation, joint) else {} for one in evaluations]
    write_evaluation_page(
        path,
        evaluations,
        _name_file(paths[0]),
        labels=compared.label_names(evaluation.n_labels),
        ids=compared.row_names(),
        files=[each.absolute().name for each in paths],
        more_sentences=_describe_gains(evaluation, joint),
        more_curves=more,
    )


def _explain(evaluation: Evaluation, compared: Compared, show: Show) -> "Explanations":
    """Where the last loss of the table comes from."""
    from choral.evaluation.last_loss import names_to_explain

    show(0, 1, "explaining the loss")
    labels, ids = compared.label_names(evaluation.n_labels), compared.row_names()
    return evaluation.explain(names_to_explain(evaluation), labels=labels, ids=ids)


def _print_explanations(explained: "Explanations") -> None:
    """Print the explanation of the best model; of several models, also all side by side."""
    best = explained[explained.ranking[0]]
    for found in (best, explained) if len(explained) > 1 else (best,):
        typer.echo(f"\n{found!r}")


def _is_single(evaluation: Evaluation, joint: list[JointDecisions]) -> bool:
    """Whether there is one model, with scores: only then there are curves of better decisions."""
    return len(joint) == len(evaluation.models) == 1


def _make_csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    """One line per curve and parameter, with intervals; the header first. Cells of what is not known are empty."""
    yield list(COLUMNS)
    yield from map(list, evaluation.to_rows())


def _make_display(evaluation: Evaluation, more: dict[str, LossCurve]) -> Display:
    """Put all curves on one pair of axes, with their bootstrap intervals."""
    from choral.displays import LossCurveDisplay

    curves = {**evaluation.curves, **more}
    return LossCurveDisplay.from_curves(curves, bands=evaluation.bands(), baseline=evaluation.baseline)


def _print_evaluation(evaluation: Evaluation, joint: list[JointDecisions]) -> None:
    """Print the table of losses, then what to read from it."""
    print_upright_or_sideways(partial(_make_table, evaluation))
    print_sentences(["", *evaluation.sentences(), *_describe_gains(evaluation, joint)])


def _describe_gains(evaluation: Evaluation, joint: list[JointDecisions]) -> list[str]:
    """What better decisions would gain, a sentence for each model with scores."""
    return [found.describe(name_model=len(evaluation.models) > 1) for found in joint]


def _make_table(evaluation: Evaluation, *, sideways: bool = False) -> Table:
    """Tabulate losses by model, the best marked, the baseline last; a row for each model or, sideways, each loss."""
    rows = []
    for name, cells in evaluation.cells().items():
        style = "dim" if name == evaluation.baseline else ""
        losses = [Text(f"*{text}", style="bold") if best else Text(text, style=style) for text, best in cells]
        rows.append([Text(name, style=style), *losses])
    grid = [[Text("model"), *map(Text, evaluation.summary().columns)], *rows]
    if sideways:
        grid = [list(column) for column in zip(*grid, strict=True)]
    table = new_table()
    table.collapse_padding = True  # with six labels or more, the table would be wider than 80 characters else
    for index, cell in enumerate(grid[0]):
        table.add_column(cell, justify="right" if index else "left", no_wrap=True, min_width=7)
    for index, cells_of_row in enumerate(grid[1:], start=1):
        table.add_row(*cells_of_row, end_section=not sideways and index == len(evaluation.models))
    return table
