"""A server on this machine that lies about data sets that choral downloads: refused soon, and nothing is kept."""

import bz2
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from unittest import mock

from cage import run_caged
from choral.datasets import load, loading
from tally import Tally

SECONDS = 10.0  # of computing; the clock may show six times as many
LIMITS = {"ANSWER_TIMEOUT": 2, "TIME_LIMIT": 5}  # seconds, in place of the library's own: the attack is to end soon
NAME, PACKED = "emotions", "scene"  # of which the second is published packed
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


class Handler(BaseHTTPRequestHandler):
    """Answers by the lie that the server has been given."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.server.lie(self.wfile.write, self.connection, self.path)

    do_HEAD = do_GET

    def log_message(self, *args: object) -> None:
        pass


Write = Callable[[bytes], object]


def wrong_content(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 9\r\n\r\n@relation")


def empty(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 0\r\n\r\n")


def cut_short(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 100000\r\n\r\n@relation")


def longer_than_announced(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 3\r\n\r\n@relation" * 1000)


def absurd_length(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 99999999999999999999\r\n\r\n@relation")


def negative_length(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: -5\r\n\r\n@relation")


def endless(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"\r\n")
    while True:
        write(b"% more of it\n" * 100_000)


def endless_chunks(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        write(b"100000\r\n" + b"%" * 0x100000 + b"\r\n")


def bad_chunks(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n-5\r\n")


def slow_drip(write: Write, connection: socket.socket, path: str) -> None:
    write(HEAD + b"Content-Length: 100000\r\n\r\n")
    while True:
        write(b"%")
        time.sleep(0.5)


def slow_head(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 200 OK\r\n")
    while True:
        write(b"X-More: 1\r\n")
        time.sleep(0.5)


def silence(write: Write, connection: socket.socket, path: str) -> None:
    time.sleep(600)


def endless_head(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 200 OK\r\n")
    while True:
        write(b"X-More: " + b"a" * 60_000 + b"\r\n")


def redirected_in_circles(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + path.encode() + b"x\r\n\r\n")


def redirected_to_a_file(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: file:///etc/passwd\r\n\r\n")


def redirected_to_nothing(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: http://[:::/\r\n\r\n")


def server_error(write: Write, connection: socket.socket, path: str) -> None:
    write(b"HTTP/1.1 500 \x1b[31m<b>\r\nContent-Length: 0\r\n\r\n")


def garbage(write: Write, connection: socket.socket, path: str) -> None:
    write(b"\x00\xff\x80 no such protocol\r\n\r\n" * 1000)


def closed_at_once(write: Write, connection: socket.socket, path: str) -> None:
    connection.shutdown(socket.SHUT_RDWR)


def gzip_bomb(write: Write, connection: socket.socket, path: str) -> None:
    packer = zlib.compressobj(9, wbits=31)
    content = b"".join(packer.compress(bytes(2**24)) for _ in range(256)) + packer.flush()
    write(HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(content) + content)


def bzip2_bomb(write: Write, connection: socket.socket, path: str) -> None:
    content = bz2.compress(bytes(2**28)) * 16
    write(HEAD + b"Content-Length: %d\r\n\r\n" % len(content) + content)


LIES = (
    *(wrong_content, empty, cut_short, longer_than_announced, absurd_length, negative_length, endless, endless_chunks),
    *(bad_chunks, slow_drip, slow_head, silence, endless_head, redirected_in_circles, redirected_to_a_file),
    *(redirected_to_nothing, server_error, garbage, closed_at_once, gzip_bomb, bzip2_bomb),
)


@contextmanager
def lying_server(lie: Callable[..., None]) -> Iterator[str]:
    """The address of a server on this machine that tells this lie."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads, server.block_on_close, server.lie = True, False, lie
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def attack_downloads(folder: Path) -> Iterator[Tally]:
    """Download a data set from a server that lies, once for each lie; most of the time is spent waiting."""
    tally = Tally("lying server")
    with ThreadPoolExecutor(6) as pool:
        for lie, problem in zip(LIES, pool.map(lambda lie: _believe(lie, folder / lie.__name__), LIES), strict=True):
            tally.add(problem, f"the lie {lie.__name__}")
    yield tally


def _believe(lie: Callable[..., None], place: Path) -> str | None:
    """Download from this server, in a cage; what was not clean."""
    with lying_server(lie) as address:

        def work(number: int) -> None:
            os.environ.update(CHORAL_DATA=str(place), no_proxy="127.0.0.1")
            with mock.patch.multiple(loading, BASE_URL=address, **LIMITS):
                load(PACKED if lie is bzip2_bomb else NAME)
            raise AssertionError("the lie was believed")

        (verdict,) = run_caged(work, [0], seconds=SECONDS)
    kept = [path.name for path in place.glob("*")] if place.exists() else []
    return verdict.problem or (f"{kept} was kept" if kept else None)
