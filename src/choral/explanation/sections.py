"""An explanation as text and as HTML: a few small tables that fit a screen."""

import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from choral._text import counted, printable

WIDTH = 100


class Section(NamedTuple):
    """A table with a heading; the first column is text, and so are others that ``left`` names by their number."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: Sequence[int] = (0,)


def as_text(title: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """A title, tables and notes in at most 100 columns."""
    lines = [clip(title, WIDTH)]
    for section in sections:
        lines += [clip(section.heading, WIDTH), *_lines(section)]
    return "\n".join([*lines, *(clip(note, WIDTH) for note in notes)])


def _lines(section: Section) -> Iterator[str]:
    table = [section.columns, *section.rows]
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    for cells in table:
        padded = (
            cell.ljust(width) if place in section.left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield clip("  " + "  ".join(padded).rstrip(), WIDTH)


def as_html(title: str, sections: Sequence[Section], notes: Sequence[str]) -> str:
    """Likewise for a notebook."""
    parts = [f"<p><strong>{html.escape(title)}</strong></p>"]
    for section in sections:
        head = "".join(f"<th>{html.escape(cell)}</th>" for cell in section.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>" for cells in section.rows
        )
        parts.append(f"<p>{html.escape(section.heading)}</p><table><thead><tr>{head}</tr></thead>")
        parts.append(f"<tbody>{body}</tbody></table>")
    return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in notes)])


def clip(text: str, width: int) -> str:
    """Text in one line that fits a width.

    Examples
    --------
    >>> clip("a rather long name", 12)
    'a rather ...'
    """
    text = printable(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def names_of(labels: Sequence[str], width: int) -> str:
    """A label set in a cell.

    Examples
    --------
    >>> names_of(["sea", "sky"], 20), names_of([], 20), names_of(["sea", "sky", "sun", "cloud"], 17)
    ('sea, sky', '(none)', 'sea and 3 more')
    """
    return _some_of(labels, width) if labels else "(none)"


def mistakes_of(true: Sequence[str], predicted: Sequence[str], width: int) -> str:
    """In what a predicted label set differs from the true one: ``-`` for each label missed, ``+`` for each added.

    Examples
    --------
    >>> mistakes_of(["sea", "sky"], ["sky", "sun"], 20), mistakes_of(["sea"], ["sea"], 20)
    ('-sea, +sun', '(right)')
    """
    missed = [f"-{label}" for label in true if label not in predicted]
    added = [f"+{label}" for label in predicted if label not in true]
    return _some_of([*missed, *added], width) if missed or added else "(right)"


def _some_of(names: Sequence[str], width: int) -> str:
    """As many names as fit into a width, at least one; then how many more there are."""
    for shown in range(len(names), 0, -1):
        rest = f" and {len(names) - shown} more" if shown < len(names) else ""
        text = printable(", ".join(names[:shown])) + rest
        if len(text) <= width:
            return text
    return clip(names[0], max(width - len(rest), 4)) + rest


def percent(number: float) -> str:
    """A share as a percentage; a dash where there is none.

    Examples
    --------
    >>> percent(0.125), percent(float("nan"))
    ('12.5 %', '-')
    """
    return "-" if number != number else f"{100 * number:.1f} %"


def signed(number: float) -> str:
    """A difference of shares, in percentage points.

    Examples
    --------
    >>> signed(0.0312), signed(-0.1)
    ('+3.12', '-10.00')
    """
    return f"{100 * number:+.2f}"


def shown_of(shown: int, total: int, noun: str) -> str:
    """The end of a heading: how many there are, where not all are shown.

    Examples
    --------
    >>> shown_of(3, 3, "label"), shown_of(3, 12, "label")
    ('', ' (3 of 12 labels)')
    """
    return "" if shown == total else f" ({shown} of {counted(total, noun)})"
