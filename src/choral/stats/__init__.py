"""Statistics along a curve."""

from choral.stats.bootstrap import Rows, bootstrap_means

__all__ = ["Rows", "bootstrap_means"]
