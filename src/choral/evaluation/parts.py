"""Predictions in parts, a file each: a part is read and summarised where it lies, and only summaries travel."""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any

from choral._dask_results import next_results, submit_call
from choral._optional import require
from choral._text import counted, quoted
from choral._validation import check_any_weight
from choral.evaluation.evaluating import ModelSummary, Progress, ignore_progress, summarise_models
from choral.evaluation.result import BASELINE
from choral.label_files import ComparedOptions, ComparedPaths, match_names, read_compared
from choral.profiles import warn_if_mixed
from choral.rows import open_rows

Summarise = Callable[[ComparedPaths], "PartSummary"]


@dataclass(frozen=True, eq=False)
class PartSummary:
    """All that is kept of a part, or of several.

    Attributes
    ----------
    models : ModelSummary
    had_scores : dict from name to set of bool
        Of each model, whether a threshold made scores of a file hard: both, if only of some.
    labels : tuple of str, or None
    source : str
        The first part, for messages.
    """

    models: ModelSummary
    had_scores: dict[str, set[bool]]
    labels: tuple[str, ...] | None
    source: str

    def __add__(self, other: "PartSummary") -> "PartSummary":
        expected, got = (part.models.n_labels for part in (self, other))
        theirs = other.models
        if self.labels is not None and other.labels is not None:
            order = match_names("labels", self.labels, other.labels, self.source, other.source)
            theirs = theirs if order is None else theirs.in_order(order)
        elif expected != got:
            raise ValueError(f"{other.source} has {counted(got, 'label')}, {self.source} has {expected}.")
        return PartSummary(
            self.models + theirs,
            {name: kinds | other.had_scores[name] for name, kinds in self.had_scores.items()},
            self.labels if self.labels is not None else other.labels,
            self.source,
        )


def summarise_parts(
    parts: list[ComparedPaths],
    options: ComparedOptions,
    *,
    joint: bool = True,
    client: Any = None,
    check: Callable[[int], object] = lambda n_labels: None,
    progress: Progress = ignore_progress,
) -> PartSummary:
    """Read all parts, one after another or on the workers of a Dask client, and add up what is found in them.

    Parameters
    ----------
    parts : list of ComparedPaths
        At least one, of the same models each.
    options : ComparedOptions
    joint : bool
        Whether to keep the errors of all models row by row, which a bootstrap needs.
    client : distributed.Client, optional
        Its workers must have choral installed, and see the files where they are here.
    check : callable (n_labels), optional
        Called after the first part: what it refuses is refused before the others are waited for.
    progress : callable (done, total, what), optional
        Told after each part.

    Raises
    ------
    ValueError
        For what is wrong with a part, which it names, or with all of them together.
    MemoryError
        Where parts are too large for the workers.
    OSError
        Where the cluster is gone.
    """
    summarise = partial(summarise_part, options=options, joint=joint)
    progress(0, len(parts), "reading parts")
    with closing(_here(summarise, parts) if client is None else _on_workers(client, summarise, parts)) as summaries:
        # in the order of the parts, so that sums of scores are the same on every run to the last digit
        for done, so_far in enumerate(accumulate(summaries, add), start=1):
            total = so_far
            if done == 1:
                check(total.models.n_labels)
            progress(done, len(parts), "reading parts")
    _check_total(total, options)
    warn_if_mixed({name: profile for name, profile in total.models.profiles.items() if name != BASELINE})
    return total


def summarise_part(paths: ComparedPaths, options: ComparedOptions, *, joint: bool = True) -> PartSummary:
    """Read one part and keep what counts."""
    truth, predictions = read_compared(paths, options)
    weights, threshold = truth.weights, options.threshold
    open_model = partial(open_rows, truth.values, sample_weight=weights, threshold=threshold, allow_no_weight=True)
    models = {name: open_model(matrix, pred_name=name) for name, matrix in predictions.items()}
    summary = summarise_models(list(models.values()), list(models), joint=joint, rates=True)
    had_scores = {name: {rows.had_scores} for name, rows in models.items()}
    return PartSummary(summary, had_scores, truth.labels, truth.source)


def _here(summarise: Summarise, parts: list[ComparedPaths]) -> Generator[PartSummary]:
    yield from map(summarise, parts)


def _on_workers(client: Any, summarise: Summarise, parts: list[ComparedPaths]) -> Generator[PartSummary]:
    """The summaries in the order of the parts; whatever stops this, nothing more is begun."""
    distributed = require("distributed", "dask")
    waiting = deque([(part, submit_call(client, summarise, part)) for part in parts])
    try:
        while waiting:
            part, future = waiting[0]
            summary = next_results(client, [future])[future]
            if isinstance(summary, distributed.KilledWorker):
                raise MemoryError(f"Workers died, one after another, while they read {part.truth} and its like.")
            if isinstance(summary, Exception):
                raise summary
            yield summary
            waiting.popleft()  # the workers may forget it
    finally:
        with suppress(Exception):  # of any kind, where the cluster is gone
            client.cancel([future for _, future in waiting])


def _check_total(total: PartSummary, options: ComparedOptions) -> None:
    """Refuse what no single part could be refused for."""
    folder = Path(total.source).parent
    column = quoted(options.weight_column or "")
    weight = total.models.profiles[BASELINE].total_weight
    if not weight:
        raise ValueError(f"{folder}, column {column}: all weights are 0; expected one above 0.")
    check_any_weight(f"{folder}, column {column},", weight)
    if options.threshold is not None and not 0 < options.threshold <= 1:  # within, labels stay what they are
        for name, kinds in total.had_scores.items():
            if len(kinds) == 2:
                raise ValueError(
                    f"{name}: some parts hold scores, others 0 and 1 alone, which may be labels or scores; "
                    f"a threshold of {options.threshold:g} tells them apart only where all parts are alike."
                )
