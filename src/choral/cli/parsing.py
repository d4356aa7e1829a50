"""Values of options, read here rather than by typer: its words for a wrong one change from version to version."""

import math
from typing import cast

from choral.decisions.optimal import METHODS, Method
from choral.measures.families import FAMILIES

LARGEST_SEED = 2**64 - 1


def parse_number(option: str, text: str) -> float:
    """Read a finite number.

    Examples
    --------
    >>> parse_number("--threshold", "0.5")
    0.5
    >>> parse_number("--threshold", "half")
    Traceback (most recent call last):
    ValueError: --threshold must be a number; got 'half'.
    """
    try:
        number = float(text)
    except ValueError:
        raise ValueError(f"{option} must be a number; got {text!r}.") from None
    if not math.isfinite(number):
        raise ValueError(f"{option} must be a finite number; got {text!r}.")
    return number


def parse_count(option: str, text: str, most: int) -> int:
    """Read a whole number from 0 to ``most``.

    Examples
    --------
    >>> parse_count("--bootstrap", "-1", most=1000)
    Traceback (most recent call last):
    ValueError: --bootstrap must be a whole number from 0 to 1000; got '-1'.
    """
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= most:
        raise ValueError(f"{option} must be a whole number from 0 to {most}; got {text!r}.")
    return number


def parse_seed(text: str) -> int:
    """Read the seed of a random generator."""
    return parse_count("--seed", text, LARGEST_SEED)


def parse_parameters(texts: list[str] | None) -> list[float] | None:
    """Read numbers separated by commas, from an option that may be repeated or left out.

    Examples
    --------
    >>> parse_parameters(["1, 2.5", "inf"])
    [1, 2.5, inf]
    """
    if not texts:
        return None
    text = ",".join(texts)
    try:
        numbers = [float(cell) for cell in text.split(",")]
    except ValueError:
        raise ValueError(f"--parameters must be numbers separated by commas; got {text!r}.") from None
    return [int(number) if number.is_integer() else number for number in numbers]


def parse_family(text: str) -> str:
    """Read the name of a family of losses.

    Examples
    --------
    >>> parse_family("normal")
    Traceback (most recent call last):
    ValueError: --family must be binomial or polynomial; got 'normal'.
    """
    if text not in FAMILIES:
        raise ValueError(f"--family must be {' or '.join(FAMILIES)}; got {text!r}.")
    return text


def parse_method(text: str) -> Method:
    """Read the name of a way to find optimal predictions.

    Examples
    --------
    >>> parse_method("guess")
    Traceback (most recent call last):
    ValueError: --method must be auto, quick, closed_form, transform, branch_and_bound or search; got 'guess'.
    """
    if text not in METHODS:
        raise ValueError(f"--method must be {', '.join(METHODS[:-1])} or {METHODS[-1]}; got {text!r}.")
    return cast(Method, text)
