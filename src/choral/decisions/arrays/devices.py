"""What a device is good for: double precision, blocks of some size, and the work that is a matter of seconds."""

from collections.abc import Iterator
from typing import Any

from choral._array_api import HOST_MEMORY, Array, device_of, xp_of

HOST_ENTRIES = 1 << 21  # 16 MiB of doubles, as for NumPy
DEVICE_ENTRIES = 1 << 25  # 256 MiB: less is done sooner than it is launched
DEVICE_SPEED = 100  # what an accelerator does in the time in which a processor does 1


def library_of(array: Array) -> str:
    """The name of an array's library, for messages."""
    return type(array).__module__.partition(".")[0]


def speed_of(array: Array) -> int:
    """How many times as fast as a processor an array's device is, roughly."""
    return 1 if _is_host(array) else DEVICE_SPEED


def row_blocks(n_rows: int, entries_a_row: int, like: Array) -> Iterator[slice]:
    """Slices of rows with as many entries each as suit the device of an array."""
    return slices(n_rows, max(1, block_entries(like) // entries_a_row))


def slices(n_rows: int, step: int) -> Iterator[slice]:
    """Slices of at most ``step`` rows, none of which goes beyond the last."""
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def block_entries(like: Array) -> int:
    """How many numbers to compute at a time: a handful of such arrays live together."""
    return HOST_ENTRIES if _is_host(like) else DEVICE_ENTRIES


def _is_host(array: Array) -> bool:
    return array.__dlpack_device__()[0] == HOST_MEMORY


def count_up(n: int, like: Array, dtype: Any = None) -> Array:
    """0, 1, ..., n - 1 beside an array."""
    return xp_of(like).arange(n, dtype=dtype, device=device_of(like))


def check_doubles(array: Array) -> None:
    """Refuse a device without double precision, on which ties could not be told from differences."""
    xp, device = xp_of(array), device_of(array)
    floats = xp.__array_namespace_info__().dtypes(device=device, kind="real floating")
    if floats.get("float64") != xp.float64:  # JAX calls its float32 so unless told otherwise
        raise TypeError(
            f"decisions compare risks to 1e-12 and need float64, which {library_of(array)} has not on {device}; "
            "move the arrays to the CPU, or set jax_enable_x64 in JAX."
        )
