r"""Quotes and commas: ``'Swainson\'s Thrush', "two, in one", plain``."""

import re

SINGLE, DOUBLE = r"""'(?:[^'\\]|\\.)*+'""", r"""\"(?:[^"\\]|\\.)*+\""""
QUOTED_BY = {"'": re.compile(SINGLE), '"': re.compile(DOUBLE)}
QUOTED = f"{SINGLE}|{DOUBLE}"
# An entry of a sparse row has an index first. A quote opens a value only at its beginning: don't is a word.
# Quantifiers are possessive (*+): without backtracking, no file can make the search slow.
CELL = re.compile(rf"""(\s*+(?:[0-9]++\s++)?+(?:{QUOTED}|[^,'"\s][^,]*+|)\s*+)(,|$)""")
MARK = re.compile(r"""['"]|\s%""")  # the begin of a quote, or of a comment
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def has_quotes(text: str) -> bool:
    return "'" in text or '"' in text


def split_cells(text: str) -> list[str]:
    """Split a text at the commas outside of quotes; the quotes stay.

    Examples
    --------
    >>> split_cells("1, 'two, three', don't")
    ['1', " 'two, three'", " don't"]
    >>> split_cells("1, 'two")
    Traceback (most recent call last):
    ValueError: expected a comma after each value and an end to each quote; got " 'two".
    """
    if not has_quotes(text):
        return text.split(",")
    cells, position, separator = [], 0, ","
    while separator:
        match = CELL.match(text, position)
        if match is None:
            rest = short_repr(text[position:])
            raise ValueError(f"expected a comma after each value and an end to each quote; got {rest}.")
        cell, separator = match.groups()
        cells.append(cell)
        position = match.end()
    return cells


def unquote(cell: str) -> str:
    r"""The value of a cell, without quotes and escapes.

    Examples
    --------
    >>> print(unquote(r" 'Swainson\'s Thrush' "), unquote(" don't "), unquote(r'"a \"b\""'))
    Swainson's Thrush don't a "b"
    """
    text = cell.strip()
    return ESCAPE.sub(_unescape, text[1:-1]) if text[:1] in QUOTED_BY else text


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else CONTROL.get(code, code)


def strip_comment(line: str) -> str:
    """A line without its comment, which begins with a percent sign at the start of a word outside of quotes.

    Examples
    --------
    >>> strip_comment("1, ' %', 50% % half of it")
    "1, ' %', 50%"
    """
    if "%" not in line:
        return line
    if line.startswith("%"):
        return ""
    position, unclosed = 0, set()  # once a quote of a kind does not end, no later one of this kind does
    while mark := MARK.search(line, position):
        if mark[0] not in QUOTED_BY:
            return line[: mark.start()].rstrip()
        quoted = None if mark[0] in unclosed else QUOTED_BY[mark[0]].match(line, mark.start())
        if quoted is None:
            unclosed.add(mark[0])
        position = (quoted or mark).end()
    return line.rstrip()


def short_repr(text: str, limit: int = 40) -> str:
    """A text in quotes, shortened: how messages show a piece of a file.

    Examples
    --------
    >>> short_repr("rather long", limit=6)
    "'rather...'"
    """
    return repr(text if len(text) <= limit else f"{text[:limit]}...")
