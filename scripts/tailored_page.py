"""Write docs/tailored_study.md from a study: ``python scripts/tailored_page.py [study-tailored]``.

The study is what `make tailored` leaves. Figures are copied to docs/figures.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

from choral.paper import Yardstick, read_plan
from choral.paper.controls import COLUMNS as WAYS
from choral.paper.controls import add_up_controls, control_totals, find_controls
from choral.paper.yardstick import COLUMNS, AgainstBest, Total, add_up, compare_with_best, totals
from choral.study import Results
from choral.study.store import Store
from paper_page import DOCS, NO_MARGIN, TITLES, losses_at_places, provenance, ranks, table

PLAN = read_plan("tailored")
POOL, *MEMBERS = OURS = next(analysis.ours for analysis in PLAN.analyses if isinstance(analysis, Yardstick))
ONCE = [learner.name for learner in PLAN.learners if learner.seeds is not None]
PLACES = {place: title for place, title in TITLES.items() if place[0] == "binomial"}  # alphas end before halfway
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


def controls(results: Results) -> Iterator[str]:
    """Each distribution of ours decided in three ways, and what part of its lead is due to deciding for each loss."""
    for learner in OURS:
        own = find_controls(results, [learner])
        if own:
            total = add_up_controls(own, results.confidence)
            rows = (*control_totals(own, results.confidence).items(), ("**all**", total))
            yield f"### {learner}: one distribution, decided in three ways"
            yield ""
            yield from table(["data set", *WAYS], ([name, *each.cells] for name, each in rows))
    yield "### Due to what"
    yield ""
    yield (
        "The gain in area beside the best of all others, as above, is the sum of two: what the distribution gains if "
        "it is decided by its better mode along the whole curve, and what deciding for each loss adds."
    )
    yield ""
    columns = ["learner, data set", "gain in area", "due to the distribution", "due to deciding for each loss"]
    of_learners = {learner: list(parts_of_gain(results, learner)) for learner in OURS}
    for learner, rows in of_learners.items():
        if rows:
            _, gain, distribution, decision = rows[-1]  # of all data sets
            yield f"- {learner}: {gain}, {distribution} by its distribution and {decision} by deciding for each loss."
    yield ""
    yield from table(columns, (row for rows in of_learners.values() for row in rows))


def parts_of_gain(results: Results, learner: str) -> Iterator[list[str]]:
    """The lead of a learner on each data set, in two parts."""
    comparisons = [found for found in compare_with_best(results, OURS) if found.learner == learner]
    if not comparisons:
        return
    own = find_controls(results, [learner])
    confidence = results.confidence
    gains = totals(comparisons, "dataset", confidence) | {"**all**": add_up(comparisons, confidence)}
    decided = control_totals(own, confidence) | {"**all**": add_up_controls(own, confidence)}
    for name, gain in gains.items():
        part = decided[name].curve_gain.estimate
        yield [f"{learner}, {name}", *(f"{each:+.4f}" for each in (gain.area_gain, gain.area_gain - part, part))]


def beside_members(results: Results) -> Iterator[str]:
    """The pool beside the better of its members at each loss."""
    rows = totals(compare_with_best(results, [POOL], MEMBERS), "dataset", results.confidence)
    yield from table(["data set", *COLUMNS], ([name, *total.cells] for name, total in rows.items()))


def seconds(results: Results, store: Store) -> Iterator[str]:
    """The mean time of a cell of each data set and learner."""
    names = results.learners
    rows = ([dataset, *(time_of(results, store, dataset, name) for name in names)] for dataset in results.datasets)
    yield from table(["data set", *names], rows)


def time_of(results: Results, store: Store, dataset: str, learner: str) -> str:
    if learner not in results.finished(dataset):
        return ""
    stored = [store.read_cell(cell.key) for cell in results.cells(dataset, learner)]
    return f"{mean(cell.seconds for cell in stored if cell):.1f}"


def failures(results: Results) -> Iterator[str]:
    """Which learners are left out where."""
    lacking = {(each.dataset, each.learner): each.reason for each in results.failures()}
    if lacking:
        yield "Left out, for lack of a result:"
        yield ""
        yield from (f"- {learner} on {dataset}: {reason}" for (dataset, learner), reason in lacking.items())
        yield ""
        yield "What was not run takes more than ten minutes a fold on two cores."
        yield ""


def page(results: Results, store: Store) -> Iterator[str]:
    others = [name for name in results.competitors if name not in OURS]
    yield from NO_MARGIN
    yield "# Learners made for these losses"
    yield ""
    yield "Made by `scripts/tailored_page.py` from what `make tailored` leaves: run it, and you get the same losses."
    yield ""
    yield provenance(results)
    yield f"Learners of ours: {', '.join(OURS)}. The others: {', '.join(others)}."
    yield (
        "Five folds, stratified by labels and the same for all; three seeds of the learners, over which losses are "
        f"averaged (learners without chance run once, as do {', '.join(ONCE)}, to save time); hard "
        "predictions, means over all test rows."
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
    yield f"### {POOL} beside its members"
    yield ""
    yield (
        f"The same beside the better of {' and '.join(MEMBERS)} at each loss, chosen on the test folds (BoostedJoint, "
        "its third member, did not run alone)."
    )
    yield ""
    yield from beside_members(results)
    yield "## Due to the decision, or to the distribution?"
    yield ""
    yield (
        "Each distribution of ours is decided in three ways, without fitting anew: by its marginal mode (the labels "
        "that are more probable than not, best for Hamming loss), by its joint mode (the most probable label set, best "
        "for subset 0/1 loss), and for each loss by what is best for it. Losses are means along the curves, and over "
        "the families. The *better mode* is chosen on the test folds: one for a whole curve, or one at each loss, "
        "which no one could do without test labels."
    )
    yield ""
    yield from controls(results)
    yield "Beside figures that others published: [external yardsticks](external_yardsticks.md)."
    yield ""
    yield "## Losses"
    yield ""
    yield "Least in bold. A learner without a figure did not finish."
    yield from losses_at_places(results, PLACES)
    yield "### Mean ranks over the data sets where all finished"
    yield ""
    yield from ranks(results, "binomial")
    for place, name in zip(("Hamming loss", "subset 0/1 loss"), FIGURES.values(), strict=True):
        yield f"![Critical difference diagram for {place}](figures/{name})"
        yield ""
    yield "## Seconds"
    yield ""
    yield (
        "To learn, and to predict for all losses: mean of a fold, in one thread, by the clock of a machine in use that "
        "may have paused."
    )
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
