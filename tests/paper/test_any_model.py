"""The plan any-model: its learners, its analysis against figures worked out anew, and its proper scores."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.calibration import calibration_curve
from threadpoolctl import threadpool_limits

import study_zoo as zoo
from choral import IndependentLabels, JointCalibrator, LabelDistribution, ThresholdTuner
from choral.paper import DecidedJointly, any_model, read_plan
from choral.paper.any_model import MODELS, WAYS, FeatureScaler
from choral.paper.proper_scores import calibration_error, label_scores, labelset_scores
from choral.stats import corrected_t_interval
from choral.study import Plan, Split, StudyData, StudyLearner, run_study, running


@pytest.fixture(autouse=True)
def one_thread():
    """Threads that wait for each other take many times as long on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def here(monkeypatch):
    monkeypatch.setattr(running, "run_task", zoo.run_here)


# --- the plan


def test_the_plan_has_each_model_in_three_ways(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    plan = read_plan("any-model")
    assert [learner.name for learner in plan.learners] == [f"{model}, {way}" for model in MODELS for way in WAYS]
    assert len(plan.datasets) == 9
    assert plan.left_out == ("cal500", "chd-49", "foodtruck", "gnegative-go")
    for learner in plan.learners:
        calibrator = learner.estimator.calibrator
        assert isinstance(calibrator, JointCalibrator if learner.name.endswith("jointly") else ThresholdTuner)
        assert learner.threshold == (0.5 if "cut" in learner.name else None)
        assert learner.each_loss == ("cut" not in learner.name)
        assert learner.estimator.memory == "study-any-model-fits"
    assert plan.seeds_of(plan.learners[0]) == (0,)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_models_take_dense_and_sparse_features(model, form):
    X, Y = zoo.make_data(60)
    learner = any_model(model, "by thresholds").set_params(cv=2, random_state=0)
    quick = {
        "random forest": {"estimator__n_estimators": 5},
        "boosted trees": {},
        "MLP": {"estimator__mlpclassifier__max_iter": 5},
    }
    learner.set_params(**quick.get(model, {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a network that was not trained to its end
        proba = learner.fit(form(X), Y).predict_proba(form(X))
    assert proba.shape == Y.shape
    assert 0 <= proba.min() < proba.max() <= 1


def test_features_are_scaled_by_their_kind():
    X = np.array([[0.0, 4.0], [2.0, 0.0], [4.0, 2.0]])
    assert np.abs(FeatureScaler().fit_transform(X).mean(axis=0)).max() < 1e-12
    np.testing.assert_array_equal(FeatureScaler().fit_transform(sp.csr_array(X)).toarray(), X / 4)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("forest", "jointly"), "model must be one of logistic regression, .*, MLP; got 'forest'"),
        (("MLP", "cut"), "decided must be one of by thresholds, jointly; got 'cut'"),
    ],
)
def test_other_models_and_ways_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        any_model(*arguments)


# --- the analysis


def three_ways(name, bias):
    """Three learners with losses that differ."""
    return [
        StudyLearner(f"{name}, cut at 0.5", zoo.Stumps(bias)),
        StudyLearner(f"{name}, thresholds", zoo.Asked()),
        StudyLearner(f"{name}, jointly", zoo.Joint(), each_loss=True),
    ]


def make_plan(*learners, models=("M", "N"), **options):
    data = [StudyData(name, zoo.make_data(40, n_labels)) for name, n_labels in (("d", 3), ("e", 4))]
    options = {"families": {"binomial": None}, "split": Split(4), "analyses": [DecidedJointly(models)], **options}
    return Plan(data, learners, **options)


@pytest.fixture
def results(tmp_path, here):
    thresholds = [StudyLearner(f"{name}, thresholds", zoo.Stumps(-0.2)) for name in "MN"]
    learners = [one for name, bias in (("M", 0.5), ("N", 0.0)) for one in three_ways(name, bias)]
    learners = [one for one in learners if "thresholds" not in one.name] + thresholds
    return run_study(make_plan(*learners), tmp_path)


def test_gains_are_differences_of_curves(results):
    (section,) = results.sections
    table = section.tables["decided_jointly"]
    assert len(table) == 2 * 2 * (3 + 4)
    for dataset, model, other, k, joint, theirs, gain, low, high in table.rows:
        curves = [results.curve(dataset, f"{model}, {way}", "binomial").losses for way in ("jointly", other)]
        assert (joint, theirs) == pytest.approx([curve[int(k) - 1] for curve in curves])
        assert gain == pytest.approx(theirs - joint)
        folds = [results.fold_losses(dataset, f"{model}, {way}", "binomial") for way in (other, "jointly")]
        interval = corrected_t_interval((folds[0] - folds[1])[:, int(k) - 1], test_share=1 / 3)
        assert (low, high) == pytest.approx(tuple(interval))


def test_mean_gains_and_the_worst_of_each_data_set(results):
    (section,) = results.sections
    means, *worst = section.summaries
    rows = {(row[0], row[1]): row for row in means.rows}
    for (model, other), row in rows.items():
        for place, x in ((3, 0.0), (5, 0.5), (7, 1.0)):
            gains = [
                results.loss_at(dataset, f"{model}, {other}", "binomial", x)
                - results.loss_at(dataset, f"{model}, jointly", "binomial", x)
                for dataset in "de"
            ]
            assert float(row[place].split()[0]) == pytest.approx(np.mean(gains), abs=1e-4)
            low, high = row[place].split("(")[1].rstrip(")").split(" to ")
            assert float(low) <= float(row[place].split()[0]) + 1e-3 <= float(high) + 2e-3
    table = results.sections[0].tables["decided_jointly"]
    for summary, other in zip(worst, ("cut at 0.5", "thresholds"), strict=True):
        assert other.split()[0].removesuffix("s") in summary.caption
        for dataset, *cells in summary.rows:
            for model, cell in zip("MN", cells, strict=True):
                chosen = [row for row in table.rows if row[:3] == (dataset, model, other)]
                least = min(chosen, key=lambda row: row[6])
                expected = f"{-least[6]:.4f} at k = {least[3]:g}" if least[6] < 0 else "nowhere"
                assert cell == expected


def test_findings_count_the_losses_that_are_higher(results):
    (section,) = results.sections
    table = section.tables["decided_jointly"]
    for finding, other in zip(section.findings, ("cut at 0.5", "thresholds"), strict=True):
        gains = [row[6] for row in table.rows if row[2] == other]
        n_above = sum(gain < -0.002 for gain in gains)
        assert finding.figures.startswith(f"{n_above} of {len(gains)} losses are; the worst: ")
        assert (finding.verdict == "holds") == (n_above == 0)


def test_a_model_that_did_not_finish_is_left_out(tmp_path, here):
    learners = [one for one in three_ways("M", 0.0) if "thresholds" not in one.name]
    broken = StudyLearner("M, thresholds", zoo.Raising())
    (section,) = run_study(make_plan(*learners, broken, models=["M"]), tmp_path).sections
    assert {finding.verdict for finding in section.findings} == {"cannot be told"}
    assert len(section.tables["decided_jointly"]) == 0


def test_the_analysis_needs_its_learners():
    with pytest.raises(ValueError, match=r"models: there is no learner 'O, cut at 0.5'; did you mean"):
        make_plan(*three_ways("M", 0.0), models=["O"])
    with pytest.raises(ValueError, match="models: families must hold binomial; got polynomial"):
        make_plan(*three_ways("M", 0.0), models=["M"], families={"polynomial": None})
    for models in ("M", 3, []):
        with pytest.raises(TypeError, match="models must be a list of names; got "):
            DecidedJointly(models)


def test_one_fit_serves_the_three_ways(tmp_path, here, monkeypatch):
    """Each fold fits the model for its inner folds and for all training rows, once."""
    runs = tmp_path / "runs.txt"
    monkeypatch.setenv(zoo.RUNS, str(runs))
    way = any_model("random forest", "by thresholds", str(tmp_path / "fits")).set_params(estimator=zoo.Stumps(), cv=3)
    jointly = clone(way).set_params(calibrator=JointCalibrator(cv=2, n_components=2))
    learners = [
        StudyLearner("M, cut at 0.5", way, threshold=0.5),
        StudyLearner("M, thresholds", clone(way), each_loss=True),
        StudyLearner("M, jointly", jointly, each_loss=True),
    ]
    plan = make_plan(*learners, models=["M"], split=Split(2))
    plan = replace(plan, datasets=plan.datasets[:1])
    results = run_study(plan, tmp_path / "study")
    assert results.failures() == ()
    assert len(runs.read_text().splitlines()) == 2 * 4
    (X, Y), cell = zoo.make_data(40), results.cells("d", "M, cut at 0.5")[0]
    test = results.test_rows(cell)
    alone = zoo.Stumps().fit(X[~test], Y[~test]).predict_proba(X[test]) >= 0.5
    np.testing.assert_array_equal(results.cell_predictions(cell), alone)


# --- proper scores


def random_truth(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    marginals = rng.random((n_rows, 3))
    return (rng.random(marginals.shape) < marginals).astype(int), marginals


def test_scores_of_label_sets_by_enumeration():
    Y, marginals = random_truth()
    independent = IndependentLabels(marginals)
    joint = independent.to_label_distribution()
    table = joint.probabilities.toarray() if sp.issparse(joint.probabilities) else joint.probabilities
    is_own = (joint.labelsets[np.newaxis] == Y[:, np.newaxis]).all(axis=2)
    brier = ((table - is_own) ** 2).sum(axis=1).mean()
    log_loss = -np.log(0.99 * table[is_own] + 0.01 / 8).mean()
    in_two = [(Y[:9], IndependentLabels(marginals[:9])), (Y[9:], LabelDistribution(joint.labelsets, table[9:]))]
    for parts in ([(Y, independent)], [(Y, joint)], in_two):
        scores = labelset_scores(parts)
        assert scores["brier"] == pytest.approx(brier)
        assert scores["log loss"] == pytest.approx(log_loss)
        assert scores["calibration error"] < 0.15  # the probabilities are the true ones


def test_scores_of_labels():
    Y, marginals = random_truth()
    found = label_scores(Y, marginals)
    assert found["brier"] == pytest.approx(((Y - marginals) ** 2).mean())
    assert found["calibration error"] < 0.06 < label_scores(Y, marginals**2)["calibration error"]


def test_the_calibration_error_against_scikit_learn():
    Y, marginals = random_truth()
    y, p = Y.ravel(), marginals.ravel()
    frequencies, means = calibration_curve(y, p, n_bins=15)
    sizes = np.histogram(p, bins=15, range=(0, 1))[0]
    assert calibration_error(y, p) == pytest.approx(np.abs(frequencies - means) @ sizes / len(y))
