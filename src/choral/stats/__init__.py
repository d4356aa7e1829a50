"""Statistics: the paired bootstrap of losses, tests of significance, stratified folds, and what data sets are like.

Descriptions say, above all, how much labels depend on each other.
"""

from choral.stats.bootstrap import Band, WeightedLosses, bootstrap_band, bootstrap_means
from choral.stats.conditional import ConditionalDependence, conditional_dependence
from choral.stats.describe import Description, describe
from choral.stats.rank_tests import RankComparison, compare_ranks, rank_losses
from choral.stats.significance import Significance, corrected_resampled_t, corrected_t_interval, holm
from choral.stats.stratified_folds import MultilabelStratifiedKFold

__all__ = [
    "Band",
    "ConditionalDependence",
    "Description",
    "MultilabelStratifiedKFold",
    "RankComparison",
    "Significance",
    "WeightedLosses",
    "bootstrap_band",
    "bootstrap_means",
    "compare_ranks",
    "conditional_dependence",
    "corrected_resampled_t",
    "corrected_t_interval",
    "describe",
    "holm",
    "rank_losses",
]
