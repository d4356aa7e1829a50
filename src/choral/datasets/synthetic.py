r"""Synthetic data with a known distribution of the label sets of each instance, from independent to dependent.

The marginals come from a logistic model, with :math:`x \sim N(0, I)`, unit vectors :math:`w_i` and offsets
:math:`b_i \sim N(0, 1)`:

.. math:: p_i(x) = \frac{1}{1 + \exp(-b_i - s \, w_i \cdot x)}

The joint distribution is a mixture of two that have these marginals. With probability :math:`1 - \delta` labels are
independent. With probability :math:`\delta`, the *dependence*, one number u, uniform in [0, 1], decides on all of them:
label i is relevant where :math:`u < p_i(x)`. Then labels come in the order of their marginals, and of the 2^K label
sets only K + 1 are possible, the nested :math:`S_j`, the j labels with the largest marginals:

.. math::
    P(y \mid x) = (1 - \delta) \prod_{i=1}^{K} p_i^{y_i} (1 - p_i)^{1 - y_i}
        + \delta \sum_{j=0}^{K} (p_{[j]} - p_{[j+1]}) \, [y = S_j],
    \quad 1 = p_{[0]} \ge p_{[1]} \ge \dots \ge p_{[K]} \ge p_{[K+1]} = 0

The marginals are the same for every dependence, and so are the optimal predictions for Hamming loss and their risk. The
optimal predictions for subset 0/1 loss change with the dependence. The total correlation of the labels given x is 0
without dependence and grows with it. The least risk for any loss is a concave function of the dependence; for subset
0/1 loss its mean over instances falls, though it need not fall for each instance.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.special import entr, expit

from choral._validation import check_count
from choral.datasets.dataset import Dataset
from choral.decisions import LabelDistribution
from choral.decisions.independent import product_distribution

MAX_PROBABILITIES = 2**27  # of 8 bytes: one GiB


@dataclass(frozen=True, eq=False, kw_only=True)  # arrays have no single truth value to compare by
class DependentDataset(Dataset):
    """A data set that knows how its labels were drawn.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    Y : ndarray of shape (n_samples, n_labels), uint8
        1 where a label is relevant.
    label_names : tuple of str
        One name per column of ``Y``.
    name : str
        The name of the data set in tables and figures.
    feature_names : tuple of str, optional
        One name per column of ``X``; by default ``x0``, ``x1``, ...
    n_nominal : int, default=0
        How many features were nominal in the source.
    n_numeric : int, optional
        How many features were numeric in the source; by default all columns of ``X``.
    marginals : ndarray of shape (n_samples, n_labels)
        The true probability of each label, given the features.
    dependence : float
        The probability that one number decides on all labels of an instance, rather than one for each.

    See Also
    --------
    make_dependent : Draw data from a known distribution.
    Dataset : Features, labels and their names.

    Examples
    --------
    >>> data = make_dependent(n_samples=20, n_labels=3, dependence=0.5, random_state=0)
    >>> data.marginals.shape, data.dependence
    ((20, 3), 0.5)
    """

    marginals: np.ndarray
    dependence: float

    @cached_property
    def distribution(self) -> LabelDistribution:
        """The true distribution of the label sets of each instance; computed when it is asked for.

        Unless the dependence is 1, all 2^K label sets are listed. So n_samples * 2^K may be at most 2^27, for instance
        32,768 samples of 12 labels.
        """
        n_samples, n_labels = self.marginals.shape
        if self.dependence == 1:
            return _comonotone(self.marginals)
        if n_samples << n_labels > MAX_PROBABILITIES:
            raise ValueError(
                f"the distribution has n_samples * 2 ** n_labels probabilities, listed up to {MAX_PROBABILITIES}; "
                f"got {n_samples} samples and {n_labels} labels."
            )
        return _mixture(self.marginals, self.dependence)

    def total_correlation(self) -> np.ndarray:
        r"""How much the labels of each instance tell of each other, given its features, in bits.

        .. math:: C(x) = \sum_{i=1}^{K} H(Y_i \mid x) - H(Y \mid x) = \sum_{i=2}^{K} I(Y_i; Y_1, \dots, Y_{i-1} \mid x)

        Returns
        -------
        bits : ndarray of shape (n_samples,)
            0 if the dependence is 0. `choral.stats.conditional_dependence` estimates its mean from data.
        """
        single = entr(self.marginals) + entr(1 - self.marginals)
        joint = self.distribution.weights.copy()
        if sp.issparse(joint):
            joint.data = entr(joint.data)
        else:
            joint = entr(joint)
        return (single.sum(axis=1) - joint.sum(axis=1)).clip(0) / np.log(2)


def make_dependent(
    n_samples: int,
    n_labels: int,
    dependence: float,
    *,
    n_features: int = 10,
    signal: float = 2.0,
    random_state: int = 0,
) -> DependentDataset:
    r"""Draw features and labels from a known distribution, from independent to fully dependent labels.

    The same seed gives the same features and marginals for every dependence; only how labels go together changes. The
    formula stands at the top of `choral.datasets.synthetic`.

    Parameters
    ----------
    n_samples, n_labels : int
        The size of the label matrix.
    dependence : float
        In [0, 1]: the probability that one random number decides on all labels of an instance, not one for each.
    n_features : int, default=10
        The number of features.
    signal : float, default=2.0
        How much the features tell: the standard deviation s of the log-odds of a label; 0 for nothing.
    random_state : int, default=0
        The seed.

    Returns
    -------
    dataset : DependentDataset
        With ``X``, ``Y``, ``marginals`` and the true ``distribution`` of label sets.

    See Also
    --------
    DependentDataset : A data set that knows how its labels were drawn.
    load_digits_segments : A data set that needs no file.

    Examples
    --------
    The least risk for Hamming loss depends on the marginals alone; for subset 0/1 loss it falls as dependence grows:

    >>> from choral import HammingMeasure, SubsetMeasure, bayes_optimal
    >>> for dependence in (0, 0.5, 1):
    ...     truth = make_dependent(200, 6, dependence).distribution
    ...     print([f"{bayes_optimal(truth, m).risk.mean():.3f}" for m in (HammingMeasure(), SubsetMeasure())])
    ['0.212', '0.756']
    ['0.212', '0.681']
    ['0.212', '0.592']
    """
    n_samples, n_labels = check_count("n_samples", n_samples), check_count("n_labels", n_labels)
    n_features = check_count("n_features", n_features)
    if not 0 <= dependence <= 1:  # written so that nan is refused
        raise ValueError(f"dependence must lie in [0, 1]; got {dependence}.")
    if not 0 <= signal < np.inf:
        raise ValueError(f"signal must be finite and non-negative; got {signal}.")
    rng = np.random.default_rng(random_state)
    X = rng.standard_normal((n_samples, n_features))
    directions = rng.standard_normal((n_labels, n_features))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    marginals = expit(rng.standard_normal(n_labels) + signal * X @ directions.T)
    return DependentDataset(
        X,
        _draw_labels(marginals, dependence, rng),
        tuple(f"label {i}" for i in range(n_labels)),
        f"dependent-{dependence:g}",
        marginals=marginals,
        dependence=float(dependence),
    )


def _draw_labels(marginals: np.ndarray, dependence: float, rng: np.random.Generator) -> np.ndarray:
    """Draw label sets: some instances have one random number for all labels, the others one for each label."""
    is_common = rng.random((len(marginals), 1)) < dependence
    uniform = rng.random(marginals.shape)
    return (np.where(is_common, uniform[:, :1], uniform) < marginals).astype(np.uint8)


def _nested_probabilities(marginals: np.ndarray) -> np.ndarray:
    """The probabilities of the nested label sets, from the empty one to all labels."""
    descending = -np.sort(-marginals, axis=1)
    return -np.diff(descending, axis=1, prepend=1, append=0)


def _nested_label_sets(marginals: np.ndarray) -> np.ndarray:
    """The nested label sets of each instance, of shape (n_samples, n_labels + 1, n_labels)."""
    ranks = np.argsort(np.argsort(-marginals, axis=1, kind="stable"), axis=1)
    sizes = np.arange(marginals.shape[1] + 1)
    return ranks[:, np.newaxis] < sizes[:, np.newaxis]


def _comonotone(marginals: np.ndarray) -> LabelDistribution:
    """Labels decided by one number: at most K + 1 label sets for an instance, so any number of labels will do."""
    n_samples, n_labels = marginals.shape
    gaps = _nested_probabilities(marginals)
    ends = np.arange(0, gaps.size + 1, n_labels + 1)
    weights = sp.csr_array((gaps.ravel(), np.arange(gaps.size), ends), shape=(n_samples, gaps.size))
    return LabelDistribution(_nested_label_sets(marginals).reshape(-1, n_labels), weights)


def _mixture(marginals: np.ndarray, dependence: float) -> LabelDistribution:
    """The mixture of both cases, as probabilities of all label sets; label i is bit i of the index."""
    n_samples, n_labels = marginals.shape
    dense = (1 - dependence) * product_distribution(marginals)
    indices = _nested_label_sets(marginals) @ (1 << np.arange(n_labels))
    dense[np.arange(n_samples)[:, np.newaxis], indices] += dependence * _nested_probabilities(
        marginals
    )  # indices of a row differ
    return LabelDistribution.from_dense(dense)
