"""Data like bags of words, of any size: sparse counts whose words hint at labels."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp


class Words(NamedTuple):
    """Rows are texts: words in the columns of X, topics in those of Y."""

    X: sp.csr_array
    Y: np.ndarray


def make_words(
    n_rows: int, n_words: int, n_labels: int, *, words_per_row: float = 25, labels_per_row: float = 2, seed: int = 0
) -> Words:
    """Texts about a few topics each, with words of these topics and of no topic.

    Topics are of a few groups, and a text is mostly about topics of one group, so that labels depend on each other.
    Topics and words are as frequent as in real texts: a few often, most rarely.

    Parameters
    ----------
    n_rows, n_words, n_labels : int
    words_per_row, labels_per_row : float
        In the mean, before words that come twice are counted as one.
    seed : int

    Examples
    --------
    >>> data = make_words(200, 100, 10)
    >>> data.X.shape, data.Y.shape
    ((200, 100), (200, 10))
    """
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(1, n_labels + 1) ** 0.8
    group = rng.integers(max(2, n_labels // 6), size=n_labels)
    rows_group = rng.choice(group, n_rows, p=frequency / frequency.sum())
    chances = frequency * np.where(rows_group[:, np.newaxis] == group, 10.0, 0.5)
    chances *= labels_per_row / chances.sum(axis=1, keepdims=True)
    Y = (rng.random((n_rows, n_labels)) < chances).astype(np.uint8)
    common = 1 / np.arange(3, n_words + 3)
    of_topic = rng.dirichlet(np.full(n_words, 20 / n_words), n_labels)
    shares = (Y @ of_topic + common / common.sum()) / (1 + Y.sum(axis=1, keepdims=True))
    counts = rng.poisson(shares * rng.gamma(3, words_per_row / 3, (n_rows, 1)))
    return Words(sp.csr_array(counts.astype(float)), Y)
