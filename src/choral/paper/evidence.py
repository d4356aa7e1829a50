"""What claims are judged by: the curves of all learners on a data set, and how sure a number made of them is.

There are two kinds of evidence. *Our own runs* have folds: a number is computed from all test rows, and once more
without each fold; the spread of these goes into the corrected resampled t test, as `docs/significance.md` asks for
learners that are fitted anew in each fold. (For a difference of losses this is the t test over folds; pseudo-values of
the jackknife make it work for any number, such as where two curves cross.) The *published curves* have no folds and no
rows, but the histogram of wrong labels of each run follows from its curve. Rows are drawn from each histogram by
itself: the bootstrap without pairs. Learners tend to fail on the same rows, so paired intervals would be narrower:
these ones are careful.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from choral._validation import ROUNDING
from choral.measures.families import FAMILIES, get_family
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
    """The losses of all learners on a data set along a family: as they were measured, or in a sample."""

    x: np.ndarray  # places on the axis, from 0 (Hamming) to 1
    losses: Mapping[str, np.ndarray]

    def start(self, learner: str) -> float:
        """Hamming loss."""
        return float(self.losses[learner][0])

    def end(self, learner: str) -> float:
        """The loss at the other end: subset 0/1 loss, or alpha = 1000."""
        return float(self.losses[learner][-1])

    def middle(self, learner: str) -> float:
        """The mean loss over the middle half of the axis."""
        return float(np.interp(MIDDLE_HALF, self.x, self.losses[learner]).mean())

    def slope(self, learner: str) -> float:
        """By how much the loss grows from end to end."""
        return self.end(learner) - self.start(learner)

    def distance(self, first: str, second: str) -> float:
        """The mean absolute difference of two curves along the axis."""
        return float(np.trapezoid(np.abs(self.losses[first] - self.losses[second]), self.x))


class Estimate(NamedTuple):
    """A number with its 95 % interval, and the p-value of the test that it is 0; nan where it cannot be computed."""

    value: float
    lower: float
    upper: float
    pvalue: float


Statistic = Callable[[Mapping[str, Curves]], float]  # of the curves by family; nan where it is not defined


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
        self._pooled: dict[str, list[dict[str, Curves]]] = {}

    def learners(self, dataset: str) -> tuple[str, ...]:
        """See `Evidence`."""
        return tuple(name for name in self.results.finished(dataset) if name not in self.results.each_loss)

    def profile(self, dataset: str, learner: str) -> ErrorProfile:
        """See `Evidence`."""
        return self.results.profile(dataset, learner)

    def predicts_nothing(self, dataset: str, learner: str) -> bool:
        """See `Evidence`."""
        return self.results.baseline == NOTHING and learner in self.results.same_as_baseline(dataset)

    def curves(self, dataset: str) -> dict[str, Curves]:
        """See `Evidence`."""
        return self._with_and_without(dataset)[0]

    def estimate(self, dataset: str, statistic: Statistic) -> Estimate:
        """By the corrected t test over the folds; see above."""
        value, *found = map(statistic, self._with_and_without(dataset))
        without = np.array(found)
        if not np.isfinite([value, *found]).all():
            return Estimate(value, np.nan, np.nan, np.nan)
        by_fold = value + (len(found) - 1) * (without.mean() - without)  # pseudo-values; their mean is the value itself
        test_share = self.results.test_share(dataset)
        lower, upper = corrected_t_interval(by_fold, test_share=test_share, confidence=CONFIDENCE)
        pvalue = corrected_resampled_t(by_fold, test_share=test_share).pvalue
        return Estimate(value, float(lower), float(upper), float(pvalue))

    def _with_and_without(self, dataset: str) -> list[dict[str, Curves]]:
        """The curves of all test rows, then those without the first fold, without the second, and so on."""
        if dataset not in self._pooled:
            sizes = self.results.fold_sizes(dataset)
            folds = range(len(sizes))
            weights = [sizes, *(np.where(np.arange(len(sizes)) == fold, 0, sizes) for fold in folds)]
            by_family = [self._pool(dataset, family, np.array(weights)) for family in self.families]
            self._pooled[dataset] = [
                dict(zip(self.families, found, strict=True)) for found in zip(*by_family, strict=True)
            ]
        return self._pooled[dataset]

    def _pool(self, dataset: str, family: str, weights: np.ndarray) -> list[Curves]:
        """Curves along a family by losses of folds and their weights, of shape (n_pools, n_folds)."""
        parameters = self.results.parameters(dataset, family)
        x = get_family(family).position(parameters, self.results.n_labels(dataset))
        shares = weights / weights.sum(axis=1, keepdims=True)
        losses = {name: shares @ self.results.fold_losses(dataset, name, family) for name in self.learners(dataset)}
        return _split(Curves(x, losses))


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
        self._samples: dict[str, list[dict[str, Curves]]] = {}

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
        value = statistic(self.curves(dataset))
        found = np.array([statistic(sample) for sample in self._draw(dataset)])
        if not np.isfinite([value, *found]).all():
            return Estimate(value, np.nan, np.nan, np.nan)
        lower, upper = bootstrap_band(found, CONFIDENCE)
        return Estimate(value, float(lower), float(upper), _normal_pvalue(value, float(found.std())))

    def _draw(self, dataset: str) -> list[dict[str, Curves]]:
        """The curves of each sample."""
        if dataset not in self._samples:
            rng = np.random.default_rng(0)
            counts = {
                name: rng.multinomial(profile.n_rows, profile.rows_by_errors / profile.n_rows, size=N_BOOTSTRAP)
                for name, profile in self._profiles[dataset].items()
            }
            self._samples[dataset] = _curves_of_counts(counts)
        return self._samples[dataset]


def _curves_of_counts(counts: Mapping[str, np.ndarray]) -> list[dict[str, Curves]]:
    """The curves of histograms of wrong labels, of shape (n_samples, K + 1) for each learner."""
    n_labels = next(iter(counts.values())).shape[1] - 1
    by_family = []
    for family in FAMILIES.values():
        parameters = family.default_parameters(n_labels)
        deficits = family.deficits(parameters, n_labels, n_labels)
        losses = {name: rows @ deficits.T / rows.sum(axis=1, keepdims=True) for name, rows in counts.items()}
        by_family.append(_split(Curves(family.position(parameters, n_labels), losses)))
    return [dict(zip(FAMILIES, found, strict=True)) for found in zip(*by_family, strict=True)]


def _normal_pvalue(value: float, error: float) -> float:
    """Two-sided; the share of samples beyond 0 could not be small enough to be adjusted over many tests."""
    from scipy.stats import norm

    return float(2 * norm.sf(abs(value) / error)) if error > ROUNDING else float(abs(value) <= ROUNDING)


def _split(curves: Curves) -> list[Curves]:
    """Curves with losses of shape (n_samples, n_parameters), sample by sample."""
    n_samples = len(next(iter(curves.losses.values()), ()))
    return [
        Curves(curves.x, {name: losses[index] for name, losses in curves.losses.items()}) for index in range(n_samples)
    ]
