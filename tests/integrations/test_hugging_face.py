"""Hugging Face: metrics for Trainer, the recipe, and the folder for evaluate, all without a network."""

import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest

import choral
from choral.integrations.hugging_face import compute_metrics
from recipe_pages import PROJECT, require, run_page

Y = np.random.default_rng(0).integers(2, size=(40, 7))
LOGITS = np.random.default_rng(1).normal(2 * Y - 1, 1.5)
others_warn = pytest.mark.filterwarnings("default")  # what other packages say of each other is not our error


@pytest.mark.parametrize("first", [LOGITS, (LOGITS, np.zeros((40, 3)))])
def test_points_of_the_curve(first):
    found = compute_metrics(SimpleNamespace(predictions=first, label_ids=Y), losses=["k=5", "macro_f1", "jaccard"])
    y_pred = (LOGITS >= 0).astype(int)
    assert list(found)[:6] == ["hamming_loss", "loss_k_2", "loss_k_3", "subset_loss", "area", "togetherness"]
    for name, k in [("hamming_loss", 1), ("loss_k_2", 2), ("loss_k_3", 3), ("subset_loss", 7), ("k=5_loss", 5)]:
        assert found[name] == pytest.approx(choral.binomial_loss(Y, y_pred, k=k))
    assert found["macro_f1_loss"] == pytest.approx(choral.AveragedFLoss("macro")(Y, y_pred))
    assert found["jaccard_loss"] == pytest.approx(choral.jaccard_loss(Y, y_pred))


def test_thresholds_are_of_the_sigmoid_and_none_keeps_scores():
    prediction, scores = SimpleNamespace(predictions=LOGITS, label_ids=Y), 1 / (1 + np.exp(-LOGITS))
    assert compute_metrics(prediction, threshold=0.3)["subset_loss"] == choral.subset_loss(Y, scores >= 0.3)
    assert compute_metrics(prediction, threshold=None)["subset_loss"] == pytest.approx(choral.subset_loss(Y, scores))


def test_missing_labels():
    labels, observed = Y.copy(), Y.astype(float)
    labels[0, :3], observed[0, :3] = -100, np.nan
    found = compute_metrics(SimpleNamespace(predictions=LOGITS, label_ids=labels))
    assert found["hamming_loss"] == pytest.approx(choral.loss_curve(observed, (LOGITS >= 0).astype(int)).losses[0])


def test_perfect_predictions_have_no_togetherness():
    found = compute_metrics(SimpleNamespace(predictions=2 * Y - 1, label_ids=Y))
    assert found == {"hamming_loss": 0, "loss_k_2": 0, "loss_k_3": 0, "subset_loss": 0, "area": 0}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@others_warn
def test_trainer(tmp_path, monkeypatch):
    require("torch", "transformers", "accelerate")
    import torch

    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    names = run_page("hugging_face.md", "Trainer")
    found = names["results"]
    assert found["eval_hamming_loss"] < 0.15 < found["eval_subset_loss"] < 0.5
    losses = names["calibrator"].left_out_losses("subset")
    assert losses["cut"] == pytest.approx(found["eval_subset_loss"], abs=1e-6)
    assert losses["joint"] < losses["cut"] - 0.03


@pytest.fixture
def metric_folder(tmp_path, monkeypatch):
    """The folder of the metric, where the page looks for it; the Hub is out of reach."""
    require("evaluate", "datasets")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("evaluate.config.HF_MODULES_CACHE", tmp_path / "modules")
    monkeypatch.setattr("evaluate.config.HF_METRICS_CACHE", tmp_path / "metrics")
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(PROJECT / "hugging_face" / "choral_curve", tmp_path / "hugging_face" / "choral_curve")


@others_warn
def test_metric_of_the_page(metric_folder):
    found = run_page("hugging_face.md", "A metric for `evaluate`")["found"]
    assert found["k"] == [1, 2, 3]
    assert found["losses"] == pytest.approx([1 / 6, 1 / 3, 1 / 2])
    assert (found["hamming_loss"], found["subset_loss"]) == pytest.approx((1 / 6, 1 / 2))
    assert found["area"] == pytest.approx(1 / 3)


@others_warn
def test_metric_takes_scores_and_missing_labels(metric_folder):
    import evaluate

    metric, scores = evaluate.load(str(metric_folder)), 1 / (1 + np.exp(-LOGITS))
    found = metric.compute(predictions=scores.tolist(), references=Y.tolist(), threshold=None)
    assert found["losses"] == pytest.approx(choral.loss_curve(Y, scores).losses.tolist())
    labels, observed = Y.copy(), Y.astype(float)
    labels[0, :3], observed[0, :3] = -100, np.nan
    for references in (labels.tolist(), observed.tolist()):
        found = metric.compute(predictions=scores.tolist(), references=references)
        expected = choral.loss_curve(observed, (scores >= 0.5).astype(int)).losses
        assert found["losses"] == pytest.approx(expected.tolist())


@others_warn
def test_metric_refuses_soft_references(metric_folder):
    import evaluate

    with pytest.raises(ValueError, match=r"y_true must be binary, 0 or 1; y_true\[0, 1\] is 0.7"):
        evaluate.load(str(metric_folder)).compute(predictions=[[0.9, 0.2]], references=[[1, 0.7]])


def test_front_matter_names_files_that_are_there():
    folder = PROJECT / "hugging_face" / "choral_curve"
    _, front, _ = (folder / "README.md").read_text("utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in front.splitlines() if ": " in line)
    assert (fields["sdk"], fields["title"]) == ("gradio", "choral curve")
    assert (folder / fields["app_file"]).is_file()
    assert "choral" in (folder / "requirements.txt").read_text("utf-8").split()
