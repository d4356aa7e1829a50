"""How good the probabilities of four common models are, before and after a JointCalibrator has learned from them.

``python scripts/any_model_scores.py`` after ``choral study any-model``, in the same folder: fits are taken from where
that study keeps them. Scores of each data set go to study-any-model/proper_scores.csv (data sets that are there already
are not done again), and a table of means is printed. Before: the model's own probabilities, labels taken to be
independent. After: calibrated probabilities of labels, and the joint distribution.
"""

import argparse
import csv
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone

from choral import IndependentLabels, LabelDistribution
from choral.datasets import Dataset
from choral.paper import read_plan
from choral.paper.any_model import JOINTLY
from choral.paper.proper_scores import label_scores, labelset_scores
from choral.scores import probabilities_of
from choral.study import Plan, StudyData, StudyLearner

KEYS = ("dataset", "model", "when")
SCORES = ("label brier", "label calibration error", "set brier", "set log loss", "set calibration error")
Said = tuple[np.ndarray, LabelDistribution | IndependentLabels]  # probabilities of labels, and of label sets


def predict_fold(learner: StudyLearner, dataset: Dataset, test: np.ndarray, seed: int) -> dict[str, Said]:
    """What is said of the test rows of a fold, before and after calibration."""
    model = clone(learner.estimator).set_params(**dict.fromkeys(learner.seed_parameters, seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the study tells them
        model.fit(dataset.X[~test], dataset.Y[~test])
    X = dataset.X[test]
    before = probabilities_of(model.estimator_, X, dataset.Y.shape[1])
    return {
        "before": (before, IndependentLabels(before)),
        "after": (model.predict_proba(X), model.predict_distribution(X)),
    }


def score_dataset(plan: Plan, data: StudyData, n_jobs: int) -> Iterator[dict[str, float | str]]:
    """Scores of all models on a data set, over the test rows of all folds."""
    dataset = data.load()
    (fold_numbers,) = plan.fold_numbers(data, dataset.Y)  # a single repeat
    tests = [fold_numbers == fold for fold in range(fold_numbers.max() + 1)]
    truths = [dataset.Y[test] for test in tests]
    for learner in plan.learners:
        if learner.name.endswith(JOINTLY):
            folds = Parallel(n_jobs=n_jobs)(
                delayed(predict_fold)(learner, dataset, test, plan.seeds[0]) for test in tests
            )
            for when in ("before", "after"):
                marginals, distributions = zip(*(fold[when] for fold in folds), strict=True)
                of_labels = label_scores(np.concatenate(truths), np.concatenate(marginals))
                of_sets = labelset_scores(list(zip(truths, distributions, strict=True)))
                yield {
                    "dataset": data.name,
                    "model": learner.name.removesuffix(f", {JOINTLY}"),
                    "when": when,
                    **{f"label {name}": score for name, score in of_labels.items()},
                    **{f"set {name}": score for name, score in of_sets.items()},
                }


def print_means(rows: list[dict[str, str]]) -> None:
    """Means over data sets, as a table in Markdown."""
    print(f"| model | when | {' | '.join(SCORES)} |\n| --- | --- |{' ---: |' * len(SCORES)}")
    for model in dict.fromkeys(row["model"] for row in rows):
        for when in ("before", "after"):
            chosen = [row for row in rows if (row["model"], row["when"]) == (model, when)]
            means = np.mean([[float(row[name]) for name in SCORES] for row in chosen], axis=0)
            print(f"| {model} | {when} | {' | '.join(f'{mean:.4f}' for mean in means)} |")


def main() -> None:
    """Score all data sets of the plan that are not in the file yet, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", default="any-model", help="any-model, or a TOML file based on it")
    parser.add_argument("--out", type=Path, default=Path("study-any-model/proper_scores.csv"))
    parser.add_argument("--n-jobs", type=int, default=-1)
    options = parser.parse_args()
    plan, done = read_plan(options.plan), set()
    if options.out.exists():
        with open(options.out, newline="") as file:
            done = {row["dataset"] for row in csv.DictReader(file)}
    for data in plan.datasets:
        if data.name not in done:
            rows = list(score_dataset(plan, data, options.n_jobs))
            with open(options.out, "a", newline="") as file:
                writer = csv.DictWriter(file, [*KEYS, *SCORES])
                if not file.tell():
                    writer.writeheader()
                writer.writerows(rows)
            print(f"{data.name}: done", flush=True)
    with open(options.out, newline="") as file:
        print_means(list(csv.DictReader(file)))


if __name__ == "__main__":
    main()
