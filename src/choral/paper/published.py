"""The published study: its folds, its losses, and its RAkEL; facts about the runs of the paper's authors.

Folds and losses were recovered from the figures published with the paper (Hüllermeier, Wever, Loza Mencía, Fürnkranz
and Rapp, Machine Learning 2022): losses of hard predictions, pooled over the test rows of all folds that were
published, for every k and for the 55 alphas of `choral.loss_curve`.

Of some runs less than ten folds were published, and nobody says which. A binomial curve tells how many rows have 0, 1,
2, ... wrong labels, as shares; they are whole numbers for one number of rows alone, and so only some sets of folds are
left. Ours are compared on the nearest of these.
"""

import csv
from functools import cache
from importlib.resources import files
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from choral._typing import RandomState
from choral.learners import RandomKLabelsets
from choral.measures.families import BINOMIAL
from choral.profiles import ErrorProfile
from choral.study import Results, Section, Summary, Table


class PublishedRAkEL(RandomKLabelsets):
    """RAkEL as in the published study: K - k + 1 sets of labels, and a label is predicted that has a single vote.

    A quirk of the study, not the method: its votes were counts, which the threshold of 0.5 made hard. On flags the
    study drew 12 - k + 1 sets, though its runs have 7 labels: that is not repeated here.

    Parameters
    ----------
    estimator : classifier, optional
        Of the label powersets; `PrunedTreeClassifier` unless given.
    k : int
        The number of labels in a set.
    n_jobs : int, optional
        Sets fitted at a time, as in joblib.
    random_state : int, RandomState or None
        Draws the sets of labels.

    See Also
    --------
    choral.learners.RandomKLabelsets : Label powersets on some labels, which vote.

    Examples
    --------
    >>> PublishedRAkEL(k=2)
    PublishedRAkEL(k=2)
    """

    def __init__(
        self, estimator: Any = None, *, k: int = 3, n_jobs: int | None = None, random_state: RandomState = None
    ):
        super().__init__(estimator, k=k, vote="any", n_jobs=n_jobs, random_state=random_state)

    def _n_subsets(self, k: int) -> int:
        return max(1, self.n_labels_ - k + 1)


N_FOLDS = 10
WHOLE = 1e-3  # how far from a whole number a number of rows may be, by rounding: with 19 labels it is below 1e-5


class PublishedRun(NamedTuple):
    """The losses of a method on a data set, along both families, and how many of its ten folds were published."""

    losses: dict[str, np.ndarray]
    n_folds: int


class Comparison(NamedTuple):
    """A learner of ours beside the published method of its name, on the folds that were published."""

    dataset: str
    learner: str
    n_folds: int  # published
    n_fold_sets: int  # sets of so many folds that have as many rows as were published
    hamming: float  # ours, on the nearest of these, as are the next numbers
    published_hamming: float
    subset: float
    published_subset: float
    distance: float  # mean absolute difference over all parameters of both families
    higher: float  # mean difference: positive where ours is worse
    mean_distance: float  # over all these sets of folds: the distance of a set chosen by chance


def published_folds(dataset: str) -> np.ndarray:
    """The fold of each row of a data set of the paper.

    Parameters
    ----------
    dataset : str
        The name of the data set.

    Returns
    -------
    folds : ndarray of int, of shape (n_rows,)
        The fold in which each row is tested.

    See Also
    --------
    published_runs : The published runs.
    choral.stats.MultilabelStratifiedKFold : Folds that get their share of every label.

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
    """All published runs by data set and method; ``flags-7`` is what the runs call flags.

    See Also
    --------
    published_folds : The published folds.
    compare_with_published : Our losses beside the published ones.
    """
    runs: dict[tuple[str, str], PublishedRun] = {}
    for row in _read("published_losses.csv"):
        key = row["dataset"], row["method"]
        run = runs.setdefault(key, PublishedRun({}, int(row["folds"])))
        run.losses[row["family"]] = np.array(row["losses"].split(), dtype=float)
    return runs


@cache
def published_profiles() -> dict[tuple[str, str], ErrorProfile]:
    """The errors of all published runs: how many rows have 0, 1, 2, ... wrong labels.

    Returns
    -------
    profiles : dict from (data set, method) to ErrorProfile
        The methods have the names of the paper.

    See Also
    --------
    published_runs : The published losses.
    choral.ErrorProfile : Its curves and losses are those of the run.

    Examples
    --------
    >>> published_profiles()["emotions", "BR"].rows_by_errors
    array([103, 213, 182,  77,  16,   2,   0])
    """
    return {key: _recover_errors(key[0], run) for key, run in published_runs().items()}


def _recover_errors(dataset: str, run: PublishedRun) -> ErrorProfile:
    """Solve the equations loss(k) = sum over e of share(e) deficit(k, e), and find the number of rows."""
    losses = run.losses["binomial"]
    deficits = BINOMIAL.deficits(np.arange(1, losses.size + 1), losses.size, losses.size)
    equations = np.vstack([deficits, np.ones(losses.size + 1)])  # the shares add up to 1
    shares = np.linalg.solve(equations, np.append(losses, 1.0))
    for n_rows in sorted({sum(sizes) for sizes in combinations(_fold_sizes(dataset), run.n_folds)}):
        counts = np.round(shares * n_rows)
        if np.abs(shares * n_rows - counts).max() < WHOLE:
            return ErrorProfile.from_histogram(counts.astype(int).tolist())
    raise ValueError(f"no number of rows makes the published losses on {dataset} whole numbers of rows.")


def published_fold_sets(dataset: str, method: str) -> list[tuple[int, ...]]:
    """The sets of folds that a published run may be made of: those with its number of rows.

    Examples
    --------
    >>> published_fold_sets("emotions", "BR")
    [(0, 1, 2, 3, 4, 5, 6, 7, 8, 9)]
    >>> len(published_fold_sets("emotions", "PCT"))  # eight folds with 474 rows: two have 60 rows, six have 59
    21
    """
    n_rows, n_folds = published_profiles()[dataset, method].n_rows, published_runs()[dataset, method].n_folds
    sizes = _fold_sizes(dataset)
    return [folds for folds in combinations(range(N_FOLDS), n_folds) if sum(sizes[fold] for fold in folds) == n_rows]


def _fold_sizes(dataset: str) -> list[int]:
    return np.bincount(published_folds(dataset)).tolist()


@cache
def label_counts(dataset: str) -> np.ndarray:
    """How many rows of each published fold have 0, 1, 2, ... labels: the errors of predicting none.

    For data sets with published losses; of shape (10, K + 1).

    Examples
    --------
    >>> label_counts("emotions").sum(axis=0)
    array([  0, 178, 315, 100,   0,   0,   0])
    """
    return np.array([row["rows"].split() for row in _read("label_counts.csv") if row["dataset"] == dataset], dtype=int)


def predicts_nothing(dataset: str, method: str) -> bool:
    """Whether the errors of a published run are those of predicting no label at all.

    Examples
    --------
    >>> predicts_nothing("birds", "PCT"), predicts_nothing("birds", "EPCT")
    (True, False)
    """
    errors, counts = published_profiles()[dataset, method].rows_by_errors, label_counts(dataset)
    return any(np.array_equal(errors, counts[[*folds]].sum(axis=0)) for folds in published_fold_sets(dataset, method))


def compare_with_published(results: Results) -> list[Comparison]:
    """Our losses beside the published ones, for data sets and learners that bear their names and predict once.

    On the folds that were published, where the study has the published folds; else on all rows.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    comparisons : list of Comparison
        One for each data set, learner and family that both have.

    See Also
    --------
    published_section : Our losses beside the published ones, as a section.
    published_runs : The published runs.
    """
    return [
        _compare(results, dataset, learner, run)
        for (dataset, learner), run in published_runs().items()
        if dataset in results.datasets and learner in results.finished(dataset) and learner not in results.each_loss
    ]


def _compare(results: Results, dataset: str, learner: str, run: PublishedRun) -> Comparison:
    by_fold: dict[int, ErrorProfile] = {}
    cells = results.cells(dataset, learner)
    for cell in cells:
        if (profile := results.cell_profile(cell)) is not None:  # it has finished
            by_fold[cell.fold] = by_fold.get(cell.fold, ErrorProfile(results.n_labels(dataset))) + profile
    numbers = published_folds(dataset)
    is_published = all(np.array_equal(results.test_rows(cell), numbers == cell.fold) for cell in cells)
    fold_sets = published_fold_sets(dataset, learner) if is_published else [tuple(by_fold)]
    distances, nearest = [], None
    for folds in fold_sets:
        ours = sum((by_fold[fold] for fold in folds), start=ErrorProfile(results.n_labels(dataset)))
        differences = np.concatenate([ours.losses(family) - losses for family, losses in run.losses.items()])
        distances.append(float(np.abs(differences).mean()))
        if nearest is None or distances[-1] < nearest[0]:
            nearest = distances[-1], ours.losses("binomial"), float(differences.mean())
    assert nearest is not None  # there is at least one set of folds, by the way the rows were found
    distance, losses, higher = nearest
    theirs = run.losses["binomial"]
    ends = [float(loss) for loss in (losses[0], theirs[0], losses[-1], theirs[-1])]
    figures = *ends, distance, higher, float(np.mean(distances))
    return Comparison(dataset, learner, run.n_folds, len(fold_sets), *figures)


def published_section(results: Results) -> Section:
    """Our losses beside the published ones, as a section of a study.

    Parameters
    ----------
    results : Results
        Of a study.

    Returns
    -------
    section : Section
        Prose, findings and tables, to be shown with the study.

    See Also
    --------
    compare_with_published : Our losses beside the published ones.
    choral.study.Section : What an analysis found.
    """
    comparisons = compare_with_published(results)
    losses = [f"{loss}, {whose}" for loss in ("Hamming", "subset 0/1") for whose in ("ours", "published")]
    summary = Summary(
        columns=("data set", "learner", "folds published", "sets of folds", *losses, "distance", "higher by"),
        rows=tuple(found[:-1] for found in comparisons),
    )
    return Section(
        "Beside the published losses",
        prose=(EXPLANATION,) if comparisons else (),
        summaries=(summary,) if comparisons else (),
        tables={"published": Table(Comparison._fields, tuple(comparisons))},
    )


EXPLANATION = (
    "Distance is the mean absolute difference over all k and all 55 alphas, higher by the mean difference. Where "
    "folds are missing in what was published, ours are those of the nearest set of folds that has as many rows; how "
    "many such sets there are is told, and the distance of a set chosen by chance is in tables/published.csv "
    "(mean_distance). The folds of flags are those of another version of the split."
)


def _read(name: str) -> list[dict[str, str]]:
    text = (files("choral.paper") / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
