"""Batches of predictions in a few numbers, on their device: what `DependenceCurve` adds up."""

import torch
from torch import Tensor

from choral.rows.gpu import MOST_SORTED, serves


def rows_by_errors(labels: Tensor, truth: Tensor) -> Tensor:
    """Rows with 0, 1, ..., n_labels wrong labels, of two tensors of bool."""
    if serves(labels, truth):
        from choral.rows.gpu import wrong_labels

        return wrong_labels.rows_by_errors(wrong_labels.wrong_labels(truth, labels).counts, labels.shape[1])
    wrong = (labels != truth).sum(dim=1)
    counts = torch.zeros(labels.shape[1] + 1, dtype=torch.int64, device=labels.device)
    return counts.index_add_(0, wrong, torch.ones_like(wrong))  # bincount would have the host wait for the device


def error_sums(scores: Tensor, truth: Tensor) -> Tensor:
    """Sum over rows of the largest, second largest, ... error, in doubles."""
    if serves(scores, truth) and scores.shape[1] <= MOST_SORTED:
        from choral.rows.gpu.rank_sums import rank_sums

        return rank_sums(truth, scores, None).sums
    errors = (scores.double() - truth.double()).abs()
    return errors.sort(dim=1, descending=True).values.sum(dim=0)


def count_outside_unit_interval(values: Tensor) -> Tensor:
    """How many values are not in [0, 1], nan among them."""
    return values.numel() - torch.count_nonzero((values >= 0) & (values <= 1))


def count_not_binary(values: Tensor) -> Tensor:
    """How many values are neither 0 nor 1."""
    return values.numel() - torch.count_nonzero((values == 0) | (values == 1))
