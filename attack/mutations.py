"""Small damages to text, bytes, JSON values and NumPy files: each takes a generator, and changes one thing or a few."""

import io
import json
import struct
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

NUMBERS = (
    *("0", "-0", "1", "-1", "2", "0.5", "1e400", "-1e400", "1e-400", "5e-324", "nan", "inf", "-inf", "NaN"),
    *("+1", "1_0"),
    *("2147483648", "-2147483649", "9223372036854775808", "1" * 400, "0x10", "٣", "²", "1e", ".", "1..2", "", " ", "?"),
)
ODD_TEXT = (
    *("\x00", "\ufeff", "\u2028", "\u202eabc", "é", "\ud800", "'", '"', "\\", "\\'", "%", "#", "{", "}", "["),
    *("]",),
    *(",", ";", "\t", "\r", "\n", "\r\n", "|", "=", "=1+1", "<b>", "</script>", "../..", "a" * 3000, "'" * 500),
    *('""' * 500,),
)
MAX_SIZE = 200_000  # characters or bytes: the attack is by small files
EXTREME_INTEGERS = (
    *(0, 1, -1, 2, 7, 255, 2**15, 2**31 - 1, 2**31, -(2**31), 10**7, 10**9, 10**12, 2**62, 2**63 - 1, -(2**63)),
)
JSON_VALUES = (
    *(None, True, False, 0, 1, -1, 0.5, 1e308, 10**400, 2**63, "", "x", "<img src=x onerror=attack()>"),
    *("../../x", "=1+1"),
    *([], {}, [[]], [None], ["<img src=x onerror=attack()>"], {"": 0}, {"a": {"b": []}}, [0] * 50),
    *("é\u202e\x00", "a" * 2000),
)


def pick(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


def some(rng: np.random.Generator, change: Callable[[np.random.Generator, Any], Any], value: Any, most: int = 4) -> Any:
    """Change a value once, mostly, or a few times."""
    for _ in range(int(rng.integers(1, most + 1)) if rng.random() < 0.4 else 1):
        value = change(rng, value)
    return value


def _span(rng: np.random.Generator, size: int) -> tuple[int, int]:
    start = int(rng.integers(size + 1))
    return start, min(size, start + int(rng.geometric(0.15)))


def change_bytes(rng: np.random.Generator, content: bytes) -> bytes:
    """Flip bits, overwrite, remove, repeat or cut off."""
    content, (start, stop) = bytearray(content), _span(rng, len(content))
    match int(rng.integers(6)):
        case 0 if content:
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        case 1:
            content[start:stop] = rng.bytes(stop - start)
        case 2:
            del content[start:stop]
        case 3:
            content[start:start] = content[start:stop] * int(rng.integers(1, 20))
        case 4:
            del content[start:]
        case _:
            number = pick(rng, EXTREME_INTEGERS) % 2**64
            content[start : start + 8] = struct.pack("<Q", number)[: int(pick(rng, (1, 2, 4, 8)))]
    return bytes(content[:MAX_SIZE])


def change_text(rng: np.random.Generator, text: str, words: Sequence[str] = ()) -> str:
    """Change lines, cells or characters of a text; ``words`` mean something in its format."""
    if rng.random() < 0.35:
        return _change_lines(rng, text)
    start, stop = _span(rng, len(text))
    if rng.random() < 0.6:  # a whole token instead
        tokens = _tokens(text)
        if tokens:
            start, stop = pick(rng, tokens)
    match int(rng.integers(6)):
        case 0:
            new = pick(rng, NUMBERS)
        case 1:
            new = pick(rng, ODD_TEXT)
        case 2 if words:
            new = pick(rng, words)
        case 3:
            new = text[start:stop] * int(rng.integers(2, 200))
        case 4:
            new = ""
        case _:
            other = pick(rng, _tokens(text) or [(0, 0)])
            new = text[other[0] : other[1]]
    return (text[:start] + new + text[stop:])[:MAX_SIZE]


def _tokens(text: str) -> list[tuple[int, int]]:
    found, start = [], None
    for place, character in enumerate(f"{text} "):
        if character.isalnum() or character in "._-@":
            start = place if start is None else start
        elif start is not None:
            found.append((start, place))
            start = None
    return found


def _change_lines(rng: np.random.Generator, text: str) -> str:
    lines = text.splitlines(keepends=True) or [""]
    start, stop = _span(rng, len(lines))
    match int(rng.integers(5)):
        case 0:
            del lines[start:stop]
        case 1:
            lines[start:start] = lines[start:stop] * int(rng.integers(1, 30))
        case 2:
            other = int(rng.integers(len(lines)))
            lines[start:start] = [lines[other]]
        case 3:
            lines = [*lines[start:], *lines[:start]]
        case _:
            del lines[start:]
    return "".join(lines)[:MAX_SIZE]


def change_json(rng: np.random.Generator, value: Any) -> Any:
    """Replace, remove, repeat or nest a part of a value, chosen at any depth."""
    value = deepcopy(value)
    holders = list(_holders(value))
    if not holders:
        return pick(rng, JSON_VALUES)
    holder = pick(rng, holders)
    key = pick(rng, list(holder) if isinstance(holder, dict) else range(len(holder)))
    match int(rng.integers(7)):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, list):
            holder[key:key] = [deepcopy(holder[key])] * int(rng.integers(1, 5))
        case 2:
            holder[key] = [holder[key]]
        case 3:
            other = pick(rng, holders)
            holder[key] = deepcopy(pick(rng, list(other.values()) if isinstance(other, dict) else other))
        case 4 if isinstance(holder, dict):
            holder[str(pick(rng, ODD_TEXT))] = holder.pop(key)
        case _:
            holder[key] = deepcopy(pick(rng, JSON_VALUES))
    return value


def _holders(value: Any) -> Any:
    if isinstance(value, dict | list) and value:
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _holders(part)


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def npy_bytes(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def change_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    """Extreme numbers, another type, another shape."""
    array = array.copy()
    match int(rng.integers(7)):
        case 0 | 1 | 2 if array.size and array.dtype.kind in "iufb":
            numbers = EXTREME_INTEGERS if array.dtype.kind in "iu" else (np.nan, np.inf, -np.inf, 1e308, 5e-324, -1, 2)
            with np.errstate(all="ignore"):
                for _ in range(int(rng.integers(1, 4))):
                    array.flat[int(rng.integers(array.size))] = np.array(pick(rng, numbers)).astype(array.dtype)
        case 3:
            with suppress(ValueError, TypeError, RuntimeError), np.errstate(all="ignore"), catch_warnings():
                simplefilter("ignore")
                return array.astype(
                    pick(rng, ("f2", "f4", "f8", "i1", "u8", ">i4", "?", "c16", "S3", "U2", "M8[s]", "g"))
                )
        case 4:
            return array.ravel()[: int(rng.integers(array.size + 1))]
        case 5:
            return array.reshape(pick(rng, ((-1, 1), (1, -1), (-1,), (*array.shape, 1))))
        case _:
            return np.concatenate([array.ravel()] * int(rng.integers(1, 5)))
    return array


def change_npy(rng: np.random.Generator, array: np.ndarray) -> bytes:
    """Change the array, the shape or the type that the header announces, or any byte."""
    if rng.random() < 0.4:
        return npy_bytes(some(rng, change_array, array))
    return some(rng, _change_header if rng.random() < 0.7 else change_bytes, npy_bytes(array))


def _change_header(rng: np.random.Generator, content: bytes) -> bytes:
    size = struct.unpack("<H", content[8:10])[0]
    header, rest = content[10 : 10 + size].decode("latin-1"), content[10 + size :]
    numbers = [str(number) for number in EXTREME_INTEGERS]
    words = (*numbers, "'|O'", "'<f8'", "'<U99999'", "'|V8'", "[('a', '<i4')]", "True", "()", "(-1, 4)", "(10**9,)")
    encoded = change_text(rng, header, words).encode("latin-1", "replace")[:60_000]
    return content[:8] + struct.pack("<H", len(encoded)) + encoded + rest


def pack_npz(entries: dict[str, bytes], *, compressed: bool = True) -> bytes:
    """A zip file whose checksums fit."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def change_npz(rng: np.random.Generator, arrays: dict[str, np.ndarray]) -> bytes:
    """Change one entry or a few, its name, or the bytes of the archive."""
    entries = {name: npy_bytes(array) for name, array in arrays.items()}
    if rng.random() < 0.12:
        return some(rng, change_bytes, pack_npz(entries, compressed=bool(rng.integers(2))))
    for _ in range(int(rng.integers(1, 4))):
        name = pick(rng, list(arrays))
        match int(rng.integers(8)):
            case 0:
                entries.pop(name, None)
            case 1:
                entries[pick(rng, (*arrays, "", "../x", "y", "arr_0", "é"))] = entries.pop(name, b"")
            case _:
                entries[name] = change_npy(rng, arrays[name])
    return pack_npz(entries, compressed=bool(rng.integers(2)))
