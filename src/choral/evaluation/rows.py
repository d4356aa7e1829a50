"""The losses of rows under several models, some rows at a time: what a paired bootstrap draws from."""

from collections.abc import Callable, Iterator

import numpy as np

from choral._validation import Labels
from choral.measures.families import Family
from choral.profiles.joint_errors import JointErrors
from choral.row_losses import row_losses
from choral.rows.pairs import row_slices
from choral.stats import WeightedLosses

Progress = Callable[[int, int, str], None]


def tell_nobody(done: int, total: int, what: str) -> None:
    """No progress is shown."""


def rows_of_groups(
    joint: JointErrors, n_labels: int, family: Family, grid: np.ndarray, n_bootstrap: int, progress: Progress
) -> Iterator[WeightedLosses]:
    """Losses of every group of rows alike under every model and parameter, some groups at a time."""
    codes = joint.n_observed[:, np.newaxis] * (n_labels + 1) + joint.wrong
    seen, wrong = np.unique(codes, return_inverse=True)
    by_errors = _losses_by(*np.divmod(seen, n_labels + 1), family, grid)
    n_models = joint.wrong.shape[1]
    wrong = wrong.reshape(len(joint), n_models)
    for block in row_slices((len(joint), max(n_bootstrap, n_models * len(grid))), itemsize=1):
        losses = [by_errors[errors] for errors in wrong[block].T]
        yield WeightedLosses(np.hstack(losses), joint.counts[block], joint.weights[block])
        progress(block.stop, len(joint), "bootstrap")


def _losses_by(n_observed: np.ndarray, wrong: np.ndarray, family: Family, grid: np.ndarray) -> np.ndarray:
    """The losses of rows with some numbers of known and of wrong labels; 0 where none is known."""
    losses = np.zeros((len(wrong), len(grid)))
    for number in np.unique(n_observed[n_observed > 0]).tolist():
        some = n_observed == number
        tables = family.table("deficits", family.clip_parameters(grid, number), number, int(wrong[some].max()))
        losses[some] = np.vstack([table[:, wrong[some]] for table in tables]).T
    return losses


def rows_one_by_one(
    true: Labels,
    matrices: dict[str, Labels],
    weights: np.ndarray | None,
    n_observed: np.ndarray | None,
    family: Family,
    grid: np.ndarray,
    n_bootstrap: int,
    progress: Progress,
) -> Iterator[WeightedLosses]:
    """Losses of every row under every model and parameter, some rows at a time."""
    n_rows = true.shape[0]
    counts = np.ones(n_rows, dtype=np.int64)
    weights = np.ones(n_rows) if weights is None else weights
    n_observed = np.full(n_rows, true.shape[1]) if n_observed is None else n_observed
    for block in row_slices((n_rows, max(n_bootstrap, len(matrices) * len(grid))), itemsize=1):
        losses = [
            row_losses(true[block], matrix[block], family, grid, n_observed[block]) for matrix in matrices.values()
        ]
        yield WeightedLosses(np.hstack(losses), counts[block], weights[block])
        progress(block.stop, n_rows, "bootstrap")
