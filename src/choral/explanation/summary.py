"""What explain() found about one model, on a screen: a title, a few small tables and notes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from choral._text import counted, rows_left_out
from choral.explanation.sections import Section, clip, mistakes_of, names_of, percent, shown_of, signed
from choral.measures import HammingMeasure, Measure, SubsetMeasure

if TYPE_CHECKING:
    from choral.explanation.result import Explanation

SHOWN_LABELS, SHOWN_PAIRS, SHOWN_ROWS = 10, 3, 4
MISTAKE = "mistake: - missed, + added"


def title_of(found: "Explanation") -> str:
    """Model, loss and size in a line."""
    size = f"{counted(found.n_rows, 'row')}, {counted(len(found.labels), 'label')}"
    return f"{found.name}: {loss_in_words(found.measure)} {found.loss:.4f}; {size}"


def loss_in_words(measure: Measure) -> str:
    """What the loss of a measure is called.

    Examples
    --------
    >>> from choral import BinomialMeasure
    >>> loss_in_words(SubsetMeasure()), loss_in_words(BinomialMeasure(3))
    ('subset 0/1 loss', 'loss by BinomialMeasure(k=3)')
    """
    for known, words in ((SubsetMeasure(), "subset 0/1 loss"), (HammingMeasure(), "Hamming loss")):
        if measure == known:
            return words
    return f"loss by {clip(repr(measure), 40)}"


def sections_of(found: "Explanation") -> Iterator[Section]:
    """Labels, pairs, rows and label sets, a table each."""
    yield _label_section(found)
    if found.pairs.pairs:
        yield _pair_section(found)
    if found.costly_rows:
        yield _row_section(found)
    if found.mistakes:
        yield _mistake_section(found)


def _label_section(found: "Explanation") -> Section:
    table, loss, hamming = found.label_table(), found.loss, float(found.along.hamming.sum())
    shown = min(SHOWN_LABELS, len(found.labels))
    rows = [
        [
            clip(table["label"][place], 30),
            percent(table["error_rate"][place]),
            percent(table["hamming_share"][place] / hamming if hamming else np.nan),
            percent(table["share"][place] / loss if loss else np.nan),
            _number(table["gain"][place]),
        ]
        for place in range(shown)
    ]
    columns = ["label", "wrong", "of Hamming loss", "of this loss", "weight gain"]
    return Section(f"Labels by their part of the loss{shown_of(shown, len(found.labels), 'label')}", columns, rows)


def _pair_section(found: "Explanation") -> Section:
    pairs = [*found.pairs.more[:SHOWN_PAIRS], *reversed(found.pairs.less[:SHOWN_PAIRS])]
    rows = [
        [
            f"{clip(found.labels[pair.first], 20)} + {clip(found.labels[pair.second], 20)}",
            percent(pair.together),
            percent(pair.expected),
            signed(pair.excess),
            f"{signed(pair.lower)} to {signed(pair.upper)}",
            "< 0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}",
        ]
        for pair in pairs
    ]
    columns = ["labels", "together", "expected", "excess, points", f"{100 * found.confidence:g} % interval", "p"]
    sampled = "; found in a sample of rows" if found.pairs.is_sampled else ""
    return Section(f"Wrong together more (+) or less (-) often than independent errors{sampled}", columns, rows)


def _row_section(found: "Explanation") -> Section:
    costly = found.costly_rows or ()
    rows = [
        [clip(str(row.id), 16), f"{row.loss:.4f}", names_of(row.true, 32), mistakes_of(row.true, row.predicted, 36)]
        for row in costly[:SHOWN_ROWS]
    ]
    return Section("Most costly rows", ["row", "loss", "true", MISTAKE], rows, left=(0, 2, 3))


def _mistake_section(found: "Explanation") -> Section:
    rows = [
        [str(mistake.n_rows), names_of(mistake.true, 40), mistakes_of(mistake.true, mistake.predicted, 40)]
        for mistake in (found.mistakes or ())[:SHOWN_ROWS]
    ]
    return Section("Most frequent mistakes of label sets", ["rows", "true", MISTAKE], rows, left=(1, 2))


def notes_of(found: "Explanation") -> list[str]:
    """Label sets that are never predicted, and the usual figures, in sentences."""
    notes = []
    if not found.loss:
        notes.append("Nothing is wrong.")
    if found.n_unobserved:
        notes.append(rows_left_out(found.n_unobserved))
    sets = found.label_sets
    if sets is not None and sets.never_predicted:
        shown = "; ".join(names_of(some.labels, 24) for some in sets.never_predicted[:3])
        notes.append(f"Never predicted: {sets.n_never_predicted} of {sets.n_true} true label sets, such as {shown}")
    if found.figures is not None:
        f = found.figures
        notes.append(f"F1: {f.f1_samples:.4f} by row, {f.f1_micro:.4f} micro, {f.f1_macro:.4f} macro (0 / 0 is 0)")
        notes.append(
            f"Jaccard: {f.jaccard_samples:.4f} by row, {f.jaccard_micro:.4f} micro, {f.jaccard_macro:.4f} macro"
        )
    return notes


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"
