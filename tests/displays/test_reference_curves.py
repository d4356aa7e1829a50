"""Reference curves of one model: what is possible with its Hamming loss, and independent errors."""

import re

import numpy as np
import pytest

from choral import LossCurve, independent_curve, loss_curve
from choral.displays import LossCurveDisplay

pyplot = pytest.importorskip("matplotlib.pyplot")
RNG = np.random.default_rng(0)
TRUE = RNG.integers(2, size=(60, 5))
PRED = TRUE ^ (RNG.random(TRUE.shape) < 0.2)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def references(family="binomial", parameters=None):
    curve = loss_curve(TRUE, PRED, family, parameters, name="model")
    return curve, [*curve.bounds(), independent_curve(TRUE, PRED, family, parameters)]


@pytest.mark.parametrize("family, parameters", [("binomial", None), ("polynomial", [1, 2, 10, np.inf])])
def test_the_room_between_the_bounds_is_shaded(family, parameters):
    curve, found = references(family, parameters)
    display = LossCurveDisplay.from_curves(curve, references=found).plot()
    (shade,) = display.ax_.collections
    heights = np.concatenate([path.vertices[:, 1] for path in shade.get_paths()])
    assert heights.min() == pytest.approx(curve.losses[0])
    assert heights.max() == pytest.approx(found[1].losses.max())
    by_chance = next(line for line in display.ax_.lines if line.get_label() == "independent errors")
    assert np.asarray(by_chance.get_ydata())[-1] == pytest.approx(found[2].losses[-1])
    assert by_chance.is_dashed()
    assert len(display.lines_) == 1
    texts = [text.get_text() for text in display.ax_.texts]
    assert "independent errors" in texts
    (key,) = display.ax_.get_legend().get_texts()
    assert key.get_text() == "possible with this Hamming loss"


def test_models_keep_their_colours():
    curve, found = references()
    plain = LossCurveDisplay([curve]).plot()
    with_them = LossCurveDisplay([curve], references=found[:2]).plot()
    assert with_them.lines_[0].get_color() == plain.lines_[0].get_color()
    assert len(with_them.ax_.lines) == 1
    assert LossCurveDisplay([curve]).references == ()


def test_bad_references_are_refused():
    curve, found = references()
    message = "references must be a lower and an upper bound, and perhaps independent errors; got 1 curves."
    with pytest.raises(ValueError, match=re.escape(message)):
        LossCurveDisplay([curve], references=found[:1])
    with pytest.raises(ValueError, match="curves on one pair of axes have one family and number of labels"):
        LossCurveDisplay([curve], references=references("polynomial")[1])
    short = LossCurve("binomial", [1, 5], [0.1, 0.2], n_labels=5)
    with pytest.raises(ValueError, match="references must have the same parameters; these differ"):
        LossCurveDisplay([curve], references=[found[0], short])
