"""Transforms of functions on all 2^K sets of labels; label i is bit i of a set's index.

The zeta transform sums over subsets, the Moebius transform undoes it: K * 2^K additions, one label a pass.
"""

import numpy as np

SMALL_STRIDE = 3  # below this label, loop over offsets: runs of 1, 2 or 4 numbers starve a vector loop


def zeta_transform(masses: np.ndarray) -> np.ndarray:
    """Sum over the subsets of each set, in a new array of floats."""
    return _transform(masses, np.add)


def moebius_transform(values: np.ndarray) -> np.ndarray:
    """Masses whose sums over subsets are ``values``, in a new array of floats."""
    return _transform(values, np.subtract)


def _transform(table: np.ndarray, combine: np.ufunc) -> np.ndarray:
    table = np.array(table, dtype=float)
    for label in range(table.size.bit_length() - 1):
        stride = 1 << label
        if label < SMALL_STRIDE:
            for offset in range(stride):
                without, with_label = table[offset :: 2 * stride], table[offset + stride :: 2 * stride]
                combine(with_label, without, out=with_label)
        else:
            pairs = table.reshape(-1, 2, stride)
            combine(pairs[:, 1], pairs[:, 0], out=pairs[:, 1])
    return table


def set_sizes(n_labels: int) -> np.ndarray:
    """The number of labels in each of the 2^K sets."""
    sizes = np.zeros(1 << n_labels, dtype=np.intp)
    for label in range(n_labels):
        stride = 1 << label
        sizes[stride : 2 * stride] = sizes[:stride] + 1
    return sizes


def members_table(indices: np.ndarray, n_labels: int) -> np.ndarray:
    """The sets with these indices as rows of 0 and 1."""
    table = np.empty((len(indices), n_labels), dtype=np.uint8)
    for label in range(n_labels):
        table[:, label] = indices >> label & 1
    return table


def members(index: int) -> tuple[int, ...]:
    """The labels of the set with this index, for messages."""
    return tuple(label for label in range(int(index).bit_length()) if index >> label & 1)
