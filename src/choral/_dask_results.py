"""Calls on a Dask cluster, and their results: waited for as long as there is hope, and no longer."""

import pickle
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from choral._optional import require

SECONDS_WITHOUT_WORKERS = 60.0  # until a cluster is given up: it may take a while to start workers
SECONDS_TO_LOOK = 5.0  # between two looks whether there are workers
SECONDS_TO_ANSWER = 30.0


@dataclass(frozen=True)
class _Call:
    """A call that is made where it is unpickled."""

    function: Callable[..., Any]
    argument: Any

    def __reduce__(self) -> tuple:
        return self.function, (self.argument,)


def submit_call(client: Any, function: Callable[..., Any], argument: Any) -> Any:
    """The future of a call on a worker.

    It travels as bytes, so that only the thread that runs it imports what it needs. Of a module that is missing, Dask
    would hear while it unpickles a message, and then end the worker.
    """
    call = _pickle_call(function, argument)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph", UserWarning)  # whose advice is for users of Dask
        return client.submit(pickle.loads, call, pure=False)


def call_everywhere(client: Any, function: Callable[..., Any], argument: Any) -> None:
    """Call a function on all workers at once, beside whatever they do; without an answer, give up soon."""
    call = _pickle_call(function, argument)
    client.run(pickle.loads, call, on_error="ignore", callback_timeout=SECONDS_TO_LOOK)


def _pickle_call(function: Callable[..., Any], argument: Any) -> bytes:
    return pickle.dumps(_Call(function, argument), protocol=pickle.HIGHEST_PROTOCOL)


def next_results(client: Any, futures: Iterable[Any]) -> dict[Any, Any]:
    """The results of those futures that are done, at least one; the exception of a task that failed is its result.

    Parameters
    ----------
    client : distributed.Client
    futures : iterable of distributed.Future

    Raises
    ------
    OSError
        Where the cluster is gone, has cancelled the work, or has no workers for long.
    """
    distributed = require("distributed", "dask")
    waiting, last_seen = list(futures), time.monotonic()
    results: dict[Any, Any] = {}
    while not results:
        try:
            with client.as_current():  # it asks the current client, or a default one, which there need not be
                done, _ = distributed.wait(waiting, timeout=SECONDS_TO_LOOK, return_when="FIRST_COMPLETED")
            for future in done:
                with suppress(TimeoutError):  # its worker died meanwhile: it is run again
                    results[future] = _get_result(future)
        except TimeoutError:
            last_seen = _check_workers(client, last_seen)
        except distributed.CancelledError as error:
            raise OSError("the Dask cluster has cancelled the work, or is gone.") from error
    return results


def _get_result(future: Any) -> Any:
    if future.status == "error":
        return future.exception(timeout=SECONDS_TO_ANSWER)
    return future.result(timeout=SECONDS_TO_ANSWER)


def _check_workers(client: Any, last_seen: float) -> float:
    """When there were workers the last time: now, if there are any."""
    if count_threads(client):
        return time.monotonic()
    if time.monotonic() - last_seen > SECONDS_WITHOUT_WORKERS:
        raise OSError(f"the Dask cluster has no workers, and none came within {SECONDS_WITHOUT_WORKERS:g} seconds.")
    return last_seen


def count_threads(client: Any) -> int:
    """How many threads all workers have; OSError where no scheduler answers."""
    try:
        return sum(client.sync(client.scheduler.ncores, callback_timeout=SECONDS_TO_ANSWER).values())
    except Exception as error:  # of many kinds
        raise OSError("the Dask cluster is gone: its scheduler does not answer.") from error
