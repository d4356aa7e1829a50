"""The losses of rows under several models, some rows at a time: what a paired bootstrap draws from."""

from collections.abc import Callable, Iterator

import numpy as np

from choral._kernels.pairs import row_slices
from choral._validation import Labels
from choral.measures.families import Family
from choral.profiles.joint_errors import JointErrors
from choral.row_losses import row_losses
from choral.stats import Rows

Progress = Callable[[int, int, str], None]


def tell_nobody(done: int, total: int, what: str) -> None:
    """No progress is shown."""


def rows_of_groups(
    joint: JointErrors, n_labels: int, family: Family, grid: np.ndarray, n_bootstrap: int, progress: Progress
) -> Iterator[Rows]:
    """Losses of every group of rows alike under every model and parameter, some groups at a time."""
    seen, wrong = np.unique(joint.wrong, return_inverse=True)
    tables = family.table("deficits", grid, n_labels, int(seen[-1]))
    by_errors = np.vstack([table[:, seen] for table in tables]).T
    n_models = joint.wrong.shape[1]
    wrong = wrong.reshape(len(joint), n_models)
    for block in row_slices((len(joint), max(n_bootstrap, n_models * len(grid))), itemsize=1):
        losses = [by_errors[errors] for errors in wrong[block].T]
        yield Rows(np.hstack(losses), joint.counts[block], joint.weights[block])
        progress(block.stop, len(joint), "bootstrap")


def rows_one_by_one(
    true: Labels,
    matrices: dict[str, Labels],
    weights: np.ndarray | None,
    family: Family,
    grid: np.ndarray,
    n_bootstrap: int,
    progress: Progress,
) -> Iterator[Rows]:
    """Losses of every row under every model and parameter, some rows at a time."""
    n_rows = true.shape[0]
    counts = np.ones(n_rows, dtype=np.int64)
    weights = np.ones(n_rows) if weights is None else weights
    for block in row_slices((n_rows, max(n_bootstrap, len(matrices) * len(grid))), itemsize=1):
        losses = [row_losses(true[block], matrix[block], family, grid) for matrix in matrices.values()]
        yield Rows(np.hstack(losses), counts[block], weights[block])
        progress(block.stop, n_rows, "bootstrap")
