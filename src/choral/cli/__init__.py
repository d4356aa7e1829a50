"""The command line: parses, calls one public function, prints.

Results go to stdout, all else to stderr. Names that come from files are never taken for markup, and their
control characters are shown, not obeyed.
"""

from typing import Annotated

import typer

import choral
from choral.cli.console import CommandGroup
from choral.cli.decide import EPILOG as DECIDE_EPILOG
from choral.cli.decide import decide_file
from choral.cli.describe import EPILOG as DESCRIBE_EPILOG
from choral.cli.describe import describe_datasets
from choral.cli.evaluate import EPILOG as EVALUATE_EPILOG
from choral.cli.evaluate import evaluate_files
from choral.cli.report import report_study
from choral.cli.study import EPILOG as STUDY_EPILOG
from choral.cli.study import run_plan

__all__ = ["app"]

app = typer.Typer(cls=CommandGroup, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
app.command("evaluate", epilog=EVALUATE_EPILOG, short_help="Compare predictions with the truth.")(evaluate_files)
app.command("decide", epilog=DECIDE_EPILOG, short_help="Find the prediction with the least expected loss.")(decide_file)
app.command("describe", epilog=DESCRIBE_EPILOG, short_help="Describe data sets.")(describe_datasets)
app.command("study", epilog=STUDY_EPILOG, short_help="Compare learners on data sets.")(run_plan)
app.command("report", short_help="Write the page of a study.")(report_study)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"choral {choral.__version__}")
        raise typer.Exit


@app.callback()
def choose_command(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Judge multi-label predictions by how well labels are right together."""
