"""``choral describe``: data sets in, the paper's Table 1 and the dependence of labels out."""

import json
from pathlib import Path
from typing import Annotated

import typer

from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.description_inputs import Options, check_arguments, files_among, is_label_file, read_input
from choral.cli.description_output import Described, csv_rows, make_display, print_descriptions
from choral.cli.files import check_outputs, write_csv, write_plot
from choral.cli.options import AsJson, Header, IdColumn
from choral.label_files import LabelTable
from choral.stats import conditional_dependence, describe

EPILOG = """
NAME is digits-segments, which is built in, or a data set of the paper: birds, emotions, enron-f, flags, flags-7,
genbase, llog-f, medical, scene or yeast. It is looked for in the folder that CHORAL_DATA names, else in the user's data
folder, and downloaded if it is not there.
"""


def describe_datasets(
    arguments: Annotated[list[str], typer.Argument(metavar="NAME|FILE", hidden=True)],
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="N|FILE.xml",
            help="Labels of an ARFF file that does not tell: the first N attributes, the last for -N, or by FILE.",
        ),
    ] = None,
    conditional: Annotated[
        bool, typer.Option("--conditional", help="Estimate the dependence given the features; takes a while.")
    ] = False,
    id_column: IdColumn = None,
    header: Header = None,
    as_json: AsJson = False,
    csv_path: Annotated[
        str | None, typer.Option("--csv", metavar="OUT", help="Write a line for each data set as a CSV file.")
    ] = None,
    plot_path: Annotated[
        str | None,
        typer.Option("--plot", metavar="OUT.png|svg|pdf", help="Draw the dependence of all pairs of labels."),
    ] = None,
) -> None:
    """Describe data sets: their size, the imbalance of their labels, and how much labels depend on each other.

    Each data set is a NAME or a FILE: .arff, also packed (.gz, .bz2, .xz), or labels alone, with a row for each sample
    and a column for each label, .csv, .tsv, .npy, .npz or .parquet.
    """
    options = Options(labels, id_column, header)
    check_arguments(arguments, options)
    if plot_path is not None and len(arguments) > 1:
        raise ValueError(f"--plot draws one data set; got {len(arguments)}.")
    if conditional and any(map(is_label_file, arguments)):
        raise ValueError(f"--conditional needs features; {next(filter(is_label_file, arguments))} has labels alone.")
    check_outputs(csv_path, plot_path, inputs=files_among(arguments))
    with warnings_in_one_line():
        with progress_bar() as show:
            described = [_read_and_describe(argument, options, conditional, show) for argument in arguments]
        if csv_path is not None:
            write_csv(csv_path, csv_rows(described))
        if plot_path is not None:
            write_plot(plot_path, make_display(described[0]))
    with standard_output():
        if as_json:
            typer.echo(json.dumps({"datasets": [one.to_dict() for one in described]}, indent=2))
        else:
            print_descriptions(described)


def _read_and_describe(argument: str, options: Options, conditional: bool, show: Show) -> Described:
    source = read_input(argument, options, show)
    show(0, 1, f"describing {argument}")
    if isinstance(source, LabelTable):
        names = source.labels or [str(number) for number in range(1, source.values.shape[1] + 1)]
        return Described(describe(source.values, name=Path(argument).stem, label_names=names))
    dependence = conditional_dependence(source, progress=show) if conditional else None
    return Described(describe(source), dependence)
