"""The one door for data: labels and predictions of any kind in, checked blocks of errors out.

`open_rows` chooses among dense, sparse, device and Dask; what a block looks like is all that losses and profiles know.
"""

from choral.rows.blocks import CorrectBlock, ErrorBlock, KnownBlock, PairBlock, Rows
from choral.rows.door import add_up, column_names, open_rows, row_names

__all__ = [
    "CorrectBlock",
    "ErrorBlock",
    "KnownBlock",
    "PairBlock",
    "Rows",
    "add_up",
    "column_names",
    "open_rows",
    "row_names",
]
