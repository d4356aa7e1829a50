"""Time of `AutoJoint` on the published folds of real data: `python benchmarks/joint.py [--folds N]`.

It takes minutes, so `make bench` leaves it out; `--folds 1` tries it on one fold, without judging the aims. Folds run
in two processes with one thread each, as in studies. Data sets are those of ../shared where they are there, else those
that `choral.datasets.load` finds; one that is nowhere is skipped. The aims are those of the project, for ten folds by
the clock; a line that misses one says so, and the exit status is 1.
"""

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config
from measuring import conclude, within

from choral import bayes_curve
from choral.datasets import Dataset, load
from choral.learners import AutoJoint
from choral.paper import published_folds
from choral.study.plan import even_alphas

SHARED = Path(__file__).parents[2] / "shared" / "datasets"
N_FOLDS = 10
LIMITS = {"yeast": 120, "enron-f": 300}  # seconds for all folds
PROCESSES = 2


def fold_seconds(dataset: Dataset, test: np.ndarray) -> list[float]:
    """To fit, to predict the distribution, and to decide for all k and twelve alphas."""
    clock = [time.perf_counter()]
    model = AutoJoint(random_state=0).fit(dataset.X[~test], dataset.Y[~test])
    clock.append(time.perf_counter())
    distribution = model.predict_distribution(dataset.X[test])
    clock.append(time.perf_counter())
    for family, parameters in (("binomial", None), ("polynomial", even_alphas(dataset.Y.shape[1]))):
        bayes_curve(distribution, family, parameters, method="quick")
    clock.append(time.perf_counter())
    return np.diff(clock).tolist()


def measure(name: str, limit: float, n_folds: int) -> None:
    try:
        dataset = load(name)
    except (FileNotFoundError, ModuleNotFoundError):  # neither file nor connection, or nothing to download with
        print(f"{name} is not there: skipped")
        return
    folds = published_folds(name)
    start = time.perf_counter()
    with parallel_config("loky", n_jobs=PROCESSES, inner_max_num_threads=1):
        times = Parallel()(delayed(fold_seconds)(dataset, folds == fold) for fold in range(n_folds))
    total = time.perf_counter() - start
    fit, predict, decide = np.sum(times, axis=0)
    print(
        f"{name}, folds: {n_folds}; fit {fit:.1f} s, predict the distribution {predict:.1f} s, decide {decide:.1f} s; "
        f"deciding takes {decide / fit:.2f} x the time of fitting",
        flush=True,
    )
    if n_folds == N_FOLDS:
        within(f"ten folds of {name}", total, limit)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=N_FOLDS, choices=range(1, N_FOLDS + 1), metavar="N")
    n_folds = parser.parse_args().folds
    if SHARED.is_dir():
        os.environ.setdefault("CHORAL_DATA", str(SHARED))
    for name, limit in LIMITS.items():
        measure(name, limit, n_folds)
    return conclude() if n_folds == N_FOLDS else 0


if __name__ == "__main__":
    sys.exit(main())
