"""A Dask cluster in a process of its own, to be killed: prints its address, and for each line of input its workers."""

import sys

from distributed import LocalCluster

if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
    print(cluster.scheduler_address, flush=True)
    for _ in sys.stdin:
        pids = [nanny.pid for nanny in cluster.workers.values()]
        print(*(pid for pid in pids if pid is not None), flush=True)
