"""The parent's side of a child process: sends tasks, waits until the time limit, replaces a process that died."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace

from joblib.externals.loky.backend import reduction  # cloudpickle, wherever this joblib has it

from choral.study.cells import Cell, Outcome, Task

# Not by PYTHONPATH: Python runs a sitecustomize.py that it finds there.
COMMAND = "import sys; sys.path[:] = sys.argv[1:]; from choral.study.child import main; main()"
# Windows alone has the flag, and ignores start_new_session. Both keep Ctrl-C from the child: this process ends it.
NEW_GROUP = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Worker:
    """A child process for one thread of the study."""

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._data_key = ""  # what the child has in memory

    def run(self, task: Task) -> Outcome:
        """Run a cell in the child; one that dies or takes too long is an outcome too."""
        process, start = self._get_process(), time.perf_counter()
        known = task.data_key == self._data_key
        timer = _Timer(process, task.time_limit)
        try:
            with timer:
                _send(process, replace(task, X=None, Y=None) if known else task)
                self._data_key = task.data_key
                outcome = pickle.load(process.stdout)  # type: ignore[arg-type]
            if timer.is_over:  # it fired just as the outcome came: the child is dead or dying
                self.close()
            if isinstance(outcome, str):  # why it could not read the task, the rest of which is still on its way
                self.close()
                return Outcome(reason=outcome)
            return outcome
        except (EOFError, OSError, pickle.UnpicklingError):
            status = self.close()
            reason = f"the process that ran it died: {_describe_status(status)}"
            if timer.is_over:
                reason = f"ran past the time limit of {task.time_limit:g} seconds"
            return Outcome(reason=reason, seconds=time.perf_counter() - start)
        except BaseException:
            self.close()  # interrupted: the child knows nothing of it
            raise

    def kill(self) -> None:
        """End the child; the thread that waits for its outcome then goes on."""
        if self._process is not None:
            _kill(self._process)

    def close(self) -> int | None:
        """End the child and forget it; returns its exit status."""
        process, self._process, self._data_key = self._process, None, ""
        _running.discard(self)
        if process is None:
            return None
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.2)  # its own exit status tells more than that of a kill
        _kill(process)
        with suppress(OSError):  # what it did not read is lost
            process.stdin.close()  # type: ignore[union-attr]
        process.stdout.close()  # type: ignore[union-attr]
        return process.wait()

    def _get_process(self) -> subprocess.Popen:
        if self._process is not None and self._process.poll() is not None:
            self.close()  # it ended itself, after a long time without tasks
        if self._process is None:
            self._process = _start()
            _running.add(self)  # before it is ready: whoever stops the study must find it
            self._await_ready(self._process)
        return self._process

    def _await_ready(self, process: subprocess.Popen) -> None:
        """Wait until the child has imported all it needs, which does not count towards the time limit."""
        try:
            pickle.load(process.stdout)  # type: ignore[arg-type]
        except EOFError:
            raise RuntimeError(
                f"a child process of the study did not start: {_describe_status(self.close())}."
            ) from None
        except BaseException:
            self.close()
            raise


class _Timer:
    """Kills a process that takes too long."""

    def __init__(self, process: subprocess.Popen, seconds: float | None):
        self.is_over = False
        self._process = process
        self._timer = None if seconds is None else threading.Timer(seconds, self._kill)

    def _kill(self) -> None:
        self.is_over = True
        _kill(self._process)

    def __enter__(self) -> None:
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()

    def __exit__(self, *error: object) -> None:
        if self._timer is not None:
            self._timer.cancel()


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


def _send(process: subprocess.Popen, task: Task) -> None:
    reduction.dump(task, process.stdin, protocol=pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()  # type: ignore[union-attr]


def _describe_status(status: int | None) -> str:
    if status is not None and status < 0:
        name = signal.Signals(-status).name
        return f"{name}, perhaps for lack of memory" if name == "SIGKILL" else name
    return f"exit status {status}"


_workers = threading.local()
_running: set[Worker] = set()


def run_task(task: Task) -> tuple[Cell, Outcome]:
    """Run a cell in the child process of this thread."""
    if not hasattr(_workers, "own"):
        _workers.own = Worker()
    return task.cell, _workers.own.run(task)


def kill_workers() -> None:
    """End all child processes, so that no thread waits for one any more."""
    for worker in tuple(_running):
        worker.kill()


def close_workers() -> None:
    """End and forget all child processes of this process; no thread may be waiting for one."""
    for worker in tuple(_running):
        worker.kill()
        worker.close()
