"""Label matrices from files: CSV, TSV, NPY, NPZ and Parquet, also lists of tags, none of them trusted; and into files.

Nothing is unpickled, sizes are compared with what the file really holds before anything is allocated, and
whatever is wrong with a file is one line that says where.
"""

from choral.label_files.reading import (
    SUFFIXES,
    ComparedOptions,
    ComparedPaths,
    align_all,
    are_in_parts,
    check_separator,
    label_stem,
    label_suffix,
    list_parts,
    read_compared,
    read_labels,
)
from choral.label_files.table import (
    LabelTable,
    align,
    check_row_weights,
    check_scores,
    check_truth,
    choose_columns,
    match_names,
)
from choral.label_files.writing import WRITTEN_SUFFIXES, check_written_suffix, write_labels

__all__ = [
    "SUFFIXES",
    "WRITTEN_SUFFIXES",
    "ComparedOptions",
    "ComparedPaths",
    "LabelTable",
    "align",
    "align_all",
    "are_in_parts",
    "check_row_weights",
    "check_scores",
    "check_separator",
    "check_truth",
    "check_written_suffix",
    "choose_columns",
    "label_stem",
    "label_suffix",
    "list_parts",
    "match_names",
    "read_compared",
    "read_labels",
    "write_labels",
]
