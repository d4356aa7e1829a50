"""Sparse rows in which all values are single digits, ``{3 1,17 1}``: all at once, without a string for any entry.

Most sparse files hold nothing else. New arrays cost more than the work on them here, so there are few of them.
"""

import numpy as np

from choral.datasets.arff.columns import Columns
from choral.datasets.arff.sparse_rows import Entries

NEW_LINE, RETURN, BLANK, COMMA, ZERO, OPEN, CLOSE = b"\n\r ,0{}"


def digit_entries(content: bytes, start: int, columns: Columns) -> Entries | None:
    """The entries of all rows; None where some are not so simple, or wrong in any way.

    Parameters
    ----------
    content : bytes
        The whole file.
    start : int
        Where its header ends.
    columns : Columns
        What the attributes are.
    """
    codes = np.frombuffer(content, np.uint8, offset=start)
    opens, closes = np.flatnonzero(codes == OPEN), np.flatnonzero(codes == CLOSE)
    if not _are_rows(codes, opens, closes):
        return None
    ends = np.flatnonzero((codes == COMMA) | (codes == CLOSE))  # of the entries
    starts = np.append(0, np.searchsorted(ends, closes) + 1)
    lengths = np.diff(ends, prepend=0)
    lengths[starts[:-1]] = ends[starts[:-1]] - opens
    lengths -= 3  # of the indices: a comma or a brace, a blank and a digit go off
    longest = len(str(len(columns.names) - 1))
    if lengths.min() < 1 or lengths.max() > longest:
        return None
    # what stands before each end, one place after the other; no index array is made for any of them
    before = [np.frombuffer(content, np.uint8, offset=start - place).take(ends) for place in range(1, longest + 3)]
    indices = _indices(before[2:], lengths)
    if (before[1] != BLANK).any() or indices is None or indices.max() >= len(columns.names):
        return None
    values = _numbers(indices, before[0] - ZERO, columns) if _are_ascending(indices, starts) else None
    return None if values is None else Entries(starts, indices, values)


def _are_rows(codes: np.ndarray, opens: np.ndarray, closes: np.ndarray) -> bool:
    """Whether there is a pair of braces on each line, and nothing beside them."""
    if not 0 < opens.size == closes.size:
        return False
    if codes[: opens[0]].tobytes().strip() or codes[closes[-1] + 1 :].tobytes().strip():
        return False
    between = opens[1:] - closes[:-1] - 1
    rows = codes[opens[0] : closes[-1]]
    n_line_ends = np.count_nonzero((rows == NEW_LINE) | (rows == RETURN))
    return bool((between >= 1).all()) and between.sum() == n_line_ends


def _indices(digits_before: list[np.ndarray], lengths: np.ndarray) -> np.ndarray | None:
    """Numbers from their digits, the last one first; None where something else is among them."""
    indices = np.zeros(lengths.size, dtype=np.int32)
    for place, codes in enumerate(digits_before):
        digits = (codes - ZERO) * (lengths > place)  # unsigned: what is no digit is above 9
        if digits.max() > 9:
            return None
        indices += digits * np.int32(10**place)
    return indices


def _are_ascending(indices: np.ndarray, starts: np.ndarray) -> bool:
    steps = np.diff(indices)
    steps[starts[1:-1] - 1] = 1  # to the next row
    return bool((steps > 0).all())


def _numbers(indices: np.ndarray, digits: np.ndarray, columns: Columns) -> np.ndarray | None:
    """The number for each digit, which depends on the attribute; None where one is not among its values."""
    present = np.flatnonzero(np.bincount(digits))
    if present[-1] > 9:
        return None
    table = np.full((len(columns.kinds), 10), np.nan)
    for row, kind in zip(table, columns.kinds, strict=True):
        for digit in present:
            try:
                row[digit] = kind.number(str(digit))
            except ValueError:
                continue  # of no account unless an attribute of this kind has it
    numbers = table.take(10 * columns.kind_of.take(indices) + digits)
    return None if np.isnan(numbers).any() else numbers
