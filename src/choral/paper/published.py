"""The published study: its folds, its losses, and its RAkEL; facts about the runs of the paper's authors.

Folds and losses were recovered from the figures published with the paper (Hüllermeier, Wever, Loza Mencía, Fürnkranz
and Rapp, Machine Learning 2022): losses of hard predictions, pooled over the test rows of all folds that were
published, for every k and for the 55 alphas of `choral.loss_curve`.
"""

import csv
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from choral._typing import RandomState
from choral.learners import RandomKLabelsets
from choral.study import Results, Section, Summary, Table


class PublishedRAkEL(RandomKLabelsets):
    """RAkEL as in the published study: K - k + 1 sets of labels, and a label is predicted that has a single vote.

    A quirk of the study, not the method: its votes were counts, which the threshold of 0.5 made hard. On flags the
    study drew 12 - k + 1 sets, though its runs have 7 labels: that is not repeated here.
    """

    def __init__(
        self, estimator: Any = None, *, k: int = 3, n_jobs: int | None = None, random_state: RandomState = None
    ):
        super().__init__(estimator, k=k, vote="any", n_jobs=n_jobs, random_state=random_state)

    def _n_subsets(self, k: int) -> int:
        return max(1, self.n_labels_ - k + 1)


class PublishedRun(NamedTuple):
    """The losses of a method on a data set, along both families, and how many of its ten folds were published."""

    losses: dict[str, np.ndarray]
    n_folds: int


class Comparison(NamedTuple):
    """A learner of ours beside the published method of its name."""

    dataset: str
    learner: str
    n_folds: int  # published
    hamming: float
    published_hamming: float
    subset: float
    published_subset: float
    distance: float  # mean absolute difference over all parameters of both families
    higher: float  # mean difference: positive where ours is worse


def published_folds(dataset: str) -> np.ndarray:
    """The fold of each row of a data set of the paper.

    Examples
    --------
    >>> np.bincount(published_folds("emotions"))
    array([60, 60, 60, 59, 59, 59, 59, 59, 59, 59])
    """
    rows = {row["dataset"]: row["folds"] for row in _read("published_folds.csv")}
    name = "flags" if dataset == "flags-7" else dataset
    if name not in rows:
        raise ValueError(f"folds were published for {', '.join(rows)}; got {dataset!r}.")
    return np.array([int(digit) for digit in rows[name]])


@cache
def published_runs() -> dict[tuple[str, str], PublishedRun]:
    """All published runs by data set and method; ``flags-7`` is what the runs call flags."""
    runs: dict[tuple[str, str], PublishedRun] = {}
    for row in _read("published_losses.csv"):
        key = row["dataset"], row["method"]
        run = runs.setdefault(key, PublishedRun({}, int(row["folds"])))
        run.losses[row["family"]] = np.array(row["losses"].split(), dtype=float)
    return runs


def compare_with_published(results: Results) -> list[Comparison]:
    """Our losses beside the published ones, for data sets and learners that bear their names and predict once."""
    found = []
    for (dataset, learner), run in published_runs().items():
        if dataset not in results.datasets or learner not in results.finished(dataset) or learner in results.each_loss:
            continue
        profile = results.profile(dataset, learner)
        differences = [profile.losses(family) - losses for family, losses in run.losses.items()]
        ours, theirs = profile.losses("binomial"), run.losses["binomial"]
        ends = (ours[0], theirs[0], ours[-1], theirs[-1])
        difference = np.concatenate(differences)
        numbers = *map(float, ends), float(np.abs(difference).mean()), float(difference.mean())
        found.append(Comparison(dataset, learner, run.n_folds, *numbers))
    return found


def published_section(results: Results) -> Section:
    """Our losses beside the published ones, as a section of a study."""
    comparisons = compare_with_published(results)
    losses = [f"{loss}, {whose}" for loss in ("Hamming", "subset 0/1") for whose in ("ours", "published")]
    summary = Summary(
        columns=("data set", "learner", "folds published", *losses, "distance"),
        rows=tuple(found[:-1] for found in comparisons),
    )
    return Section(
        "Beside the published losses",
        summaries=(summary,) if comparisons else (),
        tables={"published": Table(Comparison._fields, tuple(comparisons))},
    )


def _read(name: str) -> list[dict[str, str]]:
    text = (files("choral.paper") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
