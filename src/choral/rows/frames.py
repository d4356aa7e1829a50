"""Frames at the door: read as matrices, and compared by position only where names and orders agree.

Frames of pandas and polars are known by what they can do (``columns`` and ``to_numpy``), so neither is needed.
"""

from typing import Any

import numpy as np


def read_frame(values: Any) -> Any:
    """A frame as an array, with nan for whatever it calls missing; anything else as it is."""
    if not is_frame(values):
        return values
    array = values.to_numpy()
    if array.dtype == object and hasattr(values, "isna"):  # pandas' nullable types
        try:
            return values.to_numpy(dtype=float, na_value=np.nan)
        except (TypeError, ValueError):  # text, of which the door says where it is
            return np.where(values.isna(), np.nan, array)
    return array


def is_frame(values: Any) -> bool:
    """Whether this is a table with named columns."""
    return hasattr(values, "columns") and hasattr(values, "to_numpy")


def check_alignment(y_true: Any, other: Any, name: str) -> None:
    """Refuse two frames whose columns or rows are named otherwise: they would be compared by position."""
    if is_frame(y_true) and is_frame(other):
        _check_columns(list(y_true.columns), list(other.columns), name)
    true_index, index = _index_of(y_true), _index_of(other)
    if true_index is not None and index is not None:
        _check_index(true_index, index, name)


def _check_columns(true: list, columns: list, name: str) -> None:
    if true == columns or len(true) != len(columns) or _are_numbers(true) or _are_numbers(columns):
        return  # of one without names, columns are matched by position; another number of them is a wrong shape
    if set(true) == set(columns):
        raise ValueError(
            f"{name} must have the columns of y_true in the same order; {name}[y_true.columns] puts them so."
        )
    place = next(place for place, pair in enumerate(zip(true, columns, strict=True)) if pair[0] != pair[1])
    raise ValueError(
        f"{name} must have the columns of y_true; column {place} is {columns[place]!r}, that of y_true {true[place]!r}."
    )


def _check_index(true: np.ndarray, index: np.ndarray, name: str) -> None:
    if true.size != index.size or np.array_equal(true, index):
        return
    if set(true.tolist()) == set(index.tolist()):
        raise ValueError(
            f"{name} has the rows of y_true in another order, by its index; {name}.loc[y_true.index] has them in the "
            f"same. If they are in the same order already, pass {name}.to_numpy()."
        )
    if not _are_numbers(true.tolist()) and not _are_numbers(index.tolist()):
        raise ValueError(
            f"{name} must have the index of y_true; its rows are named otherwise. If they are in the same order, pass "
            f"{name}.to_numpy()."
        )


def _index_of(values: Any) -> np.ndarray | None:
    """The names of the rows of a pandas frame or series."""
    index = getattr(values, "index", None)
    return None if index is None or callable(index) else np.asarray(index)


def _are_numbers(names: list) -> bool:
    """Whether these are 0, 1, 2, ...: what columns and rows are called where nobody named them."""
    return names == list(range(len(names)))
