"""Time and memory of calibrators: `make bench`, or `python benchmarks/calibration.py`.

The aims are those of the project; a line that misses one says so, and the exit status is 1.
"""

import argparse
import sys
import time
from functools import partial

import numpy as np
from measuring import conclude, peak_memory, seconds, within

from choral import BinomialMeasure, FLoss, JointCalibrator, SubsetMeasure, ThresholdTuner

N_ROWS, N_LABELS, N_LABELSETS = 10_000, 50, 2_000


def scored_rows(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Label sets of which a few are frequent and many rare, and noisy logits that are too low."""
    labelsets = np.unique(rng.random((3 * N_LABELSETS, N_LABELS)) < 0.07, axis=0)
    labelsets = rng.permutation(labelsets)[:N_LABELSETS]
    rare, frequent = rng.integers(N_LABELSETS, size=N_ROWS), rng.zipf(1.3, size=N_ROWS).clip(max=N_LABELSETS) - 1
    which = np.where(rng.random(N_ROWS) < 0.5, rare, frequent)
    which[:N_LABELSETS] = np.arange(N_LABELSETS)  # each of them occurs
    Y = labelsets[rng.permutation(which)].astype(np.uint8)
    return rng.normal(2.2 * (2.0 * Y - 1) - 1, 1.5), Y


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    scores, Y = scored_rows(rng)
    size = f"{N_ROWS:,} x {N_LABELS}, {len(np.unique(Y, axis=0)):,} label sets"
    print(size)
    (fitting,) = seconds([lambda: JointCalibrator().fit(scores, Y)], options.repeats)
    within("JointCalibrator().fit", fitting, 20)
    for measure in (SubsetMeasure(), BinomialMeasure(3), FLoss()):
        calibrator = JointCalibrator().fit(scores, Y)
        start = time.perf_counter()
        rule = calibrator.chosen_rule(measure)
        print(f"  the rule for {measure}, {rule}, is chosen once, in {time.perf_counter() - start:.2f} s")
        (deciding,) = seconds([partial(calibrator.predict, scores, measure)], options.repeats)
        within(f"predict, {measure}", deciding, 5)
    (tuning,) = seconds([lambda: ThresholdTuner("f1").fit(scores, Y)], options.repeats)
    within("ThresholdTuner('f1').fit", tuning, 5)
    peak_memory("fitting a JointCalibrator", lambda: JointCalibrator().fit(scores, Y), 1024)
    peak_memory("deciding for one loss", lambda: calibrator.predict(scores, SubsetMeasure()), 1024)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
