"""The engine that grows trees, compiled by numba; `growing_numpy` grows the same trees more slowly.

Rows and values of each run of a feature are kept in the order of the values, and each split parts them in place. So a
node costs as many steps as it has entries, and nothing is sorted again. All sums are of whole numbers that floats hold
exactly: no order of rows, features or threads changes a tree.

Places in arrays are unsigned: of a signed one, numba asks whether it counts from the end. Loops are short and do one
thing each: compilers turn such loops into instructions for several numbers at a time. No function makes an array: numba
then counts no references to arrays, which took most of the time (`compiling.lean`).
"""

from typing import NamedTuple

import numpy as np

from choral.trees.compiling import inlined, lean
from choral.trees.criteria import (
    AVERAGE_TOLERANCE,
    GAIN_RATIO,
    MAX_ROWS_PER_SIDE,
    MULTIPLIERS,
    NO_GAIN,
    SAME_NUMBER,
    SAME_VALUE,
    SQUARE_OF_FRACTIONS,
)
from choral.trees.sorted_features import ABOVE, BELOW, MISSING, N_RUNS
from choral.trees.tree_arrays import LEAF, NOTHING

NO_SCORE = -np.inf  # of a feature that cannot be split
TINY = np.finfo(np.float64).tiny
ZERO, ONE = np.uint64(0), np.uint64(1)
BLOCK = 256  # rows of a run that are taken at a time


class Node(NamedTuple):
    """A node that is being split."""

    n_rows: int
    size: np.uint64  # its weight
    totals: np.ndarray  # the weight of each label, or of each class
    varied: np.ndarray  # the labels that some rows have and some have not
    of_classes: float  # the sum over classes of c log c, or of squares
    score: float  # of no split at all
    least: np.uint64  # the least weight of a side
    side: float  # and the one that C4.5 asks for
    has_units: bool  # whether each row has weight 1


class Nodes(NamedTuple):
    """The nodes of the tree, all but the last of shape (max_nodes,)."""

    left: np.ndarray
    right: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    begins: np.ndarray  # the rows of a node are rows[begin:end]
    ends: np.ndarray
    rows: np.ndarray  # (n_rows with weight,) of uint32


class Lists(NamedTuple):
    """For each level of nodes that wait, one at each: the node, its features, and where the runs of these are."""

    nodes: np.ndarray  # (n_levels,)
    sizes: np.ndarray  # (n_levels,) weights
    totals: np.ndarray  # (n_levels, n_outputs or n_classes) weights
    n_features: np.ndarray  # (n_levels,)
    features: np.ndarray  # (n_levels, n_features)
    starts: np.ndarray  # (n_levels, 3 * n_features)
    lengths: np.ndarray  # (n_levels, 3 * n_features)
    rows: np.ndarray  # (n_entries,) of uint32, of all runs
    values: np.ndarray  # (n_entries,) of float32


class Choice(NamedTuple):
    """What is known of the features of a node while the best is sought, all of shape (n_features,)."""

    order: np.ndarray  # in which they are looked at
    droppable: np.ndarray  # whether no node below needs the feature
    gains: np.ndarray
    costs: np.ndarray
    thresholds: np.ndarray
    missing_left: np.ndarray


class Buffers(NamedTuple):
    """Places to work in. Runs are taken in blocks, so that what belongs to a block fits into the nearest cache."""

    sizes: np.ndarray  # (BLOCK + 1,) as the next five
    cuts: np.ndarray
    running: np.ndarray
    outside: np.ndarray
    inside: np.ndarray
    scores: np.ndarray
    sums: np.ndarray  # (2,) sums over classes, outside and inside
    counts: np.ndarray  # (n_outputs or n_classes,) what is outside
    bases: np.ndarray  # (n_outputs or n_classes,) of the missing rows of a feature
    varied: np.ndarray  # (n_outputs or n_classes,) labels
    of_left: np.ndarray  # (n_outputs or n_classes,) of the left child
    of_right: np.ndarray
    steps: np.ndarray  # by how much c log c grows with c; empty where there is no table, or it is not needed
    sides: np.ndarray  # what the sizes of both sides take off a score, by the size of one; for rows of weight 1
    rows: np.ndarray  # (n_rows,) of uint32: rows that go right
    values: np.ndarray  # (n_rows,) of float32
    goes_left: np.ndarray  # (n_rows,) of uint8


class Split(NamedTuple):
    """The best split of a feature, or of a part of it."""

    score: float
    threshold: float
    missing_left: bool
    out_size: np.uint64  # the weight of one side
    n_cuts: int  # how many cuts leave enough weight on both sides
    n_allowed: int  # how many of them C4.5 allows


@inlined
def information(count, bits, scale):
    """``count * log2(count)``, as a whole number of parts of a bit: from a table, or computed where there is none."""
    if bits is None:
        return 0.0 if count == 0 else np.rint(np.float64(count) * np.log2(np.float64(count)) * scale)
    return bits[count]


@inlined
def of_class(count, bits, scale, gini):
    """What a class adds to the score of a side."""
    if gini is None:
        return information(count, bits, scale)
    square = np.float64(count) * np.float64(count)
    if bits is None:
        return np.rint(square * SQUARE_OF_FRACTIONS)
    return square


@inlined
def random_key(seed, number, draw):
    """A random number for each draw at each node (splitmix64), the same whichever nodes were split before."""
    key = np.uint64(seed) + np.uint64(number) * MULTIPLIERS[0] + np.uint64(draw) * MULTIPLIERS[1]
    key = (key ^ (key >> np.uint64(30))) * MULTIPLIERS[2]
    key = (key ^ (key >> np.uint64(27))) * MULTIPLIERS[3]
    return key ^ (key >> np.uint64(31))


@inlined
def are_apart(one, other, by_ratio):
    """Whether there may be a cut between two values; not if one is nan."""
    low, high = min(one, other), max(one, other)
    return high - low > SAME_VALUE if by_ratio else high > low + SAME_NUMBER


@inlined
def find_cuts(values, inner, sizes, node, by_ratio, cuts):
    """The places of a run after which there is a cut: the next value is another, and both sides have enough weight."""
    n_cuts = ZERO
    last = np.uint64(values.size - 1)
    for i in range(last):
        enough = (sizes[i] >= node.least) & (node.size - sizes[i] >= node.least)
        cuts[n_cuts] = i
        n_cuts += np.uint64(are_apart(values[i], values[i + ONE], by_ratio) & enough)
    outer = values[last]
    if are_apart(outer, inner, by_ratio):  # not if inner is nan: then nothing is further in
        cuts[n_cuts] = last
        n_cuts += np.uint64((sizes[last] >= node.least) & (node.size - sizes[last] >= node.least))
    return np.int64(n_cuts)


@inlined
def start_run(target, node, with_missing, bits, gini, buffers):
    """Nothing is outside yet, or the missing rows of the feature."""
    if target.n_classes == 2:
        for label in node.varied:
            buffers.counts[label] = buffers.bases[label] if with_missing else ZERO
        return
    buffers.counts[:] = 0
    buffers.sums[0], buffers.sums[1] = 0.0, node.of_classes
    if with_missing:
        for c in range(node.totals.size):
            taken, total = buffers.bases[c], node.totals[c]
            buffers.counts[c] = taken
            buffers.sums[0] += of_class(taken, bits, target.scale, gini)
            buffers.sums[1] += of_class(total - taken, bits, target.scale, gini)
            buffers.sums[1] -= of_class(total, bits, target.scale, gini)


@inlined
def score_labels(rows, target, node, cuts, bits, gini, buffers):
    """Score each cut of a block by how well it parts the labels that vary: the larger, the better."""
    sizes, running, outside, inside = buffers.sizes, buffers.running, buffers.outside, buffers.inside
    size, scale = node.size, target.scale
    n_cuts, n_rows = np.uint64(cuts.size), np.uint64(rows.size)
    for c in range(n_cuts):
        outside[c] = 0.0
        inside[c] = 0.0
    for label in node.varied:
        column, total, count = target.weighted[label], node.totals[label], buffers.counts[label]
        for i in range(n_rows):
            count += column[rows[i]]
            running[i] = count
        buffers.counts[label] = count
        if gini is not None:
            weight = target.label_weights[label]
            for c in range(n_cuts):
                out = np.float64(running[cuts[c]])
                rest = np.float64(total) - out
                outside[c] += weight * (out * out)
                inside[c] += weight * (rest * rest)
        else:
            others = size - total
            for c in range(n_cuts):
                out = running[cuts[c]]
                without = sizes[cuts[c]] - out
                outside[c] += (
                    information(out, bits, scale)
                    + information(without, bits, scale)
                    + information(total - out, bits, scale)
                    + information(others - without, bits, scale)
                )
    by_sides(np.float64(node.varied.size), node, cuts, target, bits, gini, buffers)


@inlined
def two_sides(size, node, bits, scale):
    """What the sizes of both sides take off a score."""
    return information(size, bits, scale) + information(node.size - size, bits, scale)


@inlined
def by_sides(n_outputs, node, cuts, target, bits, gini, buffers):
    """Turn sums over labels or classes into scores."""
    sizes, outside, inside, scores = buffers.sizes, buffers.outside, buffers.inside, buffers.scores
    for c in range(np.uint64(cuts.size)):
        out_size = sizes[cuts[c]]
        if gini is not None:
            scores[c] = outside[c] / np.float64(out_size) + inside[c] / np.float64(node.size - out_size)
        elif node.has_units:
            scores[c] = outside[c] - n_outputs * buffers.sides[out_size]
        else:
            scores[c] = outside[c] - n_outputs * two_sides(out_size, node, bits, target.scale)


@inlined
def score_classes(rows, target, node, cuts, bits, gini, buffers):
    """Score each cut of a block by how well it parts the classes of one output."""
    codes, weights, totals, left, scale = target.codes[0], target.weights, node.totals, buffers.counts, target.scale
    outside, inside = buffers.sums[0], buffers.sums[1]
    first, n_cuts = ZERO, np.uint64(cuts.size)
    for c in range(n_cuts + ONE):
        end = cuts[c] + ONE if c < n_cuts else np.uint64(rows.size)
        for i in range(first, end):
            code = codes[rows[i]]
            before, total = left[code], totals[code]
            if node.has_units and gini is None and bits is not None:
                left[code] = before + ONE
                outside += buffers.steps[before]
                inside -= buffers.steps[total - before - ONE]
            else:
                after = before + weights[rows[i]]
                left[code] = after
                outside += of_class(after, bits, scale, gini) - of_class(before, bits, scale, gini)
                inside += of_class(total - after, bits, scale, gini) - of_class(total - before, bits, scale, gini)
        if c < n_cuts:
            if gini is None:
                buffers.outside[c] = outside + inside
            else:
                buffers.outside[c] = outside
                buffers.inside[c] = inside
        first = end
    buffers.sums[0], buffers.sums[1] = outside, inside
    by_sides(1.0, node, cuts, target, bits, gini, buffers)


@inlined
def best_cut(rows, values, inner, is_above, target, node, with_missing, base_size, bits, gini, by_ratio, asks, buffers):
    """The best cut of a run, with the missing rows of the feature outside or inside; the lowest of several."""
    sizes = buffers.sizes
    start_run(target, node, with_missing, bits, gini, buffers)
    score, threshold, best_size, n_cuts, n_allowed = NO_SCORE, 0.0, ZERO, 0, 0
    size, n_rows = base_size, np.uint64(rows.size)
    for first in range(ZERO, n_rows, np.uint64(BLOCK)):
        end = min(first + np.uint64(BLOCK), n_rows)
        block, block_values = rows[first:end], values[first:end]
        for i in range(end - first):
            size += target.weights[block[i]]
            sizes[i] = size
        following = inner if end == n_rows else values[end]
        n_found = find_cuts(block_values, following, sizes, node, by_ratio, buffers.cuts)
        if n_found == 0 and end == n_rows:
            break
        cuts = buffers.cuts[:n_found]
        if target.n_classes == 2:
            score_labels(block, target, node, cuts, bits, gini, buffers)
        else:
            score_classes(block, target, node, cuts, bits, gini, buffers)
        n_cuts += n_found
        best = -1
        for c in range(n_found):
            out_size, found = sizes[cuts[c]], buffers.scores[c]
            allowed = not asks or (out_size >= node.side and node.size - out_size >= node.side)
            n_allowed += allowed
            if allowed and (found > score or (is_above and found == score)):
                best, score = c, found
        if best >= 0:
            place = cuts[best]
            other = following if place + ONE == end - first else block_values[place + ONE]
            threshold, best_size = between(block_values[place], other), sizes[place]
    return Split(score, threshold, False, best_size, n_cuts, n_allowed)


@inlined
def between(one, other):
    """The threshold between two values, on the side of the lower one."""
    low, high = np.float64(min(one, other)), np.float64(max(one, other))
    middle = low / 2 + high / 2
    return low if middle == high else middle


@inlined
def best_of_feature(rows, values, starts, lengths, at, common, target, node, bits, gini, by_ratio, asks, buffers):
    """The best split of the feature whose runs start ``at`` a place; rows without a value go where they fit better."""
    n_missing = lengths[at + MISSING]
    has_common = lengths[at + BELOW] + lengths[at + ABOVE] + n_missing < node.n_rows
    inner_below, inner_above = np.float32(np.nan), np.float32(np.nan)
    if has_common:
        inner_below = inner_above = common
    elif lengths[at + ABOVE] > 0:
        inner_below = values[starts[at + ABOVE] + lengths[at + ABOVE] - 1]
    best = Split(NO_SCORE, 0.0, False, ZERO, 0, 0)
    n_cuts, n_allowed = 0, 0
    missing_size = ZERO
    if n_missing > 0:
        first = starts[at + MISSING]
        missing_size = count_rows(rows[first : first + n_missing], target, buffers.bases)
    for missing_left in range(2 if n_missing > 0 else 1):
        for run in range(2):
            length = lengths[at + run]
            if length == 0:
                continue
            first, end = starts[at + run], starts[at + run] + length
            inner = inner_below if run == BELOW else inner_above
            if n_missing == 0 and has_common and values[first] == values[end - 1]:
                found = only_cut(rows, values, first, end, common, target, node, bits, gini, by_ratio, asks, buffers)
            else:
                with_missing = n_missing > 0 and (run == BELOW) == (missing_left == 1)
                base_size = missing_size if with_missing else ZERO
                found = best_cut(
                    rows[first:end], values[first:end], inner, run == ABOVE, target, node, with_missing, base_size,
                    bits, gini, by_ratio, asks, buffers,
                )  # fmt: skip
            n_cuts += found.n_cuts
            n_allowed += found.n_allowed
            if found.score > best.score:
                best = Split(found.score, found.threshold, missing_left == 1, found.out_size, 0, 0)
        if n_missing > 0 and missing_left == 0 and n_missing < node.n_rows:  # those with a value, and those without
            enough = missing_size >= node.least and node.size - missing_size >= node.least
            allowed = not asks or (missing_size >= node.side and node.size - missing_size >= node.side)
            n_cuts += enough
            n_allowed += enough and allowed
            if enough and allowed:
                first = starts[at + MISSING]
                apart = score_part(rows, first, first + n_missing, missing_size, target, node, bits, gini, buffers)
                if apart > best.score:
                    best = Split(apart, np.inf, False, missing_size, 0, 0)
    return Split(best.score, best.threshold, best.missing_left, best.out_size, n_cuts, n_allowed)


@inlined
def only_cut(rows, values, first, end, common, target, node, bits, gini, by_ratio, asks, buffers):
    """The cut of a run whose values are all the same: between them and the common value."""
    size = np.uint64(end - first)
    if not node.has_units:
        size = ZERO
        for i in range(np.uint64(first), np.uint64(end)):
            size += target.weights[rows[i]]
    if size < node.least or node.size - size < node.least or not are_apart(values[first], common, by_ratio):
        return Split(NO_SCORE, 0.0, False, ZERO, 0, 0)
    if asks and (size < node.side or node.size - size < node.side):
        return Split(NO_SCORE, 0.0, False, ZERO, 1, 0)
    score = score_part(rows, first, end, size, target, node, bits, gini, buffers)
    return Split(score, between(values[first], common), False, size, 1, 1)


@inlined
def score_part(rows, first, end, size, target, node, bits, gini, buffers):
    """The score of a split into some rows and the others."""
    outside, inside, n_outputs, scale = 0.0, 0.0, 1.0, target.scale
    others, begin, stop = node.size - size, np.uint64(first), np.uint64(end)
    if target.n_classes == 2:
        n_outputs = np.float64(node.varied.size)
        for label in node.varied:
            column, out = target.weighted[label], ZERO
            for i in range(begin, stop):
                out += column[rows[i]]
            rest = node.totals[label] - out
            if gini is not None:
                weight = target.label_weights[label]
                outside += weight * (np.float64(out) * np.float64(out))
                inside += weight * (np.float64(rest) * np.float64(rest))
            else:
                outside += information(out, bits, scale) + information(size - out, bits, scale)
                inside += information(rest, bits, scale) + information(others - rest, bits, scale)
    else:
        codes, counts, inside = target.codes[0], buffers.counts, node.of_classes
        counts[:] = 0
        for i in range(begin, stop):
            counts[codes[rows[i]]] += ONE if node.has_units else np.uint64(target.weights[rows[i]])
        # Each class once: by its number, or where it is first met if there are more classes than rows.
        n_places = min(np.uint64(counts.size), stop - begin)
        for place in range(n_places):
            code = place if n_places == counts.size else np.uint64(codes[rows[begin + place]])
            out, total = counts[code], node.totals[code]
            counts[code] = 0
            if out > 0:
                outside += of_class(out, bits, scale, gini)
                inside += of_class(total - out, bits, scale, gini) - of_class(total, bits, scale, gini)
    if gini is not None:
        return outside / np.float64(size) + inside / np.float64(others)
    return outside + inside - n_outputs * (information(size, bits, scale) + information(others, bits, scale))


@inlined
def count_rows(rows, target, counts):
    """The weight of some rows; that of each label, or of each class, is put into ``counts``."""
    counts[:] = 0
    size = ZERO
    for i in range(np.uint64(rows.size)):
        size += target.weights[rows[i]]
    if target.n_classes == 2:
        for label in range(np.uint64(counts.size)):
            column, count = target.weighted[label], ZERO
            for i in range(np.uint64(rows.size)):
                count += column[rows[i]]
            counts[label] = count
    else:
        for i in range(np.uint64(rows.size)):
            counts[target.codes[0, rows[i]]] += target.weights[rows[i]]
    return size


@inlined
def is_final(size, totals, target, least):
    """Whether a node is a leaf: too small to be split, or all rows have the same labels."""
    if size < least + least:
        return True
    n_whole, n_empty = 0, 0
    for total in totals:
        n_whole += total == size
        n_empty += total == 0
    return n_whole + n_empty == totals.size if target.n_classes == 2 else n_whole > 0


@inlined
def describe_node(n_rows, size, totals, target, settings, bits, gini, varied):
    """What the scores of all splits of a node share."""
    scale = target.scale
    n_varied, of_classes, score = 0, 0.0, 0.0
    if target.n_classes == 2:
        for label in range(totals.size):
            total = totals[label]
            if total != 0 and total != size:
                varied[n_varied] = label
                n_varied += 1
                if gini is not None:
                    score += target.label_weights[label] * (np.float64(total) * np.float64(total))
                else:
                    score += information(total, bits, scale) + information(size - total, bits, scale)
        score = score / np.float64(size) if gini is not None else score - n_varied * information(size, bits, scale)
    else:
        for total in totals:
            of_classes += of_class(total, bits, scale, gini)
        score = of_classes / np.float64(size) if gini is not None else of_classes - information(size, bits, scale)
    side = min(0.1 * np.float64(size) / target.n_classes, MAX_ROWS_PER_SIDE / target.unit)
    least = np.uint64(settings.least)
    side, has_units = max(side, np.float64(least)), np.uint64(n_rows) == size
    return Node(n_rows, size, totals, varied[:n_varied], of_classes, score, least, side, has_units)


@inlined
def count_allowed(rows, values, starts, lengths, common, target, node):
    """How many cuts of a feature C4.5 allows: the number of which a split was the best."""
    inner_below, inner_above = np.float32(np.nan), np.float32(np.nan)
    if lengths[BELOW] + lengths[ABOVE] + lengths[MISSING] < node.n_rows:
        inner_below = inner_above = common
    elif lengths[ABOVE] > 0:
        inner_below = values[starts[ABOVE] + lengths[ABOVE] - 1]
    n_allowed = 0
    for run in range(2):
        if lengths[run] == 0:
            continue
        inner = inner_below if run == BELOW else inner_above
        size, end = ZERO, starts[run] + lengths[run]
        for i in range(starts[run], end):
            size += target.weights[rows[i]]
            outer, other = values[i], values[i + 1] if i + 1 < end else inner
            n_allowed += are_apart(outer, other, True) and size >= node.side and node.size - size >= node.side
    return n_allowed


@inlined
def part_rows(here, goes_left, spare):
    """Put the rows that go left before the others, which stay in ``spare`` too; how many go left."""
    n_left, n_right = ZERO, ZERO
    for i in range(np.uint64(here.size)):
        row = here[i]
        goes = np.uint64(goes_left[row])
        here[n_left] = row
        spare[n_right] = row
        n_left += goes
        n_right += ONE - goes
    for i in range(n_right):
        here[n_left + i] = spare[i]
    return np.int64(n_left)


@inlined
def part_run(rows, values, first, end, goes_left, keeps_left, keeps_right, spare_rows, spare_values):
    """Put the rows of a run that go left before the others, each in their order; how many go left.

    Of a child that is a leaf nothing need be kept.
    """
    begin, stop = np.uint64(first), np.uint64(end)
    kept, n_right = begin, ZERO
    if values[begin] == values[stop - ONE]:  # all are the same: only rows change places
        n_left = part_rows(rows[first:end], goes_left, spare_rows)
        if not keeps_left:
            for i in range(stop - begin - np.uint64(n_left)):
                rows[begin + i] = spare_rows[i]
        return n_left
    if keeps_left and keeps_right:
        for i in range(begin, stop):
            row, value = rows[i], values[i]
            left = np.uint64(goes_left[row])
            rows[kept] = row
            values[kept] = value
            spare_rows[n_right] = row
            spare_values[n_right] = value
            kept += left
            n_right += ONE - left
        for i in range(n_right):
            rows[kept + i] = spare_rows[i]
            values[kept + i] = spare_values[i]
        return np.int64(kept - begin)
    for i in range(begin, stop):
        row, value = rows[i], values[i]
        rows[kept] = row
        values[kept] = value
        kept += np.uint64((goes_left[row] != 0) == keeps_left)
    return np.int64(kept - begin if keeps_left else stop - kept)


@inlined
def mark_left(rows, values, starts, lengths, common, split, node_rows, goes_left):
    """Which rows of a node go left."""
    threshold = split.threshold
    of_common = common <= threshold
    for i in range(np.uint64(node_rows.size)):
        goes_left[node_rows[i]] = of_common
    for run in range(2):
        for i in range(starts[run], starts[run] + lengths[run]):
            goes_left[rows[i]] = np.float64(values[i]) <= threshold
    for i in range(starts[MISSING], starts[MISSING] + lengths[MISSING]):
        goes_left[rows[i]] = split.missing_left


@inlined
def choose_feature(lists, level, common, has_two, target, node, settings, bits, gini, number, choice, buffers):
    """The place of the best feature in the list of a node, or -1, and its split; which features no node below needs."""
    listed, starts = lists.features[level, : lists.n_features[level]], lists.starts[level]
    rows, values, lengths = lists.rows, lists.values, lists.lengths[level]
    by_ratio, draws = settings.criterion == GAIN_RATIO, settings.max_features < common.size
    gains, costs, order, droppable = choice.gains, choice.costs, choice.order, choice.droppable
    for place in range(listed.size):
        gains[place], order[place], droppable[place] = -1.0, place, False
    best_place, best, n_visited = -1, Split(NO_SCORE, 0.0, False, ZERO, 0, 0), 0
    for visit in range(listed.size):
        if draws:  # one of those that were not drawn yet
            n_left = np.uint64(listed.size - visit)
            drawn = visit + np.int64(random_key(settings.seed, number, visit) % n_left)
            order[visit], order[drawn] = order[drawn], order[visit]
        place = order[visit]
        feature = listed[place]
        asks = by_ratio and not has_two[feature]
        split = best_of_feature(
            rows, values, starts, lengths, N_RUNS * place, common[feature], target, node, bits, gini, by_ratio, asks,
            buffers,
        )  # fmt: skip
        droppable[place] = split.n_cuts == 0
        if split.score > best.score:
            best_place, best = place, split
        if by_ratio and split.n_allowed > 0:
            gains[place], costs[place] = gain_and_cost(split, asks, target, node, bits)
            choice.thresholds[place], choice.missing_left[place] = split.threshold, split.missing_left
        n_visited += split.n_cuts > 0
        if n_visited >= settings.max_features:
            break
    if by_ratio:
        best_place = best_ratio(gains[: listed.size], costs)
        best = Split(0.0, choice.thresholds[best_place], choice.missing_left[best_place], ZERO, 0, 0)
    return best_place, best


@inlined
def gain_and_cost(split, asks, target, node, bits):
    """The gain of a split, less what it pays for being the best of many, and the information in the split itself."""
    price = np.log2(np.float64(split.n_allowed)) if asks else 0.0
    gain = (split.score - node.score) / target.scale - price / target.unit
    cost = information(node.size, bits, target.scale) - information(split.out_size, bits, target.scale)
    cost -= information(node.size - split.out_size, bits, target.scale)
    size = np.float64(node.size)
    return gain / size, max(cost / target.scale / size, TINY)


@inlined
def best_ratio(gains, costs):
    """The place of the largest ratio of gain and cost among gains of at least the average; -1 if none is positive."""
    total, n_positive = 0.0, 0
    for gain in gains:
        if gain > 0:
            total += gain
            n_positive += 1
    best, ratio = -1, NO_SCORE
    if n_positive > 0:
        enough = max(total / n_positive - AVERAGE_TOLERANCE, TINY)
        for place in range(gains.size):
            if gains[place] >= enough and gains[place] / costs[place] > ratio:
                best, ratio = place, gains[place] / costs[place]
    return best


@lean
def copy_runs(features, sorted_rows, sorted_values, starts, weights, lists):
    """Copy the runs of the features of a tree, without rows that have no weight."""
    end = ZERO
    for place in range(features.size):
        lists.features[0, place] = features[place]
        for run in range(N_RUNS):
            which, copied = N_RUNS * features[place] + run, N_RUNS * place + run
            first = end
            for i in range(starts[which], starts[which + 1]):
                row = sorted_rows[i]
                lists.rows[end] = row
                lists.values[end] = sorted_values[i]
                end += np.uint64(weights[row] > 0)
            lists.starts[0, copied], lists.lengths[0, copied] = np.int64(first), np.int64(end - first)


@inlined
def part_runs(lists, level, left_level, right_level, keeps_left, keeps_right, droppable, buffers):
    """Part the runs of all features of a node among its children, as far as these need them."""
    rows, values, starts, lengths, features = lists.rows, lists.values, lists.starts, lists.lengths, lists.features
    goes_left, spare_rows, spare_values = buffers.goes_left, buffers.rows, buffers.values
    n_kept = 0
    for place in range(lists.n_features[level]):
        if droppable[place]:
            continue
        for run in range(N_RUNS):
            old, new = N_RUNS * place + run, N_RUNS * n_kept + run
            first, length = starts[level, old], lengths[level, old]
            n_left = np.int64(0)
            if length > 0:
                n_left = part_run(
                    rows, values, first, first + length, goes_left, keeps_left, keeps_right, spare_rows, spare_values
                )
            if keeps_left:
                starts[left_level, new], lengths[left_level, new] = first, n_left
            if keeps_right:
                starts[right_level, new] = first + n_left if keeps_left else first
                lengths[right_level, new] = length - n_left
        features[left_level, n_kept] = features[right_level, n_kept] = features[level, place]
        n_kept += 1
    lists.n_features[left_level] = lists.n_features[right_level] = n_kept


@lean
def grow_nodes(common, has_two, target, settings, bits, gini, lists, choice, buffers, nodes):
    """Split nodes from the root on; how many nodes the tree has."""
    least, scale, n_nodes = np.uint64(settings.least), target.scale, 1
    lists.sizes[0] = count_rows(nodes.rows, target, lists.totals[0])
    level = -1 if is_final(lists.sizes[0], lists.totals[0], target, least) else 0
    while level >= 0:
        number, size, totals = lists.nodes[level], lists.sizes[level], lists.totals[level]
        begin, end = nodes.begins[number], nodes.ends[number]
        node = describe_node(end - begin, size, totals, target, settings, bits, gini, buffers.varied)
        if node.has_units and gini is None:
            for i in range(size + ONE):
                buffers.sides[i] = information(i, bits, scale) + information(size - i, bits, scale)
        place, split = choose_feature(
            lists, level, common, has_two, target, node, settings, bits, gini, number, choice, buffers
        )
        if place < 0:
            level -= 1
            continue
        feature = lists.features[level, place]
        starts = lists.starts[level, N_RUNS * place : N_RUNS * place + N_RUNS]
        lengths = lists.lengths[level, N_RUNS * place : N_RUNS * place + N_RUNS]
        if settings.pays:
            gain = (split.score - node.score) / scale * target.unit
            n_allowed = count_allowed(lists.rows, lists.values, starts, lengths, common[feature], target, node)
            if gain - NO_GAIN * np.float64(size) * target.unit <= np.log2(np.float64(max(n_allowed, 1))):
                level -= 1
                continue
        here = nodes.rows[begin:end]
        mark_left(lists.rows, lists.values, starts, lengths, common[feature], split, here, buffers.goes_left)
        n_left = part_rows(here, buffers.goes_left, buffers.rows)
        left_size = count_rows(here[:n_left], target, buffers.of_left)
        right_size = size - left_size
        for c in range(totals.size):
            buffers.of_right[c] = totals[c] - buffers.of_left[c]
        nodes.left[number], nodes.right[number] = n_nodes, n_nodes + 1
        nodes.feature[number], nodes.threshold[number] = feature, split.threshold
        nodes.missing_left[number] = split.missing_left if lengths[MISSING] > 0 else left_size > right_size
        nodes.begins[n_nodes], nodes.ends[n_nodes] = begin, begin + n_left
        nodes.begins[n_nodes + 1], nodes.ends[n_nodes + 1] = begin + n_left, end
        keeps_left = not is_final(left_size, buffers.of_left, target, least)
        keeps_right = not is_final(right_size, buffers.of_right, target, least)
        # The smaller child is split first, one level higher: there are never more levels than the logarithm of rows.
        left_waits = 2 * n_left >= end - begin
        left_level = level if left_waits or not keeps_right else level + 1
        right_level = level + 1 if left_waits and keeps_left else level
        if keeps_left or keeps_right:
            part_runs(lists, level, left_level, right_level, keeps_left, keeps_right, choice.droppable, buffers)
        for c in range(totals.size):  # one of these may overwrite the totals of the parent
            if keeps_left:
                lists.totals[left_level, c] = buffers.of_left[c]
            if keeps_right:
                lists.totals[right_level, c] = buffers.of_right[c]
        if keeps_left:
            lists.nodes[left_level], lists.sizes[left_level] = n_nodes, left_size
        if keeps_right:
            lists.nodes[right_level], lists.sizes[right_level] = n_nodes + 1, right_size
        n_nodes += 2
        level += int(keeps_left) + int(keeps_right) - 1
    return n_nodes


def grow(sorted_rows, sorted_values, starts, common, has_two, features, target, settings, bits, steps, gini):
    """Grow a tree by the features whose numbers are given; of equally good ones the first is taken.

    Returns the arrays of the tree, the training rows in the order of its leaves, and which of them come to each node.
    Arrays are made here, not in compiled code.
    """
    n_rows, n_features = target.weights.size, features.size
    n_entries = int((starts[N_RUNS * features + N_RUNS] - starts[N_RUNS * features]).sum())
    n_counts = target.codes.shape[0] if target.n_classes == 2 else target.n_classes
    n_levels, max_nodes = 3 + int(np.log2(max(n_rows, 1))), 2 * n_rows + 1
    lists = Lists(
        nodes=np.zeros(n_levels, dtype=np.int64),
        sizes=np.empty(n_levels, dtype=np.uint64),
        totals=np.empty((n_levels, n_counts), dtype=np.uint64),
        n_features=np.full(n_levels, n_features),
        features=np.empty((n_levels, n_features), dtype=np.int64),
        starts=np.empty((n_levels, N_RUNS * n_features), dtype=np.int64),
        lengths=np.empty((n_levels, N_RUNS * n_features), dtype=np.int64),
        rows=np.empty(n_entries + 1, dtype=np.uint32),
        values=np.empty(n_entries + 1, dtype=np.float32),
    )
    choice = Choice(
        order=np.empty(n_features, dtype=np.int64),
        droppable=np.empty(n_features, dtype=np.bool_),
        gains=np.empty(n_features),
        costs=np.empty(n_features),
        thresholds=np.empty(n_features),
        missing_left=np.empty(n_features, dtype=np.bool_),
    )
    buffers = Buffers(
        sizes=np.empty(BLOCK + 1, dtype=np.uint64),
        cuts=np.empty(BLOCK + 1, dtype=np.uint64),
        running=np.empty(BLOCK + 1, dtype=np.uint64),
        outside=np.empty(BLOCK + 1),
        inside=np.empty(BLOCK + 1),
        scores=np.empty(BLOCK + 1),
        sums=np.empty(2),
        counts=np.empty(n_counts, dtype=np.uint64),
        bases=np.empty(n_counts, dtype=np.uint64),
        varied=np.empty(n_counts, dtype=np.uint64),
        of_left=np.empty(n_counts, dtype=np.uint64),
        of_right=np.empty(n_counts, dtype=np.uint64),
        steps=steps,
        sides=np.empty(n_rows + 1),
        rows=np.empty(n_rows, dtype=np.uint32),
        values=np.empty(n_rows, dtype=np.float32),
        goes_left=np.empty(n_rows, dtype=np.uint8),
    )
    nodes = Nodes(
        left=np.full(max_nodes, LEAF),
        right=np.full(max_nodes, LEAF),
        feature=np.full(max_nodes, NOTHING),
        threshold=np.full(max_nodes, float(NOTHING)),
        missing_left=np.zeros(max_nodes, dtype=np.bool_),
        begins=np.zeros(max_nodes, dtype=np.int64),
        ends=np.zeros(max_nodes, dtype=np.int64),
        rows=np.flatnonzero(target.weights).astype(np.uint32),
    )
    nodes.ends[0] = nodes.rows.size
    copy_runs(features, sorted_rows, sorted_values, starts, target.weights, lists)
    n_nodes = grow_nodes(common, has_two, target, settings, bits, gini, lists, choice, buffers, nodes)
    left, right, feature, threshold, missing_left, begins, ends = (part[:n_nodes].copy() for part in nodes[:-1])
    return left, right, feature, threshold, missing_left, nodes.rows, begins, ends
