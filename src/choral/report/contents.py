"""What pages of studies and of evaluations have in common, in plain values: curves, pairs of them, and notes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from choral._outputs import plain_numbers
from choral.curves import LossCurve, PairwiseCurve, slope_and_area
from choral.stats import Band

DIGITS = 6  # of intervals; losses are given in full


def family_contents(
    curves: dict[str, LossCurve],
    parameters: np.ndarray,
    bands: dict[str, Band],
    pairs: list[dict[str, Any]],
    together: Mapping[str, dict[str, float | None] | None],
) -> dict[str, Any]:
    """Curves along a family and pairs of them; ``together`` has value, lower, upper and independent for some names."""
    some = next(iter(curves.values()), None)
    return {
        "parameters": plain_numbers(parameters),
        "x": [] if some is None else [min(float(x), 2.0) for x in some.x],  # JSON knows no infinity
        "curves": {name: _curve_contents(curve, bands.get(name), together.get(name)) for name, curve in curves.items()},
        "pairs": pairs,
    }


def _curve_contents(curve: LossCurve, band: Band | None, together: dict[str, float | None] | None) -> dict[str, Any]:
    slope, area = slope_and_area(curve)
    return {
        "losses": curve.losses.tolist(),
        "lower": None if band is None else _rounded(band.lower),
        "upper": None if band is None else _rounded(band.upper),
        "slope": slope,
        "area": area,
        "togetherness": together,
    }


def pair_contents(pair: PairwiseCurve, difference: Any, pvalue: np.ndarray | None = None) -> dict[str, Any]:
    first, second = pair.names
    return {
        "first": first,
        "second": second,
        "crossings": plain_numbers(pair.crossings()),
        "difference": _rounded(difference.estimate),
        "lower": _rounded(difference.lower),
        "upper": _rounded(difference.upper),
        "p": None if pvalue is None else _rounded(pvalue),
    }


def bootstrap_notes(confidence: float, n_bootstrap: int) -> list[str]:
    if not n_bootstrap:
        return []
    return [
        f"Bands are pointwise {confidence:.0%} intervals of a paired bootstrap over rows with {n_bootstrap} samples; "
        "they say how much the test rows matter, not how much the training rows do."
    ]


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(values, DIGITS).tolist()
