"""All rows in a few numbers: what profiles and intervals are made of, in one walk over the rows.

Rows are counted apart for each number of known labels; where none is missing there is one such group.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from choral._array_api import Array, concatenate, is_foreign, to_device_of, to_host, widest, xp_of
from choral.rows import ErrorBlock, Rows, add_up
from choral.rows.device import DeviceRows
from choral.rows.gpu import serves
from choral.rows.ranks import ROWS_PER_SUM, column_sums, rank_sums

MAX_CODES = 1 << 62  # that an integer tells apart


@dataclass
class Totals:
    """Rows (or their weights) by number of errors for hard predictions, sums of errors by rank for scores.

    Trailing zeros are not kept: with a million labels, few rows have more than a handful of errors.

    Attributes
    ----------
    n_observed : int
        How many labels of these rows are known.
    total_weight : int or float
        The weights of these rows added up; their number where none were given. Known once `finish` was called.
    """

    n_observed: int
    n_rows: int = 0
    is_hard: bool = True
    histogram: np.ndarray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    error_sums: np.ndarray = field(default_factory=lambda: np.zeros(0))
    total_weight: int | float = 0
    weights: list[Array] = field(default_factory=list)
    on_device: dict[str, Array] = field(default_factory=dict)

    def add(self, n_rows: int, wrong: Array | None, errors: Any, weights: Array | None) -> None:
        """Add rows by their numbers of wrong labels, or by all their errors."""
        self.n_rows += n_rows
        if weights is not None:
            self.weights.append(weights)
        if wrong is not None:
            self._accumulate("histogram", _count_rows(wrong, weights, self.n_observed))
        else:
            self.is_hard = False
            self._accumulate("error_sums", rank_sums(errors, weights)[: self.n_observed])

    def _accumulate(self, name: str, part: Array) -> None:
        """Add to the sums on the host, or to those on the device, which stay there until the end."""
        if is_foreign(part):
            self.on_device[name] = self.on_device[name] + part if name in self.on_device else part
        else:
            setattr(self, name, add_padded(getattr(self, name), part))

    def finish(self) -> "Totals":
        """Add up the weights, and fetch the sums from their device."""
        weights, self.weights = self.weights, []
        if len({is_foreign(some) for some in weights}) == 2:  # rows with missing labels are counted on the host
            weights = [to_host(some) for some in weights]
        # One long sum, whatever the blocks: the same to the last bit in every kind of profile.
        self.total_weight = float(xp_of(weights[0]).sum(concatenate(weights))) if weights else self.n_rows
        for name, sums in self.on_device.items():
            part = _without_zeros_at_the_end(to_host(sums))
            whole = name == "histogram" and not weights
            setattr(self, name, add_padded(getattr(self, name), part.astype(np.int64 if whole else np.float64)))
        self.on_device = {}
        return self

    def __add__(self, other: "Totals") -> "Totals":
        """The totals of both sets of rows, with the same number of known labels."""
        return Totals(
            self.n_observed,
            self.n_rows + other.n_rows,
            self.is_hard and other.is_hard,
            add_padded(self.histogram, other.histogram),
            add_padded(self.error_sums, other.error_sums),
            self.total_weight + other.total_weight,
        )

    def sums_by_rank(self) -> np.ndarray:
        """Sums of the largest, second largest, ... errors of all rows."""
        return _without_zeros_at_the_end(add_padded(sums_by_rank(self.histogram), self.error_sums))


class TotalsByObserved(dict[int, Totals]):
    """The totals of rows by their number of known labels, for each number that occurs; those of two batches add up."""

    def __add__(self, other: "TotalsByObserved") -> "TotalsByObserved":
        both: list[Totals] = [*self.values(), *other.values()]
        numbers = sorted(self.keys() | other.keys())
        return TotalsByObserved(
            (number, reduce(add, [totals for totals in both if totals.n_observed == number])) for number in numbers
        )


def totals_of(rows: Rows) -> TotalsByObserved:
    """The totals of rows, wherever they are."""
    return add_up([rows], lambda models: total_errors(models[0]))


def total_errors(rows: Rows) -> TotalsByObserved:
    """The totals of rows in memory."""
    if isinstance(rows, DeviceRows) and rows.is_plain and serves(*rows.matrices):
        found = _by_kernels(rows)
        if found is not None:
            return found
    return _by_blocks(rows)


@np.errstate(under="ignore")
def _by_blocks(rows: Rows) -> TotalsByObserved:
    """The totals of rows of any kind, a block at a time."""
    groups: dict[int, Totals] = {}
    for block in rows.error_blocks():
        weights = rows.weights_of(block.rows)
        if block.n_observed is None:
            group = groups.setdefault(rows.n_labels, Totals(rows.n_labels))
            group.add(block.rows.stop - block.rows.start, block.wrong, block.errors, weights)
        else:
            _add_by_observed(groups, block, weights)
    return TotalsByObserved((number, groups[number].finish()) for number in sorted(groups))


def _add_by_observed(groups: dict[int, Totals], block: ErrorBlock, weights: Array | None) -> None:
    """Add rows of which labels are missing: those with the same number of known labels together, on the host."""
    n_observed = to_host(block.n_observed)
    parts = [to_host(part) for part in (block.wrong, block.errors, weights)]
    for some in rows_by_number(n_observed):
        number = int(n_observed[some[0]])
        group = groups.setdefault(number, Totals(number))
        group.add(some.size, *(None if part is None else part[some] for part in parts))


def _by_kernels(rows: DeviceRows) -> TotalsByObserved | None:
    """The totals of tensors on a CUDA device, where there is a kernel for them and nothing to refuse."""
    from choral.rows.gpu.totals import gpu_totals

    found = gpu_totals(*rows.matrices, rows.weights)
    if found is None:
        return None
    summary, weights = _without_zeros_at_the_end(found.summary), [] if rows.weights is None else [rows.weights]
    if found.is_hard:
        totals = Totals(rows.n_labels, rows.n_rows, histogram=summary, weights=weights)
    else:
        totals = Totals(rows.n_labels, rows.n_rows, is_hard=False, error_sums=summary, weights=weights)
    return TotalsByObserved({rows.n_labels: totals.finish()})


def rows_by_number(n_observed: np.ndarray) -> list[np.ndarray]:
    """Rows with the same number of known labels together."""
    order = np.argsort(n_observed, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(n_observed[order])) + 1)


def sums_by_rank(histogram: np.ndarray) -> np.ndarray:
    """Hard predictions as scores: rows with at least 1, 2, ... errors."""
    return np.cumsum(histogram[:0:-1])[::-1].astype(float)


def _without_zeros_at_the_end(numbers: np.ndarray) -> np.ndarray:
    """As `numpy.trim_zeros` has it, which takes longer than a GPU does for the rows."""
    places = numbers.astype(bool).nonzero()[0]  # of 10,000 numbers, six times as fast as without bool
    return numbers[: places[-1] + 1 if places.size else 0]


def add_padded(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The sum of two vectors, the shorter one filled up with zeros."""
    if first.size < second.size:
        first, second = second, first
    total = first.astype(np.result_type(first, second))
    total[: second.size] += second
    return total


def _count_rows(counts: Array, row_weights: Array | None, max_count: int) -> Array:
    """How many rows, or what weights of them, have the count 0, 1, ...; on a device always up to ``max_count``."""
    if not is_foreign(counts):
        return np.bincount(counts) if row_weights is None else _weighted_counts(counts, row_weights)
    xp = xp_of(counts)
    if row_weights is None and hasattr(xp, "bincount"):  # every library has it, though not the standard
        return xp.bincount(counts, minlength=max_count + 1)
    # Weights are not scattered into bins: a GPU would add them up in another order each time.
    in_bin = counts[:, None] == to_device_of(np.arange(max_count + 1), counts)
    if row_weights is None:
        return column_sums(xp.astype(in_bin, widest(counts).integer))
    return column_sums(xp.where(in_bin, row_weights[:, None], xp.zeros_like(row_weights)[:, None]))


def _weighted_counts(wrong: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum of the weights of rows with 0, 1, ... errors, some rows at a time."""
    width = int(wrong.max()) + 1
    group = np.arange(wrong.size) // ROWS_PER_SUM
    sums = np.bincount(group * width + wrong, weights=weights, minlength=(int(group[-1]) + 1) * width)
    return sums.reshape(-1, width).sum(axis=0)


# Rows under several models at once: what a paired bootstrap of hard labels needs


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Rows alike in the numbers of wrong labels under each model and of known labels, and in weight, with their number.

    Those of two batches add up as profiles do. A few models have few different combinations; many models, or weights
    that all differ, have about as many as there are rows.

    Attributes
    ----------
    wrong : ndarray of shape (n_groups, n_models)
        Wrong labels of each row of a group under each model, in increasing order.
    counts : ndarray of shape (n_groups,)
        Rows of each group.
    weights : ndarray of shape (n_groups,)
        The sample weight of each such row.
    n_observed : ndarray of shape (n_groups,)
        Known labels of each such row.

    Examples
    --------
    >>> y_true = np.array([[1, 0], [0, 1], [1, 1]])
    >>> from choral.rows import open_rows
    >>> batch = JointErrors.from_rows([open_rows(y_true, 1 - y_true), open_rows(y_true, np.ones((3, 2)))])
    >>> batch.wrong, batch.counts
    (array([[2, 0], [2, 1]]), array([1, 2]))
    >>> (batch + batch).counts
    array([2, 4])
    """

    wrong: np.ndarray
    counts: np.ndarray
    weights: np.ndarray
    n_observed: np.ndarray

    @classmethod
    def from_rows(cls, models: Sequence[Rows]) -> "JointErrors":
        """The groups of rows of several models with hard predictions for the same true labels."""
        rows = cls.of_each_row(*models)
        return _grouped(rows.wrong, rows.counts, rows.weights, rows.n_observed)

    @classmethod
    def of_each_row(cls, *models: Rows) -> "JointErrors":
        """Likewise, but each row is a group of its own, in its place; rows of which nothing is known weigh nothing."""
        columns = [_count_wrong_and_observed(rows) for rows in models]
        n_observed = columns[0][1]
        weights, counts = models[0].weights, np.ones(models[0].n_rows, dtype=np.int64)
        weights = np.ones(counts.size) if weights is None else to_host(weights)
        wrong = np.column_stack([wrong for wrong, _ in columns])
        return cls(wrong, counts, np.where(n_observed > 0, weights, 0.0), n_observed)

    def __add__(self, other: "JointErrors") -> "JointErrors":
        names = ("wrong", "counts", "weights", "n_observed")
        return _grouped(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def __len__(self) -> int:
        """The number of groups."""
        return len(self.counts)


def _count_wrong_and_observed(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of wrong and of known labels of all rows."""
    wrong, n_observed = [], []
    for block in rows.error_blocks():
        wrong.append(to_host(block.wrong))
        known = np.full(len(wrong[-1]), rows.n_labels) if block.n_observed is None else block.n_observed
        n_observed.append(to_host(known))
    return np.concatenate(wrong), np.concatenate(n_observed)


def _grouped(wrong: np.ndarray, counts: np.ndarray, weights: np.ndarray, n_observed: np.ndarray) -> JointErrors:
    keys = list(wrong.T)
    if (n_observed != n_observed[0]).any():
        keys.append(n_observed)
    if (weights != weights[0]).any():
        keys.append(np.unique(weights, return_inverse=True)[1])
    codes, n_codes = np.zeros(len(wrong), dtype=np.int64), 1
    for key in keys:
        n_values = int(key.max()) + 1
        if n_codes * n_values > MAX_CODES:  # no more codes than there are rows
            codes = np.unique(codes, return_inverse=True)[1]
            n_codes = len(wrong)
        codes, n_codes = codes * n_values + key, n_codes * n_values
    _, first, group = np.unique(codes, return_index=True, return_inverse=True)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, group, counts)
    return JointErrors(wrong[first], totals, weights[first], n_observed[first])
