"""Loss curves and pairs of them: by hand, and laws of crossings."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choral import LossCurve, PairwiseCurve, loss_curve
from choral.measures import PUBLISHED_ALPHAS


def curve(losses, name=None, family="binomial", parameters=None):
    n_labels = len(losses)
    return LossCurve(family, parameters or range(1, n_labels + 1), losses, n_labels=n_labels, name=name)


def test_published_alphas():
    assert PUBLISHED_ALPHAS.size == 55
    assert PUBLISHED_ALPHAS[[0, 1, 10, 19, 20, 37, 45, 46, 54]].tolist() == [1, 1.01, 1.1, 2, 3, 20, 100, 200, 1000]
    assert (np.diff(PUBLISHED_ALPHAS) > 0).all()


def test_default_parameters():
    def parameters(n_labels):
        return loss_curve(np.zeros((1, n_labels)), np.zeros((1, n_labels))).parameters

    assert parameters(200).tolist() == list(range(1, 201))
    grid = parameters(201)
    assert grid.size <= 200
    assert grid[[0, -1]].tolist() == [1, 201]
    assert (np.diff(grid) > 0).all()


def test_slope_and_area_by_hand():
    a = curve([0.1, 0.3, 0.4])
    assert a.x.tolist() == [0, 0.5, 1]
    assert a.slope == pytest.approx(0.3)
    assert a.area == pytest.approx((0.1 + 0.3) / 4 + (0.3 + 0.4) / 4)
    b = LossCurve("polynomial", [1, 10, 100, 1000], [0.1, 0.2, 0.4, 0.4], n_labels=5)
    assert b.x == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert b.area == pytest.approx((0.15 + 0.3 + 0.4) / 3)
    assert b.slope == pytest.approx(0.3)


def test_an_infinite_alpha_is_the_subset_end_but_beyond_the_axis():
    b = LossCurve("polynomial", [1, 1000, 5000, np.inf], [0.1, 0.3, 0.8, 0.9], n_labels=5)
    assert b.area == pytest.approx(0.2)
    assert b.slope == pytest.approx(0.8)
    assert LossCurve("polynomial", [1, np.inf], [0.1, 0.9], n_labels=5).slope == pytest.approx(0.8)


def test_a_single_label():
    a = loss_curve([[1], [0]], [[0], [0]])
    assert (a.slope, a.area) == (0, 0.5)


@pytest.mark.parametrize("what", ["slope", "area"])
def test_slope_and_area_need_both_ends(what):
    with pytest.raises(ValueError, match=f"the {what} of a curve needs both ends of its axis, k = 1 and 4"):
        getattr(LossCurve("binomial", [1, 2], [0.1, 0.2], n_labels=4), what)
    with pytest.raises(ValueError, match=r"its parameters are \[2, 1000\]"):
        getattr(LossCurve("polynomial", [2, 1000], [0.1, 0.2], n_labels=4), what)


def test_curves_are_values():
    assert curve([0.1, 0.2]) == curve([0.1, 0.2])
    assert curve([0.1, 0.2]) != curve([0.1, 0.3])
    assert len({curve([0.1, 0.2]), curve([0.1, 0.2])}) == 1
    assert curve([0.0, 0.2]) == curve([-0.0, 0.2])
    restored = pickle.loads(pickle.dumps(curve([0.1, 0.2], "BR")))
    assert restored == curve([0.1, 0.2], "BR")
    with pytest.raises(ValueError, match="read-only"):
        restored.losses[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        curve([0.1, 0.2]).losses[0] = 1


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: LossCurve("cubic", [1], [0.1], 3), "family must be one of 'binomial', 'polynomial'; got 'cubic'"),
        (lambda: LossCurve("binomial", [1, 2], [0.1], 3), "one entry for each of 2 parameters; got 1"),
        (
            lambda: LossCurve("binomial", [1, 4], [0.1, 0.2], 3),
            "whole numbers in 1..3, the number of labels; parameters[1]",
        ),
        (lambda: LossCurve("binomial", [1.5], [0.1], 3), "parameters[0] is 1.5"),
        (lambda: LossCurve("binomial", [2, 1], [0.1, 0.2], 3), "parameters must increase; parameters[1] is 1.0"),
        (lambda: LossCurve("polynomial", [0.5], [0.1], 3), "must be at least 1; parameters[0] is 0.5"),
        (lambda: LossCurve("polynomial", [np.nan], [0.1], 3), "parameters must not be nan; parameters[0] is nan"),
        (lambda: LossCurve("polynomial", [1], [1.5], 3), "losses must lie in [0, 1]; losses[0] is 1.5"),
        (lambda: LossCurve("polynomial", [1], [np.nan], 3), "losses[0] is nan"),
        (lambda: LossCurve("polynomial", [], [], 3), "non-empty 1-D"),
        (
            lambda: PairwiseCurve(curve([0.1, 0.2]), curve([0.1, 0.2, 0.3])),
            "got binomial, 2 labels and binomial, 3 labels",
        ),
        (
            lambda: PairwiseCurve(curve([0.1, 0.2]), LossCurve("binomial", [1], [0.1], n_labels=2)),
            "two curves compare on the same parameters",
        ),
    ],
)
def test_bad_curves_are_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    "first, second, crossings",
    [
        ([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], []),
        ([0.1, 0.2, 0.3], [0.2, 0.25, 0.2], [2 + 1 / 3]),  # 0.05 above, then 0.1 below
        ([0.1, 0.2, 0.3], [0.2, 0.2, 0.2], [2]),
        ([0.1, 0.2, 0.3], [0.2, 0.2, 0.4], []),  # meet and part again
        ([0.1, 0.2, 0.3, 0.4], [0.2, 0.2, 0.3, 0.3], [2.5]),  # the middle of a stretch of ties
        ([0.2, 0.2, 0.2], [0.2, 0.2, 0.2], []),
        ([0.1, 0.3, 0.3, 0.6], [0.2, 0.2, 0.4, 0.5], [1.5, 2.5, 3.5]),
    ],
)
def test_crossings_by_hand(first, second, crossings):
    assert PairwiseCurve(curve(first), curve(second)).crossings() == pytest.approx(crossings)


def test_crossings_of_the_polynomial_family_lie_on_its_logarithmic_axis():
    pair = PairwiseCurve(
        LossCurve("polynomial", [1, 100], [0.1, 0.4], n_labels=3),
        LossCurve("polynomial", [1, 100], [0.2, 0.3], n_labels=3),
    )
    assert pair.crossings() == pytest.approx([10])


def polynomial_pair(alphas, first, second):
    curves = [LossCurve("polynomial", alphas, losses, n_labels=3) for losses in (first, second)]
    return PairwiseCurve(*curves)


@pytest.mark.parametrize(
    "alphas, first, second, crossings",
    [
        ([1, 2, np.inf], [0.1, 0.2, 0.6], [0.2, 0.3, 0.5], [4]),  # halfway: 1 / 4 between 1 / 2 and 0
        ([1, 2, np.inf], [0.2, 0.3, 0.5], [0.1, 0.2, 0.6], [4]),
        ([1, np.inf], [0.1, 0.4], [0.4, 0.3], [4]),  # at three quarters
        ([1, 2, np.inf], [0.1, 0.3, 0.6], [0.2, 0.3, 0.5], [2]),  # a tie before infinity
        ([1, 4, 16, np.inf], [0.1, 0.3, 0.3, 0.6], [0.2, 0.3, 0.3, 0.5], [8]),  # the middle of a stretch of ties
        ([1, 2, np.inf], [0.1, 0.2, 0.5], [0.2, 0.3, 0.5], []),  # a tie at infinity
        ([1, 2, 4, np.inf], [0.1, 0.2, 0.5, 0.5], [0.2, 0.3, 0.5, 0.5], []),  # ties that reach infinity
        ([1, 4, np.inf], [0.1, 0.3, 0.6], [0.2, 0.2, 0.7], [2, 8]),  # crossings on both sides of the last finite alpha
        ([np.inf], [0.1], [0.2], []),
    ],
)
def test_a_crossing_before_infinity_is_interpolated_in_one_over_alpha(alphas, first, second, crossings):
    assert polynomial_pair(alphas, first, second).crossings() == pytest.approx(crossings)


@st.composite
def pairs_of_curves(draw):
    """Two curves of either family, with ties; alphas may end at infinity."""
    n_labels = draw(st.integers(2, 8))
    if draw(st.booleans()):
        family, parameters = "binomial", range(1, n_labels + 1)
    else:
        alphas = draw(st.lists(st.floats(1, 1e6), min_size=1, max_size=6, unique=True))
        family, parameters = "polynomial", sorted(alphas) + [np.inf] * draw(st.booleans())
    size = len(parameters)
    losses = st.lists(st.sampled_from([0.1, 0.2, 0.3]) | st.floats(0, 1), min_size=size, max_size=size)
    return PairwiseCurve(*(LossCurve(family, parameters, draw(losses), n_labels) for _ in range(2)))


@given(pair=pairs_of_curves())
def test_each_crossing_lies_between_the_parameters_where_the_sign_differs(pair):
    decided = np.flatnonzero(pair.differences)
    signs = np.sign(pair.differences[decided])
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    crossings = pair.crossings()
    assert crossings.size == changes.size
    assert np.isfinite(crossings).all()
    before, after = pair.parameters[decided[changes]], pair.parameters[decided[changes + 1]]
    rounding = 1 + 1e-13  # of logarithm and power: neighbours may be nearer to each other than that
    assert (crossings[1:] * rounding >= crossings[:-1]).all()
    assert (crossings * rounding >= before).all()
    assert (crossings <= after * rounding).all()
    to_infinity = np.isinf(after)
    assert (crossings[to_infinity] > before[to_infinity]).all()


def test_winners_and_names():
    pair = PairwiseCurve(curve([0.1, 0.2, 0.3], "BR"), curve([0.2, 0.2 + 1e-16, 0.2], "LP"))
    assert pair.winners == ("BR", "tie", "LP")
    assert PairwiseCurve(curve([0.1]), curve([0.2])).winners == ("first",)
    assert pair.parameters.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "second, shape",
    [
        ([0.1, 0.2, 0.3, 0.4], "straight"),
        ([0.1, 0.15, 0.25, 0.4], "convex"),
        ([0.1, 0.3, 0.4, 0.45], "concave"),
        ([0.1, 0.3, 0.35, 0.6], "mixed"),
        ([0.2, 0.2, 0.2, 0.2], "straight"),
    ],
)
@pytest.mark.parametrize("scale", [1, 1e-9])
def test_shapes(second, shape, scale):
    first, second = (scale * np.array(losses) for losses in ([0.1, 0.2, 0.3, 0.4], second))
    assert PairwiseCurve(curve(first), curve(second)).shape == shape


def test_standing_still_does_not_bend_a_curve():
    assert PairwiseCurve(curve([0.1, 0.1, 0.2]), curve([0.1, 0.1, 0.3])).shape == "straight"


def test_curve_with_given_parameters_and_weights():
    y_true, y_pred = [[1, 0, 1], [0, 0, 1]], [[1, 0, 0], [0, 0, 1]]
    a = loss_curve(y_true, y_pred, "polynomial", [1, 2, np.inf], sample_weight=[1, 0], name="model")
    assert a.losses == pytest.approx([1 / 3, 5 / 9, 1])
    assert a.name == "model"
