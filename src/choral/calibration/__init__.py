"""Better labels from the scores of any model: learned on rows that the model was not fitted on."""

from choral.calibration.joint import JointCalibrator
from choral.calibration.thresholds import ThresholdTuner

__all__ = ["JointCalibrator", "ThresholdTuner"]
