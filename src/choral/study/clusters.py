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
        Where no scheduler answers.
    """
    distributed = require("distributed", "dask")
    if address == LOCAL:
        # what goes wrong on its workers is told by choral: their logs would tell it a second time
        options = {"threads_per_worker": 1, "dashboard_address": None, "silence_logs": logging.CRITICAL}
        with ExitStack() as stack:
            with _children_deaf_to_interrupts():
                cluster = stack.enter_context(distributed.LocalCluster(**options))
            yield stack.enter_context(distributed.Client(cluster, set_as_default=False))
        return
    try:
        asyncio.run(_shake_hands(address))
        # not the default: one that fails to connect would remain it in older versions of Dask
        client = distributed.Client(address, timeout=SECONDS_TO_ANSWER, set_as_default=False)
    except TimeoutError as error:
        raise OSError(f"no Dask scheduler answers at {address} within {SECONDS_TO_ANSWER} seconds.") from error
    except Exception as error:  # of any kind: what a web server answers becomes a MemoryError, say
        raise OSError(f"no Dask scheduler answers at {address}: {error}.") from error
    with client:
        yield client


async def _shake_hands(address: str) -> None:
    """See that a scheduler is there: a client would wait without end where another server, its dashboard say, is."""
    if not address.startswith("tls:"):  # whose own handshake the client does not wait for without end
        async with asyncio.timeout(SECONDS_TO_ANSWER):
            comm = await require("distributed.comm", "dask").connect(address)
            await comm.close()


@contextmanager
def _children_deaf_to_interrupts() -> Iterator[None]:
    """Processes started here leave Ctrl-C to this one, instead of a traceback each; it is heard in the end.

    A blocked signal is blocked in threads and processes that are started meanwhile, and for good.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # else the first process would start it, and it unblocks the signal
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
