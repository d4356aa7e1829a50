"""The header: the name of the relation, and the attributes with their domains."""

import re
from dataclasses import dataclass, field

from choral.datasets.arff.domains import Domain, Nominal, Numeric, Unread
from choral.datasets.arff.quoting import QUOTED, has_quotes, short_repr, split_cells, strip_comment, unquote

ATTRIBUTE = re.compile(rf"""\s*@attribute\s+({QUOTED}|[^\s{{'"][^\s{{]*)\s*(.*)""", re.IGNORECASE)
KEYWORD = re.compile(r"@(relation|attribute|data)(?!\S)\s*(.*)", re.IGNORECASE)
NUMBERS = {"numeric", "real", "integer"}
UNREAD = {"string", "date", "relational"}


@dataclass
class Header:
    """The lines before the rows.

    Attributes
    ----------
    relation : str
        The name of the relation, without quotes; MEKA keeps options in it.
    relation_line : int
        The number of its line; 0 if there is none.
    names : list of str
        One name per attribute.
    domains : list of Domain
        Each domain once: thousands of attributes share a few.
    domain_indices : list of int
        The index of each attribute's domain.
    lines : list of int
        The number of each attribute's line.
    data_line : int
        The number of the line that says ``@data``; 0 if there is none.
    """

    relation: str = ""
    relation_line: int = 0
    names: list[str] = field(default_factory=list)
    domains: list[Domain] = field(default_factory=list)
    domain_indices: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    data_line: int = 0


def read_header(text: str) -> Header:
    """Read the header, which ends with ``@data``; an error names its line."""
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
    """Read attributes all at once if each is ``@attribute name type`` without further blanks; return how many, else 0.

    It is the fast path for files with thousands of attributes.
    """
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
    indices = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    try:
        header.domains = [parse_domain(kind) for kind in indices]
    except ValueError:
        return 0  # reading line by line will tell where
    header.names, header.domain_indices = names, [indices[kind] for kind in kinds]
    header.lines = list(range(first_line, first_line + n_lines))
    return n_lines


def _read_lines(lines: list[str], first_line: int, header: Header) -> None:
    indices: dict[str, int] = {}
    for number, line in enumerate(lines, start=first_line):
        match = ATTRIBUTE.match(line)
        try:
            if match and header.relation_line:
                name, kind = match.groups()
                if kind not in indices:
                    header.domains.append(parse_domain(strip_comment(kind).strip()))
                    indices[kind] = len(header.domains) - 1
                header.names.append(unquote(name))
                header.domain_indices.append(indices[kind])
                header.lines.append(number)
            else:
                _read_other(line, number, header)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None


def _read_other(line: str, number: int, header: Header) -> None:
    """Read a line that is no attribute."""
    text = strip_comment(line.strip())
    match = KEYWORD.fullmatch(text)
    keyword, rest = (match[1].lower(), match[2]) if match else ("", "")
    if keyword == "relation" and not header.relation_line:
        header.relation, header.relation_line = unquote(rest), number
    elif keyword == "data" and not rest and header.names:
        header.data_line = number
    elif keyword == "attribute" and header.relation_line:
        raise ValueError(f"expected @attribute, a name and a type; got {short_repr(text)}.")
    elif text:
        expected = "@attribute or @data" if header.names else "@attribute" if header.relation_line else "@relation"
        raise ValueError(f"expected {expected}; got {short_repr(text)}.")


def parse_domain(kind: str) -> Domain:
    """The domain that the type of an attribute stands for.

    Examples
    --------
    >>> parse_domain("REAL"), parse_domain("{no, 'not sure'}")
    (Numeric(), Nominal(values=('no', 'not sure')))
    >>> parse_domain("{a, b")
    Traceback (most recent call last):
    ValueError: expected numeric, real, integer or values in braces as the type; got '{a, b'.
    """
    word = kind.lower()
    if word in NUMBERS:
        return Numeric()
    if word.split(" ", 1)[0] in UNREAD:
        return Unread(word.split(" ", 1)[0])
    if kind[:1] == "{" and kind[-1:] == "}":
        values = tuple(unquote(cell) for cell in _split_values(kind[1:-1]))
        if len(set(values)) < len(values):
            first: dict[str, int] = {}
            twice = next(value for place, value in enumerate(values) if first.setdefault(value, place) < place)
            raise ValueError(f"expected distinct values; {short_repr(twice)} is listed twice.")
        return Nominal(values)
    raise ValueError(f"expected numeric, real, integer or values in braces as the type; got {short_repr(kind)}.")


def _split_values(text: str) -> list[str]:
    cells = split_cells(text)
    if not all(cell.strip() for cell in cells):
        raise ValueError(f"expected a value between commas; got {short_repr('{' + text + '}')}.")
    return cells


def _check_names(header: Header) -> None:
    if len(set(header.names)) < len(header.names):
        first: dict[str, int] = {}
        for name, line in zip(header.names, header.lines, strict=True):
            if first.setdefault(name, line) < line:
                raise ValueError(
                    f"line {line}: expected distinct names; {short_repr(name)} is in line {first[name]} too."
                )
