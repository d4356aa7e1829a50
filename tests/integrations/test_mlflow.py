"""MLflow with a database in a folder of its own: what was logged is read back."""

import shutil
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import choral
from choral.integrations.mlflow import MultilabelEvaluator, log_evaluation
from recipe_pages import require, run_page

require("mlflow", "sqlalchemy", "alembic", "matplotlib", "plotly")
pd = require("pandas")

pytestmark = pytest.mark.filterwarnings("default:::mlflow", "default:::sqlalchemy", "default:::alembic")
Y = np.random.default_rng(0).integers(2, size=(40, 4))
P = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, 1 - Y, Y)


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory):
    """A database of MLflow with all its tables, which take two seconds to make."""
    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    folder = tmp_path_factory.mktemp("mlflow")
    SqlAlchemyStore(f"sqlite:///{folder}/mlflow.db", (folder / "files").as_uri()).engine.dispose()
    return folder / "mlflow.db"


@pytest.fixture
def mlflow(tmp_path, monkeypatch, empty_database):
    """MLflow in an empty folder; no run stays open."""
    for name in ("MLFLOW_DISABLE_TELEMETRY", "DO_NOT_TRACK"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    monkeypatch.chdir(tmp_path)
    import mlflow

    before = mlflow.get_tracking_uri()
    shutil.copy(empty_database, tmp_path / "mlflow.db")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    mlflow.set_experiment(
        experiment_id=mlflow.create_experiment("test", artifact_location=(tmp_path / "files").as_uri())
    )
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(before)


def judge(mlflow, predictions, **options):
    """What the evaluator finds of a model with these predictions, without intervals unless asked for."""
    return mlflow.models.evaluate(
        lambda X: predictions,
        np.zeros((40, 2)),
        targets=Y,
        model_type="multilabel-classifier",
        evaluator_config={"n_bootstrap": 0, **options},
    )


def curve_of(mlflow, run_id, key):
    return {metric.step: metric.value for metric in mlflow.MlflowClient().get_metric_history(run_id, key)}


def test_curve_table_figure_and_page_are_read_back(mlflow, tmp_path):
    evaluation = choral.evaluate(Y, {"tree (1)": P}, n_bootstrap=20)
    with mlflow.start_run() as run:
        metrics = log_evaluation(evaluation, title="My test")
    run_id = run.info.run_id
    assert curve_of(mlflow, run_id, "tree _1_/binomial_loss") == pytest.approx(
        {k: choral.binomial_loss(Y, P, k=k) for k in (1, 2, 3, 4)}
    )
    logged = mlflow.get_run(run_id).data.metrics
    assert {name: logged[name] for name in metrics} == pytest.approx(metrics)
    assert metrics["tree _1_/subset_loss"] == pytest.approx(choral.subset_loss(Y, P))
    table = mlflow.load_table("choral_curves.json", run_ids=[run_id])
    assert table.loss.tolist() == pytest.approx(evaluation.to_pandas().loss.tolist())
    client = mlflow.MlflowClient()
    assert "My test" in mlflow.artifacts.load_text(f"runs:/{run_id}/choral_page.html")
    assert mlflow.artifacts.load_image(f"runs:/{run_id}/choral_curves.png").size == (1050, 675)
    assert len(client.list_artifacts(run_id)) == 3


def test_steps_number_the_points_of_the_polynomial_family(mlflow):
    evaluation = choral.evaluate(Y, {"tree": P}, family="polynomial", parameters=[1, 2.5, np.inf], n_bootstrap=0)
    with mlflow.start_run() as run:
        log_evaluation(evaluation, prefix="test/")
    found = curve_of(mlflow, run.info.run_id, "tree/polynomial_loss")
    assert found == pytest.approx(dict(enumerate(evaluation.curves["tree"].losses)))
    assert [file.path for file in mlflow.MlflowClient().list_artifacts(run.info.run_id)] == ["test"]


def test_a_run_is_started_or_named(mlflow):
    evaluation = choral.evaluate(Y, {"tree": P}, n_bootstrap=0)
    log_evaluation(evaluation)
    active = mlflow.active_run().info.run_id
    assert "tree/area" in mlflow.get_run(active).data.metrics
    mlflow.end_run()
    other = mlflow.MlflowClient().create_run(mlflow.get_run(active).info.experiment_id).info.run_id
    log_evaluation(evaluation, run_id=other)
    assert mlflow.active_run() is None
    assert "tree/area" in mlflow.get_run(other).data.metrics


def test_names_that_become_alike_and_other_kinds_are_refused(mlflow):
    with pytest.raises(ValueError, match="'a=b' and 'a_b' are both 'a_b' in MLflow"):
        log_evaluation(choral.evaluate(Y, {"a=b": P, "a_b": P}, n_bootstrap=0))
    with pytest.raises(TypeError, match="evaluation must be what choral.evaluate returns; got LossCurve"):
        log_evaluation(choral.loss_curve(Y, P))
    assert mlflow.active_run() is None


@pytest.mark.parametrize(
    "model, name",
    [("", "_"), (".", "_"), ("..", "__"), ("../x", "___x"), ("/x", "_x"), ("x.1", "x.1"), ("long" * 70, "long" * 50)],
)
def test_names_that_mlflow_refuses_become_allowed(mlflow, model, name):
    metrics = log_evaluation(choral.evaluate(Y, {model: P}, family="polynomial", n_bootstrap=0))
    logged = mlflow.get_run(mlflow.active_run().info.run_id).data.metrics
    assert f"{name}/area" in metrics
    assert metrics.keys() | {f"{name}/polynomial_loss"} <= logged.keys()


def test_long_names_that_become_alike_are_refused(mlflow):
    with pytest.raises(ValueError, match="are both 'a{200}' in MLflow; please rename one of them"):
        log_evaluation(choral.evaluate(Y, {"a" * 201: P, "a" * 202: P}, n_bootstrap=0))


@pytest.mark.parametrize("parameters, family", [([1, 4], "binomial"), ([1, 2, np.inf], "polynomial")])
def test_ends_of_the_parameters_asked_for_have_their_names(mlflow, parameters, family):
    metrics = log_evaluation(choral.evaluate(Y, {"tree": P}, family=family, parameters=parameters, n_bootstrap=0))
    assert metrics["tree/hamming_loss"] == pytest.approx(choral.hamming_loss(Y, P))
    assert metrics["tree/subset_loss"] == pytest.approx(choral.subset_loss(Y, P))


def test_without_the_ends_there_are_no_names_for_them(mlflow):
    metrics = log_evaluation(choral.evaluate(Y, {"tree": P}, parameters=[2, 3], n_bootstrap=0))
    assert [name for name in metrics if name.startswith("tree/")] == ["tree/area", "tree/togetherness"]


@pytest.mark.parametrize("missing", ["pandas", "matplotlib.figure", "plotly"])
def test_nothing_is_logged_where_a_package_is_missing(mlflow, monkeypatch, missing):
    evaluation = choral.evaluate(Y, {"tree": P}, n_bootstrap=0)
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=missing):
        log_evaluation(evaluation)
    assert mlflow.active_run() is None
    with mlflow.start_run() as run, pytest.raises(ModuleNotFoundError, match=missing):
        log_evaluation(evaluation)
    assert mlflow.get_run(run.info.run_id).data.metrics == {}


def test_evaluator_has_the_methods_that_mlflow_asks_for(mlflow):
    from mlflow.models.evaluation.base import ModelEvaluator, list_evaluators

    assert "choral" in list_evaluators()
    assert all(hasattr(MultilabelEvaluator, name) for name in ModelEvaluator.__abstractmethods__)
    assert not MultilabelEvaluator.can_evaluate(model_type="classifier")


def test_evaluator_judges_scores_with_missing_labels(mlflow):
    y_true, scores = Y.astype(float), np.clip(P * 0.8 + 0.1, 0, 1)
    y_true[0, 1] = np.nan
    found = mlflow.models.evaluate(
        lambda X: scores,
        np.zeros((40, 2)),
        targets=y_true,
        model_type="multilabel-classifier",
        evaluator_config={"threshold": 0.5, "n_bootstrap": 0},
    )
    losses = choral.loss_curve(y_true, P).losses
    assert found.metrics["hamming_loss"] == pytest.approx(losses[0])
    assert found.metrics["subset_loss"] == pytest.approx(losses[-1])
    assert curve_of(mlflow, found.run_id or mlflow.last_active_run().info.run_id, "binomial_loss")[4] == pytest.approx(
        losses[-1]
    )


def test_evaluator_takes_columns_of_lists_and_its_result_is_saved(mlflow, tmp_path):
    frame = pd.DataFrame({"labels": list(Y), "predictions": list(P)})
    with mlflow.start_run():
        found = mlflow.models.evaluate(
            data=frame, targets="labels", predictions="predictions", model_type="multilabel-classifier"
        )
        assert found.tables["curves"].loss.tolist()[:4] == pytest.approx(choral.loss_curve(Y, P).losses.tolist())
    found.save(tmp_path / "saved")
    again = mlflow.models.EvaluationResult.load(tmp_path / "saved")
    assert again.metrics == found.metrics
    assert again.artifacts["page"].content == found.artifacts["page"].content


@pytest.mark.parametrize("labels", [list("abcd"), [10, 11, 12, 13]])
def test_evaluator_puts_columns_into_the_order_of_the_labels(mlflow, labels):
    frame = pd.DataFrame(P, columns=labels, index=range(100, 140)).iloc[:, [3, 1, 0, 2]]
    found = judge(mlflow, frame, labels=labels)
    assert found.metrics["hamming_loss"] == pytest.approx(choral.hamming_loss(Y, P))
    assert found.metrics["subset_loss"] == pytest.approx(choral.subset_loss(Y, P))


@pytest.mark.parametrize(
    "columns, labels",
    [
        (list("wxyz"), list("abcd")),
        (range(4), [3, 1, 0, 2]),
        (list("aabb"), list("baab")),
        (list("abab"), list("aabb")),
    ],
)
def test_evaluator_judges_other_columns_by_position(mlflow, columns, labels):
    found = judge(mlflow, pd.DataFrame(P, columns=columns), labels=labels)
    assert found.metrics["hamming_loss"] == pytest.approx(choral.hamming_loss(Y, P))


@pytest.mark.parametrize("make", [sp.csr_matrix, sp.coo_array])
@pytest.mark.parametrize("labels", [None, list("abcd")])
def test_evaluator_takes_sparse_predictions(mlflow, make, labels):
    found = judge(mlflow, make(P * 0.7), labels=labels, threshold=0.5)
    assert found.metrics["hamming_loss"] == pytest.approx(choral.hamming_loss(Y, P))
    assert found.metrics["subset_loss"] == pytest.approx(choral.subset_loss(Y, P))


@pytest.mark.parametrize(
    "labels, error, message",
    [
        (["a"], ValueError, "labels must have one name for each of 4 columns of the targets; got 1"),
        (5, TypeError, "labels must be a list of names; got 5"),
        ("abcd", TypeError, "labels must be a list of names; got 'abcd'"),
        ({"a", "b"}, TypeError, "labels must be a list of names; got {"),
    ],
)
def test_evaluator_refuses_other_label_names(mlflow, labels, error, message):
    with pytest.raises(error, match=message):
        judge(mlflow, P, labels=labels)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"targets": None}, "targets must be given"),
        ({"targets": Y[:, 0]}, r"targets must have a column for each label; got an array of shape \(40,\)"),
        ({"evaluator_config": {"thresold": 1}}, "evaluator_config may have threshold, .*; got thresold"),
        ({"evaluator_config": {"thresold": 1, 5: 1}}, "evaluator_config may have threshold, .*; got 5, thresold"),
        ({"custom_artifacts": [print]}, "no extra_metrics and no custom_artifacts"),
    ],
)
def test_evaluator_says_what_it_needs(mlflow, arguments, message):
    given = {"targets": Y, "model_type": "multilabel-classifier", **arguments}
    with pytest.raises(ValueError, match=message):
        mlflow.models.evaluate(lambda X: P, np.zeros((40, 2)), **given)


@pytest.mark.parametrize("rows", [[[1, 0], [1]], [{"a": 1, "b": 0}, {"a": 1, "b": 1}]])
def test_evaluator_refuses_rows_of_several_lengths_and_of_no_numbers(mlflow, rows):
    frame = pd.DataFrame({"labels": rows, "predictions": [[1, 0], [1, 1]]})
    with pytest.raises(ValueError, match="targets must hold a list of numbers of one length in each row"):
        mlflow.models.evaluate(
            data=frame, targets="labels", predictions="predictions", model_type="multilabel-classifier"
        )


def test_evaluator_wants_predictions(mlflow):
    frame = pd.DataFrame({"labels": list(Y)})
    with pytest.raises(ValueError, match="there is neither a model nor a column of predictions"):
        mlflow.models.evaluate(data=frame, targets="labels", model_type="multilabel-classifier")


def test_page(mlflow):
    names = run_page("mlflow.md")
    evaluation, data = names["evaluation"], mlflow.get_run(names["run"].info.run_id).data
    assert data.metrics["forest/subset_loss"] == pytest.approx(evaluation.curves["forest"].losses[-1])
    assert names["result"].metrics["subset_loss"] == pytest.approx(evaluation.curves["forest"].losses[-1])
    assert names["from_frame"].metrics["area"] == pytest.approx(evaluation.curves["neighbours"].area)
