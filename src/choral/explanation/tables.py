"""Tables as dicts of columns, and values as plain numbers and text for JSON."""

from typing import Any

import numpy as np

TABLES = ("labels", "pairs", "rows", "mistakes", "figures")

Columns = dict[str, Any]  # columns of a table by name: arrays or lists of one length


def check_table(what: str, known: tuple[str, ...]) -> str:
    """Refuse a table that there is not."""
    if what not in known:
        raise ValueError(f"what must be one of {', '.join(map(repr, known))}; got {what!r}.")
    return what


def columns_of(kind: Any, rows: tuple[Any, ...]) -> Columns:
    """Named tuples of one kind as columns."""
    return {name: [getattr(row, name) for row in rows] for name in kind._fields}


def plain(value: Any) -> Any:
    """Arrays, tuples and numbers of NumPy as lists and numbers, nan as None."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind != "f" or np.isfinite(value).all():
            return value.tolist()
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: plain(some) for key, some in value.items()}
    if isinstance(value, list | tuple):
        return [plain(some) for some in value]
    if isinstance(value, float):
        return None if np.isnan(value) else "inf" if value == np.inf else value
    return value if value is None or isinstance(value, bool | int | str) else str(value)
