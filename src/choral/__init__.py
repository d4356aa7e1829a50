"""choral: judge multi-label predictions by how well labels are right together.

`evaluate` shows models along the whole slide from Hamming to subset 0/1 loss; the losses, measures and curves
behind it are here too.
"""

from importlib import import_module
from typing import Any

from choral._version import __version__ as __version__
from choral.averaged_losses import AveragedFLoss, AveragedJaccardLoss
from choral.curves import LossCurve, PairwiseCurve
from choral.decisions import (
    BayesCurve,
    Decision,
    IndependentLabels,
    LabelDistribution,
    bayes_curve,
    bayes_optimal,
    expected_curve,
    regret,
)
from choral.evaluation import Evaluation, evaluate
from choral.explanation import Explanation, Explanations, explain, loss_shares
from choral.integrals import choquet_integral, choquet_integral_moebius
from choral.loss_names import loss_by_name
from choral.losses import (
    binomial_loss,
    choquet_loss,
    covering_loss,
    f_loss,
    hamming_loss,
    jaccard_loss,
    owa_loss,
    polynomial_loss,
    subset_loss,
)
from choral.measures import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    RelevanceMeasure,
    SubsetMeasure,
    WhichK,
    which_k,
)
from choral.overlap import FLoss, JaccardLoss
from choral.profiles import ErrorProfile, MixedPredictionsWarning, ObservedProfile, independent_curve, loss_curve
from choral.scores import harden, harden_top, scores_from_logits, stack_proba
from choral.scoring import make_scorer
from choral.stats import MultilabelStratifiedKFold

SUBPACKAGES = (
    "calibration",
    "datasets",
    "displays",
    "integrations",
    "learners",
    "nn",
    "paper",
    "report",
    "stats",
    "study",
)  # imported when they are asked for: choral stays light
DISPLAYS = (  # likewise
    "ChoquetDisplay",
    "CriticalDifferenceDisplay",
    "DecisionDisplay",
    "DependenceDisplay",
    "ErrorPairsDisplay",
    "LabelSharesDisplay",
    "LossCurveDisplay",
    "PairGridDisplay",
    "PairwiseDisplay",
    "RatioDisplay",
)
CALIBRATION = ("JointCalibratedClassifier", "JointCalibrator", "ThresholdTuner")  # likewise

__all__ = [
    "AdditiveMeasure",
    "AtLeastMeasure",
    "AveragedFLoss",
    "AveragedJaccardLoss",
    "BayesCurve",
    "BinomialMeasure",
    "Capacity",
    "CountingMeasure",
    "CoveringMeasure",
    "Decision",
    "ErrorProfile",
    "Evaluation",
    "Explanation",
    "Explanations",
    "FLoss",
    "HammingMeasure",
    "IndependentLabels",
    "JaccardLoss",
    "LabelDistribution",
    "LossCurve",
    "MixedPredictionsWarning",
    "MoebiusMeasure",
    "MultilabelStratifiedKFold",
    "ObservedProfile",
    "PairwiseCurve",
    "PolynomialMeasure",
    "RelevanceMeasure",
    "SubsetMeasure",
    "WhichK",
    "bayes_curve",
    "bayes_optimal",
    "binomial_loss",
    "choquet_integral",
    "choquet_integral_moebius",
    "choquet_loss",
    "covering_loss",
    "evaluate",
    "expected_curve",
    "explain",
    "f_loss",
    "hamming_loss",
    "harden",
    "harden_top",
    "independent_curve",
    "jaccard_loss",
    "loss_by_name",
    "loss_curve",
    "loss_shares",
    "make_scorer",
    "owa_loss",
    "polynomial_loss",
    "regret",
    "scores_from_logits",
    "stack_proba",
    "subset_loss",
    "which_k",
]


def __getattr__(name: str) -> Any:
    if name in SUBPACKAGES:
        return import_module(f"choral.{name}")
    if name in DISPLAYS:
        return getattr(import_module("choral.displays"), name)
    if name in CALIBRATION:
        return getattr(import_module("choral.calibration"), name)
    raise AttributeError(f"module 'choral' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *SUBPACKAGES, *DISPLAYS, *CALIBRATION, "__version__"])
