"""What missing labels cost: `AutoJoint` on data of which some labels of the training rows are hidden at random.

``python scripts/hidden_labels.py emotions yeast`` prints the table of docs/missing_labels.md: the mean over binomial
losses of all k, in a cross-validation of five folds. Test rows are complete. Beside the learner as it is stand the two
things that one can do without it: to fill in 0 for what is missing, or to leave out rows that are not complete.
``OMP_NUM_THREADS=1`` makes it quicker.
"""

import argparse

import numpy as np

from choral import loss_curve
from choral.datasets import load
from choral.learners import AutoJoint
from choral.stats import MultilabelStratifiedKFold

SHARES = (0.0, 0.1, 0.3, 0.5)
N_FOLDS = 5
SEED = 0
MIN_ROWS = 50  # complete rows that a model needs


def training_sets(X: np.ndarray, Y: np.ndarray, share: float) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What is given to the learner when this share of labels is missing."""
    incomplete = np.where(np.random.default_rng(SEED).random(Y.shape) < share, np.nan, Y)
    found = {"as they are": (X, incomplete)}
    if share:
        complete = ~np.isnan(incomplete).any(axis=1)
        found["filled with 0"] = X, np.nan_to_num(incomplete)
        if complete.sum() >= MIN_ROWS:
            found["complete rows"] = X[complete], incomplete[complete]
    return found


def measure(name: str, n_estimators: int) -> None:
    """Print a line for each share and way."""
    dataset = load(name)
    X, Y = dataset.X, dataset.Y
    losses: dict[tuple[float, str], list[float]] = {}
    for train, test in MultilabelStratifiedKFold(N_FOLDS, random_state=SEED).split(X, Y):
        for share in SHARES:
            for way, (X_train, Y_train) in training_sets(X[train], Y[train], share).items():
                model = AutoJoint(n_estimators, random_state=SEED).fit(X_train, Y_train)
                curve = loss_curve(Y[test], model.predict_curve(X[test]))
                losses.setdefault((share, way), []).append(float(np.mean(curve.losses)))
    for (share, way), of_folds in losses.items():
        print(f"{name}  {share:.0%} hidden, {way}: {np.mean(of_folds):.4f} in {len(of_folds)} folds", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["emotions", "yeast"])
    parser.add_argument("--n-estimators", type=int, default=300)
    arguments = parser.parse_args()
    for dataset_name in arguments.datasets:
        measure(dataset_name, arguments.n_estimators)
