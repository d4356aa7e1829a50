"""Results of a study made by hand, from losses alone: what claims and answers ask of results."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np

from choral import LossCurve, PairwiseCurve
from choral.stats import compare_ranks
from choral.study.comparisons import PLACES


class HandMade:
    """Losses at k = 1, 2, 3: data set -> learner -> losses."""

    families = ("binomial", "polynomial")
    confidence = 0.95
    each_loss = ()

    def __init__(self, losses, polynomial=None, baseline=None, learners=None, whole=True, folds=10):
        self.whole, self.folds = whole, folds
        self._losses = {"binomial": losses, "polynomial": polynomial or losses}
        self.datasets = tuple(losses)
        self.learners = learners or tuple(dict.fromkeys(name for row in losses.values() for name in row))
        self.baseline = baseline

    @property
    def competitors(self):
        return tuple(name for name in self.learners if name != self.baseline)

    def finished(self, dataset):
        return tuple(self._losses["binomial"][dataset])

    def parameters(self, dataset, family):
        return np.array([1, 2, 3] if family == "binomial" else [1.0, 30.0, 1000.0])

    def curve(self, dataset, learner, family):
        losses = self._losses[family][dataset][learner]
        return LossCurve(family, self.parameters(dataset, family), losses, n_labels=3, name=learner)

    def curves(self, dataset, family):
        return {name: self.curve(dataset, name, family) for name in self.finished(dataset)}

    def pairs(self, first, second, family):
        both = [data for data in self.datasets if {first, second} <= set(self.finished(data))]
        curves = [[self.curve(data, name, family) for name in (first, second)] for data in both]
        return {data: PairwiseCurve(*pair) for data, pair in zip(both, curves, strict=True)}

    def competitor_curves(self, dataset, family):
        return {name: curve for name, curve in self.curves(dataset, family).items() if name != self.baseline}

    def same_as_baseline(self, dataset):
        """Those whose losses are the baseline's: there are no predictions here."""
        rows = [self._losses[family][dataset] for family in self.families]
        alike = (name for name in rows[0] if all(row[name] == row.get(self.baseline) for row in rows))
        return tuple(name for name in alike if name != self.baseline)

    def n_folds(self, dataset):
        return self.folds

    def places(self, family):
        return PLACES if self.whole else {}

    def loss_at(self, dataset, learner, family, x):
        curve = self.curve(dataset, learner, family)
        return float(np.interp(x, curve.x, curve.losses))

    @property
    def complete_datasets(self):
        return [data for data in self.datasets if set(self.competitors) <= set(self.finished(data))]

    def ranks_or_none(self, family, x):
        datasets = self.complete_datasets
        if len(datasets) < 2:
            return None
        table = [[self.loss_at(data, name, family, x) for name in self.competitors] for data in datasets]
        return compare_ranks(table, self.competitors)

    def differences(self, dataset, family):
        """All differences of 0.05 and more are significant."""
        curves = self.competitor_curves(dataset, family)
        return {
            (a, b): SimpleNamespace(pvalue=np.where(np.abs(curves[a].losses - curves[b].losses) > 0.0499, 0.01, 0.5))
            for a, b in combinations(curves, 2)
        }
