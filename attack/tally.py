"""What each part of the attack tried, and what came of it; the table at the end."""

from collections import defaultdict
from dataclasses import dataclass, field

MAX_SHOWN = 3  # examples of a problem


@dataclass
class Tally:
    """Counts of one part.

    Attributes
    ----------
    part : str
        What was attacked.
    tried, lost : int
        Inputs, kills or the like; cells that were lost or wrong.
    problems : dict from problem to examples
        Each example says how to see it alone.
    skipped : str
        Why the part was left out; empty if it was not.
    """

    part: str
    tried: int = 0
    lost: int = 0
    problems: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    skipped: str = ""

    def add(self, problem: str | None, example: str = "") -> None:
        """Count an attempt; ``problem`` is None where it was clean."""
        self.tried += 1
        if problem is not None:
            self.problems[problem].append(example)

    @property
    def bugs(self) -> int:
        return sum(map(len, self.problems.values()))


def print_problems(tally: Tally) -> None:
    """Every kind of problem with some examples, the most frequent first."""
    for problem, examples in sorted(tally.problems.items(), key=lambda item: -len(item[1])):
        print(f"  {tally.part}: {len(examples)} x {problem}", flush=True)
        for example in examples[:MAX_SHOWN]:
            print(f"      {example}", flush=True)


def print_table(tallies: list[Tally]) -> int:
    """The table; returns the exit status: 1 if there are bugs or lost cells."""
    width = max(len(tally.part) for tally in tallies)
    print(f"\n{'part':<{width}} {'tried':>8} {'clean':>8} {'bugs':>6} {'lost':>6}")
    for tally in tallies:
        counts = f"{tally.tried:>8,} {tally.tried - tally.bugs:>8,} {tally.bugs:>6,} {tally.lost:>6,}"
        print(f"{tally.part:<{width}} {counts}" + (f"   skipped: {tally.skipped}" if tally.skipped else ""))
    bugs, lost = sum(tally.bugs for tally in tallies), sum(tally.lost for tally in tallies)
    print(f"{'in all':<{width}} {sum(tally.tried for tally in tallies):>8,} {'':>8} {bugs:>6,} {lost:>6,}", flush=True)
    return 1 if bugs or lost else 0
