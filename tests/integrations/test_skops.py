"""The recipe for skops runs as it stands on its page, and other models go the same way."""

import numpy as np
import pytest

import choral
from choral.datasets import load_digits_segments
from choral.learners import AutoJoint, ClassifierChain, PredictiveClusteringTree
from recipe_pages import require, run_page

require("skops")


def test_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = run_page("skops.md")
    X = names["digits"].X[600:]
    assert (names["again"].predict(X) == names["model"].predict(X)).all()


def back_and_forth(model):
    import skops.io

    data = skops.io.dumps(model)
    return skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))


@pytest.mark.parametrize("learner", [AutoJoint(random_state=0), ClassifierChain(), PredictiveClusteringTree()], ids=str)
def test_learners(learner):
    digits = load_digits_segments()
    model = learner.fit(digits.X[:150], digits.Y[:150])
    assert (back_and_forth(model).predict(digits.X[150:250]) == model.predict(digits.X[150:250])).all()


def test_calibrator():
    rng = np.random.default_rng(0)
    Y = rng.integers(0, 2, (200, 4))
    scores = np.clip(Y * 0.4 + rng.random((200, 4)) * 0.6, 0, 1)
    model = choral.JointCalibrator().fit(scores, Y)
    assert (back_and_forth(model).predict(scores) == model.predict(scores)).all()
