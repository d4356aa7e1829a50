"""Label matrices from files: CSV, TSV, NPY, NPZ and Parquet, none of them trusted.

Nothing is unpickled, sizes are compared with what the file really holds before anything is allocated, and
whatever is wrong with a file is one line that says where.
"""

from choral.label_files.reading import SUFFIXES, ComparedOptions, ComparedPaths, list_parts, read_compared, read_labels
from choral.label_files.table import LabelTable, align, check_row_weights, check_scores, check_truth, match_names

__all__ = [
    "SUFFIXES",
    "ComparedOptions",
    "ComparedPaths",
    "LabelTable",
    "align",
    "check_row_weights",
    "check_scores",
    "check_truth",
    "list_parts",
    "match_names",
    "read_compared",
    "read_labels",
]
