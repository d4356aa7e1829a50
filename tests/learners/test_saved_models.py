"""Models that an earlier choral saved: they load and predict the same, or say clearly why not.

``python scripts/saved_models.py`` writes the files.
"""

import copy
import io
import json
import pickle
import re
from pathlib import Path

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.utils.fixes import parse_version

import choral
from choral import JointCalibrator, ThresholdTuner, learners
from choral.calibration import JointCalibratedClassifier
from choral.learners import BinaryRelevance, JointForest, LabelPowerset, MultiLabelClassifier, PrunedTreeClassifier
from learner_zoo import find_learners, labelled

FILES = sorted(
    (Path(__file__).parents[1] / "data").glob("saved_models_*.npz"),
    key=lambda path: parse_version(path.stem.removeprefix("saved_models_")),
)
CALIBRATION = {made.__name__: made for made in (JointCalibratedClassifier, JointCalibrator, ThresholdTuner)}
WITHOUT_SKLEARN = ("ConstantLabels", "JointCalibrator", "ThresholdTuner")  # nothing of scikit-learn's is saved in them


def read(path):
    """The arrays of a file, which is closed again."""
    with np.load(path) as archive:
        return dict(archive)


SAVED = [(path, key.removesuffix("/model")) for path in FILES for key in read(path) if key.endswith("/model")]


def class_of(name):
    return CALIBRATION.get(name) or getattr(learners, name)


def names_of_changed(saved):
    """The classes whose state has another form by now."""
    states = {key.removesuffix("/state"): saved[key] for key in saved if key.endswith("/state")}
    return [name for name, state in states.items() if state != class_of(name)._state_version]


def skip_other_sklearn(name, saved):
    written = json.loads(str(saved["versions"]))["scikit-learn"]
    if (
        name not in WITHOUT_SKLEARN
        and parse_version(written).release[:2] != parse_version(sklearn.__version__).release[:2]
    ):
        pytest.skip(f"scikit-learn reads its own models in the same version alone; these were saved by {written}.")


def load(saved):
    """The model, or None and why it was refused."""
    try:
        return joblib.load(io.BytesIO(saved)), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.parametrize("path, name", SAVED, ids=[f"{path.stem}-{name}" for path, name in SAVED])
def test_a_model_of_an_earlier_version_predicts_the_same(path, name):
    saved = read(path)
    skip_other_sklearn(name, saved)
    changed = names_of_changed(saved)
    model, refusal = load(saved[f"{name}/model"].tobytes())
    if model is None:
        refused = re.match(r"this (\w+) was saved by choral \S+, in a form that", refusal)
        assert refused, refusal
        assert refused[1] in changed  # the model itself, or one inside it
        return
    assert name not in changed
    assert type(model) is class_of(name)
    features = saved["scores" if name in ("JointCalibrator", "ThresholdTuner") else "X"]
    for method in ("predict", "predict_proba", "predict_curve"):
        if f"{name}/{method}" in saved:
            found = getattr(model, method)(features)
            found = found.labels if method == "predict_curve" else found
            np.testing.assert_allclose(found, saved[f"{name}/{method}"], rtol=1e-6, atol=1e-9)


def test_there_is_a_saved_model_of_every_kind():
    names = {name for path, name in SAVED if path == FILES[-1]}
    assert names == {type(learner).__name__ for learner in find_learners()} | set(CALIBRATION)


# How a state says who wrote it


@pytest.fixture(scope="module")
def model():
    return JointForest(3, random_state=0).fit(*labelled())


def with_other_state(model, **changes):
    """The model saved, its state changed, and loaded again; None takes a key away."""
    state = {**model.__getstate__(), **changes}
    other = type(model)()
    other.__setstate__({key: value for key, value in state.items() if value is not None})
    return other


def test_a_fitted_model_says_which_choral_saved_it(model):
    state = model.__getstate__()
    assert (state["_choral_version"], state["_choral_state"]) == (choral.__version__, JointForest._state_version)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), with_other_state(model)):
        assert vars(again).keys() == vars(model).keys()  # the version is for the file alone
        np.testing.assert_array_equal(again.predict(labelled()[0]), model.predict(labelled()[0]))


def test_another_release_with_the_same_form_is_read(model):
    other = with_other_state(model, _choral_version="99.0")
    np.testing.assert_array_equal(other.predict(labelled()[0]), model.predict(labelled()[0]))


def test_states_of_another_form_are_refused(model):
    number, version = JointForest._state_version, re.escape(choral.__version__)
    newer = rf"this JointForest was saved by choral 99\.0, in a form that choral {version} does not know. Please update"
    with pytest.raises(ValueError, match=newer):
        with_other_state(model, _choral_version="99.0", _choral_state=number + 1)
    older = rf"by choral 0\.0\.1, in a form that choral {version} no longer reads. Please load it with choral 0\.0\.1"
    with pytest.raises(ValueError, match=older):
        with_other_state(model, _choral_version="0.0.1", _choral_state=number - 1)
    with pytest.raises(ValueError, match=rf"by a choral too old to say so; choral {version} cannot read it"):
        with_other_state(model, _choral_version=None, _choral_state=None)


def test_a_class_that_counts_up_refuses_what_it_saved_before(model, monkeypatch):
    saved = pickle.dumps(model)
    monkeypatch.setattr(JointForest, "_state_version", JointForest._state_version + 1)
    with pytest.raises(ValueError, match="no longer reads"):
        pickle.loads(saved)
    inside = BinaryRelevance().fit(*labelled())
    assert pickle.loads(pickle.dumps(inside)).predict(labelled()[0]).shape == (80, 4)  # another class


def test_parameters_alone_bear_no_version(model):
    """The hash of a learner, by which cells of a study are found again, is the same in all versions."""
    for learner in (clone(model), PrunedTreeClassifier(), LabelPowerset(), JointCalibrator(), ThresholdTuner("subset")):
        assert learner.__getstate__() == vars(learner)
        assert pickle.loads(pickle.dumps(learner)).get_params() == learner.get_params()


def test_learners_of_ones_own_bear_it_too():
    class Own(MultiLabelClassifier):
        _state_version = 7

        def fit(self, X, Y):
            self._check_training(X, Y)
            return self

    assert Own().fit(*labelled()).__getstate__()["_choral_state"] == 7
