"""Random kills of studies, on this machine and on a Dask cluster; then the same command again, until all is done.

What a study leaves in the end must equal, cell by cell and table by table to the byte, what one leaves that nothing
disturbed.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cage import has_traceback, run_command
from small_studies import HERE, cells_of, count_lost, differing_tables, environment, study_command, write_plan
from tally import Tally

SECONDS = 120.0  # that a study may take to end once it was killed, or to run to its end
SECONDS_TO_VANISH = 60.0  # of processes that a study started
LEARNERS = {"slow": ("evil_learners:Good", "seconds = 0.2"), "quick": ("evil_learners:Good", "bias = 0.2")}
ENDS = {  # exit statuses after each kind of kill; a study may be done just before
    "SIGKILL": (0, 1, -signal.SIGKILL),
    "SIGTERM": (0, 1, 143, -signal.SIGTERM),  # the last while Python imports
    "Ctrl-C": (0, 1, 130, -signal.SIGINT),
    "Ctrl-C twice": (0, 1, 130, -signal.SIGINT),
    "scheduler": (0, 1, 2),
}
NO_WORKERS = "the Dask cluster has no workers"  # for a minute: Dask may give up workers that do not come back
N_RUNS = 12  # of a study that is never done


@dataclass
class Lane:
    """One study after another, each killed until enough kills are done."""

    kills: int
    seed: int
    rng: np.random.Generator
    folder: Path
    plan: Path
    good: Path
    duration: float  # of an undisturbed study
    tally: Tally
    done: int = 0
    study: int = 0
    notes: list[str] = field(default_factory=list)

    def run(self) -> None:
        while self.done < self.kills:
            self.study += 1
            out = self.folder / f"study-{self.study}"
            finished = any(self.run_once(out) for _ in range(N_RUNS + self.kills))
            lost = count_lost(out, self.good, tuple(LEARNERS)) if finished else len(cells_of(self.good))
            tables = differing_tables(out, self.good) if finished else []
            if lost or tables:
                self.tally.lost += max(lost, 1)
                kept = Path("attack-found", f"{self.tally.part.replace(' ', '-')}-{out.name}")
                shutil.copytree(out, kept, dirs_exist_ok=True)
                self.tally.problems[f"{lost} cells are lost, tables {tables} differ"].append(f"{kept}: {self.notes}")
            shutil.rmtree(out, ignore_errors=True)

    def run_once(self, out: Path) -> bool:
        """Run the command, and kill something while it runs if there are kills left; whether all cells are done."""
        mark = f"attack-{os.getpid()}-{self.rng.integers(2**60)}"
        process = subprocess.Popen(
            self.command(out),
            env=environment(CHORAL_ATTACK=mark),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        how = None
        try:
            if self.done < self.kills:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(float(self.rng.uniform(0.1, self.duration)))
                if process.poll() is None:
                    how = self.kill(process, mark)
            errors = process.communicate(timeout=SECONDS)[1]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            self._count(how, f"did not end within {SECONDS:.0f} seconds")
            return False
        problem = None
        if has_traceback(errors) and not _is_early_interrupt(errors):
            problem = f"a traceback: {errors.strip().splitlines()[-1][:200]}"
            self._keep_errors(errors)
        elif process.returncode not in ENDS.get(how, (0, 1)) and not (how == "worker" and NO_WORKERS in errors):
            problem = f"exit status {process.returncode}: {errors.strip()[-200:]}"
        elif not _vanish(mark):
            problem = "processes of the study go on without it"
        self._count(how, problem)
        return process.returncode == 0

    def _keep_errors(self, errors: str) -> None:
        kept = Path("attack-found", f"{self.tally.part.replace(' ', '-')}-{self.folder.name}-{self.done}.txt")
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(errors, encoding="utf-8", errors="backslashreplace")

    def _count(self, how: str | None, problem: str | None) -> None:
        if how is not None:
            self.done += 1
            self.notes.append(how)
            self.tally.add(
                problem and f"{problem} ({how})",
                f"python attack/main.py --only kills --seed {self.seed}  (the moment is never quite the same)",
            )
        elif problem is not None:
            self.tally.problems[f"{problem} (after {self.notes[-1:]})"].append("a run that nothing disturbed")

    def command(self, out: Path) -> list[str]:
        return study_command(self.plan, out, "--n-jobs", 2)

    def kill(self, process: subprocess.Popen, mark: str) -> str:
        """Kill something; says what."""
        how = str(self.rng.choice(["SIGKILL", "SIGKILL", "SIGTERM", "Ctrl-C", "Ctrl-C twice", "a child", "a child"]))
        if how == "a child":
            if children := [pid for pid in _marked(mark) if pid != process.pid]:
                with suppress(ProcessLookupError):
                    os.kill(int(self.rng.choice(children)), signal.SIGKILL)
                return how
            how = "SIGKILL"  # there are none yet
        number = {"SIGTERM": signal.SIGTERM, "Ctrl-C": signal.SIGINT, "Ctrl-C twice": signal.SIGINT}.get(
            how, signal.SIGKILL
        )
        process.send_signal(number)
        if how == "Ctrl-C twice":
            time.sleep(0.05)
            process.send_signal(number)
        return how


@dataclass
class ClusterLane(Lane):
    """The same on a cluster, of which the scheduler or a worker is killed, or the study itself."""

    cluster: subprocess.Popen | None = None
    address: str = ""

    def start_cluster(self) -> None:
        self.cluster = subprocess.Popen(
            [sys.executable, "-P", str(HERE / "cluster.py")],
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.address = self.cluster.stdout.readline().strip()

    def stop_cluster(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.cluster.pid, signal.SIGKILL)
        self.cluster.communicate()

    def list_workers(self) -> list[str]:
        """The numbers of their processes."""
        print(file=self.cluster.stdin, flush=True)
        return self.cluster.stdout.readline().split()

    def command(self, out: Path) -> list[str]:
        if self.cluster is not None and self.cluster.poll() is None and not self.list_workers():
            self.stop_cluster()
        if self.cluster is None or self.cluster.poll() is not None:
            self.start_cluster()
        return study_command(self.plan, out, "--dask", self.address)

    def kill(self, process: subprocess.Popen, mark: str) -> str:
        how = str(self.rng.choice(["worker", "worker", "worker", "scheduler", "SIGKILL", "Ctrl-C"]))
        if how == "worker" and not (workers := self.list_workers()):
            how = "SIGKILL"  # there are none now
        if how == "scheduler":
            self.stop_cluster()
        elif how == "worker":
            with suppress(ProcessLookupError):
                os.kill(int(self.rng.choice(workers)), signal.SIGKILL)
        else:
            process.send_signal(signal.SIGKILL if how == "SIGKILL" else signal.SIGINT)
        return how


def attack_by_kills(kills: int, seed: int, folder: Path, jobs: int) -> Iterator[Tally]:
    """Kill studies so often, every fifth on a cluster."""
    local, on_cluster = Tally("kills"), Tally("kills on a cluster")
    plan = write_plan(folder / "plan.toml", LEARNERS, folds=4, repeats=4)
    good = folder / "good"
    ended = run_command(study_command(plan, good, "--n-jobs", 2)[4:], seconds=SECONDS, env=environment())
    if ended.status != 0:
        local.add(f"an undisturbed study ended with status {ended.status}", ended.errors[:500])
        yield local
        return
    n_cluster, lanes = kills // 5, []
    n_lanes = max(1, jobs - bool(n_cluster))
    for place, count in enumerate(np.diff(np.linspace(0, kills - n_cluster, n_lanes + 1).round().astype(int))):
        rng = np.random.default_rng([seed, place])
        lanes.append(Lane(int(count), seed, rng, folder / f"lane-{place}", plan, good, ended.seconds, local))
    on_a_cluster = _cluster_lane(n_cluster, seed, folder, plan, good, ended.seconds, on_cluster)
    with on_a_cluster as lane, ThreadPoolExecutor(len(lanes) + 1) as pool:
        for one in [pool.submit(lane.run) for lane in (*lanes, lane)]:
            one.result()
    yield from (local, on_cluster)


@contextmanager
def _cluster_lane(
    kills: int, seed: int, folder: Path, plan: Path, good: Path, duration: float, tally: Tally
) -> Iterator[ClusterLane]:
    lane = ClusterLane(
        kills, seed, np.random.default_rng([seed, 99]), folder / "cluster", plan, good, duration + 2, tally
    )
    try:
        yield lane
    finally:
        if lane.cluster is not None:
            lane.stop_cluster()


def _is_early_interrupt(errors: str) -> bool:
    """Ctrl-C while Python imports choral, before choral can do anything about it."""
    return errors.rstrip().endswith("KeyboardInterrupt") and "__main__.py" not in errors


def _marked(mark: str) -> list[int]:
    """Processes with this word in their environment."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with suppress(OSError):
                if mark.encode() in Path("/proc", entry, "environ").read_bytes():
                    found.append(int(entry))
    return found


def _vanish(mark: str) -> bool:
    """Whether all processes of a study end soon after it."""
    end = time.monotonic() + SECONDS_TO_VANISH
    while _marked(mark):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
