"""How many flags are set in each row of a block: the inner loop of every hard loss."""

import numpy as np

MAX_BYTE_SUM = 255  # a byte counts this far without a carry into its neighbour
EVEN_BYTES = np.uint64(0x00FF00FF00FF00FF)


def count_rows(flags: np.ndarray) -> np.ndarray:
    """Number of True in each row of a C-contiguous boolean array.

    Eight (or four, or two) flags are read as one word. Adding words adds their bytes side by side, without
    a carry as long as a byte counts at most 255; einsum has the least overhead a row of all NumPy's sums.
    """
    n_rows, n_labels = flags.shape
    size = next(size for size in (8, 4, 2, 1) if n_labels % size == 0)
    words = flags.view(f"u{size}")
    counts = np.zeros(n_rows, dtype=np.intp)
    for start in range(0, words.shape[1], MAX_BYTE_SUM):
        sums = np.einsum("ij->i", words[:, start : start + MAX_BYTE_SUM])
        counts += _add_bytes(sums.astype(np.uint64))
    return counts


def _add_bytes(words: np.ndarray) -> np.ndarray:
    """The sum of the eight bytes of each word: pairs of bytes first, then four pairs by one product."""
    pairs = (words & EVEN_BYTES) + ((words >> np.uint64(8)) & EVEN_BYTES)
    return ((pairs * np.uint64(0x0001000100010001)) >> np.uint64(48)).astype(np.intp)
