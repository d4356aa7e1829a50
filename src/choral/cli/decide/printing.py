"""What ``choral decide`` prints: a table or a list of predictions, then notes on it."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import fill
from typing import NamedTuple

import numpy as np
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from choral._text import counted, printable
from choral._validation import ROUNDING
from choral.cli.console import (
    describe_parameter,
    name_end,
    new_console,
    new_table,
    print_sentences,
    print_table,
    table_width,
)
from choral.cli.decide.decisions import Decisions, Mode
from choral.decisions import Change
from choral.measures.families import get_family

MAX_ROWS = 20  # of more parameters, neighbours with the same prediction share a row
MIN_ROOM, MAX_LINES = 12, 3  # for a prediction in a table: with less room or more lines, a list reads better
MAX_NAMES, MAX_CHANGES = 5, 5  # in a sentence
MAX_NAME_LENGTH = 30  # likewise
OPTIMAL, NOT_PROVEN = "*", "~"  # marks of a mode and of a prediction


class Row(NamedTuple):
    """What is printed of one parameter, or of several with the same prediction."""

    parameters: str
    prediction: str
    losses: tuple[str, ...]  # of the prediction, then of each mode in its column


def print_decisions(decisions: Decisions) -> None:
    """Print the predictions as a table, or as a list where they are too long for one; then what to read from it."""
    symbol = get_family(decisions.optimal.family).symbol
    prediction = "optimal prediction" if decisions.exact.all() else "best prediction found"
    rows, titles = _make_rows(decisions), [symbol, prediction, "risk", *_find_mode_columns(decisions)]
    widest = max(Text(row.prediction).cell_len for row in rows)
    room = new_console().width - table_width(_make_table(rows, titles, room=0))
    if room >= max(min(widest, MIN_ROOM), widest / MAX_LINES):
        print_table(_make_table(rows, titles, room=min(room, max(widest, len(prediction)))))
    else:
        _print_list(rows, titles)
    print_sentences(["", *_make_notes(decisions)])


def _make_table(rows: Sequence[Row], titles: Sequence[str], *, room: int) -> Table:
    """Tabulate parameters, predictions and losses; predictions wider than their room are broken into lines."""
    table = new_table()
    table.add_column(titles[0], no_wrap=True)
    table.add_column(titles[1], width=room, overflow="fold")
    for title in titles[2:]:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, (row.parameters, row.prediction, *row.losses)))
    return table


def _print_list(rows: Sequence[Row], titles: Sequence[str]) -> None:
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


# Rows of the table


def _make_rows(decisions: Decisions) -> list[Row]:
    """All parameters in order."""
    of_modes = list(_find_mode_columns(decisions).values())
    return [_make_row(decisions, of_modes, where) for where in _split_parameters(decisions)]


def _find_mode_columns(decisions: Decisions) -> dict[str, np.ndarray]:
    """Titles and losses of the modes; one that is optimal throughout would repeat the risks."""
    marginal, joint = decisions.modes.values()
    if np.array_equal(marginal.labels, joint.labels):
        columns = {"both modes": joint.curve.losses}
    else:
        columns = {f"{name} mode": mode.curve.losses for name, mode in decisions.modes.items()}
    return {name: losses for name, losses in columns.items() if not _is_optimal(decisions, losses).all()}


def _is_optimal(decisions: Decisions, losses: np.ndarray) -> np.ndarray:
    """For each parameter, whether a mode is as good as the prediction found, but for rounding."""
    return losses <= decisions.risks + ROUNDING


def _split_parameters(decisions: Decisions) -> list[slice]:
    """The parameters of each row; the ends of the family, which everybody knows, have rows of their own."""
    n_parameters = len(decisions.optimal.parameters)
    differs = (np.diff(decisions.predictions.astype(int), axis=0) != 0).any(axis=1) | np.diff(decisions.exact)
    if n_parameters <= MAX_ROWS:
        differs[:] = True
    family, n_labels = decisions.optimal.family, decisions.distribution.n_labels
    alone = np.array([name_end(family, parameter, n_labels) != "" for parameter in decisions.optimal.parameters])
    starts = np.flatnonzero(differs | alone[1:] | alone[:-1]) + 1
    return [slice(first, last) for first, last in pairwise([0, *starts.tolist(), n_parameters])]


def _make_row(decisions: Decisions, of_modes: list[np.ndarray], where: slice) -> Row:
    losses = [_format_losses(decisions.risks[where], "" if decisions.exact[where].all() else NOT_PROVEN)]
    for of_mode in of_modes:
        optimal = _is_optimal(decisions, of_mode)[where].all()
        losses.append(_format_losses(of_mode[where], OPTIMAL if optimal else ""))
    prediction = list_labels(decisions.names_in(decisions.predictions[where.start]))
    return Row(_format_parameters(decisions, where), prediction, tuple(losses))


def _format_parameters(decisions: Decisions, where: slice) -> str:
    parameters = decisions.optimal.parameters[where].tolist()
    if len(parameters) == 1:
        return describe_parameter(decisions.optimal.family, parameters[0], decisions.distribution.n_labels)
    return f"{parameters[0]:.15g}-{parameters[-1]:.15g}"


def _format_losses(losses: np.ndarray, mark: str) -> str:
    """One loss or, since the loss of a prediction rises along a family, the first and the last."""
    ends = dict.fromkeys(f"{loss:.4f}" for loss in losses[[0, -1]])
    return f"{mark}{'-'.join(ends)}"


# Notes


def _make_notes(decisions: Decisions) -> list[str]:
    """Say what was decided on, what the modes are, where the prediction changes, and what is not proven."""
    notes = [_describe_size(decisions), *_describe_modes(decisions), _describe_changes(decisions)]
    return notes if decisions.exact.all() else [*notes, _describe_doubt(decisions)]


def _describe_size(decisions: Decisions) -> str:
    n_labelsets, n_labels = decisions.distribution.n_labelsets, decisions.distribution.n_labels
    size = f"{counted(n_labelsets, 'label set')}, {counted(n_labels, 'label')}"
    if decisions.n_rows != n_labelsets:
        size = f"{counted(decisions.n_rows, 'row')}, {size}"
    marked = any(_is_optimal(decisions, losses).any() for losses in _find_mode_columns(decisions).values())
    mark = f", {OPTIMAL} marks a mode that is as good as the prediction" if marked else ""
    nameless = "" if decisions.labels else " Labels without names are counted from 1."
    return f"{size}; the risk is the expected loss{mark}.{nameless}"


def _describe_modes(decisions: Decisions) -> Iterator[str]:
    """What the modes are, in one sentence if they are the same."""
    marginal, joint = decisions.modes.values()
    names = ["Marginal mode (the labels more probable than not)", "joint mode (the most probable label set)"]
    if np.array_equal(marginal.labels, joint.labels):
        yield f"{' and '.join(names)}: {_describe_mode(decisions, joint)}."
    else:
        yield f"{names[0]}: {_describe_mode(decisions, marginal)}."
        yield f"{names[1].capitalize()}: {_describe_mode(decisions, joint)}."


def _describe_mode(decisions: Decisions, mode: Mode) -> str:
    labels = list_labels(decisions.names_in(mode.labels), MAX_NAMES)
    if not _is_optimal(decisions, mode.curve.losses).all():
        return labels
    verdict = "nothing is better for" if decisions.exact.all() else "nothing better was found for"
    return f"{labels}; {verdict} {_describe_parameters(decisions, 'any')}"


def _describe_changes(decisions: Decisions) -> str:
    changes = decisions.optimal.changes()
    if not changes:
        return _describe_no_change(decisions)
    shown = [_describe_change(decisions, change) for change in changes[:MAX_CHANGES]]
    left_out = len(changes) - len(shown)
    return f"The prediction changes at {', '.join(shown)}{f' and {left_out} times more' if left_out else ''}."


def _describe_no_change(decisions: Decisions) -> str:
    """That the prediction is the same, for the parameters that were asked for."""
    where = _describe_parameters(decisions)
    if decisions.optimal.parameters.size == 1:
        return f"The prediction is for {where} alone."
    return f"The prediction is the same for {where}."


def _describe_parameters(decisions: Decisions, every: str = "every") -> str:
    """All parameters of the family, or those that were asked for."""
    parameters, symbol = decisions.optimal.parameters, _get_symbol(decisions)
    whole = get_family(decisions.optimal.family).parameters(None, decisions.distribution.n_labels)
    if set(whole.tolist()) <= set(parameters.tolist()):
        return f"{every} {symbol}"
    if parameters.size == 1:
        return f"{symbol}={parameters[0]:.15g}"
    return f"{every} {symbol} in the table"


def _describe_change(decisions: Decisions, change: Change) -> str:
    """Where it is and, of predictions too long to compare at a glance, which labels come and go."""
    where = f"{_get_symbol(decisions)}={change.parameter:.15g}"
    if decisions.predictions.sum(axis=1).max() <= MAX_NAMES:
        return where
    moves = {"with": change.added, "without": change.removed}
    names = {word: [decisions.names[label] for label in labels] for word, labels in moves.items() if labels}
    return f"{where} (now {'; '.join(f'{word} {list_labels(names[word], MAX_NAMES)}' for word in names)})"


def _describe_doubt(decisions: Decisions) -> str:
    """How much better than the predictions found others may be."""
    gaps, symbol = decisions.risks - decisions.lower_bounds, _get_symbol(decisions)
    share = f"{np.count_nonzero(~decisions.exact)} of {counted(gaps.size, 'value')} of {symbol}"
    worst = f"{symbol}={decisions.optimal.parameters[gaps.argmax()]:.15g}"
    limit = f"the least risk is at most {gaps.max():.4f} lower (at {worst}; --json and --csv have all bounds)"
    return f"{NOT_PROVEN} marks what is not proven optimal, for {share}: {limit}."


def _get_symbol(decisions: Decisions) -> str:
    return get_family(decisions.optimal.family).symbol


def list_labels(names: Sequence[str], limit: int | None = None) -> str:
    r"""Names of labels in one line, ``none`` for none of them; what could be taken for something else is quoted.

    With a limit on their number, long names are shortened as well.

    Examples
    --------
    >>> print(list_labels(["sea", "sky, clear", "\x1b[31m"]))
    sea, 'sky, clear', \x1b[31m
    >>> list_labels([]), list_labels(["none"])
    ('none', "'none'")
    >>> list_labels(["sea", "sky", "sun"], limit=2)
    'sea, sky and 1 more'
    """
    if not names:
        return "none"
    shown = [_quote_if_needed(printable(name)) for name in names]
    if limit is not None:
        half = MAX_NAME_LENGTH // 2  # names often differ in their last letters
        shown = [name if len(name) <= MAX_NAME_LENGTH else f"{name[:half]}...{name[-half:]}" for name in shown[:limit]]
    left_out = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left_out} more" if left_out else "")


def _quote_if_needed(name: str) -> str:
    return f"'{name}'" if "," in name or name in ("none", "as before") else name
