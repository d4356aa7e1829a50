"""Sparse rows, ``{3 red, 17 1}``, as entries of a matrix of numbers.

Most sparse files have single digits as values, ``{3 1,17 1}``. A fast path reads blocks of such rows at once, with no
string per entry.
"""

import re
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from scipy import sparse

from choral._memory import check_memory
from choral.datasets.arff.attributes import Attributes
from choral.datasets.arff.quoting import short_repr, split_cells

ENTRY = re.compile(r"\s*([0-9]{1,18})\s+(\S.*)")
WEIGHT = re.compile(r".*\}\s*,\s*(\{[^{}]*\})")
NEW_LINE, RETURN, BLANK, COMMA, ZERO, OPEN, CLOSE = b"\n\r ,0{}"


class Entries(NamedTuple):
    """The entries of sparse rows.

    Attributes
    ----------
    starts : ndarray of shape (n_rows + 1,)
        Where the entries of each row begin, and where those of the last row end.
    attributes : ndarray of shape (n_entries,)
        The index of each entry's attribute, ascending in each row.
    values : ndarray of shape (n_entries,)
        The number of each entry.
    """

    starts: np.ndarray
    attributes: np.ndarray
    values: np.ndarray


def read_sparse(rows: Sequence[str], lines: Sequence[int], attributes: Attributes) -> Entries:
    """Read the entries of all rows; the parameters are those of ``read_dense``."""
    cells = [_split_row(row, line) for row, line in zip(rows, lines, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in cells])])
    entries = _read_entries(list(chain.from_iterable(cells)), starts, lines, attributes)
    return _sort_entries(entries, lines, attributes.names)


def join_entries(blocks: Sequence[Entries]) -> Entries:
    """The entries of some rows after another as one."""
    n_before = np.cumsum([0, *(block.starts[-1] for block in blocks)])
    starts = [block.starts[:-1] + n for block, n in zip(blocks, n_before, strict=False)]
    _, attributes, values = zip(*blocks, strict=True)
    return Entries(np.concatenate([*starts, n_before[-1:]]), np.concatenate(attributes), np.concatenate(values))


def _split_row(row: str, line: int) -> list[str]:
    """The entries of a row as texts."""
    body = row[1:-1].strip()
    if not (row[:1] == "{" and row[-1:] == "}" and len(row) > 1):
        raise ValueError(f"line {line}: expected a sparse row {{...}} like the first one; got {short_repr(row)}.")
    if "}" in body and (weight := WEIGHT.fullmatch(row)):
        raise ValueError(f"line {line}: expected no weight, weights of rows are not read; got {short_repr(weight[1])}.")
    try:
        return split_cells(body) if body else []
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None


def _read_entries(texts: list[str], starts: np.ndarray, lines: Sequence[int], attributes: Attributes) -> Entries:
    """Entries as numbers; equal texts are read once."""
    try:
        known = {text: _read_entry(text, attributes) for text in set(texts)}
    except ValueError:
        for position, text in enumerate(texts):  # find the first wrong one, row by row
            try:
                _read_entry(text, attributes)
            except ValueError as error:
                row = int(np.searchsorted(starts, position, side="right")) - 1
                raise ValueError(f"line {lines[row]}{error}") from None
        raise
    found = np.array([known[text] for text in texts]).reshape(-1, 2)
    return Entries(starts, found[:, 0].astype(np.intp), found[:, 1])


def _read_entry(text: str, attributes: Attributes) -> tuple[int, float]:
    """Attribute and number; the message of an error continues after the number of the line."""
    match = ENTRY.fullmatch(text)
    if match is None:
        raise ValueError(f": expected an index and a value; got {short_repr(text.strip())}.")
    index, n_attributes = int(match[1]), len(attributes.names)
    if index >= n_attributes:
        raise ValueError(f": expected an index below {n_attributes}, counted from 0; got {index}.")
    try:
        return index, attributes.domain(index).number(match[2])
    except ValueError as error:
        raise ValueError(f", attribute {short_repr(attributes.names[index])}: {error}") from None


def _sort_entries(entries: Entries, lines: Sequence[int], names: list[str]) -> Entries:
    """The same entries with ascending attributes in each row; refuse an attribute that comes twice."""
    rows = np.repeat(np.arange(entries.starts.size - 1), np.diff(entries.starts))
    order = np.lexsort((entries.attributes, rows))
    indices = entries.attributes[order]
    twice = np.flatnonzero((np.diff(indices) == 0) & (np.diff(rows) == 0))
    if twice.size:
        line, index = lines[rows[twice[0]]], indices[twice[0]]
        raise ValueError(f"line {line}: expected each index once; {index} ({short_repr(names[index])}) comes twice.")
    return Entries(entries.starts, indices, entries.values[order])


def split_entries(entries: Entries, attributes: Attributes, held: int) -> tuple[sparse.csr_array, np.ndarray]:
    """Split entries into features, still sparse, and labels, which a file of so many bytes may have."""
    starts, indices, values = entries
    n_rows = starts.size - 1
    check_memory("the matrix of labels", n_rows * attributes.labels.size, held)
    positions = _positions(attributes.features, attributes).take(indices)
    is_feature = positions >= 0
    others = np.flatnonzero(~is_feature)
    row_starts = starts - np.searchsorted(others, starts)
    parts = values[is_feature], positions[is_feature], row_starts.astype(np.int32)  # scikit-learn asks for int32
    X = sparse.csr_array(parts, shape=(n_rows, attributes.features.size))
    X.eliminate_zeros()  # a file may hold explicit zeros
    return X, _labels(others, entries, attributes)


def _labels(others: np.ndarray, entries: Entries, attributes: Attributes) -> np.ndarray:
    """Labels from the entries that are no features."""
    starts, indices, values = entries
    omitted = [attributes.domain(index).omitted for index in attributes.labels]
    Y = np.tile(np.array(omitted, dtype=np.uint8), (starts.size - 1, 1))
    positions = _positions(attributes.labels, attributes)[indices[others]]
    is_label = positions >= 0
    of_labels = others[is_label]
    Y[np.searchsorted(starts, of_labels, side="right") - 1, positions[is_label]] = values[of_labels]
    return Y


def _positions(chosen: np.ndarray, attributes: Attributes) -> np.ndarray:
    """The position of each attribute among the chosen ones, or -1."""
    positions = np.full(attributes.domain_indices.size, -1, dtype=np.int32)
    positions[chosen] = np.arange(chosen.size)
    return positions


def read_digits(content: bytes, start: int, end: int, attributes: Attributes) -> Entries | None:
    """Read some rows at once if all values are single digits; None if some are not, or if anything is wrong.

    New arrays cost more than the work on them here, so there are few of them.

    Parameters
    ----------
    content : bytes
        The whole file.
    start, end : int
        Where these rows begin and end.
    attributes : Attributes
    """
    codes = np.frombuffer(content, np.uint8, count=end - start, offset=start)
    opens, closes = np.flatnonzero(codes == OPEN), np.flatnonzero(codes == CLOSE)
    if not _are_rows(codes, opens, closes):
        return None
    ends = np.flatnonzero((codes == COMMA) | (codes == CLOSE))  # of the entries
    starts = np.append(0, np.searchsorted(ends, closes) + 1)
    lengths = np.diff(ends, prepend=0)
    lengths[starts[:-1]] = ends[starts[:-1]] - opens
    lengths -= 3  # lengths of the indices: without a comma or brace, a blank and the digit
    longest = len(str(len(attributes.names) - 1))
    if lengths.min() < 1 or lengths.max() > longest:
        return None
    # The characters before each end, by their distance from it; shifted views need no array of places.
    before = [np.frombuffer(content, np.uint8, offset=start - shift).take(ends) for shift in range(1, longest + 3)]
    indices = _parse_indices(before[2:], lengths)
    if (before[1] != BLANK).any() or indices is None or indices.max() >= len(attributes.names):
        return None
    values = _parse_digits(indices, before[0] - ZERO, attributes) if _are_ascending(indices, starts) else None
    return None if values is None else Entries(starts, indices, values)


def _are_rows(codes: np.ndarray, opens: np.ndarray, closes: np.ndarray) -> bool:
    """Whether each line is one pair of braces with nothing outside of it."""
    if not 0 < opens.size == closes.size:
        return False
    if codes[: opens[0]].tobytes().strip() or codes[closes[-1] + 1 :].tobytes().strip():
        return False
    between = opens[1:] - closes[:-1] - 1
    rows = codes[opens[0] : closes[-1]]
    n_line_ends = np.count_nonzero((rows == NEW_LINE) | (rows == RETURN))
    return bool((between >= 1).all()) and between.sum() == n_line_ends


def _parse_indices(digits_before: list[np.ndarray], lengths: np.ndarray) -> np.ndarray | None:
    """Numbers from their digits, the last digit first; None if some characters are no digits."""
    indices = np.zeros(lengths.size, dtype=np.int32)
    for power, codes in enumerate(digits_before):
        digits = (codes - ZERO) * (lengths > power)  # unsigned: other characters are above 9
        if digits.max() > 9:
            return None
        indices += digits * np.int32(10**power)
    return indices


def _are_ascending(indices: np.ndarray, starts: np.ndarray) -> bool:
    steps = np.diff(indices)
    steps[starts[1:-1] - 1] = 1  # from one row to the next
    return bool((steps > 0).all())


def _parse_digits(indices: np.ndarray, digits: np.ndarray, attributes: Attributes) -> np.ndarray | None:
    """The number for each digit, which depends on the attribute; None if a digit is not among its values."""
    present = np.flatnonzero(np.bincount(digits))
    if present[-1] > 9:
        return None
    table = np.full((len(attributes.domains), 10), np.nan)
    for row, domain in zip(table, attributes.domains, strict=True):
        for digit in present:
            try:
                row[digit] = domain.number(str(digit))
            except ValueError:
                continue  # an error only if an attribute with this domain has the digit
    numbers = table.take(10 * attributes.domain_indices.take(indices) + digits)
    return None if np.isnan(numbers).any() else numbers
