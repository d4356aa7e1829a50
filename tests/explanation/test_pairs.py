"""Labels that are wrong together: against tables counted by hand and SciPy's test; intervals by simulation."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats

import choral
from choral.explanation import co_errors
from choral.explanation.error_pairs import fisher_exact
from choral.rows import blocks


def correlated_rows(rng, n_rows=400, n_labels=6):
    """Labels 0 and 1 are often wrong together, labels 2 and 3 never."""
    y_true = rng.integers(2, size=(n_rows, n_labels))
    wrong = rng.random(y_true.shape) < 0.2
    wrong[:, 1] ^= (wrong[:, 0] != wrong[:, 1]) & (rng.random(n_rows) < 0.6)
    wrong[:, 3] &= ~wrong[:, 2]
    return y_true, np.where(wrong, 1 - y_true, y_true)


def figures_by_hand(a, b, weights):
    """From the errors of two labels where both are known: together, expected, standard error, effective rows."""
    total = weights.sum()
    mean_a, mean_b = weights @ a / total, weights @ b / total
    together = weights @ (a * b) / total
    products = (a - mean_a) * (b - mean_b)
    spread = weights @ (products - weights @ products / total) ** 2 / total
    n_rows = total**2 / (weights**2).sum()
    return together, mean_a * mean_b, np.sqrt(spread / n_rows), n_rows


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("missing", [False, True])
def test_figures_of_pairs_are_those_of_the_rows_in_which_both_are_known(make, kind, weighted, missing, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100 * 6 * 8)
    rng = np.random.default_rng(0)
    y_true, y_pred = correlated_rows(rng)
    if kind == "scores":
        y_pred = np.clip(y_pred * 0.8 + rng.random(y_pred.shape) * 0.2, 0, 1)
    weights = rng.random(len(y_true)) if weighted else None
    y_true = np.where(missing & (rng.random(y_true.shape) < 0.3), np.nan, y_true)
    y_true[0] = np.nan if missing else y_true[0]
    found = choral.explain(make(y_true), make(y_pred), sample_weight=weights, n_pairs=20, confidence=0.9).pairs
    assert not found.is_sampled
    assert {(pair.first, pair.second) for pair in found.pairs} == set(combinations(range(6), 2))
    reach = scipy.stats.norm.isf(0.1 / 2 / 15)
    errors = np.abs(y_true - y_pred)
    for pair in found.pairs:
        known = ~np.isnan(y_true[:, pair.first] + y_true[:, pair.second])
        a, b = errors[known, pair.first], errors[known, pair.second]
        row_weights = np.ones(known.sum()) if weights is None else weights[known]
        together, expected, deviation, n_rows = figures_by_hand(a, b, row_weights)
        excess = together - expected
        assert (pair.together, pair.expected, pair.excess) == pytest.approx((together, expected, excess), abs=1e-12)
        assert pair.ratio == pytest.approx(together / expected)
        limits = excess - reach * deviation, excess + reach * deviation
        assert (pair.lower, pair.upper) == pytest.approx(limits, abs=1e-12)
        if kind == "scores":
            p_value = 2 * scipy.stats.norm.sf(abs(excess) / deviation)
        else:
            n = round(n_rows)
            both, first, second = (
                round(n * mean) for mean in (together, *(np.average([a, b], axis=1, weights=row_weights)))
            )
            table = [[both, first - both], [second - both, n - first - second + both]]
            p_value = scipy.stats.fisher_exact(table).pvalue
        assert pair.p_value == pytest.approx(min(1, 15 * p_value), rel=1e-9)


def test_strongest_pairs_of_both_signs_come_first():
    y_true, y_pred = correlated_rows(np.random.default_rng(1), n_rows=2000)
    found = choral.explain(y_true, y_pred, n_pairs=1).pairs
    assert [(pair.first, pair.second) for pair in found.pairs] == [(0, 1), (2, 3)]
    assert [(pair.first, pair.second) for pair in found.more] == [(0, 1)]
    assert [(pair.first, pair.second) for pair in found.less] == [(2, 3)]
    assert found.more[0].lower > 0 > found.less[0].upper
    assert found.less[0].together == 0
    assert found.more[0].p_value < 1e-6
    all_pairs = choral.explain(y_true, y_pred, n_pairs=15).pairs
    assert [pair.excess for pair in all_pairs.pairs] == sorted((pair.excess for pair in all_pairs.pairs), reverse=True)
    assert [pair.excess for pair in all_pairs.less] == sorted(pair.excess for pair in all_pairs.less)


@pytest.mark.parametrize("kind", ["hard", "scores"])
@pytest.mark.parametrize("missing", [False, True])
def test_correlations_are_those_of_numpy(kind, missing):
    rng = np.random.default_rng(2)
    y_true, y_pred = correlated_rows(rng)
    y_pred = y_pred if kind == "hard" else rng.random(y_pred.shape)
    y_true = np.where(missing & (rng.random(y_true.shape) < 0.3), np.nan, y_true)
    pairs = choral.explain(y_true, y_pred).pairs
    errors = np.abs(y_true - y_pred)
    for i, j in combinations(range(6), 2):
        a, b = errors[:, pairs.labels[i]], errors[:, pairs.labels[j]]
        known = ~np.isnan(a + b)
        assert pairs.correlations[i, j] == pytest.approx(np.corrcoef(a[known], b[known])[0, 1], abs=1e-6)
    np.testing.assert_array_equal(pairs.correlations, pairs.correlations.T)
    assert (np.diag(pairs.correlations) == 1).all()


def test_the_matrix_has_the_24_labels_with_the_largest_shares():
    rng = np.random.default_rng(0)
    y_true = rng.integers(2, size=(200, 30))
    y_pred = np.where(rng.random(y_true.shape) < np.linspace(0.1, 0.4, 30), 1 - y_true, y_true)
    found = choral.explain(y_true, y_pred)
    assert found.pairs.labels == tuple(np.argsort(-found.shares, kind="stable")[:24])
    assert found.pairs.correlations.shape == (24, 24)


def test_a_label_that_is_always_or_never_wrong_has_no_correlation():
    found = choral.explain([[1, 1, 1], [1, 1, 1]], [[0, 1, 0], [0, 1, 1]]).pairs
    np.testing.assert_array_equal(found.correlations, np.eye(3))
    assert found.pairs == ()


@pytest.mark.parametrize("kind", ["hard", "scores"])
def test_intervals_cover_the_excess_of_all_pairs_at_once(kind):
    """In 200 samples of a population, an interval of 90 % for all pairs misses none of them in about 180 or more."""
    rng = np.random.default_rng(7)
    chances = rng.random((1, 4)) * 0.3 + 0.2
    covered = 0
    common = 0.3  # in this share of rows, all labels are wrong together
    rates = common + (1 - common) * chances[0]
    scale = 1.0 if kind == "hard" else 0.5
    for _ in range(200):
        wrong = (rng.random((500, 4)) < chances) | (rng.random((500, 1)) < common)
        y_pred = np.where(wrong, 0.0, 1.0) if kind == "hard" else np.where(wrong, 0.5, 1.0)
        found = choral.explain(np.ones((500, 4)), y_pred, n_pairs=6, confidence=0.9).pairs.pairs
        assert len(found) == 6
        inside = []
        for pair in found:
            p, q = chances[0, pair.first], chances[0, pair.second]
            truth = common + (1 - common) * p * q - rates[pair.first] * rates[pair.second]
            inside.append(pair.lower <= scale**2 * truth <= pair.upper)
        covered += all(inside)
    assert 175 <= covered <= 200


@pytest.mark.parametrize("seed", range(5))
def test_fisher_exact_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    tables = rng.integers(0, 40 if seed else 4, size=(50, 2, 2))
    tables = tables[tables.sum(axis=(1, 2)) > 0]
    both, first, second = tables[:, 0, 0], tables[:, 0].sum(axis=1), tables[:, :, 0].sum(axis=1)
    found = fisher_exact(both, first, second, tables.sum(axis=(1, 2)))
    np.testing.assert_allclose(found, [scipy.stats.fisher_exact(table).pvalue for table in tables], rtol=1e-9)


def test_a_sampled_search_says_so_and_its_figures_are_of_all_rows(monkeypatch):
    rng = np.random.default_rng(3)
    y_true, y_pred = correlated_rows(rng, n_rows=1000)
    whole = choral.explain(y_true, y_pred, n_pairs=1).pairs
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100 * 6 * 8)
    monkeypatch.setattr(co_errors, "MAX_PRODUCTS", 1000 * 36 // 2)
    monkeypatch.setattr(co_errors, "MAX_SPARSE_PRODUCTS", 600)
    for make in (np.asarray, sp.csr_array):
        sampled = choral.explain(make(y_true), make(y_pred), n_pairs=1)
        assert sampled.pairs.is_sampled
        assert not whole.is_sampled
        assert "found in a sample of rows" in repr(sampled)
        np.testing.assert_allclose(sampled.pairs.pairs, whole.pairs, rtol=1e-12)


def test_half_of_the_blocks_are_searched_where_the_budget_is_half_of_the_work(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 10 * 6 * 8)
    monkeypatch.setattr(co_errors, "MAX_PRODUCTS", 1000 * 36 // 2)
    searched = []
    products = co_errors._co_errors
    monkeypatch.setattr(
        co_errors, "_co_errors", lambda block, known: searched.append(block.rows) or products(block, known)
    )
    choral.explain(*correlated_rows(np.random.default_rng(3), n_rows=1000))
    assert len(searched) == pytest.approx(50, abs=1)
    assert searched[-1].stop > 970


def test_sparse_rows_with_very_many_errors_are_not_searched(monkeypatch):
    y_true, y_pred = correlated_rows(np.random.default_rng(3))
    monkeypatch.setattr(co_errors, "MAX_ERRORS", 2)
    found = choral.explain(sp.csr_array(y_true), sp.csr_array(y_pred), n_pairs=1).pairs
    assert found.is_sampled
    whole = choral.explain(y_true, y_pred, n_pairs=1).pairs
    np.testing.assert_allclose(found.pairs, whole.pairs, rtol=1e-12)
    monkeypatch.setattr(co_errors, "MAX_ERRORS", 0)  # no row with an error is left
    none = choral.explain(sp.csr_array(y_true), sp.csr_array(y_pred), n_pairs=1).pairs
    assert none.is_sampled
    assert none.pairs == ()


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_sparse_matrix_of_pairs_finds_what_a_dense_one_does(make, missing, monkeypatch):
    rng = np.random.default_rng(4)
    y_true, y_pred = correlated_rows(rng, n_labels=8)
    y_true = np.where(missing & (rng.random(y_true.shape) < 0.02), np.nan, y_true)
    dense = choral.explain(y_true, y_pred, n_pairs=2).pairs
    monkeypatch.setattr(co_errors, "MAX_DENSE_LABELS", 7)
    for n_frequent in (8, 4):
        monkeypatch.setattr(co_errors, "MAX_FREQUENT", n_frequent)
        found = choral.explain(make(y_true), make(y_pred), n_pairs=1).pairs
        assert found.pairs[0] == pytest.approx(dense.pairs[0])
        if n_frequent == 8:
            assert found.pairs[-1] == pytest.approx(dense.pairs[-1])
            if not missing:
                np.testing.assert_allclose(found.correlations, dense.correlations, atol=1e-12)
