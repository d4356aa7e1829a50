"""The lock of a study's folder: one study at a time runs in it, and writes its tables and figures there.

The operating system holds the lock and lets it go when the process ends, however it ends: after a kill there is nothing
to clean up, and containers that share the folder see it too. What is written into the file, who holds the lock since
when, is for people alone. Where a file system knows no locks, a study runs without one.
"""

import errno
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from choral._text import printable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0)  # Windows has it not
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}
TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # the last is what Windows says
FAR = 2**30  # the byte that is locked: Windows does not let others read what is locked
_held: set[int] = set()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock in a file, which is made for it and removed in the end.

    Raises
    ------
    BlockingIOError
        If another process, or another thread of this one, holds it.
    """
    descriptor = _open_locked(path)
    _held.add(descriptor)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps(_owner()).encode())
        yield
    finally:
        _held.discard(descriptor)
        _remove(path, descriptor)


def _open_locked(path: Path) -> int:
    """Open and lock a file; once more if whoever held the lock before has removed the file meanwhile."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | NOT_FOLLOWED, 0o666)
        try:
            _lock(descriptor)
            if _is_at(path, descriptor):
                return descriptor
        except OSError as error:
            os.close(descriptor)
            if error.errno in TAKEN:
                raise BlockingIOError(_describe_owner(path)) from None
            raise OSError(f"{path} cannot be locked: {error.strerror or error}.") from error
        os.close(descriptor)


def _lock(descriptor: int) -> None:
    try:
        if sys.platform == "win32":
            os.lseek(descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove(path: Path, descriptor: int) -> None:
    """Remove the file, then let the lock go; Windows removes no file that is open."""
    if sys.platform == "win32":
        with suppress(OSError):  # a file system may know no locks
            os.lseek(descriptor, FAR, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)
        with suppress(OSError):  # another process has it now
            path.unlink()
        return
    with suppress(OSError):  # the folder may be gone
        path.unlink()
    os.close(descriptor)


def _owner() -> dict[str, str | int]:
    return {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().isoformat(sep=" ", timespec="seconds"),
    }


def _describe_owner(path: Path) -> str:
    """Who holds a lock, and what to do about it."""
    who, remedy = "another process runs it", ""
    with suppress(OSError, ValueError, TypeError, KeyError, RecursionError):  # it may just begin, or end
        owner = json.loads(path.read_bytes())
        who = printable(f"process {owner['process']} on {owner['host']} has been running it since {owner['since']}")
        if owner["host"] != socket.gethostname():
            remedy = f"; if that host is no longer there, remove {path}"
    return f"a study is running in {path.parent}: {who}. Wait until it has ended, or choose another folder{remedy}."


def _close_copies() -> None:
    """In a forked process: else it would hold the lock when its parent has ended."""
    for descriptor in _held:
        os.close(descriptor)
    _held.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_close_copies)
