"""Which loss to train a network with, and how to decide: ``python scripts/network_study.py``, half an hour on one core.

Ensembles of small networks on emotions, yeast and scene, trained with binary cross-entropy (BCE) and with the two
surrogates of `choral.nn.ChoquetLoss` at several k. What they say about test rows goes to study-networks/NAME.npz (where
that file is there already, nothing is trained), the losses of decisions to study-networks/NAME.json, which
`scripts/network_page.py` makes docs/networks.md of. The data sets are sought where `choral.datasets.load` does.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.preprocessing import StandardScaler

import choral
from choral.datasets import load
from choral.decisions.independent import product_distribution
from choral.nn import ChoquetLoss
from choral.paper import published_folds

DATASETS = ("emotions", "yeast", "scene")
SURROGATES = ("logistic", "absolute")
HIDDEN, DROPOUT = 128, 0.25
BATCH, EPOCHS, PATIENCE, LEARNING_RATE, WEIGHT_DECAY = 64, 200, 10, 1e-3, 1e-2
HELD_OUT = 0.15  # of the training rows, to choose the epoch
SAMPLES = 100  # label sets drawn from each member, for each row

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Ensemble(torch.nn.Module):
    """Networks with one hidden layer side by side: the first axis of all tensors is the member."""

    def __init__(self, n_members: int, n_features: int, n_labels: int):
        super().__init__()
        self.inner, self.inner_bias = _layer(n_members, n_features, HIDDEN)
        self.outer, self.outer_bias = _layer(n_members, HIDDEN, n_labels)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        hidden = torch.relu(torch.baddbmm(self.inner_bias, X, self.inner))
        hidden = torch.nn.functional.dropout(hidden, DROPOUT, self.training)
        return torch.baddbmm(self.outer_bias, hidden, self.outer)


def _layer(n_members: int, n_in: int, n_out: int) -> tuple[torch.nn.Parameter, torch.nn.Parameter]:
    """Weights and biases with the initial values of `torch.nn.Linear`."""
    bound = n_in**-0.5
    shapes = (n_members, n_in, n_out), (n_members, 1, n_out)
    weights, biases = (torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound)) for shape in shapes)
    return weights, biases


def fit(
    loss: Loss, X: torch.Tensor, Y: torch.Tensor, n_members: int, seed: int
) -> tuple[Ensemble, torch.Tensor, torch.Tensor]:
    """An ensemble as it was in the best epoch of each member, these epochs, and the rows held out from each member.

    Members have initial weights, batches and held-out rows of their own, which are the same for all losses. The best
    epoch is the one with the least value of the loss itself on the held-out rows.
    """
    torch.manual_seed(seed)
    rows = torch.rand(n_members, len(X)).argsort(dim=1)
    held_out, kept = rows.tensor_split([round(HELD_OUT * len(X))], dim=1)
    ensemble = Ensemble(n_members, X.shape[1], Y.shape[1])
    optimizer = torch.optim.AdamW(ensemble.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    best = [parameter.detach().clone() for parameter in ensemble.parameters()]
    least, epochs = torch.full((n_members,), torch.inf), torch.zeros(n_members, dtype=torch.int64)
    for epoch in range(1, EPOCHS + 1):
        _run_epoch(ensemble, optimizer, loss, X, Y, kept)
        found = _losses(ensemble, loss, X, Y, held_out)
        better = found < least
        least[better], epochs[better] = found[better], epoch
        for kept_best, parameter in zip(best, ensemble.parameters(), strict=True):
            kept_best[better] = parameter.detach()[better]
        if epoch >= epochs.max() + PATIENCE:
            break
    ensemble.load_state_dict(dict(zip(ensemble.state_dict(), best, strict=True)))
    return ensemble.eval(), epochs, held_out


def _run_epoch(ensemble: Ensemble, optimizer, loss: Loss, X: torch.Tensor, Y: torch.Tensor, kept: torch.Tensor) -> None:
    """One pass of each member over its rows, in an order of its own."""
    ensemble.train()
    order = kept.gather(1, torch.rand(kept.shape).argsort(dim=1))
    for batch in order.split(BATCH, dim=1):
        optimizer.zero_grad()
        logits = ensemble(X[batch])
        # times the number of members: a mean over all rows, of which each member is to see its own
        (len(batch) * loss(logits.flatten(0, 1), Y[batch].flatten(0, 1))).backward()
        optimizer.step()


@torch.no_grad()
def _losses(ensemble: Ensemble, loss: Loss, X: torch.Tensor, Y: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The loss of each member on its rows."""
    ensemble.eval()
    return torch.stack([loss(logits, labels) for logits, labels in zip(ensemble(X[rows]), Y[rows], strict=True)])


@torch.no_grad()
def probabilities(ensemble: Ensemble, X: torch.Tensor) -> np.ndarray:
    """The probability of each label by each member, of shape (n_members, n_rows, n_labels)."""
    n_members = len(ensemble.inner)
    return torch.sigmoid(ensemble(X.expand(n_members, *X.shape)).double()).numpy()


@torch.no_grad()
def held_out_logits(ensemble: Ensemble, X: torch.Tensor, held_out: torch.Tensor) -> np.ndarray:
    """The logits of each member for the rows held out from it, of shape (n_members, n_held_out, n_labels)."""
    return ensemble(X[held_out]).numpy()


def places(n_labels: int) -> dict[str, int]:
    """The k at which networks are trained and judged.

    Examples
    --------
    >>> places(14)
    {'1': 1, '2': 2, 'K/2': 7, 'K': 14}
    """
    return {"1": 1, "2": 2, "K/2": n_labels // 2, "K": n_labels}


def losses(n_labels: int) -> Iterator[tuple[str, Loss]]:
    """The losses to train with, by name; the logistic surrogate at k = 1 is BCE."""
    yield "BCE", torch.nn.BCEWithLogitsLoss()
    for surrogate in SURROGATES:
        for place, k in places(n_labels).items():
            if (surrogate, k) != ("logistic", 1):
                yield f"{surrogate}, k = {place}", ChoquetLoss(choral.BinomialMeasure(k), surrogate=surrogate)


def train(name: str, n_folds: int, n_members: int) -> dict[str, np.ndarray]:
    """The probabilities of test rows by each loss and member, with the epochs chosen and the seconds of a core.

    Of BCE also the logits of the training rows held out from each member, and which rows these are: one array a fold.
    """
    data, folds = load(name), published_folds(name)
    n_rows, n_labels = data.Y.shape
    trained = dict(losses(n_labels))
    shape = len(trained), n_members, n_rows, n_labels
    found = {
        "losses": np.array(list(trained)),
        "probabilities": np.full(shape, np.nan, dtype=np.float32),
        "epochs": np.zeros((len(trained), n_folds, n_members), dtype=np.int64),
        "seconds": np.zeros((len(trained), n_folds)),
    }
    for fold in range(n_folds):
        test = folds == fold
        X = torch.as_tensor(StandardScaler().fit(data.X[~test]).transform(data.X), dtype=torch.float32)
        Y = torch.as_tensor(data.Y, dtype=torch.float32)
        for number, loss in enumerate(trained.values()):
            start = time.process_time()  # not by the clock: other work may run beside
            ensemble, epochs, held_out = fit(loss, X[~test], Y[~test], n_members, seed=fold)
            found["seconds"][number, fold] = time.process_time() - start
            if number == 0:
                found[f"held out {fold}"] = np.flatnonzero(~test)[held_out.numpy()]
                found[f"logits {fold}"] = held_out_logits(ensemble, X[~test], held_out)
            found["probabilities"][number][:, test] = probabilities(ensemble, X[test])
            found["epochs"][number, fold] = epochs
        print(f"{name}: fold {fold + 1} of {n_folds} trained, {found['seconds'].sum():.0f} s", flush=True)
    return found


def decide(name: str, trained: dict[str, np.ndarray]) -> dict:
    """The losses of all decisions, by the loss trained with, fold by fold."""
    data, folds = load(name), published_folds(name)
    n_folds = trained["epochs"].shape[1]
    start = time.process_time()
    results = {}
    for loss, members in zip(trained["losses"].tolist(), trained["probabilities"], strict=True):
        tests = [folds == fold for fold in range(n_folds)]
        results[loss] = [judge(data.Y[test], members[:, test].astype(float), fold) for fold, test in enumerate(tests)]
        if loss == "BCE":
            for fold, test in enumerate(tests):
                held_out = data.Y[trained[f"held out {fold}"]], trained[f"logits {fold}"]
                results[loss][fold] |= judge_calibrated(data.Y[test], members[:, test], *held_out)
        print(f"{name}: {loss} decided, {time.process_time() - start:.0f} s", flush=True)
    return {
        "n_rows": len(data.Y),
        "n_features": data.X.shape[1],
        "places": places(data.Y.shape[1]),
        "losses": results,
        "epochs": trained["epochs"].tolist(),
        "hedged": [hedged(members) for members in trained["probabilities"]],
        "seconds": {"training": trained["seconds"].sum(), "deciding": time.process_time() - start},
        "settings": settings(*trained["epochs"].shape[1:]),
    }


def hedged(scores: np.ndarray) -> float:
    """The share of scores that are nearer to 1/2 than to 0 and 1; those of folds that were left out are nan."""
    return float((np.abs(scores[~np.isnan(scores)] - 0.5) < 0.25).mean())


def judge(y_true: np.ndarray, members: np.ndarray, seed: int) -> dict[str, list[float]]:
    """The binomial losses at all places of each way to decide."""
    ks = list(places(y_true.shape[1]).values())
    single = [choral.loss_curve(y_true, member >= 0.5, parameters=ks).losses for member in members]
    rng = np.random.default_rng(seed)
    drawn = [choral.IndependentLabels(member).sample(SAMPLES, rng) for member in members]
    mixture = np.mean([product_distribution(member) for member in members], axis=0)
    return {
        "single": np.mean(single, axis=0).tolist(),
        "threshold": choral.loss_curve(y_true, members.mean(axis=0) >= 0.5, parameters=ks).losses.tolist(),
        "drawn": judge_decisions(y_true, choral.LabelDistribution.from_samples(np.concatenate(drawn, axis=1)), ks),
        "mixture": judge_decisions(y_true, choral.LabelDistribution.from_dense(mixture), ks),
        "votes": judge_decisions(y_true, choral.LabelDistribution.from_samples(np.stack(members >= 0.5, axis=1)), ks),
    }


def judge_calibrated(
    y_true: np.ndarray, members: np.ndarray, held_out: np.ndarray, logits: np.ndarray
) -> dict[str, list[float]]:
    """The same after a `JointCalibrator` for each network, fitted on the rows held out from it.

    The joint distribution of the ensemble is the mean of those of its networks.
    """
    ks = list(places(y_true.shape[1]).values())
    test_logits = np.log(members) - np.log1p(-members)
    calibrators = [choral.JointCalibrator().fit(*rows) for rows in zip(logits, held_out, strict=True)]
    decided = [one.predict_curve(of_one, parameters=ks) for one, of_one in zip(calibrators, test_logits, strict=True)]
    single = [
        [choral.binomial_loss(y_true, labels, k=k) for k, labels in zip(ks, curve.labels, strict=True)]
        for curve in decided
    ]
    joint = [one.predict_distribution(of_one) for one, of_one in zip(calibrators, test_logits, strict=True)]
    weights = sp.hstack([sp.csr_array(one.probabilities) for one in joint]) / len(joint)
    mean = choral.LabelDistribution(np.concatenate([one.labelsets for one in joint]), weights)
    return {"single, calibrated": np.mean(single, axis=0).tolist(), "calibrated": judge_decisions(y_true, mean, ks)}


def judge_decisions(y_true: np.ndarray, distribution: choral.LabelDistribution, ks: list[int]) -> list[float]:
    """The loss for each k of the prediction that is best for it under the distribution."""
    labels = choral.bayes_curve(distribution, parameters=ks, method="quick").labels
    return [choral.binomial_loss(y_true, of_k, k=k) for k, of_k in zip(ks, labels, strict=True)]


def settings(n_folds: int, n_members: int) -> dict:
    return {
        "created": date.today().isoformat(),
        "versions": {
            "python": platform.python_version(),
            "choral": choral.__version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
        },
        "n_folds": n_folds,
        "n_members": n_members,
        "hidden": HIDDEN,
        "dropout": DROPOUT,
        "batch": BATCH,
        "epochs": EPOCHS,
        "patience": PATIENCE,
        "learning_rate": LEARNING_RATE,
        "weight_decay": WEIGHT_DECAY,
        "held_out": HELD_OUT,
        "samples": SAMPLES,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS)
    parser.add_argument("--folds", type=int, default=10, help="how many of the ten published folds")
    parser.add_argument("--members", type=int, default=10, help="networks in an ensemble")
    parser.add_argument("--out", type=Path, default=Path("study-networks"))
    options = parser.parse_args()
    torch.set_num_threads(1)  # the matrices are small, and sums are in the same order on all machines
    options.out.mkdir(exist_ok=True)
    for name in options.datasets:
        file = options.out / f"{name}.npz"
        if not file.exists():
            np.savez_compressed(file, **train(name, options.folds, options.members))
        with np.load(file) as trained:
            study = decide(name, dict(trained))
        file.with_suffix(".json").write_text(json.dumps(study), encoding="utf-8")


if __name__ == "__main__":
    main()
