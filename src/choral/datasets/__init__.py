"""Multi-label data sets: embedded, read from ARFF files, or fetched by name or from OpenML."""

from choral.datasets.arff import is_arff, read_arff
from choral.datasets.dataset import Dataset
from choral.datasets.digits_segments import load_digits_segments
from choral.datasets.loading import load
from choral.datasets.openml import load_openml
from choral.datasets.sources import NAMES
from choral.datasets.synthetic import DependentDataset, make_dependent

__all__ = [
    "NAMES",
    "Dataset",
    "DependentDataset",
    "is_arff",
    "load",
    "load_digits_segments",
    "load_openml",
    "make_dependent",
    "read_arff",
]
