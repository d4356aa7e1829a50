"""The two families of the paper: one parameter that slides from Hamming to subset 0/1 loss."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from choral._validation import check_vector, refuse_where
from choral.measures import count_tables
from choral.measures.counting import CountingMeasure
from choral.measures.formulas import BinomialMeasure, PolynomialMeasure

LARGEST_ALPHA = 1000.0  # the end of the published grid
MAX_POINTS = 200
TABLE_ENTRIES = 1 << 21  # 16 MiB

#: The alphas of the published study: 1 to 1.1 by 0.01, to 2 by 0.1, to 20 by 1, to 100 by 10, to 1000 by 100.
PUBLISHED_ALPHAS = np.concatenate(
    [
        np.arange(100, 110) / 100,
        np.arange(11, 20) / 10,
        np.arange(2.0, 20),
        np.arange(20.0, 100, 10),
        np.arange(100.0, 1001, 100),
    ]
)
PUBLISHED_ALPHAS.flags.writeable = False


@dataclass(frozen=True)
class Family:
    """Measures that differ in one parameter, and the axis on which their curves are drawn."""

    name: str
    symbol: str
    measure: Callable[[float], CountingMeasure]  # of one parameter
    deficits: Callable[[np.ndarray, int, int], np.ndarray]  # a row for each parameter: see count_tables
    weights: Callable[[np.ndarray, int, int], np.ndarray]
    default_parameters: Callable[[int], np.ndarray]
    check_parameters: Callable[[np.ndarray, int], np.ndarray]
    position: Callable[[np.ndarray, int], np.ndarray]  # parameter -> x in [0, 1]
    parameter_at: Callable[[np.ndarray, int], np.ndarray]  # and back
    clip_parameters: Callable[[np.ndarray, int], np.ndarray]  # for rows with fewer labels: k cannot exceed their number

    def parameters(self, parameters: Any, n_labels: int) -> np.ndarray:
        """The parameters of a curve: checked, or the default grid for None."""
        if parameters is None:
            return self.default_parameters(n_labels)
        values = check_vector("parameters", parameters)
        refuse_where("parameters must not be nan", "parameters", values, np.isnan(values))
        falls = np.append(False, np.diff(values) <= 0)
        refuse_where("parameters must increase", "parameters", values, falls)
        return self.check_parameters(values, n_labels)

    def table(self, kind: str, parameters: np.ndarray, n_labels: int, max_wrong: int) -> Iterator[np.ndarray]:
        """``deficits`` or ``weights``, some parameters at a time: the rows of all may not fit into memory."""
        step = max(1, TABLE_ENTRIES // (max_wrong + 1))
        for start in range(0, len(parameters), step):
            yield getattr(self, kind)(parameters[start : start + step], n_labels, max_wrong)


def _default_ks(n_labels: int) -> np.ndarray:
    if n_labels <= MAX_POINTS:
        return np.arange(1, n_labels + 1)
    return np.unique(np.geomspace(1, n_labels, MAX_POINTS).round().astype(np.int64))


def _check_ks(ks: np.ndarray, n_labels: int) -> np.ndarray:
    rule = f"parameters of the binomial family must be whole numbers in 1..{n_labels}, the number of labels"
    refuse_where(rule, "parameters", ks, ~((ks >= 1) & (ks <= n_labels) & (ks == np.floor(ks))))
    return ks.astype(np.int64)


def _check_alphas(alphas: np.ndarray, n_labels: int) -> np.ndarray:
    refuse_where("parameters of the polynomial family must be at least 1", "parameters", alphas, ~(alphas >= 1))
    return alphas


BINOMIAL = Family(
    name="binomial",
    symbol="k",
    measure=lambda k: BinomialMeasure(int(k)),
    deficits=count_tables.binomial_deficits,
    weights=count_tables.binomial_weights,
    default_parameters=_default_ks,
    check_parameters=_check_ks,
    position=lambda ks, n_labels: (np.asarray(ks) - 1) / max(n_labels - 1, 1),
    parameter_at=lambda x, n_labels: 1 + np.asarray(x) * (n_labels - 1),
    clip_parameters=np.minimum,
)

POLYNOMIAL = Family(
    name="polynomial",
    symbol="alpha",
    measure=PolynomialMeasure,
    deficits=count_tables.polynomial_deficits,
    weights=count_tables.polynomial_weights,
    default_parameters=lambda n_labels: PUBLISHED_ALPHAS,
    check_parameters=_check_alphas,
    position=lambda alphas, n_labels: np.log(alphas) / np.log(LARGEST_ALPHA),
    parameter_at=lambda x, n_labels: LARGEST_ALPHA ** np.asarray(x),
    clip_parameters=lambda alphas, n_labels: alphas,
)

FAMILIES = {family.name: family for family in (BINOMIAL, POLYNOMIAL)}


def get_family(name: str) -> Family:
    """The family of this name."""
    if name not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(map(repr, FAMILIES))}; got {name!r}.")
    return FAMILIES[name]


def describe_parameter(family: str, parameter: float, n_labels: int) -> str:
    """A parameter in words: its value and, at the ends of the family, the well-known loss.

    Examples
    --------
    >>> [describe_parameter("binomial", k, n_labels=5) for k in (1, 2, 5)]
    ['1 (Hamming)', '2', '5 (subset 0/1)']
    """
    return f"{parameter:.15g}{name_end(family, parameter, n_labels)}"


def name_end(family: str, parameter: float, n_labels: int) -> str:
    """The well-known loss at an end of a family, in brackets; nothing between the ends."""
    subset = n_labels if family == "binomial" else np.inf
    return " (Hamming)" if parameter == 1 else " (subset 0/1)" if parameter == subset else ""
