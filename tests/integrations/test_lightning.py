"""The recipe for Lightning runs as it stands on its page."""

import csv
from pathlib import Path

import pytest

from recipe_pages import require, run_page

require("torchmetrics", "lightning", "matplotlib")
torch = require("torch")

pytestmark = pytest.mark.filterwarnings("default")  # what other packages say of each other is not our error


def test_page(tmp_path, monkeypatch, plt):
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    names = run_page("lightning.md")
    found = names["results"]
    assert found["loss/k=1"] < 0.1 < found["loss/subset"] < 0.3  # without training: 0.5 and 1
    folder = Path("logs/lightning_logs/version_0")
    rows = list(csv.DictReader((folder / "metrics.csv").read_text("utf-8").splitlines()))
    losses = [float(row["loss/subset"]) for row in rows if row["loss/subset"]]
    assert len(losses) == 5
    assert losses[-1] == pytest.approx(float(found["loss/subset"]))
    (tested,) = [float(row["test/loss/subset"]) for row in rows if row["test/loss/subset"]]
    assert tested == pytest.approx(losses[-1])
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    losses = names["calibrator"].left_out_losses("subset")
    assert losses["cut"] == pytest.approx(tested, abs=1e-6)
    assert losses["joint"] < losses["cut"] - 0.03
