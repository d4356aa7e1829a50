"""A metric for the package evaluate: losses of multi-label predictions, from Hamming to subset 0/1 loss."""

import datasets
import evaluate
import numpy as np

import choral

UNKNOWN = -100  # a label that does not count, as in data for transformers

DESCRIPTION = """
Losses of multi-label predictions from Hamming loss (k = 1: a random label must be right) to subset 0/1 loss (k = K: all
K labels must be right together). The loss at k is the share of groups of k labels that are not all right.
"""
INPUTS = """
Args:
    predictions: a row for each example, of labels (0 or 1) or scores in [0, 1], one for each label.
    references: a row for each example, of true labels: 0, 1, or -100 or nan for a label that is missing.
    threshold: a label is predicted where its score is at least the threshold (0.5 unless given); None judges scores
        as they are.
Returns:
    k: a list of whole numbers; losses: the loss at each of them; hamming_loss, subset_loss and area (mean of the
        losses along the curve).
Examples:
    >>> metric = evaluate.load("choral_curve")
    >>> metric.compute(predictions=[[0.9, 0.2], [0.1, 0.6]], references=[[1, 0], [0, 0]])["subset_loss"]
    0.5
"""


@evaluate.utils.file_utils.add_start_docstrings(DESCRIPTION, INPUTS)
class ChoralCurve(evaluate.Metric):
    def _info(self):
        return evaluate.MetricInfo(
            description=DESCRIPTION,
            citation="",
            inputs_description=INPUTS,
            features=datasets.Features(
                {
                    "predictions": datasets.Sequence(datasets.Value("float64")),
                    "references": datasets.Sequence(datasets.Value("float64")),  # int64 would make 0 of 0.7
                }
            ),
        )

    def _compute(self, predictions, references, threshold=0.5):
        labels = np.asarray(references, dtype=float)
        y_true = np.where(labels == UNKNOWN, np.nan, labels)
        y_pred = np.asarray(predictions, dtype=float)
        curve = choral.loss_curve(y_true, y_pred if threshold is None else choral.harden(y_pred, threshold))
        return {
            "k": curve.parameters.tolist(),
            "losses": curve.losses.tolist(),
            "hamming_loss": float(curve.losses[0]),
            "subset_loss": float(curve.losses[-1]),
            "area": float(curve.area),
        }
