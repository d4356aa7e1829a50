"""What a command shows: errors and warnings in one line, a progress bar, tables and sentences.

Results go to stdout, all else to stderr. No number of a table is ever left out, however narrow the terminal.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text
from typer.core import TyperGroup

import choral
from choral._text import printable
from choral.measures.families import describe_parameter as describe_parameter
from choral.measures.families import name_end as name_end

# in messages of the library: what it calls an argument, and which option that is here
OPTIONS_BY_ARGUMENT = {
    "header=True": "--header",
    "header=False": "--no-header",
    "the argument labels": "--labels",
    "loss must be": "--loss must be",
    "scores='logits'": "--logits",
    "say id_column=": "say --id ",
    "say sep=": "say --sep ",
    "say tag_sep=": "say --tag-sep ",
    "say threshold=": "say --threshold ",
}

Show = Callable[[int, int, str], None]  # done, of how many, with what
UsageError: Any = typer.BadParameter.__base__  # click's, be it a package of its own or a part of typer


class CommandGroup(TyperGroup):
    """Commands whose errors are one line on stderr; without a command, the help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args or ["--help"])

    def invoke(self, ctx: Any) -> Any:
        with errors_in_one_line():
            return super().invoke(ctx)

    def main(self, *args: Any, **options: Any) -> Any:
        try:  # not standalone: else typer draws a box of several lines around an error
            with standard_output():  # of the help, say: invoke() sees to the commands
                status = super().main(*args, **options | {"standalone_mode": False})
        except OSError as error:
            typer.echo(f"choral: error: {error}", err=True)
            status = 2
        except UsageError as error:
            message = " ".join(error.format_message().split())
            command = error.ctx.command_path if error.ctx else "choral"
            typer.echo(f"choral: error: {printable(message)} (see {command} --help)", err=True)
            status = 2
        sys.exit(status)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"choral {choral.__version__}")
        raise typer.Exit


def choose_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Judge multi-label predictions by how well labels are right together."""


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Print an error that a user can mend as one line, with status 2; Ctrl-C has status 130."""
    try:
        yield
    except BrokenPipeError:
        raise  # the reader of a pipe has seen enough: typer ends quietly
    except KeyboardInterrupt:
        typer.echo("choral: interrupted", err=True)
        raise typer.Exit(130) from None
    except MemoryError as error:
        typer.echo(f"choral: error: not enough memory. {printable(str(error))}".rstrip(), err=True)
        raise typer.Exit(2) from error
    except (ValueError, OSError, ModuleNotFoundError) as error:
        typer.echo(f"choral: error: {printable(name_options(str(error)))}", err=True)
        raise typer.Exit(2) from error


def name_options(message: str) -> str:
    """Put our options where the message of an error names arguments of the library's functions.

    Examples
    --------
    >>> name_options("The first line of a.csv may be a header or labels; say header=True or header=False.")
    'The first line of a.csv may be a header or labels; say --header or --no-header.'
    """
    for argument, option in OPTIONS_BY_ARGUMENT.items():
        message = message.replace(argument, option)
    return message


@contextmanager
def standard_output() -> Iterator[None]:
    """Say that it is standard output that could not be written: the error itself names no file."""
    try:
        yield
        print(end="", flush=True)  # unlike sys.stdout.flush(), content with a closed output
    except BrokenPipeError:
        raise
    except OSError as error:
        # what is left in the buffer would be tried again, and complained about by Python, at the very end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(f"standard output cannot be written: {error.strerror or error}.") from error


@contextmanager
def warnings_in_one_line() -> Iterator[None]:
    """Print the warnings for users after the work, each once; all those about glyphs of a font as one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    messages = [str(warning.message) for warning in caught]
    lacking = "the font of the plot lacks some characters of the names."
    for message in dict.fromkeys(lacking if text.startswith("Glyph ") else text for text in messages):
        typer.echo(f"warning: {printable(message)}", err=True)


@contextmanager
def progress_bar(*, time_left: bool = False) -> Iterator[Show]:
    """Show a bar on stderr while the work goes on, if that is a terminal; with the time left, for long work."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda done, total, what: None
        return
    description = TextColumn("{task.description}", markup=False)
    columns = [SpinnerColumn(), description, BarColumn(), TimeElapsedColumn()]
    if time_left:
        columns += [TextColumn("{task.completed}/{task.total}, left:"), TimeRemainingColumn()]
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None)

        def show(done: int, total: int, what: str) -> None:
            if total != bars.tasks[0].total:
                bars.reset(task, total=total)  # other work, of another speed
            bars.update(task, completed=done, description=printable(what))

        yield show


def new_console() -> Console:
    """Standard output, with nothing in colour that we did not colour."""
    return Console(highlight=False)


def new_table() -> Table:
    """A table without columns yet, in the style of all commands."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def table_width(table: Table) -> int:
    """How many characters wide a table is if none of its lines is broken."""
    return Console(width=10_000).measure(table).maximum


def print_table(table: Table) -> None:
    """Print a table in full width: in a narrow terminal rich would leave numbers out, the terminal breaks lines."""
    width = max(new_console().width, table_width(table))
    Console(highlight=False, width=width).print(table)


def print_upright_or_sideways(make_table: Callable[..., Table]) -> None:
    """Print a table, or ``make_table(sideways=True)`` if the terminal is too narrow and that table is narrower."""
    console, table = new_console(), make_table()
    if console.is_terminal and table_width(table) > console.width:
        table = min(table, make_table(sideways=True), key=table_width)
    print_table(table)


def print_sentences(sentences: Iterable[str]) -> None:
    """Print each sentence on a new line, with lines broken between words."""
    console = new_console()
    for sentence in sentences:
        console.print(Text(sentence))
