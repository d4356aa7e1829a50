"""The errors of all labels of rows, block by block: what shares and pairs are made of."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from choral._array_api import to_host
from choral.explanation.levels import Errors
from choral.rows import Rows
from choral.rows.dense import count_rows
from choral.rows.label_errors import label_errors

CHUNK = 1 << 17  # errors of scores that are sorted at a time


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
    """A dense block in parts that sorting likes; a sparse one whole."""
    step = block.n_rows if sp.issparse(block.errors) else max(1, CHUNK // block.errors.shape[1])
    for start in range(0, block.n_rows, step):
        some = slice(start, min(start + step, block.n_rows))
        parts = [None if part is None else part[some] for part in block[1:]]
        yield some, ErrorsOfRows(some, *parts)
