"""What an evaluation found: curves of all models and of a baseline, and who is best where."""

import html
import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choral._optional import require
from choral._outputs import plain_numbers
from choral._text import did_you_mean, printable, rows_left_out
from choral._validation import ROUNDING
from choral.curves import LossCurve, PairwiseCurve
from choral.evaluation.comparing import Comparison, Difference
from choral.evaluation.references import (
    IndependentProfiles,
    Togetherness,
    independent_profiles,
    togetherness_interval,
)
from choral.evaluation.source import EvaluationSource, without_known_warnings
from choral.evaluation.wording import make_answer, make_headline, make_sentences
from choral.measures import Measure
from choral.measures.families import FAMILIES, Family, get_family
from choral.profiles import EachLossProfile, ErrorProfile, LabelErrorRates, ObservedProfile
from choral.stats import Band, bootstrap_band

if TYPE_CHECKING:
    from choral.displays import LossCurveDisplay

BASELINE = "all irrelevant"
WIDTH = 80  # of printed sentences
COLUMNS = (  # of `Evaluation.to_pandas` and of the CSV file of the command line
    "model",
    "family",
    "parameter",
    "loss",
    "lower",
    "upper",
    "difference",
    "difference_lower",
    "difference_upper",
    "togetherness",
    "togetherness_lower",
    "togetherness_upper",
    "togetherness_independent",
)


class Summary(NamedTuple):
    """A few columns of the curves, for people: some losses, the area, and the togetherness.

    Labels that were decided anew for each loss have no loss at other parameters: such columns are left out, and so is
    the area unless labels were decided for the whole default grid. They have no togetherness: it is nan.

    Parameters
    ----------
    columns : tuple of str
        What the columns are called.
    rows : dict from name to tuple of float
        The figures of each model.
    parameters : tuple of float
        Those of the columns of losses, which are the first.

    See Also
    --------
    choral.Evaluation : What `choral.evaluate` returns; its ``summary`` makes this.

    Examples
    --------
    >>> from choral import evaluate
    >>> summary = evaluate([[0, 0, 0]] * 4, {"mine": [[1, 1, 1], [0, 0, 0], [0, 0, 0], [0, 0, 0]]}).summary()
    >>> dict(zip(summary.columns, summary.rows["mine"]))
    {'Hamming': 0.25, 'k=2': 0.25, 'subset': 0.25, 'area': 0.25, 'together': 1.0}
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]
    parameters: tuple[float, ...]

    @property
    def lower_is_better(self) -> tuple[bool, ...]:
        """Whether a column is a loss, or the area under losses: togetherness is neither good nor bad by itself."""
        return tuple(column != "together" for column in self.columns)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """What `evaluate` found: loss curves of all models and of the baseline, and who is best where.

    Printed, it is the table of its `summary`, with a star at the best model of each column, and what is to be read from
    it in sentences.

    Parameters
    ----------
    family : str
        ``"binomial"`` or ``"polynomial"``.
    parameters : ndarray of shape (n_points,)
        Increasing values of k or alpha.
    profiles : dict from name to ErrorProfile, or to ObservedProfile where labels are missing
        Models in the order given, then the baseline. An `EachLossProfile` of either where labels were decided anew for
        each loss.
    curves : dict from name to LossCurve
        Likewise.
    differences : dict from name to Difference, or None
        For models and baseline: loss minus loss of the model that is best at that parameter, with paired bootstrap
        intervals. The best is chosen on the same data, so an interval that barely excludes 0 is weak evidence.
    confidence : float
        Of all intervals, between 0 and 1.
    samples : ndarray of shape (n_bootstrap, n_curves, n_points), or None
        The losses in bootstrap samples, the same rows for all curves.
    baseline : str
        The name of the baseline: no label at all. Hamming loss alone makes it look good.
    source : EvaluationSource, or None
        The labels and predictions that were judged, for what looks at them again; None where only summaries of parts
        were there.
    rates : mapping from name to LabelErrorRates, or None
        How often each label is wrong, where only summaries of parts were there, for hard predictions.

    See Also
    --------
    evaluate : Judge models along the slide from Hamming to subset 0/1 loss.
    explain : Which labels, pairs and rows the loss comes from.
    choral.displays.LossCurveDisplay : Loss curves of models.

    Examples
    --------
    >>> from choral import evaluate
    >>> evaluate([[1, 1, 0], [0, 0, 1]], {"one wrong": [[1, 0, 0], [0, 0, 1]]})
    model           Hamming      k=2   subset     area  together
    one wrong       *0.1667  *0.3333  *0.5000  *0.3333    0.0000
    all irrelevant   0.5000   0.8333   1.0000   0.7917    0.0000
    <BLANKLINE>
    2 rows, 3 labels, hard predictions; lower is better, * marks the best model.
    area: the mean loss along the slide from Hamming to subset 0/1 loss.
    together (no loss): 1 if all mistakes are in few rows, 0 if they are spread
    evenly. If errors were independent, it would be 0.0000 (one wrong).
    one wrong has a loss of 0.1667 at k=1 (Hamming).
    one wrong has a loss of 0.5000 at k=3 (subset 0/1).
    Too few to say how sure the losses are: 2 rows, expected at least 10.
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
    rates: Mapping[str, LabelErrorRates] | None = None

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
        """Loss of the second minus that of the first, with a paired bootstrap interval.

        Parameters
        ----------
        first : str
            The name of a model.
        second : str
            The name of another one.
        """
        if self.samples is None:
            return None
        i, j = (list(self.curves).index(name) for name in (first, second))
        band = bootstrap_band(self.samples[:, j] - self.samples[:, i], self.confidence)
        return Difference(self.curves[second].losses - self.curves[first].losses, *band)

    def compare(self, first: str, second: str) -> Comparison:
        """Two models, or a model and the baseline, against each other: differences with intervals, and crossings.

        Parameters
        ----------
        first : str
            The name of a model.
        second : str
            The name of another one.
        """
        for name in (first, second):
            self._check_name(name)
        pair = PairwiseCurve(self.curves[first], self.curves[second])
        return Comparison(pair, self.difference(first, second), self.confidence)

    # Togetherness and its references

    def togetherness(self) -> dict[str, Togetherness]:
        """Whether mistakes are in few rows (1) or spread evenly (0), with intervals; see `LossCurve.togetherness`.

        For models and baseline, but not for labels that were decided anew for each loss, over the whole axis from
        Hamming to subset 0/1. The interval is None without bootstrap samples, and where only some parameters were asked
        for. ``independent`` is that of independent errors of the same rates, None for scores in parts.
        """
        by_chance = self.independent_togetherness()
        found = {}
        for index, (name, profile) in enumerate(self.profiles.items()):
            if not isinstance(profile, EachLossProfile):
                samples = None if self.samples is None else self.samples[:, index]
                interval = togetherness_interval(profile, self.family, self.parameters, samples, self.confidence)
                lower, upper = interval or (None, None)
                found[name] = Togetherness(profile.togetherness(self.family), lower, upper, by_chance.get(name))
        return found

    def independent_curves(self) -> dict[str, LossCurve] | None:
        """The curves that independent errors of the same rates would have: see `choral.independent_curve`.

        For each model and the baseline. They are found from the labels and predictions when first asked for. Where the
        evaluation was made of summaries of parts, those of scores are missing; None if no curve is left.
        """
        if not self._independent:
            return None
        return {name: profile.curve(self.family, self.parameters, name) for name, profile in self._independent.items()}

    def independent_togetherness(self) -> dict[str, float]:
        """The togetherness of independent errors of the same rates; empty where that of no model is known."""
        return {
            name: profile.togetherness(self.family)
            for name, profile in self._independent.items()
            if not isinstance(profile, EachLossProfile)
        }

    @cached_property
    def _independent(self) -> IndependentProfiles:
        if self.source is None:
            return {name: rates.independent_profile() for name, rates in (self.rates or {}).items()}
        return independent_profiles(self.source, self.family, self.parameters, self.baseline)

    # Tables and sentences

    def summary(self) -> Summary:
        """Hamming loss, some points between, subset 0/1 loss, area and togetherness; or the parameters asked for.

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
        titles = (*columns, "area") if has_area else tuple(columns)
        together = self._together() if has_area and self.n_labels > 1 else {}
        if together:
            titles, rows = (*titles, "together"), {name: (*row, together[name]) for name, row in rows.items()}
        return Summary(titles, rows, tuple(columns.values()))

    def _together(self) -> dict[str, float]:
        """The togetherness of models and baseline, nan where there is none; empty if no model has one."""
        found = {
            name: float("nan") if isinstance(profile, EachLossProfile) else profile.togetherness(self.family)
            for name, profile in self.profiles.items()
        }
        return found if set(self.each_loss) != set(self.models) else {}

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
        return "\n".join([*lines, "", *(textwrap.fill(sentence, WIDTH) for sentence in self.sentences())])

    def _repr_html_(self) -> str:
        head, *rows = ([html.escape(cell) for cell in cells] for cells in self._table())
        body = "".join(
            f"<tr><th>{cells[0]}</th>{''.join(f'<td>{_bold_if_best(cell)}</td>' for cell in cells[1:])}</tr>"
            for cells in rows
        )
        table = f"<table><thead><tr><th>{'</th><th>'.join(head)}</th></tr></thead><tbody>{body}</tbody></table>"
        sentences = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in self.sentences())
        return f"{table}{sentences}"

    def cells(self) -> dict[str, list[tuple[str, bool]]]:
        """The table for people: for each model and the baseline, the text of each cell, and whether it is the best."""
        summary = self.summary()
        competing = np.array([summary.rows[name] for name in self.models])
        least = np.where(summary.lower_is_better, np.fmin.reduce(competing), -np.inf)
        found = {}
        for name, values in summary.rows.items():
            best = (np.array(values) <= least + ROUNDING) & (name in self.models)
            texts = ["-" if np.isnan(value) else f"{value:.4f}" for value in values]
            found[name] = list(zip(texts, best.tolist(), strict=True))
        return found

    def _table(self) -> list[list[str]]:
        """The cells of the summary, the titles first."""
        rows = [[printable(name), *(f"{'*' * best}{text}" for text, best in row)] for name, row in self.cells().items()]
        return [["model", *self.summary().columns], *rows]

    def headline(self) -> str:
        """Which model is best at both ends, in one short sentence; of a single model, its losses there."""
        return printable(make_headline(self))

    def answer(self) -> list[str]:
        """What is known of the best model, in sentences; those of `sentences` that need no table."""
        return [printable(sentence) for sentence in make_answer(self)]

    def sentences(self) -> list[str]:
        """What to read from the table: what was judged, what is known of the best model, and what the columns mean."""
        return [printable(sentence) for sentence in make_sentences(self)]

    def notes(self) -> list[str]:
        """What a reader of the table must know, in sentences: rows left out, and labels decided anew for each loss."""
        found = []
        if self.n_unobserved:
            found.append(rows_left_out(self.n_unobserved))
        if self.each_loss:
            found.append(f"Decided anew for each loss: {', '.join(self.each_loss)}.")
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        summary, bands, together = self.summary(), self.bands(), self.togetherness()
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
                    "interval": bands
                    and {edge: plain_numbers(values) for edge, values in bands[name]._asdict().items()},
                    "summary": _without_nan(dict(zip(summary.columns, summary.rows[name], strict=True))),
                    "togetherness": _without_nan(together[name]._asdict()) if name in together else None,
                    "difference_to_best": self.differences and _plain_fields(self.differences[name]),
                    "profile": self.profiles[name].to_dict(),
                }
                for name, curve in self.curves.items()
            },
        }

    def to_rows(self) -> list[tuple[Any, ...]]:
        """A row for each curve and parameter, with the columns of `to_pandas`; None for what is not known."""
        bands, together, rows = self.bands() or {}, self.togetherness(), []
        for name, curve in self.curves.items():
            band, difference = bands.get(name), (self.differences or {}).get(name)
            columns = [curve.parameters, curve.losses, *(band or (None, None)), *(difference or (None, None, None))]
            numbers = [[] if column is None else column.tolist() for column in columns]
            of_model = tuple(_without_nan(together[name]._asdict()).values()) if name in together else (None,) * 4
            rows += [(name, self.family, *point, *of_model) for point in zip_longest(*numbers)]
        return rows

    def to_pandas(self) -> Any:
        """A tidy frame, a row for each curve and parameter.

        Returns
        -------
        frame : pandas.DataFrame
            ``model``, ``family``, ``parameter`` and ``loss``; ``lower`` and ``upper``, the bootstrap interval of the
            loss; ``difference`` to the model that is best at that parameter, with ``difference_lower`` and
            ``difference_upper``; ``togetherness`` of the whole curve with its interval, and that of independent errors.
        """
        frame = require("pandas", "tables").DataFrame(self.to_rows(), columns=list(COLUMNS))
        return frame.astype(dict.fromkeys(COLUMNS[3:], float))

    # What looks at the labels and predictions again

    def plot(
        self, ax: Any = None, *, bands: bool = True, references: str | None = None, **line_kwargs: Any
    ) -> "LossCurveDisplay":
        """Draw the curves, with their bootstrap intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        bands : bool
            Whether to draw the intervals, where there are any.
        references : str, optional
            The name of a model: what is possible with its Hamming loss is shaded, and the curve of independent errors
            of the same rates is drawn.
        **line_kwargs
            For every line: properties of matplotlib's ``Line2D``.

        Returns
        -------
        display : LossCurveDisplay
            Drawn: its ``figure_.savefig`` keeps it.
        """
        from choral.displays import LossCurveDisplay

        display = LossCurveDisplay.from_curves(
            self.curves,
            bands=self.bands() if bands else None,
            baseline=self.baseline,
            references=None if references is None else self._references(references),
        )
        return display.plot(ax, **line_kwargs)

    def _references(self, name: str) -> list[LossCurve]:
        """The bounds of a model and, where labels and predictions are there, the curve of independent errors."""
        self._check_name(name)
        profile = self.profiles[name]
        if isinstance(profile, EachLossProfile):
            raise ValueError(
                f"the labels of {name!r} were decided anew for each loss: they have no single Hamming loss, and so no "
                "reference curves."
            )
        found = self._independent.get(name)
        by_chance = [] if found is None else [found.curve(self.family, self.parameters, "independent errors")]
        return [*profile.bounds(self.family, self.parameters), *by_chance]

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        labels: Sequence[str] | None = None,
        ids: Sequence[Any] | None = None,
    ) -> None:
        """Write a page to explore the curves in a browser, one self-contained file.

        It also says where the last loss of the table comes from, subset 0/1 loss as a rule, for each of up to six
        models, else for the best two; not for an evaluation that was made of summaries of parts.

        It has both families of losses, unless parameters of one were asked for, labels were decided for one alone, or
        the evaluation was made of summaries of parts.

        Parameters
        ----------
        path : path-like
            The file, which should end in ``.html``.
        title : str, optional
            What the models are judged on, for the heading: "forest and logistic on digits".
        labels : sequence of str, optional
            The names of the labels; of a frame, its columns unless given.
        ids : sequence, optional
            The names of the rows; of a frame, its index unless given.
        """
        from choral.evaluation.page import write_evaluation_page

        names = labels if labels is not None or self.source is None else self.source.label_names
        if names is not None and len(names) != self.n_labels:
            raise ValueError(f"labels must have one entry for each of {self.n_labels} labels; got {len(names)}.")
        write_evaluation_page(path, [self, *self._along_other_families()], title, labels=names, ids=ids)

    def _along_other_families(self) -> "list[Evaluation]":
        from choral.evaluation.evaluating import evaluate  # which makes evaluations

        source = self.source
        if source is None or source.parameters is not None:
            return []
        others = [family for family in FAMILIES if family != self.family and source.serves(family)]
        with without_known_warnings():
            return [
                evaluate(
                    source.y_true,
                    source.predictions,
                    family=family,
                    threshold=source.threshold,
                    observed=source.observed,
                    sample_weight=source.sample_weight,
                    n_bootstrap=source.n_bootstrap,
                    confidence=source.confidence,
                    random_state=source.random_state,
                )
                for family in others
            ]

    def explain(self, name: str | Sequence[str] | None = None, measure: Measure | None = None, **options: Any) -> Any:
        """Where the loss comes from: which labels, which labels together, which rows; see `choral.explain`.

        Parameters
        ----------
        name : str or sequence of str, optional
            A model, or several side by side. If not given, the only one, or all.
        measure : Measure, optional
            The loss to explain; unless given, the last one of the table, which is subset 0/1 loss as a rule. Labels
            that were decided anew for each loss are those decided for the last one, and explained for it alone.
        **options
            Of `choral.explain`, such as ``labels``, ``ids`` and ``n_pairs``.

        Returns
        -------
        explanation : Explanation, or Explanations of several models and of a sequence
        """
        from choral.evaluation.last_loss import WHY_NOT_PARTS, last_measure
        from choral.explanation import explain

        source = self.source
        if source is None:
            raise ValueError(f"{WHY_NOT_PARTS}; choral.explain(y_true, y_pred) takes labels and predictions.")
        names = self.models if name is None else (name,) if isinstance(name, str) else tuple(name)
        for each in names:
            self._check_name(each, self.models)
            if measure is not None and each in self.each_loss:
                raise ValueError(
                    f"the labels of {each!r} were decided anew for each loss; explain those of one loss: "
                    "choral.explain(y_true, curve.decisions[-1].labels)."
                )
        last = self.summary().parameters[-1]
        given = {
            "family": self.family,
            "threshold": source.threshold,
            "observed": source.observed,
            "sample_weight": source.sample_weight,
            "labels": source.label_names,
            "confidence": self.confidence,
        }
        predictions = {each: source.labels_at(each, self.family, last) for each in names}
        with without_known_warnings():
            found = explain(source.y_true, predictions, measure or last_measure(self)[0], **{**given, **options})
        return found if (name is not None and not isinstance(name, str)) or len(names) > 1 else found[names[0]]

    def _check_name(self, name: str, names: Sequence[str] | None = None) -> None:
        known = list(self.curves) if names is None else names
        if name not in known:
            raise ValueError(f"there is no model {name!r}{did_you_mean(name, known)}")


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


def _without_nan(numbers: Mapping[str, float | None]) -> dict[str, float | None]:
    """None in the place of nan, which JSON does not know."""
    return {name: None if value is None or np.isnan(value) else value for name, value in numbers.items()}


def _bold_if_best(cell: str) -> str:
    return f"<b>{cell}</b>" if cell.startswith("*") else cell
