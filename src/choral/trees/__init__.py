"""Decision trees: features sorted once, trees grown and pruned on them, as a few arrays that are packed and walked."""

from choral.trees.criteria import Criterion
from choral.trees.features import columns_in_use, dense_if_small, for_trees, to_tree_features
from choral.trees.growing import GrownTree, grow_tree
from choral.trees.packed_tree import PackedTree, narrow
from choral.trees.pruning import PrunedTree, check_confidence, prune_tree
from choral.trees.sorted_features import SortedFeatures, sort_features
from choral.trees.tree_arrays import TreeArrays

__all__ = [
    "Criterion",
    "GrownTree",
    "PackedTree",
    "PrunedTree",
    "SortedFeatures",
    "TreeArrays",
    "check_confidence",
    "columns_in_use",
    "dense_if_small",
    "for_trees",
    "grow_tree",
    "narrow",
    "prune_tree",
    "sort_features",
    "to_tree_features",
]
