"""Train the networks of all folds and members side by side, on whatever device: what `scripts/network_study.py` runs.

The first axis of all tensors is the network. Each has the training rows of its fold, standardised by them, and draws
its held-out rows, its initial weights, its batches and its dropout; all of them are the same for all losses.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from choral.datasets import Dataset
from choral.paper.any_model import FeatureScaler
from network_losses import OUT_OF_REACH, Training, label_sets_of

HIDDEN, DROPOUT = 128, 0.25
BATCH, EPOCHS, PATIENCE, LEARNING_RATE, WEIGHT_DECAY = 64, 200, 10, 1e-3, 1e-2
HELD_OUT = 0.15  # of the training rows, to choose the epoch
WARM_UP = 3  # steps before a graph is captured: memory is laid out, kernels are compiled
CHUNK = 1 << 27  # numbers that one evaluation may gather


@dataclass(frozen=True)
class Rows:
    """A data set as all networks see it.

    Attributes
    ----------
    X : Tensor of shape (n_folds * n_rows, n_features)
        All rows, once for each fold, scaled as its training rows say.
    Y : Tensor of shape (n_rows, n_labels)
        True labels.
    folds : list of int arrays
        The test rows of each fold.
    pool : Tensor of shape (n_networks, n_pool)
        The rows of X that a network is trained on, followed by -1 where it has fewer than others.
    held_out : Tensor of shape (n_networks, n_held_out)
        The rows of X that choose its epoch.
    """

    X: Tensor
    Y: Tensor
    folds: list[np.ndarray]
    pool: Tensor
    held_out: Tensor

    @property
    def n_networks(self) -> int:
        """Of all folds together."""
        return len(self.pool)

    @property
    def offsets(self) -> Tensor:
        """Where in X the rows of each network's fold begin, of shape (n_networks, 1)."""
        folds = torch.arange(len(self.folds), device=self.X.device)
        return (folds.repeat_interleave(self.n_networks // len(self.folds)) * len(self.Y))[:, None]


def prepare(data: Dataset, fold_numbers: np.ndarray, n_folds: int, n_members: int, device: torch.device) -> Rows:
    """Scale features, and draw each network's rows; the fold is the seed."""
    n_rows = len(data.Y)
    folds = [np.flatnonzero(fold_numbers == fold) for fold in range(n_folds)]
    n_held_out = round(HELD_OUT * (n_rows - max(map(len, folds))))
    X, pools, held_out = [], [], []
    for fold, test in enumerate(folds):
        train = np.setdiff1d(np.arange(n_rows), test)
        scaled = FeatureScaler().fit(data.X[train]).transform(data.X)
        X.append(torch.as_tensor(scaled.toarray() if hasattr(scaled, "toarray") else scaled, dtype=torch.float32))
        rng = np.random.default_rng(fold)
        for _ in range(n_members):
            rows = fold * n_rows + rng.permutation(train)
            held_out.append(rows[:n_held_out])
            pools.append(rows[n_held_out:])
    longest = max(map(len, pools))
    padded = [np.pad(pool, (0, longest - len(pool)), constant_values=-1) for pool in pools]
    Y = torch.as_tensor(np.asarray(data.Y), dtype=torch.float32)
    X, Y, pool, rows = (
        t.to(device) for t in (torch.cat(X), Y, torch.as_tensor(np.array(padded)), torch.as_tensor(np.array(held_out)))
    )
    return Rows(X, Y, folds, pool, rows)


class Networks(torch.nn.Module):
    """Networks with one hidden layer side by side; dropout is a matter of the mask that is given."""

    def __init__(self, n_networks: int, n_features: int, n_outputs: int):
        super().__init__()
        self.inner, self.inner_bias = _layer(n_networks, n_features, HIDDEN, seed=0)
        self.outer, self.outer_bias = _layer(n_networks, HIDDEN, n_outputs, seed=1)

    def forward(self, X: Tensor, mask: Tensor | None = None) -> Tensor:
        hidden = torch.relu(torch.baddbmm(self.inner_bias, X, self.inner))
        if mask is not None:
            hidden = hidden * mask * (1 / (1 - DROPOUT))
        return torch.baddbmm(self.outer_bias, hidden, self.outer)


def _layer(n_networks: int, n_in: int, n_out: int, seed: int) -> tuple[torch.nn.Parameter, torch.nn.Parameter]:
    """Weights and biases with the initial values of `torch.nn.Linear`, the same on all devices."""
    generator, bound = torch.Generator().manual_seed(seed), n_in**-0.5
    shapes = (n_networks, n_in, n_out), (n_networks, 1, n_out)
    weights, biases = (torch.empty(shape).uniform_(-bound, bound, generator=generator) for shape in shapes)
    return torch.nn.Parameter(weights), torch.nn.Parameter(biases)


class Trainer:
    """One training of all networks.

    Parameters
    ----------
    rows : Rows
        What networks see.
    training : Training
        The loss.
    graphs : bool
        On CUDA, whether a training step is captured as a graph, which spares the host from launching its kernels.
    """

    def __init__(self, rows: Rows, training: Training, *, graphs: bool = True):
        self.rows, self.row_losses = rows, training.row_losses
        self.device = rows.X.device
        self.label_sets = None if training.k is None else self._label_sets(training.k)
        self.targets = rows.Y.repeat(len(rows.folds), 1) if training.k is None else self._gains()
        self.networks = Networks(rows.n_networks, rows.X.shape[1], self.targets.shape[1])
        self._close_outputs()
        self.networks.to(self.device)
        captures = graphs and self.device.type == "cuda"
        self.optimizer = torch.optim.AdamW(
            self.networks.parameters(), lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True, capturable=captures
        )
        n_kept = int((rows.pool >= 0).sum(dim=1).min())
        self.n_batches = -(-n_kept // BATCH)
        self.batch = torch.zeros(rows.n_networks, n_kept // self.n_batches, dtype=torch.int64, device=self.device)
        self.batch[:] = rows.pool[:, : self.batch.shape[1]]
        self.mask = torch.ones(*self.batch.shape, HIDDEN, device=self.device)
        self.graph = self._capture() if captures else None

    def _label_sets(self, k: int) -> list:
        labels = self.rows.Y.cpu()
        trains = (np.delete(np.arange(len(labels)), test) for test in self.rows.folds)
        return [label_sets_of(labels[train], k).to(self.device) for train in trains]

    def _gains(self) -> Tensor:
        """What the candidates of each fold are worth in all rows; a fold with fewer of them has columns of 0."""
        n_outputs = max(each.n_labelsets for each in self.label_sets)
        gains = (each.gains(self.rows.Y) for each in self.label_sets)
        return torch.cat([torch.nn.functional.pad(each, (0, n_outputs - each.shape[1])) for each in gains])

    @torch.no_grad()
    def _close_outputs(self) -> None:
        """Keep outputs that stand for no label set of their fold out of reach."""
        n_members = self.rows.n_networks // len(self.rows.folds)
        for fold, each in enumerate(self.label_sets or []):
            members = slice(fold * n_members, (fold + 1) * n_members)
            self.networks.outer_bias[members, :, each.n_labelsets :] = OUT_OF_REACH

    def _step(self) -> None:
        """A step of the optimiser on the rows in ``self.batch``, with dropout by ``self.mask``."""
        rows = self.batch.flatten()
        X = self.rows.X.index_select(0, rows).unflatten(0, self.batch.shape)
        losses = self.row_losses(self.networks(X, self.mask).flatten(0, 1), self.targets.index_select(0, rows))
        (losses.sum() / self.batch.shape[1]).backward()  # to each network the mean over its own rows
        self.optimizer.step()

    def _capture(self) -> "torch.cuda.CUDAGraph | None":
        """A graph of the step; if it cannot be captured none, and training goes on without."""
        first = [parameter.detach().clone() for parameter in self.networks.parameters()]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP):
                self.optimizer.zero_grad()
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        self.optimizer.zero_grad()
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph):
                self._step()
        except RuntimeError as error:
            print(f"no graph of a training step: {str(error).splitlines()[0]}", flush=True)
            torch.cuda.synchronize()
            graph = None
        with torch.no_grad():  # nothing of the warm-up stays
            for parameter, value in zip(self.networks.parameters(), first, strict=True):
                parameter.copy_(value)
            for state in self.optimizer.state.values():
                for value in state.values():
                    value.zero_()
        return graph

    def fit(self) -> Tensor:
        """Train each network until it has not improved for a while; keep its best epoch, and return which it was."""
        rows, chance = self.rows, torch.Generator(self.device).manual_seed(0)
        least = torch.full((rows.n_networks,), torch.inf, device=self.device)
        epochs, running = torch.zeros_like(least, dtype=torch.int64), torch.ones_like(least, dtype=torch.bool)
        parameters = list(self.networks.parameters())
        best = [parameter.detach().clone() for parameter in parameters]
        for epoch in range(1, EPOCHS + 1):
            self._run_epoch(chance)
            found = self._held_out_losses()
            better = running & (found < least)
            least, epochs = torch.where(better, found, least), torch.where(better, epoch, epochs)
            for kept, parameter in zip(best, parameters, strict=True):
                torch.where(better[:, None, None], parameter.detach(), kept, out=kept)
            running &= epoch < epochs + PATIENCE
            if not running.any():  # the one moment of an epoch when the host waits
                break
        with torch.no_grad():
            for parameter, kept in zip(parameters, best, strict=True):
                parameter.copy_(kept)
        return epochs

    def _run_epoch(self, chance: torch.Generator) -> None:
        """One pass of each network over its rows, in an order of its own.

        Batches have the same size, so up to one row less than there are batches is left out, other ones each time.
        """
        keys = torch.rand(self.rows.pool.shape, generator=chance, device=self.device)
        order = self.rows.pool.gather(1, keys.masked_fill(self.rows.pool < 0, 2).argsort(dim=1))
        size = self.batch.shape[1]
        for number in range(self.n_batches):
            self.batch.copy_(order[:, number * size : (number + 1) * size])
            self.mask.bernoulli_(1 - DROPOUT, generator=chance)
            if self.graph is None:
                self.optimizer.zero_grad()
                self._step()
            else:
                self.graph.replay()

    def _held_out_losses(self) -> Tensor:
        """The loss of each network on the rows held out from it."""
        sums = 0
        for part, outputs in self._outputs(self.rows.held_out):
            losses = self.row_losses(outputs.flatten(0, 1), self.targets.index_select(0, part.flatten()))
            sums = sums + losses.view(part.shape).sum(dim=1)
        return sums / self.rows.held_out.shape[1]

    @torch.no_grad()
    def _outputs(self, rows: Tensor):
        """The outputs for rows of X, of shape (n_networks, n), a part of them at a time."""
        n_numbers = len(rows) * max(self.rows.X.shape[1], self.targets.shape[1], HIDDEN)
        for part in rows.split(max(1, CHUNK // n_numbers), dim=1):
            X = self.rows.X.index_select(0, part.flatten()).unflatten(0, part.shape)
            yield part, self.networks(X)

    def outputs(self, rows: Tensor) -> Tensor:
        """The outputs for rows of X, of shape (n_networks, n, n_outputs)."""
        return torch.cat([outputs for _, outputs in self._outputs(rows)], dim=1)

    def says(self) -> dict[str, np.ndarray]:
        """What networks say of test rows and of the rows held out from them.

        Of networks that score labels logits, of shape (n_members, n_rows, n_labels) and (n_folds, n_members,
        n_held_out, n_labels). Of networks that score label sets the best ones, in the same shapes, and those by the
        mean of their probabilities (``mean``, of shape (n_rows, n_labels)).
        """
        n_folds, (n_rows, n_labels) = len(self.rows.folds), self.rows.Y.shape
        n_members = self.rows.n_networks // n_folds
        longest = max(map(len, self.rows.folds))
        tests = np.array([np.pad(test, (0, longest - len(test)), mode="edge") for test in self.rows.folds])
        tests = torch.tensor(tests, device=self.device).repeat_interleave(n_members, dim=0)
        outputs = self.outputs(tests + self.rows.offsets).unflatten(0, (n_folds, n_members))
        held_out = self.outputs(self.rows.held_out).unflatten(0, (n_folds, n_members))
        dtype = np.float32 if self.label_sets is None else np.uint8
        found = {"test": np.zeros((n_members, n_rows, n_labels), dtype), "mean": np.zeros((n_rows, n_labels), np.uint8)}
        of_held_out = []
        for fold, test in enumerate(self.rows.folds):
            of_test = outputs[fold, :, : len(test)]
            if self.label_sets is None:
                found["test"][:, test] = of_test.cpu().numpy()
                of_held_out.append(held_out[fold].cpu().numpy())
                continue
            label_sets = self.label_sets[fold]
            best, shares = label_sets.labelsets, of_test.softmax(dim=2).mean(dim=0)
            found["mean"][test] = label_sets.predict(shares[:, : label_sets.n_labelsets]).cpu().numpy()
            found["test"][:, test] = best[of_test.argmax(dim=2)].cpu().numpy()
            of_held_out.append(best[held_out[fold].argmax(dim=2)].cpu().numpy())
        if self.label_sets is None:
            del found["mean"]
        return {**found, "held out": np.stack(of_held_out)}


def train(rows: Rows, training: Training, *, graphs: bool = True) -> dict[str, np.ndarray]:
    """What trained networks say, with the epochs that they kept and the seconds that it took."""
    start = time.monotonic()
    trainer = Trainer(rows, training, graphs=graphs)
    epochs = trainer.fit().view(len(rows.folds), -1).cpu().numpy()
    said = trainer.says()
    held_out = ((rows.held_out - rows.offsets).unflatten(0, epochs.shape)).cpu().numpy()
    seconds = np.array(time.monotonic() - start)
    return {**said, "held out rows": held_out, "epochs": epochs, "seconds": seconds}
