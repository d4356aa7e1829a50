"""Where label sets hardly repeat: nothing that is learned of a training row may count the row itself, nor its luck."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from choral import BinomialMeasure, bayes_curve
from choral.datasets import make_dependent, read_arff
from choral.learners import (
    AutoJoint,
    BinaryRelevance,
    ExpectedLossClassifier,
    JointForest,
    LogisticJoint,
    StackedJoint,
)


def make_rare(n_rows=900, n_labels=14, seed=0):
    """Labels that go together by three hidden numbers; features tell little, and most label sets occur once."""
    rng = np.random.default_rng(seed)
    X, hidden = rng.normal(size=(n_rows, 8)), rng.normal(size=(n_rows, 3))
    scores = X @ rng.normal(size=(8, n_labels)) / 6 + hidden @ rng.normal(size=(3, n_labels)) / 2
    scores += rng.normal(size=(n_rows, n_labels)) + 0.5 * rng.normal(size=n_labels) - 0.4
    return X, (scores > 0).astype(np.uint8)


def make_known(dependence):
    data = make_dependent(900, 8, dependence, n_features=6)
    return data.X, data.Y


DATA = {
    "rare": make_rare,
    "rare, others": lambda: make_rare(seed=1),
    "independent": lambda: make_known(0),
    "dependent": lambda: make_known(0.7),
}


def halves(X, Y):
    middle = len(X) // 2
    return X[:middle], Y[:middle], X[middle:], Y[middle:]


def losses(model, X, Y):
    """What decisions cost each row, for Hamming loss and for subset 0/1 loss; of shape (2, n_rows)."""
    n_labels = Y.shape[1]
    decided = model.predict_curve(X, parameters=[1, n_labels]).labels
    wrong = (decided != Y).sum(axis=2)
    return np.array([BinomialMeasure(k).deficits(n_labels)[of_k] for k, of_k in zip([1, n_labels], wrong, strict=True)])


def assert_not_worse(pool, member):
    """Not worse than one of its members by more than noise: two standard errors of the differences of rows."""
    behind = pool - member
    noise = behind.std(axis=1) / np.sqrt(behind.shape[1])
    assert (behind.mean(axis=1) <= 2 * noise).all(), (behind.mean(axis=1), noise)


def test_most_of_these_label_sets_occur_once():
    for seed in range(2):
        _, counts = np.unique(make_rare(seed=seed)[1][:450], axis=0, return_counts=True)
        assert np.mean(counts == 1) > 0.8
        assert 0.5 < counts.sum() / len(counts) < 1.25


@pytest.mark.parametrize("name", DATA)
def test_frequencies_of_label_sets_do_no_harm(name):
    X, Y, X_test, Y_test = halves(*DATA[name]())
    model = LogisticJoint([0.1], random_state=0).fit(X, Y)
    assert model.pool_.exponents[0] > 0.2  # the regressions always count
    pool, regressions = (losses(one, X_test, Y_test) for one in (model, Apart(model)))
    assert_not_worse(pool, regressions)
    assert pool[0].mean() < Y_test.mean()  # predicting nothing


class Apart:
    """The regressions of a LogisticJoint, without the frequencies of label sets."""

    def __init__(self, model):
        self.model = model

    def predict_curve(self, X, parameters):
        return bayes_curve(self.model.views(X)[0], parameters=parameters)


@pytest.mark.parametrize("name", DATA)
def test_a_pool_is_not_worse_than_its_best_member(name):
    X, Y, X_test, Y_test = halves(*DATA[name]())
    members = [("forest", JointForest(30)), ("apart", BinaryRelevance(LogisticRegression()))]
    pool = losses(StackedJoint(members, cv=3, random_state=0).fit(X, Y), X_test, Y_test)
    for _, member in members:
        alone = ExpectedLossClassifier(member, random_state=0).fit(X, Y)
        assert_not_worse(pool, losses(alone, X_test, Y_test))


def test_music_where_no_label_set_occurs_twice(more_datasets_folder):
    music = read_arff(more_datasets_folder / "cal500.arff")
    X, Y, X_test, Y_test = halves(music.X, music.Y)
    assert len(np.unique(music.Y, axis=0)) == len(music.Y) == 502
    model = LogisticJoint([0.03], cv=2, random_state=0).fit(X, Y)
    assert model.pool_.exponents[0] > 0.2
    pool, regressions = (losses(one, X_test, Y_test) for one in (model, Apart(model)))
    assert_not_worse(pool, regressions)
    assert pool[0].mean() < Y_test.mean()


@pytest.mark.parametrize("n_labels", [20, 60, 200])
def test_many_labels_whose_sets_do_not_repeat(n_labels):
    """The pool is as good as forests, whose probabilities of labels are all that there is to know."""
    X, Y, X_test, Y_test = halves(*make_rare(800, n_labels))
    assert len(np.unique(Y, axis=0)) > 0.95 * len(Y)
    pool = losses(AutoJoint(100, random_state=0).fit(X, Y), X_test, Y_test)
    for forest in (RandomForestClassifier(100, random_state=0), ExtraTreesClassifier(100, random_state=0)):
        wrong = (forest.fit(X, Y).predict(X_test) != Y_test).sum(axis=1)
        alone = [BinomialMeasure(k).deficits(n_labels)[wrong] for k in (1, n_labels)]
        assert_not_worse(pool, np.array(alone))
