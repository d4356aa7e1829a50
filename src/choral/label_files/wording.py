"""Pieces of files, fit for a message of one line."""

from collections.abc import Sequence


def quoted(text: str, limit: int = 40) -> str:
    r"""A piece of a file in quotes, shortened.

    Examples
    --------
    >>> print(quoted("two\nlines"))
    'two\nlines'
    >>> quoted("rather long", limit=6)
    "'rather...'"
    """
    return repr(text if len(text) <= limit else f"{text[:limit]}...")


def some_of(names: Sequence[str], limit: int = 5) -> str:
    """The first few names, and how many more there are.

    Examples
    --------
    >>> some_of(["sea", "sky", "car"], limit=2)
    "'sea', 'sky' and 1 more"
    """
    shown = ", ".join(quoted(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def counted(number: int, noun: str) -> str:
    """A number of things.

    Examples
    --------
    >>> counted(1, "row"), counted(2, "row")
    ('1 row', '2 rows')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def first_line(error: BaseException) -> str:
    r"""What an error says first, or its name if it says nothing.

    Examples
    --------
    >>> first_line(ValueError("Bad magic number.\nSee the manual."))
    'Bad magic number'
    >>> first_line(EOFError())
    'EOFError'
    """
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
