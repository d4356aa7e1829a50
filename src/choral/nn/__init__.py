"""Losses and metrics for PyTorch: the same measures, the same small summary, on tensors."""

from choral._optional import require

for _package in ("torch", "torchmetrics"):
    require(_package, "torch")

from choral.nn import functional  # noqa: E402
from choral.nn.label_sets import LabelSetLoss  # noqa: E402
from choral.nn.metric import DependenceCurve  # noqa: E402
from choral.nn.modules import ChoquetLoss  # noqa: E402

__all__ = ["ChoquetLoss", "DependenceCurve", "LabelSetLoss", "functional"]
