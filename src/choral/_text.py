"""Text that comes from files or from users, made fit to be shown in one line."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_CHOICES = 20  # a longer list does not help


def printable(text: str) -> str:
    r"""Show control characters instead of obeying them.

    Examples
    --------
    >>> print(printable("red \x1b[31m, and a\nnew line"))
    red \x1b[31m, and a\nnew line
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: the nearest known one, else all if they are few.

    Examples
    --------
    >>> did_you_mean("fold", ["folds", "seed"])
    "; did you mean 'folds'?"
    >>> did_you_mean("x", ["folds", "seed"])
    '; there are folds, seed.'
    """
    known = [other for other in known if not other.startswith("_")]
    if near := get_close_matches(name, known, n=1) or [other for other in known if other.lower() == name.lower()]:
        return f"; did you mean {near[0]!r}?"
    return f"; there are {', '.join(known)}." if 0 < len(known) <= MAX_CHOICES else "."


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


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence.

    Examples
    --------
    >>> join_names(["birds"]), join_names(["birds", "scene", "yeast"])
    ('birds', 'birds, scene and yeast')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def rows_left_out(number: int) -> str:
    """That some rows, of which no label is known, do not count.

    Examples
    --------
    >>> rows_left_out(1), rows_left_out(2)
    ('1 more row has no known label and is left out.', '2 more rows have no known label and are left out.')
    """
    verb = "has no known label and is" if number == 1 else "have no known label and are"
    return f"{counted(number, 'more row')} {verb} left out."
