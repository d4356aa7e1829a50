"""Checks of values, vectors and matrices: refused with what was expected, what came, and where; and frozen values.

Labels and predictions that belong together come in by `choral.rows`.
"""

import math
from collections.abc import Hashable, Iterable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral._sparse_parts import check_sparse

LARGEST_WEIGHT = 1e300  # larger ones have no finite sum
SMALLEST_WEIGHT = 1e-290  # if all are smaller, their products with errors lose digits: 5e-324 times 0.25 is 0
ROUNDING = 1e-12  # sums of doubles that should agree may differ by this much
TAGS = "Lists of tags become a matrix by sklearn.preprocessing.MultiLabelBinarizer."
Labels = Any  # a 2-D array, or a SciPy sparse matrix or array in CSR form: SciPy has no types to say so


def check_array(name: str, values: Any) -> Any:
    """Anything but a sparse matrix as an array of whatever shape; a ragged list is refused."""
    return values if sp.issparse(values) else _as_array(name, values)


def check_matrix(name: str, matrix: Any) -> Labels:
    """A numeric matrix with at least one row and one column; sparse input becomes canonical CSR."""
    if sp.issparse(matrix):
        if matrix.ndim != 2:
            raise ValueError(f"{name} must be 2-D; got a sparse array of shape {matrix.shape}.")
        check_sparse(name, matrix)
        by_rows = matrix.tocsr()
        if by_rows is not matrix:
            check_sparse(name, by_rows)  # lists of lists hold whatever they were given
        matrix = _canonical(by_rows)
    else:
        matrix = _as_array(name, matrix)
    check_form(name, matrix, is_numeric=matrix.dtype.kind in "buif")
    return matrix


def check_form(name: str, matrix: Labels, *, is_numeric: bool) -> None:
    """Refuse what is no matrix of numbers with at least one row and one column; the matrix may be of any library."""
    if matrix.ndim != 2:
        raise ValueError(_wrong_dimension(name, matrix))
    if not is_numeric:
        tags = f" {TAGS}" if getattr(matrix.dtype, "kind", "") in "US" else ""
        raise ValueError(f"{name} must hold numbers or booleans; got dtype {matrix.dtype}.{tags}")
    if 0 in matrix.shape:
        raise ValueError(f"{name} must have at least one row and one label; got shape {tuple(matrix.shape)}.")


def check_rows(name: str, rows: Any) -> tuple[np.ndarray, bool]:
    """One row or many, as a 2-D array of floats, and whether it was one."""
    array = _as_array(name, rows)
    single = array.ndim == 1
    array = check_matrix(name, array[np.newaxis] if single else array)
    return array.astype(float, copy=False), single


def check_sample_weight(sample_weight: Any, n_rows: int, *, allow_none: bool = False) -> np.ndarray | None:
    """Finite, non-negative, one for each row, not all zero unless ``allow_none`` is set; None stays None."""
    if sample_weight is None:
        return None
    weights = check_vector("sample_weight", sample_weight)
    if weights.size != n_rows:
        raise ValueError(f"sample_weight must have one entry for each of {n_rows} rows; got {weights.size}.")
    wrong = ~((weights >= 0) & (weights < np.inf))
    refuse_where("sample_weight must be finite and non-negative", "sample_weight", weights, wrong)
    if not allow_none:
        check_any_weight("sample_weight", weights.max())
    if weights.max() > LARGEST_WEIGHT:
        raise ValueError(f"sample_weight must have a finite sum; its largest entry is {weights.max()}.")
    return weights


def check_any_weight(name: str, largest: float) -> None:
    """Refuse weights that have no sum to divide by, judged by the largest one or by the sum.

    Examples
    --------
    >>> check_any_weight("sample_weight", 5e-324)
    Traceback (most recent call last):
    ValueError: sample_weight must have an entry of at least 1e-290, for losses to keep their digits; the largest is
    5e-324. Multiply all of them by one number.
    """
    if not largest:
        raise ValueError(f"{name} must not be zero everywhere.")
    if largest < SMALLEST_WEIGHT:
        raise ValueError(
            f"{name} must have an entry of at least {SMALLEST_WEIGHT}, for losses to keep their digits; "
            f"the largest is {largest}. Multiply all of them by one number."
        )


def check_vector(name: str, vector: Any) -> np.ndarray:
    """A copy of a non-empty 1-D vector of numbers, as floats."""
    array = _as_array(name, vector)
    if array.ndim != 1 or not array.size or array.dtype.kind not in "buif":
        raise ValueError(
            f"{name} must be a non-empty 1-D sequence of numbers; got shape {array.shape}, dtype {array.dtype}."
        )
    return array.astype(float)


def check_distribution(name: str, weights: Any) -> np.ndarray:
    """A copy of a vector of non-negative numbers that sum to 1."""
    weights = check_vector(name, weights)
    refuse_where(f"{name} must be non-negative", name, weights, ~(weights >= 0))
    return weights / check_total(name, weights)


def check_total(name: str, weights: Iterable[float]) -> float:
    """The sum of weights, refused where it is not 1; rounding in the last digit is taken as 1.

    Dividing by it twice is the same as dividing once, so a value made from the weights of another equals it.
    """
    total = math.fsum(weights)
    if not abs(total - 1) <= 1e-9:
        raise ValueError(f"{name} must sum to 1; their sum is {total:.12g}.")
    return 1.0 if abs(total - 1) <= 1e-15 else total


def check_count(name: str, count: Any, *, least: int = 1) -> int:
    """A whole number, at least ``least``."""
    whole = isinstance(count, int | np.integer) or (isinstance(count, float | np.floating) and count.is_integer())
    if not whole or isinstance(count, bool):
        raise ValueError(f"{name} must be a whole number, at least {least}; got {count!r}.")
    if count < least:
        raise ValueError(f"{name} must be at least {least}; got {count}.")
    return int(count)


def to_double(name: str, number: Any) -> float:
    """A real number as a double.

    Examples
    --------
    >>> to_double("alpha", 10**400)
    Traceback (most recent call last):
    ValueError: alpha must be a number below 1.8e+308; it is larger.
    """
    try:
        return float(number)
    except OverflowError as error:  # its digits are not shown: Python refuses to write down more than 4300
        raise ValueError(f"{name} must be a number below 1.8e+308; it is larger.") from error


def refuse_where(
    rule: str, name: str, array: np.ndarray, wrong: np.ndarray, first_row: int = 0, *, remedy: str = ""
) -> None:
    """Raise for the first place where ``wrong`` holds, if there is one; rows are counted from ``first_row``."""
    if wrong.any():
        row, *rest = place = tuple(np.argwhere(wrong)[0])
        where = ", ".join(map(str, [first_row + row, *rest]))
        raise ValueError(f"{rule}; {name}[{where}] is {array[place]}. {remedy}".rstrip())


def refuse_entry_where(
    rule: str, name: str, matrix: Labels, wrong: np.ndarray, first_row: int = 0, *, remedy: str = ""
) -> None:
    """Raise for the first entry of a CSR matrix where ``wrong``, one flag an entry, holds."""
    if wrong.any():
        entry = int(np.argmax(wrong))
        row = first_row + int(np.searchsorted(matrix.indptr, entry, side="right")) - 1
        where = f"{name}[{row}, {matrix.indices[entry]}]"
        raise ValueError(f"{rule}; {where} is {matrix.data[entry]}. {remedy}".rstrip())


def _canonical(matrix: Any) -> Any:
    """Sorted, without duplicates; the caller's matrix stays as it is."""
    if matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def _as_array(name: str, values: Any) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"{name} must not be masked: its masked entries would count as labels.")
    try:
        array = np.asarray(values)
    except ValueError as error:  # a ragged list
        raise ValueError(f"{name} must be a matrix; its rows differ in length ({error}). {TAGS}") from error
    if array.dtype.kind == "V" and np.can_cast(array.dtype, np.float32):  # bfloat16, say, which NumPy does not know
        return array.astype(np.float32)
    return _numbers(name, array) if array.dtype == object else array


def _numbers(name: str, objects: np.ndarray) -> np.ndarray:
    """Objects as floats: a frame of bool and int columns, a list of Fractions; no text."""
    numbers = np.empty(objects.shape)
    for place, value in np.ndenumerate(objects):
        try:
            numbers[place] = math.nan if isinstance(value, str) else value
        except OverflowError:
            to_double(f"{name}[{', '.join(map(str, place))}]", value)
        except (TypeError, ValueError):
            value = str(value)[:40]
        if isinstance(value, str):
            where = ", ".join(map(str, place))
            tags = f" {TAGS}" if objects.ndim == 1 else ""
            raise ValueError(f"{name} must hold numbers or booleans; {name}[{where}] is {value!r}.{tags}")
    return numbers


def _wrong_dimension(name: str, array: Any) -> str:
    expected = f"{name} must be 2-D, of shape (n_samples, n_labels); got {array.ndim}-D of shape {tuple(array.shape)}."
    if array.ndim == 1:
        return f"{expected} A single row is {name}.reshape(1, -1), a single label {name}.reshape(-1, 1)."
    if array.ndim == 3:
        return f"{expected} If it comes from predict_proba of several outputs, see choral.stack_proba."
    return expected


class Value:
    """A value that may hold arrays: read-only, comparable, hashable.

    A frozen dataclass that holds an array is neither comparable nor hashable; this is the little it takes.
    """

    def _freeze(self, **fields: Any) -> None:
        for name, field in fields.items():
            if isinstance(field, np.ndarray):
                # A copy of our own, without negative zeros: equal values have equal bytes.
                field = field + 0 if field.dtype.kind == "f" else field.copy()
                field.flags.writeable = False
            object.__setattr__(self, name, field)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._freeze(**state)  # pickle and copy hand over writable arrays

    def _identity(self) -> Hashable:
        """What two equal values have in common."""
        raise NotImplementedError

    def __setattr__(self, name: str, value: Any) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((type(self), self._identity()))


def listed(numbers: np.ndarray) -> str:
    """Numbers as a short list, for ``repr``."""
    shown = [f"{number:.6g}" for number in (numbers if numbers.size <= 12 else numbers[:4])]
    if numbers.size > 12:
        shown += ["...", f"{numbers[-1]:.6g}"]
    return f"[{', '.join(shown)}]"
