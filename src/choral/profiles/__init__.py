"""The small summaries that add up, and curves made of them."""

from choral.profiles.each_loss import DecidedLabels, EachLossProfile, Predictions
from choral.profiles.error_profile import (
    ErrorProfile,
    MixedPredictionsWarning,
    ModelRows,
    make_profile,
    name_in_messages,
    open_models,
    warn_if_mixed,
)
from choral.profiles.label_error_rates import LabelErrorRates, independent_curve
from choral.profiles.loss_curve import curves_by_name, loss_curve
from choral.profiles.observed_profile import ObservedProfile
from choral.profiles.row_losses import row_losses
from choral.profiles.totals import JointErrors, TotalsByObserved, total_errors

__all__ = [
    "DecidedLabels",
    "EachLossProfile",
    "ErrorProfile",
    "JointErrors",
    "LabelErrorRates",
    "MixedPredictionsWarning",
    "ModelRows",
    "ObservedProfile",
    "Predictions",
    "TotalsByObserved",
    "curves_by_name",
    "independent_curve",
    "loss_curve",
    "make_profile",
    "name_in_messages",
    "open_models",
    "row_losses",
    "total_errors",
    "warn_if_mixed",
]
