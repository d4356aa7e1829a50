"""What each attribute is used for: a label, a feature, or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from choral.datasets.arff.domains import Domain, Label, Unread
from choral.datasets.arff.header import Header
from choral.datasets.arff.quoting import shown


@dataclass(frozen=True, eq=False)  # arrays have no single truth value to compare by
class Columns:
    """The attributes of a file by their use.

    Attributes
    ----------
    names : list of str
        One name per attribute.
    kinds : list of Domain
        Each domain once; labels have a ``Label``, what is left out is ``Unread``.
    kind_of : ndarray of shape (n_attributes,)
        Which of the domains each attribute has.
    labels, features : ndarray of int
        Their places among the attributes.
    """

    names: list[str]
    kinds: list[Domain]
    kind_of: np.ndarray
    labels: np.ndarray
    features: np.ndarray

    def domain(self, index: int) -> Domain:
        return self.kinds[self.kind_of[index]]

    def check_features(self, lines: Sequence[int]) -> None:
        """Refuse text and dates, unless they are left out."""
        is_unread = np.array([isinstance(kind, Unread) for kind in self.kinds])
        for index in self.features[is_unread[self.kind_of[self.features]]]:
            name, kind = self.names[index], self.domain(index).expected
            where = f"line {lines[index]}, attribute {shown(name)}"
            cure = f"ignore=[{name!r}] would leave it out"
            raise ValueError(f"{where}: expected a numeric or nominal feature; got {kind} ({cure}).")


def choose_columns(header: Header, labels: list[int], ignored: list[int]) -> Columns:
    """Sort the attributes out, or tell the line of one that does not fit its use."""
    kinds, kind_of = [*header.kinds, Unread("anything")], np.array(header.kind_of)
    kind_of[ignored] = len(header.kinds)
    as_label: dict[int, int] = {}
    for index in labels:
        kind = header.kind_of[index]
        if kind not in as_label:
            as_label[kind] = len(kinds)
            kinds.append(_label(header, index))
        kind_of[index] = as_label[kind]
    is_feature = np.ones(kind_of.size, dtype=bool)
    is_feature[labels + ignored] = False
    columns = Columns(header.names, kinds, kind_of, np.array(labels), np.flatnonzero(is_feature))
    columns.check_features(header.lines)
    return columns


def _label(header: Header, index: int) -> Label:
    try:
        return Label.of(header.kinds[header.kind_of[index]])
    except ValueError as error:
        raise ValueError(f"line {header.lines[index]}, attribute {shown(header.names[index])}: {error}") from None


def ignored_indices(path: Path, header: Header, labels: list[int], ignore: Sequence[str]) -> list[int]:
    """What is to be left out, by its places among the attributes."""
    if isinstance(ignore, str):
        raise TypeError(f"ignore must be a sequence of names; got the string {shown(ignore)}.")
    place = {name: index for index, name in enumerate(header.names)} if ignore else {}
    for name in ignore:
        if place.get(name, labels[0]) in labels:
            raise ValueError(f"{path}: ignore must name attributes that are no labels; got {shown(str(name))}.")
    return [place[name] for name in ignore]
