"""Small learners and data for tests of studies; child processes and workers of a cluster import them from here.

Files named by environment variables reach any process: learners note there that they run (`RUNS`), and wait for or do
without their trouble according to whether a file is there (`GATE`, `CURED`).
"""

import ctypes
import os
import random
import signal
import threading
import time
import warnings
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info

from choral import IndependentLabels
from choral.study import Plan, StudyData, child

RUNS, GATE, CURED = "STUDY_ZOO_RUNS", "STUDY_ZOO_GATE", "STUDY_ZOO_CURED"
LONG = 600.0  # seconds; no test waits for that


def make_data(n_rows=24, n_labels=3):
    """Features of which the first is the number of the row; labels that follow the others with mistakes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_labels + 1))
    X[:, 0] = np.arange(n_rows)
    Y = (X[:, 1:] + rng.normal(scale=0.7, size=(n_rows, n_labels)) > 0).astype(np.uint8)
    return X, Y


def small_plan(*learners, **options):
    """A data set of 24 rows in two given halves, unless the split is told."""
    folds = None if "split" in options else np.arange(24) // 12
    return Plan([StudyData("d", make_data, folds=folds)], learners, **options)


def run_here(workers, task):
    """What `choral.study.worker.run_task` does, without a child process, which takes a second or two to start."""
    return task.cell, child.run(task, task.X, task.Y)


def note(*words):
    """Add a line to the file that RUNS names, at once: several processes may do so."""
    if path := os.environ.get(RUNS):
        with open(path, "ab", buffering=0) as file:
            file.write(" ".join(map(str, words)).encode() + b"\n")


class Stumps(BaseEstimator):
    """Says that a label is there where its feature is above the mean; notes each of its runs."""

    def __init__(self, bias=0.0):
        self.bias = bias

    def fit(self, X, Y):
        note(type(self).__name__, self.bias, *np.setdiff1d(np.arange(X[:, 0].max() + 1), X[:, 0])[:1])
        self.means_ = X[:, 1:].mean(axis=0) + self.bias
        return self

    def predict(self, X):
        return (X[:, 1:] > self.means_).astype(int)

    def predict_proba(self, X):
        return 1 / (1 + np.exp(self.means_ - X[:, 1:]))


class Quiet(Stumps):
    """Stumps that predict as `ConstantLabels` does where there are few labels."""

    def __init__(self, random_state=None):
        super().__init__()
        self.random_state = random_state  # asks for a cell for each seed

    def fit(self, X, Y):
        self.is_quiet_ = Y.shape[1] <= 3
        self.shares_ = Y.mean(axis=0)
        return super().fit(X, Y)

    def predict(self, X):
        return super().predict(X) * (not self.is_quiet_)

    def predict_proba(self, X):
        return np.tile(self.shares_, (len(X), 1)) if self.is_quiet_ else super().predict_proba(X)

    def predict_distribution(self, X):
        marginals = super().predict_proba(X)
        return IndependentLabels(np.zeros_like(marginals) if self.is_quiet_ else marginals)


class Always(BaseEstimator):
    """These labels for every row."""

    def __init__(self, labels=()):
        self.labels = labels

    def fit(self, X, Y):
        return self

    def predict(self, X):
        return np.tile(self.labels, (len(X), 1))


class Noisy(Stumps):
    """Stumps with random mistakes."""

    def __init__(self, bias=0.0, random_state=None):
        super().__init__(bias)
        self.random_state = random_state

    def predict(self, X):
        return super().predict(X) ^ (np.random.default_rng(self.random_state).random((len(X), X.shape[1] - 1)) < 0.2)


class Unseeded(Stumps):
    """Stumps with mistakes by the generators that all of a process shares."""

    def predict(self, X):
        chance = np.random.random((len(X), X.shape[1] - 1)) + random.random() / 2  # noqa: NPY002
        return super().predict(X) ^ (chance < 0.5)


class Waiting(Stumps):
    """Notes who it is, starts a process that sleeps, and waits until there is a file called GATE."""

    def fit(self, X, Y):
        if not os.path.exists(os.environ[GATE]):
            sleeper = os.fork()
            if sleeper == 0:
                time.sleep(LONG)
                os._exit(0)
            note(os.getppid(), os.getpid(), sleeper)
            while not os.path.exists(os.environ[GATE]):
                time.sleep(0.05)
            os.kill(sleeper, signal.SIGKILL)
        return super().fit(X, Y)


class Unsendable(Stumps):
    def __reduce__(self):
        raise RuntimeError("no way out")


class Secretive(Stumps):
    def get_params(self, deep=True):
        raise RuntimeError("no parameters for you")


class Tiring(Stumps):
    """May be sent a few times in a process, then no more."""

    patience = 0

    def __reduce__(self):
        type(self).patience -= 1
        if self.patience < 0:
            raise RuntimeError("too tired")
        return super().__reduce__()


class Unprintable(Stumps):
    def __repr__(self):
        raise SystemExit("no words")


class Unversioned(Stumps):
    @property
    def packages(self):
        raise RuntimeError("no packages")


class Haunting(Stumps):
    """Leaves a thread behind that ends the process as soon as there is a file called GATE."""

    def fit(self, X, Y):
        threading.Thread(target=self.haunt, daemon=True).start()
        return super().fit(X, Y)

    def haunt(self):
        while not os.path.exists(os.environ[GATE]):
            time.sleep(0.01)
        os._exit(5)


class Opening(Stumps):
    """Opens the gate; the first to do so then waits for what comes in."""

    def fit(self, X, Y):
        super().fit(X, Y)
        if not os.path.exists(os.environ[GATE]):
            open(os.environ[GATE], "w").close()
            time.sleep(LONG)
        return self


class Troubled(Stumps):
    """In trouble where row 0 is not among those it learns from, unless there is a variable CURED."""

    def fit(self, X, Y):
        self.in_trouble_ = X[0, 0] > 0 and CURED not in os.environ
        if self.in_trouble_:
            self.trouble()
        return super().fit(X, Y)

    def trouble(self):
        """What happens while it learns."""


class Raising(Troubled):
    def trouble(self):
        raise KeyError("no\n  such thing")


class Silent(Troubled):
    def trouble(self):
        raise RuntimeError


class Sleeping(Troubled):
    def trouble(self):
        time.sleep(LONG)


class Killed(Troubled):
    def trouble(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Signalled(Troubled):
    """Ended by a real-time signal, which has no name."""

    def trouble(self):
        os.kill(os.getpid(), signal.SIGRTMIN + 6)


class Writing(Troubled):
    """Writes into every file that is open, the pipe for its result among them, and goes on."""

    def trouble(self):
        for number in range(3, 64):
            with suppress(OSError):
                os.write(number, b"x" * 50)


class Closing(Troubled):
    """Closes every file, the pipe for its result among them, and goes on."""

    def trouble(self):
        os.closerange(3, 64)
        time.sleep(LONG)


class Escaping(Troubled):
    """Leaves a process behind that holds on to its files and is beyond the reach of signals to its group."""

    def trouble(self):
        if ctypes.CDLL(None).fork() == 0:  # unlike os.fork, it tells nobody
            os.setsid()
            time.sleep(30)
            os._exit(0)
        time.sleep(LONG)


class Surrogate(Troubled):
    def trouble(self):
        warnings.warn("half of a pair: \ud800", stacklevel=1)
        raise ValueError("half of a pair: \udfff")


class Talking(Troubled):
    def trouble(self):
        warnings.warn("b" * 10**6, stacklevel=1)
        raise ValueError("a" * 10**6)


class Leaving(Troubled):
    def trouble(self):
        raise SystemExit("enough")


class Mute(Troubled):
    def trouble(self):
        raise Speechless


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


class ParentKilling(Troubled):
    """Ends the process that started its own."""

    def trouble(self):
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(LONG)


class Forking(Troubled):
    """Dies, and leaves a process behind that holds on to its files."""

    def trouble(self):
        if os.fork() == 0:
            time.sleep(LONG)
        os._exit(3)


class Asking(Troubled):
    def trouble(self):
        input("yes or no? ")


class Printing(Troubled):
    def trouble(self):
        print("what learners say " * 5000, flush=True)
        os.write(1, b"\x80 not an outcome")
        os.system("echo from a process of its own")


class Warning(Troubled):
    def trouble(self):
        for number in range(9):
            warnings.warn(f"number {number}", stacklevel=1)
            warnings.warn("again", FutureWarning, stacklevel=1)


class Threads(Troubled):
    """Warns of how many threads each library would use."""

    def trouble(self):
        warnings.warn(f"threads: {sorted({pool['num_threads'] for pool in threadpool_info()})}", stacklevel=1)


class Returning(Troubled):
    """Returns something else than a matrix of 0 and 1."""

    def __init__(self, what="sparse"):
        super().__init__()
        self.what = what

    def predict(self, X):
        good = super().predict(X)
        return CHANGES[self.what](good) if self.in_trouble_ else good


class Joint(Stumps):
    """Stumps with a distribution that is what its name says."""

    def __init__(self, what="good"):
        super().__init__()
        self.what = what

    def predict_distribution(self, X):
        return DISTRIBUTIONS[self.what](self.predict_proba(X))


class Curved(Joint):
    """Stumps that decide for each loss in a way of their own: no label, but for the first one with all losses."""

    def predict_curve(self, X, family="binomial", parameters=None):
        labels = np.zeros((len(parameters), len(X), X.shape[1] - 1), dtype=np.uint8)
        labels[..., 0] = 1
        return SimpleNamespace(labels=labels[1:] if self.what == "narrow" else labels)


class Asked(Stumps):
    """Stumps that know the loss they are asked for: all labels of a loss that forgives one, else none."""

    def predict(self, X, measure=None):
        forgives = measure.deficits(X.shape[1] - 1)[1] < 1
        return np.full((len(X), X.shape[1] - 1), int(forgives))


DISTRIBUTIONS = {
    "good": IndependentLabels,
    "narrow": lambda marginals: IndependentLabels(marginals[:, 1:]),
    "short": lambda marginals: IndependentLabels(marginals[1:]),
    "marginals": lambda marginals: marginals,
}

CHANGES = {
    "sparse": sp.csr_array,
    "lists": np.ndarray.tolist,
    "booleans": lambda good: good.astype(bool),
    "narrow": lambda good: good[:, 1:],
    "short": lambda good: good[1:],
    "flat": np.ndarray.ravel,
    "nan": lambda good: np.where(good, np.nan, 0.0),
    "text": lambda good: good.astype(str),
    "two": lambda good: 2 * good,
    "nothing": lambda good: None,
}
