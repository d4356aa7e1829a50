"""Weights & Biases offline: what was written to the run's file and folder is read back."""

import json
import struct
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import choral
from choral.integrations.wandb import log_evaluation
from recipe_pages import require, run_page

require("wandb", "matplotlib", "plotly")

pytestmark = pytest.mark.filterwarnings("default:::wandb", "default:Implicitly cleaning up:ResourceWarning")
Y = np.random.default_rng(0).integers(2, size=(40, 4))
P = np.where(np.random.default_rng(1).random(Y.shape) < 0.2, 1 - Y, Y)
BLOCK, HEADER = 1 << 15, struct.Struct("<IHB")  # of the format: checksum, length, and whether more parts follow


@pytest.fixture
def wandb(tmp_path, monkeypatch):
    """Offline, in an empty folder, without a word."""
    for name, value in {"MODE": "offline", "SILENT": "true", "DIR": str(tmp_path), "ERROR_REPORTING": "false"}.items():
        monkeypatch.setenv(f"WANDB_{name}", value)
    monkeypatch.chdir(tmp_path)
    import wandb

    yield wandb
    wandb.teardown()


def read_records(folder):
    """The records of the file of an offline run, which may be written a moment after the run is closed."""
    (path,) = Path(folder).parent.glob("*.wandb")
    for _ in range(100):
        records = parse_records(path.read_bytes())
        if records and records[-1].WhichOneof("record_type") == "exit":
            return records
        time.sleep(0.1)
    return pytest.fail(f"the end of the run is not written to {path}")


def parse_records(data):
    """A LevelDB log of protocol buffers, after seven bytes of wandb's own; without a record that is not whole yet."""
    from wandb.proto.wandb_internal_pb2 import Record

    at, parts, records = 7, [], []
    while at + HEADER.size <= len(data):
        if BLOCK - at % BLOCK < HEADER.size:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = HEADER.unpack_from(data, at)
        if at + HEADER.size + length > len(data):
            break
        parts.append(data[at + HEADER.size : at + HEADER.size + length])
        at += HEADER.size + length
        if kind in (1, 4):  # whole, or the last part
            records.append(Record.FromString(b"".join(parts)))
            parts = []
    return records


def items(updates):
    """Names and values of a record of history or of the summary."""
    return {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in updates}


def read_history(folder):
    return [
        items(record.history.item) for record in read_records(folder) if record.WhichOneof("record_type") == "history"
    ]


def read_summary(folder):
    found = {}
    for record in read_records(folder):
        if record.WhichOneof("record_type") == "summary":
            found |= items(record.summary.update)
    return found


def test_curve_table_figure_and_page_are_read_back(wandb):
    evaluation = choral.evaluate(Y, {"tree": P}, n_bootstrap=20)
    with wandb.init(project="test") as run:
        folder = run.dir
        summary = log_evaluation(evaluation, run, title="My test")
    history = read_history(folder)
    found = {row["k"]: row["tree/binomial_loss"] for row in history if "k" in row}
    assert found == pytest.approx({k: choral.binomial_loss(Y, P, k=k) for k in (1, 2, 3, 4)})
    steps = {
        record.metric.name: record.metric.step_metric
        for record in read_records(folder)
        if record.WhichOneof("record_type") == "metric"
    }
    assert steps["tree/binomial_loss"] == "k"
    logged = read_summary(folder)
    assert {name: logged[name] for name in summary} == pytest.approx(summary)
    assert summary["tree/subset_loss"] == pytest.approx(choral.subset_loss(Y, P))
    (page,), (figure,) = Path(folder).glob("media/html/*.html"), Path(folder).glob("media/images/*.png")
    assert "My test" in page.read_text("utf-8")
    assert figure.read_bytes().startswith(b"\x89PNG")
    table = json.loads(next(Path(folder).glob("media/table/*.json")).read_text("utf-8"))
    assert [row[table["columns"].index("loss")] for row in table["data"]][:4] == pytest.approx(list(found.values()))


def test_active_run_prefix_and_the_polynomial_family(wandb):
    evaluation = choral.evaluate(Y, {"tree": P}, family="polynomial", parameters=[1, 2.5], n_bootstrap=0)
    with wandb.init(project="test") as run:
        folder = run.dir
        log_evaluation(evaluation, prefix="test/")
    found = {row["test/alpha"]: row["test/tree/polynomial_loss"] for row in read_history(folder) if "test/alpha" in row}
    assert found == pytest.approx(dict(zip([1, 2.5], evaluation.curves["tree"].losses, strict=True)))


def test_stars_in_names_of_models(wandb):
    with wandb.init(project="test") as run:
        folder = run.dir
        summary = log_evaluation(choral.evaluate(Y, {"k* tree": P, "knn*": P}, n_bootstrap=0))
        with pytest.raises(ValueError, match=r"'a\*b' and 'a_b' are both 'a_b' in Weights & Biases; please rename one"):
            log_evaluation(choral.evaluate(Y, {"a*b": P, "a_b": P}, n_bootstrap=0))
    assert {"k_ tree/area", "knn_/area"} <= summary.keys()
    last = [row for row in read_history(folder) if "k" in row][-1]
    assert last["k_ tree/binomial_loss"] == last["knn_/binomial_loss"] == pytest.approx(choral.subset_loss(Y, P))


def test_ends_of_the_parameters_asked_for_have_their_names(wandb):
    with wandb.init(project="test"):
        summary = log_evaluation(choral.evaluate(Y, {"tree": P}, parameters=[1, 4], n_bootstrap=0))
    assert summary["tree/hamming_loss"] == pytest.approx(choral.hamming_loss(Y, P))
    assert summary["tree/subset_loss"] == pytest.approx(choral.subset_loss(Y, P))


@pytest.mark.parametrize("missing", ["matplotlib.figure", "plotly"])
def test_nothing_is_logged_where_a_package_is_missing(wandb, monkeypatch, missing):
    evaluation = choral.evaluate(Y, {"tree": P}, n_bootstrap=0)
    monkeypatch.setitem(sys.modules, missing, None)
    with wandb.init(project="test") as run:
        folder = run.dir
        with pytest.raises(ModuleNotFoundError, match=missing):
            log_evaluation(evaluation)
    assert read_history(folder) == []


def test_no_run_and_other_kinds_are_refused(wandb):
    with pytest.raises(ValueError, match="no run of Weights & Biases is active"):
        log_evaluation(choral.evaluate(Y, {"tree": P}, n_bootstrap=0))
    with pytest.raises(TypeError, match="evaluation must be what choral.evaluate returns; got ndarray"):
        log_evaluation(P)


def test_page(wandb):
    require("torch", "torchmetrics")
    names = run_page("wandb.md")
    assert read_summary(names["folder"])["forest/area"] == pytest.approx(names["evaluation"].curves["forest"].area)
    losses = [row["val/loss/subset"] for row in read_history(names["training_folder"])]
    assert len(losses) == 20
    assert losses[-1] < losses[0] - 0.2
