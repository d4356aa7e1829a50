"""What ``choral decide`` found, with the names that the file gives to its labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from choral._outputs import plain_numbers
from choral.curves import LossCurve
from choral.decisions import BayesCurve, LabelDistribution, expected_curve


class Mode(NamedTuple):
    """A prediction that is optimal at one end of a family, and what it costs elsewhere."""

    labels: np.ndarray
    curve: LossCurve


def label_names(labels: tuple[str, ...] | None, n_labels: int) -> tuple[str, ...]:
    """The names of the labels, or their numbers, counted from 1."""
    return labels or tuple(str(number) for number in range(1, n_labels + 1))


@dataclass(frozen=True, eq=False)
class Decisions:
    """The optimal predictions for a distribution of label sets along a family.

    Attributes
    ----------
    distribution : LabelDistribution
        Of one instance.
    optimal : BayesCurve
    labels : tuple of str, optional
        The names of the labels.
    n_rows : int
        Rows of the file: more than label sets where some come twice.
    """

    distribution: LabelDistribution
    optimal: BayesCurve
    labels: tuple[str, ...] | None
    n_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the labels, or their numbers, counted from 1."""
        return label_names(self.labels, self.distribution.n_labels)

    def names_in(self, prediction: np.ndarray) -> list[str]:
        """The names of the labels of a prediction."""
        return [self.names[label] for label in np.flatnonzero(prediction)]

    @property
    def predictions(self) -> np.ndarray:
        """Optimal predictions, of shape (n_parameters, n_labels)."""
        return self.optimal.labels[:, 0]

    @property
    def risks(self) -> np.ndarray:
        """Their expected losses, of shape (n_parameters,)."""
        return self.optimal.risk[:, 0]

    @property
    def exact(self) -> np.ndarray:
        """Whether they are proven optimal, of shape (n_parameters,)."""
        return self.optimal.exact[:, 0]

    @property
    def lower_bounds(self) -> np.ndarray:
        """Below these, no prediction has its expected loss; of shape (n_parameters,)."""
        return self.optimal.lower_bound[:, 0]

    @cached_property
    def modes(self) -> dict[str, Mode]:
        """The optimal predictions for Hamming loss and for subset 0/1 loss."""
        predictions = {
            "marginal": self.distribution.marginal_mode()[0],
            "joint": self.distribution.mode()[0],
        }
        family, parameters = self.optimal.family, self.optimal.parameters
        return {
            name: Mode(labels, expected_curve(self.distribution, labels, family, parameters, name=f"{name} mode"))
            for name, labels in predictions.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, ready for JSON, which knows no infinity."""
        return {
            "family": self.optimal.family,
            "n_rows": self.n_rows,
            "n_labelsets": self.distribution.n_labelsets,
            "n_labels": self.distribution.n_labels,
            "labels": self.labels,
            "parameters": plain_numbers(self.optimal.parameters),
            "predictions": self.predictions.tolist(),
            "risk": self.risks.tolist(),
            "exact": self.exact.tolist(),
            "lower_bound": self.lower_bounds.tolist(),
            "modes": {
                name: {"prediction": mode.labels.tolist(), "expected_loss": mode.curve.losses.tolist()}
                for name, mode in self.modes.items()
            },
        }
