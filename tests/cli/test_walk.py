"""How many files a reader of `choral evaluate` passes through."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")

SCRIPT = Path(__file__).parents[2] / "scripts" / "walk.py"


def test_the_walk_of_evaluate_passes_through_few_files():
    result = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=True, timeout=60)
    *lines, total = result.stdout.splitlines()
    files = [line for line in lines if not line.startswith(" ")]
    assert total.startswith(f"{len(files)} files, ")
    assert [name for name in files if name.startswith(("__main__", "cli/"))] == [
        "__main__.py",
        "cli/console.py",
        "cli/evaluate.py",
        "cli/options.py",
    ]
    assert len([name for name in files if name.startswith("label_files/")]) <= 3
    # six of them for what togetherness would be if errors were independent, one for what a file may take in memory
    assert len(files) <= 29
