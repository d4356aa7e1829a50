"""The parent's side of a child process: sends tasks, waits until the time limit, replaces a process that died."""

import math
import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

from choral.study.cells import Cell, Outcome, Task
from choral.study.messages import READY, StrayBytes, receive

# Not by PYTHONPATH: Python runs a sitecustomize.py that it finds there.
COMMAND = "import sys; sys.path[:] = sys.argv[1:]; from choral.study.child import main; main()"
# Windows alone has the flag, and ignores start_new_session. Both keep Ctrl-C from the child: this process ends it.
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MAX_STARTS = 3  # of a child that is killed before it is ready
SECONDS_TO_LOOK = 0.5  # between two looks whether a child that says nothing still runs
SECONDS_TO_END = 0.2  # for a child that is ending: its own exit status tells more than that of a kill


class Workers:
    """The child processes of one study: one for each thread that runs its cells."""

    def __init__(self, study: str | None = None) -> None:
        self.study = study or secrets.token_hex(16)  # no two studies have the same
        self._of_thread = threading.local()
        self._all: list[Worker] = []
        self._is_killed = False

    def __reduce__(self) -> tuple:
        """In another process (a worker of a cluster, say), the child processes are that one's."""
        return _get_workers_here, (self.study,)

    def run(self, task: Task) -> Outcome:
        """Run a cell in the child process of this thread."""
        if not hasattr(self._of_thread, "worker"):
            self._of_thread.worker = Worker()
            self._all.append(self._of_thread.worker)
            if self._is_killed:  # asked after the list has it: whoever kills the workers finds it, or it finds this
                self.kill()
        return self._of_thread.worker.run(task)

    def kill(self) -> None:
        """End all child processes for good: no thread waits for one any more."""
        self._is_killed = True
        for worker in tuple(self._all):
            worker.kill()

    def close(self) -> None:
        """End and forget all child processes; no thread may be waiting for one."""
        self.kill()
        while self._all:
            self._all.pop().close()


class Worker:
    """A child process at a time, for one thread of a study."""

    def __init__(self) -> None:
        self._child: Child | None = None
        self._data_key = ""  # what the child has in memory; empty until a cell has run there
        self._is_killed = False

    def run(self, task: Task) -> Outcome:
        """Run a cell in the child; one that dies or takes too long is an outcome too.

        Where the child dies in which other cells have run, what they left behind may have ended it, a thread say: the
        cell is run once more, in a new child.
        """
        child, start = self._get_child(), time.perf_counter()
        is_new, known = not self._data_key, task.data_key == self._data_key
        self._data_key = task.data_key
        try:
            return child.ask(replace(task, X=None, Y=None) if known else task)
        except TimeoutError:
            self.close()
            return _fail(f"ran past the time limit of {task.time_limit:g} seconds", start)
        except StrayBytes:
            self.close()
            reason = "the process that ran it wrote into the pipe for its result"
        except (EOFError, OSError):
            status = self.close()
            if self._is_killed:
                reason = "the study ended before it did"
            elif status is None:
                reason = "the process that ran it closed the pipe for its result"
            else:
                reason = f"the process that ran it died: {_describe_status(status)}"
        except BaseException:
            self.close()  # interrupted: the child knows nothing of it
            raise
        return _fail(reason, start) if is_new or self._is_killed else self.run(task)

    def kill(self) -> None:
        """End the child for good; the thread that waits for its outcome then goes on."""
        self._is_killed = True
        if (child := self._child) is not None:
            child.kill()

    def close(self) -> int | None:
        """End the child and forget it; returns its exit status, None where it did not end by itself."""
        child, self._child, self._data_key = self._child, None, ""
        return None if child is None else child.close()

    def _get_child(self) -> "Child":
        if self._child is not None and not self._child.is_alive:
            self.close()  # it ended itself, after a long time without tasks
        tries = 0
        while self._child is None:
            tries += 1
            self._start_child(is_last_try=tries == MAX_STARTS)
        return self._child

    def _start_child(self, *, is_last_try: bool) -> None:
        """Start a child, and wait until it has imported all it needs, which does not count towards the time limit.

        There is none after this if it was killed meanwhile, perhaps by somebody who meant another process.
        """
        child = self._child = Child()  # before it is ready: whoever stops the study must find it
        if self._is_killed:
            self.close()
            raise RuntimeError("the study has ended: its child processes run no more cells.")
        try:
            child.wait(math.inf)
        except (EOFError, StrayBytes) as error:
            status = self.close()
            if status is not None and status < 0 and not is_last_try:
                return
            ended = "it closed its pipe" if status is None else _describe_status(status)
            fault = str(error) or f"{ended}."  # an EOFError says nothing
            raise ChildProcessError(f"a child process of the study did not start: {fault}") from None
        except BaseException:
            self.close()
            raise


def _fail(reason: str, start: float) -> Outcome:
    return Outcome(reason=reason, seconds=time.perf_counter() - start)


class Child:
    """A child process, and a thread that talks to it.

    Only that thread waits for a pipe: a process that a learner started may hold it open for longer than the child runs.
    """

    def __init__(self) -> None:
        self._process = _start()
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._answers: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._talk, daemon=True)
        self._thread.start()

    def _talk(self) -> None:
        """Pass on what the child answers to each task, until there is an error or None instead of a task."""
        to_child: Any = self._process.stdin
        from_child: Any = self._process.stdout
        try:
            self._answers.put(receive(from_child, READY))
            while (task := self._tasks.get()) is not None:
                pickle.dump(task, to_child, protocol=pickle.HIGHEST_PROTOCOL)
                to_child.flush()
                self._answers.put(receive(from_child, task.cell.key))
        except Exception as error:
            self._answers.put(error)
        with suppress(OSError):  # what it did not read is lost
            to_child.close()
        from_child.close()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, task: Task) -> Outcome:
        """Send a task and wait for what comes of it."""
        self._tasks.put(task)
        return self.wait(math.inf if task.time_limit is None else task.time_limit)

    def wait(self, seconds: float) -> Any:
        """The next answer; EOFError where the child ends first, TimeoutError where that takes too long."""
        end = time.monotonic() + seconds
        while True:
            was_alive = self.is_alive  # asked first: what a child said before it ended still counts
            try:
                answer = self._answers.get(timeout=max(0.0, min(SECONDS_TO_LOOK, end - time.monotonic())))
            except Empty:
                if not was_alive:
                    raise EOFError from None
                if time.monotonic() >= end:
                    raise TimeoutError from None
            else:
                if isinstance(answer, Exception):
                    raise answer
                return answer

    def kill(self) -> None:
        _kill(self._process)

    def close(self) -> int | None:
        """End it; returns its exit status, None where it did not end by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        status = self._process.returncode
        _kill(self._process)
        self._process.wait()
        self._tasks.put(None)
        self._thread.join(SECONDS_TO_LOOK)
        return status


def _start() -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", COMMAND, *sys.path],  # -P: a random.py in the working folder is not imported
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **dict.fromkeys(ONE_THREAD, "1")},
        start_new_session=True,
        creationflags=NEW_GROUP,
    )


def _kill(process: subprocess.Popen) -> None:
    """End a child, and whatever processes its learner started: its session is a group of processes of its own."""
    process.kill()
    if hasattr(os, "killpg"):  # not on Windows
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses a group of processes that have ended
            os.killpg(process.pid, signal.SIGKILL)


def _describe_status(status: int) -> str:
    if status >= 0:
        return f"exit status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:  # a real-time signal, say, which has no name
        return f"signal {-status}"
    return f"{name}, perhaps for lack of memory" if name == "SIGKILL" else name


_workers_here: dict[str, Workers] = {}  # by study, where cells come from another process


def _get_workers_here(study: str) -> Workers:
    return _workers_here.setdefault(study, Workers(study))


def end_workers_here(study: str) -> None:
    """End the child processes of a study in this process, which get no more cells; a cell that runs there is lost."""
    _get_workers_here(study).close()


def run_task(workers: Workers, task: Task) -> tuple[Cell, Outcome]:
    """Run a cell in a child process."""
    return task.cell, workers.run(task)
