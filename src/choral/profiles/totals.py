"""All rows in a few numbers: the one walk that makes profiles.

Rows are counted apart for each number of known labels; where none is missing there is one such group.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choral._array_api import Array, concatenate, is_foreign, to_host, xp_of
from choral.rows import ErrorBlock, Rows
from choral.rows.device import DeviceRows
from choral.rows.gpu import serves
from choral.rows.ranks import count_rows_by_errors, rank_sums


@dataclass
class Totals:
    """Rows (or their weights) by number of errors for hard predictions, sums of errors by rank for scores.

    Trailing zeros are not kept: with a million labels, few rows have more than a handful of errors.

    Attributes
    ----------
    n_observed : int
        How many labels of these rows are known.
    """

    n_observed: int
    n_rows: int = 0
    is_hard: bool = True
    histogram: Array = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    error_sums: Array = field(default_factory=lambda: np.zeros(0))
    weights: list[Array] = field(default_factory=list)

    def add(self, n_rows: int, wrong: Array | None, errors: Any, weights: Array | None) -> None:
        """Add rows by their numbers of wrong labels, or by all their errors."""
        self.n_rows += n_rows
        if weights is not None:
            self.weights.append(weights)
        if wrong is not None:
            counts = count_rows_by_errors(wrong, weights, self.n_observed)
            self.histogram = add_padded(self.histogram, counts)
        else:
            self.is_hard = False
            self.error_sums = add_padded(self.error_sums, rank_sums(errors, weights)[: self.n_observed])

    def finish(self) -> "Totals":
        """Fetch the sums from their device."""
        if is_foreign(self.histogram):
            counts = np.trim_zeros(to_host(self.histogram), "b")
            self.histogram = counts.astype(np.float64 if self.weights else np.int64)
        if is_foreign(self.error_sums):
            self.error_sums = np.trim_zeros(to_host(self.error_sums), "b")
        return self

    @property
    def total_weight(self) -> int | float:
        """The weights of these rows added up; their number where none were given."""
        if not self.weights:
            return self.n_rows
        # One long sum, whatever the blocks: the same to the last bit in every kind of profile.
        weights = concatenate(self.weights)
        return float(xp_of(weights).sum(weights))

    def sums_by_rank(self) -> np.ndarray:
        """Sums of the largest, second largest, ... errors of all rows."""
        return np.trim_zeros(add_padded(sums_by_rank(self.histogram), self.error_sums), "b")


@np.errstate(under="ignore")
def total_errors(rows: Rows) -> dict[int, Totals]:
    """The totals of rows by their number of known labels, for each number that occurs."""
    if isinstance(rows, DeviceRows) and rows.is_plain and serves(*rows.matrices):
        found = _by_kernels(rows)
        if found is not None:
            return found
    groups: dict[int, Totals] = {}
    for block in rows.error_blocks():
        weights = rows.weights_of(block.rows)
        if block.n_observed is None:
            group = groups.setdefault(rows.n_labels, Totals(rows.n_labels))
            group.add(block.rows.stop - block.rows.start, block.wrong, block.errors, weights)
        else:
            _add_by_observed(groups, block, weights)
    return {number: groups[number].finish() for number in sorted(groups)}


def _add_by_observed(groups: dict[int, Totals], block: ErrorBlock, weights: Array | None) -> None:
    """Add rows of which labels are missing: those with the same number of known labels together, on the host."""
    n_observed = _on_host(block.n_observed)
    parts = [None if part is None else _on_host(part) for part in (block.wrong, block.errors, weights)]
    for some in rows_by_number(n_observed):
        number = int(n_observed[some[0]])
        group = groups.setdefault(number, Totals(number))
        group.add(some.size, *(None if part is None else part[some] for part in parts))


def _by_kernels(rows: DeviceRows) -> dict[int, Totals] | None:
    """The totals of tensors on a CUDA device, where there is a kernel for them and nothing to refuse."""
    from choral.rows.gpu.totals import gpu_totals

    found = gpu_totals(*rows.matrices, rows.weights)
    if found is None:
        return None
    totals = Totals(rows.n_labels, rows.n_rows, weights=[] if rows.weights is None else [rows.weights])
    if found.histogram is not None:
        totals.histogram = np.trim_zeros(to_host(found.histogram), "b")
    else:
        totals.is_hard, totals.error_sums = False, np.trim_zeros(to_host(found.sums), "b")
    return {rows.n_labels: totals}


def rows_by_number(n_observed: np.ndarray) -> list[np.ndarray]:
    """Rows with the same number of known labels together."""
    order = np.argsort(n_observed, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(n_observed[order])) + 1)


def sums_by_rank(histogram: np.ndarray) -> np.ndarray:
    """Hard predictions as scores: rows with at least 1, 2, ... errors."""
    return np.cumsum(histogram[:0:-1])[::-1].astype(float)


def add_padded(first: Array, second: Array) -> Array:
    """The sum of two vectors, the shorter one filled up with zeros; on a device both are full, or the first is new."""
    if is_foreign(second):
        return first + second if is_foreign(first) else second
    if first.size < second.size:
        first, second = second, first
    total = first.astype(np.result_type(first, second))
    total[: second.size] += second
    return total


def _on_host(array: Any) -> Any:
    return to_host(array) if is_foreign(array) else array
