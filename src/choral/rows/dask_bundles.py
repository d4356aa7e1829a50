"""Blocks of rows of several dask arrays, each reduced by a single task: what only these rows need never leaves it.

Dask by itself may make the block of one array on this worker and that of the other on the next, and then send one.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any
from uuid import uuid4

from choral._optional import require

Key = Hashable
Graph = dict[Key, Any]
SEVERAL = -1  # the owner of what more than one block of rows needs
SUMS_AT_A_TIME = 8


def sum_over_rows(functions: Sequence[Callable[..., Any]], arrays: list[Any]) -> Any:
    """The sum of what functions make of each block of rows, by the active Dask client or, without one, by threads.

    Parameters
    ----------
    functions : sequence of callables
        One for each block of rows, of the blocks of each array in these rows: a list, from left to right.
    arrays : list of dask arrays
        Of as many blocks of rows each.
    """
    graph: Graph = {}
    for array in arrays:
        graph.update(array.__dask_graph__())
    rows = [[_flat(keys) for keys in blocks] for blocks in zip(*(a.__dask_keys__() for a in arrays), strict=True)]
    owned, tasks = _assign_tasks(graph, rows)
    name = f"profile-{uuid4().hex}"
    for row, (function, blocks) in enumerate(zip(functions, rows, strict=True)):
        bundle = Bundle(function, blocks, *_cut_out(graph, owned[row], blocks))
        tasks[name, row] = (bundle, bundle.outside)
    total = _add_tree(tasks, [(name, row) for row in range(len(rows))], f"sum-{name}")
    return require("dask.delayed", "dask").Delayed(total, tasks).compute()


@dataclass(frozen=True)
class Bundle:
    """All tasks that only one block of rows needs, as one."""

    function: Callable[..., Any]
    blocks: list[list[Key]]
    graph: Graph
    outside: list[Key]  # what others need too, or what is there already

    def __call__(self, values: list[Any]) -> Any:
        given = {key: (_Given(value),) for key, value in zip(self.outside, values, strict=True)}
        return self.function(*require("dask", "dask").get({**self.graph, **given}, self.blocks))


@dataclass(frozen=True)
class _Given:
    """A value, wrapped so that dask does not search it for keys."""

    value: Any

    def __call__(self) -> Any:
        return self.value


def _assign_tasks(graph: Graph, rows: list[list[list[Key]]]) -> tuple[list[list[Key]], Graph]:
    """The keys that only one block of rows needs, for each of them, and the tasks that are left."""
    core = require("dask.core", "dask")
    needs = {key: set() if _is_future(task) else core.get_dependencies(graph, key) for key, task in graph.items()}
    owners: dict[Key, int] = {key: row for row, blocks in enumerate(rows) for keys in blocks for key in keys}
    for key in reversed(core.toposort(graph, dependencies=needs)):
        if key in owners:
            for need in needs[key]:
                owners[need] = owners[key] if owners.get(need, owners[key]) == owners[key] else SEVERAL
    owned: list[list[Key]] = [[] for _ in rows]
    left: Graph = {}
    for key, owner in owners.items():
        if owner == SEVERAL or _is_future(graph[key]):
            left[key] = graph[key]
        else:
            owned[owner].append(key)
    return owned, left


def _cut_out(graph: Graph, owned: list[Key], blocks: list[list[Key]]) -> tuple[Graph, list[Key]]:
    """The tasks of one block of rows, and the keys outside of them that they need."""
    core = require("dask.core", "dask")
    inside = {key: graph[key] for key in owned}
    needed = {need for key in owned for need in core.get_dependencies(graph, key)}
    return inside, sorted((needed | {key for keys in blocks for key in keys}) - inside.keys(), key=str)


def _is_future(task: Any) -> bool:
    """Whether a value lies on a worker already, or will do so."""
    return hasattr(task, "add_done_callback")


def _flat(keys: Any) -> list[Key]:
    """The keys of blocks side by side; a block of a vector stands alone."""
    return keys if isinstance(keys, list) else [keys]


def _add_tree(tasks: Graph, terms: list[Key], name: str) -> Key:
    """Add tasks for the sum of terms, a few at a time; the key of the last one."""
    while len(terms) > 1:
        groups = [terms[start : start + SUMS_AT_A_TIME] for start in range(0, len(terms), SUMS_AT_A_TIME)]
        terms = [(name, len(tasks) + index) for index in range(len(groups))]
        tasks.update((term, (_add_up, group)) for term, group in zip(terms, groups, strict=True))
    return terms[0]


def _add_up(profiles: list[Any]) -> Any:
    return reduce(add, profiles)
