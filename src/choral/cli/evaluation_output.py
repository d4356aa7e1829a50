"""What ``choral evaluate`` leaves: a table with notes on the screen, rows of a CSV file, a plot."""

from collections.abc import Iterator
from typing import Any

from rich.table import Table
from rich.text import Text

from choral.cli.evaluation_notes import make_notes
from choral.cli.tables import new_console, new_table, print_sentences, print_table, table_width
from choral.evaluation import Evaluation
from choral.measures.base import ROUNDING


def csv_rows(evaluation: Evaluation) -> Iterator[list[Any]]:
    """One line per curve and parameter, with the interval of the difference to the best; the header first."""
    yield ["model", "family", "parameter", "loss", "difference", "lower", "upper"]
    for name, curve in evaluation.curves.items():
        columns = [curve.parameters, curve.losses]
        if evaluation.differences is not None and name in evaluation.differences:
            difference = evaluation.differences[name]
            columns += [difference.estimate, difference.lower, difference.upper]
        for numbers in zip(*columns, strict=True):
            missing = [""] * (5 - len(numbers))
            yield [name, evaluation.family, *map(str, numbers), *missing]


def make_display(evaluation: Evaluation) -> Any:
    """All curves, to be drawn on one pair of axes."""
    from choral.displays import LossCurveDisplay

    return LossCurveDisplay.from_curves(evaluation.curves, baseline=evaluation.baseline)


def print_evaluation(evaluation: Evaluation, n_bootstrap: int) -> None:
    """Print the table of losses, then what to read from it."""
    console = new_console()
    table = make_table(evaluation)
    if console.is_terminal and table_width(table) > console.width:
        table = min(table, make_table(evaluation, row_per_loss=True), key=table_width)
    print_table(table)
    print_sentences(["", *make_notes(evaluation, n_bootstrap)])


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
    table = new_table()
    for index, cell in enumerate(grid[0]):
        table.add_column(cell, justify="right" if index else "left", no_wrap=True, min_width=7)
    for index, cells in enumerate(grid[1:], start=1):
        table.add_row(*cells, end_section=not row_per_loss and index == len(evaluation.models))
    return table
