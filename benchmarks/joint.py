"""What `AutoJoint` costs, beside scikit-learn's forest of 300 trees: `python benchmarks/joint.py [part ...]`.

It takes a quarter of an hour, so `make bench` leaves it out. Parts, all unless some are named:

* datasets: fit and predict on four fifths and one fifth of each data set, as CPU seconds of one process. Data sets are
  those of ../shared where they are there, else those that `choral.datasets.load` finds; one that is nowhere is skipped.
* growth: two large shapes of texts made here, each in a process of its own, with its peak of memory; and the time per
  row from 2,000 to 30,000 rows.
* size: a saved model beside a saved forest.
* deciding: 10,000 rows for one loss and for a family.
* budget: whether time_budget is kept, and whether more of it makes new rows better.
* threads: time by the clock beside CPU time, and with two jobs beside one, without limits from outside.

The aims are those of the project; a line that misses one says so, and the exit status is 1.
"""

import argparse
import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from measuring import conclude, judge, within
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from words import make_words

from choral import BinomialMeasure, bayes_curve, bayes_optimal, evaluate
from choral.datasets import load, read_arff
from choral.learners import AutoJoint

SHARED = Path(__file__).parents[2] / "shared"
DATASETS = ("flags", "emotions", "genbase", "birds", "medical", "yeast", "scene", "enron-f", "llog-f")
MORE_DATASETS = ("foodtruck", "chd-49", "gnegative-go", "cal500")
SHAPES = ((21_500, 500, 22), (4_500, 499, 374))  # rows, words, labels
ROWS = (2_000, 8_000, 30_000)
BUDGETS = (2.0, 4.0, 8.0, 16.0)  # seconds


def cpu_seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def find(name: str) -> Any:
    """A data set, or None if it is nowhere."""
    try:
        return load(name) if name in DATASETS else read_arff(SHARED / "more-datasets" / f"{name}.arff")
    except (FileNotFoundError, ModuleNotFoundError):  # neither file nor connection, or nothing to download with
        return None


def datasets() -> None:
    """The time of AutoJoint beside that of the forest."""
    ratios = []
    for name in (*DATASETS, *MORE_DATASETS):
        dataset = find(name)
        if dataset is None:
            print(f"{name} is not there: skipped")
            continue
        X, X_test, Y, _ = train_test_split(dataset.X, dataset.Y, test_size=0.2, random_state=0)

        def seconds(model: Any, X: Any = X, Y: Any = Y, X_test: Any = X_test) -> float:
            return cpu_seconds(lambda: model.fit(X, Y).predict(X_test))

        ours, theirs = seconds(AutoJoint(random_state=0)), seconds(RandomForestClassifier(300, random_state=0))
        ratios.append(ours / theirs)
        judge(f"fit and predict {name}", f"{ours:7.1f} s, forest {theirs:6.1f} s", ratios[-1], "x its time", 4)
    judge("median over data sets", "", float(np.median(ratios)), "x its time", 3)


def fitted_in_words(learner: Any, n_rows: int, n_words: int, n_labels: int) -> tuple[float, float]:
    """CPU seconds to fit texts of this shape, and the peak of memory of the process, in GiB."""
    data = make_words(n_rows, n_words, n_labels)
    seconds = cpu_seconds(lambda: learner.fit(data.X, data.Y))
    return seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_a_process(learner: Any, *shape: int) -> tuple[float, float]:
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(fitted_in_words, (learner, *shape))


def growth() -> None:
    """Large data: time beside the forest, memory, and time per row."""
    for shape in SHAPES:
        ours, memory = in_a_process(AutoJoint(random_state=0), *shape)
        theirs, _ = in_a_process(RandomForestClassifier(300, random_state=0), *shape)
        what = " x ".join(f"{size:,}" for size in shape)
        judge(f"fit {what}", f"{ours:7.1f} s, forest {theirs:6.1f} s", ours / theirs, "x its time", 1)
        judge(f"memory of {what}", "", memory, "GiB at the peak", 3)
    a_row = []
    for n_rows in ROWS:
        seconds, _ = in_a_process(AutoJoint(random_state=0), n_rows, 500, 22)
        a_row.append(1e3 * seconds / n_rows)
        print(f"{n_rows:,} rows: {a_row[-1]:.2f} ms a row", flush=True)
    judge("time a row at 30,000 rows", "", a_row[-1] / a_row[0], "x that at 2,000", 1)


def size() -> None:
    """Saved models, by joblib without compression."""
    for name in ("emotions", "yeast"):
        dataset = find(name)
        if dataset is None:
            print(f"{name} is not there: skipped")
            continue
        learners = AutoJoint(random_state=0), RandomForestClassifier(300, random_state=0)
        ours, theirs = (saved_size(learner.fit(dataset.X, dataset.Y)) for learner in learners)
        judge(f"saved model of {name}", f"{ours:7.1f} MiB, forest {theirs:6.1f} MiB", ours / theirs, "x its size", 1)


def saved_size(model: Any) -> float:
    """In MiB."""
    file = BytesIO()
    joblib.dump(model, file)
    return file.tell() / 2**20


def deciding() -> None:
    """10,000 rows for one loss, and for a family."""
    data = make_words(12_000, 500, 22)
    model = AutoJoint(random_state=0).fit(data.X[:2000], data.Y[:2000])
    distribution = model.predict_distribution(data.X[2000:])
    measure = BinomialMeasure(11)
    decide = partial(bayes_optimal, distribution, measure, method="quick")
    within("decide 10,000 rows for one loss", cpu_seconds(decide), 5)
    within("decide 10,000 rows for a family", cpu_seconds(lambda: bayes_curve(distribution, method="quick")), 30)
    within("predict 10,000 rows for one loss", cpu_seconds(lambda: model.predict(data.X[2000:], measure)), 10)


def budget() -> None:
    """Seconds by the clock beside what was allowed, the pool's own score, and the mean loss of new rows over all k.

    The score is of as many training rows as there was time to look at, so that of another budget is of other rows.
    """
    data, scores, losses = make_words(5_000, 500, 22), [], []
    X, X_test, Y, Y_test = train_test_split(data.X, data.Y, test_size=2_000, random_state=0)
    for allowed in BUDGETS:
        start = time.perf_counter()
        model = AutoJoint(time_budget=allowed, random_state=0).fit(X, Y)
        taken = time.perf_counter() - start
        scores.append(model.pool_.score)
        losses.append(float(np.mean(evaluate(Y_test, {"auto": model.predict_curve(X_test)}).curves["auto"].losses)))
        found = f"score {scores[-1]:.4f}, loss {losses[-1]:.4f}"
        judge(f"time_budget={allowed:g}", found, taken / allowed, "x what was allowed", 1.2)
    judge("largest fall of the score with more time", "", float(-np.diff(scores).min()), "", 0.0)
    judge("largest rise of the loss with more time", "", float(np.diff(losses).max()), "", 0.0)


def threads() -> None:
    """The clock beside CPU time for a small fit of many models, and with two jobs beside one."""
    dataset = find("emotions")
    if dataset is None:
        print("emotions is not there: skipped")
        return
    taken = {}
    for n_jobs in (None, 2):
        model = AutoJoint(50, n_jobs=n_jobs, random_state=0)
        model.fit(dataset.X[:200], dataset.Y[:200])  # workers start
        start, cpu = time.perf_counter(), time.process_time()
        model.fit(dataset.X[:200], dataset.Y[:200])
        taken[n_jobs], used = time.perf_counter() - start, time.process_time() - cpu
        if n_jobs is None:
            judge("200 rows of emotions", f"{taken[None]:.1f} s", taken[None] / used, "x CPU time", 1.5)
    judge("200 rows of emotions, n_jobs=2", f"{taken[2]:.1f} s", taken[2] / taken[None], "x the time of one job", 1.5)


PARTS = {part.__name__: part for part in (datasets, growth, size, deciding, budget, threads)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    parts = parser.parse_args().parts
    if unknown := [name for name in parts if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]!r}; there are {', '.join(PARTS)}.")
    if (SHARED / "datasets").is_dir():
        os.environ.setdefault("CHORAL_DATA", str(SHARED / "datasets"))
    for name in parts or PARTS:
        PARTS[name]()
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
