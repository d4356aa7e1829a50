"""The errors of all labels of rows, block by block: what shares and pairs are made of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral._typing import FloatArray
from choral.explanation.levels import Errors, Levels, Scratch
from choral.rows import PairBlock, Rows
from choral.rows.dense import count_rows
from choral.rows.label_errors import label_errors, label_sums

CHUNK = 1 << 17  # errors of scores that are sorted at a time: they fit the cache


@dataclass(frozen=True, eq=False)
class ErrorsOfRows:
    """The errors of some rows on the host, dense or CSR; dense scores hold until the next block is asked for."""

    rows: slice
    true: Any  # (n_rows, n_labels), dense or CSR
    pred: Any
    errors: Errors
    wrong: np.ndarray | None  # (n_rows,) how many labels are wrong; None for scores
    n_observed: np.ndarray | None  # (n_rows,) how many labels are known; None where all are
    weights: np.ndarray | None
    scratch: Scratch = field(default_factory=Scratch)

    @property
    def n_rows(self) -> int:
        return self.rows.stop - self.rows.start

    @cached_property
    def levels(self) -> Levels:
        """The errors of dense scores, sorted once for all who ask."""
        return Levels(self.errors, self.scratch)

    @cached_property
    def label_sums(self) -> np.ndarray:
        """The sums of errors of each label, with the weights of rows."""
        return label_sums(self.errors, self.weights)

    def row_weights(self) -> FloatArray:
        """The weight of each row: 1 unless given, and 0 where no label is known."""
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return weights if self.n_observed is None else np.where(self.n_observed > 0, weights, 0.0)


def error_blocks(rows: Rows, is_wanted: Callable[[PairBlock], bool] | None = None) -> Iterator[ErrorsOfRows]:
    """One block of rows after another, with the errors of each label; from a device they come to the host.

    Where ``is_wanted`` says no, a block is checked and left out.
    """
    scratch = Scratch()
    for block in rows.pair_blocks():
        if is_wanted is not None and not is_wanted(block):
            continue
        true, pred, n_observed = (to_host(part) for part in (block.true, block.pred, block.n_observed))
        weights = to_host(rows.weights_of(block.rows))
        out = None if block.is_hard or sp.issparse(true) else scratch.array("errors", true.shape)
        errors = label_errors(block._replace(true=true, pred=pred), out=out)
        wrong = _count_wrong(errors) if block.is_hard else None
        yield ErrorsOfRows(block.rows, true, pred, errors, wrong, n_observed, weights, scratch)


def _count_wrong(errors: Errors) -> np.ndarray:
    return np.diff(errors.indptr) if sp.issparse(errors) else count_rows(errors)


def chunks(block: ErrorsOfRows) -> Iterator[ErrorsOfRows]:
    """A dense block in parts that fit the cache when they are sorted; a sparse one whole."""
    step = block.n_rows if sp.issparse(block.errors) else max(1, CHUNK // block.errors.shape[1])
    if step >= block.n_rows:
        yield block
        return
    for start in range(0, block.n_rows, step):
        some = slice(start, min(start + step, block.n_rows))
        rows = slice(block.rows.start + some.start, block.rows.start + some.stop)
        parts = (block.true, block.pred, block.errors, block.wrong, block.n_observed, block.weights)
        true, pred, errors, wrong, n_observed, weights = (None if part is None else part[some] for part in parts)
        yield ErrorsOfRows(rows, true, pred, errors, wrong, n_observed, weights, block.scratch)


def parts_to_sort(block: ErrorsOfRows) -> Iterator[ErrorsOfRows]:
    """A block of dense scores in parts that are sorted once for several reasons; another one whole."""
    return chunks(block) if block.wrong is None and block.n_observed is None else iter([block])


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
