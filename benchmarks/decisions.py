"""Speed and quality of decisions: `make bench`, or `python benchmarks/decisions.py`.

The aims are those of the project; a line that misses one says so, and the exit status is 1.
"""

import argparse
import sys

import numpy as np
from measuring import conclude, peak_memory, seconds, share, within

from choral import (
    AtLeastMeasure,
    BinomialMeasure,
    FLoss,
    IndependentLabels,
    JaccardLoss,
    LabelDistribution,
    PolynomialMeasure,
    bayes_curve,
    bayes_optimal,
)


def near_prototypes(rng: np.random.Generator, n_labelsets: int, n_labels: int, n_prototypes: int) -> np.ndarray:
    """Label sets that differ in a few labels from one of some: like those of real data."""
    prototypes = rng.random((n_prototypes, n_labels)) < 0.25
    return prototypes[rng.integers(n_prototypes, size=n_labelsets)] ^ (rng.random((n_labelsets, n_labels)) < 0.06)


def all_predictions(rng: np.random.Generator, repeats: int) -> None:
    dense = rng.dirichlet(np.full(1 << 20, 0.01))
    distribution = LabelDistribution.from_dense(dense)
    ours, sort = seconds([lambda: bayes_curve(distribution), lambda: np.sort(dense)], repeats)
    within("all 20 k, K = 20, 2^20 label sets", ours, 3)
    print(f"  that is {ours / sort:.1f} times np.sort of the 2^20 probabilities")


def many_instances(rng: np.random.Generator, repeats: int) -> LabelDistribution:
    labelsets = near_prototypes(rng, 1000, 50, n_prototypes=30)
    distribution = LabelDistribution(labelsets, rng.dirichlet(np.full(1000, 0.02), size=2000))
    for measure in (BinomialMeasure(3), BinomialMeasure(25), PolynomialMeasure(2), AtLeastMeasure(45)):
        (ours,) = seconds([lambda measure=measure: bayes_optimal(distribution, measure, method="search")], repeats)
        within(f"search 2,000 x 1,000 x 50, {_name(measure)}", ours, 2)
    return distribution


def overlap(rng: np.random.Generator, repeats: int) -> None:
    """F losses, whose optimum is exact, and Jaccard, which is searched for."""
    labelsets = near_prototypes(rng, 500, 50, n_prototypes=30)
    joint = LabelDistribution(labelsets, rng.dirichlet(np.full(500, 0.02), size=10_000))
    (ours,) = seconds([lambda: bayes_optimal(joint, FLoss())], repeats)
    within("F1 10,000 x 500 x 50", ours, 2)
    (ours,) = seconds([lambda: bayes_optimal(IndependentLabels(joint.marginals()), FLoss())], repeats)
    within("F1 10,000 x 50 independent labels", ours, 2)
    (ours,) = seconds([lambda: bayes_optimal(joint, JaccardLoss(), method="quick")], repeats)
    within("Jaccard 10,000 x 500 x 50", ours, 20)
    peak_memory("F1, 10,000 x 500 x 50", lambda: bayes_optimal(joint, FLoss()), 256)


def quality(rng: np.random.Generator, n_rows: int) -> None:
    """On which share of the rows where branch and bound proves the optimum, search finds it."""
    supports = {
        "near 8 label sets": near_prototypes(rng, 100, 30, n_prototypes=8),
        "unrelated": rng.integers(2, size=(100, 30)),
    }
    for name, labelsets in supports.items():
        distribution = LabelDistribution(labelsets, rng.dirichlet(np.full(len(labelsets), 0.05), size=n_rows))
        for measure in (*map(BinomialMeasure, (2, 3, 5, 10, 20, 29)), PolynomialMeasure(1.5), PolynomialMeasure(3)):
            found = bayes_optimal(distribution, measure, method="search")
            best = bayes_optimal(distribution, measure, method="branch_and_bound", node_limit=5000)
            hits = (found.risk <= best.risk + 1e-12)[best.exact]
            what = f"search finds the optimum, K = 30, M = 100, {name}, {_name(measure)}, {hits.size} rows proven"
            share(what, hits.mean() if hits.size else 1.0, 0.99)


def memory(rng: np.random.Generator, many: LabelDistribution) -> None:
    dense = LabelDistribution.from_dense(rng.dirichlet(np.full(1 << 22, 0.01)))
    peak_memory("a transform, K = 22", lambda: bayes_optimal(dense, BinomialMeasure(3), method="transform"), 256)
    peak_memory("search, 2,000 x 1,000 x 50", lambda: bayes_optimal(many, BinomialMeasure(3), method="search"), 256)
    candidates = rng.integers(2, size=(5000, 50))
    peak_memory(
        "expected losses of 5,000 candidates, 2,000 x 1,000 x 50, and 76 MiB for the result",
        lambda: many.expected_loss(candidates, BinomialMeasure(3)),
        256,
    )
    few = LabelDistribution(many.labelsets, many.probabilities[:3])
    peak_memory(
        "branch and bound, 3 x 1,000 x 50, 20,000 nodes",
        lambda: bayes_optimal(few, BinomialMeasure(3), method="branch_and_bound"),
        256,
    )


def _name(measure: BinomialMeasure | PolynomialMeasure | AtLeastMeasure) -> str:
    (parameter,) = vars(measure).values()
    return f"{type(measure).__name__.removesuffix('Measure')}({parameter:g})"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200, help="rows on which search and branch and bound are compared")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    all_predictions(rng, options.repeats)
    many = many_instances(rng, options.repeats)
    overlap(rng, options.repeats)
    quality(rng, options.rows)
    memory(rng, many)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
