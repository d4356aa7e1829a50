"""What the trees share: rows with weights, options for scikit-learn to grow by, and pruning of what has grown."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight

from choral.learners.pruning import Pruner
from choral.learners.tree_arrays import TreeArrays

ROUNDING = 1e-6  # of sums of weights


def check_confidence(confidence: float | None) -> None:
    """Refuse what is no confidence."""
    if confidence is not None and not 0 < confidence <= 0.5:
        raise ValueError(f"confidence must lie in (0, 0.5], or be None for no pruning; got {confidence}.")


def rows_that_count(sample_weight: Any, X: Any, codes: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """The rows with a weight, their classes, and the weights, 1 unless given."""
    weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
    if not weights.any():  # scikit-learn refuses it too, in later versions
        raise ValueError("Sample weights must contain at least one non-zero number.")
    if weights.all():
        return X, codes, weights
    rows = np.flatnonzero(weights)
    return X[rows], codes[rows], weights[rows]


def columns_to_grow_on(X: Any) -> Any:
    """Sparse features as scikit-learn's trees take them, which refuse wide indices and sort narrow ones in place."""
    if not sp.issparse(X):
        return X
    X = X.tocsc().sorted_indices()
    if X.nnz <= np.iinfo(np.int32).max:
        X.indices, X.indptr = X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False)
    return X


def growing_options(min_samples_leaf: int, weights: np.ndarray) -> dict[str, Any]:
    """Options of scikit-learn's trees that count the rows of a leaf by weight: one of weight 2 is worth two rows."""
    share = min_samples_leaf * (1 - ROUNDING) / weights.sum()
    if share <= 0.5:
        return {"min_weight_fraction_leaf": share}
    return {"min_samples_split": weights.size + 1}  # too few for two leaves


def pruned(
    grown: Any,
    X: Any,
    codes: np.ndarray,
    weights: np.ndarray,
    *,
    confidence: float | None,
    raising: bool = True,
    least_side: int | None = None,
) -> tuple[TreeArrays, np.ndarray]:
    """The arrays of a tree, grown by scikit-learn or here, pruned, and the share of each class in each node.

    Splits pay for having been chosen where ``least_side`` is given, the least number of rows on either side of one.
    """
    if not isinstance(grown, TreeArrays):
        grown = TreeArrays(grown.children_left, grown.children_right, grown.feature, grown.threshold)
    pruner = Pruner(TreeArrays(*(part.copy() for part in grown)), X, codes, weights, confidence or 0.5)
    if confidence is not None:
        if least_side is not None:
            pruner.cut_small_gains(least_side)
        pruner.prune(raising=raising)
    tree, nodes = pruner.tree.compact()
    counts = pruner.counts[nodes]
    return tree, counts / counts.sum(axis=-1, keepdims=True)
