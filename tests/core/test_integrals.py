"""The two forms of the Choquet integral against its definition, and against each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choral import (
    AdditiveMeasure,
    AtLeastMeasure,
    BinomialMeasure,
    Capacity,
    CountingMeasure,
    CoveringMeasure,
    HammingMeasure,
    MoebiusMeasure,
    PolynomialMeasure,
    SubsetMeasure,
    choquet_integral,
    choquet_integral_moebius,
)
from definitions import capacity_values, choquet_by_levels, worth_of

N_LABELS = 5
MEASURES = [
    HammingMeasure(),
    SubsetMeasure(),
    BinomialMeasure(2),
    BinomialMeasure(4),
    PolynomialMeasure(1.5),
    PolynomialMeasure(3),
    PolynomialMeasure(np.inf),
    AtLeastMeasure(2),
    CountingMeasure([0, 0.5, 0.5, 0.6, 0.9, 1]),
    AdditiveMeasure([0.1, 0.2, 0.3, 0.4, 0]),
    Capacity(capacity_values(np.random.default_rng(0), N_LABELS)),
    MoebiusMeasure({(0,): 0.5, (1, 2): 0.3, (0, 3, 4): 0.2}),
    MoebiusMeasure({(0,): 0.5, (1,): 0.7, (0, 1): -0.2}),
    CoveringMeasure([(0, 1), (1, 2, 3)], weights=[1, 3]),
]
values = arrays(float, (4, N_LABELS), elements=st.floats(0, 1) | st.sampled_from([0.0, 0.25, 1.0]))


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
@given(u=values)
def test_both_forms_follow_the_definition(measure, u):
    expected = [choquet_by_levels(row, worth_of(measure, N_LABELS)) for row in u]
    np.testing.assert_allclose(choquet_integral(u, measure), expected, atol=1e-12)
    np.testing.assert_allclose(choquet_integral_moebius(u, measure), expected, atol=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=repr)
def test_any_non_negative_function_can_be_integrated(measure):
    u = np.array([12.0, 0, 3.5, 1e6, 7])
    expected = choquet_by_levels(u, worth_of(measure, N_LABELS))
    assert choquet_integral(u, measure) == pytest.approx(expected, rel=1e-12)
    assert choquet_integral_moebius(u, measure) == pytest.approx(expected, rel=1e-12)
    assert isinstance(choquet_integral(u, measure), float)


@pytest.mark.parametrize("n_labels", [10, 12])
def test_both_forms_agree_on_random_capacities(n_labels):
    rng = np.random.default_rng(3)
    capacity = Capacity(capacity_values(rng, n_labels))
    u = rng.random((20, n_labels))
    np.testing.assert_allclose(choquet_integral(u, capacity), choquet_integral_moebius(u, capacity), atol=1e-12)


@pytest.mark.parametrize("measure", [BinomialMeasure(40), PolynomialMeasure(9), HammingMeasure()], ids=repr)
def test_both_forms_agree_for_many_labels(measure):
    u = np.random.default_rng(4).random((50, 300))
    np.testing.assert_allclose(choquet_integral(u, measure), choquet_integral_moebius(u, measure), atol=1e-12)


@pytest.mark.parametrize("n_labels", [10, 20, 64])
def test_both_forms_agree_where_masses_alternate(n_labels):
    u = np.random.default_rng(6).random((30, n_labels))
    for measure in (AtLeastMeasure(1), AtLeastMeasure(n_labels // 2), AtLeastMeasure(n_labels), PolynomialMeasure(2.5)):
        np.testing.assert_allclose(choquet_integral_moebius(u, measure), choquet_integral(u, measure), atol=1e-12)


@pytest.mark.parametrize("n_labels", [12, 16])
def test_both_forms_agree_on_capacities_with_large_masses(n_labels):
    u = np.random.default_rng(7).random((3, n_labels))
    capacity = Capacity.from_measure(AtLeastMeasure(n_labels // 3), n_labels)
    try:
        second = choquet_integral_moebius(u, capacity)
    except ValueError:
        assert np.abs(capacity.moebius()).sum() > 1e6
    else:
        np.testing.assert_allclose(second, choquet_integral(u, capacity), atol=1e-12)


def test_rows_beyond_one_block():
    u = np.random.default_rng(5).random((30_000, 20))
    capacity = Capacity.from_measure(PolynomialMeasure(2), 20)
    np.testing.assert_allclose(choquet_integral(u, capacity), choquet_integral(u, PolynomialMeasure(2)), atol=1e-12)


def test_masses_that_would_cancel_are_refused():
    capacity = Capacity.from_measure(AtLeastMeasure(10), 20)
    with pytest.raises(ValueError, match="the result, at most 1, would be rounding error"):
        choquet_integral_moebius(np.ones(20) / 2, capacity)
    assert choquet_integral(np.ones(20) / 2, capacity) == 0.5


@pytest.mark.parametrize("integral", [choquet_integral, choquet_integral_moebius])
def test_bad_input(integral):
    with pytest.raises(ValueError, match=r"u must be finite and non-negative; u\[0, 1\] is -0.5"):
        integral([0.5, -0.5], HammingMeasure())
    with pytest.raises(ValueError, match=r"u\[1, 0\] is nan"):
        integral([[0.5, 0.5], [np.nan, 1]], HammingMeasure())
    with pytest.raises(ValueError, match="made for 5 labels; got 2"):
        integral([0.5, 0.5], AdditiveMeasure([0.1, 0.2, 0.3, 0.4, 0]))
    with pytest.raises(ValueError, match="u must be dense"):
        integral(sp.csr_matrix([[0.5, 0.5]]), HammingMeasure())
    with pytest.raises(ValueError, match="u must be 2-D"):
        integral(np.zeros((2, 2, 2)), HammingMeasure())
    with pytest.raises(TypeError, match="measure must be one of"):
        integral([0.5, 0.5], "hamming")
