"""Code that is compiled where numba is installed.

numba makes trees tens of times faster than NumPy can, and takes 100 MB to install: it is an extra, ``choral[fast]``.
Without it the same trees are grown more slowly. Compiled code is kept on disk, so that only the first process waits.
"""

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from types import ModuleType
from typing import Any


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function when it is first called, to run without the GIL."""
    import numba

    options = {"nogil": True, "error_model": "numpy", **options}
    try:
        return numba.njit(function, cache=True, **options)
    except RuntimeError:  # there is no folder that numba may write to
        return numba.njit(function, **options)


def lean(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function that makes no arrays, and calls only such functions: references are not counted in it.

    numba counts references to arrays by atomic instructions. Where short loops take turns with views of arrays, that
    is most of the time: trees on sparse features are grown five times as fast without.
    """
    try:
        return compiled(function, _nrt=False, **options)
    except KeyError:  # a version of numba that does not know this option, which is not documented
        return compiled(function, **options)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, compiled into the functions that call it: a call with many arrays takes longer than a short loop."""
    return lean(function, forceinline=True)


@lru_cache
def find_kernel(name: str) -> ModuleType | None:
    """A module of compiled functions in this room, or None without numba."""
    try:
        return import_module(f"choral.trees.{name}")
    except ModuleNotFoundError as error:
        if error.name != "numba":
            raise  # installed, but broken
        return None
