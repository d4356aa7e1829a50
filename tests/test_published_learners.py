"""The learners beside the published study, on the smallest of its data sets; `make published` does all."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from choral.datasets import read_arff

SCRIPT = Path(__file__).parents[1] / "scripts" / "published.py"


@pytest.fixture(scope="module")
def published():
    spec = importlib.util.spec_from_file_location("published", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def profiles(published, reference_folder, datasets_folder):
    dataset = read_arff(datasets_folder / "emotions.arff")
    folds = np.loadtxt(reference_folder / "folds" / "emotions.txt", dtype=int)
    return {method: published.run(method, dataset, folds, seed=0) for method in ("BR", "CC", "LP", "PCT")}


@pytest.mark.parametrize("method", ["BR", "CC", "LP"])
def test_losses_are_near_the_published_ones(published, profiles, reference_folder, method):
    runs = published.read_published(reference_folder / "published_curves.csv")
    distance, _ = published.compare([profiles[method]], runs["emotions", method])
    assert distance <= published.NEAR


def test_the_clustering_tree_is_not_much_worse_than_published(published, profiles, reference_folder):
    runs = published.read_published(reference_folder / "published_curves.csv")
    _, higher = published.compare([profiles["PCT"]], runs["emotions", "PCT"])
    assert higher <= published.WORSE


def test_binary_relevance_is_better_at_hamming_and_worse_at_subset_loss(profiles):
    apart, together = (profiles[method].losses("binomial")[[0, -1]] for method in ("BR", "LP"))
    assert apart[0] < together[0]
    assert apart[1] > together[1]
