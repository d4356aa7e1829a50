"""Learners of ours beside the best of all others: examples by hand, and a slow loop over losses and folds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import study_zoo as zoo
from choral import LossCurve
from choral.learners import ConstantLabels
from choral.paper.yardstick import Yardstick, add_up, compare_with_best, totals
from choral.stats import corrected_t_interval
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running
from choral.study.plan import even_alphas

LOSSES = {"none": [0.0, 0.0, 0.0], "A": [0.2, 0.4, 0.6], "O": [0.1, 0.4, 0.55], "B": [0.3, 0.4, 0.5]}
PLACE = "data", "binomial"
OURS = "ours", "ours, failing"
ERROR = 0.01 * np.sqrt(1 / 3 + 1 / 2)  # of three folds 0.01 apart, half as many rows tested as trained on


class Given:
    """Results with given losses in three or more folds, of the learners that finished; curves are their means."""

    confidence = 0.9
    baseline = "none"

    def __init__(self, folds, parameters=None, n_labels=None):
        self.folds = {place: {name: np.array(each) for name, each in of.items()} for place, of in folds.items()}
        self._parameters = parameters or {}
        self._n_labels = n_labels or {}
        self.datasets = tuple(dict.fromkeys(dataset for dataset, _ in folds))
        self.families = tuple(dict.fromkeys(family for _, family in folds))

    def n_labels(self, dataset):
        return self._n_labels.get(dataset, 3)

    def parameters(self, dataset, family):
        return np.array(self._parameters.get((dataset, family), range(1, self.n_labels(dataset) + 1)))

    def competitor_curves(self, dataset, family):
        return {
            name: LossCurve(family, self.parameters(dataset, family), each.mean(axis=0), self.n_labels(dataset), name)
            for name, each in self.folds[dataset, family].items()
            if name != self.baseline
        }

    def fold_losses(self, dataset, learner, family):
        return self.folds[dataset, family][learner]

    def test_share(self, dataset):
        return 1 / (len(next(iter(self.folds[dataset, self.families[0]].values()))) - 1)


def in_folds(losses, shifts=(-0.01, 0.0, 0.01), ours="O"):
    """The same losses in each fold, but for ours, which are shifted."""
    return {name: [np.add(each, shift if name == ours else 0) for shift in shifts] for name, each in losses.items()}


def quantile(confidence):
    """Of Student's distribution with two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2)."""
    return confidence * np.sqrt(2 / (1 - confidence**2))


def test_by_hand():
    (found,) = compare_with_best(Given({PLACE: in_folds(LOSSES)}), ours=("O",))
    assert (found.dataset, found.family, found.learner) == ("data", "binomial", "O")
    # the best of the others: A, then A and B, then B, with losses of 0.2, 0.4 and 0.5
    assert (found.n_points, found.n_better, found.n_tied) == (3, 1, 1)
    assert found.share_at_or_below == pytest.approx(2 / 3)
    assert found.best_others == ("A", "B")
    assert (found.where, found.rival) == (3, "B")
    assert found.worst == pytest.approx(0.05)
    # differences of -0.1, 0 and 0.05: t^2 = (d / ERROR)^2 is 120, 0 and 30
    pvalues = 1 - np.sqrt(120 / 122), 1.0, 1 - np.sqrt(30 / 32)
    assert found.pvalues == pytest.approx(np.multiply(pvalues, (3, 1, 2)))  # 0.025, 1 and 0.064
    assert (found.n_significantly_better, found.n_significantly_worse) == (1, 1)
    margin = quantile(0.9) * ERROR
    assert (found.worst_low, found.worst_high) == pytest.approx((0.05 - margin, 0.05 + margin))
    assert found.fold_gains == pytest.approx([0.0225, 0.0125, 0.0025])
    assert found.area_gain == pytest.approx(0.1 / 4 - 0.05 / 4)
    assert (found.area_low, found.area_high) == pytest.approx((0.0125 - margin, 0.0125 + margin))
    assert add_up([found], confidence=0.9).cells == (
        *("3", "66.7%", "1", "0.0500 at k = 3"),
        "+0.0125 (-0.0142 to +0.0392)",
    )


def test_a_point_is_significant_after_the_adjustment_for_all_points_of_the_learner():
    """By itself, the point where ours is worse has a p-value of 0.032, times two 0.064."""
    results = Given({PLACE: in_folds(LOSSES)})
    results.confidence = 0.95
    (found,) = compare_with_best(results, ours=("O",))
    assert (found.n_significantly_better, found.n_significantly_worse) == (1, 0)
    results = Given({(name, "binomial"): in_folds(LOSSES) for name in "abcd"})  # 0.0082 times 12 to 9
    assert [each.n_significantly_better for each in compare_with_best(results, ours=("O",))] == [1] * 4
    results.confidence = 0.95
    assert [each.n_significantly_better for each in compare_with_best(results, ours=("O",))] == [0] * 4


def test_other_learners_of_ours_do_not_count_among_the_tests():
    alone = compare_with_best(Given({PLACE: in_folds(LOSSES)}), ours=("O",))
    both = compare_with_best(Given({PLACE: in_folds(LOSSES | {"P": LOSSES["A"]})}), ours=("P", "O"))
    assert [each.learner for each in both] == ["P", "O"]
    assert both[1].pvalues == pytest.approx(alone[0].pvalues)


def test_where_ours_is_worse_nowhere_its_least_lead_is_told():
    losses = LOSSES | {"O": [0.2, 0.3, 0.5 - 1e-13]}
    (found,) = compare_with_best(Given({PLACE: in_folds(losses, shifts=(0, 0, 0))}), ours=("O",))
    assert (found.n_better, found.n_tied, found.share_at_or_below) == (1, 2, 1.0)
    assert (found.worst, found.where, found.rival) == (0.0, 1, "A")
    assert (found.n_significantly_better, found.n_significantly_worse) == (1, 0)  # the same in all folds
    assert add_up([found], confidence=0.9).cells[3] == "nowhere"


def test_ours_are_judged_one_by_one_and_are_no_rivals_of_each_other():
    found = compare_with_best(Given({PLACE: in_folds(LOSSES)}), ours=("B", "O"))
    assert [(each.learner, each.best_others) for each in found] == [("B", ("A",)), ("O", ("A",))]
    assert [each.n_better for each in found] == [1, 2]


def test_without_ours_or_without_others_there_is_nothing_to_compare():
    folds = {PLACE: in_folds(LOSSES)}
    assert compare_with_best(Given(folds), ours=()) == ()
    assert compare_with_best(Given(folds), ours=("A", "B", "O")) == ()
    assert compare_with_best(Given(folds), ours=("unfinished",)) == ()
    assert compare_with_best(Given({PLACE: {}}), ours=("O",)) == ()
    assert totals((), "learner", confidence=0.95) == {}


def test_area_is_over_the_axis_that_is_there():
    """alpha = 1, 10, 100 are at 0, 1/3 and 2/3 of the axis; infinity counts as a point, but has no place on it."""
    place = "data", "polynomial"
    folds = in_folds({"A": [0.3, 0.3, 0.3, 0.3], "O": [0.1, 0.2, 0.3, 0.9]})
    (found,) = compare_with_best(Given({place: folds}, {place: [1, 10, 100, np.inf]}), ours=("O",))
    assert (found.n_points, found.n_better, found.n_tied, found.where) == (4, 2, 1, np.inf)
    assert found.worst == pytest.approx(0.6)
    assert found.area_gain == pytest.approx((0.15 + 0.05) / 2)
    assert found.fold_gains == pytest.approx([0.11, 0.1, 0.09])
    assert add_up([found], confidence=0.9).cells[3] == "0.6000 at alpha = inf"


def test_totals_add_counts_and_combine_the_errors_of_data_sets():
    better = in_folds(
        LOSSES | {"O": [0.1, 0.1, 0.1]}, shifts=(-0.03, 0.0, 0.03)
    )  # a gain of 0.275, three times the error
    found = compare_with_best(Given({PLACE: in_folds(LOSSES), ("more", "binomial"): better}), ours=("O",))
    (total,) = totals(found, "learner", confidence=0.9).values()
    assert (total.n_points, total.n_better, total.n_tied) == (6, 4, 1)
    counts = np.sum([(each.n_significantly_better, each.n_significantly_worse) for each in found], axis=0)
    assert (total.n_significantly_better, total.n_significantly_worse) == tuple(counts)
    assert total.share_at_or_below == pytest.approx(5 / 6)
    assert total.worst is found[0]
    gain, margin = (0.0125 + 0.275) / 2, quantile(0.9) * ERROR * np.sqrt(1**2 + 3**2) / 2
    assert total.area_gain == pytest.approx(gain)
    assert (total.area_low, total.area_high) == pytest.approx((gain - margin, gain + margin))
    by_dataset = totals(found, "dataset", confidence=0.9)
    assert [(name, each.n_better) for name, each in by_dataset.items()] == [("data", 1), ("more", 3)]
    for each, one in zip(by_dataset.values(), found, strict=True):
        assert (each.area_low, each.area_high) == pytest.approx((one.area_low, one.area_high))


@pytest.mark.parametrize("opposite, width", [(False, 1), (True, 0)])
def test_families_of_a_data_set_are_paired_by_fold(opposite, width):
    shifts = (0.01, 0.0, -0.01) if opposite else (-0.01, 0.0, 0.01)
    folds = {PLACE: in_folds(LOSSES), ("data", "polynomial"): in_folds(LOSSES, shifts)}
    total = add_up(compare_with_best(Given(folds), ours=("O",)), confidence=0.9)
    assert total.area_high - total.area_low == pytest.approx(width * 2 * quantile(0.9) * ERROR, abs=1e-12)


def points(n_labels, parameters, families=("binomial", "polynomial")):
    """How many losses of each family are counted."""
    places = {("data", family): parameters[family] for family in families}
    folds = {place: in_folds({"A": np.zeros(len(each)), "O": np.ones(len(each))}) for place, each in places.items()}
    found = compare_with_best(Given(folds, places, {"data": n_labels}), ours=("O",))
    for each in found:
        assert each.n_points == np.count_nonzero(~np.isnan(each.pvalues))
    return {each.family: each.n_points for each in found}


def test_a_loss_of_both_families_is_one_point():
    alphas = [1, 2, 20, np.inf]
    every_k = {"binomial": range(1, 5), "polynomial": alphas}
    assert points(4, every_k) == {"binomial": 4, "polynomial": 2}
    assert points(4, every_k, ["polynomial", "binomial"]) == {"polynomial": 4, "binomial": 2}  # the first has it
    assert points(4, every_k, ["polynomial"]) == {"polynomial": 4}
    assert points(4, {"binomial": [2, 3], "polynomial": alphas}) == {"binomial": 2, "polynomial": 4}
    assert points(4, {"binomial": [1, 2], "polynomial": alphas}) == {"binomial": 2, "polynomial": 3}
    assert points(4, {"binomial": [1, 4], "polynomial": [1000]}) == {"binomial": 2, "polynomial": 0}  # (3/4)^1000 is 0


def test_a_family_without_a_loss_of_its_own_has_no_share():
    """With one label there is one loss."""
    folds = {place: in_folds({"A": [0.1], "O": [0.2]}) for place in (PLACE, ("data", "polynomial"))}
    parameters = {PLACE: [1], ("data", "polynomial"): [2]}
    binomial, polynomial = found = compare_with_best(Given(folds, parameters, {"data": 1}), ours=("O",))
    assert (binomial.n_points, polynomial.n_points) == (1, 0)
    assert np.isnan(polynomial.share_at_or_below)
    assert add_up(found, confidence=0.9).share_at_or_below == 0


def test_the_losses_of_the_tailored_study():
    """Nine data sets, every k and twelve alphas: 365 parameters, of which the nine alpha = 1 are k = 1."""
    counted = parameters = 0
    for n in (19, 6, 53, 12, 27, 75, 45, 6, 14):  # labels of birds to yeast
        grids = {"binomial": range(1, n + 1), "polynomial": even_alphas(n)}
        parameters += sum(map(len, grids.values()))
        counted += sum(points(n, grids).values())
    assert (parameters, counted) == (365, 356)


FAMILIES = {"binomial": [1, 2, 3, 4, 5], "polynomial": [1, 3, np.inf]}


def slowly(folds, name, ours):
    """A learner of ours along a curve, one parameter and one fold after another: counts, p-values, differences."""
    others = [each for each in folds if each not in (*ours, "none")]
    n_folds, n_parameters = np.shape(folds[name])
    tests, columns, bests = [], [], set()
    for index in range(n_parameters):
        means = {each: np.mean([fold[index] for fold in folds[each]]) for each in (*others, name)}
        least = min(means[each] for each in others)
        best = [each for each in others if means[each] - least <= 1e-12]
        bests.update(best)
        column = [folds[name][fold][index] - folds[best[0]][fold][index] for fold in range(n_folds)]
        columns.append(column)
        if max(column) - min(column) <= 1e-12:
            pvalue = 1.0 if abs(column[0]) <= 1e-12 else 0.0
        else:
            error = np.sqrt((1 / n_folds + 1 / (n_folds - 1)) * np.var(column, ddof=1))
            pvalue = 2 * stats.t.sf(abs(np.mean(column)) / error, n_folds - 1)
        tests.append((means[name] - least, pvalue))
    return tests, columns, bests


def adjust(pvalues):
    """Holm's method, step by step."""
    adjusted, most = {}, 0.0
    for step, (point, pvalue) in enumerate(sorted(pvalues.items(), key=lambda item: item[1])):
        most = adjusted[point] = max(most, min(1.0, (len(pvalues) - step) * pvalue))
    return adjusted


def interval_over_folds(values, confidence):
    n_folds = len(values)
    error = np.sqrt((1 / n_folds + 1 / (n_folds - 1)) * np.var(values, ddof=1))
    margin = stats.t.isf((1 - confidence) / 2, n_folds - 1) * error
    return np.mean(values) - margin, np.mean(values) + margin


def area(x, values):
    return sum((values[i] + values[i + 1]) / 2 * (x[i + 1] - x[i]) for i in range(len(x) - 1)) / (x[-1] - x[0])


AXES = {"binomial": [0, 0.25, 0.5, 0.75, 1], "polynomial": [0, np.log(3) / np.log(1000)]}
NEAR = [0.0, 0.25, 0.25 + 1e-14, 0.5, 0.75]  # many ties


@given(losses=arrays(float, (2, 8, 4, 6), elements=st.sampled_from(NEAR)), confidence=st.sampled_from([0.5, 0.9, 0.99]))
def test_against_a_slow_loop(losses, confidence):
    """Two data sets, both families, four folds, six learners, two of them ours."""
    names, ours = ["A", "O", "none", "B", "P", "C"], ("O", "P")
    columns = {"binomial": slice(0, 5), "polynomial": slice(5, 8)}
    folds = {
        (dataset, family): {name: of_dataset[columns[family], :, i].T for i, name in enumerate(names)}
        for dataset, of_dataset in zip("de", losses, strict=True)
        for family in FAMILIES
    }
    results = Given(folds, {place: FAMILIES[place[1]] for place in folds}, {"d": 5, "e": 5})
    results.confidence = confidence
    for name in ours:
        expected = {place: slowly(of_place, name, ours) for place, of_place in folds.items()}
        adjusted = adjust(
            {
                (place, index): pvalue
                for place, (tests, _, _) in expected.items()
                for index, (_, pvalue) in enumerate(tests)
                if place[1] == "binomial" or index == 1  # alpha = 1 and inf are k = 1 and 5
            }
        )
        for found in compare_with_best(results, ours):
            if found.learner == name:
                check(found, *expected[found.dataset, found.family], adjusted, confidence)


def check(found, tests, columns, bests, adjusted, confidence):
    counts = dict.fromkeys(("n_points", "n_better", "n_tied", "n_significantly_better", "n_significantly_worse"), 0)
    differences = [difference for difference, _ in tests]
    for index, difference in enumerate(differences):
        pvalue = adjusted.get(((found.dataset, found.family), index))
        if pvalue is None:
            assert np.isnan(found.pvalues[index])
            continue
        assert found.pvalues[index] == pytest.approx(pvalue, abs=1e-9)
        counts["n_points"] += 1
        counts["n_better"] += difference < -1e-12
        counts["n_tied"] += abs(difference) <= 1e-12
        if pvalue < 1 - confidence:
            counts["n_significantly_better"] += np.mean(columns[index]) < 0
            counts["n_significantly_worse"] += np.mean(columns[index]) > 0
    assert counts == {name: getattr(found, name) for name in counts}
    assert set(found.best_others) == bests
    place = FAMILIES[found.family].index(found.where)
    assert found.worst == pytest.approx(max(0, *differences), abs=1e-12)
    assert differences[place] == pytest.approx(max(differences), abs=1e-12)
    interval = interval_over_folds(columns[place], confidence)
    assert (found.worst_low, found.worst_high) == pytest.approx(interval, abs=1e-12)
    x = AXES[found.family]
    gains = [-area(x, fold[: len(x)]) for fold in zip(*columns, strict=True)]
    assert found.fold_gains == pytest.approx(gains, abs=1e-12)
    assert found.area_gain == pytest.approx(np.mean(gains), abs=1e-12)
    assert (found.area_low, found.area_high) == pytest.approx(interval_over_folds(gains, confidence), abs=1e-11)


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
        ("calm", "polynomial", "ours"),
        ("calm", "binomial", "ours, failing"),
        ("calm", "polynomial", "ours, failing"),
    ]
    assert all(set(each.best_others) <= {"good", "noisy"} for each in found[:2])
    assert [each.n_points for each in found] == [3, 1, 4, 1, 4, 1]  # alpha = 1 and inf are k = 1 and K


def test_tests_and_intervals_are_those_of_the_folds_of_a_study(results):
    found = compare_with_best(results, OURS)
    for each in found:
        index = results.parameters(each.dataset, each.family).tolist().index(each.where)
        folds = [
            [results.cell_losses(cell, each.family)[index] for cell in results.cells(each.dataset, name)]
            for name in (each.learner, each.rival)
        ]
        interval = corrected_t_interval(np.subtract(*folds), test_share=1, confidence=0.95)  # two folds
        assert (each.worst_low, each.worst_high) == pytest.approx(interval)
        curves = [results.curve(each.dataset, name, each.family).losses[index] for name in (each.learner, each.rival)]
        assert each.worst == pytest.approx(max(0, np.subtract(*curves)), abs=1e-12)
    for learner, n_points in {"ours": 3 + 1 + 4 + 1, "ours, failing": 4 + 1}.items():
        pvalues = np.concatenate([each.pvalues for each in found if each.learner == learner])
        assert np.count_nonzero(~np.isnan(pvalues)) == n_points


def test_one_that_predicts_as_another_ties_with_it_at_best(results):
    for each in compare_with_best(results, OURS):
        if each.learner == "ours, failing":  # predicts what "good" does
            curves = results.competitor_curves(each.dataset, each.family)
            best = np.min([curves[name].losses for name in ("failing", "good", "noisy")], axis=0)
            assert (each.n_better, each.n_significantly_better) == (0, 0)
            is_tied = np.isclose(curves["good"].losses, best, rtol=0, atol=1e-12)
            assert each.n_tied == is_tied[slice(1, 2) if each.family == "polynomial" else slice(None)].sum()


def test_a_row_of_the_table_for_each_comparison(results):
    table, found = results.tables()["yardstick"], compare_with_best(results, OURS)
    assert len(table) == len(found)
    for row, each in zip(table.rows, found, strict=True):
        of_row = dict(zip(table.columns, row, strict=True))
        assert of_row.pop("best_others") == ", ".join(each.best_others)
        assert of_row == {name: getattr(each, name) for name in of_row}


def test_rivals_may_be_named():
    losses = {"O": 0.3, "A": 0.1, "P": 0.4, "B": 0.2}
    folds = {("d", "binomial"): {name: np.full((4, 3), loss) for name, loss in losses.items()}}
    results = Given(folds, {("d", "binomial"): FAMILIES["binomial"][:3]}, {"d": 5})
    for rivals, worst in ((None, 0.2), (["B"], 0.1), (["P"], 0)):
        (found,) = compare_with_best(results, ["O"], rivals)
        assert found.worst == pytest.approx(worst)
