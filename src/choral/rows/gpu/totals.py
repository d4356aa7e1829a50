"""All rows of two label matrices in a few numbers: a histogram of wrong labels, or sums of errors by rank."""

from typing import NamedTuple

import numpy as np
import torch

from choral.rows.gpu import MAX_SORTED_LABELS
from choral.rows.gpu.rank_sums import rank_sums
from choral.rows.gpu.wrong_labels import wrong_labels


class GpuTotals(NamedTuple):
    """Rows by number of errors for hard predictions, else sums by rank; on the host."""

    summary: np.ndarray
    is_hard: bool


def gpu_totals(y_true: torch.Tensor, y_pred: torch.Tensor, weights: torch.Tensor | None) -> GpuTotals | None:
    """The totals, or None for what these kernels do not serve: values to refuse, weighted labels, very long rows."""
    soft = y_pred.is_floating_point() and bool(_is_soft(y_pred[:1]))  # most scores are told by their first row
    if not soft:
        if weights is not None:
            return None
        strange, rows_by_errors = wrong_labels(y_true, y_pred).on_host()
        of_true, of_pred, are_soft = strange.tolist()
        if of_true or of_pred:
            return None
        if not are_soft:
            return GpuTotals(rows_by_errors, True)
    if y_true.shape[1] > MAX_SORTED_LABELS:
        return None
    sums, strange = rank_sums(y_true, y_pred, weights)
    of_true, of_pred = strange.tolist()
    return None if of_true or of_pred else GpuTotals(sums.cpu().numpy(), False)


def _is_soft(scores: torch.Tensor) -> torch.Tensor:
    return ((scores != 0) & (scores != 1)).any()
