"""The usual figures are those of scikit-learn, called directly."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import f1_score, jaccard_score, precision_recall_fscore_support

import choral

AVERAGES = ("samples", "micro", "macro")


def by_sklearn(y_true, y_pred, weights=None):
    options = {"zero_division": 0, "sample_weight": weights}
    f1 = [f1_score(y_true, y_pred, average=average, **options) for average in AVERAGES]
    jaccard = [jaccard_score(y_true, y_pred, average=average, **options) for average in AVERAGES]
    return [*f1, *jaccard, *precision_recall_fscore_support(y_true, y_pred, average=None, **options)]


def random_rows(seed=0, n_labels=4):
    rng = np.random.default_rng(seed)
    y_true = (rng.random((50, n_labels)) < 0.4).astype(int)
    y_pred = np.where(rng.random(y_true.shape) < 0.2, 1 - y_true, y_true)
    y_true[0] = y_pred[0] = 0  # 0 / 0 in this row
    return y_true, y_pred, rng.random(50)


def check(figures, expected):
    for ours, theirs in zip(figures, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, np.ndarray.tolist])
@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_sklearn(make, weighted):
    y_true, y_pred, weights = random_rows()
    weights = weights if weighted else None
    found = choral.explain(make(y_true), make(y_pred), sample_weight=weights)
    check(found.figures, by_sklearn(y_true, y_pred, weights))
    assert found.figures is found.figures


def test_scores_are_read_as_labels_from_one_half_on_or_from_the_threshold():
    y_true, _, _ = random_rows()
    scores = np.random.default_rng(1).integers(0, 5, size=y_true.shape) / 4
    check(choral.explain(y_true, scores).figures, by_sklearn(y_true, scores >= 0.5))
    check(choral.explain(y_true, scores, threshold=0.75).figures, by_sklearn(y_true, scores >= 0.75))


def test_labels_that_are_not_known_count_on_neither_side():
    y_true, y_pred, weights = random_rows()
    known = np.random.default_rng(2).random(y_true.shape) < 0.7
    known[1] = False
    found = choral.explain(y_true, y_pred, observed=known, sample_weight=weights)
    some = known.any(axis=1)
    check(found.figures, by_sklearn((y_true * known)[some], (y_pred * known)[some], weights[some]))


def test_one_label_has_its_own_figures():
    # right, missed, right, extra: precision 2 / 3, recall 2 / 3; F1 by row 1, 0, 1, 0
    found = choral.explain([[1], [1], [1], [0]], [[1], [0], [1], [1]]).figures
    assert found[:6] == pytest.approx((0.5, 2 / 3, 2 / 3, 0.5, 0.5, 0.5))
    assert (found.precision, found.recall, found.support) == (pytest.approx([2 / 3]), pytest.approx([2 / 3]), [3])


def test_conventions_are_named():
    figures = choral.explain([[0, 0], [1, 0]], [[0, 0], [1, 0]]).figures
    assert figures.f1_samples == 0.5
    assert "0 / 0 counts as 0 (zero_division=0)" in figures.conventions
    assert choral.f_loss([[0, 0], [1, 0]], [[0, 0], [1, 0]]) == 0
