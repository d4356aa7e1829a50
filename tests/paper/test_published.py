"""Our losses against the published ones: histograms in, every published point out."""

import csv
from collections import defaultdict

import numpy as np
import pytest

from choral import ErrorProfile
from choral.measures import PUBLISHED_ALPHAS


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def published(reference_folder):
    """(dataset, method) -> (histogram of wrong labels, {(family, parameter): loss})."""
    histograms = defaultdict(dict)
    for row in read(reference_folder / "published_histograms.csv"):
        histograms[row["dataset"], row["method"]][int(row["wrong_labels"])] = int(row["instances"])
    curves = defaultdict(dict)
    for row in read(reference_folder / "published_curves.csv"):
        curves[row["dataset"], row["method"]][row["family"], float(row["parameter"])] = float(row["loss"])
    return {run: (histogram, curves[run]) for run, histogram in histograms.items()}


def test_every_published_histogram_gives_its_published_curves(published):
    points = 0
    for (dataset, method), (histogram, losses) in published.items():
        counts = [histogram.get(wrong, 0) for wrong in range(max(histogram) + 1)]
        profile = ErrorProfile.from_histogram(counts)
        for family in ("binomial", "polynomial"):
            parameters = sorted(parameter for name, parameter in losses if name == family)
            ours = profile.losses(family, parameters)
            theirs = [losses[family, parameter] for parameter in parameters]
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12, err_msg=f"{dataset} {method} {family}")
            points += len(parameters)
    assert len(published) >= 30
    assert points >= 55 * len(published)


def test_rows_of_a_published_histogram_give_the_same_profile(published):
    histogram, losses = published["emotions", "BR"]
    y_pred = np.vstack([np.arange(6) < wrong for wrong, rows in histogram.items() for _ in range(rows)])
    profile = ErrorProfile.from_predictions(np.zeros_like(y_pred), y_pred)
    assert dict(enumerate(profile.rows_by_errors.tolist())) == histogram
    assert profile.curve().losses == pytest.approx([losses["binomial", k] for k in range(1, 7)], abs=1e-12)


def test_the_default_alphas_are_the_published_ones(published):
    _, losses = published["emotions", "BR"]
    theirs = sorted(parameter for family, parameter in losses if family == "polynomial")
    np.testing.assert_allclose(PUBLISHED_ALPHAS, theirs, rtol=1e-14)
