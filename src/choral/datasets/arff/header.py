"""The header: the name of the relation, and the attributes in their order."""

import re
from dataclasses import dataclass, field

from choral.datasets.arff.domains import Domain, Nominal, Numeric, Unread
from choral.datasets.arff.quoting import QUOTED, has_quotes, shown, split_cells, unquoted, without_comment

ATTRIBUTE = re.compile(rf"""\s*@attribute\s+({QUOTED}|[^\s{{'"][^\s{{]*)\s*(.*)""", re.IGNORECASE)
KEYWORD = re.compile(r"@(relation|attribute|data)(?!\S)\s*(.*)", re.IGNORECASE)
NUMBERS = {"numeric", "real", "integer"}
UNREAD = {"string", "date", "relational"}


@dataclass
class Header:
    """What stands before the rows.

    Attributes
    ----------
    relation : str
        The name of the relation, without quotes; MEKA keeps options in it.
    relation_line : int
        Where it stands.
    names : list of str
        One name per attribute.
    kinds : list of Domain
        What the values of some attributes may be; thousands of attributes share a few domains.
    kind_of : list of int
        Which of the domains each attribute has.
    lines : list of int
        Where each attribute stands.
    data_line : int
        The line that says ``@data``.
    """

    relation: str = ""
    relation_line: int = 0
    names: list[str] = field(default_factory=list)
    kinds: list[Domain] = field(default_factory=list)
    kind_of: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    data_line: int = 0


def read_header(text: str) -> Header:
    """Read the header, which ends with ``@data``; what is wrong is told with its line."""
    header, lines = Header(), text.split("\n")
    n_before = next((place for place, line in enumerate(lines) if ATTRIBUTE.match(line)), len(lines))
    _read_lines(lines[:n_before], 1, header)
    n_plain = _read_plain(lines[n_before:-1], n_before + 1, header) if header.relation_line else 0
    _read_lines(lines[n_before + n_plain :], n_before + n_plain + 1, header)
    if not header.data_line:
        raise ValueError(f"line {len(lines)}: expected @data; the file ends here.")
    _check_names(header)
    return header


def _read_plain(lines: list[str], first_line: int, header: Header) -> int:
    """Read attributes all at once, if each is ``@attribute name type`` without further blanks; how many, else 0."""
    while lines and not lines[-1].strip():
        lines.pop()
    text, n_lines = "\n".join(lines), len(lines)
    words = text.split()
    names, kinds = words[1::3], words[2::3]
    if (
        not words
        or len(words) != 3 * n_lines
        or text.count(f"\n{words[0]}") != n_lines - 1
        or set(words[::3]) != {words[0]}
    ):
        return 0
    if has_quotes(text) or "%" in text or "{" in "".join(names):
        return 0
    place = {kind: place for place, kind in enumerate(dict.fromkeys(kinds))}
    try:
        header.kinds = [domain_of(kind) for kind in place]
    except ValueError:
        return 0  # line by line it is told where
    header.names, header.kind_of = names, [place[kind] for kind in kinds]
    header.lines = list(range(first_line, first_line + n_lines))
    return n_lines


def _read_lines(lines: list[str], first_line: int, header: Header) -> None:
    place: dict[str, int] = {}
    for number, line in enumerate(lines, start=first_line):
        match = ATTRIBUTE.match(line)
        try:
            if match and header.relation_line:
                name, kind = match.groups()
                if kind not in place:
                    header.kinds.append(domain_of(without_comment(kind).strip()))
                    place[kind] = len(header.kinds) - 1
                header.names.append(unquoted(name))
                header.kind_of.append(place[kind])
                header.lines.append(number)
            else:
                _read_other(line, number, header)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def _read_other(line: str, number: int, header: Header) -> None:
    """Take in a line that is no attribute."""
    text = without_comment(line.strip())
    match = KEYWORD.fullmatch(text)
    keyword, rest = (match[1].lower(), match[2]) if match else ("", "")
    if keyword == "relation" and not header.relation_line:
        header.relation, header.relation_line = unquoted(rest), number
    elif keyword == "data" and not rest and header.names:
        header.data_line = number
    elif keyword == "attribute" and header.relation_line:
        raise ValueError(f"expected @attribute, a name and a type; got {shown(text)}.")
    elif text:
        expected = "@attribute or @data" if header.names else "@attribute" if header.relation_line else "@relation"
        raise ValueError(f"expected {expected}; got {shown(text)}.")


def domain_of(kind: str) -> Domain:
    """The domain that a declaration names.

    Examples
    --------
    >>> domain_of("REAL"), domain_of("{no, 'not sure'}")
    (Numeric(), Nominal(values=('no', 'not sure')))
    >>> domain_of("{a, b")
    Traceback (most recent call last):
    ValueError: expected numeric, real, integer or values in braces as the type; got '{a, b'.
    """
    word = kind.lower()
    if word in NUMBERS:
        return Numeric()
    if word.split(" ", 1)[0] in UNREAD:
        return Unread(word.split(" ", 1)[0])
    if kind[:1] == "{" and kind[-1:] == "}":
        values = tuple(unquoted(cell) for cell in _listed(kind[1:-1]))
        if len(set(values)) < len(values):
            twice = next(value for place, value in enumerate(values) if value in values[:place])
            raise ValueError(f"expected distinct values; {shown(twice)} is listed twice.")
        return Nominal(values)
    raise ValueError(f"expected numeric, real, integer or values in braces as the type; got {shown(kind)}.")


def _listed(text: str) -> list[str]:
    cells = split_cells(text)
    if not all(cell.strip() for cell in cells):
        raise ValueError(f"expected a value between commas; got {shown('{' + text + '}')}.")
    return cells


def _check_names(header: Header) -> None:
    if len(set(header.names)) < len(header.names):
        first: dict[str, int] = {}
        for name, line in zip(header.names, header.lines, strict=True):
            if first.setdefault(name, line) < line:
                raise ValueError(f"line {line}: expected distinct names; {shown(name)} is in line {first[name]} too.")
