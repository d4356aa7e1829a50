"""Speed of trees and of the learners made of them: `make bench`, or `python benchmarks/learners.py [part ...]`.

Parts: datasets, sklearn, threads, growth. Needs the data sets and published folds beside the project, in ../shared,
but for threads and growth. The aims are those of the project; a line that misses one says so, and the exit status is 1.
MEKA's and CLUS's seconds are constants, taken once on another day: the ratio to them moves with the machine.
"""

import sys
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from measuring import conclude, judge, misses
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from choral.datasets import Dataset, read_arff
from choral.learners import (
    BinaryRelevance,
    ClassifierChain,
    LabelPowerset,
    PredictiveClusteringForest,
    PredictiveClusteringTree,
    PrunedTreeClassifier,
    RandomKLabelsets,
)
from choral.trees import grow_tree, sort_features

SHARED = Path(__file__).parents[2] / "shared"
LEARNERS = {
    "BR": BinaryRelevance(),
    "CC": ClassifierChain(),
    "LP": LabelPowerset(),
    "RAkEL-3": RandomKLabelsets(k=3, random_state=0),
    "PCT": PredictiveClusteringTree(),
    "EPCT": PredictiveClusteringForest(random_state=0),
}
JAVA_SECONDS = {"emotions": 49, "birds": 190, "scene": 479, "yeast": 527, "medical": 597}  # MEKA and CLUS, same folds
GOALS = {"emotions": 10, "birds": 10, "scene": 10, "yeast": 10, "medical": 40}  # times as fast
REPEATS = 5


def read(name: str) -> tuple[Dataset, np.ndarray]:
    (path,) = (SHARED / "datasets").glob(f"{name}.arff*")
    return read_arff(path), np.loadtxt(SHARED / "reference" / "folds" / f"{name}.txt", dtype=int)


def cpu_time(learner, dataset: Dataset, folds: np.ndarray) -> float:
    start = time.process_time()
    for fold in np.unique(folds):
        test = folds == fold
        learner.fit(dataset.X[~test], dataset.Y[~test]).predict(dataset.X[test])
    return time.process_time() - start


def warm_up() -> None:
    """Compile what is not compiled yet, or read it from the disk."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 3)), rng.integers(2, size=(60, 3))
    for learner in LEARNERS.values():
        clone(learner).fit(X, Y)


def time_datasets() -> None:
    for name, java in JAVA_SECONDS.items():
        dataset, folds = read(name)
        times = {label: cpu_time(clone(learner), dataset, folds) for label, learner in LEARNERS.items()}
        total = sum(times.values())
        print(f"{name}: " + ", ".join(f"{label} {seconds:.2f} s" for label, seconds in times.items()), flush=True)
        reaches(f"six learners, ten folds of {name} ({total:.1f} s) beside MEKA and CLUS ({java} s)",
                java / total, GOALS[name])  # fmt: skip


def compare_with_sklearn() -> None:
    for name in JAVA_SECONDS:
        dataset, folds = read(name)
        X, Y = dataset.X[folds != 0], dataset.Y[folds != 0]
        labels = [y for y in Y.T if y.any() and not y.all()]
        theirs = best_time(lambda X=X, labels=labels: [
            DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0).fit(X, y) for y in labels
        ], 2)  # fmt: skip
        ours = best_time(lambda X=X, Y=Y: BinaryRelevance(PrunedTreeClassifier(confidence=None)).fit(X, Y), 3)
        judge(f"entropy trees of {len(labels)} labels, {name}", "beside scikit-learn's, not pruned", ours / theirs,
              "of its time", 1.0)  # fmt: skip


def reaches(what: str, ratio: float, at_least: float) -> None:
    verdict = "ok" if ratio >= at_least else "MISSED"
    print(f"{what:<80} {ratio:6.1f} times as fast   at least {at_least:g}   {verdict}", flush=True)
    if ratio < at_least:
        misses.append(what)


def best_time(function, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def time_threads() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2400, 300))
    Y = (X[:, :16] + X[:, 1:17] + rng.normal(size=(2400, 16)) > 1.5).astype(int)
    for name, learner in (("BR", BinaryRelevance()), ("EPCT", PredictiveClusteringForest(random_state=0))):
        models = [clone(learner).set_params(n_jobs=n_jobs) for n_jobs in (1, 2)]
        one, two = (best_time(lambda model=model: model.fit(X, Y), REPEATS) for model in models)
        reaches(f"{name}, two jobs ({two:.2f} s) beside one ({one:.2f} s), best of {REPEATS} each", one / two, 1.7)


def measure_growth() -> None:
    rng = np.random.default_rng(0)
    times = {}
    for n_rows in (10_000, 100_000):
        X = rng.normal(size=(n_rows, 100)).astype(np.float32)
        y = (X[:, :5].sum(axis=1) + rng.normal(size=n_rows) > 1).astype(int)[:, np.newaxis]
        features = sort_features(X)
        grown = grow_tree(features, y)
        levels = np.log2(n_rows)
        times[n_rows] = best_time(lambda f=features, y=y: grow_tree(f, y), 3) / n_rows / levels
        print(f"{n_rows} x 100: {1e9 * times[n_rows]:.0f} ns a row and doubling, {grown.tree.left.size} nodes")
    judge(
        "one tree, 100,000 x 100",
        "beside 10,000 x 100, a row and doubling",
        times[100_000] / times[10_000],
        "times",
        1.5,
    )
    X = rng.normal(size=(100_000, 100))
    tracemalloc.start()
    grow_tree(sort_features(X), (X[:, :1] > 0).astype(int))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    judge("memory of one tree, 100,000 x 100", "beside that of the features", peak / X.nbytes, "times", 3)


PARTS = {
    "datasets": time_datasets,
    "sklearn": compare_with_sklearn,
    "threads": time_threads,
    "growth": measure_growth,
}


def main(names: list[str]) -> int:
    warnings.filterwarnings("ignore", "the clustering tree is a single node")  # on some folds of birds
    warm_up()
    for name in names or list(PARTS):
        if name in ("datasets", "sklearn") and not SHARED.is_dir():
            print(f"{name}: real data is not at ../shared: skipped")
            continue
        PARTS[name]()
    return conclude()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
