"""Scores level by level: at each level, the labels whose errors are above it share what it costs.

Between two neighbouring errors of a row, the same labels are above the level: a row has as many steps as labels.
"""

from collections.abc import Callable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.measures import ByCount

MAX_LABEL_BITS = 10  # of the 52 bits of an error: up to 1024 labels

Errors = Any  # (n_rows, n_labels): booleans for hard predictions, else floats; or CSR of either


class Scratch:
    """Memory that arrays of a walk over rows use again and again, each under a name of its own.

    Fresh memory for each part of the rows takes longer than what is computed in it: three times, in a new process.

    Examples
    --------
    >>> scratch = Scratch()
    >>> first = scratch.array("sums", (2, 3))
    >>> np.shares_memory(first, scratch.array("sums", (1, 3))), np.shares_memory(first, scratch.array("steps", (1, 3)))
    (True, False)
    """

    def __init__(self) -> None:
        self._memory: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any = float) -> Any:
        """An array with arbitrary values, which are lost when the name is asked for again."""
        size = prod(shape)
        memory = self._memory.get(name)
        if memory is None or memory.size < size:
            memory = self._memory[name] = np.empty(size, dtype)
        return memory[:size].reshape(shape)


class Levels:
    """The errors of dense rows, sorted: a row for each level, from the smallest error up, and a column for each row.

    Adding up whole rows of levels takes a quarter of the time of `numpy.cumsum`. All arrays are in ``scratch``: they
    hold until other errors are sorted, or other sums are made, with the same one.

    Attributes
    ----------
    labels : ndarray of shape (n_labels, n_rows)
        The label whose error ends each level.
    steps : ndarray of shape (n_labels, n_rows)
        How much that error exceeds the one before.
    """

    def __init__(self, errors: FloatArray, scratch: Scratch | None = None):
        n_rows, n_labels = errors.shape
        self._scratch = Scratch() if scratch is None else scratch
        array = self._scratch.array
        order = _order_of(errors, self._scratch).T
        self.labels = array("labels", order.shape, np.int32)
        self.labels[:] = order
        # Places in the flat matrix: np.take is five times as quick as np.take_along_axis.
        self._places = np.add(order, n_labels * np.arange(n_rows), out=array("places", order.shape, np.int64))
        ordered = array("ordered", order.shape)
        np.ascontiguousarray(errors).ravel().take(self._places, out=ordered, mode="clip")  # raise would need a copy
        self.steps = array("steps", order.shape)
        self.steps[0] = ordered[0]
        np.subtract(ordered[1:], ordered[:-1], out=self.steps[1:])

    def running_sums(self, tables: FloatArray, weights: FloatArray | None = None) -> FloatArray:
        """What the label at each level gets if all labels above a level get ``table[j]``, j their number.

        Parameters
        ----------
        tables : ndarray of shape (n_tables, n)
            For 0, 1, ..., n - 1 labels; 0 for more.
        weights : ndarray of shape (n_rows,), optional
            By which rows are multiplied.

        Returns
        -------
        sums : ndarray of shape (n_tables, n_labels, n_rows)
        """
        n_labels = len(self.steps)
        # All labels are above the lowest level, a single one is above the last.
        by_level = np.zeros((len(tables), n_labels))
        by_level[:, n_labels + 1 - tables.shape[1] :] = tables[:, :0:-1]
        array = self._scratch.array
        steps = self.steps
        if weights is not None:
            steps = np.multiply(steps, weights, out=array("weighted", steps.shape))
        sums = array("sums", (len(tables), *steps.shape))
        np.multiply(steps, by_level[:, :, np.newaxis], out=sums)
        for of_table in sums:
            levels = list(of_table)  # rows taken out once: half of the time of this loop would go into indexing
            for below, level in pairwise(levels):
                np.add(below, level, out=level)
        return sums

    def label_sums(self, running: FloatArray) -> FloatArray:
        """Sums over rows for each label, of shape (n_tables, n_labels).

        By sparse products, which add up twice as quickly as `numpy.bincount`.
        """
        _, n_labels, n_rows = running.shape
        starts = np.arange(0, (n_labels + 1) * n_rows, n_rows, dtype=np.int32)
        places = sp.csc_array((running[0].ravel(), self.labels.ravel(), starts), (n_labels, n_labels))
        found, ones = np.empty(running.shape[:2]), np.ones(n_labels)
        for table, sums in enumerate(running):
            places.data = sums.ravel()
            found[table] = places @ ones
        return found

    def by_label(self, running: FloatArray) -> FloatArray:
        """Running sums of one table, (n_labels, n_rows), at the labels that they belong to: (n_rows, n_labels)."""
        found = self._scratch.array("found", (running.size,))
        found[self._places] = running
        return found.reshape(running.shape[::-1])


def _order_of(errors: FloatArray, scratch: Scratch) -> np.ndarray:
    """The order of the errors within each row, up to about 2e-13 of their size.

    The number of the label takes the place of the last bits of its error: sorting numbers is three times as quick as
    sorting places. Errors that are equal but for these bits change places, which changes shares by less than 1e-12.
    """
    n_bits = (errors.shape[1] - 1).bit_length()
    if n_bits > MAX_LABEL_BITS:
        return np.argsort(errors, axis=1)
    shift, keys = np.uint64(n_bits), scratch.array("keys", errors.shape, np.uint64)
    np.right_shift(errors.view(np.uint64), shift, out=keys)  # of numbers from 0 on, the bits are in the same order
    keys <<= shift
    keys |= np.arange(errors.shape[1], dtype=np.uint64)
    keys.sort(axis=1)
    keys &= np.uint64((1 << n_bits) - 1)
    return keys.view(np.int64)


def even_parts(form: ByCount, max_wrong: int) -> FloatArray:
    """deficit(e) / e for e = 0, 1, ..., max_wrong: what each of e wrong labels costs; 0 for none."""
    deficits = form.deficits(max_wrong)
    return deficits / np.maximum(np.arange(deficits.size), 1)


def parts_by_level(
    errors: Errors, wrong: np.ndarray | None, parts: Callable[[int], np.ndarray], levels: Levels | None = None
) -> Any:
    """What each label gets if at every level all labels with errors above it get ``parts(n)[j]``, j their number.

    ``parts(n)`` is a table for 0, 1, ..., n labels (or fewer, if there are no more). Where ``wrong`` counts the wrong
    labels of hard predictions, there is one level. ``levels`` are the errors of dense scores, where they are sorted
    already.

    Examples
    --------
    >>> parts_by_level(np.array([[0.9, 0.2, 0.5]]), None, lambda n: np.array([0, 1, 0.5, 0.25])).round(3)
    array([[0.6 , 0.05, 0.2 ]])
    """
    if sp.issparse(errors):
        return _sparse_parts_by_level(errors, wrong, parts)
    if wrong is not None:
        return errors * parts(int(wrong.max()))[wrong][:, np.newaxis]
    levels = Levels(errors) if levels is None else levels
    return levels.by_label(levels.running_sums(parts(errors.shape[1])[np.newaxis])[0])


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
