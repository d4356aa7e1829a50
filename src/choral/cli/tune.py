"""``choral tune``: true labels and scores in, a rule that makes better labels of scores out."""

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from choral._text import counted, printable
from choral._validation import ROUNDING
from choral.cli.console import (
    Show,
    new_table,
    print_sentences,
    print_table,
    progress_bar,
    standard_output,
    warnings_in_one_line,
)
from choral.cli.options import (
    AsJson,
    Header,
    IdColumn,
    Separator,
    TagSeparator,
    check_outputs,
    parse_seed,
    parse_separator,
    read_with_progress,
    refuse_options,
)
from choral.label_files import LabelTable, align_all, check_scores, check_truth, match_names, write_labels
from choral.loss_names import NamedLoss, loss_by_name, name_of_loss
from choral.rows.blocks import as_dense

if TYPE_CHECKING:  # scikit-learn takes a second to import, which the help need not wait for
    from choral.calibration import RuleComparison
    from choral.calibration.rule_files import Rules

BLOCK_ROWS = 5000  # decided at a time
OF_LEARNING = ("thresholds", "per_label", "logits", "save", "seed")
RULES = {
    "cut": "cut at {threshold:g}",
    "threshold": "tuned threshold",
    "labels": "calibrated, cut at 0.5",
    "calibrated threshold": "calibrated, tuned threshold",
    "joint": "decided jointly",
}

EPILOG = """
Examples: choral tune true.csv scores.csv --loss k=3; choral tune true.csv scores.csv --loss f1 --save rule.json --apply
new_scores.csv --out labels.csv; choral tune --load rule.json --apply more_scores.csv --out labels.csv.

The scores must be those of rows that the model was not fitted on: a validation set, or out-of-fold scores. Files are
read as by choral evaluate; true labels that are missing are nan or empty cells. Losses: hamming, subset, k=3,
alpha=2.5, f1, f0.5, jaccard, micro_f1, macro_f1, micro_jaccard, macro_jaccard; with any other k, alpha and beta.
"""


def tune_files(
    context: typer.Context,
    truth: Annotated[Path | None, typer.Argument(metavar="TRUE", hidden=True)] = None,
    scores: Annotated[Path | None, typer.Argument(metavar="SCORES", hidden=True)] = None,
    loss_name: Annotated[
        str | None,
        typer.Option("--loss", metavar="NAME", help="What to minimise; subset by default.", show_default=False),
    ] = None,
    thresholds: Annotated[
        bool, typer.Option("--thresholds", help="Learn nothing but a threshold, the same for all labels.")
    ] = False,
    per_label: Annotated[
        bool, typer.Option("--per-label", help="Learn nothing but thresholds, one for each label.")
    ] = False,
    logits: Annotated[
        bool, typer.Option("--logits", help="The scores are logits, even if none of them is negative.")
    ] = False,
    new_scores: Annotated[
        Path | None, typer.Option("--apply", metavar="NEW_SCORES", help="Decide on the scores of new rows.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="LABELS", help="Write their labels: .csv, .tsv, .npy, .npz or .parquet.")
    ] = None,
    save: Annotated[str | None, typer.Option(metavar="FILE", help="Write what was learned: .json or .npz.")] = None,
    load: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Apply what was learned before, instead of learning.")
    ] = None,
    id_column: IdColumn = None,
    header: Header = None,
    sep: Separator = None,
    tag_sep: TagSeparator = None,
    seed: Annotated[
        str, typer.Option(metavar="N", help="Seed of folds and bootstrap, 0 by default.", show_default=False)
    ] = "0",
    as_json: AsJson = False,
) -> None:
    """Learn from true labels and a model's scores which labels to predict, so that a loss is least.

    TRUE holds true labels, SCORES probabilities or logits of a model for the same rows: files with a row for each
    sample and a column for each label. Ways to decide are compared on rows left out, and the best one is applied:
    scores cut at 0.5 or at a tuned threshold, calibrated probabilities cut likewise, or what is best by the joint
    distribution of labels.
    """
    from choral.calibration.rule_files import check_rule_suffix, save_rule

    _check_arguments(truth, scores, load, new_scores, out)
    if thresholds and per_label:
        raise ValueError("--thresholds learns one threshold, --per-label one for each label; expected one of the two.")
    if logits and (thresholds or per_label):
        raise ValueError("--logits is for calibration; thresholds are for scores of any kind.")
    if load is not None:
        refuse_options(context, OF_LEARNING, "is for learning, and --load applies what was learned before")
    if save is not None:
        check_rule_suffix("--save", save)
    random_state, loss = parse_seed(seed), None if loss_name is None else loss_by_name(loss_name)
    inputs = [path for path in (truth, scores, load, new_scores) if path is not None]
    check_outputs(None, None, inputs, labels_path=out, rule_path=save)
    reading: dict[str, Any] = {
        "id_column": id_column,
        "header": header,
        "sep": parse_separator("--sep", sep),
        "tag_sep": parse_separator("--tag-sep", tag_sep),
    }
    with warnings_in_one_line(), progress_bar() as show:
        if load is not None:
            tuned = _load(load, loss)
        else:
            tables = _read(truth, scores, show, reading)  # type: ignore[arg-type]  # both are there
            show(0, 1, f"learning from {counted(tables[0].values.shape[0], 'row')}")
            wanted = loss_by_name("subset") if loss is None else loss
            if thresholds or per_label:
                tuned = _learn_thresholds(*tables, wanted, random_state, per_label=per_label)
            else:
                tuned = _learn_jointly(*tables, wanted, random_state, logits=logits)
        if save is not None:
            save_rule(save, tuned.rule)
        n_new = 0
        if new_scores is not None and out is not None:
            table = _apply(tuned, new_scores, show, reading)
            write_labels(out, table, id_column=id_column or "id")
            n_new = table.values.shape[0]
    with standard_output():
        if as_json:
            typer.echo(json.dumps({**tuned.to_dict(), "n_new_rows": n_new}, indent=2))
        else:
            if tuned.comparison is not None:
                print_table(_make_table(tuned.comparison))
            print_sentences(_make_notes(tuned, save, out, n_new))


def _check_arguments(
    truth: Path | None, scores: Path | None, load: Path | None, new_scores: Path | None, out: str | None
) -> None:
    """Refuse files that are missing for what is asked, or say nothing to it."""
    if load is None and (truth is None or scores is None):
        got = "neither" if truth is None else "TRUE alone"
        raise ValueError(f"choral tune learns from TRUE and SCORES, or applies what --load FILE holds; got {got}.")
    if load is not None and truth is not None:
        raise ValueError(f"--load applies what was learned before; TRUE and SCORES are for learning: got {truth}.")
    if new_scores is None and out is not None:
        raise ValueError("--out holds the labels of new rows; say --apply NEW_SCORES as well.")
    if new_scores is not None and out is None:
        raise ValueError("--apply decides on new rows; say --out LABELS, where to write their labels.")
    if load is not None and new_scores is None:
        raise ValueError("--load applies what was learned before; say --apply NEW_SCORES and --out LABELS as well.")


# Learning


@dataclass(frozen=True, eq=False)
class Tuned:
    """What was learned, or read back.

    Attributes
    ----------
    rule : ThresholdTuner or JointCalibrator
    loss : str
        Its short name.
    source : str
        The file that names the labels, for messages.
    comparison : RuleComparison, optional
        None if it was read back.
    n_rows : int
        Learned from.
    """

    rule: "Rules"
    loss: str
    source: str
    comparison: "RuleComparison | None" = None
    n_rows: int = 0

    @property
    def labels(self) -> tuple[str, ...] | None:
        """The names of the labels."""
        names = getattr(self.rule, "feature_names_in_", None)
        return None if names is None else tuple(names.tolist())

    @property
    def n_labels(self) -> int:
        """How many labels there are."""
        thresholds = getattr(self.rule, "thresholds_", None)
        return self.rule.n_labels_ if thresholds is None else len(thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and text, ready for JSON."""
        thresholds = getattr(self.rule, "thresholds_", None)
        found = {
            "loss": self.loss,
            "kind": "joint" if thresholds is None else "thresholds",
            "n_labels": self.n_labels,
            "labels": self.labels,
            "thresholds": None if thresholds is None else thresholds.tolist(),
        }
        if self.comparison is None:
            return found
        return {**found, "n_rows": self.n_rows, "comparison": self.comparison.to_dict()}


def _read(truth: Path, scores: Path, show: Show, reading: dict[str, Any]) -> tuple[LabelTable, LabelTable]:
    """True labels, and the scores of the same rows and labels."""
    true = read_with_progress(show, truth, allow_missing=True, **reading)
    check_truth(true, may_be_missing=True)
    scored = read_with_progress(show, scores, **reading)
    check_scores(scored, of_any_range=True)
    true, (scored,) = align_all(true, [scored])
    names = true.labels or scored.labels
    return replace(true, labels=names), replace(scored, labels=names)


def _learn_jointly(true: LabelTable, scored: LabelTable, loss: NamedLoss, seed: int, *, logits: bool) -> Tuned:
    from choral.calibration import JointCalibrator, compare_rules

    calibrator = JointCalibrator(name_of_loss(loss), scores="logits" if logits else "auto", random_state=seed)
    calibrator.fit(scored.values, true.values)
    comparison = compare_rules(calibrator, random_state=seed)
    return _name_labels(Tuned(calibrator, name_of_loss(loss), true.source, comparison, true.values.shape[0]), true)


def _learn_thresholds(true: LabelTable, scored: LabelTable, loss: NamedLoss, seed: int, *, per_label: bool) -> Tuned:
    from choral.calibration import ThresholdTuner, compare_threshold

    tuner = ThresholdTuner(name_of_loss(loss), per_label=per_label).fit(scored.values, true.values)
    comparison = compare_threshold(tuner, scored.values, true.values, random_state=seed)
    return _name_labels(Tuned(tuner, name_of_loss(loss), true.source, comparison, true.values.shape[0]), true)


def _name_labels(tuned: Tuned, true: LabelTable) -> Tuned:
    """Give the rule the names of the labels, as if it had been fitted on a frame."""
    if true.labels is not None:
        tuned.rule.feature_names_in_ = np.array(true.labels, dtype=object)
    return tuned


def _load(path: Path, loss: NamedLoss | None) -> Tuned:
    """Read a rule back, for a loss that it knows."""
    from choral.calibration import ThresholdTuner, load_rule
    from choral.calibration.rule_files import check_rule_suffix

    check_rule_suffix("--load", path)
    rule = load_rule(path)
    if isinstance(rule, ThresholdTuner):
        if loss is not None and name_of_loss(loss) != rule.loss:
            raise ValueError(f"{path} holds thresholds for {rule.loss} alone; got --loss {name_of_loss(loss)}.")
        return Tuned(rule, str(rule.loss), str(path))
    name = name_of_loss(loss) if loss is not None else str(rule.measure or "subset")
    rule.measure = name
    try:
        rule.chosen_rule()
    except ValueError as error:
        learn = f"choral tune TRUE SCORES --loss {name if loss is not None else 'NAME'} --save FILE"
        raise ValueError(f"{path} has no rule for {name}; {learn} learns one.") from error
    return Tuned(rule, name, str(path))


# New rows


def _apply(tuned: Tuned, path: Path, show: Show, reading: dict[str, Any]) -> LabelTable:
    """The labels of new rows, with their names and those of the labels."""
    table = read_with_progress(show, path, **reading)
    check_scores(table, of_any_range=True)
    got = table.values.shape[1]
    places = None
    if tuned.labels is not None and table.labels is not None:
        places = match_names("labels", tuned.labels, table.labels, tuned.source, table.source)
    elif got != tuned.n_labels:
        raise ValueError(f"{path} has {counted(got, 'label')}, {tuned.source} has {tuned.n_labels}.")
    n_rows = table.values.shape[0]
    labels = np.empty((n_rows, got), dtype=np.uint8)
    order = slice(None) if places is None else places
    for start in range(0, n_rows, BLOCK_ROWS):
        show(start, n_rows, "deciding")
        labels[start : start + BLOCK_ROWS, order] = _predict(tuned, table, order, start)
    return replace(table, values=labels, labels=table.labels or tuned.labels)


def _predict(tuned: Tuned, table: LabelTable, order: Any, start: int) -> np.ndarray:
    block = table.values[start : start + BLOCK_ROWS][:, order]
    with warnings.catch_warnings():
        # of scikit-learn: a matrix has no names, and names were matched already
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        try:
            return as_dense(tuned.rule.predict(block))
        except ValueError as error:
            raise ValueError(f"{table.source}: {error}") from error


# What is printed


def _make_table(comparison: "RuleComparison") -> Table:
    """What each way to decide costs on rows left out; the one that decides is marked."""
    table = new_table()
    table.add_column("way to decide", no_wrap=True)
    table.add_column("loss on rows left out", justify="right", no_wrap=True)
    for name, title in RULES.items():
        if name in comparison.losses:
            decides = name == comparison.rule
            text = f"{'*' if decides else ''}{comparison.losses[name]:.4f}"
            table.add_row(title.format(threshold=comparison.threshold), Text(text, style="bold" if decides else ""))
    return table


def _make_notes(tuned: Tuned, save: str | None, out: str | None, n_new: int) -> Iterator[str]:
    comparison = tuned.comparison
    if comparison is not None:
        some = "" if comparison.n_rows == tuned.n_rows else f", {comparison.n_rows} of them compared"
        size = f"{counted(tuned.n_rows, 'row')}{some}, {counted(tuned.n_labels, 'label')}"
        yield ""
        yield f"{size}; the loss is {tuned.loss}, * marks the way that decides."
        yield _describe_gain(comparison)
        if not save and not out:
            yield "--save FILE keeps the rule, --apply NEW_SCORES --out LABELS decides on new rows."
    if save is not None:
        again = f"choral tune --load {printable(save)} --apply NEW_SCORES --out LABELS"
        yield f"{printable(save)} holds the rule; {again} applies it."
    if out is not None:
        how = f" for {printable(tuned.loss)}" if comparison is None else ""
        yield f"{printable(out)} holds the labels of {counted(n_new, 'row')}{how}."


def _describe_gain(comparison: "RuleComparison") -> str:
    """How much better the rule is than a cut, and how sure that is."""
    cut = f"the cut at {comparison.threshold:g}"
    if comparison.rule == "cut":
        return f"Nothing was better than {cut}."
    lower, upper = comparison.lower or 0.0, comparison.upper or 0.0
    if abs(comparison.gain) <= ROUNDING:
        return f"Its loss is the same as that of {cut}."
    than = f"{abs(comparison.gain):.4f} {'lower' if comparison.gain >= 0 else 'higher'} than that of {cut}"
    interval = f"{100 * comparison.confidence:g}% bootstrap interval of the gain: {lower:.4f} to {upper:.4f}"
    return f"Its loss is {than}; {interval}{'; it may be chance' if lower <= 0 <= upper else ''}."
