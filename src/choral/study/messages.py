"""Messages from a child process, each under a name, so that nothing else that a learner writes is taken for one."""

import pickle
import struct
from typing import IO, Any

READY = "ready"  # the name of a child's first message
LENGTH = struct.Struct(">Q")


class StrayBytes(ValueError):
    """Something else came than the message that was waited for."""


def send(stream: IO[bytes], name: str, value: Any) -> None:
    """Send a value under a name."""
    content = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(name.encode() + LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes], name: str) -> Any:
    """The value that comes under this name.

    Raises
    ------
    EOFError
        Where the stream ends first.
    StrayBytes
        Where something else comes. Nothing is waited for then: a length is believed only after the name.
    """
    expected = name.encode()
    head = _read(stream, len(expected) + LENGTH.size)
    if not head.startswith(expected):
        raise StrayBytes(f"expected the message {name}; got {head[: len(expected)]!r}.")
    content = _read(stream, LENGTH.unpack(head[len(expected) :])[0])
    try:
        return pickle.loads(content)
    except Exception as error:  # of any kind, where something was written into the midst of it
        raise StrayBytes(f"the message {name} cannot be read, {type(error).__name__}: {error}.") from error


def _read(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content
