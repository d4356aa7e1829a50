"""Which loss to train a network with, and how to decide: ``python scripts/network_study.py``.

Ensembles of small networks on thirteen data sets, trained with fourteen losses (`network_losses.py`), all folds and
members side by side (`network_training.py`). What networks say of test and held-out rows is kept in
study-networks/trained, and what is there is not trained again; the losses of all decisions (`network_deciding.py`) are
gathered in study-networks/networks.json, after every step, and what is there is not decided again. From this one small
file `network_page.py` makes docs/networks.md.

Trainings run on a GPU where there is one, several processes sharing it; decisions on the CPU beside them: two minutes
with an H200 and 16 cores. On a CPU alone it takes hours. A training that fails is told, tried once more without CUDA
graphs, and stops no other.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import BaseContext
from pathlib import Path
from typing import Any

import numpy as np
import torch

import choral
import network_deciding as deciding
import network_losses as losses
import network_training as training
from choral.datasets import NAMES, Dataset, load, read_arff
from choral.datasets.loading import FOLDER_VARIABLE, data_folder
from choral.paper import published_folds
from choral.stats import MultilabelStratifiedKFold

DATASETS = (
    "flags", "foodtruck", "emotions", "chd-49", "cal500", "birds", "genbase", "scene", "yeast", "medical", "llog-f",
    "enron-f", "gnegative-go",
)  # fmt: skip
PARTS = 3  # into which the losses of a data set are divided, one process each
N_FOLDS = 10


@dataclass(frozen=True)
class Study:
    """Where everything is, and how large the study is."""

    out: Path
    data: tuple[Path, ...]
    n_folds: int
    n_members: int
    epochs: int
    patience: int
    device: str

    def file(self, dataset: str, loss: str) -> Path:
        """What trained networks say."""
        plain = loss.replace(", k = ", "_").replace("K/2", "half").replace(" ", "-")
        return self.out / "trained" / f"{dataset}_{plain}.npz"

    @property
    def results(self) -> Path:
        """The losses of all decisions."""
        return self.out / "networks.json"

    def settings(self) -> dict[str, Any]:
        """What must be the same for results to be put together."""
        return {
            "n_folds": self.n_folds,
            "n_members": self.n_members,
            "hidden": training.HIDDEN,
            "dropout": training.DROPOUT,
            "batch": training.BATCH,
            "epochs": self.epochs,
            "patience": self.patience,
            "learning_rate": training.LEARNING_RATE,
            "weight_decay": training.WEIGHT_DECAY,
            "held_out": training.HELD_OUT,
            "max_labelsets": losses.MAX_LABELSETS,
        }


@lru_cache(1)
def read(name: str, folders: tuple[Path, ...]) -> Dataset:
    """A data set from the first folder that has its file; without one, as `choral.datasets.load` finds it."""
    for folder in folders:
        if any(folder.glob(f"{name}.arff*")):
            if name not in NAMES:
                return read_arff(folder / f"{name}.arff")
            os.environ[FOLDER_VARIABLE] = str(folder)
            break
    if name not in NAMES:
        raise FileNotFoundError(f"{name}.arff is in none of the folders.")
    return load(name)


def fold_numbers(name: str, Y: np.ndarray) -> np.ndarray:
    """The published folds, else stratified ones."""
    if name in NAMES:
        return published_folds(name)
    return MultilabelStratifiedKFold(N_FOLDS, random_state=0).fold_numbers(Y)[0]


def test_rows(name: str, Y: np.ndarray, n_folds: int) -> list[np.ndarray]:
    """The rows of each fold that is part of the study."""
    numbers = fold_numbers(name, Y)
    return [np.flatnonzero(numbers == fold) for fold in range(n_folds)]


def train(study: Study, name: str, chosen: list[str], graphs: bool) -> None:
    """Train with some losses on a data set, in a process of its own; a loss that fails does not stop the others."""
    torch.set_num_threads(1)
    training.EPOCHS, training.PATIENCE = study.epochs, study.patience
    data = read(name, study.data)
    numbers = fold_numbers(name, data.Y)
    rows = training.prepare(data, numbers, study.n_folds, study.n_members, torch.device(study.device))
    all_losses = losses.trainings(data.Y.shape[1])
    for loss in chosen:
        try:
            said = training.train(rows, all_losses[loss], graphs=graphs)
        except Exception as error:  # whatever it is, other losses are trained
            print(f"{name}: {loss} failed, {type(error).__name__}: {error}", flush=True)
            continue
        file = study.file(name, loss)
        half = file.with_name(f"half-{file.name}")
        np.savez(half, **said)
        half.replace(file)


def context() -> BaseContext:
    """How processes start: as forks of one that has imported everything but not touched CUDA, where there are forks."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    forks = get_context("forkserver")
    forks.set_forkserver_preload(["torch", "choral.nn", "choral.paper.any_model"])
    return forks


def train_in_process(study: Study, name: str, chosen: list[str]) -> None:
    """Train what is not there yet; where that fails once more, without graphs, in a process that shares nothing."""
    for graphs in (True, False):
        left = [loss for loss in chosen if not study.file(name, loss).exists()]
        if left:
            start = context() if graphs else get_context("spawn")
            process = start.Process(target=train, args=(study, name, left, graphs))
            process.start()
            process.join()
        if study.device == "cpu":
            break


def judge(study: Study, name: str, loss: str, fold: int | None = None) -> dict:
    """The losses of decisions on a data set; with a fold, of decisions after calibration."""
    torch.set_num_threads(1)
    Y = np.asarray(read(name, study.data).Y).astype(int)
    folds = test_rows(name, Y, study.n_folds)
    with np.load(study.file(name, loss)) as file:
        said = dict(file)
    if fold is None:
        return deciding.judge(Y, folds, said)
    return deciding.judge_calibrated(Y, folds[fold], said, fold)


@dataclass
class Results:
    """What is known so far, in a file that is written anew whenever there is more."""

    study: Study
    found: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, study: Study) -> "Results":
        """Those of the folder, if they are of the same study."""
        if not study.results.exists():
            return cls(study, {"settings": study.settings() | versions(study.device), "datasets": {}})
        found = json.loads(study.results.read_text(encoding="utf-8"))
        differ = {key for key, value in study.settings().items() if found["settings"][key] != value}
        if differ:
            raise SystemExit(f"{study.results} is of a study with other settings ({', '.join(sorted(differ))}).")
        return cls(study, found)

    def of(self, name: str) -> dict[str, Any]:
        """What is known of a data set."""
        if name not in self.found["datasets"]:
            data = read(name, self.study.data)
            self.found["datasets"][name] = {
                "n_rows": len(data.Y),
                "n_features": data.X.shape[1],
                "n_labelsets": len(np.unique(np.asarray(data.Y), axis=0)),
                "places": losses.places(data.Y.shape[1]),
                "losses": {},
                "calibrated": {},
            }
        return self.found["datasets"][name]

    def todo(self, name: str, loss: str) -> Iterator[int | None]:
        """What is to be decided by networks trained with a loss: at once, and after BCE each fold's calibration."""
        of = self.of(name)
        if loss not in of["losses"]:
            yield None
        if loss == "BCE":
            yield from (fold for fold in range(self.study.n_folds) if str(fold) not in of["calibrated"])

    def add(self, name: str, loss: str, fold: int | None, found: dict) -> None:
        """Keep what was found."""
        of = self.of(name)
        if fold is None:
            of["losses"][loss] = found
        else:
            of["calibrated"][str(fold)] = found
        self.write()

    def write(self) -> None:
        """The file, in one move."""
        half = self.study.results.with_suffix(".half")
        half.write_text(json.dumps(self.found, default=float), encoding="utf-8")
        half.replace(self.study.results)


def versions(device: str) -> dict[str, Any]:
    """When and with what."""
    packages = {"choral": choral.__version__, "torch": torch.__version__, "numpy": np.__version__}
    on = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    return {
        "created": date.today().isoformat(),
        "device": on,
        "versions": {"python": platform.python_version(), **packages},
    }


def parts(study: Study, datasets: list[str], chosen: list[str] | None, results: Results) -> list[tuple[str, list[str]]]:
    """What each process trains: a part of the losses on a data set, the most work first."""
    found = []
    for name in datasets:
        try:
            of = results.of(name)
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        n_labels = of["places"]["K"]
        todo = [loss for loss in chosen or losses.trainings(n_labels) if any(True for _ in results.todo(name, loss))]
        work = of["n_rows"] * (of["n_features"] + training.HIDDEN)
        found += [(work, name, todo[part::PARTS]) for part in range(PARTS) if todo[part::PARTS]]
    return [(name, of_part) for _, name, of_part in sorted(found, key=lambda part: -part[0])]


def run(study: Study, results: Results, todo: list[tuple[str, list[str]]], jobs: int, deciders: int) -> list[str]:
    """Train and decide; which losses are missing in the end."""
    start, missing = time.monotonic(), []

    with (
        ThreadPoolExecutor(jobs) as threads,
        ProcessPoolExecutor(deciders, mp_context=context()) as processes,
    ):
        waiting = {threads.submit(train_in_process, study, *part): part for part in todo}
        decisions: dict[Future, tuple[str, str, int | None]] = {}
        while waiting or decisions:
            for future in wait([*waiting, *decisions], return_when=FIRST_COMPLETED).done:
                if future in waiting:
                    name, of_part = waiting.pop(future)
                    for loss in of_part:
                        if not study.file(name, loss).exists():
                            missing.append(f"{name}: {loss}")
                            continue
                        for fold in results.todo(name, loss):
                            decisions[processes.submit(judge, study, name, loss, fold)] = name, loss, fold
                    print(f"{time.monotonic() - start:.0f} s: {name} trained with {', '.join(of_part)}", flush=True)
                    continue
                name, loss, fold = decisions.pop(future)
                if error := future.exception():
                    print(f"{name}: {loss}, fold {fold}: {type(error).__name__}: {error}", flush=True)
                    missing.append(f"{name}: decisions after {loss}")
                else:
                    results.add(name, loss, fold, future.result())
    print(f"{time.monotonic() - start:.0f} s: done", flush=True)
    return missing


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", nargs="+", default=DATASETS, choices=DATASETS, metavar="NAME")
    parser.add_argument("--losses", nargs="+", help="all fourteen unless given")
    parser.add_argument("--data", nargs="+", type=Path, help="folders with ARFF files")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="how many of the ten folds")
    parser.add_argument("--members", type=int, default=10, help="networks in an ensemble")
    parser.add_argument("--epochs", type=int, default=training.EPOCHS, help="the limit")
    parser.add_argument("--patience", type=int, default=training.PATIENCE, help="epochs without improvement")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu", choices=("cuda", "cpu"))
    parser.add_argument("--jobs", type=int, help="processes that train; 6 on a GPU, 1 on a CPU")
    parser.add_argument("--deciders", type=int, help="processes that decide; as many as there are other cores")
    parser.add_argument("--out", type=Path, default=Path("study-networks"))
    options = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")  # processes run side by side, and threads of theirs would only fight
    folders = options.data or [data_folder(), data_folder().parent / "more-datasets"]
    data = tuple(folder.absolute() for folder in folders)
    size = options.folds, options.members, options.epochs, options.patience
    study = Study(options.out, data, *size, options.device)
    (study.out / "trained").mkdir(parents=True, exist_ok=True)
    results = Results.read(study)
    todo = parts(study, list(options.datasets), options.losses, results)
    results.write()  # so that nobody goes on here with other settings
    jobs = options.jobs or (6 if options.device == "cuda" else 1)
    deciders = options.deciders or max(1, (os.cpu_count() or 1) - jobs)
    missing = run(study, results, todo, jobs, deciders)
    for each in missing:
        print(f"missing: {each}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
