"""What an evaluation says in words: which model is best, how sure that is, and how to read the table."""

from typing import TYPE_CHECKING

import numpy as np

from choral._text import counted, join_names
from choral._validation import ROUNDING
from choral.measures.families import describe_parameter, get_family

if TYPE_CHECKING:
    from choral.evaluation.result import Evaluation, Summary

MAX_NAMED = 4  # models whose reference is given one by one
MIN_ROWS, MIN_BOOTSTRAP_SAMPLES = 10, 100  # with fewer, a bootstrap interval is no evidence
LITTLE_POWER_ROWS = 100  # with fewer, even a clear difference may not show
AREA = "area: the mean loss along the slide from Hamming to subset 0/1 loss."
TOGETHER = "together (no loss): 1 if all mistakes are in few rows, 0 if they are spread evenly."


def make_headline(evaluation: "Evaluation") -> str:
    """Which model is best at both ends, in a few words; of a single model, its losses there."""
    first, last = (float(parameter) for parameter in evaluation.parameters[[0, -1]])
    ends = [describe_loss(evaluation, parameter) for parameter in (first, last)]
    if len(evaluation.models) == 1:
        (name,) = evaluation.models
        losses = evaluation.curves[name].losses[[0, -1]]
        told = dict.fromkeys(f"{loss:.4f} at {end}" for loss, end in zip(losses, ends, strict=True))  # one if one label
        return f"{name}: loss {', '.join(told)}."
    if np.ptp([evaluation.curves[name].losses for name in evaluation.models], axis=0).max() <= ROUNDING:
        return "All models have the same losses."
    best = evaluation.best[0], evaluation.best[-1]
    always = len(set(evaluation.best)) == 1
    leads = [_describe_lead(evaluation, index) for index in (0, -1)]
    lead = leads[0] if leads[0] == leads[1] else f"{leads[0]} at {ends[0]}, {leads[1]} at {ends[1]}"
    if explain_doubt(evaluation) or evaluation.differences is None:
        return f"{lead}, whatever the loss." if always and leads[0] == leads[1] else f"{lead}."
    sure = [not _find_near(evaluation, parameter) for parameter in (first, last)]
    if always and all(sure):
        return f"{best[0]} is best, whatever the loss."
    if all(sure):
        return f"{best[0]} is best at {ends[0]}, {best[1]} at {ends[1]}."
    if not any(sure):
        return f"No model is surely best; {lead}."
    known, open_end = (0, 1) if sure[0] else (1, 0)
    return (
        f"{best[known]} is best at {ends[known]}; no model is surely best at {ends[open_end]}, where {leads[open_end]}."
    )


def _describe_lead(evaluation: "Evaluation", index: int) -> str:
    """Which model leads at a point of the curves, or which ones have the same loss there."""
    losses = {name: evaluation.curves[name].losses[index] for name in evaluation.models}
    least = [name for name, loss in losses.items() if loss <= min(losses.values()) + ROUNDING]
    if len(least) == 1:
        return f"{least[0]} leads"
    return f"{join_names(least) if len(least) <= MAX_NAMED else f'{len(least)} models'} have the same loss"


def make_sentences(evaluation: "Evaluation") -> list[str]:
    """What was judged, what the columns mean, and the answer."""
    kind = _kind_of_predictions(evaluation)
    size = f"{counted(evaluation.n_rows, 'row')}, {counted(evaluation.n_labels, 'label')}"
    return [
        f"{size}, {kind} predictions; lower is better, * marks the best model.",
        *_describe_columns(evaluation, evaluation.summary()),
        *evaluation.notes(),
        *make_answer(evaluation),
    ]


def make_answer(evaluation: "Evaluation") -> list[str]:
    """Which model is best at each end, how sure that is, and whether the baseline is beaten."""
    summary = evaluation.summary()
    sentences = _describe_losses(evaluation, summary)
    if _kind_of_predictions(evaluation) != "hard":
        sentences.append(f"The baseline ({evaluation.baseline}) is hard and cannot be compared with scores.")
    elif unbeaten := _find_unbeaten_columns(evaluation, summary):
        sentences.append(f"No model beats the baseline ({evaluation.baseline}) in: {', '.join(unbeaten)}.")
    return sentences


def _kind_of_predictions(evaluation: "Evaluation") -> str:
    hard = {evaluation.profiles[name].is_hard for name in evaluation.models}
    return "hard and soft" if len(hard) == 2 else "hard" if hard == {True} else "soft"


def _describe_losses(evaluation: "Evaluation", summary: "Summary") -> list[str]:
    """What is known of the first and of the last loss of the table; then why little is known, where that is so."""
    ends = dict.fromkeys([summary.parameters[0], summary.parameters[-1]])
    doubt = explain_doubt(evaluation)
    describe = _describe_single if len(evaluation.models) == 1 else _describe_best
    sentences = [describe(evaluation, summary, parameter) for parameter in ends]
    if doubt:
        return [*sentences, doubt] if evaluation.n_bootstrap else sentences
    unsure = len(evaluation.models) > 1 and any(_find_near(evaluation, parameter) for parameter in ends)
    if unsure and evaluation.n_rows < LITTLE_POWER_ROWS:
        sentences.append(f"With {counted(evaluation.n_rows, 'row')} there is little power to tell models apart.")
    return sentences


def _describe_columns(evaluation: "Evaluation", summary: "Summary") -> list[str]:
    """What the columns mean that are no losses at a parameter."""
    if "area" not in summary.columns:
        return []
    if "together" not in summary.columns:
        return [AREA]
    is_lazy = evaluation.source is not None and evaluation.source.is_lazy  # a look at it must not start a cluster
    by_chance = {} if is_lazy else evaluation.independent_togetherness()
    known = {name: by_chance[name] for name in evaluation.models if np.isfinite(by_chance.get(name, np.nan))}
    if not known:
        return [AREA, TOGETHER]
    ends = [min(known, key=known.__getitem__), max(known, key=known.__getitem__)]
    named = [f"{known[name]:.4f} ({name})" for name in (known if len(known) <= MAX_NAMED else ends)]
    told = join_names(named) if len(known) <= MAX_NAMED else f"between {join_names(named)}"
    return [AREA, f"{TOGETHER} If errors were independent, it would be {told}."]


def explain_doubt(evaluation: "Evaluation") -> str:
    """Why the bootstrap is no evidence; empty if it is."""
    if evaluation.n_rows < MIN_ROWS:
        few, needed = counted(evaluation.n_rows, "row"), MIN_ROWS
    elif evaluation.n_bootstrap < MIN_BOOTSTRAP_SAMPLES:
        few, needed = counted(evaluation.n_bootstrap, "bootstrap sample"), MIN_BOOTSTRAP_SAMPLES
    else:
        return ""
    what = "losses" if len(evaluation.models) == 1 else "differences"
    return f"Too few to say how sure the {what} are: {few}, expected at least {needed}."


def describe_loss(evaluation: "Evaluation", parameter: float) -> str:
    """A parameter in words.

    Examples
    --------
    >>> from choral import evaluate
    >>> describe_loss(evaluate([[0, 1]], {"m": [[0, 1]]}, n_bootstrap=0), 2)
    'k=2 (subset 0/1)'
    """
    symbol = get_family(evaluation.family).symbol
    return f"{symbol}={describe_parameter(evaluation.family, parameter, evaluation.n_labels)}"


def describe_interval(lower: float, upper: float, confidence: float) -> str:
    """An interval in brackets, after a number.

    Examples
    --------
    >>> describe_interval(-0.0010, 0.00704, 0.95)
    ' (95% interval -0.0010 to 0.0070)'
    """
    return f" ({100 * confidence:g}% interval {lower:.4f} to {upper:.4f})"


def _describe_single(evaluation: "Evaluation", summary: "Summary", parameter: float) -> str:
    """The loss of a single model, with its interval."""
    (name,) = evaluation.models
    loss = summary.rows[name][summary.parameters.index(parameter)]
    sentence = f"{name} has a loss of {loss:.4f} at {describe_loss(evaluation, parameter)}"
    bands = evaluation.bands()
    if explain_doubt(evaluation) or bands is None or parameter not in evaluation.parameters:
        return f"{sentence}."
    index = evaluation.parameters.tolist().index(parameter)
    return f"{sentence}{describe_interval(bands[name].lower[index], bands[name].upper[index], evaluation.confidence)}."


def _describe_best(evaluation: "Evaluation", summary: "Summary", parameter: float) -> str:
    """Which model is best, by how much, and whether others may be as good."""
    at, column = describe_loss(evaluation, parameter), summary.parameters.index(parameter)
    losses = {name: summary.rows[name][column] for name in evaluation.models}
    least = min(losses.values())
    best = next(name for name, loss in losses.items() if loss <= least + ROUNDING)
    if explain_doubt(evaluation) or evaluation.differences is None:
        return f"Least loss at {at}: {best}."
    if parameter not in evaluation.parameters:
        last = describe_loss(evaluation, evaluation.parameters[-1])
        return f"Least loss at {at}: {best}; bootstrap intervals end at {last}."
    others = [name for name in losses if name != best]
    near = _find_near(evaluation, parameter)
    second = min(near or others, key=lambda name: losses[name])
    lead = f"by {losses[second] - least:.4f}{_describe_difference(evaluation, second, parameter)}"
    if not near:
        ahead = f", ahead of {second}" if len(others) > 1 else ""
        return f"{best} is best at {at}, {lead}{ahead}."
    if losses[second] <= least + ROUNDING:
        same = [name for name in losses if losses[name] <= least + ROUNDING]
        told = f"{join_names(same)} have the same loss"
    else:
        told = f"{best} leads {second} {lead}"
    more = [name for name in near if name != second and losses[name] > least + ROUNDING]
    if more:
        told += f"; {join_names(more)} may be as good too"
    if len(near) < len(others):
        told += "; the others are worse"
    return f"No model is surely best at {at}: {told}."


def _describe_difference(evaluation: "Evaluation", name: str, parameter: float) -> str:
    """The interval of the difference to the best model."""
    if evaluation.differences is None:
        return ""
    index, difference = evaluation.parameters.tolist().index(parameter), evaluation.differences[name]
    return describe_interval(difference.lower[index], difference.upper[index], evaluation.confidence)


def _find_near(evaluation: "Evaluation", parameter: float) -> list[str]:
    """The models that may be as good as the best one, by the bootstrap intervals of the differences."""
    if evaluation.differences is None or parameter not in evaluation.parameters:
        return []
    index = evaluation.parameters.tolist().index(parameter)
    others = [name for name in evaluation.models if name != evaluation.best[index]]
    return [name for name in others if evaluation.differences[name].lower[index] <= ROUNDING]


def _find_unbeaten_columns(evaluation: "Evaluation", summary: "Summary") -> list[str]:
    """The columns of losses in which no model is better than predicting nothing."""
    losses_of_models = zip(*(summary.rows[name] for name in evaluation.models), strict=True)
    columns = zip(
        summary.columns, summary.lower_is_better, summary.rows[evaluation.baseline], losses_of_models, strict=True
    )
    return [title for title, is_loss, baseline, losses in columns if is_loss and baseline <= min(losses)]
