"""Text that comes from files or from users, made fit to be shown."""


def printable(text: str) -> str:
    r"""Show control characters instead of obeying them.

    Examples
    --------
    >>> print(printable("red \x1b[31m, and a\nnew line"))
    red \x1b[31m, and a\nnew line
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
