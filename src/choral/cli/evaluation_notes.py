"""What to read from the table of ``choral evaluate``, and how sure that is."""

import numpy as np

from choral.cli.wording import describe_parameter
from choral.evaluation import Evaluation, Summary, first_best
from choral.label_files.wording import counted
from choral.measures.base import ROUNDING
from choral.measures.families import get_family

FEWEST_ROWS, FEWEST_SAMPLES = 10, 100  # below, a bootstrap interval is no evidence


def make_headline(evaluation: Evaluation) -> str:
    """The best model at both ends in a few words; of a single model, its losses there."""
    ends = [_describe(evaluation, parameter) for parameter in evaluation.parameters[[0, -1]]]
    best = evaluation.best[0], evaluation.best[-1]
    if len(evaluation.models) == 1:
        losses = evaluation.curves[best[0]].losses[[0, -1]]
        return f"{best[0]}: loss {losses[0]:.4f} at {ends[0]}, {losses[1]:.4f} at {ends[1]}."
    if len(set(evaluation.best)) == 1:
        return f"{best[0]}, whatever the loss."
    return f"{best[0]} at {ends[0]}, {best[1]} at {ends[1]}."


def make_notes(evaluation: Evaluation, n_bootstrap: int) -> list[str]:
    """Say what was judged, which model is best at each end, and how sure that is."""
    hard = {evaluation.profiles[name].is_hard for name in evaluation.models}
    kind = "hard and soft" if len(hard) == 2 else "hard" if hard == {True} else "soft"
    summary = evaluation.summary()
    size = f"{counted(evaluation.n_rows, 'row')}, {counted(evaluation.n_labels, 'label')}"
    notes = [f"{size}, {kind} predictions; lower is better, * marks the best model."]
    if kind != "hard":
        notes.append(f"The baseline ({evaluation.baseline}) is hard: scores do not compare with it.")
    elif unbeaten := _columns_of_the_baseline(evaluation, summary):
        notes.append(f"No model beats the baseline ({evaluation.baseline}) in: {', '.join(unbeaten)}.")
    if len(evaluation.models) > 1:
        doubt = _why_unsure(evaluation, n_bootstrap)
        best = first_best(np.array([summary.rows[name] for name in evaluation.models]))
        for column in dict.fromkeys([0, len(summary.parameters) - 1]):
            parameter = summary.parameters[column]
            sentence = f"Best at {_describe(evaluation, parameter)}: {evaluation.models[best[column]]}"
            notes.append(f"{sentence}{'' if doubt else _evidence(evaluation, parameter)}.")
        notes += [doubt] if doubt and n_bootstrap else []
    return notes


def _columns_of_the_baseline(evaluation: Evaluation, summary: Summary) -> list[str]:
    """The columns of the table in which no model is better than predicting nothing."""
    losses_of_models = zip(*(summary.rows[name] for name in evaluation.models), strict=True)
    columns = zip(summary.columns, summary.rows[evaluation.baseline], losses_of_models, strict=True)
    return [title for title, baseline, losses in columns if baseline <= min(losses)]


def _why_unsure(evaluation: Evaluation, n_bootstrap: int) -> str:
    """Why the bootstrap says nothing about differences; empty if it does."""
    if evaluation.n_rows < FEWEST_ROWS:
        few, fewest = counted(evaluation.n_rows, "row"), FEWEST_ROWS
    elif n_bootstrap < FEWEST_SAMPLES:
        few, fewest = counted(n_bootstrap, "bootstrap sample"), FEWEST_SAMPLES
    else:
        return ""
    return f"Too few to say how sure the differences are: {few}, expected at least {fewest}."


def _evidence(evaluation: Evaluation, parameter: float) -> str:
    """Which models the bootstrap can tell from the best one."""
    if evaluation.differences is None:
        return ""
    if parameter not in evaluation.parameters:
        return f"; bootstrap intervals end at {_describe(evaluation, evaluation.parameters[-1])}"
    index = evaluation.parameters.tolist().index(parameter)
    others = [name for name in evaluation.models if name != evaluation.best[index]]
    near = [name for name in others if evaluation.differences[name].lower[index] <= ROUNDING]
    level = f"{100 * evaluation.confidence:g}%"
    if near:
        return f"; not told apart from it by the {level} bootstrap interval: {', '.join(near)}"
    return f"; the {level} bootstrap intervals of all differences to it exclude 0"


def _describe(evaluation: Evaluation, parameter: float) -> str:
    symbol = get_family(evaluation.family).symbol
    return f"{symbol}={describe_parameter(evaluation.family, parameter, evaluation.n_labels)}"
