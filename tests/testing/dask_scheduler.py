"""Clusters of Dask for tests: a scheduler in a process of its own, or a cluster with a client in this one."""

import subprocess
import sys
from contextlib import contextmanager

SCHEDULER = """
import asyncio
from distributed import Scheduler
async def main():
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()
asyncio.run(main())
"""


TRIES = 3


@contextmanager
def start_scheduler():
    """A process that can be killed, and needs no event loop here; and its address. Killed in the end."""
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@contextmanager
def start_cluster(n_workers=1):
    """A cluster of processes with one thread each, and its client."""
    import distributed

    def start():
        return distributed.LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None)

    with patiently(start) as cluster, connect(cluster) as client:
        yield client


def connect(cluster):
    """A client of a cluster, or of the one at an address."""
    import distributed

    return patiently(lambda: distributed.Client(cluster))


def patiently(start):
    """Start something of Dask, which fails where an event loop takes more than ten seconds, as on a paused machine."""
    for _ in range(TRIES - 1):
        try:
            return start()
        except AssertionError:  # says nothing
            continue
    return start()
