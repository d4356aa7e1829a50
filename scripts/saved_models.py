"""Save one small fitted model of each kind, with what it predicts: later versions of choral must predict the same.

``python scripts/saved_models.py`` writes tests/data/saved_models_VERSION.npz, and prints the size of each model in it.
``tests/learners/test_saved_models.py`` loads all such files. Files of released versions stay as they are. A class whose
fitted attributes changed their meaning since counts up its ``_state_version``; then its old models must be refused.

A file holds, under the name of each model, its bytes (as joblib writes them), the ``_state_version`` of its class, and
what it predicts for the features ``X`` (``scores`` for those that learn from scores of another model). And the versions
of packages, since scikit-learn promises to read its own trees in the same version alone.
"""

import io
import json
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import MultiOutputClassifier

import choral
from choral import JointCalibrator, ThresholdTuner
from choral.calibration import JointCalibratedClassifier

TESTS = Path(__file__).parents[1] / "tests"
sys.path.append(str(TESTS / "testing"))
from learner_zoo import find_learners, labelled  # noqa: E402

COMPRESSION = ("xz", 9)
TREES = 4  # of a forest: the file stays small
PACKAGES = ("choral", "numpy", "scipy", "scikit-learn")


def fit_models(X: np.ndarray, scores: np.ndarray, Y: np.ndarray) -> Iterator[tuple[str, Any, bool]]:
    """The name of each model, the fitted model, and whether it takes scores in place of features."""
    regressions = MultiOutputClassifier(LogisticRegression())
    for learner in [*find_learners(), JointCalibratedClassifier(regressions, cv=2, random_state=0)]:
        if "n_estimators" in learner.get_params():
            learner.set_params(n_estimators=TREES)
        target = Y[:, 0] if type(learner).__name__ == "PrunedTreeClassifier" else Y
        yield type(learner).__name__, learner.fit(X, target), False
    for calibrator in (JointCalibrator(n_components=2, cv=2), ThresholdTuner("subset", per_label=True)):
        yield type(calibrator).__name__, calibrator.fit(scores, Y), True


def predictions(model: Any, features: np.ndarray) -> dict[str, np.ndarray]:
    """What a model predicts by all the methods it has."""
    found = {"predict": np.asarray(model.predict(features))}
    if hasattr(model, "predict_proba"):
        found["predict_proba"] = model.predict_proba(features)
    if hasattr(model, "predict_curve"):
        found["predict_curve"] = model.predict_curve(features).labels
    return found


def to_bytes(model: Any) -> bytes:
    """A model as joblib saves it."""
    file = io.BytesIO()
    joblib.dump(model, file, compress=COMPRESSION)
    return file.getvalue()


def main() -> None:
    """Write the file."""
    X, Y = labelled(n_rows=60, n_labels=3)
    new = labelled(n_rows=20, n_labels=3, seed=1)[0]
    scorer = MultiOutputClassifier(LogisticRegression()).fit(X, Y)
    scores, new_scores = (np.column_stack([p[:, 1] for p in scorer.predict_proba(rows)]) for rows in (X, new))
    arrays: dict[str, np.ndarray] = {"X": new, "scores": new_scores}
    for name, model, takes_scores in fit_models(X, scores, Y):
        saved = to_bytes(model)
        arrays[f"{name}/model"] = np.frombuffer(saved, dtype=np.uint8)
        arrays[f"{name}/state"] = np.array(model._state_version)
        for method, values in predictions(model, new_scores if takes_scores else new).items():
            arrays[f"{name}/{method}"] = values
        print(f"{name}: {len(saved) / 1024:.1f} KiB")
    versions = {name: choral.__version__ if name == "choral" else version(name) for name in PACKAGES}
    path = TESTS / "data" / f"saved_models_{choral.__version__}.npz"
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(path, versions=json.dumps(versions), **arrays)
    print(f"{path.name}: {path.stat().st_size / 1024:.1f} KiB")


if __name__ == "__main__":
    main()
