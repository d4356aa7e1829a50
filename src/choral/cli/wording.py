"""Parameters and labels in words, the same in every table and note."""

import math
from collections.abc import Sequence

from choral._text import printable

LONGEST = 30  # name in a sentence


def describe_parameter(family: str, parameter: float, n_labels: int) -> str:
    """A parameter, and which well-known loss it is where the family ends.

    Examples
    --------
    >>> [describe_parameter("binomial", k, n_labels=5) for k in (1, 2, 5)]
    ['1 (Hamming)', '2', '5 (subset 0/1)']
    """
    return f"{parameter:.15g}{name_end(family, parameter, n_labels)}"


def name_end(family: str, parameter: float, n_labels: int) -> str:
    """The well-known loss at an end of a family, in brackets; nothing between the ends."""
    subset = n_labels if family == "binomial" else math.inf
    return " (Hamming)" if parameter == 1 else " (subset 0/1)" if parameter == subset else ""


def list_labels(names: Sequence[str], most: int | None = None) -> str:
    r"""Names of labels in one line, ``none`` for none of them; what could be taken for something else is quoted.

    With a limit on their number, long names are shortened as well.

    Examples
    --------
    >>> print(list_labels(["sea", "sky, clear", "\x1b[31m"]))
    sea, 'sky, clear', \x1b[31m
    >>> list_labels([]), list_labels(["none"])
    ('none', "'none'")
    >>> list_labels(["sea", "sky", "sun"], most=2)
    'sea, sky and 1 more'
    """
    if not names:
        return "none"
    shown = [_quote_if_needed(printable(name)) for name in names]
    if most is not None:
        half = LONGEST // 2  # names often differ in their last letters
        shown = [name if len(name) <= LONGEST else f"{name[:half]}...{name[-half:]}" for name in shown[:most]]
    left_out = len(names) - len(shown)
    return ", ".join(shown) + (f" and {left_out} more" if left_out else "")


def _quote_if_needed(name: str) -> str:
    return f"'{name}'" if "," in name or name in ("none", "as before") else name
