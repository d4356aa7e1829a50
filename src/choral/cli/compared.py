"""What ``choral evaluate`` compares: files that are read here, or folders of parts, summarised where they lie."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import choral
from choral.cli.console import Show
from choral.cli.files import read_with_progress
from choral.evaluation import Evaluation, evaluate_summaries
from choral.evaluation.parts import PartOptions, summarise_parts
from choral.label_files import ComparedPaths, check_weights


class Compared(NamedTuple):
    """Labels that are ready to be judged, once for each family of losses."""

    evaluate: Callable[..., Evaluation]  # of the keywords family, parameters, n_bootstrap, random_state and progress
    labels: tuple[str, ...] | None
    why_no_intervals: str = ""  # if there can be none


def read_files(paths: ComparedPaths, options: PartOptions, show: Show) -> Compared:
    """Read whole files."""
    truth, predictions = options.read(paths, partial(read_with_progress, show))
    check_weights(truth, options.weight_column or "")

    def evaluate(**keywords: Any) -> Evaluation:
        keywords |= {"threshold": options.threshold, "sample_weight": truth.weights}
        return choral.evaluate(truth.values, predictions, **keywords)

    return Compared(evaluate, truth.labels)


def read_parts(
    parts: list[ComparedPaths], options: PartOptions, show: Show, check: Callable[[int], object], *, dask: str | None
) -> Compared:
    """Read parts, on a Dask cluster where one is named, else one after another; see `summarise_parts`."""
    if dask is not None:
        parts = [part.absolute() for part in parts]  # workers may have another current folder
        show(0, 1, "connecting to the cluster")
    with nullcontext() if dask is None else _connect(dask) as client:
        total = summarise_parts(parts, options, client=client, check=check, progress=show)
    return Compared(partial(evaluate_summaries, total.models), total.labels, total.models.why_no_joint)


def _connect(address: str) -> AbstractContextManager[Any]:
    from choral.study.clusters import dask_client  # here, else every command would wait a second for scikit-learn

    return dask_client(address)
