"""Which files and functions of choral a command walks through: `python scripts/walk.py evaluate true.csv pred.csv`.

Without arguments it walks `choral evaluate` on the README's example. Only calls count, not what runs when a module is
imported. A switch is a call from a function of one file to a function of another.
"""

import contextlib
import io
import sys
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import choral
import choral.__main__

PACKAGE = Path(choral.__file__).parent
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
DEFAULT = ["evaluate", str(EXAMPLES / "true.csv"), str(EXAMPLES / "label_powerset.csv")]


class Walk:
    """Counts calls by function, and switches between files."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str]] = Counter()
        self.switches = 0
        self._stack: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        """What `sys.setprofile` calls at each call and return."""
        place = _place(frame.f_code)
        if place is None:
            return
        if event == "call":
            self.calls[place, frame.f_code.co_qualname] += 1
            self.switches += bool(self._stack) and self._stack[-1] != place
            self._stack.append(place)
        elif event == "return" and self._stack:
            self._stack.pop()

    def files(self) -> list[str]:
        """Files in the order of their first call."""
        return list(dict.fromkeys(place for place, _ in self.calls))


def _place(code: CodeType) -> str | None:
    """The file of a function of choral's; None for others, and for the body of a module or a class."""
    path = Path(code.co_filename)
    if not path.is_relative_to(PACKAGE) or code.co_name == "<module>":
        return None
    return str(path.relative_to(PACKAGE))


def main(arguments: list[str]) -> None:
    """Walk a command once to import what it needs, then once more with the trace on."""
    for traced in (False, True):
        walk = Walk()
        sys.argv = ["choral", *arguments]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            sys.setprofile(walk if traced else None)
            try:
                choral.__main__.main()
            finally:
                sys.setprofile(None)
    for place in walk.files():
        print(place)
        for (of_place, name), count in walk.calls.items():
            if of_place == place:
                print(f"    {name}" + (f" x {count}" if count > 1 else ""))
    print(f"{len(walk.files())} files, {len(walk.calls)} functions, {walk.switches} switches between files")


if __name__ == "__main__":
    main(sys.argv[1:] or DEFAULT)
