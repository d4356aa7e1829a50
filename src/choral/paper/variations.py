"""Variations of the study of the paper: sweeps over settings that it varied, and scores instead of labels."""

from dataclasses import replace

from choral.paper.claims import CLAIMS, OF_SWEEPS, Claim, make_section
from choral.paper.evidence import OwnRuns
from choral.paper.judging import changes_slope
from choral.study import Results, Section, Summary
from choral.study.comparisons import PLACES

FAMILY = "binomial"
SETS = {5: "RAkEL-3, m = 5", 10: "RAkEL-3, m = 10", 20: "RAkEL-3, m = 20", 40: "RAkEL-3, m = 40"}
BESIDES = Claim(
    "",
    "Not a claim of the paper, which varied it: the number of models m changes how dependence-aware RAkEL is.",
    "by how much the slope of the curve of RAkEL with k = 3 falls each time m doubles (5 to 40); it holds where the "
    "change is for certain, up or down",
    changes_slope(SETS),
    "curves/yeast--binomial",
)
HEDGE = "1/2 for every label"
WARNING = (
    "Scores are judged here as they are, without a threshold. That is another yardstick than hard labels, and the two "
    "must not be compared: hedging pays. The score 1/2 for every label, which says nothing, has loss 1/2 under every "
    "measure; a learner that commits itself to labels has loss 1, by subset 0/1 loss, in each row where one is wrong. "
    "So learners that average many votes look better here, and the last column says on how many data sets saying 1/2 "
    "for every label beats a learner at the subset 0/1 end."
)


def sweeps_section(results: Results) -> Section:
    """What the settings do: the claims about them, and mean losses over the data sets where all learners finished."""
    chosen = [claim for claim in CLAIMS if claim.key in OF_SWEEPS]
    judged = make_section("What settings do", OwnRuns(results), "sweeps", [*chosen, BESIDES])
    return replace(judged, summaries=(mean_losses(results),))


def hedging_section(results: Results) -> Section:
    """Losses of scores, with a warning, and on how many data sets saying 1/2 for every label is better."""
    means = mean_losses(results)
    beaten = {
        learner: sum(results.loss_at(dataset, learner, FAMILY, 1.0) > 0.5 for dataset in results.complete_datasets)
        for learner in results.learners
    }
    summary = Summary(
        caption=means.caption,
        columns=(*means.columns, "beaten by 1/2"),
        rows=[(*row, beaten[str(row[0])]) for row in means.rows] + [(HEDGE, 0.5, 0.5, 0.5, 0.0, 0)],
    )
    return Section("Scores hedge", prose=(WARNING,), summaries=(summary,))


def mean_losses(results: Results) -> Summary:
    """The mean over data sets of the binomial losses at both ends and halfway, and of the slope."""
    datasets = [name for name in results.complete_datasets if results.baseline in (None, *results.finished(name))]
    rows: list[tuple[str | float, ...]] = []
    for learner in results.learners if datasets else ():
        at_places = [[results.loss_at(dataset, learner, FAMILY, x) for dataset in datasets] for x in PLACES.values()]
        means = [sum(losses) / len(losses) for losses in at_places]
        rows.append((learner, *means, means[-1] - means[0]))
    return Summary(
        caption=f"Mean over {len(datasets)} data sets, {FAMILY} losses",
        columns=("learner", "Hamming", "halfway", "subset 0/1", "slope"),
        rows=tuple(rows),
    )
