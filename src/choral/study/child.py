"""The child process in which cells run: whatever a learner does there, the study goes on.

A learner may run for ever, use up the memory, crash the interpreter or print. The process reads tasks from its standard
input and writes outcomes to its standard output. BLAS has one thread here: numbers are the same with any number of
processes, and there are no more threads than cores.
"""

import os
import pickle
import random
import signal
import threading
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from choral._last_learner import reach_learner
from choral.decisions import bayes_curve
from choral.decisions.base import Distribution
from choral.measures.families import get_family
from choral.profiles import ErrorProfile
from choral.scores import harden, probabilities_of
from choral.study.cells import Outcome, Task
from choral.study.faults import FAULTS, describe_fault, describe_traceback, text_of
from choral.study.messages import READY, send

MAX_WARNINGS = 5
IDLE_SECONDS = 300.0  # without a task for so long, the process ends: its parent may be gone


def run(task: Task, X: Any, Y: np.ndarray) -> Outcome:
    """Fit and predict; whatever goes wrong is an outcome too."""
    try:
        estimator = pickle.loads(task.estimator)
    except FAULTS as error:  # such as a module that cannot be imported here
        return _failure(error, "the task cannot be read, ")
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            predictions = _predict(task, estimator, X, Y)
            each = predictions if task.parameters else [predictions]
            profiles = tuple(ErrorProfile.from_predictions(Y[task.test], one).to_dict() for one in each)
        except FAULTS as error:
            outcome = _failure(error)
        else:
            outcome = Outcome(predictions, profiles)
    messages = dict.fromkeys(f"{warning.category.__name__}: {text_of(warning.message)}" for warning in caught)
    return replace(outcome, seconds=time.perf_counter() - start, warnings=tuple(messages)[:MAX_WARNINGS])


def _failure(error: BaseException, where: str = "") -> Outcome:
    return Outcome(reason=where + describe_fault(error), details=describe_traceback())


def _predict(task: Task, estimator: Any, X: Any, Y: np.ndarray) -> np.ndarray:
    # a learner that uses the global generators gets the same numbers in every process
    random.seed(task.cell.key)
    np.random.seed(int(task.cell.key[:8], 16))  # noqa: NPY002
    model = clone(estimator)
    model.set_params(**dict.fromkeys(task.seed_parameters, task.cell.seed))
    train = ~task.test
    model.fit(X[train], Y[train])
    n_rows, n_labels = int(task.test.sum()), Y.shape[1]
    if task.parameters:
        return _predict_each_loss(task.parameters, *reach_learner(model, X[task.test]), n_rows, n_labels)
    if task.soft or task.threshold is not None:
        scores = probabilities_of(model, X[task.test], n_labels)
        _check_shape(scores.shape, n_rows, n_labels)
        return scores.astype(np.float32) if task.threshold is None else harden(scores, task.threshold)
    return _check_labels(model.predict(X[task.test]), n_rows, n_labels)


def _predict_each_loss(
    parameters: dict[str, np.ndarray], learner: Any, X: Any, n_rows: int, n_labels: int
) -> np.ndarray:
    """Labels for each parameter of each family: by the learner's own curve, its distribution, or one by one."""
    if hasattr(learner, "predict_curve"):
        curves = [learner.predict_curve(X, family, values).labels for family, values in parameters.items()]
        for labels, values in zip(curves, parameters.values(), strict=True):
            if labels.shape != (expected := (len(values), n_rows, n_labels)):
                raise ValueError(f"predict_curve must return labels of the shape {expected}; got {labels.shape}.")
        return np.concatenate(curves)
    if hasattr(learner, "predict_distribution"):
        distribution = learner.predict_distribution(X)
        if not isinstance(distribution, Distribution):
            kind = type(distribution).__name__
            raise TypeError(f"predict_distribution must return a LabelDistribution or IndependentLabels; got {kind}.")
        _check_shape((distribution.n_instances, distribution.n_labels), n_rows, n_labels)
        given = parameters.items()
        return np.concatenate(
            [bayes_curve(distribution, family, each, method="quick").labels for family, each in given]
        )
    measures = [get_family(family).measure(value) for family, each in parameters.items() for value in each.tolist()]
    return np.stack([_check_labels(learner.predict(X, measure=one), n_rows, n_labels) for one in measures])


def _check_labels(labels: Any, n_rows: int, n_labels: int) -> np.ndarray:
    labels = np.asarray(labels.toarray() if hasattr(labels, "toarray") else labels)
    labels = labels.reshape(-1, 1) if n_labels == 1 else labels  # scikit-learn's are 1-D then
    _check_shape(labels.shape, n_rows, n_labels)
    if not np.isin(labels, (0, 1)).all():
        raise ValueError("predict must return labels 0 and 1; for scores, say predictions = 'soft' or a threshold.")
    return labels.astype(np.uint8)


def _check_shape(shape: tuple[int, ...], n_rows: int, n_labels: int) -> None:
    if shape != (n_rows, n_labels):
        raise ValueError(f"predictions must have the shape {(n_rows, n_labels)}; got {shape}.")


def main() -> None:
    """Run one task after another until the parent closes its end of the pipe."""
    tasks, outcomes = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a learner that reads its input must not read tasks
    os.dup2(2, 1)  # what learners print must not mix with outcomes
    if hasattr(os, "register_at_fork"):  # not on Windows
        # the parent waits for the end of this file: a process that a learner forks must not keep it open
        os.register_at_fork(after_in_child=outcomes.close)
    clock = _IdleClock()
    threading.Thread(target=_end_with_parent, args=(os.getppid(), clock), daemon=True).start()
    send(outcomes, READY, None)
    data: tuple[str, Any, Any] = "", None, None
    while True:
        try:
            task = pickle.load(tasks)
        except EOFError:
            return
        clock.busy = True
        if task.X is None:
            X, Y = data[1:]
        else:
            X, Y = task.X, task.Y
            data = task.data_key, X, Y
        send(outcomes, task.cell.key, run(task, X, Y))
        clock.rest()


class _IdleClock:
    """Whether a task is running, and since when none is."""

    def __init__(self) -> None:
        self.rest()

    def rest(self) -> None:
        self.busy, self.since = False, time.monotonic()


def _end_with_parent(parent: int, clock: _IdleClock) -> None:
    """End this process when its parent has ended, or after a long time without tasks."""
    while os.getppid() == parent and (clock.busy or time.monotonic() - clock.since < IDLE_SECONDS):
        time.sleep(0.5)
    if hasattr(os, "killpg"):  # not on Windows
        os.killpg(os.getpid(), signal.SIGKILL)  # with whatever processes the learner started
    os._exit(1)
