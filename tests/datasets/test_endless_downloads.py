"""Servers on this machine that find no end: a download gives up after some time or some bytes."""

import socket
import time
import urllib.request
from threading import Barrier, Event, Thread

import pytest

from choral.datasets import load, load_openml, loading, openml
from choral.datasets.downloading import Allowance, EndlessDownloadError
from openml_server import redirect
from processes import PATIENCE, wait_until

HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"


def drip(connection, stop):
    """A byte now and then, each long before one would give up waiting."""
    connection.sendall(HEADERS)
    while not stop.wait(0.02):
        connection.sendall(b"%")


def drip_headers(connection, stop):
    connection.sendall(HEADERS[:17])
    while not stop.wait(0.02):
        connection.sendall(b"X")


def flood(connection, stop):
    connection.sendall(HEADERS)
    while not stop.is_set():
        connection.sendall(bytes(2**16))


@pytest.fixture
def serve():
    """The address of a server that treats every connection alike; in the end, urllib is as it was."""
    opener = urllib.request._opener
    stop, threads, listening = Event(), [], socket.create_server(("127.0.0.1", 0))

    def answer(connection, behave):
        with connection:
            try:
                connection.recv(2**16)
                behave(connection, stop)
            except OSError:  # whoever asked has hung up
                return

    def accept(behave):
        while True:
            try:
                connection = listening.accept()[0]
            except OSError:
                return
            threads.append(Thread(target=answer, args=(connection, behave), daemon=True))
            threads[-1].start()

    def start(behave):
        Thread(target=accept, args=(behave,), daemon=True).start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield start
    stop.set()
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for thread in threads:
        thread.join(5)
    wait_until(lambda: urllib.request._opener is opener, "the end of a download that was given up")


ENDLESS = [
    (drip, {"seconds": 0.5}, r"it took more than 0\.5 seconds"),
    (drip_headers, {"seconds": 0.5}, r"it took more than 0\.5 seconds"),
    (
        flood,
        {"max_bytes": "5000000"},
        r"it brought more than 5000000 bytes\. If it is no mistake, set the environment v",
    ),
]


@pytest.mark.parametrize(("behave", "limits", "message"), ENDLESS)
def test_of_a_data_set_of_the_paper(serve, tmp_path, monkeypatch, behave, limits, message):
    pytest.importorskip("pooch")
    monkeypatch.setenv("CHORAL_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(loading, "BASE_URL", serve(behave))
    monkeypatch.setattr(loading, "TIME_LIMIT", limits.get("seconds", 60))
    monkeypatch.setenv("CHORAL_MAX_BYTES", limits.get("max_bytes", ""))
    start = time.monotonic()
    with pytest.raises(
        FileNotFoundError, match=rf"cannot be downloaded from .*emotions\.arff \({message}.*\); put emot"
    ):
        load("emotions")
    assert time.monotonic() - start < 20
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("behave", "limits", "message"), ENDLESS)
def test_of_openml(serve, tmp_path, monkeypatch, behave, limits, message):
    redirect(monkeypatch, serve(behave))
    monkeypatch.setattr(openml, "TIME_LIMIT", limits.get("seconds", 60))
    monkeypatch.setenv("CHORAL_MAX_BYTES", limits.get("max_bytes", ""))
    start = time.monotonic()
    with pytest.raises(
        ConnectionError, match=rf"data set 40589 cannot be fetched from OpenML \({message}.*\)\. Try again"
    ):
        load_openml(40589, data_home=tmp_path)
    assert time.monotonic() - start < 20
    if behave is not drip_headers:  # the thread that was given up cleans up behind itself
        wait_until(lambda: not any(path.is_file() for path in tmp_path.rglob("*")), "cleaning up")


def test_errors_and_results_are_those_of_the_function():
    allowance = Allowance(seconds=60, max_bytes=10)
    assert allowance.run(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        allowance.run(lambda: 1 / 0)

    def fail():
        raise TimeoutError("a timeout of its own")

    with pytest.raises(TimeoutError, match="a timeout of its own"):
        allowance.run(fail)
    with pytest.raises(EndlessDownloadError, match="it took more than 0 seconds"):
        Allowance(seconds=0, max_bytes=10).check()


def test_threads_that_download_at_the_same_time_have_limits_of_their_own(serve):
    """In whatever order they end; other threads have no limit."""
    address, ends, started = serve(flood), (Event(), Event()), Barrier(3)

    def download(max_bytes, end):
        def read():
            with urllib.request.urlopen(address) as answer:
                answer.read(max_bytes // 2)
                started.wait(PATIENCE)
                end.wait(PATIENCE)
                with pytest.raises(EndlessDownloadError, match=f"it brought more than {max_bytes} bytes"):
                    answer.read(2 * max_bytes)

        Allowance(PATIENCE, max_bytes).run(read)

    threads = [Thread(target=download, args=each) for each in zip((10**5, 10**6), ends, strict=True)]
    for thread in threads:
        thread.start()
    started.wait(PATIENCE)
    for thread, end in zip(threads, ends, strict=True):
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            assert len(answer.read(10**7)) == 10**7
        end.set()
        thread.join(PATIENCE)
