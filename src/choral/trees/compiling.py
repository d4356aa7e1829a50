"""Code that is compiled where numba is installed.

numba makes trees tens of times faster than NumPy can, and takes 100 MB to install: it is an extra, ``choral[fast]``.
Without it the same trees are grown more slowly. Compiled code is kept on disk, so that only the first process waits.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any


def compiled(function: Callable[..., Any], *, inlined: bool = False) -> Callable[..., Any]:
    """Compile a function when it is first called, to run without the GIL."""
    import numba

    options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "forceinline": inlined}
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # there is no folder that numba may write to
        return numba.njit(function, **options)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function into those that call it: a call with many arrays takes longer than a short loop."""
    return compiled(function, inlined=True)


@lru_cache
def find_kernel(name: str) -> ModuleType | None:
    """A module of compiled functions in this room, or None without numba."""
    try:
        return import_module(f"choral.trees.{name}")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise  # installed, but broken
        return None
