"""What `scripts/network_study.py` found: losses by fold, and comparisons of ways to train and to decide."""

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from choral.stats import compare_ranks, corrected_resampled_t, holm

PLACES = ("1", "2", "K/2", "K")
LOGISTIC, ABSOLUTE, LABEL_SETS = "logistic, k = {}", "absolute, k = {}", "label sets, k = {}"
SURE = 0.05  # p-values up to this
LOSSES = (
    "BCE",
    *(loss.format(place) for loss in (LOGISTIC, ABSOLUTE, LABEL_SETS) for place in PLACES),
    "focal",
    "asymmetric",
)


@dataclass(frozen=True)
class Way:
    """A loss to train with, and a rule to decide by.

    ``{}`` in the loss stands for the k that judges; capped, for the least of it and k* (see `Study.cap`).
    """

    loss: str
    rule: str = "ensemble"
    capped: bool = False


BCE = Way("BCE")
COMPARED = {
    "BCE, tuned threshold": Way("BCE", "tuned"),
    "BCE, votes": Way("BCE", "votes"),
    "BCE, `JointCalibrator`": Way("BCE", "calibrated"),
    "BCE, one `JointCalibrator`": Way("BCE", "calibrated by one"),
    "label sets": Way(LABEL_SETS),
    "label sets, k = K/2": Way(LABEL_SETS.format("K/2")),
    "logistic": Way(LOGISTIC),
    "logistic, up to k*": Way(LOGISTIC, capped=True),
    "absolute": Way(ABSOLUTE),
    "absolute, up to k*": Way(ABSOLUTE, capped=True),
    "absolute, up to k*, votes": Way(ABSOLUTE, "votes", capped=True),
    "absolute, k = 2": Way(ABSOLUTE.format(2)),
    "focal": Way("focal"),
    "focal, tuned threshold": Way("focal", "tuned"),
    "asymmetric": Way("asymmetric"),
    "asymmetric, tuned threshold": Way("asymmetric", "tuned"),
}


@dataclass(frozen=True)
class Difference:
    """A mean difference of losses, and whether it is surely not 0."""

    mean: float
    is_sure: bool

    def __str__(self) -> str:
        text = f"{self.mean:+.4f}".replace("-0.0000", "0").replace("+0.0000", "0")
        return f"**{text}**" if self.is_sure else text


@dataclass(frozen=True)
class Summary:
    """A way beside BCE at one place: the mean difference over data sets, and on how many of them it is what."""

    over_all: Difference
    n_datasets: int
    n_lower: int
    n_surely_lower: int
    n_surely_higher: int

    def __str__(self) -> str:
        return f"{self.over_all}; {self.n_lower}, {self.n_surely_lower}, {self.n_surely_higher}"


Summaries = dict[tuple[str, str], Summary]


class Study:
    """The losses of all folds, and what follows from them.

    A data set counts if all trainings and decisions are there; `left_out` names the others.
    """

    def __init__(self, file: Path):
        found = json.loads(file.read_text(encoding="utf-8"))
        self.settings = found["settings"]
        everything = set().union(*(of["losses"] for of in found["datasets"].values()))
        n_folds = self.settings["n_folds"]
        is_whole = {
            name: everything == of["losses"].keys() and len(of["calibrated"]) == n_folds
            for name, of in found["datasets"].items()
        }
        whole = {name: found["datasets"][name] for name, complete in is_whole.items() if complete}
        if not whole:
            raise ValueError(f"no data set of {file} is complete.")
        self.datasets = dict(sorted(whole.items(), key=lambda item: item[1]["places"]["K"]))
        self.left_out = [name for name, complete in is_whole.items() if not complete]
        for of in whole.values():
            for fold, losses in of["calibrated"].items():
                of["losses"]["BCE"]["folds"][int(fold)] |= losses
        self.losses = [loss for loss in LOSSES if loss in everything]
        self.cases = [(dataset, place) for dataset in self.datasets for place in PLACES]

    def k(self, dataset: str, place: str) -> int:
        """The number that a place stands for."""
        return self.datasets[dataset]["places"][place]

    def folds(self, dataset: str, place: str, way: Way) -> np.ndarray:
        """The losses of a way by fold."""
        losses = self.datasets[dataset]["losses"]
        trained = [self.trained_with(dataset, place, way, fold) for fold in range(self.settings["n_folds"])]
        return np.array(
            [losses[loss]["folds"][fold][way.rule][PLACES.index(place)] for fold, loss in enumerate(trained)]
        )

    def trained_with(self, dataset: str, place: str, way: Way, fold: int) -> str:
        """The loss that a way trains with where it is judged at a place."""
        place = min(place, self.cap(dataset, fold), key=PLACES.index) if way.capped else place
        # the logistic surrogate at k = 1 is BCE
        return "BCE" if (way.loss, place) == (LOGISTIC, "1") else way.loss.format(place)

    def cap(self, dataset: str, fold: int) -> str:
        """k*, the last place at which BCE's loss is below 1/2, that of the score 1/2 for everything.

        It is read from the training rows that were held out from each network.
        """
        losses = self.datasets[dataset]["losses"]["BCE"]["held_out"][fold]
        return next((PLACES[at] for at in (3, 2, 1) if losses[at] < 0.5), PLACES[0])

    def caps(self, dataset: str) -> dict[int, int]:
        """In how many folds k* is what."""
        caps = (self.k(dataset, self.cap(dataset, fold)) for fold in range(self.settings["n_folds"]))
        return dict(sorted(Counter(caps).items()))

    def mean(self, place: str, way: Way) -> float:
        """The loss of a way, a mean over data sets."""
        return float(np.mean([self.folds(name, place, way).mean() for name in self.datasets]))

    def mean_difference(self, place: str, way: Way) -> float:
        """The same, less that of BCE."""
        return self.mean(place, way) - self.mean(place, BCE)

    def compare(self, way: Way, other: Way = BCE) -> dict[tuple[str, str], Difference]:
        """The loss of one way less that of another in all cases; their tests are read together."""
        differences = np.stack([self.folds(*case, way) - self.folds(*case, other) for case in self.cases], axis=1)
        tests = corrected_resampled_t(differences, test_share=1 / (self.settings["n_folds"] - 1))
        found = zip(differences.mean(axis=0), holm(tests.pvalue) <= SURE, strict=True)
        return dict(zip(self.cases, (Difference(float(mean), bool(sure)) for mean, sure in found), strict=True))

    def summarise(self, ways: dict[str, Way] = COMPARED, other: Way = BCE) -> Summaries:
        """All ways at all places; over data sets Wilcoxon's signed-rank test, read together for all ways at a place."""
        compared = {name: self.compare(way, other) for name, way in ways.items()}
        found = {}
        for place in PLACES:
            here = {name: [each[dataset, place] for dataset in self.datasets] for name, each in compared.items()}
            pvalues = holm([_signed_rank(differences) for differences in here.values()])
            for (name, differences), pvalue in zip(here.items(), pvalues, strict=True):
                found[name, place] = _summary(differences, bool(pvalue <= SURE))
        return found

    @cached_property
    def saturated(self) -> list[str]:
        """Where hardly any prediction of any network is right: cases in which nothing can be compared."""
        found = []
        for dataset, place in self.cases:
            at = PLACES.index(place)
            rules = (fold[rule][at] for of in self.datasets[dataset]["losses"].values() for fold in of["folds"]
                     for rule in fold)  # fmt: skip
            if min(rules) > 0.999:
                found.append(f"{dataset} at k = {self.k(dataset, place)}")
        return found


def _signed_rank(differences: list[Difference]) -> float:
    """The p-value of Wilcoxon's signed-rank test, exact; data sets without a difference do not count."""
    means = np.array([each.mean for each in differences])
    return float(compare_ranks(np.column_stack([means, np.zeros_like(means)])).wilcoxon[0, 1])


def _summary(differences: list[Difference], is_sure: bool) -> Summary:
    over_all = Difference(float(np.mean([each.mean for each in differences])), is_sure)
    lower, higher = ([each for each in differences if round(sign * each.mean, 4) > 0] for sign in (-1, 1))  # as shown
    surely = (sum(each.is_sure for each in side) for side in (lower, higher))
    return Summary(over_all, len(differences), len(lower), *surely)
