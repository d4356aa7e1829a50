"""The figures that the page's script draws, as JSON that no name in it can break out of."""

import json
import math
from typing import Any

from choral.report.constants import page_constants
from choral.report.sections import word

STEPS = 10_000  # what is only drawn travels in whole steps of 0.0001; the losses themselves keep every digit

# Inside a script element "</script>" would end it and "<!--" would change how the rest is read.
UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&"}


def embedded(value: Any) -> str:
    r"""JSON for a script element: plain ASCII without angle brackets or ampersands.

    Examples
    --------
    >>> embedded({"name": "</script>\u2028"})
    '{"name":"\\u003c/script\\u003e\\u2028"}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).translate(UNSAFE)


def figures(contents: dict[str, Any]) -> dict[str, Any]:
    """What charts and exported tables need of the contents, and constants; the rest of the page is HTML already."""
    kept = ("learners", "baseline", "families", "across")
    datasets = [_dataset(each) for each in contents["datasets"]]
    constants = page_constants(word(contents))
    return {key: contents[key] for key in kept} | {"datasets": datasets, "steps": STEPS, "constants": constants}


def _dataset(dataset: dict[str, Any]) -> dict[str, Any]:
    families = {
        name: family | {"pairs": [_pair(pair) for pair in family["pairs"]]}
        for name, family in dataset["families"].items()
    }
    return {key: dataset[key] for key in ("name", "n_labels", "same_as_baseline")} | {"families": families}


def _pair(pair: dict[str, Any]) -> dict[str, Any]:
    """A pair in few bytes, 36 of them being most of the page: the script itself subtracts losses."""
    return {
        "first": pair["first"],
        "second": pair["second"],
        "crossings": pair["crossings"],
        "lower": [round(value * STEPS) for value in pair["lower"]],
        "upper": [round(value * STEPS) for value in pair["upper"]],
        # never up: what is below the level of significance stays below
        "p": pair["p"] and [None if p is None else math.floor(p * STEPS) for p in pair["p"]],
    }
