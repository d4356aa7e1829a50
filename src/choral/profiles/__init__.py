"""The small summaries that add up, and curves made of them."""

from choral.profiles.error_profile import (
    ErrorProfile,
    MixedPredictionsWarning,
    make_profile,
    name_in_messages,
    warn_if_mixed,
)
from choral.profiles.loss_curve import loss_curve, profile_of, profiles_by_name
from choral.profiles.observed_profile import ObservedProfile
from choral.profiles.row_losses import row_losses
from choral.profiles.totals import JointErrors, TotalsByObserved, total_errors

__all__ = [
    "ErrorProfile",
    "JointErrors",
    "MixedPredictionsWarning",
    "ObservedProfile",
    "TotalsByObserved",
    "loss_curve",
    "make_profile",
    "name_in_messages",
    "profile_of",
    "profiles_by_name",
    "row_losses",
    "total_errors",
    "warn_if_mixed",
]
