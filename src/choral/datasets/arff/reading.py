"""read_arff: the file as text, then header, labels, rows and features, one after the other."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from choral.datasets.arff.columns import Columns, choose_columns, ignored_indices
from choral.datasets.arff.digit_rows import digit_entries
from choral.datasets.arff.domains import Nominal
from choral.datasets.arff.features import spread
from choral.datasets.arff.header import read_header
from choral.datasets.arff.labels import Labels, label_indices, stem
from choral.datasets.arff.quoting import without_comment
from choral.datasets.arff.rows import dense_values
from choral.datasets.arff.sparse_rows import sparse_entries, split_sparse
from choral.datasets.dataset import Dataset
from choral.datasets.unpacking import read_unpacked

DATA = re.compile(rb"\n[ \t]*@data\b[^\n]*", re.IGNORECASE)
BRACE = re.compile(rb"\s*+\{")


def is_arff(name: str) -> bool:
    """Whether a name is that of an ARFF file, be it packed.

    Examples
    --------
    >>> [is_arff(name) for name in ("emotions", "data/emotions.arff", "Scene.ARFF.bz2", "labels.csv")]
    [False, True, True, False]
    """
    return re.search(r"\.arff(\.\w+)?$", name, re.IGNORECASE) is not None


def read_arff(path: str | os.PathLike[str], labels: Labels = None, *, ignore: Sequence[str] = ()) -> Dataset:
    r"""Read a multi-label data set in the ARFF forms of MEKA and Mulan.

    Parameters
    ----------
    path : path-like
        Dense or sparse, UTF-8; may be packed by gzip, bzip2 or xz, whatever its name is.
    labels : int, path-like or sequence of str, optional
        Which attributes are labels. An int k counts them as MEKA's ``-C`` does: the first k attributes, or the last -k
        where it is negative; a path leads to a label file of Mulan in XML; otherwise these are their names, in the
        order wanted. By default what the file says with ``-C`` in its ``@relation`` line, else an XML file beside it
        with the same name up to the suffix.
    ignore : sequence of str, default=()
        Attributes to leave out, such as an identifier.

    Returns
    -------
    dataset : Dataset
        Features as floats: of a nominal attribute with two values the place of the value in the order listed, 0 or 1,
        with more values a column ``attribute=value`` for each, 1 where it applies; nan where a value is missing.
        ``X`` is a CSR array where the rows are sparse. ``name`` is that of the file up to its suffix.

    Raises
    ------
    ValueError
        In one line that names the file and the line, what was expected and what came.

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
    ...     _ = file.write_text(text)
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
    return parse_arff(read_unpacked(path), path, labels, ignore)


def parse_arff(content: bytes, path: Path, labels: Labels, ignore: Sequence[str]) -> Dataset:
    """Read what a file holds; see ``read_arff``."""
    if b"\n" not in content:
        content = content.replace(b"\r", b"\n")  # lines of an old Macintosh
    end = DATA.search(content)
    start = len(content) if end is None else end.end()
    try:
        header = read_header(_text(content[:start]))
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None
    chosen = label_indices(path, header, labels)
    ignored = ignored_indices(path, header, chosen, ignore)
    try:
        columns = choose_columns(header, chosen, ignored)
        X, Y = _matrices(content, start, header.data_line, columns)
    except ValueError as error:
        raise ValueError(f"{path}, {error}") from None
    X, feature_names = spread(X, columns)
    is_nominal = np.array([isinstance(kind, Nominal) for kind in columns.kinds])
    n_nominal = int(is_nominal[columns.kind_of[columns.features]].sum())
    return Dataset(
        X,
        Y,
        tuple(columns.names[index] for index in chosen),
        stem(path),
        feature_names=tuple(feature_names),
        n_nominal=n_nominal,
        n_numeric=columns.features.size - n_nominal,
    )


def _text(content: bytes, first_line: int = 1) -> str:
    try:
        return content.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + first_line
        raise ValueError(f"line {line}: expected UTF-8; got the byte {error.object[error.start]:#04x}.") from None


def _matrices(content: bytes, start: int, data_line: int, columns: Columns) -> tuple[Any, np.ndarray]:
    """Features, not yet spread, and labels."""
    entries = digit_entries(content, start, columns) if BRACE.match(content, start) else None
    if entries is not None:
        return split_sparse(entries, columns)
    rows, lines = [], []
    for number, line in enumerate(_text(content[start:], data_line).split("\n"), start=data_line):
        if row := without_comment(line.strip()):
            rows.append(row)
            lines.append(number)
    if not rows:
        raise ValueError(f"line {data_line}: expected rows after @data; there are none.")
    if rows[0].startswith("{"):
        return split_sparse(sparse_entries(rows, lines, columns), columns)
    values = dense_values(rows, lines, columns)
    return values[:, columns.features], values[:, columns.labels].astype(np.uint8)
