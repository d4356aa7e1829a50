"""read_arff: the file as text, then header, labels, rows and features, one after the other."""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from choral._memory import check_memory
from choral.datasets.arff.attributes import (
    Attributes,
    LabelChoice,
    choose_attributes,
    find_ignored,
    find_labels,
    stem,
)
from choral.datasets.arff.dense_rows import read_dense
from choral.datasets.arff.domains import Nominal
from choral.datasets.arff.header import read_header
from choral.datasets.arff.quoting import strip_comment
from choral.datasets.arff.sparse_rows import join_entries, read_digits, read_sparse, split_entries
from choral.datasets.dataset import Dataset
from choral.datasets.nominal import one_hot
from choral.datasets.unpacking import read_unpacked

DATA = re.compile(rb"\n[ \t]*@data\b[^\n]*", re.IGNORECASE)
BYTES_PER_ENTRY = 16  # of a sparse matrix
BRACE = re.compile(rb"\s*+\{")
BLOCK_BYTES = 2**20


def is_arff(name: str) -> bool:
    """Whether a file has the name of an ARFF file, packed or not.

    Parameters
    ----------
    name : str
        The name of a file.

    Returns
    -------
    is_arff : bool
        Whether the name ends as names of ARFF files do.

    See Also
    --------
    read_arff : Read an ARFF file.

    Examples
    --------
    >>> [is_arff(name) for name in ("emotions", "data/emotions.arff", "Scene.ARFF.bz2", "labels.csv")]
    [False, True, True, False]
    """
    return re.search(r"\.arff(\.\w+)?$", name, re.IGNORECASE) is not None


def read_arff(path: str | os.PathLike[str], labels: LabelChoice = None, *, ignore: Sequence[str] = ()) -> Dataset:
    r"""Read a multi-label data set in the ARFF forms of MEKA and Mulan.

    Parameters
    ----------
    path : path-like
        The file, dense or sparse, in UTF-8. It may be packed by gzip, bzip2 or xz, whatever its name is.
    labels : int, path-like or sequence of str, optional
        Which attributes are labels. An int k counts them as MEKA's ``-C`` does: the first k attributes, or the last -k
        if it is negative. A string or path leads to a label file of Mulan in XML. A sequence holds the names of the
        labels, in the order wanted. By default, ``-C`` in the file's ``@relation`` line says it, else an XML file in
        the same folder with the same name up to the suffix.
    ignore : sequence of str, default=()
        Attributes to leave out, such as an identifier.

    Returns
    -------
    dataset : Dataset
        Features are floats, nan where a value is missing. A nominal attribute with two values is one column, 0 for the
        value listed first and 1 for the other. One with more values has a column ``attribute=value`` for each, 1
        where the attribute has the value. ``X`` is a CSR array if the rows are sparse. ``name`` is that of the file up
        to its suffix.

    Raises
    ------
    ValueError
        If the file is wrong; the message names the file, the line, what was expected and what came.

    See Also
    --------
    Dataset : Features, labels and their names.
    load : Load a data set of the paper.
    load_openml : Load a data set of OpenML.

    Examples
    --------
    >>> import tempfile
    >>> text = '''@relation 'birds: -C -2'
    ... @attribute loudness numeric
    ... @attribute place {wood, shore, field}
    ... @attribute 'Swainson\\'s Thrush' {0, 1}
    ... @attribute Wren {0, 1}
    ... @data
    ... 0.5, shore, 0, 1
    ... ?, wood, 1, 1
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "two-birds.arff"
    ...     _ = file.write_text(text, encoding="utf-8")
    ...     dataset = read_arff(file)
    >>> dataset.label_names, dataset.feature_names
    (("Swainson's Thrush", 'Wren'), ('loudness', 'place=wood', 'place=shore', 'place=field'))
    >>> dataset.X
    array([[0.5, 0. , 1. , 0. ],
           [nan, 1. , 0. , 0. ]])
    >>> dataset.Y
    array([[0, 1],
           [1, 1]], dtype=uint8)
    """
    path = Path(path)
    content = read_unpacked(path)
    return parse_arff(content, path, labels, ignore, held=path.stat().st_size)


def parse_arff(content: bytes, path: Path, labels: LabelChoice, ignore: Sequence[str], *, held: int) -> Dataset:
    """Read the content of a file that holds so many bytes, packed if it is; see ``read_arff``."""
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # line ends of an old Macintosh
    end = DATA.search(content)
    start = len(content) if end is None else end.end()
    try:
        header = read_header(_decode(content[:start]))
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None
    label_indices = find_labels(path, header, labels)
    ignored = find_ignored(path, header, label_indices, ignore)
    try:
        attributes = choose_attributes(header, label_indices, ignored)
        X, Y = _read_rows(content, start, header.data_line, attributes, held)
        X, feature_names = _expand_nominal(X, attributes, held)
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None
    is_nominal = np.array([isinstance(domain, Nominal) for domain in attributes.domains])
    n_nominal = int(is_nominal[attributes.domain_indices[attributes.features]].sum())
    return Dataset(
        X,
        Y,
        tuple(attributes.names[index] for index in label_indices),
        stem(path),
        feature_names=tuple(feature_names),
        n_nominal=n_nominal,
        n_numeric=attributes.features.size - n_nominal,
    )


def _decode(content: bytes, first_line: int = 1) -> str:
    try:
        return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first_line
        raise ValueError(f"line {line}: expected UTF-8; got the byte {error.object[error.start]:#04x}.") from None


def _read_rows(content: bytes, start: int, data_line: int, attributes: Attributes, held: int) -> tuple[Any, np.ndarray]:
    """Features, a column for each attribute, and labels.

    The rows are read in blocks: as texts, short ones take up to seventy times as much memory as in the file.
    """
    is_sparse = True if BRACE.match(content, start) else None  # else the first row tells
    dense, entries = [], []
    for block in _blocks(content, start, data_line):
        if is_sparse and (found := read_digits(content, block.start, block.end, attributes)) is not None:
            entries.append(found)
            continue
        rows, lines = _split_lines(content, block)
        if not rows:
            continue
        if is_sparse is None:
            is_sparse = rows[0].startswith("{")
        if is_sparse:
            entries.append(read_sparse(rows, lines, attributes))
        else:
            values = read_dense(rows, lines, attributes)
            dense.append((values[:, attributes.features], values[:, attributes.labels].astype(np.uint8)))
    if entries:
        return split_entries(join_entries(entries), attributes, held)
    if dense:
        X, Y = map(np.concatenate, zip(*dense, strict=True))
        return X, Y
    raise ValueError(f"line {data_line}: expected rows after @data; there are none.")


class _Block(NamedTuple):
    """Whole lines of a file: the places of its bytes, and the number of its first line."""

    start: int
    end: int
    first_line: int


def _blocks(content: bytes, start: int, first_line: int) -> Iterator[_Block]:
    while start < len(content):
        end = content.find(b"\n", start + BLOCK_BYTES) + 1 or len(content)
        yield _Block(start, end, first_line)
        first_line += content.count(b"\n", start, end)
        start = end


def _split_lines(content: bytes, block: _Block) -> tuple[list[str], Sequence[int]]:
    """The rows of a block without blank lines and comments, and the numbers of their lines."""
    text = _decode(content[block.start : block.end], block.first_line)
    rows = [line.strip() for line in text.removesuffix("\n").split("\n")]
    if "%" in text:
        rows = list(map(strip_comment, rows))
    if all(rows):
        return rows, range(block.first_line, block.first_line + len(rows))
    lines = [number for number, row in enumerate(rows, start=block.first_line) if row]
    return list(filter(None, rows)), lines


def _expand_nominal(X: Any, attributes: Attributes, held: int) -> tuple[Any, list[str]]:
    """Replace each nominal attribute with more than two values by a column for each value; name all columns.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n_rows, n_features)
        For a nominal attribute, indices of the values listed.
    attributes : Attributes
    held : int
        The size of the file; see `choral._memory.memory_limit`.
    """
    names = [attributes.names[index] for index in attributes.features.tolist()]
    has_many_values = [isinstance(domain, Nominal) and len(domain.values) > 2 for domain in attributes.domains]
    nominal = np.flatnonzero(np.array(has_many_values)[attributes.domain_indices[attributes.features]]).tolist()
    if not nominal:
        return X, names
    by_column = X.tocsc() if sparse.issparse(X) else X
    check_memory("the matrix of features", _measure_expanded(by_column, nominal, attributes), held)
    pieces, expanded_names = [by_column[:, : nominal[0]]], names[: nominal[0]]
    for position, following in pairwise([*nominal, len(names)]):
        values = attributes.domain(attributes.features[position]).values  # type: ignore[attr-defined]
        pieces += [one_hot(by_column[:, [position]], len(values)), by_column[:, position + 1 : following]]
        expanded_names += [f"{names[position]}={value}" for value in values] + names[position + 1 : following]
    return (sparse.hstack(pieces, format="csr") if sparse.issparse(X) else np.hstack(pieces)), expanded_names


def _measure_expanded(by_column: Any, nominal: list[int], attributes: Attributes) -> int:
    """How many bytes the columns of nominal attributes take, and their names."""
    size = 0
    for position in nominal:
        index = attributes.features[position]
        n_rows, n_values = by_column.shape[0], len(attributes.domain(index).values)  # type: ignore[attr-defined]
        if sparse.issparse(by_column):
            stored = by_column.data[by_column.indptr[position] : by_column.indptr[position + 1]]
            size += BYTES_PER_ENTRY * (n_rows + int(np.isnan(stored).sum()) * n_values)  # one a row, or a row of nan
        else:
            size += by_column.itemsize * n_rows * n_values
        size += len(attributes.names[index]) * n_values
    return size
