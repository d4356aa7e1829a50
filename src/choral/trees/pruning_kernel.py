"""C4.5's pruning, compiled by numba; `pruning.Pruner` says what is done and why, and prunes alike, more slowly."""

from typing import NamedTuple

import numpy as np

from choral.trees.compiling import compiled
from choral.trees.tree_arrays import LEAF

END = -1  # of a chain


class Chains(NamedTuple):
    """Rows that come to the same leaf, chained: a place to work in."""

    leaves: np.ndarray  # (n_rows,) of each row
    following: np.ndarray  # (n_rows,) the next row of the same leaf
    first: np.ndarray  # (n_nodes,) the first row of a leaf; END while nothing is chained
    counts: np.ndarray  # (n_outputs, n_classes)


@compiled
def extra_errors(n_rows, errors, confidence, z):
    """How many more errors than seen a leaf is expected to make."""
    n_rows = max(n_rows, 1e-9)
    at_least_one = max(errors, 1.0)
    if at_least_one + 0.5 >= n_rows:
        of_one_or_more = max(n_rows - at_least_one, 0.0)
    else:
        rate = (at_least_one + 0.5) / n_rows
        spread = np.sqrt(max(rate / n_rows - rate**2 / n_rows + (z / n_rows) ** 2 / 4, 0.0))
        upper = (rate + z**2 / (2 * n_rows) + z * spread) / (1 + z**2 / n_rows)
        of_one_or_more = upper * n_rows - at_least_one
    if errors >= 1:
        return of_one_or_more
    of_none = n_rows * (1 - confidence ** (1 / n_rows))
    return of_none + errors * (of_one_or_more - of_none)


@compiled
def estimate(counts, confidence, z):
    """Expected errors of a leaf with these counts, mean over outputs."""
    total = 0.0
    for output in range(counts.shape[0]):
        weight, largest = 0.0, 0.0
        for count in counts[output]:
            weight += count
            largest = max(largest, count)
        total += weight - largest + extra_errors(weight, weight - largest, confidence, z)
    return total / counts.shape[0]


@compiled
def add_row(row, codes, weights, counts):
    """Add the weight of a row to its class, for each output."""
    for output in range(codes.shape[0]):
        counts[output, codes[output, row]] += weights[row]


@compiled
def add_rows(rows, codes, weights, counts):
    """Add the weight of each class among some rows."""
    for row in rows:
        add_row(row, codes, weights, counts)


@compiled
def goes_left(tree, node, columns, row):
    """Whether a row goes left at a node."""
    value = columns[row, tree.feature[node]]
    return tree.missing_left[node] if np.isnan(value) else np.float64(value) <= tree.threshold[node]


@compiled
def list_below(tree, top, nodes):
    """Put a node and all nodes below it into ``nodes``, children after their parents; how many there are."""
    nodes[0], n_listed, n_done = top, 1, 0
    while n_done < n_listed:
        node = nodes[n_done]
        n_done += 1
        if tree.left[node] != LEAF:
            nodes[n_listed], nodes[n_listed + 1] = tree.left[node], tree.right[node]
            n_listed += 2
    return n_listed


@compiled
def errors_if_raised(tree, larger, rows, columns, codes, weights, counts, as_leaf, confidence, z, chains):
    """By how much the expected errors of the larger branch change if the rows of the other one come to it too."""
    for i in range(rows.size):
        node = larger
        while tree.left[node] != LEAF:
            node = tree.left[node] if goes_left(tree, node, columns, rows[i]) else tree.right[node]
        chains.leaves[i], chains.following[i], chains.first[node] = node, chains.first[node], i
    added = 0.0
    for leaf in chains.leaves[: rows.size]:
        i = chains.first[leaf]
        if i == END:  # its rows are counted already
            continue
        chains.first[leaf] = END
        for output in range(codes.shape[0]):  # copied number by number, which takes seconds less to compile
            for code in range(counts.shape[2]):
                chains.counts[output, code] = counts[leaf, output, code]
        while i != END:
            add_row(rows[i], codes, weights, chains.counts)
            i = chains.following[i]
        added += estimate(chains.counts, confidence, z) - as_leaf[leaf]
    return added


@compiled
def settle_rows(tree, top, rows, begins, ends, columns, codes, weights, counts, as_leaf, confidence, z, nodes):
    """Send the rows of a node through the tree below it."""
    n_listed = list_below(tree, top, nodes)
    for node in nodes[:n_listed]:
        if tree.left[node] == LEAF:
            continue
        first, last = begins[node], ends[node]
        while first < last:
            if goes_left(tree, node, columns, rows[first]):
                first += 1
            else:
                last -= 1
                rows[first], rows[last] = rows[last], rows[first]
        left, right = tree.left[node], tree.right[node]
        begins[left], ends[left], begins[right], ends[right] = begins[node], first, first, ends[node]
        for child in (left, right):
            counts[child] = 0
            add_rows(rows[begins[child] : ends[child]], codes, weights, counts[child])
            as_leaf[child] = estimate(counts[child], confidence, z)


@compiled
def prune(tree, rows, begins, ends, columns, codes, weights, n_classes, confidence, z, tolerance, prunes, raising):
    """Prune a tree in place; the weight of each class in each node."""
    n_nodes, n_outputs = tree.left.size, codes.shape[0]
    counts = np.zeros((n_nodes, n_outputs, n_classes))
    for node in range(n_nodes - 1, -1, -1):  # children come after their parents
        if tree.left[node] == LEAF:
            add_rows(rows[begins[node] : ends[node]], codes, weights, counts[node])
        else:
            for output in range(n_outputs):
                for code in range(n_classes):
                    counts[node, output, code] = (
                        counts[tree.left[node], output, code] + counts[tree.right[node], output, code]
                    )
    if not prunes:
        return counts
    as_leaf = np.empty(n_nodes)  # expected errors if a node is a leaf
    for node in range(n_nodes):
        as_leaf[node] = estimate(counts[node], confidence, z)
    as_tree = as_leaf.copy()  # and of the tree below it, once that is pruned
    waiting, below = np.empty(2 * n_nodes + 1, dtype=np.int64), np.empty(n_nodes + 1, dtype=np.int64)
    chains = Chains(
        np.empty(rows.size, dtype=np.int64),
        np.empty(rows.size, dtype=np.int64),
        np.full(n_nodes, END, dtype=np.int64),
        np.empty((n_outputs, n_classes)),
    )
    n_waiting = list_below(tree, 0, waiting)
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        left, right = tree.left[node], tree.right[node]
        if left == LEAF:
            as_tree[node] = as_leaf[node]
            continue
        larger, smaller = (left, right) if counts[left, 0].sum() > counts[right, 0].sum() else (right, left)
        as_tree[node] = as_tree[left] + as_tree[right]
        as_branch = np.inf
        if raising:
            as_branch = as_leaf[node]
            if tree.left[larger] != LEAF:
                moved = rows[begins[smaller] : ends[smaller]]
                as_branch = as_tree[larger] + errors_if_raised(
                    tree, larger, moved, columns, codes, weights, counts, as_leaf, confidence, z, chains
                )
        if as_leaf[node] <= min(as_tree[node], as_branch) + tolerance:
            tree.left[node] = tree.right[node] = LEAF
            as_tree[node] = as_leaf[node]
        elif as_branch <= as_tree[node] + tolerance:
            tree.left[node], tree.right[node] = tree.left[larger], tree.right[larger]
            tree.feature[node], tree.threshold[node] = tree.feature[larger], tree.threshold[larger]
            tree.missing_left[node] = tree.missing_left[larger]
            settle_rows(tree, node, rows, begins, ends, columns, codes, weights, counts, as_leaf, confidence, z, below)
            n_below = list_below(tree, node, below)  # all of them are pruned again, this node last
            if n_waiting + n_below > waiting.size:
                longer = np.empty(2 * (n_waiting + n_below), dtype=np.int64)
                for i in range(n_waiting):
                    longer[i] = waiting[i]
                waiting = longer
            for i in range(n_below):
                waiting[n_waiting + i] = below[i]
            n_waiting += n_below
    return counts


@compiled
def list_depth_first(tree):
    """The numbers of the nodes that rows come to, depth first, from left to right."""
    nodes, waiting = np.empty(tree.left.size, dtype=np.int64), np.empty(tree.left.size + 1, dtype=np.int64)
    waiting[0], n_waiting, n_listed = 0, 1, 0
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        nodes[n_listed] = node
        n_listed += 1
        if tree.left[node] != LEAF:
            waiting[n_waiting], waiting[n_waiting + 1] = tree.right[node], tree.left[node]
            n_waiting += 2
    return nodes[:n_listed]
