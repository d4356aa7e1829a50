"""The shares of the labels of some rows, by the form of a measure."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.explanation.error_blocks import ErrorsOfRows
from choral.explanation.levels import Errors, even_parts, parts_by_level
from choral.losses import no_loss_of_observed
from choral.measures import ByCount, ByRelevance, Form, Measure, Table, Terms
from choral.measures.subsets import set_sizes


def shares_of_block(block: ErrorsOfRows, measure: Measure, form: Form) -> Any:
    """The shares of all labels of some rows, dense or CSR as the errors are."""
    if isinstance(form, ByCount):
        if block.n_observed is not None:
            return _shares_of_observed(block, measure)
        return parts_by_level(block.errors, block.wrong, partial(even_parts, form))
    if block.n_observed is not None:
        raise no_loss_of_observed(measure)
    if isinstance(form, Terms):
        return _shares_by_terms(block.errors, form)
    true, errors = (part.toarray() if sp.issparse(part) else part for part in (block.true, block.errors))
    dense = _dense_shares(true, errors.astype(float), form)
    return sp.csr_array(dense) if sp.issparse(block.errors) else dense


def _shares_of_observed(block: ErrorsOfRows, measure: Measure) -> Any:
    """Shares of rows of which labels are missing, each number of known labels by itself; 0 where none is known."""
    n_observed: Any = block.n_observed
    is_sparse = sp.issparse(block.errors)
    shares: Any = sp.csr_array(block.errors.shape) if is_sparse else np.zeros(block.errors.shape)
    for number in np.unique(n_observed[n_observed > 0]).tolist():
        form, some = measure.on_observed(number).form(number), np.flatnonzero(n_observed == number)
        if not isinstance(form, ByCount):
            raise no_loss_of_observed(measure)
        wrong = None if block.wrong is None else block.wrong[some]
        found = parts_by_level(block.errors[some], wrong, partial(even_parts, form))
        if is_sparse:
            shares = shares + _rows_at(found, some, block.n_rows)
        else:
            shares[some] = found
    return shares


def _rows_at(matrix: sp.csr_array, rows: np.ndarray, n_rows: int) -> sp.csr_array:
    """A sparse matrix whose rows are at these places among others that are empty."""
    lengths = np.zeros(n_rows, dtype=np.int64)
    lengths[rows] = np.diff(matrix.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return sp.csr_array((matrix.data, matrix.indices, indptr), shape=(n_rows, matrix.shape[1]))


def _shares_by_terms(errors: Errors, form: Terms) -> Any:
    """The loss is the sum of m(T) times the largest error in T, which the labels of T share."""
    if sp.issparse(errors):
        carriers = sorted({label for labels, _ in form.larger for label in labels})
        single = sp.csr_array(errors.multiply(form.singles[np.newaxis]))
        if not carriers:
            return single
        dense = np.zeros((errors.shape[0], len(carriers)))
        places = {label: place for place, label in enumerate(carriers)}
        _add_terms(dense, errors[:, carriers].toarray(), [([places[i] for i in T], m) for T, m in form.larger])
        larger = sp.csc_array(sp.coo_array(dense))
        wide = sp.csc_array(
            (larger.data, larger.indices, _spread(larger.indptr, carriers, errors.shape[1])), errors.shape
        )
        return single + wide.tocsr()
    shares = errors * form.singles
    return _add_terms(shares, errors, [(list(labels), mass) for labels, mass in form.larger])


def _spread(indptr: np.ndarray, columns: list[int], n_columns: int) -> np.ndarray:
    """The starts of columns that are at these places among others that are empty."""
    lengths = np.zeros(n_columns, dtype=np.int64)
    lengths[columns] = np.diff(indptr)
    return np.concatenate([[0], np.cumsum(lengths)])


def _add_terms(
    shares: FloatArray, errors: Errors, terms: list[tuple[list[int], float]], factors: Callable | None = None
) -> FloatArray:
    """Add the share that each label has in the largest error of each label set."""
    for labels, mass in terms:
        of_term = parts_by_level(errors[:, labels].astype(float), None, _equal_parts)
        shares[:, labels] += of_term * (mass if factors is None else mass * factors(labels)[:, np.newaxis])
    return shares


def _equal_parts(n_labels: int) -> FloatArray:
    """1 / j: what each of j labels pays of something that costs the same whatever their number."""
    return 1 / np.maximum(np.arange(n_labels + 1), 1)


def _dense_shares(true: np.ndarray, errors: FloatArray, form: Table | ByRelevance) -> FloatArray:
    if isinstance(form, Table):
        return _shares_by_table(errors, form.values)
    true = true.astype(bool)
    if isinstance(form.base, Terms):
        return _shares_by_relevant_terms(true, errors, form, form.base)
    if isinstance(form.base, ByCount):
        return _shares_by_relevant_counts(true, errors, form, form.base)
    shares = np.empty(errors.shape)
    sets, group = np.unique(true, axis=0, return_inverse=True)
    every = (np.arange(1 << form.n_labels)[:, np.newaxis] >> np.arange(form.n_labels) & 1).astype(bool)
    for number, relevant in enumerate(sets):
        some = np.flatnonzero(group.ravel() == number)
        values = form.worth(every, np.broadcast_to(relevant, every.shape))
        shares[some] = _shares_by_table(errors[some], values)
    return shares


def _shares_by_table(errors: FloatArray, values: FloatArray) -> FloatArray:
    """Shares from what all 2^K sets are worth: at each level, the potential with a label minus that without it."""
    potential = _potential(1 - values[::-1])  # wrong on a set: right on all other labels
    shares, n_labels = np.zeros(errors.shape), errors.shape[1]
    order = np.argsort(-errors, axis=1, kind="stable")
    ordered = np.take_along_axis(errors, order, axis=1)
    steps = ordered - np.pad(ordered, ((0, 0), (0, 1)))[:, 1:]
    wrong = np.zeros(len(errors), dtype=np.int64)
    for rank in range(n_labels):
        wrong |= 1 << order[:, rank]
        if not steps[:, rank].any():
            continue
        for label in range(n_labels):
            in_set = wrong >> label & 1
            gain = potential[wrong] - potential[wrong & ~(1 << label)]
            shares[:, label] += steps[:, rank] * in_set * gain
    return shares


def _potential(costs: FloatArray) -> FloatArray:
    """The potential of every set, from what it costs to be wrong on it."""
    n_labels = costs.size.bit_length() - 1
    sizes = set_sizes(n_labels)
    by_size = np.argsort(sizes, kind="stable")
    ends = np.cumsum(np.bincount(sizes))
    potential = np.zeros(costs.size)
    for size in range(1, n_labels + 1):
        sets = by_size[ends[size - 1] : ends[size]]
        total = costs[sets].copy()
        for label in range(n_labels):
            has = sets >> label & 1 == 1
            total[has] += potential[sets[has] ^ 1 << label]
        potential[sets] = total / size
    return potential


def _shares_by_relevant_terms(true: np.ndarray, errors: FloatArray, form: ByRelevance, base: Terms) -> FloatArray:
    """Each mass counts 1 + beta * (share of relevant labels) times, divided by what all masses add up to then."""
    total = 1 + form.beta * (true @ base.shapley)
    same = true[:, base.carriers].all(axis=1)  # all masses grow alike: the base remains
    total = np.where(same, 1.0, total)

    def factors(labels: list[int]) -> FloatArray:
        share = true[:, labels].mean(axis=1)
        return np.where(same, 1.0, (1 + form.beta * share) / total)

    shares = errors * base.singles
    for label in np.flatnonzero(base.singles).tolist():
        shares[:, label] *= factors([label])
    return _add_terms(shares, errors, [(list(labels), mass) for labels, mass in base.larger], factors)


def _shares_by_relevant_counts(true: np.ndarray, errors: FloatArray, form: ByRelevance, base: ByCount) -> FloatArray:
    """The cost depends on the numbers of relevant and of other labels that are wrong, and so do the shares."""
    shares = np.empty(errors.shape)
    n_relevant = true.sum(axis=1)
    for number in np.unique(n_relevant).tolist():
        some = np.flatnonzero(n_relevant == number)
        of_relevant, of_others = _two_kinds(_costs_by_kind(base, form.beta, number))
        order = np.argsort(-errors[some], axis=1, kind="stable")
        ordered = np.take_along_axis(errors[some], order, axis=1)
        steps = ordered - np.pad(ordered, ((0, 0), (0, 1)))[:, 1:]
        kind = np.take_along_axis(true[some], order, axis=1)
        relevant = np.cumsum(kind, axis=1)
        others = np.arange(1, errors.shape[1] + 1) - relevant
        sums = [
            np.cumsum((steps * table[relevant, others])[:, ::-1], axis=1)[:, ::-1] for table in (of_relevant, of_others)
        ]
        found = np.empty_like(steps)
        np.put_along_axis(found, order, np.where(kind, *sums), axis=1)
        shares[some] = found
    return shares


def _costs_by_kind(base: ByCount, beta: float, n_relevant: int) -> FloatArray:
    """1 - mu where a of the relevant and b of the other labels are wrong, at [a, b]: see `RelevanceMeasure`."""
    n_labels, values = base.n_labels, base.values
    wrong_relevant, wrong_others = np.ogrid[: n_relevant + 1, : n_labels - n_relevant + 1]
    right = n_labels - wrong_relevant - wrong_others
    if n_relevant == n_labels:
        return 1 - values[right]
    growth = 1 + beta * (n_relevant - wrong_relevant) / np.maximum(right, 1)
    return 1 - values[right] * growth / (1 + beta * n_relevant / n_labels)


def _two_kinds(costs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The share of a label of the first and of the second kind where a and b labels of each are wrong, at [a, b]."""
    n_first, n_second = costs.shape
    potential = np.zeros(costs.shape)
    for size in range(1, n_first + n_second - 1):
        first = np.arange(max(0, size - n_second + 1), min(size, n_first - 1) + 1)
        second = size - first
        before = (
            first * potential[np.maximum(first - 1, 0), second] + second * potential[first, np.maximum(second - 1, 0)]
        )
        potential[first, second] = (costs[first, second] + before) / size
    gains = [np.diff(potential, axis=axis) for axis in (0, 1)]
    return np.pad(gains[0], ((1, 0), (0, 0))), np.pad(gains[1], ((0, 0), (1, 0)))
