"""Run the examples of a page as they stand there."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


def require(*modules):
    """Skip the recipes of tools that are not installed, or give the last module.

    CHORAL_REQUIRE_RECIPES has conftest.py import all of them.
    """
    found = [pytest.importorskip(module, reason=f"{module} is not installed: make with-recipes") for module in modules]
    return found[-1]


def run_page(name, heading=None):
    """What the names of the examples of docs/recipes stand for after they have run, one after the other."""
    text = (PROJECT / "docs" / "recipes" / name).read_text("utf-8")
    if heading is not None:
        (text,) = re.findall(rf"^## {heading}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    examples = re.findall(r"^```python$(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert examples
    names = {"__name__": name}
    for example in examples:
        exec(compile(example, name, "exec"), names)
    return names
