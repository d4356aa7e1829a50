"""Arrays that are not NumPy's: torch tensors, CuPy and JAX arrays and whatever follows the array API standard.

They stay on their device. What travels to the host are summaries: a few numbers whatever the number of rows.
"""

import sys
from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from choral._optional import require

Namespace = Any  # of the array API standard, which has no types to say so
Array = Any

NUMPY = (np.ndarray, np.generic)
SILENT = (("torch", "Tensor"), ("cupy", "ndarray"))
HOST_MEMORY = 1  # kDLCPU, a device type of DLPack
NARROWER = {"float64": np.float32, "int64": np.int32}  # for devices without 64 bits


def namespace_of(*arrays: Array) -> Namespace | None:
    """The array API namespace of arrays, or None where NumPy serves: lists, frames, NumPy and SciPy.

    Lists and NumPy arrays beside a foreign array are no matter here; two foreign kinds are refused.
    """
    namespaces = {_namespace_of_kind(array) for array in arrays if is_foreign(array)}
    if not namespaces:
        return None
    if len(namespaces) > 1:
        names = sorted(namespace.__name__.removeprefix("array_api_compat.") for namespace in namespaces)
        raise TypeError(f"arrays must come from one library; got {' and '.join(names)}.")
    return namespaces.pop()


def _namespace_of_kind(array: Array) -> Namespace:
    """The namespace of an array; it is that of all arrays of its type, and finding it takes a while."""
    kind = type(array)
    found = _NAMESPACES.get(kind)
    if found is None:
        found = _NAMESPACES[kind] = _compat().array_namespace(array)
    return found


_NAMESPACES: MutableMapping[type, Namespace] = WeakKeyDictionary()


def xp_of(array: Array) -> Namespace:
    """The namespace of one array; NumPy follows the standard as well."""
    return namespace_of(array) or np


def is_foreign(array: Array) -> bool:
    """Whether an array is of another library than NumPy."""
    kind: Any = type(array)
    return _is_foreign_kind(kind)


@lru_cache(maxsize=256)
def _is_foreign_kind(kind: type) -> bool:
    if issubclass(kind, NUMPY):
        return False
    # Some do not say their namespace by themselves; where there is one of them, its library has been imported.
    silent = tuple(getattr(sys.modules.get(library), name, ()) for library, name in SILENT)
    return hasattr(kind, "__array_namespace__") or issubclass(kind, silent)


def _is_torch(array: Array) -> bool:
    return isinstance(array, getattr(sys.modules.get("torch"), "Tensor", ()))


def first_foreign(*arrays: Array) -> Array | None:
    """The first array that is not NumPy's, if there is one: the others go where it is."""
    return next(filter(is_foreign, arrays), None)


def read_in_place(array: Array) -> Array:
    """A foreign array as it will be read: NumPy's view of it where there is one, else itself without gradients.

    Arrays in the memory of the host are NumPy's as well, without a copy, and NumPy is quicker there: its sort takes a
    tenth of the time of torch's.
    """
    if not is_foreign(array):
        return array
    array = array.detach() if getattr(array, "requires_grad", False) else array
    view = host_view(array)
    return array if view is None else view


def host_view(array: Array) -> np.ndarray | None:
    """A foreign array as NumPy's, without a copy; None where it lies elsewhere, or NumPy does not know its numbers."""
    try:
        if not is_in_host_memory(array):
            return None  # JAX would copy it to the host without a word
        view = np.asarray(array)
    except (BufferError, RuntimeError, TypeError, ValueError):
        return None
    return view if view.dtype.kind in "buif" else None


def is_in_host_memory(array: Array) -> bool:
    """Whether a foreign array lies in the memory of the host."""
    if _is_torch(array) and array.is_cuda:  # the answer in terms of DLPack takes torch five times as long
        return False
    return array.__dlpack_device__()[0] == HOST_MEMORY


def to_host(array: Array) -> np.ndarray:
    """A small array as NumPy's: the one place where numbers leave their device. What is on the host stays as it is."""
    if not is_foreign(array):
        return array
    if _is_torch(array):
        array = array.detach().cpu()
        return (array.float() if array.dtype == xp_of(array).bfloat16 else array).numpy()
    if _compat().is_cupy_array(array):
        return array.get()
    if _compat().is_jax_array(array):
        return np.asarray(array)
    host = xp_of(array).__array_namespace_info__().default_device()
    return np.asarray(_compat().to_device(array, host))


def to_device_of(array: np.ndarray, like: Array) -> Array:
    """A small NumPy array beside another array, in its namespace."""
    if array.dtype.name in NARROWER and array.dtype.name not in _dtypes(like):
        array = array.astype(NARROWER[array.dtype.name])
    # A copy in order: torch would share memory with NumPy's, warn of what is read-only, and refuse negative strides.
    return xp_of(like).asarray(np.array(array, order="C"), device=device_of(like))


def to_device(array: Array, like: Array) -> Array:
    """An array beside another one of its own library."""
    return _compat().to_device(array, device_of(like))


def to_library_of(array: Array, like: Array) -> Array:
    """A small array where another one is: NumPy's goes to the device of a foreign one, all else stays."""
    return to_device_of(array, like) if is_foreign(like) and not is_foreign(array) else array


class Widest(NamedTuple):
    """The widest numbers that a device has: 64 bits but for some accelerators."""

    real: Any
    integer: Any


def widest(like: Array) -> Widest:
    """The types to add up in, where an array is."""
    if not is_foreign(like):
        return Widest(np.float64, np.int64)
    xp, known = xp_of(like), _dtypes(like)
    return Widest(known.get("float64", xp.float32), known.get("int64", xp.int32))


def as_real(array: Array) -> Array:
    """Numbers as the widest floats of their device; SciPy's sparse matrices as well."""
    if hasattr(array, "tocsr"):
        return array.astype(float, copy=False)
    return xp_of(array).astype(array, widest(array).real, copy=False)


def look_up(table: np.ndarray, indices: Array) -> Array:
    """The entries of a small table at indices of any shape, wherever these are."""
    xp = namespace_of(indices)
    if xp is None:
        return table[indices]
    entries = xp.take(to_device_of(table, indices), xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(entries, indices.shape)


def concatenate(parts: Iterable[Array]) -> Array:
    """Arrays of some rows each as one array."""
    parts = list(parts)
    return parts[0] if len(parts) == 1 else xp_of(parts[0]).concat(parts)


def rows_times(matrix: Array, vector: np.ndarray) -> Array:
    """Each row times a small vector, for NumPy's and SciPy's matrices as well.

    Written as a sum for foreign arrays: integers have no matrix product on a GPU, and some devices round the factors of
    one to ten bits.
    """
    if not is_foreign(matrix):
        return matrix @ vector
    product = matrix * to_device_of(vector, matrix)
    return xp_of(matrix).sum(product, axis=1, dtype=product.dtype)


def reversed_sums(steps: Array) -> Array:
    """Entry i of a row is the sum of its entries i, i + 1, ...: the nested sets of a sorted integral."""
    xp = namespace_of(steps)
    if xp is None:
        return np.cumsum(steps[:, ::-1], axis=1)[:, ::-1]
    return xp.flip(xp.cumulative_sum(xp.flip(steps, axis=1), axis=1, dtype=steps.dtype), axis=1)


def refuse_sparse(name: str, array: Array) -> None:
    """Refuse torch's sparse tensors, which know little of the standard."""
    if _is_torch(array) and str(array.layout) != "torch.strided":
        raise ValueError(f"{name} must be dense; got a tensor of layout {array.layout}.")


def device_of(array: Array) -> Any:
    """Where an array lies, in the words of its library."""
    return array.device if _is_torch(array) else _compat().device(array)


def _dtypes(like: Array) -> dict[str, Any]:
    """The signed numbers that a device has, by name."""
    find = _find_dtypes_once if _is_torch(like) else _find_dtypes  # settings of others may change
    return find(xp_of(like), device_of(like))


def _find_dtypes(xp: Namespace, device: Any) -> dict[str, Any]:
    return xp.__array_namespace_info__().dtypes(device=device, kind=("real floating", "signed integer"))


_find_dtypes_once = lru_cache(_find_dtypes)


@lru_cache
def _compat() -> Any:
    return require("array_api_compat", "torch")
