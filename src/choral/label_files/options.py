"""What the caller wants of a file, in one value for every reader."""

from collections.abc import Callable
from dataclasses import dataclass

MAX_BYTES = 8 * 2**30
NUMBERS = "buif"  # the kinds of NumPy types that labels, scores and weights may have


@dataclass(frozen=True)
class ReadOptions:
    """How to read a file; `choral.label_files.read_labels` says what each of these means.

    Examples
    --------
    >>> ReadOptions(max_bytes=1000).check_size("huge.npy", 8000)
    Traceback (most recent call last):
    ValueError: huge.npy is too large: 8000 bytes to read, the limit is 1000.
    """

    id_column: str = "id"
    weight_column: str | None = None
    ignored_column: str | None = None
    header: bool | None = None
    max_bytes: int = MAX_BYTES
    progress: Callable[[int, int], None] | None = None

    def check_size(self, source: object, size: int) -> None:
        """Refuse what would take too much memory, before it takes any."""
        if size > self.max_bytes:
            raise ValueError(f"{source} is too large: {size} bytes to read, the limit is {self.max_bytes}.")
