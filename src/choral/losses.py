r"""Losses on (y_true, y_pred): one minus the Choquet integral of label-wise correctness.

.. math:: \ell(y, s) = 1 - C_\mu(u), \quad u_i = 1 - |s_i - y_i|

All follow scikit-learn's conventions: true labels first, options by keyword, the mean over rows as a float. They take
lists, arrays of any numeric or bool dtype, pandas frames and SciPy sparse matrices on either side; predictions are
hard labels or scores in [0, 1]. Torch tensors, CuPy and JAX arrays are reduced where they are.
"""

import math
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from choral._array_api import (
    Array,
    as_real,
    concatenate,
    first_foreign,
    is_foreign,
    look_up,
    rows_times,
    to_library_of,
    xp_of,
)
from choral._validation import Labels
from choral.integrals import add_steps
from choral.measures import (
    BinomialMeasure,
    ByCount,
    ByRelevance,
    CountingMeasure,
    CoveringMeasure,
    Form,
    HammingMeasure,
    Measure,
    PolynomialMeasure,
    SubsetMeasure,
    Table,
    Terms,
    check_measure,
)
from choral.measures.moebius import label_set, set_weights
from choral.rows.array_checks import check_pair, check_row_weights
from choral.rows.array_pairs import array_row_sums
from choral.rows.blocks import CorrectBlock
from choral.rows.pairs import correct_blocks, error_blocks
from choral.rows.ranks import rank_averages

Reduction = Literal["mean", "none"]


@np.errstate(under="ignore")  # weights below 1e-308 times errors
def choquet_loss(
    y_true: Any,
    y_pred: Any,
    measure: Measure,
    *,
    sample_weight: Any = None,
    reduction: Reduction = "mean",
) -> Any:
    r"""One minus the Choquet integral of label-wise correctness, for any measure.

    Parameters
    ----------
    y_true : array-like, array on any device or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : array-like, array on any device or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, or scores in [0, 1].
    measure : Measure
        What it is worth to be right on a set of labels.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right. The array is of the library, and on the device, of the predictions or
        the true labels; NumPy's otherwise.

    Examples
    --------
    >>> from choral import MoebiusMeasure
    >>> together = MoebiusMeasure({(0, 1): 0.5, (2,): 0.5})  # labels 0 and 1 count only together
    >>> choquet_loss([[1, 1, 1], [1, 1, 1]], [[1, 0, 1], [1, 1, 0]], together)
    0.5
    """
    matrices, weights = _check(y_true, y_pred, measure, sample_weight, reduction)
    rows = concatenate(_row_losses(*matrices, measure.form(matrices[0].shape[1])))
    rows = xp_of(rows).clip(rows, 0, 1)  # sums of weights may be 1 but for rounding
    return _reduce(rows, weights, reduction, first_foreign(y_pred, y_true))


def binomial_loss(y_true: Any, y_pred: Any, k: int, *, sample_weight: Any = None, reduction: Reduction = "mean") -> Any:
    """For hard predictions, the probability that a random set of k labels contains a mistake.

    ``k=1`` is the Hamming loss, ``k=n_labels`` the subset 0/1 loss. Parameters as in `choquet_loss`.

    Examples
    --------
    One mistake among four labels is in half of the six pairs:

    >>> binomial_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]], k=2)
    0.5
    """
    return choquet_loss(y_true, y_pred, BinomialMeasure(k), sample_weight=sample_weight, reduction=reduction)


def polynomial_loss(
    y_true: Any, y_pred: Any, alpha: float, *, sample_weight: Any = None, reduction: Reduction = "mean"
) -> Any:
    """For hard predictions with e of K labels wrong, ``1 - (1 - e / K) ** alpha``.

    ``alpha=1`` is the Hamming loss, ``alpha=inf`` the subset 0/1 loss. Parameters as in `choquet_loss`.

    Examples
    --------
    >>> polynomial_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]], alpha=2)
    0.4375
    """
    return choquet_loss(y_true, y_pred, PolynomialMeasure(alpha), sample_weight=sample_weight, reduction=reduction)


def hamming_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None, reduction: Reduction = "mean") -> Any:
    """The mean error over all labels; parameters as in `choquet_loss`.

    Examples
    --------
    >>> hamming_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    0.25
    >>> hamming_loss([[1, 0]], [[0.5, 0.5]])
    0.5
    """
    return choquet_loss(y_true, y_pred, HammingMeasure(), sample_weight=sample_weight, reduction=reduction)


def subset_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None, reduction: Reduction = "mean") -> Any:
    """The largest error in a row: subset 0/1 loss for hard predictions; parameters as in `choquet_loss`.

    Examples
    --------
    >>> subset_loss([[1, 0, 0, 1], [0, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]])
    0.5
    """
    return choquet_loss(y_true, y_pred, SubsetMeasure(), sample_weight=sample_weight, reduction=reduction)


def owa_loss(
    y_true: Any, y_pred: Any, weights: Any, *, sample_weight: Any = None, reduction: Reduction = "mean"
) -> Any:
    r"""Ordered weighted average of the label-wise errors.

    .. math:: \ell = \sum_{i=1}^{K} w_i \, e_{[i]}, \quad e_{[1]} \ge \dots \ge e_{[K]},
        \quad e_i = |y_i - s_i|

    Parameters
    ----------
    weights : array-like of shape (n_labels,)
        The weight of the largest error first; non-negative, summing to 1.
    y_true, y_pred, sample_weight, reduction
        As in `choquet_loss`.

    Examples
    --------
    >>> y_true, y_pred = [[0, 1, 1]], [[0.2, 0.3, 0.9]]
    >>> round(owa_loss(y_true, y_pred, weights=[1, 0, 0]), 3)  # the largest error alone
    0.7
    >>> round(owa_loss(y_true, y_pred, weights=[0.5, 0.3, 0.2]), 3)
    0.43
    """
    measure = CountingMeasure.from_weights(weights)
    n_labels = check_pair(y_true, y_pred)[0].shape[1]
    if np.size(weights) != n_labels:
        raise ValueError(f"weights must have one entry for each of {n_labels} labels; got {np.size(weights)}.")
    return choquet_loss(y_true, y_pred, measure, sample_weight=sample_weight, reduction=reduction)


@np.errstate(under="ignore")
def covering_loss(
    y_true: Any,
    y_pred: Any,
    label_sets: Iterable[int | Iterable[int]],
    *,
    weights: Any = None,
    normalize: bool = True,
    sample_weight: Any = None,
    reduction: Reduction = "mean",
) -> Any:
    """Subset 0/1 losses on a family of label sets: their weighted mean, or their sum as in the paper.

    Parameters
    ----------
    label_sets : iterable of sets of labels
        Tuples or frozensets of label indices (or one index).
    weights : array-like of shape (n_sets,), optional
        How much each set counts; 1 unless given.
    normalize : bool
        Whether to divide by the sum of the weights; False gives the paper's plain sum.
    y_true, y_pred, sample_weight, reduction
        As in `choquet_loss`.

    Examples
    --------
    >>> pairs = [(0, 1), (1, 2), (2, 3)]
    >>> covering_loss([[1, 1, 1, 1]], [[1, 0, 1, 1]], label_sets=pairs, normalize=False)
    2.0
    """
    if isinstance(label_sets, Measure):
        raise TypeError("label_sets must be sets of labels, not a measure: that goes into choquet_loss.")
    sets = [label_set(labels) for labels in label_sets]
    measure = CoveringMeasure(sets, weights)
    if normalize:
        return choquet_loss(y_true, y_pred, measure, sample_weight=sample_weight, reduction=reduction)
    matrices, row_weights = _check(y_true, y_pred, measure, sample_weight, reduction)
    form = measure.form(matrices[0].shape[1])
    total = math.fsum(set_weights(sets, weights))
    terms = Terms(total * form.singles, tuple((labels, total * mass) for labels, mass in form.larger))
    rows = concatenate(_row_losses(*matrices, terms))
    return _reduce(rows, row_weights, reduction, first_foreign(y_pred, y_true))


@np.errstate(under="ignore")
def f_loss(y_true: Any, y_pred: Any, *, sample_weight: Any = None, reduction: Reduction = "mean") -> Any:
    r"""One minus the F measure of each row; 0 where truth and prediction are both empty.

    .. math:: 1 - \frac{2 \sum_i y_i s_i}{\sum_i y_i + \sum_i s_i} = \frac{\sum_i |y_i - s_i|}{\sum_i y_i + \sum_i s_i}

    The F measure is no Choquet integral of correctness: it is here because people compare with it. Parameters as in
    `choquet_loss`.

    Examples
    --------
    >>> f_loss([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], reduction="none").round(3)
    array([0.333, 0.   ])
    """
    (true, pred), weights = _check_data(y_true, y_pred, sample_weight, reduction)
    errors = concatenate(
        as_real(wrong) if wrong is not None else _row_sums(some) for _, wrong, some in error_blocks(true, pred)
    )
    positives = to_library_of(_row_sums(true), errors) + to_library_of(_row_sums(pred), errors)
    xp = xp_of(errors)
    rows = errors / xp.where(positives > 0, positives, xp.ones_like(positives))
    rows = xp.clip(rows, 0, 1)  # two sums of the same scores may round differently
    return _reduce(rows, weights, reduction, first_foreign(y_pred, y_true))


def _check(
    y_true: Any, y_pred: Any, measure: Any, sample_weight: Any, reduction: str
) -> tuple[tuple[Labels, Labels], Array | None]:
    """All that can be checked before the values."""
    matrices, weights = _check_data(y_true, y_pred, sample_weight, reduction)
    check_measure(measure)
    return matrices, weights


def _check_data(
    y_true: Any, y_pred: Any, sample_weight: Any, reduction: str
) -> tuple[tuple[Labels, Labels], Array | None]:
    matrices = check_pair(y_true, y_pred)
    if reduction not in ("mean", "none"):
        raise ValueError(f"reduction must be 'mean' or 'none'; got {reduction!r}.")
    return matrices, check_row_weights(sample_weight, matrices)


def _row_losses(y_true: Labels, y_pred: Labels, form: Form) -> Iterator[Array]:
    """The losses of the rows, block by block, by the form of a measure."""
    if isinstance(form, ByCount):
        return _ordered_averages(y_true, y_pred, form)
    if isinstance(form, Terms):
        return _sums_of_largest_errors(y_true, y_pred, form)
    return (1 - _integrals(block, form) for block in correct_blocks(y_true, y_pred))


def _ordered_averages(y_true: Labels, y_pred: Labels, form: ByCount) -> Iterator[Array]:
    for _, wrong, errors in error_blocks(y_true, y_pred):
        if wrong is not None:
            yield look_up(form.deficits(int(xp_of(wrong).max(wrong))), wrong)
        else:
            yield rank_averages(errors, form.weights)


def _sums_of_largest_errors(y_true: Labels, y_pred: Labels, form: Terms) -> Iterator[Array]:
    """Sum of m(T) * max of the errors in T: as 1 - sum of m(T) * min of u, but exactly 0 where nothing is wrong."""
    carriers = sorted({label for labels, _ in form.larger for label in labels})
    for _, _, errors in error_blocks(y_true, y_pred, count=False):
        losses = rows_times(errors, form.singles)
        columns = dict(zip(carriers, _columns(errors, carriers), strict=True))
        for labels, mass in form.larger:
            losses = losses + mass * reduce(xp_of(losses).maximum, [columns[label] for label in labels])
        yield losses


def _columns(errors: Any, labels: list[int]) -> Iterable[Array]:
    return errors[:, labels].toarray().T if sp.issparse(errors) else (errors[:, label] for label in labels)


def _integrals(block: CorrectBlock, form: Table | ByRelevance) -> Array:
    truth = (block.true,) if isinstance(form, ByRelevance) else ()
    if block.is_hard:
        return form.worth(block.correct, *truth)
    order = xp_of(block.correct).argsort(block.correct, axis=1)
    return add_steps(block.correct, order, form.nested_worths(order, *truth))


def _reduce(rows: Array, weights: Array | None, reduction: str, like: Array | None) -> Any:
    """Their mean, or the losses themselves, in the library of an array that the user passed in."""
    if reduction == "none":
        return to_library_of(rows, like)
    if not is_foreign(rows):
        return float(np.average(rows, weights=weights))
    xp = xp_of(rows)
    return float(xp.mean(rows) if weights is None else xp.sum(rows * weights) / xp.sum(weights))


def _row_sums(matrix: Labels) -> Array:
    if is_foreign(matrix):
        return concatenate(array_row_sums(matrix))
    return np.asarray(matrix.sum(axis=1, dtype=float)).ravel()
