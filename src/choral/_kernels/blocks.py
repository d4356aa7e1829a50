"""What walks over dense and over sparse matrices share: the form of a block, and whether values are labels."""

from typing import Any, NamedTuple

import numpy as np


class ErrorBlock(NamedTuple):
    """The label-wise errors |y - s| of some rows: counted for hard predictions, in full for scores."""

    rows: slice
    wrong: np.ndarray | None  # (n_rows,) number of wrong labels, or None for scores
    errors: Any  # (n_rows, n_labels), an array valid until the next block, or CSR; None for hard


def all_binary(block: np.ndarray) -> bool:
    """Whether every value is 0 or 1."""
    if not block.size:
        return True
    kind = block.dtype.kind
    if kind == "b":
        return True
    if kind == "u":
        return bool(block.max() <= 1)
    if kind == "i":
        if block.flags.c_contiguous:  # read as unsigned, a negative number is a huge one: one pass, not two
            return bool(block.view(block.dtype.str.replace("i", "u")).max() <= 1)
        return bool(block.min() >= 0 and block.max() <= 1)
    return bool(((block == 0) | (block == 1)).all())
