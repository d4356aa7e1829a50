"""What the benchmarks share: medians of times taken in turn, and lines that say whether an aim is met.

Each line times ours and a yardstick on the same data, in turn, and compares their medians, so that a noisy
machine troubles both alike.
"""

import time
import tracemalloc
from collections.abc import Callable

import numpy as np

misses = []
lines = []  # what was measured, ours, beside what, its time: for a table


def seconds(functions: list[Callable], repeats: int) -> list[float]:
    """Median time of each, run in turn after one round to warm up."""
    times = np.empty((repeats + 1, len(functions)))
    for repeat in range(repeats + 1):
        for column, function in enumerate(functions):
            start = time.perf_counter()
            function()
            times[repeat, column] = time.perf_counter() - start
    return np.median(times[1:], axis=0).tolist()


def report(what: str, ours: float, yardstick: str, theirs: float, aim: str, fine: bool) -> None:
    lines.append((what, ours, yardstick, theirs))
    verdict = "ok" if fine else "MISSED"
    print(f"{what:<34} {1e3 * ours:9.2f} ms   {yardstick:<31} {1e3 * theirs:9.2f} ms   {aim:<28} {verdict}", flush=True)
    if not fine:
        misses.append(what)


def faster(what: str, ours: float, yardstick: str, theirs: float, at_least: float) -> None:
    ratio = theirs / ours
    report(what, ours, yardstick, theirs, f"{ratio:6.1f} x faster (>= {at_least:g})", ratio >= at_least)


def at_most(what: str, ours: float, yardstick: str, theirs: float, limit: float) -> None:
    ratio = ours / theirs
    report(what, ours, yardstick, theirs, f"{ratio:6.2f} x its time (<= {limit:g})", ratio <= limit)


def within(what: str, ours: float, limit: float, where: str = "aim on a laptop") -> None:
    report(what, ours, where, limit, f"under {limit:g} s", ours < limit)


def judge(what: str, how: str, ours: float, unit: str, limit: float) -> None:
    """A number that should not be larger than a limit."""
    verdict = "ok" if ours <= limit else "MISSED"
    print(f"{what:<44} {how:<34} {ours:7.2f} {unit:<24} at most {limit:g}   {verdict}", flush=True)
    if ours > limit:
        misses.append(what)


def share(what: str, ours: float, at_least: float) -> None:
    """A share that should be large."""
    verdict = "ok" if ours >= at_least else "MISSED"
    print(f"{what:<90} {ours:7.2%}   at least {at_least:.0%}   {verdict}", flush=True)
    if ours < at_least:
        misses.append(what)


def peak_memory(what: str, function: Callable, limit: float) -> None:
    """What a call needs besides its arguments, in MiB."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    verdict = "ok" if peak < limit else "MISSED"
    print(f"extra memory of {what:<58} {peak:9.2f} MiB   below {limit:g} MiB   {verdict}", flush=True)
    if peak >= limit:
        misses.append(what)


def conclude() -> int:
    """Say what was missed; the exit status."""
    print(f"missed: {', '.join(misses)}" if misses else "all aims met")
    return 1 if misses else 0
