"""A Dask cluster that is there already, or one on this machine: for the cells of a study, or the parts of a table."""

import asyncio
import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import resource_tracker
from typing import Any

import joblib

from choral._optional import require
from choral.study.faults import describe_fault

LOCAL = "local"
SECONDS_TO_ANSWER = 10


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """A client of a Dask cluster, as long as this context lasts.

    Parameters
    ----------
    address : str
        Of its scheduler, such as ``tcp://10.0.0.5:8786``; or ``local`` for a cluster of one process on each core of
        this machine, which ends with the context. The workers must have choral installed.

    Yields
    ------
    client : distributed.Client

    Raises
    ------
    OSError
        Where no scheduler answers, or no cluster starts.
    """
    distributed = require("distributed", "dask")
    if address == LOCAL:
        # what goes wrong on its workers is told by choral: their logs would tell it a second time
        options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
        with ExitStack() as stack:
            try:
                with _interrupts_blocked_in_children():
                    cluster = stack.enter_context(distributed.LocalCluster(**options))
                client = stack.enter_context(distributed.Client(cluster, set_as_default=False))
            except Exception as error:  # of many kinds, some without a message
                raise OSError(f"no Dask cluster starts on this machine, {describe_fault(error)}") from error
            yield client
        return
    try:
        asyncio.run(_check_scheduler(address))
        # not the default client: in older versions of Dask, one that failed to connect would stay the default
        client = distributed.Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except TimeoutError as error:
        raise OSError(f"no Dask scheduler answers at {address} within {SECONDS_TO_ANSWER} seconds.") from error
    except Exception as error:  # of any kind: what a web server answers becomes a MemoryError, say
        raise OSError(f"no Dask scheduler answers at {address}: {error}.") from error
    with _silent_client(), client:
        yield client


@contextmanager
def _silent_client() -> Iterator[None]:
    """The client tells its own story of a scheduler that is gone, with tracebacks; choral says it in one line."""
    handlers = logging.getLogger("distributed").handlers
    levels = [handler.level for handler in handlers]
    for handler in handlers:
        handler.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for handler, level in zip(handlers, levels, strict=True):
            handler.setLevel(level)


async def _check_scheduler(address: str) -> None:
    """Check that a scheduler answers: at the address of another server (the dashboard, say) a client waits for ever."""
    if not address.startswith("tls:"):  # there a client gives up by itself
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            comm = await require("distributed.comm", "dask").connect(address)
            await comm.close()


@contextmanager
def _interrupts_blocked_in_children() -> Iterator[None]:
    """Processes started here ignore Ctrl-C, instead of printing a traceback each; this process gets it in the end.

    Threads and processes that start while a signal is blocked keep it blocked for good.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # else the first process would start it, which unblocks the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Run the cells of studies on the workers of a Dask cluster, as long as this context lasts: see `dask_client`."""
    with dask_client(address) as client, client.as_current(), joblib.parallel_config(backend="dask"):
        yield
