"""MLflow: log an evaluation into a run, and evaluate multi-label models with `mlflow.models.evaluate`.

MLflow is imported where it is used: it finds `MultilabelEvaluator` by an entry point, and loads it while it is itself
being imported.
"""

import re
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._optional import require
from choral.evaluation import Evaluation, evaluate
from choral.integrations._numbers import check_evaluation, draw, named_numbers, tracker_names, write_page
from choral.rows import column_names

MODEL_TYPE = "multilabel-classifier"
OPTIONS = ("threshold", "family", "n_bootstrap", "name", "labels", "prefix")  # of MultilabelEvaluator
MAX_METRICS = 1000  # that MLflow takes at once
MAX_NAME = 200  # characters of a model's name: MLflow takes 250, and the name of the loss comes behind it


def log_evaluation(
    evaluation: Evaluation, *, run_id: str | None = None, prefix: str = "choral_", title: str | None = None
) -> dict[str, float]:
    """Log curves, table, figure and page of an evaluation into a run of MLflow.

    Parameters
    ----------
    evaluation : Evaluation
        What `choral.evaluate` returned.
    run_id : str, optional
        The run to log into. If not given, the active one; where none is active, MLflow starts one.
    prefix : str
        Put before the names of the artifacts ``curves.json`` (a table, for ``mlflow.load_table``), ``curves.png`` and
        ``page.html``; ``"test/"`` puts them into a folder.
    title : str, optional
        What the models were judged on, for the heading of the page.

    Returns
    -------
    metrics : dict of float by name
        ``"MODEL/hamming_loss"``, ``"MODEL/subset_loss"``, ``"MODEL/area"`` and ``"MODEL/togetherness"``, of all models
        and of the baseline, as logged, as far as there are any. The points of the curves are logged as
        ``"MODEL/binomial_loss"`` with k as the step; as ``"MODEL/polynomial_loss"`` with the number of the point, from
        0. Characters that MLflow does not allow in names become ``_``, and so do dots at the start and an empty name;
        the first 200 characters are kept.

    See Also
    --------
    MultilabelEvaluator : An evaluator for `mlflow.models.evaluate`.
    choral.integrations.wandb.log_evaluation : Log an evaluation to Weights & Biases.
    choral.evaluate : Judge models along the slide from Hamming to subset 0/1 loss.

    Examples
    --------
    .. code-block:: python

        with mlflow.start_run():
            log_evaluation(evaluation, title="Digits")
    """
    check_evaluation(evaluation)
    names = tracker_names(evaluation.curves, _allowed_name, "MLflow")
    numbers = {
        f"{names[model]}/{name}": value
        for model, named in named_numbers(evaluation).items()
        for name, value in named.items()
    }
    _log(evaluation, run_id, numbers, {model: f"{name}/" for model, name in names.items()}, prefix, title)
    return numbers


class MultilabelEvaluator:
    """Evaluator for ``mlflow.models.evaluate(..., model_type="multilabel-classifier")``; MLflow finds it by itself.

    It has the methods of ``mlflow.models.evaluation.base.ModelEvaluator``. The options of ``evaluator_config`` are
    ``threshold`` (None: scores are judged as they are), ``family`` and ``n_bootstrap`` of `choral.evaluate`, ``name``
    (of the model, in the artifacts), ``labels`` (their names, in the order of the targets) and ``prefix`` of the
    artifacts. A frame of predictions that has these names is put into their order; any other is judged by position.

    See Also
    --------
    log_evaluation : Log an evaluation to MLflow.
    choral.evaluate : Judge models along the slide from Hamming to subset 0/1 loss.

    Examples
    --------
    .. code-block:: python

        mlflow.models.evaluate(model.predict, X, targets=Y, model_type="multilabel-classifier")
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Mapping[str, Any] | None = None, **kwargs: Any) -> bool:
        """Whether the model type is ``"multilabel-classifier"``: all others are left to MLflow's own evaluators.

        Parameters
        ----------
        model_type : str
            What was given to ``mlflow.models.evaluate``.
        evaluator_config : mapping, optional
            Not asked here.
        **kwargs : any
            What later versions of MLflow may say.
        """
        return model_type == MODEL_TYPE

    def evaluate(
        self,
        *,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None = None,
        model: Any = None,
        extra_metrics: Any = None,
        custom_artifacts: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Judge the model on the data set, log into the run, and return MLflow's ``EvaluationResult``.

        Parameters
        ----------
        dataset : mlflow.models.evaluation.base.EvaluationDataset
            Features, or predictions, and targets.
        run_id : str
            The run to log into.
        evaluator_config : mapping, optional
            Options, as above.
        model : mlflow.pyfunc.PyFuncModel, optional
            The model; without it, the data set holds predictions.
        extra_metrics : None
            Refused.
        custom_artifacts : None
            Refused.
        **kwargs : any
            What later versions of MLflow may say.
        """
        base = require("mlflow.models", "mlflow")
        if extra_metrics or custom_artifacts:
            raise ValueError("the evaluator of choral has no extra_metrics and no custom_artifacts; leave them out.")
        options = dict(evaluator_config or {})
        if unknown := options.keys() - set(OPTIONS):
            raise ValueError(
                f"evaluator_config may have {', '.join(OPTIONS)}; got {', '.join(sorted(map(str, unknown)))}."
            )
        if dataset.labels_data is None:
            raise ValueError("targets must be given: a matrix, or the name of a column that holds a list in each row.")
        name, prefix = options.pop("name", "model"), options.pop("prefix", "choral_")
        labels = options.pop("labels", None)
        y_true = _matrix("targets", dataset.labels_data)
        if labels is not None:
            labels = _check_label_names(labels, y_true.shape[1])
            y_true = require("pandas", "tables").DataFrame(y_true, columns=labels)
        y_pred = dataset.predictions_data if model is None else model.predict(dataset.features_data)
        if y_pred is None:
            raise ValueError("there is neither a model nor a column of predictions.")
        evaluation = evaluate(y_true, {name: _matrix("predictions", y_pred, labels)}, **options)
        numbers = named_numbers(evaluation)[name]
        keys = {name: "", evaluation.baseline: "baseline/"}
        artifacts = _log(evaluation, run_id, numbers, keys, prefix, title=None)
        return base.EvaluationResult(metrics=numbers, artifacts=artifacts, run_id=run_id)


def _allowed_name(model: str) -> str:
    """The name of a model as a folder in the names of MLflow's metrics: not empty, not too long, and no dot first."""
    name = re.sub(r"^\.+|[^\w.\- ]", lambda found: "_" * len(found[0]), model)
    return name[:MAX_NAME] or "_"


def _log(
    evaluation: Evaluation,
    run_id: str | None,
    numbers: dict[str, float],
    keys: dict[str, str],
    prefix: str,
    title: str | None,
) -> dict[str, Any]:
    """Log all there is; the artifacts are returned as MLflow's evaluators return them."""
    mlflow, entities = require("mlflow", "mlflow"), require("mlflow.entities", "mlflow")
    kinds = require("mlflow.models.evaluation.artifacts", "mlflow")
    # First, since they fail where pandas, matplotlib or plotly is missing: no run is left with a part.
    table, image, page = evaluation.to_pandas(), draw(evaluation), write_page(evaluation, title)
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    client = mlflow.MlflowClient()
    now = int(time.time() * 1000)
    metrics = [entities.Metric(name, value, now, 0) for name, value in numbers.items()]
    for model, curve in evaluation.curves.items():
        key = f"{keys[model]}{evaluation.family}_loss"
        steps = evaluation.parameters.tolist() if evaluation.family == "binomial" else range(len(curve.losses))
        points = zip(steps, curve.losses.tolist(), strict=True)
        metrics += [entities.Metric(key, loss, now, int(step)) for step, loss in points]
    for start in range(0, len(metrics), MAX_METRICS):
        client.log_batch(run_id, metrics=metrics[start : start + MAX_METRICS])
    client.log_table(run_id, table, f"{prefix}curves.json")
    client.log_image(run_id, image, f"{prefix}curves.png")
    client.log_text(run_id, page, f"{prefix}page.html")
    uri = f"{client.get_run(run_id).info.artifact_uri}/{prefix}"
    return {
        "curves": kinds.JsonEvaluationArtifact(f"{uri}curves.json", table.to_dict("split", index=False)),
        "figure": kinds.ImageEvaluationArtifact(f"{uri}curves.png", image),
        "page": kinds.TextEvaluationArtifact(f"{uri}page.html", page),
    }


def _check_label_names(labels: Any, n_labels: int) -> list[Any]:
    """A list of names, one for each column of the targets."""
    if np.ndim(labels) != 1:
        raise TypeError(f"labels must be a list of names; got {labels!r}.")
    if len(labels) != n_labels:
        raise ValueError(f"labels must have one name for each of {n_labels} columns of the targets; got {len(labels)}.")
    return list(labels)


def _matrix(name: str, values: Any, labels: list[Any] | None = None) -> Any:
    """A matrix of a matrix, of a frame, or of a column that holds a list in each row; sparse ones as they are.

    A frame whose columns are called like the labels, each once, is put into their order.
    """
    if sp.issparse(values):
        return values
    array = np.asarray(values)
    if array.dtype == object and array.ndim == 1:
        try:
            array = np.array([np.asarray(row, dtype=float) for row in array])
        except (ValueError, TypeError) as error:
            raise ValueError(f"{name} must hold a list of numbers of one length in each row; {error}") from error
    if array.ndim != 2:
        raise ValueError(f"{name} must have a column for each label; got an array of shape {array.shape}.")
    names, wanted = column_names(values), list(map(str, labels or []))
    if names is not None and set(names) == set(wanted) and len(set(names)) == len(names) == len(wanted):
        array = array[:, [names.index(label) for label in wanted]]
    return array
