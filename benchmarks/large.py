"""More rows than memory, and millions of labels: `python benchmarks/large.py`.

Each problem runs in a process of its own, whose peak memory is that of the problem alone.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import scipy.sparse as sp
from measuring import at_most, conclude, misses, within

from choral import ErrorProfile

ROWS_OF_BLOCK, N_LABELS = 100_000, 100


def both_families(profile: ErrorProfile) -> tuple[np.ndarray, np.ndarray]:
    return profile.losses("binomial"), profile.losses("polynomial")


# Many rows


def make_block(number: int) -> tuple[np.ndarray, np.ndarray]:
    """True labels, half of them relevant, and predictions, an eighth of them wrong: new ones for each number."""
    rng = np.random.default_rng(number)
    n_bytes = ROWS_OF_BLOCK * N_LABELS // 8
    true, *coins = (np.frombuffer(rng.bytes(n_bytes), dtype=np.uint8) for _ in range(4))
    wrong = np.bitwise_and.reduce(coins)
    return tuple(np.unpackbits(packed).reshape(ROWS_OF_BLOCK, N_LABELS) for packed in (true, true ^ wrong))


def stream(n_blocks: int) -> dict[str, float]:
    """Blocks that come one after another, each gone before the next: `update`, and beside it a pass of `!=` alone."""
    profile = ErrorProfile(N_LABELS)
    flags = np.empty((ROWS_OF_BLOCK, N_LABELS), dtype=bool)  # else most of the time were for new memory
    times = dict.fromkeys(("make", "compare", "update"), 0.0)
    for number in range(n_blocks):
        y_true, y_pred = _timed(times, "make", partial(make_block, number))
        _timed(times, "compare", partial(np.not_equal, y_true, y_pred, out=flags))
        _timed(times, "update", partial(profile.update, y_true, y_pred))
    _timed(times, "update", partial(both_families, profile))
    return {**times, "rows": profile.n_rows, "peak": peak_memory()}


def by_dask(n_blocks: int) -> dict[str, float]:
    """The same blocks as dask arrays, by threads."""
    import dask
    import dask.array as da

    pairs = [dask.delayed(make_block, nout=2)(number) for number in range(n_blocks)]
    shape = (ROWS_OF_BLOCK, N_LABELS)
    y_true, y_pred = (
        da.concatenate([da.from_delayed(pair[side], shape, dtype=np.uint8) for pair in pairs]) for side in range(2)
    )
    start = time.perf_counter()
    profile = ErrorProfile.from_predictions(y_true, y_pred)
    both_families(profile)
    return {"seconds": time.perf_counter() - start, "rows": profile.n_rows, "peak": peak_memory()}


def _timed(times: dict[str, float], what: str, function: Callable):
    start = time.perf_counter()
    result = function()
    times[what] += time.perf_counter() - start
    return result


# Many labels


def extreme(n_rows: int, n_labels: int) -> dict[str, float]:
    """About five labels a row; the ten best scores of a row, three of them for true labels, or the labels above 0.5."""
    rng = np.random.default_rng(0)
    y_true = _csr(
        rng.integers(n_labels, size=(n_rows, 12), dtype=np.int32), rng.random((n_rows, 12)) < 5 / 12, n_labels
    )
    top = rng.integers(n_labels, size=(n_rows, 10), dtype=np.int32)
    found = np.minimum(np.diff(y_true.indptr), 3)
    for place in range(3):
        rows = found > place
        top[rows, place] = y_true.indices[y_true.indptr[:-1][rows] + place]
    scores = _csr(top, np.ones(top.shape, dtype=bool), n_labels, rng.random(top.size, dtype=np.float32))
    labels = (scores > 0.5).astype(np.uint8)
    results = {"data": peak_memory()}
    for what, y_pred in (("scores", scores), ("labels", labels)):
        start = time.perf_counter()
        both_families(ErrorProfile.from_predictions(y_true, y_pred))
        results[what] = time.perf_counter() - start
    return {**results, "peak": peak_memory()}


def _csr(indices: np.ndarray, kept: np.ndarray, n_labels: int, values: np.ndarray | None = None) -> sp.csr_array:
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    data = np.ones(starts[-1], dtype=np.uint8) if values is None else values
    matrix = sp.csr_array((data, indices[kept], starts), shape=(len(indices), n_labels))
    matrix.sum_duplicates()
    np.minimum(matrix.data, 1, out=matrix.data)  # a label drawn twice
    return matrix


# Reports


def alone(function: Callable, *arguments: int) -> dict[str, float]:
    """What a function finds in a new process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def peak_memory() -> float:
    """Of this process, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def report_peak(what: str, peak: float, limit: float) -> None:
    verdict = "ok" if peak < limit else "MISSED"
    print(f"peak memory of {what:<59} {peak:9.2f} GiB   below {limit:g} GiB   {verdict}", flush=True)
    if peak >= limit:
        misses.append(f"memory of {what}")


def report_speed(what: str, n_rows: float, seconds: float) -> None:
    print(f"{what:<74} {n_rows / seconds / 1e6:9.2f} million rows a second", flush=True)


def many_rows(n_rows: int) -> None:
    n_blocks = max(1, n_rows // ROWS_OF_BLOCK)
    found = alone(stream, n_blocks)
    size = f"{found['rows']:,.0f} rows x {N_LABELS} labels"
    report_speed(f"making {size}", found["rows"], found["make"])
    report_speed("!= alone", found["rows"], found["compare"])
    report_speed("profile.update, then both families", found["rows"], found["update"])
    at_most("profile.update", found["update"], "!= alone", found["compare"], 4)
    report_peak(size, found["peak"], 0.5)
    found = alone(by_dask, n_blocks)
    report_speed("making blocks and ErrorProfile.from_predictions, by threads", found["rows"], found["seconds"])
    report_peak(f"{size}, by threads", found["peak"], 1.0)


def many_labels(n_rows: int, n_labels: int) -> None:
    found = alone(extreme, n_rows, n_labels)
    size = f"{n_rows:,} rows x {n_labels:,} labels"
    print(f"{size}: 5 true labels a row, 10 scores; the data take {found['data']:.2f} GiB at most")
    within("both families, scores", found["scores"], 30)
    within("both families, labels", found["labels"], 30)
    report_peak(size, found["peak"], 4)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the stream of 100 labels")
    parser.add_argument("--sparse-rows", type=int, default=1_000_000)
    parser.add_argument("--labels", type=int, default=3_000_000, help="labels of the sparse problem")
    options = parser.parse_args()
    many_rows(options.rows)
    many_labels(options.sparse_rows, options.labels)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
