"""What ``choral describe`` leaves: tables with notes on the screen, rows of a CSV file, a plot."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table
from rich.text import Text

from choral._text import printable
from choral.cli.tables import new_console, new_table, print_sentences, print_table, table_width
from choral.stats import ConditionalDependence, Description
from choral.stats.describe import NUMBERS

MISSING, PARTNER = "-", "most dependent on"
# What stands above each column, which attribute of a description it shows, and how.
TABLE_1 = {
    "instances": ("n_instances", "d"),
    "features": ("n_features", "d"),
    "labels": ("n_labels", "d"),
    "ratio": ("ratio", ".4f"),
    "label sets": ("n_labelsets", "d"),
    "cardinality": ("cardinality", ".2f"),
}
MORE = {
    "density": ("density", ".3f"),
    "unlabelled": ("unlabelled", ".1%"),
    "mean IR": ("mean_imbalance", ".2f"),
    "max IR": ("max_imbalance", ".2f"),
    "CVIR": ("imbalance_variation", ".2f"),
    "mean V": ("mean_cramers_v", ".3f"),
    "max V": ("max_cramers_v", ".3f"),
}
NOTES = (
    "Ratio is labels to instances, label sets are the different ones, cardinality is the mean number of labels of an "
    "instance and density its share of all labels; unlabelled instances have none.",
    "IR is how many times rarer a label is than the most frequent one, CVIR its coefficient of variation. V is "
    "Cramér's V of pairs of labels, from 0 to 1.",
)
CONDITIONAL_NOTE = (
    "Gain is what the true labels before a label tell of it beyond the features, in bits of cross-validated log loss; "
    "of a data set, the sum over labels with its standard error. About 0 means no dependence given the features."
)


class Described(NamedTuple):
    """A data set and, where it was asked for, the dependence of its labels given the features."""

    description: Description
    conditional: ConditionalDependence | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        conditional = None if self.conditional is None else self.conditional.to_dict()
        return {**self.description.to_dict(), "conditional_dependence": conditional}


def csv_rows(described: Sequence[Described]) -> Iterator[list[Any]]:
    """One line a data set; the header first."""
    yield ["name", *NUMBERS, "conditional_total", "conditional_standard_error"]
    for description, conditional in described:
        numbers = [getattr(description, number) for number in NUMBERS]
        gains = [None, None] if conditional is None else [conditional.total, conditional.standard_error]
        yield [printable(description.name), *("" if number is None else str(number) for number in [*numbers, *gains])]


def make_display(described: Described) -> Any:
    """Cramér's V of all pairs of labels."""
    from choral.displays import DependenceDisplay

    return DependenceDisplay.from_description(described.description)


def print_descriptions(described: Sequence[Described]) -> None:
    """Print Table 1, what else a number says of a data set and, of a single one, a table of its labels."""
    more = [[*row, *gain] for row, gain in zip(_rows(described, MORE), _gains(described), strict=True)]
    grids = [_rows(described, TABLE_1), more, *map(label_rows, described if len(described) == 1 else [])]
    for grid in grids:
        print_grid(grid)
        print_sentences([""])
    has_gains = any(one.conditional is not None for one in described)
    print_sentences([*NOTES, *([CONDITIONAL_NOTE] if has_gains else [])])


def print_grid(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of cells, the first of them above the others; sideways where the terminal is too narrow."""
    console, table = new_console(), make_table(rows)
    if console.is_terminal and table_width(table) > console.width:
        table = min(table, make_table(list(zip(*rows, strict=True))), key=table_width)
    print_table(table)


def make_table(rows: Sequence[Sequence[str]]) -> Table:
    """Tabulate rows of cells: numbers to the right, names to the left."""
    table = new_table()
    for index, title in enumerate(rows[0]):
        names = index == 0 or title == PARTNER
        table.add_column(Text(title), justify="left" if names else "right", no_wrap=True)
    for row in rows[1:]:
        table.add_row(*map(Text, row))
    return table


def _rows(described: Sequence[Described], columns: dict[str, tuple[str, str]]) -> list[list[str]]:
    """A row for each data set below one of titles."""
    rows = [["data set", *columns]]
    for description, _ in described:
        cells = [_shown(getattr(description, attribute), form) for attribute, form in columns.values()]
        rows.append([printable(description.name), *cells])
    return rows


def _gains(described: Sequence[Described]) -> list[list[str]]:
    """One more column if there is anything to show in it."""
    if all(conditional is None for _, conditional in described):
        return [[]] * (len(described) + 1)
    return [["gain"], *([f"{c.total:.3f} ± {c.standard_error:.3f}"] for _, c in described if c is not None)]


def label_rows(described: Described) -> list[list[str]]:
    """A row for each label: how frequent it is, and with which other label it goes most."""
    description, conditional = described
    gains = [] if conditional is None else [conditional.gains]
    rows = [["label", "instances", "share", "IR", PARTNER, "V", *(["gain"] if gains else [])]]
    names = [printable(name) for name in description.label_names]
    others = description.cramers_v - 2 * np.eye(len(names))  # below all others: a label is not its own partner
    for label, (name, count) in enumerate(zip(names, description.label_counts, strict=True)):
        partner = int(others[label].argmax())
        dependence = max(others[label, partner], 0)
        rows.append(
            [
                name,
                str(count),
                f"{count / description.n_instances:.1%}",
                _shown(description.imbalance_ratios[label], ".2f"),
                names[partner] if dependence > 0 else MISSING,
                f"{dependence:.3f}",
                *(f"{of_label[label]:.3f}" for of_label in gains),
            ]
        )
    return rows


def _shown(number: float | None, form: str) -> str:
    """A number for a table; a dash for one that is not known or not finite."""
    return MISSING if number is None or not np.isfinite(number) else format(number, form)
