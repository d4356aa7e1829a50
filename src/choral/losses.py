r"""Losses on (y_true, y_pred): one minus the Choquet integral of label-wise correctness.

.. math:: \ell(y, s) = 1 - C_\mu(u), \quad u_i = 1 - |s_i - y_i|

All follow scikit-learn's conventions: true labels first, options by keyword, the mean over rows as a float. They take
whatever the door of `choral.rows` takes: lists, arrays of any numeric or bool dtype, frames, sparse matrices, arrays on
a device and Dask arrays, which are reduced where they are. Predictions are hard labels or scores in [0, 1].
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from choral._array_api import (
    Array,
    as_real,
    concatenate,
    first_foreign,
    is_foreign,
    look_up,
    rows_times,
    to_host,
    to_library_of,
    xp_of,
)
from choral._typing import FloatArray, LabelMatrix, RowWeights
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
from choral.overlap import AnyLoss, FLoss, JaccardLoss, OverlapLoss
from choral.rows import CorrectBlock, PairBlock, Rows, add_up, open_rows
from choral.rows.dense import count_rows
from choral.rows.ranks import rank_averages

Reduction = Literal["mean", "none"]
Loss = Any  # a float for the mean; for "none" an array of floats of the library and on the device of the data


@np.errstate(under="ignore")  # weights below 1e-308 times errors
def choquet_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    measure: Measure,
    *,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""One minus the Choquet integral of label-wise correctness, for any measure.

    .. math:: \ell = 1 - \sum_{i=1}^{K} (u_{(i)} - u_{(i-1)}) \, \mu(A_{(i)}), \quad u_i = 1 - |y_i - s_i|

    where :math:`0 = u_{(0)} \le u_{(1)} \le \dots \le u_{(K)}` are the values in increasing order and :math:`A_{(i)}`
    is the set of labels whose value is at least :math:`u_{(i)}`.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: a row is judged by its known
        labels, and left out of the mean where none is known (see `ObservedProfile`).
    y_pred : likewise
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

    See Also
    --------
    choquet_integral : The Choquet integral, in the sorted form.
    loss_curve : The loss along a family of measures.
    bayes_optimal : The prediction with the least expected loss.

    Examples
    --------
    >>> from choral import MoebiusMeasure
    >>> together = MoebiusMeasure({(0, 1): 0.5, (2,): 0.5})  # labels 0 and 1 count only together
    >>> choquet_loss([[1, 1, 1], [1, 1, 1]], [[1, 0, 1], [1, 1, 0]], together)
    0.5
    """
    check_measure(measure)
    rows = open_rows(y_true, y_pred, sample_weight=sample_weight)
    if not rows.is_lazy:
        measure.form(rows.n_labels)  # refuses what does not fit before any row is read
    return _reduce(rows, partial(choquet_rows, measure=measure), reduction, first_foreign(y_pred, y_true))


def binomial_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    k: int,
    *,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""For hard predictions, the probability that a random set of k labels contains a mistake.

    .. math:: \ell = 1 - \binom{K - e}{k} \Big/ \binom{K}{k}

    with e of K labels wrong. ``k=1`` is the Hamming loss, ``k=n_labels`` the subset 0/1 loss. For scores it is an
    ordered weighted average of the errors: see `BinomialMeasure`.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: see `choquet_loss`.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    k : int
        The size of the label sets, from 1 to the number of labels.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    polynomial_loss : The share of right labels to a power.
    loss_curve : The loss along a family of measures.
    BinomialMeasure : Sets of k labels must be right.

    Examples
    --------
    One mistake among four labels is in half of the six pairs:

    >>> binomial_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]], k=2)
    0.5
    """
    return choquet_loss(y_true, y_pred, BinomialMeasure(k), sample_weight=sample_weight, reduction=reduction)


def polynomial_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    alpha: float,
    *,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""For hard predictions with e of K labels wrong, ``1 - (1 - e / K) ** alpha``.

    .. math:: \ell = 1 - \Big( 1 - \frac{e}{K} \Big)^{\alpha}

    ``alpha=1`` is the Hamming loss, ``alpha=inf`` the subset 0/1 loss. For scores it is an ordered weighted average of
    the errors: see `PolynomialMeasure`.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: see `choquet_loss`.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    alpha : float
        The exponent, at least 1; ``inf`` is allowed.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    binomial_loss : A random set of k labels must be right.
    loss_curve : The loss along a family of measures.
    PolynomialMeasure : The share of right labels to a power.

    Examples
    --------
    >>> polynomial_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]], alpha=2)
    0.4375
    """
    return choquet_loss(y_true, y_pred, PolynomialMeasure(alpha), sample_weight=sample_weight, reduction=reduction)


def hamming_loss(
    y_true: LabelMatrix, y_pred: LabelMatrix, *, sample_weight: RowWeights | None = None, reduction: Reduction = "mean"
) -> Loss:
    r"""The mean error over all labels.

    .. math:: \ell = \frac{1}{K} \sum_{i=1}^{K} |y_i - s_i|

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: see `choquet_loss`.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    subset_loss : All labels must be right.
    binomial_loss : A random set of k labels must be right.
    HammingMeasure : Each label counts alone.
    sklearn.metrics.hamming_loss : The same for hard labels.

    Examples
    --------
    >>> hamming_loss([[1, 0, 0, 1]], [[1, 0, 0, 0]])
    0.25
    >>> hamming_loss([[1, 0]], [[0.5, 0.5]])
    0.5
    """
    return choquet_loss(y_true, y_pred, HammingMeasure(), sample_weight=sample_weight, reduction=reduction)


def subset_loss(
    y_true: LabelMatrix, y_pred: LabelMatrix, *, sample_weight: RowWeights | None = None, reduction: Reduction = "mean"
) -> Loss:
    r"""The largest error in a row: subset 0/1 loss for hard predictions.

    .. math:: \ell = \max_i |y_i - s_i|

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: see `choquet_loss`.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    hamming_loss : Each label counts alone.
    binomial_loss : A random set of k labels must be right.
    SubsetMeasure : All labels must be right.
    sklearn.metrics.zero_one_loss : The same for hard labels.

    Examples
    --------
    >>> subset_loss([[1, 0, 0, 1], [0, 1, 0, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]])
    0.5
    """
    return choquet_loss(y_true, y_pred, SubsetMeasure(), sample_weight=sample_weight, reduction=reduction)


def owa_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    weights: ArrayLike,
    *,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""Ordered weighted average of the label-wise errors.

    .. math:: \ell = \sum_{i=1}^{K} w_i \, e_{[i]}, \quad e_{[1]} \ge \dots \ge e_{[K]},
        \quad e_i = |y_i - s_i|

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1. Under a counting measure, nan where a label is missing: see `choquet_loss`.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    weights : array-like of shape (n_labels,)
        The weight of the largest error first; non-negative, summing to 1.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    choquet_loss : The loss of any measure.
    CountingMeasure : Any function of the number of right labels.

    Examples
    --------
    The example of the paper, with errors of 0.7, 0.4, 0.3, 0.2, 0.1 and 0.1:

    >>> y_true, y_pred = [[0, 1, 1, 0, 0, 0]], [[0.2, 0.3, 0.9, 0.1, 0.4, 0.3]]
    >>> round(owa_loss(y_true, y_pred, weights=[1 / 6] * 6), 2)  # all errors alike: Hamming loss
    0.3
    >>> round(owa_loss(y_true, y_pred, weights=[1, 0, 0, 0, 0, 0]), 2)  # the largest error alone: subset 0/1 loss
    0.7
    >>> round(owa_loss(y_true, y_pred, weights=[5 / 15, 4 / 15, 3 / 15, 2 / 15, 1 / 15, 0]), 2)  # binomial, k = 2
    0.43
    """
    measure = CountingMeasure.from_weights(weights)
    n_labels = open_rows(y_true, y_pred).n_labels
    if np.size(weights) != n_labels:
        raise ValueError(f"weights must have one entry for each of {n_labels} labels; got {np.size(weights)}.")
    return choquet_loss(y_true, y_pred, measure, sample_weight=sample_weight, reduction=reduction)


@np.errstate(under="ignore")
def covering_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    label_sets: Iterable[int | Iterable[int]],
    *,
    weights: ArrayLike | None = None,
    normalize: bool = True,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""Subset 0/1 losses on a family of label sets: their weighted mean, or their sum as in the paper.

    .. math:: \ell = \frac{\sum_j w_j \max_{i \in A_j} |y_i - s_i|}{\sum_j w_j}

    for the label sets :math:`A_j` with the weights :math:`w_j`.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    label_sets : iterable of sets of labels
        Tuples or frozensets of label indices (or one index).
    weights : array-like of shape (n_sets,), optional
        How much each set counts; 1 unless given.
    normalize : bool
        Whether to divide by the sum of the weights; False gives the paper's plain sum.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1], or for a plain sum between 0 and the sum of the weights; 0 where every label is right.

    See Also
    --------
    choquet_loss : The loss of any measure.
    CoveringMeasure : Given sets of labels must be right.

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
    total = math.fsum(set_weights(sets, weights))
    rows = open_rows(y_true, y_pred, sample_weight=sample_weight)
    return _reduce(
        rows, partial(_covering_rows, measure=measure, total=total), reduction, first_foreign(y_pred, y_true)
    )


def f_loss(
    y_true: LabelMatrix,
    y_pred: LabelMatrix,
    *,
    beta: float = 1.0,
    sample_weight: RowWeights | None = None,
    reduction: Reduction = "mean",
) -> Loss:
    r"""One minus the F measure of each row; 0 where truth and prediction are both empty.

    .. math:: 1 - \frac{(1 + \beta^2) \sum_i y_i s_i}{\beta^2 \sum_i y_i + \sum_i s_i}

    The F measure is no Choquet integral of correctness: it is here because people compare with it.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    beta : float
        How much recall counts beside precision, between 0.001 and 1000.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    jaccard_loss : One minus the Jaccard index of each row.
    FLoss : The F measure as a loss to decide for.
    AveragedFLoss : The F measure over all rows, micro or macro.
    sklearn.metrics.f1_score : The F measure, ``average="samples"``.

    Examples
    --------
    >>> f_loss([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], reduction="none").round(3)
    array([0.333, 0.   ])
    """
    return _overlap_loss(y_true, y_pred, FLoss(beta), sample_weight, reduction)


def jaccard_loss(
    y_true: LabelMatrix, y_pred: LabelMatrix, *, sample_weight: RowWeights | None = None, reduction: Reduction = "mean"
) -> Loss:
    r"""One minus the Jaccard index of each row; 0 where truth and prediction are both empty.

    .. math:: 1 - \frac{\sum_i y_i s_i}{\sum_i y_i + \sum_i s_i - \sum_i y_i s_i}

    Like the F measure it is no Choquet integral of correctness.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1.
    y_pred : likewise
        Predicted labels, or scores in [0, 1].
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in the mean.
    reduction : {"mean", "none"}
        ``"none"`` gives one value a row.

    Returns
    -------
    loss : float, or array of shape (n_samples,)
        In [0, 1]; 0 where every label is right.

    See Also
    --------
    f_loss : One minus the F measure of each row.
    JaccardLoss : The Jaccard index as a loss to decide for.
    AveragedJaccardLoss : The Jaccard index over all rows, micro or macro.
    sklearn.metrics.jaccard_score : The Jaccard index, ``average="samples"``.

    Examples
    --------
    >>> jaccard_loss([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]], reduction="none")
    array([0.5, 0. ])
    """
    return _overlap_loss(y_true, y_pred, JaccardLoss(), sample_weight, reduction)


def mean_loss(
    y_true: LabelMatrix, y_pred: LabelMatrix, measure: AnyLoss, *, sample_weight: RowWeights | None = None
) -> float:
    """The mean over rows of the loss that a measure, `FLoss` or `JaccardLoss` defines."""
    if isinstance(measure, OverlapLoss):
        return _overlap_loss(y_true, y_pred, measure, sample_weight, "mean")
    return choquet_loss(y_true, y_pred, measure, sample_weight=sample_weight)


@np.errstate(under="ignore")
def _overlap_loss(
    y_true: LabelMatrix, y_pred: LabelMatrix, loss: OverlapLoss, sample_weight: RowWeights | None, reduction: Reduction
) -> Loss:
    rows = open_rows(y_true, y_pred, sample_weight=sample_weight)
    return _reduce(rows, partial(_overlap_rows, loss=loss), reduction, first_foreign(y_pred, y_true))


# The losses of rows in memory, block by block


def choquet_rows(rows: Rows, measure: Measure) -> Iterator[Array]:
    for losses in _row_losses(rows, measure, measure.form(rows.n_labels)):
        yield xp_of(losses).clip(losses, 0, 1)  # sums of weights may be 1 but for rounding


def _covering_rows(rows: Rows, measure: CoveringMeasure, total: float) -> Iterator[Array]:
    form = measure.form(rows.n_labels)
    plain = Terms(total * form.singles, tuple((labels, total * mass) for labels, mass in form.larger))
    return _row_losses(rows, measure, plain)


def _overlap_rows(rows: Rows, loss: OverlapLoss) -> Iterator[Array]:
    form = loss.form(rows.n_labels)
    for block in rows.pair_blocks():
        yield _leave_out(form.losses(*_overlap(block)), block.n_observed)


def _overlap(block: PairBlock) -> tuple[Array, Array, Array]:
    """How many labels of each row are right, extra and missed; of scores, to what degree."""
    if block.is_hard and isinstance(block.true, np.ndarray):
        true, pred = (np.ascontiguousarray(labels, dtype=bool) for labels in (block.true, block.pred))
        right, predicted, relevant = (count_rows(flags).astype(float) for flags in (true & pred, pred, true))
        return right, predicted - right, relevant - right
    true, pred = as_real(block.true), as_real(block.pred)
    both = true.multiply(pred) if sp.issparse(true) else true * pred
    return _row_sums(both), _row_sums(pred - both), _row_sums(true - both)


def _row_losses(rows: Rows, measure: Measure, form: Form) -> Iterator[Array]:
    """The losses of the rows by the form of a measure."""
    if isinstance(form, ByCount):
        return _ordered_averages(rows, measure, form)
    if isinstance(form, Terms):
        return _sums_of_largest_errors(rows, measure, form)
    return (1 - _integrals(block, measure, form) for block in rows.correct_blocks())


def _ordered_averages(rows: Rows, measure: Measure, form: ByCount) -> Iterator[Array]:
    for _, wrong, errors, n_observed in rows.error_blocks():
        if n_observed is not None:
            yield _averages_of_observed(measure, wrong, errors, n_observed)
        elif wrong is not None:
            yield look_up(form.deficits(int(xp_of(wrong).max(wrong))), wrong)
        else:
            yield rank_averages(errors, form.weights)


def _averages_of_observed(measure: Measure, wrong: Array | None, errors: Any, n_observed: Array) -> Array:
    """Losses of rows by their known labels, each number of them by itself; nan where none is known."""
    like = first_foreign(n_observed)
    n_observed, wrong, errors = (to_host(part) for part in (n_observed, wrong, errors))
    losses = np.full(n_observed.size, np.nan)
    for number in np.unique(n_observed[n_observed > 0]).tolist():
        form, some = measure.on_observed(number).form(number), n_observed == number
        if not isinstance(form, ByCount):
            raise no_loss_of_observed(measure)
        if wrong is not None:
            losses[some] = form.deficits()[wrong[some]]
        else:
            losses[some] = rank_averages(errors[some], partial(_padded_weights, form))
    return losses if like is None else to_library_of(losses, like)


def _padded_weights(form: ByCount, n_ranks: int) -> np.ndarray:
    weights = form.weights(n_ranks)
    return np.pad(weights, (0, n_ranks - weights.size))  # the other ranks are of labels that are not known


def _sums_of_largest_errors(rows: Rows, measure: Measure, form: Terms) -> Iterator[Array]:
    """Sum of m(T) * max of the errors in T: as 1 - sum of m(T) * min of u, but exactly 0 where nothing is wrong."""
    carriers = sorted({label for labels, _ in form.larger for label in labels})
    for _, _, errors, n_observed in rows.error_blocks(count=False):
        if n_observed is not None:
            raise no_loss_of_observed(measure)
        losses = rows_times(errors, form.singles)
        columns = dict(zip(carriers, _columns(errors, carriers), strict=True))
        for labels, mass in form.larger:
            losses = losses + mass * reduce(xp_of(losses).maximum, [columns[label] for label in labels])
        yield losses


def _columns(errors: Any, labels: list[int]) -> Iterable[Array]:
    return errors[:, labels].toarray().T if sp.issparse(errors) else (errors[:, label] for label in labels)


def _integrals(block: CorrectBlock, measure: Measure, form: Table | ByRelevance) -> Array:
    if block.n_observed is not None:
        raise no_loss_of_observed(measure)
    truth = (block.true,) if isinstance(form, ByRelevance) else ()
    if block.is_hard:
        return form.worth(block.correct, *truth)
    order = xp_of(block.correct).argsort(block.correct, axis=1)
    return add_steps(block.correct, order, form.nested_worths(order, *truth))


def no_loss_of_observed(measure: Measure) -> ValueError:
    return ValueError(
        f"labels are missing, and only counting measures can judge a row by its known labels; got {measure!r}."
    )


def _leave_out(losses: Array, n_observed: Array | None) -> Array:
    """nan for rows of which nothing is known."""
    if n_observed is None:
        return losses
    xp = xp_of(losses)
    return xp.where(n_observed > 0, losses, xp.full_like(losses, xp.nan))


def _row_sums(matrix: Any) -> Array:
    if is_foreign(matrix):
        return xp_of(matrix).sum(as_real(matrix), axis=1)
    return np.asarray(matrix.sum(axis=1, dtype=float)).ravel()


# Their mean, or the losses themselves


class _Mean(NamedTuple):
    """A weighted mean, which adds up over blocks of rows; rows without a loss are left out."""

    mean: float
    weight: float

    def __add__(self, other: "_Mean") -> "_Mean":  # type: ignore[override]
        weight = self.weight + other.weight
        total = self.mean * self.weight + other.mean * other.weight
        return _Mean(total / weight if weight else 0.0, weight)


class _Concatenated:
    """Losses of rows, block after block."""

    def __init__(self, losses: FloatArray):
        self.losses = losses

    def __add__(self, other: "_Concatenated") -> "_Concatenated":
        return _Concatenated(np.concatenate([self.losses, other.losses]))


def _reduce(rows: Rows, losses_of: Callable[[Rows], Iterator[Array]], reduction: str, like: Array | None) -> Loss:
    """The mean over rows, or the losses themselves in the library of an array that the user passed in."""
    if reduction not in ("mean", "none"):
        raise ValueError(f"reduction must be 'mean' or 'none'; got {reduction!r}.")
    if reduction == "none":
        return to_library_of(add_up([rows], partial(_all_losses, losses_of=losses_of)).losses, like)
    mean = add_up([rows], partial(_mean, losses_of=losses_of))
    if not mean.weight:
        raise ValueError("a mean loss needs a row with a known label and a positive weight; there is none.")
    return mean.mean


def _all_losses(rows: Sequence[Rows], losses_of: Callable[[Rows], Iterator[Array]]) -> _Concatenated:
    return _Concatenated(concatenate(losses_of(rows[0])))


def _mean(rows: Sequence[Rows], losses_of: Callable[[Rows], Iterator[Array]]) -> _Mean:
    losses = concatenate(losses_of(rows[0]))
    mean = _weighted_mean(losses, rows[0].weights)
    if not np.isnan(mean.mean):
        return mean
    # Rows of which nothing is known have no loss.
    xp = xp_of(losses)
    unknown = xp.isnan(losses)
    weights = xp.ones_like(losses) if rows[0].weights is None else rows[0].weights
    zeros = xp.zeros_like(losses)
    return _weighted_mean(xp.where(unknown, zeros, losses), xp.where(unknown, zeros, weights))


def _weighted_mean(losses: Array, weights: Array | None) -> _Mean:
    xp = xp_of(losses)
    if weights is None:
        return _Mean(float(xp.mean(losses)), losses.shape[0])
    if not is_foreign(losses):
        weight = float(weights.sum())
        return _Mean(float(np.average(losses, weights=weights)) if weight else 0.0, weight)
    total, weight = to_host(xp.stack([xp.sum(losses * weights), xp.sum(weights)])).tolist()
    return _Mean(total / weight if weight else 0.0, weight)
