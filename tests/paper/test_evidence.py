"""Numbers made of curves, and how sure they are: against the tests they stand for."""

import numpy as np
import pytest

import study_zoo as zoo
from choral import ErrorProfile
from choral.paper.evidence import NOTHING, OwnRuns, PublishedCurves
from choral.paper.published import published_profiles, published_runs
from choral.stats import corrected_resampled_t, corrected_t_interval
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two learners and the baseline on 60 rows, in five folds of twelve; a learner there has not run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        learners = [StudyLearner("A", zoo.Stumps()), StudyLearner("B", zoo.Stumps(0.4))]
        data = [StudyData("equal", lambda: zoo.make_data(60, 4)), StudyData("unequal", lambda: zoo.make_data(58, 3))]
        plan = Plan(data, learners, split=Split(folds=5, repeats=2))
        return run_study(plan, tmp_path_factory.mktemp("study"))


@pytest.mark.parametrize("family", ["binomial", "polynomial"])
def test_a_difference_is_tested_as_by_the_corrected_t_test_over_folds(results, family):
    found = OwnRuns(results).estimate("equal", lambda curves: curves[family].end("B") - curves[family].end("A"))
    folds = results.fold_losses("equal", "B", family)[:, -1] - results.fold_losses("equal", "A", family)[:, -1]
    assert len(folds) == 10
    assert found.value == pytest.approx(folds.mean(), abs=1e-12)
    assert found.pvalue == pytest.approx(corrected_resampled_t(folds, test_share=1 / 4).pvalue)
    assert found[1:3] == pytest.approx(corrected_t_interval(folds, test_share=1 / 4))


def test_curves_are_those_of_all_test_rows(results):
    evidence = OwnRuns(results)
    curves = evidence.curves("unequal")["binomial"]  # folds of 12 and 11 rows count by their rows
    expected = results.curve("unequal", "A", "binomial")
    np.testing.assert_allclose(curves.losses["A"], expected.losses, atol=1e-12)
    np.testing.assert_allclose(curves.x, expected.x)
    assert evidence.profile("unequal", "A") == results.profile("unequal", "A")


def test_the_error_of_any_number_is_that_of_the_jackknife(results):
    evidence = OwnRuns(results)

    def ratio(curves):
        return curves["binomial"].end("A") / curves["binomial"].end("B")

    cells = {name: results.fold_losses("equal", name, "binomial")[:, -1] for name in "AB"}
    without = np.array([np.delete(cells["A"], i).mean() / np.delete(cells["B"], i).mean() for i in range(10)])
    whole = cells["A"].mean() / cells["B"].mean()
    pseudo = 10 * whole - 9 * without
    lower, upper = corrected_t_interval(pseudo - pseudo.mean() + whole, test_share=1 / 4)
    assert evidence.estimate("equal", ratio)[:3] == pytest.approx((whole, lower, upper))


def test_a_number_that_some_folds_do_not_define_has_no_interval(results):
    def undefined_without_the_third_fold(curves):
        return np.where(np.arange(11) == 3, np.nan, curves["binomial"].end("A"))

    found = OwnRuns(results).estimate("equal", undefined_without_the_third_fold)
    assert found.value == pytest.approx(results.curve("equal", "A", "binomial").losses[-1])
    assert np.isnan(found[1:]).all()


def test_parts_of_a_curve(results):
    curves = OwnRuns(results).curves("equal")["binomial"]
    losses = results.curve("equal", "A", "binomial").losses
    assert (curves.start("A"), curves.end("A")) == pytest.approx((losses[0], losses[-1]))
    assert curves.slope("A") == pytest.approx(losses[-1] - losses[0])
    dense = np.interp(np.linspace(0.25, 0.75, 10_001), curves.x, curves.losses["A"])
    assert curves.middle("A") == pytest.approx(dense.mean(), abs=1e-3)
    assert curves.distance("A", "A") == 0
    gaps = np.abs(curves.losses["A"] - curves.losses["B"])
    assert curves.distance("A", "B") == pytest.approx(((gaps[:-1] + gaps[1:]) / 2 * np.diff(curves.x)).sum())


# --- the published curves


def test_the_published_curves_are_the_published_losses():
    evidence = PublishedCurves()
    assert evidence.datasets == ("birds", "emotions", "flags-7", "scene", "yeast")
    assert len(evidence.competitors("birds")) == 9
    curves = evidence.curves("yeast")
    for family in ("binomial", "polynomial"):
        np.testing.assert_array_equal(curves[family].losses["BR"], published_runs()["yeast", "BR"].losses[family])


def test_the_error_of_a_published_difference_is_that_of_two_independent_means():
    evidence = PublishedCurves()
    found = evidence.estimate("scene", lambda curves: curves["binomial"].end("BR") - curves["binomial"].end("LP"))
    ends = {name: published_runs()["scene", name].losses["binomial"][-1] for name in ("BR", "LP")}
    error = np.sqrt(sum(loss * (1 - loss) / 2407 for loss in ends.values()))  # of shares of rows
    assert found.value == pytest.approx(ends["BR"] - ends["LP"])
    assert found.upper - found.lower == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert found.pvalue < 1e-6


def test_predicting_nothing_beside_the_published_curves(paper_facts):
    evidence = PublishedCurves()
    for dataset, (hamming, subset) in paper_facts.items():
        curve = evidence.curves(dataset)["binomial"]
        assert curve.start(NOTHING) == pytest.approx(hamming, abs=5e-5)
        assert curve.end(NOTHING) == pytest.approx(subset, abs=5e-5)
    assert evidence.predicts_nothing("birds", "PCT")
    assert not evidence.predicts_nothing("yeast", "PCT")
    assert not evidence.predicts_nothing("yeast", NOTHING)


@pytest.fixture
def paper_facts():
    """Hamming and subset 0/1 loss of predicting no label, worked out from the labels of the data sets."""
    return {"birds": (0.0534, 0.5442), "emotions": (0.3114, 1), "scene": (0.1790, 1), "yeast": (0.3026, 1)}


def test_every_published_run_is_a_whole_number_of_rows():
    n_rows = {"birds": 645, "emotions": 593, "flags-7": 194, "scene": 2407, "yeast": 2417}
    for (dataset, method), profile in published_profiles().items():
        run = published_runs()[dataset, method]
        assert isinstance(profile, ErrorProfile)
        assert (profile.n_rows == n_rows[dataset]) == (run.n_folds == 10)
        np.testing.assert_allclose(profile.losses("polynomial"), run.losses["polynomial"], atol=1e-9)
