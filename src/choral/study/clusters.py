"""A Dask cluster that is there already, for the cells of a study."""

from collections.abc import Iterator
from contextlib import contextmanager

import joblib

from choral._optional import require

SECONDS_TO_ANSWER = 10


@contextmanager
def dask_cluster(address: str) -> Iterator[None]:
    """Run the cells of studies on the workers of a Dask cluster, as long as this context lasts.

    Parameters
    ----------
    address : str
        Of its scheduler, such as ``tcp://10.0.0.5:8786``. Its workers must have choral and the learners installed.

    Raises
    ------
    OSError
        Where no scheduler answers.
    """
    distributed = require("distributed", "dask")
    try:
        client = distributed.Client(address, timeout=SECONDS_TO_ANSWER)
    except (OSError, ValueError) as error:
        raise OSError(f"no Dask scheduler answers at {address}: {error}.") from error
    with client, joblib.parallel_config(backend="dask"):
        yield
