"""The data folder: where data sets are looked for, and kept once they are downloaded."""

import os
import sys
from pathlib import Path

VARIABLE = "CHORAL_DATA"


def data_folder() -> Path:
    """The folder that ``CHORAL_DATA`` names, else one of the user's own, where each system keeps such.

    It need not exist. Without ``CHORAL_DATA`` it is ``~/.local/share/choral`` (or in ``XDG_DATA_HOME``) on Linux,
    ``~/Library/Application Support/choral`` on macOS and ``%LOCALAPPDATA%\\choral`` on Windows.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        parent = Path("~/Library/Application Support")
    elif sys.platform == "win32":
        parent = Path(os.environ.get("LOCALAPPDATA") or "~/AppData/Local")
    else:
        parent = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share")
    return parent.expanduser() / "choral"
