"""`make gpu` writes what it measured into docs/gpu.md: nothing else on the page may change."""

from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torchmetrics")
PROJECT = Path(__file__).parents[2]


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.syspath_prepend(PROJECT / "benchmarks")
    return import_module("gpu")


def test_tables_are_put_between_their_marks(gpu, monkeypatch, tmp_path):
    monkeypatch.setattr(gpu, "lines", [("profile, 10 x 2", 0.0003, "bandwidth limit", 0.0002)])
    monkeypatch.setattr(gpu, "memory_lines", [("profile, labels, 10 x 2", 1.024, 1.1)])
    page = tmp_path / "gpu.md"
    page.write_text(f"before\n{gpu.BEGIN}\nold\n{gpu.END}\nafter\n", encoding="utf-8")
    gpu.write_tables("H200", 4.26e12, page)
    first, *written, last = page.read_text(encoding="utf-8").splitlines()
    assert (first, last) == ("before", "after")
    assert "| profile, 10 x 2 | 0.30 ms | bandwidth limit | 0.20 ms | 1.50 |" in written
    assert "| profile, labels, 10 x 2 | 1.02 | 1.1 |" in written
    assert "old" not in written


def test_the_page_has_the_marks(gpu):
    text = gpu.PAGE.read_text(encoding="utf-8")
    assert text.count(gpu.BEGIN) == text.count(gpu.END) == 1
