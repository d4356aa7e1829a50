"""Summaries read back from a file: what no profile could have written is refused."""

from typing import Any

import numpy as np

from choral._validation import check_vector, refuse_where


def check_histogram(counts: Any, n_labels: int, n_rows: int, total: float) -> np.ndarray:
    """Rows by number of errors, whole numbers where all are."""
    histogram = _check_summary("rows_by_errors", counts, n_labels + 1)
    if not abs(histogram.sum() - total) <= 1e-9 * max(1, total):
        raise ValueError(f"rows_by_errors must add up to total_weight, {total:g}; got {histogram.sum():g}.")
    if not all(isinstance(count, int) for count in counts):
        return histogram
    if histogram.sum() != n_rows:
        raise ValueError(f"rows_by_errors must add up to n_rows, {n_rows}; got {histogram.sum():g}.")
    return np.array(counts or [0], dtype=np.int64)


def check_sums(sums: Any, n_labels: int, total: float) -> np.ndarray:
    """Sums of the largest, second largest, ... errors."""
    sums = _check_summary("error_sums", sums, n_labels)
    bound = np.append(total, sums[:-1]) if sums.size else sums
    above = sums > bound + 1e-9 * max(1, total)
    refuse_where("error_sums must not exceed total_weight, nor increase", "error_sums", sums, above)
    return sums


def _check_summary(name: str, numbers: Any, most: int) -> np.ndarray:
    checked = check_vector(name, numbers) if numbers != [] else np.zeros(0)
    if checked.size > most:
        raise ValueError(f"{name} must have at most {most} entries; got {checked.size}.")
    refuse_where(f"{name} must be finite and non-negative", name, checked, ~((checked >= 0) & (checked < np.inf)))
    return checked
