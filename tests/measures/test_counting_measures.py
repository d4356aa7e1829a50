"""Counting measures against exact arithmetic, their probability readings, and each other."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    CountingMeasure,
    HammingMeasure,
    PolynomialMeasure,
    SubsetMeasure,
)
from choral.measures.count_tables import running_sum
from definitions import moebius_by_definition, worth_of

EXACT = 1e-12


def relative_error(numbers, exact):
    numbers, exact = np.asarray(numbers), np.asarray(exact)
    return np.max(np.abs(numbers - exact) / np.where(exact == 0, 1, exact))


@pytest.mark.parametrize("last_digit", range(10))
def test_binomial_tables_are_exact_up_to_200_labels(last_digit):
    for n_labels in range(last_digit or 10, 201, 10):
        for k in range(1, n_labels + 1):
            counts = [math.comb(right, k) for right in range(n_labels + 1)]
            total = counts[-1]
            measure = BinomialMeasure(k)
            # The quotient of two integers is correctly rounded, however large they are.
            assert relative_error(measure.values(n_labels), [c / total for c in counts]) < EXACT
            assert relative_error(measure.deficits(n_labels), [(total - c) / total for c in counts[::-1]]) < EXACT
            steps = [(counts[right] - counts[right - 1]) / total for right in range(n_labels, 0, -1)]
            assert relative_error(measure.weights(n_labels), steps) < EXACT


def exact_binomial_worth(n_labels, k, wrong):
    """C(K - e, k) / C(K, k) as two integers, by the shorter of the two products."""
    few, many = sorted((k, wrong))
    if few + many > n_labels:
        return 0, 1
    numerator = math.prod(range(n_labels - many - few + 1, n_labels - many + 1))
    return numerator, math.prod(range(n_labels - few + 1, n_labels + 1))


@pytest.mark.parametrize("k", [1, 2, 10, 65, 1000, 500_000, 999_990, 1_000_000])
def test_binomial_tables_are_exact_for_a_million_labels(k):
    n_labels = 1_000_000
    with np.errstate(all="raise"):
        measure = BinomialMeasure(k)
        worths, deficits = measure.values(n_labels)[::-1], measure.deficits(n_labels)
        weights = measure.weights(n_labels)
    for table in (worths, deficits, weights):
        assert ((table >= 0) & (table <= 1)).all()  # and no nan
    assert math.fsum(weights) == pytest.approx(1, abs=1e-12)
    for wrong in [0, 1, 2, 9, 10, 11, 300, 997, 2_000, 100_000, 345_678, 690_000, 999_000, 999_999, n_labels]:
        if min(wrong, k) <= 2000:
            right, total = exact_binomial_worth(n_labels, k, wrong)
            assert deficits[wrong] == pytest.approx((total - right) / total, rel=EXACT, abs=0)
            if right * 10**300 >= total:
                assert worths[wrong] == pytest.approx(right / total, rel=EXACT, abs=0)


@pytest.mark.parametrize("n_labels", [1, 7, 100, 10_000, 1_000_000])
@pytest.mark.parametrize("alpha", [1, 1.01, 1.5, 2, 16, 17, 100, 1000, 1e4, 1e6])
def test_polynomial_tables_are_exact(n_labels, alpha):
    with np.errstate(all="raise"):
        measure = PolynomialMeasure(alpha)
        worths, deficits = measure.values(n_labels)[::-1], measure.deficits(n_labels)
        weights = measure.weights(n_labels)
    for table in (worths, deficits, weights):
        assert ((table >= 0) & (table <= 1)).all()
    assert math.fsum(weights) == pytest.approx(1, abs=1e-12)
    with localcontext() as context:
        context.prec = 60
        for wrong in {0, 1, 2, n_labels // 100, n_labels // 10, n_labels // 2, n_labels - 1, n_labels} & {
            *range(n_labels + 1)
        }:
            right = Decimal(n_labels - wrong) / n_labels
            worth = right ** Decimal(alpha) if right else Decimal(0)
            assert deficits[wrong] == pytest.approx(float(1 - worth), rel=EXACT, abs=0)
            if worth > Decimal("1e-300"):
                assert worths[wrong] == pytest.approx(float(worth), rel=EXACT, abs=0)


@pytest.mark.parametrize(
    "measure",
    [
        HammingMeasure(),
        SubsetMeasure(),
        BinomialMeasure(3),
        PolynomialMeasure(2.5),
        PolynomialMeasure(np.inf),
        AtLeastMeasure(2),
        CountingMeasure([0, 0.3, 0.3, 0.4, 1]),
        CountingMeasure.from_weights([0.1, 0.2, 0.3, 0.4]),
        CountingMeasure.from_masses([0, 0.5, 0.2, 0, 0.3]),
    ],
    ids=repr,
)
def test_tables_of_one_measure_agree(measure):
    values, deficits, weights = measure.values(4), measure.deficits(4), measure.weights(4)
    assert values[[0, -1]].tolist() == [0, 1]
    np.testing.assert_allclose(deficits, 1 - values[::-1], atol=1e-15)
    np.testing.assert_allclose(weights, np.diff(values)[::-1], atol=1e-15)
    np.testing.assert_array_equal(measure.deficits(4, max_wrong=2), deficits[:3])
    np.testing.assert_array_equal(measure.weights(4, max_wrong=2), weights[:2])
    masses = measure.masses(4)
    np.testing.assert_allclose(CountingMeasure.from_masses(masses).values(4), values, atol=1e-14)
    by_size = np.zeros(5)
    for labels, mass in moebius_by_definition(worth_of(measure, 4), 4).items():
        by_size[len(labels)] += mass
    np.testing.assert_allclose(masses, by_size, atol=1e-14)


@pytest.mark.parametrize("n_labels, k", [(5, 2), (6, 3), (7, 7)])
def test_binomial_loss_is_the_share_of_k_sets_with_a_mistake(n_labels, k):
    for wrong in range(n_labels + 1):
        sets = list(combinations(range(n_labels), k))
        share = sum(any(label < wrong for label in labels) for labels in sets) / len(sets)
        assert BinomialMeasure(k).deficits(n_labels)[wrong] == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize("n_labels, alpha", [(4, 3), (5, 2)])
def test_polynomial_loss_is_the_share_of_draws_with_a_mistake(n_labels, alpha):
    for wrong in range(n_labels + 1):
        draws = list(product(range(n_labels), repeat=alpha))
        share = sum(any(label < wrong for label in draw) for draw in draws) / len(draws)
        assert PolynomialMeasure(alpha).deficits(n_labels)[wrong] == pytest.approx(share, rel=1e-14)


@pytest.mark.parametrize("n_labels, alpha", [(3, 5), (10, 4), (64, 20), (300, 7)])
def test_polynomial_with_integer_alpha_is_a_mixture_of_binomials(n_labels, alpha):
    masses = PolynomialMeasure(alpha).masses(n_labels)
    assert (masses >= 0).all()
    for size in range(min(n_labels, alpha) + 1):
        mass = Fraction(math.perm(n_labels, size) * stirling(alpha, size), n_labels**alpha)
        assert masses[size] == pytest.approx(float(mass), rel=EXACT, abs=0)
    mixture = sum(masses[k] * BinomialMeasure(k).deficits(n_labels) for k in range(1, n_labels + 1) if masses[k])
    np.testing.assert_allclose(mixture, PolynomialMeasure(alpha).deficits(n_labels), rtol=EXACT)


def stirling(n, k):
    """Stirling number of the second kind, by inclusion and exclusion."""
    return sum((-1) ** (k - i) * math.comb(k, i) * i**n for i in range(k + 1)) // math.factorial(k)


def test_polynomial_with_other_alpha_has_negative_masses():
    assert PolynomialMeasure(1.5).masses(5).min() < 0


def test_exact_masses_reach_64_labels():
    scale = 10**300
    values = [
        Fraction(i**2 * math.isqrt(i * scale), math.isqrt(scale) * 64**2 * 8) for i in range(65)
    ]  # (i / 64) ** 2.5
    masses = PolynomialMeasure(2.5).masses(64)
    for size in range(65):
        terms = ((-1) ** (size - i) * math.comb(size, i) * values[i] for i in range(size + 1))
        assert masses[size] == pytest.approx(float(math.comb(64, size) * sum(terms)), rel=EXACT, abs=0)
    assert AtLeastMeasure(2).masses(5).tolist() == [0, 0, 10, -20, 15, -4]


def test_masses_without_closed_form_are_refused_above_64_labels():
    with pytest.raises(ValueError, match=r"PolynomialMeasure\(alpha=1.5\) have no closed form.*64 labels; got 65"):
        PolynomialMeasure(1.5).masses(65)
    with pytest.raises(ValueError, match="no closed form"):
        AtLeastMeasure(3).masses(65)
    with pytest.raises(ValueError, match=r"PolynomialMeasure\(100000\) for 1000000 labels would take 1e\+10 steps"):
        PolynomialMeasure(1e5).masses(10**6)
    assert BinomialMeasure(70).masses(100)[70] == 1
    assert PolynomialMeasure(np.inf).masses(100)[100] == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9).filter(lambda steps: sum(steps) > 0.01))
def test_masses_and_back_is_the_identity(steps):
    values = np.concatenate([[0], np.cumsum(steps)]) / np.sum(steps)
    measure = CountingMeasure(values / values[-1])
    rebuilt = CountingMeasure.from_masses(measure.masses(len(steps)))
    np.testing.assert_allclose(rebuilt.values(len(steps)), values, atol=1e-12)


def test_masses_of_a_huge_alpha():
    for n_labels in (1, 64, 100, 1000):
        assert PolynomialMeasure(1e308).masses(n_labels)[-1] == 1
    assert PolynomialMeasure(1e6).masses(100)[-1] == 1
    assert PolynomialMeasure(1e6 + 0.5).masses(3)[-1] == pytest.approx(1)


@pytest.mark.parametrize("n_labels", [2, 5, 20, 100])
def test_masses_when_nearly_all_labels_are_drawn(n_labels):
    least = n_labels * (math.log(n_labels) + 30)
    for alpha in (math.floor(least), math.ceil(least), 2 * math.ceil(least)):  # by the recursion, then by its limit
        masses = PolynomialMeasure(alpha).masses(n_labels)
        for size in range(max(0, n_labels - 3), n_labels + 1):
            mass = Fraction(math.perm(n_labels, size) * stirling(alpha, size), n_labels**alpha)
            assert masses[size] == pytest.approx(float(mass), rel=EXACT, abs=1e-300)


def test_masses_beyond_the_digits_of_doubles():
    assert sum(AtLeastMeasure(20).exact_masses(40)) == 1
    with pytest.raises(ValueError, match="doubles keep too few digits; got .* Give the values instead"):
        CountingMeasure.from_masses(AtLeastMeasure(20).masses(40))


def test_a_table_with_rounding_noise_is_mended():
    measure = CountingMeasure([1e-13, 0.5, 0.5 - 1e-13, 1 - 1e-13])
    assert measure.values(3).tolist() == [0, 0.5, 0.5, 1]
    assert measure.deficits(3)[[0, -1]].tolist() == [0, 1]
    assert CountingMeasure.from_masses(measure.masses(3)).values(3) == pytest.approx(measure.values(3))
    noisy = np.full(101, -1e-18)
    noisy[[0, 1]] = 1e-17, 1
    assert CountingMeasure.from_masses(noisy).values(100) == pytest.approx(np.arange(101) / 100)


def test_long_running_sums_keep_their_digits():
    terms = np.full(1_000_000, 0.1)
    sums = running_sum(terms)
    assert sums[-1] == pytest.approx(math.fsum(terms), rel=1e-13)
    assert sums[[0, 999, 54_321]] == pytest.approx([0.1, 100, 5432.2], rel=1e-13)
    assert abs(np.cumsum(terms)[-1] / math.fsum(terms) - 1) > 1e-12  # what it is there for
    two = running_sum(np.arange(4000.0).reshape(2, 2000))
    np.testing.assert_array_equal(two, np.cumsum(np.arange(4000.0).reshape(2, 2000), axis=1))


@pytest.mark.parametrize(
    "measure", [HammingMeasure(), SubsetMeasure(), PolynomialMeasure(2), BinomialMeasure(1)], ids=repr
)
@pytest.mark.parametrize("table", ["values", "deficits", "weights", "masses"])
def test_the_number_of_labels_is_checked(measure, table):
    for n_labels in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n_labels must be"):
            getattr(measure, table)(n_labels)
    assert len(getattr(measure, table)(4.0)) in (4, 5)


def test_weights_below_the_rounding_of_one_are_kept():
    measure = CountingMeasure.from_weights([1e-20, 1 - 1e-20])
    assert measure.deficits(2)[1] == 1e-20


def test_from_function_is_the_table_of_v():
    assert CountingMeasure.from_function(lambda x: x**2, 4) == CountingMeasure([0, 1 / 16, 1 / 4, 9 / 16, 1])
    np.testing.assert_array_equal(
        CountingMeasure.from_function(lambda x: x**2, 4).values(4), PolynomialMeasure(2).values(4)
    )


def test_convexity():
    assert all(m.is_convex(6) for m in (HammingMeasure(), SubsetMeasure(), BinomialMeasure(3), PolynomialMeasure(1.5)))
    assert not AtLeastMeasure(3).is_convex(6)
    assert AtLeastMeasure(6).is_convex(6)


@pytest.mark.parametrize("measure", [BinomialMeasure(5), PolynomialMeasure(9.5)])
@pytest.mark.parametrize("n_labels", [5, 50])
def test_losses_grow_with_the_parameter(measure, n_labels):
    smaller = BinomialMeasure(4) if isinstance(measure, BinomialMeasure) else PolynomialMeasure(9)
    assert (measure.deficits(n_labels) >= smaller.deficits(n_labels)).all()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: BinomialMeasure(0), "k must be at least 1; got 0"),
        (lambda: BinomialMeasure(1.5), "k must be a whole number, at least 1; got 1.5"),
        (lambda: BinomialMeasure(6).values(5), r"k must lie in 1\.\.5, the number of labels; got 6"),
        (lambda: AtLeastMeasure(6).deficits(5), r"k must lie in 1\.\.5"),
        (lambda: PolynomialMeasure(0.5), "alpha must be at least 1; got 0.5"),
        (lambda: PolynomialMeasure(float("nan")), "alpha must be at least 1; got nan"),
        (lambda: CountingMeasure([0, 0.6, 0.5, 1]), r"values must not decrease: sets of 1 labels .* v\(1/3\) = 0.6"),
        (lambda: CountingMeasure([0.1, 0.5, 1]), r"start at v\(0\) = 0 and end at v\(1\) = 1; got 0.1 and 1.0"),
        (lambda: CountingMeasure([0, 0.5, 0.9]), "got 0.0 and 0.9"),
        (lambda: CountingMeasure([0, np.nan, 1]), r"values must be finite; values\[1\] is nan"),
        (lambda: CountingMeasure([0]), r"K \+ 1 entries"),
        (lambda: CountingMeasure([[0, 1]]), "non-empty 1-D"),
        (lambda: CountingMeasure([0, 0.5, 1]).values(3), "with 3 values is made for 2 labels; got 3"),
        (lambda: CountingMeasure.from_weights([0.5, 0.6]), "weights must sum to 1; their sum is 1.1"),
        (lambda: CountingMeasure.from_weights([1.5, -0.5]), r"weights\[1\] is -0.5"),
        (lambda: CountingMeasure.from_masses([0.5, 0.5]), "that of the empty set, 0, first"),
        (lambda: CountingMeasure.from_masses([0, 0.5]), "masses must sum to 1; their sum is 0.5"),
        (lambda: CountingMeasure.from_masses([0, 3, -2, 0]), "values must not decrease: sets of 2 labels"),
        (lambda: CountingMeasure.from_masses([0, 1.5, -0.5, *[0] * 63]), "at most 64 labels; got 65"),
        (lambda: HammingMeasure().form(0), "n_labels must be at least 1"),
    ],
)
def test_what_is_no_measure_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("alpha", ["2", True, None])
def test_alpha_must_be_a_number(alpha):
    with pytest.raises(TypeError, match="alpha must be a number"):
        PolynomialMeasure(alpha)
