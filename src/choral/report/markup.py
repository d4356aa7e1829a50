"""Pieces of HTML that hold untrusted text: everything that comes in from outside leaves as text."""

import html
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from choral._text import printable

Cell = str | int | float | None


class Html(NamedTuple):
    """A cell that is HTML of our own, sorted by its value."""

    html: str
    value: float


MISSING = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"
DECIMALS = 4


def text(value: object) -> str:
    r"""Text for any place in a page, in an attribute too: markup and control characters are shown, not obeyed.

    Examples
    --------
    >>> text('<b>"flags"</b>\x07')
    '&lt;b&gt;&quot;flags&quot;&lt;/b&gt;\\x07'
    """
    return html.escape(printable(str(value)))


def prose(value: object) -> str:
    """Text of one paragraph, whatever white space it came with.

    Examples
    --------
    >>> prose("two lines\\n  become one")
    'two lines become one'
    """
    return text(" ".join(str(value).split()))


def number(value: float) -> str:
    """Four decimals, with a minus sign rather than a hyphen, and no minus zero; whole numbers as they are.

    Examples
    --------
    >>> number(-0.12345), number(-1e-17), number(27)
    ('−0.1235', '0.0000', '27')
    """
    return (f"{value:z.{DECIMALS}f}" if isinstance(value, float) else str(value)).replace("-", MINUS)


def section(name: str, title: str, body: str, *, needs_script: bool = False) -> str:
    """One part of the page under its heading; charts are not shown where no script can draw them."""
    kind = ' class="needs-script"' if needs_script else ""
    return (
        f'<section id="{name}"{kind} aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>'
    )


def table(
    name: str,
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[Cell | Html]],
    *,
    footer: Sequence[Cell] | None = None,
) -> str:
    """A table that scrolls in its own box and that the page's script makes sortable; its footer stays at the end.

    A cell is text or a number; numbers keep their full precision for sorting, and None is a dash. Whatever else there
    is in a row, a list that somebody put into a file for instance, shows as text.
    """
    rows = [list(row) for row in rows]
    numeric = [all(_is_number_or_missing(row[column]) for row in rows) for column in range(len(headings))]
    head = "".join(
        f'<th scope="col"{_kind(is_number)}>{text(heading)}</th>'
        for heading, is_number in zip(headings, numeric, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row, numeric))}</tr>" for row in rows)
    foot = "" if footer is None else f"<tfoot><tr>{''.join(map(_cell, footer, numeric))}</tr></tfoot>"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table id="{name}" class="sortable"><caption>{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>"
    )


def _is_number_or_missing(value: object) -> bool:
    return value is None or isinstance(value, int | float)


def _kind(is_number: bool) -> str:
    return ' class="number"' if is_number else ""


def _cell(value: Cell | Html, is_number: bool) -> str:
    if isinstance(value, Html):
        return f'<td data-value="{value.value!r}">{value.html}</td>'
    if value is None:
        return f"<td{_kind(is_number)}>{MISSING}</td>"
    if isinstance(value, int | float):
        return f'<td{_kind(is_number)} data-value="{value!r}">{number(value)}</td>'
    return f"<td{_kind(is_number)}>{prose(value)}</td>"  # of whatever kind: only numbers of ours need no escaping
