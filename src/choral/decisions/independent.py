"""IndependentLabels: the product distribution, where labels know nothing of each other."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._validation import Value, check_count, check_rows, listed, refuse_where
from choral.decisions.base import AnyMeasure, Distribution, check_hard
from choral.decisions.independent_risks import chances_of_error, independent_risk, product_distribution
from choral.decisions.label_distribution import MOST_DENSE_LABELS, LabelDistribution
from choral.decisions.poisson_binomial import number_of_events
from choral.decisions.support import row_blocks


class IndependentLabels(Value, Distribution):
    """Labels that are independent of each other, given their probabilities.

    What `predict_proba` of one binary model a label means, if nothing is said about dependence.

    Parameters
    ----------
    marginals : array-like of shape (n_labels,) or (n_instances, n_labels)
        The probability of each label, for one instance or for many.

    Examples
    --------
    >>> from choral import SubsetMeasure
    >>> distribution = IndependentLabels([0.9, 0.5, 0.2])
    >>> distribution.risk([1, 0, 0], SubsetMeasure()).round(3)  # right with probability 0.9 * 0.5 * 0.8
    array([0.64])
    """

    _marginals: np.ndarray
    has_instances: bool

    def __init__(self, marginals: Any):
        if sp.issparse(marginals):
            raise ValueError("marginals must be dense; marginals.toarray() makes them so.")
        rows, single = check_rows("marginals", marginals)
        wrong = ~((rows >= 0) & (rows <= 1))
        refuse_where("marginals must lie in [0, 1]", "marginals", *((rows[0], wrong[0]) if single else (rows, wrong)))
        self._freeze(_marginals=rows, has_instances=not single)

    def _identity(self) -> tuple:
        return self.has_instances, self._marginals.shape, self._marginals.tobytes()

    def __repr__(self) -> str:
        if self.has_instances:
            return f"IndependentLabels({self.n_instances} instances, {self.n_labels} labels)"
        return f"IndependentLabels({listed(self._marginals[0])})"

    @property
    def n_labels(self) -> int:  # type: ignore[override]
        """The number of labels, K."""
        return self._marginals.shape[1]

    @property
    def n_instances(self) -> int:  # type: ignore[override]
        """The number of instances; 1 for one vector of marginals."""
        return self._marginals.shape[0]

    def marginals(self) -> np.ndarray:
        return self._marginals

    def mode(self) -> np.ndarray:
        return self.marginal_mode()

    def expected_loss(self, candidates: Any, measure: AnyMeasure) -> np.ndarray:
        labels, single = check_hard("candidates", candidates, self.n_labels)
        losses = np.stack([self.risk(candidate, measure) for candidate in labels], axis=1)
        return losses[:, 0] if single else losses

    @np.errstate(under="ignore")
    def risk(self, predictions: Any, measure: AnyMeasure) -> np.ndarray:
        self.check_measure(measure)
        labels = self.check_predictions(predictions)
        risks = [independent_risk(measure, self._marginals[rows], labels[rows]) for rows in self._blocks()]
        return np.concatenate(risks).clip(0, 1)

    def wrong_labels(self, predictions: Any) -> np.ndarray:
        labels = self.check_predictions(predictions)
        return np.concatenate(
            [number_of_events(chances_of_error(self._marginals[rows], labels[rows])) for rows in self._blocks()]
        )

    def _blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_instances, 4 * self.n_labels)  # a recursion has a few arrays of this size

    def sample(self, n: int, rng: Any = None) -> np.ndarray:
        n = check_count("n", n)
        marginals = self._marginals[:, np.newaxis] if self.has_instances else self._marginals
        uniform = np.random.default_rng(rng).random((self.n_instances, n, self.n_labels)[not self.has_instances :])
        return (uniform < marginals).astype(np.uint8)

    def to_label_distribution(self) -> LabelDistribution:
        """The same distribution as probabilities of all 2^K label sets, for up to 22 labels.

        Examples
        --------
        >>> IndependentLabels([0.5, 0.2]).to_label_distribution().probabilities
        array([0.4, 0.4, 0.1, 0.1])
        """
        self._check_few_labels()
        dense = product_distribution(self._marginals)
        return LabelDistribution.from_dense(dense if self.has_instances else dense[0])

    def joint_blocks(self) -> Iterator[tuple[slice, LabelDistribution]]:
        self._check_few_labels()
        for rows in row_blocks(self.n_instances, 1 << self.n_labels):
            yield rows, LabelDistribution.from_dense(product_distribution(self._marginals[rows]))

    def _check_few_labels(self) -> None:
        if self.n_labels > MOST_DENSE_LABELS:
            raise ValueError(
                f"independent labels have 2 ** n_labels label sets, listed for up to {MOST_DENSE_LABELS} labels; "
                f"got {self.n_labels}. Their optimum has a closed form."
            )
