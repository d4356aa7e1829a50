"""``choral report``: the page of a study, written anew."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choral._outputs import check_output, path_inside
from choral._text import counted
from choral.cli.console import progress_bar, standard_output
from choral.cli.options import check_page

if TYPE_CHECKING:  # else every command would wait a second for scikit-learn
    from choral.study import Results

PAGE = "report.html"


def report_study(
    folder: Annotated[Path, typer.Argument(metavar="DIR", hidden=True)],
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE.html", help="Where to write it; report.html in DIR by default.", show_default=False),
    ] = None,
) -> None:
    """Write the page of a study: one file that works offline.

    DIR is the folder of a study, finished or not: what choral study wrote to.
    """
    from choral.study import Results

    path = Path(out) if out is not None else folder / PAGE
    check_page("--out", str(path))
    results = Results(folder)
    check_output(path if out is not None else path_inside(folder, PAGE))
    with progress_bar() as show:
        show(0, 1, "writing the page")
        write_report(results, path)
    with standard_output():
        if missing := len(results.failures()):
            typer.echo(f"{counted(missing, 'cell')} of {results.n_cells} failed or have not run yet.")
        typer.echo(f"Open {path} in a browser.")


def write_report(results: "Results", path: Path) -> None:
    """Write the page of a study."""
    from choral.report import write_page
    from choral.study.page import study_contents

    write_page(study_contents(results), path)
