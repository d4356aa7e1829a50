"""From scores, logits and predict_proba to what losses take; scorers for model selection."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputClassifier
from sklearn.tree import DecisionTreeClassifier

import choral
from choral import BinomialMeasure, HammingMeasure, RelevanceMeasure, SubsetMeasure


def test_harden_takes_any_range():
    assert choral.harden([[-3.0, 0.0, 2.0]], threshold=0).tolist() == [[0, 1, 1]]
    assert choral.harden([[True, False]]).tolist() == [[1, 0]]
    assert choral.harden([[0.5, 0.49]]).dtype == np.uint8


def test_harden_keeps_sparse_scores_sparse():
    scores = sp.csr_matrix([[0, 0.5, 0.2], [0.9, 0, 0]])
    labels = choral.harden(scores, 0.5)
    assert sp.issparse(labels)
    assert labels.nnz == 2
    assert labels.toarray().tolist() == [[0, 1, 0], [1, 0, 0]]
    assert scores.nnz == 3
    with pytest.raises(ValueError, match="sparse scores must be above 0, the score of absent entries; got 0"):
        choral.harden(scores, 0)


def test_harden_sums_duplicate_entries_first():
    scores = sp.csr_matrix((np.array([0.3, 0.3, 0.5, 0.5]), np.array([0, 0, 1, 1]), np.array([0, 4])), shape=(1, 3))
    assert choral.harden(scores, 0.55).toarray().tolist() == [[1, 1, 0]]
    evaluation = choral.evaluate([[1, 1, 0]], {"a": scores}, threshold=0.55, n_bootstrap=0)
    assert evaluation.curves["a"].losses.tolist() == [0, 0, 0]


def test_harden_top_takes_the_first_of_equals():
    assert choral.harden_top([[0.5, 0.5, 0.1], [-2, -1, -3]], 2).tolist() == [[1, 1, 0], [1, 1, 0]]
    assert choral.harden_top([[0.5, 0.5, 0.1]], 1).tolist() == [[1, 0, 0]]
    assert choral.harden_top(sp.csr_matrix([[0, 0.2, 0]]), 1).tolist() == [[0, 1, 0]]
    assert choral.harden_top([[0.5, 0.1]], 0).tolist() == [[0, 0]]


def test_logits():
    assert choral.scores_from_logits([[0, -800, 800]]).tolist() == [[0.5, 0, 1]]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: choral.harden([[np.nan, 1]]), "scores must not be nan; scores[0, 0] is nan"),
        (lambda: choral.harden([[0.5, 1]], threshold=np.nan), "threshold must be a number; got nan"),
        (lambda: choral.harden([[0.5, 1]], threshold="0.5"), "threshold must be a number; got '0.5'"),
        (lambda: choral.harden(sp.csr_matrix([[0, 0], [0, np.nan]])), "scores must not be nan; scores[1, 1] is nan"),
        (lambda: choral.stack_proba([]), "one array for each label; got 0 arrays"),
        (
            lambda: choral.stack_proba([[[0.9, 0.1]]], classes=[[0, 1], [0, 1]]),
            "one array for each label; got 1 arrays",
        ),
        (lambda: choral.stack_proba([[[0.9, 0.1]]], classes=[["0", "1"]]), "label 0 must be 0 and 1; got ['0', '1']"),
        (lambda: choral.harden_top([[0.5]], 2), "n_relevant must be at most 1, the number of labels; got 2"),
        (lambda: choral.harden_top([[0.5]], -1), "n_relevant must be at least 0; got -1"),
        (lambda: choral.scores_from_logits([[np.nan]]), "logits must not be nan"),
        (lambda: choral.scores_from_logits(sp.csr_matrix([[1.0]])), "logits must be dense"),
        (
            lambda: choral.stack_proba([[[0.9, 0.1]], [[1.0]]]),
            "predict_proba of label 1 must have shape (n_samples, 2)",
        ),
    ],
)
def test_bad_scores_are_refused(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def data(n_rows=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    return X, (X[:, :3] + 0.3 * rng.normal(size=(n_rows, 3)) > 0).astype(int)


def test_stack_proba_follows_the_classes():
    X, Y = data()
    Y[:, 1] = 0  # a label with one class only
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    scores = choral.stack_proba(forest.predict_proba(X), forest.classes_)
    assert scores.shape == Y.shape
    assert (scores[:, 1] == 0).all()  # scikit-learn's last column would say 1
    assert choral.hamming_loss(Y, scores) < 0.2
    np.testing.assert_array_equal(choral.stack_proba(scores), scores)


def test_stack_proba_takes_a_sparse_matrix():
    np.testing.assert_array_equal(choral.stack_proba(sp.csr_matrix([[0, 0.5], [0.25, 0]])), [[0, 0.5], [0.25, 0]])


def test_stack_proba_wants_a_matrix_or_a_list():
    with pytest.raises(TypeError, match="a matrix, or a list with an array for each label; got NoneType"):
        choral.stack_proba(None)


def test_scorers_work_in_model_selection():
    X, Y = data()
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    scores = cross_val_score(tree, X, Y, scoring=choral.make_scorer(BinomialMeasure(2)), cv=3)
    folds = [np.arange(60)[i * 20 : (i + 1) * 20] for i in range(3)]
    for score, test in zip(scores, folds, strict=True):
        train = np.setdiff1d(np.arange(60), test)
        predicted = tree.fit(X[train], Y[train]).predict(X[test])
        assert score == pytest.approx(-choral.binomial_loss(Y[test], predicted, k=2))
    search = GridSearchCV(tree, {"max_depth": [1, 5]}, scoring=choral.make_scorer(SubsetMeasure()), cv=3).fit(X, Y)
    assert search.best_params_ == {"max_depth": 5}


@pytest.mark.parametrize(
    "estimator", [RandomForestClassifier(5, random_state=0), MultiOutputClassifier(LogisticRegression())]
)
def test_scorers_judge_probabilities(estimator):
    X, Y = data()
    scorer = choral.make_scorer(HammingMeasure(), response="predict_proba")
    fitted = estimator.fit(X, Y)
    expected = choral.hamming_loss(Y, np.column_stack([p[:, 1] for p in fitted.predict_proba(X)]))
    assert scorer(fitted, X, Y) == pytest.approx(-expected)
    weight = np.arange(60)
    assert scorer(fitted, X, Y, sample_weight=weight) != scorer(fitted, X, Y)


def test_scorers_know_a_label_that_never_occurred():
    X, Y = data()
    Y[:, 1] = 0
    scorer = choral.make_scorer(HammingMeasure(), response="predict_proba")
    forest = RandomForestClassifier(5, random_state=0).fit(X, Y)
    expected = choral.hamming_loss(Y, choral.stack_proba(forest.predict_proba(X), forest.classes_))
    assert scorer(forest, X, Y) == pytest.approx(-expected)


@pytest.mark.parametrize("response", ["predict", "predict_proba"])
def test_scorers_work_for_a_single_label(response):
    X, Y = data()
    tree = DecisionTreeClassifier(max_depth=1).fit(X, Y[:, :1])
    positive = tree.predict(X) if response == "predict" else tree.predict_proba(X)[:, 1]
    expected = choral.hamming_loss(Y[:, :1], np.reshape(positive, (-1, 1)))
    assert choral.make_scorer(HammingMeasure(), response)(tree, X, Y[:, :1]) == pytest.approx(-expected)


def test_scorers_are_values():
    scorer = choral.make_scorer(RelevanceMeasure(HammingMeasure(), 1.0))
    assert pickle.loads(pickle.dumps(scorer)) == scorer
    X, Y = data()
    assert -1 <= scorer(DummyClassifier().fit(X, Y), X, Y) <= 0


def test_bad_scorers_are_refused():
    with pytest.raises(ValueError, match="response must be 'predict' or 'predict_proba'; got 'decision_function'"):
        choral.make_scorer(HammingMeasure(), response="decision_function")
    with pytest.raises(TypeError, match="measure must be one of choral.measures, FLoss or JaccardLoss; got 'hamming'"):
        choral.make_scorer("hamming")
