"""MLkNN beside a slow version that follows its definition."""

import numpy as np
import pytest
import scipy.sparse as sp

from choral import IndependentLabels
from choral.learners import MLkNN, ml_knn
from learner_zoo import labelled

X, Y = labelled(n_rows=60)
NEW, _ = labelled(n_rows=25, seed=1)


def nearest(x, rows, n_neighbors, own=None):
    """The numbers of the nearest rows, of equally near ones the first."""
    distances = [(round(float(((x - row) ** 2).sum()), 9), number) for number, row in enumerate(rows) if number != own]
    return [number for _, number in sorted(distances)[:n_neighbors]]


def probability(label, x, n_neighbors, smoothing):
    """The probability of one label of one row, by the formulas of Zhang and Zhou."""
    counts = {0: [0] * (n_neighbors + 1), 1: [0] * (n_neighbors + 1)}
    for row in range(len(Y)):
        counts[Y[row, label]][sum(Y[near, label] for near in nearest(X[row], X, n_neighbors, own=row))] += 1
    prior = (smoothing + Y[:, label].sum()) / (2 * smoothing + len(Y))
    here = sum(Y[near, label] for near in nearest(x, X, n_neighbors))
    likelihood = {
        value: (smoothing + counts[value][here]) / (smoothing * (n_neighbors + 1) + sum(counts[value]))
        for value in (0, 1)
    }
    return prior * likelihood[1] / (prior * likelihood[1] + (1 - prior) * likelihood[0])


@pytest.mark.parametrize("n_neighbors, smoothing", [(10, 1.0), (3, 0.5), (1, 2.0)])
def test_probabilities_are_those_of_the_definition(n_neighbors, smoothing, monkeypatch):
    expected = [[probability(label, x, n_neighbors, smoothing) for label in range(4)] for x in NEW]
    model = MLkNN(n_neighbors, smoothing=smoothing).fit(X, Y)
    np.testing.assert_allclose(model.predict_proba(NEW), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(NEW), np.array(expected) > 0.5)
    sparse = MLkNN(n_neighbors, smoothing=smoothing).fit(sp.csr_array(X), Y)
    np.testing.assert_allclose(sparse.predict_proba(sp.csr_array(NEW)), expected, rtol=1e-12)
    few_rows = ml_knn.row_slices
    monkeypatch.setattr(ml_knn, "row_slices", lambda shape, itemsize: few_rows(shape, itemsize, block_bytes=7 * 8 * 60))
    in_blocks = MLkNN(n_neighbors, smoothing=smoothing).fit(X, Y)
    np.testing.assert_allclose(in_blocks.predict_proba(NEW), expected, rtol=1e-12)


def test_tables_that_it_learns():
    # Two clusters of three rows: each row has two neighbours of its own cluster.
    features, labels = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]]), np.array([[1, 1, 1, 0, 0, 0]]).T
    model = MLkNN(n_neighbors=2).fit(features, labels)
    assert model.priors_ == pytest.approx([0.5])
    # with the label 3 rows have 2 such neighbours, without it 3 rows have none; smoothed 4 / 6 and 1 / 6
    assert model.posteriors_ == pytest.approx(np.array([[0.2, 0.5, 0.8]]))
    assert model.predict_distribution([[0.0]]).marginals() == pytest.approx(np.array([[0.8]]))
    assert isinstance(model.predict_distribution([[0.0]]), IndependentLabels)


def test_few_rows_are_all_neighbours():
    model = MLkNN(n_neighbors=10).fit(X[:4], Y[:4])
    assert model.n_neighbors_ == 3
    assert model.posteriors_.shape == (4, 4)


@pytest.mark.parametrize("smoothing", [0, -1.0, np.inf, np.nan])
def test_smoothing_is_checked(smoothing):
    with pytest.raises(ValueError, match=f"smoothing must be positive and finite; got {smoothing}."):
        MLkNN(smoothing=smoothing).fit(X, Y)


def test_the_number_of_neighbours_is_checked():
    with pytest.raises(ValueError, match="n_neighbors must be at least 1; got 0."):
        MLkNN(0).fit(X, Y)
