"""Predictions in parts, a file each: a part is read and summarised where it lies, and only summaries travel."""

from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any

from choral._optional import require
from choral.evaluation.evaluating import no_labels, prepare
from choral.evaluation.result import BASELINE
from choral.evaluation.rows import Progress, tell_nobody
from choral.label_files import ComparedPaths, LabelTable, match_names, read_compared, read_labels
from choral.label_files.wording import counted, quoted
from choral.profiles import ErrorProfile
from choral.profiles.joint_errors import JointErrors
from choral.profiles.several import warn_if_mixed
from choral.rows.pairs import is_hard

Summarise = Callable[[ComparedPaths], "PartSummary"]
MOST_GROUPS = 1 << 17  # of rows alike: more would take a bootstrap minutes, and travel as megabytes


@dataclass(frozen=True)
class PartOptions:
    """How parts are read: see `choral.label_files.read_compared`, and `evaluate` for the threshold."""

    id_column: str | None = None
    weight_column: str | None = None
    header: bool | None = None
    threshold: float | None = None
    bootstrap: bool = True  # whether there will be one, which needs the errors of all models row by row

    def read(self, paths: ComparedPaths, by: Callable[..., LabelTable] = read_labels) -> tuple[LabelTable, dict]:
        """True labels and predictions from files, by `read_labels` or one that shows how far it is."""
        return read_compared(
            paths,
            id_column=self.id_column,
            weight_column=self.weight_column,
            header=self.header,
            of_any_range=self.threshold is not None,
            read=by,
        )


@dataclass(frozen=True, eq=False)
class PartSummary:
    """All that is kept of a part, or of several.

    Attributes
    ----------
    profiles : dict from name to ErrorProfile
        Models in the order given, then the baseline.
    joint : JointErrors or None
        Of all profiles together; None unless all are hard and their combinations few, and where nobody needs them.
    had_scores : dict from name to set of bool
        Of each model, whether files held scores before any threshold: both, if only some did.
    labels : tuple of str, or None
    source : str
        The first part, for messages.
    """

    profiles: dict[str, ErrorProfile]
    joint: JointErrors | None
    had_scores: dict[str, set[bool]]
    labels: tuple[str, ...] | None
    source: str

    def __add__(self, other: "PartSummary") -> "PartSummary":
        expected, got = (summary.profiles[BASELINE].n_labels for summary in (self, other))
        if self.labels is not None and other.labels is not None:
            match_names("labels", self.labels, other.labels, self.source, other.source)
        elif expected != got:
            raise ValueError(f"{other.source} has {counted(got, 'label')}, {self.source} has {expected}.")
        return PartSummary(
            {name: profile + other.profiles[name] for name, profile in self.profiles.items()},
            _add_few(self.joint, other.joint),
            {name: kinds | other.had_scores[name] for name, kinds in self.had_scores.items()},
            self.labels if self.labels is not None else other.labels,
            self.source,
        )

    @property
    def why_no_joint(self) -> str:
        """Why joint errors are missing; empty where they are there."""
        if self.joint is not None:
            return ""
        if not all(profile.is_hard for profile in self.profiles.values()):
            return "of scores in parts only sums are kept, not the losses of rows that intervals are drawn from"
        return f"the rows have more than {MOST_GROUPS} combinations of errors and weights"


def _add_few(first: JointErrors | None, second: JointErrors | None) -> JointErrors | None:
    if first is None or second is None:
        return None
    total = first + second
    return total if len(total) <= MOST_GROUPS else None


def summarise_parts(
    parts: list[ComparedPaths],
    options: PartOptions,
    *,
    client: Any = None,
    check: Callable[[int], object] = lambda n_labels: None,
    progress: Progress = tell_nobody,
) -> PartSummary:
    """Read all parts, one after another or on the workers of a Dask client, and add up what is found in them.

    Parameters
    ----------
    parts : list of ComparedPaths
        At least one, of the same models each.
    options : PartOptions
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
    summarise = partial(summarise_part, options=options)
    progress(0, len(parts), "reading parts")
    with closing(_here(summarise, parts) if client is None else _on_workers(client, summarise, parts)) as summaries:
        # in the order of the parts, so that sums of scores are the same on every run to the last digit
        for done, so_far in enumerate(accumulate(summaries, add), start=1):
            total = so_far
            if done == 1:
                check(total.profiles[BASELINE].n_labels)
            progress(done, len(parts), "reading parts")
    _check_total(total, options)
    warn_if_mixed({name: profile for name, profile in total.profiles.items() if name != BASELINE})
    return total


def summarise_part(paths: ComparedPaths, options: PartOptions) -> PartSummary:
    """Read one part and keep what counts."""
    truth, predictions = options.read(paths)
    had_scores = {name: {not is_hard(matrix)} for name, matrix in predictions.items()}
    matrices = {name: prepare(truth.values, matrix, options.threshold, name) for name, matrix in predictions.items()}
    matrices[BASELINE] = no_labels(truth.values)
    profiles = {name: ErrorProfile.from_checked(truth.values, m, truth.weights) for name, m in matrices.items()}
    joint = None
    if options.bootstrap and all(profile.is_hard for profile in profiles.values()):
        joint = JointErrors.from_checked(truth.values, matrices.values(), truth.weights)
    return PartSummary(profiles, joint, had_scores, truth.labels, truth.source)


def _here(summarise: Summarise, parts: list[ComparedPaths]) -> Generator[PartSummary]:
    yield from map(summarise, parts)


def _on_workers(client: Any, summarise: Summarise, parts: list[ComparedPaths]) -> Generator[PartSummary]:
    """The summaries in the order of the parts; whatever stops this, nothing more is begun."""
    distributed = require("distributed", "dask")
    waiting = deque(zip(parts, client.map(summarise, parts, pure=False), strict=True))
    try:
        while waiting:
            part, future = waiting[0]
            yield future.result()
            waiting.popleft()  # the workers may forget it
    except distributed.KilledWorker as error:
        raise MemoryError(f"Workers died, one after another, while they read {part.truth} and its like.") from error
    except distributed.CancelledError as error:
        raise OSError("the Dask cluster has cancelled the work, or is gone.") from error
    finally:
        client.cancel([future for _, future in waiting])


def _check_total(total: PartSummary, options: PartOptions) -> None:
    """Refuse what no single part could be refused for."""
    folder = Path(total.source).parent
    if not total.profiles[BASELINE].total_weight:
        column = quoted(options.weight_column or "")
        raise ValueError(f"{folder}, column {column}: all weights are 0; expected one above 0.")
    if options.threshold is not None and not 0 < options.threshold <= 1:  # within, labels stay what they are
        for name, kinds in total.had_scores.items():
            if len(kinds) == 2:
                raise ValueError(
                    f"{name}: some parts hold scores, others 0 and 1 alone, which may be labels or scores; "
                    f"a threshold of {options.threshold:g} tells them apart only where all parts are alike."
                )
