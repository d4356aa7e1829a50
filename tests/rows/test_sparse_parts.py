"""Sparse matrices that users pass in: refused where compiled code would read or write beyond their parts."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from choral import evaluate, hamming_loss

LABELS = np.array([[1, 0, 1, 0], [0, 1, 0, 0]])
FAR = 10**7


def with_parts(layout, **parts):
    """A matrix some of whose parts were changed after SciPy had looked at them."""
    matrix = sp.csr_matrix(LABELS).asformat(layout)
    for name, part in parts.items():
        setattr(matrix, name, np.asarray(part))
    return matrix


def without_entries():
    matrix = sp.csr_array((2, 4))
    matrix.indptr[1] = FAR
    return matrix


def lists_that_lie():
    matrix = sp.lil_array(LABELS)
    matrix.rows[0] = [0, FAR]
    return matrix


DAMAGED = [
    (without_entries, "the index pointer must not fall; it goes from 10000000 to 0 at row 1."),
    (lists_that_lie, "column indices must lie in 0 to 3; index 1 is 10000000."),
    (
        lambda: with_parts("csr", indptr=[0, FAR, 3]),
        "the index pointer must not fall; it goes from 10000000 to 3 at row 1.",
    ),
    (
        lambda: with_parts("csr", indptr=[0.0, 2.0, 3.0]),
        "the index pointer must hold whole numbers; got dtype float64.",
    ),
    (lambda: with_parts("csr", indices=[0, 2, FAR]), "column indices must lie in 0 to 3; index 2 is 10000000."),
    (lambda: with_parts("csc", indices=[0, -1, 1]), "row indices must lie in 0 to 1; index 1 is -1."),
    (lambda: with_parts("csr", data=np.ones(1)), "there must be an index for each of 1 entries; got shape (3,)."),
    (lambda: with_parts("bsr", indices=[0, FAR, 2]), "column indices must lie in 0 to 3; index 1 is 10000000."),
    (lambda: with_parts("coo", row=[0, 0, FAR]), "row indices must lie in 0 to 1; index 2 is 10000000."),
    (lambda: with_parts("csr", indices=[0.0, 2.0, 1.0]), "column indices must hold whole numbers; got dtype float64."),
]


@pytest.mark.parametrize(("damage", "message"), DAMAGED)
def test_damaged_matrices_are_refused(damage, message):
    with pytest.raises(ValueError, match=re.escape(f"y_true is a damaged sparse matrix: {message}")):
        hamming_loss(damage(), sp.csr_array(LABELS))
    with pytest.raises(ValueError, match=re.escape(f"is a damaged sparse matrix: {message}")):
        evaluate(sp.csr_array(LABELS), {"model": damage()})


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_whole_matrices_are_read(layout):
    for container in (sp.csr_array, sp.csr_matrix):
        assert hamming_loss(container(LABELS).asformat(layout), LABELS) == 0


def test_room_for_more_entries_is_no_damage():
    matrix = sp.csr_array(LABELS)
    matrix.indices, matrix.data = np.append(matrix.indices, [FAR]), np.append(matrix.data, [7])
    matrix.indices[-1] = 0
    assert hamming_loss(matrix, sp.csr_array(LABELS)) == 0
