"""Errors level by level: what labels get if those with errors above a level share what the level costs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.measures import ByCount

Errors = Any  # (n_rows, n_labels): booleans for hard predictions, else floats; or CSR of floats


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
    n_labels = errors.shape[1]
    table = parts(n_labels)
    order = np.argsort(errors, axis=1)
    steps = np.diff(np.take_along_axis(errors, order, axis=1), axis=1, prepend=0.0)
    steps *= np.pad(table, (0, n_labels + 1 - table.size))[:0:-1]  # all labels are above the lowest level
    sums = np.empty_like(steps)
    np.put_along_axis(sums, order, np.cumsum(steps, axis=1), axis=1)
    return sums


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
