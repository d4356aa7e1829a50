"""Multi-label data sets that need no download."""

from choral.datasets.digits_segments import Dataset, load_digits_segments

__all__ = ["Dataset", "load_digits_segments"]
