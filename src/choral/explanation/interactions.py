r"""How two labels interact in the loss: whether being wrong on both costs more than on each alone, or less.

The Shapley interaction index (Grabisch and Roubens, 1999) of the game of a row: what the second label changes in the
cost of the first, averaged over the sets of other labels that may be wrong as well. With the Moebius masses m of costs,

.. math:: I_{ij} = \sum_{T \ni i, j} \frac{m(T)}{|T| - 1}.

For a counting measure and two of e wrong labels it is (deficit(e) - deficit(e - 1) - deficit(1)) / (e - 1): 0 for
Hamming loss, negative where v is convex, since one mistake has spoilt the row already.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp

from choral._typing import FloatArray
from choral.explanation.error_blocks import ErrorsOfRows, chunks, columns
from choral.explanation.levels import parts_by_level
from choral.measures import ByCount, ByRelevance, Form, Measure, Table, Terms
from choral.measures.subsets import moebius_transform, set_sizes, zeta_transform

Pair = tuple[int, int]
MAX_RELEVANT_LABELS = 10  # measures that depend on the truth: a table of all label sets for each true one


def sum_interactions(
    block: ErrorsOfRows, measure: Measure, form: Form, pairs: Sequence[Pair], together: np.ndarray | None = None
) -> FloatArray:
    """The interaction of each pair of labels, added up over rows with their weights.

    ``together`` says in which rows both are wrong, for hard predictions, if it is known already.

    nan for more than 10 labels where the measure depends on the true labels: it is computed from all label sets.
    """
    total = np.zeros(len(pairs))
    if isinstance(form, ByRelevance) and form.n_labels > MAX_RELEVANT_LABELS:
        return np.full(len(pairs), np.nan)
    if isinstance(form, ByCount) and block.wrong is not None and block.n_observed is None:
        if together is None:
            first, second = np.array(pairs).T
            together = columns(block.errors, first) & columns(block.errors, second)
        return (block.row_weights() * _by_count(form, int(block.wrong.max()))[block.wrong]) @ together
    for part in chunks(block):
        total += part.row_weights() @ _interactions(part, measure, form, pairs)
    return total


def _interactions(block: ErrorsOfRows, measure: Measure, form: Form, pairs: Sequence[Pair]) -> FloatArray:
    """Of shape (n_rows, n_pairs)."""
    if isinstance(form, ByCount):
        if block.n_observed is None:
            return _at_smaller(block, partial(_by_count, form), pairs)
        found = np.zeros((block.n_rows, len(pairs)))
        for number in np.unique(block.n_observed[block.n_observed > 0]).tolist():
            some = np.flatnonzero(block.n_observed == number)
            of_number: ByCount = measure.on_observed(number).form(number)  # type: ignore[assignment]  # shares refused others
            wrong = None if block.wrong is None else block.wrong[some]
            part = replace(block, rows=slice(0, some.size), errors=block.errors[some], wrong=wrong)
            found[some] = _at_smaller(part, partial(_by_count, of_number), pairs)
        return found
    if isinstance(form, Terms):
        return _by_terms(block, form, pairs)
    true, errors = (part.toarray() if sp.issparse(part) else part for part in (block.true, block.errors))
    if isinstance(form, Table):
        return _by_table(errors.astype(float), form.values, pairs)
    return _by_relevance(true.astype(bool), errors.astype(float), form, pairs)


def _by_count(form: ByCount, max_wrong: int) -> FloatArray:
    """The interaction of two of j wrong labels, for j = 0, 1, ..., max_wrong."""
    deficits = form.deficits(max_wrong)
    table = np.zeros(deficits.size)
    if deficits.size > 2:
        table[2:] = (deficits[2:] - deficits[1:-1] - deficits[1]) / np.arange(1, deficits.size - 1)
    return table


def _at_smaller(block: ErrorsOfRows, parts: Callable[[int], FloatArray], pairs: Sequence[Pair]) -> FloatArray:
    """What both labels of a pair get at the levels that both are above: up to the smaller of their errors."""
    first, second = np.array(pairs).T
    a, b = columns(block.errors, first), columns(block.errors, second)
    if block.wrong is not None:
        return np.multiply(a & b, parts(int(block.wrong.max()))[block.wrong][:, np.newaxis], dtype=float)
    is_sparse = sp.issparse(block.errors)
    sums = parts_by_level(block.errors, None, parts, None if is_sparse else block.levels)
    return np.where(a <= b, columns(sums, first), columns(sums, second))  # both 0 where an error is


def _by_terms(block: ErrorsOfRows, form: Terms, pairs: Sequence[Pair]) -> FloatArray:
    """The largest error of j labels costs the same whatever j is: each pair of them interacts by -1 / (j - 1)."""
    found = np.zeros((block.n_rows, len(pairs)))
    for labels, mass in form.larger:
        places = {label: place for place, label in enumerate(labels)}
        inside = [number for number, pair in enumerate(pairs) if set(pair) <= set(labels)]
        if inside:
            errors = columns(block.errors, np.array(labels)).astype(float)
            part = ErrorsOfRows(slice(0, block.n_rows), None, None, errors, None, None, None)
            of_term = [(places[pairs[number][0]], places[pairs[number][1]]) for number in inside]
            found[:, inside] += mass * _at_smaller(part, _overlap, of_term)
    return found


def _overlap(n_labels: int) -> FloatArray:
    table = np.zeros(n_labels + 1)
    table[2:] = -1 / np.arange(1, n_labels)
    return table


def _by_relevance(true: np.ndarray, errors: FloatArray, form: ByRelevance, pairs: Sequence[Pair]) -> FloatArray:
    """A table of what all label sets are worth for each true label set, each by itself."""
    found = np.zeros((len(errors), len(pairs)))
    every = (np.arange(1 << form.n_labels)[:, np.newaxis] >> np.arange(form.n_labels) & 1).astype(bool)
    sets, group = np.unique(true, axis=0, return_inverse=True)
    for number, relevant in enumerate(sets):
        some = np.flatnonzero(group.ravel() == number)
        values = form.worth(every, np.broadcast_to(relevant, every.shape))
        found[some] = _by_table(errors[some], values, pairs)
    return found


def _by_table(errors: FloatArray, values: FloatArray, pairs: Sequence[Pair]) -> FloatArray:
    """The interaction of each pair at each level, from the masses of the costs of all sets."""
    masses = moebius_transform(1 - values[::-1])  # wrong on a set: right on all other labels
    indices = np.arange(values.size)
    masses /= np.maximum(set_sizes(errors.shape[1]) - 1, 1)
    order = np.argsort(-errors, axis=1, kind="stable")
    ordered = np.take_along_axis(errors, order, axis=1)
    steps = ordered - np.pad(ordered, ((0, 0), (0, 1)))[:, 1:]
    wrong = np.cumsum(1 << order, axis=1)
    found = np.empty((len(errors), len(pairs)))
    for place, (first, second) in enumerate(pairs):
        both = 1 << first | 1 << second
        table = zeta_transform(np.where(indices & both == both, masses, 0.0))
        found[:, place] = (steps * table[wrong]).sum(axis=1)
    return found
