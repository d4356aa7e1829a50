"""``choral decide``: a file of label sets and their probabilities in, the best prediction for each loss out."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import choral
from choral.cli.console import progress_bar, standard_output, warnings_in_one_line
from choral.cli.decision_inputs import make_distribution, read_labelsets
from choral.cli.decision_output import check_label_names, csv_rows, make_display, print_decisions
from choral.cli.decision_results import Decisions
from choral.cli.files import check_outputs, write_csv, write_plot
from choral.cli.options import AsJson, Family, Header, IdColumn, Parameters, PlotPath
from choral.cli.parsing import parse_family, parse_method, parse_parameters, parse_seed

EPILOG = """
The first line of a CSV or TSV file is a header if it is not all numbers, or is 0,1,2 and so on. Label sets that come
twice count together. The marginal mode, the labels more probable than not, is best for Hamming loss; the joint mode,
the most probable label set, is best for subset 0/1 loss.
"""


def decide_file(
    path: Annotated[Path, typer.Argument(metavar="FILE", hidden=True)],
    probability: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with the probabilities; probability by default.")
    ] = None,
    samples: Annotated[bool, typer.Option("--samples", help="There is no such column: all rows count alike.")] = False,
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
        "method": parse_method(method),
        "random_state": parse_seed(seed),
    }
    check_outputs(csv_path, plot_path, inputs=[path])
    column = None if samples else "probability" if probability is None else probability
    with warnings_in_one_line():
        with progress_bar() as show:
            table = read_labelsets(path, column, id_column=id_column, header=header, show=show)
            if csv_path is not None:
                check_label_names(table)
            distribution = make_distribution(table, normalize=normalize)
            show(0, 1, "deciding")
            optimal = choral.bayes_curve(distribution, progress=show, **options)
        decisions = Decisions(distribution, optimal, table.labels, n_rows=table.values.shape[0])
        if csv_path is not None:
            write_csv(csv_path, csv_rows(decisions))
        if plot_path is not None:
            write_plot(plot_path, make_display(decisions))
    with standard_output():
        if as_json:
            typer.echo(json.dumps(decisions.to_dict(), indent=2))
        else:
            print_decisions(decisions)
