"""Better labels from the scores of any model: learned on rows that the model was not fitted on."""

from choral.calibration.thresholds import ThresholdTuner

__all__ = ["ThresholdTuner"]
