"""Waiting for processes, as long as it takes: machines are noisy."""

import time
from pathlib import Path

PATIENCE = 90.0  # seconds until a test gives up


def wait_until(condition, what):
    """Wait for a condition, or fail and say what took too long."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} took longer than {PATIENCE} seconds"
        time.sleep(0.02)


def is_alive(pid):
    """Whether a process runs; one that has ended and waits to be asked about does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def lines(path):
    """The whole lines of a file that others write; none unless it is there."""
    return path.read_text().split("\n")[:-1] if path.exists() else []
