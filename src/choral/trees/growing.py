r"""Growing a tree: by information gain, by the Gini index, or by C4.5's gain ratio.

By gain or Gini index the best split of all features is taken, as in scikit-learn. By the *gain ratio* (Quinlan 1993)
each feature is split where the gain in information is largest; a numeric one pays
:math:`\log_2(\text{candidates}) / n` for the choice. Of the features whose gain is at least the average of all positive
gains, the one with the largest ratio of its gain to the information in the split itself is taken: gain alone favours
splits into halves over splits that cut off a small pure part.

A row without a value goes to the side where it fits better, as in scikit-learn; where no training row of a node lacked
the value, it goes with the majority.
"""

from typing import NamedTuple

import numpy as np

from choral.trees.compiling import find_kernel
from choral.trees.criteria import CRITERIA, Criterion, Settings, information_table, least_units, make_target
from choral.trees.growing_numpy import NumpyGrower
from choral.trees.sorted_features import SortedFeatures
from choral.trees.tree_arrays import TreeArrays


class GrownTree(NamedTuple):
    """A tree with its training rows."""

    tree: TreeArrays
    rows: np.ndarray  # (n_rows,) the training rows that have weight, in the order of the leaves
    begins: np.ndarray  # (n_nodes,) those of a node are rows[begin:end]
    ends: np.ndarray


def grow_tree(
    features: SortedFeatures,
    codes: np.ndarray,
    *,
    criterion: Criterion = "entropy",
    min_samples_leaf: int = 2,
    weights: np.ndarray | None = None,
    label_weights: np.ndarray | None = None,
    pays: bool = False,
    columns: np.ndarray | None = None,
    max_features: int | None = None,
    seed: int = 0,
) -> GrownTree:
    """Grow a tree.

    Parameters
    ----------
    features : SortedFeatures
    codes : ndarray of shape (n_rows, n_outputs)
        Numbers from 0: labels of 0 and 1, or one output with the class of each row.
    criterion : {"entropy", "gini", "gain_ratio"}
        The gain ratio is for one output.
    min_samples_leaf : int
        The least weight of a leaf.
    weights : ndarray of shape (n_rows,), optional
        Not negative; 1 unless given.
    label_weights : ndarray of shape (n_outputs,), optional
        What each label counts, under the Gini criterion.
    pays : bool
        Whether a node is a leaf if its best gain is less than the price of the choice among many splits, as in C4.5.
    columns : ndarray of int, optional
        The features of this tree, all unless given; of equally good ones, the first in this list is taken.
    max_features : int, optional
        How many features are drawn at each node; all unless given.
    seed : int
        Of those draws.

    Examples
    --------
    >>> from choral.trees import sort_features
    >>> grown = grow_tree(sort_features(np.array([[0.0], [1], [5], [6]])), np.array([[0], [0], [1], [1]]))
    >>> grown.tree.threshold[0], grown.tree.left.tolist()
    (np.float64(3.0), [1, -1, -1])
    """
    target = make_target(codes, weights, label_weights)
    columns = np.arange(features.n_features) if columns is None else np.asarray(columns, dtype=np.int64)
    settings = Settings(
        criterion=CRITERIA[criterion],
        least=least_units(min_samples_leaf, target),
        pays=pays,
        max_features=features.n_features if max_features is None else max_features,
        seed=seed,
    )
    bits, kernel = information_table(target), find_kernel("growing_kernel")
    if kernel is None:
        grown = NumpyGrower(features, columns, target, settings, bits).grow()
    else:
        steps = np.empty(0) if bits is None else np.diff(bits)
        is_gini = True if criterion == "gini" else None  # compiled code differs by whether it is None
        grown = kernel.grow(*features[:5], columns, target, settings, bits, steps, is_gini)
    tree, (rows, begins, ends) = TreeArrays(*grown[:5]), grown[5:]
    return GrownTree(tree, rows.astype(np.intp), begins, ends)
