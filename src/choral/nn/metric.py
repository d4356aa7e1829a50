"""The curve from Hamming to subset 0/1 loss as a metric of torchmetrics: fed batch by batch, on many processes."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from scipy.special import logit
from torch import Tensor
from torchmetrics import Metric

from choral._validation import check_count
from choral.curves import LossCurve
from choral.displays import LossCurveDisplay
from choral.measures import BinomialMeasure, Measure, PolynomialMeasure, SubsetMeasure
from choral.measures.families import get_family
from choral.nn.functional import check_matrices
from choral.nn.row_losses import as_tensor
from choral.profiles import ErrorProfile
from choral.rows.gpu import MAX_SORTED_LABELS, serves
from choral.scores import check_threshold

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure


class DependenceCurve(Metric):
    r"""Losses along a family of measures, from Hamming to subset 0/1 loss.

    Its state is the small summary of `choral.ErrorProfile`, which adds up over batches and processes and serves every
    counting measure: the number of rows with 0, 1, ..., K wrong labels, in integers, or for scores the sum over rows of
    the largest error, of the second largest, and so on, in doubles. It keeps its precision whatever that of the model.

    Nothing is copied to the host while batches come in. Values that are not allowed (scores outside [0, 1] without
    ``logits``, nan, true labels other than 0 and 1) are counted, and `compute` raises if there were any.

    Parameters
    ----------
    num_labels : int
        The number of labels, K.
    family : {"binomial", "polynomial"}
        The measures of the curve that `compute` gives; `curve` gives others.
    parameters : sequence of numbers, optional
        Increasing values of k or alpha; k = 1..K or the published alphas unless given. See `choral.loss_curve`.
    threshold : float or None
        A label is predicted where its score is at least the threshold. None judges scores as they are, another
        yardstick: see the guide.
    logits : bool
        Whether floating-point predictions are logits rather than scores in [0, 1]; the threshold still is one for
        scores. Other metrics of torchmetrics guess this for each batch from the range of its values; this one does not.
    **kwargs
        For `torchmetrics.Metric`, such as ``sync_on_compute``.

    See Also
    --------
    ChoquetLoss : A loss to train networks with.
    choral.loss_curve : The loss along a family of measures.

    Examples
    --------
    >>> preds, target = torch.tensor([[0.9, 0.1, 0.2], [0.1, 0.3, 0.8]]), torch.tensor([[1, 0, 1], [0, 0, 1]])
    >>> metric = DependenceCurve(num_labels=3)
    >>> metric.update(preds, target)
    >>> parameters, losses = metric.compute()
    >>> parameters, losses.round(decimals=3)
    (tensor([1, 2, 3]), tensor([0.1670, 0.3330, 0.5000], dtype=torch.float64))
    >>> metric.profile.rows_by_errors
    array([1, 1, 0, 0])
    >>> metric.curve("polynomial", [1, 2]).losses.round(3)
    array([0.167, 0.278])
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    rows_by_errors: Tensor
    error_sums: Tensor
    n_rows: Tensor
    invalid_preds: Tensor
    invalid_target: Tensor

    def __init__(
        self,
        num_labels: int,
        family: str = "binomial",
        parameters: Sequence[float] | None = None,
        threshold: float | None = 0.5,
        logits: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.num_labels = check_count("num_labels", num_labels)
        self.family = family
        self.grid = get_family(family).parameters(parameters, self.num_labels)
        self.threshold = None if threshold is None else _check_score(threshold)
        self.logits = logits
        for name in ("invalid_preds", "invalid_target"):
            self.add_state(name, torch.tensor(0), dist_reduce_fx="sum")
        if self.threshold is None:
            self.add_state("n_rows", torch.tensor(0), dist_reduce_fx="sum")
            self.add_state("error_sums", torch.zeros(self.num_labels, dtype=torch.float64), dist_reduce_fx="sum")
        else:
            # On the scale of the predictions: logits need not be turned into scores to be compared.
            self._cut = float(logit(self.threshold)) if logits else self.threshold
            self.add_state("rows_by_errors", torch.zeros(self.num_labels + 1, dtype=torch.int64), dist_reduce_fx="sum")
            # A MetricCollection takes metrics for one whose states agree after the first batch: not with this one.
            self.add_state("cut", torch.tensor(self._cut), dist_reduce_fx="max")

    def _apply(self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = ()) -> torch.nn.Module:
        """Move to another device, but never to another precision: sums in half precision would be off."""
        return super()._apply(lambda state: state.to(fn(state).device), exclude_state)

    def update(self, preds: Tensor, target: Tensor) -> None:
        """Add a batch.

        Parameters
        ----------
        preds : Tensor of shape (n_rows, num_labels)
            Scores in [0, 1], logits where ``logits`` is set, or labels, which are integers or bool.
        target : Tensor of shape (n_rows, num_labels)
            True labels, 0 or 1, of any dtype.
        """
        check_matrices(preds, target, self.num_labels)
        logits = self.logits and preds.is_floating_point()
        if self.threshold is None:
            batch = sum_errors(preds, target, logits)
            self.n_rows = self.n_rows + len(preds)
            self.error_sums = self.error_sums + batch.summary
        else:
            batch = count_errors(preds, target, self._cut if preds.is_floating_point() else None, logits)
            self.rows_by_errors = self.rows_by_errors + batch.summary
        self.invalid_target = self.invalid_target + batch.invalid_target
        self.invalid_preds = self.invalid_preds + batch.invalid_preds

    def compute(self) -> tuple[Tensor, Tensor]:
        """The parameters of the curve and the loss at each of them, of all batches of all processes."""
        curve = self._profile().curve(self.family, self.grid)
        return as_tensor(curve.parameters, self.device), as_tensor(curve.losses, self.device)

    @property
    def profile(self) -> ErrorProfile:
        """The summary itself, of all batches of all processes, which must ask for it together."""
        if self._is_synced:
            return self._profile()
        with self.sync_context(self.dist_sync_fn, should_sync=self._to_sync, should_unsync=self._should_unsync):
            return self._profile()

    def curve(self, family: str = "binomial", parameters: Any = None, name: str | None = None) -> LossCurve:
        """The curve along any family, as `choral.ErrorProfile.curve`.

        Parameters
        ----------
        family : {"binomial", "polynomial"}
            The family of losses.
        parameters : array-like, optional
            Values of k or alpha; those of `choral.loss_curve` unless given.
        name : str, optional
            The name of the curve.
        """
        return self.profile.curve(family, parameters, name)

    def scalars(self, prefix: str = "") -> dict[str, float]:
        """A few losses of the curve as plain numbers with names, as loggers take them.

        Parameters
        ----------
        prefix : str
            Put before each name: ``"val/"`` tells several metrics apart.

        Returns
        -------
        scalars : dict of float by name
            ``"loss/k=1"``, the Hamming loss, and ``"loss/k=3"`` (k below the number of labels: the last one is
            ``"loss/subset"``); ``"area"``, as in `choral.LossCurve`, under the whole curve of the family. For the
            polynomial family ``"loss/alpha=1"`` and ``"loss/alpha=2"`` take the place of those of k. ``parameters``
            of the metric make no difference.

        Examples
        --------
        >>> metric = DependenceCurve(num_labels=4)
        >>> metric.update(torch.tensor([[0.9, 0.1, 0.2, 0.7]]), torch.tensor([[1, 0, 1, 1]]))
        >>> metric.scalars("val/")
        {'val/loss/k=1': 0.25, 'val/loss/k=3': 0.75, 'val/loss/subset': 1.0, 'val/area': 0.625}
        """
        profile = self.profile
        measures = _logged_measures(self.family, self.num_labels)
        losses = {f"{prefix}loss/{name}": float(profile.loss(measure)) for name, measure in measures.items()}
        return losses | {f"{prefix}area": profile.curve(self.family).area}

    def _profile(self) -> ErrorProfile:
        """The summary of the states as they are."""
        n_rows = int(self.rows_by_errors.sum() if self.threshold is not None else self.n_rows)
        self._check_seen(n_rows)
        if self.threshold is not None:
            return ErrorProfile.from_histogram(self.rows_by_errors.tolist())
        data = {"n_labels": self.num_labels, "n_rows": n_rows, "total_weight": n_rows}
        return ErrorProfile.from_dict({**data, "error_sums": self.error_sums.tolist()})

    def _check_seen(self, n_rows: int) -> None:
        """Refuse to speak of no rows at all, or of values that are not allowed."""
        if not n_rows:
            raise ValueError("this DependenceCurve has seen no rows yet; update(preds, target) adds some.")
        if self.invalid_target:
            raise ValueError(
                f"target must be binary, 0 or 1; {int(self.invalid_target)} of its values are not. Labels -1 and +1 "
                "become 0 and 1 by target > 0. Where -100 or nan marks labels that are not known, update with complete "
                "rows alone, or use choral.evaluate, which takes nan."
            )
        if self.invalid_preds:
            rule = "not be nan" if self.logits else "lie in [0, 1] (logits=True takes logits)"
            raise ValueError(f"preds must {rule}; {int(self.invalid_preds)} of its values do not comply.")

    def plot(
        self, curve: tuple[Tensor, Tensor] | None = None, ax: "Axes | None" = None
    ) -> "tuple[Figure | SubFigure, Axes]":
        """Draw the curve as `choral.LossCurveDisplay` does.

        Parameters
        ----------
        curve : tuple of two tensors, optional
            What `compute` or `forward` gave; `compute` is called unless given.
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        figure, ax
        """
        parameters, losses = (tensor.numpy(force=True) for tensor in curve or self.compute())
        display = LossCurveDisplay([LossCurve(self.family, parameters, losses, self.num_labels)]).plot(ax=ax)
        return display.figure_, display.ax_


def _logged_measures(family: str, n_labels: int) -> dict[str, Measure]:
    """The measures that `DependenceCurve.scalars` names, none of them twice."""
    if family == "binomial":
        inner: dict[str, Measure] = {f"k={k}": BinomialMeasure(k) for k in (1, 3) if k < n_labels}
    else:
        inner = {f"alpha={alpha}": PolynomialMeasure(alpha) for alpha in (1, 2) if n_labels > 1}
    return {**inner, "subset": SubsetMeasure()}


def _check_score(threshold: Any) -> float:
    threshold = check_threshold(threshold)
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold must lie in [0, 1]; got {threshold}. It is one for scores, also of logits.")
    return threshold


class Batch(NamedTuple):
    """What a batch adds to the state: rows by their errors or sums of errors by rank; how many values are invalid."""

    summary: Tensor
    invalid_target: Tensor
    invalid_preds: Tensor


def count_errors(preds: Tensor, target: Tensor, cut: float | None, logits: bool) -> Batch:
    """Rows with 0, 1, ..., n_labels wrong labels; a score of at least ``cut`` predicts a label, None takes labels."""
    n_labels = target.shape[1]
    if serves(preds, target) and len(preds):
        from choral.rows.gpu.wrong_labels import wrong_labels

        # filled on the device: a number of the host's would be copied there
        cuts = None if cut is None else torch.full((1,), cut, dtype=preds.dtype, device=preds.device)
        wrong = wrong_labels(target, preds, cuts, logits)
        return Batch(wrong.rows_by_errors, wrong.strange[0], wrong.strange[1])
    labels = preds == 1 if cut is None else preds >= cut
    wrong = (labels != (target == 1)).sum(dim=1)
    counts = torch.zeros(n_labels + 1, dtype=torch.int64, device=target.device)
    counts.index_add_(0, wrong, torch.ones_like(wrong))  # bincount would have the host wait for the device
    return Batch(counts, count_not_binary(target), count_invalid(preds, logits))


def sum_errors(preds: Tensor, target: Tensor, logits: bool) -> Batch:
    """Sums over rows of the largest, second largest, ... error, in doubles."""
    if serves(preds, target) and len(preds) and preds.shape[1] <= MAX_SORTED_LABELS:
        from choral.rows.gpu.rank_sums import rank_sums

        sums, strange = rank_sums(target, preds, None, logits)
        return Batch(sums, strange[0], strange[1])
    scores = preds.double().sigmoid() if logits else preds.double()
    errors = (scores - target.double()).abs().sort(dim=1, descending=True).values
    return Batch(errors.sum(dim=0), count_not_binary(target), count_invalid(preds, logits))


def count_invalid(preds: Tensor, logits: bool) -> Tensor:
    """How many predictions are not allowed."""
    if not preds.is_floating_point():
        return count_not_binary(preds)
    return preds.isnan().count_nonzero() if logits else count_outside_unit_interval(preds)


def count_outside_unit_interval(values: Tensor) -> Tensor:
    """How many values are not in [0, 1], nan among them."""
    return values.numel() - torch.count_nonzero((values >= 0) & (values <= 1))


def count_not_binary(values: Tensor) -> Tensor:
    """How many values are neither 0 nor 1."""
    return values.numel() - torch.count_nonzero((values == 0) | (values == 1))
