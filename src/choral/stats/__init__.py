"""Statistics: the paired bootstrap of losses, tests of significance, and descriptions of data sets.

Descriptions say, above all, how much labels depend on each other.
"""

from choral.stats.bootstrap import Band, WeightedLosses, bootstrap_band, bootstrap_means
from choral.stats.conditional import ConditionalDependence, conditional_dependence
from choral.stats.describe import Description, describe
from choral.stats.rank_tests import RankComparison, compare_ranks, rank_losses
from choral.stats.significance import Significance, corrected_resampled_t, holm

__all__ = [
    "Band",
    "ConditionalDependence",
    "Description",
    "RankComparison",
    "Significance",
    "WeightedLosses",
    "bootstrap_band",
    "bootstrap_means",
    "compare_ranks",
    "conditional_dependence",
    "corrected_resampled_t",
    "describe",
    "holm",
    "rank_losses",
]
