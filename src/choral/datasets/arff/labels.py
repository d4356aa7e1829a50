"""Which attributes are labels: MEKA says so in the name of the relation, Mulan in an XML file, or the caller does."""

import operator
import os
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from choral.datasets.arff.header import Header
from choral.datasets.arff.quoting import shown

OPTION = re.compile(r"(?:^|[\s:])-C\s+(\S+)")

Labels = int | str | os.PathLike[str] | Sequence[str] | None


def label_indices(path: Path, header: Header, labels: Labels) -> list[int]:
    """The labels by their places among the attributes."""
    if labels is None:
        return _said_by_the_file(path, header)
    if isinstance(labels, str | os.PathLike):
        return _named_in_xml(path, header, Path(labels))
    if isinstance(labels, Sequence):
        return _named(f"{path}: labels", header, labels)
    try:
        count = operator.index(labels)
    except TypeError:
        kinds = "an int, the path of an XML file or a sequence of names"
        raise TypeError(f"labels must be {kinds}; got {type(labels).__name__}.") from None
    return _counted(f"{path}: labels", header, count)


def stem(path: Path) -> str:
    """The name of a file without its suffixes.

    Examples
    --------
    >>> stem(Path("data/llog-f.arff.gz")), stem(Path("v1.2.ARFF"))
    ('llog-f', 'v1.2')
    """
    return re.sub(r"(\.arff)?(\.(gz|bz2|xz))?$", "", path.name, flags=re.IGNORECASE)


def _said_by_the_file(path: Path, header: Header) -> list[int]:
    option = OPTION.search(header.relation)
    if option is not None:
        where = f"{path}, line {header.relation_line}: -C"
        try:
            return _counted(where, header, int(option[1]))
        except ValueError as error:
            if not re.fullmatch(r"[+-]?[0-9]+", option[1]):
                raise ValueError(f"{where} must be followed by a number of labels; got {shown(option[1])}.") from None
            raise error
    beside = path.with_name(f"{stem(path)}.xml")
    if not beside.is_file():
        ways = f"-C in @relation, a file {beside.name} beside it, or the argument labels"
        raise ValueError(f"{path}: nothing says which attributes are labels; expected {ways}.")
    return _named_in_xml(path, header, beside)


def _counted(where: str, header: Header, count: int) -> list[int]:
    """The first attributes, or the last where the number is negative."""
    n_attributes = len(header.names)
    if not 1 <= abs(count) < n_attributes:
        some = f"1 to {n_attributes - 1} of the {n_attributes} attributes, negative for the last ones"
        raise ValueError(f"{where} must be {some}; got {count}.")
    return list(range(count) if count > 0 else range(n_attributes + count, n_attributes))


def _named(where: str, header: Header, names: Sequence[str]) -> list[int]:
    place = {name: index for index, name in enumerate(header.names)}
    unknown = [name for name in names if name not in place]
    if unknown:
        raise ValueError(f"{where} must name attributes of the file; it has no {shown(str(unknown[0]))}.")
    if not 1 <= len(set(names)) == len(names) < len(place):
        raise ValueError(f"{where} must be distinct names, one or more, but not all {len(place)} attributes.")
    return [place[name] for name in names]


def _named_in_xml(path: Path, header: Header, xml: Path) -> list[int]:
    """The labels in the order of the attributes, as in Mulan; a hierarchy among them is of no account."""
    try:
        elements = ElementTree.parse(xml).iter()
    except OSError as error:
        raise ValueError(f"{xml} cannot be read: {error.strerror or error}.") from error
    except (ElementTree.ParseError, LookupError) as error:  # the latter: an encoding that nobody knows
        raise ValueError(f"{xml}: expected XML; {error}.") from error
    names = [element.get("name", "") for element in elements if element.tag.rpartition("}")[2] == "label"]
    if not names:
        raise ValueError(f'{xml}: expected elements <label name="...">; it has none.')
    return sorted(_named(f"{xml}, the labels of {path.name},", header, names))
