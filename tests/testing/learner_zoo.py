"""Learners found by themselves, and data to fit them on."""

import inspect

import numpy as np

from choral import learners
from choral.learners import BinaryRelevance, ExpectedLossClassifier, JointForest, LabelPowerset

SMALL = {  # options that make any learner quick to fit and repeatable, where it has them
    "estimators": lambda: [("together", JointForest(5)), ("apart", BinaryRelevance())],
    "n_estimators": lambda: 20,
    "n_rounds": lambda: 20,
    "strategy": lambda: "most_frequent",
    "strengths": lambda: [0.3],
    "cv": lambda: 2,
    "random_state": lambda: 0,
}


def find_learners():
    """One small learner of each class in ``choral.learners.__all__``; a parent of learners has no ``fit``."""
    public = [getattr(learners, name) for name in learners.__all__]
    return [make_small(made) for made in public if inspect.isclass(made) and hasattr(made, "fit")]


def make_small(made):
    """A small learner of some class."""
    parameters = inspect.signature(made).parameters
    learner = made(**{name: option() for name, option in SMALL.items() if name in parameters})
    return learner.set_params(estimator=LabelPowerset()) if made is ExpectedLossClassifier else learner  # not a forest


def labelled(n_rows=80, n_labels=4, seed=0):
    """Labels that depend on features, on each other, and on chance."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5)).round(1)
    X[rng.random(X.shape) < 0.3] = 0
    scores = X @ rng.normal(size=(5, n_labels)) + 0.7 * rng.normal(size=(n_rows, n_labels))
    scores[:, -1] += scores[:, 0]
    return X, (scores > 0.3).astype(int)
