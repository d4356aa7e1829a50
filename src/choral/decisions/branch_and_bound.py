"""Proven optima for many labels where the distribution is peaked: decide label after label, most promising part first.

A node is a partial prediction; its bound (see `Risk.bound`) says that nothing below it has a smaller risk. Nodes are
taken from the lowest bound up, some at a time so that NumPy does the work, and dropped when they cannot beat the best
prediction known. The lowest bound of what is left is a bound on the optimum, also where the limit on nodes ends the
work.
"""

import heapq
from itertools import count
from typing import Any

import numpy as np
import scipy.sparse as sp

from choral.decisions.decision import Decision, bounded_decision
from choral.decisions.label_distribution import LabelDistribution
from choral.decisions.risks import Risk, make_risk
from choral.decisions.support import DenseInstances, Support, block_entries
from choral.decisions.ties import TOLERANCE, best_row, comes_first
from choral.overlap import LossForm

NODES_PER_STEP = 64
NOISE = 1e-14  # of two bounds that should be equal


def branch_and_bound(
    distribution: LabelDistribution,
    form: LossForm,
    known: Decision,
    instances: np.ndarray,
    *,
    node_limit: int,
    patience: int | None = None,
) -> Decision:
    """Prove or improve the known predictions for these instances, and settle ties that a search may have overlooked.

    With patience, so many instances in a row that are not proven end the work.
    """
    risk = make_risk(form, distribution.weights)
    labels, risks, bounds = known.labels.copy(), known.risk.copy(), known.lower_bound.copy()
    failures = 0
    for row in instances:
        weights = _row(distribution.weights, row)
        present = np.flatnonzero(weights)
        instance = DenseInstances(Support(distribution.labelsets[present]), weights[np.newaxis, present])
        tree = _Tree(risk, instance, labels[row])
        bound = tree.grow(node_limit)
        labels[row], risks[row] = tree.best()
        bounds[row] = max(bounds[row], bound)
        failures = failures + 1 if risks[row] - bounds[row] > TOLERANCE else 0
        if failures == patience:
            break
    return bounded_decision(labels, risks.clip(0, 1), bounds)


def _row(weights: Any, row: Any) -> np.ndarray:
    return weights[[row]].toarray()[0] if sp.issparse(weights) else weights[row]


class _Tree:
    """The search tree of one instance."""

    def __init__(self, risk: Risk, instance: DenseInstances, known: np.ndarray):
        self.risk = risk
        self.instance = instance
        self.n_labels = known.size
        self.solutions = known[np.newaxis]
        self.of_solutions = risk.risks(instance, self.solutions)
        self.heap: list[tuple[float, int, np.ndarray, np.ndarray, int]] = []
        self._number = count()  # breaks ties of the heap: arrays do not compare

    def best(self) -> tuple[np.ndarray, float]:
        """The best prediction known and its risk."""
        row = best_row(self.of_solutions, self.solutions)
        return self.solutions[row], self.of_solutions[row]

    def grow(self, node_limit: int) -> float:
        """Look at nodes until none is left or the limit is reached; a lower bound on the risk of all predictions."""
        root = np.zeros((1, self.n_labels), dtype=np.uint8)
        self._push(root, root)
        n_nodes, per_step = (
            1,
            max(1, min(NODES_PER_STEP, block_entries(self.solutions) // (2 * len(self.instance.support)))),
        )
        while self.heap and n_nodes < node_limit:
            labels, decided = self._children(per_step)
            n_nodes += len(labels)
            self._push(labels, decided)
        least = self.of_solutions.min()
        return min(least, self.heap[0][0]) if self.heap else least

    def _children(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Both values of the next label of the most promising nodes."""
        nodes = [heapq.heappop(self.heap) for _ in range(min(most, len(self.heap)))]
        bounds, _, without, decided, branches = (np.array(part) for part in zip(*nodes, strict=True))
        keep = self._may_be_better(bounds, without)  # more is known now than when they were put here
        without, decided, branches = without[keep], decided[keep], branches[keep]
        places = np.arange(branches.size), branches
        decided[places] = 1
        with_label = without.copy()
        with_label[places] = 1
        return np.concatenate([with_label, without]), np.concatenate([decided, decided])

    def _push(self, labels: np.ndarray, decided: np.ndarray) -> None:
        """Bound nodes, keep those that may hold something better, and see how good their likely ends are."""
        if not len(labels):
            return
        bound = self.risk.bound(self.instance, labels, decided)
        keep = self._may_be_better(bound.risks, labels)
        labels, decided, risks, ones, zeros = (part[keep] for part in (labels, decided, *bound))
        if not len(labels):
            return
        self._remember(labels | (ones > zeros))
        unfinished = np.flatnonzero(~decided.all(axis=1))
        branches = np.where(decided, -1.0, np.abs(ones - zeros)).argmax(axis=1)
        for node in unfinished.tolist():
            entry = (float(risks[node]), next(self._number), labels[node], decided[node], int(branches[node]))
            heapq.heappush(self.heap, entry)

    def _remember(self, labels: np.ndarray) -> None:
        """Of these and of the predictions known, keep the best in order and the best by a hair."""
        labels = np.concatenate([self.solutions, np.unique(labels, axis=0)])
        risks = np.concatenate([self.of_solutions, self.risk.risks(self.instance, labels[len(self.solutions) :])])
        kept = list({best_row(risks, labels), int(risks.argmin())})
        self.solutions, self.of_solutions = labels[kept], risks[kept]

    def _may_be_better(self, bounds: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Whether a node may hold a smaller risk, or an equal one that comes first in order."""
        least = self.of_solutions.min()
        first = comes_first(labels, np.broadcast_to(self.best()[0], labels.shape))  # with 0 for all that is not decided
        return (bounds < least - NOISE) | (first & (bounds <= least + TOLERANCE))
