"""The losses that `scripts/network_study.py` trains with: of outputs and targets, a loss for each row."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

import choral
from choral.nn import ChoquetLoss, LabelSetLoss
from choral.nn.label_sets import label_set_losses

RowLosses = Callable[[Tensor, Tensor], Tensor]
SURROGATES = ("logistic", "absolute")
LABEL_SETS = "label sets, k = {}"
MAX_LABELSETS = 1000  # of a fold's training rows; no data set of the study has as many
FOCAL_GAMMA = 2.0
ASYMMETRIC_GAMMA_NEGATIVE, ASYMMETRIC_GAMMA_POSITIVE, ASYMMETRIC_CLIP = 4.0, 1.0, 0.05
OUT_OF_REACH = -1e4  # the logit of a label set that a fold does not have: probability 0, no gradient


@dataclass(frozen=True)
class Training:
    """A loss to train with.

    Attributes
    ----------
    row_losses : callable
        The loss of each row, of outputs and targets. Targets are labels, or gains of label sets.
    k : int, optional
        Networks score label sets, for the binomial loss with this k.
    """

    row_losses: RowLosses
    k: int | None = None


def places(n_labels: int) -> dict[str, int]:
    """The k at which networks are trained and judged.

    Examples
    --------
    >>> places(14)
    {'1': 1, '2': 2, 'K/2': 7, 'K': 14}
    """
    return {"1": 1, "2": 2, "K/2": n_labels // 2, "K": n_labels}


def trainings(n_labels: int) -> dict[str, Training]:
    """All losses by name; the logistic surrogate at k = 1 is BCE.

    Examples
    --------
    >>> len(trainings(14))
    14
    """
    found = {"BCE": Training(binary_cross_entropy)}
    for surrogate in SURROGATES:
        for place, k in places(n_labels).items():
            if (surrogate, k) != ("logistic", 1):
                loss = ChoquetLoss(choral.BinomialMeasure(k), surrogate, reduction="none")
                found[f"{surrogate}, k = {place}"] = Training(loss)
    for place, k in places(n_labels).items():
        found[LABEL_SETS.format(place)] = Training(label_set_losses, k)
    return {**found, "focal": Training(focal), "asymmetric": Training(asymmetric)}


def binary_cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """The mean over labels."""
    return F.binary_cross_entropy_with_logits(logits, target, reduction="none").mean(dim=1)


def focal(logits: Tensor, target: Tensor) -> Tensor:
    r"""The focal loss, :math:`-(1 - p)^\gamma \log p` with p the probability of what is true, a mean over labels.

    T.-Y. Lin, P. Goyal, R. Girshick, K. He and P. Dollár, "Focal loss for dense object detection", ICCV 2017, with
    their gamma; labels are not weighted.
    """
    margins = (2 * target - 1) * logits
    return -((-margins).sigmoid() ** FOCAL_GAMMA * F.logsigmoid(margins)).mean(dim=1)


def asymmetric(logits: Tensor, target: Tensor) -> Tensor:
    r"""The asymmetric loss, a mean over labels.

    Of a relevant label :math:`-(1 - p)^{\gamma_+} \log p`, of another :math:`-p_m^{\gamma_-} \log(1 - p_m)` with
    :math:`p_m = \max(p - m, 0)`: T. Ridnik, E. Ben-Baruch, N. Zamir, A. Noy, I. Friedman, M. Protter and
    L. Zelnik-Manor, "Asymmetric loss for multi-label classification", ICCV 2021. The settings are the defaults of the
    authors' code (Alibaba-MIIL/ASL), which sums over labels and rows.
    """
    p = logits.sigmoid()
    shifted = (p - ASYMMETRIC_CLIP).clamp(min=0)
    relevant = (1 - p) ** ASYMMETRIC_GAMMA_POSITIVE * F.logsigmoid(logits)
    irrelevant = shifted**ASYMMETRIC_GAMMA_NEGATIVE * torch.log1p(-shifted)
    return -(target * relevant + (1 - target) * irrelevant).mean(dim=1)


def label_sets_of(train: Tensor, k: int) -> LabelSetLoss:
    """The candidates of a fold: the label sets of its training rows."""
    return LabelSetLoss.from_targets(train, choral.BinomialMeasure(k), max_labelsets=MAX_LABELSETS)
