"""What every measure can do, and how measures that hold arrays stay values."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np

from choral._kernels.arrays import Array, namespace_of

ROUNDING = 1e-12  # sums of doubles that should agree may differ by this much


class Measure(ABC):
    r"""A monotone set function: what it is worth to be right on a set of labels.

    :math:`\mu(\emptyset) = 0`, :math:`\mu` of all labels is 1, and a larger set is worth at least as much.
    """

    @abstractmethod
    def check_n_labels(self, n_labels: int) -> None:
        """Raise where the measure cannot live on this many labels."""

    @abstractmethod
    def worth(self, sets: np.ndarray) -> np.ndarray:
        """What each set is worth.

        Parameters
        ----------
        sets : ndarray of shape (n_sets, n_labels)
            True or 1 for the labels in the set.

        Returns
        -------
        worth : ndarray of shape (n_sets,)
        """

    @abstractmethod
    def chain(self, order: np.ndarray) -> np.ndarray:
        """What the nested sets of the sorted Choquet integral are worth.

        Parameters
        ----------
        order : ndarray of shape (n_rows, n_labels)
            Each row a permutation of the labels.

        Returns
        -------
        worth : ndarray, broadcasts to (n_rows, n_labels)
            Entry (r, i) is the worth of ``{order[r, i], order[r, i + 1], ...}``.
        """


class Value:
    """A value that may hold arrays: read-only, comparable, hashable.

    A frozen dataclass that holds an array is neither comparable nor hashable; this is the little it takes.
    """

    def _freeze(self, **fields: Any) -> None:
        for name, field in fields.items():
            if isinstance(field, np.ndarray):
                # A copy of our own, without negative zeros: equal values have equal bytes.
                field = field + 0 if field.dtype.kind == "f" else field.copy()
                field.flags.writeable = False
            object.__setattr__(self, name, field)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._freeze(**state)  # pickle and copy hand over writable arrays

    def _identity(self) -> Hashable:
        """What two equal values have in common."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))


def check_fits(what: str, expected: int, n_labels: int) -> None:
    """Refuse to apply a measure that was made for another number of labels."""
    if n_labels != expected:
        raise ValueError(f"{what} is made for {expected} labels; got {n_labels}.")


def reversed_sums(steps: Array) -> Array:
    """Entry i of a row is the sum of its entries i, i + 1, ...: the nested sets of a chain."""
    xp = namespace_of(steps)
    if xp is None:
        return np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]
    return xp.flip(xp.cumulative_sum(xp.flip(steps, axis=1), axis=1, dtype=steps.dtype), axis=1)


def listed(numbers: np.ndarray) -> str:
    """Numbers as a short list, for ``repr``."""
    shown = [f"{number:.6g}" for number in (numbers if numbers.size <= 12 else numbers[:4])]
    if numbers.size > 12:
        shown += ["...", f"{numbers[-1]:.6g}"]
    return f"[{', '.join(shown)}]"
