"""Write docs/external_yardsticks.md, AutoJoint beside figures that others published.

``python scripts/external_yardsticks.py [FILE]``. Losses and scores go to FILE as they come, external-yardsticks.csv
unless given: what is there already is not done again.
"""

import csv
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

import numpy as np

import choral
from choral import AveragedFLoss, FLoss, HammingMeasure, SubsetMeasure, choquet_loss, f_loss
from choral.datasets import Dataset, load
from choral.learners import AutoJoint
from choral.paper import published_folds
from paper_page import DOCS, table

# The best of all methods in a comparison of 26 by a single hold-out: test rows, Hamming loss, subset accuracy.
HOLD_OUT = {
    "emotions": (270, 0.170, 0.374),
    "scene": (960, 0.077, 0.711),
    "yeast": (967, 0.193, 0.239),
    "medical": (420, 0.011, 0.657),
}
N_SPLITS = 3
# The best of six optimisers of pipelines, with 24 hours on 8 cores each, on the published folds: F1 of rows, micro and
# macro F1.
AUTOML = {
    "emotions": (0.702, 0.706, 0.696),
    "yeast": (0.669, 0.676, 0.478),
    "scene": (0.793, 0.787, 0.793),
    "flags-7": (0.706, 0.722, 0.546),
    "genbase": (0.992, 0.992, 0.639),
}
KEYS = ("kind", "dataset", "number")
Row = dict[str, str]


def hold_out(dataset: Dataset, n_test: int, seed: int) -> tuple[float, float]:
    """Hamming loss and subset accuracy on rows drawn by chance."""
    rows = np.random.default_rng(seed).permutation(len(dataset.Y))
    test, train = np.sort(rows[:n_test]), np.sort(rows[n_test:])
    model = AutoJoint(random_state=seed).fit(dataset.X[train], dataset.Y[train])
    X, Y = dataset.X[test], dataset.Y[test]
    hamming, subset = (
        choquet_loss(Y, model.predict(X, measure=one), one) for one in (HammingMeasure(), SubsetMeasure())
    )
    return hamming, 1 - subset


def f_scores(dataset: Dataset, test: np.ndarray) -> tuple[float, float, float]:
    """F1 of rows, micro and macro F1 on a fold; each has labels of its own, decided from the same distribution."""
    model = AutoJoint(random_state=0).fit(dataset.X[~test], dataset.Y[~test])
    X, Y = dataset.X[test], dataset.Y[test]
    marginals = model.predict_proba(X)
    of_labels = np.column_stack([maximise_f(column) for column in marginals.T])
    return (
        1 - f_loss(Y, model.predict(X, measure=FLoss())),
        1 - AveragedFLoss("micro")(Y, maximise_f(marginals)),
        1 - AveragedFLoss("macro")(Y, of_labels),
    )


def maximise_f(probabilities: np.ndarray) -> np.ndarray:
    """The labels with the largest ratio of expected sums in F1, by probabilities alone: above half of that ratio."""
    ordered = np.sort(probabilities, axis=None)[::-1]
    ratios = 2 * np.cumsum(ordered) / (np.arange(1, ordered.size + 1) + ordered.sum())
    return (probabilities > ratios.max() / 2).astype(np.uint8)


def wanted() -> Iterator[tuple[str, str, int]]:
    """All that there is to compute: what it is, the data set, and the number of the split or fold."""
    for name in HOLD_OUT:
        yield from (("hold-out", name, number) for number in range(N_SPLITS))
    for name in AUTOML:
        yield from (("F1", name, number) for number in range(int(published_folds(name).max()) + 1))


def compute(kind: str, name: str, number: int) -> tuple[float, ...]:
    dataset = load(name)
    if kind == "hold-out":
        return hold_out(dataset, HOLD_OUT[name][0], number)
    return f_scores(dataset, published_folds(name) == number)


def fill(path: Path) -> list[Row]:
    """Compute what is missing in the file; returns all of its rows."""
    rows = list(csv.DictReader(path.open(encoding="utf-8"))) if path.exists() else []
    done = {tuple(row[key] for key in KEYS) for row in rows}
    if not path.exists():
        path.write_text(",".join((*KEYS, "figures")) + "\n", encoding="utf-8")
    for kind, name, number in wanted():
        if (kind, name, str(number)) not in done:
            figures = " ".join(f"{figure:.6f}" for figure in compute(kind, name, number))
            row = dict(zip((*KEYS, "figures"), (kind, name, str(number), figures), strict=True))
            rows.append(row)
            with path.open("a", encoding="utf-8") as file:
                file.write(",".join(row.values()) + "\n")
            print(*row.values(), flush=True)
    return rows


def figures_of(rows: Sequence[Row], kind: str, name: str) -> list[list[float]]:
    """One list for each split or fold."""
    return [
        [float(figure) for figure in row["figures"].split()]
        for row in rows
        if (row["kind"], row["dataset"]) == (kind, name)
    ]


def spread(values: Sequence[float]) -> str:
    return f"{mean(values):.4f} ({min(values):.4f} to {max(values):.4f})"


def hold_out_rows(rows: Sequence[Row]) -> Iterator[list[str]]:
    for name, (n_test, hamming, accuracy) in HOLD_OUT.items():
        ours = [*zip(*figures_of(rows, "hold-out", name), strict=True)]
        cells = [f"{hamming:.3f}", spread(ours[0]), f"{accuracy:.3f}", spread(ours[1])]
        yield [name, str(n_test), *cells]


def f_rows(rows: Sequence[Row]) -> Iterator[list[str]]:
    for name, published in AUTOML.items():
        ours = [*zip(*figures_of(rows, "F1", name), strict=True)]
        pairs = zip(published, ours, strict=True)
        yield [name, *(cell for theirs, own in pairs for cell in (f"{theirs:.3f}", f"{mean(own):.3f}"))]


def page(rows: Sequence[Row]) -> Iterator[str]:
    yield "# External yardsticks"
    yield ""
    yield (
        "Made by `scripts/external_yardsticks.py`: `AutoJoint` with its defaults, beside figures that others "
        f"published. choral {choral.__version__}, numpy {np.__version__}. These are no paired comparisons: others had "
        "other splits, or other ways to choose. For those see [learners made for these losses](tailored_study.md)."
    )
    yield ""
    yield "## Twenty-six methods, a single hold-out"
    yield ""
    yield (
        "A comparison of 26 methods on 42 data sets, published in 2022, has a single hold-out for each data set. The "
        "best of all methods is chosen for each figure by itself, on the test rows. Which rows these were is not known "
        f"to us, so `AutoJoint` has {N_SPLITS} random splits of the same size: mean, least and largest. One fit serves "
        "both figures, decided once for Hamming loss and once for subset 0/1 loss."
    )
    yield ""
    columns = ["data set", "test rows", "Hamming loss, the best of 26", "AutoJoint"]
    yield from table([*columns, "subset accuracy, the best of 26", "AutoJoint"], hold_out_rows(rows))
    yield "## A day of automatic machine learning"
    yield ""
    yield (
        "Six optimisers of whole pipelines had 24 hours on 8 cores each for every fold (figures of the repository "
        "mwever/tpami-automlc); each figure is that of the best of the six. `AutoJoint` ran on the same ten folds, "
        "fitted once a fold: F1 of rows is decided by `FLoss()`; micro and macro F1 by the threshold that is best by "
        "the predicted probabilities alone, half of the expected optimum. Means over folds; higher is better. flags "
        "has the seven colours as labels here."
    )
    yield ""
    names = ("F1 of rows", "micro F1", "macro F1")
    yield from table(
        ["data set", *(cell for name in names for cell in (f"{name}, best of six", "AutoJoint"))], f_rows(rows)
    )
    yield (
        "A label that no row of a fold has, and that is not predicted there, has an F1 of 1 in macro F1. How the "
        "others count it is not known to us: folds of genbase lack a quarter to a half of the labels, so that its "
        "macro F1 is not to be compared. The folds of the other data sets have all labels."
    )


def main() -> int:
    if len(sys.argv) > 2:
        print(__doc__)
        return 2
    rows = fill(Path(sys.argv[1] if len(sys.argv) > 1 else "external-yardsticks.csv"))
    (DOCS / "external_yardsticks.md").write_text("\n".join(page(rows)) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
