"""``choral describe``: data sets in, their size, the imbalance and the dependence of their labels out."""

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from choral import datasets
from choral._text import printable
from choral.cli.console import (
    Show,
    new_table,
    print_sentences,
    print_upright_or_sideways,
    progress_bar,
    standard_output,
    warnings_in_one_line,
)
from choral.cli.options import (
    AsJson,
    Display,
    Header,
    IdColumn,
    Separator,
    TagSeparator,
    check_outputs,
    parse_separator,
    read_with_progress,
    write_csv,
    write_plot,
)
from choral.datasets import Dataset, is_arff
from choral.label_files import SUFFIXES, LabelTable, check_truth, choose_columns, label_stem, label_suffix
from choral.rows.blocks import as_dense
from choral.stats import ConditionalDependence, Description, conditional_dependence, describe
from choral.stats.describe import NUMBERS, check_pairs

EMBEDDED = "digits-segments"

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
            metavar="N|a,b|FILE.xml",
            help="Which columns are labels: the first N, the last for -N, or their names, in which * stands for any "
            "characters; of an ARFF file, those in FILE.",
        ),
    ] = None,
    conditional: Annotated[
        bool, typer.Option("--conditional", help="Estimate the dependence given the features; takes a while.")
    ] = False,
    id_column: IdColumn = None,
    header: Header = None,
    sep: Separator = None,
    tag_sep: TagSeparator = None,
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

    Each data set is a NAME or a FILE: .arff, also packed (.gz, .bz2, .xz), or a table with a row for each sample and a
    column for each label, .csv, .tsv, also packed (.gz), .npy, .npz or .parquet. A table may have other columns too, if
    --labels says which are labels.
    """
    options = FileOptions(
        labels, id_column, header, parse_separator("--sep", sep), parse_separator("--tag-sep", tag_sep)
    )
    _check_arguments(arguments, options)
    if plot_path is not None and len(arguments) > 1:
        raise ValueError(f"--plot draws one data set; got {len(arguments)}.")
    if conditional and labels is None and any(map(_is_label_file, arguments)):
        alone = next(filter(_is_label_file, arguments))
        hint = "if other columns are features, --labels says which are labels"
        raise ValueError(f"--conditional needs features; {alone} has labels alone ({hint}).")
    check_outputs(csv_path, plot_path, inputs=_find_files(arguments))
    with warnings_in_one_line():
        with progress_bar() as show:
            described = [_read_and_describe(argument, options, conditional, show) for argument in arguments]
        if csv_path is not None:
            write_csv(csv_path, _make_csv_rows(described))
        if plot_path is not None:
            write_plot(plot_path, _make_display(described[0]))
    with standard_output():
        if as_json:
            typer.echo(json.dumps({"datasets": [one.to_dict() for one in described]}, indent=2))
        else:
            _print_descriptions(described)


# What the arguments mean


class FileOptions(NamedTuple):
    """How to read files: an ARFF file by the first, a table by all."""

    labels: str | None = None
    id_column: str | None = None
    header: bool | None = None
    sep: str | None = None
    tag_sep: str | None = None


def _is_label_file(argument: str) -> bool:
    """Whether an argument is the name of a table."""
    return bool(label_suffix(argument))


def _has_labels_option(argument: str) -> bool:
    """Whether an argument is a file whose labels may be chosen: arrays have no names."""
    return is_arff(argument) or label_suffix(argument) not in ("", ".npy", ".npz")


def _find_files(arguments: list[str]) -> list[Path]:
    """The arguments that are files, which no output may replace."""
    return [Path(argument) for argument in arguments if is_arff(argument) or _is_label_file(argument)]


def _check_arguments(arguments: list[str], options: FileOptions) -> None:
    """Refuse what is neither a file nor a name, and options for files that are not there, before anything is read."""
    names = (EMBEDDED, *datasets.NAMES)
    for argument in arguments:
        if not (is_arff(argument) or _is_label_file(argument) or argument in names):
            suffixes = ", ".join([".arff", *SUFFIXES])
            raise ValueError(
                f"Expected the name of a data set ({', '.join(names)}) or a file that ends in {suffixes}; "
                f"got {argument!r}."
            )
    for option, value, is_meant, kind in (
        ("--labels", options.labels, _has_labels_option, "an ARFF file or a table with names"),
        ("--id", options.id_column, _is_label_file, "a file of labels"),
        ("--header/--no-header", options.header, _is_label_file, "a file of labels"),
        ("--sep", options.sep, _is_label_file, "a file of labels"),
        ("--tag-sep", options.tag_sep, _is_label_file, "a file of labels"),
    ):
        if value is not None and not any(map(is_meant, arguments)):
            raise ValueError(f"{option} is for {kind}; got none.")


def _read_input(argument: str, options: FileOptions, conditional: bool, show: Show) -> Dataset | LabelTable:
    """Read or load what passed `_check_arguments`."""
    if _is_label_file(argument):
        return (_read_features_too if conditional else _read_label_file)(Path(argument), options, show)
    show(0, 1, f"reading {argument}")
    if is_arff(argument):
        return datasets.read_arff(argument, parse_labels(options.labels))
    return datasets.load_digits_segments() if argument == EMBEDDED else datasets.load(argument)


def parse_labels(text: str | None) -> int | Path | None:
    """Read which attributes are labels: a number, or else an XML file.

    Examples
    --------
    >>> parse_labels("-6"), parse_labels("scene.xml").name
    (-6, 'scene.xml')
    """
    if text is None:
        return None
    return int(text) if re.fullmatch(r"[+-]?\d{1,9}", text, re.ASCII) else Path(text)


def parse_label_columns(text: str | None) -> int | list[str] | None:
    """Read which columns of a table are labels: a number, or names between commas; a name with a comma is in quotes.

    Examples
    --------
    >>> parse_label_columns("-6"), parse_label_columns('sea,"sky, clear"'), parse_label_columns("is_*")
    (-6, ['sea', 'sky, clear'], ['is_*'])
    """
    number = parse_labels(text)
    if text is None or isinstance(number, int):
        return number if isinstance(number, int) else None
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]


def _reading(options: FileOptions) -> dict[str, Any]:
    return {"id_column": options.id_column, "header": options.header, "sep": options.sep, "tag_sep": options.tag_sep}


def _read_label_file(path: Path, options: FileOptions, show: Show) -> LabelTable:
    try:
        table = read_with_progress(show, path, labels=parse_label_columns(options.labels), **_reading(options))
        check_truth(table)
    except ValueError as error:
        is_a_feature = options.labels is None and ": expected " in str(error) and _has_labels_option(str(path))
        hint = " If it is no label, --labels says which columns are." if is_a_feature else ""
        raise ValueError(f"{error}{hint}") from error
    return table


def _read_features_too(path: Path, options: FileOptions, show: Show) -> Dataset:
    """Read a table of numbers, of which some columns are labels and all others features."""
    table = read_with_progress(show, path, **_reading(options))
    if table.labels is None:
        raise ValueError(f"{path} has no names of columns, so no columns to choose labels from.")
    chosen = choose_columns(path, table.labels, parse_label_columns(options.labels) or 0)
    is_label = np.isin(np.arange(len(table.labels)), chosen)
    if is_label.all():
        raise ValueError(f"--conditional needs features; all columns of {path} are labels.")
    names = np.array(table.labels, dtype=object)
    labels = replace(table, values=table.values[:, is_label], labels=tuple(names[is_label]))
    check_truth(labels)
    X, Y = as_dense(table.values[:, ~is_label]).astype(float), as_dense(labels.values).astype(np.uint8)
    return Dataset(X, Y, tuple(names[is_label]), label_stem(path), tuple(names[~is_label]))


# What is found and shown

MISSING, PARTNER = "-", "most dependent on"
# What stands above each column, which attribute of a description it shows, and how.
# The sizes are the five columns of the paper's Table 1, and the number of features.
SIZES = {
    "instances": ("n_instances", "d"),
    "features": ("n_features", "d"),
    "labels": ("n_labels", "d"),
    "ratio": ("ratio", ".4f"),
    "label sets": ("n_labelsets", "d"),
    "cardinality": ("cardinality", ".2f"),
}
MORE = {
    "density": ("density", ".3f"),
    "unlabelled": ("unlabelled", ".1%"),
    "mean IR": ("mean_imbalance", ".2f"),
    "max IR": ("max_imbalance", ".2f"),
    "CVIR": ("imbalance_variation", ".2f"),
    "mean V": ("mean_cramers_v", ".3f"),
    "max V": ("max_cramers_v", ".3f"),
}
NOTES = (
    "Ratio is labels to instances, label sets are the different ones, cardinality is the mean number of labels of an "
    "instance and density its share of all labels; unlabelled instances have none.",
    "IR is how many times rarer a label is than the most frequent one, CVIR its coefficient of variation. V is "
    "Cramér's V of pairs of labels, from 0 to 1.",
)
CONDITIONAL_NOTE = (
    "Gain is how much better a label is predicted if the true labels before it are known as well as the features, in "
    "bits of cross-validated log loss; of a data set, the sum over labels with its standard error. About 0 means no "
    "dependence given the features."
)


class Described(NamedTuple):
    """A data set and, where it was asked for, the dependence of its labels given the features."""

    description: Description
    conditional: ConditionalDependence | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        conditional = None if self.conditional is None else self.conditional.to_dict()
        return {**self.description.to_dict(), "conditional_dependence": conditional}


def _read_and_describe(argument: str, options: FileOptions, conditional: bool, show: Show) -> Described:
    source = _read_input(argument, options, conditional, show)
    n_labels = (source.Y if isinstance(source, Dataset) else source.values).shape[1]
    for path in _find_files([argument]):
        check_pairs(argument, n_labels, held=path.stat().st_size)
    show(0, 1, f"describing {argument}")
    if isinstance(source, LabelTable):
        names = source.labels or [str(number) for number in range(1, source.values.shape[1] + 1)]
        description = describe(source.values, name=label_stem(argument), label_names=names)
        return Described(replace(description, n_features=source.n_left_out) if options.labels else description)
    dependence = conditional_dependence(source, progress=show) if conditional else None
    return Described(describe(source), dependence)


def _make_csv_rows(described: Sequence[Described]) -> Iterator[list[Any]]:
    """One line for each data set; the header first."""
    yield ["name", *NUMBERS, "conditional_total", "conditional_standard_error"]
    for description, conditional in described:
        numbers = [getattr(description, number) for number in NUMBERS]
        gains = [None, None] if conditional is None else [conditional.total, conditional.standard_error]
        yield [printable(description.name), *numbers, *gains]


def _make_display(described: Described) -> Display:
    """Cramér's V of all pairs of labels."""
    from choral.displays import DependenceDisplay

    return DependenceDisplay.from_description(described.description)


def _print_descriptions(described: Sequence[Described]) -> None:
    """Print the sizes, a table of more numbers and, for a single data set, a table of its labels."""
    more = [[*row, *gain] for row, gain in zip(_make_rows(described, MORE), _make_gain_cells(described), strict=True)]
    grids = [_make_rows(described, SIZES), more, *map(_make_label_rows, described if len(described) == 1 else [])]
    for grid in grids:
        print_upright_or_sideways(partial(_make_table, grid))
        print_sentences([""])
    has_gains = any(one.conditional is not None for one in described)
    print_sentences([*NOTES, *([CONDITIONAL_NOTE] if has_gains else [])])


def _make_table(rows: Sequence[Sequence[str]], *, sideways: bool = False) -> Table:
    """Tabulate rows of cells, titles first; sideways, each row becomes a column."""
    rows = list(zip(*rows, strict=True)) if sideways else rows
    table = new_table()
    for index, title in enumerate(rows[0]):
        names = index == 0 or title == PARTNER
        table.add_column(Text(title), justify="left" if names else "right", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def _make_rows(described: Sequence[Described], columns: dict[str, tuple[str, str]]) -> list[list[str]]:
    """Titles, then a row for each data set."""
    rows = [["data set", *columns]]
    for description, _ in described:
        cells = [_format_number(getattr(description, attribute), form) for attribute, form in columns.values()]
        rows.append([printable(description.name), *cells])
    return rows


def _make_gain_cells(described: Sequence[Described]) -> list[list[str]]:
    """One more column, in which each row is empty if no data set has a gain."""
    if all(conditional is None for _, conditional in described):
        return [[]] * (len(described) + 1)
    return [["gain"], *([f"{c.total:.3f} ± {c.standard_error:.3f}"] for _, c in described if c is not None)]


def _make_label_rows(described: Described) -> list[list[str]]:
    """A row for each label: how frequent it is, and on which other label it depends most."""
    description, conditional = described
    gains = [] if conditional is None else [conditional.gains]
    rows = [["label", "instances", "share", "IR", PARTNER, "V", *(["gain"] if gains else [])]]
    names = [printable(name) for name in description.label_names]
    others = description.cramers_v - 2 * np.eye(len(names))  # below all others: a label is not its own partner
    for label, (name, count) in enumerate(zip(names, description.label_counts, strict=True)):
        partner = int(others[label].argmax())
        dependence = max(others[label, partner], 0)
        rows.append(
            [
                name,
                str(count),
                f"{count / description.n_instances:.1%}",
                _format_number(description.imbalance_ratios[label], ".2f"),
                names[partner] if dependence > 0 else MISSING,
                f"{dependence:.3f}",
                *(f"{of_label[label]:.3f}" for of_label in gains),
            ]
        )
    return rows


def _format_number(number: float | None, form: str) -> str:
    """A number for a table; a dash for one that is not known or not finite."""
    return MISSING if number is None or not np.isfinite(number) else format(number, form)
