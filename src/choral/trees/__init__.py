"""Decision trees as a few arrays: grown, pruned as C4.5 prunes, packed, and walked."""

from choral.trees.features import columns_in_use, dense_if_small, for_trees
from choral.trees.gain_ratio import GainRatioGrower
from choral.trees.packed_tree import PackedTree, narrow
from choral.trees.pruning import check_confidence, prune_tree
from choral.trees.tree_arrays import TreeArrays, to_tree_features

__all__ = [
    "GainRatioGrower",
    "PackedTree",
    "TreeArrays",
    "check_confidence",
    "columns_in_use",
    "dense_if_small",
    "for_trees",
    "narrow",
    "prune_tree",
    "to_tree_features",
]
