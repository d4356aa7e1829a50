"""Distributions decided by their modes and for each loss: a slow loop over stored labels, rows, losses and folds."""

import re

import numpy as np
import pytest
from scipy import stats

import study_zoo as zoo
from choral import BinomialMeasure, HammingMeasure, PolynomialMeasure, SubsetMeasure, choquet_loss
from choral.learners import BinaryRelevance, ConstantLabels, JointForest, LabelPowerset
from choral.paper import Controls
from choral.paper.controls import MODES, add_up_controls, control_totals, find_controls
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running

NAMES = ("forest", "independent")
FAMILIES = {"binomial": None, "polynomial": [1, 4, 20]}
CONFIDENCE = 0.95


def more_data():
    return zoo.make_data(40, 4)


def make_plan(**options):
    learners = [
        StudyLearner("none", ConstantLabels(), is_baseline=True),
        StudyLearner("other", BinaryRelevance()),
        StudyLearner("forest", JointForest(8), each_loss=True),
        StudyLearner("independent", LabelPowerset(), each_loss=True),
    ]
    datasets = [StudyData("small", zoo.make_data), StudyData("more", more_data)]
    return Plan(datasets, learners, **{"split": Split(folds=3), "seeds": (0, 1), "families": FAMILIES} | options)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "run_task", zoo.run_here)
        return run_study(make_plan(analyses=[Controls(NAMES)]), tmp_path_factory.mktemp("controls") / "study")


def measures(family, n_labels):
    if family == "binomial":
        return [BinomialMeasure(k) for k in range(1, n_labels + 1)]
    return [PolynomialMeasure(alpha) for alpha in FAMILIES["polynomial"]]


def axis(family, n_labels):
    if family == "binomial":
        return [(k - 1) / (n_labels - 1) for k in range(1, n_labels + 1)]
    return [np.log(alpha) / np.log(1000) for alpha in FAMILIES["polynomial"]]


def area(x, values):
    return sum((values[i] + values[i + 1]) / 2 * (x[i + 1] - x[i]) for i in range(len(x) - 1)) / (x[-1] - x[0])


def slowly(results, dataset, learner, family):
    """Losses by the marginal mode, the joint mode and for each loss: pooled, and in each fold, from stored labels."""
    Y, _ = results.labels(dataset)
    n_labels = Y.shape[1]
    losses = measures(family, n_labels)
    own = slice(0, n_labels) if family == "binomial" else slice(n_labels, n_labels + 3)
    in_folds, rows = {}, []
    for cell in results.cells(dataset, learner):
        true, labels = Y[results.test_rows(cell)], results.cell_predictions(cell)
        ways = [labels[[0] * len(losses)], labels[[n_labels - 1] * len(losses)], labels[own]]
        of_cell = [[choquet_loss(true, way[i], loss) for i, loss in enumerate(losses)] for way in ways]
        in_folds.setdefault(cell.fold, []).append(of_cell)
        rows.append((len(true), of_cell))
    pooled = np.average([each for _, each in rows], axis=0, weights=[size for size, _ in rows])
    return pooled, np.array([np.mean(in_folds[fold], axis=0) for fold in range(3)])


def interval(values):
    error = np.sqrt((1 / 3 + 1 / 2) * np.var(values, ddof=1))
    margin = stats.t.isf((1 - CONFIDENCE) / 2, 2) * error
    return np.mean(values) - margin, np.mean(values) + margin


def test_against_a_slow_loop(results):
    found = {(each.learner, each.dataset, each.family): each for each in find_controls(results, NAMES)}
    assert list(found) == [(a, b, c) for a in NAMES for b in ("small", "more") for c in FAMILIES]
    for (learner, dataset, family), control in found.items():
        pooled, in_folds = slowly(results, dataset, learner, family)
        x = axis(family, results.n_labels(dataset))
        means = [area(x, losses) for losses in pooled]
        assert control.mean_losses == pytest.approx(means, abs=1e-12)
        better = 0 if means[0] <= means[1] + 1e-12 else 1
        assert control.better_mode == MODES[better]
        assert control.curve_gain == pytest.approx(means[better] - means[2], abs=1e-12)
        chosen = [int(pooled[0, i] > pooled[1, i]) for i in range(len(x))]
        gains = [pooled[mode, i] - pooled[2, i] for i, mode in enumerate(chosen)]
        assert control.point_gain == pytest.approx(area(x, gains), abs=1e-12)
        of_curve = [area(x, fold[better] - fold[2]) for fold in in_folds]
        of_points = [area(x, [fold[mode, i] - fold[2, i] for i, mode in enumerate(chosen)]) for fold in in_folds]
        assert control.fold_curve_gains == pytest.approx(of_curve, abs=1e-12)
        assert control.fold_point_gains == pytest.approx(of_points, abs=1e-12)
        total = add_up_controls([control], CONFIDENCE)
        assert (total.curve_gain.low, total.curve_gain.high) == pytest.approx(interval(of_curve), abs=1e-11)
        assert (total.point_gain.low, total.point_gain.high) == pytest.approx(interval(of_points), abs=1e-11)


def test_deciding_for_a_loss_is_that_mode_at_its_end(results):
    for learner in NAMES:
        for cell in results.cells("small", learner):
            true, profiles = results.labels("small")[0][results.test_rows(cell)], results.cell_profiles(cell)
            labels = results.cell_predictions(cell)
            assert profiles[0].loss(HammingMeasure()) == pytest.approx(choquet_loss(true, labels[0], HammingMeasure()))
            assert profiles[2].loss(SubsetMeasure()) == pytest.approx(choquet_loss(true, labels[2], SubsetMeasure()))
    forest = [each for each in find_controls(results, NAMES) if each.learner == "forest"]
    assert all(each.point_gain <= each.curve_gain + 1e-12 for each in forest)  # it has the harder rival


def test_families_are_averaged_fold_by_fold_and_data_sets_are_independent(results):
    forest = [each for each in find_controls(results, NAMES) if each.learner == "forest"]
    by_dataset = control_totals(forest, CONFIDENCE)
    assert list(by_dataset) == ["small", "more"]
    small = [each for each in forest if each.dataset == "small"]
    gains = np.mean([each.fold_curve_gains for each in small], axis=0)
    assert by_dataset["small"].curve_gain[1:] == pytest.approx(interval(gains), abs=1e-11)
    assert by_dataset["small"].mean_losses == pytest.approx((small[0].mean_losses + small[1].mean_losses) / 2)
    total = add_up_controls(forest, CONFIDENCE)
    assert total.point_gain.estimate == pytest.approx(np.mean([each.point_gain for each in forest]))
    widths = [each.point_gain.high - each.point_gain.low for each in by_dataset.values()]
    assert total.point_gain.high - total.point_gain.low == pytest.approx(np.hypot(*widths) / 2)


def test_the_section_has_a_table_for_each_learner_and_one_in_full(results):
    (section,) = results.sections
    assert [summary.caption.split(":")[0] for summary in section.summaries] == list(NAMES)
    for summary in section.summaries:
        assert [row[0] for row in (*summary.rows, summary.footer)] == ["small", "more", "all"]
        assert all(re.fullmatch(r"0\.\d{4}", cell) for cell in summary.rows[0][1:4])
        assert re.fullmatch(r"[+-]0\.\d{4} \([+-]\d\.\d{4} to [+-]\d\.\d{4}\)", summary.rows[0][4])
    table, controls = results.tables()["controls"], find_controls(results, NAMES)
    assert len(table) == len(controls) == 8
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert (first["dataset"], first["family"], first["learner"]) == ("small", "binomial", "forest")
    assert first["loss_for_each"] == pytest.approx(controls[0].mean_losses[2])
    assert (first["better_mode"], first["curve_gain"]) == (
        controls[0].better_mode,
        pytest.approx(controls[0].curve_gain),
    )


@pytest.mark.parametrize(
    "learners, options, message",
    [
        (["forst"], {}, "there is no learner 'forst' with each_loss; did you mean 'forest'?"),
        (["other"], {}, "there is no learner 'other' with each_loss"),
        (["forest", "forest"], {}, "learners must be distinct; 'forest' comes twice."),
        (["forest"], {"families": {"polynomial": None}}, 'binomial must be "all" or "even".'),
        (["forest"], {"families": {"binomial": [1, 2]}}, 'binomial must be "all" or "even".'),
    ],
)
def test_plans_that_it_cannot_analyse(learners, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make_plan(analyses=[Controls(learners)], **options)


def test_learners_are_a_list():
    with pytest.raises(TypeError, match="learners must be a list of names; got 'forest'."):
        Controls("forest")


def test_even_losses_have_both_ends():
    make_plan(analyses=[Controls(["forest"])], families={"binomial": "even"})


def test_a_learner_that_did_not_finish_is_left_out(results):
    assert find_controls(results, ["unknown"]) == ()
    assert Controls(["unknown"])(results).summaries == ()
