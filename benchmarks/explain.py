"""Cost of explanations beside one evaluation, measured in one run: `make bench`, or `python benchmarks/explain.py`.

The aim is that of the project: at most 5 times `evaluate` without bootstrap on 200,000 x 100 labels. Costly rows, label
sets and the usual figures are computed when they are first asked for: lines without an aim say what they take.

Scores miss the aim: 6.6 to 6.8 times. `evaluate` sorts the errors of a row and
adds them up by rank, about 2 nanoseconds a score. Shares must know which label is at which rank (3.5), follow four
losses along the family with a running sum and a sum by label each (6), and find interactions and moments of the listed
pairs (4). All in double precision, since shares add up to 1e-12.
"""

import argparse
import sys

import numpy as np
import scipy.sparse as sp
from measuring import at_most, conclude, peak_memory, seconds

import choral


def evaluate(y_true, y_pred):
    return choral.evaluate(y_true, {"model": y_pred}, n_bootstrap=0)


def dense(rng: np.random.Generator, n_rows: int, repeats: int) -> None:
    truth = rng.random((n_rows, 100)) < 0.3
    guess = truth ^ (rng.random((n_rows, 100)) < 0.1)
    kinds = {
        "hard uint8": (truth.astype(np.uint8), guess.astype(np.uint8)),
        "hard int64": (truth.astype(np.int64), guess.astype(np.int64)),
        "scores float64": (truth.astype(np.uint8), rng.random(truth.shape)),
    }
    for kind, (y_true, y_pred) in kinds.items():
        ours, with_rows, theirs = seconds(
            [
                lambda a=y_true, b=y_pred: choral.explain(a, b),
                lambda a=y_true, b=y_pred: look_at_rows(choral.explain(a, b)),
                lambda a=y_true, b=y_pred: evaluate(a, b),
            ],
            repeats,
        )
        at_most(f"explain, {kind}", ours, "evaluate, no bootstrap", theirs, 5)
        print(f"costly rows and label sets, {kind}: {1e3 * (with_rows - ours):.0f} ms more")


def look_at_rows(found: choral.Explanation):
    return found.costly_rows, found.label_sets


def figures(rng: np.random.Generator, n_rows: int) -> None:
    y_true, y_pred = (rng.random((2, n_rows, 100)) < 0.3).astype(np.uint8)
    explained, all_figures = seconds(
        [lambda: choral.explain(y_true, y_pred), lambda: choral.explain(y_true, y_pred).figures], 1
    )
    print(f"the usual figures, by scikit-learn: {1e3 * (all_figures - explained):.0f} ms more")


def sparse(rng: np.random.Generator, n_rows: int, n_labels: int) -> None:
    y_true, y_pred = (
        sp.csr_array(sp.random(n_rows, n_labels, 20 / n_labels, random_state=rng, data_rvs=np.ones)) for _ in range(2)
    )
    what = f"explain, {n_rows:,} sparse rows x {n_labels:,} labels"
    peak_memory(what, lambda: look_at_rows(choral.explain(y_true, y_pred, choral.BinomialMeasure(3))), 512)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the dense problems")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    dense(rng, options.rows, options.repeats)
    figures(rng, options.rows)
    sparse(rng, options.rows // 10, 100_000)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
