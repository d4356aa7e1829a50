r"""Quotes and commas: ``'Swainson\'s Thrush', "two, in one", plain``."""

import re

QUOTES = ("'", '"')
QUOTED = r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\""""
# An entry of a sparse row has an index first. A quote opens a value only at its beginning: don't is a word.
# What is matched is never given back (*+): a file must not be able to make the search long.
CELL = re.compile(rf"""(\s*+(?:[0-9]++\s++)?+(?:{QUOTED}|[^,'"\s][^,]*+|)\s*+)(,|$)""")
COMMENT = re.compile(rf"{QUOTED}|(\s%)")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
CONTROL = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def has_quotes(text: str) -> bool:
    return "'" in text or '"' in text


def split_cells(text: str) -> list[str]:
    """Split at the commas that are not between quotes; the quotes stay.

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
            rest = shown(text[position:])
            raise ValueError(f"expected a comma after each value and an end to each quote; got {rest}.")
        cell, separator = match.groups()
        cells.append(cell)
        position = match.end()
    return cells


def unquoted(cell: str) -> str:
    r"""The value that a cell stands for.

    Examples
    --------
    >>> print(unquoted(r" 'Swainson\'s Thrush' "), unquoted(" don't "), unquoted(r'"a \"b\""'))
    Swainson's Thrush don't a "b"
    """
    text = cell.strip()
    return ESCAPE.sub(_unescaped, text[1:-1]) if text[:1] in QUOTES else text


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) > 1 else CONTROL.get(code, code)


def without_comment(line: str) -> str:
    """A line up to a percent sign that begins a word, unless it is quoted.

    Examples
    --------
    >>> without_comment("1, ' %', 50% % half of it")
    "1, ' %', 50%"
    """
    if "%" not in line:
        return line
    if line.startswith("%"):
        return ""
    begin = next((match.start() for match in COMMENT.finditer(line) if match[1]), len(line))
    return line[:begin].rstrip()


def shown(text: str, limit: int = 40) -> str:
    """A piece of a file in quotes, shortened.

    Examples
    --------
    >>> shown("rather long", limit=6)
    "'rather...'"
    """
    return repr(text if len(text) <= limit else f"{text[:limit]}...")
