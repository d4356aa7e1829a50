"""Better labels from the scores of any model: learned on rows that the model was not fitted on."""

from choral.calibration.classifier import JointCalibratedClassifier
from choral.calibration.comparing import RuleComparison, compare_rules, compare_threshold, left_out_curves
from choral.calibration.joint import JointCalibrator
from choral.calibration.rule_files import load_rule, save_rule
from choral.calibration.thresholds import ThresholdTuner

__all__ = [
    "JointCalibratedClassifier",
    "JointCalibrator",
    "RuleComparison",
    "ThresholdTuner",
    "compare_rules",
    "compare_threshold",
    "left_out_curves",
    "load_rule",
    "save_rule",
]
