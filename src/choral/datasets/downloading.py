"""Downloads that end whatever the server does: after so many seconds in all, and after so many bytes."""

import io
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock, Thread, local
from typing import Any, TypeVar

from choral._memory import REMEDY

ANSWER_TIMEOUT = 30  # seconds without a byte

Result = TypeVar("Result")


class EndlessDownloadError(ConnectionError):
    """A download that takes too long, or brings too much."""


class Allowance:
    """What one download may still take.

    Parameters
    ----------
    seconds : float
        From now on.
    max_bytes : int
        Of each file.
    """

    def __init__(self, seconds: float, max_bytes: int) -> None:
        self.seconds, self._max_bytes = seconds, max_bytes
        self._end = time.monotonic() + seconds

    def check(self, n_read: int = 0) -> None:
        """Refuse more than that."""
        if time.monotonic() > self._end:
            raise EndlessDownloadError(f"it took more than {self.seconds:g} seconds")
        if n_read > self._max_bytes:
            raise EndlessDownloadError(f"it brought more than {self._max_bytes} bytes. {REMEDY}")

    def run(self, function: Callable[[], Result]) -> Result:
        """What a function returns, if it does so in time; what it reads by ``urllib`` counts.

        It runs in a thread, for a server may well drip headers. One that is given up ends with its connection, or when
        it next asks what it may take; it does not keep the program from ending.
        """
        outcome: Future[Result] = Future()
        Thread(target=_settle, args=(outcome, function, self), daemon=True).start()
        try:
            return outcome.result(timeout=self.seconds)
        except TimeoutError:
            self.check()  # a timeout of the function's own is another matter
            raise
        finally:
            del outcome  # an error refers to this frame, and a cycle would keep its connection open


def _settle(outcome: Any, function: Callable[[], Any], allowance: Allowance) -> None:
    """Call a function, and tell what becomes of it."""
    try:
        with _limited_urlopen(allowance):
            result = function()
        outcome.set_result(result)
    except BaseException as error:
        outcome.set_exception(error)
        outcome = None  # as above


class LimitedBuffer(io.BytesIO):
    """A file in memory that takes no more than is allowed."""

    def __init__(self, allowance: Allowance) -> None:
        super().__init__()
        self._allowance = allowance

    def write(self, part: Any) -> int:
        self._allowance.check(self.tell() + len(part))
        return super().write(part)


class _LimitedAnswer(io.RawIOBase):
    """The body of an answer, as long as it may be read."""

    def __init__(self, body: Any, allowance: Allowance) -> None:
        self._body, self._allowance = body, allowance
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._body.read1(len(buffer))  # what is there: a whole buffer may never be
        self._n_read += len(part)
        self._allowance.check(self._n_read)
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._body.close()
        super().close()


class _LimitedOpener:
    """Opens addresses as another opener does, and limits what threads with an allowance read of them.

    It stands in for that of ``urllib.request`` as long as there is such a thread: scikit-learn calls ``urlopen``
    without any limit.
    """

    def __init__(self, before: Any) -> None:
        self.before, self.n_threads = before, 0
        self._opener = before or urllib.request.build_opener()

    def open(self, request: Any, data: Any = None, timeout: Any = None) -> Any:
        allowance, opener = getattr(_of_thread, "allowance", None), self._opener
        if allowance is None:
            return opener.open(request, data, timeout)
        allowance.check()
        answer = opener.open(request, data, ANSWER_TIMEOUT)
        answer.fp = io.BufferedReader(_LimitedAnswer(answer.fp, allowance))
        return answer


_of_thread, _installing = local(), Lock()


@contextmanager
def _limited_urlopen(allowance: Allowance) -> Iterator[None]:
    """Limit what ``urllib.request.urlopen`` reads meanwhile in this thread."""
    of_urllib: Any = urllib.request  # it has no function to put the former opener back
    with _installing:
        if not isinstance(of_urllib._opener, _LimitedOpener):
            of_urllib._opener = _LimitedOpener(of_urllib._opener)
        opener = of_urllib._opener
        opener.n_threads += 1
    _of_thread.allowance = allowance
    try:
        yield
    finally:
        _of_thread.allowance = None
        with _installing:
            opener.n_threads -= 1
            if not opener.n_threads and of_urllib._opener is opener:
                of_urllib._opener = opener.before
