"""The embedded data set has the labels of a seven-segment display."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

from choral.datasets import Dataset, load_digits_segments


@pytest.fixture(scope="module")
def dataset():
    return load_digits_segments()


def test_shapes_and_types(dataset):
    assert dataset.X.shape == (1797, 64)
    assert dataset.Y.shape == (1797, 7)
    assert dataset.Y.dtype == np.uint8
    assert len(dataset.label_names) == 7
    assert dataset.name == "digits-segments"
    assert dataset.feature_names == tuple(f"x{pixel}" for pixel in range(64))
    assert (dataset.n_nominal, dataset.n_numeric) == (0, 64)


def test_ten_label_sets_one_per_digit(dataset):
    digits = load_digits().target
    assert len(np.unique(dataset.Y, axis=0)) == 10
    for digit in range(10):
        assert len(np.unique(dataset.Y[digits == digit], axis=0)) == 1


@pytest.mark.parametrize(
    ("digit", "dark"),
    [
        (0, {"middle"}),
        (1, {"top", "bottom", "bottom left", "top left", "middle"}),
        (2, {"bottom right", "top left"}),
        (3, {"bottom left", "top left"}),
        (4, {"top", "bottom", "bottom left"}),
        (5, {"top right", "bottom left"}),
        (6, {"top right"}),
        (7, {"bottom", "bottom left", "top left", "middle"}),
        (8, set()),
        (9, {"bottom left"}),
    ],
)
def test_dark_segments(dataset, digit, dark):
    row = dataset.Y[load_digits().target == digit][0]
    assert {name for name, lit in zip(dataset.label_names, row, strict=True) if not lit} == dark


def test_a_data_set_is_shown_by_its_numbers_and_names():
    names = tuple("abcdefg")
    data = Dataset(sp.csr_array((3, 9)), np.zeros((3, 7), dtype=np.uint8), names, "letters")
    assert repr(data) == "Dataset('letters', 3 rows, 9 features, 7 labels: 'a', 'b', 'c', 'd', 'e' and 2 more)"
    assert data == data
    assert hash(data) == hash(data)
    assert data != Dataset(data.X, data.Y, names, "letters")  # arrays have no single truth value to compare by
