"""The recipes of docs/pytorch.md run as they stand there, without a network."""

import re
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

PAGE = Path(__file__).parents[2] / "docs" / "pytorch.md"
pytestmark = pytest.mark.filterwarnings("default")  # what other packages say of each other is not our error


def run_recipe(heading, folder, monkeypatch):
    """What the names of a recipe stand for after it has run in a folder of its own."""
    monkeypatch.chdir(folder)
    (section,) = re.findall(rf"^## {heading}$(.*?)(?=^## )", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (code,) = re.findall(r"^```python$(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    names = {"__name__": heading}
    torch.manual_seed(0)
    exec(compile(code, f"{PAGE.name}, {heading}", "exec"), names)
    return names


def test_lightning(tmp_path, monkeypatch):
    pytest.importorskip("lightning")
    found = run_recipe("Lightning", tmp_path, monkeypatch)["trainer"].callback_metrics
    assert found["hamming"] < 0.1 < found["subset"] < 0.3  # without training: 0.5 and 1


def test_hugging_face(tmp_path, monkeypatch):
    pytest.importorskip("accelerate")
    pytest.importorskip("transformers")
    found = run_recipe("Hugging Face", tmp_path, monkeypatch)["results"]
    assert found["eval_hamming"] < 0.15 < found["eval_subset"] < 0.5
