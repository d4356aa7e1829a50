"""Weights & Biases: log an evaluation into a run, online or offline."""

from typing import Any

from choral._optional import require
from choral.evaluation import Evaluation
from choral.evaluation.result import COLUMNS
from choral.integrations._numbers import check_evaluation, draw, named_numbers, tracker_names, write_page


def log_evaluation(
    evaluation: Evaluation, run: Any = None, *, prefix: str = "", title: str | None = None
) -> dict[str, float]:
    """Log curves, table, figure and page of an evaluation into a run of Weights & Biases.

    Parameters
    ----------
    evaluation : Evaluation
        What `choral.evaluate` returned.
    run : wandb.Run, optional
        What ``wandb.init`` returned; if not given, the run that is active.
    prefix : str
        Put before each name: ``"test/"`` tells several evaluations in one run apart.
    title : str, optional
        What the models were judged on, for the chart and the heading of the page.

    Returns
    -------
    summary : dict of float by name
        ``"MODEL/hamming_loss"``, ``"MODEL/subset_loss"``, ``"MODEL/area"`` and ``"MODEL/togetherness"``, of all models
        and of the baseline, as put into the summary of the run, as far as there are any. The points of the curves are
        the metrics ``"MODEL/binomial_loss"`` over ``"k"``, or ``"MODEL/polynomial_loss"`` over ``"alpha"``;
        ``"curves"`` is a chart with its table, ``"figure"`` an image, and ``"page"`` the page to explore. A ``*`` in
        the name of a model becomes ``_``: in names of metrics it stands for any text.

    See Also
    --------
    choral.integrations.mlflow.log_evaluation : Log an evaluation to MLflow.
    choral.evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    choral.nn.DependenceCurve : A metric of torchmetrics: the whole curve.

    Examples
    --------
    .. code-block:: python

        with wandb.init(project="digits", mode="offline") as run:
            log_evaluation(evaluation, run)
    """
    check_evaluation(evaluation)
    wandb = require("wandb", "wandb")
    run = wandb.run if run is None else run
    if run is None:
        raise ValueError('no run of Weights & Biases is active; start one: wandb.init(mode="offline").')
    axis = f"{prefix}{'k' if evaluation.family == 'binomial' else 'alpha'}"
    names = tracker_names(evaluation.curves, lambda model: model.replace("*", "_"), "Weights & Biases")
    keys = {model: f"{prefix}{name}/{evaluation.family}_loss" for model, name in names.items()}
    table = wandb.Table(columns=list(COLUMNS), data=[list(row) for row in evaluation.to_rows()])
    # First, since they fail where matplotlib or plotly is missing: the run is not left with a part.
    parts = {
        f"{prefix}curves": wandb.plot.line(table, "parameter", "loss", stroke="model", title=title or "Evaluation"),
        f"{prefix}table": table,
        f"{prefix}figure": wandb.Image(draw(evaluation)),
        f"{prefix}page": wandb.Html(write_page(evaluation, title), inject=False),
    }
    run.define_metric(axis, hidden=True)
    for key in keys.values():
        run.define_metric(key, step_metric=axis)
    for point, parameter in enumerate(evaluation.parameters.tolist()):
        run.log({axis: parameter, **{key: evaluation.curves[model].losses[point] for model, key in keys.items()}})
    run.log(parts)
    numbers = {
        f"{prefix}{names[model]}/{name}": value
        for model, named in named_numbers(evaluation).items()
        for name, value in named.items()
    }
    run.summary.update(numbers)
    return numbers
