"""Labels that are wrong together: against tables counted by hand and SciPy's test; intervals by simulation."""

from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import choral
from choral.explanation import co_errors
from choral.explanation.error_pairs import PairMoments
from choral.explanation.pair_tests import excess_interval, fisher_exact, share_interval
from choral.rows import blocks


def correlated_rows(rng, n_rows=400, n_labels=6):
    """Labels 0 and 1 are often wrong together, labels 2 and 3 never."""
    y_true = rng.integers(2, size=(n_rows, n_labels))
    wrong = rng.random(y_true.shape) < 0.2
    wrong[:, 1] ^= (wrong[:, 0] != wrong[:, 1]) & (rng.random(n_rows) < 0.6)
    wrong[:, 3] &= ~wrong[:, 2]
    return y_true, np.where(wrong, 1 - y_true, y_true)


def figures_by_hand(a, b, weights):
    """From the errors of two labels where both are known: together, expected, standard error, effective rows.

    The standard error is the larger of the estimated one and that of independent errors.
    """
    total = weights.sum()
    mean_a, mean_b = weights @ a / total, weights @ b / total
    together = weights @ (a * b) / total
    products = (a - mean_a) * (b - mean_b)
    spread = weights @ (products - weights @ products / total) ** 2 / total
    independent = (weights @ (a - mean_a) ** 2 / total) * (weights @ (b - mean_b) ** 2 / total)
    n_rows = total**2 / (weights**2).sum()
    return together, mean_a * mean_b, np.sqrt(max(spread, independent) / n_rows), n_rows


def clopper_pearson(share, n_rows, tail):
    lower = scipy.stats.beta.ppf(tail, share * n_rows, n_rows - share * n_rows + 1) if share > 0 else 0
    upper = scipy.stats.beta.isf(tail, share * n_rows + 1, n_rows - share * n_rows) if share < 1 else 1
    return lower, upper


def limits_by_hand(a, b, weights, n_rows, tail):
    """The widest of four intervals: those of the product of (not) a and (not) b, with signs."""
    found = []
    for is_a, is_b in product((True, False), repeat=2):
        r, s = (a == is_a), (b == is_b)
        flags = np.array([r & s, r, s])
        means = flags @ weights / weights.sum()
        covariances = (flags * weights) @ flags.T / weights.sum() - np.outer(means, means)
        deviations = np.sqrt(np.diag(covariances))
        scale = np.outer(deviations, deviations)
        correlations = np.divide(covariances, scale, out=np.eye(3), where=scale > 0)  # a cell may be empty
        limits = np.array([clopper_pearson(mean, n_rows, tail) for mean in means])
        factors = np.array([1, -means[2], -means[1]])  # derivatives of p - r s
        down = factors * np.where(factors > 0, means - limits[:, 0], limits[:, 1] - means)
        up = factors * np.where(factors > 0, limits[:, 1] - means, means - limits[:, 0])
        excess = means[0] - means[1] * means[2]
        ends = excess - np.sqrt(down @ correlations @ down), excess + np.sqrt(up @ correlations @ up)
        found += [ends if is_a == is_b else (-ends[1], -ends[0])]
    return min(lower for lower, _ in found), max(upper for _, upper in found)


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
        if kind == "scores":
            limits = excess - reach * deviation, excess + reach * deviation
            p_value = 2 * scipy.stats.norm.sf(abs(excess) / deviation)
        else:
            limits = limits_by_hand(a == 1, b == 1, row_weights, n_rows, 0.1 / 2 / 15)
            n = round(n_rows)
            both, first, second = (
                round(n * mean) for mean in (together, *(np.average([a, b], axis=1, weights=row_weights)))
            )
            table = [[both, first - both], [second - both, n - first - second + both]]
            p_value = scipy.stats.fisher_exact(table).pvalue
            if 15 * p_value > 0.1:
                limits = min(limits[0], 0), max(limits[1], 0)
        assert (pair.lower, pair.upper) == pytest.approx(limits, abs=1e-9)
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
@pytest.mark.parametrize("common", [0.3, 0.02])
def test_intervals_cover_the_excess_of_all_pairs_at_once(kind, common):
    """In 200 samples of a population, an interval of 90 % for all pairs misses none of them in 180 or more."""
    rng = np.random.default_rng(7)
    chances = (rng.random((1, 4)) * 0.3 + 0.2) * (1 if common == 0.3 else 0.2)
    covered = 0
    rates = common + (1 - common) * chances[0]  # in the share ``common`` of rows, all labels are wrong together
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
    assert covered >= 180


@pytest.mark.parametrize("n_rows", [20, 300, 2000])
@pytest.mark.parametrize("rates", [(0.005, 0.005), (0.02, 0.1), (0.02, 0.5), (0.3, 0.4), (0.03, 0.9)])
@pytest.mark.parametrize("dependence", [-1, -0.5, 0, 0.3, 1])
def test_intervals_of_rare_errors_cover_the_excess(n_rows, rates, dependence):
    """From never together over independent errors to always together; in 10,000 tables at 90 %."""
    a, b = rates
    together = a * b + dependence * (min(a, b) - a * b if dependence > 0 else a * b - max(0, a + b - 1))
    cells = np.clip([together, a - together, b - together, 1 - a - b + together], 0, 1)
    counts = np.random.default_rng(0).multinomial(n_rows, cells / cells.sum(), size=10_000) / n_rows
    first, second = counts[:, 0] + counts[:, 1], counts[:, 0] + counts[:, 2]
    found = excess_interval(counts[:, 0], first, second, np.full(len(counts), n_rows), 0.05)
    truth = together - a * b
    assert np.mean((found.lower <= truth + 1e-12) & (truth <= found.upper + 1e-12)) >= 0.9


@pytest.mark.parametrize("rates, n_rows, widest", [((0.3, 0.4), 2000, 1.1), ((0.1, 0.1), 20_000, 1.1)])
def test_intervals_of_frequent_errors_are_hardly_wider_than_by_a_normal_distribution(rates, n_rows, widest):
    a, b = rates
    lower, upper = excess_interval(*np.array([[a * b], [a], [b], [n_rows]]), 0.025)
    assert 1 <= (upper - lower)[0] / (2 * 1.96 * np.sqrt(a * (1 - a) * b * (1 - b) / n_rows)) <= widest


def test_labels_that_are_never_wrong_together_by_chance_have_an_interval_around_0():
    """Errors at rates of 7.3 % and 2.6 % that never meet in 1197 rows, where 2.3 rows were expected."""
    wrong = np.zeros((1197, 5), dtype=int)
    wrong[:87, 0] = 1
    wrong[87:118, 1] = 1
    (pair,) = choral.explain(np.zeros_like(wrong), wrong).pairs.pairs
    assert pair.p_value == 1
    assert pair.lower < 0 < pair.upper


@given(
    table=st.tuples(*[st.integers(0, 12) | st.integers(0, 400)] * 4).filter(any), n_all=st.sampled_from([1, 10, 4950])
)
def test_the_interval_includes_0_where_the_p_value_is_not_small(table, n_all):
    both, only_first, only_second, neither = table
    first, second, n_rows = both + only_first, both + only_second, sum(table)
    moments = np.array([[n_rows, second, second], [first, both, both], [first, both, both]], dtype=float)
    sums = PairMoments(moments[..., np.newaxis], np.array([float(n_rows)]), np.zeros(1), float(n_rows), is_hard=True)
    (pair,) = sums.judge([(0, 1)], n_all, 0.95)
    excess = both / n_rows - first * second / n_rows**2
    assert pair.lower <= pair.excess <= pair.upper
    assert pair.excess == pytest.approx(excess, abs=1e-12)
    p_value = min(1, n_all * scipy.stats.fisher_exact([[both, only_first], [only_second, neither]]).pvalue)
    assert pair.p_value == pytest.approx(p_value, rel=1e-6)
    if pair.p_value > 0.05:
        assert pair.lower <= 0 <= pair.upper


@pytest.mark.parametrize("count", [0, 1, 7, 20])
def test_limits_of_shares_are_those_of_scipy(count):
    exact = scipy.stats.binomtest(count, 20).proportion_ci(0.9, method="exact")
    assert share_interval(np.array([count / 20]), np.array([20]), 0.05) == pytest.approx((exact.low, exact.high))


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
