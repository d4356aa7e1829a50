"""``choral evaluate``: files of labels in, losses out."""

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

import choral
from choral._text import counted, printable
from choral._validation import ROUNDING
from choral.cli.console import (
    Show,
    describe_parameter,
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
from choral.evaluation import Evaluation, Summary, evaluate_summaries, first_best
from choral.evaluation.evaluating import check_names
from choral.evaluation.parts import summarise_parts
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
from choral.measures.families import FAMILIES, get_family

MAX_BOOTSTRAP_SAMPLES = 100_000
MIN_ROWS, MIN_BOOTSTRAP_SAMPLES = 10, 100  # with fewer, a bootstrap interval is no evidence

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
                _write_page(page_path, evaluation, compared, truth, options, show, joint)
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
            typer.echo(json.dumps({**evaluation.to_dict(), "decided_jointly": decided}, indent=2))
        else:
            _print_evaluation(evaluation, 0 if compared.why_no_intervals else n_bootstrap, joint)


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
    truth: Path,
    options: dict[str, Any],
    show: Show,
    joint: list[JointDecisions],
) -> None:
    """Write the page of an evaluation: along both families, unless parameters of one were asked for."""
    from choral.evaluation.page import evaluation_contents
    from choral.report import write_page

    evaluations = [evaluation]
    if options["parameters"] is None:
        (other,) = set(FAMILIES) - {evaluation.family}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", choral.MixedPredictionsWarning)  # it has been said
            evaluations.append(compared.evaluate(progress=show, **{**options, "family": other}))
    show(0, 1, "writing the page")
    n_bootstrap = 0 if compared.why_no_intervals else options["n_bootstrap"]
    _, *notes = _make_notes(evaluation, n_bootstrap, joint)  # the first is about the table on the screen
    sentences = [_make_headline(evaluation), *notes]
    more = [joint[0].curves(one.family, one.parameters) if _is_single(evaluation, joint) else {} for one in evaluations]
    write_page(evaluation_contents(evaluations, _name_file(truth), sentences, compared.labels, more), path)


def _is_single(evaluation: Evaluation, joint: list[JointDecisions]) -> bool:
    """Whether there is one model, with scores: only then there are curves of better decisions."""
    return len(joint) == len(evaluation.models) == 1


def _make_csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    """One line per curve and parameter, with the interval of the difference to the best; the header first."""
    yield ["model", "family", "parameter", "loss", "difference", "lower", "upper"]
    for name, curve in evaluation.curves.items():
        columns = [curve.parameters, curve.losses]
        if evaluation.differences is not None and name in evaluation.differences:
            difference = evaluation.differences[name]
            columns += [difference.estimate, difference.lower, difference.upper]
        for numbers in zip(*columns, strict=True):
            missing = [""] * (5 - len(numbers))
            yield [name, evaluation.family, *map(str, numbers), *missing]


def _make_display(evaluation: Evaluation, more: dict[str, LossCurve]) -> Display:
    """Put all curves on one pair of axes."""
    from choral.displays import LossCurveDisplay

    return LossCurveDisplay.from_curves({**evaluation.curves, **more}, baseline=evaluation.baseline)


def _print_evaluation(evaluation: Evaluation, n_bootstrap: int, joint: list[JointDecisions]) -> None:
    """Print the table of losses, then what to read from it."""
    print_upright_or_sideways(partial(_make_table, evaluation))
    print_sentences(["", *_make_notes(evaluation, n_bootstrap, joint)])


def _make_table(evaluation: Evaluation, *, sideways: bool = False) -> Table:
    """Tabulate losses by model, the best marked, the baseline last; a row for each model or, sideways, each loss."""
    summary = evaluation.summary()
    models = evaluation.models
    least = [min(losses) for losses in zip(*(summary.rows[name] for name in models), strict=True)]
    rows = []
    for name in [*models, evaluation.baseline]:
        style = "dim" if name == evaluation.baseline else ""
        losses = [
            Text(f"*{loss:.4f}", style="bold")
            if name in models and loss <= best + ROUNDING
            else Text(f"{loss:.4f}", style=style)
            for loss, best in zip(summary.rows[name], least, strict=True)
        ]
        rows.append([Text(name, style=style), *losses])
    grid = [[Text("model"), *map(Text, summary.columns)], *rows]
    if sideways:
        grid = [list(column) for column in zip(*grid, strict=True)]
    table = new_table()
    for index, cell in enumerate(grid[0]):
        table.add_column(cell, justify="right" if index else "left", no_wrap=True, min_width=7)
    for index, cells in enumerate(grid[1:], start=1):
        table.add_row(*cells, end_section=not sideways and index == len(models))
    return table


# Sentences


def _make_headline(evaluation: Evaluation) -> str:
    """The best model at both ends in a few words; of a single model, its losses there."""
    ends = [_describe_loss(evaluation, parameter) for parameter in evaluation.parameters[[0, -1]]]
    best = evaluation.best[0], evaluation.best[-1]
    if len(evaluation.models) == 1:
        losses = evaluation.curves[best[0]].losses[[0, -1]]
        return f"{best[0]}: loss {losses[0]:.4f} at {ends[0]}, {losses[1]:.4f} at {ends[1]}."
    if len(set(evaluation.best)) == 1:
        return f"{best[0]}, whatever the loss."
    return f"{best[0]} at {ends[0]}, {best[1]} at {ends[1]}."


def _make_notes(evaluation: Evaluation, n_bootstrap: int, joint: list[JointDecisions]) -> list[str]:
    """Say what was judged, which model is best at each end, whether others may be as good, what decisions may gain."""
    models = evaluation.models
    hard = {evaluation.profiles[name].is_hard for name in models}
    kind = "hard and soft" if len(hard) == 2 else "hard" if hard == {True} else "soft"
    summary = evaluation.summary()
    size = f"{counted(evaluation.n_rows, 'row')}, {counted(evaluation.n_labels, 'label')}"
    notes = [f"{size}, {kind} predictions; lower is better, * marks the best model."]
    if kind != "hard":
        notes.append(f"The baseline ({evaluation.baseline}) is hard and cannot be compared with scores.")
    elif unbeaten := _find_unbeaten_columns(evaluation, summary):
        notes.append(f"No model beats the baseline ({evaluation.baseline}) in: {', '.join(unbeaten)}.")
    if len(models) > 1:
        doubt = _explain_doubt(evaluation, n_bootstrap)
        best = first_best(np.array([summary.rows[name] for name in models]))
        for column in dict.fromkeys([0, len(summary.parameters) - 1]):
            parameter = summary.parameters[column]
            sentence = f"Best at {_describe_loss(evaluation, parameter)}: {models[best[column]]}"
            notes.append(f"{sentence}{'' if doubt else _describe_evidence(evaluation, parameter)}.")
        notes += [doubt] if doubt and n_bootstrap else []
    return notes + [found.describe(name_model=len(models) > 1) for found in joint]


def _find_unbeaten_columns(evaluation: Evaluation, summary: Summary) -> list[str]:
    """The columns of the table in which no model is better than predicting nothing."""
    losses_of_models = zip(*(summary.rows[name] for name in evaluation.models), strict=True)
    columns = zip(summary.columns, summary.rows[evaluation.baseline], losses_of_models, strict=True)
    return [title for title, baseline, losses in columns if baseline <= min(losses)]


def _explain_doubt(evaluation: Evaluation, n_bootstrap: int) -> str:
    """Why the bootstrap says nothing about differences; empty if it does."""
    if evaluation.n_rows < MIN_ROWS:
        few, needed = counted(evaluation.n_rows, "row"), MIN_ROWS
    elif n_bootstrap < MIN_BOOTSTRAP_SAMPLES:
        few, needed = counted(n_bootstrap, "bootstrap sample"), MIN_BOOTSTRAP_SAMPLES
    else:
        return ""
    return f"Too few to say how sure the differences are: {few}, expected at least {needed}."


def _describe_evidence(evaluation: Evaluation, parameter: float) -> str:
    """Say which models may be as good as the best one, by the bootstrap intervals of the differences."""
    if evaluation.differences is None:
        return ""
    if parameter not in evaluation.parameters:
        return f"; bootstrap intervals end at {_describe_loss(evaluation, evaluation.parameters[-1])}"
    index = evaluation.parameters.tolist().index(parameter)
    others = [name for name in evaluation.models if name != evaluation.best[index]]
    near = [name for name in others if evaluation.differences[name].lower[index] <= ROUNDING]
    level = f"{100 * evaluation.confidence:g}%"
    if near:
        of_them = "interval of the difference includes" if len(near) == 1 else "intervals of the differences include"
        return f"; {', '.join(near)} may be as good, since the {level} bootstrap {of_them} 0"
    return f"; the {level} bootstrap intervals of all differences to it exclude 0"


def _describe_loss(evaluation: Evaluation, parameter: float) -> str:
    symbol = get_family(evaluation.family).symbol
    return f"{symbol}={describe_parameter(evaluation.family, parameter, evaluation.n_labels)}"
