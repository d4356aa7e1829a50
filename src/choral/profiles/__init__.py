"""The small summary that serves every counting measure, and what is made of predictions by it."""

from choral.profiles.error_profile import ErrorProfile
from choral.profiles.observed import ObservedProfile
from choral.profiles.several import MixedPredictionsWarning, loss_curve, name_in_messages, profiles_by_name

__all__ = [
    "ErrorProfile",
    "MixedPredictionsWarning",
    "ObservedProfile",
    "loss_curve",
    "name_in_messages",
    "profiles_by_name",
]
