"""Label matrices from files: CSV, TSV, NPY, NPZ and Parquet, none of them trusted; and into files.

Nothing is unpickled, sizes are compared with what the file really holds before anything is allocated, and
whatever is wrong with a file is one line that says where.
"""

from choral.label_files.reading import SUFFIXES, ComparedOptions, ComparedPaths, list_parts, read_compared, read_labels
from choral.label_files.table import LabelTable, align, check_row_weights, check_scores, check_truth, match_names
from choral.label_files.writing import WRITTEN_SUFFIXES, check_written_suffix, write_labels

__all__ = [
    "SUFFIXES",
    "WRITTEN_SUFFIXES",
    "ComparedOptions",
    "ComparedPaths",
    "LabelTable",
    "align",
    "check_row_weights",
    "check_scores",
    "check_truth",
    "check_written_suffix",
    "list_parts",
    "match_names",
    "read_compared",
    "read_labels",
    "write_labels",
]
