"""How often each label is wrong, and the curve that independent errors of the same rates would have."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import add

import numpy as np
from numpy.typing import ArrayLike

from choral._array_api import to_host
from choral._poisson_binomial import number_of_many_events
from choral._typing import FloatArray, LabelMatrix, RowWeights
from choral.curves import LossCurve
from choral.profiles.each_loss import EachLossProfile, Predictions
from choral.profiles.error_profile import ErrorProfile, make_profile, open_models
from choral.profiles.observed_profile import ObservedProfile
from choral.profiles.observed_sets import ObservedSets
from choral.profiles.totals import Totals, TotalsByObserved, add_padded
from choral.rows import Rows, add_up, open_rows
from choral.rows.label_errors import label_errors, label_sums, level_sums

NAME = "independent errors"
MAX_LEVELS, MIN_LEVELS = 256, 8
MAX_ENTRIES = 1 << 22  # of the sums of a level for each label: with more than 16,384 labels, there are fewer levels
LEVELS_OF_SETS = 64  # of scores with missing labels: each level comes once for each set of known labels
MAX_RATES = 1 << 23  # of all labels, levels and sets of known labels together
RATES_AT_A_TIME = 1 << 20


@dataclass(frozen=True, eq=False)
class LabelErrorRates:
    r"""How often each label is wrong: a small summary that adds up, and the reference curve that it stands for.

    If each label were wrong as often as it is, but independently of the other labels, the number of wrong labels of a
    row would have a Poisson-binomial distribution, and the loss of counting measures its mean over it (`curve`). That
    needs no simulation. For scores, a loss is the mean of the losses of "the error exceeds t" over t in [0, 1]:

    .. math:: \ell = \int_0^1 \mathrm{E} \, d(N_t) \, dt, \quad N_t \sim \mathrm{PB}(P(e_1 > t), ..., P(e_K > t))

    with d(n) the loss of n wrong labels. The rates :math:`P(e_i > t)` are averaged within levels of t, 256 of them up
    to 16,384 labels. So the Hamming loss is exact, and for hard labels everything is. For scores, other losses come out
    slightly too large: by less than 1e-4 up to 100 labels, and 5e-4 for 1000, with scores spread over [0, 1].

    Where labels are missing, the rate of a label is that among the rows in which it is known, and the reference is the
    mean over the sets of known labels of all rows; of more than 4096 different sets, over an even sample of them
    (`ObservedSets`). Its Hamming loss may then differ from that of the predictions: their Hamming loss weighs the
    errors of a label more in rows of which little is known.

    Attributes
    ----------
    wrong : ndarray of shape (n_labels,)
        Rows (or their weights) of hard predictions in which each label is wrong.
    levels : ndarray of shape (n_levels, n_labels), or None
        The errors of scores, cut into levels: an error of 0.6 fills the first of two levels, and a fifth of the other.
    observed : ndarray of shape (n_labels,)
        Rows (or their weights) in which each label is known.
    complete, incomplete : int or float
        Rows (or their weights) of which all labels are known, and some, but not all.
    sets : ObservedSets
        The sets of known labels of the latter.

    Examples
    --------
    >>> y_true, y_pred = [[1, 0], [0, 0], [1, 1], [0, 1]], [[0, 1], [0, 0], [1, 1], [0, 1]]
    >>> rates = LabelErrorRates.from_predictions(y_true, y_pred)
    >>> rates.rates
    array([0.25, 0.25])
    >>> rates.curve().losses  # any label is wrong: 1 - 0.75 * 0.75, were they independent
    array([0.25  , 0.4375])
    >>> from choral import loss_curve
    >>> loss_curve(y_true, y_pred).losses  # they are wrong together
    array([0.25, 0.25])
    """

    wrong: np.ndarray
    levels: FloatArray | None
    observed: np.ndarray
    complete: int | float
    incomplete: int | float
    sets: ObservedSets

    @classmethod
    def from_predictions(
        cls,
        y_true: LabelMatrix,
        y_pred: LabelMatrix,
        *,
        observed: LabelMatrix | None = None,
        sample_weight: RowWeights | None = None,
        threshold: float | None = None,
    ) -> "LabelErrorRates":
        """The error rates of predictions; see `choral.evaluate` for the arguments."""
        return cls.from_rows(
            open_rows(y_true, y_pred, observed=observed, sample_weight=sample_weight, threshold=threshold)
        )

    @classmethod
    def from_rows(cls, rows: Rows) -> "LabelErrorRates":
        """The error rates of rows, wherever they are: one walk over them, and a second where labels may be missing."""
        return add_up([rows], lambda models: _sum_errors(models[0]))

    def __add__(self, other: "LabelErrorRates") -> "LabelErrorRates":
        """The error rates of both sets of rows."""
        if other.n_labels != self.n_labels:
            raise ValueError(f"rates must have the same number of labels; got {self.n_labels} and {other.n_labels}.")
        levels = [rates.levels for rates in (self, other) if rates.levels is not None]
        return LabelErrorRates(
            self.wrong + other.wrong,
            reduce(add, levels) if levels else None,
            self.observed + other.observed,
            self.complete + other.complete,
            self.incomplete + other.incomplete,
            self.sets + other.sets,
        )

    def in_order(self, order: Sequence[int]) -> "LabelErrorRates":
        """The same rates with the labels in another order: ``order[i]`` is where the new label i was.

        Examples
        --------
        >>> LabelErrorRates.from_predictions([[1, 0]], [[1, 1]]).in_order([1, 0]).rates
        array([1., 0.])
        """
        levels = None if self.levels is None else self.levels[:, order]
        sets = self.sets.in_order(order)
        return LabelErrorRates(self.wrong[order], levels, self.observed[order], self.complete, self.incomplete, sets)

    @property
    def n_labels(self) -> int:
        """The number of labels, K."""
        return self.wrong.size

    @property
    def is_hard(self) -> bool:
        """Whether all predictions seen were 0 or 1."""
        return self.levels is None

    @property
    def total_weight(self) -> int | float:
        """The weights of all rows with something known; their number where none were given."""
        return self.complete + self.incomplete

    @property
    def rates(self) -> FloatArray:
        """The mean error of each label: how often it is wrong, for hard predictions; nan for labels never known.

        Of shape (n_labels,).
        """
        with np.errstate(invalid="ignore"):
            return self._error_sums().mean(axis=0) / self.observed

    def curve(
        self, family: str = "binomial", parameters: ArrayLike | None = None, name: str | None = NAME
    ) -> LossCurve:
        """The loss along a family if errors of these rates were independent; see `loss_curve` for the parameters."""
        return self.independent_profile().curve(family, parameters, name)

    @np.errstate(under="ignore")
    def independent_profile(self) -> ErrorProfile | ObservedProfile:
        """The profile that independent errors of these rates would have on average: rows by number of wrong labels.

        It has the form of a profile of hard predictions, for scores as well: all counting measures have the same mean
        loss on it.
        """
        if not self.total_weight:
            raise ValueError("independent errors need rows with observed labels and a positive weight; there are none.")
        totals: dict[int, Totals] = {}
        for n_known, histogram in self._histograms():
            before = totals[n_known].histogram if n_known in totals else np.zeros(1)
            histogram = add_padded(before, histogram)
            totals[n_known] = Totals(n_known, 1, histogram=histogram, total_weight=float(histogram.sum()))
        return make_profile(TotalsByObserved(sorted(totals.items())), self.n_labels)

    def _error_sums(self) -> FloatArray:
        """The sums of the errors of each label at each level; at a single one for hard labels."""
        return self.wrong[np.newaxis] if self.levels is None else self.wrong + self.levels

    def _histograms(self) -> Iterator[tuple[int, FloatArray]]:
        """Expected weights of rows by number of wrong labels, for each number of known labels."""
        rates = self._error_sums() / np.where(self.observed > 0, self.observed, 1)
        if self.complete:
            yield self.n_labels, self.complete * _mean_number_of_events(rates)
        if not self.incomplete:
            return
        sets = self.sets
        if len(rates) > LEVELS_OF_SETS:
            rates = rates.reshape(LEVELS_OF_SETS, -1, self.n_labels).mean(axis=1)
        sets = sets.sample(max(1, MAX_RATES // rates.size))
        scale = self.incomplete / sets.weights.sum()
        step = max(1, RATES_AT_A_TIME // rates.size)
        for n_known, known, weights in sets.by_size():
            for start in range(0, len(known), step):
                some = slice(start, start + step)
                of_sets = (known[some, np.newaxis] * rates).reshape(-1, self.n_labels)
                shares = np.repeat(weights[some] / len(rates), len(rates))
                yield n_known, scale * _mean_number_of_events(of_sets, shares)[: n_known + 1]  # no more can be wrong


def independent_curve(
    y_true: LabelMatrix,
    y_pred: Predictions,
    family: str = "binomial",
    parameters: ArrayLike | None = None,
    *,
    observed: LabelMatrix | None = None,
    sample_weight: RowWeights | None = None,
    threshold: float | None = None,
    name: str | None = NAME,
) -> LossCurve:
    """The loss curve of errors that are independent of each other, each label being wrong as often as it is.

    A model below this curve is wrong on several labels at once more often than by chance. See `LabelErrorRates` for
    how it is found, for scores and where labels are missing.

    Parameters
    ----------
    y_true : array-like, sparse matrix, frame, array on a device or dask array of shape (n_samples, n_labels)
        True labels, 0 or 1; nan where a label is missing.
    y_pred : likewise
        Predicted labels, or scores in [0, 1]; or a `BayesCurve`: then each parameter has the error rates of the labels
        decided for it.
    family : {"binomial", "polynomial"}
    parameters : array-like, optional
        Increasing values of k or alpha; see `loss_curve` for the default.
    observed : matrix of booleans of shape (n_samples, n_labels), optional
        True where a label is known.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    threshold : float, optional
        Predict 1 where a score, of any range, is at least the threshold. Hard predictions stay as they are.
    name : str, optional
        For legends and tables.

    Returns
    -------
    curve : LossCurve
        The loss of independent errors at each parameter.

    See Also
    --------
    loss_curve : The loss along a family of measures.
    LossCurve : The loss of one model along a family.

    Examples
    --------
    >>> y_true, y_pred = [[1, 0], [0, 0], [1, 1], [0, 1]], [[0, 1], [0, 0], [1, 1], [0, 1]]
    >>> independent_curve(y_true, y_pred).losses
    array([0.25  , 0.4375])
    """
    open_model = partial(open_rows, y_true, observed=observed, sample_weight=sample_weight, threshold=threshold)
    values, (model,) = open_models({"y_pred": y_pred}, family, parameters, open_model)
    profiles = [LabelErrorRates.from_rows(rows).independent_profile() for rows in model.rows]
    profile = EachLossProfile(family, values, profiles) if model.is_each_loss else profiles[0]
    return profile.curve(family, values, name)


def _mean_number_of_events(rates: FloatArray, shares: FloatArray | None = None) -> FloatArray:
    """The mean over rows of the distribution of their numbers of wrong labels, or the sum with these shares."""
    counts = number_of_many_events(rates)
    return counts.mean(axis=0) if shares is None else shares @ counts


# From rows to sums


@np.errstate(under="ignore")
def _sum_errors(rows: Rows) -> LabelErrorRates:
    """The error rates of rows in memory."""
    n_labels = rows.n_labels
    wrong, levels = np.zeros(n_labels, dtype=np.int64 if rows.weights is None else float), None
    for block in rows.pair_blocks():
        errors, weights = label_errors(block), rows.weights_of(block.rows)
        if block.is_hard:
            wrong += label_sums(errors, weights)
        else:
            levels = np.zeros((_count_levels(n_labels), n_labels)) if levels is None else levels
            levels += level_sums(errors, weights, len(levels))
    return LabelErrorRates(wrong, levels, *_count_known(rows))


def _count_levels(n_labels: int) -> int:
    """How many levels there are for scores of this many labels: a power of 2."""
    fitting = max(MIN_LEVELS, min(MAX_LEVELS, MAX_ENTRIES // n_labels))
    return 1 << (fitting.bit_length() - 1)


def _count_known(rows: Rows) -> tuple[np.ndarray, int | float, int | float, ObservedSets]:
    """Weights of rows in which each label is known, in which all are, and in which some are; and sets of these."""
    n_labels, is_whole = rows.n_labels, rows.weights is None
    observed = np.zeros(n_labels, dtype=np.int64 if is_whole else float)
    complete = incomplete = 0.0
    sets = ObservedSets.none(n_labels)
    for block, known in rows.known_blocks():
        given = rows.weights_of(block)
        weights = np.ones(block.stop - block.start) if given is None else to_host(given).astype(float)
        if known is not None:
            known = to_host(known)
            is_complete, some = known.all(axis=1), known.any(axis=1)
            some &= ~is_complete
            observed += label_sums(known[some], None if is_whole else weights[some])
            incomplete += weights[some].sum()
            sets += ObservedSets.from_known(known[some], weights[some])
            weights = weights[is_complete]
        complete += weights.sum()
        observed += observed.dtype.type(weights.sum())
    if is_whole:
        return observed, int(complete), int(incomplete), sets
    return observed, float(complete), float(incomplete), sets
