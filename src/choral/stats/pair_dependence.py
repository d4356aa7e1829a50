r"""How much two labels depend on each other, for all pairs at once; features play no role.

With :math:`p_{ab}` the share of instances that have value a of one label and b of the other:

.. math::
    V = \frac{|p_{11} - p_{1\cdot} p_{\cdot 1}|}{\sqrt{p_{1\cdot} p_{0\cdot} p_{\cdot 1} p_{\cdot 0}}},
    \quad I = \sum_{a, b} p_{ab} \log_2 \frac{p_{ab}}{p_{a\cdot} p_{\cdot b}}
"""

import numpy as np
from scipy.special import rel_entr

from choral._typing import FloatArray, IntArray


def cramers_v(together: IntArray, n_rows: int) -> FloatArray:
    """Cramér's V of all pairs of labels: for binary labels, the absolute value of their correlation, phi.

    Parameters
    ----------
    together : ndarray of shape (n_labels, n_labels)
        In how many rows two labels are both relevant; on the diagonal, in how many each is.
    n_rows : int

    Returns
    -------
    v : ndarray of shape (n_labels, n_labels)
        In [0, 1]. The diagonal is 1; the rows and columns of a label that does not vary are 0.

    Examples
    --------
    >>> cramers_v(np.array([[2, 2, 1], [2, 2, 1], [1, 1, 2]]), n_rows=4)  # the first two are equal
    array([[1., 1., 0.], [1., 1., 0.], [0., 0., 1.]])
    """
    counts = np.diag(together).astype(float)
    variances = counts * (n_rows - counts)
    covariances = np.abs(n_rows * together.astype(float) - np.outer(counts, counts))
    scale = np.sqrt(np.outer(variances, variances))
    return np.divide(covariances, scale, out=np.zeros_like(scale), where=scale > 0).clip(0, 1)


def mutual_information(together: IntArray, n_rows: int) -> FloatArray:
    """Mutual information of all pairs of labels, in bits.

    Parameters
    ----------
    together, n_rows
        As for `cramers_v`.

    Returns
    -------
    information : ndarray of shape (n_labels, n_labels)
        In [0, 1]. The diagonal is the entropy of each label; a label that does not vary has 0 everywhere.

    Examples
    --------
    >>> mutual_information(np.array([[2, 2, 1], [2, 2, 1], [1, 1, 2]]), n_rows=4)
    array([[1., 1., 0.], [1., 1., 0.], [0., 0., 1.]])
    """
    yes = np.diag(together)
    no = n_rows - yes
    cells = [  # in whole numbers: differences of shares might be negative in the last digit
        (together, yes, yes),
        (yes[:, np.newaxis] - together, yes, no),
        (yes - together, no, yes),
        (no[:, np.newaxis] - yes + together, no, no),
    ]
    terms = [rel_entr(both / n_rows, np.outer(first / n_rows, second / n_rows)) for both, first, second in cells]
    return np.sum(terms, axis=0).clip(0) / np.log(2)
