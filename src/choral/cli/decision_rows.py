"""The rows of the table of ``choral decide``: one a parameter, or one for many that share a prediction."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from choral.cli.decision_results import Decisions
from choral.cli.wording import describe_parameter, list_labels, name_end
from choral.measures.base import ROUNDING

MOST_ROWS = 20  # of more parameters, neighbours with the same prediction share a row
OPTIMAL, NOT_PROVEN = "*", "~"  # marks of a mode and of a prediction


class Row(NamedTuple):
    """What is printed of one parameter, or of several with the same prediction."""

    parameters: str
    prediction: str
    losses: tuple[str, ...]  # of the prediction, then of each mode in its column


def make_rows(decisions: Decisions) -> list[Row]:
    """All parameters in order."""
    of_modes = list(mode_columns(decisions).values())
    return [_row(decisions, of_modes, where) for where in _split(decisions)]


def mode_columns(decisions: Decisions) -> dict[str, np.ndarray]:
    """Titles and losses of the modes; one that is optimal throughout would repeat the risks."""
    marginal, joint = decisions.modes.values()
    if np.array_equal(marginal.labels, joint.labels):
        columns = {"both modes": joint.curve.losses}
    else:
        columns = {f"{name} mode": mode.curve.losses for name, mode in decisions.modes.items()}
    return {name: losses for name, losses in columns.items() if not is_optimal(decisions, losses).all()}


def is_optimal(decisions: Decisions, losses: np.ndarray) -> np.ndarray:
    """For each parameter, whether a mode is as good as the prediction found, but for rounding."""
    return losses <= decisions.risks + ROUNDING


def _split(decisions: Decisions) -> list[slice]:
    """The parameters of each row; the ends of the family, which everybody knows, have rows of their own."""
    n_parameters = len(decisions.optimal.parameters)
    differs = (np.diff(decisions.predictions.astype(int), axis=0) != 0).any(axis=1) | np.diff(decisions.exact)
    if n_parameters <= MOST_ROWS:
        differs[:] = True
    family, n_labels = decisions.optimal.family, decisions.distribution.n_labels
    alone = np.array([name_end(family, parameter, n_labels) != "" for parameter in decisions.optimal.parameters])
    starts = np.flatnonzero(differs | alone[1:] | alone[:-1]) + 1
    return [slice(first, last) for first, last in pairwise([0, *starts.tolist(), n_parameters])]


def _row(decisions: Decisions, of_modes: list[np.ndarray], where: slice) -> Row:
    losses = [_loss_cell(decisions.risks[where], "" if decisions.exact[where].all() else NOT_PROVEN)]
    for of_mode in of_modes:
        optimal = is_optimal(decisions, of_mode)[where].all()
        losses.append(_loss_cell(of_mode[where], OPTIMAL if optimal else ""))
    prediction = list_labels(decisions.names_in(decisions.predictions[where.start]))
    return Row(_parameter_cell(decisions, where), prediction, tuple(losses))


def _parameter_cell(decisions: Decisions, where: slice) -> str:
    parameters = decisions.optimal.parameters[where].tolist()
    if len(parameters) == 1:
        return describe_parameter(decisions.optimal.family, parameters[0], decisions.distribution.n_labels)
    return f"{parameters[0]:.15g}-{parameters[-1]:.15g}"


def _loss_cell(losses: np.ndarray, mark: str) -> str:
    """One loss or, since the loss of a prediction rises along a family, the first and the last."""
    ends = dict.fromkeys(f"{loss:.4f}" for loss in losses[[0, -1]])
    return f"{mark}{'-'.join(ends)}"
