"""Comparisons of the learners of a study: intervals and tests along a curve, and ranks over data sets."""

import os
from collections.abc import Iterator
from functools import cached_property, reduce
from itertools import combinations
from operator import add
from typing import Any, NamedTuple

import numpy as np

from choral._text import join_names
from choral.curves import LossCurve, PairwiseCurve
from choral.evaluation.references import Togetherness, togetherness_interval
from choral.measures.families import Family, get_family
from choral.profiles import ErrorProfile, LabelErrorRates, ObservedProfile, row_losses
from choral.rows import open_rows
from choral.rows.blocks import row_slices
from choral.stats import (
    Band,
    RankComparison,
    WeightedLosses,
    bootstrap_band,
    bootstrap_means,
    compare_ranks,
    corrected_resampled_t,
    holm,
)
from choral.study.records import Records

AnyProfile = ErrorProfile | ObservedProfile
PLACES = {"Hamming": 0.0, "middle": 0.5, "subset 0/1": 1.0}  # on the axis of a family


class PairDifference(NamedTuple):
    """Loss of the second learner minus that of the first at each parameter: positive where the first is better."""

    estimate: np.ndarray
    lower: np.ndarray  # paired bootstrap over rows
    upper: np.ndarray
    pvalue: np.ndarray  # corrected resampled t test over folds, Holm-adjusted over the parameters


class Comparisons(Records):
    """Learners compared by their records: see `choral.study.Results`."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        n_bootstrap: int = 1000,
        confidence: float = 0.95,
        study: dict[str, Any] | None = None,
    ):
        super().__init__(folder, study)
        self.n_bootstrap, self.confidence = n_bootstrap, confidence

    def bands(self, dataset: str, family: str) -> dict[str, Band]:
        """Bootstrap intervals of the curves on a data set."""
        samples = self.bootstrap_losses(dataset, family)
        return {
            learner: bootstrap_band(samples[:, index], self.confidence)
            for index, learner in enumerate(self.finished(dataset))
        }

    def togetherness(self, dataset: str, family: str) -> dict[str, Togetherness]:
        """Whether mistakes are in few rows (1) or spread evenly (0), with intervals: see `LossCurve.togetherness`.

        For the learners that finished on a data set, but not for those that predict anew for each loss. Of predictions
        of several repeats and seeds, that of all together.
        """
        return self._cached(("togetherness", dataset, family), lambda: self._find_togetherness(dataset, family))

    def _find_togetherness(self, dataset: str, family: str) -> dict[str, Togetherness]:
        samples, parameters = self.bootstrap_losses(dataset, family), self.parameters(dataset, family)
        found = {}
        for index, learner in enumerate(self.finished(dataset)):
            if learner not in self.each_loss and self.n_labels(dataset) > 1:
                profile = self.profile(dataset, learner)
                own = samples[:, index] if len(samples) else None
                lower, upper = togetherness_interval(profile, family, parameters, own, self.confidence) or (None, None)
                by_chance = self._independent_profile(dataset, learner).togetherness(family)
                found[learner] = Togetherness(profile.togetherness(family), lower, upper, by_chance)
        return found

    def _independent_profile(self, dataset: str, learner: str) -> AnyProfile:
        """The errors of a learner if those of different labels were independent, at the same rates."""
        return self._cached(("independent", dataset, learner), lambda: self._make_independent(dataset, learner))

    def _make_independent(self, dataset: str, learner: str) -> AnyProfile:
        Y, _ = self.labels(dataset)
        runs = self._runs(dataset, learner, self.families[0])
        return reduce(add, [LabelErrorRates.from_predictions(Y, run) for run in runs]).independent_profile()

    def pairs(self, first: str, second: str, family: str) -> dict[str, PairwiseCurve]:
        """Two learners against each other, on all data sets where both finished."""
        return {
            dataset: PairwiseCurve(self.curve(dataset, first, family), self.curve(dataset, second, family))
            for dataset in self.datasets
            if {first, second} <= set(self.finished(dataset))
        }

    def differences(self, dataset: str, family: str) -> dict[tuple[str, str], PairDifference]:
        """All pairs of competitors on a data set, with paired intervals and tests along the curve."""
        return self._cached(("differences", dataset, family), lambda: self._compare_pairs(dataset, family))

    def _compare_pairs(self, dataset: str, family: str) -> dict[tuple[str, str], PairDifference]:
        samples, curves = self.bootstrap_losses(dataset, family), self.curves(dataset, family)
        folds = {learner: self.fold_losses(dataset, learner, family) for learner in curves}
        found = {}
        for (i, first), (j, second) in combinations(enumerate(curves), 2):
            if self.baseline not in (first, second):
                band = bootstrap_band(samples[:, j] - samples[:, i], self.confidence)
                test = corrected_resampled_t(folds[second] - folds[first], test_share=self.test_share(dataset))
                estimate = curves[second].losses - curves[first].losses
                found[first, second] = PairDifference(estimate, *band, holm(test.pvalue))
        return found

    def bootstrap_losses(self, dataset: str, family: str) -> np.ndarray:
        """Losses in bootstrap samples, the same rows for all learners.

        Of shape (n_bootstrap, n_finished, n_parameters).
        """
        return self._cached(("bootstrap", dataset, family), lambda: self._draw_losses(dataset, family))

    def _draw_losses(self, dataset: str, family: str) -> np.ndarray:
        shape = self.n_bootstrap, len(self.finished(dataset)), len(self.parameters(dataset, family))
        if 0 in shape:
            return np.zeros(shape)
        blocks = self._row_blocks(dataset, family)
        return bootstrap_means(blocks, self.n_bootstrap, np.random.default_rng(0)).reshape(shape)

    def _row_blocks(self, dataset: str, family: str) -> Iterator[WeightedLosses]:
        """Rows of a data set with their losses under each learner and parameter, averaged over repeats and seeds."""
        Y, _ = self.labels(dataset)
        parameters = self.parameters(dataset, family)
        runs = {learner: self._runs(dataset, learner, family) for learner in self.finished(dataset)}
        # blocks, and so samples, are the same for all families
        n_parameters = max(len(self.parameters(dataset, name)) for name in self.families)
        for block in row_slices((len(Y), max(self.n_bootstrap, len(runs) * n_parameters)), itemsize=1):
            of_learners = []
            for learner, of_learner in runs.items():
                losses_of = _losses_by_errors if learner in self.each_loss else _losses_of_labels
                losses = [losses_of(Y[block], run[block], get_family(family), parameters) for run in of_learner]
                of_learners.append(np.mean(losses, axis=0))
            n_rows = len(of_learners[0])
            yield WeightedLosses(np.hstack(of_learners), np.ones(n_rows, dtype=np.int64), np.ones(n_rows))

    def _runs(self, dataset: str, learner: str, family: str) -> list[np.ndarray]:
        """For each seed and repeat, the predictions of all rows.

        For a learner that predicts anew for each loss, the numbers of wrong labels instead, of shape (n_rows,
        n_parameters): all its predictions would take too much memory.
        """
        Y, _ = self.labels(dataset)
        runs: dict[tuple[int, int], np.ndarray] = {}
        for cell in self.cells(dataset, learner):
            test, found = self.test_rows(cell), self.cell_predictions(cell)
            if learner in self.each_loss:
                found = np.count_nonzero(found[self.family_slice(dataset, family)] != Y[test], axis=2).T.astype(
                    np.int32
                )
            run = runs.setdefault((cell.seed, cell.repeat), np.zeros((len(Y), found.shape[1]), dtype=found.dtype))
            run[test] = found
        return list(runs.values())

    def fold_losses(self, dataset: str, learner: str, family: str) -> np.ndarray:
        """Losses of a learner in each fold, means over seeds: what `corrected_resampled_t` takes differences of.

        Of shape (n_repeats * n_folds, n_parameters); folds come in the same order for all learners.
        """
        self._check_finished(dataset, learner)
        return self._cached(("folds", dataset, learner, family), lambda: self._losses_by_fold(dataset, learner, family))

    def _losses_by_fold(self, dataset: str, learner: str, family: str) -> np.ndarray:
        of_fold: dict[tuple[int, int], list[np.ndarray]] = {}
        for cell in self.cells(dataset, learner):
            of_fold.setdefault((cell.repeat, cell.fold), []).append(self.cell_losses(cell, family))
        return np.array([np.mean(seeds, axis=0) for _, seeds in sorted(of_fold.items())])

    def fold_sizes(self, dataset: str) -> np.ndarray:
        """The number of test rows of each fold, of shape (n_repeats * n_folds,), in the order of `fold_losses`."""
        return np.concatenate([np.bincount(numbers) for numbers in self._stored_labels(dataset).fold_numbers])

    def n_folds(self, dataset: str) -> int:
        """The number of folds of a data set, over all repeats."""
        fold_numbers = self._stored_labels(dataset).fold_numbers
        return len(fold_numbers) * (int(fold_numbers.max()) + 1)

    def test_share(self, dataset: str) -> float:
        """The number of test rows of a fold as a share of its training rows: 1 / 9 with ten folds."""
        return 1 / int(self._stored_labels(dataset).fold_numbers.max())

    def places(self, family: str) -> dict[str, float]:
        """Where learners are compared over data sets: ends and middle of the axis, as far as all curves reach."""
        curves = [curve for dataset in self.datasets for curve in self.curves(dataset, family).values()]
        return {place: x for place, x in PLACES.items() if all(_reaches(curve, x) for curve in curves)}

    def loss_at(self, dataset: str, learner: str, family: str, x: float) -> float:
        """The loss at a place on the axis, 0 for Hamming and 1 for subset 0/1, interpolated between parameters."""
        curve = self.curve(dataset, learner, family)
        if not _reaches(curve, x):
            reach = f"{float(curve.x[0]):g} to {float(curve.x[-1]):g}"
            raise ValueError(f"the parameters of {family} on {dataset} reach from x = {reach}; got {x:g}.")
        return float(np.interp(x, curve.x, curve.losses))

    @cached_property
    def complete_datasets(self) -> list[str]:
        """The data sets on which all competitors finished."""
        return [dataset for dataset in self.datasets if set(self.competitors) <= set(self.finished(dataset))]

    def rank_comparison(self, family: str, x: float) -> RankComparison:
        """Learners compared over data sets by their loss at a place on the axis, 0 for Hamming, 1 for subset 0/1.

        Of the data sets, those where all competitors finished.
        """
        if not self._has_ranks:
            raise ValueError(
                "ranks compare at least two learners on at least two data sets where all of them finished; "
                f"got {len(self.competitors)} and {len(self.complete_datasets)}."
            )
        return self._cached(("ranks", family, x), lambda: self._compare_ranks(family, x))

    def _compare_ranks(self, family: str, x: float) -> RankComparison:
        losses = [
            [self.loss_at(dataset, learner, family, x) for learner in self.competitors]
            for dataset in self.complete_datasets
        ]
        return compare_ranks(losses, self.competitors, confidence=self.confidence)

    def ranks_or_none(self, family: str, x: float) -> RankComparison | None:
        """`rank_comparison`, or None where there are too few learners or data sets for it."""
        return self.rank_comparison(family, x) if self._has_ranks else None

    @property
    def _has_ranks(self) -> bool:
        return len(self.complete_datasets) > 1 and len(self.competitors) > 1


def _reaches(curve: LossCurve, x: float) -> bool:
    """Whether a place on the axis lies on a curve; with a single label, its one point stands for every place."""
    return bool(curve.x[0] <= x <= curve.x[-1]) or curve.n_labels == 1


def _losses_of_labels(true: np.ndarray, pred: np.ndarray, family: Family, parameters: np.ndarray) -> np.ndarray:
    return row_losses(open_rows(true, pred), family, parameters)


def _losses_by_errors(true: np.ndarray, wrong: np.ndarray, family: Family, parameters: np.ndarray) -> np.ndarray:
    """As `row_losses`, from the number of wrong labels of each row in the labels predicted for each parameter."""
    deficits = family.deficits(parameters, true.shape[1], int(wrong.max()))
    return np.take_along_axis(deficits.T, wrong, axis=0)


def place_in_words(family: str, place: str) -> str:
    """A place on the axis as a loss.

    Examples
    --------
    >>> place_in_words("binomial", "middle"), place_in_words("polynomial", "subset 0/1")
    ('the binomial loss halfway between the ends', 'the polynomial loss at alpha = 1000')
    """
    if place == "Hamming":
        return "Hamming loss"
    if place == "middle":
        return f"the {family} loss halfway between the ends"
    return "subset 0/1 loss" if family == "binomial" else f"the polynomial loss at {get_family(family).symbol} = 1000"


def same_as_baseline_in_words(results: Comparisons) -> list[str]:
    """A sentence for each learner that predicts the same as the baseline on some data sets."""
    found = {
        learner: [dataset for dataset in results.datasets if learner in results.same_as_baseline(dataset)]
        for learner in results.competitors
    }
    return [
        f"{learner} predicts the same as the baseline ({results.baseline}) on {join_names(datasets)}."
        for learner, datasets in found.items()
        if datasets
    ]
