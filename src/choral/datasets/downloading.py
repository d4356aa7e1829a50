"""Downloads that end whatever the server does: after so many seconds in all, and after so many bytes."""

import io
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
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
        """What a function returns, if it does so in time.

        It runs in a thread, for a server may well drip headers. One that is given up ends with its connection, or when
        it next asks what it may take; it does not keep the program from ending.
        """
        outcome: Future[Result] = Future()
        Thread(target=_settle, args=(outcome, function), daemon=True).start()
        try:
            return outcome.result(timeout=self.seconds)
        except TimeoutError:
            self.check()  # a timeout of the function's own is another matter
            raise
        finally:
            del outcome  # an error refers to this frame, and a cycle would keep its connection open


def _settle(outcome: Any, function: Callable[[], Any]) -> None:
    """Call a function, and tell what becomes of it."""
    try:
        outcome.set_result(function())
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
    """Opens addresses as another opener does."""

    def __init__(self, opener: Any, allowance: Allowance) -> None:
        self._opener, self._allowance = opener, allowance

    def open(self, request: Any, data: Any = None, timeout: Any = None) -> Any:
        self._allowance.check()
        opener = self._opener
        answer = opener.open(request, data, ANSWER_TIMEOUT)
        answer.fp = io.BufferedReader(_LimitedAnswer(answer.fp, self._allowance))
        return answer


@contextmanager
def limited_urlopen(allowance: Allowance) -> Iterator[None]:
    """Limit what ``urllib.request.urlopen`` reads meanwhile: scikit-learn calls it without any limit."""
    before = urllib.request._opener  # type: ignore[attr-defined]  # install_opener has no opposite
    urllib.request.install_opener(_LimitedOpener(before or urllib.request.build_opener(), allowance))  # type: ignore[arg-type]
    try:
        yield
    finally:
        urllib.request._opener = before  # type: ignore[attr-defined]
