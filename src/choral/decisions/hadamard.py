r"""The Walsh-Hadamard transform of functions on all 2^K sets of labels; label i is bit i of a set's index.

.. math:: \hat{f}(S) = \sum_T (-1)^{|S \cap T|} f(T)

It turns a convolution over bit vectors, :math:`\sum_T f(T) \, g(T \oplus S)`, into a product. Some labels at a time are
one product with a small Hadamard matrix: on 2^20 numbers five times as fast as one label a pass. Matrix products are
what every array library has, on every device.
"""

import math
from functools import cache

import numpy as np
from scipy.linalg import hadamard

from choral._array_api import Array, is_foreign, to_library_of, xp_of
from choral.rows.gpu import serves

LABELS_PER_PASS = 5


def hadamard_transform(table: Array) -> Array:
    """Transform each row of 2^K numbers, in a new array; twice makes 2^K times the original.

    Arrays that are not NumPy's stay on their device and keep their floating-point type.
    """
    if serves(table):
        from choral.rows.gpu import walsh, walsh_double

        if walsh.serves_table(table):
            return walsh.hadamard_transform(table)
        if walsh_double.serves_doubles(table):
            return walsh_double.transform_doubles(table)
    return _by_products(table)


def _by_products(table: Array) -> Array:
    xp = xp_of(table)
    shape, n_labels = table.shape, table.shape[-1].bit_length() - 1
    for first in range(0, n_labels, LABELS_PER_PASS):
        matrix = _matrix_for(table, min(LABELS_PER_PASS, n_labels - first))
        if first == 0:
            table = xp.reshape(table, (-1, matrix.shape[0])) @ matrix
        else:
            table = xp.matmul(matrix, xp.reshape(table, (-1, matrix.shape[0], 1 << first)))
    return xp.reshape(table, shape)


def _matrix_for(table: Array, n_labels: int) -> Array:
    matrix = to_library_of(_hadamard_matrix(n_labels), table)
    return xp_of(table).astype(matrix, table.dtype) if is_foreign(table) else matrix


@cache
def _hadamard_matrix(n_labels: int) -> np.ndarray:
    return hadamard(1 << n_labels).astype(float)


def transform_by_size(values: np.ndarray) -> np.ndarray:
    r"""The transform of a function of the size alone, which is one too: K + 1 numbers in, K + 1 out.

    With s = |S|, of the sets of j labels :math:`\sum_i (-1)^i \binom{s}{i} \binom{K - s}{j - i}` more have an even than
    an odd number of labels in S (the Krawtchouk polynomials).
    """
    return _even_surplus(len(values) - 1) @ values


@cache
def _even_surplus(n_labels: int) -> np.ndarray:
    surplus = [
        [
            sum((-1) ** i * math.comb(size, i) * math.comb(n_labels - size, j - i) for i in range(min(j, size) + 1))
            for j in range(n_labels + 1)
        ]
        for size in range(n_labels + 1)
    ]
    return np.array(surplus, dtype=float)
