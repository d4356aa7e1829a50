"""What a learner's own code raises or says, in words that any file can hold: its classes may do anything."""

import traceback
from collections.abc import Callable
from typing import Any

MAX_CHARACTERS = 10_000  # of a text: it is kept with each cell, and shown on the page
FAULTS = (Exception, SystemExit)  # a module may end the process that imports it


def describe_fault(error: BaseException) -> str:
    r"""An error in one line.

    Examples
    --------
    >>> describe_fault(KeyError("no\n such thing"))
    "KeyError: 'no\\n such thing'"
    >>> describe_fault(RuntimeError())
    'RuntimeError: no message'
    """
    text = " ".join(text_of(error).split()) or "no message"
    return f"{type(error).__name__}: {text}"


def describe_traceback() -> str:
    """Where the error came from that is being handled; of a long text the end."""
    return _encodable(traceback.format_exc())[-MAX_CHARACTERS:]


def text_of(value: Any, convert: Callable[[Any], str] = str) -> str:
    r"""What an object says of itself by ``str`` or ``repr``; of a long text the beginning.

    Examples
    --------
    >>> print(text_of(ValueError("a lone surrogate: \ud800")))
    a lone surrogate: \ud800
    """
    try:
        text = _encodable(convert(value))
        return text if len(text) <= MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}..."
    except FAULTS as error:
        return f"{type(value).__name__}, whose {convert.__name__} raises {type(error).__name__}"


def _encodable(text: str) -> str:
    """The text with lone surrogates escaped: files in UTF-8 cannot hold them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
