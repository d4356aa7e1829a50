"""What an evaluation found: curves of all models and of a baseline, and who is best where."""

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choral._outputs import plain_numbers
from choral._text import counted
from choral._validation import ROUNDING
from choral.curves import LossCurve
from choral.evaluation.source import EvaluationSource
from choral.measures.families import Family, get_family
from choral.profiles import EachLossProfile, ErrorProfile, ObservedProfile
from choral.stats import Band, bootstrap_band

BASELINE = "all irrelevant"


class Difference(NamedTuple):
    """How much worse than the best a model is at each parameter, with a bootstrap interval."""

    estimate: np.ndarray
    lower: np.ndarray
    upper: np.ndarray


class Summary(NamedTuple):
    """A few columns of the curves, for people: lower is better in each of them.

    Labels that were decided anew for each loss have no loss at other parameters: such columns are left out, and so is
    the area unless labels were decided for the whole default grid.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    parameters: tuple[float, ...]  # of all columns but the area, which is the last one


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What `evaluate` found: loss curves of all models and of the baseline, and who is best where.

    Printed, it is the table of its `summary`, with a star at the best model of each column.

    Attributes
    ----------
    family : str
        ``"binomial"`` or ``"polynomial"``.
    parameters : ndarray of shape (n_points,)
    profiles : dict from name to ErrorProfile, or to ObservedProfile where labels are missing
        Models in the order given, then the baseline. An `EachLossProfile` of either where labels were decided anew for
        each loss.
    curves : dict from name to LossCurve
        Likewise.
    differences : dict from name to Difference, or None
        For models and baseline: loss minus loss of the model that is best at that parameter, with paired bootstrap
        intervals. The best is chosen on the same data, so an interval that barely excludes 0 is weak evidence.
    samples : ndarray of shape (n_bootstrap, n_curves, n_points), or None
        The losses in bootstrap samples, the same rows for all curves.
    baseline : str
        The name of the baseline: no label at all. Hamming loss alone makes it look good.
    source : EvaluationSource, or None
        The labels and predictions that were judged, for what looks at them again; None where only summaries of parts
        were there.
    """

    family: str
    parameters: np.ndarray
    profiles: Mapping[str, ErrorProfile | ObservedProfile | EachLossProfile]
    curves: dict[str, LossCurve]
    differences: dict[str, Difference] | None
    confidence: float
    samples: np.ndarray | None = None
    baseline: str = BASELINE
    source: EvaluationSource | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, without the baseline."""
        return tuple(name for name in self.profiles if name != self.baseline)

    @property
    def each_loss(self) -> tuple[str, ...]:
        """Names of the models whose labels were decided anew for each loss; the others have the same for all losses."""
        return tuple(name for name, profile in self.profiles.items() if isinstance(profile, EachLossProfile))

    @property
    def n_labels(self) -> int:
        return self.profiles[self.baseline].n_labels

    @property
    def n_rows(self) -> int:
        return self.profiles[self.baseline].n_rows

    @property
    def n_bootstrap(self) -> int:
        """How many bootstrap samples there are; 0 where there are no intervals."""
        return 0 if self.samples is None else len(self.samples)

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
        """Hamming loss, some points between, subset 0/1 loss and area; or the parameters asked for and the area.

        See `Summary` for what is left out of labels that were decided anew for each loss.
        """
        family = get_family(self.family)
        columns = _summary_columns(family, self.parameters, self.n_labels)
        whole = family.default_parameters(self.n_labels)
        has_area = True
        if self.each_loss:
            columns = {title: value for title, value in columns.items() if self._is_decided_for([value])}
            last = float(self.parameters[-1])
            if last not in columns.values():  # there is no alpha = inf in the default grid
                columns[f"{family.symbol}={last:g}"] = last
            has_area = self._is_decided_for(whole)
        rows = {}
        for name, profile in self.profiles.items():
            losses = profile.losses(self.family, list(columns.values())).tolist()
            rows[name] = (*losses, profile.curve(self.family, whole).area) if has_area else tuple(losses)
        return Summary((*columns, "area") if has_area else tuple(columns), rows, tuple(columns.values()))

    def _is_decided_for(self, parameters: ArrayLike) -> bool:
        """Whether all labels that were decided anew for each loss were decided for these parameters."""
        decided = (profile for profile in self.profiles.values() if isinstance(profile, EachLossProfile))
        return all(profile.is_decided_for(self.family, parameters) for profile in decided)

    def __repr__(self) -> str:
        head, *rows = self._table()
        widths = [max(map(len, cells)) for cells in zip(head, *rows, strict=True)]
        lines = [
            "  ".join([cells[0].ljust(widths[0]), *map(str.rjust, cells[1:], widths[1:])]) for cells in (head, *rows)
        ]
        return "\n".join([self._title(), *lines, *self.notes()])

    def _repr_html_(self) -> str:
        head, *rows = ([html.escape(cell) for cell in cells] for cells in self._table())
        body = "".join(f"<tr><th>{cells[0]}</th><td>{'</td><td>'.join(cells[1:])}</td></tr>" for cells in rows)
        table = f"<table><thead><tr><th>{'</th><th>'.join(head)}</th></tr></thead><tbody>{body}</tbody></table>"
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes())
        return f"<p>{self._title()}</p>{table}{notes}"

    def _title(self) -> str:
        return f"Evaluation: {self.family} losses, {counted(self.n_rows, 'row')}, {counted(self.n_labels, 'label')}"

    def _table(self) -> list[list[str]]:
        """The cells of the summary, the titles first."""
        summary = self.summary()
        least = np.min([summary.rows[name] for name in self.models], axis=0)
        table = [["model", *summary.columns]]
        for name, losses in summary.rows.items():
            best = (np.array(losses) <= least + ROUNDING) & (name in self.models)
            table.append([name, *(f"{'*' * star}{loss:.4f}" for loss, star in zip(losses, best.tolist(), strict=True))])
        return table

    def notes(self) -> list[str]:
        """What a reader of the table must know, in sentences: which labels were decided anew for each loss."""
        return [f"Decided anew for each loss: {', '.join(self.each_loss)}."] if self.each_loss else []

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
                    "each_loss": name in self.each_loss,
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
