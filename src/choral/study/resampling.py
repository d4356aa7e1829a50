"""What intervals and tests along a curve are made of: losses in bootstrap samples of rows, and losses by fold."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from choral._kernels.pairs import row_slices
from choral.measures.families import get_family
from choral.row_losses import row_losses
from choral.stats import Rows, bootstrap_means

if TYPE_CHECKING:
    from choral.study.results import Results


def bootstrap_losses(results: "Results", dataset: str, family: str) -> np.ndarray:
    """Losses in bootstrap samples, of shape (n_bootstrap, n_finished, n_parameters); the same rows for all learners."""
    shape = results.n_bootstrap, len(results.finished(dataset)), len(results.parameters(dataset, family))
    if 0 in shape:
        return np.zeros(shape)
    blocks = _row_blocks(results, dataset, family)
    return bootstrap_means(blocks, results.n_bootstrap, np.random.default_rng(0)).reshape(shape)


def _row_blocks(results: "Results", dataset: str, family: str) -> Iterator[Rows]:
    """Rows of a data set with their losses under each learner and parameter, averaged over repeats and seeds."""
    Y, _ = results.labels(dataset)
    parameters = results.parameters(dataset, family)
    runs = [_runs(results, dataset, learner, Y) for learner in results.finished(dataset)]
    for block in row_slices((len(Y), max(results.n_bootstrap, len(runs) * len(parameters))), itemsize=1):
        of_learners = []
        for of_learner in runs:
            losses = [row_losses(Y[block], run[block], get_family(family), parameters) for run in of_learner]
            of_learners.append(np.mean(losses, axis=0))
        n_rows = len(of_learners[0])
        yield Rows(np.hstack(of_learners), np.ones(n_rows, dtype=np.int64), np.ones(n_rows))


def _runs(results: "Results", dataset: str, learner: str, Y: np.ndarray) -> list[np.ndarray]:
    """Predictions for all rows, once for each seed and repeat."""
    runs: dict[tuple[int, int], np.ndarray] = {}
    for cell in results.cells(dataset, learner):
        predictions = results.cell_predictions(cell)
        run = runs.setdefault((cell.seed, cell.repeat), np.zeros(Y.shape, dtype=predictions.dtype))
        run[results.test_rows(cell)] = predictions
    return list(runs.values())


def fold_losses(results: "Results", dataset: str, learner: str, family: str) -> np.ndarray:
    """Losses by fold, of shape (n_repeats * n_folds, n_parameters), seeds averaged; of a learner that finished."""
    parameters = results.parameters(dataset, family)
    of_fold: dict[tuple[int, int], list[np.ndarray]] = {}
    for cell in results.cells(dataset, learner):
        losses = results.cell_profile(cell).losses(family, parameters)  # type: ignore[union-attr]
        of_fold.setdefault((cell.repeat, cell.fold), []).append(losses)
    return np.array([np.mean(seeds, axis=0) for _, seeds in sorted(of_fold.items())])
