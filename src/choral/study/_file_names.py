"""Names of files made from names that nobody has checked: short, portable, and never a way out of the folder."""

import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

MOST_CHARACTERS = 40  # of one name
JOINT = "--"  # between names: within a name there is at most one hyphen in a row


def slug(name: str) -> str:
    """Letters, digits and underscores of a name, with a hyphen for all that stands between them.

    Examples
    --------
    >>> slug("../Bayes, k = 2"), slug("???")
    ('Bayes-k-2', 'unnamed')
    """
    return re.sub("[^A-Za-z0-9_]+", "-", name)[: MOST_CHARACTERS + 1].strip("-")[:MOST_CHARACTERS] or "unnamed"


def file_stems(keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """A file name without its ending for each key, a tuple of names, all keys of one length.

    Keys that would share a name, on file systems that ignore case too, have a checksum at its end.

    Examples
    --------
    >>> file_stems([("BR", "LP"), ("a b", "c")])
    {('BR', 'LP'): 'BR--LP', ('a b', 'c'): 'a-b--c'}
    >>> list(file_stems([("a b",), ("A/B",)]).values())
    ['a-b--4b3d642be2af', 'A-B--92ecf8ea1943']
    """
    stems = {key: JOINT.join(map(slug, key)) for key in keys}
    shared = Counter(stem.lower() for stem in stems.values())
    return {key: stem if shared[stem.lower()] == 1 else f"{stem}{JOINT}{_checksum(key)}" for key, stem in stems.items()}


def _checksum(key: tuple[str, ...]) -> str:
    return sha256(ascii(key).encode()).hexdigest()[:12]
