"""What ``choral evaluate`` leaves: a table with notes on the screen, a CSV file, a plot."""

import csv
import io
import math
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from choral._optional import require
from choral._outputs import replacing
from choral.cli.console import printable
from choral.evaluation import Evaluation

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


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the table of losses, then what to read from it."""
    table = make_table(evaluation)
    console = Console(highlight=False)
    if not console.is_terminal:  # whoever reads a pipe wants whole numbers, not a width
        needed = console.measure(table, options=console.options.update(max_width=10_000)).maximum
        console = Console(highlight=False, width=max(console.width, needed))
    console.print(table, "")
    for note in make_notes(evaluation):
        console.print(Text(printable(note)))


def make_table(evaluation: Evaluation) -> Table:
    """Tabulate losses by model, the best ones of each column marked, the baseline set apart."""
    summary = evaluation.summary()
    best = [min(summary.rows[name][i] for name in evaluation.models) for i in range(len(summary.columns))]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("model", overflow="fold")
    for column in summary.columns:
        table.add_column(column, justify="right", no_wrap=True, min_width=7)
    for name in evaluation.models:
        losses = zip(summary.rows[name], best, strict=True)
        cells = [_format_loss(loss, is_best=loss == least) for loss, least in losses]
        table.add_row(Text(printable(name)), *cells, end_section=name == evaluation.models[-1])
    baseline = [_format_loss(loss, is_best=False) for loss in summary.rows[evaluation.baseline]]
    table.add_row(Text(printable(evaluation.baseline)), *baseline, style="dim")
    return table


def _format_loss(loss: float, *, is_best: bool) -> Text:
    return Text(f"*{loss:.4f}", style="bold") if is_best else Text(f"{loss:.4f}")


def make_notes(evaluation: Evaluation) -> list[str]:
    """Say what was judged, which model is best at each end, and how sure that is."""
    hard = {evaluation.profiles[name].is_hard for name in evaluation.models}
    kind = "hard and soft" if len(hard) == 2 else "hard" if hard == {True} else "soft"
    notes = [
        f"{evaluation.n_rows} rows, {evaluation.n_labels} labels, {kind} predictions; "
        "lower is better, * marks the best model."
    ]
    summary = evaluation.summary()
    beaten = [
        column
        for i, column in enumerate(summary.columns)
        if summary.rows[evaluation.baseline][i] <= min(summary.rows[name][i] for name in evaluation.models)
    ]
    if beaten:
        notes.append(f"No model beats the baseline ({evaluation.baseline}) in: {', '.join(beaten)}.")
    if len(evaluation.models) > 1:
        ends = dict.fromkeys([0, len(evaluation.parameters) - 1])
        notes += [_describe_best(evaluation, end) for end in ends]
    return notes


def _describe_best(evaluation: Evaluation, index: int) -> str:
    """Name the best model at one parameter and those that the bootstrap cannot tell from it."""
    best = evaluation.best[index]
    sentence = f"Best at {_describe_parameter(evaluation, index)}: {best}"
    if evaluation.differences is None:
        return f"{sentence}."
    others = [name for name in evaluation.models if name != best]
    near = [name for name in others if evaluation.differences[name].lower[index] <= 0]
    if not near:
        return f"{sentence}; the difference to every other model exceeds the bootstrap noise."
    return f"{sentence}; within bootstrap noise of it: {', '.join(near)}."


def _describe_parameter(evaluation: Evaluation, index: int) -> str:
    value = evaluation.parameters[index]
    is_binomial = evaluation.family == "binomial"
    subset = evaluation.n_labels if is_binomial else math.inf
    end = " (Hamming)" if value == 1 else " (subset 0/1)" if value == subset else ""
    return f"{'k' if is_binomial else 'alpha'}={value:g}{end}"
