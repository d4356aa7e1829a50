"""Statistics: the paired bootstrap of losses, and what data sets are like, the dependence of their labels above all."""

from choral.stats.bootstrap import Rows, bootstrap_means
from choral.stats.conditional import ConditionalDependence, conditional_dependence
from choral.stats.describe import Description, describe

__all__ = ["ConditionalDependence", "Description", "Rows", "bootstrap_means", "conditional_dependence", "describe"]
