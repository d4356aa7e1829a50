"""Our losses against the published ones: histograms in, every published point out."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from choral import ErrorProfile
from choral.datasets import load
from choral.learners import PrunedTreeClassifier
from choral.measures import PUBLISHED_ALPHAS
from choral.paper import (
    PublishedRAkEL,
    compare_with_published,
    published,
    published_folds,
    published_runs,
    published_section,
)
from choral.paper.published import PublishedRun, label_counts, published_profiles
from choral.study.cells import Cell
from study_zoo import make_data


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def published_figures(reference_folder):
    """(dataset, method) -> (histogram of wrong labels, {(family, parameter): loss})."""
    histograms = defaultdict(dict)
    for row in read(reference_folder / "published_histograms.csv"):
        histograms[row["dataset"], row["method"]][int(row["wrong_labels"])] = int(row["instances"])
    curves = defaultdict(dict)
    for row in read(reference_folder / "published_curves.csv"):
        curves[row["dataset"], row["method"]][row["family"], float(row["parameter"])] = float(row["loss"])
    return {run: (histogram, curves[run]) for run, histogram in histograms.items()}


def test_every_published_histogram_gives_its_published_curves(published_figures):
    points = 0
    for (dataset, method), (histogram, losses) in published_figures.items():
        counts = [histogram.get(wrong, 0) for wrong in range(max(histogram) + 1)]
        profile = ErrorProfile.from_histogram(counts)
        for family in ("binomial", "polynomial"):
            parameters = sorted(parameter for name, parameter in losses if name == family)
            ours = profile.losses(family, parameters)
            theirs = [losses[family, parameter] for parameter in parameters]
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=f"{dataset} {method} {family}")
            points += len(parameters)
    assert len(published_figures) >= 30
    assert points >= 55 * len(published_figures)


def test_rows_of_a_published_histogram_give_the_same_profile(published_figures):
    histogram, losses = published_figures["emotions", "BR"]
    y_pred = np.vstack([np.arange(6) < wrong for wrong, rows in histogram.items() for _ in range(rows)])
    profile = ErrorProfile.from_predictions(np.zeros_like(y_pred), y_pred)
    assert dict(enumerate(profile.rows_by_errors.tolist())) == histogram
    assert profile.curve().losses == pytest.approx([losses["binomial", k] for k in range(1, 7)], abs=1e-12)


def test_the_default_alphas_are_the_published_ones(published_figures):
    _, losses = published_figures["emotions", "BR"]
    theirs = sorted(parameter for family, parameter in losses if family == "polynomial")
    np.testing.assert_allclose(PUBLISHED_ALPHAS, theirs, rtol=1e-14)


# --- folds, losses and RAkEL of choral.paper


@pytest.mark.parametrize(
    "name", ["birds", "emotions", "enron-f", "flags", "genbase", "llog-f", "medical", "scene", "yeast"]
)
def test_published_folds_are_those_of_the_reference(reference_folder, name):
    expected = np.loadtxt(reference_folder / "folds" / f"{name}.txt", dtype=int)
    assert np.array_equal(published_folds(name), expected)
    if name == "flags":
        assert np.array_equal(published_folds("flags-7"), expected)


def test_published_losses_are_those_of_the_reference(reference_folder):
    with open(reference_folder / "published_curves.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {}
    for row in sorted(rows, key=lambda row: float(row["parameter"])):
        name = "flags-7" if row["dataset"] == "flags" else row["dataset"]
        run = expected.setdefault((name, row["method"]), {"folds": int(row["folds"])})
        run.setdefault(row["family"], []).append(float(row["loss"]))
    assert published_runs().keys() == expected.keys()
    for key, run in published_runs().items():
        assert run.n_folds == expected[key]["folds"]
        for family in ("binomial", "polynomial"):
            np.testing.assert_allclose(run.losses[family], expected[key][family], rtol=0, atol=1e-9, err_msg=str(key))


@pytest.mark.parametrize("k, n_sets", [(1, 5), (3, 3), (5, 1), (9, 1)])
def test_published_rakel_draws_as_many_sets_as_the_published_study(k, n_sets):
    X, Y = make_data(40, 5)
    model = PublishedRAkEL(PrunedTreeClassifier(), k=k, random_state=0).fit(X, Y)
    assert len(model.label_subsets_) == n_sets
    assert model.vote == "any"


def test_folds_that_were_not_published():
    with pytest.raises(ValueError, match="folds were published for birds, emotions, .*; got 'iris'."):
        published_folds("iris")


def test_recovered_errors_are_the_published_histograms(published_figures):
    recovered = published_profiles()
    for (dataset, method), (histogram, _) in published_figures.items():
        profile = recovered["flags-7" if dataset == "flags" else dataset, method]
        assert {e: n for e, n in enumerate(profile.rows_by_errors.tolist()) if n} == {
            e: n for e, n in histogram.items() if n
        }


def test_label_counts_are_those_of_the_data(datasets_folder, monkeypatch):
    monkeypatch.setenv("CHORAL_DATA", str(datasets_folder))
    for name in ("birds", "emotions", "flags-7", "scene", "yeast"):
        Y, folds = load(name).Y, published_folds(name)
        expected = [
            np.bincount(Y[folds == fold].sum(axis=1, dtype=int), minlength=Y.shape[1] + 1) for fold in range(10)
        ]
        np.testing.assert_array_equal(label_counts(name), expected)


# --- ours beside the published losses


class OfFolds:
    """Results of a study made by hand: a histogram of wrong labels for each of the ten folds of birds."""

    datasets, each_loss = ("birds",), ()

    def __init__(self, by_fold):
        self._by_fold = by_fold

    def finished(self, dataset):
        return ("PCT",)

    def n_labels(self, dataset):
        return 19

    def cells(self, dataset, learner):
        return [Cell(dataset, learner, 0, 0, fold, "") for fold in range(10)]

    def cell_profile(self, cell):
        return ErrorProfile.from_histogram(self._by_fold[cell.fold])

    def test_rows(self, cell):
        return published_folds("birds") == cell.fold


def test_ours_are_compared_on_the_folds_that_were_published():
    nothing = OfFolds(label_counts("birds").tolist())  # which is what the published tree predicts, in eight folds
    (found,) = compare_with_published(nothing)
    assert (found.n_folds, found.n_fold_sets) == (8, 10)
    assert found.distance < 1e-9  # 0.0014 if all ten folds are compared with eight
    assert found.hamming == pytest.approx(found.published_hamming, abs=1e-9)
    assert 0 < found.mean_distance < 0.01
    (row,) = published_section(nothing).tables["published"].rows
    assert row == found


def test_ours_are_compared_on_all_rows_where_the_folds_are_others():
    nothing = OfFolds(label_counts("birds").tolist())
    nothing.test_rows = lambda cell: np.arange(645) % 10 == cell.fold
    (found,) = compare_with_published(nothing)
    assert (found.n_folds, found.n_fold_sets) == (8, 1)
    assert found.distance == found.mean_distance == pytest.approx(0.0014, abs=5e-5)


def test_losses_that_no_number_of_rows_explains_are_refused():
    run = PublishedRun({"binomial": np.full(6, 0.123456789)}, 8)
    with pytest.raises(ValueError, match="no number of rows makes the published losses on emotions whole"):
        published._recover_errors("emotions", run)
