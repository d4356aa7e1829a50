"""Better labels from the scores of any model: learned on rows that the model was not fitted on."""

from choral.calibration.classifier import JointCalibratedClassifier
from choral.calibration.joint import JointCalibrator
from choral.calibration.overlap import AveragedFLoss, AveragedJaccardLoss
from choral.calibration.thresholds import ThresholdTuner

__all__ = ["AveragedFLoss", "AveragedJaccardLoss", "JointCalibratedClassifier", "JointCalibrator", "ThresholdTuner"]
