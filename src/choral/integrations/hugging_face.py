"""Hugging Face: the losses of a multi-label model, for `Trainer`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from choral.averaged_losses import AveragedLoss
from choral.evaluation import evaluate
from choral.integrations._numbers import NAMES
from choral.loss_names import loss_by_name
from choral.losses import mean_loss
from choral.scores import harden, scores_from_logits

UNKNOWN = -100  # a label that does not count, in data for Hugging Face's models


def compute_metrics(prediction: Any, *, threshold: float | None = 0.5, losses: Sequence[str] = ()) -> dict[str, float]:
    """The losses of a multi-label model from Hamming to subset 0/1, for ``Trainer(compute_metrics=...)``.

    Parameters
    ----------
    prediction : transformers.EvalPrediction
        Logits and true labels, each of shape (n_samples, n_labels); of several outputs, the first are the logits.
        Labels that are -100 or nan are missing: rows are judged by their observed labels.
    threshold : float or None
        Predict 1 where the sigmoid of a logit is at least the threshold; None judges the sigmoids as they are. To set
        it: ``functools.partial(compute_metrics, threshold=0.3)``.
    losses : sequence of str
        More losses, by the names that `choral.loss_by_name` takes, such as ``"macro_f1"``; for complete labels.

    Returns
    -------
    metrics : dict of float by name
        ``"hamming_loss"``, ``"loss_k_2"``, ``"loss_k_3"``, the loss at half of the labels, ``"subset_loss"``,
        ``"area"`` and ``"togetherness"`` (no loss), as far as there are any: few labels have fewer losses, and perfect
        predictions have no togetherness; and ``"NAME_loss"`` for each of ``losses``. `Trainer` puts ``eval_`` before
        each.

    See Also
    --------
    choral.evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    choral.nn.ChoquetLoss : A loss to train networks with.
    choral.loss_by_name : Losses by short names.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> prediction = SimpleNamespace(predictions=[[2.0, -1.0, 0.5]], label_ids=[[1, 1, 0]])
    >>> {name: round(value, 3) for name, value in compute_metrics(prediction, losses=["f1"]).items()}
    {'hamming_loss': 0.667, 'loss_k_2': 1.0, 'subset_loss': 1.0, 'area': 0.917, 'togetherness': 0.0, 'f1_loss': 0.5}
    """
    logits, labels = prediction.predictions, prediction.label_ids
    logits = logits[0] if isinstance(logits, tuple) else logits
    scores = scores_from_logits(np.asarray(logits, dtype=float))
    y_true = np.asarray(labels, dtype=float)
    y_true = np.where(y_true == UNKNOWN, np.nan, y_true)
    y_pred = scores if threshold is None else harden(scores, threshold)
    columns, rows, _ = evaluate(y_true, {"model": y_pred}, n_bootstrap=0).summary()
    found = {
        NAMES.get(column, f"loss_{column.replace('=', '_')}"): value
        for column, value in zip(columns, rows["model"], strict=True)
        if not np.isnan(value)  # which JSON does not know
    }
    return found | {f"{name}_loss": _loss(name, y_true, y_pred) for name in losses}


def _loss(name: str, y_true: np.ndarray, y_pred: Any) -> float:
    loss = loss_by_name(name)
    if isinstance(loss, AveragedLoss):
        return loss(y_true, y_pred)
    return mean_loss(y_true, y_pred, loss)
