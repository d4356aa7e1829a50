"""The errors of all labels of rows, block by block and level by level: what shares and pairs are made of."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray
from choral.measures import ByCount
from choral.rows import Rows
from choral.rows.dense import count_rows
from choral.rows.label_errors import label_errors

CHUNK = 1 << 17  # errors of scores that are sorted at a time
MAX_LABEL_BITS = 10  # of the 52 bits of an error: up to 1024 labels

Errors = Any  # (n_rows, n_labels): booleans for hard predictions, else floats; or CSR of either


class ErrorsOfRows(NamedTuple):
    """The errors of some rows on the host, dense or CSR."""

    rows: slice
    true: Any  # (n_rows, n_labels), dense or CSR
    pred: Any
    errors: Errors
    wrong: np.ndarray | None  # (n_rows,) how many labels are wrong; None for scores
    n_observed: np.ndarray | None  # (n_rows,) how many labels are known; None where all are
    weights: np.ndarray | None

    @property
    def n_rows(self) -> int:
        return self.rows.stop - self.rows.start

    def row_weights(self) -> FloatArray:
        """The weight of each row: 1 unless given, and 0 where no label is known."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return weights if self.n_observed is None else np.where(self.n_observed > 0, weights, 0.0)


def error_blocks(rows: Rows) -> Iterator[ErrorsOfRows]:
    """One block of rows after another, with the errors of each label; from a device they come to the host."""
    for block in rows.pair_blocks():
        true, pred, n_observed = (to_host(part) for part in (block.true, block.pred, block.n_observed))
        weights = to_host(rows.weights_of(block.rows))
        errors = label_errors(block._replace(true=true, pred=pred))
        wrong = _count_wrong(errors) if block.is_hard else None
        yield ErrorsOfRows(block.rows, true, pred, errors, wrong, n_observed, weights)


def _count_wrong(errors: Errors) -> np.ndarray:
    return np.diff(errors.indptr) if sp.issparse(errors) else count_rows(errors)


def chunks(block: ErrorsOfRows) -> Iterator[tuple[slice, ErrorsOfRows]]:
    """A dense block in parts that fit the cache when they are sorted; a sparse one whole."""
    step = block.n_rows if sp.issparse(block.errors) else max(1, CHUNK // block.errors.shape[1])
    for start in range(0, block.n_rows, step):
        some = slice(start, min(start + step, block.n_rows))
        parts = [None if part is None else part[some] for part in block[1:]]
        yield some, ErrorsOfRows(some, *parts)


def known_labels(rows: Rows, some: slice) -> np.ndarray | None:
    """Which labels of some rows are known, as dense booleans; None where all are."""
    blocks = [(block.rows, to_host(block.known)) for block in rows.part(some).known_blocks()]
    if all(known is None for _, known in blocks):
        return None
    return np.vstack(
        [np.ones((of.stop - of.start, rows.n_labels), dtype=bool) if known is None else known for of, known in blocks]
    )


def columns(matrix: Any, labels: np.ndarray) -> np.ndarray:
    """Some columns of a matrix, dense."""
    return matrix[:, labels].toarray() if sp.issparse(matrix) else np.take(matrix, labels, axis=1)


# Levels: labels with errors above a level share what the level costs


def even_parts(form: ByCount, max_wrong: int) -> FloatArray:
    """deficit(e) / e for e = 0, 1, ..., max_wrong: what each of e wrong labels costs; 0 for none."""
    deficits = form.deficits(max_wrong)
    return deficits / np.maximum(np.arange(deficits.size), 1)


def parts_by_level(errors: Errors, wrong: np.ndarray | None, parts: Callable[[int], np.ndarray]) -> Any:
    """What each label gets if at every level all labels with errors above it get ``parts(n)[j]``, j their number.

    ``parts(n)`` is a table for 0, 1, ..., n labels (or fewer, if there are no more). Where ``wrong`` counts the wrong
    labels of hard predictions, there is one level.

    Examples
    --------
    >>> parts_by_level(np.array([[0.9, 0.2, 0.5]]), None, lambda n: np.array([0, 1, 0.5, 0.25])).round(3)
    array([[0.6 , 0.05, 0.2 ]])
    """
    if sp.issparse(errors):
        return _sparse_parts_by_level(errors, wrong, parts)
    if wrong is not None:
        return errors * parts(int(wrong.max()))[wrong][:, np.newaxis]
    order, steps = levels(errors)
    sums = np.empty_like(steps)
    np.put_along_axis(sums, order, np.cumsum(steps * by_level(parts(errors.shape[1]), errors.shape[1]), axis=1), axis=1)
    return sums


def levels(errors: FloatArray) -> tuple[np.ndarray, FloatArray]:
    """The labels of each row from the smallest error up, and how much each error exceeds the one before."""
    order = _order_of(errors)
    steps = np.take_along_axis(errors, order, axis=1)
    steps[:, 1:] -= steps[:, :-1].copy()
    return order, steps


def _order_of(errors: FloatArray) -> np.ndarray:
    """The order of the errors within each row, up to about 2e-13 of their size.

    The number of the label takes the place of the last bits of its error: sorting numbers is three times as quick as
    sorting places. Errors that are equal but for these bits change places, which changes shares by less than 1e-12.
    """
    n_bits = (errors.shape[1] - 1).bit_length()
    if n_bits > MAX_LABEL_BITS:
        return np.argsort(errors, axis=1)
    shift = np.uint64(n_bits)
    keys = errors.view(np.uint64) >> shift << shift  # of numbers from 0 on, the bits are in the same order
    keys |= np.arange(errors.shape[1], dtype=np.uint64)
    keys.sort(axis=1)
    return (keys & np.uint64((1 << n_bits) - 1)).astype(np.intp)


def by_level(table: FloatArray, n_labels: int) -> FloatArray:
    """What is given at each level: all labels are above the lowest one, a single label is above the last."""
    return np.pad(table, (0, n_labels + 1 - table.size))[:0:-1]


def _sparse_parts_by_level(errors: Any, wrong: np.ndarray | None, parts: Callable[[int], np.ndarray]) -> sp.csr_array:
    """Likewise, where labels that are not stored are right."""
    lengths = np.diff(errors.indptr)
    longest = int(lengths.max(initial=0))
    if wrong is not None:
        data = np.repeat(parts(longest)[lengths], lengths)
    else:
        rows = np.repeat(np.arange(errors.shape[0]), lengths)
        order = np.lexsort((errors.data, rows))  # upwards within each row
        ordered = errors.data[order]
        ends = np.repeat(errors.indptr[1:], lengths)
        starts = np.repeat(errors.indptr[:-1], lengths)
        places = np.arange(ordered.size)
        below = np.where(places == starts, 0.0, np.concatenate([[0.0], ordered[:-1]]))
        table = np.pad(parts(longest), (0, 1))
        steps = (ordered - below) * table[np.minimum(ends - places, table.size - 1)]
        data = np.empty_like(ordered)
        data[order] = _running_sums(steps, errors.indptr)
    return sp.csr_array((data, errors.indices, errors.indptr), shape=errors.shape)


def _running_sums(steps: FloatArray, indptr: np.ndarray) -> FloatArray:
    """Running sums within each row, all rows of one length at a time: differences of one long sum would cancel."""
    sums = np.empty_like(steps)
    lengths = np.diff(indptr)
    for length in np.unique(lengths[lengths > 0]).tolist():
        places = indptr[:-1][lengths == length][:, np.newaxis] + np.arange(length)
        sums[places] = np.cumsum(steps[places], axis=1)
    return sums
