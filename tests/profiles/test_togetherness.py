"""Bounds of curves and togetherness: exact fractions, brute force, constructed examples, and laws."""

import re
from fractions import Fraction
from functools import lru_cache
from itertools import combinations_with_replacement, pairwise, product
from math import ceil, comb, floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import choral
from choral import BinomialMeasure, ErrorProfile, LossCurve, ObservedProfile, PolynomialMeasure, loss_curve
from choral.curves import largest_losses
from choral.measures.families import BINOMIAL, FAMILIES
from choral.profiles import EachLossProfile

NAN = float("nan")
RNG = np.random.default_rng(0)
hard = arrays(np.uint8, (6, 4), elements=st.integers(0, 1))
soft = arrays(float, (6, 4), elements=st.floats(0, 1) | st.sampled_from([0.0, 1.0]))
families = st.sampled_from(list(FAMILIES))


def exact_togetherness(rows_by_errors):
    """By the definition, in fractions: areas of the curve of binomial losses and of its bounds."""
    n_labels, n_rows = len(rows_by_errors) - 1, sum(rows_by_errors)
    mistakes = Fraction(sum(wrong * rows for wrong, rows in enumerate(rows_by_errors)), n_rows)
    down, up, part = floor(mistakes), ceil(mistakes), mistakes - floor(mistakes)

    def deficit(wrong, k):
        return 1 - Fraction(comb(n_labels - wrong, k), comb(n_labels, k))

    def area(losses):
        return sum(first + second for first, second in pairwise(losses)) / (2 * (n_labels - 1))

    ks = range(1, n_labels + 1)
    losses = [sum(rows * deficit(e, k) for e, rows in enumerate(rows_by_errors)) / n_rows for k in ks]
    upper = [(1 - part) * deficit(down, k) + part * deficit(up, k) for k in ks]
    return (area(upper) - area(losses)) / (area(upper) - mistakes / n_labels)


# By hand and against fractions


def test_bounds_by_hand():
    # 5 wrong labels in 4 rows of 3: 1.25 a row, so three rows have one mistake and one has two
    curve = ErrorProfile.from_histogram([2, 0, 1, 1]).curve()
    lower, upper = curve.bounds()
    assert lower.losses == pytest.approx([5 / 12] * 3)
    assert upper.losses == pytest.approx([5 / 12, (3 * 2 / 3 + 1) / 4, 1])
    assert (lower.name, upper.name) == ("mistakes in few rows", "mistakes spread evenly")
    assert curve.losses == pytest.approx([5 / 12, 2 / 4, 2 / 4])
    # areas: upper (5/12 + 3/4) / 4 + (3/4 + 1) / 4, curve (5/12 + 1/2) / 4 + 1/4
    expected = (35 / 48 - 23 / 48) / (35 / 48 - 20 / 48)
    assert curve.togetherness == pytest.approx(expected)


def test_bounds_of_polynomial_losses_by_hand():
    curve = LossCurve("polynomial", [1, 2, np.inf], [0.3, 0.35, 0.4], n_labels=5)
    lower, upper = curve.bounds()  # 1.5 mistakes a row
    assert lower.losses.tolist() == [0.3] * 3
    assert upper.losses == pytest.approx([0.3, ((1 - 0.64) + (1 - 0.36)) / 2, 1])
    few = LossCurve("polynomial", [1, 2, np.inf], [0.1, 0.1, 0.1], n_labels=5).bounds()[1]
    assert few.losses == pytest.approx([0.1, 0.5 * 0.36, 0.5])


@pytest.mark.parametrize("histogram", [[2, 0, 1, 1], [90, 7, 2, 0, 1], [1, 2, 3, 4, 5, 6], [0, 3, 0], [10, 1, 0, 0, 0]])
def test_togetherness_against_fractions(histogram):
    profile = ErrorProfile.from_histogram(histogram)
    expected = float(exact_togetherness(histogram))
    assert profile.togetherness() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert profile.curve().togetherness == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_polynomial_togetherness_is_by_the_axis_of_its_area():
    profile = ErrorProfile.from_histogram([5, 2, 1, 1])
    curve = profile.curve("polynomial")
    lower, upper = curve.bounds()
    expected = (upper.area - curve.area) / (upper.area - lower.area)
    assert profile.togetherness("polynomial") == pytest.approx(expected)
    assert 0 < expected < 1
    assert expected != pytest.approx(profile.togetherness("binomial"), abs=0.01)
    beyond = profile.curve("polynomial", [*curve.parameters, 2000, np.inf])
    assert beyond.togetherness == pytest.approx(expected)


# Bounds that are attained


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("n_wrong", [1, 3, 7])
def test_rows_that_are_wholly_wrong_attain_the_lower_bound(family, n_wrong):
    true = RNG.integers(2, size=(8, 5))
    pred = true.copy()
    pred[:n_wrong] = 1 - pred[:n_wrong]
    curve = loss_curve(true, pred, family)
    assert curve.losses == pytest.approx(curve.bounds()[0].losses)
    assert curve.togetherness == pytest.approx(1)
    # scores with the same error everywhere do so too
    same = loss_curve(np.zeros((8, 5)), np.full((8, 5), n_wrong / 8), family)
    assert same.losses == pytest.approx(curve.losses)
    assert same.togetherness == pytest.approx(1)


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("n_mistakes", [1, 8, 11, 16, 39])
def test_mistakes_spread_evenly_attain_the_upper_bound(family, n_mistakes):
    wrong = np.zeros((8, 5), dtype=int)
    for mistake in range(n_mistakes):
        wrong[mistake % 8, mistake // 8] = 1
    curve = loss_curve(np.zeros((8, 5)), wrong, family)
    assert curve.losses == pytest.approx(curve.bounds()[1].losses)
    assert curve.togetherness == pytest.approx(0, abs=1e-12)


# Laws


@given(y_true=hard, y_pred=hard | soft, family=families, weighted=st.booleans())
def test_every_curve_lies_between_its_bounds(y_true, y_pred, family, weighted):
    weight = np.arange(6.0) if weighted else None
    curve = loss_curve(y_true, y_pred, family, sample_weight=weight)
    lower, upper = curve.bounds()
    assert (lower.losses <= curve.losses + 1e-12).all()
    assert (curve.losses <= upper.losses + 1e-12).all()
    profile = ErrorProfile.from_predictions(y_true, y_pred, weight)
    assert profile.togetherness(family) == pytest.approx(curve.togetherness, nan_ok=True)
    assert np.isnan(curve.togetherness) or 0 <= curve.togetherness <= 1


@given(y_true=hard, y_pred=hard | soft, known=arrays(bool, (6, 4)), family=families, weighted=st.booleans())
def test_with_missing_labels_too(y_true, y_pred, known, family, weighted):
    known[5] = [True, True, False, False]
    weight = np.arange(6.0) if weighted else None
    profile = ObservedProfile.from_predictions(y_true, y_pred, observed=known, sample_weight=weight)
    curve = profile.curve(family)
    lower, upper = profile.bounds(family)
    assert (lower.losses <= curve.losses + 1e-12).all()
    assert (curve.losses <= upper.losses + 1e-12).all()
    assert lower.losses[0] == pytest.approx(upper.losses[0])
    assert np.isnan(profile.togetherness(family)) or 0 <= profile.togetherness(family) <= 1


@given(y_true=hard, y_pred=hard | soft, family=families, order=st.permutations(range(6)))
def test_order_copies_and_weights_do_not_matter(y_true, y_pred, family, order):
    togetherness = loss_curve(y_true, y_pred, family).togetherness
    labels = [2, 0, 3, 1]
    permuted = loss_curve(y_true[order][:, labels], y_pred[order][:, labels], family)
    twice = loss_curve(np.vstack([y_true, y_true]), np.vstack([y_pred, y_pred]), family)
    weighted = loss_curve(y_true, y_pred, family, sample_weight=np.full(6, 0.7))
    for other in (permuted, twice, weighted):
        assert other.togetherness == pytest.approx(togetherness, abs=1e-7, nan_ok=True)


def test_weights_are_copies_of_rows():
    true, pred = RNG.integers(2, size=(2, 20, 5))
    weight = RNG.integers(1, 4, size=20)
    copies = loss_curve(true.repeat(weight, axis=0), pred.repeat(weight, axis=0))
    assert loss_curve(true, pred, sample_weight=weight).togetherness == pytest.approx(copies.togetherness)


def test_rows_without_mistakes_change_the_slope_alone():
    # up to one mistake a row, the upper bound is in proportion to the Hamming loss, as the curve is
    few, fewer = (ErrorProfile.from_histogram([right, 6, 3, 0, 1]).curve() for right in (30, 300))
    assert few.togetherness == pytest.approx(fewer.togetherness)
    assert few.slope == pytest.approx(fewer.slope * 310 / 40)


def test_independent_errors_have_a_togetherness_that_is_not_zero():
    rng = np.random.default_rng(3)
    rates = np.array([0.3, 0.1, 0.2, 0.05, 0.4])
    wrong = rng.random((200_000, 5)) < rates
    true = np.zeros((200_000, 5), dtype=int)
    reference = choral.independent_curve(true, wrong).togetherness
    assert reference == pytest.approx(loss_curve(true, wrong).togetherness, abs=0.005)
    assert reference > 0.1


# Where labels are missing


@lru_cache
def spread_by_brute_force(n_known, n_rows, k, cost):
    """The largest sum of binomial losses of rows with these numbers of known labels, over all numbers of mistakes."""
    best = Fraction(0)
    for wrong in product(*(range(n + 1) for n in n_known)):
        if sum(Fraction(e, n) for e, n in zip(wrong, n_known, strict=True)) == cost:
            best = max(
                best,
                sum(
                    1 - Fraction(comb(n - e, min(k, n)), comb(n, min(k, n)))
                    for e, n in zip(wrong, n_known, strict=True)
                ),
            )
    return best / n_rows


@pytest.mark.parametrize("n_known", list(combinations_with_replacement([1, 2, 4], 3)))
def test_the_upper_bound_against_all_ways_to_place_mistakes(n_known):
    """Fractions of rows may hold mistakes, so that the bound is the concave hull of what whole rows can reach."""
    costs = sorted({sum(Fraction(e, n) for e, n in zip(wrong, n_known, strict=True)) for wrong in _placements(n_known)})
    ks = np.arange(1, 5)
    values, counts = np.unique(n_known, return_counts=True)
    shares = dict(zip(values.tolist(), (counts / 3).tolist(), strict=True))
    found = largest_losses(BINOMIAL, ks, shares, np.array([float(cost / 3) for cost in costs]))
    for column, k in enumerate(ks.tolist()):
        points = [(cost / 3, spread_by_brute_force(n_known, 3, k, cost)) for cost in costs]
        for (cost, own), value in zip(points, found[:, column].tolist(), strict=True):
            # no chord between two placements is above the bound, and some chord (or placement) reaches it
            hull = max(
                own,
                *(
                    first + (cost - a) / (b - a) * (second - first)
                    for a, first in points
                    for b, second in points
                    if a < cost < b
                ),
                Fraction(0),
            )
            assert value == pytest.approx(float(hull), abs=1e-12)


def _placements(n_known):
    return product(*(range(n + 1) for n in n_known))


def test_an_observed_profile_of_complete_labels_has_the_bounds_of_its_curve():
    true, pred = RNG.integers(2, size=(2, 20, 5))
    profile = ObservedProfile.from_predictions(true, pred)
    for family in FAMILIES:
        for own, of_curve in zip(profile.bounds(family), profile.curve(family).bounds(), strict=True):
            np.testing.assert_allclose(own.losses, of_curve.losses, rtol=1e-12)
        assert profile.togetherness(family) == pytest.approx(profile.curve(family).togetherness)


def test_missing_labels_by_hand():
    """Two rows with one known label, two with two; one mistake in a row with two: a Hamming loss of 1 / 8."""
    true = [[0, NAN], [NAN, 0], [0, 0], [0, 0]]
    apart = ObservedProfile.from_predictions(true, [[0, 0], [0, 0], [1, 0], [0, 0]])
    assert apart.known_shares() == {1: 0.5, 2: 0.5}
    lower, upper = apart.bounds()
    assert lower.losses.tolist() == [1 / 8, 1 / 8]
    assert upper.losses.tolist() == [1 / 8, 1 / 4]
    assert apart.togetherness() == pytest.approx(0)
    # a mistake in a row with one known label costs the same as a row that is wholly wrong
    assert ObservedProfile.from_predictions(true, [[1, 1], [0, 0], [0, 0], [0, 0]]).togetherness() == pytest.approx(1)
    assert ObservedProfile.from_predictions(true, [[0, 0], [0, 0], [1, 1], [0, 0]]).togetherness() == pytest.approx(1)


# Where there is none


@pytest.mark.parametrize("family", list(FAMILIES))
@pytest.mark.parametrize("histogram", [[4, 0, 0], [0, 0, 7], [3, 2]])
def test_without_room_between_the_bounds_it_is_nan(family, histogram):
    profile = ErrorProfile.from_histogram(histogram)
    assert np.isnan(profile.togetherness(family))
    assert np.isnan(profile.curve(family).togetherness)


def test_very_few_mistakes_have_it_nevertheless():
    histogram = [10**12, 1, 0, 1]
    assert ErrorProfile.from_histogram(histogram).togetherness() == pytest.approx(
        float(exact_togetherness(histogram)), rel=1e-9
    )


def test_ends_that_are_missing_are_named():
    without = LossCurve("binomial", [2, 3], [0.1, 0.2], n_labels=3)
    message = "the bounds of a curve need its Hamming end, k = 1; its parameters are [2, 3]."
    with pytest.raises(ValueError, match=re.escape(message)):
        without.bounds()
    message = "the togetherness of a curve needs both ends of its axis, k = 1 and 3; its parameters are [2, 3]."
    with pytest.raises(ValueError, match=re.escape(message)):
        _ = without.togetherness
    with pytest.raises(ValueError, match=re.escape("alpha = 1 and 1000; its parameters are [1, 2]")):
        _ = LossCurve("polynomial", [1, 2], [0.1, 0.2], n_labels=3).togetherness
    assert LossCurve("binomial", [1, 2], [0.1, 0.2], n_labels=3).bounds()[1].losses == pytest.approx([0.1, 0.2])


def test_labels_decided_for_each_loss_have_none():
    profile = EachLossProfile("binomial", np.array([1, 2]), [ErrorProfile.from_histogram([1, 1, 0])] * 2)
    with pytest.raises(
        TypeError, match="decided anew for each loss have no togetherness: it compares losses of the same"
    ):
        profile.togetherness()


def test_measures_of_both_families_are_those_of_the_bounds():
    curve = ErrorProfile.from_histogram([2, 0, 1, 1])
    evenly = ErrorProfile.from_histogram([0, 3, 1, 0])
    upper = curve.bounds("polynomial", [1, 3])[1]
    assert upper.losses[1] == pytest.approx(evenly.loss(PolynomialMeasure(3)))
    assert curve.bounds()[1].losses[1] == pytest.approx(evenly.loss(BinomialMeasure(2)))


def test_many_labels():
    profile = ErrorProfile.from_dict(
        {"n_labels": 100_000, "n_rows": 10, "total_weight": 10, "rows_by_errors": [5, 3, 1, 1]}
    )
    lower, upper = profile.bounds()
    assert upper.losses[-1] == pytest.approx(0.8)  # eight mistakes in ten rows
    assert lower.losses[-1] == pytest.approx(8e-6)
    # with many labels the area of e mistakes is that under 1 - (1 - x) ** e, which is e / (e + 1)
    area = 0.3 / 2 + 0.1 * 2 / 3 + 0.1 * 3 / 4
    assert profile.togetherness() == pytest.approx(1 - area / (0.8 / 2), abs=1e-3)
