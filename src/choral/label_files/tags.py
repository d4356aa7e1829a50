"""Lists of tags, "a|b|c" in one column, as label matrices: a label for each tag that occurs in some file.

A row without tags has no labels; none of them is missing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from choral._text import quoted
from choral.label_files.table import LabelTable, ReadOptions

TAG_SEPARATORS = ("|", ";", ",")  # the first that occurs: a tag may well hold a comma
BRACKETS = ("[]", "{}", "()")


def find_tag_separator(cells: Iterable[str]) -> str:
    """What lies between tags; empty if no cell holds any separator.

    Examples
    --------
    >>> find_tag_separator(["sea|sky", "", "city, by night"])
    '|'
    >>> find_tag_separator(["sea", "sky"])
    ''
    """
    found: set[str] = set()
    for cell in cells:
        found.update(sep for sep in TAG_SEPARATORS if sep in cell)
    return next((sep for sep in TAG_SEPARATORS if sep in found), "")


def split_tags(cells: Sequence[str], sep: str) -> list[list[str]]:
    """The tags of each cell, without the blanks around them.

    Examples
    --------
    >>> split_tags(["sea, sky", "", "sky,"], ",")
    [['sea', 'sky'], [], ['sky']]
    """
    parts = ([part.strip() for part in (cell.split(sep) if sep else [cell])] for cell in cells)
    return [[part for part in of_cell if part] for of_cell in parts]


def refuse_printed_lists(source: str, column: str, cells: Iterable[str]) -> None:
    """Refuse cells such as "['a', 'b']": a program printed a list, and split at commas it gives tags with brackets.

    Examples
    --------
    >>> refuse_printed_lists("true.csv", "column 'tags'", ["['sea', 'sky']"])
    Traceback (most recent call last):
    ValueError: true.csv, column 'tags': expected tags such as sea|sky; got "['sea', 'sky']", a printed list. Write the
    tags with a separator between them; in pandas, frame['tags'].str.join('|').
    """
    for cell in cells:
        text = cell.strip()
        if text[:1] + text[-1:] in BRACKETS:
            remedy = "Write the tags with a separator between them; in pandas, frame['tags'].str.join('|')"
            got = f"got {quoted(text)}, a printed list"
            raise ValueError(f"{source}, {column}: expected tags such as sea|sky; {got}. {remedy}.")


def make_matrix(tags: Sequence[Sequence[str]]) -> tuple[sparse.csr_array, tuple[str, ...]]:
    """A row for each list of tags, a column for each tag, in sorted order; a tag that comes twice counts once.

    Examples
    --------
    >>> matrix, labels = make_matrix([["sky", "sea", "sky"], [], ["sea"]])
    >>> matrix.toarray().tolist(), labels
    ([[1, 1], [0, 0], [1, 0]], ('sea', 'sky'))
    """
    labels = tuple(sorted(set(chain.from_iterable(tags))))
    place = {label: index for index, label in enumerate(labels)}
    rows = [sorted({place[tag] for tag in of_row}) for of_row in tags]
    ends = np.cumsum([0, *map(len, rows)])
    indices = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(ends[-1]))
    matrix = sparse.csr_array((np.ones(indices.size, dtype=np.uint8), indices, ends), shape=(len(rows), len(labels)))
    return matrix, labels


def with_tags(table: LabelTable, tags: Sequence[str] | Sequence[Sequence[str]], options: ReadOptions) -> LabelTable:
    """The same rows with the tags as labels, instead of the only column.

    Parameters
    ----------
    table : LabelTable
        Of one column, which is named.
    tags : sequence of str, or of sequences of str
        The cells of the column as text, or as tags that the file itself tells apart.
    options : ReadOptions
    """
    (name,) = table.labels or ()
    column = f"column {quoted(name)}"
    places = {cell: place for place, cell in enumerate(dict.fromkeys(cell for cell in tags if isinstance(cell, str)))}
    cells = list(places)  # each once: a tiny packed file may hold millions of the same
    refuse_printed_lists(table.source, column, cells)
    sep = find_tag_separator(cells) if options.tag_sep is None else options.tag_sep
    matrix, labels = make_matrix(split_tags(cells, sep) if cells else [list(of_row) for of_row in tags])
    if cells:
        matrix = matrix[np.fromiter(map(places.__getitem__, tags), dtype=np.int64, count=len(tags))]  # type: ignore[arg-type]
    how = f"separated by {sep!r}" if sep else "one in a cell"
    if not sep and any(" " in cell.strip() for cell in cells):
        how += "; if blanks separate them, say tag_sep=' '"
    said = options.tag_sep is not None or not cells
    note = () if said else (f"{column} of {table.source} is read as lists of tags, {how}.",)
    return replace(table, values=matrix, labels=labels, tag_sep=sep, notes=(*table.notes, *note))


def unite_tags(tables: Sequence[LabelTable]) -> list[LabelTable]:
    """Give all lists of tags the same labels: those of all tables together, in sorted order.

    Examples
    --------
    >>> matrix, labels = make_matrix([["sea"], ["sky"]])
    >>> truth = LabelTable(matrix, labels, source="true.csv", tag_sep="")
    >>> matrix, labels = make_matrix([["sea", "car"], ["sky"]])
    >>> truth, prediction = unite_tags([truth, LabelTable(matrix, labels, source="pred.csv", tag_sep="|")])
    >>> truth.labels, truth.values.toarray().tolist()
    (('car', 'sea', 'sky'), [[0, 1, 0], [0, 0, 1]])
    """
    _check_separators(tables)
    names: set[str] = set()
    for table in tables:
        if table.labels is None:
            tagged = next(table.source for table in tables if table.tag_sep is not None)
            raise ValueError(
                f"{table.source} has no names of labels, so the tags of {tagged} cannot be matched with them; "
                "give it a header."
            )
        names.update(table.labels)
    if not names:
        raise ValueError(f"{tables[0].source} and the files compared with it hold no tags; expected at least one.")
    labels = tuple(sorted(names))
    place = {label: index for index, label in enumerate(labels)}
    return [table if table.tag_sep is None else _widen(table, labels, place) for table in tables]


def _check_separators(tables: Sequence[LabelTable]) -> None:
    """Refuse tables whose tags were split at different characters: most likely one of them was split wrongly."""
    found = {table.tag_sep: table.source for table in tables if table.tag_sep}
    if len(found) > 1:
        (first, where), (second, elsewhere), *_ = found.items()
        raise ValueError(
            f"The tags of {where} look separated by {first!r}, those of {elsewhere} by {second!r}; "
            f"expected the same in all files. If it is {first!r}, say tag_sep={first!r}."
        )


def _widen(table: LabelTable, labels: tuple[str, ...], place: dict[str, int]) -> LabelTable:
    """The same rows with more labels, in sorted order, so that indices of a row stay sorted."""
    columns = np.array([place[label] for label in table.labels or ()], dtype=np.int64)
    old: Any = table.values
    matrix = sparse.csr_array((old.data, columns[old.indices], old.indptr), shape=(old.shape[0], len(labels)))
    return replace(table, values=matrix, labels=labels)
