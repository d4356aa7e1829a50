"""Text that comes from files or from users, made fit to be shown."""

from collections.abc import Iterable
from difflib import get_close_matches

MOST_CHOICES = 20  # more are no help


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
    return f"; there are {', '.join(known)}." if 0 < len(known) <= MOST_CHOICES else "."
