"""What to read from the table of ``choral decide``."""

from collections.abc import Iterator

import numpy as np

from choral.cli.decision_results import Decisions, Mode
from choral.cli.decision_rows import NOT_PROVEN, OPTIMAL, is_optimal, mode_columns
from choral.cli.wording import list_labels
from choral.decisions import Change
from choral.label_files.wording import counted
from choral.measures.families import get_family

MOST_NAMES, MOST_CHANGES = 5, 5


def make_notes(decisions: Decisions) -> list[str]:
    """Say what was decided on, what the modes are, where the prediction changes, and what is not proven."""
    notes = [_describe_size(decisions), *_describe_modes(decisions), _describe_changes(decisions)]
    return notes if decisions.exact.all() else [*notes, _describe_doubt(decisions)]


def _describe_size(decisions: Decisions) -> str:
    n_labelsets, n_labels = decisions.distribution.n_labelsets, decisions.distribution.n_labels
    size = f"{counted(n_labelsets, 'label set')}, {counted(n_labels, 'label')}"
    if decisions.n_rows != n_labelsets:
        size = f"{counted(decisions.n_rows, 'row')}, {size}"
    marked = any(is_optimal(decisions, losses).any() for losses in mode_columns(decisions).values())
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
    labels = list_labels(decisions.names_in(mode.labels), MOST_NAMES)
    if not is_optimal(decisions, mode.curve.losses).all():
        return labels
    verdict = "nothing is better for any" if decisions.exact.all() else "nothing better was found for any"
    return f"{labels}; {verdict} {_symbol(decisions)}"


def _describe_changes(decisions: Decisions) -> str:
    changes = decisions.optimal.changes()
    if not changes:
        return f"The prediction is the same for every {_symbol(decisions)}."
    shown = [_describe_change(decisions, change) for change in changes[:MOST_CHANGES]]
    left_out = len(changes) - len(shown)
    return f"The prediction changes at {', '.join(shown)}{f' and {left_out} times more' if left_out else ''}."


def _describe_change(decisions: Decisions, change: Change) -> str:
    """Where it is and, of predictions too long to compare at a glance, which labels come and go."""
    where = f"{_symbol(decisions)}={change.parameter:.15g}"
    if decisions.predictions.sum(axis=1).max() <= MOST_NAMES:
        return where
    moves = {"with": change.added, "without": change.removed}
    names = {word: [decisions.names[label] for label in labels] for word, labels in moves.items() if labels}
    return f"{where} (now {'; '.join(f'{word} {list_labels(names[word], MOST_NAMES)}' for word in names)})"


def _describe_doubt(decisions: Decisions) -> str:
    """How much better than the predictions found others may be."""
    gaps, symbol = decisions.risks - decisions.lower_bounds, _symbol(decisions)
    share = f"{np.count_nonzero(~decisions.exact)} of {counted(gaps.size, 'value')} of {symbol}"
    worst = f"{symbol}={decisions.optimal.parameters[gaps.argmax()]:.15g}"
    limit = f"the least risk is at most {gaps.max():.4f} lower (at {worst}; --json and --csv have all bounds)"
    return f"{NOT_PROVEN} marks what is not proven optimal, for {share}: {limit}."


def _symbol(decisions: Decisions) -> str:
    return get_family(decisions.optimal.family).symbol
