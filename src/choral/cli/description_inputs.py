"""The data sets that the arguments of ``choral describe`` mean: names, ARFF files, or files of labels alone."""

import re
from pathlib import Path
from typing import NamedTuple

from choral import datasets
from choral.cli.console import Show
from choral.cli.files import read_with_progress
from choral.datasets import Dataset, is_arff
from choral.label_files import LabelTable, check_truth
from choral.label_files.reading import READERS

EMBEDDED = "digits-segments"


class Options(NamedTuple):
    """How to read files."""

    labels: str | None = None  # of an ARFF file: which attributes
    id_column: str | None = None  # of a label file, as is the next
    header: bool | None = None


def is_label_file(argument: str) -> bool:
    """Whether an argument is the name of a file of labels alone."""
    return Path(argument).suffix.lower() in READERS


def files_among(arguments: list[str]) -> list[Path]:
    """The arguments that are files, which no output may replace."""
    return [Path(argument) for argument in arguments if is_arff(argument) or is_label_file(argument)]


def check_arguments(arguments: list[str], options: Options) -> None:
    """Refuse what is neither a file nor a name, and options for files that are not there, before anything is read."""
    names = (EMBEDDED, *datasets.NAMES)
    for argument in arguments:
        if not (is_arff(argument) or is_label_file(argument) or argument in names):
            suffixes = ", ".join([".arff", *READERS])
            raise ValueError(
                f"Expected the name of a data set ({', '.join(names)}) or a file that ends in {suffixes}; "
                f"got {argument!r}."
            )
    for option, value, is_meant, kind in (
        ("--labels", options.labels, is_arff, "an ARFF file"),
        ("--id", options.id_column, is_label_file, "a file of labels"),
        ("--header/--no-header", options.header, is_label_file, "a file of labels"),
    ):
        if value is not None and not any(map(is_meant, arguments)):
            raise ValueError(f"{option} is for {kind}; got none.")


def read_input(argument: str, options: Options, show: Show) -> Dataset | LabelTable:
    """Read or load what passed `check_arguments`."""
    if is_label_file(argument):
        return _read_label_file(Path(argument), options, show)
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


def _read_label_file(path: Path, options: Options, show: Show) -> LabelTable:
    table = read_with_progress(show, path, id_column=options.id_column or "id", header=options.header)
    if options.id_column is not None and table.ids is None:
        raise ValueError(f"{path} has no column {options.id_column!r} for the ids.")
    check_truth(table)
    return table
