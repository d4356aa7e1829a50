"""What ``choral evaluate`` leaves: a table with notes on the screen, a CSV file, a plot."""

import csv
import io
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from choral._optional import require
from choral._outputs import replacing
from choral.cli.evaluation_notes import make_notes
from choral.evaluation import Evaluation
from choral.measures.base import ROUNDING

PLOT_SUFFIXES = (".png", ".svg", ".pdf")


def write_csv(evaluation: Evaluation, path: Path) -> None:
    """Write one line per curve and parameter, with the interval of the difference to the best."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["model", "family", "parameter", "loss", "difference", "lower", "upper"])
    for name, curve in evaluation.curves.items():
        columns = [curve.parameters, curve.losses]
        if evaluation.differences is not None and name in evaluation.differences:
            difference = evaluation.differences[name]
            columns += [difference.estimate, difference.lower, difference.upper]
        for numbers in zip(*columns, strict=True):
            missing = [""] * (5 - len(numbers))
            writer.writerow([name, evaluation.family, *map(str, numbers), *missing])
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def write_plot(evaluation: Evaluation, path: Path) -> None:
    """Draw all curves on one pair of axes."""
    require("matplotlib", "plot").use("Agg")  # a file needs no window
    from choral.displays import LossCurveDisplay

    display = LossCurveDisplay.from_curves(evaluation.curves, baseline=evaluation.baseline)
    figure: Any = display.plot().figure_
    with replacing(path) as file:
        figure.savefig(file, format=path.suffix[1:].lower(), dpi=200)
    require("matplotlib.pyplot", "plot").close(figure)  # pyplot would keep it for ever


def print_evaluation(evaluation: Evaluation, n_bootstrap: int) -> None:
    """Print the table of losses, then what to read from it."""
    console = Console(highlight=False)
    table = make_table(evaluation)
    if console.is_terminal and _width(table) > console.width:
        table = min(table, make_table(evaluation, row_per_loss=True), key=_width)
    # a table is never narrower than its numbers: rich would leave some out, a terminal just breaks the lines
    Console(highlight=False, width=max(console.width, _width(table))).print(table, "")
    for note in make_notes(evaluation, n_bootstrap):
        console.print(Text(note))


def _width(table: Table) -> int:
    console = Console(width=10_000)
    return console.measure(table).maximum


def make_table(evaluation: Evaluation, *, row_per_loss: bool = False) -> Table:
    """Tabulate losses by model, the best ones marked, the baseline last; a row for each model or for each loss."""
    summary = evaluation.summary()
    least = [min(summary.rows[name][i] for name in evaluation.models) for i in range(len(summary.columns))]
    rows = []
    for name in [*evaluation.models, evaluation.baseline]:
        style = "dim" if name == evaluation.baseline else ""
        losses = [
            Text(f"*{loss:.4f}", style="bold")
            if name in evaluation.models and loss <= best + ROUNDING
            else Text(f"{loss:.4f}", style=style)
            for loss, best in zip(summary.rows[name], least, strict=True)
        ]
        rows.append([Text(name, style=style), *losses])
    grid = [[Text("model"), *map(Text, summary.columns)], *rows]
    if row_per_loss:
        grid = [list(column) for column in zip(*grid, strict=True)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for index, cell in enumerate(grid[0]):
        table.add_column(cell, justify="right" if index else "left", no_wrap=True, min_width=7)
    for index, cells in enumerate(grid[1:], start=1):
        table.add_row(*cells, end_section=not row_per_loss and index == len(evaluation.models))
    return table
