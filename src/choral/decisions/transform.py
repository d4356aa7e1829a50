r"""The risks of all 2^K predictions at once, by Walsh-Hadamard transforms.

The loss depends on which labels are wrong, that is on :math:`c \oplus y`, so the risks of all predictions c are a
convolution over bit vectors: the distribution is transformed once, and each measure takes a product and one transform
back, K 2^K steps instead of 4^K. Relevance weighting depends on the sizes of c and y as well, but only through factors
of each: it is a sum of such convolutions.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral.decisions.base import AnyMeasure
from choral.decisions.decision import Decision, proven
from choral.decisions.hadamard import hadamard_transform, transform_by_size
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.risks.relevance import relevance_scales
from choral.decisions.risks.table import loss_table
from choral.decisions.support import row_blocks
from choral.decisions.ties import TOLERANCE, first_in_order
from choral.measures import CountingMeasure, RelevanceMeasure
from choral.measures.subsets import members_table, set_sizes


class Spectrum:
    """Probabilities of all label sets for some instances, and their transform."""

    def __init__(self, dense: np.ndarray, sizes: np.ndarray):
        self.dense = dense  # (n_instances, 2 ** n_labels)
        self.sizes = sizes  # of all label sets

    @cached_property
    def transformed(self) -> np.ndarray:
        """The transform, which serves all measures but relevance weighting."""
        return hadamard_transform(self.dense)


Risks = Callable[[Spectrum], np.ndarray]  # of all 2^K predictions for each instance


@singledispatch
def transform(distribution: LabelDistribution, measures: Sequence[AnyMeasure]) -> list[Decision]:
    """The optimum for each measure, proven by looking at every prediction."""
    n_labels, shape = distribution.n_labels, (distribution.n_instances, distribution.n_labels)
    check_dense(distribution)
    risks_of = [all_risks(measure, n_labels) for measure in measures]
    labels = [np.empty(shape, dtype=np.uint8) for _ in measures]
    least = [np.empty(shape[0]) for _ in measures]
    sizes = set_sizes(n_labels).astype(np.uint8)
    index = distribution.support.index()
    for block in row_blocks(shape[0], 1 << n_labels):
        spectrum = _spectrum(distribution.weights[block], index, sizes)
        for number, risks in enumerate(risks_of):
            for row, of_row in zip(range(block.start, block.stop), risks(spectrum), strict=True):
                least[number][row] = of_row.min()
                labels[number][row] = _best_set(of_row, n_labels)
    # The risks are added up anew: a transform keeps the digits of the largest risk, a sum those of each.
    return [
        proven(chosen, distribution.risk(chosen, measure), bound)
        for measure, chosen, bound in zip(measures, labels, least, strict=True)
    ]


def check_dense(distribution: LabelDistribution) -> None:
    """Refuse to look at more predictions than fit into memory."""
    most, n_labels = distribution.most_dense_labels, distribution.n_labels
    if n_labels > most:
        raise ValueError(
            f"method 'transform' looks at all 2 ** n_labels predictions, for up to {most} labels; got {n_labels}."
        )


def _spectrum(weights: Any, index: np.ndarray, sizes: np.ndarray) -> Spectrum:
    dense = np.zeros((weights.shape[0], sizes.size))
    dense[:, index] = weights.toarray() if sp.issparse(weights) else weights
    return Spectrum(dense, sizes)


def _best_set(risks: np.ndarray, n_labels: int) -> np.ndarray:
    tied = members_table(np.flatnonzero(risks <= risks.min() + TOLERANCE), n_labels)
    return tied[first_in_order(tied)]


def _back(transformed: np.ndarray) -> np.ndarray:
    table = hadamard_transform(transformed)
    table /= table.shape[-1]
    return table


@singledispatch
def all_risks(measure: Any, n_labels: int) -> Risks:
    """The risks of all predictions, as a function of the distribution: for any measure, from the table of all sets."""
    factors = hadamard_transform(loss_table(measure, n_labels))
    return lambda spectrum: _back(spectrum.transformed * factors)


@all_risks.register
def _(measure: CountingMeasure, n_labels: int) -> Risks:
    factors = transform_by_size(measure.deficits(n_labels))

    def risks(spectrum: Spectrum) -> np.ndarray:
        product = np.tile(factors[spectrum.sizes], (len(spectrum.dense), 1))
        product *= spectrum.transformed
        return _back(product)

    return risks


@all_risks.register
def _(measure: RelevanceMeasure, n_labels: int) -> Risks:
    r"""With s labels predicted, R relevant and j right, :math:`(s + R - K + j) / 2` are right and relevant.

    So the worth is a sum of convolutions with v(j) and v(j) / j, in which R is a factor before and s one after.
    """
    right = n_labels - np.arange(n_labels + 1)
    values = measure.base.values(n_labels)[right]
    shares = measure.beta / 2 * values / np.maximum(right, 1)
    of_values = transform_by_size((1 + measure.beta / 2) * values)
    of_shares = transform_by_size(shares)
    scales = relevance_scales(measure, n_labels)

    def risks(spectrum: Spectrum) -> np.ndarray:  # in place where it can be: with 22 labels an array has 32 MiB
        sizes = spectrum.sizes
        scaled = spectrum.dense / scales[sizes]
        scaled[:, [0, -1]] = 0  # where no label or every label is relevant, it is the base measure itself
        before = hadamard_transform(scaled * (sizes - float(n_labels)))
        before *= of_shares[sizes]
        scaled = hadamard_transform(scaled)
        before += scaled * of_values[sizes]
        worth = _back(before)
        del before
        scaled *= of_shares[sizes]
        scaled = _back(scaled)
        scaled *= sizes
        worth += scaled
        worth += spectrum.dense[:, :1] * values[sizes]
        worth += spectrum.dense[:, -1:] * values[n_labels - sizes]
        return np.subtract(1, worth, out=worth)

    return risks
