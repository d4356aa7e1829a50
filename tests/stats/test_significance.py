"""Tests of significance agree with slow definitions, with published examples, and with other libraries."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from choral.stats import compare_ranks, corrected_resampled_t, corrected_t_interval, holm

# Demšar (2006), Table 6: AUC of C4.5 with parameters m and cf as they are, or tuned, on 14 data sets. In the row
# "voting" the paper prints 0.975 twice but ranks the third 2 and the fourth 3: a digit more tells them apart.
DEMSAR_NAMES = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
DEMSAR_AUC = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)

# No two differences of a pair are equal or 0: there all versions of Wilcoxon's test agree.
LOSSES = np.array(
    [
        [0.419, 0.362, 0.389, 0.523],
        [0.342, 0.375, 0.460, 0.496],
        [0.414, 0.416, 0.591, 0.625],
        [0.605, 0.570, 0.662, 0.639],
        [0.180, 0.241, 0.191, 0.268],
        [0.175, 0.235, 0.363, 0.287],
        [0.486, 0.499, 0.624, 0.569],
        [0.554, 0.528, 0.541, 0.701],
        [0.208, 0.251, 0.333, 0.381],
        [0.241, 0.381, 0.396, 0.478],
    ]
)
# scikit-posthocs 0.17.1: posthoc_nemenyi_friedman(LOSSES)
NEMENYI = [
    [1, 9.544113425e-01, 4.626765578e-02, 7.992655661e-04],
    [9.544113425e-01, 1, 1.601258765e-01, 5.514815227e-03],
    [4.626765578e-02, 1.601258765e-01, 1, 6.189123238e-01],
    [7.992655661e-04, 5.514815227e-03, 6.189123238e-01, 1],
]
# scikit-posthocs 0.17.1: posthoc_wilcoxon(frame, val_col="loss", group_col="learner", p_adjust="holm") with
# frame = pandas.DataFrame(LOSSES).melt(var_name="learner", value_name="loss")
WILCOXON = [
    [1, 0.26171875, 0.05859375, 0.01171875],
    [0.26171875, 1, 0.0546875, 0.01171875],
    [0.05859375, 0.0546875, 1, 0.26171875],
    [0.01171875, 0.01171875, 0.26171875, 1],
]


# holm


def holm_by_definition(pvalues):
    """Step down one by one."""
    adjusted, before = [np.nan] * len(pvalues), 0.0
    tests = sorted((p, i) for i, p in enumerate(pvalues) if not np.isnan(p))
    for step, (p, i) in enumerate(tests):
        before = adjusted[i] = max(before, min(1.0, (len(tests) - step) * p))
    return adjusted


@given(pvalues=arrays(float, (3, 4, 2), elements=st.floats(0, 1) | st.just(np.nan)))
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_holm_follows_its_definition_along_any_axis(axis, pvalues):
    with np.errstate(all="raise", under="ignore"):
        adjusted = holm(pvalues, axis=axis)
    assert adjusted == pytest.approx(np.apply_along_axis(holm_by_definition, axis, pvalues), nan_ok=True)


def test_holm_of_the_example_of_demsar():
    assert holm([0.016, 0.019, 0.607]) == pytest.approx([0.048, 0.048, 0.607])  # the second is no less than the first
    assert holm([0.019, np.nan, 0.607, 0.016]) == pytest.approx([0.048, np.nan, 0.607, 0.048], nan_ok=True)
    assert holm([0.9, 0.8]).tolist() == [1, 1]
    assert holm([]).shape == (0,)


def test_holm_refuses_what_is_no_p_value():
    with pytest.raises(ValueError, match=r"pvalues must lie in \[0, 1\]; pvalues\[1\] is 1.5."):
        holm([0.1, 1.5])
    with pytest.raises(ValueError, match=r"pvalues must lie in \[0, 1\]; pvalues\[0, 0\] is -0.1."):
        holm([[-0.1, 0.5]])


# corrected_resampled_t


def corrected_std(differences, n_train, n_test):
    """As in scikit-learn's example "Statistical comparison of models using grid search"."""
    kr = len(differences)
    return np.sqrt(np.var(differences, ddof=1) * (1 / kr + n_test / n_train))


def compute_corrected_ttest(differences, df, n_train, n_test):
    """From the same example; its p-value is that of one side."""
    t_stat = np.mean(differences) / corrected_std(differences, n_train, n_test)
    return t_stat, stats.t.sf(np.abs(t_stat), df)


def test_t_is_that_of_the_example_of_scikit_learn():
    differences = np.random.default_rng(0).normal(0.01, 0.03, size=(100, 2, 3))
    statistic, pvalue = corrected_resampled_t(differences, test_share=30 / 270)
    assert statistic.shape == pvalue.shape == (2, 3)
    for place in np.ndindex(2, 3):
        t, one_sided = compute_corrected_ttest(differences[:, *place], 99, 270, 30)
        assert statistic[place] == pytest.approx(t)
        assert pvalue[place] == pytest.approx(2 * one_sided)


def test_t_worked_by_hand():
    # mean 1, variance (1 + 1) / 2 = 1, error sqrt(1/3 + 2/3) = 1;
    # with 2 degrees of freedom P(T > 1) = (1 - 1 / sqrt(3)) / 2
    statistic, pvalue = corrected_resampled_t([0.0, 1.0, 2.0], test_share=2 / 3)
    assert statistic == pytest.approx(1)
    assert pvalue == pytest.approx(1 - 1 / np.sqrt(3))
    assert corrected_resampled_t([0.0, -1.0, -2.0], test_share=2 / 3) == pytest.approx((-1, pvalue))


def test_t_of_differences_that_do_not_vary():
    differences = np.array(
        [[0.0, 0.1, -0.1, 1e-17, 0.3], [0.0, 0.1, -0.1, 0.0, 0.3], [0.0, 0.1, -0.1, 1e-200, 0.1 + 0.2]]
    )
    with np.errstate(all="raise"):
        statistic, pvalue = corrected_resampled_t(differences, test_share=0.5)
        assert corrected_resampled_t([0.0, 0.0], test_share=1) == (0, 1)
    assert statistic.tolist() == [0, np.inf, -np.inf, 0, np.inf]
    assert pvalue.tolist() == [1, 0, 0, 1, 0]


@pytest.mark.parametrize("scale", [1e-11, 1, 1e100])
def test_t_does_not_depend_on_the_scale(scale):
    with np.errstate(all="raise"):
        result = corrected_resampled_t(scale * np.array([1.0, 2.0, 4.0, 1e-220]), test_share=1 / 3)
    assert result == pytest.approx(corrected_resampled_t([1.0, 2.0, 4.0, 0.0], test_share=1 / 3))


def test_t_refuses_what_it_cannot_test():
    with pytest.raises(
        ValueError, match=r"differences must have at least two folds along their first axis; got \(1, 3\)."
    ):
        corrected_resampled_t([[0.1, 0.2, 0.3]], test_share=0.1)
    with pytest.raises(ValueError, match=r"differences must have at least two folds along their first axis; got \(\)."):
        corrected_resampled_t(0.1, test_share=0.1)
    with pytest.raises(ValueError, match=r"differences must be finite; differences\[1, 0\] is nan."):
        corrected_resampled_t([[0.1], [np.nan]], test_share=0.1)
    for share in (0, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"test_share must be positive and finite: .*; got {share}."):
            corrected_resampled_t([0.1, 0.2], test_share=share)


# corrected_t_interval


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_interval_is_that_of_student_with_the_error_of_the_test(confidence):
    differences = np.random.default_rng(0).normal(0.01, 0.03, size=(10, 2, 3))
    lower, upper = corrected_t_interval(differences, test_share=30 / 270, confidence=confidence)
    assert lower.shape == upper.shape == (2, 3)
    for place in np.ndindex(2, 3):
        of_place = differences[:, *place]
        expected = stats.t.interval(confidence, 9, np.mean(of_place), corrected_std(of_place, 270, 30))
        assert (lower[place], upper[place]) == pytest.approx(expected)


def test_interval_worked_by_hand():
    # mean 1, error sqrt(1/3 + 2/3) = 1; with 2 degrees of freedom P(T > 1) = (1 - 1 / sqrt(3)) / 2
    interval = corrected_t_interval([0.0, 1.0, 2.0], test_share=2 / 3, confidence=1 / np.sqrt(3))
    assert interval == pytest.approx((0, 2))
    assert all(isinstance(end, float) for end in interval)


@given(
    differences=arrays(float, (4, 5), elements=st.sampled_from([-0.1, -0.02, 0.0, 1e-14, 0.01, 0.1])),
    confidence=st.sampled_from([0.5, 0.8, 0.95]),
)
def test_interval_excludes_0_where_the_test_rejects(differences, confidence):
    with np.errstate(all="raise"):
        lower, upper = corrected_t_interval(differences, test_share=1 / 3, confidence=confidence)
        pvalue = corrected_resampled_t(differences, test_share=1 / 3).pvalue
    assert np.array_equal((lower > 1e-12) | (upper < -1e-12), pvalue < 1 - confidence)


def test_interval_of_differences_that_do_not_vary_is_their_mean():
    with np.errstate(all="raise"):
        lower, upper = corrected_t_interval([[0.0, 0.3], [0.0, 0.1 + 0.2]], test_share=0.5)
    assert lower.tolist() == upper.tolist() == pytest.approx([0, 0.3])


def test_interval_refuses_what_it_cannot_bound():
    for confidence in (0, 1, np.nan):
        with pytest.raises(ValueError, match=f"confidence must lie between 0 and 1; got {confidence}."):
            corrected_t_interval([0.1, 0.2], test_share=0.1, confidence=confidence)
    with pytest.raises(ValueError, match=r"differences must have at least two folds .*; got \(1,\)."):
        corrected_t_interval([0.1], test_share=0.1)
    with pytest.raises(ValueError, match=r"differences must be finite; differences\[1\] is inf."):
        corrected_t_interval([0.1, np.inf], test_share=0.1)
    with pytest.raises(ValueError, match="test_share must be positive and finite: .*; got 0."):
        corrected_t_interval([0.1, 0.2], test_share=0)


# compare_ranks


def test_ranks_of_the_example_of_demsar():
    comparison = compare_ranks(1 - DEMSAR_AUC, DEMSAR_NAMES)
    assert comparison.names == tuple(DEMSAR_NAMES)
    assert comparison.n_datasets == 14
    assert comparison.mean_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert comparison.critical_difference == pytest.approx(1.25, abs=5e-3)
    assert comparison.groups() == ((3, 1, 2, 0),)  # "not powerful enough to detect any significant differences"
    # The paper does not correct for ties: one of four learners, three of two, among 14 * (4 ** 3 - 4) for all tied.
    plain = comparison.friedman.statistic * (1 - (60 + 3 * 6) / (14 * 60))
    assert plain == pytest.approx(9.28, abs=5e-3)
    assert 13 * plain / (14 * 3 - plain) == pytest.approx(3.69, abs=5e-3)


def test_groups_of_the_example_of_demsar():
    comparison = compare_ranks(1 - DEMSAR_AUC, confidence=0.9)
    assert comparison.names == ("learner 0", "learner 1", "learner 2", "learner 3")
    assert comparison.critical_difference == pytest.approx(1.12, abs=5e-3)
    assert comparison.groups() == ((3, 1, 2), (2, 0))


def test_pairs_are_those_of_scikit_posthocs():
    comparison = compare_ranks(LOSSES)
    assert comparison.nemenyi == pytest.approx(np.array(NEMENYI), rel=1e-6)
    assert comparison.wilcoxon == pytest.approx(np.array(WILCOXON))


def signed_rank_by_definition(differences):
    """Wilcoxon's test by going through all signs."""
    differences = differences[differences != 0]
    ranks = stats.rankdata(np.abs(differences))
    sums = [ranks @ signs for signs in product([0, 1], repeat=ranks.size)]
    found = ranks @ (differences > 0)
    return min(1, 2 * min(np.mean(sums <= found), np.mean(sums >= found)))


@pytest.mark.parametrize("seed", range(10))
def test_wilcoxon_is_exact_with_ties_and_zeros(seed):
    losses = np.random.default_rng(seed).integers(6, size=(8, 2))
    expected = signed_rank_by_definition(losses[:, 0] - losses[:, 1])
    assert compare_ranks(losses).wilcoxon[0, 1] == compare_ranks(losses).wilcoxon[1, 0] == pytest.approx(expected)


@pytest.mark.parametrize("n_datasets", [5, 40])
def test_wilcoxon_is_that_of_scipy(n_datasets):
    losses = np.random.default_rng(0).random((n_datasets, 2)) + np.array([0, 0.1])
    expected = stats.wilcoxon(losses[:, 0], losses[:, 1], method="exact").pvalue
    assert compare_ranks(losses).wilcoxon[0, 1] == pytest.approx(expected)


def test_iman_and_davenport_is_the_analysis_of_variance_of_ranks():
    losses = np.random.default_rng(1).integers(5, size=(12, 4))  # many ties
    comparison = compare_ranks(losses)
    ranks = np.array([stats.rankdata(row) for row in losses])
    between = 12 * ((ranks.mean(axis=0) - 2.5) ** 2).sum()
    rest = ((ranks - 2.5) ** 2).sum() - between
    assert comparison.iman_davenport.statistic == pytest.approx((between / 3) / (rest / 33))
    assert comparison.iman_davenport.pvalue == pytest.approx(stats.f.sf((between / 3) / (rest / 33), 3, 33))
    assert comparison.friedman == pytest.approx(tuple(stats.friedmanchisquare(*losses.T)))


@pytest.mark.parametrize("seed", range(20))
def test_nemenyi_rejects_beyond_the_critical_difference(seed):
    rng = np.random.default_rng(seed)
    comparison = compare_ranks(rng.random((8, 6)) + np.linspace(0, 1, 6), confidence=0.9)
    apart = np.abs(np.subtract.outer(comparison.mean_ranks, comparison.mean_ranks))
    assert np.array_equal(comparison.nemenyi < 0.1, apart > comparison.critical_difference)
    assert comparison.groups() == groups_by_definition(comparison)


def groups_by_definition(comparison):
    """All runs of neighbours within the critical difference that are not part of another."""
    order = sorted(range(len(comparison.names)), key=lambda i: comparison.mean_ranks[i])
    runs = [order[i:j] for i in range(len(order)) for j in range(i + 2, len(order) + 1)]
    close = [
        run
        for run in runs
        if comparison.mean_ranks[run[-1]] - comparison.mean_ranks[run[0]] < comparison.critical_difference
    ]
    return tuple(tuple(run) for run in close if not any(set(run) < set(other) for other in close))


def test_rounding_does_not_rank():
    border = 1 / 8192  # 0.0001220703125: rounding to 12 decimals would part its neighbours
    clean = np.array([[0.3, 0.3, 0.5], [border, border, 0.1], [0.2, 0.4, 0.6], [0.1, 0.3, 0.2]])
    noisy = clean + 1e-16 * np.array([[0, 1, 0], [-1, 1, 0], [1, 0, 0], [0, 1, -1]])
    noisy[0, 1] = 0.1 + 0.2
    for losses in (clean, noisy):
        comparison = compare_ranks(losses)
        assert comparison.mean_ranks.tolist() == [1.25, 2.0, 2.75]
        # p-values 2 / 4 (two zeros), 2 / 16 and 6 / 16, then Holm's
        assert comparison.wilcoxon[[0, 0, 1], [1, 2, 2]].tolist() == [0.75, 0.375, 0.75]


def test_differences_that_rounding_sets_apart_share_a_rank():
    assert 0.3 - 0.2 < 0.2 - 0.1
    losses = [[0.3, 0.2], [0.1, 0.2], [0.5, 0.8]]  # ranks 1.5, -1.5 and -3: three of eight sums are at most 1.5
    assert compare_ranks(losses).wilcoxon[0, 1] == 0.75


def test_what_does_not_exist_is_nan():
    for losses in (LOSSES[:, :2], LOSSES[:1]):  # two learners, one data set
        comparison = compare_ranks(losses)
        assert np.isnan([*comparison.friedman, *comparison.iman_davenport]).all()
    assert compare_ranks(LOSSES[:, :2]).critical_difference == pytest.approx(1.96 / np.sqrt(10), abs=1e-4)
    assert compare_ranks(LOSSES[:1]).groups() == ((1, 2, 0, 3),)  # one data set tells nobody apart
    assert (compare_ranks(LOSSES[:1]).wilcoxon == 1).all()


def test_learners_that_are_all_alike():
    with np.errstate(all="raise"):
        comparison = compare_ranks(np.full((5, 3), 0.25))
    assert comparison.friedman == comparison.iman_davenport == (0, 1)
    assert comparison.mean_ranks.tolist() == [2, 2, 2]
    assert (comparison.nemenyi == 1).all()
    assert (comparison.wilcoxon == 1).all()
    assert comparison.groups() == ((0, 1, 2),)


@pytest.mark.parametrize("n_datasets, n_learners", [(3, 3), (7, 4), (30, 15)])
def test_data_sets_that_all_agree(n_datasets, n_learners):
    losses = np.random.default_rng(0).random((n_datasets, 1)) + np.arange(n_learners)
    with np.errstate(all="raise"):
        comparison = compare_ranks(losses)
    assert comparison.friedman.statistic == pytest.approx(n_datasets * (n_learners - 1))
    assert comparison.iman_davenport == (np.inf, 0)


def test_no_groups_where_all_differ():
    assert compare_ranks([[1, 2, 3]] * 40).groups() == ()


def test_compare_ranks_refuses_what_it_cannot_rank():
    for losses in ([[0.1], [0.2]], [0.1, 0.2], np.empty((0, 3))):
        with pytest.raises(ValueError, match=r"losses must have a row for each data set, .*; got shape \(.*\)."):
            compare_ranks(losses)
    with pytest.raises(ValueError, match=r"losses must be finite; losses\[0, 1\] is nan."):
        compare_ranks([[0.1, np.nan]])
    with pytest.raises(ValueError, match="names must have one entry for each of 4 learners; got 2."):
        compare_ranks(LOSSES, ["a", "b"])
    for confidence in (0, 1, np.nan):
        with pytest.raises(ValueError, match=f"confidence must lie between 0 and 1; got {confidence}."):
            compare_ranks(LOSSES, confidence=confidence)
