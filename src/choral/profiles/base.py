"""What every profile can do: add up with others, be compared, and draw its curve."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from choral._validation import check_count
from choral.curves import LossCurve
from choral.measures.families import get_family


class Profile(ABC):
    """A small summary of predictions that adds up over batches of rows."""

    def __init__(self, n_labels: int):
        self.n_labels = check_count("n_labels", n_labels)

    @abstractmethod
    def _merged(self, other: Self) -> Self:
        """The profile of both sets of rows, for the same labels."""

    @abstractmethod
    def losses(self, family: str, parameters: Any = None) -> np.ndarray:
        """Mean loss for every parameter of a family; the default grid for None."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON."""

    def __add__(self, other: Self) -> Self:
        """The profile of both sets of rows; soft as soon as one of the two is."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if other.n_labels != self.n_labels:
            raise ValueError(f"profiles must have the same number of labels; got {self.n_labels} and {other.n_labels}.")
        return self._merged(other)

    def __radd__(self, other: Any) -> Self:
        # sum(profiles) starts at 0; a new profile, since update() changes one in place
        return type(self)(self.n_labels) + self if isinstance(other, int) and other == 0 else NotImplemented

    def _take(self, batch: Self) -> Self:
        """Add a batch in place; the profile itself."""
        self.__dict__.update((self + batch).__dict__)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # it grows

    def curve(self, family: str = "binomial", parameters: Any = None, name: str | None = None) -> LossCurve:
        """The loss along a family; k = 1..K or the published alphas unless given. See `loss_curve`."""
        grid = get_family(family).parameters(parameters, self.n_labels)
        return LossCurve(family, grid, self.losses(family, grid), n_labels=self.n_labels, name=name)
