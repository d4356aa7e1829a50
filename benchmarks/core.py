"""Speed of the core, as ratios measured in one run: `make bench`, or `python benchmarks/core.py`.

The aims are those of the project; a line that misses one says so, and the exit status is 1.
"""

import argparse
import sys

import numpy as np
import scipy.sparse as sp
from measuring import at_most, conclude, faster, peak_memory, seconds, within
from sklearn.metrics import hamming_loss as sklearn_hamming_loss

import choral
from choral.measures.subsets import moebius_transform, zeta_transform


def both_curves(y_true, y_pred):
    profile = choral.ErrorProfile.from_predictions(y_true, y_pred)
    return profile.curve("binomial"), profile.curve("polynomial")


def hard(rng: np.random.Generator, n_rows: int, repeats: int) -> None:
    truth = rng.random((n_rows, 100)) < 0.3
    guess = truth ^ (rng.random((n_rows, 100)) < 0.1)
    for dtype, at_least in ((np.uint8, 40), (bool, 40), (np.int64, 15)):
        y_true, y_pred = truth.astype(dtype), guess.astype(dtype)
        ours, theirs, compare = seconds(
            [
                lambda a=y_true, b=y_pred: both_curves(a, b),
                lambda a=y_true, b=y_pred: sklearn_hamming_loss(a, b),
                lambda a=y_true, b=y_pred: np.count_nonzero(a != b),
            ],
            repeats,
        )
        what = f"both curves, hard {np.dtype(dtype).name}"
        faster(what, ours, "sklearn hamming_loss, once", theirs, at_least)
        at_most(what, ours, "np.count_nonzero(y != p)", compare, 3)


def scores(rng: np.random.Generator, n_rows: int, repeats: int) -> None:
    y_true = (rng.random((n_rows, 100)) < 0.3).astype(float)
    y_pred = rng.random((n_rows, 100))
    ours, sort = seconds(
        [lambda: both_curves(y_true, y_pred), lambda: np.sort(np.abs(y_true - y_pred), axis=1)], repeats
    )
    at_most("both curves, scores float64", ours, "np.sort(np.abs(y - s), axis=1)", sort, 1.0)


def missing(rng: np.random.Generator, n_rows: int, repeats: int) -> None:
    truth, guess, observed = rng.random((3, n_rows, 100)) < [[[0.3]], [[0.3]], [[0.8]]]
    with_nan, whole = np.where(observed, truth, np.nan), truth.astype(float)
    kinds = {
        "uint8 and a mask": (truth.view(np.uint8), truth.view(np.uint8), guess.view(np.uint8), observed, 8),
        "hard float64": (with_nan, whole, guess.astype(float), None, 5),
        "scores float64": (with_nan, whole, rng.random((n_rows, 100)), None, 4),
    }
    for kind, (y_true, complete, y_pred, mask, limit) in kinds.items():
        ours, theirs = seconds(
            [
                lambda a=y_true, b=y_pred, m=mask: choral.ObservedProfile.from_predictions(a, b, observed=m),
                lambda a=complete, b=y_pred: choral.ErrorProfile.from_predictions(a, b),
            ],
            repeats,
        )
        at_most(f"20 % missing, {kind}", ours, "ErrorProfile, nothing missing", theirs, limit)


def sparse(rng: np.random.Generator, n_rows: int, n_labels: int, repeats: int) -> None:
    y_true, y_pred = (_sparse_labels(rng, n_rows, n_labels) for _ in range(2))
    y_pred = ((y_true + y_pred) > 0).astype(np.int8).tocsr()  # every true label, and about five more
    ours, theirs = seconds([lambda: both_curves(y_true, y_pred), lambda: sklearn_hamming_loss(y_true, y_pred)], repeats)
    faster(f"both curves, sparse {n_rows:,} x {n_labels:,}", ours, "sklearn hamming_loss, once", theirs, 10)


def _sparse_labels(rng: np.random.Generator, n_rows: int, n_labels: int) -> sp.csr_matrix:
    rows = np.repeat(np.arange(n_rows), rng.poisson(5, n_rows))
    matrix = sp.csr_matrix(
        (np.ones(rows.size, np.int8), (rows, rng.integers(n_labels, size=rows.size))), (n_rows, n_labels)
    )
    matrix.data[:] = 1  # a label drawn twice
    return matrix


def capacities(rng: np.random.Generator, repeats: int) -> None:
    n_labels, n_rows = 20, 10_000
    capacity = choral.Capacity.from_measure(choral.PolynomialMeasure(3), n_labels)
    u = rng.random((n_rows, n_labels))
    ours, sort = seconds([lambda: choral.choquet_integral(u, capacity), lambda: np.sort(u, axis=1)], repeats)
    at_most("Choquet, 2^20 values, 10,000 rows", ours, "np.sort(u, axis=1)", sort, 20)
    zeta, moebius = seconds(
        [lambda: zeta_transform(capacity.values), lambda: moebius_transform(capacity.values)], repeats
    )
    within("zeta transform, K = 20", zeta, 0.1)
    within("Moebius transform, K = 20", moebius, 0.1)


def memory(n_rows: int) -> None:
    rng = np.random.default_rng(1)
    y_true = rng.integers(2, size=(n_rows, 100), dtype=np.uint8)
    for kind, y_pred in (("hard", 1 - y_true), ("scores", np.full(y_true.shape, 0.25, dtype=np.float32))):
        what = f"a profile, {kind}, {n_rows:,} rows x 100 labels"
        peak_memory(what, lambda pred=y_pred: choral.ErrorProfile.from_predictions(y_true, pred), 64)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the dense problems")
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    hard(rng, options.rows, options.repeats)
    scores(rng, options.rows, options.repeats)
    missing(rng, options.rows, options.repeats)
    sparse(rng, options.rows // 2, 500_000, options.repeats)
    capacities(rng, options.repeats)
    memory(options.rows)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
