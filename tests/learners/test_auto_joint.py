"""AutoJoint as a user meets it: time budgets, progress, a summary, threads and clusters."""

import time

import numpy as np
import pytest
from joblib import parallel_config

from choral.datasets import make_dependent
from choral.learners import AutoJoint, LogisticJoint, logistic_joint
from choral.learners.pooled import OutOfTime

DATA = make_dependent(300, 5, 0.6, n_features=6)
X, Y = DATA.X, DATA.Y
NAMES = ["sparse regressions", "boosted trees", "forest"]


def test_a_line_for_each_member(capsys):
    model = AutoJoint(20, verbose=True, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == NAMES
    for line, member in zip(lines, model.members_, strict=True):
        assert line == f"{member.name}: {member.seconds:.1f} s, Brier score of left-out rows {member.brier:.4f}"
    AutoJoint(20, random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_a_summary_of_all_members():
    model = AutoJoint(20, random_state=0).fit(X, Y)
    text = str(model.summary())
    assert text.splitlines()[0] == f"AutoJoint: score of left-out rows {model.pool_.score:.4f} (at most 1)"
    assert all(name in text for name in NAMES)
    assert "Left out" not in text


@pytest.mark.parametrize("n_rows, n_folds", [(3, 3), (60, 6), (1000, 6), (1001, 4)])
def test_folds_of_few_and_of_many_rows(n_rows, n_folds):
    assert AutoJoint()._folds(n_rows) == n_folds
    assert AutoJoint(cv=5)._folds(n_rows) == 5
    with pytest.raises(
        ValueError, match="cv must be 'auto', a number of folds, a splitter or pairs of rows; got 'all'"
    ):
        AutoJoint(cv="all").fit(X, Y)


@pytest.mark.parametrize("budget", [0, -1, float("nan")])
def test_a_budget_that_is_refused(budget):
    with pytest.raises(ValueError, match="time_budget must be above 0 seconds, or None for no limit; got"):
        AutoJoint(time_budget=budget).fit(X, Y)


def test_a_short_budget_grows_less():
    """A budget that is over at once: what cannot be done is left out, and of the rest the least is done."""
    model = AutoJoint(300, time_budget=1e-6, random_state=0).fit(X, Y)
    assert [name for name, _ in model.estimators_] == NAMES[1:]
    assert list(model.left_out_) == NAMES[:1]
    assert len(model.estimators_[1][1].trees_) < 300
    assert str(model.summary()).splitlines()[-1].startswith("Left out: sparse regressions, which would take about ")
    assert np.mean(model.predict(X) == Y) > 0.6


def test_a_long_budget_changes_nothing():
    plenty, unlimited = (AutoJoint(20, time_budget=seconds, random_state=0).fit(X, Y) for seconds in (1e6, None))
    np.testing.assert_array_equal(plenty.predict_proba(X), unlimited.predict_proba(X))
    assert plenty.left_out_ == {}


def test_what_is_left_out_is_told(capsys):
    AutoJoint(20, time_budget=1e-6, verbose=True, random_state=0).fit(X, Y)
    assert capsys.readouterr().out.startswith("sparse regressions: left out, which would take about ")


def test_regressions_that_would_not_be_done_are_not_begun(monkeypatch):
    fits = []
    real = logistic_joint._fit_labels
    monkeypatch.setattr(logistic_joint, "_fit_labels", lambda *given: fits.append(1) or real(*given))
    with pytest.raises(OutOfTime, match=r"which would take about .* s; 0\.0 s were left for it"):
        LogisticJoint(random_state=0).fit_views(X, Y, deadline=time.monotonic())
    assert len(fits) == 1


def test_strengths_are_tried_while_there_is_time(monkeypatch):
    """By a clock on which every look takes a second: a strength takes one, too, and the third would not be done."""
    seconds = iter(range(100))
    monkeypatch.setattr(logistic_joint.time, "monotonic", lambda: float(next(seconds)))
    tried = []
    real = LogisticJoint._fit_folds

    def spy(self, data, splits, labels, strength):
        tried.append(strength)
        return real(self, data, splits, labels, strength)

    monkeypatch.setattr(LogisticJoint, "_fit_folds", spy)
    monkeypatch.setattr(LogisticJoint, "_check_time", lambda *given: None)
    LogisticJoint([0.01, 0.02, 0.03, 0.04], random_state=0).fit_views(X, Y, deadline=3.5)
    assert tried == [0.01, 0.02]


def test_members_are_fitted_on_a_cluster():
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    alone = AutoJoint(20, random_state=0).fit(X, Y)
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        with parallel_config("dask"):
            model = AutoJoint(20, random_state=0).fit(X, Y)
        done = client.run_on_scheduler(lambda dask_scheduler: dict(dask_scheduler.task_prefixes))
        names = " ".join(done)
    for work in ("fit_labels", "boost", "grow"):
        assert work in names
    np.testing.assert_array_equal(model.predict_proba(X), alone.predict_proba(X))
