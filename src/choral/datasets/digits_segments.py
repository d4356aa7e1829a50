"""Handwritten digits, labelled with the segments a seven-segment display would light."""

import numpy as np

from choral.datasets.dataset import Dataset

SEGMENT_NAMES = ("top", "top right", "bottom right", "bottom", "bottom left", "top left", "middle")

# The letters a to g go clockwise from the top, g is the middle. Digits differ between displays:
# here 6 has its top bar, 7 has three segments and 9 its bottom bar.
SEGMENTS_OF_DIGITS = (
    "abcdef",  # 0
    "bc",  # 1
    "abdeg",  # 2
    "abcdg",  # 3
    "bcfg",  # 4
    "acdfg",  # 5
    "acdefg",  # 6
    "abc",  # 7
    "abcdefg",  # 8
    "abcdfg",  # 9
)


def load_digits_segments() -> Dataset:
    """Load scikit-learn's handwritten digits with the segments of a seven-segment display as labels.

    Real images with labels that depend on each other strongly: of the 128 sets of segments only 10 occur,
    one per digit (6 with its top bar, 7 with three segments, 9 with its bottom bar).

    Returns
    -------
    dataset : Dataset
        1797 images of 8 x 8 pixels, 7 labels.

    See Also
    --------
    load : Load a data set of the paper.
    make_dependent : Draw data from a known distribution.

    Examples
    --------
    >>> dataset = load_digits_segments()
    >>> dataset.X.shape, dataset.Y.shape
    ((1797, 64), (1797, 7))
    >>> [name for name, lit in zip(dataset.label_names, dataset.Y[1]) if lit]  # the second image is a 1
    ['top right', 'bottom right']
    """
    from sklearn.datasets import load_digits  # brings pandas along where it is installed

    images, digits = load_digits(return_X_y=True)
    segments = np.array([[letter in lit for letter in "abcdefg"] for lit in SEGMENTS_OF_DIGITS], dtype=np.uint8)
    return Dataset(images, segments[digits], SEGMENT_NAMES, "digits-segments")
