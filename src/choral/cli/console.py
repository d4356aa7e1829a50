"""What every command shares: errors and warnings in one line, text that is safe to print, and a progress bar."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from typer.core import TyperGroup

from choral._text import printable

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


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """What a user can mend is one line and status 2; Ctrl-C is status 130."""
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
        typer.echo(f"choral: error: {printable(str(error))}", err=True)
        raise typer.Exit(2) from error


@contextmanager
def standard_output() -> Iterator[None]:
    """Say what could not be written; the name of a file is nowhere in the error."""
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
    """Print the warnings for users after the work, each once; the many about glyphs of a font as one."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield
    messages = [str(warning.message) for warning in caught]
    lacking = "the font of the plot lacks some characters of the names."
    for message in dict.fromkeys(lacking if text.startswith("Glyph ") else text for text in messages):
        typer.echo(f"warning: {printable(message)}", err=True)


@contextmanager
def progress_bar(*, time_left: bool = False) -> Iterator[Show]:
    """A bar on stderr that leaves no trace, and only where somebody can see it; with the time left for long work."""
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
