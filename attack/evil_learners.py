"""Learners that misbehave, one way each, while they learn from a fold; `Good` does what it should, slowly if told to.

The classes that derive from `Evil` are found by the attack: to try another evil, add a class.
"""

import ctypes
import gc
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator

LONG = 600.0  # seconds; the time limit of the study is shorter


class Good(BaseEstimator):
    """Says that a label is there where its feature is above the mean."""

    def __init__(self, seconds=0.0, bias=0.0):
        self.seconds = seconds
        self.bias = bias

    def fit(self, X, Y):
        time.sleep(self.seconds)
        self.means_ = X[:, : Y.shape[1]].mean(axis=0) + self.bias
        return self

    def predict(self, X):
        return (X[:, : len(self.means_)] > self.means_).astype(int)

    def predict_proba(self, X):
        return 1 / (1 + np.exp(self.means_ - X[:, : len(self.means_)]))


class Evil(Good):
    """Misbehaves in `fit`, unless it says otherwise."""

    def fit(self, X, Y):
        super().fit(X, Y)
        self.misbehave(X, Y)
        return self

    def misbehave(self, X, Y):
        """What it does while it learns."""


# Raising


class RaisesInFit(Evil):
    def misbehave(self, X, Y):
        raise KeyError("no\nsuch\tthing")


class RaisesInPredict(Evil):
    def predict(self, X):
        raise ZeroDivisionError


class RaisesInClone(Evil):
    def __sklearn_clone__(self):
        raise RuntimeError("no clone of me")


class RaisesInSetParams(Evil):
    def set_params(self, **parameters):
        raise RuntimeError("nothing is set")


class RaisesInGetParams(Evil):
    def get_params(self, deep=True):
        raise RuntimeError("nothing is told")


class RaisesInRepr(Evil):
    def __repr__(self, N_CHAR_MAX=700):
        raise RuntimeError("no name")


class RaisesInReduce(Evil):
    def __reduce_ex__(self, protocol):
        raise RuntimeError("not to be sent")


class RaisesInReduceAtTimes(Evil):
    """May be sent three times in a process."""

    n_times = 0

    def __reduce_ex__(self, protocol):
        type(self).n_times += 1
        if self.n_times > 3:
            raise RuntimeError("no more")
        return super().__reduce_ex__(protocol)


class RaisesInPackages(Evil):
    @property
    def packages(self):
        raise RuntimeError("nothing is said of packages")


class RaisesWhenUnpickled(Evil):
    def __setstate__(self, state):
        raise RuntimeError("does not wake up")

    def __getstate__(self):
        return {"a": 1}


class RaisesBaseException(Evil):
    def misbehave(self, X, Y):
        raise BaseException("above all")


class RaisesKeyboardInterrupt(Evil):
    def misbehave(self, X, Y):
        raise KeyboardInterrupt


class RaisesGeneratorExit(Evil):
    def misbehave(self, X, Y):
        raise GeneratorExit


class RaisesSystemExit(Evil):
    def misbehave(self, X, Y):
        sys.exit("enough")


class RaisesMemoryError(Evil):
    def misbehave(self, X, Y):
        raise MemoryError


class RaisesSurrogates(Evil):
    def misbehave(self, X, Y):
        raise ValueError("lone \ud800 surrogate \udfff\x00\u202e")


class RaisesLongText(Evil):
    def misbehave(self, X, Y):
        raise ValueError("a" * 50_000_000)


class RaisesUnprintable(Evil):
    def misbehave(self, X, Y):
        class Unprintable(Exception):
            def __str__(self):
                raise RuntimeError("no text")

        raise Unprintable


class RaisesUnknownClass(Evil):
    def misbehave(self, X, Y):
        raise type("<img src=x onerror=attack()>", (Exception,), {})("=1+1")


class Recurses(Evil):
    def misbehave(self, X, Y):
        self.misbehave(X, Y)


class WarnsAsErrors(Evil):
    def misbehave(self, X, Y):
        warnings.simplefilter("error")
        warnings.warn("an error by now", stacklevel=1)


class WarnsWithSurrogates(Evil):
    def misbehave(self, X, Y):
        for number in range(50):
            warnings.warn(f"{number} \ud800\n<b>", stacklevel=1)


# Ending the process


class Exits(Evil):
    def misbehave(self, X, Y):
        os._exit(0)


class ExitsWithStatus(Evil):
    def misbehave(self, X, Y):
        os._exit(77)


class Aborts(Evil):
    def misbehave(self, X, Y):
        os.abort()


class ReadsNull(Evil):
    def misbehave(self, X, Y):
        ctypes.string_at(0)


class KillsItself(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), signal.SIGKILL)


class SendsSegfault(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), signal.SIGSEGV)


class SendsRealTimeSignal(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), 40)


class SendsTerm(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), signal.SIGTERM)


class StopsItself(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), signal.SIGSTOP)


class KillsItsGroup(Evil):
    def misbehave(self, X, Y):
        os.killpg(0, signal.SIGKILL)


class InterruptsItself(Evil):
    def misbehave(self, X, Y):
        os.kill(os.getpid(), signal.SIGINT)


class OverflowsTheStack(Evil):
    def misbehave(self, X, Y):
        sys.setrecursionlimit(10**9)
        nested = []
        for _ in range(10**6):
            nested = [nested]
        repr(nested)


# Taking for ever, taking everything


class NeverEnds(Evil):
    def misbehave(self, X, Y):
        while True:
            pass


class SleepsDeaf(Evil):
    def misbehave(self, X, Y):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        time.sleep(LONG)


class NeverPredicts(Evil):
    def predict(self, X):
        time.sleep(LONG)


class AllocatesTooMuch(Evil):
    def misbehave(self, X, Y):
        np.ones(2**50)


class AllocatesUpToItsLimit(Evil):
    def misbehave(self, X, Y):
        resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
        self.kept_ = [bytes(2**24) for _ in range(1000)]


class OpensTooManyFiles(Evil):
    def misbehave(self, X, Y):
        self.kept_ = [os.open(os.devnull, os.O_RDONLY) for _ in range(10**7)]


# Files, pipes and output


class WritesIntoEveryDescriptor(Evil):
    def misbehave(self, X, Y):
        for number in range(1, 64):
            try:
                os.write(number, b"\x80\x04garbage\n" * 100)
            except OSError:
                pass


class ClosesEveryDescriptor(Evil):
    def misbehave(self, X, Y):
        os.closerange(0, 256)


class WritesAPickle(Evil):
    """An outcome of its own making into each pipe."""

    def misbehave(self, X, Y):
        import pickle

        content = pickle.dumps("ready")
        for number in range(3, 64):
            try:
                os.write(number, content)
            except OSError:
                pass


class PrintsGarbage(Evil):
    def misbehave(self, X, Y):
        print("what learners say " * 100_000, flush=True)
        os.write(1, b"\x80\x00\xff" * 100_000)
        os.write(2, b"\x1b[31m" * 1000)


class ReadsInput(Evil):
    def misbehave(self, X, Y):
        input("yes or no? ")


class ClosesOutput(Evil):
    def misbehave(self, X, Y):
        sys.stdout.close()
        sys.stderr.close()


class RemovesItsModules(Evil):
    def misbehave(self, X, Y):
        for name in list(sys.modules):
            if name.startswith(("choral", "numpy", "pickle")):
                del sys.modules[name]


class ChangesFolder(Evil):
    def misbehave(self, X, Y):
        os.chdir("/")
        os.environ.clear()


# Processes and threads left behind


class Forks(Evil):
    def misbehave(self, X, Y):
        if os.fork() == 0:
            time.sleep(LONG)
            os._exit(0)


class ForksIntoTheTask(Evil):
    """Two processes that go on as if they were the one."""

    def misbehave(self, X, Y):
        os.fork()


class LeavesADaemon(Evil):
    """A process of another session that holds all files open, and one that runs into the time limit."""

    def misbehave(self, X, Y):
        if os.fork() == 0:
            os.setsid()
            time.sleep(60)
            os._exit(0)
        time.sleep(LONG)


class LeavesAProgram(Evil):
    def misbehave(self, X, Y):
        subprocess.Popen(["sleep", "60"], close_fds=False, start_new_session=True)


class LeavesThreads(Evil):
    def misbehave(self, X, Y):
        for _ in range(20):
            threading.Thread(target=time.sleep, args=(LONG,)).start()


class ExitsInAThread(Evil):
    def misbehave(self, X, Y):
        threading.Thread(target=lambda: (time.sleep(0.05), os._exit(5)), daemon=True).start()
        time.sleep(0.5)


class ExitsLater(Evil):
    """While another cell runs, perhaps."""

    def misbehave(self, X, Y):
        threading.Thread(target=lambda: (time.sleep(0.02), os._exit(5)), daemon=True).start()


class WritesLater(WritesIntoEveryDescriptor):
    def misbehave(self, X, Y):
        write = super().misbehave
        threading.Thread(target=lambda: (time.sleep(0.02), write(X, Y)), daemon=True).start()


class RaisesInDel(Evil):
    def __del__(self):
        raise RuntimeError("not to be thrown away")


# Data and predictions


class ChangesItsData(Evil):
    def misbehave(self, X, Y):
        X[:] = np.nan
        Y[:] = 7
        for found in gc.get_objects():
            if isinstance(found, np.ndarray) and found.flags.writeable and found.shape[:1] == (ROWS,):
                found[:] = 0


class SeedsEverything(Evil):
    def misbehave(self, X, Y):
        np.random.seed(1)  # noqa: NPY002
        np.seterr(all="raise")


class Predicts(Evil):
    """Something else than labels."""

    def change(self, labels):
        raise NotImplementedError

    def predict(self, X):
        return self.change(super().predict(X))


class PredictsNothing(Predicts):
    def change(self, labels):
        return None


class PredictsTooFewRows(Predicts):
    def change(self, labels):
        return labels[1:]


class PredictsTooManyLabels(Predicts):
    def change(self, labels):
        return np.hstack([labels, labels])


class PredictsOneDimension(Predicts):
    def change(self, labels):
        return labels.ravel()


class PredictsNan(Predicts):
    def change(self, labels):
        return np.where(labels, np.nan, 0.0)


class PredictsText(Predicts):
    def change(self, labels):
        return labels.astype(str)


class PredictsObjects(Predicts):
    def change(self, labels):
        return np.full(labels.shape, {}, dtype=object)


class PredictsComplex(Predicts):
    def change(self, labels):
        return labels + 1j


class PredictsALiar(Predicts):
    """An array whose methods raise."""

    def change(self, labels):
        class Liar:
            shape = labels.shape

            def __array__(self, *arguments, **options):
                raise KeyboardInterrupt("no array")

        return Liar()


class PredictsHugeView(Predicts):
    def change(self, labels):
        return np.broadcast_to(np.int8(0), (2**40, labels.shape[1]))


ROWS = 24


def load():
    """The data of these studies: features of which the first is the number of the row."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    Y = (X[:, :3] + rng.normal(scale=0.7, size=(ROWS, 3)) > 0).astype(np.uint8)
    X[:, 3] = np.arange(ROWS)
    return X, Y


def all_evils() -> list[str]:
    """The names of all evils here."""
    found = [Evil]
    for kind in found:
        found.extend(kind.__subclasses__())
    return [kind.__name__ for kind in found if kind not in (Evil, Predicts)]
