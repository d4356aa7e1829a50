"""Label matrices from files: CSV, TSV, NPY, NPZ and Parquet, none of them trusted.

Nothing is unpickled, sizes are compared with what the file really holds before anything is allocated, and
whatever is wrong with a file is one line that says where.
"""

from choral.label_files.comparing import read_compared
from choral.label_files.parts import ComparedPaths, list_parts
from choral.label_files.reading import read_labels
from choral.label_files.table import LabelTable, align, match_names
from choral.label_files.values import check_scores, check_truth, check_weights

__all__ = [
    "ComparedPaths",
    "LabelTable",
    "align",
    "check_scores",
    "check_truth",
    "check_weights",
    "list_parts",
    "match_names",
    "read_compared",
    "read_labels",
]
