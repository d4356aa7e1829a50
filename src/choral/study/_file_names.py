"""Names of files made from names that nobody has checked: short, portable, and never a way out of the folder."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256

MOST_BYTES = 60  # of one name; a file name has room for 255
JOINT = "--"  # between names: within a name there is at most one hyphen in a row


def slug(name: str) -> str:
    """Letters of any script, digits and underscores of a name, with a hyphen for all that stands between them.

    Examples
    --------
    >>> slug("../Bayes, k = 2"), slug("Größe"), slug("???")
    ('Bayes-k-2', 'Größe', 'unnamed')
    """
    letters = unicodedata.normalize("NFC", name)  # else two ways to write one name would be two names
    joined = re.sub(r"\W+", "-", letters).strip("-")
    return joined.encode(errors="ignore")[:MOST_BYTES].decode(errors="ignore").strip("-") or "unnamed"


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
    shared = Counter(_alike(stem) for stem in stems.values())
    return {key: stem if shared[_alike(stem)] == 1 else f"{stem}{JOINT}{_checksum(key)}" for key, stem in stems.items()}


def _alike(stem: str) -> str:
    return unicodedata.normalize("NFKD", stem).casefold()


def _checksum(key: tuple[str, ...]) -> str:
    return sha256(ascii(key).encode()).hexdigest()[:12]
