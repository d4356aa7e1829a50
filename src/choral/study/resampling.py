"""What intervals and tests along a curve are made of: losses in bootstrap samples of rows, and losses by fold."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from choral.measures.families import Family, get_family
from choral.profiles import row_losses
from choral.rows import open_rows
from choral.rows.blocks import row_slices
from choral.stats import WeightedLosses, bootstrap_means

if TYPE_CHECKING:
    from choral.study.results import Results


def bootstrap_losses(results: "Results", dataset: str, family: str) -> np.ndarray:
    """Losses in bootstrap samples, of shape (n_bootstrap, n_finished, n_parameters); the same rows for all learners."""
    shape = results.n_bootstrap, len(results.finished(dataset)), len(results.parameters(dataset, family))
    if 0 in shape:
        return np.zeros(shape)
    blocks = _row_blocks(results, dataset, family)
    return bootstrap_means(blocks, results.n_bootstrap, np.random.default_rng(0)).reshape(shape)


def _row_blocks(results: "Results", dataset: str, family: str) -> Iterator[WeightedLosses]:
    """Rows of a data set with their losses under each learner and parameter, averaged over repeats and seeds."""
    Y, _ = results.labels(dataset)
    parameters = results.parameters(dataset, family)
    runs = {learner: _runs(results, dataset, learner, family) for learner in results.finished(dataset)}
    most = max(len(results.parameters(dataset, name)) for name in results.families)  # the same samples for all families
    for block in row_slices((len(Y), max(results.n_bootstrap, len(runs) * most)), itemsize=1):
        of_learners = []
        for learner, of_learner in runs.items():
            losses_of = _losses_by_errors if learner in results.each_loss else _losses_of_labels
            losses = [losses_of(Y[block], run[block], get_family(family), parameters) for run in of_learner]
            of_learners.append(np.mean(losses, axis=0))
        n_rows = len(of_learners[0])
        yield WeightedLosses(np.hstack(of_learners), np.ones(n_rows, dtype=np.int64), np.ones(n_rows))


def _runs(results: "Results", dataset: str, learner: str, family: str) -> list[np.ndarray]:
    """Once for each seed and repeat, for all rows: predictions, or how many labels are wrong in those for each loss."""
    Y, _ = results.labels(dataset)
    runs: dict[tuple[int, int], np.ndarray] = {}
    for cell in results.cells(dataset, learner):
        test, found = results.test_rows(cell), results.cell_predictions(cell)
        if learner in results.each_loss:  # of so many predictions, errors are what fits into memory
            found = np.count_nonzero(found[results.part(dataset, family)] != Y[test], axis=2).T.astype(np.int32)
        run = runs.setdefault((cell.seed, cell.repeat), np.zeros((len(Y), found.shape[1]), dtype=found.dtype))
        run[test] = found
    return list(runs.values())


def _losses_of_labels(true: np.ndarray, pred: np.ndarray, family: Family, parameters: np.ndarray) -> np.ndarray:
    return row_losses(open_rows(true, pred), family, parameters)


def _losses_by_errors(true: np.ndarray, wrong: np.ndarray, family: Family, parameters: np.ndarray) -> np.ndarray:
    """As `row_losses`, from the number of wrong labels of each row in what was predicted for each parameter."""
    deficits = family.deficits(parameters, true.shape[1], int(wrong.max()))
    return np.take_along_axis(deficits.T, wrong, axis=0)


def fold_losses(results: "Results", dataset: str, learner: str, family: str) -> np.ndarray:
    """Losses by fold, of shape (n_repeats * n_folds, n_parameters), seeds averaged; of a learner that finished."""
    of_fold: dict[tuple[int, int], list[np.ndarray]] = {}
    for cell in results.cells(dataset, learner):
        of_fold.setdefault((cell.repeat, cell.fold), []).append(results.cell_losses(cell, family))
    return np.array([np.mean(seeds, axis=0) for _, seeds in sorted(of_fold.items())])
