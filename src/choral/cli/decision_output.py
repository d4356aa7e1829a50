"""What ``choral decide`` leaves: a table with notes on the screen, rows of a CSV file, a plot."""

from collections.abc import Iterator, Sequence
from textwrap import fill
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from choral._text import printable
from choral.cli.decision_notes import make_notes
from choral.cli.decision_results import Decisions
from choral.cli.decision_rows import Row, make_rows, mode_columns
from choral.cli.tables import new_console, new_table, print_sentences, print_table, table_width
from choral.label_files import LabelTable
from choral.label_files.wording import quoted
from choral.measures.families import get_family

LEAST_ROOM, MOST_LINES = 12, 3  # for a prediction in a table: below and beyond, a list reads better
CSV_COLUMNS = ("family", "parameter", "risk", "lower_bound", "exact", "marginal_mode", "joint_mode")


def check_label_names(table: LabelTable) -> None:
    """Refuse labels that would be taken for other columns of the CSV file."""
    for name in table.labels or ():
        if name in CSV_COLUMNS:
            hint = "rename the label, or say --json"
            raise ValueError(f"{table.source}: the label {quoted(name)} is another column of --csv; {hint}.")


def csv_rows(decisions: Decisions) -> Iterator[list[Any]]:
    """One line a parameter, with a column for each label of the prediction; the header first."""
    yield [*CSV_COLUMNS, *map(printable, decisions.names)]
    numbers = [decisions.optimal.parameters, decisions.risks, decisions.lower_bounds, decisions.exact]
    losses = [mode.curve.losses for mode in decisions.modes.values()]
    for labels, *cells in zip(decisions.predictions, *numbers, *losses, strict=True):
        yield [decisions.optimal.family, *(str(cell).lower() for cell in cells), *labels]


def make_display(decisions: Decisions) -> Any:
    """The least risk and the modes, to be drawn on one pair of axes."""
    from choral.displays import DecisionDisplay

    return DecisionDisplay(decisions.optimal, [mode.curve for mode in decisions.modes.values()])


def print_decisions(decisions: Decisions) -> None:
    """Print the predictions as a table, or as a list where they are too long for one; then what to read from it."""
    symbol = get_family(decisions.optimal.family).symbol
    prediction = "optimal prediction" if decisions.exact.all() else "best prediction found"
    rows, titles = make_rows(decisions), [symbol, prediction, "risk", *mode_columns(decisions)]
    widest = max(Text(row.prediction).cell_len for row in rows)
    room = new_console().width - table_width(make_table(rows, titles, room=0))
    if room >= max(min(widest, LEAST_ROOM), widest / MOST_LINES):
        print_table(make_table(rows, titles, room=min(room, max(widest, len(prediction)))))
    else:
        print_list(rows, titles)
    print_sentences(["", *make_notes(decisions)])


def make_table(rows: Sequence[Row], titles: Sequence[str], *, room: int) -> Table:
    """Tabulate parameters, predictions and losses; predictions wider than their room are broken into lines."""
    table = new_table()
    table.add_column(titles[0], no_wrap=True)
    table.add_column(titles[1], width=room, overflow="fold")
    for title in titles[2:]:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, (row.parameters, row.prediction, *row.losses)))
    return table


def print_list(rows: Sequence[Row], titles: Sequence[str]) -> None:
    """Print parameter and losses of each row, and below them the prediction if it is another one."""
    console, symbol, before = new_console(), titles[0], ""
    for row in rows:
        losses = ", ".join(f"{title} {loss}" for title, loss in zip(titles[2:], row.losses, strict=True))
        prediction = "as before" if row.prediction == before else row.prediction
        console.print(
            fill(f"{symbol}={row.parameters}: {losses}", console.width, subsequent_indent=" " * 6), markup=False
        )
        console.print(Padding(Text(prediction), (0, 0, 0, 4), expand=False))
        before = row.prediction
