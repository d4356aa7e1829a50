"""A scheduler of Dask in a process of its own: it can be killed, and needs no event loop in that of the tests."""

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


@contextmanager
def start_scheduler():
    """The process and its address; killed in the end."""
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()
