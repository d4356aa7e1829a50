"""What claims are judged by: the curves of all learners on a data set, and how sure a number made of them is.

There are two kinds of evidence. *Our own runs* have folds: a number is computed from all test rows, and once more
without each fold; the spread of these goes into the corrected resampled t test, as `docs/significance.md` asks for
learners that are fitted anew in each fold. (For a difference of losses this is the t test over folds; pseudo-values of
the jackknife make it work for any number, such as where two curves cross.) The *published curves* have no folds and no
rows, but the histogram of wrong labels of each run follows from its curve. Rows are drawn from each histogram by
itself: the bootstrap without pairs. Learners tend to fail on the same rows, so paired intervals would be narrower; but
how learners change when they are fitted anew is not in them, and some runs are of fewer folds than others.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from choral._validation import ROUNDING
from choral.measures.families import FAMILIES, Family, get_family
from choral.paper.published import label_counts, predicts_nothing, published_profiles, published_runs
from choral.profiles import ErrorProfile
from choral.stats import bootstrap_band, corrected_resampled_t, corrected_t_interval
from choral.study import Results

NOTHING = "all irrelevant"  # the baseline that predicts no label at all, by its name in the plans
LEARNERS = ("BR", "CC", "LP", "RAkEL-2", "RAkEL-3", "RAkEL-4", "RAkEL-5", "PCT", "EPCT")  # of the paper, by its names
CONFIDENCE = 0.95
N_BOOTSTRAP = 1000
MIDDLE_HALF = np.linspace(0.25, 0.75, 51)


class Curves(NamedTuple):
    """The losses of all learners on a data set along a family: as they were measured, or in many samples at once.

    Losses are of shape (..., n_parameters); what the methods return is of shape (...).
    """

    x: np.ndarray  # places on the axis, from 0 (Hamming) to 1
    losses: Mapping[str, np.ndarray]

    def start(self, learner: str) -> Any:
        """Hamming loss."""
        return self.losses[learner][..., 0]

    def end(self, learner: str) -> Any:
        """The loss at the other end: subset 0/1 loss, or alpha = 1000."""
        return self.losses[learner][..., -1]

    def middle(self, learner: str) -> Any:
        """The mean loss over the middle half of the axis."""
        return np.apply_along_axis(self._mean_of_middle, -1, self.losses[learner])

    def _mean_of_middle(self, losses: np.ndarray) -> float:
        return float(np.interp(MIDDLE_HALF, self.x, losses).mean())

    def slope(self, learner: str) -> Any:
        """By how much the loss grows from end to end."""
        return self.end(learner) - self.start(learner)

    def distance(self, first: str, second: str) -> Any:
        """The mean absolute difference of two curves along the axis."""
        return np.trapezoid(np.abs(self.losses[first] - self.losses[second]), self.x, axis=-1)


class Estimate(NamedTuple):
    """A number with its 95 % interval, and the p-value of the test that it is 0; nan where it cannot be computed."""

    value: float
    lower: float
    upper: float
    pvalue: float


Statistic = Callable[[Mapping[str, Curves]], Any]  # of the curves by family: a number for each sample, nan for none


class Evidence(ABC):
    """Curves of learners on data sets, with their uncertainty."""

    datasets: tuple[str, ...]
    families: tuple[str, ...]

    @abstractmethod
    def learners(self, dataset: str) -> tuple[str, ...]:
        """The learners on a data set, the baseline among them."""

    @abstractmethod
    def curves(self, dataset: str) -> dict[str, Curves]:
        """All curves on a data set, by family."""

    @abstractmethod
    def profile(self, dataset: str, learner: str) -> ErrorProfile:
        """The errors of a learner on a data set."""

    @abstractmethod
    def predicts_nothing(self, dataset: str, learner: str) -> bool:
        """Whether a learner predicts no label at all on a data set."""

    @abstractmethod
    def estimate(self, dataset: str, statistic: Statistic) -> Estimate:
        """A number made of the curves, and how sure it is."""

    def n_labels(self, dataset: str) -> int:
        """The number of labels of a data set."""
        return self.profile(dataset, self.learners(dataset)[0]).n_labels

    def competitors(self, dataset: str) -> tuple[str, ...]:
        """The learners of the paper that are there on a data set."""
        return tuple(learner for learner in LEARNERS if learner in self.learners(dataset))


class OwnRuns(Evidence):
    """The runs of a study.

    Parameters
    ----------
    results : Results
        Of a study with a single prediction for each learner and row.
    """

    def __init__(self, results: Results):
        self.results = results
        self.datasets = tuple(dataset for dataset in results.datasets if self.learners(dataset))
        self.families = results.families
        self._pooled: dict[str, dict[str, Curves]] = {}

    def learners(self, dataset: str) -> tuple[str, ...]:
        """See `Evidence`."""
        return tuple(name for name in self.results.finished(dataset) if name not in self.results.each_loss)

    def profile(self, dataset: str, learner: str) -> ErrorProfile:
        """See `Evidence`."""
        return self.results.profile(dataset, learner)

    def predicts_nothing(self, dataset: str, learner: str) -> bool:
        """See `Evidence`."""
        is_nothing = self.results.predictions == "hard" and self.results.baseline == NOTHING
        return is_nothing and learner in self.results.same_as_baseline(dataset)

    def curves(self, dataset: str) -> dict[str, Curves]:
        """See `Evidence`."""
        return {
            family: Curves(curves.x, {name: losses[0] for name, losses in curves.losses.items()})
            for family, curves in self._with_and_without(dataset).items()
        }

    def estimate(self, dataset: str, statistic: Statistic) -> Estimate:
        """By the corrected t test over the folds; see above."""
        found = np.asarray(statistic(self._with_and_without(dataset)))
        value, without = float(found[0]), found[1:]
        if not np.isfinite(found).all():
            return Estimate(value, np.nan, np.nan, np.nan)
        by_fold = value + (len(without) - 1) * (without.mean() - without)  # pseudo-values; their mean is the value
        test_share = self.results.test_share(dataset)
        lower, upper = corrected_t_interval(by_fold, test_share=test_share, confidence=CONFIDENCE)
        pvalue = corrected_resampled_t(by_fold, test_share=test_share).pvalue
        return Estimate(value, float(lower), float(upper), float(pvalue))

    def _with_and_without(self, dataset: str) -> dict[str, Curves]:
        """The curves of all test rows, then those without the first fold, without the second, and so on."""
        if dataset not in self._pooled:
            self._pooled[dataset] = {family: self._pool(dataset, family) for family in self.families}
        return self._pooled[dataset]

    def _pool(self, dataset: str, family: str) -> Curves:
        parameters = self.results.parameters(dataset, family)
        x = np.minimum(get_family(family).position(parameters, self.results.n_labels(dataset)), 1)  # alpha may be inf
        sizes = self.results.fold_sizes(dataset)
        weights = np.vstack([sizes, sizes * (1 - np.eye(len(sizes)))])
        shares = weights / weights.sum(axis=1, keepdims=True)
        by_fold = {name: self.results.fold_losses(dataset, name, family) for name in self.learners(dataset)}
        return Curves(x, {name: shares @ losses for name, losses in by_fold.items()})


class PublishedCurves(Evidence):
    """The curves that were published with the paper, on five data sets; the baseline follows from the labels there."""

    def __init__(self) -> None:
        self._profiles: dict[str, dict[str, ErrorProfile]] = {}
        for (dataset, learner), profile in published_profiles().items():
            if learner in LEARNERS:
                self._profiles.setdefault(dataset, {})[learner] = profile
        for dataset, profiles in self._profiles.items():
            profiles[NOTHING] = ErrorProfile.from_histogram(label_counts(dataset).sum(axis=0).tolist())
        self.datasets, self.families = tuple(self._profiles), tuple(FAMILIES)
        self._samples: dict[str, dict[str, Curves]] = {}

    def learners(self, dataset: str) -> tuple[str, ...]:
        """See `Evidence`."""
        return tuple(self._profiles[dataset])

    def profile(self, dataset: str, learner: str) -> ErrorProfile:
        """See `Evidence`."""
        return self._profiles[dataset][learner]

    def predicts_nothing(self, dataset: str, learner: str) -> bool:
        """See `Evidence`."""
        return learner != NOTHING and predicts_nothing(dataset, learner)

    def curves(self, dataset: str) -> dict[str, Curves]:
        """See `Evidence`."""
        n_labels = self._profiles[dataset][NOTHING].n_labels
        published = {name: published_runs()[dataset, name].losses for name in self.competitors(dataset)}
        found = {}
        for family in FAMILIES.values():
            losses = {name: by_family[family.name] for name, by_family in published.items()}
            losses[NOTHING] = self._profiles[dataset][NOTHING].losses(family.name)
            found[family.name] = Curves(family.position(family.default_parameters(n_labels), n_labels), losses)
        return found

    def estimate(self, dataset: str, statistic: Statistic) -> Estimate:
        """By the bootstrap, the rows of each learner drawn by themselves."""
        value, found = float(statistic(self.curves(dataset))), np.asarray(statistic(self._draw(dataset)))
        if not np.isfinite([value, *found]).all():
            return Estimate(value, np.nan, np.nan, np.nan)
        lower, upper = bootstrap_band(found, CONFIDENCE)
        return Estimate(value, float(lower), float(upper), _normal_pvalue(value, float(found.std())))

    def _draw(self, dataset: str) -> dict[str, Curves]:
        """The curves of all samples."""
        if dataset not in self._samples:
            rng = np.random.default_rng(0)
            counts = {
                name: rng.multinomial(profile.n_rows, profile.rows_by_errors / profile.n_rows, size=N_BOOTSTRAP)
                for name, profile in self._profiles[dataset].items()
            }
            self._samples[dataset] = {name: _curves_of_counts(family, counts) for name, family in FAMILIES.items()}
        return self._samples[dataset]


def _curves_of_counts(family: Family, counts: Mapping[str, np.ndarray]) -> Curves:
    """The curves of histograms of wrong labels, of shape (n_samples, K + 1) for each learner."""
    n_labels = next(iter(counts.values())).shape[1] - 1
    parameters = family.default_parameters(n_labels)
    deficits = family.deficits(parameters, n_labels, n_labels)
    losses = {name: rows @ deficits.T / rows.sum(axis=1, keepdims=True) for name, rows in counts.items()}
    return Curves(family.position(parameters, n_labels), losses)


def _normal_pvalue(value: float, error: float) -> float:
    """Two-sided; the share of samples beyond 0 could not be small enough to be adjusted over many tests."""
    from scipy.stats import norm

    return float(2 * norm.sf(abs(value) / error)) if error > ROUNDING else float(abs(value) <= ROUNDING)
