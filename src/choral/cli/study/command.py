"""Options of ``choral study``, and the files that it writes."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choral._optional import require
from choral._outputs import path_inside, refuse_link
from choral._text import printable
from choral.cli.console import Show, progress_bar, standard_output, warnings_in_one_line
from choral.cli.options import parse_number
from choral.cli.report import PAGE, write_report

if TYPE_CHECKING:  # else every command would wait a second for scikit-learn
    from choral.study import Plan, Results

TABLES, FIGURES = "tables", "figures"
EPILOG = """
A study that was stopped goes on where it was; cells that failed are tried again. DIR then holds tables/ (CSV files),
figures/ (PNG and SVG), report.html, log.txt and the predictions of every cell. The exit status is 1 if cells failed.

The data sets of the paper are looked for in the folder that CHORAL_DATA names, else in the user's data folder, and
downloaded if they are not there.
"""


def run_plan(
    plan: Annotated[str, typer.Argument(metavar="PLAN", hidden=True)] = "quick",
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Folder for all results; study-PLAN by default.", show_default=False),
    ] = None,
    n_jobs: Annotated[
        str,
        typer.Option(
            metavar="N", help="How many cells run at a time; one for each core by default.", show_default=False
        ),
    ] = "-1",
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run the cells on the Dask cluster with this scheduler.")
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Stop a cell that takes longer; by default as the plan says.")
    ] = None,
    figures: Annotated[
        bool, typer.Option("--figures/--no-figures", help="Draw all figures; the default.", show_default=False)
    ] = True,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write the page; the default.", show_default=False)
    ] = True,
) -> None:
    """Run a study: learners on data sets by paired cross-validation, compared from Hamming to subset 0/1 loss.

    PLAN is quick (embedded data, under two minutes; the default), paper (the nine data sets and learners of the paper),
    published (the same with the quirks of the published protocol, compared with its figures), sweeps (settings that the
    paper varied), soft (paper with scores instead of labels), tailored (learners made for these losses, each beside the
    best of all others; needs choral[boomer]), any-model (four common models, each cut at 0.5, with thresholds and
    decided jointly) or a TOML file.
    """
    from choral.cli.study.printing import print_study
    from choral.study.clusters import dask_cluster
    from choral.study.running import hold_study

    what = _read_plan(plan, time_limit)
    folder = Path(out or f"study-{Path(plan).stem}")
    for name in (TABLES, FIGURES):
        refuse_link(folder / name)
    with warnings_in_one_line(), progress_bar(time_left=True) as show, ExitStack() as until_written:
        with dask_cluster(dask) if dask else nullcontext(), _interruptible(folder):
            study = hold_study(what, folder, n_jobs=_parse_jobs(n_jobs), progress=show)
            results = until_written.enter_context(study)  # no other study may write into the folder before that
        written = _write_outputs(results, folder, show, figures=figures, report=report, n_jobs=_parse_jobs(n_jobs))
    with standard_output():
        print_study(results, written)
    if results.failures():
        raise typer.Exit(1)


def _read_plan(plan: str, time_limit: str | None) -> "Plan":
    from choral.paper import read_plan

    what = read_plan(plan)
    return what if time_limit is None else replace(what, time_limit=parse_number("--time-limit", time_limit))


def _parse_jobs(text: str) -> int:
    if text.lstrip("-").isdigit() and int(text) != 0:
        return int(text)
    raise ValueError(f"--n-jobs must be a whole number, not 0; -1 is one for each core; got {text!r}.")


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Say after Ctrl-C that nothing is lost."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"choral: finished cells are kept in {printable(str(folder))}; the same command goes on.", err=True)
        raise


def _write_outputs(
    results: "Results", folder: Path, show: Show, *, figures: bool, report: bool, n_jobs: int
) -> list[Path]:
    """Write tables, figures and page. Where an extra is missing, say so and go on: the cells are done."""
    tables = path_inside(folder, TABLES)
    tables.mkdir(exist_ok=True)
    show(0, 1, "writing tables")
    for name, table in results.tables().items():
        table.to_csv(path_inside(folder, f"{TABLES}/{name}.csv"))
    written = [tables]
    if report and _has("plotly", "report", "the page"):
        show(0, 1, "writing the page")
        page = path_inside(folder, PAGE)
        write_report(results, page)
        written.append(page)
    if figures and _has("matplotlib", "plot", "figures"):
        from choral.study import write_figures

        figures_folder = path_inside(folder, FIGURES)
        write_figures(results, figures_folder, n_jobs=n_jobs, progress=show)
        written.append(figures_folder)
    return written


def _has(module: str, extra: str, what: str) -> bool:
    try:
        require(module, extra)
    except ModuleNotFoundError as error:
        typer.echo(f"note: without {what}: {error}.", err=True)
        return False
    return True
