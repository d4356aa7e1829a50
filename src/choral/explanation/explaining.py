"""explain(): which labels, which labels together, and which rows the loss comes from."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from choral._array_api import to_host
from choral._typing import LabelMatrix, RowWeights
from choral._validation import check_count
from choral.explanation.co_errors import CoErrors, PairCollector
from choral.explanation.error_blocks import error_blocks
from choral.explanation.error_pairs import find_pairs
from choral.explanation.label_sets import LabelSets, hash_block, read_labels
from choral.explanation.result import CostlyRow, Explanation, Explanations, LabelSetReport, SharesAlong
from choral.explanation.shares import ShareCollector, ShareSums
from choral.losses import choquet_rows
from choral.measures import Measure, SubsetMeasure, check_measure
from choral.measures.families import Family, get_family
from choral.profiles import DecidedLabels, name_in_messages
from choral.rows import Rows, add_up, column_names, open_rows, row_names
from choral.scores import check_threshold

MAX_MATRIX_LABELS = 24  # of the matrix of pairs: those with the largest shares


@overload
def explain(
    y_true: LabelMatrix, y_pred: Mapping[str, LabelMatrix], measure: Measure = ..., **options: Any
) -> Explanations: ...


@overload
def explain(y_true: LabelMatrix, y_pred: LabelMatrix, measure: Measure = ..., **options: Any) -> Explanation: ...


@np.errstate(under="ignore")
def explain(
    y_true: LabelMatrix,
    y_pred: LabelMatrix | Mapping[str, LabelMatrix],
    measure: Measure = SubsetMeasure(),  # noqa: B008  # a value that nothing can change
    *,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    threshold: float | None = None,
    observed: LabelMatrix | None = None,
    sample_weight: RowWeights | None = None,
    labels: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    n_pairs: int = 20,
    n_most: int = 10,
    confidence: float = 0.95,
) -> Explanation | Explanations:
    """Where the loss comes from: which labels, which labels together, which rows.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing (counting measures only).
    y_pred : likewise, or mapping from name to the same kinds of matrix
        Predicted labels, or scores in [0, 1]. A mapping puts several models side by side.
    measure : Measure
        What it is worth to be right on a set of labels; subset 0/1 loss unless given.
    family : {"binomial", "polynomial"}
        Along which the shares of labels are followed as well.
    parameters : array-like, optional
        Increasing values of k or alpha: the two ends and a few points between unless given.
    threshold : float, optional
        Predict 1 where a score, of any range, is at least the threshold. Hard predictions stay as they are.
    observed : matrix of booleans of shape (n_samples, n_labels), optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts in shares, pairs and curves. Rows and label sets are counted without weights.
    labels : sequence of str, optional
        Names of the labels: those of the columns of a frame, else ``"label 0"``, ... unless given.
    ids : sequence, optional
        Names of the rows: the index of a frame, else their numbers unless given.
    n_pairs : int
        How many pairs of labels to list at most.
    n_most : int
        How many of the most costly rows, and of the most frequent mistakes, to list.
    confidence : float
        Of the intervals of pairs, for all pairs at once.

    Returns
    -------
    explanation : Explanation, or Explanations for several models
        Of dask arrays, of which only sums are kept, without rows and label sets.

    Notes
    -----
    The shares of labels are Shapley values: see `loss_shares`. For the pairs of labels see
    `choral.explanation.error_pairs`, for reference curves `LossCurve.bounds` and `choral.profiles.independent_curve`.

    Examples
    --------
    >>> y_true = [[1, 1, 0], [0, 0, 1], [1, 1, 0], [0, 0, 1]]
    >>> y_pred = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    >>> found = explain(y_true, y_pred, labels=["sea", "sky", "car"])
    >>> found.loss, dict(zip(found.labels, found.shares.tolist(), strict=True))  # the sky was wrong twice, once alone
    (0.5, {'sea': 0.0, 'sky': 0.375, 'car': 0.125})
    >>> found.mistakes[0]
    LabelSetMistake(true=('sea', 'sky'), predicted=('sea',), n_rows=1)
    """
    check_measure(measure)
    counts = {"n_pairs": check_count("n_pairs", n_pairs, least=0), "n_most": check_count("n_most", n_most, least=0)}
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence}.")
    open_model = partial(
        open_rows,
        y_true,
        observed=observed,
        sample_weight=sample_weight,
        threshold=None if threshold is None else check_threshold(threshold),
    )
    of_family = get_family(family)

    def explain_model(name: str, pred_name: str, predictions: LabelMatrix) -> Explanation:
        if isinstance(predictions, DecidedLabels):
            raise TypeError(
                f"{pred_name} holds labels decided anew for each loss; pass those decided for this one, such as "
                "curve.decisions[-1].labels."
            )
        rows = open_model(predictions, pred_name=pred_name)
        names = _check_names("labels", labels, column_names(y_true), rows.n_labels, "label")
        row_ids = None if rows.is_lazy else _check_ids(ids, row_names(y_true), rows.n_rows)
        grid = _points(of_family, parameters, rows.n_labels)
        return _explain_rows(name, rows, measure, of_family, grid, names, row_ids, confidence=confidence, **counts)

    if not isinstance(y_pred, Mapping):
        return explain_model("y_pred", "y_pred", y_pred)
    if not y_pred:
        raise ValueError("y_pred must name at least one model; got an empty mapping.")
    return Explanations(
        {str(name): explain_model(str(name), name_in_messages(str(name)), pred) for name, pred in y_pred.items()}
    )


def _points(family: Family, parameters: ArrayLike | None, n_labels: int) -> np.ndarray:
    """The parameters along which shares are followed: the ends and a few between, unless given."""
    if parameters is not None or n_labels == 1:
        return family.parameters(parameters if n_labels > 1 or parameters is not None else [1], n_labels)
    if family.name == "polynomial":
        return np.array([1.0, 2.0, 3.0, 10.0, np.inf])
    return np.array(sorted({1, 2, min(3, n_labels), (n_labels + 1) // 2, n_labels}))


def _check_names(
    what: str, given: Sequence[str] | None, own: Sequence[str] | None, number: int, noun: str
) -> tuple[str, ...]:
    names = given if given is not None else own
    if names is None:
        return tuple(f"{noun} {index}" for index in range(number))
    if len(names) != number:
        raise ValueError(f"{what} must have one entry for each of {number} {noun}s; got {len(names)}.")
    return tuple(map(str, names))


def _check_ids(given: Sequence[Any] | None, own: Sequence[Any] | None, n_rows: int) -> Sequence[Any]:
    ids = given if given is not None else own
    if ids is None:
        return range(n_rows)
    if len(ids) != n_rows:
        raise ValueError(f"ids must have one entry for each of {n_rows} rows; got {len(ids)}.")
    return ids


def _explain_rows(
    name: str,
    rows: Rows,
    measure: Measure,
    family: Family,
    grid: np.ndarray,
    labels: tuple[str, ...],
    ids: Sequence[Any] | None,
    *,
    n_pairs: int,
    n_most: int,
    confidence: float,
) -> Explanation:
    measures = (measure, *(family.measure(parameter) for parameter in grid.tolist()))
    walked = add_up([rows], partial(_walk, measures=measures))
    means = walked.shares.means()
    shares, along = means[0], means[1:]
    matrix_labels = np.sort(np.argsort(-shares, kind="stable")[:MAX_MATRIX_LABELS]).tolist()
    pairs = find_pairs(rows, measure, matrix_labels, n_pairs=n_pairs, confidence=confidence, co_errors=walked.co_errors)
    costly, sets = (), None
    if ids is not None:
        costly = _costly_rows(rows, measure, labels, ids, n_most)
        sets = _report_label_sets(rows, LabelSets.from_blocks(walked.hashes), labels, n_most)
    return Explanation(
        name=name,
        measure=measure,
        labels=labels,
        shares=shares,
        along=SharesAlong(family.name, grid, along),
        pairs=pairs,
        costly_rows=costly,
        label_sets=sets,
        rows=rows,
    )


class _Walked:
    """What one walk over the rows finds; of two batches it adds up, label sets left out."""

    def __init__(self, shares: ShareSums, co_errors: CoErrors, hashes: list):
        self.shares, self.co_errors, self.hashes = shares, co_errors, hashes

    def __add__(self, other: "_Walked") -> "_Walked":
        return _Walked(self.shares + other.shares, self.co_errors + other.co_errors, [])


def _walk(models: Sequence[Rows], measures: Sequence[Measure]) -> _Walked:
    rows, hashes = models[0], []
    shares, pairs = ShareCollector(rows, measures), PairCollector(rows)
    for block in error_blocks(rows):
        shares.add(block)
        pairs.add(block)
        hashes.append(hash_block(block))
    return _Walked(shares.finish(), pairs.finish(), hashes)


def _costly_rows(
    rows: Rows, measure: Measure, labels: tuple[str, ...], ids: Sequence[Any], n_most: int
) -> tuple[CostlyRow, ...]:
    """The rows with the largest losses; of equal ones, the earlier."""
    losses = np.nan_to_num(np.concatenate([to_host(some) for some in choquet_rows(rows, measure)]))
    if n_most < losses.size:  # all that may be among them, then in order: sorting all rows takes longer
        least = np.partition(losses, losses.size - n_most - 1)[losses.size - n_most - 1]
        places = np.flatnonzero(losses >= least)
    else:
        places = np.arange(losses.size)
    places = places[np.argsort(-losses[places], kind="stable")][:n_most]
    places = places[losses[places] > 0]
    found = []
    for place, of_row in zip(places.tolist(), read_labels(rows, places), strict=True):
        true, predicted = (tuple(labels[label] for label in some) for some in of_row)
        found.append(CostlyRow(ids[place], float(losses[place]), true, predicted))
    return tuple(found)


def _report_label_sets(rows: Rows, sets: LabelSets, labels: tuple[str, ...], n_most: int) -> LabelSetReport:
    n_never, never = sets.never_predicted(rows, n_most)
    return LabelSetReport.with_names(sets.n_true, sets.n_predicted, sets.mistakes(rows, n_most), n_never, never, labels)
