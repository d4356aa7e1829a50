"""Tables and sentences on standard output: no number is ever left out, however narrow the terminal."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def new_console() -> Console:
    """Standard output, with nothing in colour that we did not colour."""
    return Console(highlight=False)


def new_table() -> Table:
    """A table without columns yet, in the style of all commands."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)


def table_width(table: Table) -> int:
    """How many columns of a terminal a table takes if none of its lines is broken."""
    return Console(width=10_000).measure(table).maximum


def print_table(table: Table) -> None:
    """Print a table, never narrower than its numbers: rich would leave some out, a terminal just breaks the lines."""
    width = max(new_console().width, table_width(table))
    Console(highlight=False, width=width).print(table)


def print_sentences(sentences: Iterable[str]) -> None:
    """Print each on lines of its own, broken between words."""
    console = new_console()
    for sentence in sentences:
        console.print(Text(sentence))
