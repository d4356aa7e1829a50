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


def assert_calibrated(calibrator, subset_loss):
    """It saw the logits that the recipe judged, and decides better by them than the threshold does."""
    losses = calibrator.left_out_losses("subset")
    assert losses["cut"] == pytest.approx(float(subset_loss), abs=1e-6)
    assert losses["joint"] < losses["cut"] - 0.03


def test_lightning(tmp_path, monkeypatch):
    pytest.importorskip("lightning")
    names = run_recipe("Lightning", tmp_path, monkeypatch)
    found = names["results"]
    assert found["loss/k=1"] < 0.1 < found["loss/subset"] < 0.3  # without training: 0.5 and 1
    assert_calibrated(names["calibrator"], found["loss/subset"])


def test_hugging_face(tmp_path, monkeypatch):
    pytest.importorskip("accelerate")
    pytest.importorskip("transformers")
    names = run_recipe("Hugging Face", tmp_path, monkeypatch)
    found = names["results"]
    assert found["eval_hamming"] < 0.15 < found["eval_subset"] < 0.5
    assert_calibrated(names["calibrator"], found["eval_subset"])
