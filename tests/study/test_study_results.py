"""Results of studies against scikit-learn and slow loops over what is stored."""

import csv
import io
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import hamming_loss, mean_absolute_error, zero_one_loss
from sklearn.naive_bayes import GaussianNB

import study_zoo as zoo
from choral import (
    BinomialMeasure,
    PolynomialMeasure,
    bayes_optimal,
    binomial_loss,
    explain,
    harden,
    independent_curve,
    loss_curve,
    polynomial_loss,
)
from choral.learners import BinaryRelevance, ConstantLabels, LabelPowerset, PredictiveClusteringForest
from choral.paper import (
    Yardstick,
    claims_section,
    compare_with_published,
    published_runs,
    published_section,
)
from choral.report import write_page
from choral.study import Plan, Results, Split, StudyData, StudyLearner, Table, run_study, running, write_figures
from choral.study.answers import answer
from choral.study.comparisons import PLACES
from choral.study.page import study_contents

SIZES = {"a": (40, 4), "b": (31, 3), "c": (36, 5)}  # rows and labels
FAMILIES = {"binomial": None, "polynomial": [1, 1.5, 4, 1000, np.inf]}
LOSSES = {"binomial": binomial_loss, "polynomial": polynomial_loss}
PARAMETER = {"binomial": "k", "polynomial": "alpha"}
COMPETITORS = ("BR", "LP", "noisy")


def run(plan, folder):
    """Run a study in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(plan, folder)


def make_plan(**options):
    learners = [
        StudyLearner("BR", BinaryRelevance(GaussianNB())),
        StudyLearner("none", ConstantLabels(), is_baseline=True),
        StudyLearner("LP", LabelPowerset(GaussianNB())),
        StudyLearner("noisy", zoo.Noisy()),
    ]
    data = [StudyData(name, lambda size=size: zoo.make_data(*size)) for name, size in SIZES.items()]
    chosen = {"split": Split(folds=3, repeats=2), "seeds": (0, 1), "families": FAMILIES, "title": "A study"}
    return Plan(data, learners, **{**chosen, **options})


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run(make_plan(), tmp_path_factory.mktemp("hard") / "study")


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    return run(make_plan(predictions="soft"), tmp_path_factory.mktemp("soft") / "study")


@pytest.fixture(scope="module")
def lacking(tmp_path_factory):
    """A learner that fails in half of the cells of a data set, and a data set on which all learners fail."""

    def with_gaps():
        X, Y = zoo.make_data()
        return np.where(X > 5, np.nan, X), Y

    learners = [
        StudyLearner("BR", BinaryRelevance(GaussianNB())),
        StudyLearner("raising", zoo.Raising()),
        StudyLearner("LP", LabelPowerset(GaussianNB())),
    ]
    data = [
        StudyData("gaps", with_gaps, folds=[0, 1] * 12),
        StudyData("good", zoo.make_data, folds=[0] * 12 + [1] * 12),
    ]
    return run(Plan(data, learners), tmp_path_factory.mktemp("lacking") / "study")


def all_cells(results):
    return [cell for dataset in results.datasets for cell in results.cells(dataset)]


def truth(results, cell):
    return results.labels(cell.dataset)[0][results.test_rows(cell)]


def loss_by_row(Y, predictions, family, parameter):
    return np.array(
        [
            LOSSES[family](y[np.newaxis], p[np.newaxis], **{PARAMETER[family]: parameter})
            for y, p in zip(Y, predictions, strict=True)
        ]
    )


def rows_of(results, dataset, learner, family, parameter):
    """The loss of each row, averaged over seeds and repeats, one cell and row after another."""
    Y, _ = results.labels(dataset)
    sums, counts = np.zeros(len(Y)), np.zeros(len(Y))
    for cell in results.cells(dataset):
        if cell.learner == learner:
            test = results.test_rows(cell)
            sums[test] += loss_by_row(Y[test], results.cell_predictions(cell), family, parameter)
            counts[test] += 1
    assert len(set(counts)) == 1  # every row as often
    return sums / counts


def test_what_the_results_are_of(results):
    assert repr(results).splitlines() == [
        "Results('A study', 126 cells)",
        "  3 data sets: 'a', 'b', 'c'",
        "  4 learners: 'BR', 'none', 'LP', 'noisy'",
    ]
    assert (results.datasets, results.learners) == (("a", "b", "c"), ("BR", "none", "LP", "noisy"))
    assert (results.competitors, results.baseline, results.predictions) == (COMPETITORS, "none", "hard")
    assert (results.families, results.failures()) == (("binomial", "polynomial"), ())
    assert len(results.cells("a")) == (1 + 1 + 1 + 2) * 3 * 2 + 2 * 3 * sum(
        bool(learner.seed_parameters) for learner in make_plan().learners[:3]
    )
    assert results.parameters("b", "binomial").tolist() == [1, 2, 3]
    assert results.parameters("b", "polynomial").tolist() == FAMILIES["polynomial"]
    for name, size in SIZES.items():
        assert np.array_equal(results.labels(name)[0], zoo.make_data(*size)[1])
        assert results.n_labels(name) == size[1]


def test_all_learners_see_the_same_folds(results):
    for dataset in results.datasets:
        rows = {}
        for cell in results.cells(dataset):
            rows.setdefault(cell.learner, {})[cell.repeat, cell.fold] = results.test_rows(cell).tolist()
            assert len(results.cell_predictions(cell)) == results.test_rows(cell).sum()
        assert len(rows) == 4
        assert all(tests == rows["BR"] for tests in rows.values())
        for repeat in (0, 1):
            assert np.all(np.sum([rows["BR"][repeat, fold] for fold in range(3)], axis=0) == 1)


def test_every_cell_is_its_learner_trained_on_the_other_rows_with_its_seed(results):
    predictions = {}
    for cell in [cell for cell in all_cells(results) if cell.learner == "noisy"]:
        (X, Y), test = zoo.make_data(*SIZES[cell.dataset]), results.test_rows(cell)
        expected = zoo.Noisy(random_state=cell.seed).fit(X[~test], Y[~test]).predict(X[test])
        predictions[cell[:5]] = results.cell_predictions(cell).tolist()
        assert predictions[cell[:5]] == expected.tolist()
    assert predictions["a", "noisy", 0, 0, 0] != predictions["a", "noisy", 1, 0, 0]


def test_both_ends_of_every_cell_are_scikit_learn_s_losses_of_the_stored_predictions(results):
    for cell in all_cells(results):
        Y, predictions = truth(results, cell), results.cell_predictions(cell)
        assert predictions.dtype == np.uint8
        for family in FAMILIES:
            losses = results.cell_profile(cell).losses(family, results.parameters(cell.dataset, family))
            assert losses[0] == pytest.approx(hamming_loss(Y, predictions), abs=1e-12)
            assert losses[-1] == pytest.approx(zero_one_loss(Y, predictions), abs=1e-12)


def test_both_ends_of_every_cell_with_scores(soft):
    assert soft.predictions == "soft"
    n_fractions = 0
    for cell in all_cells(soft):
        assert soft.cell_predictions(cell).dtype == np.float32
        Y, scores = truth(soft, cell), soft.cell_predictions(cell).astype(float)
        n_fractions += np.count_nonzero((scores > 0) & (scores < 1))
        for family in FAMILIES:
            losses = soft.cell_profile(cell).losses(family, soft.parameters(cell.dataset, family))
            assert losses[0] == pytest.approx(mean_absolute_error(Y, scores), abs=1e-12)
            assert losses[-1] == pytest.approx(np.abs(Y - scores).max(axis=1).mean(), abs=1e-12)
    assert n_fractions > 1000


def test_a_threshold_makes_scores_hard(soft, tmp_path):
    learners = [StudyLearner("BR", BinaryRelevance(GaussianNB())), StudyLearner("noisy", zoo.Noisy(), 0.6)]
    plan = make_plan(threshold=0.3)
    hard = run(Plan(plan.datasets, learners, split=plan.split, seeds=plan.seeds, threshold=0.3), tmp_path / "study")
    scores = {cell[:5]: soft.cell_predictions(cell) for cell in all_cells(soft)}
    for cell in all_cells(hard):
        # in the study the threshold meets scores in full, here rounded to single precision
        expected = harden(scores[cell[:5]], {"BR": 0.3, "noisy": 0.6}[cell.learner])
        assert np.array_equal(hard.cell_predictions(cell), expected)


@pytest.mark.parametrize("kind", ["results", "soft"])
def test_curves_are_means_over_rows_seeds_and_repeats(kind, request):
    found = request.getfixturevalue(kind)
    for learner in ("BR", "noisy"):
        for family in FAMILIES:
            curve = found.curve("b", learner, family)
            expected = [rows_of(found, "b", learner, family, value).mean() for value in curve.parameters]
            assert curve.losses == pytest.approx(expected, abs=1e-12)
            assert (curve.name, curve.family, curve.n_labels) == (learner, family, 3)


def test_pooled_losses_are_not_means_of_folds(results):
    folds = [results.cell_profile(cell) for cell in results.cells("b") if cell.learner == "BR"]
    sizes = {profile.n_rows for profile in folds}
    assert sizes == {10, 11}
    mean_of_folds = np.mean([profile.losses("binomial") for profile in folds], axis=0)
    assert (results.curve("b", "BR", "binomial").losses != mean_of_folds).any()


def test_loss_at_a_place_is_interpolated(results):
    losses = results.curve("b", "BR", "binomial").losses
    assert results.loss_at("b", "BR", "binomial", 0.75) == pytest.approx((losses[1] + losses[2]) / 2)


def test_bands_are_those_of_a_plain_bootstrap(results):
    rng = np.random.default_rng(1)
    for family in FAMILIES:
        bands = results.bands("a", family)
        for learner in ("BR", "noisy"):
            losses = results.curve("a", learner, family).losses
            assert (bands[learner].lower <= losses).all()
            assert (losses <= bands[learner].upper).all()
        parameters = results.parameters("a", family)
        rows = np.array([rows_of(results, "a", "noisy", family, value) for value in parameters])
        drawn = np.array([rows[:, rng.integers(40, size=40)].mean(axis=1) for _ in range(2000)])
        lower, upper = np.quantile(drawn, [0.025, 0.975], axis=0)
        width = bands["noisy"].upper - bands["noisy"].lower
        assert width == pytest.approx(upper - lower, rel=0.2)


def test_a_wider_confidence_gives_wider_bands(results):
    wide = Results(results._store.folder, n_bootstrap=300, confidence=0.99).bands("a", "binomial")["BR"]
    narrow = Results(results._store.folder, n_bootstrap=300, confidence=0.5).bands("a", "binomial")["BR"]
    assert (wide.lower < narrow.lower).all()
    assert (narrow.upper < wide.upper).all()


def test_differences_are_paired(results):
    rng = np.random.default_rng(2)
    found = results.differences("a", "binomial")
    assert list(found) == list(combinations(COMPETITORS, 2))
    for (first, second), difference in found.items():
        rows = np.array(
            [
                rows_of(results, "a", second, "binomial", k) - rows_of(results, "a", first, "binomial", k)
                for k in range(1, 5)
            ]
        )
        assert difference.estimate == pytest.approx(rows.mean(axis=1), abs=1e-12)
        assert (difference.lower <= difference.estimate).all()
        assert (difference.estimate <= difference.upper).all()
        drawn = np.array([rows[:, rng.integers(40, size=40)].mean(axis=1) for _ in range(2000)])
        lower, upper = np.quantile(drawn, [0.025, 0.975], axis=0)
        assert difference.upper - difference.lower == pytest.approx(upper - lower, rel=0.2, abs=1e-3)


def test_p_values_are_those_of_the_corrected_t_test_with_holm_s_correction(results):
    for (first, second), difference in results.differences("a", "binomial").items():
        pvalues = []
        for k in range(1, 5):
            folds = []
            for repeat, fold in np.ndindex(2, 3):
                means = []
                for learner in (first, second):
                    cells = [c for c in results.cells("a") if c[1] == learner and c[3:5] == (repeat, fold)]
                    losses = [binomial_loss(truth(results, c), results.cell_predictions(c), k=k) for c in cells]
                    means.append(np.mean(losses))
                folds.append(means[1] - means[0])
            if np.ptp(folds) < 1e-12:
                pvalues.append(1.0 if abs(folds[0]) < 1e-12 else 0.0)
            else:
                t = np.mean(folds) / np.sqrt((1 / 6 + 1 / 2) * np.var(folds, ddof=1))
                pvalues.append(2 * stats.t.sf(abs(t), 5))
        adjusted, most = np.empty(4), 0.0
        for step, index in enumerate(np.argsort(pvalues)):
            most = max(most, min(1.0, (4 - step) * pvalues[index]))
            adjusted[index] = most
        assert difference.pvalue == pytest.approx(adjusted, abs=1e-9)


def test_losses_by_fold_are_means_over_seeds(results):
    losses = results.fold_losses("a", "LP", "binomial")
    assert losses.shape == (6, 4)
    for row, (repeat, fold) in zip(losses, np.ndindex(2, 3), strict=True):
        cells = [cell for cell in results.cells("a", "LP") if (cell.repeat, cell.fold) == (repeat, fold)]
        of_seeds = [
            [binomial_loss(truth(results, cell), results.cell_predictions(cell), k=k) for k in range(1, 5)]
            for cell in cells
        ]
        assert len(of_seeds) == 2
        assert row == pytest.approx(np.mean(of_seeds, axis=0), abs=1e-12)
    assert results.test_share("a") == 1 / 2  # three folds


def table_rows(table):
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_the_table_of_losses(results):
    rows = table_rows(results.tables()["losses"])
    n_parameters = sum(len(results.parameters(dataset, family)) for dataset in "abc" for family in FAMILIES)
    assert len(rows) == 4 * n_parameters
    curves = {(d, f): results.curves(d, f) for d in "abc" for f in FAMILIES}
    for row in rows:
        curve = curves[row["dataset"], row["family"]][row["learner"]]
        (index,) = np.flatnonzero(curve.parameters == row["parameter"])
        assert row["loss"] == curve.losses[index]
        band = results.bands(row["dataset"], row["family"])[row["learner"]]
        assert (row["lower"], row["upper"]) == (band.lower[index], band.upper[index])
        if row["learner"] == "none":
            assert row["rank"] is None
        else:
            others = [curves[row["dataset"], row["family"]][name].losses[index] for name in COMPETITORS]
            better = sum(other < row["loss"] - 1e-12 for other in others)
            equal = sum(abs(other - row["loss"]) <= 1e-12 for other in others)
            assert row["rank"] == better + (equal + 1) / 2


@pytest.mark.parametrize("kind", ["hard", "soft", "each loss"])
def test_a_learner_that_predicts_as_the_baseline_is_named_so(tmp_path, kind):
    learners = [
        StudyLearner("BR", BinaryRelevance(GaussianNB())),
        StudyLearner("quiet", zoo.Quiet(), each_loss=kind == "each loss"),
        StudyLearner("none", ConstantLabels(), is_baseline=True),
    ]
    plan = replace(make_plan(predictions="soft" if kind == "soft" else "hard"), learners=learners)
    results = run(plan, tmp_path / "study")
    assert [results.same_as_baseline(dataset) for dataset in "abc"] == [(), ("quiet",), ()]  # b has three labels
    assert "quiet predicts the same as the baseline (none) on b." in answer(results)
    for name in ("losses", "slopes"):
        same = {(row["dataset"], row["learner"]) for row in table_rows(results.tables()[name]) if row["same_as"]}
        assert same == {("b", "quiet")}
    assert set(results.tables()["losses"].column("same_as")) == {"none", None}
    assert [dataset["same_as_baseline"] for dataset in study_contents(results)["datasets"]] == [[], ["quiet"], []]


def test_equal_losses_of_other_predictions_are_not_the_same_as_the_baseline(tmp_path):
    """Of three labels, "odd" and the baseline have two wrong in every row, but not the same two."""
    X, Y = np.arange(6.0)[:, None], np.tile([[1, 0, 0]], (6, 1))
    learners = [
        StudyLearner("odd", zoo.Always((0, 1, 0))),
        StudyLearner("full", zoo.Always((1, 1, 1))),
        StudyLearner("none", zoo.Always((1, 1, 1)), is_baseline=True),
    ]
    results = run(Plan([StudyData("a", (X, Y))], learners, split=Split(folds=2)), tmp_path / "study")
    assert (
        results.curve("a", "odd", "binomial").losses.tolist() == results.curve("a", "none", "binomial").losses.tolist()
    )
    assert results.same_as_baseline("a") == ("full",)


def test_without_a_baseline_nobody_is_the_same(tmp_path, lacking):
    assert lacking.baseline is None
    assert [lacking.same_as_baseline(dataset) for dataset in lacking.datasets] == [(), ()]


def test_the_table_of_winners(results):
    rows = table_rows(results.tables()["wins"])
    for dataset in "abc":
        for family in FAMILIES:
            curves = results.curves(dataset, family)
            parameters = results.parameters(dataset, family).tolist()
            expected = []
            for index in range(len(parameters)):
                losses = {name: curves[name].losses[index] for name in COMPETITORS}
                least = min(losses.values())
                expected.append(", ".join(name for name in losses if losses[name] <= least + 1e-12))
            stretches = [row for row in rows if (row["dataset"], row["family"]) == (dataset, family)]
            found = [
                next(s["winner"] for s in stretches if s["first_parameter"] <= value <= s["last_parameter"])
                for value in parameters
            ]
            assert found == expected
            assert all(before["winner"] != after["winner"] for before, after in pairwise(stretches))
            assert (stretches[0]["first_parameter"], stretches[-1]["last_parameter"]) == (parameters[0], parameters[-1])


def test_the_table_of_slopes(results):
    for row in table_rows(results.tables()["slopes"]):
        curve = results.curve(row["dataset"], row["learner"], row["family"])
        if row["family"] == "binomial":
            assert row["slope"] == pytest.approx(curve.losses[-1] - curve.losses[0])
            assert row["area"] == pytest.approx(np.trapezoid(curve.losses, np.linspace(0, 1, curve.losses.size)))
    assert len(results.tables()["slopes"]) == 3 * 2 * 4


@pytest.mark.parametrize("kind", ["results", "soft"])
def test_togetherness_is_that_of_all_predictions_together(kind, request):
    found = request.getfixturevalue(kind)
    for family in FAMILIES:
        for learner, own in found.togetherness("b", family).items():
            cells = found.cells("b", learner)
            true = np.concatenate([truth(found, cell) for cell in cells])
            predicted = np.concatenate([found.cell_predictions(cell) for cell in cells])
            assert own.estimate == pytest.approx(loss_curve(true, predicted, family=family).togetherness)
            expected = independent_curve(true, predicted, family=family).togetherness
            assert own.independent == pytest.approx(expected, abs=1e-9)
            if family == "binomial":
                assert own.lower <= own.estimate <= own.upper
    assert list(found.togetherness("b", "binomial")) == list(found.learners)


def test_togetherness_in_the_table_of_slopes(results, anew):
    for row in table_rows(results.tables()["slopes"]):
        own = results.togetherness(row["dataset"], row["family"])[row["learner"]]
        names = ("togetherness", "togetherness_lower", "togetherness_upper", "togetherness_independent")
        # polynomial losses at 1, 1.5, 4, 1000 and inf alone: there are no samples of the whole curve
        assert [row[name] for name in names] == list(own)
        assert (own.lower is None) == (row["family"] == "polynomial")
    without = {row["learner"] for row in table_rows(anew.tables()["slopes"]) if row["togetherness"] is None}
    assert without == {"LP", "EPCT"}  # they predict anew for each loss


def test_togetherness_without_bootstrap_samples_or_with_one_label(results, tmp_path):
    found = Results(results._store.folder, n_bootstrap=0).togetherness("a", "binomial")
    assert {(own.lower, own.upper) for own in found.values()} == {(None, None)}
    plan = replace(make_plan(), datasets=[StudyData("one", lambda: zoo.make_data(30, 1))])
    assert run(plan, tmp_path).togetherness("one", "binomial") == {}


def test_predictions_of_a_run_are_those_of_its_folds(results, anew):
    found = results.run_predictions("a", "noisy", "binomial")
    cells = [cell for cell in results.cells("a", "noisy") if (cell.seed, cell.repeat) == (0, 0)]
    assert len(cells) == 3
    for cell in cells:
        assert np.array_equal(found[results.test_rows(cell)], results.cell_predictions(cell))
    for cell in anew.cells("a", "LP"):
        if (cell.seed, cell.repeat) == (anew.cells("a", "LP")[0].seed, 0):
            expected = decided(anew, cell, "binomial")[-1]
            assert np.array_equal(anew.run_predictions("a", "LP", "binomial")[anew.test_rows(cell)], expected)


def test_predictions_of_a_learner_that_did_not_finish(lacking):
    with pytest.raises(ValueError, match="raising has not finished on good"):
        lacking.run_predictions("good", "raising", "binomial")


@pytest.mark.parametrize("kind", ["results", "soft", "anew"])
def test_the_best_two_learners_of_each_data_set_are_explained(kind, request):
    found = request.getfixturevalue(kind)
    contents = study_contents(found)
    explained = iter(contents["explanations"])
    for dataset in found.datasets:
        losses = {learner: found.curve(dataset, learner, "binomial").losses[-1] for learner in found.competitors}
        Y, labels = found.labels(dataset)
        for learner in sorted(losses, key=losses.get)[:2]:
            one = next(explained)
            assert (one["dataset"], one["model"], one["measure"]) == (dataset, learner, "subset 0/1 loss")
            assert one["labels"] == list(labels)
            run = found.run_predictions(dataset, learner, "binomial")
            assert one["share"] == pytest.approx(explain(Y, run).shares.tolist())
            assert (one["togetherness"] is None) == (learner in found.each_loss)
    assert next(explained, None) is None
    assert {each["dataset"] for each in contents["disagreements"]} <= set(found.datasets)


def test_data_sets_that_nobody_finished_are_not_explained(lacking):
    assert {each["dataset"] for each in study_contents(lacking)["explanations"]} == {"good"}


def test_a_curve_without_an_end_has_no_slope(tmp_path):
    plan = make_plan(families={"binomial": [1, 2], "polynomial": [2, 1000]}, seeds=(0,))
    table = run(plan, tmp_path / "study").tables()["slopes"]
    assert set(table.column("slope")) == set(table.column("area")) == {None}


def test_the_table_of_crossings(results):
    rows = table_rows(results.tables()["crossings"])
    expected = []
    for family in FAMILIES:
        for first, second in combinations(COMPETITORS, 2):
            for dataset in "abc":
                curves = results.curves(dataset, family)
                gaps = curves[second].losses - curves[first].losses
                signs = [int(gap > 1e-12) - int(gap < -1e-12) for gap in gaps]
                decided = [sign for sign in signs if sign]
                for before, after in pairwise(decided):
                    if before != after:
                        expected.append((dataset, family, first, second, *((first, second)[:: int(before)])))
    found = [(r["dataset"], r["family"], r["first"], r["second"], r["better_before"], r["better_after"]) for r in rows]
    assert found == expected
    assert len(found) > 0
    for row in rows:
        parameters = results.parameters(row["dataset"], row["family"])
        assert parameters[0] < row["parameter"] < parameters[-1]
        gaps = [
            results.curve(row["dataset"], row[name], row["family"]).losses for name in ("better_after", "better_before")
        ]
        left = np.searchsorted(parameters, row["parameter"], side="right") - 1
        assert (gaps[0] - gaps[1])[left] >= -1e-12


def test_the_table_of_ranks(results):
    rows = table_rows(results.tables()["ranks"])
    assert len(rows) == 2 * 3 * 3
    for family, place, x in [("binomial", "Hamming", 0.0), ("binomial", "middle", 0.5), ("polynomial", "Hamming", 0.0)]:
        losses = [[results.loss_at(d, name, family, x) for name in COMPETITORS] for d in "abc"]
        ranks = stats.rankdata(np.round(losses, 10), axis=1)
        expected = stats.friedmanchisquare(*np.round(losses, 10).T).pvalue
        for row, mean_rank in zip(
            [row for row in rows if (row["family"], row["place"]) == (family, place)], ranks.mean(axis=0), strict=True
        ):
            assert row["mean_rank"] == pytest.approx(mean_rank)
            assert row["n_datasets"] == 3
            assert row["friedman_pvalue"] == pytest.approx(expected)


def test_the_table_of_differences(results):
    rows = table_rows(results.tables()["differences"])
    pairs = 3 * sum(len(results.parameters(dataset, family)) for dataset in "abc" for family in FAMILIES)
    assert len(rows) == pairs
    one = next(row for row in rows if (row["dataset"], row["first"], row["second"]) == ("b", "LP", "noisy"))
    difference = results.differences("b", one["family"])["LP", "noisy"]
    values = one["difference"], one["lower"], one["upper"], one["pvalue"]
    assert values == tuple(column[0] for column in difference)


def test_tables_are_read_back_as_they_were(results, tmp_path):
    table = results.tables()["losses"]
    text = table.to_csv(tmp_path / "losses.csv")
    assert (tmp_path / "losses.csv").read_text() == text
    read = list(csv.DictReader(io.StringIO(text)))
    assert [float(row["loss"]) for row in read] == list(table.column("loss"))
    assert len(read) == len(table)


def test_a_table_becomes_a_frame():
    pytest.importorskip("pandas")
    frame = Table(("learner", "loss"), (("BR", 0.25), ("LP", 0.5))).to_pandas()
    assert frame["loss"].tolist() == [0.25, 0.5]
    assert list(frame.columns) == ["learner", "loss"]


def test_a_learner_that_lacks_a_cell_is_left_out_and_listed(lacking):
    assert lacking.finished("good") == ("BR", "LP")
    failures = [failure for failure in lacking.failures() if failure.dataset == "good"]
    assert [(failure.learner, failure.fold) for failure in failures] == [("raising", 0)]
    assert failures[0].reason.startswith("KeyError: ")
    assert list(lacking.curves("good", "binomial")) == list(lacking.bands("good", "binomial")) == ["BR", "LP"]
    assert list(lacking.differences("good", "binomial")) == [("BR", "LP")]
    assert lacking.pairs("BR", "raising", "binomial") == {}
    with pytest.raises(ValueError, match=r"raising has not finished on good; see failures\(\)."):
        lacking.profile("good", "raising")
    (cell,) = [c for c in lacking.cells("good") if (c.learner, c.fold) == ("raising", 0)]
    assert lacking.cell_profile(cell) is None
    for ask in (lacking.cell_predictions, lambda cell: lacking.cell_losses(cell, "binomial")):
        with pytest.raises(ValueError, match="there is no result of good, raising, seed 0, repeat 0, fold 0."):
            ask(cell)


def test_a_data_set_on_which_all_learners_failed(lacking):
    assert lacking.finished("gaps") == ()
    reasons = [failure.reason for failure in lacking.failures() if failure.learner == "BR"]
    assert len(reasons) == 2
    assert all("NaN" in reason for reason in reasons)
    assert lacking.curves("gaps", "binomial") == lacking.bands("gaps", "binomial") == {}
    assert lacking.differences("gaps", "binomial") == {}
    tables = lacking.tables()
    for name in ("losses", "wins", "slopes", "differences"):
        assert set(tables[name].column("dataset")) == {"good"}
    assert len(tables["ranks"]) == 0
    with pytest.raises(ValueError, match="on at least two data sets where all of them finished; got 3 and 0."):
        lacking.rank_comparison("binomial", 0.0)


def test_published_losses_beside_ours(tmp_path):
    data = [StudyData("emotions", lambda: zoo.make_data(40, 6)), StudyData("own", zoo.make_data)]
    learners = [StudyLearner("BR", zoo.Stumps()), StudyLearner("mine", zoo.Stumps(0.5))]
    results = run(Plan(data, learners, split=Split(folds=2)), tmp_path / "study")
    (found,) = compare_with_published(results)
    theirs = published_runs()["emotions", "BR"]
    ours = {family: results.curve("emotions", "BR", family).losses for family in FAMILIES}
    assert (found.dataset, found.learner, found.n_folds) == ("emotions", "BR", 10)
    assert (found.hamming, found.subset) == pytest.approx((ours["binomial"][0], ours["binomial"][-1]))
    ends = theirs.losses["binomial"][0], theirs.losses["binomial"][-1]
    assert (found.published_hamming, found.published_subset) == ends
    gaps = [ours[family][i] - theirs.losses[family][i] for family in FAMILIES for i in range(ours[family].size)]
    assert len(gaps) == 6 + 55
    assert found.distance == pytest.approx(np.mean(np.abs(gaps)))
    assert found.higher == pytest.approx(np.mean(gaps))


def test_no_loss_is_told_where_the_parameters_do_not_reach(tmp_path):
    data = [StudyData(name, zoo.make_data) for name in ("first", "second")]
    learners = [StudyLearner(name, zoo.Stumps(bias)) for name, bias in (("a", 0.0), ("b", 0.3), ("c", 0.5))]
    families = {"binomial": [1, 2], "polynomial": [2, 5]}
    results = run(Plan(data, learners, split=Split(folds=2), families=families), tmp_path)
    assert results.places("binomial") == {"Hamming": 0.0, "middle": 0.5}  # of three labels
    assert results.places("polynomial") == {}
    with pytest.raises(ValueError, match=r"the parameters of binomial on first reach from x = 0 to 0.5; got 1."):
        results.loss_at("first", "a", "binomial", 1.0)
    assert {row[:2] for row in results.tables()["ranks"].rows} == {("binomial", "Hamming"), ("binomial", "middle")}
    assert study_contents(results)["across"] is None
    assert results.ranks_or_none("binomial", 0.5) is results.rank_comparison("binomial", 0.5)


# --- learners that predict anew for each loss

EVEN = {"binomial": None, "polynomial": "even"}
MEASURES = {"binomial": BinomialMeasure, "polynomial": PolynomialMeasure}


@pytest.fixture(scope="module")
def anew(tmp_path_factory):
    """Learners that predict anew for each loss, with and without randomness, beside others."""
    learners = [
        StudyLearner("BR", BinaryRelevance(GaussianNB())),
        StudyLearner("none", ConstantLabels(), is_baseline=True),
        StudyLearner("LP", LabelPowerset(GaussianNB()), each_loss=True),
        StudyLearner("LP once", LabelPowerset(GaussianNB())),
        StudyLearner("EPCT", PredictiveClusteringForest(n_estimators=3), each_loss=True),
    ]
    analyses = [Yardstick(["EPCT", "LP"]), published_section, claims_section]
    plan = replace(make_plan(families=EVEN), learners=learners, analyses=analyses)
    return run(plan, tmp_path_factory.mktemp("anew") / "study")


def decided(results, cell, family):
    """The best labels of each test row for each parameter, by hand."""
    (X, Y), test = zoo.make_data(*SIZES[cell.dataset]), results.test_rows(cell)
    models = {
        "LP": LabelPowerset(GaussianNB()),
        "EPCT": PredictiveClusteringForest(n_estimators=3, random_state=cell.seed),
    }
    distribution = models[cell.learner].fit(X[~test], Y[~test]).predict_distribution(X[test])
    return [
        bayes_optimal(distribution, MEASURES[family](parameter)).labels
        for parameter in results.parameters(cell.dataset, family).tolist()
    ]


def anew_rows(results, dataset, learner, family, index):
    """The loss of each row at a parameter, averaged over seeds and repeats, of the labels predicted for it."""
    Y, parameter = results.labels(dataset)[0], results.parameters(dataset, family)[index]
    start = 0 if family == "binomial" else len(results.parameters(dataset, "binomial"))
    sums, cells = np.zeros(len(Y)), results.cells(dataset, learner)
    for cell in cells:
        test = results.test_rows(cell)
        sums[test] += loss_by_row(Y[test], results.cell_predictions(cell)[start + index], family, parameter)
    return sums / len({(cell.seed, cell.repeat) for cell in cells})


def test_every_cell_holds_the_best_labels_for_each_loss(anew):
    n_changes = 0
    for cell in [cell for cell in all_cells(anew) if cell.learner in anew.each_loss]:
        found = anew.cell_predictions(cell)
        expected = [decided(anew, cell, family) for family in EVEN]
        assert np.array_equal(found, np.concatenate(expected))
        n_changes += (found[0] != found[SIZES[cell.dataset][1] - 1]).any()
    assert n_changes > 10  # from Hamming to subset 0/1 loss
    assert anew.each_loss == ("LP", "EPCT")


@pytest.mark.parametrize("learner", ["LP", "EPCT"])
@pytest.mark.parametrize("family", EVEN)
def test_the_loss_at_a_parameter_is_that_of_what_was_predicted_for_it(anew, learner, family):
    for dataset in ("a", "b"):
        parameters, Y = anew.parameters(dataset, family), anew.labels(dataset)[0]
        for cell in anew.cells(dataset, learner):
            expected = [
                LOSSES[family](Y[anew.test_rows(cell)], labels, **{PARAMETER[family]: parameter})
                for labels, parameter in zip(decided(anew, cell, family), parameters, strict=True)
            ]
            assert anew.cell_losses(cell, family) == pytest.approx(expected, abs=1e-12)
        curve = anew.curve(dataset, learner, family)
        expected = [anew_rows(anew, dataset, learner, family, index).mean() for index in range(len(parameters))]
        assert curve.losses == pytest.approx(expected, abs=1e-12)
        assert (curve.name, curve.family, curve.parameters.tolist()) == (learner, family, parameters.tolist())


def test_other_learners_are_as_they_are_without(anew, results):
    once = {cell[2:5]: anew.cell_predictions(cell).tolist() for cell in anew.cells("a", "LP once")}
    assert once == {cell[2:5]: results.cell_predictions(cell).tolist() for cell in results.cells("a", "LP")}
    assert anew.curve("a", "LP once", "binomial").losses == pytest.approx(results.curve("a", "LP", "binomial").losses)
    assert (anew.curve("a", "LP", "binomial").losses != anew.curve("a", "LP once", "binomial").losses).any()


def test_bands_and_differences_are_of_what_was_predicted_for_each_loss(anew):
    rng = np.random.default_rng(1)
    for family in EVEN:
        n_parameters = len(anew.parameters("a", family))
        rows = {
            learner: np.array([anew_rows(anew, "a", learner, family, index) for index in range(n_parameters)])
            for learner in ("LP", "EPCT")
        }
        difference = anew.differences("a", family)["LP", "EPCT"]
        assert difference.estimate == pytest.approx((rows["EPCT"] - rows["LP"]).mean(axis=1), abs=1e-12)
        for (lower, upper), of_rows in (
            (anew.bands("a", family)["LP"], rows["LP"]),
            (difference[1:3], rows["EPCT"] - rows["LP"]),
        ):
            drawn = np.array([of_rows[:, rng.integers(40, size=40)].mean(axis=1) for _ in range(2000)])
            low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
            assert upper - lower == pytest.approx(high - low, rel=0.2, abs=1e-3)
            assert (lower <= of_rows.mean(axis=1)).all()
            assert (of_rows.mean(axis=1) <= upper).all()


def test_a_learner_that_predicts_anew_has_no_profile_of_its_own(anew):
    cell = anew.cells("a", "LP")[0]
    message = r"LP predicts anew for each loss, with other errors: see curve\(\) and cell_losses\(\)."
    with pytest.raises(ValueError, match=message):
        anew.profile("a", "LP")
    with pytest.raises(ValueError, match=message):
        anew.cell_profile(cell)


def test_a_single_loss_for_which_to_predict(tmp_path):
    learner = StudyLearner("LP", LabelPowerset(GaussianNB()), each_loss=True)
    options = {"split": Split(folds=2), "families": {"binomial": [2]}}
    results = run(Plan([StudyData("a", lambda: zoo.make_data(*SIZES["a"]))], [learner], **options), tmp_path)
    for cell in results.cells("a"):
        expected = decided(results, cell, "binomial")
        assert np.array_equal(results.cell_predictions(cell), expected)
        assert results.cell_losses(cell, "binomial") == pytest.approx(
            [binomial_loss(truth(results, cell), *expected, k=2)]
        )


def test_tables_answers_claims_and_comparisons_of_learners_that_predict_anew(anew):
    tables = anew.tables()
    rows = table_rows(tables["losses"])
    for row in rows:
        losses = anew.curve(row["dataset"], row["learner"], row["family"])
        (index,) = np.flatnonzero(losses.parameters == row["parameter"])
        assert row["loss"] == losses.losses[index]
    assert len(rows) == 5 * sum(len(anew.parameters(dataset, family)) for dataset in "abc" for family in EVEN)
    assert {row["learner"] for row in table_rows(tables["ranks"])} == set(anew.competitors)
    assert {row["first"] for row in table_rows(tables["differences"])} == set(anew.competitors) - {"EPCT"}
    assert set(tables["yardstick"].column("learner")) == {"EPCT", "LP"}
    assert answer(anew)[0] == "No learner is surely best; BR leads, whatever the loss."
    by_curves = [finding for finding in claims_section(anew).findings if finding.verdict != "cannot be told"]
    assert by_curves  # BR predicts once, so there are curves to judge by
    assert compare_with_published(anew) == []


def test_published_losses_are_not_beside_those_of_a_learner_that_predicts_anew(tmp_path):
    data = [StudyData("emotions", lambda: zoo.make_data(40, 6))]
    learners = [StudyLearner("BR", zoo.Stumps()), StudyLearner("LP", LabelPowerset(GaussianNB()), each_loss=True)]
    results = run(Plan(data, learners, split=Split(folds=2)), tmp_path)
    assert [found.learner for found in compare_with_published(results)] == ["BR"]


def test_even_alphas_reach_one_end_alone(anew):
    """Up to alpha = 9, 12 and 15 here: halfway to 1000 is beyond."""
    assert anew.places("polynomial") == {"Hamming": 0.0}
    assert anew.places("binomial") == PLACES
    slopes = [row for row in table_rows(anew.tables()["slopes"]) if row["family"] == "polynomial"]
    assert {(row["slope"], row["area"]) for row in slopes} == {(None, None)}
    ranks = [row["place"] for row in table_rows(anew.tables()["ranks"]) if row["family"] == "polynomial"]
    assert set(ranks) == {"Hamming"}
    contents = study_contents(anew)
    assert list(contents["across"]) == ["binomial"]
    for data, n_labels in zip(contents["datasets"], (4, 3, 5), strict=True):
        family = data["families"]["polynomial"]
        assert (family["parameters"][0], family["parameters"][-1]) == (1.0, 3.0 * n_labels)
        assert family["x"] == pytest.approx(np.linspace(0, np.log(3 * n_labels) / np.log(1000), 12))
        assert list(family["curves"]) == list(anew.learners)


def test_answers_about_even_alphas_alone(tmp_path):
    learners = [
        StudyLearner("J", zoo.Joint(), each_loss=True),
        StudyLearner("K", zoo.Stumps(0.05)),
        StudyLearner("L", zoo.Stumps(-0.05)),
    ]
    results = run(replace(make_plan(families={"polynomial": "even"}), learners=learners), tmp_path)
    sentences = answer(results)
    assert not any("subset" in sentence or "halfway" in sentence or "1000" in sentence for sentence in sentences)
    assert sentences[0].endswith(" for Hamming loss.")
    assert sentences[1] == "By Hamming loss, Friedman's test does not show that learners differ."


def test_a_note_says_who_predicts_anew(anew, results):
    note = "Predicted anew for each loss: LP, EPCT."
    assert note in study_contents(anew)["notes"]
    assert results.study["notes"] == []


def test_a_note_names_data_sets_that_are_left_out(tmp_path):
    results = run(replace(make_plan(), left_out=["lakes", "seas"]), tmp_path)
    assert results.study["notes"] == ["Left out, since their files are not there: lakes, seas."]


def test_the_page_of_learners_that_predict_anew(anew, tmp_path):
    pytest.importorskip("plotly")
    write_page(study_contents(anew), tmp_path / "page.html")
    assert "EPCT" in (tmp_path / "page.html").read_text()


def test_the_figures_of_learners_that_predict_anew(anew, tmp_path):
    pytest.importorskip("matplotlib")
    paths = write_figures(anew, tmp_path, formats=["svg"])
    folders = Counter(path.parent.name for path in paths)
    n_pairs = 6 * 2
    assert folders == {"curves": 6, "pairs": n_pairs, "ratios": n_pairs, "pages": 2, "ranks": 3, "dependence": 3}
