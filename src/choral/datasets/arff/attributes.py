"""What each attribute of a file is used for: a label, a feature, or nothing.

MEKA says which attributes are labels in the name of the relation, Mulan in an XML file; the caller may say it, too.
"""

import operator
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from choral.datasets.arff.domains import Domain, Label, Unread
from choral.datasets.arff.header import Header
from choral.datasets.arff.quoting import short_repr

MEKA_OPTION = re.compile(r"(?:^|[\s:])-C\s+(\S+)")

LabelChoice = int | str | os.PathLike[str] | Sequence[str] | None


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class Attributes:
    """The attributes of a file and their use.

    Attributes
    ----------
    names : list of str
        One name per attribute.
    domains : list of Domain
        Each domain once. Labels have a ``Label``, ignored attributes are ``Unread``.
    domain_indices : ndarray of shape (n_attributes,)
        The index of each attribute's domain.
    labels, features : ndarray of int
        The indices of the attributes that are labels, and of those that are features.
    """

    names: list[str]
    domains: list[Domain]
    domain_indices: np.ndarray
    labels: np.ndarray
    features: np.ndarray

    def domain(self, index: int) -> Domain:
        return self.domains[self.domain_indices[index]]


def choose_attributes(header: Header, labels: list[int], ignored: list[int]) -> Attributes:
    """Sort attributes into labels, features and ignored ones; refuse one that does not fit its use, with its line."""
    domains, domain_indices = [*header.domains, Unread("anything")], np.array(header.domain_indices)
    domain_indices[ignored] = len(header.domains)
    label_domains: dict[int, int] = {}  # from the index of a domain to that of the same domain read as a label
    for index in labels:
        declared = header.domain_indices[index]
        if declared not in label_domains:
            label_domains[declared] = len(domains)
            domains.append(_label_domain(header, index))
        domain_indices[index] = label_domains[declared]
    is_feature = np.ones(domain_indices.size, dtype=bool)
    is_feature[labels + ignored] = False
    attributes = Attributes(header.names, domains, domain_indices, np.array(labels), np.flatnonzero(is_feature))
    _check_features(attributes, header.lines)
    return attributes


def _label_domain(header: Header, index: int) -> Label:
    try:
        return Label.from_domain(header.domains[header.domain_indices[index]])
    except ValueError as error:
        where = f"line {header.lines[index]}, attribute {short_repr(header.names[index])}"
        raise ValueError(f"{where}: {error}") from None


def _check_features(attributes: Attributes, lines: Sequence[int]) -> None:
    """Refuse features that are texts or dates."""
    is_unread = np.array([isinstance(domain, Unread) for domain in attributes.domains])
    for index in attributes.features[is_unread[attributes.domain_indices[attributes.features]]]:
        name, kind = attributes.names[index], attributes.domain(index).expected
        where = f"line {lines[index]}, attribute {short_repr(name)}"
        cure = f"ignore=[{name!r}] would leave it out"
        raise ValueError(f"{where}: expected a numeric or nominal feature; got {kind} ({cure}).")


def find_ignored(path: Path, header: Header, labels: list[int], ignore: Sequence[str]) -> list[int]:
    """The indices of the attributes to ignore."""
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a sequence of names; got the string {short_repr(ignore)}.")
    indices = {name: index for index, name in enumerate(header.names)} if ignore else {}
    for name in ignore:
        if indices.get(name, labels[0]) in labels:
            raise ValueError(f"{path}: ignore must name attributes that are no labels; got {short_repr(str(name))}.")
    return [indices[name] for name in ignore]


def find_labels(path: Path, header: Header, labels: LabelChoice) -> list[int]:
    """The indices of the attributes that are labels."""
    if labels is None:
        return _find_by_file(path, header)
    if isinstance(labels, str | os.PathLike):
        return _find_by_xml(path, header, Path(labels))
    if isinstance(labels, Sequence):
        return _find_by_names(f"{path}: labels", header, labels)
    try:
        count = operator.index(labels)
    except TypeError:
        kinds = "an int, the path of an XML file or a sequence of names"
        raise TypeError(f"labels must be {kinds}; got {type(labels).__name__}.") from None
    return _find_by_count(f"{path}: labels", header, count)


def stem(path: Path) -> str:
    """The name of a file without its suffixes.

    Examples
    --------
    >>> stem(Path("data/llog-f.arff.gz")), stem(Path("v1.2.ARFF"))
    ('llog-f', 'v1.2')
    """
    return re.sub(r"(\.arff)?(\.(gz|bz2|xz))?$", "", path.name, flags=re.IGNORECASE)


def _find_by_file(path: Path, header: Header) -> list[int]:
    """What the relation says by MEKA's option, else an XML file with the same name in the same folder."""
    option = MEKA_OPTION.search(header.relation)
    if option is not None:
        where = f"{path}, line {header.relation_line}: -C"
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", option[1]):
            raise ValueError(f"{where} must be followed by a number of labels; got {short_repr(option[1])}.")
        return _find_by_count(where, header, int(option[1]))
    xml = path.with_name(f"{stem(path)}.xml")
    if not xml.is_file():
        ways = f"-C in @relation, a file {xml.name} beside it, or the argument labels"
        raise ValueError(f"{path}: nothing says which attributes are labels; expected {ways}.")
    return _find_by_xml(path, header, xml)


def _find_by_count(where: str, header: Header, count: int) -> list[int]:
    """The first attributes, or the last ones if the number is negative."""
    n_attributes = len(header.names)
    if not 1 <= abs(count) < n_attributes:
        some = f"1 to {n_attributes - 1} of the {n_attributes} attributes, negative for the last ones"
        raise ValueError(f"{where} must be {some}; got {count}.")
    return list(range(count) if count > 0 else range(n_attributes + count, n_attributes))


def _find_by_names(where: str, header: Header, names: Sequence[str]) -> list[int]:
    indices = {name: index for index, name in enumerate(header.names)}
    unknown = [name for name in names if name not in indices]
    if unknown:
        raise ValueError(f"{where} must name attributes of the file; it has no {short_repr(str(unknown[0]))}.")
    if not 1 <= len(set(names)) == len(names) < len(indices):
        raise ValueError(f"{where} must be distinct names, one or more, but not all {len(indices)} attributes.")
    return [indices[name] for name in names]


def _find_by_xml(path: Path, header: Header, xml: Path) -> list[int]:
    """The labels in the order of the attributes, as in Mulan; a hierarchy of labels is ignored."""
    try:
        elements = ElementTree.parse(xml).iter()
    except OSError as error:
        raise ValueError(f"{xml} cannot be read: {error.strerror or error}.") from error
    except (ElementTree.ParseError, LookupError) as error:  # LookupError: an unknown encoding
        raise ValueError(f"{xml}: expected XML; {error}.") from error
    names = [element.get("name", "") for element in elements if element.tag.rpartition("}")[2] == "label"]
    if not names:
        raise ValueError(f'{xml}: expected elements <label name="...">; it has none.')
    return sorted(_find_by_names(f"{xml}, the labels of {path.name},", header, names))
