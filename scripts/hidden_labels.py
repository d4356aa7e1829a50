"""What missing labels cost: `AutoJoint` on data of which some labels of the training rows are hidden at random.

``python scripts/hidden_labels.py emotions yeast`` prints the table of docs/missing_labels.md: the mean over binomial
losses of all k, in a cross-validation of five folds. Test rows are complete. Beside the learner as it is stand the two
things that one can do without it: to fill in 0 for what is missing, or to leave out rows that are not complete.
``OMP_NUM_THREADS=1`` makes it quicker.
"""

import argparse
from collections.abc import Callable

import numpy as np

from choral import loss_curve
from choral.datasets import load
from choral.learners import AutoJoint
from choral.stats import MultilabelStratifiedKFold

SHARES = (0.0, 0.1, 0.3, 0.5)
N_FOLDS = 5
SEED = 0
MIN_ROWS = 50  # complete rows that a model needs
Way = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]  # what to do with missing labels


def as_they_are(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, Y


def filled_with_zeros(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X, np.nan_to_num(Y)


def complete_rows(X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    complete = ~np.isnan(Y).any(axis=1)
    return X[complete], Y[complete]


def measure(name: str, share: float, way: Way, n_estimators: int) -> None:
    """Print the loss when this share of labels is hidden."""
    dataset, losses = load(name), []
    X, Y = dataset.X, dataset.Y
    for train, test in MultilabelStratifiedKFold(N_FOLDS, random_state=SEED).split(X, Y):
        hidden = np.random.default_rng(SEED).random(Y[train].shape) < share
        X_train, Y_train = way(X[train], np.where(hidden, np.nan, Y[train]))
        if len(X_train) < MIN_ROWS:
            print(f"{name}, {share:.0%} hidden, {way.__name__}: only {len(X_train)} rows", flush=True)
            return
        model = AutoJoint(n_estimators, random_state=SEED).fit(X_train, Y_train)
        losses.append(float(np.mean(loss_curve(Y[test], model.predict_curve(X[test])).losses)))
    print(f"{name}, {share:.0%} hidden, {way.__name__}: {np.mean(losses):.4f}", flush=True)


WAYS: tuple[Way, ...] = (as_they_are, filled_with_zeros, complete_rows)

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=["emotions", "yeast"])
    parser.add_argument("--n-estimators", type=int, default=300)
    arguments = parser.parse_args()
    for dataset_name in arguments.datasets:
        for hidden_share in SHARES:
            for one_way in WAYS if hidden_share else WAYS[:1]:
                measure(dataset_name, hidden_share, one_way, arguments.n_estimators)
