"""Learners of ours beside the best of all others: an example by hand, and slow loops over losses and samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import study_zoo as zoo
from choral import LossCurve
from choral.learners import ConstantLabels
from choral.paper.yardstick import Yardstick, add_up, compare_with_best, totals
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running

LOSSES = {"none": [0.0, 0.0, 0.0], "A": [0.2, 0.4, 0.6], "O": [0.1, 0.4, 0.55], "B": [0.3, 0.4, 0.5]}
SAMPLE = LOSSES | {"O": [0.1, 0.5, 0.6], "B": [0.3, 0.1, 0.5]}  # the other one is the data themselves
PLACE = "data", "binomial"
OURS = "ours", "ours, failing"


class Given:
    """Results with given losses of the learners that finished, and given bootstrap samples of these."""

    confidence = 1.0  # from the least to the largest of the samples
    baseline = "none"

    def __init__(self, samples, parameters=None):
        self.samples, self._parameters = samples, parameters  # the data are the first of the samples
        self.datasets = tuple(dict.fromkeys(dataset for dataset, _ in samples))
        self.families = tuple(dict.fromkeys(family for _, family in samples))

    def finished(self, dataset):
        return tuple(self.samples[dataset, self.families[0]][0])

    def competitor_curves(self, dataset, family):
        losses = {name: each for name, each in self.samples[dataset, family][0].items() if name != self.baseline}
        return {
            name: LossCurve(family, self._parameters or range(1, len(each) + 1), each, len(each), name)
            for name, each in losses.items()
        }

    def bootstrap_losses(self, dataset, family):
        return np.array([list(sample.values()) for sample in self.samples[dataset, family]])


def test_by_hand():
    (found,) = compare_with_best(Given({PLACE: [LOSSES, SAMPLE]}), ours=("O",))
    assert (found.dataset, found.family, found.learner) == ("data", "binomial", "O")
    # the best of the others: A, then A and B, then B, with losses of 0.2, 0.4 and 0.5
    assert (found.n_points, found.n_better, found.n_tied) == (3, 1, 1)
    assert found.share_at_or_below == pytest.approx(2 / 3)
    assert found.best_others == ("A", "B")
    assert (found.where, found.rival) == (3, "B")
    assert found.worst == pytest.approx(0.05)
    # differences of -0.1, 0 and 0.05, in the other sample of -0.1, 0.1 and 0.1: A stays the rival at k = 2
    assert (found.worst_low, found.worst_high) == pytest.approx((0.05, 0.1))
    assert (found.n_surely_better, found.n_surely_worse) == (1, 1)
    assert found.area_gain == pytest.approx(0.1 / 4 - 0.05 / 4)
    assert (found.area_low, found.area_high) == pytest.approx((-0.05, 0.0125))
    assert add_up([found], confidence=1.0).cells == (
        *("3", "66.7%", "1", "0.0500 at k = 3"),
        "+0.0125 (-0.0500 to +0.0125)",
    )


def test_where_ours_is_worse_nowhere_its_least_lead_is_told():
    losses = LOSSES | {"O": [0.2, 0.3, 0.5 - 1e-13]}
    (found,) = compare_with_best(Given({PLACE: [losses, losses]}), ours=("O",))
    assert (found.n_better, found.n_tied, found.share_at_or_below) == (1, 2, 1.0)
    assert (found.worst, found.where, found.rival) == (0.0, 1, "A")
    assert (found.n_surely_better, found.n_surely_worse) == (1, 0)
    assert add_up([found], confidence=1.0).cells[3] == "nowhere"


def test_ours_are_judged_one_by_one_and_are_no_rivals_of_each_other():
    found = compare_with_best(Given({PLACE: [LOSSES, SAMPLE]}), ours=("B", "O"))
    assert [(each.learner, each.best_others) for each in found] == [("O", ("A",)), ("B", ("A",))]  # as in the plan
    assert [each.n_better for each in found] == [2, 1]


def test_without_ours_or_without_others_there_is_nothing_to_compare():
    samples = {PLACE: [LOSSES, SAMPLE]}
    assert compare_with_best(Given(samples), ours=()) == ()
    assert compare_with_best(Given(samples), ours=("A", "B", "O")) == ()
    assert compare_with_best(Given(samples), ours=("unfinished",)) == ()
    assert compare_with_best(Given({PLACE: [{}]}), ours=("O",)) == ()
    assert totals((), "learner", confidence=0.95) == {}


def test_area_is_over_the_axis_that_is_there():
    """alpha = 1, 10, 100 are at 0, 1/3 and 2/3 of the axis; infinity counts as a point, but has no place on it."""
    samples = {("data", "polynomial"): [{"A": [0.3, 0.3, 0.3, 0.3], "O": [0.1, 0.2, 0.3, 0.9]}]}
    (found,) = compare_with_best(Given(samples, parameters=[1, 10, 100, np.inf]), ours=("O",))
    assert (found.n_better, found.n_tied, found.where) == (2, 1, np.inf)
    assert found.worst == pytest.approx(0.6)
    assert found.area_gain == pytest.approx((0.15 + 0.05) / 2)
    assert add_up([found], confidence=1.0).cells[3] == "0.6000 at alpha = inf"


def test_totals_add_counts_and_average_gains_sample_by_sample():
    better = [LOSSES | {"O": [0.1, 0.1, 0.1]}, LOSSES | {"O": [0.2, 0.2, 0.2]}]  # gains of 0.275 and 0.175
    found = compare_with_best(Given({PLACE: [LOSSES, SAMPLE], ("more", "binomial"): better}), ours=("O",))
    (total,) = totals(found, "learner", confidence=1.0).values()
    assert (total.n_points, total.n_better, total.n_tied) == (6, 4, 1)
    assert (total.n_surely_better, total.n_surely_worse) == (3, 1)
    assert total.share_at_or_below == pytest.approx(5 / 6)
    assert total.worst is found[0]
    assert total.area_gain == pytest.approx((0.0125 + 0.275) / 2)
    assert (total.area_low, total.area_high) == pytest.approx(((-0.05 + 0.175) / 2, (0.0125 + 0.275) / 2))
    by_dataset = totals(found, "dataset", confidence=1.0)
    assert [(name, each.n_better) for name, each in by_dataset.items()] == [("data", 1), ("more", 3)]


def slowly(samples, name, ours, confidence):
    """A learner of ours on one data set, one parameter and one sample after another."""
    data = samples[0]
    others = [each for each in data if each not in (*ours, "none")]
    x = np.linspace(0, 1, len(data[name]))
    counts = dict.fromkeys(("n_better", "n_tied", "n_surely_better", "n_surely_worse"), 0)
    differences, columns, bests = [], [], set()
    for index in range(len(x)):
        least = min(data[each][index] for each in others)
        best = [each for each in others if data[each][index] - least <= 1e-12]
        bests.update(best)
        differences.append(data[name][index] - least)
        columns.append([sample[name][index] - sample[best[0]][index] for sample in samples])
        low, high = np.quantile(columns[-1], [(1 - confidence) / 2, (1 + confidence) / 2])
        counts["n_better"] += differences[-1] < -1e-12
        counts["n_tied"] += abs(differences[-1]) <= 1e-12
        counts["n_surely_better"] += high < -1e-12
        counts["n_surely_worse"] += low > 1e-12
    gains = [
        -sum((d[i] + d[i + 1]) / 2 * (x[i + 1] - x[i]) for i in range(len(x) - 1)) for d in zip(*columns, strict=True)
    ]
    return counts, differences, gains, bests


NEAR = [0.0, 0.25, 0.25 + 1e-14, 0.5, 0.75]  # many ties


@given(losses=arrays(float, (4, 6, 5), elements=st.sampled_from(NEAR)), confidence=st.sampled_from([0.5, 0.9, 1.0]))
def test_against_a_slow_loop(losses, confidence):
    names = ["A", "O", "none", "B", "P", "C"]
    samples = [dict(zip(names, sample.tolist(), strict=True)) for sample in losses]
    results, ours = Given({PLACE: samples}), ("O", "P")
    results.confidence = confidence
    for found in compare_with_best(results, ours):
        counts, differences, gains, bests = slowly(samples, found.learner, ours, confidence)
        assert counts == {name: getattr(found, name) for name in counts}
        assert set(found.best_others) == bests
        assert found.worst == pytest.approx(max(0, *differences), abs=1e-12)
        assert differences[found.where - 1] == pytest.approx(max(differences), abs=1e-12)
        assert found.area_gain == pytest.approx(gains[0], abs=1e-12)  # the first sample is the data
        np.testing.assert_allclose(found.area_samples, gains, atol=1e-12)
        interval = np.quantile(gains, [(1 - confidence) / 2, (1 + confidence) / 2])
        assert (found.area_low, found.area_high) == pytest.approx(interval, abs=1e-12)


def calm():
    """Data on which no learner of the zoo is in trouble."""
    X, Y = zoo.make_data(40, 4)
    X[:, 0] = 0
    return X, Y


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A study in which a learner of ours and one of the others do not finish on the first data set."""
    learners = [
        StudyLearner("none", ConstantLabels(), is_baseline=True),
        StudyLearner("failing", zoo.Raising(0.1)),
        StudyLearner("good", zoo.Stumps()),
        StudyLearner("ours", zoo.Stumps(0.2)),
        StudyLearner("ours, failing", zoo.Raising()),
        StudyLearner("noisy", zoo.Noisy()),
    ]
    plan = Plan(
        [StudyData("troubled", zoo.make_data), StudyData("calm", calm)],
        learners,
        split=Split(folds=2),
        families={"binomial": None, "polynomial": [1, 4, np.inf]},
        analyses=[Yardstick(OURS)],
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(plan, tmp_path_factory.mktemp("yardstick") / "study")


def test_only_those_that_finished_are_compared(results):
    found = compare_with_best(results, OURS)
    assert [(each.dataset, each.family, each.learner) for each in found] == [
        ("troubled", "binomial", "ours"),
        ("troubled", "polynomial", "ours"),
        ("calm", "binomial", "ours"),
        ("calm", "binomial", "ours, failing"),
        ("calm", "polynomial", "ours"),
        ("calm", "polynomial", "ours, failing"),
    ]
    assert all(set(each.best_others) <= {"good", "noisy"} for each in found[:2])
    assert [each.n_points for each in found] == [3, 3, 4, 4, 3, 3]


def test_intervals_are_those_of_the_differences_of_a_study(results):
    for found in compare_with_best(results, OURS):
        pairs = results.differences(found.dataset, found.family)
        index = results.parameters(found.dataset, found.family).tolist().index(found.where)
        if (found.learner, found.rival) in pairs:  # the loss of the second minus that of the first
            pair, sign = pairs[found.learner, found.rival], -1
        else:
            pair, sign = pairs[found.rival, found.learner], 1
        interval = sorted((sign * pair.lower[index], sign * pair.upper[index]))
        assert (found.worst_low, found.worst_high) == pytest.approx(interval)
        assert found.worst == pytest.approx(max(0, sign * pair.estimate[index]), abs=1e-12)


def test_one_that_predicts_as_another_ties_with_it_at_best(results):
    for each in compare_with_best(results, OURS):
        if each.learner == "ours, failing":  # predicts what "good" does
            curves = results.competitor_curves(each.dataset, each.family)
            best = np.min([curves[name].losses for name in ("failing", "good", "noisy")], axis=0)
            assert (each.n_better, each.n_surely_better) == (0, 0)
            assert each.n_tied == np.isclose(curves["good"].losses, best, rtol=0, atol=1e-12).sum()


def test_a_row_of_the_table_for_each_comparison(results):
    table, found = results.tables()["yardstick"], compare_with_best(results, OURS)
    assert len(table) == len(found)
    for row, each in zip(table.rows, found, strict=True):
        of_row = dict(zip(table.columns, row, strict=True))
        assert of_row.pop("best_others") == ", ".join(each.best_others)
        assert of_row == {name: getattr(each, name) for name in of_row}
