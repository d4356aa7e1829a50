"""The command line: a file or a folder for each command, which parses, calls public functions and prints.

Commands share `console` (what they show) and `options` (what they are told). Names that come from files are never
taken for markup, and their control characters are shown, not obeyed. Messages of the library name arguments of its
functions; where the command line has another name for one, `console` puts it in.
"""

from choral._optional import require

for package in ("typer", "rich"):
    require(package, "cli")

import typer  # noqa: E402

from choral.cli import decide, describe, evaluate, report, study, tune  # noqa: E402
from choral.cli.console import CommandGroup, choose_command  # noqa: E402

__all__ = ["app"]

app = typer.Typer(
    cls=CommandGroup,
    callback=choose_command,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for name, function, epilog, short_help in (
    ("evaluate", evaluate.evaluate_files, evaluate.EPILOG, "Compare predictions with the truth."),
    ("decide", decide.decide_files, decide.EPILOG, "Find the prediction with the least expected loss."),
    ("tune", tune.tune_files, tune.EPILOG, "Make better labels of the scores of any model."),
    ("describe", describe.describe_datasets, describe.EPILOG, "Describe data sets."),
    ("study", study.run_plan, study.EPILOG, "Compare learners on data sets."),
    ("report", report.report_study, None, "Write the page of a study."),
):
    app.command(name, epilog=epilog, short_help=short_help)(function)
