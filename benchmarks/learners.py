"""CPU time of the learners on ten folds of real data: `make bench`, or `python benchmarks/learners.py`.

Needs the data sets and published folds beside the project, in ../shared. The aims are those of the project; a line that
misses one says so, and the exit status is 1.
"""

import sys
import time
from pathlib import Path

import numpy as np
from measuring import conclude, within

from choral.datasets import Dataset, read_arff
from choral.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    PredictiveClusteringForest,
    PredictiveClusteringTree,
    RandomKLabelsets,
)

SHARED = Path(__file__).parents[2] / "shared"
LEARNERS = {
    "BR": BinaryRelevance(),
    "CC": ClassifierChain(),
    "LP": LabelPowerset(),
    "RAkEL-3": RandomKLabelsets(k=3, random_state=0),
    "PCT": PredictiveClusteringTree(),
    "EPCT": PredictiveClusteringForest(random_state=0),
}
LIMITS = {"medical": 40, "birds": 60}  # seconds for all learners together


def cpu_time(learner, dataset: Dataset, folds: np.ndarray) -> float:
    start = time.process_time()
    for fold in np.unique(folds):
        test = folds == fold
        learner.fit(dataset.X[~test], dataset.Y[~test]).predict(dataset.X[test])
    return time.process_time() - start


def main() -> int:
    if not SHARED.is_dir():
        print("learners are timed on real data, which is not at ../shared: skipped")
        return 0
    for name, limit in LIMITS.items():
        (path,) = (SHARED / "datasets").glob(f"{name}.arff*")
        dataset, folds = read_arff(path), np.loadtxt(SHARED / "reference" / "folds" / f"{name}.txt", dtype=int)
        times = {label: cpu_time(learner, dataset, folds) for label, learner in LEARNERS.items()}
        print(f"{name}: " + ", ".join(f"{label} {seconds:.1f} s" for label, seconds in times.items()), flush=True)
        within(f"six learners, ten folds of {name}", sum(times.values()), limit)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
