"""``choral decide`` for one loss: the best prediction for each row of scores, or of votes of several models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from choral._text import counted, printable
from choral._validation import ROUNDING
from choral.averaged_losses import AveragedLoss
from choral.cli.console import Show, new_table, print_sentences, print_table
from choral.cli.decide.decisions import label_names
from choral.cli.decide.printing import list_labels
from choral.cli.options import read_with_progress
from choral.decisions import Decision, Distribution, IndependentLabels, LabelDistribution
from choral.label_files import LabelTable, align_all, check_scores, check_truth
from choral.loss_names import loss_by_name
from choral.overlap import AnyLoss
from choral.rows.blocks import as_dense


def parse_decidable_loss(name: str) -> AnyLoss:
    """Read the name of a loss of which each row has a best prediction.

    Examples
    --------
    >>> parse_decidable_loss("k=3")
    BinomialMeasure(k=3)
    >>> parse_decidable_loss("micro_f1")
    Traceback (most recent call last):
    ValueError: --loss micro_f1 is a loss of all rows together, so no row has a best prediction of its own; choral tune
    finds thresholds for it.
    """
    loss = loss_by_name(name)
    if isinstance(loss, AveragedLoss):
        reason = "is a loss of all rows together, so no row has a best prediction of its own"
        raise ValueError(f"--loss {name} {reason}; choral tune finds thresholds for it.")
    return loss


# Files


def read_scores(path: Path, show: Show, **options: Any) -> tuple[LabelTable, IndependentLabels]:
    """Read probabilities of labels, a row for each instance; labels are taken as independent."""
    table = read_with_progress(show, path, **options)
    check_scores(table, of_any_range=True)
    try:
        check_scores(table)
    except ValueError as error:
        raise ValueError(f"{error} choral tune takes logits and other scores.") from error
    return table, IndependentLabels(as_dense(table.values))


def read_votes(paths: Sequence[Path], show: Show, **options: Any) -> tuple[LabelTable, LabelDistribution]:
    """Read hard predictions of several models; in each row, the label sets that they predict have equal weights."""
    if len(paths) < 2:
        raise ValueError(f"--votes needs the files of two models or more; got {counted(len(paths), 'file')}.")
    tables: list[LabelTable] = []
    for path in paths:
        table = read_with_progress(show, path, **options)
        check_truth(table)
        tables.append(table)
    first, others = align_all(tables[0], tables[1:])
    tables = [first, *others]
    votes = np.stack([as_dense(table.values).astype(np.uint8) for table in tables], axis=1)
    return tables[0], LabelDistribution.from_samples(votes)


# What was found


@dataclass(frozen=True, eq=False)
class OneLossDecisions:
    """The best prediction of each row for one loss, beside the two modes.

    Attributes
    ----------
    distribution : Distribution
        Of the rows; of one row, if a file of label sets describes it.
    loss : Measure, FLoss or JaccardLoss
    loss_name : str
        As the user calls it.
    decision : Decision
    table : LabelTable
        What was read: it names the labels, and the rows if there are several.
    """

    distribution: Distribution
    loss: AnyLoss
    loss_name: str
    decision: Decision
    table: LabelTable

    @property
    def n_rows(self) -> int:
        """How many predictions there are."""
        return self.distribution.n_instances

    @cached_property
    def modes(self) -> dict[str, np.ndarray]:
        """The optimal predictions for Hamming loss and for subset 0/1 loss."""
        return {"marginal": self.distribution.marginal_mode(), "joint": self.distribution.mode()}

    @cached_property
    def mode_losses(self) -> dict[str, float]:
        """Their mean expected losses."""
        risk = self.distribution.risk
        return {name: float(risk(labels, self.loss).mean()) for name, labels in self.modes.items()}

    @property
    def mean_risk(self) -> float:
        """The mean expected loss of the best predictions."""
        return float(self.decision.risk.mean())

    def to_table(self) -> LabelTable:
        """The predictions with the names of labels and rows."""
        ids = self.table.ids if self.table.values.shape == self.decision.labels.shape else None  # else of label sets
        return LabelTable(self.decision.labels, self.table.labels, ids)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""
        return {
            "loss": self.loss_name,
            "n_rows": self.n_rows,
            "n_labels": self.distribution.n_labels,
            "labels": self.table.labels,
            "mean_risk": self.mean_risk,
            "mean_loss_of_modes": self.mode_losses,
            "predictions": self.decision.labels.tolist(),
            "risk": self.decision.risk.tolist(),
            "exact": self.decision.exact.tolist(),
            "lower_bound": self.decision.lower_bound.tolist(),
        }


# What is printed


class Line(NamedTuple):
    """What is printed of one way to predict."""

    name: str
    labels: np.ndarray
    loss: float


def print_one_loss(found: OneLossDecisions, out: str | None) -> None:
    """Print what the best predictions are expected to cost beside the modes, and what to know of them."""
    best = Line("optimal" if found.decision.exact.all() else "best found", found.decision.labels, found.mean_risk)
    modes = [Line(f"{name} mode", found.modes[name], loss) for name, loss in found.mode_losses.items()]
    if np.array_equal(found.modes["marginal"], found.modes["joint"]):
        modes = [modes[0]._replace(name="both modes")]
    as_good = [mode.name for mode in modes if mode.loss <= best.loss + ROUNDING]
    print_table(_make_table([best, *modes], as_good, found.n_rows))
    print_sentences(["", *_make_notes(found, [best, *modes], bool(as_good), out)])


def _make_table(lines: Sequence[Line], as_good: Sequence[str], n_rows: int) -> Table:
    table, many = new_table(), n_rows > 1
    table.add_column("prediction", no_wrap=True)
    for title in ("mean expected loss", "labels a row") if many else ("expected loss", "labels"):
        table.add_column(title, justify="right", no_wrap=True)
    for line in lines:
        n_labels = line.labels.sum() / n_rows
        mark = "*" if line.name in as_good else ""
        table.add_row(line.name, f"{mark}{line.loss:.4f}", f"{n_labels:.2f}" if many else f"{n_labels:.0f}")
    return table


def _make_notes(found: OneLossDecisions, lines: Sequence[Line], is_marked: bool, out: str | None) -> Iterator[str]:
    mark = "; * marks a mode that is as good" if is_marked else ""
    yield f"{_describe_size(found)}; the loss is {found.loss_name}{mark}."
    if found.n_rows == 1:
        yield from (f"{line.name.capitalize()}: {_name_labels(found, line.labels[0])}." for line in lines)
    yield "The marginal mode is the labels more probable than not, the joint mode the most probable label set."
    if not found.decision.exact.all():
        gap = found.mean_risk - found.decision.lower_bound.mean()
        share = f"{np.count_nonzero(~found.decision.exact)} of {counted(found.n_rows, 'row')}"
        yield f"Not proven optimal: {share}; the least mean expected loss is at most {gap:.4f} lower."
    if is_marked and isinstance(found.distribution, IndependentLabels):
        hint = "choral tune learns from true labels how they depend on each other"
        yield f"For independent labels, nothing is better than the marginal mode under this loss; {hint}."
    yield "--out FILE writes the predictions." if out is None else f"{printable(out)} holds the predictions."


def _describe_size(found: OneLossDecisions) -> str:
    """What was decided on."""
    n_labels = counted(found.distribution.n_labels, "label")
    if not isinstance(found.distribution, LabelDistribution):
        return f"{counted(found.n_rows, 'row')}, {n_labels}, taken as independent of each other"
    labelsets = counted(found.distribution.n_labelsets, "label set")
    return (
        f"{counted(found.n_rows, 'row')}, {labelsets}, {n_labels}" if found.n_rows > 1 else f"{labelsets}, {n_labels}"
    )


def _name_labels(found: OneLossDecisions, prediction: np.ndarray) -> str:
    names = label_names(found.table.labels, found.distribution.n_labels)
    return list_labels([names[label] for label in np.flatnonzero(prediction)])
