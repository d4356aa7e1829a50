"""Write docs/tailored_study.md from a study: ``python scripts/tailored_page.py [study-tailored]``.

The study is what `make tailored` leaves. Figures are copied to docs/figures.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from choral.paper import read_plan
from choral.paper.yardstick import COLUMNS, AgainstBest, Total, compare_with_best, totals
from choral.study import Results
from choral.study.store import Store
from paper_page import DOCS, losses_and_ranks, provenance, table

OURS = read_plan("tailored").analyses[0].ours
FIGURES = {
    "ranks/binomial--Hamming.png": "tailored_ranks_hamming.png",
    "ranks/binomial--subset-0-1.png": "tailored_ranks_subset.png",
}


def yardsticks(results: Results) -> Iterator[str]:
    """A table for each learner of ours."""
    comparisons = compare_with_best(results, OURS)
    for learner, total in totals(comparisons, "learner", results.confidence).items():
        of_learner = [found for found in comparisons if found.learner == learner]
        rows = totals(of_learner, "dataset", results.confidence)
        yield f"### {learner}"
        yield ""
        yield from table(
            ["data set", *COLUMNS, "significantly better", "significantly worse"],
            (yardstick_row(name, each) for name, each in (*rows.items(), ("**all**", total))),
        )
        yield f"{worst(total.worst)} {best_others(of_learner)}"
        yield ""


def yardstick_row(name: str, total: Total) -> list[str]:
    return [name, *total.cells, str(total.n_significantly_better), str(total.n_significantly_worse)]


def worst(found: AgainstBest) -> str:
    """Where a learner is worst of all, with the interval over folds."""
    if not found.worst:
        return "It is worse nowhere."
    interval = f"{found.worst_low:+.4f} to {found.worst_high:+.4f}"
    return f"It is worst on {found.dataset}, beside {found.rival}: by {found.worst:.4f} ({interval})."


def best_others(comparisons: Sequence[AgainstBest]) -> str:
    names = dict.fromkeys(name for found in comparisons for name in found.best_others)
    return f"The best of the others is somewhere {', '.join(names)}."


def seconds(results: Results, store: Store) -> Iterator[str]:
    """The time of all cells of a data set, for learners of ours and BOOMER."""
    names = [name for name in results.learners if name in OURS or name.startswith("BOOMER")]
    rows = ([dataset, *(time_of(results, store, dataset, name) for name in names)] for dataset in results.datasets)
    yield from table(["data set", *names], rows)


def time_of(results: Results, store: Store, dataset: str, learner: str) -> str:
    if learner not in results.finished(dataset):
        return ""
    stored = [store.read_cell(cell.key) for cell in results.cells(dataset, learner)]
    return f"{sum(cell.seconds for cell in stored if cell):.1f}"


def failures(results: Results) -> Iterator[str]:
    """Which learners are left out where."""
    lacking = {(each.dataset, each.learner): each.reason for each in results.failures()}
    if lacking:
        yield "Left out, for lack of a result:"
        yield ""
        yield from (f"- {learner} on {dataset}: {reason}" for (dataset, learner), reason in lacking.items())
        yield ""


def page(results: Results, store: Store) -> Iterator[str]:
    others = [name for name in results.competitors if name not in OURS]
    yield "# Learners made for these losses"
    yield ""
    yield "Made by `scripts/tailored_page.py` from what `make tailored` leaves: run it, and you get the same losses."
    yield ""
    yield provenance(results)
    yield (
        f"Learners of ours: {', '.join(OURS)}. The others: {', '.join(others)}. Ten folds, those of the "
        "published study, and one seed; hard predictions, means over all test rows."
    )
    if results.each_loss:
        yield f"Fitted once a fold, and predicting anew for each loss: {', '.join(results.each_loss)}."
    yield ""
    yield from failures(results)
    yield "## Beside the best of all others"
    yield ""
    yield (
        "At each loss (every k of the binomial family, twelve alphas of the polynomial one; alpha = 1 is k = 1, and "
        "counted once) a learner of ours is compared with the best of all others *at that loss*, which is chosen on "
        "the test folds: a hard yardstick, biased against ours, and meant so. *Points* counts the losses, *at or "
        "below* those where ours is at least as good, *ties* among them; *worse by at most* is the largest difference "
        "in loss; *gain in area* is how much lower our curve lies, as a mean over its axis and over the families. "
        "*Significantly* better or worse are the points where the corrected resampled t test over folds says so after "
        "Holm's adjustment over all points of the learner, of all data sets together."
    )
    yield ""
    yield (
        f"Intervals of {results.confidence:.0%} are over folds as well, by the same correction, and not adjusted for "
        "their number; in all, the errors of data sets are combined. Rivals are those that the data chose, in all "
        "folds. More on what that covers: [is the difference real?](significance.md)"
    )
    yield ""
    yield (
        "What ours choose, they choose within the training folds. Their design was settled with these data sets in "
        "view, so expect a little less on others: [one model, any loss](joint_learners.md)."
    )
    yield ""
    yield from yardsticks(results)
    yield "## Losses"
    yield ""
    yield "Least in bold."
    yield from losses_and_ranks(results, "tailored")
    yield "## Seconds"
    yield ""
    yield "To learn, and to predict for all losses; all folds of a data set together, by the clock of a machine in use."
    yield ""
    yield from seconds(results, store)


def main() -> int:
    if len(sys.argv) > 2:
        print(__doc__)
        return 2
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "study-tailored")
    text = "\n".join(page(Results(folder), Store(folder)))
    (DOCS / "tailored_study.md").write_text(text, encoding="utf-8")
    for source, target in FIGURES.items():
        shutil.copy(folder / "figures" / source, DOCS / "figures" / target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
