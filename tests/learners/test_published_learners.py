"""The learners beside the published study, on one of its data sets; `make published` does all."""

from dataclasses import replace

import pytest

from choral.paper import compare_with_published, read_plan
from choral.study import run_study

LEARNERS = ("BR", "CC", "LP", "PCT")
NEAR, WORSE = 0.03, 0.02  # how far a method may be from its published loss; how much worse PCT may be


@pytest.fixture(scope="module")
def results(datasets_folder, tmp_path_factory):
    plan = read_plan("published")
    plan = replace(
        plan,
        datasets=[data for data in plan.datasets if data.name == "emotions"],
        learners=[learner for learner in plan.learners if learner.name in LEARNERS],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CHORAL_DATA", str(datasets_folder))
        return run_study(plan, tmp_path_factory.mktemp("published"), n_jobs=2)


@pytest.fixture(scope="module")
def comparisons(results):
    return {comparison.learner: comparison for comparison in compare_with_published(results)}


@pytest.mark.parametrize("learner", ["BR", "CC", "LP"])
def test_losses_are_near_the_published_ones(comparisons, learner):
    assert comparisons[learner].distance <= NEAR


def test_the_clustering_tree_is_not_much_worse_than_published(comparisons):
    assert comparisons["PCT"].higher <= WORSE


def test_binary_relevance_is_better_at_hamming_and_worse_at_subset_loss(comparisons):
    apart, together = comparisons["BR"], comparisons["LP"]
    assert apart.hamming < together.hamming
    assert apart.subset > together.subset
