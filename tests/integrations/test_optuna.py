"""The recipe for Optuna runs as it stands on its page."""

import numpy as np
import pytest

from recipe_pages import require, run_page

optuna = require("optuna")

pytestmark = pytest.mark.filterwarnings("default")  # what other packages say of each other is not our error


def test_page():
    names = run_page("optuna.md")
    study, by_area, two_ends = names["study"], names["by_area"], names["two_ends"]
    curves = [trial.user_attrs["curve"] for trial in study.trials]
    assert study.best_value == min(curve[2] for curve in curves)  # k = 3
    assert all(np.diff(curve).min() >= 0 for curve in curves)
    complete = [trial for trial in by_area.trials if trial.state == optuna.trial.TrialState.COMPLETE]
    assert by_area.best_value == min(trial.value for trial in complete) < 0.2
    values = np.array([trial.values for trial in two_ends.best_trials])
    assert len(values) >= 1
    assert not any((values < one).all(axis=1).any() for one in values)
