"""The study of networks: what is trained, how it is decided, and the page that is written from it."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import choral
from choral.datasets import Dataset

torch = pytest.importorskip("torch")
pytest.importorskip("torchmetrics")

SCRIPTS = Path(__file__).parents[2] / "scripts"
N_FOLDS, N_MEMBERS = 3, 2
AFTER = {"single, calibrated": 0.62, "calibrated": 0.61, "calibrated by one": 0.6}  # calibration, subset 0/1 loss


@pytest.fixture
def scripts(monkeypatch):
    """Modules of the folder of scripts, by name."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    return import_module


@pytest.fixture
def data():
    """Labels that occur together, one of the label sets in the first fold alone."""
    rng = np.random.default_rng(0)
    Y = np.array([[0, 0, 0, 1, 1, 1], [1, 1, 0, 0, 0, 0], [0, 1, 1, 1, 0, 0]])[rng.integers(3, size=90)]
    Y[0] = 1
    X = Y @ rng.normal(size=(6, 5)) + rng.normal(size=(90, 5))
    return Dataset(X, Y.astype(np.uint8), tuple("abcdef"), "made up")


@pytest.fixture
def rows(data, scripts):
    return scripts("network_training").prepare(data, np.arange(90) % 4, N_FOLDS, N_MEMBERS, torch.device("cpu"))


def test_no_network_sees_its_test_rows(rows):
    for network in range(rows.n_networks):
        fold = network // N_MEMBERS
        pool = rows.pool[network][rows.pool[network] >= 0]
        seen = torch.cat([pool, rows.held_out[network]]) - 90 * fold
        assert sorted(seen.tolist()) == [row for row in range(90) if row % 4 != fold]
        assert len(rows.held_out[network]) == 10  # 15% of 67
    assert rows.offsets[:, 0].tolist() == [0, 0, 90, 90, 180, 180]
    train = rows.X[90:180][np.arange(90) % 4 != 1]
    torch.testing.assert_close(train.mean(dim=0), torch.zeros(5), atol=1e-5, rtol=0)


def test_networks_side_by_side_learn_as_each_would_alone(rows, scripts):
    """A step of the optimiser: the gradient of each network is that of the mean loss over its own batch."""
    training, losses = scripts("network_training"), scripts("network_losses")
    for loss in losses.trainings(6).values():
        trainer = training.Trainer(rows, loss)
        before = [parameter.detach().clone() for parameter in trainer.networks.parameters()]
        trainer._step()
        for network, batch in enumerate(trainer.batch):
            inner, inner_bias, outer, outer_bias = (each[network].clone().requires_grad_() for each in before)
            outputs = torch.relu(rows.X[batch] @ inner + inner_bias) / (1 - training.DROPOUT) @ outer + outer_bias
            loss.row_losses(outputs, trainer.targets[batch]).mean().backward()
            torch.testing.assert_close(trainer.networks.inner.grad[network], inner.grad)
            torch.testing.assert_close(trainer.networks.outer.grad[network], outer.grad)


def test_networks_keep_their_best_epoch(rows, scripts, monkeypatch):
    training, losses = scripts("network_training"), scripts("network_losses")
    monkeypatch.setattr(training, "PATIENCE", 3)
    trainer = training.Trainer(rows, losses.trainings(6)["BCE"])
    course = []
    evaluate = trainer._held_out_losses
    monkeypatch.setattr(trainer, "_held_out_losses", lambda: course.append(evaluate()) or course[-1])
    epochs = trainer.fit()
    course = torch.stack(course)
    for network, epoch in enumerate(epochs.tolist()):
        until = course[: epoch + 3, network]
        assert until.argmin() + 1 == epoch
        assert evaluate()[network] == pytest.approx(until.min().item())


def test_label_sets_of_test_rows_alone_are_never_predicted(data, rows, scripts, monkeypatch):
    training, losses = scripts("network_training"), scripts("network_losses")
    monkeypatch.setattr(training, "EPOCHS", 2)
    said = training.train(rows, losses.trainings(6)["label sets, k = 2"])
    assert said["test"].shape == (N_MEMBERS, 90, 6)
    assert said["held out"].shape == (N_FOLDS, N_MEMBERS, 10, 6)
    assert said["epochs"].shape == (N_FOLDS, N_MEMBERS)
    for predicted in (*said["test"][:, rows.folds[0]], said["mean"][rows.folds[0]]):
        assert not (predicted.sum(axis=1) == 6).any()  # no training row of this fold has all labels
        assert np.isin(predicted @ [32, 16, 8, 4, 2, 1], [7, 48, 28]).all()
    np.testing.assert_array_equal(said["held out rows"][1, 0], rows.held_out[2] - 90)


@pytest.mark.parametrize("loss", ["BCE", "label sets, k = K"])
def test_decisions_are_judged_fold_by_fold(data, rows, scripts, monkeypatch, loss):
    training, losses, deciding = (scripts(f"network_{name}") for name in ("training", "losses", "deciding"))
    monkeypatch.setattr(training, "EPOCHS", 30)
    said = training.train(rows, losses.trainings(6)[loss])
    found = deciding.judge(data.Y, rows.folds, said)
    test = rows.folds[1]
    predicted = (1 / (1 + np.exp(-said["test"][:, test]))).mean(axis=0) >= 0.5 if loss == "BCE" else said["mean"][test]
    expected = [choral.binomial_loss(data.Y[test], predicted, k=k) for k in (1, 2, 3, 6)]
    assert found["folds"][1]["ensemble"] == pytest.approx(expected)
    assert found["folds"][1].keys() == (
        {"single", "ensemble", "tuned", "votes"} if loss == "BCE" else {"single", "ensemble"}
    )
    truth = data.Y[said["held out rows"][2]]
    cut = said["held out"][2] >= (0 if loss == "BCE" else 1)
    hamming = np.mean([choral.hamming_loss(*one) for one in zip(truth, cut, strict=True)])
    assert found["held_out"][2][0] == pytest.approx(hamming)
    if loss == "BCE":
        calibrated = deciding.judge_calibrated(data.Y, test, said, 1)
        assert calibrated.keys() == set(AFTER)
        logits = {}  # of each row, by the first network that it was held out from
        for of_network, those in zip(said["held out"][1], said["held out rows"][1], strict=True):
            for row, of_row in zip(those, of_network, strict=True):
                logits.setdefault(row, of_row)
        order = sorted(logits)
        one = choral.JointCalibrator(scores="logits").fit(np.stack([logits[row] for row in order]), data.Y[order])
        labels = one.predict(said["test"][:, test].mean(axis=0), choral.SubsetMeasure())
        assert calibrated["calibrated by one"][3] == pytest.approx(choral.subset_loss(data.Y[test], labels))
        each = [
            choral.JointCalibrator(scores="logits").fit(
                said["held out"][1, member], data.Y[said["held out rows"][1, member]]
            )
            for member in range(N_MEMBERS)
        ]
        predicted = [of.predict(said["test"][member, test], choral.SubsetMeasure()) for member, of in enumerate(each)]
        expected = np.mean([choral.subset_loss(data.Y[test], of) for of in predicted])
        assert calibrated["single, calibrated"][3] == pytest.approx(expected)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_graphs_of_steps_train_as_plain_steps_on_cuda(data, scripts, monkeypatch):
    training, losses = scripts("network_training"), scripts("network_losses")
    monkeypatch.setattr(training, "EPOCHS", 3)
    rows = training.prepare(data, np.arange(90) % 4, N_FOLDS, N_MEMBERS, torch.device("cuda"))
    for loss in losses.trainings(6).values():
        trainers = [training.Trainer(rows, loss, graphs=graphs) for graphs in (True, False)]
        assert trainers[0].graph is not None
        for trainer in trainers:
            trainer.fit()
        for captured, plain in zip(*(trainer.networks.parameters() for trainer in trainers), strict=True):
            torch.testing.assert_close(captured, plain, rtol=1e-3, atol=1e-4)


@pytest.fixture
def study(data, scripts, tmp_path, monkeypatch):
    """A study of the made-up data set, two folds of ten."""
    module = scripts("network_study")
    monkeypatch.setattr(module, "read", lambda name, folders: data)
    (tmp_path / "trained").mkdir()
    return module.Study(tmp_path, (), n_folds=2, n_members=2, epochs=2, patience=10, device="cpu")


def test_a_loss_that_fails_is_told_and_stops_no_other(study, scripts, monkeypatch, capsys):
    module, losses = scripts("network_study"), scripts("network_losses")
    some = losses.trainings(6)

    def fail(outputs, target):
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(losses, "trainings", lambda n_labels: {**some, "BCE": losses.Training(fail)})
    module.train(study, "made up", ["BCE", "focal"], graphs=True)
    assert capsys.readouterr().out == "made up: BCE failed, RuntimeError: no such kernel\n"
    assert [study.file("made up", loss).exists() for loss in ("BCE", "focal")] == [False, True]


def test_what_is_decided_is_not_decided_again(study, scripts):
    module = scripts("network_study")
    results = module.Results.read(study)
    assert list(results.todo("made up", "BCE")) == [None, 0, 1]
    module.train(study, "made up", ["BCE"], graphs=True)
    for fold in (None, 1):
        results.add("made up", "BCE", fold, module.judge(study, "made up", "BCE", fold))
    again = module.Results.read(study)
    assert list(again.todo("made up", "BCE")) == [0]
    assert list(again.todo("made up", "focal")) == [None]
    assert module.parts(study, ["made up"], ["BCE", "focal", "asymmetric"], again) == [
        ("made up", [loss]) for loss in ("BCE", "focal", "asymmetric")
    ]
    assert again.of("made up")["places"] == {"1": 1, "2": 2, "K/2": 3, "K": 6}
    other = module.Study(study.out, (), n_folds=3, n_members=2, epochs=2, patience=10, device="cpu")
    with pytest.raises(SystemExit, match="is of a study with other settings \\(n_folds\\)"):
        module.Results.read(other)


def test_rivals_without_their_settings_are_cross_entropy(scripts, monkeypatch):
    losses = scripts("network_losses")
    logits, target = torch.tensor([[2.0, -1.0, 0.3]]), torch.tensor([[1.0, 1.0, 0.0]])
    p = logits.sigmoid()
    gains = p[0, 0].log() * (1 - p[0, 0]) ** 2 + p[0, 1].log() * (1 - p[0, 1]) ** 2 + (1 - p[0, 2]).log() * p[0, 2] ** 2
    assert losses.focal(logits, target).item() == pytest.approx(-gains.item() / 3)
    shifted = p[0, 2] - 0.05
    gains = p[0, 0].log() * (1 - p[0, 0]) + p[0, 1].log() * (1 - p[0, 1]) + (1 - shifted).log() * shifted**4
    assert losses.asymmetric(logits, target).item() == pytest.approx(-gains.item() / 3)
    for setting in ("FOCAL_GAMMA", "ASYMMETRIC_GAMMA_NEGATIVE", "ASYMMETRIC_GAMMA_POSITIVE", "ASYMMETRIC_CLIP"):
        monkeypatch.setattr(losses, setting, 0.0)
    for rival in (losses.focal, losses.asymmetric):
        torch.testing.assert_close(rival(logits, target), losses.binary_cross_entropy(logits, target))


@pytest.fixture
def results(scripts, tmp_path):
    """A study in which calibration helps where labels are judged together, and asymmetric loss harms."""
    rng = np.random.default_rng(0)
    losses = scripts("network_losses").trainings(6)
    gains = {("asymmetric", "ensemble"): 0.1, ("asymmetric", "tuned"): 0.01, ("focal", "tuned"): 0.01}
    for place, gain in (("K/2", -0.06), ("K", -0.05)):
        gains[f"label sets, k = {place}", "ensemble"] = np.array([0, 0, -0.01, gain])

    def fold(loss):
        base = np.array([0.2, 0.35, 0.45, 0.7])
        rules = ("single", "ensemble") if loss.startswith("label sets") else ("single", "ensemble", "tuned", "votes")
        return {
            rule: (base + gains.get((loss, rule), 0.002 * (rule == "votes")) + 1e-3 * rng.normal(size=4)).tolist()
            for rule in rules
        }

    def dataset(n_labels):
        held_out = [[0.2, 0.4, 0.45, 0.7], [0.2, 0.4, 0.55, 0.7]] * 2
        of = {
            loss: {
                "folds": [fold(loss) for _ in range(4)],
                "held_out": held_out,
                "hedged": None if loss.startswith("label sets") else 0.25,
                "epochs": [[30 if loss.startswith("absolute") else 10]] * 4,
                "seconds": 1.0,
            }
            for loss in losses
        }
        calibrated = {str(at): {rule: [0.2, 0.34, 0.4, loss] for rule, loss in AFTER.items()} for at in range(4)}
        sizes = {"n_rows": 100, "n_features": 7, "n_labelsets": 100 if n_labels == 6 else 5}
        places = scripts("network_losses").places(n_labels)
        return {**sizes, "places": places, "losses": of, "calibrated": calibrated}

    settings = {"n_folds": 4, "n_members": 1, "hidden": 8, "dropout": 0.25, "batch": 64, "epochs": 200, "patience": 10,
                "learning_rate": 1e-3, "weight_decay": 1e-2, "held_out": 0.15, "max_labelsets": 1000,
                "created": "2026-01-01", "device": "CPU", "versions": {"python": "3"}}  # fmt: skip
    names = ["scene", *map(str, range(11)), "emotions"]
    found = {"settings": settings, "datasets": {name: dataset(6 + at) for at, name in enumerate(names)}}
    del found["datasets"]["emotions"]["calibrated"]["2"]
    file = tmp_path / "networks.json"
    file.write_text(json.dumps(found))
    return file


def written(page, *studies):
    return list(page.joined(page.page(*map(page.Study, studies))))


def test_the_page_answers_first(results, scripts):
    lines = written(scripts("network_page"), results)
    answer = lines[lines.index("# Networks: which loss to train with, and how to decide") + 2]
    assert answer.startswith("**What should I do with my network?** Train it with BCE, fit a [`JointCalibrator`]")
    assert "On 12 data sets this takes the mean subset 0/1 loss of a network from" in answer
    assert "to 0.620; the gain is sure at k = 2, K/2 and K, for one network and for several." in answer
    table = [line for line in lines if "`JointCalibrator` |" in line]
    assert table[0].endswith("| 0.4000 | 0.6200 |")
    assert table[1].endswith("| 0.6000 |")
    text = "\n".join(lines)
    assert "On scene, where no label set occurs twice, it cannot help:" in text
    assert (
        "On the smallest data set, scene, where a network holds out 11 rows" in text
    )  # 15% of 75; all data sets are equally large
    assert "Unfinished, and left out: emotions." in text
    assert sum(line.startswith("| scene, k = ") for line in lines) == 4
    assert "| scene | 100 | 7 | 6 | 100 | 2 (2), 3 (2) |" in lines
    assert 'calibrator = choral.JointCalibrator(scores="logits").fit(validation_logits, validation_labels)' in lines
    assert "--patience" not in text
    assert "nan" not in text


def test_means_and_wins_of_the_page_are_those_of_the_results(results, scripts):
    found = json.loads(results.read_text())
    del found["datasets"]["emotions"]
    differences = [
        np.mean([fold["ensemble"][3] for fold in of["losses"]["asymmetric"]["folds"]])
        - np.mean([fold["ensemble"][3] for fold in of["losses"]["BCE"]["folds"]])
        for of in found["datasets"].values()
    ]
    lines = written(scripts("network_page"), results)
    row = next(line for line in lines if line.startswith("| asymmetric |"))
    assert row.split(" | ")[-1] == f"**{np.mean(differences):+.4f}**; 0, 0, 12 |"
    row = next(line for line in lines if line.startswith("| label sets, k = K |"))  # by itself, beside BCE
    *_, whole, hedged, epochs, seconds, _ = (value.strip() for value in row.split("|"))
    assert float(whole) == pytest.approx(-0.05, abs=1e-3)
    assert (hedged, epochs, seconds) == ("", "10", "12")  # no scores of labels; a second for each data set


def test_a_sentence_that_results_do_not_bear_out_is_refused(results, scripts):
    found = json.loads(results.read_text())
    for of in found["datasets"].values():
        for fold in of["losses"]["focal"]["folds"]:
            fold["ensemble"][0] = 0.1
    results.write_text(json.dumps(found))
    with pytest.raises(ValueError, match="the results do not say this any more: For Hamming loss a cut at 0.5"):
        written(scripts("network_page"), results)


def test_the_page_tells_what_more_epochs_change(results, scripts, tmp_path):
    found = json.loads(results.read_text())
    found["settings"] |= {"epochs": 1000, "patience": 40}
    for of in found["datasets"].values():
        of["losses"] = {loss: of["losses"][loss] for loss in ("BCE", "absolute, k = 2")}
        for fold in of["losses"]["absolute, k = 2"]["folds"]:
            fold["ensemble"][2] += 0.03
    longer = tmp_path / "longer.json"
    longer.write_text(json.dumps(found))
    text = "\n".join(written(scripts("network_page"), results, longer))
    assert "with `--epochs 1000 --patience 40` (BCE; absolute, k = 2)" in text
    assert "move by at most 0.0300 (absolute, k = 2, at k = K/2), those after calibration by at most 0.0000." in text


def test_the_figure_has_a_dot_for_each_data_set(results, scripts):
    pytest.importorskip("matplotlib")
    study = scripts("network_results").Study(results)
    figure = scripts("network_figure").draw(study, ["asymmetric", "focal"])
    assert [ax.get_title(loc="left") for ax in figure.axes] == [
        "k = 1: Hamming loss",
        "k = K/2",
        "k = K: subset 0/1 loss",
    ]
    dots = figure.axes[2].collections[0].get_offsets()
    assert len(dots) == 12
    assert dots[:, 0].tolist() == pytest.approx([0.1] * 12, abs=2e-3)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["asymmetric", "focal"]


def test_a_surrogate_goes_up_to_k_star_of_its_fold(results, scripts):
    module = scripts("network_results")
    study = module.Study(results)
    way = module.Way(module.ABSOLUTE, capped=True)
    trained = [study.trained_with("scene", "K", way, fold) for fold in range(4)]
    assert trained == ["absolute, k = K/2", "absolute, k = 2"] * 2
    assert study.trained_with("scene", "1", module.Way(module.LOGISTIC, capped=True), 0) == "BCE"
    of = study.datasets["scene"]["losses"]
    expected = [of[loss]["folds"][fold]["ensemble"][3] for fold, loss in enumerate(trained)]
    assert study.folds("scene", "K", way).tolist() == expected


def test_a_study_without_a_complete_data_set_is_refused(results, scripts):
    found = json.loads(results.read_text())
    found["datasets"] = {"emotions": found["datasets"]["emotions"]}
    results.write_text(json.dumps(found))
    with pytest.raises(ValueError, match="no data set of .* is complete"):
        scripts("network_results").Study(results)
