"""What a calibrator wrote down, checked before anything is made of it: it may come from a file of a stranger."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from choral._text import quoted
from choral._validation import refuse_where
from choral.calibration.rules import RULE_NAMES, Rule
from choral.loss_names import loss_by_name

LARGEST = 1e9  # far above all that is ever learned; products of such numbers are still finite
N_EXPONENTS = 6
SHAPES: dict[str, tuple[str, ...]] = {
    "labelsets": ("label sets", "labels"),
    "counts": ("label sets",),
    "slopes": ("labels",),
    "intercepts": ("labels",),
    "mixture_weights": ("components",),
    "mixture_frequencies": ("components", "labels"),
    "size_lifts": ("sizes",),
    "exponents": ("exponents",),
}
SAVED = (*SHAPES, "are_logits", "score", "measure", "rules")


def read_saved(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same values, as arrays of floats of the shapes that belong together, numbers and rules.

    Raises
    ------
    ValueError
        For the first thing that is wrong.
    """
    if missing := [name for name in SAVED if name not in data]:
        raise ValueError(f"a calibrator needs {', '.join(SAVED)}; {', '.join(missing)} are not there.")
    sizes: dict[str, int] = {"exponents": N_EXPONENTS}
    saved: dict[str, Any] = {}
    for name, axes in SHAPES.items():
        saved[name] = check_numbers(name, data[name], axes, sizes)
        sizes.setdefault("sizes", sizes["labels"] + 1)
    labelsets, counts, weights, frequencies = (
        saved[name] for name in ("labelsets", "counts", "mixture_weights", "mixture_frequencies")
    )
    refuse_where("labelsets must be 0 or 1", "labelsets", labelsets, (labelsets != 0) & (labelsets != 1))
    wrong = (counts < 0) | (counts != np.floor(counts))
    refuse_where("counts must be whole numbers, at least 0", "counts", counts, wrong)
    refuse_where("mixture_weights must be positive", "mixture_weights", weights, weights <= 0)
    outside = (frequencies <= 0) | (frequencies >= 1)
    refuse_where("mixture_frequencies must lie between 0 and 1", "mixture_frequencies", frequencies, outside)
    if not isinstance(data["are_logits"], bool | np.bool_):
        raise ValueError(f"are_logits must be True or False; got {data['are_logits']!r}.")
    if not (data["measure"] is None or isinstance(data["measure"], str)):
        raise ValueError("measure must be the short name of a loss, or None.")
    if data["measure"] is not None:
        loss_by_name(data["measure"])  # raises for another text
    saved["are_logits"], saved["measure"] = bool(data["are_logits"]), data["measure"]
    saved["score"] = float(check_numbers("score", data["score"], (), {}))
    if not isinstance(data["rules"], Mapping):
        raise ValueError("rules must be a mapping from losses to rules.")
    saved["rules"] = {str(loss): _read_rule(loss, rule, sizes["labels"]) for loss, rule in data["rules"].items()}
    if "labels" in data:
        saved["labels"] = check_label_names(data["labels"], sizes["labels"])
    return saved


def _read_rule(loss: str, data: Any, n_labels: int) -> Rule:
    where = f"the rule for {quoted(str(loss))}"
    if not isinstance(data, Mapping) or not {"name", "losses", "thresholds"} <= data.keys():
        raise ValueError(f"{where} needs name, losses and thresholds.")
    if data["name"] not in RULE_NAMES:
        raise ValueError(f"{where} must be one of {', '.join(RULE_NAMES)}; got {quoted(str(data['name']))}.")
    if not isinstance(data["losses"], Mapping) or not data["losses"].keys() <= set(RULE_NAMES):
        raise ValueError(f"{where} must have losses of {', '.join(RULE_NAMES)}.")
    losses = {
        name: float(check_numbers(f"the loss of {name}", value, (), {})) for name, value in data["losses"].items()
    }
    if data["name"] == "joint":
        return Rule("joint", losses)
    return Rule(
        data["name"], losses, check_numbers("thresholds", data["thresholds"], ("labels",), {"labels": n_labels})
    )


def check_numbers(name: str, values: Any, axes: tuple[str, ...], sizes: dict[str, int]) -> np.ndarray:
    """Finite numbers with these axes; sizes that are not known yet are learned from them.

    Examples
    --------
    >>> check_numbers("slopes", [1.0, 2.0], ("labels",), {"labels": 3})
    Traceback (most recent call last):
    ValueError: slopes must have the shape (3 labels); got (2).
    """
    try:
        array = np.asarray(values)
    except ValueError:  # lists of different lengths
        array = np.array(None)
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold numbers.")
    got = array.shape
    if len(got) == len(axes):
        expected = tuple(sizes.setdefault(axis, size) for axis, size in zip(axes, got, strict=True))
    if len(got) != len(axes) or got != expected or 0 in got:
        wanted = ", ".join(f"{sizes[axis]} {axis}" if sizes.get(axis) else axis for axis in axes)
        raise ValueError(f"{name} must have the shape ({wanted}); got ({', '.join(map(str, got))}).")
    array = array.astype(float)
    flat = np.atleast_1d(array)
    refuse_where(f"{name} must be finite", name, flat, ~np.isfinite(flat))
    refuse_where(f"{name} must be at most {LARGEST:g}", name, flat, np.abs(flat) > LARGEST)
    return array


def check_label_names(names: Any, n_labels: int) -> list[str]:
    """A distinct name for each label."""
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError("labels must be a list of names.")
    if len(set(names)) != n_labels or len(names) != n_labels:
        raise ValueError(f"labels must be {n_labels} distinct names; got {len(names)}, {len(set(names))} distinct.")
    return list(names)
