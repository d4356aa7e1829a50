"""What `scripts/network_study.py` found: losses by fold, and comparisons of ways to train and to decide."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from choral.stats import corrected_resampled_t, holm

DATASETS = ("emotions", "yeast", "scene")
PLACES = ("1", "2", "K/2", "K")
LOGISTIC, ABSOLUTE = "logistic, k = {}", "absolute, k = {}"
SURE = 0.05  # p-values up to this


@dataclass(frozen=True)
class Way:
    """A loss to train with, and a rule to decide by.

    ``{}`` in the loss stands for the k that judges; capped, for the least of it and k* (see `Study.cap`).
    """

    loss: str
    rule: str = "threshold"
    capped: bool = False


BCE = Way("BCE")


@dataclass(frozen=True)
class Difference:
    """A mean over folds, and whether it is surely not 0."""

    mean: float
    is_sure: bool

    def __str__(self) -> str:
        text = f"{self.mean:+.4f}".replace("-0.0000", "0").replace("+0.0000", "0")
        return f"**{text}**" if self.is_sure else text


class Study:
    """The losses of all folds, and what follows from them."""

    def __init__(self, folder: Path):
        files = {name: folder / f"{name}.json" for name in DATASETS}
        self.datasets = {name: json.loads(file.read_text(encoding="utf-8")) for name, file in files.items()}
        self.settings = self.datasets[DATASETS[0]]["settings"]
        self.losses = list(self.datasets[DATASETS[0]]["losses"])
        self.cases = [(dataset, place) for dataset in DATASETS for place in PLACES]

    def k(self, dataset: str, place: str) -> int:
        return self.datasets[dataset]["places"][place]

    def folds(self, dataset: str, place: str, way: Way) -> np.ndarray:
        """The losses of a way by fold."""
        results = self.datasets[dataset]["losses"][self.trained_with(dataset, place, way)]
        return np.array([result[way.rule][PLACES.index(place)] for result in results])

    def has(self, way: Way) -> bool:
        """Whether a rule was tried after a loss."""
        return way.rule in self.datasets[DATASETS[0]]["losses"][way.loss][0]

    def trained_with(self, dataset: str, place: str, way: Way) -> str:
        """The loss that a way trains with where it is judged at a place."""
        place = min(place, self.cap(dataset), key=PLACES.index) if way.capped else place
        # the logistic surrogate at k = 1 is BCE
        return "BCE" if (way.loss, place) == (LOGISTIC, "1") else way.loss.format(place)

    def cap(self, dataset: str) -> str:
        """k*, the last place at which the loss of BCE is below 1/2, that of the score 1/2 for everything."""
        return [place for place in PLACES if self.folds(dataset, place, BCE).mean() < 0.5][-1]

    def compare(self, way: Way, other: Way) -> list[Difference]:
        """The loss of one way less that of another in all cases; their tests are read together."""
        differences = np.stack([self.folds(*case, way) - self.folds(*case, other) for case in self.cases], axis=1)
        tests = corrected_resampled_t(differences, test_share=1 / (self.settings["n_folds"] - 1))
        return [Difference(*found) for found in zip(differences.mean(axis=0), holm(tests.pvalue) <= SURE, strict=True)]

    def epochs(self, dataset: str, loss: str) -> np.ndarray:
        """The epoch that each network kept."""
        return np.ravel(self.datasets[dataset]["epochs"][self.losses.index(loss)])


def tally(study: Study, way: Way, other: Way, places: tuple[str, ...] = PLACES) -> str:
    """In how many cases one way is better than another."""
    found = [each for case, each in zip(study.cases, study.compare(way, other), strict=True) if case[1] in places]
    lower, higher = ([each for each in found if round(sign * each.mean, 4) > 0] for sign in (-1, 1))  # as shown
    surely, surely_higher = (sum(each.is_sure for each in side) for side in (lower, higher))
    sure = f"surely in {surely}, surely higher in {surely_higher}" if surely_higher else f"surely in {surely}"
    return f"lower in {len(lower)} of {len(found)} cases, {sure}"


def spread(study: Study, way: Way, other: Way) -> str:
    """Between which bounds the differences of all cases lie."""
    means = [each.mean for each in study.compare(way, other)]
    return f"{min(means):+.4f} to {max(means):+.4f}"
