"""Decision trees as a few arrays: grown, pruned as C4.5 prunes, and walked."""

from choral.trees.gain_ratio import GainRatioGrower
from choral.trees.pruning import check_confidence, prune_tree
from choral.trees.tree_arrays import TreeArrays, to_tree_features

__all__ = ["GainRatioGrower", "TreeArrays", "check_confidence", "prune_tree", "to_tree_features"]
