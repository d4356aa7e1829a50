"""Snippets of README and docs that show no output run as they stand there; examples after `>>>` run as doctests."""

import re
from pathlib import Path

import numpy as np
import pytest

import choral
from choral.paper.examples import FIVE_LABELS

DOCS = Path(__file__).parents[2] / "docs"
RUN_ELSEWHERE = ("five_minutes.md",)  # in tests/cli


def snippets(page):
    found = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [code for code in found if not code.startswith(">>>")]


def names_of_the_guide():
    """The predictions that the page begins with."""
    pytest.importorskip("matplotlib")
    y_true = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [0, 1, 1, 0]])
    return {"y_true": y_true, "apart": 1 - y_true, "together": y_true}


def names_of_decisions():
    """The paper's distribution; an ensemble of three networks for rows of two features."""
    pytest.importorskip("matplotlib")
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    torch.manual_seed(0)
    ensemble = [torch.nn.Linear(2, 4) for _ in range(3)]
    return {"choral": choral, "FIVE_LABELS": FIVE_LABELS, "torch": torch, "ensemble": ensemble, "x": torch.rand(5, 2)}


def names_of_networks():
    """Logits of three networks on test rows, and of one on validation and test rows."""
    rng = np.random.default_rng(0)
    logits, validation_logits, test_logits = (rng.normal(size=shape) for shape in ((3, 9, 4), (80, 4), (9, 4)))
    truth = (validation_logits > 0).astype(int)
    names = {"logits": logits, "validation_logits": validation_logits, "test_logits": test_logits}
    return {"choral": choral, "validation_labels": truth, **names}


def names_of_the_start_page():
    """Three labels: features, predictions, and scores on held-out and on new rows."""
    pytest.importorskip("plotly")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    Y, scores = (X > 0).astype(int), 1 / (1 + np.exp(-X))
    names = {"X": X, "Y": Y, "P": Y, "held_out_scores": scores, "scores": scores[:9], "X_test": X[:9]}
    return {"choral": choral, **names}


NAMES = {
    "index.md": names_of_the_start_page,
    "guide.md": names_of_the_guide,
    "decisions.md": names_of_decisions,
    "networks.md": names_of_networks,
}


@pytest.mark.parametrize("page", NAMES)
def test_snippets_run(page, plt, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = NAMES[page]()
    for code in snippets(DOCS / page):
        exec(compile(code, page, "exec"), names)
    if page == "index.md":
        assert names["labels"].shape == (9, 3)
        assert len(names["curve"].labels) == 3
        assert (tmp_path / "report.html").exists()
    if page == "networks.md":
        assert names["labels"].shape == (9, 4)
    if page == "decisions.md":
        assert names["decision"].labels.shape == (5, 4)
    if page == "guide.md":
        assert len(plt.get_fignums()) == 2


def test_no_page_is_left_out():
    pages = [page.name for page in [*DOCS.glob("*.md"), DOCS.parent / "README.md"] if snippets(page)]
    assert sorted(pages) == sorted([*NAMES, *RUN_ELSEWHERE])
