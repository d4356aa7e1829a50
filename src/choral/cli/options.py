"""What the options of several commands are called, how their values are read, and what happens to files they name.

Values are read here rather than by typer, whose words for a wrong one change from version to version.
"""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Protocol

import typer

from choral._optional import require
from choral._outputs import check_output, csv_text, replacing
from choral._text import printable
from choral.cli.console import Show, name_options
from choral.label_files import LabelTable, check_separator, check_written_suffix, read_labels
from choral.measures.families import FAMILIES

MAX_SEED = 2**64 - 1
PLOT_SUFFIXES = (".png", ".svg", ".pdf")
PAGE_SUFFIXES = (".html", ".htm")

IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column that names the rows; by default id, if there is such a column."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of CSV and TSV files holds names; detected by default.",
        show_default=False,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--sep", metavar="CHAR", help="What separates the cells of CSV and TSV files, tab or ';' say; found by default."
    ),
]
TagSeparator = Annotated[
    str | None,
    typer.Option(
        "--tag-sep", metavar="CHAR", help="The only column of labels holds lists of tags, with CHAR between the tags."
    ),
]
Family = Annotated[
    str,
    typer.Option(metavar="NAME", help="Family of losses: binomial (default) or polynomial.", show_default=False),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(metavar="1,2,5", help="Values of k (binomial) or of alpha (polynomial), which may be inf."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of the table.")]
PlotPath = Annotated[str | None, typer.Option("--plot", metavar="OUT.png|svg|pdf", help="Draw the curves.")]

# Values


def parse_number(option: str, text: str) -> float:
    """Read a finite number.

    Examples
    --------
    >>> parse_number("--threshold", "0.5")
    0.5
    >>> parse_number("--threshold", "half")
    Traceback (most recent call last):
    ValueError: --threshold must be a number; got 'half'.
    """
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{option} must be a number; got {text!r}.") from None
    if not math.isfinite(number):
        raise ValueError(f"{option} must be a finite number; got {text!r}.")
    return number


def parse_separator(option: str, text: str | None) -> str | None:
    r"""Read what separates cells or tags; a tab is hard to type.

    Examples
    --------
    >>> parse_separator("--sep", "tab"), parse_separator("--sep", r"\t"), parse_separator("--sep", ";")
    ('\t', '\t', ';')
    >>> parse_separator("--sep", "; ")
    Traceback (most recent call last):
    ValueError: --sep must be one character, neither a quote nor the end of a line; got '; '.
    """
    return "\t" if text in ("tab", r"\t") else check_separator(option, text)


def parse_count(option: str, text: str, most: int) -> int:
    """Read a whole number from 0 to ``most``.

    Examples
    --------
    >>> parse_count("--bootstrap", "-1", most=1000)
    Traceback (most recent call last):
    ValueError: --bootstrap must be a whole number from 0 to 1000; got '-1'.
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise ValueError(f"{option} must be a whole number from 0 to {most}; got {text!r}.")
    return number


def parse_seed(text: str) -> int:
    """Read the seed of a random generator."""
    return parse_count("--seed", text, MAX_SEED)


def parse_parameters(texts: list[str] | None) -> list[float] | None:
    """Read numbers separated by commas, from an option that may be repeated or left out.

    Examples
    --------
    >>> parse_parameters(["1, 2.5", "inf"])
    [1, 2.5, inf]
    """
    if not texts:
        return None
    text = ",".join(texts)
    try:
        numbers = [float(cell) for cell in text.split(",")]
    except ValueError:
        raise ValueError(f"--parameters must be numbers separated by commas; got {text!r}.") from None
    return [int(number) if number.is_integer() else number for number in numbers]


def parse_family(text: str) -> str:
    """Read the name of a family of losses.

    Examples
    --------
    >>> parse_family("normal")
    Traceback (most recent call last):
    ValueError: --family must be binomial or polynomial; got 'normal'.
    """
    if text not in FAMILIES:
        raise ValueError(f"--family must be {' or '.join(FAMILIES)}; got {text!r}.")
    return text


def refuse_options(context: typer.Context, names: Iterable[str], reason: str) -> None:
    """Refuse options that say nothing here, if they are given; names are those of the function's parameters."""
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params}
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"{options[name]} {reason}.")


# Files


def read_with_progress(show: Show, path: Path, **options: Any) -> LabelTable:
    """Read a file of labels, show how far it is read, and say what was guessed."""
    what = f"reading {path.name}"
    show(0, 1, what)
    table = read_labels(path, progress=lambda done, total: show(done, total, what), **options)
    for note in table.notes:
        typer.echo(f"note: {printable(name_options(note))}", err=True)
    return table


def check_outputs(
    csv_path: str | None,
    plot_path: str | None,
    inputs: list[Path],
    *,
    page_path: str | None = None,
    labels_path: str | None = None,
    rule_path: str | None = None,
) -> None:
    """Check before the work what would stop the writing after it."""
    if labels_path is not None:
        check_written_suffix("--out", labels_path)
    if plot_path is not None:
        if Path(plot_path).suffix.lower() not in PLOT_SUFFIXES:
            expected = ", ".join(PLOT_SUFFIXES)
            raise ValueError(f"--plot must name a file that ends in {expected}; got {plot_path!r}.")
        require("matplotlib", "plot")
    if page_path is not None:
        check_page("--report", page_path)
    if csv_path == "":
        raise ValueError("--csv must name a file; got ''.")
    taken = {os.path.realpath(path) for path in inputs}
    for path in (csv_path, plot_path, page_path, labels_path, rule_path):
        if path is not None:
            target = str(check_output(path))
            if target in taken:
                raise ValueError(f"{path} is an input or named twice; an output needs a file of its own.")
            taken.add(target)


def check_page(option: str, path: str) -> None:
    """Refuse a file name that is not that of a page, and any page where Plotly is missing."""
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise ValueError(f"{option} must name a file that ends in .html; got {path!r}.")
    require("plotly", "report")


def write_csv(path: str, rows: Iterable[Iterable[Any]]) -> None:
    """Write rows of cells; a text that starts like a formula gets an apostrophe in front."""
    with replacing(path) as file:
        file.write(csv_text(rows).encode())


class Display(Protocol):
    """One of `choral.displays`."""

    figure_: Any

    def plot(self) -> Any:
        """Draw it on new axes, and return itself."""


def write_plot(path: str, display: Display) -> None:
    """Draw a display on axes of its own."""
    require("matplotlib", "plot").use("Agg")  # a file needs no window
    figure = display.plot().figure_
    with replacing(path) as file:
        figure.savefig(file, format=Path(path).suffix[1:].lower(), dpi=200)
    require("matplotlib.pyplot", "plot").close(figure)  # pyplot would keep it for ever
