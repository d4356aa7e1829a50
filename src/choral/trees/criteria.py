"""What both engines that grow trees are given: the target, the criterion, and the constants of C4.5."""

from typing import Literal, NamedTuple

import numpy as np

Criterion = Literal["entropy", "gini", "gain_ratio"]
ENTROPY, GINI, GAIN_RATIO = 0, 1, 2
CRITERIA: dict[str, int] = {"entropy": ENTROPY, "gini": GINI, "gain_ratio": GAIN_RATIO}

SAME_VALUE = np.float32(1e-5)  # C4.5 does not split between values nearer than this
SAME_NUMBER = np.float32(1e-7)  # nor scikit-learn between these
NO_GAIN = 1e-6  # C4.5 ignores gains below this, in bits per row
MAX_ROWS_PER_SIDE = 25.0  # C4.5 asks for 10 % of the node's mean number of rows per class, but for no more than this
AVERAGE_TOLERANCE = 1e-3  # a gain counts as average if it falls short of the average by no more than this

MULTIPLIERS = tuple(map(np.uint64, (0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)))

MAX_EXACT = 2.0**52  # floats hold all whole numbers up to twice this
MAX_TABLE = 1 << 24  # the largest total weight for which c log c is a table
TOTAL_OF_FRACTIONS = 2.0**40  # the total of weights that are no whole numbers, in units
SQUARE_OF_FRACTIONS = 2.0**-30  # squares of such weights are rounded to this many units


class Target(NamedTuple):
    """What a tree learns: several labels of 0 and 1, or one output of several classes.

    Weights are whole numbers of a unit, so that their sums are exact. Sums of ``c * log2(c)`` are whole numbers of
    parts of a bit, `scale` of them in a bit. These are exact too: no order of rows changes them.
    """

    codes: np.ndarray  # (n_outputs, n_rows) of uint16 or uint32
    weighted: np.ndarray  # (n_outputs, n_rows) weights of rows with the label; (1, 0) for classes
    weights: np.ndarray  # (n_rows,) of uint32 or uint64
    n_classes: int
    label_weights: np.ndarray  # (n_outputs,) of float64
    unit: float  # the weight of one unit
    scale: float


class Settings(NamedTuple):
    """How a tree is grown."""

    criterion: int
    least: int  # units of weight in a leaf
    pays: bool  # whether a split pays for being the best of many, as in C4.5; the gain ratio always does
    max_features: int
    seed: int


def make_target(codes: np.ndarray, weights: np.ndarray | None, label_weights: np.ndarray | None = None) -> Target:
    """Put labels or classes into the form in which trees are grown.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_outputs)
        Numbers from 0: labels of 0 and 1, or one output with the class of each row.
    weights : ndarray of shape (n_rows,) or None
        Not negative. Whole numbers are exact; others are rounded to a billionth of a billionth of their sum.
    label_weights : ndarray of shape (n_outputs,), optional
        What each label counts, under the Gini criterion.
    """
    n_rows, n_outputs = codes.shape
    n_classes = max(int(codes.max(initial=0)) + 1, 2)
    whole, unit = _whole_weights(n_rows, weights)
    total = float(whole.sum())
    room = MAX_EXACT / (4 * n_outputs * total * max(np.log2(total), 1))
    by_output = np.ascontiguousarray(codes.T, dtype=np.uint16 if n_classes <= 1 << 16 else np.uint32)
    has_labels = n_classes == 2
    return Target(
        codes=by_output,
        weighted=by_output.astype(whole.dtype) * whole if has_labels else np.zeros((1, 0), dtype=whole.dtype),
        weights=whole,
        n_classes=n_classes,
        label_weights=np.ones(n_outputs) if label_weights is None else label_weights,
        unit=unit,
        scale=float(2.0 ** np.floor(np.log2(room))),
    )


def _whole_weights(n_rows: int, weights: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Weights as whole numbers of a unit, and that unit."""
    if weights is None:
        return np.ones(n_rows, dtype=np.uint32), 1.0
    if np.all(weights == np.rint(weights)) and weights.sum() <= MAX_TABLE:
        return weights.astype(np.uint32), 1.0
    unit = float(weights.sum()) / TOTAL_OF_FRACTIONS
    return np.maximum(np.rint(weights / unit), weights > 0).astype(np.uint64), unit


def information_table(target: Target) -> np.ndarray | None:
    """``c * log2(c)`` in parts of a bit for every c up to the total weight; None if that is too long a table."""
    if target.weights.dtype == np.uint64:
        return None
    counts = np.arange(int(target.weights.sum()) + 1, dtype=float)
    return np.rint(counts * np.log2(np.maximum(counts, 1)) * target.scale)


def least_units(min_samples_leaf: int, target: Target) -> int:
    """The least weight of a leaf, in units."""
    units = min_samples_leaf * (1 - 1e-6) / target.unit
    return max(1, int(np.ceil(min(units, MAX_EXACT))))  # more than all rows together have: then the tree is a leaf
