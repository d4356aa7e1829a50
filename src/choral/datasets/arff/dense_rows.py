"""Dense rows, ``5.1, red, 0, 1``, as a matrix of numbers."""

from collections.abc import Sequence
from itertools import chain, pairwise

import numpy as np

from choral.datasets.arff.attributes import Attributes
from choral.datasets.arff.domains import Domain
from choral.datasets.arff.quoting import has_quotes, short_repr, split_cells


def read_dense(rows: Sequence[str], lines: Sequence[int], attributes: Attributes) -> np.ndarray:
    """Read the numbers of all rows.

    Parameters
    ----------
    rows : sequence of str
        Some rows of the file, without line ends.
    lines : sequence of int
        The number of each row's line.
    attributes : Attributes

    Returns
    -------
    values : ndarray of shape (n_rows, n_attributes)
    """
    width = len(attributes.names)
    cells = _split_rows(rows, lines, width)
    values = np.empty((len(rows), width))
    # Neighbouring attributes with the same domain are read together.
    ends = (np.flatnonzero(np.diff(attributes.domain_indices)) + 1).tolist()
    try:
        for run in (slice(start, end) for start, end in pairwise([0, *ends, width])):
            values[:, run] = _read_run(cells, run, width, attributes.domain(run.start))
    except ValueError:
        _refuse_first(cells, lines, attributes)
        raise
    return values


def _read_run(cells: list[str], run: slice, width: int, domain: Domain) -> np.ndarray:
    """The numbers of a run of attributes, from the cells of all attributes."""
    if run.stop - run.start == 1:
        return domain.numbers(cells[run.start :: width]).reshape(-1, 1)
    starts = range(run.start, len(cells), width)
    wanted = chain.from_iterable([cells[start : start + run.stop - run.start] for start in starts])
    return domain.numbers(list(wanted)).reshape(len(starts), -1)


def _split_rows(rows: Sequence[str], lines: Sequence[int], width: int) -> list[str]:
    """The cells of all rows, one row after the other."""
    text = ",".join(rows)
    if not has_quotes(text) and "{" not in text and all(row.count(",") == width - 1 for row in rows):
        return text.split(",")
    return list(chain.from_iterable([_split_row(row, line, width) for row, line in zip(rows, lines, strict=True)]))


def _split_row(row: str, line: int, width: int) -> list[str]:
    if row.startswith("{"):
        raise ValueError(f"line {line}: expected a dense row like the first one; got {short_repr(row)}.")
    try:
        cells = split_cells(row)
    except ValueError as error:
        raise ValueError(f"line {line}: {error}") from None
    if len(cells) == width + 1 and cells[-1].strip().startswith("{"):
        weight = short_repr(cells[-1].strip())
        raise ValueError(f"line {line}: expected no weight, weights of rows are not read; got {weight}.")
    if len(cells) != width:
        raise ValueError(f"line {line}: expected {width} values; got {len(cells)}.")
    return cells


def _refuse_first(cells: list[str], lines: Sequence[int], attributes: Attributes) -> None:
    """Refuse the first wrong cell, row by row, and name its line and attribute."""
    for place, cell in enumerate(cells):
        row, index = divmod(place, len(attributes.names))
        try:
            attributes.domain(index).number(cell)
        except ValueError as error:
            raise ValueError(f"line {lines[row]}, attribute {short_repr(attributes.names[index])}: {error}") from None
