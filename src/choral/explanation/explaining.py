"""explain(): which labels, which labels together, and which rows the loss comes from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike

from choral._array_api import to_host
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral._validation import check_count
from choral.explanation.co_errors import sum_co_errors
from choral.explanation.error_blocks import ErrorsOfRows, error_blocks, parts_to_sort
from choral.explanation.error_pairs import ErrorPairs, MomentCollector, PairMoments
from choral.explanation.interactions import Pair
from choral.explanation.label_sets import Names
from choral.explanation.result import Explanation, SharesAlong
from choral.explanation.several_models import Explanations
from choral.explanation.shares import ShareCollector, ShareSums
from choral.measures import HammingMeasure, Measure, SubsetMeasure, check_measure
from choral.measures.families import Family, get_family
from choral.overlap import FLoss, JaccardLoss
from choral.profiles import DecidedLabels, name_in_messages
from choral.rows import Rows, add_up, column_names, open_rows, row_names
from choral.rows.label_errors import label_sums
from choral.scores import check_threshold

MAX_MATRIX_LABELS = 24  # of the matrix of pairs: those with the largest shares


@overload
def explain(
    y_true: LabelMatrix, y_pred: Mapping[str, LabelMatrix], measure: Measure = ..., **options: Any
) -> Explanations: ...


@overload
def explain(y_true: LabelMatrix, y_pred: LabelMatrix, measure: Measure = ..., **options: Any) -> Explanation: ...


@np.errstate(under="ignore")  # type: ignore[misc]  # the options of the overloads are those below
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
    n_pairs: int = 10,
    n_most: int = 10,
    confidence: float = 0.95,
) -> Explanation | Explanations:
    """Where the loss comes from: which labels, which labels together, which rows.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing (counting measures only). What lies on a device comes to the
        host, block by block.
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
        How much each row counts in shares, pairs and the usual figures. Rows and label sets are counted without
        weights.
    labels : sequence of str, optional
        Names of the labels: those of the columns of a frame, else ``"label 0"``, ... unless given.
    ids : sequence, optional
        Names of the rows: the index of a frame, else their numbers unless given.
    n_pairs : int
        How many pairs of labels to list at most, of each sign: wrong together more often, and less often, than
        independent errors would be.
    n_most : int
        How many of the most costly rows, and of the most frequent mistakes, to list.
    confidence : float
        Of the intervals of pairs, for all pairs of labels at once.

    Returns
    -------
    explanation : Explanation, or Explanations for several models
        Shares and pairs are computed at once. Rows, label sets and the usual figures are computed when they are first
        asked for, from the labels and predictions, to which it keeps a reference. Of dask arrays, of which only sums
        are kept, there are none of these.

    See Also
    --------
    evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    loss_shares : The part that each label has in the loss.
    Explanation : Where the loss of a model comes from.
    choral.displays.LabelSharesDisplay : The part of each label in the loss.

    Notes
    -----
    The shares of labels are Shapley values: see `loss_shares`. For the pairs of labels see
    `choral.explanation.error_pairs`, for a reference curve `choral.profiles.independent_curve`.

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
    if isinstance(measure, FLoss | JaccardLoss):
        raise TypeError(
            f"measure must be one of choral.measures; got {measure!r}, whose loss has no shares of labels. "
            "Explain a measure such as SubsetMeasure()."
        )
    check_measure(measure)
    if not isinstance(confidence, Real) or not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1; got {confidence!r}.")
    counts = check_count("n_pairs", n_pairs, least=0), check_count("n_most", n_most, least=0)
    options = _Options(measure, get_family(family), parameters, *counts, confidence)
    open_model = partial(
        open_rows,
        y_true,
        observed=observed,
        sample_weight=sample_weight,
        threshold=None if threshold is None else check_threshold(threshold),
    )
    is_many = isinstance(y_pred, Mapping)
    models: Mapping[str, Any] = y_pred if isinstance(y_pred, Mapping) else {"y_pred": y_pred}
    if not models:
        raise ValueError("y_pred must name at least one model; got an empty mapping.")
    labels = None if labels is None else _as_list("labels", labels)
    ids = None if ids is None else _as_list("ids", ids)
    explained, row_ids = {}, None
    for name, predictions in models.items():
        if not isinstance(name, str):
            raise TypeError(f"y_pred must have text for the names of models; got {name!r}.")
        called = name_in_messages(name) if is_many else "y_pred"
        _refuse_decided(predictions, called)
        rows = open_model(predictions, pred_name=called)
        names = _check_labels(labels, column_names(y_true), rows.n_labels)
        if not rows.is_lazy:
            row_ids = _check_ids(ids, row_names(y_true), rows.n_rows)
        explained[name] = _explain_rows(name, rows, names, row_ids, options)
    return Explanations(explained) if is_many else explained["y_pred"]


def _refuse_decided(predictions: Any, name: str) -> None:
    if isinstance(predictions, DecidedLabels | Mapping):  # of one family, or of families by name
        raise TypeError(
            f"{name} holds labels decided anew for each loss; pass those decided for this one, such as "
            "curve.decisions[-1].labels."
        )


def _check_labels(given: Sequence[str] | None, own: Sequence[str] | None, n_labels: int) -> Names:
    """The names of labels that were given, or else those of columns, or else numbers."""
    if given is None:
        return tuple(f"label {label}" for label in range(n_labels)) if own is None else tuple(own)
    if len(given) != n_labels:
        raise ValueError(f"labels must have one entry for each of {n_labels} labels; got {len(given)}.")
    return tuple(map(str, given))


def _check_ids(given: Sequence[Any] | None, own: Sequence[Any] | None, n_rows: int) -> Sequence[Any]:
    ids = given if given is not None else own
    if ids is None:
        return range(n_rows)
    if len(ids) != n_rows:
        raise ValueError(f"ids must have one entry for each of {n_rows} rows; got {len(ids)}.")
    return ids


def _as_list(name: str, given: Any) -> list[Any]:
    """The entries of a sequence; a series of pandas would be asked by its index."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a sequence with an entry for each; got {given!r}.")
    return list(given)


class _Options(NamedTuple):
    """What is asked about each model."""

    measure: Measure
    family: Family
    parameters: ArrayLike | None
    n_pairs: int
    n_most: int
    confidence: float


def _explain_rows(name: str, rows: Rows, labels: Names, ids: Sequence[Any] | None, options: _Options) -> Explanation:
    measure, family = options.measure, options.family
    grid = _points(family, options.parameters, rows.n_labels)
    measures = (measure, HammingMeasure(), *(family.measure(parameter) for parameter in grid.tolist()))
    if not rows.is_lazy:
        measure.form(rows.n_labels)  # refuses what does not fit before any row is read
    co_errors = add_up([rows], sum_co_errors)
    pairs = co_errors.strongest(options.n_pairs)
    walked = add_up([rows], partial(_walk, measures=measures, pairs=pairs))
    shares, hamming, *along = walked.shares.means()
    largest = np.argsort(-shares, kind="stable")[:MAX_MATRIX_LABELS].tolist()
    judged = walked.moments.judge(pairs, rows.n_labels * (rows.n_labels - 1) // 2, options.confidence)
    correlations = co_errors.correlations(np.array(largest, dtype=np.intp))
    return Explanation(
        name=name,
        measure=measure,
        labels=labels,
        n_rows=walked.n_rows,
        n_unobserved=walked.n_unobserved,
        shares=shares,
        error_rates=walked.error_rates(),
        along=SharesAlong(family.name, grid, np.array(along), hamming),
        pairs=ErrorPairs(tuple(judged), tuple(largest), correlations, co_errors.is_sampled),
        confidence=options.confidence,
        n_most=options.n_most,
        _rows=rows,
        _ids=ids,
    )


def _points(family: Family, parameters: ArrayLike | None, n_labels: int) -> np.ndarray:
    """The parameters along which shares are followed: the ends and a few between, unless given."""
    if parameters is not None:
        return family.parameters(parameters, n_labels)
    if family.name == "polynomial":
        return np.array([1.0, 2.0, 3.0, 10.0, np.inf])
    return np.array(sorted({1, min(2, n_labels), min(3, n_labels), (n_labels + 1) // 2, n_labels}))


@dataclass(frozen=True, eq=False)
class _Walked:
    """What one walk over the rows finds; those of two batches add up."""

    shares: ShareSums
    moments: PairMoments
    errors: FloatArray  # (n_labels,) sums of errors
    known: FloatArray  # (n_labels,) weights of the rows in which a label is known
    n_rows: int
    n_unobserved: int

    def __add__(self, other: "_Walked") -> "_Walked":
        return _Walked(*(getattr(self, part.name) + getattr(other, part.name) for part in fields(self)))

    def error_rates(self) -> FloatArray:
        with np.errstate(invalid="ignore"):
            return self.errors / self.known


def _walk(models: Sequence[Rows], measures: Sequence[Measure], pairs: Sequence[Pair]) -> _Walked:
    """Shares under all measures, and moments of pairs, with the interactions of the first measure."""
    rows = models[0]
    shares, moments = ShareCollector(rows, measures), MomentCollector(rows, measures[0], pairs)
    errors, known = np.zeros(rows.n_labels), np.zeros(rows.n_labels)
    n_unobserved = 0
    for block in error_blocks(rows):
        for part in parts_to_sort(block):
            shares.add(part)
            moments.add(part)
            errors += part.label_sums
        known += _known_weights(rows, block)
        n_unobserved += 0 if block.n_observed is None else int((block.n_observed == 0).sum())
    n_rows = rows.n_rows - n_unobserved
    return _Walked(shares.finish(), moments.finish(), errors, known, n_rows, n_unobserved)


def _known_weights(rows: Rows, block: ErrorsOfRows) -> FloatArray | float:
    weights = block.row_weights()
    total = float(weights.sum())
    if block.n_observed is None or (block.n_observed == rows.n_labels).all():
        return total
    # As dense blocks of what is known, a few rows at a time.
    sums = np.zeros(rows.n_labels)
    for some in rows.part(block.rows).known_blocks():
        of_block = weights[some.rows]
        sums += of_block.sum() if some.known is None else label_sums(to_host(some.known), of_block)
    return sums
