"""Grows the same trees as `growing_kernel`, with NumPy alone: all cuts of all features of a node at a time."""

from typing import Any, NamedTuple

import numpy as np

from choral.trees.criteria import (
    AVERAGE_TOLERANCE,
    GAIN_RATIO,
    GINI,
    MAX_ROWS_PER_SIDE,
    MULTIPLIERS,
    NO_GAIN,
    SAME_NUMBER,
    SAME_VALUE,
    SQUARE_OF_FRACTIONS,
    Settings,
    Target,
)
from choral.trees.sorted_features import ABOVE, BELOW, MISSING, N_RUNS, SortedFeatures

LEAF = -1
APART = 2  # the cut between rows with a value and rows without, after those of both runs
TINY = np.finfo(float).tiny


class Entries(NamedTuple):
    """The features of a node, each with the rows of its three runs."""

    features: np.ndarray  # (n_listed,) their numbers
    rows: np.ndarray  # (n_entries,)
    values: np.ndarray
    runs: np.ndarray  # (n_entries,) three times the place of the feature in the list, plus which run it is

    def keep(self, mask: np.ndarray) -> "Entries":
        """Some of the entries."""
        return Entries(self.features, self.rows[mask], self.values[mask], self.runs[mask])

    def list_only(self, listed: np.ndarray) -> "Entries":
        """Some of the features, by their places, in the order given."""
        place = np.full(self.features.size, -1)
        place[listed] = np.arange(listed.size)
        runs = N_RUNS * place[self.runs // N_RUNS] + self.runs % N_RUNS
        kept = np.flatnonzero(runs >= 0)
        if np.any(np.diff(listed) < 0):
            kept = kept[np.argsort(runs[kept], kind="stable")]
        return Entries(self.features[listed], self.rows[kept], self.values[kept], runs[kept])


class Cuts(NamedTuple):
    """Places between two values at which a node may be split, all of shape (n_cuts,)."""

    place: np.ndarray  # of the feature in the list
    missing_left: np.ndarray
    run: np.ndarray
    rank: np.ndarray  # of equally good cuts of a run, the one with the least rank is taken
    threshold: np.ndarray
    out_size: np.ndarray  # the weight on one side
    score: np.ndarray

    def keep(self, mask: np.ndarray) -> "Cuts":
        """Some of the cuts."""
        return Cuts(*(part[mask] for part in self))

    def best_of_features(self) -> "Cuts":
        """The best cut of each feature, in the order of places."""
        if not self.place.size:
            return self
        best = np.full(self.place.max() + 1, -np.inf)
        np.maximum.at(best, self.place, self.score)
        tied = self.keep(self.score == best[self.place])
        order = np.lexsort((tied.rank, tied.run, tied.missing_left, tied.place))
        return tied.keep(order[np.flatnonzero(np.diff(tied.place[order], prepend=-1))])


class Node(NamedTuple):
    """A node that is being split."""

    rows: np.ndarray
    entries: Entries
    size: int  # its weight
    totals: np.ndarray  # the weight of each label, or of each class
    lengths: np.ndarray  # (n_listed, 3) of runs
    inner: np.ndarray  # (n_listed, 3) the value next to each run on its inner side; nan if there is none
    side: float  # the least weight of a side that C4.5 asks for
    score: float  # of no split at all


class Bases(NamedTuple):
    """Rows of a node that have no value of a feature: what is on the side to which they go before any other row is."""

    counts: np.ndarray  # (n_listed, n_outputs or n_classes) weights
    sizes: np.ndarray  # (n_listed,) weights


class NumpyGrower:
    """Grows one tree.

    Parameters
    ----------
    features : SortedFeatures
    columns : ndarray of int
        The features of this tree; of equally good ones the first is taken.
    target, settings
        What it learns, and how.
    bits : ndarray or None
        The table of ``c * log2(c)``.
    """

    def __init__(
        self, features: SortedFeatures, columns: np.ndarray, target: Target, settings: Settings, bits: np.ndarray | None
    ):
        self.target, self.settings, self.bits = target, settings, bits
        self.common, self.has_two = features.common, features.has_two
        self.is_gini, self.by_ratio = settings.criterion == GINI, settings.criterion == GAIN_RATIO
        self.weights, self.weighted = target.weights.astype(np.int64), target.weighted.astype(np.int64)
        self.has_labels = target.n_classes == 2
        lengths = np.diff(features.starts)
        runs = np.repeat(np.arange(lengths.size), lengths)
        whole = Entries(np.arange(features.n_features), features.rows.astype(np.intp), features.values, runs)
        self.root = whole.keep(self.weights[whole.rows] > 0).list_only(columns)

    def grow(self) -> tuple[np.ndarray, ...]:
        """The arrays of the tree, the training rows in the order of its leaves, and which of them come to each node."""
        node_rows = np.flatnonzero(self.weights > 0)
        nodes: list[list[Any]] = [[LEAF, LEAF, -2, -2.0, False, 0, node_rows.size]]
        waiting = [] if self._is_final(node_rows) else [(0, self.root)]
        while waiting:
            number, entries = waiting.pop()
            begin, end = nodes[number][5:]
            node = self._describe(node_rows[begin:end].copy(), entries)
            chosen, droppable = self._choose(node, number)
            if chosen is None:
                continue
            goes_left = self._goes_left(node, chosen)
            parts = [node.rows[goes_left[node.rows] == side] for side in (True, False)]
            middle = begin + parts[0].size
            node_rows[begin:end] = np.concatenate(parts)
            place = int(chosen.place[0])
            missing_left = bool(chosen.missing_left[0])
            if not node.lengths[place, MISSING]:
                missing_left = self.weights[parts[0]].sum() > self.weights[parts[1]].sum()
            first = len(nodes)
            nodes[number][:5] = first, first + 1, entries.features[place], chosen.threshold[0], missing_left
            nodes += [[LEAF, LEAF, -2, -2.0, False, begin, middle], [LEAF, LEAF, -2, -2.0, False, middle, end]]
            kept = entries.list_only(np.flatnonzero(~droppable))
            for child, part in sorted(
                enumerate(parts), key=lambda pair: -pair[1].size
            ):  # the smaller one is split first
                if not self._is_final(part):
                    waiting.append((first + child, kept.keep(goes_left[kept.rows] == (child == 0))))
        left, right, split_by, thresholds, missing, begins, ends = map(np.array, zip(*nodes, strict=True))
        return left, right, split_by, thresholds.astype(float), missing, node_rows, begins, ends

    def _count(self, rows: np.ndarray) -> np.ndarray:
        """The weight of each label, or of each class, among some rows."""
        if self.has_labels:
            return self.weighted[:, rows].sum(axis=1)
        counts = np.zeros(self.target.n_classes, dtype=np.int64)
        np.add.at(counts, self.target.codes[0, rows], self.weights[rows])
        return counts

    def _is_final(self, rows: np.ndarray) -> bool:
        size, totals = self.weights[rows].sum(), self._count(rows)
        if size < 2 * self.settings.least:
            return True
        return bool(np.isin(totals, (0, size)).all() if self.has_labels else (totals == size).any())

    def _describe(self, rows: np.ndarray, entries: Entries) -> Node:
        size, totals = int(self.weights[rows].sum()), self._count(rows)
        lengths = np.bincount(entries.runs, minlength=N_RUNS * entries.features.size).reshape(-1, N_RUNS)
        has_common = lengths.sum(axis=1) < rows.size
        common = self.common[entries.features][has_common, np.newaxis]
        inner = np.full(lengths.shape, np.nan, dtype=np.float32)
        inner[has_common] = common
        adjoining = ~has_common & (lengths[:, ABOVE] > 0)
        ends = np.cumsum(lengths.ravel()).reshape(lengths.shape)
        inner[adjoining, BELOW] = entries.values[ends[adjoining, ABOVE] - 1]
        side = min(0.1 * size / self.target.n_classes, MAX_ROWS_PER_SIDE / self.target.unit)
        none = np.zeros((1, totals.size), dtype=np.int64)
        score = self._scores(none, np.zeros(1, dtype=np.int64), totals, size)[0]
        return Node(rows, entries, size, totals, lengths, inner, max(side, float(self.settings.least)), score)

    def _choose(self, node: Node, number: int) -> tuple[Cuts | None, np.ndarray]:
        """The best split, if any, and which features no node below needs."""
        n_listed, features = node.entries.features.size, node.entries.features
        cuts = self._all_cuts(node)
        n_cuts = np.bincount(cuts.place, minlength=n_listed)
        visits = self._visits(features, number, n_cuts)
        droppable = (n_cuts == 0) & (visits < n_listed)
        asks = self.by_ratio & ~self.has_two[features]
        cuts = cuts.keep((visits < n_listed)[cuts.place] & (self._is_allowed(node, cuts) | ~asks[cuts.place]))
        best = cuts.best_of_features()
        if not best.place.size:
            return None, droppable
        if self.by_ratio:
            chosen = self._best_ratio(node, best, asks, np.bincount(cuts.place, minlength=n_listed))
        else:
            chosen = best.keep(np.lexsort((visits[best.place], -best.score))[:1])
            if self.settings.pays and not self._pays(node, chosen):
                chosen = None
        return chosen, droppable

    def _visits(self, features: np.ndarray, number: int, n_cuts: np.ndarray) -> np.ndarray:
        """When each listed feature is looked at; those that are not come last, with the number of features."""
        visits = np.arange(features.size)
        if self.settings.max_features >= self.common.size:
            return visits
        order = self._draw(features.size, number)
        before: np.ndarray = np.cumsum(n_cuts[order] > 0) - (n_cuts[order] > 0)
        visits[order] = np.where(before < self.settings.max_features, np.arange(features.size), features.size)
        return visits

    def _draw(self, n_features: int, number: int) -> np.ndarray:
        """Places in a random order, drawn one by one as the kernel does."""
        with np.errstate(over="ignore"):
            keys: np.ndarray = (
                np.uint64(number) * MULTIPLIERS[0] + np.arange(n_features, dtype=np.uint64) * MULTIPLIERS[1]
            )
            keys = keys + np.uint64(self.settings.seed)
            keys = (keys ^ (keys >> np.uint64(30))) * MULTIPLIERS[2]
            keys = (keys ^ (keys >> np.uint64(27))) * MULTIPLIERS[3]
            keys = keys ^ (keys >> np.uint64(31))
        steps = keys % np.arange(n_features, 0, -1, dtype=np.uint64)
        order = list(range(n_features))
        for visit, step in enumerate(steps.tolist()):
            order[visit], order[visit + step] = order[visit + step], order[visit]
        return np.array(order, dtype=np.intp)

    def _is_allowed(self, node: Node, cuts: Cuts) -> np.ndarray:
        return (cuts.out_size >= node.side) & (node.size - cuts.out_size >= node.side)

    def _all_cuts(self, node: Node) -> Cuts:
        """All cuts that leave enough weight on both sides."""
        with_missing = np.flatnonzero(node.lengths[:, MISSING])
        if not with_missing.size:
            return self._cuts_of_runs(node, self.by_ratio, None, False)
        bases = Bases(
            np.zeros((len(node.lengths), node.totals.size), dtype=np.int64),
            np.zeros(len(node.lengths), dtype=np.int64),
        )
        missing = node.entries.keep(node.entries.runs % N_RUNS == MISSING)
        for place in with_missing:
            rows = missing.rows[missing.runs // N_RUNS == place]
            bases.counts[place], bases.sizes[place] = self._count(rows), self.weights[rows].sum()
        out_size = bases.sizes[with_missing]
        scores = self._scores(bases.counts[with_missing], out_size, node.totals, node.size)
        nothing = np.zeros(with_missing.size, dtype=int)
        parts = [
            self._cuts_of_runs(node, self.by_ratio, bases, False),
            Cuts(with_missing, nothing, nothing + APART, nothing, nothing + np.inf, out_size, scores),
            self._cuts_of_runs(node, self.by_ratio, bases, True),
        ]
        cuts = Cuts(*(np.concatenate(part) for part in zip(*parts, strict=True)))
        least = self.settings.least
        return cuts.keep((cuts.out_size >= least) & (node.size - cuts.out_size >= least))

    def _cuts_of_runs(self, node: Node, by_ratio: bool, bases: Bases | None, missing_left: bool) -> Cuts:
        """Cuts between neighbouring values, with missing values on one side; ``bases`` is None where there are none."""
        is_known = node.entries.runs % N_RUNS != MISSING
        if missing_left:  # only features that have missing values
            is_known &= node.lengths[node.entries.runs // N_RUNS, MISSING] > 0
        entries = node.entries.keep(is_known)
        place, run = entries.runs // N_RUNS, entries.runs % N_RUNS
        has_base = (run == BELOW) == missing_left
        starts_run = np.diff(entries.runs, prepend=-1) > 0
        sizes = _cumulate(self.weights[entries.rows], starts_run)
        if bases is not None:
            sizes += np.where(has_base, bases.sizes[place], 0)
        following = np.append(entries.values[1:], np.float32(np.nan))
        ends_run = np.append(starts_run[1:], True)
        following = np.where(ends_run, node.inner[place, run], following)
        low, high = np.minimum(entries.values, following), np.maximum(entries.values, following)
        least = self.settings.least
        are_apart = high - low > SAME_VALUE if by_ratio else high > low + SAME_NUMBER
        cuts = np.flatnonzero(are_apart & (sizes >= least) & (node.size - sizes >= least))
        scores = self._run_scores(entries, starts_run, cuts, sizes[cuts], has_base, bases, node)
        low, high = low[cuts].astype(float), high[cuts].astype(float)
        middle = low / 2 + high / 2
        rank = np.where(run == ABOVE, -np.arange(run.size), np.arange(run.size))
        return Cuts(
            place[cuts],
            np.full(cuts.size, int(missing_left)),
            run[cuts],
            rank[cuts],
            np.where(middle == high, low, middle),
            sizes[cuts],
            scores,
        )

    def _run_scores(
        self,
        entries: Entries,
        starts_run: np.ndarray,
        cuts: np.ndarray,
        out_sizes: np.ndarray,
        has_base: np.ndarray,
        bases: Bases | None,
        node: Node,
    ) -> np.ndarray:
        place = entries.runs // N_RUNS
        outside, inside = np.zeros(cuts.size), np.zeros(cuts.size)
        if self.has_labels:
            varied = np.flatnonzero((node.totals != 0) & (node.totals != node.size))
            for label in varied:
                counts = _cumulate(self.weighted[label, entries.rows], starts_run)[cuts]
                if bases is not None:
                    counts += (has_base * bases.counts[place, label])[cuts]
                self._add_label(label, counts, out_sizes, node.totals[label], node.size, outside, inside)
            return self._by_sides(outside, inside, out_sizes, node.size, varied.size)
        codes, weights = self.target.codes[0, entries.rows].astype(np.int64), self.weights[entries.rows]
        before = _earlier_weight(entries.runs, codes, weights, self.target.n_classes)
        if bases is not None:
            before += has_base * bases.counts[place, codes]
        rest, of_totals = node.totals[codes] - before, self._of_class(node.totals).sum()
        outside = _cumulate(self._of_class(before + weights) - self._of_class(before), starts_run)[cuts]
        inside = _cumulate(self._of_class(rest - weights) - self._of_class(rest), starts_run)[cuts] + of_totals
        if bases is not None:
            of_bases = self._of_class(bases.counts).sum(axis=1)
            of_rests = self._of_class(node.totals - bases.counts).sum(axis=1) - of_totals
            outside += (has_base * of_bases[place])[cuts]
            inside += (has_base * of_rests[place])[cuts]
        return self._by_sides(outside, inside, out_sizes, node.size, 1)

    def _scores(self, outside_counts: np.ndarray, out_sizes: np.ndarray, totals: np.ndarray, size: int) -> np.ndarray:
        """Scores of splits of which one side has these counts, of shape (n_splits, n_outputs or n_classes)."""
        outside, inside = np.zeros(len(out_sizes)), np.zeros(len(out_sizes))
        if self.has_labels:
            varied = np.flatnonzero((totals != 0) & (totals != size))
            for label in varied:
                self._add_label(label, outside_counts[:, label], out_sizes, totals[label], size, outside, inside)
            return self._by_sides(outside, inside, out_sizes, size, varied.size)
        outside, inside = (
            self._of_class(outside_counts).sum(axis=1),
            self._of_class(totals - outside_counts).sum(axis=1),
        )
        return self._by_sides(outside, inside, out_sizes, size, 1)

    def _add_label(
        self,
        label: Any,
        counts: np.ndarray,
        out_sizes: np.ndarray,
        total: int,
        size: int,
        outside: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        """Add what a label does for the scores; ``outside`` and ``inside`` are changed."""
        rest = total - counts
        if self.is_gini:
            weight = self.target.label_weights[label]
            outside += weight * (counts.astype(float) * counts)
            inside += weight * (rest.astype(float) * rest)
        else:
            outside += self._information(counts) + self._information(out_sizes - counts)
            outside += self._information(rest) + self._information(size - out_sizes - rest)

    def _by_sides(
        self, outside: np.ndarray, inside: np.ndarray, out_sizes: np.ndarray, size: int, n_outputs: int
    ) -> np.ndarray:
        if self.is_gini:
            return outside / np.maximum(out_sizes, 1) + inside / np.maximum(size - out_sizes, 1)
        return outside + inside - n_outputs * (self._information(out_sizes) + self._information(size - out_sizes))

    def _information(self, counts: Any) -> np.ndarray:
        """``c * log2(c)``, as a whole number of parts of a bit."""
        if self.bits is not None:
            return self.bits[counts]
        floats = np.asarray(counts, dtype=float)
        return np.rint(floats * np.log2(np.maximum(floats, 1)) * self.target.scale)

    def _of_class(self, counts: np.ndarray) -> np.ndarray:
        """What a class adds to the score of a side."""
        if not self.is_gini:
            return self._information(counts)
        squares = np.asarray(counts, dtype=float) ** 2
        return squares if self.bits is not None else np.rint(squares * SQUARE_OF_FRACTIONS)

    def _best_ratio(self, node: Node, best: Cuts, asks: np.ndarray, n_allowed: np.ndarray) -> Cuts | None:
        """The feature with the largest ratio of gain and cost among those whose gain is at least the average."""
        scale, unit = self.target.scale, self.target.unit
        prices = np.where(asks[best.place], np.log2(n_allowed[best.place]), 0.0)
        gains = ((best.score - node.score) / scale - prices / unit) / node.size
        if not (gains > 0).any():
            return None
        information = [
            self._information(part) for part in (np.int64(node.size), best.out_size, node.size - best.out_size)
        ]
        costs = np.maximum((information[0] - information[1] - information[2]) / scale / node.size, TINY)
        positive = gains[gains > 0]
        average = np.cumsum(positive)[-1] / positive.size  # summed in order, as the kernel does
        enough = gains >= max(average - AVERAGE_TOLERANCE, TINY)
        return best.keep(np.array([np.where(enough, gains / costs, -np.inf).argmax()]))

    def _pays(self, node: Node, chosen: Cuts) -> bool:
        """Whether the gain of a split is more than the price of having been chosen among many."""
        gain = (chosen.score[0] - node.score) / self.target.scale * self.target.unit
        of_feature = node.entries.runs // N_RUNS == chosen.place[0]
        only = node._replace(entries=node.entries.keep(of_feature))
        cuts = self._cuts_of_runs(only, True, None, False)
        n_allowed = max(int(self._is_allowed(node, cuts).sum()), 1)
        return gain - NO_GAIN * float(node.size) * self.target.unit > np.log2(float(n_allowed))

    def _goes_left(self, node: Node, chosen: Cuts) -> np.ndarray:
        """Which rows go left; of rows of other nodes it says nothing."""
        entries, place, threshold = node.entries, chosen.place[0], chosen.threshold[0]
        goes_left = np.full(self.weights.size, self.common[entries.features[place]] <= threshold)
        own = entries.keep(entries.runs // N_RUNS == place)
        is_missing = own.runs % N_RUNS == MISSING
        goes_left[own.rows] = np.where(is_missing, chosen.missing_left[0] == 1, own.values.astype(float) <= threshold)
        return goes_left


def _cumulate(numbers: np.ndarray, starts_run: np.ndarray) -> np.ndarray:
    """Cumulative sums within runs; exact, as the numbers are whole."""
    sums = np.cumsum(numbers)
    first = np.flatnonzero(starts_run)
    before = (sums - numbers)[first]
    return sums - np.repeat(before, np.diff(np.append(first, numbers.size)))


def _earlier_weight(runs: np.ndarray, codes: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """The weight of the rows of the same class that come before each, in its run."""
    keys = runs * n_classes + codes
    order = np.argsort(keys, kind="stable")
    earlier = np.empty(weights.size, dtype=np.int64)
    sums = _cumulate(weights[order], np.diff(keys[order], prepend=-1) > 0)
    earlier[order] = sums - weights[order]
    return earlier
