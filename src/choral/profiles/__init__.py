"""The small summaries that add up, and curves made of them."""

from choral.profiles.error_profile import ErrorProfile
from choral.profiles.joint_errors import JointErrors
from choral.profiles.loss_curve import (
    MixedPredictionsWarning,
    loss_curve,
    name_in_messages,
    profile_of,
    profiles_by_name,
    warn_if_mixed,
)
from choral.profiles.observed_profile import ObservedProfile
from choral.profiles.row_losses import row_losses

__all__ = [
    "ErrorProfile",
    "JointErrors",
    "MixedPredictionsWarning",
    "ObservedProfile",
    "loss_curve",
    "name_in_messages",
    "profile_of",
    "profiles_by_name",
    "row_losses",
    "warn_if_mixed",
]
