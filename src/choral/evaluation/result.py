"""What an evaluation found: curves of all models and of a baseline, and who is best where."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from choral._validation import ROUNDING
from choral.curves import LossCurve
from choral.measures.families import Family, get_family
from choral.profiles import ErrorProfile, ObservedProfile
from choral.stats import Band, bootstrap_band

BASELINE = "all irrelevant"


class Difference(NamedTuple):
    """How much worse than the best a model is at each parameter, with a bootstrap interval."""

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Summary(NamedTuple):
    """A few columns of the curves, for people: lower is better in each of them."""

    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    parameters: tuple[float, ...]  # of all columns but the last, the area


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What `evaluate` found: loss curves of all models and of the baseline, and who is best where.

    Attributes
    ----------
    family : str
        ``"binomial"`` or ``"polynomial"``.
    parameters : ndarray of shape (n_points,)
    profiles : dict from name to ErrorProfile, or to ObservedProfile where labels are missing
        Models in the order given, then the baseline.
    curves : dict from name to LossCurve
        Likewise.
    differences : dict from name to Difference, or None
        For models and baseline: loss minus loss of the model that is best at that parameter, with paired bootstrap
        intervals. The best is chosen on the same data, so an interval that barely excludes 0 is weak evidence.
    samples : ndarray of shape (n_bootstrap, n_curves, n_points), or None
        The losses in bootstrap samples, the same rows for all curves.
    baseline : str
        The name of the baseline: no label at all. Hamming loss alone makes it look good.
    """

    family: str
    parameters: np.ndarray
    profiles: Mapping[str, ErrorProfile | ObservedProfile]
    curves: dict[str, LossCurve]
    differences: dict[str, Difference] | None
    confidence: float
    samples: np.ndarray | None = None
    baseline: str = BASELINE

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, without the baseline."""
        return tuple(name for name in self.profiles if name != self.baseline)

    @property
    def n_labels(self) -> int:
        return self.profiles[self.baseline].n_labels

    @property
    def n_rows(self) -> int:
        return self.profiles[self.baseline].n_rows

    @property
    def n_unobserved(self) -> int:
        """Rows that were left out, since none of their labels was observed."""
        profile = self.profiles[self.baseline]
        return profile.n_unobserved if isinstance(profile, ObservedProfile) else 0

    @property
    def best(self) -> tuple[str, ...]:
        """The model with the least loss at each parameter; of equal ones, the first given."""
        losses = np.array([self.curves[name].losses for name in self.models])
        return tuple(self.models[index] for index in first_best(losses))

    def bands(self) -> dict[str, Band] | None:
        """Bootstrap intervals of the curves, pointwise."""
        if self.samples is None:
            return None
        return {name: bootstrap_band(self.samples[:, index], self.confidence) for index, name in enumerate(self.curves)}

    def difference(self, first: str, second: str) -> Difference | None:
        """Loss of the second minus that of the first, with a paired bootstrap interval."""
        if self.samples is None:
            return None
        i, j = (list(self.curves).index(name) for name in (first, second))
        band = bootstrap_band(self.samples[:, j] - self.samples[:, i], self.confidence)
        return Difference(self.curves[second].losses - self.curves[first].losses, *band)

    def summary(self) -> Summary:
        """Hamming loss, some points between, subset 0/1 loss and area; or the parameters asked for and the area."""
        family = get_family(self.family)
        columns = _summary_columns(family, self.parameters, self.n_labels)
        rows = {}
        for name, profile in self.profiles.items():
            losses = profile.losses(self.family, list(columns.values()))
            rows[name] = (*losses.tolist(), profile.curve(self.family).area)
        return Summary((*columns, "area"), rows, tuple(columns.values()))

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        summary = self.summary()
        return {
            "family": self.family,
            "n_rows": self.n_rows,
            "n_unobserved": self.n_unobserved,
            "n_labels": self.n_labels,
            "parameters": plain_numbers(self.parameters),
            "best": list(self.best),
            "baseline": self.baseline,
            "confidence": self.confidence,
            "models": {
                name: {
                    "predictions": "hard" if self.profiles[name].is_hard else "soft",
                    "losses": plain_numbers(curve.losses),
                    "summary": dict(zip(summary.columns, summary.rows[name], strict=True)),
                    "difference_to_best": self.differences and _plain_fields(self.differences[name]),
                    "profile": self.profiles[name].to_dict(),
                }
                for name, curve in self.curves.items()
            },
        }


def first_best(losses: np.ndarray) -> np.ndarray:
    """For each column the first row with the least loss, but for rounding."""
    return (losses <= losses.min(axis=0) + ROUNDING).argmax(axis=0)


def _summary_columns(family: Family, parameters: np.ndarray, n_labels: int) -> dict[str, float]:
    """Column title -> parameter: five points of the default grid, or the few parameters that were asked for."""
    if not np.array_equal(parameters, family.default_parameters(n_labels)):
        return {f"{family.symbol}={parameter:.15g}": parameter for parameter in parameters}
    if family.name == "polynomial":
        return {"Hamming": 1.0, "alpha=2": 2.0, "alpha=3": 3.0, "alpha=10": 10.0, "subset": np.inf}
    if n_labels == 1:
        return {"Hamming": 1.0}
    between = sorted({k for k in (2, 3, n_labels // 2) if 1 < k < n_labels})
    return {"Hamming": 1.0, **{f"k={k}": float(k) for k in between}, "subset": float(n_labels)}


def _plain_fields(difference: Difference) -> dict[str, list]:
    return {field: plain_numbers(array) for field, array in difference._asdict().items()}


def plain_numbers(array: np.ndarray) -> list:
    """Numbers for JSON, which knows no infinity: it is the text ``inf``."""
    return ["inf" if value == np.inf else value for value in array.tolist()]
