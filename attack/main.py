"""Attack choral: damaged files, killed studies, evil learners, full disks, hostile names, servers that lie.

python attack/main.py                      all of it, minutes
python attack/main.py --short              two minutes, for continuous integration
python attack/main.py --rerun FOLDER       read an input that was kept once more
python attack/main.py --only readers --format npz --inputs 5000 --seed 7
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tally import Tally, print_problems, print_table

KEPT = Path("attack-found")


def main() -> int:
    options = _parse()
    if options.rerun:
        return _rerun(options.rerun)
    print(f"seed {options.seed}; what is not clean is kept in {KEPT}/", flush=True)
    tallies: list[Tally] = []
    for name, part in PARTS.items():
        if options.only in (None, name):
            start = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="attack-", ignore_cleanup_errors=True) as folder:
                for tally in part(options, Path(folder)):
                    print_problems(tally)
                    tallies.append(tally)
            print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
    return print_table(tallies)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Attack choral; exit status 1 if it breaks.")
    parser.add_argument("--short", action="store_true", help="two minutes instead of many")
    parser.add_argument("--seed", type=int, default=0, help="of inputs and moments; 0 by default")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time; 2 by default")
    parser.add_argument("--inputs", type=int, help="damaged files; 100,000 by default, 4,000 with --short")
    parser.add_argument(
        "--kills", type=int, help="of studies; 100 by default, 5 with --short; every fifth on a cluster"
    )
    parser.add_argument("--only", choices=PARTS, help="one part")
    parser.add_argument("--format", help="one format of the readers")
    parser.add_argument("--evil", help="one evil learner")
    parser.add_argument("--rerun", type=Path, metavar="FOLDER", help="an input that was kept")
    return parser.parse_args()


def _rerun(folder: Path) -> int:
    from readers import rerun

    verdict = rerun(folder)
    print(verdict.details or verdict.problem or "clean")
    return 1 if verdict.problem else 0


def _readers(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from readers import attack_readers

    total = options.inputs or (4_000 if options.short else 100_000)
    return attack_readers(total, options.seed, KEPT, options.jobs, options.format)


def _evils(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from evils import attack_by_evil_learners

    return attack_by_evil_learners(folder, options.jobs, short=options.short, only=options.evil)


def _kills(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from kills import attack_by_kills

    total = options.kills or (5 if options.short else 100)
    return attack_by_kills(total, options.seed, folder, options.jobs)


def _disks(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from disks import attack_disks

    return attack_disks(folder, short=options.short)


def _names(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from hostile_names import attack_by_names

    return attack_by_names(folder, short=options.short)


def _server(options: argparse.Namespace, folder: Path) -> Iterator[Tally]:
    from lying_server import attack_downloads

    return attack_downloads(folder)


PARTS: dict[str, Callable[[argparse.Namespace, Path], Iterator[Tally]]] = {
    "readers": _readers,
    "kills": _kills,
    "evils": _evils,
    "disks": _disks,
    "names": _names,
    "server": _server,
}

if __name__ == "__main__":
    sys.exit(main())
